//! What goes wrong between the agent's list and the body: messages that are lost, joined, moved or renamed when they are written.
//! Responses with a history that the provider keeps: it goes on from the wrong place, or not alone.

use crate::over_wire::prelude::*;
use crate::wire::stored::from_the_answer_before;

/// Returns whether an element of a history answers a call.
fn is_answer(element: &Value) -> bool {
    element["role"] == "tool" || element["type"] == "function_call_output" || element["type"] == "tool_result"
}

/// Keeps the element or not, by its number among the answers.
fn keep_answers(elements: &mut Vec<Value>, keeps: fn(usize) -> bool) {
    let mut number = 0;
    elements.retain(|element| {
        let is_answer = is_answer(element);
        number += usize::from(is_answer);
        !is_answer || keeps(number - 1)
    });
}

/// The APIs in which answers stand in one list with everything else.
const FLAT: Modes = ALL.of(OPENAI);

impl WireGroup {
    /// Changes the list in which the answers stand: the blocks of a message for Anthropic, else the history itself.
    fn answers(self, name: &'static str, first: usize, change: fn(&mut Vec<Value>)) -> Planted {
        self.since_ask(name, first, move |body| {
            let messages = history(body);
            let is_of_blocks =
                |message: &Value| message["content"].as_array().is_some_and(|blocks| blocks.iter().any(is_answer));
            if messages.iter().any(is_of_blocks) {
                for message in messages.iter_mut().filter(|message| is_of_blocks(message)) {
                    message["content"].as_array_mut().into_iter().for_each(change);
                }
                messages.retain(|message| message["content"].as_array().is_none_or(|blocks| !blocks.is_empty()));
            } else {
                change(messages);
            }
        })
    }

    /// Changes the messages of an ask from this one on.
    fn shown_from(self, name: &'static str, first: usize, change: fn(&mut Vec<Value>)) -> Planted {
        self.shown(name, move |run, messages| {
            if run.turn >= first {
                change(messages);
            }
        })
    }
}

pub(super) fn bugs() -> Vec<Planted> {
    vec![
        ANSWERED.answers("answers-not-written", 2, |elements| keep_answers(elements, |_| false)),
        ANSWERED.answers("answers-not-written-from-the-third-ask-on", 3, |elements| keep_answers(elements, |_| false)),
        ANSWERED.answers("first-answer-alone-written", 2, |elements| keep_answers(elements, |number| number == 0)),
        ANSWERED.answers("third-answer-not-written", 2, |elements| keep_answers(elements, |number| number != 2)),
        ANSWERED.answers("answers-written-twice", 2, |elements| {
            let twice = elements
                .drain(..)
                .flat_map(|element| if is_answer(&element) { vec![element.clone(), element] } else { vec![element] });
            let twice: Vec<Value> = twice.collect();
            elements.extend(twice);
        }),
        ANSWERED.answers("answers-with-the-id-of-the-first-call", 2, |elements| {
            for answers in elements.chunk_by_mut(|one, other| is_answer(one) && is_answer(other)) {
                for member in ["tool_call_id", "call_id", "tool_use_id"] {
                    let first = answers[0][member].clone();
                    answers
                        .iter_mut()
                        .filter(|answer| answer[member].is_string())
                        .for_each(|answer| answer[member] = first.clone());
                }
            }
        }),
        RESULT.answers("ids-of-answers-swapped", 2, |elements| {
            for answers in elements.chunk_by_mut(|one, other| is_answer(one) && is_answer(other)) {
                for member in ["tool_call_id", "call_id", "tool_use_id"] {
                    let ids: Vec<Value> = answers.iter().map(|answer| answer[member].clone()).collect();
                    if ids[0].is_string() {
                        answers.iter_mut().zip(ids.into_iter().rev()).for_each(|(answer, id)| answer[member] = id);
                    }
                }
            }
        }),
        ANSWERED.of(FLAT.of(CHAT)).answers("answers-without-ids", 2, |elements| {
            elements.iter_mut().filter(|element| is_answer(element)).for_each(|answer| without(answer, "tool_call_id"));
        }),
        ANSWERED.shown_from("answers-as-messages-of-the-user", 2, |messages| {
            for message in messages.iter_mut().filter(|message| is(message, "tool")) {
                *message = json!({"type": "human", "content": message["content"]});
            }
        }),
        RESPONSE.shown_from("calls-not-written", 2, |messages| {
            for message in messages.iter_mut().filter(|message| is(message, "ai")) {
                without(message, "tool_calls");
            }
            messages.retain(|message| !(is(message, "tool") || is(message, "ai") && message["content"] == ""));
        }),
        RESPONSE.shown_from("responses-not-written", 2, |messages| {
            messages.retain(|message| !is(message, "ai") || calls(message).is_empty())
        }),
        RESPONSE.shown_from("texts-beside-calls-not-written", 2, |messages| {
            messages
                .iter_mut()
                .filter(|message| !calls(message).is_empty())
                .for_each(|message| message["content"] = "".into());
        }),
        PREFIX.shown_from("window-of-four-messages", 2, |messages| {
            drop(messages.drain(..messages.len().saturating_sub(4)))
        }),
        PREFIX.shown_from("window-that-keeps-the-system-message", 3, |messages| {
            let end = messages.len().saturating_sub(2);
            let mut at = 0;
            messages.retain(|message| {
                at += 1;
                at > end || is(message, "system")
            });
        }),
        PREFIX.shown_from("human-messages-in-the-first-request-alone", 2, |messages| {
            messages.retain(|message| !is(message, "human"))
        }),
        PREFIX.shown_from("system-messages-in-the-first-request-alone", 2, |messages| {
            messages.retain(|message| !is(message, "system"))
        }),
        PREFIX.of(ALL.of(OPENAI)).shown_from("system-messages-from-the-second-request-on-at-the-end", 2, |messages| {
            messages.sort_by_key(|message| is(message, "system"))
        }),
        PREFIX.shown_from("rounds-before-the-last-one-told-as-text", 3, |messages| {
            let last = messages.iter().rposition(|message| is(message, "ai")).unwrap_or(0);
            let before = messages[..last].iter().position(|message| !calls(message).is_empty());
            let Some(first) = before else { return };
            let told: Vec<&str> = messages[first..last].iter().map(|message| text(&message["content"])).collect();
            let told = json!({"type": "human", "content": format!("Earlier: {}", told.join("; "))});
            messages.splice(first..last, [told]);
        }),
        PREFIX.shown_from("results-of-earlier-rounds-left-out", 3, |messages| {
            let last = messages.iter().rposition(|message| is(message, "ai")).unwrap_or(0);
            for message in messages[..last].iter_mut().filter(|message| is(message, "tool")) {
                message["content"] = "[left out]".into();
            }
        }),
        ANSWERED.shown_from("empty-results-not-written", 2, |messages| {
            messages.retain(|message| !(is(message, "tool") && message["content"] == ""))
        }),
        RULES.of(ALL.of(CHAT)).body("empty-results-as-null", |_, body| {
            for message in
                history(body).iter_mut().filter(|message| message["role"] == "tool" && message["content"] == "")
            {
                message["content"] = Value::Null;
            }
        }),
        RULES.of(ALL.of(CHAT)).elements("arguments-as-objects", |message| {
            for call in message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
                let arguments = text(&call["function"]["arguments"]).to_owned();
                call["function"]["arguments"] = serde_json::from_str(&arguments).unwrap_or_default();
            }
        }),
        RULES.of(ALL.of(ANTHROPIC)).body("input-as-json-text", |_, body| {
            let blocks = history(body).iter_mut().filter_map(|message| message["content"].as_array_mut()).flatten();
            for block in blocks.filter(|block| block["type"] == "tool_use") {
                block["input"] = block["input"].to_string().into();
            }
        }),
        RULES.of(ALL.of(CHAT)).elements("no-calls-as-an-empty-list", |message| {
            if message["role"] == "assistant" && message["tool_calls"].is_null() {
                message["tool_calls"] = json!([]);
            }
        }),
        RULES.of(ALL.of(ANTHROPIC)).body("members-of-the-stream-kept-in-blocks", |_, body| {
            let blocks = history(body).iter_mut().filter_map(|message| message["content"].as_array_mut()).flatten();
            for (index, block) in blocks.filter(|block| block["type"] == "tool_use").enumerate() {
                block["index"] = index.into();
            }
        }),
        RULES.of(ALL.of(ANTHROPIC)).answers("texts-before-results", 2, |blocks| {
            blocks.insert(0, json!({"type": "text", "text": "Here are the results."}))
        }),
        RULES.of(ALL.of(ANTHROPIC)).body("system-messages-among-the-others", |_, body| {
            let system = body["system"].clone();
            if system.is_string() {
                without(body, "system");
                history(body).insert(0, json!({"role": "system", "content": system}));
            }
        }),
        RULES.of(ALL.of(RESPONSES)).elements("texts-of-the-model-as-texts-of-the-user", |item| {
            if item["role"] == "assistant" {
                item["content"][0]["type"] = "input_text".into();
            }
        }),
        RULES.of(ALL.of(RESPONSES)).elements("results-as-lists-of-values", |item| {
            if item["type"] == "function_call_output" {
                item["output"] = json!([item["output"]]);
            }
        }),
        breaking(&[clause::AGENT_INDEPENDENT]).shown("messages-of-the-run-before-shown", |run, messages| {
            let before = run.memory["list"].as_array().cloned().unwrap_or_default();
            if run.turn == 1 && !before.is_empty() {
                run.memory["shown"] = before.clone().into();
            }
            if run.turn == 1 {
                run.memory["list"] = messages.clone().into();
            }
            let shown = run.memory["shown"].as_array().cloned().unwrap_or_default();
            messages.splice(0..0, shown);
        }),
        breaking(&[clause::AGENT_LIMIT]).plant("failed-attempts-counted-as-rounds", |agent| {
            agent.agent.is_cut = Box::new(|run| {
                let failures = run.wire.failures;
                run.limit().is_some_and(|limit| run.turn + failures > limit)
            });
        }),
    ]
}

const HERE: Modes = ALL.of(RESPONSES);

impl WireGroup {
    /// Goes on from the answer before, with a change.
    fn stored(self, name: &'static str, change: impl ChangesInRun<Value>) -> Planted {
        self.body(name, move |run, body| {
            from_the_answer_before(run, body);
            if body["previous_response_id"].is_string() {
                change(run, body);
            }
        })
    }
}

pub(super) fn stored() -> Vec<Planted> {
    vec![
        PREFIX.of(HERE).stored("goes-on-from-the-first-response-for-ever", |run, body| {
            body["previous_response_id"] = (&*run.wire.answers[0].0).into()
        }),
        PREFIX.of(HERE).stored("goes-on-from-the-response-before-the-last", |run, body| {
            let answers = &run.wire.answers;
            body["previous_response_id"] = (&*answers[answers.len().saturating_sub(2)].0).into();
        }),
        PREFIX.of(HERE).stored("stored-history-sent-as-well", |run, body| {
            body["input"] = run.list.iter().flat_map(write::items).collect();
        }),
        PREFIX.of(HERE).stored("human-messages-sent-beside-the-stored-history", |run, body| {
            let human = run.list.iter().rfind(|message| message["type"] == "human");
            let items: Vec<Value> = human.into_iter().flat_map(write::items).collect();
            history(body).splice(0..0, items);
        }),
        PREFIX.of(HERE).body("instructions-not-sent-again-beside-the-stored-history", |run, body| {
            from_the_answer_before(run, body);
            let systems: Vec<&str> = run
                .list
                .iter()
                .filter(|message| message["type"] == "system")
                .map(|message| text(&message["content"]))
                .collect();
            let instructions = systems.join("\n");
            if !instructions.is_empty() {
                history(body).retain(|item| item["role"] != "system");
            }
            if !instructions.is_empty() && body["previous_response_id"].is_null() {
                body["instructions"] = instructions.into();
            }
        }),
        RULES.of(HERE).body("goes-on-from-what-was-not-stored", |run, body| {
            from_the_answer_before(run, body);
            body["store"] = false.into();
        }),
        RULES.of(HERE).stored("goes-on-from-a-response-of-another-run", |run, body| {
            let before = run.memory["id"].clone();
            run.memory["id"] = body["previous_response_id"].clone();
            if before.is_string() {
                body["previous_response_id"] = before;
            }
        }),
        RULES.of(HERE).stored("goes-on-from-an-id-of-another-kind", |_, body| {
            let id = text(&body["previous_response_id"]).replace("resp_", "msg_");
            body["previous_response_id"] = id.into();
        }),
        RULES.of(HERE).body("items-named-that-were-not-stored", |run, body| {
            body["store"] = false.into();
            let id = run.wire.answers.last().map(|(id, _)| id.replace("resp_", "rs_"));
            if let Some(id) = id {
                let at = history(body).len() - 1;
                history(body).insert(at, json!({"type": "item_reference", "id": id}));
            }
        }),
        RETRY.of(HERE).again("results-sent-alone-on-a-retry", |_, body| {
            let items = history(body);
            let results = items.iter().rev().take_while(|item| item["type"] == "function_call_output").count();
            if results > 0 {
                items.drain(..items.len() - results);
            }
        }),
    ]
}
