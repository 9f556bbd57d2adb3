//! What something that is planted on the twin breaks, or what permits it, and in which profiles.

use crate::planted::{Family, Kind, OnTwin, PlantOnTwin, Planted, Reading};
use crate::twin::Twin;
use threadspec_judge::corpus::growth::Quantity;
use threadspec_judge::protocol::JudgeProfile;

/// The name of something that is planted.
pub(crate) type FaultName = &'static str;

/// What stays as long as the program.
pub(crate) trait Lasting: Send + Sync + 'static {}

impl<T: Send + Sync + 'static> Lasting for T {}

/// What terms are made of.
pub(crate) trait IntoTerms: Into<FaultTerms> {}

impl<T: Into<FaultTerms>> IntoTerms for T {}

/// The clauses, the profiles, and the kind. A clause, a list of clauses or a quantity stands for a bug in both profiles.
#[derive(Clone, Copy)]
pub(crate) struct FaultTerms {
    clauses: &'static [&'static str],
    profiles: &'static [JudgeProfile],
    kind: TwinFault,
}

#[derive(Clone, Copy)]
enum TwinFault {
    /// It breaks the clauses.
    Bug,
    /// The clauses and errata permit it.
    Permitted,
    /// It does not follow these clauses, all of them `should`.
    Neglect,
    /// It breaks something from a size of this quantity on, in these places.
    Family(Quantity, &'static [&'static str]),
}

impl From<&'static [&'static str]> for FaultTerms {
    fn from(clauses: &'static [&'static str]) -> Self {
        Self { clauses, profiles: &JudgeProfile::OWN, kind: TwinFault::Bug }
    }
}

impl<const N: usize> From<[&'static str; N]> for FaultTerms {
    fn from(clauses: [&'static str; N]) -> Self {
        Self::from(&*Vec::from(clauses).leak())
    }
}

impl From<&'static str> for FaultTerms {
    fn from(clause: &'static str) -> Self {
        Self::from([clause])
    }
}

impl From<Quantity> for FaultTerms {
    fn from(quantity: Quantity) -> Self {
        Self { kind: TwinFault::Family(quantity, &[]), ..Self::from([]) }
    }
}

/// In the hardened profile alone.
pub(crate) fn hardened(terms: impl IntoTerms) -> FaultTerms {
    FaultTerms { profiles: &[JudgeProfile::Hardened], ..terms.into() }
}

/// In the literal profile alone.
pub(crate) fn literal(terms: impl IntoTerms) -> FaultTerms {
    FaultTerms { profiles: &[JudgeProfile::Literal], ..terms.into() }
}

/// A reading that clauses or errata permit.
pub(crate) fn permitted(by: impl Into<FaultTerms>) -> FaultTerms {
    FaultTerms { kind: TwinFault::Permitted, ..by.into() }
}

/// A reading that does not follow `should` clauses.
pub(crate) fn neglect(of: impl Into<FaultTerms>) -> FaultTerms {
    FaultTerms { kind: TwinFault::Neglect, ..of.into() }
}

/// A family that makes a difference in these places only: those that begin with one of them.
pub(crate) fn in_places(quantity: Quantity, places: &'static [&'static str]) -> FaultTerms {
    FaultTerms { kind: TwinFault::Family(quantity, places), ..FaultTerms::from([]) }
}

/// Plants something on several seams at once.
pub(crate) fn several(name: FaultName, terms: impl IntoTerms, plant: impl Fn(&mut Twin) + Lasting) -> Planted {
    let FaultTerms { clauses, profiles, kind } = terms.into();
    let plant: PlantOnTwin = Box::leak(Box::new(plant));
    let reading = |neglects| Kind::Reading(Reading { permitted_by: clauses, neglects, plant });
    let (kind, breaks): (Kind, &[&str]) = match kind {
        TwinFault::Bug => (Kind::Bug(OnTwin(plant)), clauses),
        TwinFault::Permitted => (reading(&[]), &[]),
        TwinFault::Neglect => (reading(clauses), &[]),
        TwinFault::Family(quantity, places) => {
            (Kind::Family(Family { quantity, places, change: None, plant, n: 1, member: "" }), &[])
        }
    };
    Planted { name, kind, breaks, profiles }
}
