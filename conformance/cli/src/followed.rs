//! A run that is followed: how far it is, and what is recorded of it.

use crate::{Stop, not_writable, progress};
use indicatif::ProgressBar;
use std::collections::HashSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use threadspec_judge::corpus::Case;
use threadspec_judge::protocol::Request;
use threadspec_judge::verdict::{Judgement, Outcome};
use threadspec_report::terminal::complain;
use threadspec_runner::{Recorder, Watch};

/// Shows how far a run is, as a bar on a terminal, elsewhere as a line now and then, and records it.
pub(crate) struct Followed {
    bar: ProgressBar,
    is_silent: bool,
    began: Instant,
    /// When the last line was written.
    said: Duration,
    /// How many cases there are.
    of: usize,
    ended: HashSet<String>,
    failed: HashSet<String>,
    strict: bool,
    recorder: Option<(PathBuf, Recorder)>,
}

impl Followed {
    /// Follows a run of so many cases.
    pub(crate) fn new(is_silent: bool, strict: bool, of: usize, recorder: Option<(PathBuf, Recorder)>) -> Self {
        let bar = if is_silent {
            ProgressBar::hidden()
        } else {
            progress::bar(Some(of as u64), "{bar:20} {pos}/{len} {wide_msg}")
        };
        let (ended, failed) = (HashSet::new(), HashSet::new());
        Self { bar, is_silent, began: Instant::now(), said: Duration::ZERO, of, ended, failed, strict, recorder }
    }

    /// Ends the view and the recording.
    pub(crate) fn close(self, shutdown: &[String]) -> Result<(), Stop> {
        self.bar.finish_and_clear();
        self.recorder
            .map_or(Ok(()), |(path, recorder)| recorder.close(shutdown).map_err(|error| not_writable(&path, &error)))
    }
}

impl Watch for Followed {
    fn result(&mut self, case: &Case, judgement: &Judgement) {
        if self.is_silent {
            return;
        }
        if judgement.counts_against(case, self.strict) {
            self.failed.insert(case.id.clone());
        }
        if self.ended.insert(case.id.clone()) {
            self.bar.inc(1);
        }
        let failed = self.failed.len();
        self.bar.set_message(format!("{failed} failed  {}", case.id));
        let elapsed = self.began.elapsed();
        if self.bar.is_hidden() && elapsed >= self.said + progress::SAID_EVERY {
            self.said = elapsed;
            complain(&format!("{} s: {}/{} cases  {failed} failed", elapsed.as_secs(), self.ended.len(), self.of));
        }
    }

    fn hears_outcomes(&self) -> bool {
        self.recorder.is_some()
    }

    fn outcome(&mut self, case: &Case, step: usize, request: &Request, outcome: &Outcome) {
        if let Some((_, recorder)) = &mut self.recorder {
            recorder.record(case, step, request, outcome);
        }
    }
}
