//! What the tables of the twin's faults are written with.

pub(crate) use super::terms::{FaultName, IntoTerms, Lasting, hardened, in_places, literal, neglect};
pub(crate) use super::{
    at, each_given, each_message, edit, emptied, event_default, event_member, given, hidden, inside, lost_member,
    lost_name, member, odd_content, odd_message, odd_number, odd_outcome, odd_result, same_id, set_default, spelling,
    swap, typed, with_content,
};
pub(crate) use crate::agent::taps::each;
pub(crate) use crate::planted::{Planted, crash};
pub(crate) use crate::plants as on;
pub(crate) use crate::twin::Twin;
pub(crate) use crate::twin::parts::{
    answered_id, each_event, events_of, id_of, in_lists, is_call, keep_last, kind, list, listed, rename, text_of,
    tools, word,
};
pub(crate) use serde_json::{Map, Number, Value, json};
pub(crate) use threadspec::agent::ToolError;
pub(crate) use threadspec::{ContextMode, Event, EventKind, Message, Profile, ToolCall, is_xml_char};
pub(crate) use threadspec_golden::clause::*;
pub(crate) use threadspec_judge::protocol::{Op, Reply};
