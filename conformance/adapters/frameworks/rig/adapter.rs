//! rig's `Agent` behind op `tools`.

use messages::{describe, to_contents, to_message, tool_name};
use rig_agent::agent::{Agent, AgentBuilder};
use rig_agent::completion::PromptError;
use rig_agent::test_utils::{MockCompletionModel, MockTurn};
use rig_core::message::Message;
use rig_core::tool::{DynamicTool, ToolExecutionError, ToolOutput};
use serde_json::{Value, json};
use std::sync::Arc;
use testee::{Outcome, Script};

#[path = "../shared/rig.rs"]
mod messages;
#[path = "../shared/testee.rs"]
mod testee;

fn turn(turn: &testee::Turn) -> Result<MockTurn, String> {
    Ok(match turn {
        Ok((content, calls)) => MockTurn::from_contents(to_contents(content, calls)?),
        Err(error) => MockTurn::error(error),
    })
}

fn agent(script: &Arc<Script>, model: &MockCompletionModel) -> Result<Agent, String> {
    let mut tools = Vec::new();
    for name in &script.tools {
        let (script, model, tool) = (script.clone(), model.clone(), name.clone());
        let callback = move |args: Value| {
            let result = script.result(model.request_count() - 1, &tool, &args);
            let output = |result| {
                if let Value::String(text) = result { ToolOutput::text(text) } else { ToolOutput::json(result) }
            };
            Box::pin(async move { result.map(output).map_err(ToolExecutionError::other) }) as _
        };
        tools.push(DynamicTool::new(tool_name(name)?, "A scripted tool.", json!({"type": "object"}), callback));
    }
    Ok(AgentBuilder::new(model.clone()).dynamic_tools(tools).build())
}

#[tokio::main(flavor = "current_thread")]
async fn run(script: Arc<Script>) -> Result<Outcome, String> {
    let model = MockCompletionModel::from_turns(script.turns.iter().map(turn).collect::<Result<Vec<_>, _>>()?);
    let mut given = script.messages.iter().map(to_message).collect::<Result<Vec<_>, _>>()?;
    let prompt = given
        .pop()
        .filter(|last| matches!(last, Message::User { .. }))
        .ok_or("rig wants a prompt of the user behind the history")?;
    let run = agent(&script, &model)?.prompt(prompt).history(given.clone()).max_turns(script.rounds + 1).await;
    let (messages, error) = match run {
        Ok(response) => (Some([given, response.messages().to_vec()].concat()), None),
        Err(PromptError::MaxTurns { chat_history, .. }) => (Some(chat_history), None),
        Err(error) => (None, Some(error.to_string())),
    };
    let requests =
        model.requests().iter().map(|request| request.chat_history.iter().flat_map(describe).collect()).collect();
    Ok(Outcome { requests, messages: messages.map(|list| list.iter().flat_map(describe).collect()), error })
}

fn main() {
    let url = "https://github.com/0xPlaygrounds/rig";
    testee::serve(json!({"name": "rig", "version": "0.44.0", "language": "Rust", "url": url}), run);
}
