//! WIRE-TOOLS and WIRE-TOOLS-SAME: what the model is told of its tools.

use super::{ANTHROPIC, CHAT, OPENAI, RESPONSES, bug, from_ask, on_bodies, on_retries, tools, without};
use crate::planted::Planted;
use crate::wire::modes::ALL;
use crate::wire::{WireAgent, write};
use serde_json::{Value, json};
use threadspec_golden::clause;
use threadspec_judge::json::{list, text};

const TOOLS: &[&str] = &[clause::WIRE_TOOLS];
const SAME: &[&str] = &[clause::WIRE_TOOLS_SAME];

/// Changes the list of tools of each body.
fn on_tools(agent: &mut WireAgent, change: impl Fn(usize, &mut Vec<Value>) + Send + Sync + 'static) {
    on_bodies(agent, move |run, body| {
        if let Some(tools) = body["tools"].as_array_mut() {
            change(run.turn, tools);
            if tools.is_empty() {
                without(body, "tools");
            }
        }
    });
}

/// The name of a declared tool.
fn name(tool: &mut Value) -> &mut Value {
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

/// Changes the name of each tool.
fn on_names(agent: &mut WireAgent, change: fn(&str) -> String) {
    on_tools(agent, move |_, tools| {
        for tool in tools {
            let name = name(tool);
            *name = change(text(name)).into();
        }
    });
}

/// Changes the description of each tool.
fn describe(tools: &mut [Value], words: &str) {
    for tool in tools {
        let tool = if tool["function"].is_object() { &mut tool["function"] } else { tool };
        tool["description"] = words.into();
    }
}

pub(super) fn bugs() -> Vec<Planted> {
    vec![
        bug("tools-declared-in-the-first-request-alone", TOOLS, ALL, |agent| {
            from_ask(agent, 2, |body| without(body, "tools"));
        }),
        bug("tools-missing-from-the-third-ask-on", TOOLS, ALL, |agent| {
            from_ask(agent, 3, |body| without(body, "tools"))
        }),
        bug("tools-never-declared", TOOLS, ALL, |agent| on_bodies(agent, |_, body| without(body, "tools"))),
        bug("tools-missing-on-a-retry", TOOLS, ALL, |agent| on_retries(agent, |_, body| without(body, "tools"))),
        bug("tools-missing-after-a-failed-attempt", TOOLS, ALL, |agent| {
            on_bodies(agent, |run, body| {
                if run.wire.failures > 0 {
                    without(body, "tools");
                }
            });
        }),
        bug("last-tool-not-declared", TOOLS, ALL, |agent| on_tools(agent, |_, tools| drop(tools.pop()))),
        bug("first-tool-alone-declared", TOOLS, ALL, |agent| on_tools(agent, |_, tools| tools.truncate(1))),
        bug("tools-that-were-not-called-dropped", TOOLS, ALL, |agent| {
            on_bodies(agent, |run, body| {
                let called: Vec<Value> =
                    run.list.iter().flat_map(crate::agent::calls).map(|call| call["name"].clone()).collect();
                if let Some(tools) = body["tools"].as_array_mut().filter(|_| !called.is_empty()) {
                    tools.retain_mut(|tool| called.contains(name(tool)));
                }
            });
        }),
        bug("called-tools-not-declared-again", TOOLS, ALL, |agent| {
            on_bodies(agent, |run, body| {
                let called: Vec<Value> =
                    run.list.iter().flat_map(crate::agent::calls).map(|call| call["name"].clone()).collect();
                if let Some(tools) = body["tools"].as_array_mut() {
                    tools.retain_mut(|tool| !called.contains(name(tool)));
                    if tools.is_empty() {
                        without(body, "tools");
                    }
                }
            });
        }),
        bug("declared-names-in-lower-case", TOOLS, ALL, |agent| on_names(agent, str::to_lowercase)),
        bug("declared-names-with-a-prefix", TOOLS, ALL, |agent| on_names(agent, |name| format!("functions_{name}"))),
        bug("dashes-in-declared-names-as-underscores", TOOLS, ALL, |agent| {
            on_names(agent, |name| name.replace('-', "_"))
        }),
        bug("declared-names-cut-to-32-characters", TOOLS, ALL, |agent| {
            on_names(agent, |name| crate::wire::cut(name, 32))
        }),
        bug("tool-declared-that-nobody-gave", TOOLS, ALL, |agent| {
            on_bodies(agent, |run, body| {
                let tool = write::tool(run.wire.endpoint.transport.api, "final_answer");
                let mut tools = list(&body["tools"]).to_vec();
                tools.push(tool);
                body["tools"] = tools.into();
            });
        }),
        bug("tools-of-the-run-before-declared-as-well", TOOLS, ALL, |agent| {
            on_tools_with_memory(agent);
        }),
        bug("tools-declared-twice", TOOLS, ALL, |agent| {
            on_tools(agent, |_, tools| tools.extend(tools.clone()));
        }),
        bug("eight-tools-declared-at-most", TOOLS, ALL, |agent| on_tools(agent, |_, tools| tools.truncate(8))),
        bug("schema-as-json-text", TOOLS, ALL, |agent| {
            on_tools(agent, |_, tools| {
                for tool in tools {
                    let schema = schema(tool);
                    *schema = schema.to_string().into();
                }
            });
        }),
        bug("schema-in-the-notation-of-python", TOOLS, ALL, |agent| {
            on_tools(agent, |_, tools| tools.iter_mut().for_each(|tool| schema(tool)["type"] = "dict".into()));
        }),
        bug("schema-with-types-of-another-provider", TOOLS, ALL, |agent| {
            on_tools(agent, |_, tools| {
                tools.iter_mut().for_each(|tool| schema(tool)["properties"] = json!({"a": {"type": "STRING"}}));
            });
        }),
        bug("schema-under-the-name-of-another-api", TOOLS, ALL.of(ANTHROPIC), |agent| {
            on_tools(agent, |_, tools| {
                for tool in tools {
                    tool["parameters"] = tool["input_schema"].take();
                    without(tool, "input_schema");
                }
            });
        }),
        bug("declaration-in-the-form-of-chat", TOOLS, ALL.of(RESPONSES), |agent| {
            on_tools(agent, |_, tools| {
                for tool in tools {
                    *tool = json!({"type": "function", "function": {"name": tool["name"], "parameters": tool["parameters"]}});
                }
            });
        }),
        bug("strict-schemas-that-take-anything", &[clause::WIRE_RULES], ALL.of(OPENAI), |agent| {
            on_tools(agent, |_, tools| {
                for tool in tools {
                    let tool = if tool["function"].is_object() { &mut tool["function"] } else { tool };
                    tool["strict"] = true.into();
                }
            });
        }),
        bug("choice-of-a-tool-without-tools", &[clause::WIRE_RULES], ALL.of(CHAT), |agent| {
            on_bodies(agent, |_, body| {
                if body["tools"].is_null() {
                    body["tool_choice"] = "auto".into();
                }
            });
        }),
        bug("no-tools-as-an-empty-list", &[clause::WIRE_RULES], ALL.of(CHAT), |agent| {
            on_bodies(agent, |_, body| {
                if body["tools"].is_null() {
                    body["tools"] = json!([]);
                }
            });
        }),
        bug("tools-in-an-order-of-chance", SAME, ALL, |agent| {
            on_tools(agent, |turn, tools| {
                let places = tools.len().max(1);
                tools.rotate_left(turn % places);
            });
        }),
        bug("latest-tool-declared-first", SAME, ALL, |agent| {
            on_bodies(agent, |run, body| {
                let last = run.list.iter().rev().flat_map(crate::agent::calls).map(|call| call["name"].clone()).next();
                if let Some(tools) = body["tools"].as_array_mut() {
                    tools.sort_by_key(|tool| Some(name(&mut tool.clone())) != last.clone().as_mut());
                }
            });
        }),
        bug("time-in-the-descriptions-of-tools", SAME, ALL, |agent| {
            on_tools(agent, |turn, tools| describe(tools, &format!("It is 12:0{}.", turn % 10)));
        }),
        bug("descriptions-shortened-from-the-second-ask-on", SAME, ALL, |agent| {
            on_tools(agent, |turn, tools| {
                if turn > 1 {
                    describe(tools, "See above.");
                }
            });
        }),
        bug("members-of-schemas-in-an-order-of-chance", SAME, ALL, |agent| {
            on_tools(agent, |turn, tools| {
                for schema in tools.iter_mut().map(schema).filter(|_| turn.is_multiple_of(2)) {
                    let members = schema.as_object().cloned().unwrap_or_default();
                    *schema = members.into_iter().rev().collect::<serde_json::Map<_, _>>().into();
                }
            });
        }),
        bug("tools-changed-on-a-retry", &[clause::WIRE_CACHE], ALL, |agent| {
            on_retries(agent, |_, body| {
                let mut all: Vec<Value> = tools(body).map(|tool| tool.clone()).collect();
                describe(&mut all, "Tried again.");
                if !all.is_empty() {
                    body["tools"] = all.into();
                }
            });
        }),
    ]
}

/// Declares what earlier runs declared, too.
fn on_tools_with_memory(agent: &mut WireAgent) {
    on_bodies(agent, |run, body| {
        let mut all = list(&body["tools"]).to_vec();
        for tool in list(&run.memory["tools"]) {
            if all.iter_mut().all(|own| name(own) != name(&mut tool.clone())) {
                all.push(tool.clone());
            }
        }
        run.memory["tools"] = all.clone().into();
        if !all.is_empty() {
            body["tools"] = all.into();
        }
    });
}
