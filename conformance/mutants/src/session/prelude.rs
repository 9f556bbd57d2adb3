//! Names that the tables of sessions share: clauses, conditions, and ways to look at threads.

pub(super) use super::bugs::{AFTER_ANY_CUT, BY_CANCEL, BY_KILL, BY_LIMIT, BY_THROW, calls_mut, is, run_now};
pub(super) use super::group::{FREE, SessionGroup, breaking};
pub(super) use super::when::Shows::{self, Always, LongThread, NewStart, SecondSession, ThirdCall, ThirdRun, TwoCuts};
pub(super) use crate::agent::{answer, calls};
pub(super) use crate::planted::Planted;
pub(super) use crate::threads::SessionAgent;
pub(super) use crate::threads::images;
pub(super) use crate::threads::run::{CallStep, CutBy, MAIN, Moment, SessionRun, answers_behind, place};
pub(super) use crate::threads::sound::{self, INTERRUPTED, cut_calls};
pub(super) use serde_json::{Value, json};
pub(super) use threadspec_golden::clause;
pub(super) use threadspec_judge::json::{list, text};

pub(super) const ANSWERED: SessionGroup = breaking(&[clause::SESSION_ANSWERED]);
pub(super) const APPROVED: SessionGroup = breaking(&[clause::SESSION_APPROVED]);
pub(super) const DENIED: SessionGroup = breaking(&[clause::SESSION_DENIED]);
pub(super) const HANDOFF: SessionGroup = breaking(&[clause::SESSION_HANDOFF]);
pub(super) const IMAGE: SessionGroup = breaking(&[clause::SESSION_IMAGE]);
pub(super) const INDEPENDENT: SessionGroup = breaking(&[clause::AGENT_INDEPENDENT]);
pub(super) const KEPT: SessionGroup = breaking(&[clause::SESSION_KEPT]);
pub(super) const ONCE: SessionGroup = breaking(&[clause::SESSION_ONCE]);
pub(super) const OPAQUE: SessionGroup = breaking(&[clause::SESSION_OPAQUE]);
pub(super) const PREFIX: SessionGroup = breaking(&[clause::SESSION_PREFIX]);
pub(super) const RAW: SessionGroup = breaking(&[clause::SESSION_RAW]);
pub(super) const REWIND: SessionGroup = breaking(&[clause::SESSION_REWIND]);
pub(super) const SAID_ONCE: SessionGroup = breaking(&[clause::SESSION_SAID_ONCE]);
pub(super) const SIBLINGS: SessionGroup = breaking(&[clause::SESSION_SIBLINGS]);
pub(super) const VALID: SessionGroup = breaking(&[clause::SESSION_VALID]);
pub(super) const WHOLE: SessionGroup = breaking(&[clause::SESSION_WHOLE]);
