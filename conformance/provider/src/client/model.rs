//! Asks a model behind an endpoint for the library: as its loops ask models, and as its sessions do, with opaque parts, raw arguments, images
//! and hand-overs.

use super::{ClientAsk, ClientMessage, ClientRequest, ClientResponse, ClientTool, Connection, Exchange, headers};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;
use threadspec::agent::{Model, Response};
use threadspec::session::{
    ModelReply, ModelRequest, OpaqueBlock, RequestedCall, SentMessage, ThreadModel, handoff_tool,
};
use threadspec::surrogates::{unmark_surrogates, without_marks};
use threadspec::{Error, Field, Message, ToolCall, read_json};
use threadspec_apis::{AnswerEnd, ApiError, ModelAnswer, ReadAnswer, SaidCall, Thinking};
use threadspec_judge::protocol::{Endpoint, Request};
use threadspec_judge::reference::SessionModel;
use threadspec_judge::universal::{can_be_declared, value};

/// How often the official SDKs try again.
const RETRIES: u32 = 2;
/// How long they wait before they do so for the first time, if nobody says how long.
const PAUSE: Duration = Duration::from_millis(500);

/// A model that is asked over HTTP. It declares tools that take any object, tries again twice what passes, as the official SDKs do, and sends
/// back what the model thought.
pub struct HttpModel<E> {
    endpoint: Endpoint,
    tools: Vec<String>,
    /// The description of each tool.
    mark: Option<String>,
    exchange: E,
    /// The model's thinking before the message at this place in the list.
    thinking: HashMap<usize, Vec<Thinking>>,
    /// True if arguments that are no JSON object are handed on as they are.
    takes_raw_arguments: bool,
}

/// An attempt that failed.
struct FailedAttempt {
    why: String,
    /// The plan for the next attempt.
    next: NextAttempt,
}

/// The plan for the attempt after a failed one.
enum NextAttempt {
    /// There is to be none.
    None,
    /// How long to wait is up to the client.
    Later,
    /// The time to wait was given.
    After(Duration),
}

impl HttpModel<Connection> {
    /// The model that a request of the protocol names, with the tools of its input. `None` if it names none that is asked over plain HTTP.
    pub fn of(request: &Request) -> Option<Self> {
        let endpoint = request.endpoint.as_ref()?;
        let input = value::read(&request.input).unwrap_or_default();
        let names = input["tools"].as_object().into_iter().flatten().map(|(name, _)| without_marks(name).into_owned());
        Some(Self::new(endpoint, names, Connection::to(&endpoint.base_url)?))
    }
}

impl<E: Exchange> HttpModel<E> {
    /// The model at an endpoint, with tools of these names, as far as its API can declare them.
    pub fn new(endpoint: &Endpoint, tools: impl IntoIterator<Item = String>, exchange: E) -> Self {
        let api = endpoint.transport.api;
        let tools = tools.into_iter().filter(|name| can_be_declared(api, name)).collect();
        let (endpoint, mark, thinking) = (endpoint.clone(), None, HashMap::new());
        Self { endpoint, tools, mark, exchange, thinking, takes_raw_arguments: false }
    }

    /// The model, with this as the description of each tool.
    #[must_use]
    pub fn marking_tools(self, mark: String) -> Self {
        Self { mark: Some(mark), ..self }
    }

    /// The model, whose caller looks at the arguments of each call itself.
    pub(super) fn taking_raw_arguments(self) -> Self {
        Self { takes_raw_arguments: true, ..self }
    }

    /// Declares these tools from now on, as far as the API can.
    pub(super) fn declare(&mut self, tools: &[String]) {
        let api = self.endpoint.transport.api;
        self.tools = tools.iter().filter(|name| can_be_declared(api, name)).cloned().collect();
    }

    /// Says to the provider that a run of a session begins, counted from 1.
    pub(super) fn begin_run(&mut self, run: usize) {
        let request = ClientRequest {
            method: "POST".into(),
            target: format!("{}/runs/{run}", Connection::path_of(&self.endpoint.base_url)),
            headers: headers(&self.endpoint),
            body: Vec::new(),
        };
        // Without an answer there is none to the first request, either.
        self.exchange.exchange(&request);
    }

    #[cfg(test)]
    pub(super) fn exchange(&mut self) -> &mut E {
        &mut self.exchange
    }

    /// Returns the model's answer to messages.
    ///
    /// # Errors
    /// Why it sent nothing.
    pub(super) fn ask(&mut self, messages: Vec<ClientMessage>) -> Result<ModelAnswer, String> {
        let description = &self.mark;
        let tool = |name: &String| ClientTool { description: description.clone(), ..ClientTool::named(name) };
        let tools = self.tools.iter().map(tool).collect();
        let request = ClientRequest::of(&self.endpoint, &ClientAsk { messages, tools, ..ClientAsk::default() });
        for attempt in 0.. {
            let response = self.exchange.exchange(&request);
            match self.hear(response) {
                Ok(answer) => return Ok(answer),
                Err(FailedAttempt { next: NextAttempt::Later, .. }) if attempt < RETRIES => {
                    self.exchange.wait(PAUSE * 2_u32.pow(attempt));
                }
                Err(FailedAttempt { next: NextAttempt::After(pause), .. }) if attempt < RETRIES => {
                    self.exchange.wait(pause);
                }
                Err(failed) => return Err(failed.why),
            }
        }
        Err("nobody was asked".to_owned())
    }

    /// Reads the model's answer.
    fn hear(&self, response: Option<ClientResponse>) -> Result<ModelAnswer, FailedAttempt> {
        let again = |why: &str| FailedAttempt { why: why.to_owned(), next: NextAttempt::Later };
        let response = response.ok_or_else(|| again("the provider did not answer"))?;
        if response.status >= 400 {
            return Err(refusal(&response));
        }
        let said = response.read(self.endpoint.transport.api).map_err(|why| again(&why))?;
        match &said.end {
            AnswerEnd::Failed(error) => Err(again(&error.message)),
            AnswerEnd::Broken => Err(again("the answer broke off")),
            // The model sent this; it would send it again.
            AnswerEnd::Whole if !self.can_take(&said) => {
                Err(FailedAttempt { why: "a call of the model did not come whole".to_owned(), next: NextAttempt::None })
            }
            AnswerEnd::Whole => Ok(said.answer),
        }
    }

    /// Returns whether each call came whole, or is one that cannot be executed by mistake.
    fn can_take(&self, said: &ReadAnswer) -> bool {
        let is_raw = |call: &SaidCall| {
            self.takes_raw_arguments && !value::read(&call.arguments).is_ok_and(|arguments| arguments.is_object())
        };
        said.answer.calls.iter().zip(&said.whole_calls).all(|(call, is_whole)| *is_whole || is_raw(call))
    }
}

impl<E: Exchange> Model for HttpModel<E> {
    fn respond(&mut self, request: &[Message]) -> Result<Response, Error> {
        let thinking = std::mem::take(&mut self.thinking);
        let of_message = |place| thinking.get(&place).map_or(&[][..], Vec::as_slice);
        let told = |(place, message)| ClientMessage::of(message, of_message(place), &[]);
        let told = request.iter().enumerate().map(told).collect();
        let answer = self.ask(told);
        self.thinking = thinking;
        let answer = answer.map_err(Error::model_failure)?;
        self.thinking.insert(request.len(), answer.thinking);
        let text = Some(answer.text).filter(|text| !text.is_empty()).or(answer.refusal).unwrap_or_default();
        Ok(Response {
            content: without_marks(&text).into_owned(),
            tool_calls: answer.calls.iter().map(tool_call).collect(),
        })
    }
}

/// A call that came whole.
fn tool_call(call: &SaidCall) -> ToolCall {
    let args = value::read(&unmark_surrogates(&call.arguments)).ok();
    let args = args.and_then(|args| args.as_object().cloned()).unwrap_or_default();
    ToolCall { id: without_marks(&call.id).into_owned(), name: without_marks(&call.name).into_owned(), args }
}

/// Why a request was refused, and whether it is sent again.
fn refusal(response: &ClientResponse) -> FailedAttempt {
    let body = String::from_utf8_lossy(&response.body()).into_owned();
    let error = ApiError::read(response.status, &read_json(&body).unwrap_or(Value::Null));
    let is_passing = match response.header("x-should-retry") {
        Some("true") => true,
        Some("false") => false,
        _ => error.is_passing(),
    };
    let named = |name: &str| response.header(name).and_then(|value| value.parse().ok());
    let pause =
        named("retry-after-ms").map(Duration::from_millis).or_else(|| named("retry-after").map(Duration::from_secs));
    let next = match pause {
        _ if !is_passing => NextAttempt::None,
        Some(pause) => NextAttempt::After(pause),
        None => NextAttempt::Later,
    };
    FailedAttempt { why: format!("{}: {}", response.status, error.message), next }
}

// A model behind an endpoint, as the library's sessions ask models: with opaque parts, raw arguments, images and hand-overs.

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
            // None of the APIs has them so.
            OpaqueBlock::Signature { .. } => return None,
        };
        Some(Thinking { text, seal: Some(seal), is_redacted, item_id, calls_before: 0 })
    };
    sent.opaque.iter().filter_map(thought).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::{ClientRequest, ClientResponse};
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
