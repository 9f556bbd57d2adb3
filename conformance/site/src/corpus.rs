//! Writes the pages of the clauses, the cases, and the rules of model APIs.

use super::links::{LOGS, clause_page, outside, relative, topic};
use super::{Pages, SearchEntry};
use minijinja::{Value, context};
use std::collections::{BTreeMap, HashMap};
use threadspec_golden::{HeaderPair, LogRuleEntry, ProbedAnswer, RefusalWords, RuleEntry, log_rules, provider_rules};
use threadspec_judge::corpus::{Case, Clause, Severity, lay_out};
use threadspec_judge::json;
use threadspec_judge::text::{cut, visible};
use threadspec_report::record::expectation;

/// How much of an input or an expectation is shown.
const SHOWN: usize = 6000;
/// Rows of covering arrays are many, and much alike.
const SHOWN_OF_ROW: usize = 500;

/// A page for each clause, and one that names all.
pub(super) fn clauses(pages: &mut Pages<'_>) {
    let corpus = pages.site.corpus;
    let mut cases: HashMap<&str, Vec<&Case>> = HashMap::new();
    for case in &corpus.cases {
        case.clauses.iter().for_each(|clause| cases.entry(clause).or_default().push(case));
    }
    let mut families: Vec<(&str, Vec<Value>)> = Vec::new();
    for clause in &corpus.clauses {
        let own = cases.remove(&*clause.id).unwrap_or_default();
        let page = clause_page(&clause.id);
        let row = context! {
            id => clause.id.clone(),
            level => clause.level.to_string(),
            text => pages.links.spans(&clause.text, "clauses.html"),
            cases => own.len(),
            address => page.clone(),
        };
        let family = clause.id.split('-').next().unwrap_or_default();
        match families.last_mut().filter(|(name, _)| *name == family) {
            Some((_, rows)) => rows.push(row),
            None => families.push((family, vec![row])),
        }
        pages.entries.push(SearchEntry::new(page.clone(), clause.id.clone()).with(&clause.text));
        let values = clause_values(pages, clause, &own, &page);
        pages.add(&page, "clause.html", &clause.id, values);
    }
    let families: Vec<Value> = families.into_iter().map(|(name, rows)| context! { name, rows }).collect();
    pages.add("clauses.html", "clauses.html", "Clauses", context! { families, count => corpus.clauses.len() });
}

/// A clause with its evidence: its source, errata, and cases, of which those that cite something come with it.
fn clause_values(pages: &Pages<'_>, clause: &Clause, cases: &[&Case], page: &str) -> Value {
    let mut profiles: BTreeMap<String, usize> = BTreeMap::new();
    for profile in cases.iter().flat_map(|case| &case.profiles) {
        *profiles.entry(profile.to_string()).or_default() += 1;
    }
    let mut topics: Vec<(&str, Vec<&Case>)> = Vec::new();
    for &case in cases {
        match topics.iter_mut().find(|(name, _)| *name == topic(case)) {
            Some((_, of_it)) => of_it.push(case),
            None => topics.push((topic(case), vec![case])),
        }
    }
    let topics: Vec<Value> = topics
        .into_iter()
        .map(|(name, of_it)| {
            // Rows of covering arrays are numbered: their page has them all.
            let own: Vec<Value> =
                of_it.iter().filter(|case| !case.is_row()).map(|case| row(pages, case, page)).collect();
            let address = relative(page, &format!("cases/{name}.html"));
            context! { name, count => of_it.len(), cases => own, address }
        })
        .collect();
    let errata: Vec<Value> = clause
        .errata()
        .filter(|_| pages.site.documents.texts.contains_key(super::links::ERRATA))
        .map(|entry| context! { id => entry, address => relative(page, &format!("errata.html#{entry}")) })
        .collect();
    context! {
        id => clause.id.clone(),
        level => clause.level.to_string(),
        text => pages.links.spans(&clause.text, page),
        source => pages.links.spans(&clause.source, page),
        errata,
        profiles => profiles.into_iter().map(|(name, count)| context! { name, count }).collect::<Vec<_>>(),
        count => cases.len(),
        topics,
    }
}

/// A case in a list.
fn row(pages: &Pages<'_>, case: &Case, page: &str) -> Value {
    context! {
        name => case.name(),
        address => pages.links.to(&case.id, page),
        why => pages.links.spans(&case.why, page),
        severity => case.severity.map(|severity| severity.to_string()),
        evidence => evidence(case),
    }
}

fn evidence(case: &Case) -> Vec<Value> {
    case.evidence.iter().map(|named| context! { name => visible(named), address => outside(named) }).collect()
}

/// A page for each topic, with its cases, and one that names all topics.
pub(super) fn cases(pages: &mut Pages<'_>) {
    let mut folders: BTreeMap<&str, BTreeMap<&str, Vec<&Case>>> = BTreeMap::new();
    for case in &pages.site.corpus.cases {
        let folder = topic(case).split('/').next().unwrap_or_default();
        folders.entry(folder).or_default().entry(topic(case)).or_default().push(case);
    }
    let mut rows = Vec::new();
    for (folder, topics) in folders {
        let mut of_folder = Vec::new();
        for (topic, cases) in topics {
            let page = format!("cases/{topic}.html");
            of_folder.push(context! { name => topic, count => cases.len(), address => page.clone() });
            pages.entries.push(SearchEntry::new(page.clone(), topic.to_owned()));
            for case in cases.iter().filter(|case| !case.is_row()) {
                let place = format!("{page}#{}", case.name());
                pages.entries.push(SearchEntry::new(place, case.id.clone()).with(&case.why));
            }
            let cases: Vec<Value> = cases.iter().map(|case| whole(pages, case, &page)).collect();
            pages.add(&page, "cases.html", topic, context! { cases });
        }
        rows.push(context! { name => folder, topics => of_folder });
    }
    let count = pages.site.corpus.cases.len();
    pages.add("cases.html", "topics.html", "Cases", context! { folders => rows, count });
}

/// A case with its request and its expectation.
fn whole(pages: &Pages<'_>, case: &Case, page: &str) -> Value {
    let clauses = case.clauses.iter().map(|id| context! { id, address => pages.links.to(id, page) });
    let profiles: Vec<String> = case.profiles.iter().map(ToString::to_string).collect();
    let shown = if case.is_row() { SHOWN_OF_ROW } else { SHOWN };
    context! {
        op => case.op.to_string(),
        level => case.level.to_string(),
        profiles => profiles.join(", "),
        meaning => case.severity.map(Severity::meaning),
        template => case.is_template,
        clauses => clauses.collect::<Vec<_>>(),
        before => json::member(case.source(), "after").map(|before| beginning_of(&before, shown)),
        input => beginning_of(&case.written_input(), shown),
        expect => beginning_of(&expectation(case), shown),
        id => case.id.clone(),
        ..row(pages, case, page)
    }
}

/// JSON text over several lines, every character visible; of a long one the beginning.
pub(super) fn laid_out(text: &str) -> String {
    beginning_of(text, SHOWN)
}

fn beginning_of(text: &str, shown: usize) -> String {
    let is_json = serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok();
    let laid_out = if is_json { lay_out(text, 1) } else { text.to_owned() };
    let (head, rest) = cut(&laid_out, shown);
    let lines: Vec<String> = head.lines().map(visible).collect();
    let more = rest.trim_end().chars().count();
    let more = if more == 0 { String::new() } else { format!("\n…⟨{more} more characters⟩") };
    lines.join("\n") + &more
}

// The rules by which model APIs refuse requests, and what only a log shows to be wrong.

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
        "rules.html",
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
    pages.add(&page, "rules.html", title, context! { rules, groups => Vec::<Value>::new(), count => rows.len() });
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
