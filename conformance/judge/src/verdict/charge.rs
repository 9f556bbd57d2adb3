//! Charges a failed case to a clause.

use super::Judgement;
use crate::corpus::Case;

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
