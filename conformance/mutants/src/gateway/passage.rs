//! The answer of the upstream as one for the client, as it comes.

use super::asking::bytes;
use super::course::{AnswerHead, ClientEvent, ExchangeCourse, Seam, Seams, TestGateway, TriedRequest, apply};
use super::names::GivenBackNames;
use super::said::Told;
use super::stream::{WritesEvents, error_event, writer};
use std::time::Duration;
use threadspec::oracle::Api;
use threadspec_apis::sse::{self, SseParser};
use threadspec_apis::{
    AnswerEnd, AnswerReader, ApiError, ApiRequest, Finish, ModelAnswer, ReadAnswer, json_text, read_answer,
};
use threadspec_judge::universal::value;
use threadspec_provider::client::ClientRequest;

/// What is to be sent to the client now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outgoing {
    /// The head, which comes first, and once.
    pub(crate) head: Option<AnswerHead>,
    pub(crate) data: Vec<u8>,
    /// Whether the answer ends with this, and then whether it does as HTTP wants it.
    pub(crate) is_whole: Option<bool>,
}

/// The answer to one request.
pub(crate) struct Passage {
    gateway: TestGateway,
    pub(crate) course: ExchangeCourse,
    renamed: GivenBackNames,
    head: AnswerHead,
    /// What came of a body that is looked at as a whole.
    body: Vec<u8>,
    stream: Option<Box<StreamState>>,
    is_head_out: bool,
    is_over: bool,
    /// How often the request was sent.
    tries: usize,
}

/// A streamed answer under way.
struct StreamState {
    parser: SseParser,
    reader: AnswerReader,
    told: Told,
    writer: Box<dyn WritesEvents>,
    has_begun: bool,
}

impl Passage {
    pub(super) fn new(gateway: &TestGateway, course: ExchangeCourse, renamed: GivenBackNames) -> Self {
        Self {
            gateway: gateway.clone(),
            course,
            renamed,
            head: AnswerHead::default(),
            body: Vec::new(),
            stream: None,
            is_head_out: false,
            is_over: false,
            tries: 1,
        }
    }

    /// Whether the request is sent again, since this came of it: an answer with this head, of which nothing was told yet, or which broke off.
    /// Returns the pause before that.
    pub(crate) fn again(&mut self, head: &AnswerHead, has_begun: bool, sent: &mut ClientRequest) -> Option<Duration> {
        if head.status < 400 && !has_begun || self.is_over {
            return None;
        }
        let number = |name: &str| head.header(name)?.parse::<f64>().ok();
        let wanted = number("retry-after-ms").map(|ms| ms / 1e3).or_else(|| number("retry-after"));
        let wanted = wanted.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let (tries, status, request) = (self.tries, head.status, sent.clone());
        let mut attempt = TriedRequest { tries, status, has_begun, wanted, request, pause: None };
        apply(&self.gateway.seams.again, &mut self.course, &mut attempt);
        if attempt.pause.is_some() {
            (self.tries, *sent) = (tries + 1, attempt.request);
            // What came of the first one is forgotten, but for what the client has got.
            self.body.clear();
            if let Some(stream) = &mut self.stream {
                (stream.parser, stream.reader) = (SseParser::default(), AnswerReader::new(self.gateway.upstream));
                stream.told = Told::default();
            }
        }
        attempt.pause
    }

    /// The upstream cannot be reached, or nothing came of it that is HTTP.
    pub(crate) fn unreachable(&mut self) -> Outgoing {
        self.failed(&ApiError { status: 502, ..ApiError::server_error(self.gateway.client) })
    }

    /// The head of the upstream's answer; nobody is told that of a further one.
    pub(crate) fn head(&mut self, mut head: AnswerHead) -> Outgoing {
        if self.is_head_out || self.stream.is_some() {
            return Outgoing::default();
        }
        apply(&self.gateway.seams.head, &mut self.course, &mut head);
        self.head = head.clone();
        if self.passes_bytes() {
            return Outgoing { head: Some(self.head_out(passed_on(head))), ..Outgoing::default() };
        }
        if head.status < 400 && (head.is_stream() || self.course.stream && !self.gateway.is_plain_proxy()) {
            let request = ApiRequest::read(self.gateway.client, &self.course.asked);
            self.stream = Some(Box::new(StreamState {
                parser: SseParser::default(),
                reader: AnswerReader::new(self.gateway.upstream),
                told: Told::default(),
                writer: writer(request),
                has_begun: false,
            }));
        }
        Outgoing::default()
    }

    /// The next bytes of its body.
    pub(crate) fn data(&mut self, bytes: &[u8]) -> Outgoing {
        let mut bytes = bytes.to_vec();
        apply(&self.gateway.seams.piece, &mut self.course, &mut bytes);
        if self.is_over {
            return Outgoing::default();
        }
        if self.passes_bytes() {
            apply(&self.gateway.seams.written, &mut self.course, &mut bytes);
            return Outgoing { data: bytes, ..Outgoing::default() };
        }
        if self.stream.is_none() || !self.head.is_stream() {
            self.body.extend(bytes);
            return Outgoing::default();
        }
        if self.gateway.is_plain_proxy() { self.looked_at(&bytes) } else { self.translated(&bytes) }
    }

    /// The end of its body.
    pub(crate) fn end(&mut self, mut is_whole: bool) -> Outgoing {
        apply(&self.gateway.seams.whole, &mut self.course, &mut is_whole);
        if self.is_over {
            return Outgoing::default();
        }
        if self.passes_bytes() {
            return self.ended(is_whole);
        }
        if self.head.status >= 400 {
            return self.refused();
        }
        let proxies = self.gateway.is_plain_proxy();
        match (self.stream.is_some(), self.head.is_stream()) {
            (true, true) if proxies => self.ended(is_whole),
            (true, true) => self.stream_ended(is_whole),
            _ => self.plain_ended(is_whole),
        }
    }

    /// Returns whether a bug takes what is broken for whole.
    fn takes(&mut self, seam: fn(&Seams) -> &Seam<bool>) -> bool {
        let mut takes = false;
        apply(seam(&self.gateway.seams), &mut self.course, &mut takes);
        takes
    }

    /// Returns whether the plain proxy has nothing planted that looks into answers.
    fn passes_bytes(&self) -> bool {
        let seams = &self.gateway.seams;
        let looks = seams.plain.is_some() || seams.events.is_some() || seams.said.is_some() || seams.error.is_some();
        self.gateway.is_plain_proxy() && !looks
    }

    fn head_out(&mut self, mut head: AnswerHead) -> AnswerHead {
        self.is_head_out = true;
        apply(&self.gateway.seams.answered, &mut self.course, &mut head);
        head
    }

    fn ended(&mut self, mut is_whole: bool) -> Outgoing {
        self.is_over = true;
        apply(&self.gateway.seams.ended, &mut self.course, &mut is_whole);
        Outgoing { is_whole: Some(is_whole), ..Outgoing::default() }
    }

    /// An error in the place of an answer, or of its rest.
    fn failed(&mut self, error: &ApiError) -> Outgoing {
        if self.is_head_out {
            let mut error = error.clone();
            apply(&self.gateway.seams.error, &mut self.course, &mut error);
            let written = self.written(vec![error_event(self.gateway.client, &error)]);
            return Outgoing { data: written, ..self.ended(true) };
        }
        (self.is_head_out, self.is_over) = (true, true);
        let gateway = self.gateway.clone();
        Outgoing::error(&gateway, &mut self.course, error)
    }

    /// The answer was an error.
    fn refused(&mut self) -> Outgoing {
        let text = String::from_utf8_lossy(&self.body).into_owned();
        let read = value::read(&text).unwrap_or_default();
        let mut error = ApiError::read(self.head.status, &read);
        if error.message.is_empty() {
            error.message = text;
        }
        let error = self.in_words_of_client(error);
        let passed = ["retry-after", "retry-after-ms", "x-should-retry"];
        let headers = passed.iter().filter_map(|name| Some((*name, self.head.header(name)?.to_owned())));
        let error = ApiError { headers: headers.collect(), ..error };
        self.failed(&error)
    }

    /// The error with the type, and where there is none with the code, that the client's API has for its status.
    fn in_words_of_client(&self, error: ApiError) -> ApiError {
        let client = self.gateway.client;
        if self.gateway.is_plain_proxy() {
            return error;
        }
        let usual = ApiError::of_status(client, error.status, "");
        let code = error.code.or(usual.code);
        ApiError { kind: usual.kind, code: code.filter(|_| client != Api::Anthropic), ..error }
    }

    fn plain_ended(&mut self, is_whole: bool) -> Outgoing {
        let broken = ApiError {
            status: 502,
            message: "The answer of the upstream broke off.".to_owned(),
            ..ApiError::server_error(self.gateway.client)
        };
        let mut text = String::from_utf8_lossy(&self.body).into_owned();
        if !is_whole {
            if !self.takes(|seams| &seams.takes_cuts) {
                return self.failed(&broken);
            }
            text = said_so_far(self.gateway.upstream, &text);
        }
        let read = value::read(&text)
            .ok()
            .and_then(|body| read_answer(self.gateway.upstream, &body).ok().map(|said| (body, said)));
        let Some((body, said)) = read else {
            let why = "The answer of the upstream cannot be read.".to_owned();
            return self.failed(&ApiError { message: why, ..broken });
        };
        if let AnswerEnd::Failed(error) = said.end {
            let error = self.in_words_of_client(error);
            return self.failed(&error);
        }
        let request = ApiRequest::read(self.gateway.client, &self.course.asked);
        let mut body = if self.gateway.is_plain_proxy() && self.gateway.seams.said.is_none() {
            body
        } else {
            let mut answer = self.for_client(said.answer.clone());
            apply(&self.gateway.seams.said, &mut self.course, &mut answer);
            if self.course.stream {
                return self.at_once(&answer, &said);
            }
            answer.plain(&request)
        };
        apply(&self.gateway.seams.plain, &mut self.course, &mut body);
        let head = self.head_out(AnswerHead::new(200, "application/json"));
        let mut data = bytes(&body);
        apply(&self.gateway.seams.written, &mut self.course, &mut data);
        Outgoing { head: Some(head), data, ..self.ended(true) }
    }

    /// A whole answer as a stream.
    fn at_once(&mut self, answer: &ModelAnswer, said: &ReadAnswer) -> Outgoing {
        let Some(mut stream) = self.stream.take() else { return self.ended(false) };
        let mut events = stream.writer.begin(answer);
        let news = stream.told.news(&ReadAnswer { answer: answer.clone(), ..said.clone() });
        events.extend(news.iter().flat_map(|news| stream.writer.tell(answer, news)));
        events.extend(stream.writer.end(answer));
        let head = self.head_out(AnswerHead::new(200, "text/event-stream; charset=utf-8"));
        Outgoing { head: Some(head), data: self.written(events), ..self.ended(true) }
    }

    /// What the upstream said, as the client is to be told it.
    fn for_client(&self, mut answer: ModelAnswer) -> ModelAnswer {
        for call in &mut answer.calls {
            if let Some(name) = self.renamed.get(&call.name) {
                name.clone_into(&mut call.name);
            }
        }
        if matches!(answer.finish, Finish::End | Finish::Calls | Finish::Named(_)) {
            answer.finish = answer.usual_finish();
        }
        answer.thinking.retain(|thought| !thought.is_redacted || self.gateway.client == self.gateway.upstream);
        if self.gateway.client != self.gateway.upstream {
            answer.item_id = None;
            answer.thinking.iter_mut().for_each(|thought| thought.item_id = None);
            answer.calls.iter_mut().for_each(|call| call.item_id = None);
            if self.gateway.client == Api::OpenAiResponses {
                let id = super::names::digest(&answer.id);
                answer.item_id = Some(format!("msg_{id}"));
                for (number, call) in answer.calls.iter_mut().enumerate() {
                    call.item_id = Some(format!("fc_{id}_{number}"));
                }
                for (number, thought) in answer.thinking.iter_mut().enumerate() {
                    thought.item_id = Some(format!("rs_{id}_{number}"));
                }
            }
        }
        answer
    }

    /// The events of the plain proxy, with something planted.
    fn looked_at(&mut self, bytes: &[u8]) -> Outgoing {
        let Some(stream) = &mut self.stream else { return Outgoing::default() };
        let events = stream.parser.push(bytes).into_iter().map(|event| {
            let data = value::read(&event.data).unwrap_or_else(|_| event.data.into());
            ClientEvent { name: event.name, data }
        });
        let events = events.collect();
        self.with_head(events)
    }

    fn with_head(&mut self, events: Vec<ClientEvent>) -> Outgoing {
        if events.is_empty() {
            return Outgoing::default();
        }
        let head = (!self.is_head_out).then(|| {
            let head = if self.gateway.is_plain_proxy() {
                passed_on(self.head.clone())
            } else {
                AnswerHead::new(200, "text/event-stream; charset=utf-8")
            };
            self.head_out(head)
        });
        Outgoing { head, data: self.written(events), is_whole: None }
    }

    fn translated(&mut self, bytes: &[u8]) -> Outgoing {
        let Some(mut stream) = self.stream.take() else { return Outgoing::default() };
        let mut events = Vec::new();
        for event in stream.parser.push(bytes) {
            if stream.reader.push(&event).is_err() {
                if self.takes(|seams| &seams.takes_garbage) {
                    continue;
                }
                let error = ApiError { status: 502, ..ApiError::server_error(self.gateway.client) };
                return self.then_failed(events, &error);
            }
            let said = stream.reader.said();
            if let AnswerEnd::Failed(error) = &said.end {
                if self.takes(|seams| &seams.takes_errors) {
                    self.stream = Some(stream);
                    let Outgoing { head, mut data, .. } = self.with_head(events);
                    let rest = self.stream_ended(true);
                    data.extend(rest.data);
                    return Outgoing { head: head.or(rest.head), data, is_whole: rest.is_whole };
                }
                let error = self.in_words_of_client(error.clone());
                return self.then_failed(events, &error);
            }
            let answer = self.for_client(said.answer.clone());
            let mut news = stream.told.news(&ReadAnswer { answer: answer.clone(), ..said });
            apply(&self.gateway.seams.news, &mut self.course, &mut news);
            if !stream.has_begun && !answer.id.is_empty() {
                stream.has_begun = true;
                events.extend(stream.writer.begin(&answer));
            }
            events.extend(news.iter().flat_map(|news| stream.writer.tell(&answer, news)));
        }
        self.stream = Some(stream);
        self.with_head(events)
    }

    /// These events, and an error in the place of the rest.
    fn then_failed(&mut self, events: Vec<ClientEvent>, error: &ApiError) -> Outgoing {
        let Outgoing { head, mut data, .. } = self.with_head(events);
        let failed = self.failed(error);
        data.extend(failed.data);
        Outgoing { head: head.or(failed.head), data, is_whole: failed.is_whole }
    }

    fn stream_ended(&mut self, is_whole: bool) -> Outgoing {
        let Some(mut stream) = self.stream.take() else { return self.ended(false) };
        let said = stream.reader.said();
        let is_broken = !is_whole || !said.has_ended();
        if is_broken && !self.takes(|seams| &seams.takes_cuts) && !self.takes(|seams| &seams.takes_errors) {
            let why = "The answer of the upstream broke off.".to_owned();
            let error = ApiError { status: 502, message: why, ..ApiError::server_error(self.gateway.client) };
            return self.failed(&error);
        }
        let answer = self.for_client(said.answer);
        let mut events = if stream.has_begun { Vec::new() } else { stream.writer.begin(&answer) };
        events.extend(stream.writer.end(&answer));
        let Outgoing { head, data, .. } = self.with_head(events);
        Outgoing { head, data, ..self.ended(true) }
    }

    /// Events as bytes.
    fn written(&mut self, mut events: Vec<ClientEvent>) -> Vec<u8> {
        apply(&self.gateway.seams.events, &mut self.course, &mut events);
        let mut data = Vec::new();
        for event in events {
            let text = event.data.as_str().map_or_else(|| json_text(&event.data, false), str::to_owned);
            data.extend(sse::event(event.name.as_deref(), &text, false));
        }
        apply(&self.gateway.seams.written, &mut self.course, &mut data);
        data
    }
}

/// A whole answer with the text of one that broke off, as far as it is found.
fn said_so_far(api: Api, text: &str) -> String {
    let behind = |name: &str| text.rfind(name).map(|at| &text[at + name.len()..]);
    let rest = ["\"text\":\"", "\"content\":\""].iter().find_map(|name| behind(name)).unwrap_or_default();
    let said = rest.split('"').next().unwrap_or_default().trim_end_matches('\\');
    let answer = ModelAnswer { id: "x".to_owned(), text: said.to_owned(), ..ModelAnswer::default() };
    answer.plain(&ApiRequest::read(api, &serde_json::Value::Null)).to_string()
}

/// The fields of a head that go on to the client.
fn passed_on(mut head: AnswerHead) -> AnswerHead {
    const OWN: [&str; 5] = ["connection", "transfer-encoding", "trailer", "upgrade", "keep-alive"];
    head.headers.retain(|(name, _)| !OWN.contains(&&**name));
    head
}
