//! Runs as one self-contained page: what to fix first, the faults, the clauses and the cases of these runs.

mod cases;
mod causes;

use crate::templates;
use minijinja::{Value, context};
use std::collections::{BTreeSet, HashMap, HashSet};
use strum::IntoEnumIterator;
use threadspec_judge::corpus::{Case, Clause, Corpus, Level};
use threadspec_judge::protocol::Op;
use threadspec_judge::text::visible;
use threadspec_judge::verdict::Verdict;
use threadspec_report::tally::{CaseTally, ClauseTally};
use threadspec_report::worst::worst_of;
use threadspec_report::{Conclusion, RunRecord, words};

const STYLE: &str = concat!(include_str!("../../templates/base.css"), include_str!("../../templates/report.css"));
const SCRIPT: &str = include_str!("../../templates/report.js");

/// The page.
pub(super) fn html(runs: &[RunRecord], corpus: &Corpus, errata: &str) -> String {
    let results = cases::results(runs);
    let cases: Vec<&Case> = corpus.cases.iter().filter(|case| results.contains_key(&*case.id)).collect();
    let clauses = clauses(runs, corpus, &cases);
    let names = words::names(runs);
    let mut verdicts: Vec<Verdict> = Verdict::iter().collect();
    verdicts.retain(|verdict| runs.iter().any(|run| run.summary.verdicts.contains_key(&verdict.to_string())));
    let values = context! {
        title => format!("threadspec: {}", names.join(", ")),
        style => STYLE,
        script => SCRIPT,
        version => env!("CARGO_PKG_VERSION"),
        notes => notes(runs, corpus),
        together => CaseTally::sentence(runs),
        runs => runs.iter().zip(&names).map(run).collect::<Vec<_>>(),
        causes => causes::rows(runs, corpus),
        unsupported => causes::unsupported(runs, &names),
        errata => self::errata(errata, &clauses),
        clauses,
        verdicts => verdicts.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ops => Op::iter().map(|op| op.to_string()).collect::<Vec<_>>(),
        cases => cases.iter().map(|entry| cases::row(entry, runs, corpus, &results)).collect::<Vec<_>>(),
    };
    templates::render("report.html", &values)
}

/// A note on each run against another corpus than the one shown.
fn notes(runs: &[RunRecord], corpus: &Corpus) -> Vec<String> {
    let hash = corpus.hash();
    let others = runs.iter().filter(|run| run.corpus.hash != hash);
    others
        .map(|run| format!("{} was run against another version of the corpus than the one shown here.", run.name()))
        .collect()
}

fn run((run, label): (&RunRecord, &String)) -> Value {
    let summary = &run.summary;
    let mut facts = vec![
        context! { name => "run / applicable / total", value => format!("{} / {} / {}", summary.run, summary.applicable, summary.total) },
    ];
    let verdicts = Verdict::iter().filter_map(|verdict| summary.verdicts.get_key_value(&verdict.to_string()));
    facts.extend(verdicts.map(|(name, value)| context! { name, value }));
    facts.push(context! { name => "count against it", value => summary.against() });
    facts.extend((summary.warnings > 0).then(|| context! { name => "warnings", value => summary.warnings }));
    facts.extend(
        (summary.excused > 0)
            .then(|| context! { name => "of severity C, which does not count", value => summary.excused }),
    );
    let mut troubles: Vec<String> = run.stopped.iter().map(|why| format!("stopped early: {}", visible(why))).collect();
    troubles.extend(run.against.iter().map(|what| format!("against it: {}", visible(what))));
    troubles.extend(run.remarks.iter().map(|what| format!("note: {}", visible(what))));
    troubles.extend(run.out_of_date.iter().map(|what| format!("known failures: {}", visible(what))));
    troubles.extend(run.shutdown.iter().map(|what| format!("at its end: {}", visible(what.trim_end()))));
    let command = shlex::try_join(run.command.iter().map(String::as_str)).unwrap_or_else(|_| run.command.join(" "));
    let conclusion = run.conclusion();
    context! {
        name => run.name(),
        label,
        worst => worst_of(run),
        profile => run.options.terms(),
        strict => run.options.strict,
        conclusion => conclusion.to_string(),
        sign => conclusion.sign().to_string(),
        class => match conclusion {
            Conclusion::Conformant => "good",
            Conclusion::OutOfDate | Conclusion::Incomplete => "warn",
            Conclusion::NotConformant => "bad",
        },
        command => visible(&command),
        facts,
        limits => run.limits().iter().map(|limit| visible(limit)).collect::<Vec<_>>(),
        troubles,
    }
}

/// The clauses of the runs, in the order of the corpus, with the cases of each and what each run shows of it.
fn clauses(runs: &[RunRecord], corpus: &Corpus, cases: &[&Case]) -> Vec<Value> {
    let tallies: Vec<HashMap<String, ClauseTally>> = runs
        .iter()
        .map(|run| run.tallies(corpus).into_iter().map(|tally| (tally.clause.clone(), tally)).collect())
        .collect();
    let place = |id: &str| corpus.clauses.iter().position(|clause| clause.id == id).unwrap_or(usize::MAX);
    let named: BTreeSet<(usize, &str)> =
        tallies.iter().flat_map(|tallies| tallies.keys()).map(|id| (place(id), &**id)).collect();
    let clause = |(_, id): (usize, &str)| {
        let clause = corpus.clause(id);
        let of_it = cases.iter().filter(|case| case.clauses.iter().any(|own| own == id));
        context! {
            id,
            level => clause.map(|clause| clause.level.to_string()),
            source => clause.map(|clause| clause.source.clone()),
            // A rule of a model API is in no registry of clauses.
            text => spans(clause.map_or("a rule of the model's API", |clause| &clause.text)),
            errata => clause.into_iter().flat_map(Clause::errata).map(str::to_owned).collect::<Vec<_>>(),
            cells => tallies.iter().map(|tallies| cell(tallies.get(id), clause)).collect::<Vec<_>>(),
            cases => of_it.map(|case| case.id.clone()).collect::<Vec<_>>(),
        }
    };
    named.into_iter().map(clause).collect()
}

/// Shows the tally of a clause in a run.
fn cell(tally: Option<&ClauseTally>, clause: Option<&Clause>) -> Value {
    let tally = tally.cloned().unwrap_or_default();
    let ClauseTally { passed, failed, excused, touched, beside, .. } = tally;
    let (state, sign) = match (failed + beside, excused, passed, touched) {
        (1.., ..) if clause.is_some_and(|clause| clause.level == Level::Should) => ("warn", "!"),
        (1.., ..) => ("bad", "✗"),
        (0, 1.., ..) => ("warn", "!"),
        (0, 0, 1.., _) => ("pass", "✓"),
        (0, 0, 0, 1..) => ("warn", "?"),
        (0, 0, 0, 0) => ("none", "–"),
    };
    let charged = failed + excused;
    let text = match (tally.judged(), charged) {
        (0, _) => sign.to_owned(),
        (judged, 0) => format!("{sign} {judged}"),
        (judged, charged) => format!("{sign} {charged} of {judged}"),
    };
    context! { state, text, touched, beside }
}

/// Text with `code` in it.
fn spans(text: &str) -> Vec<Value> {
    let parts = text.split('`').enumerate().filter(|(_, text)| !text.is_empty());
    parts.map(|(number, text)| context! { code => number % 2 == 1, text => visible(text) }).collect()
}

/// The entries of the errata that these clauses refer to, of which only paragraphs, lists and `code` are rendered.
fn errata(errata: &str, clauses: &[Value]) -> Vec<Value> {
    let entry = |section: &str| {
        let (title, body) = section.split_once('\n').unwrap_or((section, ""));
        let mut blocks: Vec<(&str, String)> = Vec::new();
        let mut apart = true;
        for line in body.lines() {
            let item = line.strip_prefix("- ");
            let text = item.unwrap_or(line).trim().replace("**", "");
            match blocks.last_mut() {
                _ if text.is_empty() => apart = true,
                Some((_, block)) if !apart && item.is_none() => *block += &format!(" {text}"),
                _ => {
                    blocks.push((if item.is_some() { "item" } else { "text" }, text));
                    apart = false;
                }
            }
        }
        let blocks: Vec<Value> =
            blocks.iter().map(|(kind, text)| context! { kind => *kind, text => spans(text) }).collect();
        let id = title.split(' ').next().unwrap_or_default();
        context! { id, title, blocks }
    };
    let named: HashSet<String> = clauses
        .iter()
        .filter_map(|clause| clause.get_attr("errata").ok())
        .flat_map(|errata| errata.try_iter().into_iter().flatten().map(|id| id.to_string()).collect::<Vec<_>>())
        .collect();
    let is_named = |section: &&str| section.split([' ', '\n']).next().is_some_and(|id| named.contains(id));
    errata.split("\n## ").skip(1).filter(is_named).map(entry).collect()
}
