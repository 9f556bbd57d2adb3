//! `threadspec check`.

use super::{Stop, exit, read_file};
use crate::terminal::{BAD, GOOD, STRONG, WARNING, print, styled, visible};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use threadspec::{
    ContextMode, ContextOptions, Event, Profile, SerializeOptions, build_messages, oracle, serialize_thread,
    split_response_prefix, surrogates::repair_surrogates, wire,
};

/// Report everything wrong with event logs, or with `<thread>` documents
///
/// A log is read, rendered in both context modes, and held against every oracle. What is wrong with a log or a document
/// makes the exit code 1; a warning, such as a character that no XML document can carry, does not.
#[derive(Debug, clap::Args)]
pub struct Check {
    /// Event logs (a JSON array, an object with `events`, JSON Lines, an OpenAI-style transcript) or documents; `-` is stdin
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Render by this profile, literal or hardened
    #[arg(long, default_value_t)]
    profile: Profile,
}

impl Check {
    /// Runs the command and returns its exit code.
    ///
    /// # Errors
    ///
    /// When a file cannot be read at all.
    pub fn execute(&self) -> Result<u8, Stop> {
        let mut at_fault = 0;
        for file in &self.files {
            let text = read_file(file)?;
            let report = if text.trim_start().starts_with('<') { document(&text) } else { log(&text, self.profile) };
            at_fault += usize::from(!report.faults.is_empty());
            print(&report.text(file));
        }
        if self.files.len() > 1 {
            print(&format!("{} files, {at_fault} at fault\n", self.files.len()));
        }
        Ok(if at_fault == 0 { exit::OK } else { exit::NOT_CONFORMANT })
    }
}

/// What there is to say of one file.
#[derive(Debug, Default)]
struct Report {
    about: String,
    faults: Vec<String>,
    warnings: Vec<String>,
    /// The oracles that hold.
    sound: Vec<&'static str>,
}

impl Report {
    fn text(&self, file: &Path) -> String {
        let mut text = format!("{}: {}\n", styled(STRONG, visible(&file.display().to_string())), self.about);
        for (label, style, lines) in [("error", BAD, &self.faults), ("warning", WARNING, &self.warnings)] {
            for line in lines {
                text.push_str(&format!("  {} {}\n", styled(style, label), visible(line)));
            }
        }
        if !self.sound.is_empty() {
            text.push_str(&format!("  {} {}\n", styled(GOOD, "holds"), self.sound.join(", ")));
        }
        text
    }

    fn judge(&mut self, name: &'static str, verdict: Result<(), oracle::Violation>) {
        match verdict {
            Ok(()) => self.sound.push(name),
            Err(violation) => self.faults.push(format!("{name}: {violation}")),
        }
    }
}

fn document(text: &str) -> Report {
    // A final line end is what an editor or a terminal adds.
    let (document, behind) = split_response_prefix(text.trim_start());
    let mut report = Report::default();
    match threadspec::read_thread(document) {
        Ok(read) => {
            report.about = format!("a document of {} events", read.elements.len());
            report.sound.push("well-formed");
            report.judge("well-shaped", oracle::well_shaped(document));
        }
        Err(error) => {
            "a document".clone_into(&mut report.about);
            report.faults.push(error.to_string());
        }
    }
    if !behind.trim().is_empty() {
        report.warnings.push(format!("{} characters of response prefix behind the document", behind.chars().count()));
    }
    report
}

fn log(text: &str, profile: Profile) -> Report {
    let mut report = Report { about: "an event log".to_owned(), ..Report::default() };
    let each = match wire::read_transcript(text) {
        Ok(events) => events.into_iter().map(Ok).collect(),
        // The first fault is all that is known, unless the others are events that can be judged one by one.
        Err(first) => match threadspec::read_each_event(text) {
            Ok(each) if each.iter().any(Result::is_ok) => each,
            _ => {
                report.faults.push(first.to_string());
                return report;
            }
        },
    };
    let (events, errors): (Vec<_>, Vec<_>) = each.into_iter().partition(Result::is_ok);
    let events: Vec<Event> = events.into_iter().flatten().collect();
    report.faults.extend(errors.into_iter().filter_map(Result::err).map(|error| error.to_string()));
    let unreadable = report.faults.len();
    report.about = format!("{} events, profile {profile}", events.len());
    if unreadable > 0 {
        report.about.push_str(&format!("; {unreadable} unreadable, left out below"));
    }
    report.warnings.extend(half_characters(text));
    report.warnings.extend(not_carried(&events, profile));
    hold_against_oracles(&mut report, &events, profile);
    report
}

fn hold_against_oracles(report: &mut Report, events: &[Event], profile: Profile) {
    let options = SerializeOptions { profile, ..SerializeOptions::default() };
    let document = serialize_thread(events, &options);
    let messages = build_messages(events, &ContextOptions { profile, mode: ContextMode::Standard, instructions: "" });
    for (name, verdict) in oracle::document_verdicts(events, &document, profile) {
        report.judge(name, verdict);
    }
    report.judge("equivalent", oracle::equivalent(events, &document, &messages, profile));
    match (oracle::provider_valid(&messages), profile) {
        // Only the hardened profile promises it, but whoever sends the list wants to know.
        (Err(violation), Profile::Literal) => report.warnings.push(format!(
            "providers refuse the messages of standard mode: {violation}; the hardened profile mends that"
        )),
        (verdict, _) => report.judge("provider-valid", verdict),
    }
    // Every cut of a short log, and of a long one so many that the check stays quick.
    let step = events.len() / 64 + 1;
    let cuts = (0..events.len()).step_by(step);
    let kept = cuts.map(|cut| oracle::append_only(&serialize_thread(&events[..cut], &options), &document));
    report.judge("append-only", kept.collect());
}

/// Escapes of half a character, which are read as U+FFFD.
fn half_characters(text: &str) -> Option<String> {
    let repaired = repair_surrogates(text);
    let lines: Vec<String> = text
        .lines()
        .zip(repaired.lines())
        .enumerate()
        .filter(|(_, (before, after))| before != after)
        .map(|(number, _)| (number + 1).to_string())
        .collect();
    (!lines.is_empty())
        .then(|| format!("half characters (lone surrogates), read as U+FFFD, in lines {}", lines.join(", ")))
}

/// What a document does not give back, a line per event, place and character.
fn not_carried(events: &[Event], profile: Profile) -> Vec<String> {
    let mut found: BTreeMap<(usize, &str, char), Vec<usize>> = BTreeMap::new();
    for lost in oracle::not_carried(events, profile) {
        found.entry((lost.event, lost.place, lost.character)).or_default().push(lost.position);
    }
    let line = |((event, place, character), positions): ((usize, &str, char), Vec<usize>)| {
        let code = u32::from(character);
        let (first, times) = (positions[0], positions.len());
        let fate = if threadspec::is_xml_char(character) {
            "a parser reads it as other white space; the hardened profile keeps it"
        } else {
            "XML cannot carry it; it is written as U+FFFD"
        };
        let times = if times == 1 { String::new() } else { format!(", {times} times") };
        format!("event {event} {place}: U+{code:04X} at character {first}{times}: {fate}")
    };
    found.into_iter().map(line).collect()
}
