//! The rules by which model APIs refuse requests, and what only a log shows to be wrong.

use super::Pages;
use crate::site::corpus::laid_out;
use crate::site::links::LOGS;
use crate::site::search::SearchEntry;
use minijinja::{Value, context};
use std::collections::BTreeMap;
use threadspec_golden::{HeaderPair, LogRuleEntry, ProbedAnswer, RefusalWords, RuleEntry, log_rules, provider_rules};
use threadspec_judge::text::visible;

/// A page for each API, one for logs, and one that names all rules.
pub(super) fn rules(pages: &mut Pages<'_>) {
    let mut apis: Vec<(&str, Vec<&RuleEntry>)> = Vec::new();
    for rule in provider_rules() {
        match apis.iter_mut().find(|(api, _)| *api == rule.api) {
            Some((_, rules)) => rules.push(rule),
            None => apis.push((&rule.api, vec![rule])),
        }
    }
    let mut groups = Vec::new();
    for (api, rules) in apis {
        let page = format!("rules/{api}.html");
        let rows = rules.iter().map(|rule| (&*rule.id, &*rule.text, of_api(pages, rule, &page))).collect();
        groups.push(group(pages, api, &format!("Rules of {api}"), rows));
    }
    let page = format!("rules/{LOGS}.html");
    let rows = log_rules().iter().map(|rule| (&*rule.id, &*rule.text, of_logs(pages, rule, &page))).collect();
    groups.push(group(pages, LOGS, "Rules of logs", rows));
    let count: usize = provider_rules().len() + log_rules().len();
    pages.add(
        "rules.html",
        "site/rules.html",
        "Rules of model APIs",
        context! { groups, rules => Vec::<Value>::new(), count },
    );
}

/// Adds the page of some rules, each with its id and text, and gives what the page of all says of them.
fn group(pages: &mut Pages<'_>, name: &str, title: &str, rules: Vec<(&str, &str, Value)>) -> Value {
    let page = format!("rules/{name}.html");
    let mut rows = Vec::new();
    for (id, text, _) in &rules {
        let place = format!("{page}#{id}");
        rows.push(context! { id => *id, address => place.clone(), text => pages.links.spans(text, "rules.html") });
        pages.entries.push(SearchEntry::new(place, format!("{id} ({name})")).with(text));
    }
    let rules: Vec<Value> = rules.into_iter().map(|(.., values)| values).collect();
    pages.add(&page, "site/rules.html", title, context! { rules, groups => Vec::<Value>::new(), count => rows.len() });
    context! { name, rows, address => page }
}

fn of_api(pages: &Pages<'_>, rule: &RuleEntry, page: &str) -> Value {
    let (broken, valid) = rule.outlines();
    let headers = |of: fn(&HeaderPair) -> &BTreeMap<String, String>| {
        let lines = rule.headers.iter().flat_map(of).map(|(name, value)| format!("{name}: {value}\n"));
        lines.collect::<String>()
    };
    let answers = [(String::new(), &rule.answer)]
        .into_iter()
        .chain(rule.variants.iter().map(|(name, words)| (name.clone(), words)));
    let probed = rule.probed.as_ref().map(|ProbedAnswer { words, .. }| visible(words));
    context! {
        id => rule.id.clone(),
        text => pages.links.spans(&rule.text, page),
        evidence => rule.evidence(),
        advice => None::<String>,
        since => rule.since.clone(),
        until => rule.until.clone(),
        seen => rule.seen.iter().map(|seen| pages.links.spans(seen, page)).collect::<Vec<_>>(),
        probed,
        answers => answers.map(|(name, words)| context! { name, text => answer(words) }).collect::<Vec<_>>(),
        others => rule.others.iter().map(|other| visible(&other.message)).collect::<Vec<_>>(),
        at => rule.at.clone(),
        broken => headers(|pair| &pair.broken) + &laid_out(broken),
        valid => headers(|pair| &pair.valid) + &laid_out(valid),
    }
}

fn answer(RefusalWords { status, kind, code, param, message, ours, .. }: &RefusalWords) -> String {
    let named = [("param", param), ("code", code)];
    let named: String =
        named.iter().filter_map(|(name, value)| Some(format!(", {name} {}", value.as_ref()?))).collect();
    let ours = if *ours { "\n(these words are ours: nobody reported the provider's)" } else { "" };
    format!("{status} {kind}{named}\n{}{ours}", visible(message))
}

fn of_logs(pages: &Pages<'_>, rule: &LogRuleEntry, page: &str) -> Value {
    let LogRuleEntry { id, level, text, advice, evidence, broken, valid } = rule;
    context! {
        id,
        text => pages.links.spans(text, page),
        evidence => format!("{level}. {evidence}"),
        advice => pages.links.spans(advice, page),
        since => None::<String>,
        until => None::<String>,
        seen => Vec::<Value>::new(),
        probed => None::<String>,
        answers => Vec::<Value>::new(),
        others => Vec::<Value>::new(),
        at => "",
        broken => broken.iter().map(|line| laid_out(line)).collect::<Vec<_>>().join("\n"),
        valid => valid.iter().map(|line| laid_out(line)).collect::<Vec<_>>().join("\n"),
    }
}
