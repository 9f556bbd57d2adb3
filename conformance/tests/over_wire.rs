//! `verify --provider`: agents that ask their model over HTTP, rightly and wrongly.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};
use std::{fs, io};

/// An agent for the chat API on Python's own HTTP client. Its argument says what it does wrong.
pub(crate) const AGENT: &str = r#"
import http.client, json, re, sys, threading, urllib.parse

WRONG = sys.argv[1]

def ask(endpoint, messages, tools, key=None):
    url = urllib.parse.urlparse(endpoint["baseUrl"])
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=60)
    declared = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in tools if re.fullmatch("[a-zA-Z0-9_-]{1,64}", name)]
    body = {"model": endpoint["model"], "messages": messages, "stream": endpoint["stream"], **({"tools": declared} if declared else {})}
    connection.request("POST", url.path + "/chat/completions", json.dumps(body), {"authorization": "Bearer " + (key or endpoint["apiKey"])})
    answer = connection.getresponse()
    if endpoint["stream"] and answer.status == 200:
        return streamed(answer)
    said = json.loads(answer.read())
    if answer.status != 200:
        raise RuntimeError(said["error"]["message"])
    return said["choices"][0]["message"]

def streamed(answer):
    text = answer.read().decode()
    said = {"content": "", "tool_calls": []}
    for line in text.replace("\r\n", "\n").split("\n"):
        event = json.loads(line[6:]) if line.startswith("data: {") else {}
        for delta in (choice["delta"] for choice in event.get("choices", [])):
            said["content"] += delta.get("content") or ""
            for part in delta.get("tool_calls") or []:
                if part.get("id"):
                    said["tool_calls"].append({"id": part["id"], "type": "function", "function": {"name": part["function"]["name"], "arguments": ""}})
                said["tool_calls"][part["index"]]["function"]["arguments"] += part["function"].get("arguments") or ""
    return said

def wire(message):
    role = {"system": "system", "human": "user", "ai": "assistant", "tool": "tool"}[message["type"]]
    calls = [{"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": json.dumps(call["args"])}} for call in message.get("tool_calls") or []]
    return {"role": role, "content": message["content"], **({"tool_calls": calls} if calls else {}),
            **({"tool_call_id": message["tool_call_id"]} if "tool_call_id" in message else {})}

def run(given, endpoint):
    messages, tools = [wire(message) for message in given["messages"]], given.get("tools") or {}
    while True:
        said = ask(endpoint, messages, tools)
        if WRONG == "dies":
            sys.exit(3)
        messages.append({"role": "assistant", "content": said["content"] or "", **({"tool_calls": said["tool_calls"]} if said.get("tool_calls") else {})})
        if not said.get("tool_calls"):
            break
        for call in said["tool_calls"]:
            results = tools.get(call["function"]["name"], [])
            result = results.get("byId", {}).get(call["id"], "") if isinstance(results, dict) else (results or [""])[0]
            if WRONG != "forgets":
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": result if isinstance(result, str) else json.dumps(result)})
    if WRONG == "strays":
        try:
            ask(endpoint, messages, tools, "sk-of-somebody")
        except RuntimeError:
            pass
    return {}

last = None
for line in sys.stdin:
    request = json.loads(line)
    if request["op"] == "hello":
        assert request["provider"]["api"] == "openai-chat", request
        apis = ["anthropic"] if WRONG == "elsewhere" else ["openai-chat"]
        reply = {"ok": {"protocol": 1, "implementation": {"name": "thin", "version": "1", "language": "Python"},
                        "ops": ["tools"], "profiles": ["universal"], "apis": apis}}
    else:
        assert "model" not in request["input"], request
        if last and WRONG == "late":
            # The reply to the run before was given: its key is used once more.
            try:
                ask(last, [{"role": "user", "content": "Are you there?"}], {})
            except RuntimeError:
                pass
        last = request["endpoint"]
        try:
            reply = {"ok": run(request["input"], request["endpoint"])}
        except RuntimeError as error:
            reply = {"ok": {"failure": str(error)}}
    print(json.dumps({"id": request["id"], **reply}), flush=True)
"#;

fn verify(wrong: &str, arguments: &[&str]) -> io::Result<(tempfile::TempDir, Output)> {
    let folder = tempfile::tempdir()?;
    let agent = folder.path().join("agent.py");
    fs::write(&agent, AGENT)?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_threadspec"));
    command.args(["verify", "--provider", "openai-chat", "--timeout", "600"]).args(arguments);
    command.args(["--", "python3"]).arg(&agent).arg(wrong).current_dir(folder.path()).env_remove("CI");
    let output = command.output()?;
    Ok((folder, output))
}

/// The exit code, and all that was said.
fn said(output: &Output) -> (Option<i32>, String) {
    let text = [&*output.stdout, &*output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

const FEW: [&str; 2] = ["--filter", "agent/turns/*"];

#[test]
fn an_agent_is_judged_by_what_it_sends() -> io::Result<()> {
    let (folder, output) = verify(
        "nothing",
        &[&FEW[..], &["--report", "json=run.json", "--report", "junit=junit.xml", "--transcript", "run.jsonl"]]
            .concat(),
    )?;
    let (code, text) = said(&output);
    assert!(code == Some(0) && text.contains("thin 1 (Python), profile universal over openai-chat\n"), "{text}");
    let run: Value = serde_json::from_str(&fs::read_to_string(folder.path().join("run.json"))?)?;
    assert_eq!(run["options"]["provider"], "openai-chat");
    assert!(fs::read_to_string(folder.path().join("junit.xml"))?.contains("universal over openai-chat"));

    let transcript = fs::read_to_string(folder.path().join("run.jsonl"))?;
    assert!(transcript.contains("\"requests\":") && !transcript.contains("sk-threadspec-"), "{transcript}");
    let again = Command::new(env!("CARGO_BIN_EXE_threadspec"))
        .args(["judge", "run.jsonl"])
        .current_dir(folder.path())
        .output()?;
    let (code, text) = said(&again);
    assert!(code == Some(0) && text.contains("profile universal over openai-chat\n"), "{text}");
    Ok(())
}

#[test]
fn streams_are_fuzzed_however_they_are_divided() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let agent = folder.path().join("agent.py");
    fs::write(&agent, AGENT)?;
    let fuzz = |cases: &str, testee: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_threadspec"));
        command.args(["fuzz", "--provider", "openai-chat:stream", "--op", "tools", "--seed", "1", "--timeout", "600"]);
        command.args(["--cases", cases, "--"]).args(testee).current_dir(folder.path());
        command.output().map(|output| said(&output))
    };
    let (code, text) = fuzz("5", &[env!("CARGO_BIN_EXE_threadspec"), "serve"])?;
    assert!(code == Some(0) && text.contains("no findings"), "{text}");
    let (code, text) = fuzz("5..6", &["python3", "agent.py", "forgets"])?;
    assert!(code == Some(1) && text.contains("FAIL tools/AGENT-ANSWERED"), "{text}");
    assert!(text.contains("--provider openai-chat:stream --timeout 600 -- python3 agent.py forgets"), "{text}");
    Ok(())
}

#[test]
fn what_an_agent_forgets_is_refused_in_the_words_of_the_api() -> io::Result<()> {
    let (_folder, output) = verify("forgets", &["--filter", "agent/turns/*", "--model", "gpt-x"])?;
    let (code, text) = said(&output);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("AGENT-ANSWERED"), "{text}");
    assert!(text.contains("--provider openai-chat --model gpt-x --timeout 600 -- python3 "), "{text}");
    Ok(())
}

#[test]
fn a_request_after_the_reply_counts_against_its_run() -> io::Result<()> {
    let (_folder, output) = verify("late", &FEW)?;
    let (code, text) = said(&output);
    assert!(code == Some(1) && text.contains("WIRE-KEY") && text.contains("after its reply"), "{text}");
    Ok(())
}

#[test]
fn a_key_that_nobody_gave_out_counts_against_the_run_that_is_under_way() -> io::Result<()> {
    let (_folder, output) = verify("strays", &FEW)?;
    let (code, text) = said(&output);
    assert!(code == Some(1) && text.contains("WIRE-KEY") && !text.contains("sk-of-somebody"), "{text}");
    Ok(())
}

#[test]
fn an_agent_that_dies_ends_its_runs() -> io::Result<()> {
    let (_folder, output) = verify("dies", &["--filter", "agent/turns/stops-after-an-answer"])?;
    let (code, text) = said(&output);
    assert!(code == Some(1) && text.contains("CRASH") || text.contains("crash"), "{text}");
    Ok(())
}

#[test]
fn sessions_are_played_over_the_wire_and_over_a_kill() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    for (api, filter, cases) in [
        // Compaction with a summary, hand-overs, approvals: what tells runs and requests apart.
        ("openai-chat", "session/combinations/compaction-before-a-hand-over", 1),
        ("openai-responses", "session/approvals/the-middle-of-three", 1),
        ("anthropic:stream", "session/kill/the-middle-of-three", 1),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_threadspec"));
        command.args([
            "verify",
            "--provider",
            api,
            "--timeout",
            "600",
            "--filter",
            filter,
            "--report",
            "json=run.json",
        ]);
        command.args(["--", env!("CARGO_BIN_EXE_threadspec"), "serve"]).current_dir(folder.path()).env_remove("CI");
        let (code, text) = said(&command.output()?);
        assert!(code == Some(0) && text.contains(&format!("pass {cases}")), "{api}: {text}");
        let run: Value = serde_json::from_str(&fs::read_to_string(folder.path().join("run.json"))?)?;
        assert_eq!(run["options"]["provider"], api);
    }
    Ok(())
}

#[test]
fn an_agent_of_other_apis_has_nothing_to_be_asked() -> io::Result<()> {
    let (_folder, output) = verify("elsewhere", &FEW)?;
    let (code, text) = said(&output);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("its hello names the APIs anthropic, and not openai-chat: nothing can be asked"), "{text}");
    Ok(())
}

#[test]
fn what_cannot_be_asked_for_is_refused_in_a_sentence() -> io::Result<()> {
    let threadspec = |arguments: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_threadspec"))
            .args(arguments)
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
            .output()
    };
    for (arguments, sentence) in [
        (&["verify", "--provider", "openai-chat"][..], "--provider needs a program to test"),
        (&["verify", "--provider", "palm", "--", "x"], "no API is called `palm`"),
        (&["verify", "--provider", "anthropic", "--profile", "literal", "--", "x"], "leave out `--profile literal`"),
        (&["verify", "--model", "m", "--", "x"], "--provider"),
        (&["verify", "--filter", "wire/*"], "--provider API runs them against an agent over HTTP"),
        (&["verify", "--provider", "anthropic", "--", "no-such-program"], "no-such-program"),
    ] {
        let (code, text) = said(&threadspec(arguments)?);
        assert!(matches!(code, Some(2 | 3)) && text.contains(sentence), "{arguments:?}: {code:?}: {text}");
    }
    Ok(())
}
