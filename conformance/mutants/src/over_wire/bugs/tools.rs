//! WIRE-TOOLS and WIRE-TOOLS-SAME: what the model is told of its tools.

use crate::over_wire::prelude::*;

/// The name of a declared tool.
fn name_of(tool: &mut Value) -> &mut Value {
    if tool["function"].is_object() { &mut tool["function"]["name"] } else { &mut tool["name"] }
}

/// The schema of a declared tool.
fn schema(tool: &mut Value) -> &mut Value {
    if tool["function"].is_object() {
        &mut tool["function"]["parameters"]
    } else if tool["input_schema"].is_null() {
        &mut tool["parameters"]
    } else {
        &mut tool["input_schema"]
    }
}

/// Changes the description of each tool.
fn describe(tools: &mut [Value], words: &str) {
    for tool in tools {
        let tool = if tool["function"].is_object() { &mut tool["function"] } else { tool };
        tool["description"] = words.into();
    }
}

impl WireGroup {
    /// Changes the list of tools of each body.
    fn tools(
        self,
        name: &'static str,
        change: impl Fn(usize, &mut Vec<Value>) + Copy + Send + Sync + 'static,
    ) -> Planted {
        self.body(name, move |run, body| {
            if let Some(tools) = body["tools"].as_array_mut() {
                change(run.turn, tools);
                if tools.is_empty() {
                    without(body, "tools");
                }
            }
        })
    }

    /// Changes the name of each tool.
    fn names(self, name: &'static str, change: fn(&str) -> String) -> Planted {
        self.tools(name, move |_, tools| {
            for tool in tools {
                let name = name_of(tool);
                *name = change(text(name)).into();
            }
        })
    }
}

pub(super) fn bugs() -> Vec<Planted> {
    vec![
        TOOLS.since_ask("tools-declared-in-the-first-request-alone", 2, |body| without(body, "tools")),
        TOOLS.since_ask("tools-missing-from-the-third-ask-on", 3, |body| without(body, "tools")),
        TOOLS.body("tools-never-declared", |_, body| without(body, "tools")),
        TOOLS.again("tools-missing-on-a-retry", |_, body| without(body, "tools")),
        TOOLS.body("tools-missing-after-a-failed-attempt", |run, body| {
            if run.wire.failures > 0 {
                without(body, "tools");
            }
        }),
        TOOLS.tools("last-tool-not-declared", |_, tools| drop(tools.pop())),
        TOOLS.tools("first-tool-alone-declared", |_, tools| tools.truncate(1)),
        TOOLS.body("tools-that-were-not-called-dropped", |run, body| {
            let called: Vec<Value> = run.list.iter().flat_map(calls).map(|call| call["name"].clone()).collect();
            if let Some(tools) = body["tools"].as_array_mut().filter(|_| !called.is_empty()) {
                tools.retain_mut(|tool| called.contains(name_of(tool)));
            }
        }),
        TOOLS.body("called-tools-not-declared-again", |run, body| {
            let called: Vec<Value> = run.list.iter().flat_map(calls).map(|call| call["name"].clone()).collect();
            if let Some(tools) = body["tools"].as_array_mut() {
                tools.retain_mut(|tool| !called.contains(name_of(tool)));
                if tools.is_empty() {
                    without(body, "tools");
                }
            }
        }),
        TOOLS.names("declared-names-in-lower-case", str::to_lowercase),
        TOOLS.names("declared-names-with-a-prefix", |name| format!("functions_{name}")),
        TOOLS.names("dashes-in-declared-names-as-underscores", |name| name.replace('-', "_")),
        TOOLS.names("declared-names-cut-to-32-characters", |name| cut(name, 32)),
        TOOLS.body("tool-declared-that-nobody-gave", |run, body| {
            let tool = write::tool(run.wire.endpoint.transport.api, "final_answer");
            let mut tools = list(&body["tools"]).to_vec();
            tools.push(tool);
            body["tools"] = tools.into();
        }),
        TOOLS.body("tools-of-the-run-before-declared-as-well", with_earlier_tools),
        TOOLS.tools("tools-declared-twice", |_, tools| tools.extend(tools.clone())),
        TOOLS.tools("eight-tools-declared-at-most", |_, tools| tools.truncate(8)),
        TOOLS.tools("schema-as-json-text", |_, tools| {
            for tool in tools {
                let schema = schema(tool);
                *schema = schema.to_string().into();
            }
        }),
        TOOLS.tools("schema-in-the-notation-of-python", |_, tools| {
            tools.iter_mut().for_each(|tool| schema(tool)["type"] = "dict".into())
        }),
        TOOLS.tools("schema-with-types-of-another-provider", |_, tools| {
            tools.iter_mut().for_each(|tool| schema(tool)["properties"] = json!({"a": {"type": "STRING"}}));
        }),
        TOOLS.of(ALL.of(ANTHROPIC)).tools("schema-under-the-name-of-another-api", |_, tools| {
            for tool in tools {
                tool["parameters"] = tool["input_schema"].take();
                without(tool, "input_schema");
            }
        }),
        TOOLS.of(ALL.of(RESPONSES)).tools("declaration-in-the-form-of-chat", |_, tools| {
            for tool in tools {
                *tool =
                    json!({"type": "function", "function": {"name": tool["name"], "parameters": tool["parameters"]}});
            }
        }),
        RULES.of(ALL.of(OPENAI)).tools("strict-schemas-that-take-anything", |_, tools| {
            for tool in tools {
                let tool = if tool["function"].is_object() { &mut tool["function"] } else { tool };
                tool["strict"] = true.into();
            }
        }),
        RULES.of(ALL.of(CHAT)).body("choice-of-a-tool-without-tools", |_, body| {
            if body["tools"].is_null() {
                body["tool_choice"] = "auto".into();
            }
        }),
        RULES.of(ALL.of(CHAT)).body("no-tools-as-an-empty-list", |_, body| {
            if body["tools"].is_null() {
                body["tools"] = json!([]);
            }
        }),
        SAME.tools("tools-in-an-order-of-chance", |turn, tools| {
            let places = tools.len().max(1);
            tools.rotate_left(turn % places);
        }),
        SAME.body("latest-tool-declared-first", |run, body| {
            let last = run.list.iter().rev().flat_map(calls).map(|call| call["name"].clone()).next();
            if let Some(tools) = body["tools"].as_array_mut() {
                tools.sort_by_key(|tool| Some(name_of(&mut tool.clone())) != last.clone().as_mut());
            }
        }),
        SAME.tools("time-in-the-descriptions-of-tools", |turn, tools| {
            describe(tools, &format!("It is 12:0{}.", turn % 10))
        }),
        SAME.tools("descriptions-shortened-from-the-second-ask-on", |turn, tools| {
            if turn > 1 {
                describe(tools, "See above.");
            }
        }),
        SAME.tools("members-of-schemas-in-an-order-of-chance", |turn, tools| {
            for schema in tools.iter_mut().map(schema).filter(|_| turn.is_multiple_of(2)) {
                let members = schema.as_object().cloned().unwrap_or_default();
                *schema = members.into_iter().rev().collect::<Map<_, _>>().into();
            }
        }),
        CACHE.again("tools-changed-on-a-retry", |_, body| {
            let mut all: Vec<Value> = tools(body).map(|tool| tool.clone()).collect();
            describe(&mut all, "Tried again.");
            if !all.is_empty() {
                body["tools"] = all.into();
            }
        }),
    ]
}

/// Declares what earlier runs declared, too.
fn with_earlier_tools(run: &mut RunState, body: &mut Value) {
    let mut all = list(&body["tools"]).to_vec();
    for tool in list(&run.memory["tools"]) {
        if all.iter_mut().all(|own| name_of(own) != name_of(&mut tool.clone())) {
            all.push(tool.clone());
        }
    }
    run.memory["tools"] = all.clone().into();
    if !all.is_empty() {
        body["tools"] = all.into();
    }
}
