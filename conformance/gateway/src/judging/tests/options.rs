//! Tools, choices and limits.

use super::*;
use threadspec_golden::clause;

/// A request with a tool and these options.
fn ask(api: Api, name: &str, schema: Value, description: &str, options: Value) -> Value {
    changed(&body(api, &[]), |body| {
        body["tools"] = match api {
            Api::OpenAiChat => {
                json!([{"type": "function", "function": {"name": name, "description": description, "parameters": schema}}])
            }
            Api::OpenAiResponses => {
                json!([{"type": "function", "name": name, "description": description, "parameters": schema, "strict": false}])
            }
            Api::Anthropic | Api::Gemini => json!([{"name": name, "description": description, "input_schema": schema}]),
        };
        for (name, value) in options.as_object().expect("options") {
            body[name] = value.clone();
        }
    })
}

fn schema() -> Value {
    json!({"type": "object", "properties": {"n": {"type": "integer", "minimum": 1, "description": "How many"}, "unit": {"type": "string", "enum": ["m", "km"]}}, "required": ["n"], "additionalProperties": false})
}

#[test]
fn a_tool_arrives_with_its_schema() {
    let none = json!({});
    let sent = ask(CHAT, "look", schema(), "Looks.", none.clone());
    let arrived = |schema: Value, description: &str| {
        of_request(CHAT, &sent, ANTHROPIC, &ask(ANTHROPIC, "look", schema, description, none.clone()))
    };
    assert_eq!(arrived(schema(), "Looks."), [""; 0]);
    let changes: [(&str, fn(&mut Value)); 8] = [
        (clause::GATE_TOOLS, |schema| schema["properties"]["n"]["type"] = json!("string")),
        (clause::GATE_TOOLS, |schema| schema["required"] = json!([])),
        (clause::GATE_TOOLS, |schema| schema["required"] = json!(["n", "unit"])),
        (clause::GATE_TOOLS, |schema| schema["properties"]["unit"]["enum"] = Value::Null),
        (clause::GATE_TOOLS, |schema| drop(schema["properties"].as_object_mut().expect("members").remove("unit"))),
        (clause::GATE_TOOLS_FULL, |schema| schema["additionalProperties"] = Value::Null),
        (clause::GATE_TOOLS_FULL, |schema| schema["properties"]["n"]["minimum"] = Value::Null),
        (clause::GATE_TOOLS_FULL, |schema| schema["properties"]["n"]["description"] = Value::Null),
    ];
    for (clause, change) in changes {
        assert_eq!(arrived(changed(&schema(), change), "Looks."), [clause]);
    }
    assert_eq!(arrived(schema(), ""), [clause::GATE_TOOLS_FULL]);
    let lost = changed(&ask(ANTHROPIC, "look", schema(), "", none.clone()), |body| body["tools"] = Value::Null);
    assert_eq!(of_request(CHAT, &sent, ANTHROPIC, &lost), [clause::GATE_TOOLS]);
    let renamed = ask(ANTHROPIC, "look_1", schema(), "Looks.", none.clone());
    assert_eq!(of_request(CHAT, &sent, ANTHROPIC, &renamed), [clause::GATE_TOOLS]);
    let added = changed(&ask(ANTHROPIC, "look", schema(), "Looks.", none), |body| {
        body["tools"].as_array_mut().expect("tools").push(json!({"name": "dummy", "input_schema": {"type": "object"}}))
    });
    assert_eq!(of_request(CHAT, &sent, ANTHROPIC, &added), [clause::GATE_TOOLS]);
}

#[test]
fn a_name_that_the_api_refuses_is_mapped_and_mapped_back() {
    let (long, short) = ("x".repeat(100), format!("{}_{}", "x".repeat(50), "abcd"));
    let round = |name: &'static str| vec![("", vec![("a", name, json!({}))], vec!["ok"])];
    let (long_name, short_name): (&'static str, &'static str) = (long.leak(), short.leak());
    let with = |api, name: &'static str| {
        let tools = ask(api, name, schema(), "", json!({}))["tools"].clone();
        changed(&body(api, &round(name)), |body| body["tools"] = tools)
    };
    let turns = || json!([{"tool_calls": [{"id": "b", "name": short_name, "args": {"n": 1}}]}]);
    let told = |name: &'static str| {
        Wire::new(ANTHROPIC, CHAT, turns())
            .pass_with(&with(ANTHROPIC, long_name), &with(CHAT, short_name), |response| {
                with_json(response, |body| body["content"][0]["name"] = json!(name))
            })
            .clauses()
    };
    assert_eq!(told(long_name), [""; 0]);
    assert_eq!(told(short_name), [clause::GATE_SAID]);
}

#[test]
fn a_choice_arrives_with_its_meaning() {
    for (client, sent, api, arrived, expected) in [
        (ANTHROPIC, json!({"tool_choice": {"type": "any"}}), CHAT, json!({"tool_choice": "required"}), None),
        (
            ANTHROPIC,
            json!({"tool_choice": {"type": "any"}}),
            CHAT,
            json!({"tool_choice": "any"}),
            Some(clause::GATE_CHOICE),
        ),
        (ANTHROPIC, json!({"tool_choice": {"type": "any"}}), CHAT, json!({}), Some(clause::GATE_CHOICE)),
        (ANTHROPIC, json!({"tool_choice": {"type": "auto"}}), CHAT, json!({}), None),
        (
            ANTHROPIC,
            json!({"tool_choice": {"type": "tool", "name": "look"}}),
            CHAT,
            json!({"tool_choice": {"type": "function", "function": {"name": "look"}}}),
            None,
        ),
        (
            ANTHROPIC,
            json!({"tool_choice": {"type": "tool", "name": "look"}}),
            CHAT,
            json!({"tool_choice": "required"}),
            Some(clause::GATE_CHOICE),
        ),
        (CHAT, json!({"tool_choice": "none"}), ANTHROPIC, json!({"tool_choice": {"type": "none"}}), None),
        (CHAT, json!({"tool_choice": "none"}), ANTHROPIC, json!({}), Some(clause::GATE_CHOICE)),
        (CHAT, json!({}), ANTHROPIC, json!({"tool_choice": {"type": "any"}}), Some(clause::GATE_CHOICE)),
        (
            CHAT,
            json!({"parallel_tool_calls": false}),
            ANTHROPIC,
            json!({"tool_choice": {"type": "auto", "disable_parallel_tool_use": true}}),
            None,
        ),
        (CHAT, json!({"parallel_tool_calls": false}), ANTHROPIC, json!({}), Some(clause::GATE_CHOICE)),
        (
            ANTHROPIC,
            json!({"tool_choice": {"type": "auto", "disable_parallel_tool_use": true}}),
            RESPONSES,
            json!({}),
            Some(clause::GATE_CHOICE),
        ),
        (CHAT, json!({}), RESPONSES, json!({"parallel_tool_calls": false}), Some(clause::GATE_CHOICE)),
        (CHAT, json!({}), RESPONSES, json!({"parallel_tool_calls": true}), None),
        (CHAT, json!({"max_completion_tokens": 50}), ANTHROPIC, json!({"max_tokens": 50}), None),
        (CHAT, json!({"max_completion_tokens": 50}), ANTHROPIC, json!({"max_tokens": 4096}), Some(clause::GATE_CHOICE)),
        (CHAT, json!({"max_completion_tokens": null}), ANTHROPIC, json!({"max_tokens": 4096}), None),
        (
            CHAT,
            json!({"max_completion_tokens": null, "max_tokens": 70}),
            RESPONSES,
            json!({"max_output_tokens": 70}),
            None,
        ),
        (CHAT, json!({"max_completion_tokens": 9}), RESPONSES, json!({"max_output_tokens": 16}), None),
        (CHAT, json!({"stop": ["A", "B"]}), ANTHROPIC, json!({"stop_sequences": ["B", "A"]}), None),
        (CHAT, json!({"stop": "A"}), ANTHROPIC, json!({"stop_sequences": ["A"]}), None),
        (CHAT, json!({"stop": ["A", "B"]}), ANTHROPIC, json!({"stop_sequences": ["A"]}), Some(clause::GATE_CHOICE)),
        (CHAT, json!({"stop": ["A", "\n"]}), ANTHROPIC, json!({"stop_sequences": ["A"]}), None),
        (CHAT, json!({"stop": ["A"]}), RESPONSES, json!({}), None),
        (CHAT, json!({}), ANTHROPIC, json!({"stop_sequences": ["Human:"]}), Some(clause::GATE_CHOICE)),
    ] {
        let of = |api, options: &Value| ask(api, "look", schema(), "", options.clone());
        let found = of_request(client, &of(client, &sent), api, &of(api, &arrived));
        assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "{sent} {arrived}");
    }
}
