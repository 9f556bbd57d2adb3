//! Finds inputs that a program may refuse or read in another way, and the requests that begin an iteration.

use crate::json::{self, is_extreme, tokens};
use crate::protocol::{EventBody, Input, Op, Part, ScriptedTurn, ThreadEvent};
use serde_json::Value;
use threadspec::Profile;
use threadspec_golden::clause;

// Inputs that a program may refuse, or may read in another way.

/// More requests than any script answers.
const UNLIMITED: u64 = u32::MAX as u64;

/// Returns whether a valid input may be refused all the same: for its nesting, for numbers beyond the doubles (INP-3), or because `String`
/// throws (STR-2).
pub(crate) fn may_refuse(op: Op, profile: Profile, input: &str) -> bool {
    is_extreme(input)
        || profile == Profile::Literal
            && input.contains("\"toString\"")
            && Input::read(input).is_ok_and(|input| is_string_called(op, &input) && has_own_string(&input))
}

/// Returns whether an iteration is spelled otherwise than in digits: that `1.0` is an integer, only a `should` clause says (INP-1).
pub(crate) fn has_odd_iterations(input: &str) -> bool {
    let is_odd = |token: &str| !token.bytes().all(|byte| byte.is_ascii_digit());
    let (mut name, mut depth) = ("", 0_usize);
    let mut last = "";
    tokens(input).any(|token| {
        let is_value = match token {
            ":" => {
                (name, depth) = (last, 0);
                false
            }
            "[" => {
                depth += 1;
                false
            }
            "]" => {
                name = "";
                false
            }
            "," if depth == 0 => {
                name = "";
                false
            }
            "," | "{" | "}" => false,
            _ => true,
        };
        last = token;
        is_value && ["\"iteration\"", "\"summarizedIterations\""].contains(&name) && is_odd(token)
    })
}

/// Returns whether results are written by `String`.
fn is_string_called(op: Op, input: &Input) -> bool {
    op == Op::Serialize || op == Op::Messages && input.is_in_xml_mode()
}

fn has_own_string(input: &Input) -> bool {
    let throws = |event: &ThreadEvent| matches!(&event.body, EventBody::ToolResult { result, .. } if result.proper().is_some_and(throws));
    input.thread().iter().filter_map(Part::proper).any(throws)
}

/// Returns whether `String` of a value throws in ECMAScript: an object, perhaps inside arrays, with a `toString` of its own.
fn throws(value: &Value) -> bool {
    match value {
        Value::Array(elements) => elements.iter().any(throws),
        Value::Object(members) => members.contains_key("toString"),
        _ => false,
    }
}

/// The input with the meaning that another permitted reading gives it: in literal a limit of zero may mean the default (LOOP-LIMIT).
pub(crate) fn other_input(op: Op, profile: Profile, input: &str) -> Option<String> {
    let name = "maxToolCallsPerIteration";
    if op != Op::Loop || profile == Profile::Hardened || !input.contains(name) {
        return None;
    }
    let mut input = json::read(input).ok().filter(|input| input[name].as_f64() == Some(0.0))?;
    input.as_object_mut()?.shift_remove(name);
    Some(input.to_string())
}

/// Rewrites a script for implementations that do not follow a `should` clause, and names that clause: how many requests an iteration may
/// have (LOOP-LIMIT), and whether the number of iterations is limited (LOOP-MAX).
pub(crate) fn neglectful_inputs(input: &str) -> Vec<(&'static str, String)> {
    let Ok(input) = json::read(input) else { return Vec::new() };
    let with = |name: &str, value: Value| {
        let mut input = input.clone();
        input[name] = value;
        input.to_string()
    };
    let requests = "maxToolCallsPerIteration";
    let limit = request_limit(&Input::of(input.clone()));
    let limits = [limit + 1, limit.saturating_sub(1), UNLIMITED].into_iter();
    let limits = limits.map(|limit| (clause::LOOP_LIMIT, with(requests, limit.into())));
    limits.chain([(clause::LOOP_MAX, with("maxIterations", Value::Null))]).collect()
}

// Finds the requests of a loop that begin an iteration, by its script.

/// The limit where a script names none (LOOP-LIMIT).
const DEFAULT_LIMIT: u64 = 20;

/// How many requests an iteration makes at most; the default for a limit of zero, which means that or no requests at all.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is positive, and the nearest will do")]
pub fn request_limit(input: &Input) -> u64 {
    // `20.0` is an integer, too; a limit beyond `u64` becomes the largest one.
    let limit = input.max_tool_calls_per_iteration.double().filter(|&limit| limit > 0.0);
    limit.map_or(DEFAULT_LIMIT, |limit| limit as u64)
}

/// The numbers of the requests that begin an iteration, in a run of so many requests: the first one, and each after a
/// response without tool calls, a failure, or as many requests as the limit allows.
pub fn beginnings(input: &Input, requests: usize) -> Vec<usize> {
    let limit = request_limit(input);
    let (mut beginnings, mut length) = (Vec::new(), 0);
    let mut turns = input.turns();
    for request in 0..requests {
        if length == 0 {
            beginnings.push(request);
        }
        length += 1;
        if !turns.next().is_some_and(ScriptedTurn::has_calls) || length >= limit {
            length = 0;
        }
    }
    beginnings
}

#[cfg(test)]
mod tests {
    use super::{beginnings, *};
    use crate::json::DEEP;
    use crate::protocol::Input;
    use serde_json::json;

    #[test]
    fn what_may_be_refused() {
        let refused = |op, profile, input: &str| may_refuse(op, profile, input);
        let deep = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        assert!(!refused(Op::Serialize, Profile::Hardened, &deep(DEEP)));
        assert!(refused(Op::Serialize, Profile::Hardened, &deep(DEEP + 1)));
        assert!(refused(Op::Tools, Profile::Hardened, "[1e400]"));
        assert!(!refused(Op::Tools, Profile::Hardened, "[1e300, \"1e400\"]"));
        let own = r#"{"events": [{"type": "tool_result", "result": [{"toString": 1}]}]}"#;
        assert!(refused(Op::Serialize, Profile::Literal, own));
        assert!(!refused(Op::Serialize, Profile::Hardened, own));
        assert!(!refused(Op::Messages, Profile::Literal, own));
    }

    #[test]
    fn iterations_may_be_spelled_in_odd_ways() {
        for odd in [r#"{"iteration":1.0}"#, r#"{"iteration": -0}"#, r#"{"summarizedIterations":[1,2e1],"iteration":1}"#]
        {
            assert!(has_odd_iterations(odd), "{odd}");
        }
        for plain in [r#"{"iteration":10,"n":1.0}"#, r#"{"summarizedIterations":[],"n":[1.0]}"#, r#"["iteration",1.0]"#]
        {
            assert!(!has_odd_iterations(plain), "{plain}");
        }
    }

    #[test]
    fn a_limit_of_zero_has_two_readings() {
        let other = |profile, limit: u32| {
            let input = format!("{{\"prompt\":\"\",\"maxToolCallsPerIteration\":{limit}}}");
            other_input(Op::Loop, profile, &input)
        };
        assert_eq!(other(Profile::Literal, 0).as_deref(), Some("{\"prompt\":\"\"}"));
        assert_eq!(other(Profile::Literal, 1), None);
        assert_eq!(other(Profile::Hardened, 0), None);
    }

    #[test]
    fn an_iteration_ends_with_a_response_without_calls_or_at_the_limit() {
        let turns =
            [json!({"tool_calls": [1]}), json!({"tool_calls": [1]}), json!({"content": "a"}), json!({"error": "b"})];
        let input = Input::of(json!({"model": turns}));
        assert_eq!(beginnings(&input, 5), [0, 3, 4]);
        let input = Input::of(json!({"model": turns, "maxToolCallsPerIteration": 1.0}));
        assert_eq!(beginnings(&input, 3), [0, 1, 2]);
        assert!(beginnings(&input, 0).is_empty());
    }
}
