//! AGENT-GOES-ON, AGENT-STOPS and AGENT-LIMIT: when the model is asked again; AGENT-MODEL-FAILURE: what happens when it fails.
//! Words that are taken for a command: to end, to cut, to try again.

use crate::universal::prelude::*;

/// Ends the run after a round, without saying why.
fn ends_after(
    name: &str,
    breaks: Clauses,
    ends: impl Fn(&[Value], usize) -> bool + Copy + Send + Sync + 'static,
) -> Planted {
    ends_when(name, breaks, move |run| ends(&run.list, run.turn))
}

/// Asks the model again after a response without calls that has one of these texts.
fn asks_again(name: &str, breaks: Clauses, again: fn(&str) -> bool) -> Planted {
    seam::is_last(name, breaks, move |_, message| calls(message).is_empty() && !again(words(message)))
}

/// The last message with calls.
fn last_calls(list: &[Value]) -> Vec<Value> {
    list.iter().rfind(|message| message["type"] == "ai").map(calls).unwrap_or_default()
}

/// Asks the model again after a failure, so many times, with a message or without.
fn retries(name: &str, breaks: Clauses, times: usize, message: Option<fn(&str) -> Value>) -> Planted {
    seam::failed(name, breaks, move |run, error| {
        let tried = run.memory["tried"].as_u64().map_or(0, |tried| usize::try_from(tried).unwrap_or(0));
        run.memory = json!({"tried": tried + 1});
        if let Some(message) = message {
            run.list.push(message(error));
        }
        let again = tried < times;
        if !again {
            run.memory = Value::Null;
            run.stop = Some(error.clone());
        }
        again
    })
}

/// Reports a failure as a message at the end.
fn invents(name: &str, breaks: Clauses, message: fn(&str) -> Value) -> Planted {
    seam::failed(name, breaks, move |run, error| {
        run.stop = Some(error.clone());
        run.list.push(message(error));
        false
    })
}

pub(super) fn bugs() -> Vec<Planted> {
    let mut bugs = vec![
        ends_after("text-beside-calls-ends-the-run", GOES_ON, |list, _| {
            list.iter().rfind(|message| message["type"] == "ai").is_some_and(|message| !words(message).is_empty())
        }),
        ends_after("final-answer-beside-calls-ends-the-run", GOES_ON, |list, _| {
            list.iter().any(|message| words(message).contains("Final Answer"))
        }),
        ends_after("empty-result-ends-the-run", GOES_ON, |list, _| {
            list.last().is_some_and(|answer| words(answer).is_empty())
        }),
        ends_after("parallel-calls-end-the-run", GOES_ON, |list, _| last_calls(list).len() > 1),
        ends_after("same-call-again-ends-the-run", GOES_ON, |list, _| {
            let last = last_calls(list);
            let same = |message: &&Value| {
                !last.is_empty()
                    && calls(message).iter().zip(&last).filter(|(one, other)| one["id"] == other["id"]).count()
                        == last.len()
            };
            list.iter().filter(same).count() > 1
        }),
        ends_after("same-failure-again-ends-the-run", FAILURE, |list, _| {
            let failures: Vec<&str> =
                list.iter().map(words).filter(|text| text.starts_with("The tool failed")).collect();
            failures.len() > 2 && failures.windows(2).all(|pair| pair[0] == pair[1])
        }),
        asks_again("empty-answer-asked-again", STOPS, str::is_empty),
        seam::is_last("empty-answer-left-out-and-asked-again", STOPS, |run, message| {
            let again = calls(message).is_empty() && words(message).is_empty();
            if again {
                run.list.pop();
            }
            calls(message).is_empty() && !again
        }),
        asks_again("white-space-asked-again", STOPS, |text| text.trim().is_empty() && !text.is_empty()),
        asks_again("calls-read-from-json-text", STOPS, |text| text.starts_with('{') && text.contains("\"name\"")),
        asks_again("calls-read-from-action-lines", STOPS, |text| text.contains("Action:")),
        asks_again("calls-read-from-tags", STOPS, |text| text.contains("<tool_call>")),
        seam::is_last("final-answer-asked-for-once-more", STOPS, |run, message| {
            let asks = calls(message).is_empty()
                && run.turn > 1
                && !run.list.iter().any(|message| words(message) == "Sum up.");
            if asks {
                run.list.push(json!({"type": "human", "content": "Sum up."}));
            }
            calls(message).is_empty() && !asks
        }),
        seam::is_last("every-answer-asked-for-twice", STOPS, |run, message| {
            let said = run.list.iter().filter(|message| message["type"] == "ai" && calls(message).is_empty()).count();
            calls(message).is_empty() && said > 1
        }),
        seam::is_last("empty-list-of-calls-asked-again", STOPS, |run, message| {
            calls(message).is_empty() && !run.scripted(0)["tool_calls"].is_array()
        }),
        seam::is_cut("limit-ignored", LIMIT, |_| false),
        seam::is_cut("limit-doubled", LIMIT, |run| run.limit().is_some_and(|limit| run.turn > 2 * limit + 1)),
        seam::is_cut("two-rounds-beyond-the-limit", LIMIT, |run| run.limit().is_some_and(|limit| run.turn > limit + 2)),
        seam::is_cut("limit-of-zero-means-none", LIMIT, |run| {
            run.limit().is_some_and(|limit| limit > 0 && run.turn > limit)
        }),
        seam::is_cut("limit-of-zero-means-one", LIMIT, |run| run.limit().is_some_and(|limit| run.turn > limit.max(1))),
        seam::is_cut("limit-counts-calls", LIMIT, |run| {
            run.limit().is_some_and(|limit| run.list.iter().flat_map(calls).count() > limit)
        }),
        seam::is_cut("limit-counts-messages", LIMIT, |run| run.limit().is_some_and(|limit| run.list.len() > limit)),
        seam::is_cut("limit-forgives-failures", LIMIT, |run| {
            let failures = run.list.iter().filter(|message| words(message).starts_with("The tool failed")).count();
            run.limit().is_some_and(|limit| run.turn > limit + failures)
        }),
        seam::is_cut("one-round-less-than-the-limit-and-one-more", LIMIT, |run| {
            run.limit().is_some_and(|limit| limit > 2 && run.turn + 1 > limit.saturating_sub(1))
        }),
        invents(
            "error-said-by-the-assistant",
            MODEL,
            |error| json!({"type": "ai", "content": format!("Error: {error}")}),
        ),
        invents(
            "apology-said-by-the-assistant",
            MODEL,
            |_| json!({"type": "ai", "content": "Sorry, something went wrong."}),
        ),
        invents("empty-message-said-by-the-assistant", MODEL, |_| json!({"type": "ai", "content": ""})),
        retries(
            "error-told-to-the-model-as-a-question",
            MODEL,
            1,
            Some(|error| json!({"type": "human", "content": format!("Error: {error}")})),
        ),
        retries(
            "error-told-to-the-model-as-its-own-words",
            MODEL,
            1,
            Some(|error| json!({"type": "ai", "content": format!("Error: {error}")})),
        ),
        seam::failed("failing-model-tried-without-the-last-message", MODEL, |run, error| {
            let again = run.list.len() > 1 && run.memory.is_null();
            run.memory = if again { json!(true) } else { Value::Null };
            run.list.pop();
            if !again {
                run.stop = Some(error.clone());
            }
            again
        }),
        seam::failed("failing-model-unreported", MODEL, |_, _| false),
        seam::failed("last-text-repeated-when-the-model-fails", MODEL, |run, error| {
            run.stop = Some(error.clone());
            let last = run.list.last().map(|message| words(message).to_owned()).unwrap_or_default();
            run.list.push(json!({"type": "ai", "content": last}));
            false
        }),
        seam::failed("failing-model-after-rounds-begins-anew", MODEL, |run, error| {
            let again = run.memory.is_null() && run.turn > 1;
            run.memory = if again { json!(true) } else { Value::Null };
            if again {
                run.list.truncate(run.requests[0].len());
            } else {
                run.stop = Some(error.clone());
            }
            again
        }),
    ];
    bugs.extend(family("run-ends-after-{n}-rounds", &[1, 3, 10, 25, 50, 118, 150], |name, size| {
        ends_after(name, GOES_ON, move |_, turn| turn >= size)
    }));
    bugs.extend(family("run-ends-after-{n}-calls", &[2, 10, 100], |name, size| {
        ends_after(name, GOES_ON, move |list, _| list.iter().flat_map(calls).count() >= size)
    }));
    bugs.extend(family("failing-model-tried-{n}-times-more", &[2, 10], |name, size| retries(name, MODEL, size, None)));
    bugs.extend(family("limit-of-at-least-{n}", &[2, 10, 20], |name, size| {
        seam::is_cut(name, LIMIT, move |run| run.limit().is_some_and(|limit| run.turn > limit.max(size)))
    }));
    bugs
}

/// The words, each with a name.
const WORDS: [(&str, &str); 17] = [
    ("terminate", "TERMINATE"),
    ("final-answer", "Final Answer:"),
    ("observation", "Observation:"),
    ("done", "[DONE]"),
    ("stop", "STOP"),
    ("exit", "exit"),
    ("end-of-text", "<|endoftext|>"),
    ("end-of-a-call", "</tool_call>"),
    ("human", "\n\nHuman:"),
    ("response", "### Response:"),
    ("hand-over", "HANDOFF"),
    ("completed", "completed the task"),
    ("max-iterations", "max iterations"),
    ("busy", "rate limit"),
    ("full", "context_length_exceeded"),
    ("trace", "Traceback"),
    ("interrupted", "interrupted"),
];

/// Ends the run after a round in which a message says this.
fn ends(name: &str, breaks: Clauses, kind: &'static str, word: &'static str) -> Planted {
    ends_when(name, breaks, move |run| {
        let begin = run.requests.last().map_or(0, Vec::len);
        run.list[begin..].iter().any(|message| message["type"] == kind && words(message).contains(word))
    })
}

fn holds(value: &Value, word: &str) -> bool {
    match value {
        Value::String(text) => text.contains(word),
        Value::Array(elements) => elements.iter().any(|element| holds(element, word)),
        Value::Object(members) => members.values().any(|member| holds(member, word)),
        _ => false,
    }
}

pub(super) fn of_words() -> Vec<Planted> {
    let mut bugs: Vec<Planted> = WORDS
        .iter()
        .map(|&(name, word)| ends(&format!("result-with-{name}-ends-the-run"), GOES_ON, "tool", word))
        .collect();
    for &(name, word) in [&WORDS[0], &WORDS[1], &WORDS[3], &WORDS[10], &WORDS[11]] {
        bugs.push(ends(&format!("text-with-{name}-beside-calls-ends-the-run"), GOES_ON, "ai", word));
        bugs.push(ends_when(&format!("arguments-with-{name}-end-the-run"), GOES_ON, move |run| {
            calls(&run.scripted(0)).iter().any(|call| holds(&call["args"], word))
        }));
    }
    for &(name, word) in [&WORDS[2], &WORDS[3], &WORDS[6], &WORDS[8]] {
        bugs.push(on_text_result(&format!("results-cut-at-{name}"), TEXT, move |text| {
            text.split(word).next().unwrap_or_default().to_owned()
        }));
    }
    for (name, answer) in [
        ("continue", "CONTINUE"),
        ("an-announcement", "I will now call"),
        ("dots", "..."),
        ("a-question-mark", "?"),
        ("a-next-step", "Next step:"),
    ] {
        bugs.push(seam::is_last(&format!("answer-with-{name}-asked-again"), STOPS, move |_, message| {
            calls(message).is_empty() && (!words(message).contains(answer) || words(message) == "Anything else?")
        }));
    }
    bugs.extend([
        seam::is_last("answer-without-a-full-stop-asked-again", STOPS, |run, message| {
            calls(message).is_empty() && (run.turn > 2 || !words(message).starts_with("The answer is"))
        }),
        ends("error-with-terminate-ends-the-run", FAILURE, "tool", "The tool failed: TERMINATE"),
        begun("question-that-says-exit-ends-the-run", GOES_ON, |run| {
            if run.list.iter().any(|message| matches!(words(message), "exit" | "/exit")) {
                run.stop = Some(String::new());
            }
        }),
        given_kept("questions-with-a-slash-dropped", START, |message| !words(message).starts_with('/')),
        ends_when("instructions-with-terminate-end-the-run", GOES_ON, |run| {
            run.list.iter().any(|message| words(message).contains("TERMINATE"))
        }),
        seam::outcome("result-that-sounds-like-an-error-fails", RESULT, |run, call| match outcome(run, call) {
            ToolOutcome::Result(Value::String(text))
                if text.starts_with("Traceback") || text.starts_with("Error code: 429") =>
            {
                ToolOutcome::Failure(text)
            }
            other => other,
        }),
        seam::content("result-like-an-unanswered-call-left-out", RESULT, |_, outcome| match outcome {
            ToolOutcome::Result(Value::String(text)) if text.starts_with("[Tool call") => "".into(),
            _ => content(outcome),
        }),
    ]);
    for (name, said) in [
        ("a-polite-end", ["done", "finished", "bye"]),
        ("a-failure", ["timeout", "denied", "cancelled"]),
        ("a-verdict", ["approved", "rejected", "final"]),
    ] {
        bugs.push(ends_when(&format!("result-that-is-{name}-ends-the-run"), GOES_ON, move |run| {
            run.list.iter().any(|message| message["type"] == "tool" && said.contains(&words(message)))
        }));
    }
    bugs
}
