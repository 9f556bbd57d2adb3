//! GATE-CUT: an answer that broke off, or held an error, does not end as a whole one.

use super::Answer;
use super::heard::{ClientHeard, HeardForm};
use crate::judging::request::{TextChange, compare};
use crate::shown::quoted;
use threadspec::surrogates::without_marks;
use threadspec_apis::AnswerEnd;
use threadspec_golden::clause;
use threadspec_provider::Said;

const CLAUSE: &str = clause::GATE_CUT;

/// Judges what the client hears of an answer that began and did not end.
pub(super) fn judge(answer: &mut Answer<'_, '_>, said: &Said) {
    let Some(response) = answer.response().cloned() else { return };
    let heard = ClientHeard::of(answer.api, &response);
    let how = match answer.attempt.fault.as_ref().map(|fault| fault.kind.as_str()) {
        Some("event") => "held an error",
        Some("garbage") => "could not be read",
        _ => "broke off",
    };
    match &heard.form {
        HeardForm::Error(error) => {
            if !error.is_passing() {
                let what = format!(
                    "the answer {how}, which may be tried again, and the client receives {}, which is final",
                    heard.status
                );
                answer.must(clause::GATE_STATUS, what, Some(said), "");
            }
        }
        HeardForm::Plain { read: Ok(read), .. } if response.is_whole && read.has_ended() => {
            let text = read.answer.text.clone();
            let what = format!("the answer {how}, and the client reads a whole one: {}", quoted(&without_marks(&text)));
            answer.must(CLAUSE, what, Some(said), "");
        }
        HeardForm::Plain { .. } => {}
        HeardForm::Stream(stream) => {
            let is_told = matches!(stream.read.end, AnswerEnd::Failed(_));
            // A chat without a reason has no end: OpenAI's SDKs read it alike with `[DONE]` and without.
            if stream.read.has_ended() && !is_told && stream.error.is_none() {
                let word = stream.read.answer.finish.name(answer.api);
                let half = stream.read.whole_calls.iter().filter(|is_whole| !**is_whole).count();
                let calls = if half > 0 { ", with a call that is not whole" } else { "" };
                let what =
                    format!("the answer {how}, and the client's stream ends with `{word}` as if it were whole{calls}");
                answer.must(CLAUSE, what, Some(said), word);
            }
        }
    }
    judge_words(answer, said, &heard);
}

/// Checks that the client read only words of the provider's answer.
fn judge_words(answer: &mut Answer<'_, '_>, said: &Said, heard: &ClientHeard) {
    let Some(read) = heard.read() else { return };
    let told = said.refusal.as_deref().filter(|_| said.text.is_empty()).unwrap_or(&said.text);
    let got = read.answer.text.trim();
    if got.is_empty() || told.trim_start().starts_with(got) || read.answer.finish == threadspec_apis::Finish::Length {
        return;
    }
    let added = compare(&[told], &[got]).changes.into_iter().find_map(|change| match change {
        TextChange::Added(_, text) => Some(text),
        _ => None,
    });
    // Behind what came of the text.
    let came = answer.attempt.came.text.trim();
    let behind = got.strip_prefix(came).map(|rest| rest.trim().to_owned()).filter(|rest| !rest.is_empty());
    if let Some(text) = added.or(behind) {
        let what = format!("the client reads the text {}, which the model did not say", quoted(&text));
        answer.must(clause::GATE_INVENTED, what, Some(said), &text);
    }
}
