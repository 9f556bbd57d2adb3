//! The fast forms are the plain ones.

use super::{cut, same};
use threadspec::{
    ContextMode, ContextOptions, Event, MessageBuilder, Profile, SerializeOptions, ThreadWriter, build_messages, plain,
    serialize_thread, write_thread,
};

/// The document and the messages of a thread are what the plain forms of the specification give, whether they are made at once or while
/// the thread grows.
///
/// # Panics
/// When they are not.
pub fn plain(events: &[Event], profile: Profile) {
    for response_prefix in ["", "I <will>"] {
        let options = SerializeOptions { profile, response_prefix };
        let expected = plain::serialize_thread(events, &options);
        let what = |what: &str| format!("{what} ({profile}, prefix {response_prefix:?})");
        same(&serialize_thread(events, &options), &expected, &what("a document"), events);
        let mut written = Vec::new();
        write_thread(&mut written, events, &options).expect("a vector takes everything");
        same(&written, &expected.into_bytes(), &what("a document that goes to a writer"), events);
    }

    let options = SerializeOptions { profile, ..SerializeOptions::default() };
    let document = plain::serialize_thread(events, &options);
    let at = cut(events, &document);
    let mut writer = ThreadWriter::new(profile);
    events[..at].iter().for_each(|event| writer.push(event));
    let before = plain::serialize_thread(&events[..at], &options);
    same(writer.document(), &*before, &format!("a document that grows ({profile})"), &events[..at]);
    events[at..].iter().for_each(|event| writer.push(event));
    same(&writer.finish(), &document, &format!("a document that has grown ({profile})"), events);

    for (mode, instructions) in
        [(ContextMode::Standard, ""), (ContextMode::Standard, "Be brief."), (ContextMode::Xml, "<a>")]
    {
        let options = ContextOptions { profile, mode, instructions };
        let what = |what: &str| format!("{what} ({profile}, {mode}, instructions {instructions:?})");
        let expected = plain::build_messages(events, &options);
        same(&build_messages(events, &options), &expected, &what("messages"), events);
        let mut builder = MessageBuilder::new(&options);
        events[..at].iter().for_each(|event| builder.push(event));
        let before = plain::build_messages(&events[..at], &options);
        same(builder.messages(), &*before, &what("messages that grow"), &events[..at]);
        events[at..].iter().for_each(|event| builder.push(event));
        same(&builder.into_messages(), &expected, &what("messages that have grown"), events);
    }
}
