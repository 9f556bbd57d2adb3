//! Tool rounds: requests and tool calls until a response has no tool calls.

use super::{Model, Response, ToolError, Tools};
use crate::{Message, ToolCall, context::result_content};

/// What came of [`run_tools`].
#[derive(Clone, Debug, PartialEq)]
pub struct ToolRun {
    /// The list at the end, the final assistant message included.
    pub messages: Vec<Message>,
    /// The message of the model's failure, if that ended the run.
    pub failure: Option<String>,
}

/// Runs tool rounds until a response calls no tool (clauses TOOLS-*).
///
/// At most `max_recursion_depth` rounds are executed, hence at most one request more; `None` is no limit. The tool calls of
/// a response after the last allowed round are not executed.
///
/// ```
/// use threadspec::agent::{ScriptedModel, ScriptedTools, run_tools};
/// let mut model = ScriptedModel::new(serde_json::from_str(
///     r#"[{"tool_calls": [{"id": "1", "name": "now"}]}, {"content": "Noon."}]"#)?);
/// let mut tools = ScriptedTools::new(serde_json::from_str(r#"{"now": ["12:00"]}"#)?);
/// let run = run_tools(vec![threadspec::Message::human("What time is it?")], &mut model, &mut tools, None);
/// assert_eq!(run.messages.len(), 4);
/// assert_eq!(model.requests().iter().map(Vec::len).collect::<Vec<_>>(), [1, 3]);
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn run_tools(
    messages: Vec<Message>,
    model: &mut dyn Model,
    tools: &mut dyn Tools,
    max_recursion_depth: Option<usize>,
) -> ToolRun {
    let mut messages = messages;
    let limit = max_recursion_depth.map_or(Limit::None, Limit::Rounds);
    let failure = rounds(&mut messages, model, tools, limit, &mut |_| {}).err();
    ToolRun { messages, failure }
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

/// What happens during tool rounds, as it happens.
pub(super) enum Step<'a> {
    Responded(&'a Response),
    Executed { call: &'a ToolCall, content: &'a str },
}

/// The inner loop: asks, executes, appends to `messages`, asks again. Returns the response that ended it.
pub(super) fn rounds(
    messages: &mut Vec<Message>,
    model: &mut dyn Model,
    tools: &mut dyn Tools,
    limit: Limit,
    observe: &mut dyn FnMut(Step<'_>),
) -> Result<Response, String> {
    let mut last = Response::default();
    for round in 0.. {
        if matches!(limit, Limit::Requests(requests) if round >= requests) {
            break;
        }
        last = model.respond(messages)?;
        observe(Step::Responded(&last));
        messages.push(Message::Ai { content: last.content.clone(), tool_calls: last.tool_calls.clone() });
        if last.tool_calls.is_empty() || matches!(limit, Limit::Rounds(rounds) if round >= rounds) {
            break;
        }
        for call in &last.tool_calls {
            let content = match tools.call(call) {
                Ok(result) => result_content(Some(&result)),
                Err(ToolError::NotFound) => format!("Tool not found: \"{}\"", call.name),
                Err(ToolError::Failed(message)) => format!("Tool error: {message}"),
            };
            observe(Step::Executed { call, content: &content });
            messages.push(Message::tool(&call.id, content));
        }
    }
    Ok(last)
}
