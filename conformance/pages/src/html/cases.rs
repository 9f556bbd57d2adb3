//! The cases of the runs, each with what became of it.

use super::spans;
use minijinja::{Value, context};
use std::collections::HashMap;
use threadspec_judge::corpus::{Case, Corpus, Severity, lay_out};
use threadspec_judge::text::{cut, visible};
use threadspec_judge::verdict::Verdict;
use threadspec_report::conversation::{ConversationLine, LineKind, conversation};
use threadspec_report::diff::{self, DiffPiece};
use threadspec_report::mismatch::MismatchRecord;
use threadspec_report::record::{CaseRecord, Details, RunRecord, expectation};
use threadspec_report::words::{rule_line, shortened};

/// How many characters are shown from the beginning, and from the end, of inputs, expectations and replies, and how many of a line of a note:
/// the clearest case of each fault is there in full, a page holds hundreds of others.
pub(super) struct Room {
    ends: [usize; 2],
    line: usize,
}

pub(super) const IN_FULL: Room = Room { ends: [2000, 1000], line: 2000 };
const FAILED: Room = Room { ends: [400, 200], line: 400 };
const PASSED: Room = Room { ends: [200, 100], line: 200 };

/// More mismatches than this are counted, not shown.
const MISMATCHES: usize = 8;
const FEW_MISMATCHES: usize = 2;

/// The results of one case, each with the number of its run.
pub(super) type ResultsByCase<'a> = HashMap<&'a str, Vec<(usize, &'a CaseRecord)>>;

pub(super) fn results(runs: &[RunRecord]) -> ResultsByCase<'_> {
    let mut results: ResultsByCase<'_> = HashMap::new();
    for (number, run) in runs.iter().enumerate() {
        for case in &run.cases {
            results.entry(&case.id).or_default().push((number, case));
        }
    }
    results
}

pub(super) fn row(case: &Case, runs: &[RunRecord], corpus: &Corpus, results: &ResultsByCase<'_>) -> Value {
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
pub(super) fn about(case: &Case, corpus: &Corpus) -> Value {
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
pub(super) fn result(run: &RunRecord, case: &CaseRecord, input: &str, room: &Room) -> Value {
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
pub(super) fn script(Details { input, expect, .. }: &Details) -> Value {
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
