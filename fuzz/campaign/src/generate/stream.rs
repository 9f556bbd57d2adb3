//! Generates answers of a model, the shapes of their streams, and where these are cut into what arrives at once.

use super::json::{AsJsonText, AtMost, Json, Rarely, pick};
use super::text::{Name, Text};
use threadspec::oracle::Api;
use threadspec_apis::{Finish, IdSource, ModelAnswer, Pieces, SaidCall, StreamShape, Thinking};
use threadspec_judge::universal::value;

/// An answer as a stream, which arrives in pieces.
#[derive(Clone, Debug, arbitrary::Arbitrary)]
#[cfg_attr(feature = "fuzzer", derive(proptest_derive::Arbitrary))]
pub struct StreamPlan {
    api: u8,
    text: Text,
    thoughts: AtMost<2, Text>,
    calls: AtMost<3, StreamedCall>,
    refuses: Rarely,
    is_too_long: Rarely,
    pieces: AtMost<4, u8>,
    order: u8,
    cuts: AtMost<8, u16>,
}

/// A call that the answer makes.
#[derive(Clone, Debug, arbitrary::Arbitrary)]
#[cfg_attr(feature = "fuzzer", derive(proptest_derive::Arbitrary))]
pub struct StreamedCall {
    name: Name,
    args: Json,
}

/// A text as marked data.
fn read(json: &str) -> String {
    value::read(json).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

impl StreamPlan {
    /// The API.
    pub fn api(&self) -> Api {
        pick(&Api::ALL, self.api)
    }

    /// The model's answer.
    pub fn answer(&self) -> ModelAnswer {
        let thought = |text: &Text| Thinking { text: read(&text.json()), ..Thinking::default() };
        let call = |(number, StreamedCall { name, args }): (usize, &StreamedCall)| {
            let args = value::read(&format!("{{\"args\":{}}}", args.json())).unwrap_or_default();
            SaidCall::new(format!("call_{number}"), read(&name.json()), &args)
        };
        let mut answer = ModelAnswer {
            model: "m".into(),
            thinking: self.thoughts.iter().map(thought).collect(),
            text: read(&self.text.json()),
            calls: self.calls.iter().enumerate().map(call).collect(),
            ..ModelAnswer::default()
        };
        if self.refuses.is_now() {
            (answer.refusal, answer.calls) = (Some(std::mem::take(&mut answer.text)), Vec::new());
        }
        answer.finish = if self.is_too_long.is_now() { Finish::Length } else { answer.usual_finish() };
        answer.with_ids(self.api(), &mut IdSource::new(u64::from(self.order)))
    }

    /// The shape of its stream.
    pub fn shape(&self) -> StreamShape {
        let lengths: Vec<usize> = self.pieces.iter().map(|&length| usize::from(length) + 1).collect();
        StreamShape {
            pieces: if lengths.is_empty() { Pieces::Usual } else { Pieces::Lengths(lengths) },
            interleave: self.order & 1 != 0,
            text_last: self.order & 2 != 0,
            ping_all: self.order & 4 != 0,
            empty: self.order & 8 != 0,
            ascii: self.order & 16 != 0,
            dialect: None,
        }
    }

    /// Lines end with CR LF.
    pub fn has_crlf(&self) -> bool {
        self.order & 32 != 0
    }

    /// The parts of a stream that arrive at once.
    pub fn parts<'a>(&self, bytes: &'a [u8]) -> Vec<&'a [u8]> {
        let mut cuts: Vec<usize> = self.cuts.iter().map(|&cut| usize::from(cut) % (bytes.len() + 1)).collect();
        cuts.sort_unstable();
        let (mut parts, mut rest, mut from) = (Vec::new(), bytes, 0);
        for cut in cuts {
            let (part, others) = rest.split_at(cut - from);
            parts.push(part);
            (rest, from) = (others, cut);
        }
        parts.push(rest);
        parts
    }
}
