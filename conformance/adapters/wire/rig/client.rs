//! rig's `Agent` on its own model clients, over the wire.

use futures::StreamExt;
use messages::{describe, scripted_tool, to_message};
use rig_agent::agent::{AgentBuilder, MultiTurnStreamItem, PromptResponse, StreamingResult};
use rig_agent::completion::PromptError;
use rig_core::message::Message;
use rig_core::providers::{anthropic::AnthropicConfig, openai::OpenAIConfig};
use serde_json::{Value, json};
use std::sync::{Arc, LazyLock};
use testee::{Outcome, Script};
use tokio::runtime::Runtime;

#[path = "../../frameworks/shared/rig.rs"]
mod messages;
#[path = "../../frameworks/shared/testee.rs"]
mod testee;

fn builder(endpoint: &Value) -> AgentBuilder {
    let [url, key, model] = ["baseUrl", "apiKey", "model"].map(|name| endpoint[name].as_str().unwrap_or_default());
    let openai = OpenAIConfig::new(key).with_base_url(url).client();
    match endpoint["api"].as_str() {
        Some("openai-chat") => AgentBuilder::new(openai.chat(model)),
        Some("openai-responses") => AgentBuilder::new(openai.responses(model)),
        _ => AgentBuilder::new(AnthropicConfig::new(key).with_base_url(url).client().completion(model)),
    }
}

/// One for all runs, since their connections are in one pool.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().expect("a runtime"));
async fn answer(script: Arc<Script>) -> Result<Outcome, String> {
    let mut given = script.messages.iter().map(to_message).collect::<Result<Vec<_>, _>>()?;
    let Some(prompt @ Message::User { .. }) = given.pop() else { return Err("rig wants a prompt of the user".into()) };
    let tools = script.declarable().map(|name| scripted_tool(&script, name, || 0)).collect::<Result<Vec<_>, _>>()?;
    let agent = builder(&script.endpoint).max_tokens(8192).dynamic_tools(tools).build();
    let runner = agent.prompt(prompt).history(given.clone()).max_turns(script.rounds + 1);
    let response = if script.endpoint["stream"] == true { last(runner.stream()).await } else { runner.await };
    let (messages, error) = match response {
        Ok(response) => (Some([given, response.messages().to_vec()].concat()), None),
        Err(PromptError::MaxTurns { chat_history, .. }) => (Some(chat_history), None),
        Err(error) => (None, Some(error.to_string())),
    };
    Ok(Outcome { requests: vec![], messages: messages.map(|list| list.iter().flat_map(describe).collect()), error })
}

async fn last(mut items: StreamingResult) -> Result<PromptResponse, PromptError> {
    let mut last = None;
    while let Some(item) = items.next().await.transpose()? {
        last = if let MultiTurnStreamItem::FinalResponse(response) = item { Some(response) } else { last };
    }
    Ok(last.expect("a stream ends with a response or an error"))
}

fn main() {
    let rig =
        json!({"name": "rig", "version": "0.44.0", "language": "Rust", "url": "https://github.com/0xPlaygrounds/rig"});
    let apis = json!(["openai-chat", "openai-responses", "anthropic"]);
    testee::serve(rig, Some(apis), |script| RUNTIME.block_on(answer(script)));
}
