//! Tests values that are no script, and no output.

use super::*;

fn error(input: &Value, output: Value) -> String {
    let judged = judge(&input.to_string(), &Others::default(), Abilities::default(), AgentReply::Output(output));
    judged.map_or_else(|error| error.to_string(), |_| "none".to_owned())
}

#[test]
fn a_script_says_what_is_wrong_with_it() {
    let model = json!([{"content": "Done."}]);
    for (runs, why) in [
        (json!([]), "it has no runs"),
        (json!([{"model": model}]), "runs[0]: no beginning, expected one of `message`, `decisions` and `resume`"),
        (
            json!([{"message": "Go", "resume": true, "model": model}]),
            "runs[0]: more than one beginning, expected one of `message`, `decisions` and `resume`",
        ),
        (json!([{"message": "Go", "model": []}]), "run 1: its `model` has no turn"),
        (
            json!([{"message": "Go", "model": model}, {"decisions": {"x": {"approve": true}}, "model": model}]),
            "run 2: it decides on `x`, which no run before it has",
        ),
        (
            json!([{"message": "Go", "model": model, "cut": {"during": "x", "how": "cancel"}}]),
            "run 1: it is cut during `x`, which no response has",
        ),
        (
            json!([{"message": "Go", "model": model, "cut": {"during": "x", "how": "bored"}}]),
            "runs[0].cut.how: expected cancel, throw or kill",
        ),
        (
            json!([{"message": "Go", "model": model, "compact": {"summary": "s"}}]),
            "runs[0].compact: expected either `keepMessages` or `tokens`",
        ),
        (
            json!([{"message": "Go", "model": [{"tool_calls": [{"id": "x", "handoff": "b"}]}]}]),
            "run 1: `x` hands over to `b`, which is no agent",
        ),
    ] {
        assert_eq!(error(&json!({"runs": runs}), json!({"runs": []})), why);
    }
}

#[test]
fn an_output_says_what_is_wrong_with_it() {
    let input = script(&json!([
        {"message": "Go", "model": [{"content": "Done."}]},
        {"message": "Well?", "model": [{"content": "Done."}]},
    ]));
    let empty = json!({"requests": [], "executed": []});
    for (runs, why) in [
        (json!([empty]), "2 runs were asked for, but it has 1"),
        (json!([empty, empty, empty]), "2 runs were asked for, but it has 3"),
        (
            json!([empty, {"requests": [[]], "executed": [], "refused": "No."}]),
            "run 2: it is `refused`, but has 1 request",
        ),
        (json!([{"executed": []}, empty]), "run 1: it has no list of `requests`"),
        (json!([{"requests": []}, empty]), "run 1: it has no list `executed`"),
        (
            json!([{"requests": [[{"type": "robot"}]], "executed": []}, empty]),
            "run 1: request 1: message 1: its `type` is none of system, human, ai, tool",
        ),
        (
            json!([{"requests": [], "executed": [], "pending": [7]}, empty]),
            "run 1: an element of its `pending` is not an id",
        ),
    ] {
        assert_eq!(error(&input, json!({"runs": runs})), why);
    }
    assert_eq!(error(&input, json!(7)), "it has no list of `runs`");
}
