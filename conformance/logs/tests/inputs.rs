//! Small inputs, each an example of a class of files that people have and that were judged wrongly once: with what is right, and why.

use serde_json::Value;
use std::path::Path;
use std::{fs, io};
use threadspec::oracle::Api;
use threadspec_golden::provider_rules;
use threadspec_logs::{CheckOptions, Finding, FormRow, Level, Report, check_bytes};

/// The exit code that `threadspec check` has for one file.
fn code(report: &Report, is_strict: bool) -> u64 {
    let summary = &report.summary;
    match () {
        () if summary.unjudged().is_some() => 2,
        () if summary.errors > 0 || is_strict && summary.warnings > 0 => 1,
        () => 0,
    }
}

/// Whether a finding is the expected one: an error by this rule, or by one of this family.
fn is_of(found: &Finding, rule: &str) -> bool {
    let family = provider_rules().iter().find(|known| known.id == found.rule).map_or(found.rule, |known| &known.family);
    let is_answered = rule == "answered" && (family == "answered" || found.rule == "LOG-ANSWERED");
    found.level == Level::Error && (found.rule == rule || is_answered)
}

#[test]
fn each_input_is_judged_as_it_should_be() -> io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inputs");
    let expected: Vec<Value> = serde_json::from_slice(&fs::read(folder.join("expected.json"))?)?;
    let mut wrong = Vec::new();
    for row in &expected {
        let file = row["file"].as_str().unwrap_or_default();
        let report = check_bytes(&fs::read(folder.join(file))?, &CheckOptions::default());
        let code = code(&report, row["strict"] == true);
        let is_code = row["codes"].as_array().is_some_and(|codes| codes.iter().any(|one| *one == code));
        // A file that is expected to be at fault is so for one reason, and for no other.
        let rule = row["rule"].as_str().filter(|_| code == 1);
        let is_rule = rule.is_none_or(|rule| {
            let mut errors = report.findings.iter().filter(|found| found.level == Level::Error).peekable();
            errors.peek().is_some() && errors.all(|found| is_of(found, rule))
        });
        let worst = report.findings.iter().map(|found| found.level).max();
        let is_mild = match row["most"].as_str() {
            Some("none") => worst.is_none(),
            Some("note") => worst.is_none_or(|worst| worst == Level::Note),
            _ => true,
        };
        // Newer rows name everything that is found.
        let named = row["finds"].as_array().map(|rules| rules.iter().filter_map(Value::as_str).collect::<Vec<_>>());
        let found = report.findings.iter().map(|found| found.rule).collect::<Vec<_>>();
        if !(is_code && is_rule && is_mild && named.is_none_or(|named| named == found)) {
            let told: Vec<String> =
                report.findings.iter().map(|found| format!("\n    {} {found}", found.level)).collect();
            wrong.push(format!("{file}: exit {code}: {:?}{}\n  {}", report.summary, told.concat(), row["why"]));
        }
    }
    assert!(wrong.is_empty(), "{} of {} are wrong\n{}", wrong.len(), expected.len(), wrong.join("\n"));
    Ok(())
}

#[test]
fn every_input_has_an_expectation() -> io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inputs");
    let expected: Vec<Value> = serde_json::from_slice(&fs::read(folder.join("expected.json"))?)?;
    let mut names: Vec<String> = expected.iter().filter_map(|row| row["file"].as_str().map(str::to_owned)).collect();
    names.push("expected.json".to_owned());
    names.sort();
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        files.push(entry?.file_name().to_string_lossy().into_owned());
    }
    files.sort();
    assert_eq!(names, files);
    Ok(())
}

#[test]
fn the_row_of_the_guide_finds_the_fault_of_its_log() -> io::Result<()> {
    let guide = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("FORMS.md"))?;
    let block = |language: &str| {
        let from = guide.split_once(&format!("```{language}\n")).map(|(_, from)| from).unwrap_or_default();
        from.split_once("```").map(|(block, _)| block.to_owned()).unwrap_or_default()
    };
    let (log, row) = (block("json"), block("toml"));
    let options = CheckOptions { forms: FormRow::read_all(&row)?, ..CheckOptions::default() };
    let report = check_bytes(log.as_bytes(), &options);
    let found: Vec<(&str, Level)> = report.findings.iter().map(|found| (found.rule, found.level)).collect();
    assert_eq!(found, [("LOG-ANSWERED", Level::Error)], "{:?}", report.findings);
    let form = &report.summary.forms[0];
    assert_eq!((&*form.form, form.row.as_deref()), ("a run of my bot", Some(&*row)));

    let sound = log.replace("\"4\"}", "\"4\"},{\"of\":\"t-2\",\"gave\":\"20\"}");
    let report = check_bytes(sound.as_bytes(), &options);
    assert_eq!((report.findings.len(), report.summary.unjudged()), (0, None), "{:?}", report.findings);
    // Without the row, nothing is claimed of two calls.
    assert!(check_bytes(log.as_bytes(), &CheckOptions::default()).summary.unjudged().is_some());
    Ok(())
}

/// Sound files of forms that are rows, with the place of a call, of a result, and of the id in each. A log may begin in the middle: where its only
/// call may be gone unseen, the place is empty.
const PLANTED: [(&str, &str, &str, &str); 34] = [
    ("openhands-before-1.json", "/3", "/4", "/tool_call_metadata/tool_call_id"),
    ("claude-web.json", "/loglines/1/message/content/0", "/loglines/2/message/content/0", "/tool_use_id"),
    ("autogen-messages.json", "/messages/1/content/0", "/messages/2/content/0", "/call_id"),
    ("sharegpt.json", "/conversations/1", "/conversations/2", ""),
    ("kimi-wire.jsonl", "/5", "/6", "/message/payload/tool_call_id"),
    ("open-webui.json", "/0/chat/messages/1/output/0", "/0/chat/messages/1/output/1", "/call_id"),
    ("continue.json", "/history/1/message/toolCalls/0", "/history/2", "/message/toolCallId"),
    ("letta.json", "/agents/0/messages/1/tool_calls/0", "/agents/0/messages/2", "/tool_returns/0/tool_call_id"),
    (
        "autogen-team.json",
        "/agent_states/helper~11/agent_state/llm_context/messages/1/content/0",
        "/agent_states/helper~11/agent_state/llm_context/messages/2/content/0",
        "/call_id",
    ),
    ("autogen-result.json", "/messages/1/content/0", "/messages/2/content/0", "/call_id"),
    (
        "vscode-chat.json",
        "/requests/0/result/metadata/toolCallRounds/0/toolCalls/0",
        "/requests/0/result/metadata/toolCallResults/c1",
        "",
    ),
    ("inspect-events.json", "/2/input/1/tool_calls/0", "/2/input/2", "/tool_call_id"),
    ("swe-agent-messages.traj", "/trajectory/0/messages/2/tool_calls/0", "/trajectory/0/messages/3", "/tool_call_id"),
    (
        "bedrock-invocation.jsonl",
        "/0/input/inputBodyJson/messages/1/content/0",
        "/0/input/inputBodyJson/messages/2/content/0",
        "/toolResult/toolUseId",
    ),
    ("kimi-context.jsonl", "/3/tool_calls/0", "/5", "/tool_call_id"),
    ("agui-request-sound.json", "/messages/1/toolCalls/0", "/messages/2", "/toolCallId"),
    ("agui-events-sound.json", "/1", "/7", "/toolCallId"),
    ("meai-chat-messages-sound.json", "/1/contents/0", "/2", "/contents/0/callId"),
    ("goose-session-sound.jsonl", "/1/content/0", "/2/content/0", "/id"),
    ("managed-agents-wrapped-sound.jsonl", "", "/3", "/raw/tool_use_id"),
    ("managed-agents-sdk-stream-sound.jsonl", "", "/3", "/1/tool_use_id"),
    ("atif-sound.json", "/steps/1/tool_calls/0", "/steps/1/observation/results/0", "/source_call_id"),
    ("claude-stream-json-sound.jsonl", "/2/message/content/0", "/3/message/content/0", "/tool_use_id"),
    (
        "claude-agent-sdk-recording-sound.json",
        "/messages/1/message/message/content/0",
        "/messages/2/message/message/content/0",
        "/tool_use_id",
    ),
    ("claude-ai-export-sound.json", "/0/chat_messages/2/content/0", "/0/chat_messages/2/content/1", "/tool_use_id"),
    ("grok-cli-sound.jsonl", "/2/tool_calls/0", "/3", "/tool_call_id"),
    ("cursor-stream-json-sound.jsonl", "/3", "/6", "/call_id"),
    ("droid-stream-json-sound.jsonl", "", "/3", "/toolCallId"),
    ("kimi-code-wire-sound.jsonl", "", "/4", "/event/toolCallId"),
    ("pi-before-ids-sound.jsonl", "/2/message/content/0", "/3", "/message/toolCallId"),
    ("braintrust-anthropic-input-sound.json", "/1/input/1/content/0", "/1/input/2/content/0", "/tool_use_id"),
    ("codex-early-sound.json", "/items/1", "/items/2", "/call_id"),
    ("agents-run-state-sound.json", "", "/generatedItems/1", "/rawItem/callId"),
    ("claude-code-untyped-sound.jsonl", "/1/message/content/0", "/2/message/content/0", "/tool_use_id"),
];

/// Removes the element at a place, or doubles it.
fn change(log: &mut Value, place: &str, is_doubled: bool) {
    let (list, name) = place.rsplit_once('/').unwrap_or_default();
    match (log.pointer_mut(list), name.parse::<usize>()) {
        (Some(Value::Array(list)), Ok(position)) if is_doubled => list.insert(position, list[position].clone()),
        (Some(Value::Array(list)), Ok(position)) => _ = list.remove(position),
        (Some(Value::Object(members)), _) if is_doubled => {
            _ = members.insert("other".to_owned(), members[name].clone());
        }
        (Some(Value::Object(members)), _) => _ = members.remove(name),
        other => panic!("{place}: {other:?}"),
    }
}

#[test]
fn four_faults_in_files_of_rows_are_found() -> io::Result<()> {
    let mut missed = Vec::new();
    for (file, call, result, id) in PLANTED {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inputs").join(file))?;
        let is_lines = file.ends_with('l');
        let lines = || text.lines().map(serde_json::from_str::<Value>).collect::<Result<Value, _>>();
        let sound: Value = if is_lines { lines()? } else { serde_json::from_str(&text)? };
        let mut faulty = [(); 4].map(|()| sound.clone());
        change(&mut faulty[0], if call.is_empty() { result } else { call }, false);
        change(&mut faulty[1], result, false);
        change(&mut faulty[2], result, true);
        if let Some(id) = faulty[3].pointer_mut(&format!("{result}{id}")).filter(|_| !id.is_empty()) {
            *id = "other".into();
        } else {
            change(&mut faulty[3], result, false);
        }
        for (number, log) in faulty.iter().enumerate() {
            let text = match log {
                Value::Array(records) if is_lines => {
                    records.iter().map(Value::to_string).collect::<Vec<_>>().join("\n")
                }
                log => log.to_string(),
            };
            let report = check_bytes(text.as_bytes(), &CheckOptions::default());
            if !report.findings.iter().any(|found| found.level == Level::Error) {
                missed.push(format!("{file}: fault {number}: {:?}", report.findings));
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
    Ok(())
}

#[test]
fn a_cassette_is_read_whatever_api_is_named() -> io::Result<()> {
    let cassette = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inputs/cassette-refused.yaml"))?;
    let rules = |api| {
        let report = check_bytes(&cassette, &CheckOptions { api, ..CheckOptions::default() });
        report.findings.iter().map(|found| found.rule).collect::<Vec<_>>()
    };
    let unnamed = rules(None);
    assert!(!unnamed.is_empty());
    assert_eq!(rules(Some(Api::OpenAiChat)), unnamed);
    Ok(())
}
