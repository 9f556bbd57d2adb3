//! A request of the client as one for the upstream.

use super::course::{AnswerHead, ExchangeCourse, TestGateway, apply};
use super::passage::{Outgoing, Passage};
use super::{names, write};
use serde_json::Value;
use std::collections::HashMap;
use threadspec::oracle::Api;
use threadspec_apis::{ApiError, ApiRequest, json_text};
use threadspec_judge::universal::value;
use threadspec_provider::client::ClientRequest;

/// What comes of a request of the client.
pub(crate) enum GatewayAsk {
    /// The gateway answers itself.
    Answered(Outgoing),
    /// It goes to the upstream, whose answer passes. What a bug sends beside it follows.
    Sent(ClientRequest, Box<Passage>, Vec<ClientRequest>),
}

/// Fields that are about one connection, or that the gateway makes itself.
const OWN_FIELDS: [&str; 9] = [
    "connection",
    "host",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "content-length",
    "accept-encoding",
    "keep-alive",
];
/// The fields that have a key.
const KEY_FIELDS: [&str; 3] = ["authorization", "x-api-key", "api-key"];

/// The path to which an API's requests are posted.
pub(super) fn path(api: Api) -> &'static str {
    match api {
        Api::OpenAiChat => "/v1/chat/completions",
        Api::OpenAiResponses => "/v1/responses",
        // None of the mutants speaks Gemini's.
        Api::Anthropic | Api::Gemini => "/v1/messages",
    }
}

/// A value of marked data as the bytes of a body.
pub(super) fn bytes(body: &Value) -> Vec<u8> {
    json_text(body, false).into_bytes()
}

impl TestGateway {
    /// Takes a request of the client. What bugs keep from request to request is in the passage until [`TestGateway::settle`] takes it back.
    pub(crate) fn ask(&mut self, mut request: ClientRequest) -> GatewayAsk {
        let mut course = ExchangeCourse {
            client: self.client,
            upstream: self.upstream,
            stream: false,
            ask: 0,
            ask_of_run: 0,
            run: 0,
            asked: Value::Null,
            kept: std::mem::take(&mut self.kept),
        };
        if !is_answer_path(&request.target, self.client) || request.method != "POST" {
            self.kept = course.kept;
            let mut course = ExchangeCourse { kept: self.kept.clone(), ..self.course() };
            if self.is_plain_proxy() {
                let sent = self.with_key(request);
                return GatewayAsk::Sent(
                    sent,
                    Box::new(Passage::new(self, course, names::GivenBackNames::new())),
                    Vec::new(),
                );
            }
            let error = ApiError::unknown_path(self.client, &request.method, &request.target);
            return GatewayAsk::Answered(Outgoing::error(self, &mut course, &error));
        }
        apply(&self.seams.asked, &mut course, &mut request);
        let asked = str::from_utf8(&request.body).ok().and_then(|text| value::read(text).ok());
        self.count(asked.as_ref().unwrap_or(&Value::Null));
        let kept = std::mem::take(&mut course.kept);
        course = ExchangeCourse { kept, ..self.course() };
        let Some(asked) = asked else {
            self.kept = course.kept.clone();
            if self.is_plain_proxy() {
                // What is wrong with it is the upstream's to say.
                let sent = self.with_key(request);
                return GatewayAsk::Sent(
                    sent,
                    Box::new(Passage::new(self, course, names::GivenBackNames::new())),
                    Vec::new(),
                );
            }
            let error = ApiError::not_json(self.client, "it cannot be read");
            return GatewayAsk::Answered(Outgoing::error(self, &mut course, &error));
        };
        course.stream = asked["stream"] == true;
        course.asked = asked.clone();
        let mut refusal = None;
        let (sent, renamed) = if self.is_plain_proxy() {
            let mut body = asked;
            apply(&self.seams.body, &mut course, &mut body);
            if let Some(model) = &self.model {
                body["model"] = (&**model).into();
            }
            if body != course.asked {
                request.body = bytes(&body);
            }
            (self.with_key(request), names::GivenBackNames::new())
        } else {
            let mut read = ApiRequest::read(self.client, &asked);
            refusal = write::refusal(&read, &asked, self.upstream);
            if self.upstream == Api::OpenAiChat {
                names::group_results(&mut read.messages);
            }
            let renamed = names::fit(&mut read, self.upstream);
            apply(&self.seams.request, &mut course, &mut read);
            let model = self.model.clone().or_else(|| read.model.clone()).unwrap_or_default();
            let mut body = write::body(&read, &asked, self.upstream, &model);
            apply(&self.seams.body, &mut course, &mut body);
            (self.translated(&request, &body), renamed)
        };
        apply(&self.seams.refusal, &mut course, &mut refusal);
        if let Some(error) = refusal {
            let answer = Outgoing::error(self, &mut course, &error);
            self.kept = course.kept;
            return GatewayAsk::Answered(answer);
        }
        let mut sent = sent;
        apply(&self.seams.sent, &mut course, &mut sent);
        let mut requests = vec![sent.clone()];
        apply(&self.seams.beside, &mut course, &mut requests);
        requests.remove(0);
        GatewayAsk::Sent(sent, Box::new(Passage::new(self, course, renamed)), requests)
    }

    /// Takes back what a passage has kept.
    pub(crate) fn settle(&mut self, passage: &mut Passage) {
        self.kept = std::mem::take(&mut passage.course.kept);
    }

    fn course(&self) -> ExchangeCourse {
        ExchangeCourse {
            client: self.client,
            upstream: self.upstream,
            stream: false,
            ask: self.asks,
            ask_of_run: self.asks_of_run,
            run: self.run.1,
            asked: Value::Null,
            kept: HashMap::default(),
        }
    }

    /// A run is known by what its tools say of it, and else by how its conversation begins.
    fn count(&mut self, asked: &Value) {
        const MARK: &str = "threadspec run ";
        let text = asked["tools"].to_string();
        let mark = text.find(MARK).map(|at| text[at + MARK.len()..].chars().take(8).collect());
        let beginning = || {
            let list = if asked["input"].is_null() { &asked["messages"] } else { &asked["input"] };
            format!("{}{}", list[0], list[1])
        };
        let run: String = mark.unwrap_or_else(beginning);
        self.asks += 1;
        if run == self.run.0 {
            self.asks_of_run += 1;
        } else {
            self.run = (run, self.run.1 + 1);
            self.asks_of_run = 1;
        }
    }

    fn with_key(&self, mut request: ClientRequest) -> ClientRequest {
        request.headers.retain(|(name, _)| !OWN_FIELDS.contains(&&*name.to_ascii_lowercase()));
        let Some(key) = &self.key else { return request };
        let is_key = |name: &str| KEY_FIELDS.contains(&&*name.to_ascii_lowercase());
        request.headers.retain(|(name, _)| !is_key(name));
        request.headers.push(key_field(self.upstream, key));
        request
    }

    fn translated(&self, request: &ClientRequest, body: &Value) -> ClientRequest {
        let own = request.headers.iter().find_map(|(name, value)| match &*name.to_ascii_lowercase() {
            "x-api-key" => Some(value.clone()),
            "authorization" => value.strip_prefix("Bearer ").map(str::to_owned),
            _ => None,
        });
        let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        headers.extend(self.key.clone().or(own).map(|key| key_field(self.upstream, &key)));
        if self.upstream == Api::Anthropic {
            headers.push(("anthropic-version".to_owned(), "2023-06-01".to_owned()));
        }
        ClientRequest { method: "POST".to_owned(), target: path(self.upstream).to_owned(), headers, body: bytes(body) }
    }
}

/// Where an API takes a key.
fn key_field(api: Api, key: &str) -> (String, String) {
    match api {
        Api::Anthropic | Api::Gemini => ("x-api-key".to_owned(), key.to_owned()),
        Api::OpenAiChat | Api::OpenAiResponses => ("authorization".to_owned(), format!("Bearer {key}")),
    }
}

/// Returns whether a target is that of the API's answers.
fn is_answer_path(target: &str, api: Api) -> bool {
    let path = target.split('?').next().unwrap_or_default();
    path.ends_with(path_end(api))
}

fn path_end(api: Api) -> &'static str {
    path(api).strip_prefix("/v1").unwrap_or_default()
}

impl Outgoing {
    /// An error as the client's API tells it.
    pub(super) fn error(gateway: &TestGateway, course: &mut ExchangeCourse, error: &ApiError) -> Self {
        let mut error = error.clone();
        apply(&gateway.seams.error, course, &mut error);
        let mut body = error.body(gateway.client, "req_gateway");
        apply(&gateway.seams.plain, course, &mut body);
        let mut head = AnswerHead::new(error.status, "application/json");
        head.headers.extend(error.headers.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        apply(&gateway.seams.answered, course, &mut head);
        let mut data = bytes(&body);
        apply(&gateway.seams.written, course, &mut data);
        Self { head: Some(head), data, is_whole: Some(true) }
    }
}
