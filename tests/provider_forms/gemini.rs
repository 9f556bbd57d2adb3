//! Requests to Gemini.

use super::{ROUNDS, exactly, gemini};
use serde_json::{Value, json};
use threadspec::oracle::Api;

#[test]
fn gemini_contents() {
    let right = gemini();
    let last = 4 * ROUNDS;
    let at = |offset: usize, rest: &str| format!("/contents/{}{rest}", last + offset);
    let place = |offset: usize, rest: &str| format!("contents[{}]{rest}", last + offset);
    let (first, second) = (at(1, "/parts/1/thoughtSignature"), at(3, "/parts/1/thoughtSignature"));
    let (at_first, at_second) = (place(1, ".parts[1].thoughtSignature"), place(3, ".parts[1].thoughtSignature"));
    let (end, at_end) = (at(4, "/parts/1"), place(4, ".parts"));
    let (final_responses, at_calls) = (at(4, ""), place(3, ".parts"));
    exactly(
        Api::Gemini,
        &right,
        &[
            (&[(&first, None)], &[("GEM-SIGNATURE", &at_first)]),
            (&[(&second, None)], &[("GEM-SIGNATURE", &at_second)]),
            (&[(&first, Some(json!("")))], &[("GEM-SIGNATURE", &at_first)]),
            (
                &[(&first, None), (&second, Some(Value::Null))],
                &[("GEM-SIGNATURE", &at_first), ("GEM-SIGNATURE", &at_second)],
            ),
            // Other models sign nothing, or not always.
            (&[(&first, None), ("/model", Some(json!("gemini-2.5-pro")))], &[]),
            (&[(&first, None), ("/model", None)], &[]),
            (&[("/contents/2/parts/1", None)], &[("GEM-COUNT", "contents[2].parts")]),
            (&[(&end, None)], &[("GEM-COUNT", &at_end)]),
            (&[("/contents/2", None)], &[("GEM-COUNT", "contents[2].parts")]),
            (&[("/contents/1", None)], &[("GEM-COUNT", "contents[1].parts")]),
            (
                &[("/contents/2/parts/0", None), ("/contents/6/parts/0", Some(json!({"text": "4"})))],
                &[("GEM-COUNT", "contents[2].parts"), ("GEM-COUNT", "contents[6].parts")],
            ),
            (&[(&final_responses, None)], &[("GEM-COUNT", &at_calls)]),
            (&[("/contents/0", None)], &[("GEM-CALL-TURN", "contents[0].parts")]),
            (&[("/contents/4", None)], &[("GEM-CALL-TURN", "contents[4].parts")]),
            (&[("/contents/8/role", Some(json!("model")))], &[("GEM-CALL-TURN", "contents[9].parts")]),
            (
                &[("/contents/156", None), ("/contents/0", None)],
                &[("GEM-CALL-TURN", "contents[0].parts"), ("GEM-CALL-TURN", "contents[155].parts")],
            ),
            (
                &[("/tools/0/functionDeclarations/1/name", Some(json!("2nd")))],
                &[("GEM-NAME", "tools[0].functionDeclarations[1].name")],
            ),
            (
                &[("/tools/1/function_declarations/0/name", Some(json!("a b")))],
                &[("GEM-NAME", "tools[1].functionDeclarations[0].name")],
            ),
            (
                &[("/tools/0/functionDeclarations/0/name", Some(json!("n".repeat(65))))],
                &[("GEM-NAME", "tools[0].functionDeclarations[0].name")],
            ),
            (
                &[
                    ("/contents/1/parts/1/functionCall/name", Some(json!(""))),
                    ("/contents/2/parts/1/function_response/name", Some(json!("ä"))),
                ],
                &[
                    ("GEM-NAME", "contents[1].parts[1].functionCall.name"),
                    ("GEM-NAME", "contents[2].parts[1].functionResponse.name"),
                ],
            ),
        ],
    );
}
