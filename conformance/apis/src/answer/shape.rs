//! The forms that a stream may have. All of them say the same.

use threadspec::surrogates::is_mark;
use threadspec_judge::protocol::ServerDialect;

/// How a stream is divided and ordered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each may be with any other")]
pub struct StreamShape {
    /// How long the pieces of texts and arguments are.
    pub pieces: Pieces,
    /// Fragments of parallel calls in turn (not anthropic).
    pub interleave: bool,
    /// The text behind the calls.
    pub text_last: bool,
    /// A ping, or a comment, behind every event.
    pub ping_all: bool,
    /// An empty piece between any two.
    pub empty: bool,
    /// True if non-ASCII characters are written as escapes.
    pub ascii: bool,
    /// How the server differs from that of the API's maker (openai-chat).
    pub dialect: Option<ServerDialect>,
}

/// How many code points the pieces of a text have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Pieces {
    /// 1, 1, 2, 3, 5, 8, 13 and so on: short texts are in fragments, and long ones do not cost much.
    #[default]
    Usual,
    /// One each.
    Tiny,
    /// These numbers in turn.
    Lengths(Vec<usize>),
    /// All in one.
    Whole,
}

impl Default for StreamShape {
    fn default() -> Self {
        Self {
            pieces: Pieces::default(),
            interleave: false,
            text_last: false,
            ping_all: false,
            empty: false,
            ascii: true,
            dialect: None,
        }
    }
}

/// An event of a stream, or a comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamEvent {
    /// Its name; chat has none.
    pub name: Option<&'static str>,
    /// Its data, or the text of the comment.
    pub data: String,
    /// The part that it carries.
    pub part: EventPart,
    /// True if a call is whole with it.
    pub ends_call: bool,
}

/// The part that an event carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventPart {
    /// Nothing: it is a comment.
    Comment,
    /// The beginning of the answer.
    Start,
    /// Nothing: it keeps the connection alive.
    Ping,
    /// The beginning or end of a part that has fragments of its own, and what else frames them.
    Frame,
    /// A fragment of what the model thinks.
    Thinking,
    /// A fragment of text.
    Text,
    /// A fragment of a refusal.
    Refusal,
    /// The beginning of a call.
    Call,
    /// A fragment of arguments.
    Arguments,
    /// The end of the answer.
    Stop,
    /// An error instead of the rest.
    Error,
}

/// How much of an answer comes before it breaks off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Nothing at all.
    Head,
    /// The first event.
    Start,
    /// Half of the fragments of text.
    Text,
    /// Half of the fragments of thinking.
    Thinking,
    /// Half of the fragments of arguments.
    Arguments,
    /// The first whole call.
    Call,
    /// All but the stop.
    Stop,
    /// So many events.
    Events(usize),
}

impl Cut {
    /// The cut of this name.
    pub fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "head" => Self::Head,
            "start" => Self::Start,
            "text" => Self::Text,
            "thinking" => Self::Thinking,
            "arguments" => Self::Arguments,
            "call" => Self::Call,
            "stop" => Self::Stop,
            _ => return None,
        })
    }
}

/// How many of the events, comments included, come before a cut; `None` if there is nothing of what it is to cut.
///
/// Half of one fragment is none: the stream breaks off before it.
pub fn kept_events(events: &[StreamEvent], cut: Cut) -> Option<usize> {
    let behind = |found: usize| found + 1;
    let half = |part: EventPart| {
        let marked: Vec<usize> = (0..events.len()).filter(|&at| events[at].part == part).collect();
        let first = *marked.first()?;
        Some(marked.get((marked.len() / 2).wrapping_sub(1)).map_or(first, |&last| behind(last)))
    };
    match cut {
        Cut::Head => Some(0),
        Cut::Start => events.iter().position(|event| event.part == EventPart::Start).map(behind),
        Cut::Text => half(EventPart::Text),
        Cut::Thinking => half(EventPart::Thinking),
        Cut::Arguments => half(EventPart::Arguments),
        Cut::Call => events.iter().position(|event| event.ends_call).map(behind),
        Cut::Stop => events.iter().position(|event| event.part == EventPart::Stop),
        Cut::Events(count) => {
            let shown: Vec<usize> =
                (0..events.len()).filter(|&at| events[at].part != EventPart::Comment).take(count).collect();
            (shown.len() == count).then(|| shown.last().map_or(0, |&last| behind(last)))
        }
    }
}

impl StreamShape {
    /// A text in pieces, with empty ones between if the shape has them; none of an empty text.
    pub(super) fn fragments<'a>(&self, text: &'a str) -> Vec<&'a str> {
        let pieces = self.pieces.split(text);
        if !self.empty {
            return pieces;
        }
        let between = pieces.into_iter().flat_map(|piece| ["", piece]).skip(1);
        between.collect()
    }
}

impl Pieces {
    /// Divides a text between code points.
    fn split<'a>(&self, text: &'a str) -> Vec<&'a str> {
        let (mut pieces, mut rest) = (Vec::new(), text);
        let (mut next, mut following) = (1_usize, 1_usize);
        while !rest.is_empty() {
            let length = match self {
                Self::Usual => next,
                Self::Tiny => 1,
                Self::Lengths(lengths) => {
                    lengths.get(pieces.len() % lengths.len().max(1)).map_or(usize::MAX, |&n| n.max(1))
                }
                Self::Whole => usize::MAX,
            };
            (next, following) = (following, next.saturating_add(following));
            let (piece, behind) = rest.split_at(end_of(rest, length));
            pieces.push(piece);
            rest = behind;
        }
        pieces
    }
}

/// The character that sets the next one apart in marked data: together they are one code point.
const APART: char = '\u{10fffe}';

/// Where so many code points of marked data end.
fn end_of(text: &str, length: usize) -> usize {
    let (mut characters, mut left) = (text.char_indices().peekable(), length);
    while let Some((at, character)) = characters.next() {
        if left == 0 {
            return at;
        }
        left -= 1;
        if character == APART && characters.peek().is_some_and(|&(_, next)| !is_mark(next)) {
            characters.next();
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use threadspec::surrogates::marked;

    #[test]
    fn pieces_have_the_lengths_that_are_asked_for() {
        for (pieces, text, expected) in [
            (Pieces::Usual, "I look around", &["I", " ", "lo", "ok ", "aroun", "d"][..]),
            (Pieces::Tiny, "é😀", &["é", "😀"]),
            (Pieces::Lengths(vec![4]), "I look.", &["I lo", "ok."]),
            (Pieces::Lengths(vec![1, 2]), "abcdef", &["a", "bc", "d", "ef"]),
            (Pieces::Lengths(vec![]), "abc", &["abc"]),
            (Pieces::Lengths(vec![0]), "ab", &["a", "b"]),
            (Pieces::Whole, "abc", &["abc"]),
            (Pieces::Usual, "", &[]),
            (Pieces::Tiny, "\u{10d83d}a", &["\u{10d83d}", "a"]),
        ] {
            assert_eq!(pieces.split(text), expected, "{pieces:?}");
        }
        let set_apart = marked("\u{10d83d}\u{10fffe}").into_owned();
        assert_eq!(Pieces::Tiny.split(&set_apart).len(), 2);
        let empty = StreamShape { pieces: Pieces::Tiny, empty: true, ..StreamShape::default() };
        assert_eq!(empty.fragments("ab"), ["a", "", "b"]);
    }

    #[test]
    fn a_cut_keeps_what_it_says() {
        let event = |part, ends_call| StreamEvent { name: None, data: String::new(), part, ends_call };
        let parts = [
            EventPart::Comment,
            EventPart::Start,
            EventPart::Text,
            EventPart::Text,
            EventPart::Text,
            EventPart::Call,
            EventPart::Arguments,
            EventPart::Frame,
            EventPart::Stop,
            EventPart::Stop,
        ];
        let events: Vec<StreamEvent> = parts.into_iter().map(|part| event(part, part == EventPart::Frame)).collect();
        for (cut, kept) in [
            (Cut::Head, Some(0)),
            (Cut::Start, Some(2)),
            (Cut::Text, Some(3)),
            (Cut::Thinking, None),
            (Cut::Arguments, Some(6)),
            (Cut::Call, Some(8)),
            (Cut::Stop, Some(8)),
            (Cut::Events(0), Some(0)),
            (Cut::Events(3), Some(4)),
            (Cut::Events(9), Some(10)),
            (Cut::Events(10), None),
        ] {
            assert_eq!(kept_events(&events, cut), kept, "{cut:?}");
        }
        for name in ["head", "start", "text", "thinking", "arguments", "call", "stop"] {
            let cut = Cut::of_name(name).expect(name);
            assert_eq!(format!("{cut:?}").to_lowercase(), name);
        }
        assert_eq!(Cut::of_name("n"), None);
    }

    proptest! {
        #[test]
        fn the_pieces_are_the_text(text: String, lengths in proptest::collection::vec(0_usize..9, 0..5)) {
            let text = marked(&text).into_owned();
            for pieces in [Pieces::Usual, Pieces::Tiny, Pieces::Whole, Pieces::Lengths(lengths)] {
                let split = pieces.split(&text);
                prop_assert_eq!(split.concat(), &*text);
                prop_assert!(split.iter().all(|piece| !piece.is_empty()));
            }
        }
    }
}
