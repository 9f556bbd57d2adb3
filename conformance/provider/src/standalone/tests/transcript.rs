//! Transcripts: what was sent is judged again from them, and stays private where it shall.

use super::{Desk, call_and_text, chat, user};
use crate::standalone::{Talk, header, judge_again};
use serde_json::json;
use threadspec::oracle::Api;
use threadspec_golden::clause;

const SECRET: &str = "the plans of the harbour";

/// Returns the findings, without the words.
fn found<'a>(talks: impl IntoIterator<Item = &'a Talk>) -> Vec<(u64, u64, Vec<&'static str>)> {
    let clauses = |talk: &Talk| talk.findings.iter().map(|finding| finding.clause).collect();
    talks.into_iter().map(|talk| (talk.requests, talk.answers, clauses(talk))).collect()
}

/// A program that goes right and one that does not, with a fault and a retry between.
fn recorded(redacted: bool) -> (Desk, Vec<String>) {
    let mut desk = Desk::new(&json!({"model": [
        {"content": SECRET, "tool_calls": [{"name": "look", "args": {"for": SECRET}}], "attempts": [{"status": 503}]}, {"content": "Done"}]}));
    desk.provider.record(redacted);
    for answers in [true, false] {
        let go = if answers { user(SECRET) } else { user("Go") };
        desk.ask(Api::OpenAiChat, &chat(json!([go])));
        let said = desk.chat(json!([go]));
        let id = said["tool_calls"][0]["id"].as_str().unwrap_or_default().to_owned();
        let next = if answers { super::result(&id, SECRET) } else { user(SECRET) };
        desk.ask(Api::OpenAiChat, &chat(json!([go, said, next])));
    }
    let lines = [header()].into_iter().chain(desk.provider.take_lines()).collect();
    (desk, lines)
}

#[test]
fn a_transcript_is_judged_as_it_was() {
    for redacted in [false, true] {
        let (desk, lines) = recorded(redacted);
        let text = lines.join("\n");
        let again = judge_again(text.lines()).expect("a transcript");
        assert_eq!(lines.len(), 7);
        assert_eq!(found(&again), found(desk.provider.talks()), "redacted: {redacted}");
        assert_eq!(desk.broken(), [vec![], vec![clause::AGENT_ANSWERED]]);
        assert!(!text.contains("sk-any"), "no key");
        assert_eq!(text.contains(SECRET), !redacted);
        if !redacted {
            let whats = |talks: &[Talk]| talks.iter().flat_map(|talk| talk.findings.clone()).collect::<Vec<_>>();
            assert_eq!(whats(&again), whats(&desk.provider.talks().cloned().collect::<Vec<_>>()));
        }
        assert!(desk.provider.talks().all(|talk| talk.answers < talk.requests), "a failed attempt is no answer");
    }
}

#[test]
fn nothing_is_kept_that_nobody_asked_for() {
    let mut desk = Desk::new(&call_and_text());
    desk.chat(json!([user("Go")]));
    assert!(desk.provider.take_lines().is_empty());
}

#[test]
fn a_line_that_is_none_is_named() {
    let (_, mut lines) = recorded(false);
    lines[2].truncate(20);
    let error = judge_again(lines.iter().map(String::as_str)).expect_err("half a line").to_string();
    assert!(error.contains("line 3"), "{error}");
    for first in [r#"{"provider": 2}"#, "{}", "nothing"] {
        let error = judge_again([first]).expect_err(first).to_string();
        assert!(error.contains("line 1"), "{error}");
    }
    assert!(judge_again([&*header()]).expect("nothing was said").is_empty());
}
