//! Judges the outcome of a case: from outcome to verdict.

mod earlier;
mod oracles;
mod outcome;

pub use earlier::Earlier;
pub use outcome::Charge;
pub use outcome::{Outcome, Unready};

use crate::Error;
use crate::compare::{OutputFault, faults};
use crate::corpus::expectation::Pattern;
use crate::corpus::mismatch::{Mismatch, Mismatches};
use crate::corpus::{Case, Expect, Level, Oracle, Severity};
use crate::json;
use crate::protocol::{JudgeProfile, Op};
use crate::protocol::{Output, Reply};
use crate::session;
use crate::text::{beginning, visible};
use crate::tolerance::{self, Asked};
use crate::universal::{self, Abilities, AgentReply, Finding, Holding, Others, Property};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::Hash;
use strum::{Display, EnumIter, EnumString, IntoEnumIterator};
use threadspec::surrogates::unmark_surrogates;
use threadspec_golden::clause;

/// A reply is kept up to this length.
const LONGEST_REPLY: usize = 64 << 10;
/// The limit for a session, which is judged as a whole.
const LONGEST_SESSION: usize = 1 << 20;
/// An output in a note is shown up to this length.
const LONGEST_NOTE: usize = 1 << 10;

/// How a case ended; in the order of the summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display, EnumIter, EnumString)]
#[strum(serialize_all = "kebab-case", parse_err_fn = unknown_verdict, parse_err_ty = Error)]
pub enum Verdict {
    /// As expected.
    Pass,
    /// The output is not the expected one.
    Fail,
    /// A refusal where an output was expected, or the other way round, or of the wrong kind.
    Rejected,
    /// The testee ended before its reply.
    Crash,
    /// No reply in time.
    Timeout,
    /// Something that is not the one reply to the request.
    Garbage,
    /// The testee does not do this, and says so.
    Unsupported,
    /// It failed, and is known to.
    KnownFailure,
    /// It passed, and was known to fail.
    UnexpectedPass,
    /// The run ended before the case.
    NotRun,
}

impl Verdict {
    /// Every verdict.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::iter()
    }

    /// Returns whether the testee did it wrong.
    pub fn is_failure(self) -> bool {
        !matches!(self, Self::Pass | Self::Unsupported | Self::UnexpectedPass | Self::NotRun)
    }

    /// Returns whether the testee did it wrong, and the file of known failures does not say so.
    pub fn is_news(self) -> bool {
        self.is_failure() && self != Self::KnownFailure
    }

    /// Returns whether it makes the testee not conformant, for a case of this level that nothing excuses.
    ///
    /// The level is about what a clause demands. Every request must get exactly one reply, so a crash counts at any level.
    pub fn counts_against(self, level: Level, strict: bool) -> bool {
        match self {
            Self::Pass | Self::Unsupported | Self::KnownFailure | Self::UnexpectedPass => false,
            Self::Fail | Self::Rejected => strict || level == Level::Must,
            Self::Crash | Self::Timeout | Self::Garbage | Self::NotRun => true,
        }
    }
}

fn unknown_verdict(name: &str) -> Error {
    Error::new(format!("there is no verdict `{name}`"))
}

/// A verdict and what it rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// The clauses that are broken, as far as the verdict rests on them, each once, as they were found. If it is empty, nothing tells them
    /// apart from those of the case.
    pub broken: Vec<&'static str>,
    /// The breaches of further `must` clauses in the same reply. They change nothing about the verdict, but the testee is not conformant.
    pub beside: Vec<Finding>,
    /// True if it says what was found beside a case, and not how the case ended.
    pub is_beside: bool,
    /// The faults with their places, whatever the values are, as far as a comparison with the reference shows them: they separate causes.
    pub faults: Vec<OutputFault>,
    /// A description of the outcome, in words; empty where the mismatches show it.
    pub note: String,
    /// Where the output differs from the expected one (from the closest, if several are accepted).
    pub mismatches: Vec<Mismatch>,
    /// How many more mismatches there are.
    pub more: usize,
    /// The reply that is not the expected one, as JSON text, shortened if it is long.
    pub actual: Option<String>,
    /// True if the case ends like this only after other requests to the same process.
    pub after_others: bool,
    /// True if it is known, and the documentation of the implementation says so: a mark beside it, which excuses nothing.
    pub documented: bool,
}

impl Judgement {
    /// A verdict without mismatches.
    pub fn new(verdict: Verdict, note: impl Into<String>) -> Self {
        Self {
            verdict,
            broken: Vec::new(),
            beside: Vec::new(),
            is_beside: false,
            faults: Vec::new(),
            note: note.into(),
            mismatches: Vec::new(),
            more: 0,
            actual: None,
            after_others: false,
            documented: false,
        }
    }

    /// The clauses of the findings beside the case, each once.
    pub fn clauses_beside(&self) -> impl Iterator<Item = &'static str> {
        once(self.beside.iter().map(|finding| finding.clause)).into_iter()
    }

    /// Returns the findings beside the case as a failure of its own: it is charged to the first clause that was found.
    pub fn of_beside(&self) -> Option<Self> {
        let note: Vec<String> = self.beside.iter().map(ToString::to_string).collect();
        let broken = self.clauses_beside().collect();
        let failure = Self { broken, is_beside: true, ..Self::new(Verdict::Fail, note.join("\n")) };
        (!note.is_empty()).then(|| Self { actual: self.actual.clone(), after_others: self.after_others, ..failure })
    }

    /// Returns whether the testee did nothing wrong, as far as this shows.
    pub fn is_sound(&self) -> bool {
        matches!(self.verdict, Verdict::Pass | Verdict::Unsupported) && self.beside.is_empty()
    }

    /// Returns whether the case makes the testee not conformant.
    pub fn counts_against(&self, case: &Case, strict: bool) -> bool {
        if self.is_beside {
            return strict || case.severity != Some(Severity::C);
        }
        self.verdict.counts_against(case.level, strict) && (strict || !self.is_excused_in(case))
    }

    /// Returns whether what was found beside the case makes the testee not conformant.
    pub fn counts_beside(&self, case: &Case, strict: bool) -> bool {
        self.of_beside().is_some_and(|beside| beside.counts_against(case, strict))
    }

    /// Returns whether the case failed, and does not count only because its input is contrived.
    pub fn is_excused(&self, case: &Case, strict: bool) -> bool {
        (self.is_beside || self.verdict.counts_against(case.level, strict)) && !self.counts_against(case, strict)
    }

    /// Severity C excuses a failure that is about the clauses of the case alone. A run that breaks another one, or whose output cannot be
    /// read, was not asked for anything contrived there.
    fn is_excused_in(&self, case: &Case) -> bool {
        let is_own = |broken: &&str| case.clauses.iter().any(|clause| clause == broken);
        self.verdict == Verdict::Fail
            && case.severity == Some(Severity::C)
            && !self.broken.is_empty()
            && self.broken.iter().all(is_own)
    }

    fn with(self, Mismatches { kept: mismatches, more, .. }: Mismatches) -> Self {
        Self { mismatches, more, ..self }
    }
}

/// The terms that judge a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The profile.
    pub profile: JudgeProfile,
    /// The abilities that the testee declares for profile `universal`.
    pub abilities: Abilities,
}

impl<P: Into<JudgeProfile>> From<P> for Terms {
    fn from(profile: P) -> Self {
        Self { profile: profile.into(), abilities: Abilities::default() }
    }
}

/// Judges the outcome of a case.
pub fn judge(case: &Case, terms: impl Into<Terms>, outcome: Outcome) -> Judgement {
    match outcome {
        Outcome::Reply(reply) if is_expected(case, &reply) => Judgement::new(Verdict::Pass, ""),
        Outcome::Reply(reply) => {
            // Kept before judging, which consumes the reply; a copy of a large one would take too much memory.
            let longest = if case.op == Op::Session { LONGEST_SESSION } else { LONGEST_REPLY };
            let shown = json::shortened(&reply, longest);
            let terms = terms.into();
            let is_universal = terms.profile == JudgeProfile::Universal;
            let copy = (!is_universal && shown.len() <= longest).then(|| reply.clone());
            // Whichever clause a case is about, a program that refuses its runs has one fault.
            let refused = match &reply {
                Reply::Reject { message, .. } if is_universal => {
                    vec![OutputFault::refused(clause::AGENT_GOES_ON, "input", message)]
                }
                _ => Vec::new(),
            };
            let judgement = judge_reply(case, terms, reply);
            if judgement.is_sound() {
                return judgement;
            }
            let judgement = Judgement { actual: Some(unmark_surrogates(&shown).into_owned()), ..judgement };
            if !judgement.verdict.is_failure() {
                return judgement;
            }
            let Some(reply) = copy else { return with_faults(judgement, case, refused) };
            with_faults(as_sent(judgement, case, &reply), case, faults(&case.request(0, terms.profile), &reply))
        }
        Outcome::Accepted(..) => Judgement::new(Verdict::Pass, ""),
        Outcome::Crash(what) => Judgement::new(Verdict::Crash, what),
        Outcome::Timeout(what) => Judgement::new(Verdict::Timeout, what),
        Outcome::Garbage(what) | Outcome::Stray { what, .. } => Judgement::new(Verdict::Garbage, what),
        Outcome::NotReady(why) => Judgement::new(Verdict::NotRun, why.to_string()),
        Outcome::Interrupted => Judgement::new(Verdict::NotRun, "interrupted"),
    }
}

/// A judgement whose mismatches show what was sent, where what is tolerated was settled before the comparison.
fn as_sent(mut judgement: Judgement, case: &Case, reply: &Reply) -> Judgement {
    let (Expect::Output(patterns), Reply::Ok(output), false) = (case.expect(), reply, judgement.mismatches.is_empty())
    else {
        return judgement;
    };
    let closest = patterns.iter().map(|pattern| pattern.mismatches(output)).min_by_key(|found| found.distance);
    let sent = closest.unwrap_or_default().kept;
    for mismatch in &mut judgement.mismatches {
        let [expected, _] = mismatch.sides.shown();
        let same = |other: &&Mismatch| other.path == mismatch.path && other.sides.shown()[0] == expected;
        if let Some(other) = sent.iter().find(same) {
            mismatch.sides = other.sides.clone();
        }
    }
    judgement
}

/// A judgement with the faults of the reply. A row of a covering array is about everything that it has, so it is charged by what differs.
fn with_faults(judgement: Judgement, case: &Case, mut faults: Vec<OutputFault>) -> Judgement {
    if let (true, Some(mismatch)) = (faults.is_empty(), judgement.mismatches.first()) {
        let own = case.clauses.first().cloned().unwrap_or_default();
        let found = OutputFault::of_mismatch(own, mismatch);
        faults.push(if judgement.verdict == Verdict::Rejected {
            OutputFault { place: "a part of the message of a refusal".to_owned(), ..found }
        } else {
            found
        });
    }
    let clause = |fault: &OutputFault| match fault.clause {
        Cow::Borrowed(clause) => Some(clause),
        Cow::Owned(_) => None,
    };
    let is_open = case.is_row() && judgement.broken.is_empty();
    let broken = if is_open { once(faults.iter().filter_map(clause)) } else { judgement.broken };
    Judgement { broken, faults, ..judgement }
}

/// Returns whether a reply matches as it is, which is the common case and needs no tolerance.
fn is_expected(case: &Case, reply: &Reply) -> bool {
    matches!((case.expect(), reply), (Expect::Output(patterns), Reply::Ok(output))
        if patterns.iter().any(|pattern| pattern.matches(output)))
}

fn judge_reply(case: &Case, terms: Terms, reply: Reply) -> Judgement {
    match (case.expect(), reply) {
        (_, Reply::Unsupported(why)) => Judgement::new(Verdict::Unsupported, beginning(&why, LONGEST_NOTE)),
        (_, Reply::Cut { .. }) => Judgement::new(Verdict::Garbage, "it says `cut`, which no script asked for"),
        (Expect::Run(properties), Reply::Ok(output)) => judge_run(properties, case, terms, AgentReply::Output(output)),
        (Expect::Run(properties), Reply::Reject { message, .. }) => {
            judge_run(properties, case, terms, AgentReply::Refusal(&message))
        }
        (Expect::Output(patterns), Reply::Ok(output)) => {
            judge_output(patterns, &settled(case, terms, output).into_json())
        }
        (Expect::Holds(properties), Reply::Ok(output)) => {
            judge_properties(properties, case, terms.profile.rendering(), &settled(case, terms, output))
        }
        (Expect::Holds(properties), Reply::Reject { .. }) if properties.contains(&Oracle::AcceptedOrRefused) => {
            Judgement::new(Verdict::Pass, "")
        }
        (Expect::Reject { kind, message }, Reply::Reject { kind: actual, message: said }) => {
            if *kind != actual {
                let note = format!(
                    "rejected as {actual}, but {kind} was expected; its message: {}",
                    visible(&beginning(&said, LONGEST_NOTE))
                );
                return Judgement::new(Verdict::Rejected, note);
            }
            // A case that demands no message accepts any.
            let mismatches = message.as_ref().map(|message| tolerance::refusal(message, &said)).unwrap_or_default();
            if mismatches.is_empty() {
                Judgement::new(Verdict::Pass, "")
            } else {
                Judgement::new(Verdict::Rejected, "the wrong message").with(mismatches)
            }
        }
        (Expect::Reject { kind, .. }, Reply::Ok(output)) => Judgement::new(
            Verdict::Rejected,
            format!("a rejection ({kind}) was expected, but it answered {}", json::shortened(&output, LONGEST_NOTE)),
        ),
        (_, Reply::Reject { .. }) if tolerance::may_refuse(case.op, terms.profile.rendering(), case.input()) => {
            Judgement::new(Verdict::Pass, "")
        }
        (_, Reply::Reject { kind, message }) => Judgement::new(
            Verdict::Rejected,
            format!(
                "an output was expected, but it rejected ({kind}): {}",
                visible(&beginning(&message, LONGEST_NOTE))
            ),
        ),
    }
}

/// An output in which the differences that are tolerated for this case are settled.
fn settled(case: &Case, terms: Terms, output: Value) -> Output {
    let holds = |clause: &str| case.clauses.iter().any(|own| own == clause);
    let profile = terms.profile.rendering();
    let asked = Asked { op: case.op, profile, input: case.input(), holds: &holds };
    tolerance::settled(&asked, Cow::Owned(output))
}

fn judge_output(patterns: &[Pattern], output: &Value) -> Judgement {
    if patterns.iter().any(|pattern| pattern.matches(output)) {
        return Judgement::new(Verdict::Pass, "");
    }
    let closest = patterns.iter().map(|pattern| pattern.mismatches(output)).min_by_key(|found| found.distance);
    let note = match patterns.len() {
        1 => String::new(),
        several => format!("none of {several} accepted outputs; the closest:"),
    };
    Judgement::new(Verdict::Fail, note).with(closest.unwrap_or_default())
}

/// Judges a run by its properties, and beside them by every other `must`. The note names the clause that is broken, even if another property
/// was asked for.
fn judge_run(properties: &[Property], case: &Case, terms: Terms, answer: AgentReply<'_>) -> Judgement {
    let others = Others::of(case.after());
    let judged = match case.op {
        Op::Session => session::judge(case.input(), &others, terms.abilities, answer),
        _ => universal::judge(case.input(), &others, terms.abilities, answer),
    };
    let ruling = match judged {
        Ok(ruling) => ruling,
        Err(why) => return Judgement::new(Verdict::Fail, format!("this is not an output of `{}`: {why}", case.op)),
    };
    if let Some(why) = ruling.unsupported() {
        return Judgement::new(Verdict::Unsupported, beginning(why, LONGEST_NOTE));
    }
    let (mut broken, mut unseen): (Vec<&Finding>, _) = (ruling.breaches_of_wire().collect(), Vec::new());
    let note: Vec<String> = ruling.notes().collect();
    for &property in properties {
        match ruling.holds(property) {
            Holding::Yes => {}
            Holding::No(findings) => broken.extend(findings),
            Holding::Blocked(finding) => broken.push(finding),
            Holding::Unsupported(why) => unseen.push(why.to_owned()),
        }
    }
    let lines = |lines: Vec<String>| once(lines).join("\n");
    let clauses = once(broken.iter().map(|finding| finding.clause));
    let beside = ruling.of_musts().filter(|finding| !clauses.contains(&finding.clause)).cloned().collect();
    let judgement = if !broken.is_empty() {
        let findings = broken.iter().map(ToString::to_string).chain(note);
        Judgement::new(Verdict::Fail, lines(findings.collect()))
    } else if unseen.is_empty() {
        Judgement::new(Verdict::Pass, lines(note))
    } else {
        Judgement::new(Verdict::Unsupported, lines(unseen))
    };
    Judgement { broken: clauses, beside, ..judgement }
}

/// Each of these once, where it comes first.
fn once<T: Clone + Eq + Hash>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut seen = HashSet::new();
    all.into_iter().filter(|one| seen.insert(one.clone())).collect()
}

fn judge_properties(properties: &[Oracle], case: &Case, profile: threadspec::Profile, output: &Output) -> Judgement {
    if let Output::Odd(output) = output {
        return Judgement::new(
            Verdict::Fail,
            format!("this is not an output of `{}`: {}", case.op, json::shortened(output, LONGEST_NOTE)),
        );
    }
    let broken: Vec<String> = properties
        .iter()
        .filter_map(|&property| {
            let error = oracles::check(property, case.op, profile, case.input(), output).err()?;
            Some(format!("{property}: {error}"))
        })
        .collect();
    if broken.is_empty() { Judgement::new(Verdict::Pass, "") } else { Judgement::new(Verdict::Fail, broken.join("\n")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::mismatch::Sides;
    use crate::corpus::{Corpus, File};
    use crate::protocol::RejectKind;
    use serde_json::json;

    fn verdict(expect: &Value, reply: Reply) -> Verdict {
        judgement(expect, Outcome::Reply(reply)).verdict
    }

    fn judgement(expect: &Value, outcome: Outcome) -> Judgement {
        let case = json!({"name": "a", "why": "w", "clauses": ["ESC-1"], "input": {"text": "<"}, "expect": expect});
        let text = json!({"op": "escape", "about": "x", "cases": [case]}).to_string();
        let (corpus, problems) = Corpus::read(&[File { path: "escape/a.json".into(), text }]);
        assert_eq!(problems, []);
        judge(&corpus.cases[0], JudgeProfile::Literal, outcome)
    }

    fn reject(kind: RejectKind) -> Reply {
        Reply::Reject { kind, message: "event 3: no `iteration`".into() }
    }

    #[test]
    fn any_alternative_will_do_and_the_closest_is_shown() {
        let expect = json!({"oneOf": ["", "a\u{fffd}b c"]});
        assert_eq!(verdict(&expect, Reply::Ok(json!("a\u{fffd}b c"))), Verdict::Pass);
        let judged = judgement(&expect, Outcome::Reply(Reply::Ok(json!("a\u{fffd}b d"))));
        assert_eq!(judged.verdict, Verdict::Fail);
        assert!(matches!(&judged.mismatches[0].sides, Sides::Texts { expected, .. } if expected == "a\u{fffd}b c"));
    }

    #[test]
    fn refusals_are_right_only_where_they_are_expected_and_of_their_kind() {
        let invalid_event = || reject(RejectKind::InvalidEvent);
        assert_eq!(verdict(&json!({"ok": "&lt;"}), invalid_event()), Verdict::Rejected);
        assert_eq!(verdict(&json!({"reject": "invalid-event"}), Reply::Ok(json!("&lt;"))), Verdict::Rejected);
        assert_eq!(verdict(&json!({"reject": "invalid-event"}), reject(RejectKind::InvalidInput)), Verdict::Rejected);
        assert_eq!(verdict(&json!({"reject": "invalid-event"}), invalid_event()), Verdict::Pass);
        let expect = |words| json!({"reject": "invalid-event", "message": {"includes": [words]}});
        assert_eq!(verdict(&expect("iteration"), invalid_event()), Verdict::Pass);
        assert_eq!(verdict(&expect("toolName"), invalid_event()), Verdict::Rejected);
    }

    /// A case in which the model calls a tool once, with these properties.
    fn case_of_one_call(severity: Option<&str>, properties: &[&str]) -> Case {
        let mut case = json!({
            "name": "a", "why": "w", "profiles": ["universal"], "expect": {"holds": properties},
            "clauses": properties.iter().map(|name| name.to_uppercase()).collect::<Vec<_>>(),
            "input": {
                "messages": [{"type": "human", "content": "Go"}],
                "model": [{"tool_calls": [{"id": "c1", "name": "look", "args": {}}]}, {"content": "Done"}],
                "tools": {"look": {"byId": {"c1": "ok"}}},
            },
        });
        if let Some(severity) = severity {
            case["severity"] = json!(severity);
            case["evidence"] = json!(["a/b#1"]);
        }
        let text = json!({"op": "tools", "about": "x", "cases": [case]}).to_string();
        let (corpus, problems) = Corpus::read(&[File { path: "agent/a.json".into(), text }]);
        assert_eq!(problems, []);
        corpus.cases.into_iter().next().expect("a case")
    }

    #[test]
    fn a_breach_of_another_clause_is_beside_the_case_and_counts() {
        let judged = |severity, properties, result: &str| {
            let human = json!({"type": "human", "content": "Go"});
            let call = json!({"type": "ai", "content": "", "tool_calls": [{"id": "c1", "name": "look", "args": {}}]});
            let answer = json!({"type": "tool", "tool_call_id": "c1", "content": result});
            let case = case_of_one_call(severity, properties);
            let reply = json!({"requests": [[human], [human, call, answer]]});
            let judgement = judge(&case, JudgeProfile::Universal, Outcome::Reply(Reply::Ok(reply)));
            let counts = [false, true].map(|strict| judgement.counts_beside(&case, strict));
            (judgement, counts)
        };
        let goes_on = &["agent-goes-on"][..];
        let (sound, counts) = judged(None, goes_on, "ok");
        assert!(sound.is_sound() && counts == [false, false] && sound.actual.is_none());
        for (severity, expected) in [(None, [true, true]), (Some("A"), [true, true]), (Some("C"), [false, true])] {
            let (judgement, counts) = judged(severity, goes_on, "no");
            assert_eq!((judgement.verdict, counts), (Verdict::Pass, expected));
            assert!(!judgement.is_sound() && judgement.actual.is_some());
            assert_eq!(judgement.clauses_beside().collect::<Vec<_>>(), [clause::AGENT_RESULT]);
            let beside = judgement.of_beside().expect("a failure");
            assert_eq!((beside.verdict, beside.broken), (Verdict::Fail, vec![clause::AGENT_RESULT]));
        }
        // What the case is about is not beside it.
        let (own, counts) = judged(None, &["agent-result"], "no");
        assert_eq!((own.verdict, counts, own.beside), (Verdict::Fail, [false, false], vec![]));
    }

    #[test]
    fn contrived_input_excuses_only_what_the_case_is_about() {
        let case = case_of_one_call;
        // The model is not asked again, so that nothing else can be judged.
        let stops = || Outcome::Reply(Reply::Ok(json!({"requests": [[{"type": "human", "content": "Go"}]]})));
        let counts = |case: &Case, outcome: Outcome| {
            let judged = judge(case, JudgeProfile::Universal, outcome);
            assert!(judged.verdict != Verdict::Pass && judged.counts_against(case, true), "{judged:?}");
            assert_eq!(judged.is_excused(case, false), !judged.counts_against(case, false));
            judged.counts_against(case, false)
        };
        let goes_on = &["agent-goes-on"][..];
        assert!(!counts(&case(Some("C"), goes_on), stops()));
        assert!(!counts(&case(Some("C"), &["agent-response", "agent-goes-on"]), stops()));
        // Another clause is broken, the output cannot be read, or there is none.
        assert!(counts(&case(Some("C"), &["agent-response"]), stops()));
        assert!(counts(&case(Some("C"), goes_on), Outcome::Reply(Reply::Ok(json!(5)))));
        for outcome in [Outcome::Crash("gone".into()), Outcome::Timeout("late".into()), Outcome::Garbage("?".into())] {
            assert!(counts(&case(Some("C"), goes_on), outcome));
        }
        for severity in [Some("A"), Some("B"), None] {
            assert!(counts(&case(severity, goes_on), stops()));
        }
    }

    #[test]
    fn accepted_or_refused_still_wants_an_output_of_the_right_shape() {
        let expect = || json!({"holds": ["accepted-or-refused"]});
        assert_eq!(verdict(&expect(), reject(RejectKind::InvalidInput)), Verdict::Pass);
        assert_eq!(verdict(&expect(), Reply::Ok(json!(5))), Verdict::Fail);
        assert_eq!(verdict(&json!({"holds": ["well-formed"]}), reject(RejectKind::InvalidInput)), Verdict::Rejected);
        assert_eq!(judgement(&expect(), Outcome::Crash("gone".into())).verdict, Verdict::Crash);
    }
}
