//! Runs one case against a testee, judges the reply, and makes a failing case small. In profile `universal` it judges by properties.

use super::cause::{Leads, likeness};
use super::draw::{Relation, half_and_whole, with_unknown_fields, with_wrong_event};
use super::simpler;
use crate::generate::{Mode, RequestPlan};
use proptest::strategy::ValueTree;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use threadspec::oracle::provider_rules;
use threadspec_golden::clause;
use threadspec_judge::compare::{Difference, answering_clause, compare};
use threadspec_judge::corpus::{Accepted, Mismatch, Sides};
use threadspec_judge::json::read;
use threadspec_judge::protocol::{JudgeProfile, Op, Reply, Request};
use threadspec_judge::reference::Reference;
use threadspec_judge::universal::{Abilities, AgentReply, Finding, Holding, Others, Property, Ruling};
use threadspec_judge::verdict::{Outcome, Unready, Verdict};
use threadspec_judge::{Error, session, universal};
use threadspec_runner::Testee;

/// At most so many smaller forms of a failing case are tried, and for so long; so long, too, what is simpler than the smallest.
pub(super) const SHRINK_TRIES: usize = 400;
pub(super) const SHRINK_TIME: Duration = Duration::from_secs(15);

const AGAIN: &str = "the same input again, after another one";

/// The common part of failures that are reported as one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) op: Op,
    pub(super) clause: &'static str,
    /// The verdict or the broken relation; empty for an answer that is merely wrong.
    pub(super) what: String,
}

/// The outcome of a case.
pub(super) enum Probed {
    Sound,
    Unsupported,
    Interrupted,
    /// This program lacks the means to start it again.
    Unable(Unready),
    /// Once for each clause that is broken.
    Failed(Vec<FailedCase>),
}

/// A case that failed.
#[derive(Clone, Debug)]
pub(super) struct FailedCase {
    pub(super) key: Key,
    pub(super) verdict: Verdict,
    /// The input that shows it.
    pub(super) input: String,
    /// The reference's answer; `None` where properties are judged.
    pub(super) expected: Option<Reply>,
    /// The inputs that were asked before, if the failure depends on them.
    pub(super) after: Vec<String>,
    pub(super) note: String,
    pub(super) mismatch: Option<Mismatch>,
}

/// A failing case made small.
pub(super) struct Shrunk {
    pub(super) plan: RequestPlan,
    pub(super) failure: FailedCase,
    /// How still simpler forms of it failed.
    simpler: Vec<FailedCase>,
}

/// A reply that is as it should be.
enum LineOrReply {
    /// The reference's own text, which is read only where it is needed.
    Line(String),
    /// Another one that is accepted.
    Reply(Reply),
}

/// A testee that is being asked.
pub(super) struct Probe<'a> {
    pub(super) testee: Box<dyn Testee + 'a>,
    pub(super) profile: JudgeProfile,
    last_id: i64,
    /// The request of the case before.
    earlier: Option<(Op, String)>,
    /// The last request of each operation: what a case of a corpus may have before it.
    earlier_of: BTreeMap<Op, String>,
    /// How many outputs more were the reference's text than were another. The text is made only while it is of use.
    alike: i64,
}

/// How many outputs may differ from the reference's text before it is no longer made.
const UNLIKE: i64 = -20;

impl<'a> Probe<'a> {
    pub(super) fn new(testee: Box<dyn Testee + 'a>, profile: JudgeProfile) -> Self {
        Self { testee, profile, last_id: 0, earlier: None, earlier_of: BTreeMap::new(), alike: 0 }
    }

    fn request(&mut self, op: Op, input: &str) -> Request {
        self.last_id += 1;
        Request::new(self.last_id, op, self.profile, input)
    }

    /// The input of the case that was probed last.
    pub(super) fn last_input(&self) -> &str {
        self.earlier.as_ref().map_or("", |(_, input)| input)
    }

    /// Asks and judges, and reads the reply. One that fails is an `Err`, and so is one that cannot be judged.
    fn answer(&mut self, op: Op, input: &str) -> Result<Reply, Probed> {
        Ok(match self.hear(op, input)? {
            LineOrReply::Reply(reply) => reply,
            LineOrReply::Line(line) => {
                let read = Reply::read_for(self.profile, line.as_bytes());
                read.map_err(|why| Probed::Unable(Unready::Runner(why.to_string())))?.1
            }
        })
    }

    /// The reference's output, as text that a testee's can be compared with while it is read.
    fn expected(&self, request: &Request) -> Accepted {
        if self.profile == JudgeProfile::Universal || self.alike < UNLIKE {
            return Accepted::default();
        }
        Reference::output(request).map_or_else(Accepted::default, |output| Accepted::Texts([output].into()))
    }

    /// Asks and judges.
    fn hear(&mut self, op: Op, input: &str) -> Result<LineOrReply, Probed> {
        let request = self.request(op, input);
        let is_universal = self.profile == JudgeProfile::Universal;
        let clause = if is_universal { answering(op) } else { answering_clause(op) };
        let earlier =
            if is_universal { self.earlier_of.get(&op) } else { self.earlier.as_ref().map(|(_, input)| input) };
        let earlier = earlier.cloned();
        let failed = |verdict, what: String, expected| {
            let (key, input, after) = (Key { op, clause, what }, input.to_owned(), Vec::new());
            FailedCase { key, verdict, input, expected, after, note: String::new(), mismatch: None }
        };
        let expected = self.expected(&request);
        let outcome = self.testee.ask_for(&request, expected);
        let (verdict, note) = match outcome {
            Outcome::Interrupted => return Err(Probed::Interrupted),
            Outcome::Accepted(line) => {
                self.alike = self.alike.saturating_add(1);
                return Ok(LineOrReply::Line(line));
            }
            Outcome::Reply(Reply::Unsupported(_)) => return Err(Probed::Unsupported),
            Outcome::Reply(reply) if is_universal => {
                let abilities = self.testee.hello().abilities;
                let JudgedReply::Clauses(broken) = judged(op, input, earlier.as_deref(), abilities, &reply) else {
                    return Err(Probed::Unsupported);
                };
                let failure = |BrokenClause { difference: Difference { clause, note, .. }, part }| {
                    let mut failure = failed(Verdict::Fail, part.to_owned(), None);
                    failure.key.clause = clause;
                    FailedCase { note, ..failure }
                };
                let failures: Vec<FailedCase> = broken.into_iter().map(failure).collect();
                return if failures.is_empty() { Ok(LineOrReply::Reply(reply)) } else { Err(Probed::Failed(failures)) };
            }
            Outcome::Reply(reply) => {
                self.alike -= 1;
                let (expected, difference) = compare(&request, &reply);
                let Some(Difference { clause, note, mismatch }) = difference else {
                    return Ok(LineOrReply::Reply(reply));
                };
                let rejected = matches!(expected, Reply::Reject { .. }) || matches!(reply, Reply::Reject { .. });
                let verdict = if rejected { Verdict::Rejected } else { Verdict::Fail };
                let mut failure = failed(verdict, String::new(), Some(expected));
                failure.key.clause = clause;
                return Err(Probed::Failed(vec![FailedCase { note, mismatch, ..failure }]));
            }
            Outcome::NotReady(why @ (Unready::Runner(_) | Unready::Shortage(_))) => return Err(Probed::Unable(why)),
            Outcome::Crash(what) | Outcome::NotReady(Unready::Testee(what)) => (Verdict::Crash, what),
            Outcome::Timeout(what) => (Verdict::Timeout, what),
            Outcome::Garbage(what) | Outcome::Stray { what, .. } => (Verdict::Garbage, what),
        };
        let expected = (!is_universal).then(|| compare(&request, &Reply::Unsupported(String::new())).0);
        Err(Probed::Failed(vec![FailedCase { note, ..failed(verdict, verdict.to_string(), expected) }]))
    }

    /// Puts a case to the testee.
    pub(super) fn probe(&mut self, op: Op, check: Relation, plan: &RequestPlan) -> Probed {
        let input = plan.input();
        let probed = match self.relation(op, check, plan, &input) {
            Ok(None) => Probed::Sound,
            Ok(Some(failure)) => Probed::Failed(vec![failure]),
            Err(probed) => probed,
        };
        self.earlier_of.insert(op, input.clone());
        self.earlier = Some((op, input));
        probed
    }

    fn relation(
        &mut self,
        op: Op,
        check: Relation,
        plan: &RequestPlan,
        input: &str,
    ) -> Result<Option<FailedCase>, Probed> {
        if let Relation::Refused(how) = check {
            return self.hear(op, &with_wrong_event(input, how)).map(|_| None);
        }
        if check == Relation::Reply {
            return self.hear(op, input).map(|_| None);
        }
        let reply = self.answer(op, input)?;
        let broken = |clause, what: &str, input: &str, expected: &Reply, actual: &Reply| {
            let [expected_line, actual_line] = [expected, actual].map(|reply| reply.line(0));
            let mismatch =
                Mismatch { path: String::new(), sides: Sides::Texts { expected: expected_line, actual: actual_line } };
            let key = Key { op, clause, what: what.to_owned() };
            let (verdict, input, expected) = (Verdict::Fail, input.to_owned(), Some(expected.clone()));
            let note = what.to_owned();
            Some(FailedCase { key, verdict, input, expected, after: Vec::new(), note, mismatch: Some(mismatch) })
        };
        let broken_relation = match check {
            Relation::Reply | Relation::Refused(_) => Ok(None),
            Relation::Again => {
                if let Some((op, earlier)) = self.earlier.clone() {
                    let _ = self.hear(op, &earlier);
                }
                let again = self.answer(op, input)?;
                // Ids may be drawn at random: each run is judged on its own.
                Ok(if again == reply || self.profile == JudgeProfile::Universal {
                    None
                } else {
                    broken(clause::MSG_PURE, AGAIN, input, &reply, &again)
                })
            }
            Relation::UnknownFields => {
                let input = with_unknown_fields(plan, input);
                let other = self.answer(op, &input)?;
                let what = "unknown fields";
                Ok(if other == reply { None } else { broken(clause::INP_2, what, &input, &reply, &other) })
            }
            Relation::Growing => {
                // The literal profile may name a result after a call that comes later.
                let Some([half, whole]) = half_and_whole(input).filter(|_| self.profile == JudgeProfile::Hardened)
                else {
                    return Ok(None);
                };
                let (before, after) = (self.answer(op, &half)?, self.answer(op, &whole)?);
                let (Reply::Ok(Value::String(first)), Reply::Ok(Value::String(all))) = (&before, &after) else {
                    return Ok(None);
                };
                let grown = threadspec::oracle::append_only(first, all);
                let what = "the document of half the events is not the beginning of the document of all";
                Ok(grown.err().and_then(|_| broken(clause::ATT_NAME_NEAREST, what, &whole, &before, &after)))
            }
            Relation::BothModes => {
                let RequestPlan::Loop(script) = plan else { return Ok(None) };
                let inputs = [Mode::Standard, Mode::Xml].map(|mode| script.loop_input_in(mode));
                let [standard, xml] = [self.answer(op, &inputs[0])?, self.answer(op, &inputs[1])?];
                let run = |reply: &Reply| match reply {
                    Reply::Ok(run) => ["events", "response", "iterations", "stopReason"].map(|name| run[name].clone()),
                    _ => Default::default(),
                };
                let what = "another context mode";
                Ok(if run(&standard) == run(&xml) {
                    None
                } else {
                    broken(clause::LOOP_MODES, what, &inputs[1], &standard, &xml)
                })
            }
        };
        // No relation holds between the replies of a testee that answers the same input in another way each time.
        if let Ok(Some(failure)) = &broken_relation
            && failure.key.clause != clause::MSG_PURE
        {
            let again = self.answer(op, input)?;
            if again != reply {
                return Ok(broken(clause::MSG_PURE, AGAIN, input, &reply, &again));
            }
        }
        broken_relation
    }

    /// The smallest form of a failing case, among those tried, that fails in the same way.
    pub(super) fn shrink(
        &mut self,
        op: Op,
        check: Relation,
        tree: &mut dyn ValueTree<Value = RequestPlan>,
        key: &Key,
    ) -> Option<Shrunk> {
        if op == Op::Session {
            return self.shrink_session(check, tree.current(), key);
        }
        let started = Instant::now();
        let (mut smallest, mut simpler) = (None, Vec::new());
        for _ in 0..SHRINK_TRIES {
            let plan = tree.current();
            let mut failures = match self.probe(op, check, &plan) {
                Probed::Interrupted | Probed::Unable(_) => break,
                Probed::Failed(failures) => failures,
                _ => Vec::new(),
            };
            let own = failures.iter().position(|failure| failure.key == *key);
            let next = own.map(|own| failures.swap_remove(own));
            if next.is_none() {
                simpler.extend(failures);
            }
            // The first form is the case itself: what does not fail alone cannot be made smaller.
            let next = if let Some(failure) = next {
                smallest = Some((plan, failure));
                // Only simpler forms are tried from here on.
                simpler.clear();
                tree.simplify()
            } else {
                smallest.is_some() && tree.complicate()
            };
            if !next || started.elapsed() > SHRINK_TIME {
                break;
            }
        }
        let (plan, failure) = smallest?;
        // A tool that nobody calls is no part of the cause.
        let called = simpler::with_called_tools(&failure.input).map(|input| RequestPlan::Written(op, input));
        let found = called.and_then(|plan| Some((self.failure_of(op, check, &plan, key)?, plan)));
        let (failure, plan) = found.unwrap_or((failure, plan));
        Some(Shrunk { plan, failure, simpler })
    }

    /// How a case fails for the same reason, if it does.
    fn failure_of(&mut self, op: Op, check: Relation, plan: &RequestPlan, key: &Key) -> Option<FailedCase> {
        match self.probe(op, check, plan) {
            Probed::Failed(failures) => failures.into_iter().find(|failure| failure.key == *key),
            _ => None,
        }
    }

    /// Shrinks a session, whose runs depend on each other: what goes with a run that is left out, no plan knows.
    fn shrink_session(&mut self, check: Relation, plan: RequestPlan, key: &Key) -> Option<Shrunk> {
        let started = Instant::now();
        let mut smallest =
            Shrunk { failure: self.failure_of(Op::Session, check, &plan, key)?, plan, simpler: Vec::new() };
        let Ok(input) = read(&smallest.failure.input) else { return Some(smallest) };
        simpler::smallest(&input, SHRINK_TRIES, &mut |form| {
            if started.elapsed() > SHRINK_TIME {
                return false;
            }
            let plan = RequestPlan::Written(Op::Session, form.to_owned());
            let Some(failure) = self.failure_of(Op::Session, check, &plan, key) else { return false };
            smallest = Shrunk { failure, plan, simpler: Vec::new() };
            true
        });
        Some(smallest)
    }

    /// Names a failure made small by the clause of what is special in its input, if without that the answer is right, or says how
    /// simpler forms fail.
    pub(super) fn explain(&mut self, shrunk: &mut Shrunk) -> Leads {
        let Shrunk { failure, simpler, .. } = shrunk;
        let (op, is_verdict) = (failure.key.op, failure.key.what == failure.verdict.to_string());
        if self.profile != JudgeProfile::Universal && (failure.key.what.is_empty() || is_verdict) {
            let special = simpler::without_specials(&failure.input);
            // An earlier value of a repeated key crashes a testee for what it is.
            let mut special = special.into_iter().filter(|(clause, _)| !is_verdict || *clause != clause::JSON_4);
            if let Some((clause, _)) = special.find(|(_, input)| self.hear(op, input).is_ok()) {
                failure.key.clause = clause;
                return Leads::new();
            }
        }
        simpler.extend(self.simpler(failure));
        let mut leads_to = Leads::new();
        for simpler in simpler {
            if let Some(likeness) = likeness(simpler, failure) {
                let known = leads_to.entry(simpler.key.clone()).or_insert(likeness);
                *known = likeness.min(*known);
            }
        }
        leads_to
    }

    /// How the simpler forms of a failing input fail.
    fn simpler(&mut self, failure: &FailedCase) -> Vec<FailedCase> {
        if self.profile == JudgeProfile::Universal {
            return Vec::new();
        }
        let ops = self.testee.hello().ops.iter().copied().collect();
        let (started, mut failures) = (Instant::now(), Vec::new());
        for (op, input) in simpler::forms(failure.key.op, &failure.input, failure.expected.as_ref(), &ops) {
            match self.hear(op, &input) {
                Err(Probed::Failed(simpler)) => failures.extend(simpler),
                Err(Probed::Interrupted | Probed::Unable(_)) => break,
                _ => {}
            }
            if started.elapsed() > SHRINK_TIME {
                break;
            }
        }
        failures
    }
}

// Judges replies by the properties of profile `universal`, without a reference.

/// A part of SESSION-DENIED that is only a `should`, by the name that it has in cases.
pub(super) const DENIED_REASON: &str = "session-denied-reason";

/// The clause that is broken when a valid input gets no proper answer.
pub(super) fn answering(op: Op) -> &'static str {
    if op == Op::Session { answering_clause(op) } else { clause::AGENT_GOES_ON }
}

/// Judges a reply.
pub(super) enum JudgedReply {
    /// The clauses that it breaks, each with the first finding.
    Clauses(Vec<BrokenClause>),
    /// It shows nothing.
    Unsupported,
}

/// A clause that is broken.
pub(super) struct BrokenClause {
    pub(super) difference: Difference,
    /// The part of the clause, if it is not the clause as such.
    pub(super) part: &'static str,
}

/// Judges a reply.
pub(super) fn judged(op: Op, input: &str, earlier: Option<&str>, abilities: Abilities, reply: &Reply) -> JudgedReply {
    let answer = match reply {
        Reply::Ok(output) => AgentReply::Output(output.clone()),
        Reply::Reject { message, .. } => AgentReply::Refusal(message),
        Reply::Unsupported(_) | Reply::Cut { .. } => return JudgedReply::Unsupported,
    };
    match ruling(op, input, earlier, abilities, answer) {
        Err(why) => {
            let difference = Difference::note(answering(op), format!("this is not an output of `{op}`: {why}"));
            JudgedReply::Clauses(vec![BrokenClause { difference, part: "" }])
        }
        Ok(ruling) if ruling.unsupported().is_some() => JudgedReply::Unsupported,
        Ok(ruling) => JudgedReply::Clauses(broken(&ruling)),
    }
}

fn ruling(
    op: Op,
    input: &str,
    earlier: Option<&str>,
    abilities: Abilities,
    answer: AgentReply<'_>,
) -> Result<Ruling, Error> {
    let others = Others::of(earlier);
    match op {
        Op::Session => session::judge(input, &others, abilities, answer),
        _ => universal::judge(input, &others, abilities, answer),
    }
}

fn broken(ruling: &Ruling) -> Vec<BrokenClause> {
    let mut broken: Vec<BrokenClause> = Vec::new();
    for Finding { clause, what } in ruling.findings() {
        // Each rule of an API is a part of one clause.
        let rule = provider_rules().map(|rule| rule.id).find(|rule| rule == clause);
        let (clause, part) = rule.map_or((*clause, ""), |rule| (clause::WIRE_RULES, rule));
        if broken.iter().all(|known| (known.difference.clause, known.part) != (clause, part)) {
            broken.push(BrokenClause { difference: Difference::note(clause, what.clone()), part });
        }
    }
    // It stands apart from the others, since its lack is not a breach of the clause as such.
    if let Holding::No(findings) = ruling.holds(Property::SessionDeniedReason)
        && let Some(Finding { clause, what }) = findings.first()
        && broken.iter().all(|known| known.difference.clause != *clause)
    {
        broken.push(BrokenClause { difference: Difference::note(clause, what.clone()), part: DENIED_REASON });
    }
    broken
}
