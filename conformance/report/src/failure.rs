//! Shows one case or one failure to people: of a case of the corpus, or found by fuzzing.

use crate::conversation::{ConversationLine, LineKind, conversation};
use crate::failures::name_of;
use crate::terminal::{BAD, FAINT, GOOD, STRONG, Screen, WARNING, styled};
use crate::words::{QUOTED, gravity};
use crate::{diff, words};
use std::fmt::Write;
use strum::EnumMessage;
use threadspec_judge::corpus::{Case, Clause, Corpus, Expect, Level, Mismatch, Severity, Sides, lay_out};
use threadspec_judge::protocol::{JudgeProfile, Op, Request};
use threadspec_judge::text::{common_beginning, count, visible};
use threadspec_judge::verdict::Verdict;
use threadspec_runner::CaseResult;

/// More mismatches than this are counted, not shown.
const MISMATCHES: usize = 8;
/// Values are shown up to this length.
const LONGEST_VALUE: usize = 600;

/// Each side of a difference, and a line that is cut, has so many rows of a screen.
const SIDE_ROWS: usize = 3;

/// How soon a line is left out where there is little room: the larger, the sooner.
type Rank = u8;
/// Lines of this rank stay.
const KEPT: Rank = 1;

/// The report of one failure.
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
    /// True if it makes the testee not conformant.
    pub counts: bool,
    /// The clauses that it breaks; of a case, the one that it is charged to.
    pub clauses: Vec<&'a Clause>,
    /// The other clauses that it touches.
    pub touched: Vec<String>,
    /// Why the case exists.
    pub why: String,
    /// A description of the outcome, in words; may be empty.
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
        // What the case is about does not explain a breach of another clause.
        let explains = charge.as_ref().is_none_or(|charge| case.clauses.iter().any(|clause| clause == charge.clause));
        Self {
            touched: touched.map(|&clause| clause.to_owned()).collect(),
            verdict: judgement.verdict,
            id: name_of(result),
            // What was found beside a case is a breach of a `must`.
            level: if judgement.is_beside { Level::Must } else { case.level },
            severity: case.severity,
            evidence: if explains { case.evidence.clone() } else { Vec::new() },
            counts: result.counts_against(strict),
            // A rule of a model API has no text here; the note names it. What did not fail is charged to nothing.
            clauses: charge
                .as_ref()
                .map_or_else(|| case.clauses.iter().map(String::as_str).collect(), |charge| vec![charge.clause])
                .into_iter()
                .filter_map(|id| corpus.clause(id))
                .collect(),
            why: if explains { case.why.clone() } else { String::new() },
            note: words::note_of(judgement),
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
            // Of a `should` case only a crash and its like count, unless the run is strict.
            (true, Verdict::Crash | Verdict::Timeout | Verdict::Garbage) if self.level == Level::Should => {
                (BAD, ", but this verdict always counts")
            }
            (true, _) if self.level == Level::Should => (BAD, ", counts all the same"),
            (true, _) if self.severity == Some(Severity::C) => (BAD, ", but it breaks another clause, too"),
            (true, _) => (BAD, ""),
            (false, Verdict::Pass) => (GOOD, ""),
            (false, Verdict::Fail) if self.level == Level::Must => (WARNING, ", contrived: does not count"),
            (false, _) => (WARNING, ", a warning"),
        };
        let verdict = styled(style, self.verdict.to_string().to_uppercase());
        format!("{verdict} {} ({}{note})\n", styled(STRONG, visible(&self.id)), gravity(self.level, self.severity))
    }

    /// Everything: verdict, clauses, reason, what differs, and the command that repeats it.
    pub fn text(&self) -> String {
        self.lines(LONGEST_VALUE).into_iter().map(|(_, line)| line).collect()
    }

    /// As much of it as so many rows of a screen hold. What differs, and the last words of a program, are kept longest.
    pub fn within(&self, rows: usize, screen: Screen) -> String {
        let mut lines = self.lines(screen.room(SIDE_ROWS));
        let taken = |lines: &[(Rank, String)]| lines.iter().map(|(_, line)| screen.rows(line)).sum::<usize>();
        let all = lines.len();
        while taken(&lines) + usize::from(lines.len() < all) > rows {
            let Some(rank) = lines.iter().map(|(rank, _)| *rank).max().filter(|rank| *rank > KEPT) else { break };
            let last = lines.iter().rposition(|(of, _)| *of == rank);
            last.map(|at| lines.remove(at));
        }
        if taken(&lines) + usize::from(lines.len() < all) > rows {
            for (_, line) in &mut lines {
                *line = screen.cut(line, SIDE_ROWS);
            }
        }
        // The command that repeats it is the last line.
        while taken(&lines) + usize::from(lines.len() < all) > rows && lines.len() > 2 {
            lines.remove(lines.len() - 2);
        }
        if lines.len() < all {
            let left_out = count(all - lines.len(), "line");
            let mark =
                format!("  {}\n", styled(FAINT, format!("… {left_out} of this case left out; --all shows them")));
            lines.insert(lines.len() - 1, (KEPT, mark));
        }
        lines.into_iter().map(|(_, line)| line).collect()
    }

    /// Its lines, each with how soon it is left out. Both sides of a difference have this room.
    fn lines(&self, room: usize) -> Vec<(Rank, String)> {
        let mut lines: Vec<(Rank, String)> = vec![(KEPT, self.headline())];
        lines.extend(self.clauses.iter().map(|clause| (KEPT, clause_line(clause))));
        if !self.touched.is_empty() {
            lines.push((9, format!("  also about: {}\n", self.touched.join(", "))));
        }
        if !self.why.is_empty() {
            lines.push((5, format!("  why this case: {}\n", visible(&self.why))));
        }
        let severity = severity_line(self.severity, &self.evidence);
        lines.extend((!severity.is_empty()).then_some((6, severity)));
        let note: Vec<&str> = self.note.lines().collect();
        let is_quoted = |at: usize| note.get(at).is_some_and(|line| line.starts_with(QUOTED));
        for (at, line) in note.iter().enumerate() {
            // A command is there to be copied.
            let is_command = line.trim_start().starts_with("curl ");
            // The last words of a program's output are kept longest.
            let behind = (at..note.len()).take_while(|&at| is_quoted(at)).count();
            let rank = match behind {
                _ if at == 0 => KEPT,
                0 => 3,
                behind => Rank::try_from(behind).map_or(8, |behind| behind.min(8)),
            };
            lines.push((rank, format!("  {}\n", if is_command { visible(line) } else { shortened(line) })));
        }
        lines.extend(words::rules_in(&self.note).iter().map(|rule| (7, format!("  {}\n", words::rule_line(rule)))));
        for (number, mismatch) in self.mismatches.iter().take(MISMATCHES).enumerate() {
            let rank = if number == 0 { KEPT } else { 5 };
            lines.extend(difference(mismatch, room).into_iter().map(|line| (rank, line)));
        }
        let findings: Vec<usize> = (0..self.conversation.len()).filter(|&at| self.is_finding(at)).collect();
        for (at, ConversationLine { kind, text }) in self.conversation.iter().enumerate() {
            let style = match kind {
                LineKind::Run => STRONG,
                LineKind::Finding => BAD,
                LineKind::Event | LineKind::Message => anstyle::Style::new(),
            };
            // What is near a finding explains it.
            let distance = findings.iter().map(|finding| finding.abs_diff(at)).min().unwrap_or(at);
            let rank = Rank::try_from(distance).map_or(8, |distance| (KEPT + distance).min(8));
            let line = styled(style, text);
            lines.push((rank, format!("{:indent$}{line}\n", "", indent = kind.indent())));
        }
        let more = self.more + self.mismatches.len().saturating_sub(MISMATCHES);
        lines.extend((more > 0).then(|| (2, format!("  … and {}\n", count(more, "more difference")))));
        lines.push((KEPT, format!("  {} {}\n", styled(FAINT, "repeat:"), visible(&self.repeat))));
        if let Some(input) = &self.input {
            lines.push((KEPT, "  the smallest input that shows it:\n".to_owned()));
            lines.extend(lay_out(input, 1).lines().map(|line| (KEPT, format!("    {}\n", visible(line)))));
        }
        lines
    }

    fn is_finding(&self, at: usize) -> bool {
        self.conversation[at].kind == LineKind::Finding
    }
}

/// The conversation of a failed case.
fn conversation_of(CaseResult { case, judgement }: &CaseResult<'_>) -> Vec<ConversationLine> {
    match &judgement.actual {
        // Differences from an expected output say more where there is one, and the two bodies of a gateway.
        Some(actual)
            if judgement.mismatches.is_empty()
                && !judgement.broken.iter().any(|clause| clause.starts_with("GATE-")) =>
        {
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

/// Explains the severity of a case and its evidence; empty without a severity.
pub(super) fn severity_line(severity: Option<Severity>, evidence: &[String]) -> String {
    let Some(severity) = severity else { return String::new() };
    let shown = if evidence.is_empty() { String::new() } else { format!(": {}", visible(&evidence.join(", "))) };
    format!("  severity {severity}, {}{shown}\n", severity.meaning())
}

fn difference(mismatch: &Mismatch, room: usize) -> Vec<String> {
    let place = (!mismatch.path.is_empty()).then(|| format!("  at {}\n", visible(&mismatch.path)));
    let [expected, actual] = match &mismatch.sides {
        Sides::Texts { expected, actual } if room < LONGEST_VALUE => diff::texts_within(expected, actual, room),
        Sides::Texts { expected, actual } => diff::texts(expected, actual),
        // Two equal beginnings say nothing.
        Sides::Values { expected, actual } if common_beginning(&expected.shown, &actual.shown) >= room / 2 => {
            diff::texts_within(&expected.shown, &actual.shown, room)
        }
        Sides::Values { expected, actual } => {
            let shown = |text: &str| words::shortened(text, room);
            [styled(GOOD, shown(&expected.shown)), styled(BAD, shown(&actual.shown))]
        }
    };
    place.into_iter().chain([format!("    expected  {expected}\n"), format!("    actual    {actual}\n")]).collect()
}

fn shortened(text: &str) -> String {
    words::shortened(text, LONGEST_VALUE)
}

// One case, for people.

/// Replaces the storage folder of a session in a request that is pasted.
const STORAGE: &str = "/tmp/session";

/// A whole case: what it is for, what it demands, and for each of these profiles the request to paste to a testee by hand.
pub fn case(case: &Case, corpus: &Corpus, profiles: &[JudgeProfile]) -> String {
    let mut out = String::new();
    let own: Vec<String> = case.profiles.iter().map(ToString::to_string).collect();
    let _ = writeln!(out, "{} ({}; {})", styled(STRONG, &case.id), gravity(case.level, case.severity), own.join(", "));
    let _ = writeln!(out, "  why: {}", case.why);
    out.push_str(&severity_line(case.severity, &case.evidence));
    case.clauses.iter().filter_map(|id| corpus.clause(id)).for_each(|clause| out.push_str(&clause_line(clause)));
    if let Expect::Holds(oracles) = case.expect() {
        for oracle in oracles {
            let _ = writeln!(out, "  {oracle}: {}", oracle.get_message().unwrap_or_default());
        }
    }
    if let Expect::Run(properties) = case.expect() {
        for property in properties {
            let _ = writeln!(out, "  {property}: {}", property.about());
        }
    }
    let _ = write!(out, "\n{}", lay_out(case.source(), 1));
    if case.needs_gateway() {
        let how = "sent through a gateway by: threadspec verify --provider API --client API --through CMD --filter";
        let _ = writeln!(out, "\n{} {}", styled(FAINT, how), case.id);
        return out;
    }
    for &profile in profiles {
        let title = if case.after().is_empty() { "request" } else { "requests, the last of which is judged" };
        // Whoever puts a session makes the folder.
        let storage = (case.op == Op::Session).then(|| STORAGE.to_owned());
        let made = if storage.is_some() { " (make a fresh folder, and put its path where `storage` is)" } else { "" };
        let _ = writeln!(out, "\n{}", styled(FAINT, format_args!("{title}{made}:")));
        for (id, input) in (1..).zip(case.inputs()) {
            let request = Request { input: input.into(), storage: storage.clone(), ..case.request(id, profile) };
            let _ = writeln!(out, "{}", request.line());
        }
    }
    out
}
