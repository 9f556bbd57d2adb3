//! One failure, for people: of a case of the corpus, or found by fuzzing.

use super::conversation::{ConversationLine, LineKind, conversation};
use super::diff;
use super::words::{self, gravity};
use crate::terminal::{BAD, FAINT, GOOD, STRONG, WARNING, styled};
use std::fmt::Write;
use threadspec_judge::corpus::{Clause, Corpus, Level, Mismatch, Severity, Sides, lay_out};
use threadspec_judge::text::{common_beginning, count, visible};
use threadspec_judge::verdict::Verdict;
use threadspec_runner::CaseResult;

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
    /// How much it hurts, if its case says so.
    pub severity: Option<Severity>,
    /// Reports and documents that show the severity.
    pub evidence: Vec<String>,
    /// Whether it makes the testee not conformant.
    pub counts: bool,
    /// The clauses that it breaks; of a case, the one that it is charged to.
    pub clauses: Vec<&'a Clause>,
    /// What else it touches.
    pub touched: Vec<String>,
    /// Why the case exists.
    pub why: String,
    /// What happened, in words; may be empty.
    pub note: String,
    /// Where the output differs from the expected one.
    pub mismatches: Vec<Mismatch>,
    /// How many more mismatches there are.
    pub more: usize,
    /// The run as a conversation, with what is wrong where it belongs.
    pub conversation: Vec<ConversationLine>,
    /// The input that shows it, as JSON text, if no case has it.
    pub input: Option<String>,
    /// The command that repeats it alone.
    pub repeat: String,
}

impl<'a> Failure<'a> {
    /// The failure of a case.
    pub fn of_case(result: &CaseResult<'_>, corpus: &'a Corpus, strict: bool, repeat: String) -> Self {
        let CaseResult { case, judgement } = result;
        let charge = result.charge();
        let touched = charge.iter().flat_map(|charge| &charge.touched);
        Self {
            touched: touched.map(|&clause| clause.to_owned()).collect(),
            verdict: judgement.verdict,
            id: case.id.clone(),
            level: case.level,
            severity: case.severity,
            evidence: case.evidence.clone(),
            counts: result.counts_against(strict),
            // A rule of a model API has no text here; the note names it. What did not fail is charged to nothing.
            clauses: charge
                .as_ref()
                .map_or_else(|| case.clauses.iter().map(String::as_str).collect(), |charge| vec![charge.clause])
                .into_iter()
                .filter_map(|id| corpus.clause(id))
                .collect(),
            why: case.why.clone(),
            note: judgement.note.clone(),
            mismatches: judgement.mismatches.clone(),
            more: judgement.more,
            conversation: conversation_of(result),
            input: None,
            repeat,
        }
    }

    /// Verdict, id, level and severity on one line.
    pub fn headline(&self) -> String {
        let (style, note) = match (self.counts, self.verdict) {
            (true, _) => (BAD, ""),
            (false, Verdict::Pass) => (GOOD, ""),
            (false, Verdict::Fail) if self.level == Level::Must => (WARNING, ", does not count"),
            (false, _) => (WARNING, ", a warning"),
        };
        let verdict = styled(style, self.verdict.to_string().to_uppercase());
        format!("{verdict} {} ({}{note})\n", styled(STRONG, visible(&self.id)), gravity(self.level, self.severity))
    }

    /// Everything: verdict, clauses, reason, what differs, and the command that repeats it.
    pub fn text(&self) -> String {
        let mut out = self.headline();
        self.clauses.iter().for_each(|clause| out.push_str(&clause_line(clause)));
        if !self.touched.is_empty() {
            let _ = writeln!(out, "  touched: {}", self.touched.join(", "));
        }
        let _ = writeln!(out, "  why: {}", visible(&self.why));
        out.push_str(&severity_line(self.severity, &self.evidence));
        for line in self.note.lines() {
            // A command is there to be copied.
            let is_command = line.trim_start().starts_with("curl ");
            let _ = writeln!(out, "  {}", if is_command { visible(line) } else { shortened(line) });
        }
        for rule in &words::rules_in(&self.note) {
            let _ = writeln!(out, "  {}", words::rule_line(rule));
        }
        for mismatch in self.mismatches.iter().take(MISMATCHES) {
            out.push_str(&difference(mismatch));
        }
        for ConversationLine { kind, text } in &self.conversation {
            let style = match kind {
                LineKind::Run => STRONG,
                LineKind::Finding => BAD,
                LineKind::Event | LineKind::Message => anstyle::Style::new(),
            };
            let _ = writeln!(out, "{:indent$}{}", "", styled(style, text), indent = kind.indent());
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

/// The conversation of a failed case.
fn conversation_of(CaseResult { case, judgement }: &CaseResult<'_>) -> Vec<ConversationLine> {
    match &judgement.actual {
        // Differences from an expected output say more where there is one.
        Some(actual) if judgement.mismatches.is_empty() => {
            conversation(case.op, case.for_a_while().input(), actual, &judgement.note)
        }
        _ => Vec::new(),
    }
}

/// A clause with its text.
pub(super) fn clause_line(clause: &Clause) -> String {
    let level = if clause.level == Level::Should { " (should)" } else { "" };
    format!("  {}{level}: {}\n", clause.id, visible(&clause.text))
}

/// What the severity of a case means, and what shows it; empty without one.
pub(super) fn severity_line(severity: Option<Severity>, evidence: &[String]) -> String {
    let Some(severity) = severity else { return String::new() };
    let shown = if evidence.is_empty() { String::new() } else { format!(": {}", visible(&evidence.join(", "))) };
    format!("  severity {severity}, {}{shown}\n", severity.meaning())
}

fn difference(mismatch: &Mismatch) -> String {
    let mut out = String::new();
    if !mismatch.path.is_empty() {
        let _ = writeln!(out, "  at {}", visible(&mismatch.path));
    }
    let [expected, actual] = match &mismatch.sides {
        Sides::Texts { expected, actual } => diff::texts(expected, actual),
        // Two equal beginnings say nothing.
        Sides::Values { expected, actual } if common_beginning(&expected.shown, &actual.shown) >= LONGEST_VALUE => {
            diff::texts(&expected.shown, &actual.shown)
        }
        Sides::Values { expected, actual } => {
            [styled(GOOD, shortened(&expected.shown)), styled(BAD, shortened(&actual.shown))]
        }
    };
    let _ = writeln!(out, "    expected  {expected}\n    actual    {actual}");
    out
}

fn shortened(text: &str) -> String {
    words::shortened(text, LONGEST_VALUE)
}
