//! Checks event logs.

use super::finding::{Element, Finding, FindingOutput, Place};
use super::pairing::Pairing;
use super::rules::finding;
use super::scan::placed;
use memchr::memmem;
use rayon::prelude::*;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::ops::Range;
use threadspec::oracle::{self, NotCarried, Violation};
use threadspec::surrogates::lone_surrogates;
use threadspec::{
    ContextMode, ContextOptions, Event, Profile, SerializeOptions, build_messages, read_event, read_thread,
    serialize_thread,
};
use threadspec_apis::form::members;
use threadspec_judge::text::count;

/// The oracles that a log is held against.
const ORACLES: [&str; 8] = [
    "well-formed",
    "well-shaped",
    "well-escaped",
    "no-forgery",
    "round-trip",
    "equivalent",
    "provider-valid",
    "append-only",
];

/// Returns whether it is an event of a log: nothing else has an iteration.
pub(super) fn is_event(text: &str) -> bool {
    memmem::find(text.as_bytes(), b"\"iteration\"").is_some()
        && members(text).is_some_and(|members| members.contains_key("type") && members.contains_key("iteration"))
}

/// Consecutive elements of a log, about a megabyte of them.
#[derive(Default)]
struct Batch {
    text: String,
    /// The range of each in the text, and its line.
    places: Vec<(Range<usize>, usize)>,
    /// The number of the first element.
    index: usize,
    /// The lines that were not UTF-8; the text has U+FFFD in place of the faulty bytes.
    not_utf8: Vec<usize>,
}

impl Batch {
    /// How many bytes are judged at once.
    const SIZE: usize = 1 << 20;

    /// The elements: number, line and text.
    fn elements(&self) -> impl Iterator<Item = (usize, usize, &str)> {
        let places = self.places.iter().enumerate();
        places.map(|(number, (range, line))| (self.index + number, *line, &self.text[range.clone()]))
    }
}

/// Consecutive events of a log.
#[derive(Default)]
struct Stretch {
    events: Vec<Event>,
    /// For each event the number and the line of its element.
    places: Vec<(usize, usize)>,
    /// The elements that could not be read.
    unreadable: Vec<usize>,
    /// The findings, by the number of the element.
    found: Vec<(usize, Finding)>,
    /// The oracles that do not hold.
    violated: Vec<&'static str>,
}

/// Judges an event log, stretch by stretch, while it is read.
#[derive(Default)]
pub(super) struct EventLog {
    judge: StretchJudge,
    pairing: Pairing,
    batch: Batch,
    /// Batches that are judged together, each on a processor.
    waiting: Vec<Batch>,
    total: usize,
    unreadable: usize,
    holds: Vec<&'static str>,
    is_active: bool,
}

impl EventLog {
    pub(super) fn new(profile: Profile) -> Self {
        let mut holds = ORACLES.to_vec();
        if profile == Profile::Literal {
            // Only the hardened profile promises it.
            holds.retain(|oracle| *oracle != "provider-valid");
        }
        Self { judge: StretchJudge { profile }, holds, ..Self::default() }
    }

    /// Returns whether there was an event, so that what comes is one, too.
    pub(super) fn is_active(&self) -> bool {
        self.is_active
    }

    /// An event log begins.
    pub(super) fn begin(&mut self, output: &mut FindingOutput<'_>) {
        if !self.is_active {
            output.recognized(&format!("an event log, profile {}", self.judge.profile), 1);
        }
        self.is_active = true;
    }

    /// Takes a record if it is an event, or a list of events.
    pub(super) fn take(&mut self, text: &str, line: usize, output: &mut FindingOutput<'_>) -> bool {
        let is_active = self.is_active;
        let has_name = |name: &[u8]| memmem::find(text.as_bytes(), name).is_some();
        if !is_active && !text.starts_with('[') && !has_name(b"\"iteration\"") && !has_name(b"\"events\"") {
            return false;
        }
        let members = members(text);
        let has = |name: &str| members.as_ref().is_some_and(|members| members.contains_key(name));
        if is_event(text) || (is_active && (members.is_none() || has("type"))) {
            self.push(text, line, false, output);
            return true;
        }
        let list = match &members {
            Some(members) => members.get("events").map(|list| list.get()),
            None => text.starts_with('[').then_some(text),
        };
        let elements = list.and_then(|list| serde_json::from_str::<Vec<&RawValue>>(list).ok());
        let Some(elements) = elements else { return false };
        let is_empty_log = elements.is_empty() && members.as_ref().is_none_or(|members| members.len() == 1);
        if !is_empty_log && !elements.iter().take(3).any(|element| is_event(element.get())) {
            return false;
        }
        self.begin(output);
        placed(text, line, &elements).for_each(|(element, line)| self.push(element, line, false, output));
        true
    }

    /// The next element as it is written, and whether it was no UTF-8.
    pub(super) fn push(&mut self, element: &str, line: usize, is_not_utf8: bool, output: &mut FindingOutput<'_>) {
        self.begin(output);
        let start = self.batch.text.len();
        self.batch.text.push_str(element);
        self.batch.places.push((start..self.batch.text.len(), line));
        self.batch.not_utf8.extend(is_not_utf8.then_some(line));
        self.total += 1;
        if self.batch.text.len() >= Batch::SIZE {
            let next = Batch { index: self.total, ..Batch::default() };
            self.waiting.push(std::mem::replace(&mut self.batch, next));
            if self.waiting.len() >= rayon::current_num_threads() {
                self.flush(output);
            }
        }
    }

    fn flush(&mut self, output: &mut FindingOutput<'_>) {
        let batches = std::mem::take(&mut self.waiting);
        let judge = &self.judge;
        let stretches: Vec<Stretch> =
            batches.par_iter().map(|batch| judge.of_events(StretchJudge::read_events(batch))).collect();
        for mut stretch in stretches {
            StretchJudge::pair(&mut stretch, &mut self.pairing);
            self.unreadable += stretch.unreadable.len();
            self.holds.retain(|oracle| !stretch.violated.contains(oracle));
            stretch.found.sort_by_key(|(index, _)| *index);
            stretch.found.into_iter().for_each(|(_, found)| output.found(found));
        }
    }

    pub(super) fn conclude(&mut self, output: &mut FindingOutput<'_>) {
        if !self.is_active {
            return;
        }
        self.waiting.push(std::mem::take(&mut self.batch));
        self.flush(output);
        self.pairing.end(|place, what| output.found(refused(place, &what)));
        if self.total > 0 {
            output.summary.holds.append(&mut self.holds);
        }
        output.summary.judge("event", self.total);
        output.summary.unreadable = self.unreadable;
    }
}

/// A fault of calls and results, as it is reported.
fn refused(place: Place, what: &str) -> Finding {
    finding("LOG-PAIR", place, format!("{what}: providers refuse that; the hardened profile fixes it"))
}

/// The place of an event.
fn place_of((index, line): (usize, usize)) -> Place {
    let element = Some(Element { kind: "event", number: index });
    Place { element, ..Place::line(line) }
}

#[derive(Default)]
struct StretchJudge {
    profile: Profile,
}

impl StretchJudge {
    fn read_events(batch: &Batch) -> Stretch {
        let mut stretch = Self::begin(batch);
        for (index, line, json) in batch.elements() {
            match read_event(json) {
                Ok(event) => {
                    stretch.events.push(event);
                    stretch.places.push((index, line));
                }
                Err(error) => Self::unreadable(&mut stretch, (index, line), &error),
            }
        }
        stretch
    }

    fn begin(batch: &Batch) -> Stretch {
        let mut stretch = Stretch::default();
        for &line in &batch.not_utf8 {
            let index = batch.elements().find(|&(_, other, _)| other == line).map_or(batch.index, |(index, ..)| index);
            stretch.found.push((index, finding("LOG-UTF8", place_of((index, line)), "not UTF-8")));
        }
        if lone_surrogates(&batch.text).next().is_some() {
            let halves = |(index, line, json)| (index, line, lone_surrogates(json).count());
            for (index, line, halves) in batch.elements().map(halves).filter(|&(_, _, halves)| halves > 0) {
                let half = count(halves, "half character");
                let what = format!("{half} (a lone surrogate), read as U+FFFD");
                stretch.found.push((index, finding("LOG-SURROGATE", place_of((index, line)), what)));
            }
        }
        stretch
    }

    fn unreadable(stretch: &mut Stretch, place: (usize, usize), error: &threadspec::Error) {
        let field = error.field().map(|field| format!("{field}: ")).unwrap_or_default();
        let what = format!("{field}{}", error.reason());
        let rule = if what.starts_with("not readable as JSON") { "LOG-JSON" } else { "LOG-EVENT" };
        stretch.found.push((place.0, finding(rule, place_of(place), what)));
        stretch.unreadable.push(place.0);
    }

    /// Renders a stretch, as a thread of its own, and holds it against every oracle.
    fn of_events(&self, mut stretch: Stretch) -> Stretch {
        let (events, profile) = (&*stretch.events, self.profile);
        let options = SerializeOptions { profile, ..SerializeOptions::default() };
        let document = serialize_thread(events, &options);
        let messages =
            build_messages(events, &ContextOptions { profile, mode: ContextMode::Standard, instructions: "" });
        let mut violations: Vec<(&'static str, Violation)> = Vec::new();
        match read_thread(&document) {
            Ok(read) => {
                violations.extend(oracle::document_violations(&read, events, &document, profile));
                let conveyed = oracle::conveyed_by_document_in(events, &read, profile);
                violations.extend(conveyed.err().map(|violation| ("equivalent", violation)));
            }
            Err(_) => violations.extend(oracle::form_violations(&document, profile)),
        }
        let conveyed = oracle::conveyed_by_messages(events, &messages, profile);
        violations.extend(conveyed.err().map(|violation| ("equivalent", violation)));
        if profile == Profile::Hardened {
            violations.extend(oracle::provider_valid(&messages).err().map(|violation| ("provider-valid", violation)));
        }
        for cut in cuts(events.len(), document.len()) {
            let kept = oracle::append_only(&serialize_thread(&events[..cut], &options), &document);
            violations.extend(kept.err().map(|violation| ("append-only", violation)));
        }
        let first = stretch.places.first().copied().unwrap_or_default();
        for (oracle, violation) in violations {
            let place = violation.event().and_then(|event| stretch.places.get(event)).copied().unwrap_or(first);
            let what = format!("{oracle}: {}", violation.reason());
            stretch.found.push((place.0, finding("LOG-RENDER", place_of(place), what)));
            stretch.violated.push(oracle);
        }
        let lost = not_carried(events, profile).into_iter().map(|(event, what)| {
            let place = stretch.places[event];
            (place.0, finding("LOG-CHARACTER", place_of(place), what))
        });
        stretch.found.extend(lost);
        stretch
    }

    fn pair(stretch: &mut Stretch, pairing: &mut Pairing) {
        let mut unreadable = stretch.unreadable.iter().peekable();
        for (event, &place) in stretch.events.iter().zip(&stretch.places) {
            while unreadable.next_if(|&&index| index < place.0).is_some() {
                pairing.skip();
            }
            let found = &mut stretch.found;
            pairing.push(
                event,
                || place_of(place),
                |at, what| {
                    found.push((place.0, refused(at, &what)));
                },
            );
        }
        for _ in unreadable {
            pairing.skip();
        }
    }
}

/// Where to cut a thread to check that its document only grows: everywhere in a short one; in a long one in so few places that the cost
/// stays small.
fn cuts(events: usize, length: usize) -> impl Iterator<Item = usize> {
    const COST: usize = 1 << 21;
    let most = (COST / length.max(1)).clamp(1, 64);
    let step = events.div_ceil(most).max(1);
    (step / 2..events).step_by(step)
}

/// Lists the characters that a document cannot carry: for each event, one line per place and character.
fn not_carried(events: &[Event], profile: Profile) -> Vec<(usize, String)> {
    let mut found: BTreeMap<(usize, &str, char), (usize, usize)> = BTreeMap::new();
    for NotCarried { event, place, position, character } in oracle::not_carried(events, profile) {
        found.entry((event, place, character)).or_insert((position, 0)).1 += 1;
    }
    let line = |((event, place, character), (first, times))| {
        let fate = if threadspec::is_xml_char(character) {
            "a parser reads it as other white space; the hardened profile keeps it"
        } else {
            "XML cannot carry it; it is written as U+FFFD"
        };
        let times = if times == 1 { String::new() } else { format!(", {times} times") };
        (event, format!("{place}: U+{:04X} at character {first}{times}: {fate}", u32::from(character)))
    };
    found.into_iter().map(line).collect()
}
