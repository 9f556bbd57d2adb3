//! The built-in implementation: the library behind the protocol.

use super::keyed;
use crate::protocol::{self, Hello, Implementation, Op, RejectKind, Reply, Request};
use crate::universal::Abilities;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json, value::RawValue};
use std::collections::HashMap;
use threadspec::{
    ContextMode, ContextOptions, Error, Event, Message, Profile, SerializeOptions,
    agent::{
        LoopOptions, ScriptedModel, ScriptedTools, ScriptedVerifier, Turn, Verification, Verifier, run_loop, run_tools,
    },
    build_messages, escape_text, read_events, serialize_thread,
    surrogates::repair_surrogates,
};

/// The reference as a testee.
#[derive(Debug, Default)]
pub struct Reference;

impl Implementation for Reference {
    fn hello(&self) -> Hello {
        Hello {
            name: "threadspec".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            language: "Rust".into(),
            url: Some(env!("CARGO_PKG_REPOSITORY").into()),
            ops: Op::all().collect(),
            profiles: protocol::Profile::ALL.into(),
            abilities: Abilities::default(),
        }
    }

    fn answer(&mut self, request: &Request) -> Reply {
        let input = repair_surrogates(&request.input);
        let profile = request.profile.rendering();
        let output = match request.op {
            Op::Escape => escape(&input, profile),
            Op::Serialize => serialize(&input, profile),
            Op::Messages => messages(&input, profile),
            Op::Tools if request.profile == protocol::Profile::Universal => keyed::tools(&input),
            Op::Tools => tools(&input),
            Op::Loop => outer_loop(&input, profile),
        };
        output.map_or_else(
            |error| Reply::Reject {
                kind: if error.is_invalid_event() { RejectKind::InvalidEvent } else { RejectKind::InvalidInput },
                message: error.to_string(),
            },
            Reply::Ok,
        )
    }
}

fn escape(input: &str, profile: Profile) -> Result<Value, Rejection> {
    #[derive(Deserialize)]
    struct Input {
        text: String,
    }
    let Input { text } = read(input)?;
    Ok(escape_text(&text, profile).into())
}

fn serialize(input: &str, profile: Profile) -> Result<Value, Rejection> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Input {
        response_prefix: Option<String>,
    }
    let Input { response_prefix } = read(input)?;
    let options = SerializeOptions { profile, response_prefix: response_prefix.as_deref().unwrap_or_default() };
    Ok(serialize_thread(&events(input)?, &options).into())
}

fn messages(input: &str, profile: Profile) -> Result<Value, Rejection> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Input {
        context_mode: Option<String>,
        instructions: Option<String>,
    }
    let Input { context_mode, instructions } = read(input)?;
    let options =
        ContextOptions { profile, mode: mode(context_mode)?, instructions: &instructions.unwrap_or_default() };
    Ok(json!(build_messages(&events(input)?, &options)))
}

fn tools(input: &str) -> Result<Value, Rejection> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Input {
        messages: Vec<Message>,
        model: Vec<Turn>,
        tools: Option<HashMap<String, Vec<Value>>>,
        max_recursion_depth: Option<usize>,
    }
    let Input { messages, model, tools, max_recursion_depth } = read(input)?;
    let mut model = ScriptedModel::new(model);
    let mut tools = ScriptedTools::new(tools.unwrap_or_default());
    let run = run_tools(messages, &mut model, &mut tools, max_recursion_depth);
    Ok(json!({"requests": model.requests(), "messages": run.messages}))
}

fn outer_loop(input: &str, profile: Profile) -> Result<Value, Rejection> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Input {
        prompt: String,
        context_mode: Option<String>,
        instructions: Option<String>,
        model: Vec<Turn>,
        tools: Option<HashMap<String, Vec<Value>>>,
        verify: Option<Vec<Verification>>,
        max_iterations: Option<u64>,
        max_tool_calls_per_iteration: Option<usize>,
    }
    let input: Input = read(input)?;
    let defaults = LoopOptions::default();
    let options = LoopOptions {
        profile,
        mode: mode(input.context_mode)?,
        instructions: input.instructions.unwrap_or_default(),
        max_iterations: input.max_iterations,
        max_tool_calls_per_iteration: input
            .max_tool_calls_per_iteration
            .unwrap_or(defaults.max_tool_calls_per_iteration),
    };
    let mut model = ScriptedModel::new(input.model);
    let mut tools = ScriptedTools::new(input.tools.unwrap_or_default());
    let mut verifier = input.verify.map(ScriptedVerifier::new);
    let verifier = verifier.as_mut().map(|verifier| verifier as &mut dyn Verifier);
    let run = run_loop(&input.prompt, &mut model, &mut tools, verifier, &options);
    Ok(json!({
        "requests": model.requests(),
        "events": run.events,
        "response": run.response,
        "iterations": run.iterations,
        "stopReason": run.stop_reason.to_string(),
    }))
}

/// Why an input is refused: the library says so, or its shape is not the operation's.
pub(super) enum Rejection {
    Library(Error),
    Shape(String),
}

impl Rejection {
    fn is_invalid_event(&self) -> bool {
        matches!(self, Self::Library(error) if error.is_invalid_event())
    }
}

impl std::fmt::Display for Rejection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Library(error) => error.fmt(f),
            Self::Shape(reason) => f.write_str(reason),
        }
    }
}

impl From<Error> for Rejection {
    fn from(error: Error) -> Self {
        Self::Library(error)
    }
}

pub(super) fn read<T: DeserializeOwned>(input: &str) -> Result<T, Rejection> {
    serde_json::from_str(input).map_err(|error| Rejection::Shape(error.to_string()))
}

/// The `events` of an input, each read by the library, so that a fault is told by its index.
fn events(input: &str) -> Result<Vec<Event>, Rejection> {
    let members: HashMap<String, &RawValue> =
        serde_json::from_str(input).map_err(|error| Rejection::Shape(error.to_string()))?;
    match members.get("events").map(|events| events.get()) {
        Some(events) if events.starts_with('[') => Ok(read_events(events)?),
        _ => Err(Rejection::Shape("events: expected an array".into())),
    }
}

fn mode(name: Option<String>) -> Result<ContextMode, Rejection> {
    Ok(name.map_or(Ok(ContextMode::default()), |name| name.parse())?)
}
