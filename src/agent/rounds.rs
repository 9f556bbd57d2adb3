//! Tool rounds: requests and tool calls until a response has no tool calls.

use super::{Model, Response, ToolError, Tools, ids_of, make_distinct};
use crate::context::result_content;
use crate::ids::Ids;
use crate::{Error, Message, Profile, ToolCall};

/// How to run tool rounds. The default is the literal profile without a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolOptions {
    /// Decides where the sources are silent.
    pub profile: Profile,
    /// How many rounds are executed at most (TOOLS-DEPTH); `None` is no limit.
    pub max_recursion_depth: Option<usize>,
}

/// The outcome of [`run_tools`].
#[derive(Clone, Debug, PartialEq)]
pub struct ToolRun {
    /// The list at the end, the final assistant message included.
    pub messages: Vec<Message>,
    /// The message of the model's failure, if that ended the run.
    pub failure: Option<String>,
}

/// Runs tool rounds until a response calls no tool (clauses TOOLS-*).
///
/// There is at most one request more than executed rounds. The tool calls of a response after the last allowed round are not
/// executed. In the hardened profile they are answered by `[Not executed: limit reached]` (TOOLS-CUT), and calls of one
/// response with the same id get distinct ones (TOOLS-DISTINCT).
///
/// ```
/// use threadspec::agent::{ScriptedModel, ScriptedTools, ToolOptions, run_tools};
/// let mut model = ScriptedModel::new(serde_json::from_str(
///     r#"[{"tool_calls": [{"id": "1", "name": "now"}]}, {"content": "Noon."}]"#)?);
/// let mut tools = ScriptedTools::new(serde_json::from_str(r#"{"now": ["12:00"]}"#)?);
/// let messages = vec![threadspec::Message::human("What time is it?")];
/// let run = run_tools(messages, &mut model, &mut tools, &ToolOptions::default());
/// assert_eq!(run.messages.len(), 4);
/// assert_eq!(model.requests().iter().map(Vec::len).collect::<Vec<_>>(), [1, 3]);
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn run_tools(
    messages: Vec<Message>,
    model: &mut dyn Model,
    tools: &mut dyn Tools,
    options: &ToolOptions,
) -> ToolRun {
    let mut messages = messages;
    let limit = options.max_recursion_depth.map_or(Limit::None, Limit::Rounds);
    let mut hardened = (options.profile == Profile::Hardened).then(|| ids_of(&messages));
    let failure = rounds(&mut messages, model, tools, limit, hardened.as_mut(), &mut |_| {}).err();
    ToolRun { messages, failure: failure.map(|error| error.to_string()) }
}

/// When to stop although the model goes on calling tools.
#[derive(Clone, Copy)]
pub(super) enum Limit {
    None,
    /// After so many executed rounds and the response to the last one (TOOLS-DEPTH).
    Rounds(usize),
    /// After so many requests, with the calls of the last response executed (LOOP-LIMIT).
    Requests(usize),
}

/// The answer to a call that a limit cuts off (TOOLS-CUT).
const NOT_EXECUTED: &str = "[Not executed: limit reached]";

/// An event of tool rounds, as it happens.
pub(super) enum RoundStep<'a> {
    Responded(&'a Response),
    Executed { call: &'a ToolCall, content: &'a str },
}

/// The inner loop: asks, executes, appends to `messages`, asks again. Returns the response that ended it.
///
/// In the hardened profile `hardened` holds the ids of the run so far, and only what providers accept is appended.
pub(super) fn rounds(
    messages: &mut Vec<Message>,
    model: &mut dyn Model,
    tools: &mut dyn Tools,
    limit: Limit,
    mut hardened: Option<&mut Ids>,
    observe: &mut dyn FnMut(RoundStep<'_>),
) -> Result<Response, Error> {
    let mut last = Response::default();
    for round in 0.. {
        if matches!(limit, Limit::Requests(requests) if round >= requests) {
            break;
        }
        last = model.respond(messages)?;
        if let Some(ids) = &mut hardened {
            make_distinct(last.tool_calls.iter_mut().map(|call| &mut call.id), ids);
        }
        observe(RoundStep::Responded(&last));
        messages.push(Message::Ai { content: last.content.clone(), tool_calls: last.tool_calls.clone() });
        if last.tool_calls.is_empty() {
            break;
        }
        if matches!(limit, Limit::Rounds(rounds) if round >= rounds) {
            if hardened.is_some() {
                messages.extend(last.tool_calls.iter().map(|call| Message::tool(&call.id, NOT_EXECUTED)));
            }
            break;
        }
        for call in &last.tool_calls {
            let content = match tools.call(call) {
                Ok(result) => result_content(Some(&result)),
                Err(ToolError::NotFound) => format!("Tool not found: \"{}\"", call.name),
                Err(ToolError::Failed(message)) => format!("Tool error: {message}"),
            };
            observe(RoundStep::Executed { call, content: &content });
            messages.push(Message::tool(&call.id, content));
        }
    }
    Ok(last)
}
