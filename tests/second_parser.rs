//! The strict reader's verdict against a second parser, on good documents, on bad ones, and on everything in between:
//! more than 250,000 of them.

use crate::draws;
use proptest::prelude::*;
use threadspec::{SerializeOptions, serialize_thread};
use threadspec_campaign::generate::Thread;
use threadspec_campaign::laws;

/// Pieces from which documents are made: each is legal somewhere, and most are not legal everywhere.
const PIECES: &[&str] = &[
    "<thread>",
    "</thread>",
    "<thread/>",
    "<event>",
    "</event>",
    "<event/>",
    "<event ",
    "event",
    "</",
    "/>",
    "<",
    ">",
    "=",
    " type=\"human\"",
    " id='0'",
    " type = \"a\"",
    "\"",
    "'",
    "/",
    "!",
    "?",
    "-",
    "--",
    "]",
    "]]>",
    "<![CDATA[",
    "<!--",
    "-->",
    "<?pi ",
    "<?pi?>",
    "?>",
    "<?xml version=\"1.0\"?>",
    "<!DOCTYPE a>",
    "xmlns",
    ":",
    "&",
    ";",
    "#",
    "&amp;",
    "&lt;",
    "&apos;",
    "&#13;",
    "&#x1F600;",
    "&#0;",
    "&#x1b;",
    "&#xffff;",
    "&#99999999999;",
    "&nbsp;",
    "&#x;",
    "a",
    "é",
    "😀",
    "0",
    "_",
    ".",
    " ",
    "\t",
    "\n",
    "\r",
    "\r\n",
    "\0",
    "\u{b}",
    "\u{1b}",
    "\u{7f}",
    "\u{85}",
    "\u{a0}",
    "\u{2028}",
    "\u{d7ff}",
    "\u{e000}",
    "\u{fdd0}",
    "\u{fffd}",
    "\u{fffe}",
    "\u{ffff}",
    "\u{1fffe}",
    "\u{feff}",
    "\u{300}",
    "\u{b7}",
    "\u{37e}",
];

/// Found by fuzzing: what the second parser is known to be wrong about is excused wherever it stands, and nothing else is.
#[test]
fn on_documents_that_told_the_two_apart() {
    for document in [
        "<?pi<?a?><thread/>",
        "<?pi>a<!DOCTYPE a>?><thread/>",
        "<thread>&#xD800;</thread>",
        "<thread></:thread>",
        "<thread>\r&amp;\r\n</thread>",
    ] {
        laws::read(document);
    }
}

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        20 => proptest::sample::select(PIECES).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ]
}

fn pieces(most: usize) -> impl Strategy<Value = String> {
    proptest::collection::vec(piece(), 0..most).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..draws(2_000, 50_000) })]

    #[test]
    fn on_documents_of_random_pieces(document in pieces(12)) {
        laws::read(&document);
    }

    #[test]
    fn on_a_thread_with_pieces_in_its_text(text in pieces(5)) {
        laws::read(&format!("<thread>\n  <event type=\"human\" id=\"0\">{text}</event>\n</thread>"));
    }

    #[test]
    fn on_a_thread_with_pieces_in_its_tags(inside in pieces(4), value in pieces(3)) {
        laws::read(&format!("<thread><event{inside}>text</event><event type=\"{value}\"></event></thread>"));
    }

    #[test]
    fn on_a_thread_with_pieces_around_it(before in pieces(3), between in pieces(3), after in pieces(3)) {
        laws::read(&format!("{before}<thread>{between}<event type='a'/></thread>{after}"));
    }

    #[test]
    fn on_a_thread_that_was_cut(from in 0..200_usize, to in 0..200_usize, new in pieces(2)) {
        let document = "<thread>\n  <event type=\"human\" id=\"0\" iteration=\"0\">a &lt; b &#13;\n ]] c</event>\n  \
            <event type=\"tool_input\" id=\"1\" name=\"x&quot;y\" iteration=\"1\">{&quot;a&quot;:1}</event>\n</thread>";
        let (from, to) = (from.min(document.len()), to.min(document.len()));
        laws::read(&format!("{}{new}{}", &document[..from], &document[to.max(from)..]));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..draws(100, 1_000) })]

    #[test]
    fn on_a_generated_thread_with_pieces_in_it(thread: Thread, edits in proptest::collection::vec((any::<u16>(), 0..9_usize, piece()), 0..4)) {
        let mut document: Vec<char> = serialize_thread(&thread.events(), &SerializeOptions::default()).chars().collect();
        for (at, length, piece) in edits {
            let start = usize::from(at) % (document.len() + 1);
            let end = document.len().min(start + length);
            document.splice(start..end, piece.chars());
        }
        let document: String = document.into_iter().collect();
        laws::read(&document);
    }
}
