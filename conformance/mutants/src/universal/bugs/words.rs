//! Words that are taken for a command: to end, to cut, to try again.

use super::{bug, on_given, on_text_result};
use crate::agent::{Agent, ToolOutcome, calls, content, outcome, text};
use crate::planted::Planted;
use serde_json::Value;
use threadspec_golden::clause;

const GOES_ON: &[&str] = &[clause::AGENT_GOES_ON];
const RESULT: &[&str] = &[clause::AGENT_RESULT];
const STOPS: &[&str] = &[clause::AGENT_STOPS];

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
fn ends(agent: &mut Agent, kind: &'static str, word: &'static str) {
    agent.after_round = Box::new(move |run| {
        let begin = run.requests.last().map_or(0, Vec::len);
        if run.list[begin..].iter().any(|message| message["type"] == kind && text(&message["content"]).contains(word)) {
            run.stop = Some(String::new());
        }
    });
}

fn holds(value: &Value, word: &str) -> bool {
    match value {
        Value::String(text) => text.contains(word),
        Value::Array(elements) => elements.iter().any(|element| holds(element, word)),
        Value::Object(members) => members.values().any(|member| holds(member, word)),
        _ => false,
    }
}

pub(super) fn bugs() -> Vec<Planted> {
    let mut bugs: Vec<Planted> = WORDS
        .iter()
        .map(|&(name, word)| {
            bug(&format!("result-with-{name}-ends-the-run"), GOES_ON, move |agent| ends(agent, "tool", word))
        })
        .collect();
    for &(name, word) in [&WORDS[0], &WORDS[1], &WORDS[3], &WORDS[10], &WORDS[11]] {
        bugs.push(bug(&format!("text-with-{name}-beside-calls-ends-the-run"), GOES_ON, move |agent| {
            ends(agent, "ai", word)
        }));
        bugs.push(bug(&format!("arguments-with-{name}-end-the-run"), GOES_ON, move |agent| {
            agent.after_round = Box::new(move |run| {
                if calls(&run.scripted(0)).iter().any(|call| holds(&call["args"], word)) {
                    run.stop = Some(String::new());
                }
            });
        }));
    }
    for &(name, word) in [&WORDS[2], &WORDS[3], &WORDS[6], &WORDS[8]] {
        bugs.push(bug(&format!("results-cut-at-{name}"), &[clause::AGENT_TEXT], move |agent| {
            on_text_result(agent, move |text| text.split(word).next().unwrap_or_default().to_owned());
        }));
    }
    for (name, answer) in [
        ("continue", "CONTINUE"),
        ("an-announcement", "I will now call"),
        ("dots", "..."),
        ("a-question-mark", "?"),
        ("a-next-step", "Next step:"),
    ] {
        bugs.push(bug(&format!("answer-with-{name}-asked-again"), STOPS, move |agent| {
            agent.is_last = Box::new(move |_, message| {
                calls(message).is_empty()
                    && (!text(&message["content"]).contains(answer) || text(&message["content"]) == "Anything else?")
            });
        }));
    }
    bugs.extend([
        bug("answer-without-a-full-stop-asked-again", STOPS, |agent| {
            agent.is_last = Box::new(|run, message| {
                calls(message).is_empty() && (run.turn > 2 || !text(&message["content"]).starts_with("The answer is"))
            });
        }),
        bug("error-with-terminate-ends-the-run", &[clause::AGENT_FAILURE], |agent| {
            ends(agent, "tool", "The tool failed: TERMINATE")
        }),
        bug("question-that-says-exit-ends-the-run", GOES_ON, |agent| {
            agent.begin = Box::new(|run| {
                super::mend(&mut run.list);
                if run.list.iter().any(|message| matches!(text(&message["content"]), "exit" | "/exit")) {
                    run.stop = Some(String::new());
                }
                Ok(())
            });
        }),
        bug("questions-with-a-slash-dropped", &[clause::AGENT_START], |agent| {
            on_given(agent, |list| list.retain(|message| !text(&message["content"]).starts_with('/')))
        }),
        bug("instructions-with-terminate-end-the-run", GOES_ON, |agent| {
            agent.after_round = Box::new(|run| {
                if run.list.iter().any(|message| text(&message["content"]).contains("TERMINATE")) {
                    run.stop = Some(String::new());
                }
            });
        }),
        bug("result-that-sounds-like-an-error-fails", RESULT, |agent| {
            agent.outcome = Box::new(|run, call| match outcome(run, call) {
                ToolOutcome::Result(Value::String(text))
                    if text.starts_with("Traceback") || text.starts_with("Error code: 429") =>
                {
                    ToolOutcome::Failure(text)
                }
                other => other,
            });
        }),
        bug("result-like-an-unanswered-call-left-out", RESULT, |agent| {
            agent.content = Box::new(|_, outcome| match outcome {
                ToolOutcome::Result(Value::String(text)) if text.starts_with("[Tool call") => "".into(),
                _ => content(outcome),
            });
        }),
    ]);
    for (name, words) in [
        ("a-polite-end", ["done", "finished", "bye"]),
        ("a-failure", ["timeout", "denied", "cancelled"]),
        ("a-verdict", ["approved", "rejected", "final"]),
    ] {
        bugs.push(bug(&format!("result-that-is-{name}-ends-the-run"), GOES_ON, move |agent| {
            agent.after_round = Box::new(move |run| {
                if run
                    .list
                    .iter()
                    .any(|message| message["type"] == "tool" && words.contains(&text(&message["content"])))
                {
                    run.stop = Some(String::new());
                }
            });
        }));
    }
    bugs
}
