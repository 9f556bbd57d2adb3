//! The rules of model APIs: whether the data and the judge have the same ones, and whether an answer can be made of each.

use std::collections::HashSet;
use threadspec::oracle::{BreachDetail, RequestForm, provider_breaches_with, provider_rules};
use threadspec::read_json;
use threadspec_apis::{PLACEHOLDERS, rule_context, rule_refuses};
use threadspec_golden::{PROVIDER_RULES, ProbedAnswer, RefusalWords, RuleEntry, read_provider_rules};
use threadspec_judge::corpus::{File, Problem};

/// Checks the rules.
pub(super) fn problems(files: &[File]) -> Vec<Problem> {
    let Some(file) = files.iter().find(|file| file.path == PROVIDER_RULES) else { return Vec::new() };
    let wrong = match read_provider_rules(&file.text) {
        Ok(rules) => wrong(&rules),
        Err(error) => vec![error.to_string()],
    };
    wrong.into_iter().map(|what| Problem::in_file(PROVIDER_RULES, what)).collect()
}

fn wrong(rules: &[RuleEntry]) -> Vec<String> {
    let mut wrong = Vec::new();
    let judged: Vec<(&str, String)> = provider_rules().map(|rule| (rule.id, rule.api.to_string())).collect();
    let mut written = HashSet::new();
    for rule in rules {
        let mut add = |what: String| wrong.push(format!("{} ({}): {what}", rule.id, rule.api));
        if !written.insert((&*rule.id, &*rule.api)) {
            add("it is there twice".to_owned());
        }
        if !judged.iter().any(|(id, api)| (*id, &**api) == (&*rule.id, &*rule.api)) {
            add("nothing judges it".to_owned());
        }
        let is_sure = |sure: &str| matches!(sure, "D" | "R2" | "R1");
        if !rule.sure.split(' ').all(is_sure) || rule.seen.is_empty() {
            add("`sure` is D, R2 or R1, and `seen` says where".to_owned());
        }
        if let Some(other) = rules.iter().find(|other| other.id == rule.id && other.family != rule.family) {
            add(format!("its family is `{}` here and `{}` there", rule.family, other.family));
        }
        if rule.family.is_empty() {
            add("`family` is empty".to_owned());
        }
        if let Some(problem) = rule.probed.as_ref().and_then(|probed| probe_problem(rule, probed)) {
            add(problem);
        }
        for words in [&rule.answer].into_iter().chain(rule.variants.values()) {
            unknown_placeholders(words).for_each(|name| add(format!("nothing fills the placeholder `{{{name}}}`")));
        }
        request_problems(rule).into_iter().for_each(add);
    }
    for (id, api) in judged.iter().filter(|(id, api)| !written.contains(&(*id, &**api))) {
        wrong.push(format!("{id} ({api}): it is judged, and has no data"));
    }
    wrong
}

/// Compares a probed answer with the rest of the rule.
fn probe_problem(rule: &RuleEntry, probed: &ProbedAnswer) -> Option<String> {
    let ProbedAnswer { on, status, .. } = probed;
    let is_day = on.len() == 10
        && on
            .bytes()
            .enumerate()
            .all(|(at, byte)| if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() });
    if !is_day || !matches!(status, 200..=299 | 400..=499) {
        return Some("`probed` has a day, and a status below 300 or from 400 to 499".to_owned());
    }
    let is_limited = rule.until.is_some() || !rule.applies.is_empty();
    let is_accepted = !probed.is_refusal() && rule.is_sure() && !is_limited;
    is_accepted.then(|| {
        format!("the API accepted the broken request on {on}: `until` or `applies` says where the rule does not hold")
    })
}

/// Lists the texts in braces that are no placeholders. Patterns have braces, too, around other characters than letters.
fn unknown_placeholders(words: &RefusalWords) -> impl Iterator<Item = &str> {
    let texts = [Some(&*words.message), words.param.as_deref()].into_iter().flatten();
    let names = texts.flat_map(|text| text.split('{').skip(1).filter_map(|rest| rest.split_once('}')));
    names.map(|(name, _)| name).filter(|name| {
        let is_name = !name.is_empty() && name.chars().all(|character| character.is_ascii_lowercase());
        is_name && !PLACEHOLDERS.contains(name) && !BreachDetail::PLACEHOLDERS.contains(name)
    })
}

/// Returns whether the broken request is broken where the data say, and refused if the evidence is enough.
fn request_problems(rule: &RuleEntry) -> Vec<String> {
    let (Ok(api), text) = (rule.api.parse::<RequestForm>(), rule.broken()) else {
        return vec![format!("there is no API `{}`", rule.api)];
    };
    if text != rule.outlines().0 {
        // A request in short is large. Tests judge it.
        return Vec::new();
    }
    let body = match read_json(&text) {
        Ok(body) => body,
        Err(error) => return vec![format!("the broken request: {error}")],
    };
    let context = rule_context(rule, true, &body);
    let breaches = provider_breaches_with(api, &context, &body);
    let Some(breach) = breaches.iter().find(|breach| breach.rule == rule.id && breach.place == rule.at) else {
        return vec![format!("the broken request does not break it at `{}`", rule.at)];
    };
    let model = body["model"].as_str().unwrap_or_default();
    let is_elsewhere = !rule.applies.is_empty() && rule.applies.iter().all(|place| !place.servers.is_empty());
    let may_refuse = rule.is_sure() && rule.until.is_none() && !is_elsewhere;
    if may_refuse && !rule_refuses(rule, breach, model, &context.headers.unwrap_or_default()) {
        return vec!["the evidence is enough, and the broken request is not refused".to_owned()];
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn problems_with(change: impl Fn(&mut Vec<Value>)) -> Vec<String> {
        let (_, text) = threadspec_golden::files().iter().find(|(path, _)| *path == PROVIDER_RULES).expect("the rules");
        let mut content: Value = serde_json::from_str(text).expect("JSON");
        change(content["rules"].as_array_mut().expect("rules"));
        let file = File { path: PROVIDER_RULES.to_owned(), text: content.to_string() };
        problems(&[file]).into_iter().map(|problem| problem.message).collect()
    }

    type Change = fn(&mut Vec<Value>);

    #[test]
    fn data_and_judge_fit_together() {
        assert_eq!(problems_with(|_| ()), [""; 0]);
        let changes: [(Change, &str); 13] = [
            (|rules| drop(rules.remove(0)), "it is judged, and has no data"),
            (|rules| rules[0]["id"] = json!("OAI-CHAT-OTHER"), "nothing judges it"),
            (|rules| rules[1] = rules[0].clone(), "it is there twice"),
            (|rules| rules[0]["seen"] = json!([]), "`seen` says where"),
            (|rules| rules[0]["answer"]["message"] = json!("{ids} {who}"), "the placeholder `{who}`"),
            (|rules| rules[0]["at"] = json!("messages[9]"), "does not break it at `messages[9]`"),
            (|rules| rules[0]["applies"] = json!([{"models": ["gpt-9"]}]), "is not refused"),
            (|rules| rules[0]["note"] = json!("x"), "unknown field"),
            (|rules| drop(rules[0].as_object_mut().expect("a rule").remove("family")), "missing field `family`"),
            (|rules| rules[0]["family"] = json!(""), "`family` is empty"),
            (|rules| rules[16]["family"] = json!("else"), "its family is `else` here"),
            (
                |rules| rules[0]["probed"] = json!({"on": "soon", "model": "m", "status": 400, "words": "No."}),
                "`probed` has a day",
            ),
            (
                |rules| rules[0]["probed"] = json!({"on": "2026-12-01", "model": "m", "status": 200, "words": "Hi"}),
                "the API accepted the broken request on 2026-12-01",
            ),
        ];
        for (change, says) in changes {
            let found = problems_with(change);
            assert!(found.iter().any(|problem| problem.contains(says)), "{says}: {found:?}");
        }
    }
}
