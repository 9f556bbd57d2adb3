//! States the laws of messages, in both context modes.

use super::{cut, hold, same};
use threadspec::{
    ContextMode, ContextOptions, Event, EventKind, Message, Profile, SerializeOptions, build_messages, oracle,
    serialize_thread,
};

fn build(events: &[Event], profile: Profile, mode: ContextMode) -> Vec<Message> {
    build_messages(events, &ContextOptions { profile, mode, instructions: "" })
}

/// The messages without the system message.
fn without_system(messages: &[Message]) -> &[Message] {
    match messages {
        [Message::System { .. }, rest @ ..] => rest,
        all => all,
    }
}

/// Both modes build the messages that they must, and in hardened providers accept them, wherever a thread is cut.
///
/// # Panics
/// When that does not hold.
pub fn messages(events: &[Event], profile: Profile) {
    let what = |what: &str| format!("{what} ({profile})");
    let [standard, xml] = ContextMode::ALL.map(|mode| build(events, profile, mode));
    let again = build(events, profile, ContextMode::Standard);
    same(&standard, &again, &what("the same input twice"), events);

    let system = standard.len() - without_system(&standard).len();
    same(&standard[..system], &xml[..xml.len() - 1], &what("the system message of both modes"), events);
    let document = serialize_thread(events, &SerializeOptions { profile, ..SerializeOptions::default() });
    same(&xml.last(), &Some(&Message::human(&*document)), &what("the document in xml mode"), events);

    for message in &standard {
        let read = Message::from_json(&message.to_json());
        same(&read.as_ref(), &Ok(message), &what("a message through JSON"), events);
    }
    let done = Event { iteration: 1, kind: EventKind::Completion { result: "Done".into(), verified: None } };
    let finished = build(&[events, &[done]].concat(), profile, ContextMode::Standard);
    same(&standard, &finished, &what("messages after a completion"), events);

    let before = &events[..cut(events, &document)];
    let built = build(before, profile, ContextMode::Standard);
    match profile {
        Profile::Hardened => {
            hold(oracle::provider_valid(&standard), &what("provider-valid"), events);
            hold(oracle::provider_valid(&built), &what("provider-valid"), before);
        }
        Profile::Literal => {
            let grown = without_system(&standard).starts_with(without_system(&built));
            same(&grown, &true, &what("messages only grow"), events);
        }
    }
}

/// Both modes carry every fact of a thread.
///
/// # Panics
/// When one of them lacks a fact.
pub fn equivalence(events: &[Event], profile: Profile) {
    let document = serialize_thread(events, &SerializeOptions { profile, ..SerializeOptions::default() });
    let messages = build(events, profile, ContextMode::Standard);
    hold(oracle::equivalent(events, &document, &messages, profile), &format!("equivalent ({profile})"), events);
}
