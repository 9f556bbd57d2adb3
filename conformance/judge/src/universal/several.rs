//! Holds the state of several runs on one thread, a session, that is no finding: the reasons why a clause cannot be judged.

use super::{Finding, Property};
use threadspec_golden::clause;

/// The state of a session beside its findings.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionState {
    /// The findings that say that a call is not answered once.
    pub(crate) pairing: Vec<Finding>,
    /// The findings that say that a call was executed that should not have been.
    pub(crate) executed: Vec<Finding>,
    /// The findings about the reasons of denials.
    pub(crate) reasons: Vec<Finding>,
    /// Why the session shows nothing, if so.
    pub(crate) unsupported: Option<String>,
}

impl SessionState {
    /// A breach that keeps a clause of sessions from being judged, so that nothing holds merely because it was never seen.
    pub(crate) fn in_the_way<'f>(&'f self, property: Property, found: &'f [Finding]) -> Option<&'f Finding> {
        let first = |clauses: &[&str]| found.iter().find(|finding| clauses.contains(&finding.clause));
        match property.clause() {
            clause::SESSION_VALID => self.pairing.first(),
            clause::SESSION_CUT => first(&[clause::SESSION_ANSWERED]),
            clause::SESSION_KEPT => first(&[clause::SESSION_ANSWERED, clause::SESSION_WHOLE]),
            clause::SESSION_WHOLE => first(&[clause::SESSION_ANSWERED, clause::SESSION_KEPT]),
            clause::SESSION_ONCE => self.executed.first(),
            clause::SESSION_SAID_ONCE => first(&[clause::SESSION_VALID]),
            clause::SESSION_PREFIX => found.first(),
            clause::SESSION_COMPACT_WHOLE => first(&[clause::SESSION_COMPACT]),
            _ => None,
        }
    }
}
