//! Writes runs as one self-contained page: what to fix first, the faults, the clauses and the cases of these runs.

use crate::templates;
use minijinja::{Value, context};
use std::collections::{BTreeSet, HashMap, HashSet};
use strum::IntoEnumIterator;
use threadspec_judge::corpus::{Case, Clause, Corpus, Level, Severity, lay_out};
use threadspec_judge::protocol::Op;
use threadspec_judge::text::{cut, visible};
use threadspec_judge::verdict::Verdict;
use threadspec_report::causes::{Cause, by_severity, causes_of};
use threadspec_report::conversation::{ConversationLine, LineKind, conversation};
use threadspec_report::diff::DiffPiece;
use threadspec_report::diff::MismatchRecord;
use threadspec_report::record::{CaseRecord, Details, expectation};
use threadspec_report::summary::worst_of;
use threadspec_report::tally::{CaseTally, ClauseTally};
use threadspec_report::words::{rule_line, shortened};
use threadspec_report::{Conclusion, RunRecord, diff, reasons, words};

/// The style that reports and the site share.
pub const BASE_STYLE: &str = include_str!("../templates/base.css");
const STYLE: &str = concat!(include_str!("../templates/base.css"), include_str!("../templates/report.css"));
const SCRIPT: &str = include_str!("../templates/report.js");

/// Writes the page that shows runs, the corpus and the errata, in HTML.
pub fn report_page(runs: &[RunRecord], corpus: &Corpus, errata: &str) -> String {
    let results = results(runs);
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
        causes => rows(runs, corpus),
        unsupported => unsupported(runs, &names),
        errata => self::errata(errata, &clauses),
        clauses,
        verdicts => verdicts.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ops => Op::iter().map(|op| op.to_string()).collect::<Vec<_>>(),
        cases => cases.iter().map(|entry| row(entry, runs, corpus, &results)).collect::<Vec<_>>(),
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

// The faults, a row each, which opens to its clearest case; and what is unsupported.

/// The faults of all runs, those that hurt most first. One fault of several implementations is one row.
fn rows(runs: &[RunRecord], corpus: &Corpus) -> Vec<Value> {
    let beside: Vec<Vec<CaseRecord>> = runs.iter().map(RunRecord::beside).collect();
    // A case record knows no run, so that both are kept side by side.
    let all: Vec<(usize, &CaseRecord)> = runs
        .iter()
        .enumerate()
        .flat_map(|(number, run)| {
            let cases = run.cases.iter().chain(&beside[number]);
            by_severity(cases, CaseRecord::failed).into_iter().map(move |case| (number, case))
        })
        .collect();
    let cases: Vec<&CaseRecord> = all.iter().map(|&(_, case)| case).collect();
    let row = |cause: Cause| {
        let (number, clearest) = all[cause.members[0]];
        let mut ids: Vec<&CaseRecord> = Vec::new();
        for &index in &cause.members {
            if !ids.iter().any(|case| case.id == cases[index].id) {
                ids.push(cases[index]);
            }
        }
        let counts = (0..runs.len()).map(|run| cause.members.iter().filter(|&&index| all[index].0 == run).count());
        let severity = |case: &CaseRecord| case.severity.map(|severity| severity.to_string());
        let asked = corpus.cases.iter().find(|case| case.id == clearest.case_id()).map(Case::for_a_while);
        let input = clearest.details.as_ref().map_or("", |details| &details.input);
        context! {
            counts => counts.collect::<Vec<_>>(),
            counting => clearest.counts,
            documented => cause.members.iter().all(|&index| cases[index].documented),
            severity => severity(clearest),
            charged => cause.clause,
            sign => shortened(&cause.sign, 200),
            cases => ids.iter().map(|case| context! { id => case.id.clone(), severity => severity(case) }).collect::<Vec<_>>(),
            about => asked.as_deref().map(|case| about(case, corpus)),
            script => clearest.details.as_ref().map(script),
            result => result(&runs[number], clearest, asked.as_deref().map_or(input, Case::input), &IN_FULL),
        }
    };
    causes_of(&cases).into_iter().map(row).collect()
}

/// Why cases are unsupported, and which they are.
fn unsupported(runs: &[RunRecord], names: &[String]) -> Vec<Value> {
    let of = |(run, name): (&RunRecord, &String)| {
        let cases = run.cases.iter().filter(|case| case.verdict == Verdict::Unsupported);
        let reasons = reasons(cases.map(|case| (&*case.note, &*case.id)));
        let count: usize = reasons.iter().map(|(_, ids)| ids.len()).sum();
        let reason = |(reason, ids): &(&str, Vec<&str>)| {
            context! { reason => shortened(reason, 400), ids => ids.iter().map(|&id| Value::from(id)).collect::<Vec<_>>() }
        };
        let reasons: Vec<Value> = reasons.iter().map(reason).collect();
        (count > 0).then(|| context! { run => name, count, reasons })
    };
    runs.iter().zip(names).filter_map(of).collect()
}

// The cases of the runs, each with what became of it.

/// How many characters are shown from the beginning, and from the end, of inputs, expectations and replies, and how many of a line of a note:
/// the clearest case of each fault is there in full, a page holds hundreds of others.
struct Room {
    ends: [usize; 2],
    line: usize,
}

const IN_FULL: Room = Room { ends: [2000, 1000], line: 2000 };
const FAILED: Room = Room { ends: [400, 200], line: 400 };
const PASSED: Room = Room { ends: [200, 100], line: 200 };

/// More mismatches than this are counted, not shown.
const MISMATCHES: usize = 8;
const FEW_MISMATCHES: usize = 2;

/// The results of one case, each with the number of its run.
type ResultsByCase<'a> = HashMap<&'a str, Vec<(usize, &'a CaseRecord)>>;

fn results(runs: &[RunRecord]) -> ResultsByCase<'_> {
    let mut results: ResultsByCase<'_> = HashMap::new();
    for (number, run) in runs.iter().enumerate() {
        for case in &run.cases {
            results.entry(&case.id).or_default().push((number, case));
        }
    }
    results
}

fn row(case: &Case, runs: &[RunRecord], corpus: &Corpus, results: &ResultsByCase<'_>) -> Value {
    let results = results.get(&*case.id).map_or(&[][..], Vec::as_slice);
    let failed = results.iter().any(|(_, result)| result.failed());
    let room = if failed { FAILED } else { PASSED };
    let verdicts: Vec<String> = results.iter().map(|(_, result)| result.verdict.to_string()).collect();
    let profiles: Vec<String> = case.profiles.iter().map(ToString::to_string).collect();
    let shown = results.iter().filter(|(_, result)| result.failed() || !result.beside.is_empty());
    context! {
        failed,
        verdicts => verdicts.join(" "),
        profiles => profiles.join(", "),
        input => laid_out(&case.written_input(), room.ends),
        expect => laid_out(&expectation(case), room.ends),
        badges => badges(runs, results),
        results => shown.map(|(number, found)| result(&runs[*number], found, case.for_a_while().input(), &room)).collect::<Vec<_>>(),
        ..about(case, corpus)
    }
}

/// Describes the purpose of a case.
fn about(case: &Case, corpus: &Corpus) -> Value {
    let clauses = case.clauses.iter().filter_map(|id| corpus.clause(id));
    context! {
        id => case.id.clone(),
        op => case.op.to_string(),
        level => case.level.to_string(),
        severity => case.severity.map(|severity| severity.to_string()),
        meaning => case.severity.map(Severity::meaning),
        evidence => case.evidence.iter().map(|named| link(named)).collect::<Vec<_>>(),
        why => case.why.clone(),
        clauses => clauses.map(|clause| context! { id => clause.id.clone(), text => spans(&clause.text) }).collect::<Vec<_>>(),
    }
}

/// How a case ended; with several runs, how often it ended so.
fn badges(runs: &[RunRecord], results: &[(usize, &CaseRecord)]) -> Vec<Value> {
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

/// Describes the result of a failed case: the findings, and the run as a conversation where there is one.
fn result(run: &RunRecord, case: &CaseRecord, input: &str, room: &Room) -> Value {
    let details = case.details.as_ref();
    let rules = details.into_iter().flat_map(|details| details.rules.iter().map(rule_line));
    let note = case.note.lines().map(|line| shortened(line, room.line)).chain(rules);
    let shown = if room.line == IN_FULL.line { MISMATCHES } else { FEW_MISMATCHES };
    let told = if room.line == IN_FULL.line { told(case, input) } else { Vec::new() };
    context! {
        run => format!("{}, {}", run.name(), run.options.terms()),
        verdict => case.verdict.to_string(),
        state => state(case),
        charged => case.charged(),
        touched => case.touched.clone(),
        note => note.collect::<Vec<_>>(),
        mismatches => case.mismatches.iter().take(shown).map(mismatch).collect::<Vec<_>>(),
        conversation => told,
        more => case.more_mismatches + case.mismatches.len().saturating_sub(shown),
        actual => details.and_then(|details| details.actual.as_deref()).map(|text| laid_out(text, room.ends)).unwrap_or_default(),
        repeat => details.map(|details| visible(&details.repeat)).unwrap_or_default(),
    }
}

/// A case as the run file has it, where the corpus does not.
fn script(Details { input, expect, .. }: &Details) -> Value {
    context! { input => laid_out(input, IN_FULL.ends), expect => laid_out(expect, IN_FULL.ends) }
}

/// The conversation of a failed case. Differences from an expected output say more where there is one.
fn told(case: &CaseRecord, input: &str) -> Vec<Value> {
    let actual = case.details.as_ref().and_then(|details| details.actual.as_deref());
    let Some(actual) = actual.filter(|_| case.mismatches.is_empty()) else { return Vec::new() };
    let line = |ConversationLine { kind, text }: ConversationLine| {
        let class = match kind {
            LineKind::Run => "run",
            LineKind::Event => "event",
            LineKind::Message => "message",
            LineKind::Finding => "finding",
        };
        context! { class, text }
    };
    conversation(case.op, input, actual, &case.note).into_iter().map(line).collect()
}

fn mismatch(mismatch: &MismatchRecord) -> Value {
    let MismatchRecord { path, text, expected, actual, .. } = mismatch;
    let [expected, actual] = if *text {
        diff::pieces(expected, actual)
    } else {
        [expected, actual].map(|side| vec![DiffPiece::Different(shortened(side, IN_FULL.line))])
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
