//! A twin of the reference in which every decision is a seam: a plain function that a planted bug can replace.

pub(crate) mod context;
pub(crate) mod document;
pub(crate) mod input;
pub(crate) mod rounds;
pub(crate) mod text;

use serde_json::{Map, Number, Value};
use threadspec::agent::{Response, ToolError};
use threadspec::{ContextMode, Event, EventKind, Message, Profile, ToolCall};
use threadspec_judge::protocol::{Hello, Implementation, Op, Reply, Request};
use threadspec_judge::reference::Reference;

/// The twin, with its seams. [`Twin::default`] has no bug, which the corpus confirms.
///
/// Each seam is named after what it decides; the correct functions have the same names, in the modules below. Most get
/// the twin itself, and with it the profile and the other seams.
#[derive(Clone)]
pub(crate) struct Twin {
    /// The profile of the current request.
    pub(crate) profile: Profile,
    /// What outlives a request: nothing, unless a bug leaves something here.
    pub(crate) memory: Value,
    /// The size from which on a bug of size shows.
    pub(crate) n: usize,
    /// The members of the input in which it changes texts, and how.
    pub(crate) member: &'static str,
    pub(crate) change: fn(&str, usize) -> String,

    // What comes in and goes out.
    pub(crate) raw_input: fn(&str) -> String,
    pub(crate) before: fn(&mut Twin, Op, &mut Value),
    pub(crate) after: fn(&mut Twin, Op, &Value, &mut Value),
    /// Other spellings of a reply.
    pub(crate) spellings: Vec<fn(&mut Value)>,
    pub(crate) event: fn(&mut Value),
    pub(crate) events: fn(Vec<Result<Event, Reply>>) -> Result<Vec<Event>, Reply>,
    pub(crate) complaint: fn(usize, &threadspec::Error) -> Reply,

    // Texts.
    pub(crate) text: fn(&Twin, &str) -> String,
    pub(crate) attribute: fn(&Twin, &str) -> String,
    pub(crate) number: fn(&Number) -> String,
    pub(crate) quoted: fn(&str) -> String,
    pub(crate) members: fn(&Map<String, Value>) -> Vec<(&String, &Value)>,
    pub(crate) separators: (&'static str, &'static str),
    pub(crate) string: fn(&Twin, &Value) -> String,

    // The document.
    pub(crate) kind: fn(&EventKind) -> &'static str,
    pub(crate) id: fn(&Twin, &[Event], usize) -> String,
    pub(crate) name: fn(&[Event], usize, &str) -> Option<String>,
    pub(crate) iteration: fn(&Event) -> String,
    pub(crate) summarized: fn(&[u64]) -> String,
    pub(crate) attributes: fn(&mut Vec<(&'static str, String)>, &Event),
    pub(crate) result_text: fn(&Twin, Option<&Value>) -> String,
    pub(crate) body: fn(&Twin, &Event) -> String,
    pub(crate) element: fn(&str, &str) -> String,
    pub(crate) thread: fn(&[String]) -> String,
    pub(crate) prefix: fn(Option<&str>) -> String,

    // The messages.
    pub(crate) mode: fn(Option<ContextMode>) -> ContextMode,
    pub(crate) summaries: fn(&[(&[u64], &str)]) -> String,
    pub(crate) system: fn(&str, &str, ContextMode) -> String,
    pub(crate) message: fn(&Twin, &Event) -> Option<Message>,
    pub(crate) result_content: fn(&Twin, Option<&Value>) -> String,
    pub(crate) xml: fn(&Twin, &[Event]) -> Vec<Message>,
    pub(crate) is_grouped: bool,
    pub(crate) is_paired: fn(&Twin) -> bool,
    pub(crate) joins: fn(&[&Event], &Event) -> bool,
    pub(crate) answers: fn(&[Event], usize) -> Option<usize>,
    pub(crate) order_of_results: fn(&mut Vec<usize>),
    pub(crate) missing: fn(&ToolCall) -> Option<Message>,
    pub(crate) orphan: fn(&Twin, &str, Option<&Value>) -> Option<Message>,

    // Tool rounds.
    pub(crate) distinct: fn(&Twin, &mut Vec<ToolCall>, &mut Vec<String>),
    pub(crate) cut: fn(&Twin, &[ToolCall]) -> Vec<Message>,
    pub(crate) assistant: fn(&Response) -> Message,
    pub(crate) tool_message: fn(&ToolCall, String) -> Message,
    pub(crate) calls: fn(&Twin, &[ToolCall]) -> Vec<ToolCall>,
    pub(crate) is_last: fn(&Response) -> bool,
    pub(crate) is_too_deep: fn(&Twin, usize, Option<usize>) -> bool,
    pub(crate) is_exhausted: fn(usize, usize) -> bool,
    pub(crate) outcome: fn(&Twin, &ToolCall, Result<Value, ToolError>) -> String,
    pub(crate) after_round: fn(&Twin, &mut Vec<Message>, usize),
    pub(crate) sent: fn(&mut [Vec<Message>], &[Message]),

    // The outer loop.
    pub(crate) prompt: fn(&str) -> Event,
    pub(crate) first_iteration: u64,
    pub(crate) history: fn(&Twin, &[Event]) -> Vec<Event>,
    pub(crate) begin: fn(Vec<Message>, &[Message]) -> Vec<Message>,
    pub(crate) is_said: fn(&str) -> bool,
    pub(crate) recorded: fn(Vec<Event>) -> Vec<Event>,
    pub(crate) text_beside_calls: fn(&Twin, &Response) -> bool,
    pub(crate) text_follows_calls: bool,
    pub(crate) final_text: fn(&Twin, &Response) -> bool,
    pub(crate) request_limit: fn(Option<usize>) -> usize,
    pub(crate) is_recoverable: fn(u64) -> bool,
    pub(crate) gives_up: fn(u64) -> bool,
    pub(crate) failed: fn(&mut Vec<Event>, Event),
    pub(crate) failures_after_success: fn(u64) -> u64,
    pub(crate) is_over: fn(u64, Option<u64>) -> bool,
    pub(crate) is_over_after_failure: fn(u64, Option<u64>) -> bool,
    pub(crate) verifies_first: bool,
    pub(crate) feedback: fn(u64, Option<String>) -> Option<Event>,
    pub(crate) completion: fn(u64, &str, bool) -> Option<Event>,
    pub(crate) response: fn(&str, &str) -> String,
}

impl Default for Twin {
    fn default() -> Self {
        Self {
            profile: Profile::Literal,
            memory: Value::Null,
            n: 0,
            member: "",
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
            distinct: rounds::distinct,
            cut: rounds::cut,
            assistant: rounds::assistant,
            tool_message: |call, content| Message::tool(&call.id, content),
            calls: |_, calls| calls.to_vec(),
            is_last: |response| response.tool_calls.is_empty(),
            is_too_deep: |_, rounds, depth| depth.is_some_and(|depth| rounds >= depth),
            is_exhausted: |requests, limit| requests >= limit,
            outcome: rounds::outcome,
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
            is_over: rounds::is_over,
            is_over_after_failure: |_, _| false,
            verifies_first: false,
            feedback: rounds::feedback,
            completion: rounds::completion,
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
