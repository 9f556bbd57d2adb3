//! A log in parts: what is found in them is what is found in the whole, and in exports in whatever order.

use crate::random::Random;
use serde_json::{Value, json};
use std::path::Path;
use std::{fs, io};
use threadspec_logs::{CheckOptions, LogFiles, Report, check_bytes};

/// The requests of a conversation with chat completions or Anthropic, each with its answer. All conversations
/// have the same ids of calls; what is found is their own.
fn conversation(name: &str, random: &mut Random) -> Vec<Value> {
    let is_anthropic = random.below(2) == 0;
    let fault = random.below(6);
    let rounds = 2 + random.below(4);
    let mut messages = vec![json!({"role": "user", "content": format!("Ask {name}")})];
    let mut requests = Vec::new();
    for round in 0..rounds {
        let ids = [format!("call_{round}_a"), format!("call_{round}_b")];
        let answer = if is_anthropic {
            let calls = ids.each_ref().map(|id| json!({"type": "tool_use", "id": id, "name": "look", "input": {}}));
            json!({"type": "message", "role": "assistant", "content": calls, "usage": {"input_tokens": 9, "output_tokens": 1}})
        } else {
            let function = json!({"name": "look", "arguments": "{}"});
            let calls = ids.each_ref().map(|id| json!({"type": "function", "id": id, "function": function}));
            json!({"choices": [{"message": {"role": "assistant", "content": null, "tool_calls": calls}, "finish_reason": "tool_calls"}]})
        };
        let mut sent = messages.clone();
        if fault == 1 && round == rounds - 1 {
            sent[0]["content"] = json!(format!("Asked {name}"));
        }
        requests.push(json!({"request": {"model": "m", "max_tokens": 9, "messages": sent}, "response": answer}));
        let kept = if fault == 2 && round == 0 { &ids[..1] } else { &ids[..] };
        let answered = if fault == 3 && round == 0 { &kept[..1] } else { kept };
        if is_anthropic {
            let block = |id: &String| json!({"type": "tool_use", "id": id, "name": "look", "input": {}});
            messages.push(json!({"role": "assistant", "content": kept.iter().map(block).collect::<Vec<_>>()}));
            let block =
                |id: &String| json!({"type": "tool_result", "tool_use_id": id, "content": format!("Found {name}")});
            messages.push(json!({"role": "user", "content": answered.iter().map(block).collect::<Vec<_>>()}));
        } else {
            let function = json!({"name": "look", "arguments": "{}"});
            let call = |id: &String| json!({"type": "function", "id": id, "function": function});
            messages.push(
                json!({"role": "assistant", "content": null, "tool_calls": kept.iter().map(call).collect::<Vec<_>>()}),
            );
            messages.extend(
                answered
                    .iter()
                    .map(|id| json!({"role": "tool", "tool_call_id": id, "content": format!("Found {name}")})),
            );
        }
    }
    requests
}

fn report(records: &[Value]) -> Report {
    let log = records.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    check_bytes(log.as_bytes(), &CheckOptions::default())
}

/// What was found, but for the places of records in their file.
fn told(report: &Report) -> Vec<String> {
    let mut told: Vec<String> = report
        .findings
        .iter()
        .map(|found| {
            format!("{} {} {} {:?} {}", found.level, found.rule, found.place.path, found.place.element, found.text)
        })
        .collect();
    told.sort();
    told
}

#[test]
fn parts_show_what_the_whole_shows() {
    let mut random = Random(7);
    let mut found = 0;
    for log in 0..40 {
        let mut conversations: Vec<Vec<Value>> =
            (0..2 + random.below(6)).map(|number| conversation(&format!("{log}.{number}"), &mut random)).collect();
        let parts = 1 + random.below(conversations.len());
        let mut split = vec![Vec::new(); parts];
        let mut whole = Vec::new();
        // Interleaved as they would be when many agents run at once.
        let part_of: Vec<usize> = conversations.iter().map(|_| random.below(parts)).collect();
        while conversations.iter().any(|one| !one.is_empty()) {
            let number = random.below(conversations.len());
            if !conversations[number].is_empty() {
                let request = conversations[number].remove(0);
                split[part_of[number]].push(request.clone());
                whole.push(request);
            }
        }
        let mut of_parts: Vec<String> = split.iter().flat_map(|part| told(&report(part))).collect();
        of_parts.sort();
        assert_eq!(told(&report(&whole)), of_parts, "{}", json!(whole));
        found += of_parts.len();
    }
    assert!(found > 20, "{found} findings");
}

/// An export that has its newest records first, as lines and as one value, shows what one in their order shows.
#[test]
fn exports_may_have_the_newest_first() -> io::Result<()> {
    let forms = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/forms");
    let mut compared = 0;
    for form in ["langfuse-observations", "langsmith-runs", "helicone"] {
        for entry in fs::read_dir(forms.join(form))? {
            let path = entry?.path();
            if path.extension().is_none_or(|extension| extension != "jsonl") {
                continue;
            }
            let text = fs::read_to_string(&path)?;
            let records: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
            let backwards: Vec<Value> = records.iter().rev().cloned().collect();
            let page = json!({"data": backwards}).to_string();
            for log in [report(&backwards), check_bytes(page.as_bytes(), &CheckOptions::default())] {
                assert_eq!(told(&report(&records)), told(&log), "{}", path.display());
            }
            compared += 1;
        }
    }
    assert!(compared > 15, "{compared} logs");
    Ok(())
}

#[test]
fn records_in_an_envelope_have_lines() {
    let right = json!({"role": "user", "content": "Hi"});
    let wrong = json!({"role": "tool", "tool_call_id": "a", "content": "Hi"});
    let requests = [&right, &wrong].map(|message| json!({"model": "gpt-4.1", "messages": [message]}));
    let pretty = serde_json::to_string_pretty(&json!({"note": 1, "requests": requests})).unwrap_or_default();
    let line = 1 + pretty.lines().position(|line| line.contains("tool")).unwrap_or_default();
    let report = check_bytes(pretty.as_bytes(), &CheckOptions::default());
    let found: Vec<_> = report.findings.iter().map(|found| (found.rule, found.place.line)).collect();
    let begin =
        pretty.lines().take(line).enumerate().filter(|(_, line)| line.trim() == "{").last().map(|(at, _)| at + 1);
    assert_eq!(found, [("OAI-CHAT-ORPHAN", begin)], "{pretty}");
}

#[test]
fn what_stands_over_several_lines_is_found_in_that_of_its_message() {
    let messages = json!([{"role": "user", "content": "Hi"}, {"role": "tool", "tool_call_id": "a", "content": "Hi"}]);
    let request = json!({"model": "gpt-4.1", "messages": messages});
    let answer = json!({"choices": [{"message": {"role": "assistant", "content": "Yes"}}]});
    for (record, before) in [
        (request.clone(), "\n"),
        (messages.clone(), ""),
        (json!({"request": {"body": request}, "response": answer}), "{}\n\n"),
    ] {
        let log = before.to_owned() + &serde_json::to_string_pretty(&record).unwrap_or_default();
        let found = check_bytes(log.as_bytes(), &CheckOptions::default()).findings;
        let lines: Vec<&str> = log.lines().collect();
        let at = found.first().and_then(|found| found.place.line).unwrap_or_default();
        assert_eq!((found.len(), lines[at - 1].trim()), (1, "{"), "{log}");
        assert!(lines[at].contains("tool") || lines[at + 1].contains("tool"), "{at}: {log}");
    }
    // With two lists it is not known whose message it is.
    let two = json!({"request": request, "input": messages});
    let log = serde_json::to_string_pretty(&two).unwrap_or_default();
    let found = check_bytes(log.as_bytes(), &CheckOptions::default()).findings;
    assert!(found.iter().all(|found| found.place.line == Some(1)), "{found:?}");
}

/// What is found in files one behind the other.
fn in_files(files: &[&[Value]]) -> Vec<(usize, &'static str, String)> {
    let mut log = LogFiles::new(&CheckOptions::default());
    let mut found = Vec::new();
    for (number, records) in files.iter().enumerate() {
        let text = records.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        let mut report = Report::default();
        let summary = log.check(&format!("{number}.jsonl"), text.as_bytes(), &mut report);
        assert_eq!(summary.map(|summary| summary.judged).ok(), Some(vec![("request", records.len())]));
        found.extend(report.findings.into_iter().map(|one| (number, one.rule, one.to_string())));
    }
    found
}

/// The first requests of a run, each with its answer, which makes a call.
fn run(name: &str, requests: usize) -> Vec<Value> {
    let call = |number: usize| json!({"id": format!("{name}{number}"), "type": "function", "function": {"name": "look", "arguments": format!("{{\"at\": {number}}}")}});
    let said = |number: usize| json!({"role": "assistant", "content": null, "tool_calls": [call(number)]});
    let mut messages = vec![json!({"role": "user", "content": "What is new?"})];
    let mut log = Vec::new();
    for number in 0..requests {
        let answer = json!({"choices": [{"message": said(number), "finish_reason": "tool_calls"}]});
        log.push(json!({"request": {"model": "gpt-4.1", "messages": messages}, "response": answer}));
        messages.push(said(number));
        messages.push(
            json!({"role": "tool", "tool_call_id": format!("{name}{number}"), "content": format!("Found {name}")}),
        );
    }
    log
}

#[test]
fn a_conversation_goes_on_from_file_to_file() {
    let right = run("a", 6);
    assert_eq!(in_files(&[&right[..2], &right[2..3], &right[3..]]), []);
    assert_eq!(in_files(&[&right[3..], &right[..3]]), [], "the newest file first");

    let mut changed = right.clone();
    changed[4]["request"]["messages"][2]["content"] = json!("Lost");
    let found = in_files(&[&changed[..3], &changed[3..4], &changed[4..5]]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].0 == 2 && found[0].2.contains("goes on from request 1 of 1.jsonl"), "{found:?}");

    let mut lost = right.clone();
    lost[4]["request"]["messages"][7] = json!({"role": "assistant", "content": "Nothing."});
    lost[4]["request"]["messages"][8] = json!({"role": "user", "content": "Look again!"});
    let found = in_files(&[&lost[..3], &lost[3..4], &lost[4..5]]);
    assert_eq!(found.iter().map(|one| (one.0, one.1)).collect::<Vec<_>>(), [(2, "LOG-CALL-LOST")], "{found:?}");
    assert!(found[0].2.contains("the answer to request 1 of 1.jsonl calls `look`"), "{found:?}");
}

#[test]
fn runs_that_begin_alike_are_no_parts_of_one_log() {
    let (one, mut other) = (run("a", 4), run("b", 4));
    assert_eq!(in_files(&[&one, &other, &one[3..], &other[3..]]), []);
    // What another run has called, this one has lost all the same.
    other[2]["request"]["messages"][3] = json!({"role": "assistant", "content": "Nothing."});
    other[2]["request"]["messages"][4] = json!({"role": "user", "content": "Look again!"});
    let (alone, behind) = (in_files(&[&other[1..3]]), in_files(&[&one, &other[1..3]]));
    assert_eq!(alone.iter().map(|one| one.1).collect::<Vec<_>>(), ["LOG-CALL-LOST"]);
    assert_eq!(behind.iter().map(|one| one.1).collect::<Vec<_>>(), ["LOG-CALL-LOST"]);
    // A fault is told in each file that has it.
    let orphan = json!({"model": "gpt-4.1", "messages": [{"role": "tool", "tool_call_id": "x", "content": "4"}]});
    let found = in_files(&[std::slice::from_ref(&orphan), std::slice::from_ref(&orphan)]);
    assert_eq!(found.iter().map(|one| one.0).collect::<Vec<_>>(), [0, 1]);
}
