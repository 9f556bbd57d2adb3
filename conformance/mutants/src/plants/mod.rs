//! What can be planted on the twin: a function for each seam, and others for what several bugs have in common.

pub(crate) mod prelude;
pub(crate) mod terms;

use crate::planted::Planted;
use crate::twin::parts::{each_event, in_lists, inside_data, kind as kind_of, list, text_of, word};
use crate::twin::{Twin, context, document, rounds, text};
use serde_json::Value;
use terms::{FaultName, FaultTerms, IntoTerms, Lasting};
use threadspec::{Event, Message};
use threadspec_judge::protocol::Op;

pub(crate) use seam::*;
pub(crate) use terms::several;

macro_rules! plants {
    (
        values { $($value:ident: $held:ty = $usual:expr;)* }
        $($(#[$meta:meta])* $seam:ident($($given:ty),*) $(-> $decision:ty)? = $right:expr;)*
    ) => {
        /// What plants another function at one seam, or another value.
        #[allow(dead_code, reason = "some seams are replaced only beside others")]
        mod seam {
            use super::terms::{IntoTerms, Lasting, FaultName, several};
            use crate::planted::Planted;
            use crate::twin::Twin;
            use serde_json::{Map, Number, Value};
            use threadspec::agent::{Response, ToolError};
            use threadspec::{ContextMode, Event, EventKind, Message, ToolCall};
            use threadspec_judge::protocol::{Op, Reply};

            $(pub(crate) fn $seam(
                name: FaultName,
                terms: impl IntoTerms,
                other: impl Fn($($given),*) $(-> $decision)? + Lasting,
            ) -> Planted {
                let other = &*Box::leak(Box::new(other));
                several(name, terms, move |twin| twin.$seam = other)
            })*
            $(pub(crate) fn $value(name: FaultName, terms: impl IntoTerms, other: $held) -> Planted {
                several(name, terms, move |twin| twin.$value = other)
            })*
        }
    };
}

crate::twin::seams!(plants);

/// Another spelling of each reply.
pub(crate) fn spelling(name: FaultName, terms: impl IntoTerms, spelling: fn(&mut Value)) -> Planted {
    several(name, terms, move |twin| twin.spellings.push(spelling))
}

/// What happens before and after one operation.
macro_rules! operations {
    ($($op:ident $before:ident $after:ident;)*) => {$(
        pub(crate) fn $before(
            name: FaultName,
            terms: impl IntoTerms,
            change: impl Fn(&mut Twin, &mut Value) + Lasting,
        ) -> Planted {
            before(name, terms, move |twin, op, input| {
                if op == Op::$op {
                    change(twin, input);
                }
            })
        }

        pub(crate) fn $after(
            name: FaultName,
            terms: impl IntoTerms,
            change: impl Fn(&mut Twin, &Value, &mut Value) + Lasting,
        ) -> Planted {
            after(name, terms, move |twin, op, input, output| {
                if op == Op::$op {
                    change(twin, input, output);
                }
            })
        }
    )*};
}

operations! {
    Escape before_escape after_escape;
    Serialize before_serialize after_serialize;
    Messages before_messages after_messages;
    Tools before_tools after_tools;
    Loop before_loop after_loop;
}

/// Replaces members of an input.
pub(crate) fn member(
    name: FaultName,
    terms: impl IntoTerms,
    members: &'static [&'static str],
    other: impl Fn(&Value) -> Option<Value> + Lasting,
) -> Planted {
    before(name, terms, move |_, _, input| members.iter().for_each(|member| replace(input, member, &other)))
}

/// Replaces a member of each event.
pub(crate) fn event_member(
    name: FaultName,
    terms: impl IntoTerms,
    member: &'static str,
    other: impl Fn(&Value) -> Option<Value> + Lasting,
) -> Planted {
    event(name, terms, move |event| replace(event, member, &other))
}

fn replace(object: &mut Value, member: &str, other: impl Fn(&Value) -> Option<Value>) {
    if let Some(other) = object.get(member).and_then(other) {
        object[member] = other;
    }
}

/// Sets a member of each event that lacks it.
pub(crate) fn event_default(name: FaultName, member: &'static str, value: fn() -> Value) -> Planted {
    event(name, threadspec_golden::clause::INP_1, move |event| set_default(event, member, value()))
}

/// Sets a member that is missing.
pub(crate) fn set_default(object: &mut Value, member: &str, value: Value) {
    if object.is_object() && object.get(member).is_none() {
        object[member] = value;
    }
}

/// Changes the events that an operation is given.
pub(crate) fn given(
    name: FaultName,
    terms: impl IntoTerms,
    to: Op,
    change: impl Fn(&mut Vec<Value>) + Lasting,
) -> Planted {
    before(name, terms, move |_, op, input| {
        if let Some(events) = list(input, "events").filter(|_| op == to) {
            change(events);
        }
    })
}

/// Changes each of these events.
pub(crate) fn each_given(
    name: FaultName,
    terms: impl IntoTerms,
    to: Op,
    change: impl Fn(&mut Value) + Lasting,
) -> Planted {
    given(name, terms, to, move |events| events.iter_mut().for_each(&change))
}

/// Changes each event of an input.
pub(crate) fn any_given(name: FaultName, terms: impl IntoTerms, change: impl Fn(&mut Value) + Lasting) -> Planted {
    before(name, terms, move |_, _, input| each_event(input).for_each(&change))
}

/// Changes each value inside arguments and results that are no texts, from the inside out.
pub(crate) fn inside(name: FaultName, terms: impl IntoTerms, change: impl Fn(&mut Value) + Lasting) -> Planted {
    before(name, terms, move |_, _, input| inside_data(input, &change))
}

/// Changes the messages that `messages` returns.
pub(crate) fn messages(
    name: FaultName,
    terms: impl IntoTerms,
    change: impl Fn(&Value, &mut Vec<Value>) + Lasting,
) -> Planted {
    after_messages(name, terms, move |_, input, output| {
        output.as_array_mut().into_iter().for_each(|messages| change(input, messages));
    })
}

/// Changes each of these messages.
pub(crate) fn each_message(name: FaultName, terms: impl IntoTerms, change: impl Fn(&mut Value) + Lasting) -> Planted {
    messages(name, terms, move |_, messages| messages.iter_mut().for_each(&change))
}

/// Changes each list of messages in what `tools` returns: the requests, and the last one.
pub(crate) fn lists_of_rounds(
    name: FaultName,
    terms: impl IntoTerms,
    change: impl Fn(&mut Vec<Value>) + Lasting,
) -> Planted {
    after_tools(name, terms, move |_, _, output| in_lists(output, &change))
}

/// Changes the messages of the last one alone.
pub(crate) fn last_list(name: FaultName, terms: impl IntoTerms, change: impl Fn(&mut Vec<Value>) + Lasting) -> Planted {
    after_tools(name, terms, move |_, _, output| list(output, "messages").into_iter().for_each(&change))
}

/// Changes the events that `loop` returns.
pub(crate) fn logged(
    name: FaultName,
    terms: impl IntoTerms,
    change: impl Fn(&Value, &mut Vec<Value>) + Lasting,
) -> Planted {
    after_loop(name, terms, move |_, input, output| {
        list(output, "events").into_iter().for_each(|events| change(input, events));
    })
}

/// Hides events of earlier iterations, given all of them and the position of one.
pub(crate) fn hidden(
    name: FaultName,
    terms: impl IntoTerms,
    is_hidden: impl Fn(&[Event], usize) -> bool + Lasting,
) -> Planted {
    history(name, terms, move |_, events| {
        let shown = (0..events.len()).filter(|&at| !is_hidden(events, at));
        shown.map(|at| events[at].clone()).collect()
    })
}

/// Changes the events once they are read.
pub(crate) fn read(name: FaultName, terms: impl IntoTerms, change: impl Fn(&mut Vec<Event>) + Lasting) -> Planted {
    events(name, terms, move |events| {
        let mut events: Vec<Event> = events.into_iter().collect::<Result<_, _>>()?;
        change(&mut events);
        Ok(events)
    })
}

/// Gives a type of events in a document another word.
pub(crate) fn typed(name: FaultName, terms: impl IntoTerms, own: &'static str, other: &'static str) -> Planted {
    kind(name, terms, move |event| match document::kind(event) {
        word if word == own => other,
        word => word,
    })
}

/// Finds the name of a result's call by another comparison of ids.
pub(crate) fn same_id(
    name: FaultName,
    terms: impl IntoTerms,
    is_same: impl Fn(&str, &str) -> bool + Lasting,
) -> Planted {
    self::name(name, terms, move |events, position, id| {
        let mut calls = document::calls(&events[..position]).rev();
        calls.find(|(call, _)| is_same(call, id)).map(|(_, name)| name.to_owned())
    })
}

/// Does not find the name of a result's call, given the name and the id.
pub(crate) fn lost_name(
    name: FaultName,
    terms: impl IntoTerms,
    is_lost: impl Fn(&str, &str) -> bool + Lasting,
) -> Planted {
    self::name(name, terms, move |events, position, id| {
        document::name(events, position, id).filter(|name| !is_lost(name, id))
    })
}

/// Writes some results of tools in another way, in documents.
pub(crate) fn odd_result(
    name: FaultName,
    terms: impl IntoTerms,
    written: impl Fn(&Twin, &Value) -> Option<String> + Lasting,
) -> Planted {
    result_text(name, terms, move |twin, result| {
        result.and_then(|result| written(twin, result)).unwrap_or_else(|| document::result_text(twin, result))
    })
}

/// Writes some results of tools in another way, in messages. In documents, texts stay as they are.
pub(crate) fn odd_content(
    name: FaultName,
    terms: impl IntoTerms,
    written: impl Fn(&Twin, Option<&Value>) -> Option<String> + Lasting,
) -> Planted {
    result_content(name, terms, move |twin, result| {
        written(twin, result).unwrap_or_else(|| context::result_content(twin, result))
    })
}

/// Writes some elements of arrays in another way, in the literal profile.
pub(crate) fn odd_item(
    name: FaultName,
    terms: impl IntoTerms,
    written: impl Fn(&Twin, &Value) -> Option<String> + Lasting,
) -> Planted {
    item(name, terms::literal(terms), move |twin, element| written(twin, element).or_else(|| text::item(twin, element)))
}

/// Writes some numbers in another way.
pub(crate) fn odd_number(
    name: FaultName,
    terms: impl IntoTerms,
    written: impl Fn(&serde_json::Number, f64) -> Option<String> + Lasting,
) -> Planted {
    number(name, terms, move |raw| {
        raw.as_f64().and_then(|double| written(raw, double)).unwrap_or_else(|| text::number(raw))
    })
}

/// Writes what became of some calls in another way.
pub(crate) fn odd_outcome(
    name: FaultName,
    terms: impl IntoTerms,
    written: impl Fn(&Twin, &threadspec::ToolCall, &Result<Value, threadspec::agent::ToolError>) -> Option<String> + Lasting,
) -> Planted {
    outcome(name, terms, move |twin, call, result| {
        written(twin, call, &result).unwrap_or_else(|| rounds::outcome(twin, call, result))
    })
}

/// Drops members of objects as they are written.
pub(crate) fn lost_member(
    name: FaultName,
    terms: impl IntoTerms,
    is_lost: impl Fn(&str, &Value) -> bool + Lasting,
) -> Planted {
    members(name, terms, move |object| {
        text::members(object).into_iter().filter(|(key, value)| !is_lost(key, value)).collect()
    })
}

/// Writes members first whose keys have another index than JavaScript's.
pub(crate) fn index(name: FaultName, terms: impl IntoTerms, index: impl Fn(&str) -> Option<u64> + Lasting) -> Planted {
    members(name, terms, move |object| text::by_index(object, &index))
}

/// Makes another message of some events, or none.
pub(crate) fn odd_message(
    name: FaultName,
    terms: impl IntoTerms,
    written: impl Fn(&str, &str) -> Option<Option<Message>> + Lasting,
) -> Planted {
    message(name, terms, move |twin, event| {
        written(word(event), document::said(event)).unwrap_or_else(|| context::message(twin, event))
    })
}

/// Where a text passes. An event is known by its type, or by its role if it is a message; any, if that is empty.
#[derive(Clone, Copy)]
pub(crate) enum TwinSite {
    /// A text before and after it is escaped.
    Raw,
    Escaped,
    /// The value of an attribute, before and after it is escaped.
    RawAttribute,
    Attribute,
    /// A text as JSON.
    Quoted,
    /// A number.
    Number,
    /// The text of an event in a document.
    Body(&'static str),
    /// The same, escaped, by the type that the document gives.
    Written(&'static str),
    /// All attributes of an event in a document, escaped, by the type that the document gives.
    Attributes(&'static str),
    /// The values of an attribute.
    Value(&'static str),
    /// The document.
    Thread,
    /// The prefix of a response.
    Prefix,
    /// The instructions.
    Instructions,
    /// The System message.
    System,
    /// The summaries in it.
    Summaries,
    /// The text of an event's message.
    Content(&'static str),
    /// The text of each message to the model that is a human's.
    Human,
    /// The text of an event that an operation is given.
    Given(Op, &'static str),
    /// The reason of a verifier.
    Reason,
    /// The response of a run.
    Response,
}

/// Edits a text at a site.
pub(crate) fn edit(
    name: FaultName,
    terms: impl IntoTerms,
    site: TwinSite,
    edit: impl Fn(&str) -> String + Lasting,
) -> Planted {
    edited(name, terms.into(), site, Box::leak(Box::new(edit)))
}

/// Replaces words of a text by others, one after the other.
pub(crate) fn swap(
    name: FaultName,
    terms: impl IntoTerms,
    site: TwinSite,
    words: &'static [(&'static str, &'static str)],
) -> Planted {
    edit(name, terms, site, move |text| words.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to)))
}

/// A text, or nothing in its place.
pub(crate) fn emptied(text: &str, is_empty: bool) -> String {
    if is_empty { String::new() } else { text.to_owned() }
}

fn edited(
    name: FaultName,
    terms: FaultTerms,
    site: TwinSite,
    edit: &'static (dyn Fn(&str) -> String + Send + Sync),
) -> Planted {
    match site {
        TwinSite::Raw => text(name, terms, move |twin, raw| text::text(twin, &edit(raw))),
        TwinSite::Escaped => text(name, terms, move |twin, raw| edit(&text::text(twin, raw))),
        TwinSite::RawAttribute => attribute(name, terms, move |twin, raw| text::attribute(twin, &edit(raw))),
        TwinSite::Attribute => attribute(name, terms, move |twin, raw| edit(&text::attribute(twin, raw))),
        TwinSite::Quoted => quoted(name, terms, move |raw| edit(&text::quoted(raw))),
        TwinSite::Number => number(name, terms, move |raw| edit(&text::number(raw))),
        TwinSite::Body(of) => body(name, terms, move |twin, event| {
            let text = document::body(twin, event);
            if of.is_empty() || word(event) == of { edit(&text) } else { text }
        }),
        TwinSite::Written(of) => element(name, terms, move |attributes, body| {
            if is_of(attributes, of) {
                document::element(attributes, &edit(body))
            } else {
                document::element(attributes, body)
            }
        }),
        TwinSite::Attributes(of) => element(name, terms, move |attributes, body| {
            if is_of(attributes, of) {
                document::element(&edit(attributes), body)
            } else {
                document::element(attributes, body)
            }
        }),
        TwinSite::Value(of) => attributes(name, terms, move |list, _| {
            list.iter_mut().filter(|(name, _)| *name == of).for_each(|(_, value)| *value = edit(value));
        }),
        TwinSite::Thread => thread(name, terms, move |lines| edit(&document::thread(lines))),
        TwinSite::Prefix => prefix(name, terms, move |raw| document::prefix(raw.map(edit).as_deref())),
        TwinSite::Instructions => system(name, terms, move |summaries, instructions, mode| {
            context::system(summaries, &edit(instructions), mode)
        }),
        TwinSite::System => system(name, terms, move |summaries, instructions, mode| {
            edit(&context::system(summaries, instructions, mode))
        }),
        TwinSite::Summaries => summaries(name, terms, move |list| edit(&context::summaries(list))),
        TwinSite::Content(of) => message(name, terms, move |twin, event| {
            let message = context::message(twin, event)?;
            Some(if of.is_empty() || word(event) == of { with_content(message, edit) } else { message })
        }),
        TwinSite::Human => message(name, terms, move |twin, event| {
            let message = context::message(twin, event)?;
            Some(if matches!(message, Message::Human { .. }) { with_content(message, edit) } else { message })
        }),
        TwinSite::Given(to, of) => before(name, terms, move |_, op, input| {
            for event in each_event(input).filter(|event| op == to && kind_of(event) == of) {
                text_of(event).into_iter().for_each(|text| *text = edit(text));
            }
        }),
        TwinSite::Reason => feedback(name, terms, move |iteration, reason| {
            rounds::feedback(iteration, reason.map(|reason| edit(&reason)))
        }),
        TwinSite::Response => response(name, terms, move |_, last| edit(last)),
    }
}

fn is_of(attributes: &str, kind: &str) -> bool {
    kind.is_empty() || attributes.contains(&format!("type=\"{kind}\""))
}

/// The same message with another text.
pub(crate) fn with_content(message: Message, edit: impl Fn(&str) -> String) -> Message {
    match message {
        Message::System { content } => Message::System { content: edit(&content) },
        Message::Human { content } => Message::Human { content: edit(&content) },
        Message::Ai { content, tool_calls } => Message::Ai { content: edit(&content), tool_calls },
        Message::Tool { tool_call_id, content } => Message::Tool { tool_call_id, content: edit(&content) },
    }
}

/// What edits have in common.
pub(crate) struct EditsAt(FaultTerms, TwinSite);

pub(crate) fn at(terms: impl IntoTerms, site: TwinSite) -> EditsAt {
    EditsAt(terms.into(), site)
}

impl EditsAt {
    /// Edits, each by a name.
    pub(crate) fn edits(self, rows: &[(FaultName, fn(&str) -> String)]) -> Vec<Planted> {
        rows.iter().map(|&(name, change)| edit(name, self.0, self.1, change)).collect()
    }

    /// The same edit by sizes; `{n}` in the name is one of them.
    pub(crate) fn sized(self, name: &str, change: fn(&str, usize) -> String, sizes: &[usize]) -> Vec<Planted> {
        let name_of = |n: usize| name.replace("{n}", &n.to_string()).leak();
        sizes.iter().map(|&n| edit(name_of(n), self.0, self.1, move |text| change(text, n))).collect()
    }
}
