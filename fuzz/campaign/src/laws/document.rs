//! States the laws of texts, documents, messages and logs, and that the fast forms are the plain ones.

use super::{cut, fail, hold, profile_of, same};
use threadspec::surrogates::unmark_surrogates;
use threadspec::{
    ContextMode, ContextOptions, Document, Element, Error, Event, EventKind, Message, MessageBuilder, Profile,
    SerializeOptions, ThreadWriter, build_messages, escape_attribute, escape_text, is_xml_char, oracle, plain,
    read_each_event, read_events, read_thread, serialize_thread, split_response_prefix, write_thread,
};

/// The readers that read a document once more, behind the usual one, and must find the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecondReaders {
    /// The plain form of the reader, and roxmltree.
    Both,
    /// The plain form alone.
    Plain,
    /// roxmltree alone.
    Roxmltree,
    /// None.
    Neither,
}

impl SecondReaders {
    /// Those for an input that draws this number. Both take half of the time of a law about what is written, and the law [`read`] asks
    /// both about every document: so half of the inputs get neither.
    pub fn drawn(number: usize) -> Self {
        [Self::Plain, Self::Neither, Self::Roxmltree, Self::Neither][number % 4]
    }
}

/// A text that is escaped, as content and as an attribute value, comes back from a parser, and is what the plain form gives.
///
/// # Panics
/// When that does not hold.
pub fn escape(text: &str, profile: Profile, readers: SecondReaders) {
    let kept: String = text.chars().map(|c| if is_xml_char(c) { c } else { '\u{fffd}' }).collect();
    let (expected_text, expected_value) = match profile {
        Profile::Literal => {
            let lines = oracle::normalize_line_ends(&kept);
            let spaces = lines.replace(['\n', '\t'], " ");
            (lines, spaces)
        }
        Profile::Hardened => (kept.clone(), kept),
    };
    let (content, value) = (escape_text(text, profile), escape_attribute(text, profile));
    let document = format!("<thread><event type=\"{value}\">{content}</event></thread>");
    let read = read_by(&document, readers).unwrap_or_else(|error| panic!("{error}: {text:?}"));
    assert_eq!(read.elements[0].text, expected_text, "{profile}, text");
    assert_eq!(read.elements[0].attribute("type"), Some(&*expected_value), "{profile}, attribute");
    assert_eq!(content, plain::escape_text(text, profile), "{profile}, the plain form");
    assert_eq!(value, plain::escape_attribute(text, profile), "{profile}, the plain form of an attribute");
}

/// A document is well-formed, carries every event and nothing else, and only grows when events are added.
///
/// # Panics
/// When it does not.
pub fn serialize(events: &[Event], profile: Profile, readers: SecondReaders) {
    let options = SerializeOptions { profile, ..SerializeOptions::default() };
    let what = |oracle: &str| format!("{oracle} ({profile})");
    let document = serialize_thread(events, &options);
    let read = match read_by(&document, readers) {
        Ok(read) => read,
        Err(error) => fail(&error, &what("well-formed"), events),
    };
    hold(oracle::no_forgery_in(&read, events, profile), &what("no-forgery"), events);
    hold(oracle::round_trip_in(&read, events, profile), &what("round-trip"), events);

    // Serialized once more, with a prefix: the same document.
    let response_prefix = "<thread>\r & </thread>";
    let prefixed = serialize_thread(events, &SerializeOptions { response_prefix, ..options });
    let expected = (&*document, &*format!("\n{response_prefix}"));
    same(&split_response_prefix(&prefixed), &expected, &what("response prefix"), events);

    let before = &events[..cut(events, &document)];
    let grown = oracle::append_only(&serialize_thread(before, &options), &document);
    hold(grown, &what("append-only"), events);
}

/// The reader, its plain form and roxmltree agree on a document: on whether it is well-formed, and on what is in it.
///
/// # Panics
/// When they do not, except where roxmltree is known to be wrong.
pub fn read(document: &str) {
    // Whether it is a document does not matter here.
    let _ = read_by(document, SecondReaders::Both);
}

/// Reads a document with the usual reader, and has others agree with it.
fn read_by(document: &str, readers: SecondReaders) -> Result<Document, Error> {
    let first = read_thread(document);
    agree(document, &first, readers);
    first
}

/// Panics where a second reader finds something else in a document than the first one did.
fn agree(document: &str, first: &Result<Document, Error>, readers: SecondReaders) {
    if matches!(readers, SecondReaders::Both | SecondReaders::Plain) {
        assert_eq!(first, &plain::read_thread(document), "the plain form reads {document:?}");
    }
    if !matches!(readers, SecondReaders::Both | SecondReaders::Roxmltree) {
        return;
    }
    match (first, roxmltree::Document::parse(document)) {
        (Err(error), Ok(_)) if error.is_not_well_formed() => {
            assert!(roxmltree_is_lax(document), "only roxmltree accepts {document:?}: {error}");
        }
        (Err(error), Err(second)) if error.is_not_a_thread() => {
            panic!("only the reader calls {document:?} well-formed: {error}; {second}");
        }
        (Err(_), _) => {}
        (Ok(_), Err(second)) => panic!("only the reader accepts {document:?}: {second}"),
        (Ok(read), Ok(second)) => {
            // roxmltree keeps a CR next to a reference, where XML 1.0 (2.11) wants an LF.
            let ends_differ = document.contains('\r') && document.contains('&');
            let within_lines = |character: &char| !ends_differ || !"\r\n".contains(*character);
            let events: Vec<_> = second.root_element().children().filter(roxmltree::Node::is_element).collect();
            let agree = |(event, element): (&roxmltree::Node<'_, '_>, &Element)| {
                let text: String = event.children().filter_map(|child| child.text()).collect();
                let attributes = element.attributes.iter().map(|(name, value)| (&**name, &**value));
                event.attributes().map(|one| (one.name(), one.value())).eq(attributes)
                    && text.chars().filter(within_lines).eq(element.text.chars().filter(within_lines))
            };
            let all_agree = events.len() == read.elements.len() && events.iter().zip(&read.elements).all(agree);
            assert!(all_agree, "{document:?}: the other parser reads {second:?}");
        }
    }
}

/// Returns whether a document has something that roxmltree 0.21 accepts and XML 1.0 forbids: a reference to a number that is no character, a
/// processing instruction whose target is not a name, or an end tag that begins with a colon.
fn roxmltree_is_lax(document: &str) -> bool {
    let refers_to_no_character = document.split("&#").skip(1).any(|rest| {
        let number = rest.split(';').next().unwrap_or_default();
        let code = match number.strip_prefix('x') {
            Some(digits) => u32::from_str_radix(digits, 16),
            None => number.parse(),
        };
        code.is_ok_and(|code| char::from_u32(code).is_none())
    });
    let target_runs_on = document.match_indices("<?").any(|(at, start)| {
        let inside = document[at + start.len()..].split("?>").next().unwrap_or_default();
        let target = inside.split([' ', '\t', '\r', '\n']).next().unwrap_or_default();
        oracle::well_formed(&format!("<{target}/>")).is_err()
    });
    refers_to_no_character || target_runs_on || document.contains("</:")
}

// The fast forms are the plain ones.

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

// States the laws of messages, in both context modes.

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

// States the laws of any bytes that are read as a log.

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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::panic::catch_unwind;

    /// Every other reader is drawn, and each of them finds what the first one lost or took for something else.
    #[test]
    fn each_second_reader_is_drawn_and_finds_a_wrong_first_one() {
        let drawn: BTreeSet<String> = (0..4).map(|number| format!("{:?}", SecondReaders::drawn(number))).collect();
        assert_eq!(drawn.into_iter().collect::<Vec<_>>(), ["Neither", "Plain", "Roxmltree"]);

        let document =
            "<thread><event type=\"human\" id=\"0\">a</event><event type=\"error\" id=\"1\">b</event></thread>";
        let right = read_thread(document).expect("well-formed");
        let (mut fewer, mut other_text, mut other_value) = (right.clone(), right.clone(), right.clone());
        fewer.elements.pop();
        other_text.elements[0].text.push(' ');
        other_value.elements[1].attributes[0].1.push(' ');
        let refused = read_thread("<thread>").expect_err("cut");
        for wrong in [Ok(fewer), Ok(other_text), Ok(other_value), Err(refused)] {
            for readers in [SecondReaders::Plain, SecondReaders::Roxmltree, SecondReaders::Both] {
                assert!(catch_unwind(|| agree(document, &wrong, readers)).is_err(), "{readers:?}: {wrong:?}");
            }
        }
        agree(document, &Ok(right), SecondReaders::Both);
    }
}
