//! Checks that only the cases of profile `universal` need.

use threadspec::oracle::Api;
use threadspec_gateway::GatewayCase;
use threadspec_golden::clause;
use threadspec_judge::corpus::{AGENT, Case, Corpus, Expect, GATEWAY, Level, Problem, SESSION, WIRE};
use threadspec_judge::protocol::{JudgeProfile, Op};
use threadspec_judge::universal::Property;
use threadspec_judge::{session, universal};
use threadspec_provider::RunPlan;

/// The properties of a gateway that tries again by itself, as a client must.
const OWN_RETRIES: [Property; 3] = [Property::WireRetry, Property::WireWait, Property::WireBackoff];

/// Cases in the wrong folder, cases whose level, clauses and properties do not fit together, and scripts that cannot show
/// what their case is about.
pub(super) fn problems(corpus: &Corpus) -> Vec<Problem> {
    corpus.cases.iter().flat_map(|case| wrong(case).into_iter().map(|what| case.problem(what))).collect()
}

fn wrong(case: &Case) -> Vec<String> {
    let mut wrong = Vec::new();
    let is_here = [AGENT, WIRE, GATEWAY, SESSION].iter().any(|folder| case.id.starts_with(&format!("{folder}/")));
    if is_here != (case.profiles == [JudgeProfile::Universal]) {
        let profile = JudgeProfile::Universal;
        wrong.push(format!(
            "the cases of `{AGENT}/`, `{WIRE}/`, `{GATEWAY}/` and `{SESSION}/` are those of profile `{profile}`"
        ));
    }
    let Expect::Run(properties) = case.expect() else {
        if is_here {
            wrong.push("it expects an output, but its profile knows properties only".into());
        }
        return wrong;
    };
    if !is_here {
        wrong.push(format!("properties of a run belong in `{AGENT}/`, `{WIRE}/`, `{GATEWAY}/` or `{SESSION}/`"));
    } else if case.severity.is_none() {
        wrong.push("it has no `severity`: how much a failure hurts".into());
    }
    for clause in case.clauses.iter().filter(|id| !properties.iter().any(|property| property.clause() == **id)) {
        wrong.push(format!("it names `{clause}`, but demands none of its properties"));
    }
    for property in properties {
        if !case.clauses.iter().any(|id| *id == property.clause()) {
            wrong.push(format!("`{property}` belongs to `{}`, which it does not name", property.clause()));
        }
        // A part of a `must` may be a `should`.
        let level = if property.is_must() { Level::Must } else { Level::Should };
        if level != case.level {
            wrong.push(format!("`{property}` is a `{level}`, but the case a `{}`", case.level));
        }
        let is_own_retry = case.needs_gateway() && OWN_RETRIES.contains(property);
        if property.is_of_wire() && !case.needs_wire() && !is_own_retry {
            wrong.push(format!("`{property}` is seen over the wire only, so its cases belong in `{WIRE}/`"));
        }
        if property.is_of_gateway() != case.needs_gateway() && !is_own_retry {
            wrong.push(format!("`{property}`: properties of a gateway, and no others, are those of `{GATEWAY}/`"));
        }
        let is_between_runs = [clause::AGENT_INDEPENDENT, clause::GATE_INDEPENDENT].contains(&property.clause());
        if is_between_runs && case.after().is_empty() {
            wrong.push(format!("`{property}` needs another run before"));
        }
    }
    if case.needs_wire() {
        // Turns are read as strictly as a provider reads them; they are the same for every API.
        let plans = case.inputs().map(|input| RunPlan::of_case_input(Api::OpenAiChat, input));
        wrong.extend(plans.filter_map(|plan| Some(format!("`input`: {}", plan.err()?))));
    }
    match subjects(case, case.input()) {
        Err(why) => wrong.push(why),
        Ok(subjects) => {
            // What a gateway tries again may belong to a run before.
            let before = || case.after().iter().filter_map(|input| self::subjects(case, input).ok()).flatten();
            let is_before = |property| OWN_RETRIES.contains(&property) && before().any(|subject| subject == property);
            let missing = properties.iter().filter(|&&property| !subjects.contains(&property) && !is_before(property));
            wrong.extend(missing.map(|property| format!("nothing in its script can break `{property}`")));
        }
    }
    wrong.extend(case.after().iter().filter_map(|input| subjects(case, input).err()));
    wrong
}

/// The properties that an agent or a gateway can break with an input of a case.
///
/// # Errors
///
/// Says what is wrong with the input.
fn subjects(case: &Case, input: &str) -> Result<Vec<Property>, String> {
    if case.needs_gateway() {
        return Ok(GatewayCase::read(input).map_err(|error| error.to_string())?.subjects());
    }
    let subjects = if case.op == Op::Session { session::subjects } else { universal::subjects };
    subjects(input).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use threadspec_judge::corpus::{File, embedded};

    type Change = fn(&mut Value);

    fn problems_with(change: impl Fn(&mut Value)) -> Vec<String> {
        problems_in(AGENT, change)
    }

    fn problems_in(folder: &str, change: impl Fn(&mut Value)) -> Vec<String> {
        let mut case = json!({
            "name": "a", "why": "w", "clauses": ["AGENT-START"], "profiles": ["universal"], "severity": "C",
            "input": {"messages": [{"type": "human", "content": "Go"}], "model": [{"content": "x"}]},
            "expect": {"holds": ["agent-start"]},
        });
        change(&mut case);
        let text = json!({"op": "tools", "about": "x", "cases": [case]}).to_string();
        // The registry of clauses is the built-in one.
        let (corpus, _) = Corpus::read(&[File { path: format!("{folder}/t.json"), text }]);
        problems(&corpus).into_iter().map(|problem| problem.message).collect()
    }

    #[test]
    fn what_does_not_fit_together_is_found() {
        assert!(problems_with(|_| ()).is_empty());
        let changes: [(Change, &str); 10] = [
            (|case| drop(case.as_object_mut().and_then(|case| case.remove("severity"))), "no `severity`"),
            (|case| case["profiles"] = json!(["literal"]), "those of profile `universal`"),
            (|case| case["expect"] = json!({"ok": {}}), "expects an output"),
            (|case| case["clauses"] = json!(["AGENT-START", "AGENT-VALID"]), "names `AGENT-VALID`"),
            (|case| case["expect"]["holds"] = json!(["agent-start", "agent-valid"]), "which it does not name"),
            (|case| case["level"] = json!("should"), "is a `must`"),
            (
                |case| {
                    case["clauses"] = json!(["AGENT-INDEPENDENT"]);
                    case["expect"]["holds"] = json!(["agent-independent"]);
                },
                "needs another run",
            ),
            (
                |case| {
                    case["clauses"] = json!(["AGENT-LIMIT"]);
                    case["expect"]["holds"] = json!(["agent-limit"]);
                },
                "nothing in its script can break",
            ),
            (|case| case["input"]["tools"] = json!({"a": ["x", "y"]}), "parallel"),
            (|case| case["after"] = json!([{}]), "`model`"),
        ];
        for (change, says) in changes {
            let found = problems_with(change);
            assert!(found.iter().any(|problem| problem.contains(says)), "{says}: {found:?}");
        }
    }

    #[test]
    fn what_only_a_provider_plays_is_read_strictly() {
        assert!(problems_in(WIRE, |case| case["input"]["model"][0]["attempts"] = json!([{"status": 500}])).is_empty());
        let changes: [(Change, &str); 4] = [
            (|case| case["input"]["model"][0]["atempts"] = json!([]), "`atempts`"),
            (|case| case["input"]["model"][0]["attempts"] = json!([{"cut": "middle"}]), "`middle`"),
            (|case| case["profiles"] = json!(["literal"]), "those of profile `universal`"),
            (
                |case| {
                    case["clauses"] = json!([clause::WIRE_WAIT]);
                    case["expect"]["holds"] = json!(["wire-wait"]);
                },
                "nothing in its script can break",
            ),
        ];
        for (change, says) in changes {
            let found = problems_in(WIRE, change);
            assert!(found.iter().any(|problem| problem.contains(says)), "{says}: {found:?}");
        }
        let elsewhere = problems_in(AGENT, |case| {
            case["clauses"] = json!([clause::WIRE_KEY]);
            case["expect"]["holds"] = json!(["wire-key"]);
        });
        assert!(elsewhere.iter().any(|problem| problem.contains("belong in `wire/`")), "{elsewhere:?}");
    }

    #[test]
    fn the_judge_knows_the_levels_of_the_registry() {
        for property in Property::all() {
            let clause = embedded().0.clause(property.clause()).expect("a clause");
            let is_must = clause.level == Level::Must && property != Property::SessionDeniedReason;
            assert_eq!(property.is_must(), is_must, "{property}");
        }
    }
}
