//! Finds the requests before a case that fails only after others: without them, nobody could see it fail again.

use super::campaign::{Campaign, Failures};
use super::draw::{Draw, Relation};
use super::probe::{FailedCase, Key, Probed, SHRINK_TIME, SHRINK_TRIES};
use super::smaller_session;
use crate::generate::RequestPlan;
use proptest::strategy::ValueTree;
use std::ops::Range;
use std::time::Instant;
use threadspec_golden::clause;
use threadspec_judge::json::read;
use threadspec_judge::protocol::{JudgeProfile, Op};
use threadspec_judge::verdict::Unready;

/// At most so many of the requests before it are asked again.
const MOST_EARLIER: usize = 8;

impl Campaign<'_> {
    /// The smallest case where none fails alone: the reply depends on what was asked before, which the case gets, if that can be found.
    ///
    /// In profile `universal` it keeps the name of what is broken, unless the judge sees that something of another run is in this one:
    /// a case that expects anything else would pass.
    pub(super) fn only_after_others(&self, failures: &Failures) -> Option<(Range<u64>, FailedCase)> {
        let (cases, as_it_came) = failures.as_it_came()?;
        let found = self.with_what_came_before(&as_it_came, cases.start).unwrap_or_else(|why| {
            self.give_up(why);
            None
        });
        let is_found = found.is_some();
        let mut failure = found.unwrap_or_else(|| FailedCase { after: Vec::new(), ..as_it_came });
        if self.settings.profile != JudgeProfile::Universal || !is_found {
            let is_universal = self.settings.profile == JudgeProfile::Universal;
            failure.key.clause = if is_universal { clause::AGENT_INDEPENDENT } else { clause::MSG_PURE };
            "only after other requests".clone_into(&mut failure.key.what);
        }
        failure.note.insert_str(0, "asked alone, it is answered as it should be\n");
        Some((0..cases.end, failure))
    }

    /// The case behind as few and as small earlier requests as it fails after.
    fn with_what_came_before(&self, failure: &FailedCase, index: u64) -> Result<Option<FailedCase>, Unready> {
        let Key { op, .. } = failure.key;
        let earlier = self.asked_before(op, index, &failure.input)?;
        let sizes = [1, 2, 4, MOST_EARLIER].map(|size| size.min(earlier.len()));
        let mut found = None;
        for size in sizes.into_iter().filter(|size| *size > 0) {
            let after = &earlier[earlier.len() - size..];
            // What the judge knows to be another run's says more than what comes of that.
            let clauses = [clause::AGENT_INDEPENDENT, failure.key.clause];
            let failures = self.ask_after(op, after, &failure.input)?;
            found = clauses
                .iter()
                .find_map(|clause| failures.iter().find(|again| again.key.clause == *clause))
                .map(|again| FailedCase { after: after.to_vec(), ..again.clone() });
            if found.is_some() {
                break;
            }
        }
        found.map(|found| self.smaller_after(found)).transpose()
    }

    /// Lists the earlier requests to the testee of a case, of the same operation only: the last one last.
    fn asked_before(&self, op: Op, index: u64, input: &str) -> Result<Vec<String>, Unready> {
        let ops = &self.settings.ops;
        let draw = self.draw(op)?;
        let place = ops.iter().position(|known| *known == op).unwrap_or_default();
        let case = index * ops.len() as u64 + place as u64;
        let of_worker = (1..).map_while(|back| case.checked_sub(self.settings.jobs * back));
        let earlier = of_worker
            .take_while(|case| *case >= self.settings.cases.start)
            .map(|case| Draw::place(ops, case))
            .filter(|(other, _)| *other == op)
            .filter_map(|(_, index)| Some(draw.plan(op, index)?.current().input()));
        let mut asked: Vec<String> = earlier.take(MOST_EARLIER).collect();
        asked.reverse();
        if Relation::of(op, index) == Relation::Again {
            let last = asked.last().cloned();
            asked.push(input.to_owned());
            asked.extend(last);
        }
        Ok(asked)
    }

    /// How a testee fails an input that it is asked behind others.
    fn ask_after(&self, op: Op, after: &[String], input: &str) -> Result<Vec<FailedCase>, Unready> {
        let mut probe = self.probe()?;
        let mut ask = |input: &str| probe.probe(op, Relation::Reply, &RequestPlan::Written(op, input.to_owned()));
        for input in after {
            drop(ask(input));
        }
        let probed = ask(input);
        probe.testee.finish();
        Ok(if let Probed::Failed(failures) = probed { failures } else { Vec::new() })
    }

    /// Takes away earlier requests that are not needed; of sessions also what is not needed of each.
    fn smaller_after(&self, mut found: FailedCase) -> Result<FailedCase, Unready> {
        let (started, key) = (Instant::now(), found.key.clone());
        let mut unable = None;
        let mut fails = |after: &[String], input: &str| {
            if unable.is_some() || started.elapsed() > SHRINK_TIME {
                return None;
            }
            let failures = self.ask_after(key.op, after, input).map_err(|why| unable = Some(why)).ok()?;
            let own = failures.into_iter().find(|failure| failure.key == key)?;
            Some(FailedCase { after: after.to_vec(), ..own })
        };
        for place in (0..found.after.len()).rev() {
            let mut fewer = found.after.clone();
            fewer.remove(place);
            if !fewer.is_empty()
                && let Some(smaller) = fails(&fewer, &found.input)
            {
                found = smaller;
            }
        }
        if key.op == Op::Session {
            let mut smallest = |input: &str, found: &mut FailedCase, place: Option<usize>| {
                let Ok(input) = read(input) else { return };
                smaller_session::smallest(&input, SHRINK_TRIES, &mut |form| {
                    let (mut after, mut input) = (found.after.clone(), found.input.clone());
                    let changed = place.map_or(&mut input, |place| &mut after[place]);
                    form.clone_into(changed);
                    let Some(smaller) = fails(&after, &input) else { return false };
                    *found = smaller;
                    true
                });
            };
            for place in 0..found.after.len() {
                smallest(&found.after[place].clone(), &mut found, Some(place));
            }
            smallest(&found.input.clone(), &mut found, None);
        }
        unable.map_or(Ok(found), Err)
    }
}
