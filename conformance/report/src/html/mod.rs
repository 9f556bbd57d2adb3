//! Runs as one self-contained page. It is also the readable specification: it shows every clause and every case.

use super::causes::{Cause, by_severity, causes_of};
use super::conversation::{ConversationLine, LineKind, conversation};
use super::diff::{self, DiffPiece};
use super::record::{CaseRecord, MismatchRecord, RunRecord, expectation};
use super::words::{rule_line, shortened};
use super::{Conclusion, pages};
use minijinja::{Value, context};
use std::collections::HashMap;
use strum::IntoEnumIterator;
use threadspec_judge::corpus::{Case, Clause, Corpus, Severity, lay_out};
use threadspec_judge::protocol::Op;
use threadspec_judge::text::{count, cut, visible};
use threadspec_judge::verdict::Verdict;

const STYLE: &str = include_str!("../templates/report.css");
const SCRIPT: &str = include_str!("../templates/report.js");
/// How many characters of inputs, expectations and replies are shown from the beginning, and from the end: where something failed, and where
/// nothing did.
const FAILED: [usize; 2] = [2000, 1000];
const PASSED: [usize; 2] = [500, 250];
/// Other values are shown up to this length.
const LONGEST_VALUE: usize = 2000;
/// More mismatches than this are counted, not shown.
const MISMATCHES: usize = 8;

/// The results of one case, each with the number of its run.
type ResultsByCase<'a> = HashMap<&'a str, Vec<(usize, &'a CaseRecord)>>;

/// The page.
pub(super) fn html(runs: &[RunRecord], corpus: &Corpus, errata: &str) -> String {
    let mut results: ResultsByCase<'_> = HashMap::new();
    for (number, run) in runs.iter().enumerate() {
        for case in &run.cases {
            results.entry(&case.id).or_default().push((number, case));
        }
    }
    // What was asked comes first, whatever else there is. Thousands of thorough cases that nobody asked for would be most of the page.
    let is_shown = |case: &&Case| !case.thorough || results.contains_key(&*case.id);
    let mut cases: Vec<&Case> = corpus.cases.iter().filter(is_shown).collect();
    let is_in_profile = |case: &Case| runs.iter().any(|run| run.options.fits(case));
    cases.sort_by_key(|case| (!results.contains_key(&*case.id), !is_in_profile(case)));
    let left_out = corpus.cases.len() - cases.len();
    let names: Vec<String> = runs.iter().map(RunRecord::name).collect();
    let mut verdicts: Vec<Verdict> = Verdict::iter().collect();
    verdicts.retain(|verdict| runs.iter().any(|run| run.summary.verdicts.contains_key(&verdict.to_string())));
    let values = context! {
        title => format!("threadspec: {}", names.join(", ")),
        style => STYLE,
        script => SCRIPT,
        version => env!("CARGO_PKG_VERSION"),
        notes => notes(runs, corpus, left_out),
        runs => runs.iter().map(run).collect::<Vec<_>>(),
        causes => runs.iter().flat_map(causes).collect::<Vec<_>>(),
        clauses => corpus.clauses.iter().map(|entry| clause(entry, runs, &cases, &results)).collect::<Vec<_>>(),
        verdicts => verdicts.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ops => Op::iter().map(|op| op.to_string()).collect::<Vec<_>>(),
        cases => cases.iter().map(|entry| case(entry, runs, corpus, &results)).collect::<Vec<_>>(),
        errata => self::errata(errata),
    };
    pages::render("report.html", &values)
}

/// A note on each run against another corpus than the one shown, and on the cases that are not shown.
fn notes(runs: &[RunRecord], corpus: &Corpus, left_out: usize) -> Vec<String> {
    let hash = corpus.hash();
    let others = runs.iter().filter(|run| run.corpus.hash != hash);
    let others = others
        .map(|run| format!("{} was run against another version of the corpus than the one shown here.", run.name()));
    let left_out = (left_out > 0)
        .then(|| format!("{} that --thorough runs, and no run asked for, are not shown.", count(left_out, "case")));
    others.chain(left_out).collect()
}

fn run(run: &RunRecord) -> Value {
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

fn causes(run: &RunRecord) -> Vec<Value> {
    let failed = by_severity(&run.cases, CaseRecord::failed);
    let cause = |cause: Cause| {
        let CaseRecord { counts, severity, .. } = failed[cause.members[0]];
        let severity = severity.map(|severity| severity.to_string());
        let case = |&index: &usize| {
            let CaseRecord { id, severity, .. } = failed[index];
            context! { id, severity => severity.map(|severity| severity.to_string()) }
        };
        let cases: Vec<Value> = cause.members.iter().map(case).collect();
        context! { count => cases.len(), counts, severity, sign => shortened(&cause.sign, 200), run => run.name(), cases }
    };
    causes_of(&failed).into_iter().map(cause).collect()
}

fn clause(clause: &Clause, runs: &[RunRecord], cases: &[&Case], results: &ResultsByCase<'_>) -> Value {
    let of_it: Vec<&Case> = cases.iter().copied().filter(|case| case.clauses.contains(&clause.id)).collect();
    let cell = |number: usize| {
        let all = of_it.iter().filter_map(|case| results.get(&*case.id)).flatten();
        let ran: Vec<&CaseRecord> = all
            .filter(|(run, case)| *run == number && !matches!(case.verdict, Verdict::Unsupported | Verdict::NotRun))
            .map(|(_, case)| *case)
            .collect();
        let passed = ran.iter().filter(|case| !case.failed()).count();
        let (state, sign) = if ran.is_empty() {
            ("none", "–")
        } else if ran.iter().any(|case| case.counts) {
            ("bad", "✗")
        } else if passed < ran.len() {
            ("warn", "!")
        } else {
            ("pass", "✓")
        };
        let text = if ran.is_empty() { sign.to_owned() } else { format!("{sign} {passed}/{}", ran.len()) };
        context! { state, text }
    };
    context! {
        id => clause.id.clone(),
        level => clause.level.to_string(),
        source => clause.source.clone(),
        text => spans(&clause.text),
        errata => clause.errata().map(str::to_owned).collect::<Vec<_>>(),
        cells => (0..runs.len()).map(cell).collect::<Vec<_>>(),
        cases => of_it.iter().map(|case| case.id.clone()).collect::<Vec<_>>(),
    }
}

fn case(case: &Case, runs: &[RunRecord], corpus: &Corpus, results: &ResultsByCase<'_>) -> Value {
    let results = results.get(&*case.id).map_or(&[][..], Vec::as_slice);
    // What nobody failed is shorter: the page holds thousands of such cases.
    let failed = results.iter().any(|(_, result)| result.failed());
    let room = if failed { FAILED } else { PASSED };
    let verdicts: Vec<String> = results.iter().map(|(_, result)| result.verdict.to_string()).collect();
    let profiles: Vec<String> = case.profiles.iter().map(ToString::to_string).collect();
    let clauses = case.clauses.iter().filter_map(|id| corpus.clause(id));
    context! {
        id => case.id.clone(),
        op => case.op.to_string(),
        level => case.level.to_string(),
        severity => case.severity.map(|severity| severity.to_string()),
        meaning => case.severity.map(Severity::meaning),
        evidence => case.evidence.iter().map(|named| link(named)).collect::<Vec<_>>(),
        why => case.why.clone(),
        failed,
        verdicts => verdicts.join(" "),
        profiles => profiles.join(", "),
        clauses => clauses.map(|clause| context! { id => clause.id.clone(), text => spans(&clause.text) }).collect::<Vec<_>>(),
        input => laid_out(&case.written_input(), room),
        expect => laid_out(&expectation(case), room),
        badges => badges(case, runs, results),
        results => results.iter().map(|(number, result)| self::result(&runs[*number], result, case)).collect::<Vec<_>>(),
    }
}

/// How a case ended; with several runs, how often it ended so.
fn badges(case: &Case, runs: &[RunRecord], results: &[(usize, &CaseRecord)]) -> Vec<Value> {
    if results.is_empty() {
        let is_in_profile = runs.iter().any(|run| run.options.fits(case));
        let verdict = if is_in_profile { "not chosen" } else { "other profile" };
        return vec![context! { verdict, state => "none" }];
    }
    let mut counts: Vec<(&CaseRecord, usize)> = Vec::new();
    for (_, result) in results {
        match counts.iter_mut().find(|(other, _)| (other.verdict, state(other)) == (result.verdict, state(result))) {
            Some((_, count)) => *count += 1,
            None => counts.push((result, 1)),
        }
    }
    let badge = |(result, count): &(&CaseRecord, usize)| {
        let times = if runs.len() == 1 { String::new() } else { format!("{count} ") };
        context! { verdict => format!("{times}{}", result.verdict), state => state(result) }
    };
    counts.iter().map(badge).collect()
}

fn state(case: &CaseRecord) -> &'static str {
    match case.verdict {
        _ if case.counts => "bad",
        Verdict::Pass => "pass",
        Verdict::UnexpectedPass => "warn",
        _ if case.failed() => "warn",
        _ => "none",
    }
}

fn result(run: &RunRecord, case: &CaseRecord, asked: &Case) -> Value {
    let details = case.details.as_ref();
    let rules = details.into_iter().flat_map(|details| details.rules.iter().map(rule_line));
    let note = case.note.lines().map(|line| shortened(line, LONGEST_VALUE)).chain(rules);
    context! {
        run => format!("{}, {}", run.name(), run.options.terms()),
        verdict => case.verdict.to_string(),
        state => state(case),
        failed => case.failed(),
        note => note.collect::<Vec<_>>(),
        mismatches => case.mismatches.iter().take(MISMATCHES).map(mismatch).collect::<Vec<_>>(),
        conversation => told(case, asked),
        more => case.more_mismatches + case.mismatches.len().saturating_sub(MISMATCHES),
        actual => details.and_then(|details| details.actual.as_deref()).map(|text| laid_out(text, FAILED)).unwrap_or_default(),
        repeat => details.map(|details| visible(&details.repeat)).unwrap_or_default(),
    }
}

/// The conversation of a failed session.
fn told(case: &CaseRecord, asked: &Case) -> Vec<Value> {
    let actual = case.details.as_ref().and_then(|details| details.actual.as_deref());
    let Some(actual) = actual.filter(|_| asked.op == Op::Session && case.failed()) else { return Vec::new() };
    let line = |ConversationLine { kind, text }: ConversationLine| {
        let class = match kind {
            LineKind::Run => "run",
            LineKind::Event => "event",
            LineKind::Message => "message",
            LineKind::Finding => "finding",
        };
        context! { class, text }
    };
    conversation(asked.input(), actual, &case.note).into_iter().map(line).collect()
}

fn mismatch(mismatch: &MismatchRecord) -> Value {
    let MismatchRecord { path, text, expected, actual, .. } = mismatch;
    let [expected, actual] = if *text {
        diff::pieces(expected, actual)
    } else {
        [expected, actual].map(|side| vec![DiffPiece::Different(shortened(side, LONGEST_VALUE))])
    };
    let side = |pieces: Vec<DiffPiece>| -> Vec<Value> {
        let piece = |piece| match piece {
            DiffPiece::Equal(text) => context! { kind => "equal", text },
            DiffPiece::Different(text) => context! { kind => "different", text },
            DiffPiece::LeftOut(text) => context! { kind => "left-out", text },
        };
        pieces.into_iter().map(piece).collect()
    };
    context! { path => visible(path), expected => side(expected), actual => side(actual) }
}

/// JSON text over several lines, every character visible, and the middle left out if it is long. A text that was cut off is no
/// JSON, and stays on one line.
fn laid_out(text: &str, [beginning, end]: [usize; 2]) -> String {
    let is_json = serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok();
    let laid_out = if is_json { lay_out(text, 1) } else { text.to_owned() };
    let lines: Vec<String> = laid_out.lines().map(visible).collect();
    let text = lines.join("\n");
    let more = text.chars().count().saturating_sub(beginning + end);
    if more < end {
        return text;
    }
    let (head, rest) = cut(&text, beginning);
    let (_, tail) = cut(rest, more);
    format!("{head}\n…⟨{more} more characters⟩…\n{tail}")
}

/// A piece of evidence with its address. GitHub leads from the number of an issue to the pull request, if it is one.
fn link(evidence: &str) -> Value {
    let thread = evidence.split_once('#').filter(|_| !evidence.starts_with("https://"));
    let address = thread.map_or_else(
        || evidence.to_owned(),
        |(repository, number)| format!("https://github.com/{repository}/issues/{number}"),
    );
    context! { name => visible(evidence), address }
}

/// Text with `code` in it.
fn spans(text: &str) -> Vec<Value> {
    let parts = text.split('`').enumerate().filter(|(_, text)| !text.is_empty());
    parts.map(|(number, text)| context! { code => number % 2 == 1, text => visible(text) }).collect()
}

/// The entries of the errata, of which only paragraphs, lists and `code` are rendered.
fn errata(errata: &str) -> Vec<Value> {
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
    errata.split("\n## ").skip(1).map(entry).collect()
}
