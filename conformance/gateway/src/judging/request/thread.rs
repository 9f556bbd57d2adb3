//! A request in the form in which both sides are compared: texts by who speaks, calls, results and images, each with its message.

use std::collections::HashMap;
use threadspec_apis::{ApiRequest, OpaquePart, WireCall, WireMessage};
use threadspec_judge::protocol::Speaker;

/// The character that represents an image in a text.
pub(super) const OBJECT: &str = "\u{fffc}";

/// A request, taken apart.
#[derive(Debug, Default)]
pub(super) struct ComparedThread<'a> {
    pub(super) systems: Vec<TextPiece<'a>>,
    pub(super) humans: Vec<TextPiece<'a>>,
    pub(super) ais: Vec<TextPiece<'a>>,
    pub(super) calls: Vec<ComparedCall<'a>>,
    pub(super) results: Vec<ComparedResult<'a>>,
    pub(super) images: Vec<ComparedImage<'a>>,
    /// The images and files that are not in the request itself.
    pub(super) others: usize,
    pub(super) opaque: Vec<&'a OpaquePart>,
    /// Calls without a result, results without a call, or with a second one, and results that are elsewhere.
    pub(super) is_broken: bool,
}

/// A part of a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextPiece<'a> {
    pub(super) text: &'a str,
    /// The position of its message.
    pub(super) message: usize,
    pub(super) place: &'a str,
    /// True if a message that is no system text is before it.
    pub(super) is_in_middle: bool,
}

/// A call of the model.
#[derive(Clone, Copy, Debug)]
pub(super) struct ComparedCall<'a> {
    pub(super) call: &'a WireCall,
    pub(super) message: usize,
    /// How many calls before it have its id.
    pub(super) occurrence: usize,
    /// True if its message says or calls nothing else.
    pub(super) is_alone: bool,
}

/// An answer to a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct ComparedResult<'a> {
    pub(super) answer: &'a WireMessage,
    pub(super) message: usize,
    /// The first message of the answers that touch this one.
    pub(super) group: usize,
    /// The call that it answers, by its position.
    pub(super) call: Option<usize>,
}

/// An image, in base64.
#[derive(Clone, Copy, Debug)]
pub(super) struct ComparedImage<'a> {
    pub(super) data: &'a str,
    pub(super) message: usize,
    pub(super) place: &'a str,
    /// The result that it is in, by its position.
    pub(super) result: Option<usize>,
}

impl<'a> ComparedThread<'a> {
    pub(super) fn of(request: &'a ApiRequest) -> Self {
        let mut thread = Self::default();
        let mut open: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut seen: HashMap<&str, usize> = HashMap::new();
        let (mut group, mut calling, mut is_in_middle) = (0, None, false);
        for (message, one) in request.messages.iter().enumerate() {
            let objects = one.parts().filter(|part| *part == OBJECT).count();
            thread.others += objects.saturating_sub(one.images.len());
            thread.opaque.extend(&one.opaque);
            let result = (one.speaker == Speaker::Tool).then_some(thread.results.len());
            let image = |data: &'a String| ComparedImage { data, message, place: &one.place, result };
            thread.images.extend(one.images.iter().map(image));
            let pieces = one.parts().filter(|part| *part != OBJECT && !part.trim().is_empty());
            let pieces = pieces.map(|text| TextPiece { text, message, place: &one.place, is_in_middle });
            match one.speaker {
                Speaker::System => thread.systems.extend(pieces),
                Speaker::Human => thread.humans.extend(pieces),
                Speaker::Ai => thread.ais.extend(pieces),
                Speaker::Tool => {
                    let is_first =
                        message.checked_sub(1).is_none_or(|before| request.messages[before].speaker != Speaker::Tool);
                    if is_first {
                        group = message;
                        thread.is_broken |= message.checked_sub(1) != calling;
                    }
                    let id = one.call_id.as_deref().unwrap_or_default();
                    let call = thread.answered(id, open.get_mut(id));
                    thread.is_broken |= call.is_none();
                    thread.results.push(ComparedResult { answer: one, message, group, call });
                }
            }
            is_in_middle |= one.speaker != Speaker::System;
            let is_alone = one.calls.len() == 1 && one.content.trim().is_empty();
            for call in &one.calls {
                let occurrence = seen.entry(&call.id).or_default();
                open.entry(&call.id).or_default().push(thread.calls.len());
                thread.calls.push(ComparedCall { call, message, occurrence: *occurrence, is_alone });
                *occurrence += 1;
            }
            if !one.calls.is_empty() {
                calling = Some(message);
            }
        }
        thread.opaque.extend(&request.loose);
        thread.is_broken |= open.values().any(|calls| !calls.is_empty());
        thread
    }

    /// The call that the next answer to an id answers: of those that are open, the first one of the last message; else one that was answered.
    fn answered(&mut self, id: &str, open: Option<&mut Vec<usize>>) -> Option<usize> {
        let latest = open.and_then(|open| {
            let last = self.calls[*open.last()?].message;
            let at = open.iter().position(|call| self.calls[*call].message == last)?;
            Some(open.remove(at))
        });
        if latest.is_none() {
            self.is_broken = true;
        }
        latest.or_else(|| self.calls.iter().rposition(|known| known.call.id == id))
    }
}

impl<'a> ComparedCall<'a> {
    pub(super) fn id(&self) -> &'a str {
        &self.call.id
    }
}

impl<'a> ComparedResult<'a> {
    pub(super) fn id(&self) -> &'a str {
        self.answer.call_id.as_deref().unwrap_or_default()
    }

    /// The parts of its text.
    pub(super) fn texts(&self) -> Vec<&'a str> {
        self.answer.parts().filter(|part| *part != OBJECT).collect()
    }
}
