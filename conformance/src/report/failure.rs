//! One failure, for people: of a case of the corpus, or found by fuzzing.

use super::diff;
use crate::corpus::layout::lay_out;
use crate::corpus::mismatch::{Mismatch, Sides};
use crate::corpus::{Clause, Corpus, Level};
use crate::run::{CaseResult, Verdict};
use crate::terminal::{BAD, FAINT, GOOD, STRONG, WARNING, count, styled, visible};
use std::fmt::Write;

/// More mismatches than this are counted, not shown.
const MISMATCHES: usize = 8;
/// Values are shown up to this length.
const LONGEST_VALUE: usize = 600;

/// What is reported of one failure.
#[derive(Clone, Debug)]
pub struct Failure<'a> {
    /// The verdict.
    pub verdict: Verdict,
    /// The id of the case, or the name of a finding.
    pub id: String,
    /// How binding the clauses are.
    pub level: Level,
    /// Whether it makes the testee not conformant.
    pub counts: bool,
    /// The clauses that it breaks.
    pub clauses: Vec<&'a Clause>,
    /// Why the case exists.
    pub why: String,
    /// What happened, in words; may be empty.
    pub note: String,
    /// Where the output differs from the expected one.
    pub mismatches: Vec<Mismatch>,
    /// How many more mismatches there are.
    pub more: usize,
    /// The input that shows it, as JSON text, if no case has it.
    pub input: Option<String>,
    /// The command that repeats it alone.
    pub repeat: String,
}

impl<'a> Failure<'a> {
    /// The failure of a case.
    pub fn of_case(result: &CaseResult<'_>, corpus: &'a Corpus, strict: bool, repeat: String) -> Self {
        let CaseResult { case, judgement } = result;
        Self {
            verdict: judgement.verdict,
            id: case.id.clone(),
            level: case.level,
            counts: result.counts_against(strict),
            clauses: case.clauses.iter().filter_map(|id| corpus.clause(id)).collect(),
            why: case.why.clone(),
            note: judgement.note.clone(),
            mismatches: judgement.mismatches.clone(),
            more: judgement.more,
            input: None,
            repeat,
        }
    }

    /// Verdict, id and level on one line.
    pub fn headline(&self) -> String {
        let (style, note) = match (self.counts, self.verdict) {
            (true, _) => (BAD, ""),
            (false, Verdict::Pass) => (GOOD, ""),
            (false, _) => (WARNING, ", a warning"),
        };
        let verdict = styled(style, self.verdict.to_string().to_uppercase());
        format!("{verdict} {} ({}{note})\n", styled(STRONG, visible(&self.id)), self.level)
    }

    /// Everything: verdict, clauses, reason, what differs, and the command that repeats it.
    pub fn text(&self) -> String {
        let mut out = self.headline();
        self.clauses.iter().for_each(|clause| out.push_str(&clause_line(clause)));
        let _ = writeln!(out, "  why: {}", visible(&self.why));
        for line in self.note.lines() {
            let _ = writeln!(out, "  {}", shortened(line));
        }
        for mismatch in self.mismatches.iter().take(MISMATCHES) {
            out.push_str(&difference(mismatch));
        }
        let more = self.more + self.mismatches.len().saturating_sub(MISMATCHES);
        if more > 0 {
            let _ = writeln!(out, "  … and {}", count(more, "more difference"));
        }
        let _ = writeln!(out, "  {} {}", styled(FAINT, "repeat:"), visible(&self.repeat));
        if let Some(input) = &self.input {
            let lines: Vec<String> = lay_out(input, 1).lines().map(|line| format!("    {}\n", visible(line))).collect();
            let _ = write!(out, "  the smallest input that shows it:\n{}", lines.concat());
        }
        out
    }
}

/// A clause with its text.
pub(super) fn clause_line(clause: &Clause) -> String {
    let level = if clause.level == Level::Should { " (should)" } else { "" };
    format!("  {}{level}: {}\n", clause.id, visible(&clause.text))
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
    super::shortened(text, LONGEST_VALUE)
}
