//! `threadspec check` on requests to model APIs, written by hand from what the providers document.

use serde_json::{Value, json};
use std::process::Command;
use std::{fs, io, slice};

/// Exit code and everything that was printed about a file.
fn check(content: &str, options: &[&str]) -> io::Result<(i32, String)> {
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("log"), content)?;
    let program = env!("CARGO_BIN_EXE_threadspec");
    let output = Command::new(program).arg("check").args(options).arg("log").current_dir(folder.path()).output()?;
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Ok((output.status.code().unwrap_or(-1), said))
}

/// Checks requests as JSON Lines. The result must be the same for a JSON array, and for requests as a proxy wraps them.
fn check_log(requests: &[Value]) -> io::Result<(i32, String)> {
    let lines = |requests: Vec<String>| requests.join("\n") + "\n";
    let said = check(&lines(requests.iter().map(Value::to_string).collect()), &[])?;
    // In an array all are in one line.
    let without_lines = |said: &str| {
        (1..10).fold(said.to_owned(), |said, line| {
            said.replace(&format!(" (line {line})"), "").replace(&format!("line {line}, "), "")
        })
    };
    let array = check(&Value::from(requests.to_vec()).to_string(), &[])?;
    assert_eq!((said.0, without_lines(&said.1)), (array.0, without_lines(&array.1)), "{}\n{}", said.1, array.1);
    let wrapped = requests.iter().map(|request| json!({"custom_id": "1", "url": "/v1", "body": request}).to_string());
    assert_eq!(check(&lines(wrapped.collect()), &[])?, said);
    let quoted = requests.iter().map(|request| json!({"request": {"body": request.to_string()}}).to_string());
    assert_eq!(check(&lines(quoted.collect()), &[])?, said);
    Ok(said)
}

fn chat(messages: &Value) -> Value {
    json!({"model": "gpt-5", "messages": messages})
}

fn chat_call(id: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "t", "arguments": "{\"a\": 1}"}})
}

fn anthropic(messages: &Value) -> Value {
    json!({"model": "claude-sonnet-4-5", "max_tokens": 9, "system": "S", "messages": messages})
}

fn tool_use(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "t", "input": {"a": 1}})
}

fn tool_result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "r"})
}

fn responses(input: &Value) -> Value {
    json!({"model": "gpt-5", "instructions": "S", "input": input})
}

#[test]
fn what_providers_accept_is_no_fault() -> io::Result<()> {
    let user = json!({"role": "user", "content": "Hi"});
    let output = |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "r"});
    let function_call = |id: &str| json!({"type": "function_call", "call_id": id, "name": "t", "arguments": "{}"});
    for request in [
        chat(&json!([
            {"role": "developer", "content": [{"type": "text", "text": "S"}]},
            {"role": "user", "content": [{"type": "text", "text": "Hi"}, {"type": "image_url", "image_url": {"url": "u"}}]},
            {"role": "assistant", "content": null, "refusal": null, "tool_calls": [chat_call("a"), chat_call("b")]},
            {"role": "tool", "tool_call_id": "b", "content": [{"type": "text", "text": "B"}]},
            {"role": "tool", "tool_call_id": "a", "content": ""},
            {"role": "user", "content": "Go on."},
            {"role": "assistant", "content": "Yes.", "tool_calls": [chat_call("a")]},
            {"role": "tool", "tool_call_id": "a", "content": "again"},
            {"role": "assistant", "content": null, "refusal": "No."},
            {"role": "user", "content": "Why?"},
        ])),
        json!({"model": "gpt-5", "tools": [{"type": "custom", "custom": {"name": "sh"}}], "messages": [
            user, {"role": "assistant", "tool_calls": [{"id": "a", "type": "custom", "custom": {"name": "sh", "input": "ls"}}]},
            {"role": "tool", "tool_call_id": "a", "content": "src"}]}),
        chat(&json!([user, {"role": "assistant", "content": null, "function_call": {"name": "t", "arguments": "{}"}},
            {"role": "function", "name": "t", "content": "r"}])),
        anthropic(&json!([
            {"role": "user", "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ""}}]},
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm.", "signature": "x"}, tool_use("a"), tool_use("b")]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": "B"}, {"type": "image", "source": {}}]},
                {"type": "tool_result", "tool_use_id": "a", "is_error": true},
                {"type": "text", "text": "Go on.", "cache_control": {"type": "ephemeral"}}]},
            {"role": "assistant", "content": "Yes."},
            {"role": "user", "content": "And?"},
            {"role": "user", "content": "Well?"},
        ])),
        json!({"model": "claude-opus-5", "max_tokens": 9, "system": [{"type": "text", "text": "S"}, {"type": "text", "text": "T"}],
            "tools": [{"type": "mcp_toolset", "mcp_server_name": "m"}, {"name": "t", "input_schema": {"type": "object"}}],
            "messages": [user, {"role": "system", "content": "By the way:"}]}),
        json!({"model": "claude-opus-5", "max_tokens": 9, "system": "S", "messages": [
            user, {"role": "assistant", "content": [{"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}]}]}),
        json!({"model": "us.anthropic.claude-sonnet-4-5", "max_tokens": 9, "system": "S", "messages": [user, {"role": "assistant", "content": "{"}]}),
        responses(&json!("Hi")),
        responses(&json!([user,
            {"type": "reasoning", "id": "rs_1", "summary": []},
            function_call("a"), function_call("b"), output("b"), output("a"),
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Yes."}]},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "And?"}]}])),
        json!({"model": "gpt-5", "previous_response_id": "resp_1", "input": [output("a")]}),
        json!({"model": "gpt-5", "store": true, "input": [user, {"type": "item_reference", "id": "fc_1"}, output("a")]}),
        responses(&json!([user, {"type": "local_shell_call", "call_id": "a", "action": {}}, output("a")])),
    ] {
        let (code, said) = check_log(slice::from_ref(&request))?;
        assert_eq!(code, 0, "{request}\n{said}");
        assert!(said.ends_with("0 errors, 0 warnings\n"), "{request}\n{said}");
    }
    Ok(())
}

#[test]
fn what_some_servers_refuse_is_a_warning() -> io::Result<()> {
    let user = json!({"role": "user", "content": "Hi"});
    let with_arguments = |arguments: &str| {
        let call = json!({"id": "a", "type": "function", "function": {"name": "t", "arguments": arguments}});
        chat(
            &json!([user, {"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "a", "content": "r"}]),
        )
    };
    let round = |id: &str| {
        [json!({"role": "assistant", "content": [tool_use(id)]}), json!({"role": "user", "content": [tool_result(id)]})]
    };
    let again = [vec![user.clone()], round("a").to_vec(), round("a").to_vec()].concat();
    let call = json!({"type": "function_call", "call_id": "a", "name": "t", "arguments": "{}"});
    let output = json!({"type": "function_call_output", "call_id": "a", "output": "r"});
    for (request, rule) in [
        (
            with_arguments("{\"cut\":"),
            "message 2: \"{\\\"cut\\\":\" is not the JSON text of an object; only some servers or versions refuse such a request (OAI-CHAT-ARGS-JSON",
        ),
        (
            chat(&json!([user, {"role": "assistant", "tool_calls": [chat_call(&"i".repeat(51))]},
            {"role": "tool", "tool_call_id": "i".repeat(51), "content": "r"}])),
            "`id` has 51 characters; at most 40 are allowed; only some servers or versions refuse such a request (OAI-CHAT-ID-LEN",
        ),
        (
            chat(&json!([user, {"role": "assistant", "tool_calls": [chat_call("a")]},
            {"role": "tool", "tool_call_id": "a", "content": "[object Object]"}])),
            "message 3: the result is JavaScript's text",
        ),
        (
            anthropic(&json!(again)),
            "message 4: the id \"a\" is repeated; only some servers or versions refuse such a request (ANT-ID-UNIQUE",
        ),
        (
            anthropic(&json!([user, {"role": "assistant", "content": [tool_use("a"), tool_use("b")]},
            {"role": "user", "content": [tool_result("a")]}, {"role": "user", "content": [tool_result("b")]}])),
            "ANT-RESULT-TOGETHER",
        ),
        (
            responses(&json!([user, call, output, call, output])),
            "item 4: the `call_id` \"a\" is repeated; only some servers or versions refuse such a request (OAI-RESP-ONE-OUTPUT",
        ),
    ] {
        let (code, said) = check_log(slice::from_ref(&request))?;
        assert_eq!(code, 0, "{request}\n{said}");
        assert!(said.contains(rule), "{rule}\n{said}");
        let is_refused = said.contains("only some servers or versions refuse such a request");
        assert_eq!(is_refused, !said.contains("LOG-RESULT"), "{said}");
        assert!(said.ends_with("0 errors, 1 warning\n"), "{said}");
    }
    Ok(())
}

#[test]
fn what_providers_refuse_is_named_with_request_and_message() -> io::Result<()> {
    let user = json!({"role": "user", "content": "Hi"});
    let answer = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "r"});
    let calls = json!({"role": "assistant", "content": null, "tool_calls": [chat_call("c1"), chat_call("c2")]});
    let call = json!({"type": "function_call", "call_id": "a", "name": "t", "arguments": "{}"});
    let output = |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "r"});
    for (request, expected) in [
        (
            chat(&json!([user, calls, answer("c2"), answer("c1"), answer("c2")])),
            "request 2 (line 2), message 5: the call \"c2\" has a result already (OAI-CHAT-ONE-ANSWER at messages[4].tool_call_id)",
        ),
        (
            chat(&json!([user, calls, answer("c1"), user])),
            "message 4: no tool message answers the calls [\"c2\"] of message 2",
        ),
        (chat(&json!([user, answer("z")])), "message 2: the message before the results has no call \"z\""),
        (
            anthropic(&json!([user, {"role": "assistant", "content": [tool_use("a")]}, user])),
            "message 2: no `tool_result` answers the calls [\"a\"]",
        ),
        (
            anthropic(&json!([user, {"role": "assistant", "content": [tool_use("a"), tool_use("a")]},
                {"role": "user", "content": [tool_result("a")]}])),
            "message 2: the id \"a\" is repeated (ANT-ID-UNIQUE",
        ),
        (
            anthropic(&json!([user, {"role": "assistant", "content": [tool_use("a")]},
                {"role": "user", "content": [tool_result("a"), tool_result("a")]}])),
            "message 3: the call \"a\" has a result already",
        ),
        (responses(&json!([user, call])), "item 2: the call \"a\" has no output"),
        (responses(&json!([user, output("a")])), "item 2: no call \"a\" is before its output"),
        (responses(&json!([user, call, output("a"), output("a")])), "item 4: the call \"a\" has an output already"),
    ] {
        let (code, said) = check_log(&[chat(&json!([{"role": "user", "content": "else"}])), request.clone()])?;
        assert_eq!(code, 1, "{request}\n{said}");
        assert!(said.contains(expected), "{expected}\n{said}");
        assert!(said.contains(": 1 error, 0 warnings\n"), "{said}");
    }
    Ok(())
}

#[test]
fn a_fault_that_is_sent_again_is_told_once() -> io::Result<()> {
    let mut messages =
        vec![json!({"role": "user", "content": "Hi"}), json!({"role": "tool", "tool_call_id": "z", "content": "r"})];
    let mut requests = Vec::new();
    for number in 0..3 {
        requests.push(chat(&json!(messages)));
        messages.push(json!({"role": "assistant", "content": format!("{number}")}));
        messages.push(json!({"role": "user", "content": "Go on."}));
    }
    let (code, said) = check_log(&requests)?;
    assert_eq!(code, 1);
    assert!(said.ends_with("3 requests (openai-chat): 1 error, 0 warnings\n"), "{said}");
    Ok(())
}

#[test]
fn a_lost_prompt_cache_is_shown_to_the_byte() -> io::Result<()> {
    let conversation = |system: &str, rounds: usize| {
        let mut messages = vec![
            json!({"role": "system", "content": format!("It is {system}. Be brief.")}),
            json!({"role": "user", "content": "Hi"}),
        ];
        for round in 0..rounds {
            let id = format!("c{round}");
            messages.push(json!({"role": "assistant", "content": null, "tool_calls": [chat_call(&id)]}));
            messages.push(json!({"role": "tool", "tool_call_id": id, "content": "r"}));
        }
        chat(&json!(messages))
    };
    let other = anthropic(&json!([{"role": "user", "content": "Hi"}]));
    let kept = [conversation("12:00", 0), other.clone(), conversation("12:00", 1), other, conversation("12:00", 2)];
    let (code, said) = check_log(&kept)?;
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("passed: provider-rules, append-only (nothing sent was changed)\n"), "{said}");
    assert!(said.ends_with("0 errors, 0 warnings\n"), "{said}");

    let lost = [conversation("12:00", 0), conversation("12:01", 1), conversation("12:01", 2)];
    let (code, said) = check_log(&lost)?;
    assert_eq!(code, 0, "{said}");
    assert!(
        said.contains(
            "warning request 2 (line 2, after request 1), message 1: the request goes on from an earlier one, but changes its history here"
        ),
        "{said}"
    );
    assert!(
        said.contains(
            "the text was \"It is 12:00. Be brief.\" and is now \"It is 12:01. Be brief.\", after 10 equal bytes of it"
        ),
        "{said}"
    );
    assert!(said.ends_with("0 errors, 1 warning\n"), "{said}");
    let lines = lost.each_ref().map(Value::to_string).join("\n");
    assert_eq!(check(&lines, &["--strict"])?.0, 1);
    Ok(())
}

#[test]
fn a_format_can_be_named() -> io::Result<()> {
    let messages = r#"[{"role": "user", "content": ""}]"#;
    for (format, exit, said_of_it) in [
        ("openai-chat", 0, "1 request (openai-chat): 0 errors"),
        ("anthropic", 1, "message 1: `content` is empty (ANT-MSG-NONEMPTY at messages[0].content)"),
        ("openai-responses", 0, "1 request (openai-responses): 0 errors"),
    ] {
        for content in [messages.to_owned(), format!("[{messages}]"), messages.replace(['[', ']'], "") + "\n"] {
            let (code, said) = check(&content, &["--api", format])?;
            assert_eq!(code, exit, "{content}\n{said}");
            assert!(said.contains(said_of_it), "{content}\n{said}");
        }
    }
    assert_eq!(check(messages, &["--api", "openai"])?.0, 2);
    assert_eq!(check("{}", &["--api", "anthropic"])?.0, 2, "no request");
    Ok(())
}

#[test]
fn a_history_is_no_request() -> io::Result<()> {
    // A history may end with a call: it tells what was, not what is sent next.
    let messages = json!([{"role": "user", "content": "Hi"}, {"role": "assistant", "tool_calls": [chat_call("a")]}]);
    let (code, said) = check(&json!({ "messages": messages }).to_string(), &[])?;
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("log: messages") && said.contains("note ") && said.contains("(LOG-OPEN"), "{said}");
    let (code, said) = check(&chat(&messages).to_string(), &[])?;
    assert_eq!(code, 1, "{said}");
    Ok(())
}
