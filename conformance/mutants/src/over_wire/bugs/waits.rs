//! WIRE-WAIT and WIRE-BACKOFF: how long an agent waits before it tries again.

use super::bug;
use crate::planted::Planted;
use crate::wire::modes::ALL;
use crate::wire::{Failed, NextStep, RETRIES, WireAgent, backoff};
use std::time::Duration;
use threadspec_golden::clause;

const WAIT: &[&str] = &[clause::WIRE_WAIT];
const BACKOFF: &[&str] = &[clause::WIRE_BACKOFF];

/// Waits so long before the next attempt, given the number of the one that failed, from 0.
fn wait(agent: &mut WireAgent, pause: fn(&Failed, usize) -> Duration) {
    agent.failed = Box::new(move |run, failed| {
        let attempt = run.wire.attempt;
        if attempt < RETRIES && failed.is_passing() {
            NextStep::Again(pause(failed, attempt))
        } else {
            NextStep::GiveUp
        }
    });
}

/// What a header says, in these units.
fn header(failed: &Failed, name: &str, unit: fn(u64) -> Duration) -> Option<Duration> {
    failed.response.as_ref()?.header(name)?.parse().ok().map(unit)
}

const NAMED: &str = "retry-after-ms";

pub(super) fn bugs() -> Vec<Planted> {
    vec![
        bug("tried-again-at-once", &[clause::WIRE_WAIT, clause::WIRE_BACKOFF], ALL, |agent| {
            wait(agent, |_, _| Duration::ZERO);
        }),
        bug("named-pause-not-kept", WAIT, ALL, |agent| {
            wait(agent, |failed, attempt| {
                let named = header(failed, NAMED, Duration::from_millis);
                named.map_or_else(|| backoff(attempt), |named| named.saturating_sub(Duration::from_millis(10)))
            });
        }),
        bug("named-pause-halved", WAIT, ALL, |agent| {
            wait(agent, |failed, attempt| {
                header(failed, NAMED, Duration::from_millis).map_or_else(|| backoff(attempt), |named| named / 2)
            });
        }),
        bug("own-pause-in-place-of-a-longer-named-one", WAIT, ALL, |agent| wait(agent, |_, attempt| backoff(attempt))),
        bug("named-seconds-taken-for-milliseconds", WAIT, ALL, |agent| {
            wait(agent, |failed, attempt| {
                header(failed, "retry-after", Duration::from_millis).unwrap_or_else(|| backoff(attempt))
            });
        }),
        bug("named-pause-kept-to-20-milliseconds-at-most", WAIT, ALL, |agent| {
            wait(agent, |failed, attempt| {
                let named = header(failed, NAMED, Duration::from_millis);
                named.map_or_else(|| backoff(attempt), |named| named.min(Duration::from_millis(20)))
            });
        }),
        bug("named-pause-kept-to-a-second-at-most", WAIT, ALL, |agent| {
            wait(agent, |failed, attempt| failed.pause(attempt).min(Duration::from_secs(1)));
        }),
        bug("named-pause-kept-after-the-first-attempt-alone", WAIT, ALL, |agent| {
            wait(agent, |failed, attempt| if attempt == 0 { failed.pause(attempt) } else { Duration::from_millis(5) });
        }),
        bug("named-pause-kept-for-429-alone", WAIT, ALL, |agent| {
            wait(agent, |failed, attempt| {
                if failed.status() == Some(429) { failed.pause(attempt) } else { Duration::from_millis(5 << attempt) }
            });
        }),
        bug("pause-of-the-first-failure-kept-for-the-second", WAIT, ALL, |agent| {
            agent.failed = Box::new(|run, failed| {
                let attempt = run.wire.attempt;
                if attempt == 0 {
                    run.memory = u64::try_from(failed.pause(0).as_millis()).unwrap_or_default().into();
                }
                let pause = Duration::from_millis(run.memory.as_u64().unwrap_or_default());
                if attempt < RETRIES && failed.is_passing() { NextStep::Again(pause) } else { NextStep::GiveUp }
            });
        }),
        bug("pauses-of-10-milliseconds", BACKOFF, ALL, |agent| {
            wait(agent, |failed, _| header(failed, NAMED, Duration::from_millis).unwrap_or(Duration::from_millis(10)));
        }),
        bug("pauses-that-shrink", BACKOFF, ALL, |agent| {
            wait(agent, |failed, attempt| {
                let named = header(failed, NAMED, Duration::from_millis);
                named.unwrap_or_else(|| Duration::from_millis(if attempt == 0 { 800 } else { 200 }))
            });
        }),
        bug("second-pause-forgotten", BACKOFF, ALL, |agent| {
            wait(agent, |failed, attempt| {
                let named = header(failed, NAMED, Duration::from_millis);
                named.unwrap_or_else(|| if attempt == 0 { backoff(0) } else { Duration::ZERO })
            });
        }),
    ]
}
