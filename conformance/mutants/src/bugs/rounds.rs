//! Tool rounds, in `tools` and inside the iterations of `loop`.

use super::{Planted, bug, hardened, literal};
use crate::twin::Twin;
use crate::twin::rounds::{assistant, cut, distinct, free, outcome};
use serde_json::{Value, json};
use threadspec::agent::{Response, ToolError};
use threadspec::{Message, Profile, ToolCall, ecma_string};
use threadspec_golden::clause;

/// Each call of a script.
fn each_call(input: &mut Value, change: impl Fn(&mut Value)) {
    let turns = input.get_mut("model").and_then(Value::as_array_mut).into_iter().flatten();
    turns.filter_map(|turn| turn.get_mut("tool_calls")?.as_array_mut()).flatten().for_each(change);
}

pub(super) const BUGS: &[Planted] = &[
    bug("absent-arguments-refused", &[clause::TOOLS_ARGS], |twin| {
        twin.before = |_, _, input| {
            each_call(input, |call| {
                if call["args"].is_null() {
                    call["args"] = "none".into();
                }
            });
        };
    }),
    bug("absent-arguments-become-null", &[clause::TOOLS_ARGS], |twin| {
        twin.after = |_, _, input, output| {
            let turns = input["model"].as_array().into_iter().flatten();
            let calls = turns.flat_map(|turn| turn["tool_calls"].as_array().into_iter().flatten());
            let absent: Vec<&Value> = calls.filter(|call| call["args"].is_null()).map(|call| &call["id"]).collect();
            let lists = output.get_mut("messages").and_then(Value::as_array_mut).into_iter().flatten();
            for call in lists.filter_map(|message| message.get_mut("tool_calls")?.as_array_mut()).flatten() {
                if absent.contains(&&call["id"]) {
                    call["args"] = Value::Null;
                }
            }
        };
    }),
    bug("tool-results-by-string", &[clause::TOOLS_RESULT], |twin| {
        twin.outcome = |twin, call, result| match result {
            Ok(value) => ecma_string(&value),
            failure => outcome(twin, call, failure),
        };
    }),
    bug("tool-texts-in-quotes", &[clause::TOOLS_RESULT], |twin| {
        twin.outcome = |twin, call, result| match result {
            Ok(value) => twin.stringify(&value),
            failure => outcome(twin, call, failure),
        };
    }),
    bug("unknown-tools-named-as-json", &[clause::LOOP_TOOL_ERROR], |twin| {
        twin.outcome = |twin, call, result| match result {
            Err(ToolError::NotFound) => format!("Tool not found: {}", twin.stringify(&call.name.as_str().into())),
            result => outcome(twin, call, result),
        };
    }),
    bug("rounds-forget-the-start", &[clause::TOOLS_ACCUMULATE], |twin| {
        twin.after_round = |_, messages, answered| drop(messages.drain(..answered - 1));
    }),
    bug("rounds-keep-only-the-last", &[clause::TOOLS_ACCUMULATE], |twin| {
        twin.after_round = |_, messages, answered| {
            let start = messages.iter().position(|message| !message.tool_calls().is_empty()).unwrap_or(0);
            messages.drain(start..answered - 1);
        };
    }),
    bug("assistant-message-forgotten", &[clause::TOOLS_ACCUMULATE, clause::PROVIDER_1], |twin| {
        twin.after_round = |_, messages, answered| drop(messages.remove(answered - 1));
    }),
    bug("assistant-message-after-its-results", &[clause::TOOLS_ACCUMULATE, clause::PROVIDER_1], |twin| {
        twin.after_round = |_, messages, answered| messages[answered - 1..].rotate_left(1);
    }),
    bug("assistant-message-twice", &[clause::TOOLS_ACCUMULATE, clause::PROVIDER_1], |twin| {
        twin.after_round = |_, messages, answered| messages.insert(answered, messages[answered - 1].clone());
    }),
    bug("forgets-tool-results", &[clause::TOOLS_ACCUMULATE, clause::PROVIDER_1], |twin| {
        twin.after_round = |_, messages, answered| messages.truncate(answered);
    }),
    bug("only-the-first-result", &[clause::TOOLS_ACCUMULATE, clause::PROVIDER_1], |twin| {
        twin.after_round = |_, messages, answered| messages.truncate(answered + 1);
    }),
    bug("only-the-first-call", &[clause::TOOLS_ACCUMULATE], |twin| {
        twin.calls = |_, calls| calls.iter().take(1).cloned().collect();
    }),
    bug("calls-in-reverse", &[clause::TOOLS_ACCUMULATE, clause::LOOP_EVENTS], |twin| {
        twin.calls = |_, calls| calls.iter().rev().cloned().collect();
    }),
    bug("calls-by-name", &[clause::TOOLS_ACCUMULATE, clause::LOOP_EVENTS], |twin| {
        twin.calls = |_, calls| {
            let mut calls = calls.to_vec();
            calls.sort_by(|one, other| one.name.cmp(&other.name));
            calls
        };
    }),
    bug("equal-calls-made-once", &[clause::TOOLS_ID], |twin| {
        twin.calls = |_, calls| {
            let mut calls = calls.to_vec();
            calls.dedup_by(|one, other| one.name == other.name && one.args == other.args);
            calls
        };
    }),
    bug("one-assistant-message-per-call", &[clause::TOOLS_ACCUMULATE], |twin| {
        twin.after_round = |_, messages, answered| {
            let results = messages.split_off(answered);
            let Some(Message::Ai { content, tool_calls }) = messages.pop() else { return };
            for (call, result) in tool_calls.into_iter().zip(results) {
                messages.extend([Message::Ai { content: content.clone(), tool_calls: vec![call] }, result]);
            }
        };
    }),
    bug("final-message-left-out", &[clause::TOOLS_ACCUMULATE, clause::TOOLS_STOP], |twin| {
        twin.after = |_, _, _, output| {
            let Some(messages) = output.get_mut("messages").and_then(Value::as_array_mut) else { return };
            if messages.last().is_some_and(|last| last["type"] == "ai") {
                messages.pop();
            }
        };
    }),
    bug("requests-share-one-list", &[clause::TOOLS_SNAPSHOT], |twin| {
        twin.sent = |requests, messages| requests.iter_mut().for_each(|request| *request = messages.to_vec());
    }),
    bug("requests-share-their-rounds", &[clause::TOOLS_SNAPSHOT], |twin| {
        twin.sent = |requests, _| {
            for later in (1..requests.len()).rev() {
                requests[later - 1] = requests[later].clone();
            }
        };
    }),
    bug("first-request-grows", &[clause::TOOLS_SNAPSHOT], |twin| {
        twin.sent = |requests, messages| {
            if let [first, _, ..] = requests {
                *first = messages.to_vec();
            }
        };
    }),
    bug("text-beside-calls-dropped", &[clause::TOOLS_CONTENT], |twin| {
        twin.assistant = |response| match assistant(response) {
            Message::Ai { tool_calls, .. } if !tool_calls.is_empty() => {
                Message::Ai { content: String::new(), tool_calls }
            }
            other => other,
        };
    }),
    bug("text-beside-calls-trimmed", &[clause::TOOLS_CONTENT], |twin| {
        twin.assistant = |response| match assistant(response) {
            Message::Ai { content, tool_calls } => Message::Ai { content: content.trim().to_owned(), tool_calls },
            other => other,
        };
    }),
    bug("text-beside-calls-in-a-message-of-its-own", &[clause::TOOLS_CONTENT, clause::TOOLS_ACCUMULATE], |twin| {
        twin.after_round = |_, messages, answered| {
            if let Some(Message::Ai { content, .. }) = messages.get_mut(answered - 1)
                && !content.is_empty()
            {
                let text = Message::ai(std::mem::take(content));
                messages.insert(answered - 1, text);
            }
        };
    }),
    bug("text-ends-the-rounds", &[clause::TOOLS_STOP], |twin| {
        twin.is_last = |response: &Response| response.tool_calls.is_empty() || !response.content.is_empty();
    }),
    bug("one-round-only", &[clause::TOOLS_STOP, clause::TOOLS_ACCUMULATE], |twin| {
        twin.is_too_deep = |_, rounds, _| rounds >= 1
    }),
    bug("ten-rounds-at-most", &[clause::TOOLS_STOP, clause::TOOLS_DEPTH], |twin| {
        twin.is_too_deep = |_, rounds, depth| rounds >= depth.unwrap_or(10);
    }),
    bug("fifty-rounds-at-most", &[clause::TOOLS_STOP, clause::TOOLS_DEPTH], |twin| {
        twin.is_too_deep = |_, rounds, depth| rounds >= depth.unwrap_or(50);
    }),
    bug("empty-response-asked-again", &[clause::TOOLS_STOP], |twin| {
        twin.is_last = |response: &Response| response.tool_calls.is_empty() && !response.content.is_empty();
    }),
    bug("depth-one-too-many", &[clause::TOOLS_DEPTH], |twin| {
        twin.is_too_deep = |_, rounds, depth| depth.is_some_and(|depth| rounds > depth);
    }),
    bug("depth-one-too-few", &[clause::TOOLS_DEPTH], |twin| {
        twin.is_too_deep = |_, rounds, depth| depth.is_some_and(|depth| rounds + 1 >= depth);
    }),
    bug("depth-zero-means-no-limit", &[clause::TOOLS_DEPTH], |twin| {
        twin.is_too_deep = |_, rounds, depth| depth.is_some_and(|depth| depth > 0 && rounds >= depth);
    }),
    bug("depth-ignored", &[clause::TOOLS_DEPTH], |twin| twin.is_too_deep = |_, _, _| false),
    bug("depth-limit-drops-the-calls", &[clause::TOOLS_DEPTH], |twin| {
        twin.after = |_, _, input, output| {
            if let Some(messages) = cut_off(input, output)
                && let Some(last) = messages.last_mut().and_then(Value::as_object_mut)
            {
                last.remove("tool_calls");
            }
        };
    }),
    bug("depth-limit-drops-the-message", &[clause::TOOLS_DEPTH], |twin| {
        twin.after = |_, _, input, output| {
            if let Some(messages) = cut_off(input, output) {
                messages.pop();
            }
        };
    }),
    hardened("cut-calls-unanswered", &[clause::TOOLS_CUT], |twin| twin.cut = |_, _| Vec::new()),
    hardened("cut-calls-answered-in-other-words", &[clause::TOOLS_CUT], |twin| {
        twin.cut = |_, calls| calls.iter().map(|call| Message::tool(&call.id, "Tool error: limit reached")).collect();
    }),
    hardened("cut-calls-answered-as-missing", &[clause::TOOLS_CUT], |twin| {
        twin.cut = |_, calls| calls.iter().map(|call| Message::tool(&call.id, "[No result recorded]")).collect();
    }),
    hardened("only-the-first-cut-call-answered", &[clause::TOOLS_CUT], |twin| {
        twin.cut = |twin, calls| cut(twin, &calls[..calls.len().min(1)]);
    }),
    hardened("cut-calls-answered-in-reverse", &[clause::TOOLS_CUT], |twin| {
        twin.cut = |twin, calls| cut(twin, calls).into_iter().rev().collect();
    }),
    hardened("cut-calls-executed", &[clause::TOOLS_CUT], |twin| {
        twin.cut = |twin, calls| {
            if twin.profile == Profile::Literal {
                Vec::new()
            } else {
                calls.iter().map(|call| Message::tool(&call.id, "one")).collect()
            }
        };
    }),
    hardened("repeated-ids-kept", &[clause::TOOLS_DISTINCT, clause::PROVIDER_1], |twin| twin.distinct = |_, _, _| {}),
    hardened("repeated-ids-numbered-from-one", &[clause::TOOLS_DISTINCT], |twin| {
        twin.distinct =
            |twin, calls, _| renumber_in(Profile::Hardened, twin, calls, |id, repeats| format!("{id}_{repeats}"));
    }),
    hardened("repeated-ids-numbered-with-a-hyphen", &[clause::TOOLS_DISTINCT], |twin| {
        twin.distinct =
            |twin, calls, _| renumber_in(Profile::Hardened, twin, calls, |id, repeats| format!("{id}-{}", repeats + 1));
    }),
    hardened("numbered-ids-collide-with-the-thread", &[clause::TOOLS_DISTINCT], |twin| {
        twin.distinct =
            |twin, calls, _| renumber_in(Profile::Hardened, twin, calls, |id, repeats| format!("{id}_{}", repeats + 1));
    }),
    hardened("numbered-ids-take-those-of-later-calls", &[clause::TOOLS_DISTINCT], |twin| {
        twin.distinct = |twin, calls, thread| {
            if twin.profile == Profile::Literal {
                return;
            }
            for index in 0..calls.len() {
                let own = calls[index].id.clone();
                if calls[..index].iter().any(|call| call.id == own) {
                    calls[index].id = free(&own, thread);
                }
                thread.push(calls[index].id.clone());
            }
        };
    }),
    hardened("ids-distinct-in-the-whole-thread", &[clause::TOOLS_DISTINCT], |twin| {
        twin.distinct = |twin, calls, thread| {
            if twin.profile == Profile::Literal {
                return;
            }
            for call in calls {
                if thread.contains(&call.id) {
                    call.id = free(&call.id, thread);
                }
                thread.push(call.id.clone());
            }
        };
    }),
    hardened("repeated-calls-dropped", &[clause::TOOLS_DISTINCT], |twin| {
        twin.distinct = |twin, calls, _| {
            if twin.profile == Profile::Literal {
                return;
            }
            let mut seen = Vec::new();
            calls.retain(|call| {
                let first = !seen.contains(&call.id);
                seen.push(call.id.clone());
                first
            });
        };
    }),
    literal("ids-distinct-in-literal-too", &[clause::TOOLS_DISTINCT], |twin| {
        twin.distinct = |twin, calls, thread| {
            distinct(twin, calls, thread);
            renumber_in(Profile::Literal, twin, calls, |id, repeats| format!("{id}_{}", repeats + 1));
        };
    }),
    bug("tool-messages-without-id", &[clause::TOOLS_ID, clause::PROVIDER_1], |twin| {
        twin.tool_message = |_, content| Message::tool("", content);
    }),
    bug("tool-messages-with-the-name-as-id", &[clause::TOOLS_ID], |twin| {
        twin.tool_message = |call, content| Message::tool(&call.name, content);
    }),
    bug("tool-messages-with-the-first-id", &[clause::TOOLS_ID, clause::PROVIDER_1], |twin| {
        twin.after_round = |_, messages, answered| {
            let first = messages[answered - 1].tool_calls()[0].id.clone();
            for message in &mut messages[answered..] {
                *message = Message::tool(&first, message.content());
            }
        };
    }),
    bug("tool-error-thrown-away", &[clause::LOOP_TOOL_ERROR, clause::PROVIDER_1], |twin| {
        twin.after_round = |_, messages, answered| {
            let failed = |message: &Message| message.content().starts_with("Tool ");
            let mut index = 0;
            messages.retain(|message| {
                index += 1;
                index <= answered || !failed(message)
            });
        };
    }),
    bug("tool-error-unmarked", &[clause::LOOP_TOOL_ERROR], |twin| {
        twin.outcome = |twin, call, result| match result {
            Err(ToolError::Failed(message)) => message,
            result => outcome(twin, call, result),
        };
    }),
    bug("tool-error-as-its-object", &[clause::LOOP_TOOL_ERROR], |twin| {
        twin.outcome = |twin, call, result| match result {
            Err(ToolError::Failed(message)) => outcome(twin, call, Ok(json!({"error": message}))),
            result => outcome(twin, call, result),
        };
    }),
    bug("unknown-tool-without-quotes", &[clause::LOOP_TOOL_ERROR], |twin| {
        twin.outcome = |twin, call, result| match result {
            Err(ToolError::NotFound) => format!("Tool not found: {}", call.name),
            result => outcome(twin, call, result),
        };
    }),
    bug("unknown-tool-gives-nothing", &[clause::LOOP_TOOL_ERROR], |twin| {
        twin.outcome = |twin, call, result| match result {
            Err(ToolError::NotFound) => String::new(),
            result => outcome(twin, call, result),
        };
    }),
    bug("unknown-tool-is-an-error", &[clause::LOOP_TOOL_ERROR], |twin| {
        twin.outcome = |twin, call, result| match result {
            Err(ToolError::NotFound) => format!("Tool error: Tool not found: \"{}\"", call.name),
            result => outcome(twin, call, result),
        };
    }),
    bug("inherited-members-are-tools", &[clause::LOOP_TOOL_ERROR], |twin| {
        twin.outcome = |twin, call, result| match result {
            Err(ToolError::NotFound) if call.name == "constructor" || call.name == "toString" => {
                "[object Object]".to_owned()
            }
            result => outcome(twin, call, result),
        };
    }),
    bug("tool-called-proto-is-lost", &[clause::NAME_ORDINARY], |twin| {
        twin.outcome = |twin, call, result| match call.name.as_str() {
            "__proto__" => outcome(twin, call, Err(ToolError::NotFound)),
            _ => outcome(twin, call, result),
        };
    }),
];

/// The messages of an output, up to a response whose calls `maxRecursionDepth` cut off, if there is one.
fn cut_off<'a>(input: &Value, output: &'a mut Value) -> Option<&'a mut Vec<Value>> {
    let messages = output.get_mut("messages").and_then(Value::as_array_mut)?;
    let last = messages.iter().rposition(|message| message["type"] == "ai")?;
    let executed = messages[last + 1..].iter().any(|message| message["content"] != "[Not executed: limit reached]");
    let cut = input["maxRecursionDepth"].is_u64() && messages[last]["tool_calls"].is_array() && !executed;
    cut.then(|| {
        messages.truncate(last + 1);
        messages
    })
}

/// In one profile, gives each call that repeats an id a new one, made from the id and the number of times that it has occurred.
fn renumber_in(profile: Profile, twin: &Twin, calls: &mut [ToolCall], other: fn(&str, usize) -> String) {
    if twin.profile != profile {
        return;
    }
    let ids: Vec<String> = calls.iter().map(|call| call.id.clone()).collect();
    for (index, call) in calls.iter_mut().enumerate() {
        let repeats = ids[..index].iter().filter(|id| **id == call.id).count();
        if repeats > 0 {
            call.id = other(&ids[index], repeats);
        }
    }
}
