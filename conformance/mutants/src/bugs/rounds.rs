//! Tool rounds, in `tools` and inside the iterations of `loop`.

use crate::plants::prelude::*;
use crate::twin::parts::calls;
use crate::twin::rounds::{assistant, cut, distinct, free, outcome};
use threadspec::agent::Response;
use threadspec::ecma_string;

/// Changes the messages after a round, given where its answers begin.
fn round(name: FaultName, terms: impl IntoTerms, change: fn(&mut Vec<Message>, usize)) -> Planted {
    on::after_round(name, terms, move |_, messages, answered| change(messages, answered))
}

/// Puts the calls of a response in another order, or leaves some out.
fn ordered(name: FaultName, terms: impl IntoTerms, change: fn(&mut Vec<ToolCall>)) -> Planted {
    on::calls(name, terms, move |_, calls| {
        let mut calls = calls.to_vec();
        change(&mut calls);
        calls
    })
}

/// Has another limit on rounds.
fn limited(name: FaultName, terms: impl IntoTerms, is_too_deep: fn(usize, Option<usize>) -> bool) -> Planted {
    on::is_too_deep(name, terms, move |_, rounds, depth| is_too_deep(rounds, depth))
}

/// Words a failure otherwise, given its message.
fn failing(name: FaultName, written: fn(&Twin, &ToolCall, &str) -> String) -> Planted {
    odd_outcome(name, LOOP_TOOL_ERROR, move |twin, call, result| match result {
        Err(ToolError::Failed(message)) => Some(written(twin, call, message)),
        _ => None,
    })
}

/// Words it otherwise that a tool is unknown.
fn unknown(name: FaultName, written: fn(&Twin, &ToolCall) -> Option<String>) -> Planted {
    odd_outcome(name, LOOP_TOOL_ERROR, move |twin, call, result| match result {
        Err(ToolError::NotFound) => written(twin, call),
        _ => None,
    })
}

/// Answers cut calls in other words.
fn cut_with(name: FaultName, words: &'static str) -> Planted {
    on::cut(name, hardened(TOOLS_CUT), move |_, calls| {
        calls.iter().map(|call| Message::tool(&call.id, words)).collect()
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

fn renumbered(name: FaultName, other: fn(&str, usize) -> String) -> Planted {
    on::distinct(name, hardened(TOOLS_DISTINCT), move |twin, calls, _| {
        renumber_in(Profile::Hardened, twin, calls, other);
    })
}

/// Makes ids distinct in another way, in hardened alone.
fn distinct_by(name: FaultName, change: fn(&mut Vec<ToolCall>, &mut Vec<String>)) -> Planted {
    on::distinct(name, hardened(TOOLS_DISTINCT), move |twin, calls, thread| {
        if twin.profile == Profile::Hardened {
            change(calls, thread);
        }
    })
}

/// Changes the messages of an output, up to a response whose calls `maxRecursionDepth` cut off, if there is one.
fn cut_off(name: FaultName, change: fn(&mut Vec<Value>)) -> Planted {
    on::after_tools(name, TOOLS_DEPTH, move |_, input, output| {
        let Some(messages) = list(output, "messages") else { return };
        let Some(last) = messages.iter().rposition(|message| message["type"] == "ai") else { return };
        let executed = messages[last + 1..].iter().any(|message| message["content"] != "[Not executed: limit reached]");
        if input["maxRecursionDepth"].is_u64() && messages[last]["tool_calls"].is_array() && !executed {
            messages.truncate(last + 1);
            change(messages);
        }
    })
}

const ACCUMULATE: &str = TOOLS_ACCUMULATE;
/// What no provider takes either.
const REFUSED: [&str; 2] = [TOOLS_ACCUMULATE, PROVIDER_1];

pub(super) fn bugs() -> Vec<Planted> {
    vec![
        on::before("absent-arguments-refused", TOOLS_ARGS, |_, _, input| {
            calls(input).filter(|call| call["args"].is_null()).for_each(|call| call["args"] = "none".into());
        }),
        on::after("absent-arguments-become-null", TOOLS_ARGS, |_, _, input, output| {
            let given = listed(input, "model").iter().flat_map(|turn| listed(turn, "tool_calls"));
            let absent: Vec<&Value> = given.filter(|call| call["args"].is_null()).map(|call| &call["id"]).collect();
            let messages = list(output, "messages").into_iter().flatten();
            let calls = messages.filter_map(|message| list(message, "tool_calls")).flatten();
            calls.filter(|call| absent.contains(&&call["id"])).for_each(|call| call["args"] = Value::Null);
        }),
        odd_outcome("tool-results-by-string", TOOLS_RESULT, |_, _, result| result.as_ref().ok().map(ecma_string)),
        odd_outcome("tool-texts-in-quotes", TOOLS_RESULT, |twin, _, result| {
            result.as_ref().ok().map(|value| twin.stringify(value))
        }),
        round("rounds-forget-the-start", ACCUMULATE, |messages, answered| drop(messages.drain(..answered - 1))),
        round("rounds-keep-only-the-last", ACCUMULATE, |messages, answered| {
            let start = messages.iter().position(|message| !message.tool_calls().is_empty()).unwrap_or(0);
            messages.drain(start..answered - 1);
        }),
        round("assistant-message-forgotten", REFUSED, |messages, answered| drop(messages.remove(answered - 1))),
        round("assistant-message-after-its-results", REFUSED, |messages, answered| {
            messages[answered - 1..].rotate_left(1);
        }),
        round("assistant-message-twice", REFUSED, |messages, answered| {
            messages.insert(answered, messages[answered - 1].clone());
        }),
        round("forgets-tool-results", REFUSED, Vec::truncate),
        round("only-the-first-result", REFUSED, |messages, answered| messages.truncate(answered + 1)),
        round("one-assistant-message-per-call", ACCUMULATE, |messages, answered| {
            let results = messages.split_off(answered);
            let Some(Message::Ai { content, tool_calls }) = messages.pop() else { return };
            for (call, result) in tool_calls.into_iter().zip(results) {
                messages.extend([Message::Ai { content: content.clone(), tool_calls: vec![call] }, result]);
            }
        }),
        round("text-beside-calls-in-a-message-of-its-own", [TOOLS_CONTENT, TOOLS_ACCUMULATE], |messages, answered| {
            if let Some(Message::Ai { content, .. }) = messages.get_mut(answered - 1)
                && !content.is_empty()
            {
                let text = Message::ai(std::mem::take(content));
                messages.insert(answered - 1, text);
            }
        }),
        round("tool-messages-with-the-first-id", [TOOLS_ID, PROVIDER_1], |messages, answered| {
            let first = messages[answered - 1].tool_calls()[0].id.clone();
            messages[answered..].iter_mut().for_each(|message| *message = Message::tool(&first, message.content()));
        }),
        round("tool-error-thrown-away", [LOOP_TOOL_ERROR, PROVIDER_1], |messages, answered| {
            let answers = messages.split_off(answered);
            messages.extend(answers.into_iter().filter(|message| !message.content().starts_with("Tool ")));
        }),
        ordered("only-the-first-call", ACCUMULATE, |calls| calls.truncate(1)),
        ordered("calls-in-reverse", [TOOLS_ACCUMULATE, LOOP_EVENTS], |calls| calls.reverse()),
        ordered("calls-by-name", [TOOLS_ACCUMULATE, LOOP_EVENTS], |calls| {
            calls.sort_by(|one, other| one.name.cmp(&other.name));
        }),
        ordered("equal-calls-made-once", TOOLS_ID, |calls| {
            calls.dedup_by(|one, other| one.name == other.name && one.args == other.args);
        }),
        on::after("final-message-left-out", [TOOLS_ACCUMULATE, TOOLS_STOP], |_, _, _, output| {
            list(output, "messages").into_iter().for_each(|list| drop(list.pop_if(|last| last["type"] == "ai")));
        }),
        on::last_list("last-message-of-tools-twice", ACCUMULATE, |list| list.extend(list.last().cloned())),
        on::sent("requests-share-one-list", TOOLS_SNAPSHOT, |requests, messages| {
            requests.iter_mut().for_each(|request| *request = messages.to_vec());
        }),
        on::sent("requests-share-their-rounds", TOOLS_SNAPSHOT, |requests, _| {
            (1..requests.len()).rev().for_each(|later| requests[later - 1] = requests[later].clone());
        }),
        on::sent("first-request-grows", TOOLS_SNAPSHOT, |requests, messages| {
            if let [first, _, ..] = requests {
                *first = messages.to_vec();
            }
        }),
        on::assistant("text-beside-calls-dropped", TOOLS_CONTENT, |response| {
            let is_beside = !response.tool_calls.is_empty();
            with_content(assistant(response), |text| emptied(text, is_beside))
        }),
        on::assistant("text-beside-calls-trimmed", TOOLS_CONTENT, |response| {
            with_content(assistant(response), |text| text.trim().to_owned())
        }),
        on::is_last("text-ends-the-rounds", TOOLS_STOP, |response: &Response| {
            response.tool_calls.is_empty() || !response.content.is_empty()
        }),
        on::is_last("empty-response-asked-again", TOOLS_STOP, |response: &Response| {
            response.tool_calls.is_empty() && !response.content.is_empty()
        }),
        limited("one-round-only", [TOOLS_STOP, TOOLS_ACCUMULATE], |rounds, _| rounds >= 1),
        limited("ten-rounds-at-most", [TOOLS_STOP, TOOLS_DEPTH], |rounds, depth| rounds >= depth.unwrap_or(10)),
        limited("fifty-rounds-at-most", [TOOLS_STOP, TOOLS_DEPTH], |rounds, depth| rounds >= depth.unwrap_or(50)),
        limited("depth-one-too-many", TOOLS_DEPTH, |rounds, depth| depth.is_some_and(|depth| rounds > depth)),
        limited("depth-one-too-few", TOOLS_DEPTH, |rounds, depth| depth.is_some_and(|depth| rounds + 1 >= depth)),
        limited("depth-zero-means-no-limit", TOOLS_DEPTH, |rounds, depth| {
            depth.is_some_and(|depth| depth > 0 && rounds >= depth)
        }),
        limited("depth-ignored", TOOLS_DEPTH, |_, _| false),
        cut_off("depth-limit-drops-the-calls", |messages| {
            messages.last_mut().and_then(Value::as_object_mut).map(|last| last.remove("tool_calls"));
        }),
        cut_off("depth-limit-drops-the-message", |messages| drop(messages.pop())),
        on::cut("cut-calls-unanswered", hardened(TOOLS_CUT), |_, _| Vec::new()),
        cut_with("cut-calls-answered-in-other-words", "Tool error: limit reached"),
        cut_with("cut-calls-answered-as-missing", "[No result recorded]"),
        on::cut("only-the-first-cut-call-answered", hardened(TOOLS_CUT), |twin, calls| {
            cut(twin, &calls[..calls.len().min(1)])
        }),
        on::cut("cut-calls-answered-in-reverse", hardened(TOOLS_CUT), |twin, calls| {
            cut(twin, calls).into_iter().rev().collect()
        }),
        on::cut("cut-calls-executed", hardened(TOOLS_CUT), |twin, calls| {
            let answered = if twin.profile == Profile::Hardened { calls } else { &[] };
            answered.iter().map(|call| Message::tool(&call.id, "one")).collect()
        }),
        on::distinct("repeated-ids-kept", hardened([TOOLS_DISTINCT, PROVIDER_1]), |_, _, _| {}),
        renumbered("repeated-ids-numbered-from-one", |id, repeats| format!("{id}_{repeats}")),
        renumbered("repeated-ids-numbered-with-a-hyphen", |id, repeats| format!("{id}-{}", repeats + 1)),
        renumbered("numbered-ids-collide-with-the-thread", |id, repeats| format!("{id}_{}", repeats + 1)),
        distinct_by("numbered-ids-take-those-of-later-calls", |calls, thread| {
            for index in 0..calls.len() {
                let own = calls[index].id.clone();
                if calls[..index].iter().any(|call| call.id == own) {
                    calls[index].id = free(&own, thread);
                }
                thread.push(calls[index].id.clone());
            }
        }),
        distinct_by("ids-distinct-in-the-whole-thread", |calls, thread| {
            for call in calls {
                if thread.contains(&call.id) {
                    call.id = free(&call.id, thread);
                }
                thread.push(call.id.clone());
            }
        }),
        distinct_by("repeated-calls-dropped", |calls, _| {
            let mut seen = std::collections::HashSet::new();
            calls.retain(|call| seen.insert(call.id.clone()));
        }),
        on::distinct("ids-distinct-in-literal-too", literal(TOOLS_DISTINCT), |twin, calls, thread| {
            distinct(twin, calls, thread);
            renumber_in(Profile::Literal, twin, calls, |id, repeats| format!("{id}_{}", repeats + 1));
        }),
        on::tool_message("tool-messages-without-id", [TOOLS_ID, PROVIDER_1], |_, content| Message::tool("", content)),
        on::tool_message("tool-messages-with-the-name-as-id", TOOLS_ID, |call, content| {
            Message::tool(&call.name, content)
        }),
        failing("tool-error-unmarked", |_, _, message| message.to_owned()),
        failing("tool-error-as-its-object", |twin, call, message| outcome(twin, call, Ok(json!({"error": message})))),
        failing("tool-errors-to-their-first-line", |_, _, message| {
            format!("Tool error: {}", message.lines().next().unwrap_or_default())
        }),
        unknown("unknown-tools-named-as-json", |twin, call| {
            Some(format!("Tool not found: {}", twin.stringify(&call.name.as_str().into())))
        }),
        unknown("unknown-tool-without-quotes", |_, call| Some(format!("Tool not found: {}", call.name))),
        unknown("unknown-tool-gives-nothing", |_, _| Some(String::new())),
        unknown("unknown-tool-is-an-error", |_, call| Some(format!("Tool error: Tool not found: \"{}\"", call.name))),
        unknown("inherited-members-are-tools", |_, call| {
            ["constructor", "toString"].contains(&&*call.name).then(|| "[object Object]".to_owned())
        }),
        odd_outcome("tool-errors-in-one-word", LOOP_TOOL_ERROR, |_, _, result| {
            result.is_err().then(|| "error".to_owned())
        }),
        odd_outcome("failure-beside-other-members", LOOP_TOOL_ERROR, |_, _, result| {
            let error = result.as_ref().ok().filter(|result| result.is_object())?.get("error")?.as_str()?;
            Some(format!("Tool error: {error}"))
        }),
        odd_outcome("tool-called-proto-is-lost", NAME_ORDINARY, |twin, call, _| {
            (call.name == "__proto__").then(|| outcome(twin, call, Err(ToolError::NotFound)))
        }),
        odd_outcome("null-for-a-call-without-arguments-is-empty", TOOLS_RESULT, |_, call, result| {
            (matches!(result, Ok(Value::Null)) && call.args.is_empty()).then(String::new)
        }),
        odd_outcome("false-and-zero-of-a-tool-are-empty", TOOLS_RESULT, |_, _, result| {
            result.as_ref().is_ok_and(|value| *value == false || *value == 0).then(String::new)
        }),
        // A call and its place.
        on::assistant("text-beside-several-calls-dropped", TOOLS_CONTENT, |response| {
            let are_several = response.tool_calls.len() > 1;
            with_content(assistant(response), |text| emptied(text, are_several))
        }),
        on::assistant("blank-text-beside-calls-dropped", TOOLS_CONTENT, |response| {
            let is_blank = !response.tool_calls.is_empty() && response.content.trim().is_empty();
            with_content(assistant(response), |text| emptied(text, is_blank))
        }),
        on::lists_of_rounds("calls-behind-a-failing-one-cancelled", TOOLS_RESULT, |list| {
            let mut has_failed = false;
            for message in list {
                if message["type"] != "tool" {
                    has_failed = false;
                } else if has_failed {
                    message["content"] = "Tool error: cancelled".into();
                } else {
                    has_failed = message["content"].as_str().is_some_and(|text| text.starts_with("Tool error: "));
                }
            }
        }),
        on::last_list("empty-response-after-rounds-left-out", TOOLS_STOP, |list| {
            list.pop_if(|last| last["type"] == "ai" && last["content"] == "" && !last["tool_calls"].is_array());
        }),
        ordered("equal-calls-of-one-response-made-once", ACCUMULATE, |calls| {
            let mut kept: Vec<ToolCall> = Vec::new();
            for call in calls.drain(..) {
                let is_like = |other: &ToolCall| other.name == call.name && other.args == call.args;
                if call.args.is_empty() || !kept.iter().any(is_like) {
                    kept.push(call);
                }
            }
            *calls = kept;
        }),
        // JavaScript's objects list integer keys first.
        ordered("tool-messages-in-the-order-of-object-keys", ACCUMULATE, |calls| {
            calls.sort_by_key(|call| call.id.parse::<u32>().map_or((true, 0), |index| (false, index)));
        }),
        // Ids that repeat, under a second condition.
        on::distinct("ids-renamed-in-the-first-round-alone", hardened(TOOLS_DISTINCT), |twin, calls, thread| {
            if thread.is_empty() {
                distinct(twin, calls, thread);
            }
        }),
        on::distinct("third-call-of-an-id-renamed-from-the-second", hardened(TOOLS_DISTINCT), |twin, calls, thread| {
            let own: Vec<String> = calls.iter().map(|call| call.id.clone()).collect();
            distinct(twin, calls, thread);
            for index in 2..calls.len() {
                if own[..index].iter().filter(|id| **id == own[index]).count() == 2 {
                    calls[index].id = format!("{}_2_2", own[index]);
                }
            }
        }),
        on::distinct("empty-ids-renamed-without-a-line", hardened(TOOLS_DISTINCT), |twin, calls, thread| {
            let own: Vec<String> = calls.iter().map(|call| call.id.clone()).collect();
            distinct(twin, calls, thread);
            for (call, _) in calls.iter_mut().zip(own).filter(|(call, own)| own.is_empty() && call.id != *own) {
                call.id = call.id.trim_start_matches('_').to_owned();
            }
        }),
    ]
}
