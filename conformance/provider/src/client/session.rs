//! A model behind an endpoint, as the library's sessions ask models: with opaque parts, raw arguments, images and hand-overs.

use super::{ClientMessage, Connection, Exchange, HttpModel};
use std::collections::BTreeMap;
use threadspec::session::{
    ModelReply, ModelRequest, OpaqueBlock, RequestedCall, SentMessage, ThreadModel, handoff_tool,
};
use threadspec::surrogates::{unmark_surrogates, without_marks};
use threadspec::{Error, Field, read_json};
use threadspec_apis::{SaidCall, Thinking};
use threadspec_judge::protocol::Request;
use threadspec_judge::reference::SessionModel;

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
        let told =
            |(sent, thinking): (&SentMessage, &Vec<Thinking>)| ClientMessage::of(&sent.message, thinking, &sent.images);
        let told = request.messages.iter().zip(&thinking).map(told).collect();
        let answer = self.model.ask(told).map_err(Error::model_failure)?;
        let text = Some(answer.text).filter(|text| !text.is_empty()).or(answer.refusal).unwrap_or_default();
        Ok(ModelReply {
            content: without_marks(&text).into_owned(),
            calls: answer.calls.iter().map(requested_call).collect(),
            opaque: answer.thinking.into_iter().filter_map(block).collect(),
        })
    }
}

impl<E: Exchange> SessionModel for HttpThreadModel<E> {
    fn begin_run(&mut self, run: usize) {
        self.model.begin_run(run);
    }
}

fn requested_call(call: &SaidCall) -> RequestedCall {
    RequestedCall {
        id: without_marks(&call.id).into_owned(),
        name: without_marks(&call.name).into_owned(),
        arguments: unmark_surrogates(&call.arguments).into_owned(),
    }
}

/// Returns the block that is kept of a thought: none, if the provider should remember it.
fn block(thought: Thinking) -> Option<OpaqueBlock> {
    let Thinking { text, seal, is_redacted, item_id, .. } = thought;
    Some(match (seal, item_id) {
        (Some(encrypted), Some(id)) => OpaqueBlock::Reasoning { id, encrypted, summary: text },
        (Some(data), None) if is_redacted => OpaqueBlock::Redacted { data },
        (Some(signature), None) => OpaqueBlock::Thinking { text, signature },
        (None, _) => return None,
    })
}

/// Returns the model's thinking before a message, as the API gave it.
fn thinking(sent: &SentMessage) -> Vec<Thinking> {
    let thought = |block: &OpaqueBlock| {
        let (text, seal, is_redacted, item_id) = match block.clone() {
            OpaqueBlock::Thinking { text, signature } => (text, signature, false, None),
            OpaqueBlock::Redacted { data } => (String::new(), data, true, None),
            OpaqueBlock::Reasoning { id, encrypted, summary } => (summary, encrypted, false, Some(id)),
            // None of the three APIs has them.
            OpaqueBlock::Signature { .. } => return None,
        };
        Some(Thinking { text, seal: Some(seal), is_redacted, item_id, calls_before: 0 })
    };
    sent.opaque.iter().filter_map(thought).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{ClientRequest, ClientResponse};
    use super::*;
    use serde_json::{Value, json};
    use std::time::Duration;
    use threadspec::oracle::Api;
    use threadspec::{Message, ToolCall};
    use threadspec_judge::protocol::{Endpoint, Transport};

    /// A provider that always says the same, and keeps what it was asked.
    struct Parrot(Value, Vec<Value>);

    impl Exchange for Parrot {
        fn exchange(&mut self, request: &ClientRequest) -> Option<ClientResponse> {
            self.1.push(serde_json::from_slice(&request.body).ok()?);
            let headers = vec![("content-type".into(), "application/json".into())];
            Some(ClientResponse { status: 200, headers, pieces: vec![self.0.to_string().into_bytes()], is_whole: true })
        }

        fn wait(&mut self, _: Duration) {}
    }

    /// The body of a request with these messages, and the reply.
    fn asked(api: Api, answer: Value, messages: Vec<SentMessage>) -> (Value, ModelReply) {
        let endpoint = Endpoint {
            transport: Transport { api, stream: false },
            base_url: "http://127.0.0.1:1/v1".into(),
            api_key: "k".into(),
            model: "m".into(),
            reasoning: true,
        };
        let input = r#"{"tools": {"look": {}}, "agents": {"b": {"tools": {"pay": {}}}}}"#;
        let model = HttpModel::new(&endpoint, [], Parrot(answer, Vec::new())).taking_raw_arguments();
        let mut model = HttpThreadModel { model, tools: tools(input) };
        let reply = model.respond(&ModelRequest { agent: "b".into(), messages }).expect("an answer");
        (model.model.exchange().1.remove(0), reply)
    }

    fn thread(opaque: OpaqueBlock) -> Vec<SentMessage> {
        let call = ToolCall { id: "a".into(), name: "look".into(), args: serde_json::Map::new() };
        let said = Message::Ai { content: "I look.".into(), tool_calls: vec![call] };
        vec![
            Message::human("Go").into(),
            SentMessage { message: said, opaque: vec![opaque], images: Vec::new() },
            SentMessage { message: Message::tool("a", "a cat"), opaque: Vec::new(), images: vec!["iVBORw==".into()] },
        ]
    }

    #[test]
    fn chat_completions_get_images_behind_all_answers_and_give_raw_arguments() {
        let call = json!({"id": "c", "type": "function", "function": {"name": "pay", "arguments": "{\"n\": "}});
        let answer = json!({"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [
            {"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": null, "tool_calls": [call]}}]});
        let signature = OpaqueBlock::Signature { call: "a".into(), data: "s".into() };
        let (body, reply) = asked(Api::OpenAiChat, answer, thread(signature));
        let image = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}});
        assert_eq!(body["messages"][2]["content"], "a cat");
        assert_eq!(body["messages"][3], json!({"role": "user", "content": [image]}));
        let declared: Vec<&Value> =
            body["tools"].as_array().expect("tools").iter().map(|tool| &tool["function"]["name"]).collect();
        assert_eq!(declared, ["pay", "transfer_to_main"]);
        assert_eq!(reply.calls, [RequestedCall { id: "c".into(), name: "pay".into(), arguments: "{\"n\": ".into() }]);
    }

    #[test]
    fn anthropic_gets_thinking_and_images_at_their_places() {
        let content = json!([{"type": "thinking", "thinking": "Hm", "signature": "s2"}, {"type": "redacted_thinking", "data": "d"},
            {"type": "text", "text": "Well."}]);
        let usage = json!({"input_tokens": 1, "output_tokens": 1});
        let answer = json!({"id": "x", "type": "message", "role": "assistant", "model": "m", "content": content,
            "stop_reason": "end_turn", "stop_sequence": null, "usage": usage});
        let thought = OpaqueBlock::Thinking { text: "Oh".into(), signature: "s1".into() };
        let (body, reply) = asked(Api::Anthropic, answer, thread(thought));
        assert_eq!(body["messages"][1]["content"][0], json!({"type": "thinking", "thinking": "Oh", "signature": "s1"}));
        let source = json!({"type": "base64", "media_type": "image/png", "data": "iVBORw=="});
        assert_eq!(body["messages"][2]["content"][0]["content"][1], json!({"type": "image", "source": source}));
        let redacted = OpaqueBlock::Redacted { data: "d".into() };
        assert_eq!(reply.opaque, [OpaqueBlock::Thinking { text: "Hm".into(), signature: "s2".into() }, redacted]);
    }

    #[test]
    fn responses_get_reasoning_items_and_images() {
        let item = json!({"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "e2"});
        let text = json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": "Well.", "annotations": []}]});
        let answer = json!({"id": "x", "object": "response", "created_at": 1, "status": "completed", "model": "m", "output": [item, text]});
        let thought = OpaqueBlock::Reasoning { id: "rs_1".into(), encrypted: "e1".into(), summary: String::new() };
        let (body, reply) = asked(Api::OpenAiResponses, answer, thread(thought));
        assert_eq!((&body["input"][1]["id"], &body["input"][1]["encrypted_content"]), (&json!("rs_1"), &json!("e1")));
        let image = json!({"type": "input_image", "image_url": "data:image/png;base64,iVBORw=="});
        assert_eq!(body["input"][4]["output"], json!([{"type": "input_text", "text": "a cat"}, image]));
        let thought = OpaqueBlock::Reasoning { id: "rs_2".into(), encrypted: "e2".into(), summary: String::new() };
        assert_eq!((&*reply.content, reply.opaque), ("Well.", vec![thought]));
    }
}
