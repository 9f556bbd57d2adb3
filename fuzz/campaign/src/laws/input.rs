//! States the laws of any bytes that are read as a log.

use super::{SecondReaders, equivalence, messages, profile_of, same, serialize};
use threadspec::surrogates::unmark_surrogates;
use threadspec::{Event, read_each_event, read_events};

/// Any bytes are refused with an error, or are a thread that passes the other checks.
///
/// # Panics
/// When that does not hold.
pub fn input(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let (all, each) = (read_events(text), read_each_event(text));
    let first_error = each.clone().map_or_else(Some, |each| each.into_iter().find_map(Result::err));
    assert_eq!(all.as_ref().err(), first_error.as_ref(), "two ways to read {text:?}");
    match all {
        Err(error) => {
            assert!(error.is_invalid_event() != error.is_invalid_input(), "{text:?}: {error}");
            assert_eq!(error.is_invalid_event(), error.index().is_some(), "{text:?}: {error}");
            assert!(error.index().is_none() || error.line().is_some(), "{text:?}: {error}");
        }
        Ok(events) => {
            same(&Ok(&events), &read_events(&written(&events)).as_ref(), "written and read", &events);
            let profile = profile_of(&events);
            serialize(&events, profile, SecondReaders::Both);
            messages(&events, profile);
            equivalence(&events, profile);
        }
    }
}

fn written(events: &[Event]) -> String {
    let json = serde_json::to_string(events).expect("events are JSON");
    unmark_surrogates(&json).into_owned()
}
