//! Reads the conversations that agents and frameworks save: sessions of programs, stores of frameworks.

use super::message::{any, list, unquoted, word};
use super::said::{self, LoggedExchange, LoggedTurn, RecordPiece, SaidToModel};
use serde_json::{Value, json};
use std::borrow::Cow;

/// A whole history that a program saved.
fn saved(messages: &[Value], path: &str) -> Vec<RecordPiece> {
    if messages.is_empty() {
        return Vec::new();
    }
    LoggedExchange::history(SaidToModel::Messages(said::turns_of(messages, path)), path).piece()
}

/// The next messages of a session.
fn next(key: &str, message: &Value, path: &str) -> Vec<RecordPiece> {
    vec![RecordPiece::Turns { key: key.to_owned(), turns: turns_at(message, path) }]
}

fn turns_at(message: &Value, path: &str) -> Vec<LoggedTurn> {
    let turns = said::turns_of(std::slice::from_ref(message), "");
    turns.into_iter().map(|turn| LoggedTurn { path: path.to_owned(), ..turn }).collect()
}

/// A line of a session of Claude Code.
pub(super) fn claude_code(record: &Value) -> Option<Vec<RecordPiece>> {
    // Who publishes a session may leave its name out.
    let is_line =
        record["uuid"].is_string() && record["timestamp"].is_string() && record["message"]["role"].is_string();
    let session = record["sessionId"].as_str().or(is_line.then_some(""))?;
    record["uuid"].as_str().or(record["leafUuid"].as_str()).or(record["type"].as_str())?;
    let message = &record["message"];
    if message["parts"].is_array() {
        // Qwen Code writes such lines, with messages of Gemini in them.
        return None;
    }
    let is_said = record["type"].is_null() || matches!(word(record, "type"), "user" | "assistant");
    if !message["role"].is_string() || !is_said {
        return Some(Vec::new());
    }
    let agent = record["agentId"].as_str().or((record["isSidechain"] == true).then_some("sidechain"));
    let key = agent.map_or_else(|| session.to_owned(), |agent| format!("{session} {agent}"));
    let [id, parent] = ["uuid", "parentUuid"].map(|name| word(record, name).to_owned());
    let answer = word(message, "id").to_owned();
    let mut turns = turns_at(message, "message");
    if record["isApiErrorMessage"] == true {
        for turn in &mut turns {
            turn.message["failed"] = true.into();
        }
    }
    Some(vec![RecordPiece::Linked { key, id, parent, answer, turns }])
}

/// A line of a session of Codex.
pub(super) fn codex(record: &Value) -> Option<Vec<RecordPiece>> {
    if !record["payload"].is_object() || record["timestamp"].is_null() {
        return None;
    }
    match word(record, "type") {
        "response_item" => Some(next("", &record["payload"], "payload")),
        "session_meta" | "event_msg" | "turn_context" | "compacted" | "world_state" | "token_usage_record" => {
            Some(Vec::new())
        }
        _ => record["payload"]["type"].is_string().then(Vec::new),
    }
}

/// A session of opencode, exported as a whole, or a part of a message, which is a row of its database (a file of its own before that).
pub(super) fn opencode(record: &Value) -> Option<Vec<RecordPiece>> {
    let messages = list(&record["messages"]);
    if messages.first().is_some_and(|first| first["info"]["role"].is_string() && first["parts"].is_array()) {
        return Some(saved(messages, "messages"));
    }
    let part = |key: &Value, message: &Value, part: Value| {
        let (key, message) = (key.as_str()?.to_owned(), message.as_str()?.to_owned());
        Some(vec![RecordPiece::MessagePart { key, message, part }])
    };
    match word(record, "id").split('_').next()? {
        "prt" if record["data"].is_string() => {
            part(&record["session_id"], &record["message_id"], unquoted(&record["data"])?.into_owned())
        }
        "prt" => part(&record["sessionID"], &record["messageID"], record.clone()),
        // A message without its parts, a session, and how both came about.
        "evt" => record["aggregate_id"].is_string().then(Vec::new),
        "msg" | "ses" => {
            let names = ["session_id", "sessionID", "project_id", "projectID"];
            any(record, &names).is_string().then(Vec::new)
        }
        _ => None,
    }
}

/// A message of opencode by its parts.
pub(in super::super) fn opencode_message(parts: &[Value]) -> Vec<LoggedTurn> {
    // Only what a model answers has steps.
    let is_answer = parts.iter().any(|part| word(part, "type") == "step-start");
    let role = if is_answer { "assistant" } else { "user" };
    turns_at(&json!({"role": role, "parts": parts}), "")
}

/// A trajectory of SWE-agent: what each step sent, and the history at the end.
pub(super) fn swe_agent(record: &Value) -> Option<Vec<RecordPiece>> {
    let answered = |message: &Value| {
        let mut message = message.clone();
        if message["role"] == "tool" && message["tool_call_id"].is_null() {
            message["tool_call_id"] = message["tool_call_ids"][0].clone();
        }
        message
    };
    let messages = |of: &Value| list(of).iter().map(answered).collect::<Vec<_>>();
    // A demonstration has nothing but its history.
    let is_history = list(&record["history"]).first().is_some_and(|first| first["agent"].is_string());
    let steps = record["trajectory"].as_array().map(Vec::as_slice).or(is_history.then_some(&[]))?;
    // Older ones have `messages`.
    let sent_in = |step: &Value| ["query", "messages"].into_iter().find(|name| step[*name].is_array());
    let steps = steps.iter().enumerate().filter_map(|(number, step)| Some((number, step, sent_in(step)?)));
    let sent = steps.map(|(number, step, name)| {
        let path = format!("trajectory[{number}].{name}");
        let turns = said::turns_of(&messages(&step[name]), &path);
        RecordPiece::Exchange(LoggedExchange::of(SaidToModel::Messages(turns), None, &path))
    });
    Some(sent.chain(saved(&messages(&record["history"]), "history")).collect())
}

/// A trajectory of mini-swe-agent.
pub(super) fn mini_swe_agent(record: &Value) -> Option<Vec<RecordPiece>> {
    let is_named = word(record, "trajectory_format").starts_with("mini-swe-agent");
    if !is_named && record["info"]["mini_version"].is_null() {
        return None;
    }
    // Its last message says how the run ended, and to nobody.
    let messages = list(&record["messages"]).iter().filter(|message| message["role"] != "exit");
    let flat = messages.flat_map(|message| match &message["output"] {
        Value::Array(items) if message["role"].is_null() => items.clone(),
        _ => vec![message.clone()],
    });
    Some(saved(&flat.collect::<Vec<_>>(), "messages"))
}

/// A message of a session of Strands, which is a file of its own, or a whole session.
pub(super) fn strands(record: &Value) -> Option<Vec<RecordPiece>> {
    if record["message"]["content"].is_array() && !record["message_id"].is_null() {
        let turns = turns_at(&record["message"], "message");
        return Some(match record["message_id"].as_u64() {
            Some(number) => vec![RecordPiece::Numbered { number, turns }],
            None => vec![RecordPiece::Turns { key: String::new(), turns }],
        });
    }
    if record["session_type"] == "AGENT" || record["conversation_manager_state"].is_object() {
        return Some(Vec::new());
    }
    None
}

/// A checkpoint of LangGraph, as a row of its database.
pub(super) fn langgraph(record: &Value) -> Option<Vec<RecordPiece>> {
    let thread = record["thread_id"].as_str()?;
    record["checkpoint_id"].as_str()?;
    let values = &record["checkpoint"]["channel_values"];
    let turns = said::turns_of(list(&values["messages"]), "checkpoint.channel_values.messages");
    let key = format!("{thread}{}", word(record, "checkpoint_ns"));
    Some(vec![RecordPiece::Snapshot { key, turns }])
}

/// An item of a session of the OpenAI Agents SDK, as a row of its database.
pub(super) fn openai_agents(record: &Value) -> Option<Vec<RecordPiece>> {
    let session = record["session_id"].as_str()?;
    let item = unquoted(&record["message_data"])?;
    Some(next(session, &item, "message_data"))
}

/// A run of Agno.
pub(super) fn agno(record: &Value) -> Option<Vec<RecordPiece>> {
    if any(record, &["agent_id", "team_id", "workflow_id"]).is_string() && !record["session_data"].is_null() {
        // The row of a session. Its runs are in it, or are rows of their own.
        let runs = unquoted(&record["runs"]).unwrap_or_default();
        let runs = list(&runs).iter().enumerate();
        return Some(
            runs.flat_map(|(number, run)| saved(list(&run["messages"]), &format!("runs[{number}].messages"))).collect(),
        );
    }
    record["run_id"].as_str()?;
    let run = unquoted(&record["run_data"]).unwrap_or(Cow::Borrowed(record));
    run["messages"].is_array().then(|| saved(list(&run["messages"]), "messages"))
}

/// The chat store of LlamaIndex: a list of messages for each key.
pub(super) fn llama_index(record: &Value) -> Option<Vec<RecordPiece>> {
    let store = [&record["store"], &record["chat_store"]["store"]].into_iter().find(|store| store.is_object())?;
    let lists = store.as_object()?.iter().filter(|(_, list)| list.is_array());
    let pieces = lists.flat_map(|(key, messages)| saved(list(messages), &format!("store.{key}")));
    Some(pieces.collect())
}

fn is_langchain(message: &Value) -> bool {
    message["lc"].is_number()
        || (message["data"].is_object() && matches!(word(message, "type"), "human" | "ai" | "system" | "tool"))
}

/// Messages of LangChain, by `dumpd` or `messages_to_dict`, alone or in the state of a graph.
pub(super) fn langchain(record: &Value) -> Option<Vec<RecordPiece>> {
    let places = [
        ("", record),
        ("messages", &record["messages"]),
        ("kwargs.messages", &record["kwargs"]["messages"]),
        ("values.messages", &record["values"]["messages"]),
        ("channel_values.messages", &record["channel_values"]["messages"]),
    ];
    if let Some((path, messages)) =
        places.into_iter().find(|(_, messages)| list(messages).first().is_some_and(is_langchain))
    {
        return Some(saved(list(messages), path));
    }
    is_langchain(record).then(|| next("", record, ""))
}

/// Messages of pydantic-ai.
pub(super) fn pydantic(record: &Value) -> Option<Vec<RecordPiece>> {
    let is_message =
        |message: &Value| matches!(word(message, "kind"), "request" | "response") && message["parts"].is_array();
    if is_message(record) {
        return Some(next(word(record, "conversation_id"), record, ""));
    }
    let messages = if record.is_array() { record } else { any(record, &["messages", "all_messages"]) };
    list(messages).first().is_some_and(is_message).then(|| saved(list(messages), ""))
}

/// Messages of the AI SDK: those of its UI, and those that it gives a model.
pub(super) fn ai_sdk(record: &Value) -> Option<Vec<RecordPiece>> {
    let is_message = |message: &Value| {
        let parts = || list(&message["content"]).iter().chain(list(&message["parts"]));
        let is_ui = message["parts"].is_array() && message["id"].is_string();
        let is_of_sdk =
            |part: &Value| matches!(word(part, "type"), "tool-call" | "tool-result" | "tool-invocation" | "step-start");
        message["role"].is_string() && (is_ui || parts().any(is_of_sdk))
    };
    if is_message(record) {
        return Some(next("", record, ""));
    }
    let messages = if record.is_array() { record } else { &record["messages"] };
    list(messages).iter().any(is_message).then(|| saved(list(messages), ""))
}

/// A conversation of `ChatGPT`'s export: a tree, of which the branch that was last shown is read.
pub(super) fn chatgpt(record: &Value) -> Option<Vec<RecordPiece>> {
    // Who fetches a conversation by itself may put it beside what else is known of it.
    let wrapped = &record["conversation"];
    let (record, path) = if wrapped.is_object() { (wrapped, "conversation.mapping") } else { (record, "mapping") };
    let nodes = record["mapping"].as_object()?;
    nodes.values().any(|node| node["message"]["author"]["role"].is_string()).then_some(())?;
    let mut at = record["current_node"].as_str().or_else(|| {
        // Without it, the last leaf.
        let leaf = nodes.iter().rev().find(|(_, node)| list(&node["children"]).is_empty());
        leaf.map(|(id, _)| &**id)
    });
    let mut turns = Vec::new();
    // A tree of which a node is its own ancestor ends somewhere.
    while let Some((id, node)) = at.and_then(|id| nodes.get_key_value(id)).filter(|_| turns.len() <= nodes.len()) {
        let message = &node["message"];
        let role = word(&message["author"], "role");
        // Calls have no ids here: a result is told by who speaks.
        if matches!(role, "user" | "assistant" | "system") {
            let texts: Vec<&str> = list(&message["content"]["parts"]).iter().filter_map(Value::as_str).collect();
            let message = json!({"role": role, "content": texts.join("\n")});
            turns.push(LoggedTurn { message, path: format!("{path}.{id}.message") });
        }
        at = node["parent"].as_str();
    }
    turns.reverse();
    Some(LoggedExchange::history(SaidToModel::Messages(turns), path).piece())
}

/// The task of Cline or of what came of it, Roo Code and Kilo Code, in which a result may be a text: `[read_file for 'a'] Result:`.
pub(super) fn cline(record: &Value) -> Option<Vec<RecordPiece>> {
    let messages = record.as_array()?;
    let is_of_it = |message: &Value| message["ts"].is_number() && message["role"].is_string();
    (messages.first().is_some_and(is_of_it) && messages.iter().any(|message| message["content"].is_array()))
        .then_some(())?;
    let mut open: Vec<Value> = Vec::new();
    let told = messages.iter().map(|message| {
        let blocks = list(&message["content"]);
        let kept = blocks.iter().map(|block| {
            let is_text_of_result = word(block, "type") == "text"
                && word(block, "text").starts_with('[')
                && word(block, "text").contains("] Result:");
            match word(block, "type") {
                "tool_use" => open.push(block["id"].clone()),
                "tool_result" => open.retain(|id| *id != block["tool_use_id"]),
                _ if is_text_of_result && !open.is_empty() => {
                    return json!({"type": "tool_result", "tool_use_id": open.remove(0), "content": block["text"]});
                }
                _ => {}
            }
            block.clone()
        });
        let content = if message["content"].is_array() { kept.collect() } else { message["content"].clone() };
        json!({"role": message["role"], "content": content})
    });
    Some(saved(&told.collect::<Vec<_>>(), ""))
}
