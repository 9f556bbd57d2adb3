//! A model behind an endpoint, as the library's sessions ask models: with opaque parts, raw arguments, images and hand-overs.

use super::body::Told;
use super::{Connection, Exchange, HttpModel};
use std::collections::BTreeMap;
use threadspec::session::{
    ModelReply, ModelRequest, OpaqueBlock, RequestedCall, SentMessage, ThreadModel, handoff_tool,
};
use threadspec::surrogates::{unmark_surrogates, without_marks};
use threadspec::{Error, Field, read_json};
use threadspec_apis::{SaidCall, Thinking};
use threadspec_judge::protocol::Request;

/// A model that is asked over HTTP by the agents of a session. It declares the tools of the agent that asks, and one for each agent to which it
/// can hand over; to who is no agent of the session, such as a summarizer, none.
pub struct HttpThreadModel<E> {
    model: HttpModel<E>,
    tools: BTreeMap<String, Vec<String>>,
}

impl HttpThreadModel<Connection> {
    /// The model that a request of the protocol names. `None` if it names none that is asked over plain HTTP.
    pub fn of(request: &Request) -> Option<Self> {
        let endpoint = request.endpoint.as_ref()?;
        let exchange = Connection::to(&endpoint.base_url)?;
        Some(Self {
            model: HttpModel::new(endpoint, [], exchange).taking_raw_arguments(),
            tools: tools(&request.input),
        })
    }
}

/// The tools of each agent of a session, by its name. The input is read again, with words for what is wrong, by who plays it.
fn tools(input: &str) -> BTreeMap<String, Vec<String>> {
    let input = read_json(input).unwrap_or_default();
    let input = Field::root(&input, "input");
    let names = |field: &Field<'_>, name: &str| -> Vec<String> {
        let members = field.get(name).members().ok().into_iter().flatten();
        members.map(|(name, _)| without_marks(name).into_owned()).collect()
    };
    let mut tools = BTreeMap::from([("main".to_owned(), names(&input, "tools"))]);
    let agents = input.get("agents");
    for (name, agent) in agents.members().ok().into_iter().flatten() {
        tools.insert(without_marks(name).into_owned(), names(&agent, "tools"));
    }
    let agents: Vec<String> = tools.keys().cloned().collect();
    for (name, own) in &mut tools {
        own.extend(agents.iter().filter(|agent| *agent != name).map(|agent| handoff_tool(agent)));
    }
    tools
}

impl<E: Exchange> ThreadModel for HttpThreadModel<E> {
    fn respond(&mut self, request: &ModelRequest) -> Result<ModelReply, Error> {
        let none = &Vec::new();
        self.model.declare(self.tools.get(&request.agent).unwrap_or(none));
        let thinking: Vec<Vec<Thinking>> = request.messages.iter().map(thinking).collect();
        let told = |(sent, thinking)| {
            let SentMessage { message, images, .. }: &SentMessage = sent;
            Told { message, thinking, images }
        };
        let thinking = thinking.iter().map(Vec::as_slice);
        let told: Vec<Told<'_>> = request.messages.iter().zip(thinking).map(told).collect();
        let answer = self.model.ask(&told).map_err(Error::model_failure)?;
        let text = Some(answer.text).filter(|text| !text.is_empty()).or(answer.refusal).unwrap_or_default();
        Ok(ModelReply {
            content: without_marks(&text).into_owned(),
            calls: answer.calls.iter().map(requested_call).collect(),
            opaque: answer.thinking.into_iter().filter_map(block).collect(),
        })
    }
}

fn requested_call(call: &SaidCall) -> RequestedCall {
    RequestedCall {
        id: without_marks(&call.id).into_owned(),
        name: without_marks(&call.name).into_owned(),
        arguments: unmark_surrogates(&call.arguments).into_owned(),
    }
}

/// What is kept of a thought: nothing, if the provider was to remember it.
fn block(thought: Thinking) -> Option<OpaqueBlock> {
    let Thinking { text, seal, is_redacted, item_id } = thought;
    Some(match (seal, item_id) {
        (Some(encrypted), Some(id)) => OpaqueBlock::Reasoning { id, encrypted, summary: text },
        (Some(data), None) if is_redacted => OpaqueBlock::Redacted { data },
        (Some(signature), None) => OpaqueBlock::Thinking { text, signature },
        (None, _) => return None,
    })
}

/// What the model thought before a message, as the API gave it.
fn thinking(sent: &SentMessage) -> Vec<Thinking> {
    let thought = |block: &OpaqueBlock| {
        let (text, seal, is_redacted, item_id) = match block.clone() {
            OpaqueBlock::Thinking { text, signature } => (text, signature, false, None),
            OpaqueBlock::Redacted { data } => (String::new(), data, true, None),
            OpaqueBlock::Reasoning { id, encrypted, summary } => (summary, encrypted, false, Some(id)),
            // None of the three APIs has them.
            OpaqueBlock::Signature { .. } => return None,
        };
        Some(Thinking { text, seal: Some(seal), is_redacted, item_id })
    };
    sent.opaque.iter().filter_map(thought).collect()
}
