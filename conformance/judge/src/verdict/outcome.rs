//! Defines how a request ended, and charges a failed case to a clause.

use super::Judgement;
use crate::corpus::Case;
use crate::protocol::Reply;
use std::fmt;

// How a request ended.

/// The outcome of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The reply.
    Reply(Reply),
    /// The line of a reply that was not parsed, since its output is one of those that are accepted.
    Accepted(String),
    /// It ended before its reply: how, and the last words of its stderr.
    Crash(String),
    /// No reply in time.
    Timeout(String),
    /// Something that is not a reply to the request.
    Garbage(String),
    /// A second reply to an earlier request. The earlier one is to blame, and this one must be sent again.
    Stray {
        /// The id of the earlier request.
        id: i64,
        /// A description of the event.
        what: String,
    },
    /// It could not be started again.
    NotReady(Unready),
    /// The run was interrupted while waiting.
    Interrupted,
}

impl Outcome {
    /// Returns whether it is a reply to the request.
    pub fn is_reply(&self) -> bool {
        matches!(self, Self::Reply(_) | Self::Accepted(..))
    }
}

/// Why a testee is not ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unready {
    /// It cannot be started, or its handshake fails.
    Testee(String),
    /// The system gives this program no more files, processes or memory.
    Shortage(String),
    /// This program lacks something else that it needs for a test, such as a folder.
    Runner(String),
}

impl From<String> for Unready {
    fn from(why: String) -> Self {
        Self::Testee(why)
    }
}

impl fmt::Display for Unready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Testee(why) => write!(f, "the testee is not ready: {}", why.trim_end()),
            Self::Runner(why) => write!(f, "nothing can be tested here: {why}"),
            Self::Shortage(why) => {
                write!(
                    f,
                    "the system does not let another testee start: {why}; use fewer --jobs, or raise the limit (`ulimit -a` shows them)"
                )
            }
        }
    }
}

// Charges a failed case to a clause.

/// The clauses of a failed case. Every report counts by it, so that their numbers are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charge<'a> {
    /// The one clause that the case is charged to.
    pub clause: &'a str,
    /// The further clauses that it breaks, and its own clauses, which it does not show to hold.
    pub touched: Vec<&'a str>,
}

impl Judgement {
    /// The clause that a case is charged to; `None` if it did not fail.
    ///
    /// A case is about its own clauses, the first of them before all others: it is charged to the first one that is known to be broken.
    /// If only others are, the first that was found is the cause; if nothing tells them apart, it is the first of its own.
    pub fn charge<'a>(&'a self, case: &'a Case) -> Option<Charge<'a>> {
        if !self.verdict.is_failure() {
            return None;
        }
        let (broken, own) = (self.broken.iter().copied(), case.clauses.iter().map(String::as_str));
        let is_broken = |clause: &&str| self.broken.contains(clause);
        let clause = own.clone().find(is_broken).or_else(|| broken.clone().next()).or_else(|| own.clone().next())?;
        let mut touched: Vec<&str> = Vec::new();
        for other in broken.chain(own) {
            if other != clause && !touched.contains(&other) {
                touched.push(other);
            }
        }
        Some(Charge { clause, touched })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::Verdict;
    use threadspec_golden::clause::{AGENT_ANSWERED, AGENT_IDS, AGENT_PREFIX, AGENT_START};

    #[test]
    fn a_failed_case_is_charged_to_one_clause() {
        let case = Case::observed("a", "why", &[AGENT_IDS, AGENT_ANSWERED]);
        let charged = |verdict: Verdict, broken: &[&'static str]| {
            let judgement = Judgement { broken: broken.to_vec(), ..Judgement::new(verdict, "") };
            let charge = judgement.charge(&case)?;
            Some((charge.clause.to_owned(), charge.touched.join(" ")))
        };
        let fails = |broken: &[&'static str]| charged(Verdict::Fail, broken).expect("it failed");
        let is = |clause: &str, touched: &str| (clause.to_owned(), touched.to_owned());
        // Its own clauses first, in its own order.
        assert_eq!(fails(&[AGENT_ANSWERED, AGENT_IDS]), is(AGENT_IDS, AGENT_ANSWERED));
        assert_eq!(fails(&[AGENT_PREFIX, AGENT_ANSWERED]), is(AGENT_ANSWERED, "AGENT-PREFIX AGENT-IDS"));
        // Then others, in the order in which they were found.
        assert_eq!(fails(&[AGENT_START, AGENT_PREFIX]), is(AGENT_START, "AGENT-PREFIX AGENT-IDS AGENT-ANSWERED"));
        assert_eq!(charged(Verdict::Crash, &[]), Some(is(AGENT_IDS, AGENT_ANSWERED)));
        assert_eq!(charged(Verdict::KnownFailure, &[]), Some(is(AGENT_IDS, AGENT_ANSWERED)));
        for verdict in [Verdict::Pass, Verdict::UnexpectedPass, Verdict::Unsupported, Verdict::NotRun] {
            assert_eq!(charged(verdict, &[AGENT_IDS]), None);
        }
    }
}
