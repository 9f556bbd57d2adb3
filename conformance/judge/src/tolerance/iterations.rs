//! Finds the requests of a loop that begin an iteration, by its script.

use crate::protocol::{Input, ScriptedTurn};

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
    use super::beginnings;
    use crate::protocol::Input;
    use serde_json::json;

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
