//! The replies to the requests that are sent before a case's own. The case has no expectation for them, so they are judged as `fuzz`
//! judges: in `literal` and `hardened` beside the reference's reply, by tolerance; in `universal` by every `must` clause.
//!
//! What is wrong there counts for the clause that it breaks, whatever the case is about, at the level of the case: a reply that breaks a
//! `must` is wrong in every case. A `should` counts only in a `should` case of that clause: no case fails for the `should` of another one.

use super::{Judgement, Outcome, Terms, Verdict, once};
use crate::compare::{Difference, compare, faults};
use crate::corpus::{Case, Level, embedded};
use crate::json;
use crate::protocol::{JudgeProfile, Op, Reply, Request};
use crate::session;
use crate::universal::{self, AgentReply, Others};
use threadspec::surrogates::unmark_surrogates;

/// The reply is kept up to this length.
const LONGEST_REPLY: usize = 64 << 10;

/// The faults of the replies to the requests that are sent first.
#[derive(Clone, Debug, Default)]
pub struct Earlier {
    /// The first of the wrong replies, as a judgement of the case.
    first: Option<Judgement>,
    /// How many more there are.
    more: usize,
    /// The texts of these requests, for profile `universal`.
    others: Option<Others>,
}

impl Earlier {
    /// Judges the outcome of the request at a step, counted from 0. Only replies are judged here.
    pub fn hear(&mut self, case: &Case, terms: impl Into<Terms>, step: usize, outcome: &Outcome) {
        let Outcome::Reply(reply) = outcome else { return };
        let terms = terms.into();
        let found = match terms.profile {
            JudgeProfile::Universal => {
                let others = self.others.get_or_insert_with(|| Others::of(case.after()));
                run_of_any_agent(case, others, terms, step, reply)
            }
            JudgeProfile::Literal | JudgeProfile::Hardened => compared(case, terms.profile, step, reply),
        };
        let Some(judgement) = found else { return };
        if self.first.is_none() {
            let broken = match judgement.broken.as_slice() {
                [] => String::new(),
                [one] => format!(", {one} is broken"),
                several => format!(", {} are broken", several.join(", ")),
            };
            let of = case.after().len();
            let place = format!("in the reply to request {} of the {of} that are sent first{broken}", step + 1);
            let note = format!("{place}\n{}", judgement.note);
            let actual = Some(unmark_surrogates(&json::shortened(reply, LONGEST_REPLY)).into_owned());
            self.first = Some(Judgement { note: note.trim_end().to_owned(), actual, ..judgement });
        } else {
            self.more += 1;
        }
    }

    /// Returns whether nothing is wrong with them.
    pub fn is_sound(&self) -> bool {
        self.first.is_none()
    }

    /// The judgement of the case, given that of its own reply, which comes first if that is wrong, too.
    pub fn with(self, own: Judgement) -> Judgement {
        let Some(mut first) = self.first else { return own };
        if self.more > 0 {
            first.note += &format!("\n… and {} more of these replies", self.more);
        }
        if matches!(own.verdict, Verdict::Pass | Verdict::Unsupported) {
            return Judgement { beside: own.beside, ..first };
        }
        let broken = if own.broken.is_empty() { Vec::new() } else { once([own.broken, first.broken].concat()) };
        let note = [own.note, first.note].join("\n").trim_start().to_owned();
        Judgement { broken, note, ..own }
    }
}

/// Compares a reply with that of the reference.
fn compared(case: &Case, profile: JudgeProfile, step: usize, reply: &Reply) -> Option<Judgement> {
    let request = Request { input: case.after()[step].clone(), ..case.request(0, profile) };
    let (expected, difference) = compare(&request, reply);
    let Difference { clause, note, mismatch } = difference.filter(|difference| counts(case, difference.clause))?;
    let verdict = match (expected, reply) {
        (Reply::Ok(_), Reply::Ok(_)) => Verdict::Fail,
        _ => Verdict::Rejected,
    };
    let mismatches = mismatch.into_iter().collect();
    let faults = faults(&request, reply);
    Some(Judgement { broken: vec![clause], faults, mismatches, ..Judgement::new(verdict, note) })
}

fn counts(case: &Case, clause: &str) -> bool {
    let is_should = embedded().0.clause(clause).is_some_and(|clause| clause.level == Level::Should);
    !is_should || case.level == Level::Should && case.clauses.iter().any(|own| own == clause)
}

/// Judges a run by every clause that is a `must`.
fn run_of_any_agent(case: &Case, others: &Others, terms: Terms, step: usize, reply: &Reply) -> Option<Judgement> {
    let answer = match reply {
        Reply::Ok(output) => AgentReply::Output(output.clone()),
        Reply::Reject { message, .. } => AgentReply::Refusal(message),
        // Whoever plays a session joins what a kill cut.
        Reply::Unsupported(_) | Reply::Cut { .. } => return None,
    };
    let input = &case.after()[step];
    let judged = match case.op {
        Op::Session => session::judge_earlier(input, others, step, terms.abilities, answer),
        _ => universal::judge_earlier(input, others, step, terms.abilities, answer),
    };
    let findings = match judged {
        Ok(findings) if findings.is_empty() => return None,
        Ok(findings) => findings,
        Err(why) => {
            return Some(Judgement::new(Verdict::Fail, format!("this is not an output of `{}`: {why}", case.op)));
        }
    };
    let broken = once(findings.iter().map(|finding| finding.clause));
    let note: Vec<String> = findings.iter().map(ToString::to_string).collect();
    Some(Judgement { broken, ..Judgement::new(Verdict::Fail, note.join("\n")) })
}
