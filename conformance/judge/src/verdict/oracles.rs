//! Checks the properties that a case demands with `holds`.

use crate::corpus::Oracle;
use crate::json::FORBIDDEN;
use crate::protocol::{ChatMessage, Input, Op, Output, Part, Parts};
use crate::tolerance::input::beginnings;
use threadspec::surrogates::is_mark;
use threadspec::{Event, Message, Profile, oracle};

/// Checks one property of an output.
///
/// `accepted-or-refused` holds for every output; refusals are judged elsewhere.
///
/// # Errors
///
/// Says where the property does not hold, or why the oracle cannot judge this output.
pub(super) fn check(property: Oracle, op: Op, profile: Profile, input: &str, output: &Output) -> Result<(), String> {
    let input = Input::read(input).map_err(|error| format!("the input cannot be read: {error}"))?;
    let output = Answered { op, input: &input, output };
    let verdict = match property {
        Oracle::AcceptedOrRefused => Ok(()),
        Oracle::WellFormed => oracle::well_formed(&output.document()?),
        Oracle::NoForgery => oracle::no_forgery(&output.events()?, &output.document()?, profile),
        Oracle::RoundTrip => oracle::round_trip(&output.events()?, &output.document()?, profile),
        Oracle::PermittedKept => oracle::permitted_kept(&output.events()?, &output.document()?, profile),
        Oracle::Equivalent if op == Op::Serialize || input.is_in_xml_mode() => {
            oracle::conveyed_by_document(&output.events()?, &output.document()?, profile)
        }
        Oracle::Equivalent => oracle::conveyed_by_messages(&output.events()?, &output.messages()?, profile),
        Oracle::ProviderValid => {
            output.is_complete()?;
            output.message_lists()?.iter().try_for_each(|list| oracle::provider_valid(list))
        }
        Oracle::Snapshots => {
            output.is_complete()?;
            let requests = output.requests()?;
            output.iterations(&requests).into_iter().try_for_each(oracle::snapshots)
        }
    };
    // The oracles were shown a stand-in for half of a character.
    let half = if let Output::Text(text) = output.output { text.chars().find(|&c| is_mark(c)) } else { None };
    let unit = format!("U+{:04X}", half.map_or(u32::from(FORBIDDEN), |mark| u32::from(mark) & 0xffff));
    verdict.map_err(|violation| violation.to_string().replace("U+FFFE", &unit))
}

/// An output, and the request for it.
struct Answered<'a> {
    op: Op,
    input: &'a Input,
    output: &'a Output,
}

impl Answered<'_> {
    /// The events that went in; a text to escape is that of a message.
    fn events(&self) -> Result<Vec<Event>, String> {
        if let (Op::Escape, Some(text)) = (self.op, self.input.text.text()) {
            return Ok(vec![Event::user(0, text)]);
        }
        self.input.events().map_err(|error| error.to_string())
    }

    /// The document that the output is or holds, without the response prefix that was asked for. An escaped text is put
    /// into the smallest one.
    fn document(&self) -> Result<String, String> {
        let text = match self.output {
            Output::Text(escaped) if self.op == Op::Escape => {
                let attributes = "type=\"human\" id=\"0\" iteration=\"0\"";
                let escaped = judged(escaped);
                return Ok(format!("<thread>\n  <event {attributes}>{escaped}</event>\n</thread>"));
            }
            Output::Text(text) => Some(text.as_str()),
            Output::Messages(messages) => {
                messages.last().and_then(Part::proper).and_then(|message| message.content.text())
            }
            Output::Rounds(_) | Output::Run(_) | Output::Odd(_) => None,
        };
        let text = text.ok_or("the output is not a document")?;
        let prefix = self.input.response_prefix.text().filter(|prefix| !prefix.is_empty());
        Ok(judged(match prefix.and_then(|prefix| text.strip_suffix(&format!("\n{prefix}"))) {
            Some(document) => document,
            None => text,
        }))
    }

    /// The requests by iteration; a run of op `tools` is one iteration.
    fn iterations<'r>(&self, requests: &'r [Vec<Message>]) -> Vec<&'r [Vec<Message>]> {
        if self.op != Op::Loop {
            return vec![requests];
        }
        let mut begins = beginnings(self.input, requests.len());
        begins.push(requests.len());
        begins.windows(2).map(|pair| &requests[pair[0]..pair[1]]).collect()
    }

    /// Refuses a run that was aborted, and a list of messages that is empty without reason: properties would hold of them in
    /// vain. The rounds of the first iteration must go on up to a response without calls, or a limit.
    fn is_complete(&self) -> Result<(), String> {
        if let Output::Messages(messages) = self.output {
            let says_something = !oracle::facts(&self.events()?).is_empty();
            let is_built = !messages.is_empty();
            return if is_built || !says_something { Ok(()) } else { Err("there are no messages".into()) };
        }
        let limit = match self.op {
            Op::Tools => self.input.max_recursion_depth.double().map(|rounds| rounds + 1.0),
            _ => self.input.max_tool_calls_per_iteration.double(),
        };
        let mut due = self.input.turns().take_while(|turn| turn.has_calls()).count() + 1;
        // The sources leave open what a limit of zero means.
        while due > 1 && limit.is_some_and(|limit| limit < f64::from(u32::try_from(due).unwrap_or(u32::MAX))) {
            due -= 1;
        }
        let made = self.requests()?.len();
        if made >= due || limit == Some(0.0) {
            Ok(())
        } else {
            Err(format!("the run was aborted: {made} requests, and at least {due} were due"))
        }
    }

    /// Every message list in the output.
    fn message_lists(&self) -> Result<Vec<Vec<Message>>, String> {
        match self.output {
            Output::Messages(_) => Ok(vec![self.messages()?]),
            Output::Rounds(rounds) => Ok([self.requests()?, vec![read(&rounds.messages)?]].concat()),
            Output::Run(_) => self.requests(),
            Output::Text(_) | Output::Odd(_) => Err(format!("the output of `{}` holds no messages", self.op)),
        }
    }

    fn messages(&self) -> Result<Vec<Message>, String> {
        let Output::Messages(messages) = self.output else { return Err(NO_LIST.into()) };
        messages.iter().map(read_message).collect()
    }

    fn requests(&self) -> Result<Vec<Vec<Message>>, String> {
        let requests = self.output.requests().and_then(Part::proper);
        requests.ok_or("the output has no list of `requests`")?.iter().map(read).collect()
    }
}

/// A document to which the oracles object if it holds a lone surrogate.
fn judged(document: &str) -> String {
    document.replace(is_mark, FORBIDDEN.encode_utf8(&mut [0; 4]))
}

const NO_LIST: &str = "the output is not a list of messages";

fn read(list: &Part<Parts<ChatMessage>>) -> Result<Vec<Message>, String> {
    list.proper().ok_or(NO_LIST)?.iter().map(read_message).collect()
}

fn read_message(message: &Part<ChatMessage>) -> Result<Message, String> {
    Message::from_json(&message.to_json()).map_err(|error| error.to_string())
}
