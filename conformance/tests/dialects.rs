//! `verify --dialect`: clients that live with servers that differ from the API's maker, and clients that do not.

use std::process::{Command, Output};
use std::{fs, io};

/// An agent for streams of the chat API on Python's own HTTP client. Its argument names the dialect with which it does not live.
const AGENT: &str = r#"
import http.client, json, sys, urllib.parse

WRONG = sys.argv[1]

def ask(endpoint, messages, tools):
    url = urllib.parse.urlparse(endpoint["baseUrl"])
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=60)
    declared = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in tools]
    body = {"model": endpoint["model"], "messages": messages, "stream": True, **({"tools": declared} if declared else {})}
    connection.request("POST", url.path + "/chat/completions", json.dumps(body), {"authorization": "Bearer " + endpoint["apiKey"]})
    answer = connection.getresponse()
    text = answer.read().decode()
    if answer.status != 200:
        raise RuntimeError(json.loads(text)["error"]["message"])
    content, calls, reason = "", {}, None
    for line in text.replace(chr(13), '').split(chr(10)):
        if not line.startswith("data: ") or line == "data: [DONE]":
            continue
        for choice in json.loads(line[6:])["choices"]:
            content += choice["delta"].get("content") or ""
            reason = choice["finish_reason"] or reason
            for piece in choice["delta"].get("tool_calls") or []:
                function, last = piece["function"], len(calls) - ("id" not in piece)
                place = piece["index"] if WRONG == "no-index" else piece.get("index", last)
                call = calls.setdefault(place, {"id": "", "name": "", "arguments": ""})
                call["id"] = call["id"] or piece.get("id") or ""
                name, arguments = function.get("name") or "", function.get("arguments") or ""
                call["name"] = call["name"] + name if WRONG == "repeated-names" else call["name"] or name
                if WRONG != "cumulative-arguments" and call["arguments"] and arguments.startswith(call["arguments"]):
                    call["arguments"] = ""
                call["arguments"] += arguments
    if WRONG == "stop-beside-calls" and reason != "tool_calls" or WRONG == "empty-ids" and not all(call["id"] for call in calls.values()):
        calls = {}
    for place, call in calls.items():
        call["id"] = call["id"] or f"own-{len(messages)}-{place}"
    return content, list(calls.values())

def wire(message):
    role = {"system": "system", "human": "user", "ai": "assistant", "tool": "tool"}[message["type"]]
    calls = [made(call["id"], call["name"], json.dumps(call["args"])) for call in message.get("tool_calls") or []]
    return {"role": role, "content": message["content"], **({"tool_calls": calls} if calls else {}),
            **({"tool_call_id": message["tool_call_id"]} if "tool_call_id" in message else {})}

def made(id, name, arguments):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}

def result(results, call, played):
    args = json.loads(call["arguments"] or "{}")
    known = results.get("args", {})
    found = call["id"] if call["id"] in results["byId"] else next((id for id in known if known[id] == args and id not in played), None)
    played.add(found)
    value = results["byId"].get(found, "")
    return value if isinstance(value, str) else json.dumps(value)

def run(given, endpoint):
    messages, tools = [wire(message) for message in given["messages"]], given.get("tools") or {}
    played = set()
    while True:
        content, calls = ask(endpoint, messages, tools)
        said = [made(call["id"], call["name"], call["arguments"]) for call in calls]
        messages.append({"role": "assistant", "content": content, **({"tool_calls": said} if said else {})})
        if not calls:
            return {}
        for call in calls:
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result(tools[call["name"]], call, played)})

for line in sys.stdin:
    request = json.loads(line)
    if request["op"] == "hello":
        reply = {"ok": {"protocol": 1, "implementation": {"name": "thin", "version": "1", "language": "Python"},
                        "ops": ["tools"], "profiles": ["universal"], "apis": ["openai-chat"]}}
    else:
        try:
            reply = {"ok": run(request["input"], request["endpoint"])}
        except (KeyError, RuntimeError, ValueError) as error:
            reply = {"ok": {"failure": repr(error)}}
    print(json.dumps({"id": request["id"], **reply}), flush=True)
"#;

fn verify(wrong: &str, provider: &str, arguments: &[&str]) -> io::Result<(Option<i32>, String)> {
    let folder = tempfile::tempdir()?;
    let agent = folder.path().join("agent.py");
    fs::write(&agent, AGENT)?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_threadspec"));
    command.args(["verify", "--provider", provider, "--timeout", "600"]).args(arguments);
    command.args(["--", "python3"]).arg(&agent).arg(wrong).current_dir(folder.path()).env_remove("CI");
    let Output { status, stdout, stderr } = command.output()?;
    Ok((status.code(), String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned()))
}

const DIALECTS: [&str; 5] = ["cumulative-arguments", "repeated-names", "no-index", "stop-beside-calls", "empty-ids"];
/// Calls one after the other, and two at once.
const FEW: [&str; 6] = [
    "--filter",
    "wire/ids/uuids",
    "--filter",
    "wire/pieces/one-character-each",
    "--filter",
    "wire/pieces/interleaved-calls",
];

#[test]
fn who_lives_with_a_dialect_is_not_warned() -> io::Result<()> {
    for dialect in DIALECTS {
        let arguments = [&["--strict", "--dialect", dialect][..], &FEW].concat();
        let (code, text) = verify("nothing", "openai-chat:stream", &arguments)?;
        assert!(
            code == Some(0) && text.contains(&format!("over openai-chat:stream with {dialect}\n")),
            "{dialect}: {text}"
        );
        assert!(!text.contains("warning"), "{dialect}: {text}");
    }
    Ok(())
}

#[test]
fn who_does_not_is_warned_and_accused_of_nothing() -> io::Result<()> {
    for dialect in DIALECTS {
        let arguments = [&["--dialect", dialect][..], &FEW].concat();
        let (code, text) = verify(dialect, "openai-chat:stream", &arguments)?;
        assert!(code == Some(0) && text.contains("warning"), "{dialect}: {code:?}: {text}");
        let strict = [&["--strict"][..], &arguments].concat();
        let (code, text) = verify(dialect, "openai-chat:stream", &strict)?;
        assert!(code == Some(1) && text.contains(&format!("--dialect {dialect}")), "{dialect}: {code:?}: {text}");
        // Without the dialect nothing is wrong with it.
        let (code, text) = verify(dialect, "openai-chat:stream", &[&["--strict"][..], &FEW].concat())?;
        assert_eq!(code, Some(0), "{dialect}: {text}");
    }
    Ok(())
}

#[test]
fn what_contradicts_a_dialect_is_not_judged() -> io::Result<()> {
    let (code, text) = verify(
        "nothing",
        "openai-chat:stream",
        &["--dialect", "no-index", "--all", "--filter", "wire/pieces/*interleaved*"],
    )?;
    assert!(text.contains("the dialect contradicts the case"), "{code:?}: {text}");
    for (provider, dialect) in [("openai-chat", "no-index"), ("anthropic", "empty-ids"), ("openai-chat", "no-such")] {
        let (code, text) = verify("nothing", provider, &["--dialect", dialect])?;
        assert!(code == Some(2) && text.contains(dialect), "{code:?}: {text}");
    }
    Ok(())
}
