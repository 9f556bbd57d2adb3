//! The strict reader's verdict against a second parser, on good documents, on bad ones, and on everything in between.

use proptest::prelude::*;
use threadspec::read_thread;

/// What the reader and roxmltree make of a document must be the same: the verdict, and the elements where both accept it.
fn agree(document: &str) -> Result<(), TestCaseError> {
    // roxmltree 0.21 takes a colon without a prefix for no colon. (PIECES leaves out what else it is wrong about: references
    // to surrogates and beyond U+10FFFF, and a processing instruction whose target runs into something else.)
    prop_assume!(!["</:", "<:", " :"].iter().any(|piece| document.contains(piece)));
    let second = roxmltree::Document::parse(document);
    match (read_thread(document), second) {
        (Err(error), Ok(_)) => {
            prop_assert!(!error.is_not_well_formed(), "only roxmltree accepts {document:?}: {error}");
        }
        (Err(error), Err(second)) => {
            prop_assert!(!error.is_not_a_thread(), "roxmltree refuses {document:?}: {second}; the reader: {error}");
        }
        (Ok(_), Err(error)) => prop_assert!(false, "only the reader accepts {document:?}: {error}"),
        // It keeps a CR next to a reference, where XML 1.0 (2.11) wants an LF.
        (Ok(_), Ok(_)) if document.contains('\r') && document.contains('&') => {}
        (Ok(document), Ok(second)) => {
            let elements: Vec<_> = second
                .root_element()
                .children()
                .filter(roxmltree::Node::is_element)
                .map(|node| {
                    let attributes = node.attributes().map(|a| (a.name().to_owned(), a.value().to_owned())).collect();
                    let text = node.children().filter_map(|child| child.text()).collect();
                    threadspec::Element { attributes, text }
                })
                .collect();
            prop_assert_eq!(document.elements, elements);
        }
    }
    Ok(())
}

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
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(20_000) })]

    #[test]
    fn on_documents_of_random_pieces(document in pieces(12)) {
        agree(&document)?;
    }

    #[test]
    fn on_a_thread_with_pieces_in_its_text(text in pieces(5)) {
        agree(&format!("<thread>\n  <event type=\"human\" id=\"0\">{text}</event>\n</thread>"))?;
    }

    #[test]
    fn on_a_thread_with_pieces_in_its_tags(inside in pieces(4), value in pieces(3)) {
        agree(&format!("<thread><event{inside}>text</event><event type=\"{value}\"></event></thread>"))?;
    }

    #[test]
    fn on_a_thread_with_pieces_around_it(before in pieces(3), between in pieces(3), after in pieces(3)) {
        agree(&format!("{before}<thread>{between}<event type='a'/></thread>{after}"))?;
    }

    #[test]
    fn on_a_thread_that_was_cut(from in 0..200_usize, to in 0..200_usize, new in pieces(2)) {
        let document = "<thread>\n  <event type=\"human\" id=\"0\" iteration=\"0\">a &lt; b &#13;\n ]] c</event>\n  \
            <event type=\"tool_input\" id=\"1\" name=\"x&quot;y\" iteration=\"1\">{&quot;a&quot;:1}</event>\n</thread>";
        let (from, to) = (from.min(document.len()), to.min(document.len()));
        agree(&format!("{}{new}{}", &document[..from], &document[to.max(from)..]))?;
    }
}
