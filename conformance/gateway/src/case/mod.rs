//! Reads the cases of `golden/gateway/`, and plays the client of a case.
//!
//! A case says what a client sends and what the model answers, in a form that belongs to no API.

#[cfg(test)]
mod tests;

use serde_json::Value;
use threadspec::oracle::Api;
use threadspec::surrogates::{marked, unmark_surrogates};
use threadspec_apis::{AnswerEnd, ModelAnswer, Thinking, ToolChoice};
use threadspec_judge::protocol::{Endpoint, Speaker};
use threadspec_judge::universal::{Property, value};
use threadspec_provider::client::{
    ClientAsk, ClientCall, ClientContent, ClientMessage, ClientOptions, ClientPart, ClientRequest, ClientTool, Exchange,
};
use threadspec_provider::{Error, Fault, ObjectReading, PlayedCall, RunPlan, StrictReading, WireTurn, read_text};

/// A case: the requests of a client through a gateway, and the model's answers.
///
/// ```
/// use threadspec_gateway::GatewayCase;
/// let case = GatewayCase::read(r#"{"sends": [{"type": "human", "content": "Go"}], "turn": {"content": "Gone"}}"#)?;
/// assert_eq!((case.rounds.len(), case.rounds[0].sends.len(), case.tools.len()), (1, 1, 0));
/// let error = GatewayCase::read(r#"{"sends": [{"type": "human", "content": "Go", "text": ""}], "turn": {"content": "Gone"}}"#).unwrap_err();
/// assert_eq!(error.to_string(), "sends[0]: `text` is no member that is known here");
/// # Ok::<(), threadspec_provider::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct GatewayCase {
    /// The requests, each with what is new in it.
    pub rounds: Vec<GatewayRound>,
    /// The tools that each request declares.
    pub tools: Vec<ClientTool>,
    /// The further options of each request.
    pub options: ClientOptions,
    /// True if each request switches the model's thinking on.
    pub thinking: bool,
}

/// One request of a client and its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct GatewayRound {
    /// The messages behind those of the request before and its answer.
    pub sends: Vec<ClientMessage>,
    /// The model's answer.
    pub turn: WireTurn,
}

impl GatewayCase {
    /// Reads the input of a case.
    ///
    /// # Errors
    ///
    /// Says where the text is no JSON or no such input: a member that is not known, or that has no such value.
    pub fn read(input: &str) -> Result<Self, Error> {
        read_text(input, "", |reading| {
            let mut members = reading.members()?;
            let tools = members.read("tools", |list| list.list()?.into_iter().map(tool).collect())?;
            let (options, thinking) = members.read("options", options)?.unwrap_or_default();
            let then = members
                .read("then", |list| list.list()?.into_iter().map(|round| self::round(round.members()?)).collect())?;
            let mut case = Self { rounds: Vec::new(), tools: tools.unwrap_or_default(), options, thinking };
            case.rounds.push(round(members)?);
            case.rounds.extend(then.unwrap_or_else(Vec::new));
            Ok(case)
        })
    }

    /// Plans the provider's part: it plays the turns one after the other. Nothing in a request is excused because somebody gave it.
    pub fn plan(&self, api: Api, stream: bool) -> RunPlan {
        let turns = self.rounds.iter().map(|round| round.turn.clone()).collect();
        let tools = self.tools.iter().map(|tool| tool.name.clone()).collect();
        RunPlan { stream, tools, ..RunPlan::of_turns(api, turns) }
    }
}

fn round(mut members: ObjectReading<'_>) -> Result<GatewayRound, Error> {
    let sends: Vec<ClientMessage> = members.need("sends", |list| list.list()?.into_iter().map(read).collect())?;
    if sends.is_empty() {
        return members.error("`sends` is empty");
    }
    let turn = members.need("turn", WireTurn::from_reading)?;
    members.end()?;
    Ok(GatewayRound { sends, turn })
}

fn tool(reading: StrictReading<'_>) -> Result<ClientTool, Error> {
    let mut members = reading.members()?;
    let tool = ClientTool {
        name: members.need("name", StrictReading::string)?,
        description: members.read("description", StrictReading::string)?,
        schema: members.read("schema", schema)?,
    };
    members.end()?;
    Ok(tool)
}

// Readings are read as a whole.
#[allow(clippy::needless_pass_by_value)]
fn schema(reading: StrictReading<'_>) -> Result<Value, Error> {
    match serde_json::from_str(&reading.text()) {
        Ok(schema @ Value::Object(_)) => Ok(schema),
        _ => reading.error("a schema is an object"),
    }
}

fn options(reading: StrictReading<'_>) -> Result<(ClientOptions, bool), Error> {
    let mut members = reading.members()?;
    let stop = members.read("stop", |list| list.list()?.into_iter().map(StrictReading::string).collect())?;
    let options = ClientOptions {
        choice: members.read("choice", choice)?,
        parallel: members.read("parallel", StrictReading::boolean)?,
        most_tokens: members.read("max", |count| count.count(1))?,
        stop: stop.unwrap_or_default(),
        developer: members.read("developer", StrictReading::boolean)?.unwrap_or_default(),
    };
    let thinking = members.read("thinking", StrictReading::boolean)?.unwrap_or_default();
    members.end()?;
    Ok((options, thinking))
}

fn choice(reading: StrictReading<'_>) -> Result<ToolChoice, Error> {
    if let Ok(word) = reading.clone().word(&["auto", "required", "none"]) {
        return Ok(match &*word {
            "required" => ToolChoice::Any,
            "none" => ToolChoice::None,
            _ => ToolChoice::Auto,
        });
    }
    let mut members = reading.members()?;
    let name = members.need("name", StrictReading::string)?;
    members.end()?;
    Ok(ToolChoice::Named(name))
}

// A message that a client sends.

fn read(reading: StrictReading<'_>) -> Result<ClientMessage, Error> {
    let mut members = reading.members()?;
    let speaker = match &*members.need("type", |kind| kind.word(&["system", "human", "ai", "tool"]))? {
        "system" => Speaker::System,
        "human" => Speaker::Human,
        "ai" => Speaker::Ai,
        _ => Speaker::Tool,
    };
    let content = members.read("content", content)?;
    let has_image = |content: &ClientContent| match content {
        ClientContent::Parts(parts) => parts.iter().any(|part| matches!(part, ClientPart::Image(_))),
        ClientContent::Text(_) => false,
    };
    let has_image = content.as_ref().is_some_and(has_image);
    let mut message = ClientMessage { content, ..ClientMessage::text(speaker, "") };
    match speaker {
        Speaker::Ai => {
            let calls = members.read("tool_calls", |list| list.list()?.into_iter().map(call).collect())?;
            message.calls = calls.unwrap_or_default();
            let thinking = members.read("thinking", |list| list.list()?.into_iter().map(thought).collect())?;
            message.thinking = thinking.unwrap_or_default();
            if message.content.is_none() && message.calls.is_empty() {
                return members.error("a message of the model has content or calls");
            }
            if has_image {
                return members.error("no API takes an image from the model");
            }
        }
        Speaker::Tool => {
            message.call_id = Some(members.need("tool_call_id", StrictReading::string)?);
            message.is_error = members.read("error", StrictReading::boolean)?.unwrap_or_default();
        }
        Speaker::Human if message.content.is_none() => return members.error("a message of the user has content"),
        Speaker::System if message.content.is_none() || has_image => {
            return members.error("a system message has content, and no image");
        }
        Speaker::System | Speaker::Human => {}
    }
    members.end()?;
    Ok(message)
}

/// A text, or a list of texts and images.
fn content(reading: StrictReading<'_>) -> Result<ClientContent, Error> {
    if let Ok(text) = reading.clone().string() {
        return Ok(ClientContent::Text(text));
    }
    Ok(ClientContent::Parts(reading.list()?.into_iter().map(part).collect::<Result<_, _>>()?))
}

fn part(reading: StrictReading<'_>) -> Result<ClientPart, Error> {
    let mut members = reading.members()?;
    let text = members.read("text", StrictReading::string)?.map(ClientPart::Text);
    let image = members.read("image", StrictReading::string)?.map(ClientPart::Image);
    let ((Some(part), None) | (None, Some(part))) = (text, image) else {
        return members.error("a part is a `text` or an `image`");
    };
    members.end()?;
    Ok(part)
}

fn call(reading: StrictReading<'_>) -> Result<ClientCall, Error> {
    let place = reading.clone();
    let PlayedCall { id, name, arguments } = PlayedCall::read(reading)?;
    let Some(id) = id else { return place.error("a call of a history has an `id`") };
    Ok(ClientCall { id, name, arguments: marked(&unmark_surrogates(&arguments)).into_owned() })
}

/// Reads a thought of the model, in the form of one API: a `text` with its `signature`, or `redacted` data, or an item's `id` with
/// `encrypted` content and maybe a `text`.
fn thought(reading: StrictReading<'_>) -> Result<Thinking, Error> {
    let mut members = reading.members()?;
    let text = members.read("text", StrictReading::string)?;
    let thinking = if let Some(data) = members.read("redacted", StrictReading::string)? {
        Thinking { seal: Some(data), is_redacted: true, ..Thinking::default() }
    } else if members.has("id") {
        Thinking {
            item_id: members.read("id", StrictReading::string)?,
            seal: Some(members.need("encrypted", StrictReading::string)?),
            text: text.unwrap_or_default(),
            ..Thinking::default()
        }
    } else {
        let seal = Some(members.need("signature", StrictReading::string)?);
        Thinking { text: text.unwrap_or_default(), seal, ..Thinking::default() }
    };
    members.end()?;
    Ok(thinking)
}

// The client of a case: one request for each round, without retries.

/// Sends the requests of a case, and says how many were sent: the next one only where the answer to the one before came whole. Each
/// request has the messages of the one before, the answer as it was read, with the ids that the client got, and what the round adds.
///
/// With a `mark`, the description of each tool ends in it.
pub fn play(case: &GatewayCase, endpoint: &Endpoint, mark: Option<&str>, exchange: &mut impl Exchange) -> usize {
    let endpoint = Endpoint { reasoning: case.thinking, ..endpoint.clone() };
    let tools = case.tools.iter().map(|tool| with_mark(tool, mark)).collect();
    let mut ask = ClientAsk { tools, options: case.options.clone(), ..ClientAsk::default() };
    let mut before: Option<(&WireTurn, ModelAnswer)> = None;
    for (number, round) in case.rounds.iter().enumerate() {
        add(&mut ask, round, before.as_ref());
        let response = exchange.exchange(&ClientRequest::of(&endpoint, &ask));
        let read = response.filter(|response| response.status < 400);
        let read = read.and_then(|response| response.read(endpoint.transport.api).ok());
        match read.filter(|read| read.end == AnswerEnd::Whole) {
            Some(read) => before = Some((&round.turn, read.answer)),
            None => return number + 1,
        }
    }
    case.rounds.len()
}

fn with_mark(tool: &ClientTool, mark: Option<&str>) -> ClientTool {
    let described = |mark: &str| match &tool.description {
        Some(description) => format!("{description} {mark}"),
        None => mark.to_owned(),
    };
    ClientTool { description: mark.map(described).or_else(|| tool.description.clone()), ..tool.clone() }
}

/// Adds what is new in a round.
fn add(ask: &mut ClientAsk, round: &GatewayRound, before: Option<&(&WireTurn, ModelAnswer)>) {
    let mut sends = round.sends.clone();
    let Some((turn, answer)) = before else {
        // What is first has a place of its own in some APIs.
        if let [ClientMessage { speaker: Speaker::System, content: Some(ClientContent::Text(text)), .. }, ..] =
            &sends[..]
        {
            ask.instructions = Some(text.clone());
            sends.remove(0);
        }
        ask.messages = sends;
        return;
    };
    readdress(&mut sends, turn, answer);
    ask.messages.push(said(answer));
    ask.messages.append(&mut sends);
}

/// Gives results the ids that the client read, which a gateway may have made again, instead of those that the script says.
fn readdress(sends: &mut [ClientMessage], turn: &WireTurn, answer: &ModelAnswer) {
    let mut is_answered = vec![false; turn.calls.len()];
    for result in sends.iter_mut().filter(|message| message.speaker == Speaker::Tool) {
        let is_own = |place: &usize| !is_answered[*place] && turn.calls[*place].id == result.call_id;
        let Some(place) = (0..turn.calls.len()).find(is_own) else { continue };
        is_answered[place] = true;
        if let Some(call) = answer.calls.get(place) {
            result.call_id = Some(call.id.clone());
        }
    }
}

/// An answer as a message of a history.
fn said(answer: &ModelAnswer) -> ClientMessage {
    let text = if answer.text.is_empty() { answer.refusal.clone().unwrap_or_default() } else { answer.text.clone() };
    let call = |call: &threadspec_apis::SaidCall| ClientCall {
        id: call.id.clone(),
        name: call.name.clone(),
        arguments: call.arguments.clone(),
    };
    ClientMessage {
        calls: answer.calls.iter().map(call).collect(),
        thinking: answer.thinking.clone(),
        ..ClientMessage::text(Speaker::Ai, text)
    }
}

// Finds the properties that a case can show. A property that no gateway can break with it would hold of every one.

/// Doubles are exact up to here.
const EXACT: u64 = 1 << 53;

impl GatewayCase {
    /// The properties that a gateway can break with this case.
    pub fn subjects(&self) -> Vec<Property> {
        Property::all().filter(|property| self.can_break(*property)).collect()
    }

    fn can_break(&self, property: Property) -> bool {
        match property {
            Property::GateForward
            | Property::GateMessages
            | Property::GateText
            | Property::GateInvented
            | Property::GateValid
            | Property::GateStatus
            | Property::GateIndependent => true,
            Property::GateCalls => {
                // What the model sent comes back in the next request.
                let goes_on = self.rounds.len() > 1 && self.turns().any(|turn| !turn.calls.is_empty());
                goes_on || self.calls().next().is_some()
            }
            Property::GateCallsExact => {
                let sent = self.calls().map(|call| unmark_surrogates(&call.arguments).into_owned());
                let said = self.turns().flat_map(|turn| &turn.calls).map(|call| call.arguments.clone());
                sent.chain(said).any(|arguments| value::read(&arguments).is_ok_and(|value| has_long_integer(&value)))
            }
            Property::GateIds => self.calls().next().is_some() || self.turns().any(|turn| !turn.calls.is_empty()),
            Property::GateResult => self.sends().any(|message| message.speaker == Speaker::Tool),
            Property::GateMedia => self.sends().any(has_image),
            Property::GateTools => !self.tools.is_empty(),
            Property::GateToolsFull => {
                self.tools.iter().any(|tool| tool.description.is_some() || tool.schema.is_some())
            }
            Property::GateChoice => {
                let developer = self.options.developer;
                self.options != ClientOptions { developer, ..ClientOptions::default() }
            }
            Property::GateOpaque => {
                let goes_on = self.rounds.len() > 1 && self.turns().any(|turn| !turn.thinking.is_empty());
                goes_on || self.sends().any(|message| !message.thinking.is_empty())
            }
            Property::GateSaid | Property::GateStream => self.turns().any(|turn| turn.error.is_none()),
            Property::GateCut => self.faults().any(|fault| !matches!(fault, Fault::Status { .. })),
            Property::GateStop => {
                self.turns().any(|turn| matches!(turn.stop.as_deref(), Some("length" | "max_tokens")))
            }
            Property::GateStopCalls => self.turns().any(|turn| !turn.calls.is_empty()),
            // Its own retries, too, keep what those of a client do.
            Property::WireWait => {
                self.faults().any(|fault| matches!(fault, Fault::Status { retry_after: Some(_), .. }))
            }
            Property::GateWords | Property::WireRetry | Property::WireBackoff => {
                self.turns().any(|turn| turn.error.is_some())
                    || self.faults().any(|fault| matches!(fault, Fault::Status { .. }))
            }
            Property::GateWait => {
                self.faults().any(|fault| matches!(fault, Fault::Status { status: 429, retry_after: Some(_), .. }))
            }
            Property::GateThinking => self.turns().any(|turn| !turn.thinking.is_empty()),
            Property::GateCache => self.rounds.len() > 1,
            // Those of agents and of their own wire.
            _ => false,
        }
    }

    fn sends(&self) -> impl Iterator<Item = &ClientMessage> {
        self.rounds.iter().flat_map(|round| &round.sends)
    }

    fn calls(&self) -> impl Iterator<Item = &ClientCall> {
        self.sends().flat_map(|message| &message.calls)
    }

    fn turns(&self) -> impl Iterator<Item = &WireTurn> {
        self.rounds.iter().map(|round| &round.turn)
    }

    fn faults(&self) -> impl Iterator<Item = &Fault> {
        self.turns().flat_map(|turn| &turn.attempts)
    }
}

fn has_image(message: &ClientMessage) -> bool {
    let is_image = |part: &ClientPart| matches!(part, ClientPart::Image(_));
    matches!(&message.content, Some(ClientContent::Parts(parts)) if parts.iter().any(is_image))
}

fn has_long_integer(value: &Value) -> bool {
    match value {
        Value::Number(number) => {
            number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs)).is_some_and(|integer| integer > EXACT)
        }
        Value::Array(elements) => elements.iter().any(has_long_integer),
        Value::Object(members) => members.values().any(has_long_integer),
        _ => false,
    }
}
