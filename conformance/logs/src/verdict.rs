//! Applies a server's verdict on a request: it outranks the rules, which only predict an API.

use super::bodies;
use super::finding::{Finding, Level, Place};
use super::forms::{LoggedTurn, ServerVerdict};
use super::rules::{family, finding};
use threadspec_golden::provider_rules;
use threadspec_judge::text::cut;

/// Families of rules on calls and their results, which matter to a model even where a server lets it pass.
const PAIRS: [&str; 4] = ["answered", "orphan", "once", "result-together"];

/// Returns the findings on a request, with the server's verdict. `turns` gives its messages in the neutral form.
pub(super) fn outranked(
    found: Vec<Finding>,
    (verdict, is_of_others): (&ServerVerdict, bool),
    place: &Place,
    turns: impl FnOnce() -> Vec<LoggedTurn>,
) -> Vec<Finding> {
    let mut found = found;
    if !matches!(verdict, ServerVerdict::Unknown | ServerVerdict::Unsaid) {
        // A recorder may keep a choice of the headers. Without the one of the version, a server speaks of nothing else.
        let words = if let ServerVerdict::Refused { words, .. } = verdict { words } else { "" };
        found.retain(|one| family(one.rule) != "version" || speaks_of(words, one.rule));
    }
    match verdict {
        ServerVerdict::Accepted(status) => accepted(found, *status, place, turns),
        ServerVerdict::Refused { status, words } => refused(found, *status, words, place),
        ServerVerdict::Unknown | ServerVerdict::Unsaid | ServerVerdict::Unjudged(_) if is_of_others => {
            found.into_iter().map(as_warning).collect()
        }
        ServerVerdict::Unknown | ServerVerdict::Unsaid | ServerVerdict::Unjudged(_) => found,
    }
}

fn is_of_api(found: &Finding) -> bool {
    !found.rule.starts_with("LOG-")
}

/// Rules of an API that its server did not apply. What is missing in the pairs of calls and results is still missing for the model.
fn accepted(
    found: Vec<Finding>,
    status: Option<u16>,
    place: &Place,
    turns: impl FnOnce() -> Vec<LoggedTurn>,
) -> Vec<Finding> {
    let is_of_pairs = |one: &Finding| is_of_api(one) && PAIRS.contains(&family(one.rule));
    let (mut lost, mut found) = (Vec::new(), found);
    if found.iter().any(is_of_pairs) {
        found.retain(|one| is_of_api(one) || !is_lost(one));
        lost = bodies::of_turns(&turns(), place, false);
        lost.retain(is_lost);
    }
    let status = status.map(|status| format!(" ({status})")).unwrap_or_default();
    let told = |one: Finding| match one {
        one if !is_of_api(&one) => Some(one),
        // What was not certain was right.
        one if one.level != Level::Error => None,
        one if is_of_pairs(&one) && !lost.is_empty() => None,
        Finding { rule, place, text, .. } => {
            let text = format!("{rule} says that the API refuses this, which this server accepted{status}: {text}");
            Some(Finding { rule, level: Level::Note, place, text, advice: "" })
        }
    };
    let mut found: Vec<Finding> = found.into_iter().filter_map(told).collect();
    found.extend(lost);
    found
}

/// Returns whether it is about calls and results, in the neutral rules.
fn is_lost(found: &Finding) -> bool {
    matches!(found.rule, "LOG-ANSWERED" | "LOG-ORPHAN" | "LOG-ONCE")
}

/// A request that was refused: the server's words, with the rule that they speak of.
fn refused(mut found: Vec<Finding>, status: Option<u16>, words: &str, place: &Place) -> Vec<Finding> {
    const LONGEST: usize = 400;
    let (short, rest) = cut(words, LONGEST);
    let status = status.map(|status| format!(" ({status})")).unwrap_or_default();
    let said = match (short.trim(), rest) {
        ("", _) => format!("the server refused it{status}, and gave no reason"),
        (short, rest) => {
            format!("the server refused it{status}: {short:?}{}", if rest.is_empty() { "" } else { "…" })
        }
    };
    // Without words, what our rules say is all that is known.
    let is_wordless = short.trim().is_empty();
    let mut is_told = false;
    let is_meant = |one: &Finding| speaks_of(words, one.rule) || is_wordless && one.level == Level::Error;
    for one in found.iter_mut().filter(|one| is_of_api(one) && is_meant(one)) {
        one.text = one.text.trim_end_matches(UNSURE).to_owned();
        one.text.push_str(&format!("; {said}"));
        one.level = Level::Error;
        is_told = true;
    }
    if !is_told {
        found.push(finding("LOG-REFUSED", place.clone(), said));
    }
    found
}

/// How a finding ends of which it is not certain that the API refuses it.
pub(super) const UNSURE: &str = "; only some servers or versions refuse such a request";

/// A finding by the rule of an API for another server.
fn as_warning(found: Finding) -> Finding {
    if !is_of_api(&found) || found.level != Level::Error {
        return found;
    }
    Finding { level: Level::Warning, text: format!("{}{UNSURE}", found.text), ..found }
}

/// Returns whether the words of a refusal are those of a rule: they have a sentence of it, or the part of one that names nothing of the
/// request.
fn speaks_of(words: &str, rule: &str) -> bool {
    /// A shorter part could be in any refusal.
    const SHORTEST: usize = 24;
    let plain = |text: &str| text.replace(['\'', '`', '"'], "");
    let words = plain(words);
    let rules = provider_rules().iter().filter(|known| known.id == rule);
    let mut texts = rules.flat_map(|known| {
        let own = known.variants.values().chain([&known.answer]).map(|words| &*words.message);
        own.chain(known.others.iter().map(|other| &*other.message))
    });
    texts.any(|text| {
        let parts = text.split('{').enumerate();
        let parts =
            parts.map(|(number, part)| if number == 0 { part } else { part.split_once('}').map_or("", |it| it.1) });
        let mut sentences =
            parts.flat_map(|part| part.split(". ")).map(|part| plain(part.trim_matches([' ', '.', ':'])));
        let is_whole = !text.contains('{') && !text.is_empty() && words.contains(&plain(text));
        is_whole || sentences.any(|part| part.len() >= SHORTEST && words.contains(&part))
    })
}
