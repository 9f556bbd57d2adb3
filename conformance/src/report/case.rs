//! Cases and failures, for people.

use crate::corpus::Corpus;
use crate::corpus::expectation::{Mismatch, Sides};
use crate::corpus::layout::lay_out;
use crate::corpus::{Case, Expect, Level};
use crate::report::diff;
use crate::run::CaseResult;
use crate::run::Verdict;
use crate::terminal::{BAD, FAINT, GOOD, STRONG, WARNING, styled, visible};
use std::fmt::Write;
use strum::EnumMessage;

/// More mismatches than this are counted, not shown.
const MISMATCHES: usize = 8;
/// Values are shown up to this length.
const LONGEST_VALUE: usize = 600;

/// A failing case: verdict, id, clauses, reason, what differs, and the command that repeats it.
pub fn failure(result: &CaseResult<'_>, corpus: &Corpus, repeat: &str, strict: bool) -> String {
    let CaseResult { case, judgement } = result;
    let mut out = headline(result, strict);
    out.push_str(&clauses(case, corpus));
    let _ = writeln!(out, "  why: {}", case.why);
    for line in judgement.note.lines() {
        let _ = writeln!(out, "  {}", shortened(line));
    }
    for mismatch in judgement.mismatches.iter().take(MISMATCHES) {
        out.push_str(&difference(mismatch));
    }
    if judgement.mismatches.len() > MISMATCHES {
        let _ = writeln!(out, "  … and {} more differences", judgement.mismatches.len() - MISMATCHES);
    }
    let _ = writeln!(out, "  {} {repeat}", styled(FAINT, "repeat:"));
    out
}

/// A failing case on one line.
pub fn headline(result: &CaseResult<'_>, strict: bool) -> String {
    let verdict = result.judgement.verdict;
    let (style, note) = match (result.counts_against(strict), verdict) {
        (true, _) => (BAD, ""),
        (false, Verdict::Pass) => (GOOD, ""),
        (false, _) => (WARNING, ", a warning"),
    };
    let verdict = styled(style, verdict.to_string().to_uppercase());
    format!("{verdict} {} ({}{note})\n", styled(STRONG, &result.case.id), result.case.level)
}

/// The clauses of a case with their texts.
pub(super) fn clauses(case: &Case, corpus: &Corpus) -> String {
    case.clauses.iter().filter_map(|id| corpus.clause(id)).fold(String::new(), |mut out, clause| {
        let level = if clause.level == Level::Should { " (should)" } else { "" };
        let _ = writeln!(out, "  {}{level}: {}", clause.id, clause.text);
        out
    })
}

fn difference(mismatch: &Mismatch) -> String {
    let mut out = String::new();
    if !mismatch.path.is_empty() {
        let _ = writeln!(out, "  at {}", visible(&mismatch.path));
    }
    let [expected, actual] = match &mismatch.sides {
        Sides::Texts { expected, actual } => diff::texts(expected, actual),
        Sides::Values { expected, actual } => [styled(GOOD, shortened(expected)), styled(BAD, shortened(actual))],
    };
    let _ = writeln!(out, "    expected  {expected}\n    actual    {actual}");
    out
}

fn shortened(text: &str) -> String {
    let text = visible(text);
    match text.char_indices().nth(LONGEST_VALUE) {
        None => text,
        Some((at, _)) => format!("{}…⟨{} more⟩", &text[..at], text[at..].chars().count()),
    }
}

/// A whole case: what it is for, what it demands, and the request to paste to a testee by hand.
pub fn case(case: &Case, corpus: &Corpus) -> String {
    let mut out = String::new();
    let profiles: Vec<String> = case.profiles.iter().map(ToString::to_string).collect();
    let _ = writeln!(out, "{} ({}; {})", styled(STRONG, &case.id), case.level, profiles.join(", "));
    let _ = writeln!(out, "  why: {}", case.why);
    out.push_str(&clauses(case, corpus));
    if let Expect::Holds(oracles) = &case.expect {
        for oracle in oracles {
            let _ = writeln!(out, "  {oracle}: {}", oracle.get_message().unwrap_or_default());
        }
    }
    let _ = write!(out, "\n{}", lay_out(&case.source, 1));
    for &profile in &case.profiles {
        let _ = writeln!(out, "\n{}\n{}", styled(FAINT, "request:"), case.request(1, profile).line());
    }
    out
}
