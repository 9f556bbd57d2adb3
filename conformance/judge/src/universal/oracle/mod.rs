//! The oracles, one for each clause. Each gets the run beside its script and adds what it finds.

mod answered;
mod caller;
mod encodable;
mod end;
mod failure;
mod goes_on;
mod history;
mod ids;
mod independent;
mod limit;
mod model_failure;
mod order;
mod prefix;
mod response;
mod result;
mod result_compact;
mod shared;
mod start;
mod stops;
mod valid;

use super::course::Course;
use super::finding::Findings;

pub(crate) use independent::judge as independent;
pub(crate) use result::of_answer;

/// An oracle. AGENT-TEXT, AGENT-NUMBERS and AGENT-ORDINARY have none of their own: their breaches come up wherever a value
/// is compared, and are named by [`Findings::add_differences`].
pub(crate) type ClauseOracle = fn(&Course<'_>, &mut Findings);

/// The oracles of each run of a session, whatever came before it; [`goes_on`], [`start`] and [`prefix`] only where nothing else explains their
/// findings.
pub(crate) const WITHIN_SESSION: [ClauseOracle; 10] = [
    stops::judge,
    limit::judge,
    model_failure::judge,
    response::judge,
    ids::judge,
    answered::judge,
    failure::judge,
    result::judge,
    result_compact::judge,
    encodable::judge,
];
pub(crate) const GOES_ON: ClauseOracle = goes_on::judge;
pub(crate) const START: ClauseOracle = start::judge;
pub(crate) const PREFIX: ClauseOracle = prefix::judge;

/// In this order, since what one finds may keep a later one from judging.
pub(crate) const ALL: [ClauseOracle; 19] = [
    goes_on::judge,
    stops::judge,
    limit::judge,
    model_failure::judge,
    history::judge,
    start::judge,
    prefix::judge,
    response::judge,
    ids::judge,
    answered::judge,
    failure::judge,
    order::judge,
    result::judge,
    result_compact::judge,
    encodable::judge,
    valid::judge,
    shared::judge,
    caller::judge,
    end::judge,
];
