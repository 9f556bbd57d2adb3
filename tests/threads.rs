//! Every oracle, in both profiles, on every thread of the golden corpus, and on real agent threads where there are some.

use crate::is_thorough;
use std::path::Path;
use std::{env, fs};
use threadspec::{
    ContextMode, ContextOptions, Event, Profile, SerializeOptions, build_messages, is_xml_char, oracle, read_events,
    read_thread, serialize_thread,
};
use threadspec_judge::corpus::embedded;

fn hold_against_every_oracle(name: &str, events: &[Event]) {
    for profile in Profile::ALL {
        let serialize = |events| serialize_thread(events, &SerializeOptions { profile, ..Default::default() });
        let document = serialize(events);
        let messages = build_messages(events, &ContextOptions { profile, ..Default::default() });
        let holds = |verdict: Result<(), oracle::Violation>| {
            if let Err(violation) = verdict {
                panic!("{name}, {profile}: {violation}");
            }
        };
        for (_, verdict) in oracle::document_verdicts(events, &document, profile) {
            holds(verdict);
        }
        holds(oracle::permitted_kept(events, &document, profile));
        holds(oracle::equivalent(events, &document, &messages, profile));
        if profile == Profile::Hardened {
            holds(oracle::provider_valid(&messages));
        }
        // Usually a few of the beginnings, the last one always.
        let step = if is_thorough() { 1 } else { events.len() / 4 + 1 };
        for cut in (0..events.len()).rev().step_by(step) {
            holds(oracle::append_only(&serialize(&events[..cut]), &document));
        }
        let xml = build_messages(events, &ContextOptions { profile, mode: ContextMode::Xml, ..Default::default() });
        assert_eq!(xml.last().map(threadspec::Message::content), Some(&*document), "{name}, {profile}");
        let second = roxmltree::Document::parse(&document).expect("a second parser accepts the document");
        assert_eq!(second.root_element().children().filter(roxmltree::Node::is_element).count(), events.len());
    }
}

#[test]
fn golden_threads() {
    let (corpus, problems) = embedded();
    assert!(problems.is_empty(), "{problems:?}");
    let mut threads = 0;
    for case in &corpus.cases {
        // Inputs that are refused are left out, and large ones are taken in outline: their own cases judge them in full.
        if let Ok(events) = read_events(case.outline()) {
            hold_against_every_oracle(&case.id, &events);
            threads += 1;
        }
    }
    assert!(threads > 500, "only {threads} threads: the corpus has moved");
}

/// Real threads are not part of the project. `THREADSPEC_THREADS` names a folder of event logs, one `.json` file each.
#[test]
fn real_threads() {
    let folder = env::var("THREADSPEC_THREADS").unwrap_or_else(|_| "../shared/data/threads".to_owned());
    let Ok(files) = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(&folder)) else {
        println!("skipped: no real threads in {folder}");
        return;
    };
    let mut threads = 0;
    for file in files {
        let path = file.expect("the folder is readable").path();
        let events = read_events(&fs::read_to_string(&path).expect("the log is readable")).expect("the log is valid");
        hold_against_every_oracle(&path.display().to_string(), &events);
        back_byte_for_byte(&events);
        threads += 1;
    }
    assert!(threads > 0, "no logs in {folder}");
}

/// Without the oracles: each text of the events is the text of its element, but for forbidden characters.
fn back_byte_for_byte(events: &[Event]) {
    let options = SerializeOptions { profile: Profile::Hardened, ..Default::default() };
    let elements = read_thread(&serialize_thread(events, &options)).expect("the document is a thread").elements;
    for (event, element) in events.iter().zip(elements) {
        let event = event.to_json();
        let text = ["content", "error", "question", "response", "summary", "result"]
            .iter()
            .find_map(|field| event[field].as_str());
        if let Some(text) = text {
            let expected: String = text.chars().map(|c| if is_xml_char(c) { c } else { '\u{fffd}' }).collect();
            assert_eq!(element.text, expected);
        }
    }
}
