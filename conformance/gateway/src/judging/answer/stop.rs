//! GATE-STOP: what the limit cut off is reported as such. GATE-STOP-CALLS: calls are reported as calls.

use super::Answer;
use threadspec_apis::{Finish, ReadAnswer};
use threadspec_golden::clause;
use threadspec_provider::Said;

pub(super) fn judge(answer: &mut Answer<'_, '_>, said: &Said, read: &ReadAnswer) {
    let (wanted, got) = (finish_of(said), &read.answer.finish);
    let word = got.name(answer.api).to_owned();
    let is_cut = wanted == Finish::Length;
    // Calls that are lost or made up have another name.
    let has_its_calls = read.answer.calls.len() == said.calls.len();
    if is_cut && *got != Finish::Length {
        let what = format!("the limit of tokens ended the answer, and the client reads that it ended with `{word}`");
        answer.must(clause::GATE_STOP, what, Some(said), &word);
    } else if !is_cut && *got == Finish::Length {
        let what =
            format!("the answer ended by itself, and the client reads that the limit of tokens ended it (`{word}`)");
        answer.must(clause::GATE_STOP, what, Some(said), &word);
    } else if wanted == Finish::Calls && has_its_calls && !said.calls.is_empty() && *got != Finish::Calls {
        let what = format!("the answer ended with calls, and the client reads that it ended with `{word}`");
        answer.should(clause::GATE_STOP_CALLS, what, Some(said), &word);
    } else if wanted == Finish::End && has_its_calls && said.calls.is_empty() && *got == Finish::Calls {
        let what = format!("the answer has no calls, and the client reads that it ended with `{word}`");
        answer.should(clause::GATE_STOP_CALLS, what, Some(said), &word);
    }
}

/// Why an answer ended.
pub(super) fn finish_of(said: &Said) -> Finish {
    match (&said.stop, &said.refusal) {
        (Some(word), _) => Finish::of_name(word),
        (None, Some(_)) => Finish::Refusal,
        (None, None) if said.calls.is_empty() => Finish::End,
        (None, None) => Finish::Calls,
    }
}
