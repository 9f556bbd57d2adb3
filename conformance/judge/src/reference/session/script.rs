//! The script of a session, as the library plays it: in the names of agents, tools and calls and in what people read, each lone surrogate is
//! U+FFFD.

use crate::reference::keyed::KeyedTools;
use crate::script::{CallWish, ScriptAgent, ScriptCall, ScriptResponse, ScriptTurn};
use serde_json::Value;
use threadspec::Error;
use threadspec::session::{AgentSpec, Approval, Beginning, ModelReply, RequestedCall, handoff_tool};
use threadspec::surrogates::{unmark_surrogates, without_marks};

/// An agent with its tools.
pub(super) fn agent(agent: ScriptAgent) -> (AgentSpec, KeyedTools) {
    let guarded = agent.tools.iter().filter(|tool| tool.needs_approval).map(|tool| plain(&tool.name)).collect();
    let system = plain(&agent.system.unwrap_or_default());
    (AgentSpec { name: plain(&agent.name), system, guarded }, KeyedTools::of_session(agent.tools))
}

pub(super) fn beginning(beginning: Beginning) -> Beginning {
    let approval = |approval| match approval {
        Approval::Denied { reason } => Approval::Denied { reason: reason.as_deref().map(plain) },
        approved @ Approval::Approved { .. } => approved,
    };
    match beginning {
        Beginning::Message(text) => Beginning::Message(plain(&text)),
        Beginning::Decisions(decisions) => {
            Beginning::Decisions(decisions.into_iter().map(|(id, decision)| (plain(&id), approval(decision))).collect())
        }
        Beginning::Resume => Beginning::Resume,
    }
}

/// Returns the model's answer, or the reason why it fails.
pub(super) fn reply(turn: ScriptTurn) -> Result<ModelReply, Error> {
    match turn {
        ScriptTurn::Failure(message) => Err(Error::model_failure(plain(&message))),
        ScriptTurn::Response(ScriptResponse { content, calls, opaque }) => {
            let content = plain(&content.unwrap_or_default());
            // Opaque parts come back as they are, marks included.
            Ok(ModelReply { content, calls: calls.into_iter().map(requested).collect(), opaque })
        }
    }
}

fn requested(ScriptCall { id, wants }: ScriptCall) -> RequestedCall {
    let (name, arguments) = match wants {
        CallWish::HandOver { agent } => (handoff_tool(&plain(&agent)), String::new()),
        CallWish::Raw { name, arguments } => (plain(&name), plain(&arguments)),
        // Data is marked, and arguments are text.
        CallWish::Tool { name, args } => {
            (plain(&name), unmark_surrogates(&Value::Object(args).to_string()).into_owned())
        }
    };
    RequestedCall { id: plain(&id), name, arguments }
}

pub(super) fn plain(text: &str) -> String {
    without_marks(text).into_owned()
}
