//! Makes one finding of each cause, and finds the requests before a case without which it does not fail.

use super::campaign::{Campaign, Failures};
use super::draw::{Draw, Relation};
use super::probe::{FailedCase, Key, Probed, SHRINK_TIME, SHRINK_TRIES};
use super::simpler::blank;
use super::{FuzzFinding, simpler};
use crate::generate::RequestPlan;
use proptest::strategy::ValueTree;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::time::Instant;
use threadspec_golden::clause;
use threadspec_judge::corpus::{Mismatch, NOTHING};
use threadspec_judge::json::read;
use threadspec_judge::protocol::{JudgeProfile, Op};
use threadspec_judge::verdict::Unready;

/// The effect of a wrong answer on the expected one, without its surroundings.
struct Deviation {
    /// Something is missing as a whole.
    gone: bool,
    lost: BTreeSet<char>,
    added: BTreeSet<char>,
}

impl Deviation {
    fn between(expected: &str, actual: &str) -> Self {
        let mut balance: HashMap<char, i64> = HashMap::new();
        expected.chars().for_each(|c| *balance.entry(c).or_default() += 1);
        actual.chars().for_each(|c| *balance.entry(c).or_default() -= 1);
        let of_sign = |sign: i64| balance.iter().filter(|(_, count)| count.signum() == sign).map(|(c, _)| *c).collect();
        Self { gone: is_gone(expected, actual), lost: of_sign(1), added: of_sign(-1) }
    }

    fn is_like(&self, other: &Self) -> bool {
        self.gone && other.gone || self.lost == other.lost && self.added == other.added
    }
}

/// A text with white space and digits of any kind for one another, and without the escapes of a document.
fn rough(text: &str) -> String {
    let escapes = [
        ("&#13;", "\r"),
        ("&#10;", "\n"),
        ("&#9;", "\t"),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&apos;", "'"),
    ];
    let text = escapes.iter().fold(text.to_owned(), |text, (escape, character)| text.replace(escape, character));
    text.replace("&amp;", "&").chars().map(|c| if c.is_ascii_digit() { '0' } else { blank(c) }).collect()
}

/// Returns whether something is missing as a whole: a message, or the text of an element.
fn is_gone(expected: &str, actual: &str) -> bool {
    if actual == NOTHING {
        return true;
    }
    let before = expected.chars().zip(actual.chars()).take_while(|(one, other)| one == other);
    let before: usize = before.map(|(c, _)| c.len_utf8()).sum();
    let behind = &actual[before..];
    behind.starts_with("</event>") && actual[..before].ends_with('>') && expected.ends_with(behind)
}

/// How well a simpler failure explains another one: the less the better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Likeness {
    /// The answer is changed in the same way.
    Same,
    /// So it is, if one white space or number is as good as another.
    Rough,
    /// There is nothing to compare.
    Unknown,
}

/// How well a failure of a simpler form explains another one; `None` if it does not.
pub(super) fn likeness(simpler: &FailedCase, failure: &FailedCase) -> Option<Likeness> {
    if simpler.key.what != failure.key.what {
        return None;
    }
    // What a run does wrong looks otherwise in its events than in its messages.
    let in_run = || (simpler.key.op == Op::Tools && failure.key.op == Op::Loop).then_some(Likeness::Unknown);
    likeness_of_changes(simpler.mismatch.as_ref(), failure.mismatch.as_ref()).or_else(in_run)
}

fn likeness_of_changes(one: Option<&Mismatch>, other: Option<&Mismatch>) -> Option<Likeness> {
    let (Some(one), Some(other)) = (one, other) else {
        return (one.is_none() && other.is_none()).then_some(Likeness::Unknown);
    };
    let [one, other] = [one, other].map(|mismatch| mismatch.sides.shown());
    let exact = |[expected, actual]: [&str; 2]| Deviation::between(expected, actual);
    let roughly = |[expected, actual]: [&str; 2]| Deviation::between(&rough(expected), &rough(actual));
    if exact(one).is_like(&exact(other)) {
        Some(Likeness::Same)
    } else {
        roughly(one).is_like(&roughly(other)).then_some(Likeness::Rough)
    }
}

/// How the simpler forms of a failing input fail.
pub(super) type Leads = BTreeMap<Key, Likeness>;

/// The key by which findings are grouped: the clause, and the verdict if there is no answer.
type FindingGroup = (&'static str, String);

fn group(key: &Key) -> FindingGroup {
    // Relations between replies break their clauses in any way.
    let is_verdict = ["crash", "timeout", "garbage"].contains(&&*key.what);
    (key.clause, if is_verdict { key.what.clone() } else { String::new() })
}

/// One finding for each cause. A finding whose simpler forms fail in the same way joins the one that these are, and findings that break
/// the same clause in several operations are one. It shows the most basic operation.
pub(super) fn by_cause(
    findings: &BTreeMap<Key, FuzzFinding>,
    leads: &BTreeMap<Key, Leads>,
    cases: &BTreeMap<Op, u64>,
) -> Vec<FuzzFinding> {
    let cause_of = |key: &Key| {
        // Two findings that do not look alike: a sign that nearly every case shows cannot explain the other, nor can one that this finding
        // itself explains.
        let is_rare = |other: &Key| {
            let is_rare = |finding: &FuzzFinding| finding.count * 2 <= cases.get(&other.op).copied().unwrap_or(0);
            let is_explained = leads.get(other).is_some_and(|leads| leads.contains_key(key));
            findings.get(other).is_some_and(is_rare) && !is_explained
        };
        let leads = leads
            .get(key)?
            .iter()
            .filter(|&(other, likeness)| other != key && (*likeness != Likeness::Unknown || is_rare(other)));
        let best = leads.min_by_key(|&(other, likeness)| {
            let length = findings.get(other).map_or(usize::MAX, |finding| finding.input.len());
            let is_known = findings.keys().any(|known| group(known) == group(other));
            (*likeness, !is_known, other.op, length)
        });
        best.map(|(other, _)| other)
    };
    let root_of = |key: &Key| {
        let mismatch = |key: &Key| findings.get(key).and_then(|finding| finding.mismatch.as_ref());
        let mut way = vec![key.clone()];
        while let Some(next) = cause_of(&way[way.len() - 1]) {
            // What explains the next one explains this one only if they are alike.
            if likeness_of_changes(mismatch(&way[way.len() - 1]), mismatch(key)).is_none() {
                break;
            }
            if let Some(at) = way.iter().position(|known| known == next) {
                // They explain each other: the most frequent one stands for all.
                let rank = |key: &Key| (key.op, findings.get(key).map(|finding| Reverse(finding.count)), key.clone());
                let circle = way.split_off(at).into_iter().filter(|key| findings.contains_key(key));
                return circle.min_by_key(rank).unwrap_or_else(|| key.clone());
            }
            way.push(next.clone());
        }
        way.swap_remove(way.len() - 1)
    };
    let mut found: BTreeMap<FindingGroup, Vec<(Key, FuzzFinding)>> = BTreeMap::new();
    for (key, finding) in findings {
        found.entry(group(&root_of(key))).or_default().push((key.clone(), finding.clone()));
    }
    let one = |(root, mut findings): (FindingGroup, Vec<(Key, FuzzFinding)>)| {
        findings
            .sort_by_key(|(key, finding)| (group(key) != root, key.op, Reverse(finding.count), finding.input.len()));
        findings.into_iter().map(|(_, finding)| finding).reduce(|mut first, other| {
            first.absorb(other);
            first
        })
    };
    let mut by_clause: BTreeMap<(&str, String), FuzzFinding> = BTreeMap::new();
    for finding in found.into_iter().filter_map(one) {
        let place = by_clause.entry((finding.clause, finding.what.clone()));
        place.and_modify(|known| known.absorb(finding.clone())).or_insert(finding);
    }
    by_clause.into_values().collect()
}

// Finds the requests before a case that fails only after others: without them, nobody could see it fail again.

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
                simpler::smallest(&input, SHRINK_TRIES, &mut |form| {
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
