//! Plays an attempt: a fault, or the turn as an answer of the API.

use super::body::Body;
use super::{AskState, PlayedRun};
use crate::exchange::{PlannedAnswer, PlannedEnd, Reaction, WireStep};
use crate::http::Head;
use crate::plan::EngineOptions;
use crate::record::{CallPart, Came, PlayedFault, Said, SaidByModel, SaidThought};
use crate::script::{CutEnd, Fault, Pace, PlayedThought, WireTurn};
use std::time::Duration;
use threadspec::oracle::Api;
use threadspec_apis::sse::SseEvent;
use threadspec_apis::{
    AnswerReader, ApiError, ApiRequest, Cut, EventPart, Finish, IdSource, ModelAnswer, SaidCall, StreamEvent,
    StreamShape, Thinking, kept_events, sse,
};
use threadspec_judge::protocol::ServerDialect;

/// Between two writes of a chunked answer.
const BETWEEN_CHUNKS: Duration = Duration::from_micros(500);
/// Behind so many chunks nothing passes any more: clocks are coarser than that, and a long answer in single bytes would take minutes.
const SLOW_CHUNKS: usize = 500;

/// The reaction to an attempt, and its record.
#[derive(Debug)]
pub(super) struct Played {
    pub(super) reaction: Reaction,
    pub(super) state: AskState,
    pub(super) status: Option<u16>,
    pub(super) error: Option<String>,
    pub(super) fault: Option<PlayedFault>,
    pub(super) said: Option<Said>,
    pub(super) came: Came,
    pub(super) streamed: bool,
}

impl Played {
    /// An error of the API.
    pub(super) fn refused(head: &Head, error: &ApiError) -> Self {
        let status = Some(error.status);
        let nothing = Self::nothing(AskState::Failed, head.error(error));
        Self { status, error: Some(error.message.clone()), ..nothing }
    }

    fn nothing(state: AskState, reaction: Reaction) -> Self {
        let (status, error, fault, said, came) = (None, None, None, None, Came::default());
        Self { reaction, state, status, error, fault, said, came, streamed: false }
    }
}

/// An attempt that may be answered.
#[derive(Clone, Copy)]
pub(super) struct Acceptable<'a> {
    /// The ask that it belongs to.
    pub(super) ask: usize,
    pub(super) head: &'a Head,
    pub(super) request: &'a ApiRequest,
    pub(super) body: &'a Body,
    pub(super) options: &'a EngineOptions,
}

impl PlayedRun {
    /// Answers an attempt of an ask: with the next fault of its turn, or with the turn.
    pub(super) fn play(&mut self, attempt: Acceptable<'_>) -> Played {
        let Acceptable { ask, head, request, .. } = attempt;
        let turn = match self.asks[ask].turn.take() {
            Some(turn) => turn,
            None => self.turns.turn(ask, request).unwrap_or_else(|| WireTurn::failing("script exhausted")),
        };
        let fault = turn.attempts.get(self.asks[ask].played).cloned();
        self.asks[ask].played += usize::from(fault.is_some());
        let mut played = match (&fault, &turn.error) {
            (Some(Fault::Status { .. }), _) => Played::refused(head, &of_fault(head, request, fault.as_ref())),
            (Some(Fault::Hang(after)), _) => {
                Played::nothing(AskState::Failing, Reaction::Silence { after: *after, ending: PlannedEnd::Close })
            }
            (None, Some(message)) => Played::refused(head, &ApiError::invalid(message)),
            // A model that fails says nothing that could break off.
            (Some(_), Some(_)) => Played::refused(head, &ApiError::server_error(head.api)),
            (_, None) => self.answer(attempt, &turn, fault.as_ref()),
        };
        played.fault = fault.as_ref().map(PlayedFault::of);
        self.asks[ask].turn = Some(turn);
        played
    }

    /// Answers a request that is not part of the conversation.
    pub(super) fn play_beside(&mut self, attempt: Acceptable<'_>, turn: &WireTurn) -> Reaction {
        self.answer(attempt, turn, None).reaction
    }

    /// Says the turn, or as much of it as a fault lets through.
    fn answer(&mut self, attempt: Acceptable<'_>, turn: &WireTurn, fault: Option<&Fault>) -> Played {
        let Acceptable { ask, head, request, body, options } = attempt;
        let mut answer = answer_of(turn, request, head.now, &mut self.ids).with_usage(self.usage(body));
        let said = said_of(&answer, turn, request);
        match self.plan.dialect {
            Some(ServerDialect::StopBesideCalls) if answer.finish == Finish::Calls => answer.finish = Finish::End,
            Some(ServerDialect::EmptyIds) => answer.calls.iter_mut().for_each(|call| call.id.clear()),
            _ => {}
        }
        let is_kept = fault.is_none() && self.plan.api == Api::OpenAiResponses;
        let mut shape = StreamShape { dialect: self.plan.dialect, ..turn.stream.shape.clone() };
        if !turn.stream.has_pieces {
            shape.pieces = options.pieces.clone();
        }
        let told = Telling { head, request, answer: &answer, shape: &shape, pace: &turn.stream };
        let mut played = if request.stream { told.streamed(fault) } else { told.plain(fault) };
        if played.error.is_none() {
            played.said = Some(said);
        }
        if let Some(body) = body.value.as_ref().filter(|_| is_kept) {
            self.kept.keep(ask, body, answer.plain(request));
        }
        played
    }
}

/// The error of a fault that is one.
fn of_fault(head: &Head, request: &ApiRequest, fault: Option<&Fault>) -> ApiError {
    let model = request.model.as_deref().unwrap_or_default();
    let Some(Fault::Status { status, retry_after, kind, code, message, should_retry }) = fault else {
        return ApiError::server_error(head.api);
    };
    let mut error = ApiError::of_status(head.api, *status, model);
    if let Some(after) = retry_after {
        error = error.with_retry_after(u64::try_from(after.as_millis()).unwrap_or(u64::MAX));
    }
    if let Some(should) = should_retry {
        error = error.with_should_retry(*should);
    }
    error.kind = kind.clone().unwrap_or(error.kind);
    error.code = code.clone().or(error.code);
    error.message = message.clone().unwrap_or(error.message);
    error
}

/// An answer in progress.
struct Telling<'a> {
    head: &'a Head,
    request: &'a ApiRequest,
    answer: &'a ModelAnswer,
    shape: &'a StreamShape,
    pace: &'a Pace,
}

impl Telling<'_> {
    /// As one text of JSON.
    fn plain(&self, fault: Option<&Fault>) -> Played {
        let body = self.answer.plain_text(self.request, self.shape.ascii);
        let half = body.len() / 2;
        let length = body.len() as u64;
        let (kept, length, ending) = match fault {
            None => (body.into_bytes(), length, PlannedEnd::Whole),
            Some(Fault::Cut { at: Cut::Head, how }) if *how != CutEnd::Clean => return self.headless(*how),
            Some(Fault::Cut { at, how }) => {
                let kept = if *at == Cut::Head { 0 } else { half };
                let kept = body.as_bytes()[..kept].to_vec();
                let length = if *how == CutEnd::Clean { kept.len() as u64 } else { length };
                (kept, length, ending(*how))
            }
            Some(Fault::Garbage) => {
                let mut kept = body.as_bytes()[..half].to_vec();
                kept.resize(body.len(), b' ');
                (kept, length, PlannedEnd::Whole)
            }
            Some(Fault::Event { .. } | Fault::Status { .. } | Fault::Hang(_)) => {
                let api = self.head.api;
                let is_anthropic = api == Api::Anthropic;
                let error = if is_anthropic { ApiError::overloaded(api) } else { ApiError::server_error(api) };
                return Played::refused(self.head, &error);
            }
        };
        let planned = PlannedAnswer {
            delay: self.pace.delay,
            status: 200,
            headers: self.head.headers(false),
            length: Some(length),
            steps: in_chunks(vec![kept], self.pace),
            ending,
        };
        let came = if fault.is_none() { came_all(self.answer) } else { Came::default() };
        Self::played(fault, planned, came, false)
    }

    /// As a stream of events.
    fn streamed(&self, fault: Option<&Fault>) -> Played {
        let mut events = self.answer.events(self.request, self.shape);
        let count = events.len();
        let kept = |cut: Cut| kept_events(&events, cut).or_else(|| kept_events(&events, Cut::Start)).unwrap_or(count);
        let (kept, behind, ending) = match fault {
            None => (count, None, PlannedEnd::Whole),
            Some(Fault::Cut { at: Cut::Head, how }) if *how != CutEnd::Clean => return self.headless(*how),
            Some(Fault::Cut { at, how }) => (kept(*at), None, ending(*how)),
            Some(Fault::Event { after, failed }) => {
                let kept = kept(*after);
                let error = ApiError::in_stream(self.head.api);
                let event = self.answer.error_event(self.request, &error, &events[..kept], *failed);
                (kept, Some(event), PlannedEnd::Whole)
            }
            Some(Fault::Garbage) => {
                // The event in the middle of the answer is the one that is broken.
                let middle = count / 2;
                let found =
                    (middle..count).find(|at| !matches!(events[*at].part, EventPart::Comment | EventPart::Ping));
                let at = found.unwrap_or(middle);
                (at, events.get(at).cloned().map(without_end), PlannedEnd::Whole)
            }
            Some(Fault::Status { .. } | Fault::Hang(_)) => (0, None, PlannedEnd::Close),
        };
        let came =
            if fault.is_none() { came_all(self.answer) } else { came_of(self.head.api, self.answer, &events[..kept]) };
        events.truncate(kept);
        events.extend(behind);
        let planned = PlannedAnswer {
            delay: self.pace.delay,
            status: 200,
            headers: self.head.headers(!self.request.is_list),
            length: None,
            steps: in_chunks(self.writes(&events, ending == PlannedEnd::Whole), self.pace),
            ending,
        };
        Self::played(fault, planned, came, true)
    }

    /// The bytes of each event; of a list its brackets and commas, too.
    fn writes(&self, events: &[StreamEvent], is_whole: bool) -> Vec<Vec<u8>> {
        if !self.request.is_list {
            return events.iter().map(|event| self.bytes(event)).collect();
        }
        let element = |(place, event): (usize, &StreamEvent)| {
            let before = if place == 0 { "[" } else { ",\r\n" };
            format!("{before}{}", event.data).into_bytes()
        };
        events.iter().enumerate().map(element).chain(is_whole.then(|| b"]".to_vec())).collect()
    }

    fn bytes(&self, event: &StreamEvent) -> Vec<u8> {
        match event.part {
            EventPart::Comment => sse::comment(&event.data, self.pace.crlf),
            _ => sse::event(event.name, &event.data, self.pace.crlf),
        }
    }

    /// Not a byte of the answer.
    fn headless(&self, how: CutEnd) -> Played {
        Played::nothing(AskState::Failing, Reaction::Silence { after: self.pace.delay, ending: ending(how) })
    }

    fn played(fault: Option<&Fault>, planned: PlannedAnswer, came: Came, streamed: bool) -> Played {
        let state = if fault.is_none() { AskState::Answering } else { AskState::Failing };
        let nothing = Played::nothing(state, Reaction::Answer(planned));
        Played { status: Some(200), came, streamed, ..nothing }
    }
}

fn ending(how: CutEnd) -> PlannedEnd {
    match how {
        CutEnd::Close => PlannedEnd::Close,
        CutEnd::Reset => PlannedEnd::Reset,
        CutEnd::Clean => PlannedEnd::Whole,
    }
}

/// An event whose JSON breaks off in the middle.
fn without_end(mut event: StreamEvent) -> StreamEvent {
    let half = (0..=event.data.len() / 2).rev().find(|at| event.data.is_char_boundary(*at)).unwrap_or_default();
    event.data.truncate(half);
    event
}

/// Writes, with what passes between them: one for each event, or of so many bytes each.
fn in_chunks(writes: Vec<Vec<u8>>, pace: &Pace) -> Vec<WireStep> {
    let (writes, pause, pauses) = match pace.chunks {
        Some(length) => {
            let chunks = writes.concat().chunks(length.max(1)).map(<[u8]>::to_vec).collect();
            (chunks, BETWEEN_CHUNKS, SLOW_CHUNKS)
        }
        None => (writes, pace.pause, usize::MAX),
    };
    let mut steps = Vec::with_capacity(writes.len());
    for (position, write) in writes.into_iter().enumerate() {
        if position > 0 && position <= pauses && !pause.is_zero() {
            steps.push(WireStep::Wait(pause));
        }
        steps.push(WireStep::Write(write));
    }
    steps
}

// From a turn to an answer of the API, and to what the record says of it.

/// The answer that says a turn to a request, with new ids where the script has none.
pub(super) fn answer_of(turn: &WireTurn, request: &ApiRequest, created: u64, ids: &mut IdSource) -> ModelAnswer {
    let calls = turn.calls.iter().map(|call| {
        let id = call.id.clone().unwrap_or_else(|| ids.call(request.api));
        SaidCall::with_text(id, &*call.name, &call.arguments)
    });
    let calls = calls.collect();
    let thinking = turn.thinking.iter().map(|thought| match thought {
        PlayedThought::Open { text, signature } => {
            let text = if request.omits_thinking { "" } else { text };
            Thinking { text: text.to_owned(), seal: signature.clone(), ..Thinking::default() }
        }
        PlayedThought::Redacted(data) => {
            Thinking { seal: Some(data.clone()), is_redacted: true, ..Thinking::default() }
        }
        PlayedThought::Sealed { id, data } => {
            Thinking { seal: Some(data.clone()), item_id: Some(id.clone()), ..Thinking::default() }
        }
    });
    let mut answer = ModelAnswer {
        model: request.model.clone().unwrap_or_default(),
        created,
        thinking: thinking.collect(),
        text: turn.content.clone().unwrap_or_default(),
        refusal: turn.refusal.clone(),
        calls,
        ..ModelAnswer::default()
    };
    if request.api == Api::Gemini
        && answer.model.contains("gemini-3")
        && answer.thinking.is_empty()
        && !turn.calls.is_empty()
    {
        // It signs every answer with calls, whether it shows its thoughts or not.
        answer.thinking.push(Thinking::default());
    }
    answer.finish = turn.stop.as_deref().map_or_else(|| answer.usual_finish(), Finish::of_name);
    answer.with_ids(request.api, ids)
}

/// Returns the record of an answer.
pub(super) fn said_of(answer: &ModelAnswer, turn: &WireTurn, request: &ApiRequest) -> Said {
    let is_sealed = match request.api {
        Api::OpenAiChat => false,
        Api::OpenAiResponses => request.wants_encrypted_reasoning(),
        Api::Anthropic | Api::Gemini => true,
    };
    let call = |call: &SaidCall| SaidByModel {
        id: call.id.clone(),
        name: call.name.clone(),
        arguments: call.arguments.clone(),
    };
    let thought = |thought: &Thinking| SaidThought {
        text: thought.text.clone(),
        opaque: thought.seal.clone().filter(|_| is_sealed),
        is_redacted: thought.is_redacted,
    };
    Said {
        id: answer.id.clone(),
        text: answer.text.clone(),
        calls: answer.calls.iter().map(call).collect(),
        thoughts: answer.thinking.iter().map(thought).collect(),
        refusal: answer.refusal.clone(),
        stop: turn.stop.clone(),
    }
}

/// Returns the record of a complete answer.
pub(super) fn came_all(answer: &ModelAnswer) -> Came {
    // A call that the limit may have cut off is the last one.
    let cut = answer.calls.len().checked_sub(1).filter(|_| answer.finish == Finish::Length);
    let is_whole = |position: usize, call: &SaidCall| call.args().is_some() && cut != Some(position);
    Came { whole: true, ..came(answer.text.clone(), &answer.calls, is_whole) }
}

/// Returns the record of an answer whose stream broke off behind these events.
pub(super) fn came_of(api: Api, answer: &ModelAnswer, events: &[StreamEvent]) -> Came {
    let mut reader = AnswerReader::new(api);
    for event in events.iter().filter(|event| event.part != EventPart::Comment) {
        let event = SseEvent { name: event.name.map(str::to_owned), data: event.data.clone() };
        if reader.push(&event).is_err() {
            break;
        }
    }
    let said = reader.said().answer;
    let closed = events.iter().filter(|event| event.ends_call).count();
    came(said.text, &said.calls, |position, call| {
        let whole = answer.calls.get(position);
        // Chat closes no call, and may have their fragments in any order.
        let is_closed = if api == Api::OpenAiChat { whole == Some(call) } else { position < closed };
        is_closed && whole.is_some_and(|call| call.args().is_some())
    })
}

fn came(text: String, calls: &[SaidCall], is_whole: impl Fn(usize, &SaidCall) -> bool) -> Came {
    let mut came = Came { text, ..Came::default() };
    for (position, call) in calls.iter().enumerate() {
        if is_whole(position, call) {
            came.calls.push(position);
        } else {
            came.parts.push(CallPart { call: position, arguments: call.arguments.clone() });
        }
    }
    came
}
