//! Inputs that a program may refuse, or may read in another way.

use super::iterations::request_limit;
use crate::json::{self, is_extreme, tokens};
use crate::protocol::{EventBody, Input, Op, Part, ThreadEvent};
use serde_json::Value;
use threadspec::Profile;
use threadspec_golden::clause;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::DEEP;

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
}
