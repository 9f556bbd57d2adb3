//! AGENT-INDEPENDENT at the same time: agents whose runs influence each other while they are under way, and only then.

use crate::planted::{Clash, Kind, crash};
use crate::universal::prelude::*;

/// A bug that shows only where runs meet.
fn clash(name: &str, meet: impl Fn(&mut [RunState], usize) -> Result<(), String> + Send + Sync + 'static) -> Planted {
    let clash = Clash(Box::leak(Box::new(meet)));
    Planted { kind: Kind::Clash(clash), ..bug(name, INDEPENDENT, |_| {}) }
}

/// Every bug.
pub(super) fn all() -> Vec<Planted> {
    let always = |name, change: fn(&mut [RunState], usize)| {
        let meet = move |runs: &mut [RunState], at: usize| {
            change(runs, at);
            Ok(())
        };
        clash(name, meet)
    };
    let mut all = vec![
        always("system-messages-of-another-run-at-once", |runs, at| {
            let (mut others, own) = (runs[next(runs, at)].list.clone(), &mut runs[at].list);
            others.retain(is_system);
            own.retain(|message| !is_system(message));
            own.splice(0..0, others);
        }),
        always("tools-of-the-newest-run-at-once", |runs, at| taken_from(runs, at, runs.len() - 1, "tools")),
        always("tools-of-the-oldest-run-at-once", |runs, at| taken_from(runs, at, 0, "tools")),
        always("model-of-the-newest-run-at-once", |runs, at| taken_from(runs, at, runs.len() - 1, "model")),
        always("model-of-the-oldest-run-at-once", |runs, at| taken_from(runs, at, 0, "model")),
        always("tools-of-all-runs-at-once", |runs, at| {
            let tools: Vec<Value> = runs.iter().map(|run| run.input["tools"].clone()).collect();
            for (name, results) in tools.iter().filter_map(Value::as_object).flatten() {
                if runs[at].input["tools"].get(name).is_none() {
                    runs[at].input["tools"][name] = results.clone();
                }
            }
        }),
        always("results-by-id-of-all-runs-at-once", |runs, at| {
            let tools = runs[next(runs, at)].input["tools"].clone();
            let own = runs[at].input["tools"].as_object_mut().into_iter().flatten();
            for (name, results) in own.filter(|(_, results)| results["byId"].is_object()) {
                for (id, result) in results["byId"].as_object_mut().into_iter().flatten() {
                    if let Some(other) = tools[name]["byId"].get(id) {
                        *result = other.clone();
                    }
                }
            }
        }),
        always("rounds-of-all-runs-counted-at-once", |runs, at| {
            let turns: usize = runs.iter().map(|run| run.turn).sum::<usize>() - runs[at].turn;
            let run = &mut runs[at];
            if run.memory.is_null() {
                run.memory = run.input["maxRecursionDepth"].clone();
            }
            if let Some(limit) = run.memory.as_u64() {
                run.input["maxRecursionDepth"] = limit.saturating_sub(turns as u64).into();
            }
        }),
        always("requests-kept-in-another-run-at-once", |runs, at| {
            if let Ok([own, other]) = runs.get_disjoint_mut([at, next(runs, at)]) {
                std::mem::swap(&mut own.requests, &mut other.requests);
            }
        }),
        always("last-answer-in-another-run-at-once", |runs, at| {
            let other = next(runs, at);
            if runs[other].list.last().is_some_and(|message| message["type"] == "tool") {
                let answer = runs[other].list.pop();
                runs[at].list.extend(answer);
            }
        }),
        clash("failing-model-ends-runs-at-once", |runs, at| {
            let failing = |run: &RunState| run.input["model"].as_array().into_iter().flatten().find_map(error_of);
            let others = runs.iter().enumerate().filter(|(other, _)| *other != at);
            others.map(|(_, run)| run).find_map(failing).map_or(Ok(()), Err)
        }),
        clash("second-run-at-once-refused", |_, at| if at == 0 { Ok(()) } else { Err("the agent is busy".into()) }),
        clash("dies-of-two-runs-at-once", |_, _| crash("two runs at once")),
    ];
    all.extend([2, 3, 4, 6].map(|size| {
        let meet = move |runs: &mut [RunState], at: usize| {
            if runs.len() >= size {
                runs[at].list = runs[next(runs, at)].list.clone();
            }
            Ok(())
        };
        clash(&format!("one-list-for-{size}-runs-at-once"), meet)
    }));
    all
}

/// The place of the run that is asked next, which is the first one for the last.
fn next(runs: &[RunState], at: usize) -> usize {
    (at + 1) % runs.len()
}

fn taken_from(runs: &mut [RunState], at: usize, other: usize, member: &str) {
    runs[at].input[member] = runs[other].input[member].clone();
}

fn is_system(message: &Value) -> bool {
    message["type"] == "system"
}

fn error_of(turn: &Value) -> Option<String> {
    turn.get("error").map(|error| text(error).to_owned())
}
