//! rig's `Agent` behind op `tools`.

use messages::{describe, scripted_tool, to_contents, to_message};
use rig_agent::agent::{Agent, AgentBuilder};
use rig_agent::completion::PromptError;
use rig_agent::test_utils::{MockCompletionModel, MockTurn};
use rig_core::message::Message;
use serde_json::json;
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
    let tool = |name: &String| {
        let model = model.clone();
        scripted_tool(script, name, move || model.request_count() - 1)
    };
    let tools = script.tools.iter().map(tool).collect::<Result<Vec<_>, _>>()?;
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
    let version = include_str!("Cargo.lock").split("name = \"rig-core\"\nversion = \"").nth(1);
    let version = version.and_then(|rest| rest.split('"').next()).expect("a version of rig-core");
    testee::serve(json!({"name": "rig", "version": version, "language": "Rust", "url": url}), None, run);
}
