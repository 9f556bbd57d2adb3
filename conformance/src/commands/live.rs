//! The view of conversations while they go on: a line each on a terminal, and what is found as it is found.

use super::talk_verdict::about;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::BTreeMap;
use threadspec_cli::progress;
use threadspec_judge::text::visible;
use threadspec_provider::{News, Talk, WireLevel};
use threadspec_report::terminal::{BAD, WARNING, print, styled};

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
