//! GATE-STATUS: final refusals stay final, and what may be tried again stays so. GATE-WORDS: the message comes through. GATE-WAIT: the time to
//! wait does.

use super::Answer;
use super::heard::{ClientHeard, HeardForm};
use crate::shown::quoted;
use std::time::Duration;
use threadspec::surrogates::without_marks;
use threadspec_golden::clause;
use threadspec_provider::client::ClientResponse;

const CLAUSE: &str = clause::GATE_STATUS;

/// Judges what the client hears of an attempt that failed before the first byte of an answer.
pub(super) fn judge(answer: &mut Answer<'_, '_>) {
    let refused = answer.attempt.status.filter(|status| *status >= 400);
    let Some(response) = answer.response().cloned() else {
        if let Some(status) = refused {
            answer.must(
                CLAUSE,
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
        return answer.must(CLAUSE, format!("{answered}, and the client receives status {got}"), None, "");
    };
    // No answer may be tried again.
    let wanted = refused.unwrap_or(502);
    if is_passing(wanted) != is_passing(got) {
        let [was, is] = [wanted, got].map(|status| if is_passing(status) { "may be tried again" } else { "is final" });
        answer.must(CLAUSE, format!("{answered}, which {was}, and the client receives {got}, which {is}"), None, "");
    } else if [401, 429].contains(&wanted) && got != wanted {
        answer.must(CLAUSE, format!("{answered}, and the client receives {got}"), None, "");
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
