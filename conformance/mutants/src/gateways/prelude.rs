//! Names that the tables of gateways share: clauses, places, and ways to look at bodies.

pub(super) use super::bodies::{
    ResultOf, Who, calls, deep, drop_member, edit_args, history, is_image, on_ids, on_images, on_schemas, on_texts,
    results, texts, tools,
};
pub(super) use super::bugs::{
    ANTHROPIC, CHAT, CHAT_OR_ANTHROPIC, OPENAI, RESPONSES, RESPONSES_OR_ANTHROPIC, SOMETIMES, WITH_CALLS,
};
pub(super) use super::plant::{FREE, GatewayGroup, breaking, neglecting};
pub(super) use crate::gateway::course::{ClientEvent, ExchangeCourse, TestGateway, TriedRequest};
pub(super) use crate::gateway::names::digest;
pub(super) use crate::gateway::places::{ALL, PROXY, ShowsWhen, TRANSLATING};
pub(super) use crate::gateway::said::AnswerNews;
pub(super) use crate::planted::Planted;
pub(super) use serde_json::{Map, Value, json};
pub(super) use std::sync::Arc;
pub(super) use std::time::Duration;
pub(super) use threadspec::oracle::Api;
pub(super) use threadspec_apis::{ApiError, ApiRequest, Finish, OpaqueContent, SaidCall, ToolChoice};
pub(super) use threadspec_golden::clause;
pub(super) use threadspec_judge::json::{list, text};
pub(super) use threadspec_judge::protocol::Speaker;
pub(super) use threadspec_judge::universal::value;

pub(super) const CALLS: GatewayGroup = breaking(&[clause::GATE_CALLS]);
pub(super) const CACHE: GatewayGroup = breaking(&[clause::GATE_CACHE]);
pub(super) const CHOICE: GatewayGroup = breaking(&[clause::GATE_CHOICE]);
pub(super) const CUT: GatewayGroup = breaking(&[clause::GATE_CUT]);
pub(super) const EXACT: GatewayGroup = breaking(&[clause::GATE_CALLS_EXACT]);
pub(super) const FORWARD: GatewayGroup = breaking(&[clause::GATE_FORWARD]);
pub(super) const FULL: GatewayGroup = breaking(&[clause::GATE_TOOLS_FULL]);
pub(super) const IDS: GatewayGroup = breaking(&[clause::GATE_IDS]);
pub(super) const INDEPENDENT: GatewayGroup = breaking(&[clause::GATE_INDEPENDENT]);
pub(super) const INVENTED: GatewayGroup = breaking(&[clause::GATE_INVENTED]);
pub(super) const MEDIA: GatewayGroup = breaking(&[clause::GATE_MEDIA]);
pub(super) const MESSAGES: GatewayGroup = breaking(&[clause::GATE_MESSAGES]);
pub(super) const OPAQUE: GatewayGroup = breaking(&[clause::GATE_OPAQUE]);
pub(super) const RESULT: GatewayGroup = breaking(&[clause::GATE_RESULT]);
pub(super) const RETRY: GatewayGroup = breaking(&[clause::WIRE_RETRY]);
pub(super) const SAID: GatewayGroup = breaking(&[clause::GATE_SAID]);
pub(super) const STATUS: GatewayGroup = breaking(&[clause::GATE_STATUS]);
pub(super) const STOP: GatewayGroup = breaking(&[clause::GATE_STOP]);
pub(super) const STREAM: GatewayGroup = breaking(&[clause::GATE_STREAM]);
pub(super) const TEXT: GatewayGroup = breaking(&[clause::GATE_TEXT]);
pub(super) const THINKING: GatewayGroup = breaking(&[clause::GATE_THINKING]);
pub(super) const TOOLS: GatewayGroup = breaking(&[clause::GATE_TOOLS]);
pub(super) const VALID: GatewayGroup = breaking(&[clause::GATE_VALID]);
pub(super) const WAIT: GatewayGroup = breaking(&[clause::GATE_WAIT]);
pub(super) const WORDS: GatewayGroup = breaking(&[clause::GATE_WORDS]);
