//! Judges how an answer ends: GATE-CUT, GATE-STATUS, GATE-WORDS, GATE-WAIT, GATE-STOP, GATE-STOP-CALLS.

use super::{Answer, ClientHeard, HeardForm};
use crate::finding::quoted;
use crate::judging::request::{TextChange, compare};
use std::time::Duration;
use threadspec::surrogates::without_marks;
use threadspec_apis::{AnswerEnd, Finish, ReadAnswer};
use threadspec_golden::clause;
use threadspec_provider::Said;
use threadspec_provider::client::ClientResponse;

const CUT: &str = clause::GATE_CUT;

/// Judges what the client hears of an answer that began and did not end.
pub(super) fn judge_cut(answer: &mut Answer<'_, '_>, said: &Said) {
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
            answer.must(CUT, what, Some(said), "");
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
                answer.must(CUT, what, Some(said), word);
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
    if got.is_empty() || told.trim_start().starts_with(got) || read.answer.finish == Finish::Length {
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

// GATE-STATUS: final refusals stay final, and what may be tried again stays so. GATE-WORDS: the message comes through. GATE-WAIT: the time to
// wait does.

const STATUS: &str = clause::GATE_STATUS;

/// Judges what the client hears of an attempt that failed before the first byte of an answer.
pub(super) fn judge_failed(answer: &mut Answer<'_, '_>) {
    let refused = answer.attempt.status.filter(|status| *status >= 400);
    let Some(response) = answer.response().cloned() else {
        if let Some(status) = refused {
            answer.must(
                STATUS,
                format!("the provider refused with {status}, and the client receives nothing"),
                None,
                "",
            );
        }
        return;
    };
    let heard = ClientHeard::of(answer.api, &response);
    let answered = match refused {
        Some(status) => format!("the provider refused with {status}"),
        None => "the provider did not answer".to_owned(),
    };
    let got = heard.status;
    let HeardForm::Error(error) = &heard.form else {
        return answer.must(STATUS, format!("{answered}, and the client receives status {got}"), None, "");
    };
    // No answer may be tried again.
    let wanted = refused.unwrap_or(502);
    if is_passing(wanted) != is_passing(got) {
        let [was, is] = [wanted, got].map(|status| if is_passing(status) { "may be tried again" } else { "is final" });
        answer.must(STATUS, format!("{answered}, which {was}, and the client receives {got}, which {is}"), None, "");
    } else if [401, 429].contains(&wanted) && got != wanted {
        answer.must(STATUS, format!("{answered}, and the client receives {got}"), None, "");
    }
    if let Some(words) = answer.attempt.error.as_ref().filter(|words| !holds(&heard.text, &error.message, words)) {
        let what =
            format!("the provider answered {}, and the client receives {}", quoted(words), quoted(&error.message));
        answer.should(clause::GATE_WORDS, what, None, "");
    }
    if refused == Some(429) && got == 429 {
        judge_wait(answer, &response);
    }
}

/// 408, 409, 429 and 5xx.
fn is_passing(status: u16) -> bool {
    matches!(status, 408 | 409 | 429 | 500..)
}

/// Returns whether the words of an error are in another one, or in a JSON text inside it.
fn holds(body: &str, message: &str, words: &str) -> bool {
    let words = without_marks(words);
    let words = words.trim();
    let escaped = serde_json::to_string(words).unwrap_or_default();
    let escaped = escaped.trim_matches('"');
    let twice = serde_json::to_string(escaped).unwrap_or_default();
    [message, body].iter().any(|text| [words, escaped, twice.trim_matches('"')].iter().any(|one| text.contains(one)))
}

fn judge_wait(answer: &mut Answer<'_, '_>, response: &ClientResponse) {
    let Some(wanted) = answer.attempt.fault.as_ref().and_then(|fault| fault.retry_after) else { return };
    let number = |name: &str| {
        response.header(name).and_then(|value| value.trim().parse::<f64>().ok()).filter(|number| *number >= 0.0)
    };
    let time = |seconds: f64| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    let got = number("retry-after-ms").map(|ms| time(ms / 1000.0)).or_else(|| number("retry-after").map(time));
    let ms = |time: Duration| time.as_millis();
    // In whole seconds it is rounded up.
    let most = Duration::from_secs(wanted.as_secs() + u64::from(wanted.subsec_nanos() > 0));
    match got {
        None => {
            let what = format!("the provider asked to wait {} ms, and the client receives no time", ms(wanted));
            answer.should(clause::GATE_WAIT, what, None, "");
        }
        Some(got) if got < wanted || got > most => {
            let what = format!("the provider asked to wait {} ms, and the client receives {} ms", ms(wanted), ms(got));
            answer.should(clause::GATE_WAIT, what, None, "");
        }
        Some(_) => {}
    }
}

// GATE-STOP: what the limit cut off is reported as such. GATE-STOP-CALLS: calls are reported as calls.

pub(super) fn judge_stop(answer: &mut Answer<'_, '_>, said: &Said, read: &ReadAnswer) {
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

#[cfg(test)]
mod tests {
    use super::holds;

    #[test]
    fn words_are_found_in_texts_that_quote_them() {
        let words = "Say \"please\"";
        for (message, expected) in [
            ("Say \"please\"", true),
            ("litellm.BadRequestError: AnthropicException - {\"error\": {\"message\": \"Say \\\"please\\\"\"}}", true),
            ("Bad request", false),
        ] {
            assert_eq!(holds("", message, words), expected, "{message}");
        }
    }
}
