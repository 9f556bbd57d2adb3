//! Gives each rule a level and an advice.

use super::finding::{Finding, Level, Place};
use super::verdict::UNSURE;
use threadspec::oracle::Breach;
use threadspec_golden::{LogRuleEntry, log_rules, provider_rules};

/// The rule that a result is no JavaScript's text of an object.
pub(super) const LOST_RESULT: &str = "LOG-RESULT";

/// Returns the demand of a rule, in one sentence; `None` for an id that no rule has.
///
/// ```
/// assert!(threadspec_logs::rule_text("OAI-CHAT-ANSWERED").is_some_and(|text| text.starts_with("Directly after")));
/// assert_eq!(threadspec_logs::rule_text("LOG-NOTHING"), None);
/// ```
pub fn rule_text(rule: &str) -> Option<&'static str> {
    let of_api = provider_rules().iter().find(|known| known.id == rule).map(|known| &*known.text);
    of_api.or_else(|| log_rules().iter().find(|known| known.id == rule).map(|known| &*known.text))
}

/// A finding by a rule of `log-rules.json`, which says how bad it is and what to do.
pub(super) fn finding(rule: &str, place: Place, text: impl Into<String>) -> Finding {
    let LogRuleEntry { id, level, advice, .. } =
        log_rules().iter().find(|known| known.id == rule).expect("a test finds every rule that is named here");
    let level = match &**level {
        "error" => Level::Error,
        "warning" => Level::Warning,
        _ => Level::Note,
    };
    Finding { rule: id, level, place, text: text.into(), advice }
}

/// A finding by a rule of an API. Where only some servers refuse the request, it is a warning.
pub(super) fn of_breach(breach: &Breach, place: Place) -> Finding {
    let level = if breach.is_certain { Level::Error } else { Level::Warning };
    let text = if breach.is_certain { breach.what.clone() } else { format!("{}{UNSURE}", breach.what) };
    Finding { rule: breach.rule, level, place, text, advice: advice_of(breach.rule) }
}

/// The family of a rule of an API; empty for others.
pub(super) fn family(rule: &str) -> &'static str {
    provider_rules().iter().find(|known| known.id == rule).map_or("", |known| &known.family)
}

/// Returns the advice for a broken rule of an API; a rule has the advice of its family.
fn advice_of(rule: &str) -> &'static str {
    let family = family(rule);
    ADVICE.iter().find(|(known, _)| *known == family).map_or("", |(_, advice)| advice)
}

const ADVICE: [(&str, &str); 47] = [
    ("role", "Use a role that this API has: put results and system text where it takes them."),
    ("call-type", "Send each call with its `type`, as it came."),
    ("chat-calls", "Send each call as a `function_call` item and each result as a `function_call_output`."),
    ("item-type", "Send only items that this API has: text is in a `message`."),
    ("image", "Send the image in a message of the user, behind the results."),
    ("call-turn", "Cut a history only before a message of the user."),
    ("alternate", "Join neighbours of one role, and begin with the user."),
    ("answered", "Put one result for each call directly behind the calls, an error or a refusal as a result, too."),
    (
        "orphan",
        "Keep a call and its result together: drop or keep both, also where a long thread is shortened (`threadspec explain SESSION-COMPACT`).",
    ),
    ("once", "Give every call an id of its own, and send one result for it."),
    ("id-length", "Shorten the id, in the call and in its result."),
    ("tool-name", "Rename the tool with letters, digits, `_` and `-`, not longer than the API allows."),
    ("arguments", "Send the arguments as this API has them, and `{}` where there are none."),
    ("calls-nonempty", "Leave `tool_calls` out where there are none."),
    ("messages-nonempty", "Send at least one message."),
    ("tools-nonempty", "Leave `tools` out where there are none."),
    ("tools-max", "Declare fewer tools in one request."),
    ("tool-options", "Send options of tools only beside `tools`."),
    (
        "strict-schema",
        "Set `additionalProperties` to false in every object of the schema and name all properties in `required`.",
    ),
    ("content", "Send content in a form that the API takes there, and a word such as `(empty)` where there is none."),
    ("size", "Shorten the text, or leave out what is oldest."),
    ("message-name", "Use letters, digits, `_` and `-` in `name`, or leave it out."),
    ("utf16", "Cut texts between characters, not between UTF-16 units, and replace halves by U+FFFD before sending."),
    ("previous-response", "Go on from a response that is stored, or send the whole history."),
    ("item-unique", "Send every item once."),
    ("item-prefix", "Send items with the ids that they came with, or without ids."),
    ("reasoning-next", "Send a `reasoning` item together with the item that followed it, or drop both."),
    ("stored-item", "With `store` false send the items themselves, reasoning with its `encrypted_content`."),
    ("extra", "Drop the members that the API knows in answers only."),
    ("text-type", "Use `output_text` for the assistant's texts, and `input_text` for all others."),
    ("id-pattern", "Make ids of letters, digits, `_` and `-`."),
    ("result-first", "Put the results before every other block of the message."),
    ("result-together", "Send the results of parallel calls in one message."),
    ("trailing", "Trim white space from the end of the last message."),
    ("prefill", "Let the last message be the user's."),
    ("system", "Put system text into `system`."),
    ("thinking-first", "Send the thinking blocks of the answer back with its calls, in front of them."),
    ("thinking-same", "Send thinking blocks back as they came, all of them, in their order."),
    ("thinking-signature", "Keep the `signature` of a thinking block, or drop the block."),
    ("thinking-choice", "With thinking on, let `tool_choice` be `auto` or `none`."),
    ("tools-unique", "Declare every tool once."),
    ("cache-marks", "Set at most four cache marks, none on an empty text."),
    ("version", "Send the header `anthropic-version`."),
    ("sampling", "Leave out `temperature`, `top_p` and `top_k`."),
    ("assistant-document", "Put documents into messages of the user."),
    ("user-citations", "Drop `citations` from the texts of the user."),
    ("required", "Send every member that the API requires."),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_of_an_api_says_what_to_do() {
        for rule in provider_rules() {
            let advice = advice_of(&rule.id);
            assert!(advice.ends_with('.'), "{}: no advice for the family {:?}", rule.id, rule.family);
        }
    }

    #[test]
    fn every_rule_of_logs_is_complete() {
        for rule in log_rules() {
            assert!(matches!(&*rule.level, "error" | "warning" | "note"), "{}: {}", rule.id, rule.level);
            for sentence in [&rule.text, &rule.advice, &rule.evidence] {
                assert!(sentence.ends_with('.'), "{}: {sentence}", rule.id);
            }
        }
    }
}
