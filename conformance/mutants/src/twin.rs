//! A twin of the reference in which every decision is a seam: a plain function that a planted bug can replace.

use super::{agent, context, document, input, text};
use serde_json::{Map, Number, Value};
use threadspec::agent::{Response, ToolError};
use threadspec::{ContextMode, Event, EventKind, Message, Profile, ToolCall};
use threadspec_judge::protocol::{Hello, Implementation, Op, Reply, Request};
use threadspec_judge::reference::Reference;

/// The twin, with its seams. [`Twin::default`] has no bug, which the corpus confirms.
///
/// Each seam is named after what it decides; the correct functions have the same names, in the modules beside this one. Most get
/// the twin itself, and with it the profile and the other seams.
#[derive(Clone)]
pub(super) struct Twin {
    /// The profile of the current request.
    pub(super) profile: Profile,
    /// What outlives a request: nothing, unless a bug leaves something here.
    pub(super) memory: Value,
    /// The size from which on a bug of size shows.
    pub(super) n: usize,
    /// The members of the input in which it changes texts, and how.
    pub(super) member: String,
    pub(super) change: fn(&str, usize) -> String,

    // What comes in and goes out.
    pub(super) raw_input: fn(&str) -> String,
    pub(super) before: fn(&mut Twin, Op, &mut Value),
    pub(super) after: fn(&mut Twin, Op, &Value, &mut Value),
    /// Other spellings of a reply.
    pub(super) spellings: Vec<fn(&mut Value)>,
    pub(super) event: fn(&mut Value),
    pub(super) events: fn(Vec<Result<Event, Reply>>) -> Result<Vec<Event>, Reply>,
    pub(super) complaint: fn(usize, &threadspec::Error) -> Reply,

    // Texts.
    pub(super) text: fn(&Twin, &str) -> String,
    pub(super) attribute: fn(&Twin, &str) -> String,
    pub(super) number: fn(&Number) -> String,
    pub(super) quoted: fn(&str) -> String,
    pub(super) members: fn(&Map<String, Value>) -> Vec<(&String, &Value)>,
    pub(super) separators: (&'static str, &'static str),
    pub(super) string: fn(&Twin, &Value) -> String,

    // The document.
    pub(super) kind: fn(&EventKind) -> &'static str,
    pub(super) id: fn(&Twin, &[Event], usize) -> String,
    pub(super) name: fn(&[Event], usize, &str) -> Option<String>,
    pub(super) iteration: fn(&Event) -> String,
    pub(super) summarized: fn(&[u64]) -> String,
    pub(super) attributes: fn(&mut Vec<(&'static str, String)>, &Event),
    pub(super) result_text: fn(&Twin, Option<&Value>) -> String,
    pub(super) body: fn(&Twin, &Event) -> String,
    pub(super) element: fn(&str, &str) -> String,
    pub(super) thread: fn(&[String]) -> String,
    pub(super) prefix: fn(Option<&str>) -> String,

    // The messages.
    pub(super) mode: fn(Option<ContextMode>) -> ContextMode,
    pub(super) summaries: fn(&[(&[u64], &str)]) -> String,
    pub(super) system: fn(&str, &str, ContextMode) -> String,
    pub(super) message: fn(&Twin, &Event) -> Option<Message>,
    pub(super) result_content: fn(&Twin, Option<&Value>) -> String,
    pub(super) xml: fn(&Twin, &[Event]) -> Vec<Message>,
    pub(super) is_grouped: bool,
    pub(super) is_paired: fn(&Twin) -> bool,
    pub(super) joins: fn(&[&Event], &Event) -> bool,
    pub(super) answers: fn(&[Event], usize) -> Option<usize>,
    pub(super) order_of_results: fn(&mut Vec<usize>),
    pub(super) missing: fn(&ToolCall) -> Option<Message>,
    pub(super) orphan: fn(&Twin, &str, Option<&Value>) -> Option<Message>,

    // Tool rounds.
    pub(super) distinct: fn(&Twin, &mut Vec<ToolCall>, &mut Vec<String>),
    pub(super) cut: fn(&Twin, &[ToolCall]) -> Vec<Message>,
    pub(super) assistant: fn(&Response) -> Message,
    pub(super) tool_message: fn(&ToolCall, String) -> Message,
    pub(super) calls: fn(&Twin, &[ToolCall]) -> Vec<ToolCall>,
    pub(super) is_last: fn(&Response) -> bool,
    pub(super) is_too_deep: fn(&Twin, usize, Option<usize>) -> bool,
    pub(super) is_exhausted: fn(usize, usize) -> bool,
    pub(super) outcome: fn(&Twin, &ToolCall, Result<Value, ToolError>) -> String,
    pub(super) after_round: fn(&Twin, &mut Vec<Message>, usize),
    pub(super) sent: fn(&mut [Vec<Message>], &[Message]),

    // The outer loop.
    pub(super) prompt: fn(&str) -> Event,
    pub(super) first_iteration: u64,
    pub(super) history: fn(&Twin, &[Event]) -> Vec<Event>,
    pub(super) begin: fn(Vec<Message>, &[Message]) -> Vec<Message>,
    pub(super) is_said: fn(&str) -> bool,
    pub(super) recorded: fn(Vec<Event>) -> Vec<Event>,
    pub(super) text_beside_calls: fn(&Twin, &Response) -> bool,
    pub(super) text_follows_calls: bool,
    pub(super) final_text: fn(&Twin, &Response) -> bool,
    pub(super) request_limit: fn(Option<usize>) -> usize,
    pub(super) is_recoverable: fn(u64) -> bool,
    pub(super) gives_up: fn(u64) -> bool,
    pub(super) failed: fn(&mut Vec<Event>, Event),
    pub(super) failures_after_success: fn(u64) -> u64,
    pub(super) is_over: fn(u64, Option<u64>) -> bool,
    pub(super) is_over_after_failure: fn(u64, Option<u64>) -> bool,
    pub(super) verifies_first: bool,
    pub(super) feedback: fn(u64, Option<String>) -> Option<Event>,
    pub(super) completion: fn(u64, &str, bool) -> Option<Event>,
    pub(super) response: fn(&str, &str) -> String,
}

impl Default for Twin {
    fn default() -> Self {
        Self {
            profile: Profile::Literal,
            memory: Value::Null,
            n: 0,
            member: String::new(),
            change: |text, _| text.to_owned(),
            raw_input: input::raw_input,
            before: |_, _, _| {},
            after: |_, _, _, _| {},
            spellings: Vec::new(),
            event: |_| {},
            events: |events| events.into_iter().collect(),
            complaint: input::complaint,
            text: text::text,
            attribute: text::attribute,
            number: text::number,
            quoted: text::quoted,
            members: text::members,
            separators: (",", ":"),
            string: text::string,
            kind: document::kind,
            id: |_, _, position| position.to_string(),
            name: document::name,
            iteration: |event| event.iteration.to_string(),
            summarized: |iterations| document::join(iterations, ","),
            attributes: |_, _| {},
            result_text: document::result_text,
            body: document::body,
            element: document::element,
            thread: document::thread,
            prefix: document::prefix,
            mode: Option::unwrap_or_default,
            summaries: context::summaries,
            system: context::system,
            message: context::message,
            result_content: context::result_content,
            xml: context::xml,
            is_grouped: false,
            is_paired: |twin| twin.profile == Profile::Hardened,
            joins: context::joins,
            answers: context::answers,
            order_of_results: |results| results.sort_unstable(),
            missing: |call| Some(Message::tool(&call.id, "[No result recorded]")),
            orphan: context::orphan,
            distinct: agent::distinct,
            cut: agent::cut,
            assistant: agent::assistant,
            tool_message: |call, content| Message::tool(&call.id, content),
            calls: |_, calls| calls.to_vec(),
            is_last: |response| response.tool_calls.is_empty(),
            is_too_deep: |_, rounds, depth| depth.is_some_and(|depth| rounds >= depth),
            is_exhausted: |requests, limit| requests >= limit,
            outcome: agent::outcome,
            after_round: |_, _, _| {},
            sent: |_, _| {},
            prompt: |prompt| Event::user(0, prompt),
            first_iteration: 1,
            history: |_, events| events.to_vec(),
            begin: |fresh, _| fresh,
            is_said: |text| !text.is_empty(),
            recorded: |events| events,
            text_beside_calls: |twin, _| twin.profile == Profile::Hardened,
            text_follows_calls: false,
            final_text: |twin, last| last.tool_calls.is_empty() || twin.profile == Profile::Literal,
            request_limit: |limit| limit.unwrap_or(20),
            is_recoverable: |failures| failures < 3,
            gives_up: |failures| failures >= 3,
            failed: Vec::push,
            failures_after_success: |_| 0,
            is_over: agent::is_over,
            is_over_after_failure: |_, _| false,
            verifies_first: false,
            feedback: agent::feedback,
            completion: agent::completion,
            response: |_, last| last.to_owned(),
        }
    }
}

impl Implementation for Twin {
    fn hello(&self) -> Hello {
        Reference.hello()
    }

    fn answer(&mut self, request: &Request) -> Reply {
        self.profile = request.profile.rendering();
        self.try_to_answer(request).map_or_else(|refusal| refusal, Reply::Ok)
    }
}
