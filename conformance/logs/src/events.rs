//! Checks event logs and transcripts of messages.

use super::CheckOptions;
use super::finding::{Element, Finding, Output, Place};
use super::list::{Batch, Batches, ElementKind};
use super::pairing::Pairing;
use super::rules::finding;
use rayon::prelude::*;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io;
use threadspec::oracle::{self, NotCarried, Violation};
use threadspec::surrogates::lone_surrogates;
use threadspec::wire::TranscriptReader;
use threadspec::{
    ContextMode, ContextOptions, Event, Profile, SerializeOptions, build_messages, read_event, read_json, read_thread,
    serialize_thread,
};
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

/// Consecutive events of a log.
#[derive(Default)]
struct Stretch {
    events: Vec<Event>,
    /// For each event the number and the line of its element.
    places: Vec<(usize, usize)>,
    /// The elements that could not be read.
    unreadable: Vec<usize>,
    /// What was found, by the number of the element.
    found: Vec<(usize, Finding)>,
    /// The oracles that do not hold.
    violated: Vec<&'static str>,
}

pub(super) fn check(
    mut batches: Batches<'_>,
    kind: ElementKind,
    options: CheckOptions,
    output: &mut Output<'_>,
) -> io::Result<()> {
    let (about, noun) = match kind {
        ElementKind::Messages => ("a transcript", "message"),
        _ => ("an event log", "event"),
    };
    output.recognized(&format!("{about}, profile {}", options.profile), 1);
    let mut holds: Vec<&str> = ORACLES.to_vec();
    if options.profile == Profile::Literal {
        // Only the hardened profile promises it.
        holds.retain(|oracle| *oracle != "provider-valid");
    }
    let judge = StretchJudge { profile: options.profile, noun };
    let mut pairing = Pairing::default();
    let mut transcript = TranscriptReader::default();
    let (mut total, mut unreadable) = (0, 0);
    let mut failed = None;
    while failed.is_none() {
        let mut some = Vec::new();
        while some.len() < rayon::current_num_threads() {
            match batches.next() {
                Ok(Some(batch)) => some.push(batch),
                Ok(None) => break,
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
        }
        if some.is_empty() {
            break;
        }
        total += some.iter().map(|batch| batch.elements().count()).sum::<usize>();
        let stretches: Vec<Stretch> = match kind {
            ElementKind::Events | ElementKind::Requests => {
                some.par_iter().map(|batch| judge.of_events(judge.read_events(batch))).collect()
            }
            ElementKind::Messages => {
                let read: Vec<_> = some.iter().map(|batch| judge.read_messages(batch, &mut transcript)).collect();
                read.into_par_iter().map(|stretch| judge.of_events(stretch)).collect()
            }
        };
        for mut stretch in stretches {
            judge.pair(&mut stretch, &mut pairing);
            unreadable += stretch.unreadable.len();
            holds.retain(|oracle| !stretch.violated.contains(oracle));
            stretch.found.sort_by_key(|(index, _)| *index);
            stretch.found.into_iter().for_each(|(_, found)| output.found(found));
        }
    }
    pairing.end(|place, what| output.found(refused(place, &what)));
    output.summary.holds = holds;
    output.summary.judge(noun, total);
    output.summary.unreadable = unreadable;
    failed.map_or(Ok(()), Err)
}

/// A fault of calls and results, as it is reported.
fn refused(place: Place, what: &str) -> Finding {
    finding("LOG-PAIR", place, format!("{what}: providers refuse that; the hardened profile mends it"))
}

struct StretchJudge {
    profile: Profile,
    /// What an element is called.
    noun: &'static str,
}

impl StretchJudge {
    fn place(&self, (index, line): (usize, usize)) -> Place {
        let element = Some(Element { kind: self.noun, number: index });
        Place { element, ..Place::line(line) }
    }

    fn read_events(&self, batch: &Batch<'_>) -> Stretch {
        let mut stretch = self.begin(batch);
        for (index, line, json) in batch.elements() {
            match read_event(json) {
                Ok(event) => {
                    stretch.events.push(event);
                    stretch.places.push((index, line));
                }
                Err(error) => self.unreadable(&mut stretch, (index, line), &error),
            }
        }
        stretch
    }

    fn read_messages(&self, batch: &Batch<'_>, transcript: &mut TranscriptReader) -> Stretch {
        let mut stretch = self.begin(batch);
        for (index, line, json) in batch.elements() {
            match read_json(json).and_then(|message| Ok((transcript.read(&message)?, message))) {
                Ok((events, message)) => {
                    stretch.places.extend(events.iter().map(|_| (index, line)));
                    stretch.events.extend(events);
                    for what in unreadable_arguments(&message) {
                        stretch.found.push((index, finding("LOG-ARGUMENTS", self.place((index, line)), what)));
                    }
                }
                Err(error) => self.unreadable(&mut stretch, (index, line), &error),
            }
        }
        stretch
    }

    fn begin(&self, batch: &Batch<'_>) -> Stretch {
        let mut stretch = Stretch::default();
        for &line in &batch.not_utf8 {
            let index = batch.elements().find(|&(_, other, _)| other == line).map_or(batch.index, |(index, ..)| index);
            stretch.found.push((index, finding("LOG-UTF8", self.place((index, line)), "not UTF-8")));
        }
        if lone_surrogates(batch.text()).next().is_some() {
            let halves = |(index, line, json)| (index, line, lone_surrogates(json).count());
            for (index, line, halves) in batch.elements().map(halves).filter(|&(_, _, halves)| halves > 0) {
                let half = count(halves, "half character");
                let what = format!("{half} (a lone surrogate), read as U+FFFD");
                stretch.found.push((index, finding("LOG-SURROGATE", self.place((index, line)), what)));
            }
        }
        stretch
    }

    fn unreadable(&self, stretch: &mut Stretch, place: (usize, usize), error: &threadspec::Error) {
        let field = error.field().map(|field| format!("{field}: ")).unwrap_or_default();
        let what = format!("{field}{}", error.reason());
        let rule = if what.starts_with("not readable as JSON") { "LOG-JSON" } else { "LOG-EVENT" };
        stretch.found.push((place.0, finding(rule, self.place(place), what)));
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
            stretch.found.push((place.0, finding("LOG-RENDER", self.place(place), what)));
            stretch.violated.push(oracle);
        }
        let lost = not_carried(events, profile).into_iter().map(|(event, what)| {
            let place = stretch.places[event];
            (place.0, finding("LOG-CHARACTER", self.place(place), what))
        });
        stretch.found.extend(lost);
        stretch
    }

    fn pair(&self, stretch: &mut Stretch, pairing: &mut Pairing) {
        let mut unreadable = stretch.unreadable.iter().peekable();
        for (event, &place) in stretch.events.iter().zip(&stretch.places) {
            while unreadable.next_if(|&&index| index < place.0).is_some() {
                pairing.skip();
            }
            let found = &mut stretch.found;
            pairing.push(
                event,
                || self.place(place),
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

/// The arguments of a message's calls that are not the JSON text of an object.
fn unreadable_arguments(message: &Value) -> Vec<String> {
    let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
    let calls = calls.iter().enumerate().map(|(number, call)| (format!("tool_calls[{number}]."), call));
    let arguments = |(path, call): (String, &Value)| {
        let text = call["function"]["arguments"].as_str().filter(|text| !text.is_empty())?;
        let why = match read_json(text) {
            Ok(Value::Object(Map { .. })) => return None,
            Ok(_) => "the JSON text of something else than an object".to_owned(),
            Err(error) => error.reason().to_owned(),
        };
        Some(format!("{path}function.arguments: {why}: {}", super::finding::excerpt(text)))
    };
    calls.filter_map(arguments).collect()
}

/// What a document does not carry: for each event, one line per place and character.
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
