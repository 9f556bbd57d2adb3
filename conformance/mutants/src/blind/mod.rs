//! Blindness of the judge: each change of what a sound agent sends, made alone, must be found, whatever the case is about.
//!
//! Recorded replies are changed and judged again where requests are reported (ops `tools` and `session`). Over the wire and through gateways
//! the body is changed on its way, so that the provider meets it.

mod changes;
mod listed;

use crate::Error;
use crate::gateway::TestGateway;
use crate::gateways::ThroughTestGateway;
use crate::over_wire::{ChangeBody, InOneProcess, change_body};
use crate::place::Place;
use crate::trial::{CaseReplies, is_usual, workers};
use changes::{RequestChange, changes};
use listed::ListedChanges;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, PoisonError};
use threadspec_judge::corpus::Case;
use threadspec_judge::protocol::{Op, Reply};
use threadspec_judge::session;
use threadspec_judge::universal::{self, AgentReply, Others};
use threadspec_judge::verdict::{Outcome, Verdict};
use threadspec_runner::{InProcess, StoredReference, Testee};

/// The finding that shows a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sight {
    /// The case fails.
    Subject,
    /// A finding beside the case.
    Beside,
    /// A finding of a `should` clause that the case is not about, which nobody is told.
    Recommended,
    /// Nothing, and the list says that it is permitted.
    Permitted,
    /// Nothing.
    Nothing,
}

impl Sight {
    /// Each of them.
    pub const ALL: [Self; 5] = [Self::Subject, Self::Beside, Self::Recommended, Self::Permitted, Self::Nothing];

    /// It in a few words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Subject => "caught by the subject",
            Self::Beside => "caught beside",
            Self::Recommended => "shown by a `should` alone",
            Self::Permitted => "permitted by the list",
            Self::Nothing => "blind",
        }
    }
}

/// Where changes are made.
pub const DOORS: [&str; 4] = ["tools", "session", "wire", "gateway"];

/// A change that the judge is blind for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnseenChange {
    /// The door.
    pub door: &'static str,
    /// The change, what it is made to, and in which requests.
    pub change: String,
    /// The case, and the place if there are several.
    pub case: String,
}

/// What the judge sees of all changes.
#[derive(Clone, Debug, Default)]
pub struct Blindness {
    /// How many changes each thing shows, by door.
    pub seen: BTreeMap<(&'static str, Sight), usize>,
    /// The changes that nothing shows, and that no list permits.
    pub blind: Vec<UnseenChange>,
    /// The entries of the list that permitted nothing.
    pub unused: Vec<String>,
}

impl Blindness {
    /// Makes one in `step` of all changes in each of these doors.
    ///
    /// # Errors
    ///
    /// When the list of permitted changes cannot be read, or no thread can be started.
    pub fn of(cases: &[&Case], doors: &[&str], step: usize) -> Result<Self, Error> {
        let listed = ListedChanges::read()?;
        let tasks: Vec<(&'static str, Place, usize, &Case)> = DOORS
            .into_iter()
            .filter(|door| doors.contains(door))
            .flat_map(|door| cases.iter().filter(|case| is_usual(case)).map(move |case| (door, *case)))
            .flat_map(|(door, case)| {
                places(door, case).into_iter().enumerate().map(move |(number, place)| (door, place, number, case))
            })
            .collect();
        let found: Vec<Vec<(UnseenChange, Sight, Option<usize>)>> = workers()?.install(|| {
            let look = |(door, place, number, case): (&'static str, Place, usize, &Case)| {
                let changed = BlindCase::of(door, place, case);
                changed.map(|changed| changed.judged(step.max(1), number, &listed)).unwrap_or_default()
            };
            tasks.into_par_iter().map(look).collect()
        });
        let mut blindness = Self::default();
        let mut used = vec![false; listed.len()];
        for (change, sight, entry) in found.into_iter().flatten() {
            *blindness.seen.entry((change.door, sight)).or_default() += 1;
            entry.into_iter().for_each(|entry| used[entry] = true);
            if sight == Sight::Nothing {
                blindness.blind.push(change);
            }
        }
        if step < 2 && doors.len() == DOORS.len() {
            blindness.unused = listed.names().zip(used).filter(|(_, used)| !used).map(|(name, _)| name).collect();
        }
        Ok(blindness)
    }
}

/// Lists the ways to put a case.
fn places(door: &str, case: &Case) -> Vec<Place> {
    let places: Vec<Place> = match door {
        "tools" => vec![Place::Agent],
        "session" => vec![Place::Sessions],
        "wire" => crate::wire::modes::ALL.each().map(Place::Wire).collect(),
        _ => crate::Between::all().map(Place::Gateway).collect(),
    };
    places.into_iter().filter(|place| place.takes(case)).collect()
}

/// A case, what came of it without a change, and how it is put with one.
struct BlindCase<'a> {
    door: &'static str,
    place: Place,
    case: &'a Case,
    requests: Vec<Value>,
    replies: CaseReplies,
}

impl<'a> BlindCase<'a> {
    /// Puts a case without a change; `None` if it says nothing.
    fn of(door: &'static str, place: Place, case: &'a Case) -> Option<Self> {
        let bodies: Arc<Mutex<Vec<Value>>> = Arc::default();
        let kept = Arc::clone(&bodies);
        let replies = put(
            case,
            place,
            Arc::new(move |_, body| kept.lock().unwrap_or_else(PoisonError::into_inner).push(body.clone())),
        );
        if replies.clone().judged(case)?.verdict == Verdict::Unsupported {
            return None;
        }
        let requests = match (place, replies.own()?) {
            (Place::Wire(_) | Place::Gateway(_), _) => {
                std::mem::take(&mut *bodies.lock().unwrap_or_else(PoisonError::into_inner))
            }
            (_, (_, Outcome::Reply(Reply::Ok(reply)))) => {
                lists(&mut reply.clone()).into_iter().map(|list| list.clone()).collect()
            }
            _ => return None,
        };
        Some(Self { door, place, case, requests, replies })
    }

    /// Makes one in `step` of the changes, and judges each. In each of several places these are others.
    fn judged(&self, step: usize, number: usize, listed: &ListedChanges) -> Vec<(UnseenChange, Sight, Option<usize>)> {
        let offset = self.case.id.len() + number;
        let chosen = changes(&self.requests, self.case.input()).into_iter().enumerate();
        let chosen = chosen.filter(|(number, _)| (number + offset).is_multiple_of(step)).map(|(_, change)| change);
        chosen.map(|change| self.seen(&change, listed)).collect()
    }

    fn seen(&self, change: &RequestChange, listed: &ListedChanges) -> (UnseenChange, Sight, Option<usize>) {
        let made = self.with(change);
        let mut entry = None;
        let sight = match made.clone().judged(self.case) {
            Some(judgement) if judgement.verdict.is_failure() => Sight::Subject,
            Some(judgement) if !judgement.beside.is_empty() => Sight::Beside,
            _ if self.finds(&made) => Sight::Recommended,
            _ => {
                entry = listed.permits(self.door, &self.case.id, change);
                if entry.is_some() { Sight::Permitted } else { Sight::Nothing }
            }
        };
        let named = format!("{} of {} in {}", change.name, change.of, change.extent.name());
        let case = match self.place {
            Place::Wire(_) | Place::Gateway(_) => format!("{} {}", self.case.id, self.place),
            _ => self.case.id.clone(),
        };
        (UnseenChange { door: self.door, change: named, case }, sight, entry)
    }

    /// What comes of the case with a change.
    fn with(&self, change: &RequestChange) -> CaseReplies {
        if let Place::Wire(_) | Place::Gateway(_) = self.place {
            let made = change.clone();
            let change: ChangeBody = Arc::new(move |number, body| {
                if made.requests.contains(&number) {
                    made.make(body);
                }
            });
            return put(self.case, self.place, change);
        }
        let Some((_, Outcome::Reply(Reply::Ok(reply)))) = self.replies.own() else { return self.replies.clone() };
        let mut reply = reply.clone();
        for (number, request) in lists(&mut reply).into_iter().enumerate() {
            if change.requests.contains(&number) {
                change.make(request);
            }
        }
        self.replies.with_own(Outcome::Reply(Reply::Ok(reply)))
    }

    /// Returns whether the judge finds anything in the last reply, whatever clause it is about.
    fn finds(&self, replies: &CaseReplies) -> bool {
        let Some((terms, Outcome::Reply(Reply::Ok(reply)))) = replies.own() else { return true };
        let others = Others::of(self.case.after());
        let (input, answer) = (self.case.input(), AgentReply::Output(reply.clone()));
        let ruling = match self.case.op {
            Op::Session => session::judge(input, &others, terms.abilities, answer),
            _ => universal::judge(input, &others, terms.abilities, answer),
        };
        ruling.is_ok_and(|ruling| ruling.finds_anything())
    }
}

/// What comes of a case whose bodies are changed on their way, where there are any.
fn put(case: &Case, place: Place, change: ChangeBody) -> CaseReplies {
    let mut testee: Box<dyn Testee> = match place {
        Place::Wire(transport) => Box::new(InOneProcess::new(None, transport).changing(change)),
        Place::Gateway(between) => {
            let mut gateway = TestGateway::new(between.client, between.upstream);
            let sent = AtomicUsize::new(0);
            gateway.seams.sent = Some(Arc::new(move |_, request| change_body(&change, &sent, request)));
            Box::new(ThroughTestGateway::with(gateway, between))
        }
        _ => Box::new(InProcess::new(StoredReference)),
    };
    CaseReplies::of(&mut *testee, case, place.profile())
}

/// The requests of a reply, of all runs.
fn lists(reply: &mut Value) -> Vec<&mut Value> {
    let of_session = reply["runs"].is_array();
    let runs: Vec<&mut Value> =
        if of_session { reply["runs"].as_array_mut().into_iter().flatten().collect() } else { vec![reply] };
    runs.into_iter().filter_map(|run| run.get_mut("requests")?.as_array_mut()).flatten().collect()
}
