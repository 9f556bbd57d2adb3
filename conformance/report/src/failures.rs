//! Shows the failures of a run in a terminal: by default on one screen.

use crate::causes::{Cause, Symptoms, causes, is_special};
use crate::judged::reasons;
use crate::summary::happened;
use crate::terminal::{FAINT, STRONG, Screen, styled};
use crate::words::{BESIDE, finding, silent_among};
use crate::{Failure, Repeat, worst};
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write;
use threadspec_judge::corpus::Corpus;
use threadspec_judge::text::{count, visible};
use threadspec_judge::verdict::Verdict;
use threadspec_runner::{CaseResult, Run};

/// How many further cases of a cause are named.
const OTHERS: usize = 10;
/// The name of the causes that are listed behind the first one.
const MORE: &str = "more cause";
/// The other causes have at least so many rows, if there are as many.
const CAUSES: usize = 6;
/// The clearest case has at least so many rows.
const CASE: usize = 8;
/// The sentence has at most so many rows.
const SENTENCE: usize = 5;

const LEGEND: &str = "⟦…⟧ is what differs; ⏎, ␛ and ⟨U+200B⟩ show characters without a shape.";

/// The failures of a run, by cause.
pub struct RunFailures<'a> {
    failed: Vec<Cow<'a, CaseResult<'a>>>,
    causes: Vec<Cause>,
    sentence: Option<String>,
    corpus: &'a Corpus,
    strict: bool,
    repeat: Repeat<'a>,
}

impl<'a> RunFailures<'a> {
    /// Groups the failures of a run that are not known.
    pub fn of(run: &'a Run<'a>, corpus: &'a Corpus, strict: bool, repeat: Repeat<'a>) -> Self {
        let failures = run.results.iter().filter(|result| result.judgement.verdict.is_news()).map(Cow::Borrowed);
        let beside = run.results.iter().filter_map(|result| result.of_beside(strict)).map(Cow::Owned);
        let mut failed: Vec<Cow<'a, CaseResult<'a>>> = failures.chain(beside).collect();
        failed.sort_by_key(|result| result.case.severity);
        let symptoms: Vec<Symptoms<'_>> = failed.iter().map(|result| of_result(result, strict)).collect();
        let causes = causes(&symptoms);
        let sentence = worst(&symptoms, &causes, |index| name_of(&failed[index]));
        drop(symptoms);
        Self { failed, causes, sentence, corpus, strict, repeat }
    }

    /// How many causes count that only findings beside cases show.
    pub fn beside(&self) -> usize {
        let is_beside = |result: &CaseResult<'_>| result.judgement.is_beside && result.counts_against(self.strict);
        self.causes.iter().filter(|cause| is_beside(&self.failed[cause.members[0]])).count()
    }

    /// Names the cause to fix first, and the reason; nothing where a single case says it.
    pub fn sentence(&self, screen: Screen) -> String {
        let sentence = self.sentence.iter().filter(|_| self.failed.len() > 1);
        sentence.map(|sentence| styled(STRONG, screen.cut(sentence, SENTENCE).trim_end()) + "\n").collect()
    }

    /// A line for each failure.
    pub fn headlines(&self) -> String {
        (0..self.failed.len()).map(|index| self.failure(index).headline()).collect()
    }

    /// Shows the cause to fix first with its clearest case, and the other causes on a line each, within so many rows.
    pub fn within(&self, rows: usize, screen: Screen) -> String {
        let Some((first, others)) = self.causes.split_first() else { return String::new() };
        let sentence = self.sentence(screen);
        let mut out = if sentence.is_empty() { sentence } else { sentence + "\n" };
        // A failure that does not count is reported in short, unless there is no other.
        if !others.is_empty() && !self.failed[first.members[0]].counts_against(self.strict) {
            let room = rows.saturating_sub(screen.rows(&out) + 1);
            return out + &self.list("cause", &self.causes, Some(room), screen);
        }
        // A blank line behind the case, and one behind the list.
        let room = rows.saturating_sub(screen.rows(&out) + 1 + usize::from(!others.is_empty()));
        let reserved = if others.is_empty() { 0 } else { 1 + others.len().min(CAUSES + 1) };
        let also = self.also(first, screen);
        let legend = format!("{}\n", styled(FAINT, LEGEND));
        let around = screen.rows(&also) + screen.rows(&legend);
        let mut block = self.example(first).within(room.saturating_sub(reserved + around).max(CASE), screen);
        block += &also;
        if block.contains('⟦') {
            block += &legend;
        }
        let room = room.saturating_sub(screen.rows(&block));
        out += &block;
        out.push('\n');
        out + &self.list(MORE, others, Some(room), screen)
    }

    /// The clearest case of so many causes in full, and the others on a line each.
    pub fn first(&self, number: usize) -> String {
        let (first, others) = self.causes.split_at(number.min(self.causes.len()));
        let mut out = self.sentence(Screen::default());
        if !out.is_empty() {
            out.push('\n');
        }
        for cause in first {
            out += &self.heading(cause);
            out += &self.example(cause).text();
            for &other in cause.members.iter().skip(1).take(OTHERS) {
                let _ = writeln!(out, "  also {}", self.named(other));
            }
            if cause.members.len() > OTHERS + 1 {
                let _ = writeln!(out, "  … and {} more; --all shows them", cause.members.len() - OTHERS - 1);
            }
            out.push('\n');
        }
        with_legend(out) + &self.list(MORE, others, None, Screen::default())
    }

    /// Every failure in full, below the first cause that it has.
    pub fn all(&self) -> String {
        let mut told = HashSet::new();
        let mut out = self.sentence(Screen::default());
        if !out.is_empty() {
            out.push('\n');
        }
        for cause in &self.causes {
            out += &self.heading(cause);
            let mut rest = Vec::new();
            for &member in &cause.members {
                if told.insert(member) {
                    out += &self.failure(member).text();
                    out.push('\n');
                } else {
                    rest.push(format!("  also {}\n", self.named(member)));
                }
            }
            out.extend(rest);
            out.push('\n');
        }
        with_legend(out)
    }

    fn failure(&self, index: usize) -> Failure<'a> {
        let result = &*self.failed[index];
        Failure::of_case(result, self.corpus, self.strict, (self.repeat)(result))
    }

    /// Shows the clearest case of a cause with the clause of the cause, which the case need not list: what it is for would mislead then.
    fn example(&self, cause: &Cause) -> Failure<'a> {
        let mut failure = self.failure(cause.members[0]);
        if failure.clauses.iter().all(|clause| clause.id != cause.clause)
            && let Some(clause) = self.corpus.clause(&cause.clause)
        {
            let hidden = std::mem::replace(&mut failure.clauses, vec![clause]);
            failure.touched.retain(|id| *id != cause.clause);
            failure.touched.splice(..0, hidden.into_iter().map(|clause| clause.id.clone()));
            if !self.failed[cause.members[0]].case.clauses.contains(&cause.clause) {
                failure.why.clear();
            }
        }
        failure
    }

    fn named(&self, index: usize) -> String {
        let result = &self.failed[index];
        let severity = result.case.severity.map(|severity| format!(" (severity {severity})")).unwrap_or_default();
        format!("{}{severity}", visible(&name_of(result)))
    }

    fn heading(&self, cause: &Cause) -> String {
        match cause.members.len() {
            1 => String::new(),
            several => {
                format!("{}: {}\n", styled(STRONG, format!("{several} cases of one cause")), self.title(cause))
            }
        }
    }

    /// Returns the common property of the failures of a cause, without the clause, which is beside it. Where values had to be left out of
    /// it, the clearest case says it with its own.
    fn title(&self, cause: &Cause) -> String {
        let words = || happened(&of_result(&self.failed[cause.members[0]], self.strict), &cause.clause);
        let title = finding(&cause.sign, &cause.clause).unwrap_or(&cause.sign);
        Some(title)
            .filter(|title| title.contains('…') || title.contains(" N"))
            .and_then(|_| words())
            .unwrap_or_else(|| title.to_owned())
    }

    /// The other cases of a cause, on a line.
    fn also(&self, cause: &Cause, screen: Screen) -> String {
        let others = &cause.members[1..];
        if others.is_empty() {
            return String::new();
        }
        let named: Vec<String> = others.iter().take(3).map(|&index| self.named(index)).collect();
        let rest = match others.len().saturating_sub(named.len()) {
            0 => String::new(),
            rest => format!(" and {rest} more; --all shows them"),
        };
        screen.cut(&format!("  also {}{rest}\n", named.join(", ")), 2)
    }

    /// Causes on a line each, within so many rows, with the number of those that are left.
    fn list(&self, what: &str, causes: &[Cause], rows: Option<usize>, screen: Screen) -> String {
        if causes.is_empty() {
            return String::new();
        }
        let most = match rows.map(|rows| rows.saturating_sub(1)) {
            None => causes.len(),
            Some(rows) if causes.len() <= rows => causes.len(),
            Some(rows) => rows.saturating_sub(1),
        };
        let hint = styled(FAINT, "`threadspec explain CLAUSE` explains one");
        let mut out = format!("{}: {hint}\n", styled(STRONG, count(causes.len(), what)));
        for cause in causes.iter().take(most) {
            let clearest = &self.failed[cause.members[0]];
            let members = count(cause.members.len(), "case");
            let failed = cause.members.iter().map(|&member| &self.failed[member]);
            let silent = failed.filter(|failed| !failed.counts_against(self.strict));
            let silent = silent_among(cause.members.len(), silent.map(|failed| failed.case.severity));
            let severity = clearest.case.severity.map(|severity| format!(", severity {severity}")).unwrap_or_default();
            let id = visible(&name_of(clearest));
            let title = self.title(cause);
            let line = format!("  {}{severity}: {title}; {members}{silent}, such as {id}\n", visible(&cause.clause));
            out += &screen.cut(&line, 1);
        }
        if causes.len() > most {
            let _ = writeln!(out, "  … and {} more; --all shows them", causes.len() - most);
        }
        out + "\n"
    }
}

/// The id of the case, or that it was found beside it.
pub(super) fn name_of(result: &CaseResult<'_>) -> String {
    format!("{}{}", if result.judgement.is_beside { BESIDE } else { "" }, result.case.id)
}

fn with_legend(out: String) -> String {
    if out.contains('⟦') { format!("{out}{}\n\n", styled(FAINT, LEGEND)) } else { out }
}

fn of_result<'a>(result: &'a CaseResult<'_>, strict: bool) -> Symptoms<'a> {
    let CaseResult { case, judgement } = result;
    Symptoms {
        verdict: judgement.verdict,
        op: case.op,
        charged: result.charge().map_or("", |charge| charge.clause),
        faults: &judgement.faults,
        note: &judgement.note,
        mismatches: &judgement.mismatches,
        size: case.input().len(),
        is_ordinary: !is_special(&case.id) && !case.is_template && case.after().is_empty(),
        counts: result.counts_against(strict),
        is_beside: judgement.is_beside,
        documented: judgement.documented,
        severity: case.severity,
    }
}

/// Says why cases are unsupported, and names so many of each reason.
pub fn unsupported(run: &Run<'_>, most: usize) -> String {
    let unsupported = run.results.iter().filter(|result| result.judgement.verdict == Verdict::Unsupported);
    let mut out = String::new();
    for (reason, ids) in reasons(unsupported.map(|CaseResult { case, judgement }| (&*judgement.note, &*case.id))) {
        let title = styled(STRONG, format!("{} unsupported", ids.len()));
        let _ = writeln!(out, "{title}: {}", visible(reason));
        out.extend(ids.iter().take(most).map(|id| format!("  {}\n", visible(id))));
        if ids.len() > most {
            let _ = writeln!(out, "  … and {} more; --all shows them", ids.len() - most);
        }
        out.push('\n');
    }
    out
}
