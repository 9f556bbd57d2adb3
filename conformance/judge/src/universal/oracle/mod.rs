//! The oracles, one for each clause. Each gets the run beside its script and adds what it finds.

mod calls;
mod end;
mod history;
mod isolation;
mod results;

use super::course::Course;
use super::finding::Findings;

pub(crate) use isolation::independent;
pub(crate) use results::of_answer;

/// An oracle. AGENT-TEXT, AGENT-NUMBERS and AGENT-ORDINARY have none of their own: their breaches come up wherever a value
/// is compared, and are named by [`Findings::add_differences`].
pub(crate) type ClauseOracle = fn(&Course<'_>, &mut Findings);

/// The oracles of each run of a session, whatever came before it; [`goes_on`], [`start`] and [`prefix`] only where nothing else explains their
/// findings.
pub(crate) const WITHIN_SESSION: [ClauseOracle; 10] = [
    end::stops,
    end::limit,
    end::model_failure,
    calls::response,
    calls::ids,
    calls::answered,
    results::failure,
    results::result,
    results::result_compact,
    results::encodable,
];
pub(crate) const GOES_ON: ClauseOracle = end::goes_on;
pub(crate) const START: ClauseOracle = history::start;
pub(crate) const PREFIX: ClauseOracle = history::prefix;

/// In this order, since what one finds may keep a later one from judging.
pub(crate) const ALL: [ClauseOracle; 19] = [
    end::goes_on,
    end::stops,
    end::limit,
    end::model_failure,
    history::history,
    history::start,
    history::prefix,
    calls::response,
    calls::ids,
    calls::answered,
    results::failure,
    calls::order,
    results::result,
    results::result_compact,
    results::encodable,
    history::valid,
    isolation::shared,
    isolation::caller,
    end::end,
];
