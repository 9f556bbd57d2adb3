//! The cases of `golden/gateway/`: what a client sends, and what the model answers, in a form that belongs to no API.

mod message;
mod play;
mod subjects;

pub use play::play;

use serde_json::Value;
use threadspec::oracle::Api;
use threadspec_apis::ToolChoice;
use threadspec_provider::client::{ClientMessage, ClientOptions, ClientTool};
use threadspec_provider::{Error, ObjectReading, RunPlan, StrictReading, WireTurn, read_text};

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
    let sends: Vec<ClientMessage> =
        members.need("sends", |list| list.list()?.into_iter().map(message::read).collect())?;
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

#[cfg(test)]
mod tests;
