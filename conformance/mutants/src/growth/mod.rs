//! Families of bugs that show only with size. Each family is about one quantity that can grow, and has the size as a parameter.

mod data;
mod families;

use super::matrix::Replies;
use super::twin::Twin;
use data::change_texts;
use families::FAMILIES;
use rayon::ThreadPoolBuilder;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use std::collections::HashMap;
use std::io;
use threadspec_campaign::generate::LIMITS;
use threadspec_judge::corpus::growth::{Growth, Quantity};
use threadspec_judge::corpus::{Case, Corpus};
use threadspec_judge::json::{self, DEEP_STACK};
use threadspec_judge::protocol::{Implementation, Profile};
use threadspec_judge::verdict::Outcome;
use threadspec_runner::InProcess;

/// Bugs that differ in size only.
#[derive(Clone, Copy)]
struct Family {
    name: &'static str,
    quantity: Quantity,
    /// Where it makes a difference: places that begin with one of these, or all.
    places: &'static [&'static str],
    /// In which profiles it is wrong.
    profiles: &'static [Profile],
    /// What it does to the texts of the input.
    change: Option<fn(&str, usize) -> String>,
    plant: fn(&mut Twin),
}

/// With which sizes, and in which profiles, each bug is tried. A bug that is caught with the largest size that its cases claim is caught with
/// every smaller one, too, since whole outputs are compared; trying small sizes confirms that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breadth {
    /// The largest, in one of those profiles in which it is wrong, by turns.
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
struct Trial<'a> {
    family: &'static Family,
    row: &'a Growth,
    member: &'a str,
    profile: Profile,
    n: u64,
}

/// What became of the bugs.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    /// How many were tried, each with one size in one place and profile.
    pub trials: usize,
    /// Those that no case caught.
    pub survivors: Vec<String>,
}

/// The twin with a bug that `family:n` or `family:member:n` names, such as `text-cut:content:100`.
pub fn named(name: &str) -> Option<impl Implementation + use<>> {
    let mut parts = name.split(':');
    let family = parts.next()?;
    let family = FAMILIES.iter().find(|known| known.name == family)?;
    let (member, n) = match (parts.next()?, parts.next()) {
        (member, Some(n)) => (member, n),
        (n, None) => ("", n),
    };
    Some(family.planted(n.parse().ok()?, member))
}

/// The bugs of a size, each with a profile in which it is wrong: in a few members where it is about texts, and none where its size means
/// nothing or is more than an input may have.
pub fn of_size(n: usize) -> Vec<(String, Profile)> {
    let members = |family: &Family| match family.quantity {
        Quantity::Text => vec![":content", ":result", ":args"],
        Quantity::Lengths => vec![":content"],
        // Only a text of this very length, or one element, shows them.
        Quantity::Blocks | Quantity::Positions | Quantity::WhiteSpace => Vec::new(),
        Quantity::Id => vec![":toolCallId"],
        Quantity::Depth if n >= LIMITS.depth => Vec::new(),
        _ => vec![""],
    };
    let named = |family: &'static Family| {
        members(family).into_iter().map(move |member| (format!("{}{member}:{n}", family.name), family.profiles[0]))
    };
    FAMILIES.iter().flat_map(named).collect()
}

/// The names of the families.
pub fn families() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().map(|family| family.name)
}

/// Puts each bug to the cases that the table names for it, the smallest that should do first.
///
/// # Errors
///
/// When no thread of the operating system can be started.
pub fn survey(corpus: &Corpus, table: &[Growth], breadth: Breadth) -> io::Result<Survey> {
    let mut trials = Vec::new();
    let everything = vec![String::new()];
    for row in table {
        for family in FAMILIES.iter().filter(|family| family.is_for(row)) {
            let mut profiles: Vec<Profile> = row.profiles.clone();
            profiles.retain(|profile| family.profiles.contains(profile));
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
                    // Each border is one of its own.
                    (_, Quantity::Blocks) => {
                        (3..usize::BITS).map(|power| 1 << power).take_while(|&n| n <= largest).collect()
                    }
                    (Breadth::SmallSizes, _) => SMALL.into_iter().filter(|&n| n < largest).collect(),
                    _ => vec![largest.saturating_sub(1)],
                };
                let members = if row.members.is_empty() { &everything } else { &row.members };
                let is_touched = |member: &&String| cases.iter().any(|(case, _)| family.touches(case, member));
                for member in members.iter().filter(is_touched) {
                    trials.extend(sizes.iter().map(|&n| Trial { family, row, member, profile, n }));
                }
            }
        }
    }
    let is_idle = |family: &&Family| {
        let is_tried = trials.iter().any(|trial| trial.family.name == family.name);
        let has_size = !matches!(family.quantity, Quantity::WhiteSpace | Quantity::Blocks | Quantity::Positions);
        !is_tried && (breadth != Breadth::SmallSizes || has_size)
    };
    let idle: Vec<String> =
        FAMILIES.iter().filter(is_idle).map(|family| format!("{}: no case is about it", family.name)).collect();
    let workers = ThreadPoolBuilder::new().stack_size(DEEP_STACK).build().map_err(io::Error::other)?;
    let caught = workers.install(|| {
        let cases: Vec<(&Case, Profile)> = table
            .iter()
            .flat_map(|row| {
                row.profiles
                    .iter()
                    .flat_map(|&profile| row.cases(corpus, profile).into_iter().map(move |(case, _)| (case, profile)))
            })
            .collect();
        let sound = |&(case, profile): &(&Case, Profile)| {
            ((case.id.clone(), profile), Replies::of(&mut InProcess::new(super::sound()), case, profile).outcome)
        };
        let sound: HashMap<(String, Profile), Outcome> = cases.par_iter().map(sound).collect();
        trials.par_iter().map(|trial| trial.is_caught(corpus, &sound)).collect::<Vec<bool>>()
    });
    let survivors = trials.iter().zip(caught).filter(|(_, is_caught)| !is_caught).map(|(trial, _)| trial.name());
    Ok(Survey { trials: trials.len(), survivors: idle.into_iter().chain(survivors).collect() })
}

impl Family {
    fn is_for(&self, row: &Growth) -> bool {
        let is_here = |place: &&str| row.place.starts_with(*place);
        self.quantity == row.quantity && (self.places.is_empty() || self.places.iter().any(is_here))
    }

    fn planted(&self, n: usize, member: &str) -> Twin {
        let mut twin = Twin { n, member: member.to_owned(), ..Twin::default() };
        if let Some(change) = self.change {
            twin.change = change;
            twin.before = |twin, _, input| change_texts(input, &twin.member, &|text| (twin.change)(text, twin.n));
        }
        (self.plant)(&mut twin);
        twin
    }

    /// Whether it changes any text of a case: a name has no line feed, for example.
    fn touches(&self, case: &Case, member: &str) -> bool {
        let Some(change) = self.change.filter(|_| self.quantity == Quantity::WhiteSpace) else { return true };
        let Ok(input) = json::read(case.input()) else { return false };
        let mut changed = input.clone();
        change_texts(&mut changed, member, &|text| change(text, 1));
        changed != input
    }
}

impl Trial<'_> {
    fn name(&self) -> String {
        let Self { family, row, member, profile, n } = self;
        let member = if member.is_empty() { String::new() } else { format!("{member}:") };
        format!("{}:{member}{n} ({}, {profile})", family.name, row.place)
    }

    fn is_caught(&self, corpus: &Corpus, sound: &HashMap<(String, Profile), Outcome>) -> bool {
        let Ok(n) = usize::try_from(self.n) else { return false };
        let fails = |case: &Case| {
            let mut testee = InProcess::new(self.family.planted(n, self.member));
            let sound = sound.get(&(case.id.clone(), self.profile));
            Replies::of(&mut testee, case, self.profile)
                .judged(self.profile, |_, outcome| sound == Some(outcome))
                .counts_against(true)
        };
        let cases = self.row.cases(corpus, self.profile);
        let are_large = !matches!(self.row.quantity, Quantity::WhiteSpace | Quantity::Blocks | Quantity::Positions);
        cases.into_iter().filter(|&(_, size)| !are_large || size > self.n).any(|(case, _)| fails(case))
    }
}
