//! Checks the properties that a case demands with `holds`.

use crate::corpus::Oracle;
use crate::json::{self, FORBIDDEN, HALF};
use crate::protocol::Op;
use crate::tolerance::iterations::beginnings;
use serde_json::Value;
use threadspec::{Event, Message, Profile, oracle};

/// Checks one property of an output.
///
/// `accepted-or-refused` holds for every output; refusals are judged elsewhere.
///
/// # Errors
///
/// Says where the property does not hold, or why the oracle cannot judge this output.
pub(super) fn check(property: Oracle, op: Op, profile: Profile, input: &str, output: &Value) -> Result<(), String> {
    let input = json::read(input).map_err(|error| format!("the input cannot be read: {error}"))?;
    let output = Output { op, input: &input, value: output };
    let verdict = match property {
        Oracle::AcceptedOrRefused => Ok(()),
        Oracle::WellFormed => oracle::well_formed(&output.document()?),
        Oracle::NoForgery => oracle::no_forgery(&output.events()?, &output.document()?, profile),
        Oracle::RoundTrip => oracle::round_trip(&output.events()?, &output.document()?, profile),
        Oracle::PermittedKept => oracle::permitted_kept(&output.events()?, &output.document()?, profile),
        Oracle::Equivalent if op == Op::Serialize || output.in_xml_mode() => {
            oracle::conveyed_by_document(&output.events()?, &output.document()?, profile)
        }
        Oracle::Equivalent => oracle::conveyed_by_messages(&output.events()?, &messages(output.value)?, profile),
        Oracle::ProviderValid => {
            output.is_complete()?;
            output.message_lists()?.iter().try_for_each(|list| oracle::provider_valid(list))
        }
        Oracle::Snapshots => {
            output.is_complete()?;
            let requests = requests(output.value)?;
            output.iterations(&requests).into_iter().try_for_each(oracle::snapshots)
        }
    };
    verdict.map_err(|violation| violation.to_string())
}

/// An output, and the request for it.
struct Output<'a> {
    op: Op,
    input: &'a Value,
    value: &'a Value,
}

impl Output<'_> {
    fn in_xml_mode(&self) -> bool {
        self.input["contextMode"] == "xml"
    }

    /// The events that went in; a text to escape is that of a message.
    fn events(&self) -> Result<Vec<Event>, String> {
        if let (Op::Escape, Value::String(text)) = (self.op, &self.input["text"]) {
            return Ok(vec![Event::user(0, text)]);
        }
        threadspec::read_events(&self.input["events"].to_string()).map_err(|error| error.to_string())
    }

    /// The document that the output is or holds, without the response prefix that was asked for. An escaped text is put
    /// into the smallest one.
    fn document(&self) -> Result<String, String> {
        if let (Op::Escape, Value::String(escaped)) = (self.op, self.value) {
            let attributes = "type=\"human\" id=\"0\" iteration=\"0\"";
            return Ok(judged(&format!("<thread>\n  <event {attributes}>{escaped}</event>\n</thread>")));
        }
        let text = match self.op {
            Op::Messages => self.value.as_array().and_then(|messages| messages.last()).map(|last| &last["content"]),
            _ => Some(self.value),
        };
        let text = text.and_then(Value::as_str).ok_or("the output is not a document")?;
        let prefix = self.input["responsePrefix"].as_str().filter(|prefix| !prefix.is_empty());
        let document = prefix.and_then(|prefix| text.strip_suffix(&format!("\n{prefix}")));
        Ok(judged(document.unwrap_or(text)))
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
        let input = self.input;
        if self.op == Op::Messages {
            let says_something = !oracle::facts(&self.events()?).is_empty();
            let built = !json::list(self.value).is_empty();
            return if built || !says_something { Ok(()) } else { Err("there are no messages".into()) };
        }
        let limit = |name: &str| input[name].as_f64();
        let limit = match self.op {
            Op::Tools => limit("maxRecursionDepth").map(|rounds| rounds + 1.0),
            _ => limit("maxToolCallsPerIteration"),
        };
        let turns = json::list(&input["model"]);
        let calls = |turn: &&Value| !json::list(&turn["tool_calls"]).is_empty();
        let mut due = turns.iter().take_while(calls).count() + 1;
        // The sources leave open what a limit of zero means.
        while due > 1 && limit.is_some_and(|limit| limit < f64::from(u32::try_from(due).unwrap_or(u32::MAX))) {
            due -= 1;
        }
        let made = requests(self.value)?.len();
        if made >= due || limit == Some(0.0) {
            Ok(())
        } else {
            Err(format!("the run was aborted: {made} requests, and at least {due} were due"))
        }
    }

    /// Every message list in the output.
    fn message_lists(&self) -> Result<Vec<Vec<Message>>, String> {
        match self.op {
            Op::Messages => Ok(vec![messages(self.value)?]),
            Op::Tools => Ok([requests(self.value)?, vec![messages(&self.value["messages"])?]].concat()),
            Op::Loop => requests(self.value),
            Op::Escape | Op::Serialize => Err(format!("the output of `{}` holds no messages", self.op)),
        }
    }
}

/// A document to which the oracles object if it holds a lone surrogate.
fn judged(document: &str) -> String {
    document.replace(HALF, FORBIDDEN.encode_utf8(&mut [0; 4]))
}

fn messages(list: &Value) -> Result<Vec<Message>, String> {
    let list = list.as_array().ok_or("the output is not a list of messages")?;
    list.iter().map(|message| Message::from_json(message).map_err(|error| error.to_string())).collect()
}

fn requests(output: &Value) -> Result<Vec<Vec<Message>>, String> {
    output["requests"].as_array().ok_or("the output has no list of `requests`")?.iter().map(messages).collect()
}
