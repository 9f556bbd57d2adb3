//! GATE-THINKING: what the model thought is shown. GATE-OPAQUE in answers: where both APIs are the same, the client gets what only the provider
//! reads as it was.

use super::Answer;
use crate::judging::request::is_same;
use crate::shown::quoted;
use threadspec_apis::ReadAnswer;
use threadspec_golden::clause;
use threadspec_provider::{Said, SaidThought};

pub(super) fn judge(answer: &mut Answer<'_, '_>, said: &Said, read: &ReadAnswer) {
    let is_proxy = answer.judging.run.is_plain_proxy();
    let got = &read.answer.thinking;
    if is_proxy {
        let mut next = got.iter();
        let is_kept = |thought: &SaidThought| {
            next.any(|read| {
                read.seal == thought.opaque && (thought.is_redacted || is_same(thought.text.trim(), read.text.trim()))
            })
        };
        let sealed: Vec<&SaidThought> = said.thoughts.iter().filter(|thought| thought.opaque.is_some()).collect();
        if let Some(lost) = sealed.into_iter().find({
            let mut is_kept = is_kept;
            move |thought| !is_kept(thought)
        }) {
            let shown = quoted(if lost.is_redacted { lost.opaque.as_deref().unwrap_or_default() } else { &lost.text });
            let what = format!(
                "the thought {shown} was sent with a part that only the provider reads, and the client does not get it so"
            );
            return answer.must(clause::GATE_OPAQUE, what, Some(said), "");
        }
    }
    let open = said.thoughts.iter().map(|thought| thought.text.trim()).filter(|text| !text.is_empty());
    let told: String = got.iter().map(|thought| thought.text.as_str()).collect();
    let is_told = |text: &str| told.contains(text) || is_same(text, told.trim()) || read.answer.text.contains(text);
    let hidden = open.into_iter().find(|text| !is_told(text));
    if let Some(text) = hidden {
        let what = format!("the model thought {}, and the client is not shown it", quoted(text));
        answer.should(clause::GATE_THINKING, what, Some(said), "");
    }
}
