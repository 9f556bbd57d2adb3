//! Shows conversations that programs have with the provider: a line each while they go on, and a verdict at the end.

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::BTreeMap;
use threadspec::oracle::Api;
use threadspec_cli::progress;
use threadspec_golden::how_sure;
use threadspec_judge::corpus::Case;
use threadspec_judge::text::{count, visible};
use threadspec_judge::verdict::{Judgement, Verdict};
use threadspec_provider::{News, Talk, WireFinding, WireLevel};
use threadspec_report::Conclusion;
use threadspec_report::terminal::{BAD, GOOD, WARNING, print, styled};
use threadspec_runner::{CaseResult, Exit, Run};

/// How many findings of a conversation are shown.
const SHOWN: usize = 20;

/// The verdict on conversations: each is a case.
pub(super) struct TalkVerdict {
    pub(super) cases: Vec<(Case, Judgement)>,
    pub(super) apis: Vec<Api>,
    requests: u64,
    /// The faults beside them.
    pub(super) against: Vec<String>,
}

impl TalkVerdict {
    pub(super) fn of(talks: &[Talk], unmet: Vec<String>, strict: bool) -> Self {
        let requests = talks.iter().map(|talk| talk.requests).sum();
        let mut against = unmet;
        if requests == 0 {
            against.push("no request for an answer came, and nothing was judged".to_owned());
        }
        let apis = Api::ALL.into_iter().filter(|api| talks.iter().any(|talk| talk.api == *api)).collect();
        let cases = talks.iter().enumerate().map(|(number, talk)| judged(number, talk, strict)).collect();
        Self { cases, apis, requests, against }
    }

    pub(super) fn code(&self) -> Exit {
        let is_conformant = self.against.is_empty() && self.cases.iter().all(|(_, one)| one.verdict == Verdict::Pass);
        if is_conformant { Exit::Ok } else { Exit::NotConformant }
    }

    /// The last line.
    pub(super) fn conclusion(&self) -> String {
        let code = self.code();
        let style = if code == Exit::Ok { GOOD } else { BAD };
        format!("{}: {} Exit code {code}.\n", styled(style, Conclusion::of(code)), self.sentence())
    }

    pub(super) fn run(&self) -> Run<'_> {
        Run {
            results: self
                .cases
                .iter()
                .map(|(case, judgement)| CaseResult { case, judgement: judgement.clone() })
                .collect(),
            requests: self.requests,
            ..Run::default()
        }
    }

    /// Writes the findings, conversation by conversation.
    pub(super) fn text(&self, talks: &[Talk]) -> String {
        let mut text = if talks.is_empty() { String::new() } else { "\n".to_owned() };
        for (number, talk) in talks.iter().enumerate() {
            text += &format!("conversation {}: {}\n", number + 1, about(talk));
            for finding in talk.findings.iter().take(SHOWN) {
                let style = if finding.level == WireLevel::Must { BAD } else { WARNING };
                let name = styled(style, level(finding.level));
                text += &format!("  {name} {}: {}\n", finding.clause, visible(&with_evidence(finding)));
            }
            let more = talk.findings.len().saturating_sub(SHOWN) as u64 + talk.more;
            if more > 0 {
                text += &format!("  … and {more} more\n");
            }
        }
        text.push('\n');
        for against in &self.against {
            text += &format!("{} {against}\n", styled(BAD, "FAIL"));
        }
        text
    }

    /// How much was judged.
    pub(super) fn sentence(&self) -> String {
        let number = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        let failed = self.cases.iter().filter(|(_, judgement)| judgement.verdict != Verdict::Pass).count();
        let judged =
            format!("{} in {}", count(number(self.requests), "request"), count(self.cases.len(), "conversation"));
        if failed == 0 { format!("{judged}.") } else { format!("{judged}; {} failed.", count(failed, "conversation")) }
    }
}

/// A conversation in a line.
pub(super) fn about(talk: &Talk) -> String {
    let number = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let model = talk.model.as_deref().map(|model| format!(", {model}")).unwrap_or_default();
    visible(&format!("{}{model}, {}, {} answered", talk.api, count(number(talk.requests), "request"), talk.answers))
}

fn level(level: WireLevel) -> &'static str {
    match level {
        WireLevel::Must => "FAIL",
        WireLevel::Should => "should",
        WireLevel::Note => "note",
    }
}

/// Describes a fault; for a rule of the API, also how sure it is.
fn with_evidence(finding: &WireFinding) -> String {
    how_sure(finding.clause).map_or_else(|| finding.what.clone(), |sure| format!("{} ({sure})", finding.what))
}

/// A conversation as a case, and how it ended.
fn judged(number: usize, talk: &Talk, strict: bool) -> (Case, Judgement) {
    let counts: Vec<_> = talk
        .findings
        .iter()
        .filter(|one| one.level == WireLevel::Must || strict && one.level == WireLevel::Should)
        .collect();
    let mut clauses: Vec<&'static str> = Vec::new();
    for finding in &counts {
        if !clauses.contains(&finding.clause) {
            clauses.push(finding.clause);
        }
    }
    let case = Case::observed(&format!("provider/{}", number + 1), &about(talk), &clauses);
    let verdict = if counts.is_empty() { Verdict::Pass } else { Verdict::Fail };
    let note: Vec<String> = counts.iter().map(|finding| format!("{}: {}", finding.clause, finding.what)).collect();
    let mut judgement = Judgement::new(verdict, note.join("\n"));
    judgement.broken = clauses;
    (case, judgement)
}

// The view of conversations while they go on: a line each on a terminal, and what is found as it is found.

/// How many conversations have a line at the same time: those that were active last.
const LINES: usize = 12;

/// The view.
pub(super) struct LiveView {
    quiet: bool,
    bars: Option<MultiProgress>,
    lines: BTreeMap<usize, ProgressBar>,
}

impl LiveView {
    pub(super) fn new(quiet: bool) -> Self {
        let bars = progress::target().filter(|_| !quiet).map(MultiProgress::with_draw_target);
        Self { quiet, bars, lines: BTreeMap::new() }
    }

    /// Shows what is new. `talks` gives all conversations.
    pub(super) fn show(&mut self, news: &[News], talks: impl FnOnce() -> Vec<Talk>) {
        if self.quiet || news.is_empty() {
            return;
        }
        for News { conversation, findings } in news {
            for finding in findings {
                let style = if finding.level == WireLevel::Must { BAD } else { WARNING };
                let what = visible(&finding.what);
                let line = format!("conversation {}: {} {what}", conversation + 1, styled(style, finding.clause));
                match &self.bars {
                    Some(bars) => bars.suspend(|| print(&format!("{line}\n"))),
                    None => print(&format!("{line}\n")),
                }
            }
        }
        if self.bars.is_some() {
            let talks = talks();
            for News { conversation, .. } in news {
                if let Some(talk) = talks.get(*conversation) {
                    self.line(*conversation).set_message(format!("conversation {}: {}", conversation + 1, about(talk)));
                }
            }
        }
    }

    /// The line of a conversation.
    fn line(&mut self, conversation: usize) -> &ProgressBar {
        if self.lines.len() >= LINES
            && !self.lines.contains_key(&conversation)
            && let Some((_, oldest)) = self.lines.pop_first()
        {
            oldest.finish_and_clear();
        }
        let bars = &self.bars;
        self.lines.entry(conversation).or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
            let bar = bars.as_ref().map_or_else(|| bar.clone(), |bars| bars.add(ProgressBar::no_length()));
            match ProgressStyle::with_template("{spinner} {wide_msg}") {
                Ok(style) => bar.with_style(style),
                Err(_) => bar,
            }
        })
    }

    /// Takes the lines away.
    pub(super) fn close(&mut self) {
        self.lines.values().for_each(ProgressBar::finish_and_clear);
        self.lines.clear();
    }
}
