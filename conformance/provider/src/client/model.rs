//! A model behind an endpoint, as the library asks models.

use super::body::is_declarable;
use super::request::headers;
use super::{ClientAsk, ClientMessage, ClientRequest, ClientResponse, ClientTool, Connection, Exchange};
use serde_json::Value;
use std::collections::HashMap;
use std::time::Duration;
use threadspec::agent::{Model, Response};
use threadspec::surrogates::{unmark_surrogates, without_marks};
use threadspec::{Error, Message, ToolCall, read_json};
use threadspec_apis::{AnswerEnd, ApiError, ModelAnswer, ReadAnswer, SaidCall, Thinking};
use threadspec_judge::protocol::{Endpoint, Request};
use threadspec_judge::universal::value;

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
        let tools = tools.into_iter().filter(|name| is_declarable(api, name)).collect();
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
        self.tools = tools.iter().filter(|name| is_declarable(api, name)).cloned().collect();
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
