//! The server with clients that are sound, and with clients that are not.

use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::{fs, io};
use threadspec_mcp::{McpEvent, McpHttp, McpRecord, McpScript, ScriptedServer, serve_lines};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, duplex, split};
use tokio::runtime::Builder;

const SCRIPT: &str = r#"{"tools": {
    "look": {"description": "Looks.", "calls": [
        {"args": {"path": "a"}, "text": "first"},
        {"args": {"path": "a"}, "text": "second"},
        {"args": {"path": "b"}, "content": [{"type": "text", "text": "one"}, {"type": "image", "data": "AAAA", "mimeType": "image/png"}],
         "structuredContent": {"n": 1.5}},
        {"args": {"path": "c"}, "text": "no such file", "isError": true}]},
    "wait": {"calls": [{"args": {"n": 1}, "text": "1", "after": "two"}, {"args": {"n": 2}, "text": "2", "name": "two"}, {"args": {"n": 3}, "text": "3", "hangs": true}]}}}"#;

/// A client that writes lines and reads answers.
struct Client {
    lines: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
    output: WriteHalf<DuplexStream>,
}

impl Client {
    async fn send(&mut self, line: &str) {
        self.output.write_all(format!("{line}\n").as_bytes()).await.expect("the server reads");
    }

    async fn answer(&mut self) -> Value {
        let line = self.lines.next_line().await.expect("the server writes").expect("an answer");
        serde_json::from_str(&line).expect("JSON")
    }

    async fn ask(&mut self, id: u64, method: &str, params: Value) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()).await;
        let answer = self.answer().await;
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    async fn begin(&mut self) {
        let client =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let answer = self.ask(1, "initialize", client).await;
        assert_eq!(answer["result"]["serverInfo"]["name"], "threadspec");
        self.send(r#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#).await;
    }

    async fn call(&mut self, id: u64, name: &str, arguments: Value) -> Value {
        self.ask(id, "tools/call", json!({"name": name, "arguments": arguments})).await
    }
}

/// Plays with a server, and gives what it recorded.
fn played<F: Future<Output = ()>>(
    release: Option<std::path::PathBuf>,
    play: impl FnOnce(Client) -> F,
) -> Arc<McpRecord> {
    let record = Arc::new(McpRecord::default());
    let script = McpScript::read(SCRIPT).expect("a script");
    let server = ScriptedServer::new(script, Arc::clone(&record), release);
    Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(async {
        let (near, far) = duplex(1 << 16);
        let (input, output) = split(far);
        let ending = tokio::spawn(serve_lines(server, input, output));
        let (lines, output) = split(near);
        play(Client { lines: BufReader::new(lines).lines(), output }).await;
        ending.await.expect("it does not panic").expect("it ends in order");
    });
    record
}

#[test]
fn calls_are_answered_by_their_arguments_and_in_order_where_these_are_equal() {
    let record = played(None, |mut client| async move {
        client.begin().await;
        let tools = client.ask(2, "tools/list", json!({})).await;
        let look = &tools["result"]["tools"][0];
        assert_eq!((&look["name"], &look["description"]), (&json!("look"), &json!("Looks.")));
        assert_eq!(look["inputSchema"]["properties"]["path"]["type"], "string");
        for (id, path, text) in [(3, "a", "first"), (4, "b", "one"), (5, "a", "second"), (6, "a", "second")] {
            let answer = client.call(id, "look", json!({"path": path})).await;
            assert_eq!(answer["result"]["content"][0]["text"], text, "{answer}");
            if path == "b" {
                assert_eq!(answer["result"]["content"][1]["mimeType"], "image/png");
                assert_eq!(answer["result"]["structuredContent"], json!({"n": 1.5}));
            }
        }
        let failed = client.call(7, "look", json!({"path": "c"})).await;
        assert!(
            failed["result"]["isError"] == true && failed["result"]["content"][0]["text"] == "no such file",
            "{failed}"
        );
    });
    assert_eq!(record.problems(), Vec::<String>::new());
    let begun: Vec<Option<usize>> = record
        .events()
        .iter()
        .filter_map(|event| match event {
            McpEvent::Call { call, .. } => Some(*call),
            _ => None,
        })
        .collect();
    assert_eq!(begun, [Some(0), Some(2), Some(1), Some(1), Some(3)]);
}

#[test]
fn calls_end_in_the_order_of_the_script_and_hang_until_they_are_released() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let release = folder.path().join("release");
    let file = release.clone();
    played(Some(release), |mut client| async move {
        client.begin().await;
        for (id, n) in [(2, 3), (3, 1), (4, 2)] {
            client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "wait", "arguments": {"n": n}}}).to_string()).await;
        }
        assert_eq!(client.answer().await["id"], 4);
        assert_eq!(client.answer().await["id"], 3);
        fs::write(&file, "").expect("the file is written");
        assert_eq!(client.answer().await["id"], 2);
    });
    Ok(())
}

#[test]
fn what_a_client_does_wrong_gets_one_sentence_each() {
    let record = played(None, |mut client| async move {
        client.begin().await;
        let unknown = client.call(2, "jump", json!({})).await;
        assert!(unknown["error"]["message"].as_str().is_some_and(|text| text.contains("jump")), "{unknown}");
        let strange = client.call(3, "look", json!({"path": "z"})).await;
        assert_eq!(strange["result"]["isError"], true, "{strange}");
        client.send("{broken").await;
        assert_eq!(client.answer().await["error"]["code"], -32700);
        client
            .send(r#"[{"jsonrpc": "2.0", "id": 8, "method": "ping"}, {"jsonrpc": "2.0", "id": 9, "method": "ping"}]"#)
            .await;
        assert_eq!(client.answer().await["error"]["code"], -32600);
        // It goes on all the same.
        assert_eq!(client.call(10, "look", json!({"path": "a"})).await["result"]["content"][0]["text"], "first");
    });
    let problems = record.problems();
    assert_eq!(problems.len(), 4, "{problems:#?}");
    for (problem, words) in problems.iter().zip([
        "`jump`, which nobody declared",
        "no call with these arguments",
        "not JSON",
        "several messages at once",
    ]) {
        assert!(problem.contains(words), "{problem}");
    }
}

/// Sends one HTTP request, and reads the answer to its end.
fn post(url: &str, session: Option<&str>, body: &str) -> io::Result<String> {
    let address = url.trim_start_matches("http://").trim_end_matches("/mcp");
    let session = session.map(|id| format!("mcp-session-id: {id}\r\n")).unwrap_or_default();
    let mut stream = TcpStream::connect(address)?;
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n{session}content-length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

#[test]
fn the_same_is_served_over_http() -> io::Result<()> {
    let record = Arc::new(McpRecord::default());
    let script = McpScript::read(SCRIPT).expect("a script");
    let http = McpHttp::start(([127, 0, 0, 1], 0).into(), ScriptedServer::new(script, Arc::clone(&record), None))?;
    let url = http.url();
    let client =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let begun =
        post(&url, None, &json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}).to_string())?;
    let session = begun.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).map(str::to_owned);
    let session = session.unwrap_or_else(|| panic!("{begun}"));
    post(&url, Some(&session), r#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#)?;
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "look", "arguments": {"path": "a"}}});
    let answer = post(&url, Some(&session), &call.to_string())?;
    assert!(answer.contains(r#""text":"first""#), "{answer}");
    assert!(post(&url, Some(&session), "{broken")?.starts_with("HTTP/1.1 400"));
    assert_eq!(record.problems().len(), 1);
    Ok(())
}
