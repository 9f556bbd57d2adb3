//! A twin of the reference in which every decision is a seam: a function that something planted can replace.

pub(crate) mod context;
pub(crate) mod document;
pub(crate) mod input;
pub(crate) mod parts;
pub(crate) mod rounds;
pub(crate) mod text;

use serde_json::{Map, Number, Value};
use threadspec::agent::{Response, ToolError};
use threadspec::{ContextMode, Event, EventKind, Message, Profile, ToolCall};
use threadspec_judge::protocol::{Hello, Implementation, Op, Reply, Request};
use threadspec_judge::reference::Reference;

/// Lists the seams for another macro: first the values, then the name of each function, its signature, and what is right.
macro_rules! seams {
    ($declares:ident) => {
        $declares! {
            values {
                separators: (&'static str, &'static str) = (",", ":");
                is_grouped: bool = false;
                first_iteration: u64 = 1;
                text_follows_calls: bool = false;
                verifies_first: bool = false;
            }
            // What comes in and goes out.
            raw_input(&str) -> String = input::raw_input;
            before(&mut Twin, Op, &mut Value) = |_, _, _| {};
            after(&mut Twin, Op, &Value, &mut Value) = |_, _, _, _| {};
            event(&mut Value) = |_| {};
            events(Vec<Result<Event, Reply>>) -> Result<Vec<Event>, Reply> = |events| events.into_iter().collect();
            complaint(usize, &threadspec::Error) -> Reply = input::complaint;
            // Texts.
            text(&Twin, &str) -> String = text::text;
            attribute(&Twin, &str) -> String = text::attribute;
            number(&Number) -> String = text::number;
            quoted(&str) -> String = text::quoted;
            members(&Map<String, Value>) -> Vec<(&String, &Value)> = text::members;
            string(&Twin, &Value) -> String = text::string;
            /// An element of an array as a part of its text.
            item(&Twin, &Value) -> Option<String> = text::item;
            // The document.
            kind(&EventKind) -> &'static str = document::kind;
            id(&Twin, &[Event], usize) -> String = |_, _, position| position.to_string();
            name(&[Event], usize, &str) -> Option<String> = document::name;
            iteration(&Event) -> String = |event| event.iteration.to_string();
            summarized(&[u64]) -> String = |iterations| document::join(iterations, ",");
            attributes(&mut Vec<(&'static str, String)>, &Event) = |_, _| {};
            result_text(&Twin, Option<&Value>) -> String = document::result_text;
            body(&Twin, &Event) -> String = document::body;
            element(&str, &str) -> String = document::element;
            thread(&[String]) -> String = document::thread;
            prefix(Option<&str>) -> String = document::prefix;
            // The messages.
            mode(Option<ContextMode>) -> ContextMode = Option::unwrap_or_default;
            summaries(&[(&[u64], &str)]) -> String = context::summaries;
            system(&str, &str, ContextMode) -> String = context::system;
            message(&Twin, &Event) -> Option<Message> = context::message;
            result_content(&Twin, Option<&Value>) -> String = context::result_content;
            xml(&Twin, &[Event]) -> Vec<Message> = context::xml;
            is_paired(&Twin) -> bool = |twin| twin.profile == Profile::Hardened;
            joins(&[&Event], &Event) -> bool = context::joins;
            answers(&[Event], usize) -> Option<usize> = context::answers;
            order_of_results(&mut Vec<usize>) = |results| results.sort_unstable();
            missing(&ToolCall) -> Option<Message> = |call| Some(Message::tool(&call.id, "[No result recorded]"));
            orphan(&Twin, &str, Option<&Value>) -> Option<Message> = context::orphan;
            // Tool rounds.
            distinct(&Twin, &mut Vec<ToolCall>, &mut Vec<String>) = rounds::distinct;
            cut(&Twin, &[ToolCall]) -> Vec<Message> = rounds::cut;
            assistant(&Response) -> Message = rounds::assistant;
            tool_message(&ToolCall, String) -> Message = |call, content| Message::tool(&call.id, content);
            calls(&Twin, &[ToolCall]) -> Vec<ToolCall> = |_, calls| calls.to_vec();
            is_last(&Response) -> bool = |response| response.tool_calls.is_empty();
            is_too_deep(&Twin, usize, Option<usize>) -> bool = |_, rounds, depth| depth.is_some_and(|depth| rounds >= depth);
            is_exhausted(usize, usize) -> bool = |requests, limit| requests >= limit;
            outcome(&Twin, &ToolCall, Result<Value, ToolError>) -> String = rounds::outcome;
            after_round(&Twin, &mut Vec<Message>, usize) = |_, _, _| {};
            sent(&mut [Vec<Message>], &[Message]) = |_, _| {};
            // The outer loop.
            prompt(&str) -> Event = |prompt| Event::user(0, prompt);
            history(&Twin, &[Event]) -> Vec<Event> = |_, events| events.to_vec();
            begin(Vec<Message>, &[Message]) -> Vec<Message> = |fresh, _| fresh;
            is_said(&str) -> bool = |text| !text.is_empty();
            recorded(Vec<Event>) -> Vec<Event> = |events| events;
            text_beside_calls(&Twin, &Response) -> bool = |twin, _| twin.profile == Profile::Hardened;
            final_text(&Twin, &Response) -> bool = |twin, last| last.tool_calls.is_empty() || twin.profile == Profile::Literal;
            request_limit(Option<usize>) -> usize = |limit| limit.unwrap_or(20);
            is_recoverable(u64) -> bool = |failures| failures < 3;
            gives_up(u64) -> bool = |failures| failures >= 3;
            failed(&mut Vec<Event>, Event) = Vec::push;
            failures_after_success(u64) -> u64 = |_| 0;
            is_over(u64, Option<u64>) -> bool = rounds::is_over;
            is_over_after_failure(u64, Option<u64>) -> bool = |_, _| false;
            feedback(u64, Option<String>) -> Option<Event> = rounds::feedback;
            completion(u64, &str, bool) -> Option<Event> = rounds::completion;
            response(&str, &str) -> String = |_, last| last.to_owned();
        }
    };
}
pub(crate) use seams;

macro_rules! twin {
    (
        values { $($value:ident: $held:ty = $usual:expr;)* }
        $($(#[$meta:meta])* $seam:ident($($given:ty),*) $(-> $decision:ty)? = $right:expr;)*
    ) => {
        /// The twin, with its seams. [`Twin::default`] has no bug, which the corpus confirms.
        ///
        /// Each seam is named after what it decides; the correct functions have the same names, in the modules above. Most get
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
            /// Other spellings of a reply.
            pub(crate) spellings: Vec<fn(&mut Value)>,
            $($(#[$meta])* pub(crate) $seam: &'static (dyn Fn($($given),*) $(-> $decision)? + Send + Sync),)*
            $(pub(crate) $value: $held,)*
        }

        impl Default for Twin {
            fn default() -> Self {
                Self {
                    profile: Profile::Literal,
                    memory: Value::Null,
                    n: 0,
                    member: "",
                    change: |text, _| text.to_owned(),
                    spellings: Vec::new(),
                    $($seam: &$right,)*
                    $($value: $usual,)*
                }
            }
        }
    };
}

seams!(twin);

impl Implementation for Twin {
    fn hello(&self) -> Hello {
        Reference.hello()
    }

    fn answer(&mut self, request: &Request) -> Reply {
        self.profile = request.profile.rendering();
        self.try_to_answer(request).map_or_else(|refusal| refusal, Reply::Ok)
    }
}
