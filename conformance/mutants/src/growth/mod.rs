//! Families of bugs that show only with size. Each family is about one quantity that can grow, and has the size as a parameter.

mod lists;
mod texts;

use crate::Error;
use crate::catalogue;
use crate::planted::{Family, Kind, Planted, sound};
use crate::trial::{CaseReplies, Survey, workers};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use std::collections::HashMap;
use texts::change_texts;
use threadspec_campaign::generate::LIMITS;
use threadspec_judge::corpus::growth::{Growth, Quantity};
use threadspec_judge::corpus::{Case, Corpus};
use threadspec_judge::json;
use threadspec_judge::protocol::JudgeProfile;
use threadspec_runner::InProcess;

/// Every family.
pub(crate) fn all() -> impl Iterator<Item = Planted> {
    lists::families().into_iter().chain(texts::families())
}

/// Every family, as what is planted and as what it is about.
fn families() -> impl Iterator<Item = (&'static Planted, Family)> {
    catalogue::all().filter_map(|planted| match planted.kind {
        Kind::Family(family) => Some((planted, family)),
        _ => None,
    })
}

/// The bug of a family with this size, in the members of this name.
fn sized(planted: &Planted, member: &str, n: impl std::fmt::Display) -> Planted {
    let member = if member.is_empty() { String::new() } else { format!(":{member}") };
    planted.with(format!("{}{member}:{n}", planted.name).leak()).expect("a family has a size")
}

/// With which sizes, and in which profiles, each bug is tried. A bug that is caught with the largest size that its cases claim is caught with
/// every smaller one, too, since whole outputs are compared; trying small sizes confirms that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breadth {
    /// The largest, in one of the profiles in which the bug is wrong, by turns.
    OneProfile,
    /// The largest, in each of them.
    EveryProfile,
    /// The small ones, in one profile, by turns.
    SmallSizes,
}

/// Small sizes, most of them unusual as limits.
const SMALL: [u64; 12] = [1, 2, 3, 5, 11, 17, 50, 65, 101, 129, 257, 1001];

/// A bug of a family, and the row of the table whose cases must catch it.
#[derive(Clone, Copy)]
struct SizeTrial<'a> {
    bug: Planted,
    family: Family,
    row: &'a Growth,
    profile: JudgeProfile,
    n: u64,
}

/// The bugs of a size: in a few members where they are about texts, and none where the size means nothing or is more than an input may
/// have.
pub fn of_size(n: usize) -> Vec<Planted> {
    let members = |family: Family| match family.quantity {
        Quantity::Text => vec!["content", "result", "args"],
        Quantity::Lengths => vec!["content"],
        // Only a text of exactly this length, or one element, shows them.
        Quantity::Blocks | Quantity::Positions | Quantity::WhiteSpace => Vec::new(),
        Quantity::Id => vec!["toolCallId"],
        Quantity::Depth if n >= LIMITS.depth => Vec::new(),
        _ => vec![""],
    };
    let of_family = |(planted, family): (&'static Planted, Family)| {
        members(family).into_iter().map(move |member| sized(planted, member, n))
    };
    families().flat_map(of_family).collect()
}

/// Puts to each bug the cases that the table names for it, beginning with the smallest that should catch it.
///
/// # Errors
///
/// When no thread of the operating system can be started.
pub fn survey_sizes(corpus: &Corpus, table: &[Growth], breadth: Breadth) -> Result<Survey, Error> {
    let mut trials = Vec::new();
    let everything = vec![String::new()];
    for row in table {
        for (planted, family) in families().filter(|(_, family)| is_for(family, row)) {
            let mut profiles: Vec<JudgeProfile> = row.profiles.clone();
            profiles.retain(|profile| planted.profiles.contains(profile));
            if breadth != Breadth::EveryProfile && !profiles.is_empty() {
                let turn = trials.len() % profiles.len();
                profiles = vec![profiles[turn]];
            }
            for profile in profiles {
                let cases = row.cases(corpus, profile);
                let largest = cases.last().map_or(0, |&(_, size)| size);
                let sizes = match (breadth, row.quantity) {
                    // A bug of white space has no size.
                    (Breadth::SmallSizes, Quantity::WhiteSpace | Quantity::Blocks | Quantity::Positions) => Vec::new(),
                    (_, Quantity::WhiteSpace) => vec![1],
                    (_, Quantity::Positions) => (0..largest).collect(),
                    // Each border may hide a bug of its own.
                    (_, Quantity::Blocks) => {
                        (3..usize::BITS).map(|power| 1 << power).take_while(|&n| n <= largest).collect()
                    }
                    (Breadth::SmallSizes, _) => SMALL.into_iter().filter(|&n| n < largest).collect(),
                    _ => vec![largest.saturating_sub(1)],
                };
                let members = if row.members.is_empty() { &everything } else { &row.members };
                let is_touched = |member: &&String| cases.iter().any(|(case, _)| touches(&family, case, member));
                for member in members.iter().filter(is_touched) {
                    let of_size = |&n: &u64| SizeTrial { bug: sized(planted, member, n), family, row, profile, n };
                    trials.extend(sizes.iter().map(of_size));
                }
            }
        }
    }
    let is_idle = |(planted, family): &(&Planted, Family)| {
        let is_tried = trials.iter().any(|trial| trial.bug.name.split(':').next() == Some(planted.name));
        let has_size = !matches!(family.quantity, Quantity::WhiteSpace | Quantity::Blocks | Quantity::Positions);
        !is_tried && (breadth != Breadth::SmallSizes || has_size)
    };
    let idle: Vec<String> =
        families().filter(is_idle).map(|(planted, _)| format!("{}: no case is about it", planted.name)).collect();
    let caught = workers()?.install(|| {
        let cases: Vec<(&Case, JudgeProfile)> = table
            .iter()
            .flat_map(|row| {
                row.profiles
                    .iter()
                    .flat_map(|&profile| row.cases(corpus, profile).into_iter().map(move |(case, _)| (case, profile)))
            })
            .collect();
        let sound = |&(case, profile): &(&Case, JudgeProfile)| {
            ((case.id.clone(), profile), CaseReplies::of(&mut InProcess::new(sound()), case, profile).fingerprint())
        };
        let sound: HashMap<(String, JudgeProfile), u64> = cases.par_iter().map(sound).collect();
        trials.par_iter().map(|trial| trial.is_caught(corpus, &sound)).collect::<Vec<bool>>()
    });
    let survivors = trials.iter().zip(caught).filter(|(_, is_caught)| !is_caught).map(|(trial, _)| trial.name());
    Ok(Survey { trials: trials.len(), survivors: idle.into_iter().chain(survivors).collect() })
}

fn is_for(family: &Family, row: &Growth) -> bool {
    let is_here = |place: &&str| row.place.starts_with(*place);
    family.quantity == row.quantity && (family.places.is_empty() || family.places.iter().any(is_here))
}

/// Returns whether a family changes any text of a case: a name has no line feed, for example.
fn touches(family: &Family, case: &Case, member: &str) -> bool {
    let Some(change) = family.change.filter(|_| family.quantity == Quantity::WhiteSpace) else { return true };
    let Ok(input) = json::read(case.input()) else { return false };
    let mut changed = input.clone();
    change_texts(&mut changed, member, &|text| change(text, 1));
    changed != input
}

impl SizeTrial<'_> {
    fn name(&self) -> String {
        format!("{} ({}, {})", self.bug.name, self.row.place, self.profile)
    }

    fn is_caught(&self, corpus: &Corpus, sound: &HashMap<(String, JudgeProfile), u64>) -> bool {
        let fails = |case: &Case| {
            let mut testee = InProcess::new(self.bug.implementation());
            let heard = CaseReplies::of(&mut testee, case, self.profile);
            let is_sound = sound.get(&(case.id.clone(), self.profile)) == Some(&heard.fingerprint());
            !is_sound && heard.failure(case).is_some()
        };
        let cases = self.row.cases(corpus, self.profile);
        let are_large = !matches!(self.family.quantity, Quantity::WhiteSpace | Quantity::Blocks | Quantity::Positions);
        cases.into_iter().filter(|&(_, size)| !are_large || size > self.n).any(|(case, _)| fails(case))
    }
}
