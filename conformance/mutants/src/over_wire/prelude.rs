//! Names that the tables over the wire share: clauses, APIs, and ways to look at bodies and events.

pub(super) use super::bugs::{
    ANTHROPIC, CHAT, OPENAI, RESPONSES, arguments_of, drop_thinking, history, index_of, is, text_of, tools,
};
pub(super) use super::group::{FREE, WireGroup, breaking, neglecting};
pub(super) use crate::agent::{ChangesInRun, RunState, calls};
pub(super) use crate::planted::Planted;
pub(super) use crate::wire::modes::{ALL, Modes, PLAIN, STREAMS};
pub(super) use crate::wire::{
    Failed, HeardAnswer, NextStep, SseLine, WireAgent, as_an_sdk, backoff, cut, without, write,
};
pub(super) use serde_json::{Map, Value, json};
pub(super) use std::time::Duration;
pub(super) use threadspec::oracle::Api;
pub(super) use threadspec_golden::clause;
pub(super) use threadspec_judge::json::{list, text};
pub(super) use threadspec_provider::client::ClientRequest;

pub(super) const ANSWERED: WireGroup = breaking(&[clause::AGENT_ANSWERED]);
pub(super) const BACK: WireGroup = breaking(&[clause::WIRE_OPAQUE_BACK]);
pub(super) const BACKOFF: WireGroup = breaking(&[clause::WIRE_BACKOFF]);
pub(super) const CACHE: WireGroup = breaking(&[clause::WIRE_CACHE]);
pub(super) const FAILURE: WireGroup = breaking(&[clause::AGENT_MODEL_FAILURE]);
pub(super) const GOES_ON: WireGroup = breaking(&[clause::AGENT_GOES_ON]);
pub(super) const IDS: WireGroup = breaking(&[clause::AGENT_IDS]);
pub(super) const OPAQUE: WireGroup = breaking(&[clause::WIRE_OPAQUE]);
pub(super) const PARTIAL: WireGroup = breaking(&[clause::WIRE_PARTIAL]);
pub(super) const PREFIX: WireGroup = breaking(&[clause::AGENT_PREFIX]);
pub(super) const REQUEST: WireGroup = breaking(&[clause::WIRE_REQUEST]);
pub(super) const RESPONSE: WireGroup = breaking(&[clause::AGENT_RESPONSE]);
pub(super) const RESULT: WireGroup = breaking(&[clause::AGENT_RESULT]);
pub(super) const RETRY: WireGroup = breaking(&[clause::WIRE_RETRY]);
pub(super) const RULES: WireGroup = breaking(&[clause::WIRE_RULES]);
pub(super) const SAME: WireGroup = breaking(&[clause::WIRE_TOOLS_SAME]);
pub(super) const TEXT: WireGroup = breaking(&[clause::AGENT_TEXT]);
pub(super) const TOOLS: WireGroup = breaking(&[clause::WIRE_TOOLS]);
pub(super) const WAIT: WireGroup = breaking(&[clause::WIRE_WAIT]);
pub(super) const KEY: WireGroup = breaking(&[clause::WIRE_KEY]);
