//! The loop that serves the protocol.

use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead, Write};
use std::iter;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use threadspec_judge::protocol::{Endpoint, Hello, Implementation, JudgeProfile, Op, RejectKind, Reply, Request};
use threadspec_judge::{Error, json};

/// Why serving ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Served {
    /// The requests have ended.
    All,
    /// A script kills the process now: the last reply was `cut`.
    UntilKilled,
}

impl Served {
    /// Ends this process without cleaning up, if the script kills it now.
    pub fn or_die(self) {
        if self == Self::UntilKilled {
            #[cfg(unix)]
            let _ = nix::sys::signal::raise(nix::sys::signal::Signal::SIGKILL);
            std::process::abort();
        }
    }
}

/// Answers each request line with one reply line until the requests end, or until a reply says that the script kills the process.
///
/// A line without an id cannot be answered; it is reported on stderr.
///
/// # Errors
///
/// When reading or writing fails.
pub fn serve(
    implementation: &mut dyn Implementation,
    mut requests: impl BufRead,
    mut replies: impl Write,
) -> io::Result<Served> {
    let mut line = Vec::new();
    while requests.read_until(b'\n', &mut line)? > 0 {
        match answer(implementation, &line) {
            Some(reply) => {
                writeln!(replies, "{reply}").and_then(|()| replies.flush())?;
                if is_cut(&reply) {
                    return Ok(Served::UntilKilled);
                }
            }
            None => not_a_request(&line),
        }
        line.clear();
    }
    Ok(Served::All)
}

/// Returns whether a reply line says that the process ends now.
fn is_cut(line: &str) -> bool {
    // Long outputs are not read for this.
    line.contains(r#""cut":true"#) && matches!(Reply::read(line), Ok((_, Reply::Cut { .. })))
}

/// Answers request lines that come at the same time together, until the requests end. Those that come within a few milliseconds of the
/// last one count as such.
///
/// # Errors
///
/// When reading or writing fails.
pub fn serve_together(
    hello: &Hello,
    mut answer: impl FnMut(&[Request]) -> Vec<(i64, String)>,
    requests: impl BufRead + Send + 'static,
    mut replies: impl Write,
) -> io::Result<()> {
    const SAME_TIME: Duration = Duration::from_millis(5);
    let (sender, lines) = mpsc::channel();
    // Not a scoped thread: nobody may wait for more requests when an answer panics.
    thread::spawn(move || requests.split(b'\n').try_for_each(|line| sender.send(line)));
    while let Ok(first) = lines.recv() {
        let others = iter::from_fn(|| lines.recv_timeout(SAME_TIME).ok());
        let (mut together, mut written) = (Vec::new(), Vec::new());
        for line in iter::once(first).chain(others) {
            let line = line?;
            match incoming(&line) {
                None => not_a_request(&line),
                Some((id, Ok(Incoming::Hello))) => written.push(Reply::Ok(hello.to_json()).line(id)),
                Some((_, Ok(Incoming::Request(request)))) => together.push(request),
                Some((id, Err(refusal))) => written.push(refusal.line(id)),
            }
        }
        written.extend(answer(&together).into_iter().map(|(_, line)| line));
        written.iter().try_for_each(|reply| writeln!(replies, "{reply}"))?;
        replies.flush()?;
    }
    Ok(())
}

/// Reports on stderr a line that has no id, and so cannot be answered.
fn not_a_request(line: &[u8]) {
    let _ = writeln!(io::stderr(), "not a request: {}", String::from_utf8_lossy(line).trim_end());
}

fn answer(implementation: &mut dyn Implementation, line: &[u8]) -> Option<String> {
    let (id, incoming) = incoming(line)?;
    Some(match incoming {
        Ok(Incoming::Hello) => Reply::Ok(implementation.hello().to_json()).line(id),
        Ok(Incoming::Request(request)) => implementation.line(&request),
        Err(refusal) => refusal.line(id),
    })
}

/// The id of a request line with what it asks for, or the reply that refuses it.
fn incoming(line: &[u8]) -> Option<(i64, Result<Incoming, Reply>)> {
    let members: HashMap<String, &RawValue> = serde_json::from_slice(line).ok()?;
    let id: i64 = serde_json::from_str(members.get("id")?.get()).ok()?;
    Some((id, read(&members, id)))
}

enum Incoming {
    Hello,
    Request(Request),
}

/// Reads a line with an id: a request, or the reply that refuses it.
fn read(members: &HashMap<String, &RawValue>, id: i64) -> Result<Incoming, Reply> {
    let malformed = |message: &str| Reply::Reject { kind: RejectKind::InvalidInput, message: message.to_owned() };
    let text =
        |name: &str| -> Option<String> { json::read(members.get(name)?.get()).ok()?.as_str().map(str::to_owned) };
    let op = text("op").ok_or_else(|| malformed("the request has no `op`"))?;
    if op == "hello" {
        return Ok(Incoming::Hello);
    }
    let profile = match members.get("profile") {
        None => JudgeProfile::default(),
        Some(name) => text("profile")
            .and_then(|profile| profile.parse().ok())
            .ok_or_else(|| Reply::Unsupported(format!("profile {name}")))?,
    };
    let op = op.parse().map_err(|error: Error| Reply::Unsupported(error.to_string()))?;
    let input = members.get("input").ok_or_else(|| malformed("the request has no `input`"))?;
    let endpoint = match members.get("endpoint").map(|endpoint| json::read(endpoint.get())) {
        None | Some(Ok(Value::Null)) => None,
        Some(endpoint) => {
            let read = endpoint.map_err(|error| error.to_string());
            let read = read.and_then(|endpoint| Endpoint::from_json(&endpoint).map_err(|error| error.to_string()));
            Some(read.map_err(|why| malformed(&why))?)
        }
    };
    let (input, storage) = match op {
        Op::Session => stored(input.get()),
        _ => (input.get().to_owned(), None),
    };
    let from = members.get("from").and_then(|runs| serde_json::from_str(runs.get()).ok());
    Ok(Incoming::Request(Request { endpoint, storage, from, ..Request::new(id, op, profile, input) }))
}

/// The input of a session without its storage folder, and that folder.
fn stored(input: &str) -> (String, Option<String>) {
    let take = || {
        let mut members: BTreeMap<String, &RawValue> = serde_json::from_str(input).ok()?;
        let storage = serde_json::from_str(members.remove("storage")?.get()).ok()?;
        Some((serde_json::to_string(&members).ok()?, Some(storage)))
    };
    take().unwrap_or_else(|| (input.to_owned(), None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use threadspec_judge::reference::Reference;

    struct Echo;

    impl Implementation for Echo {
        fn hello(&self) -> Hello {
            Reference.hello()
        }

        fn answer(&mut self, request: &Request) -> Reply {
            assert_eq!(request.op, Op::Escape);
            Reply::Ok(json!(format!("{} {}", request.profile, request.input)))
        }
    }

    fn replies(requests: &[u8]) -> Vec<String> {
        let mut out = Vec::new();
        assert_eq!(serve(&mut Echo, requests, &mut out).expect("memory does not fail"), Served::All);
        String::from_utf8(out).expect("UTF-8").lines().map(str::to_owned).collect()
    }

    #[test]
    fn requests_are_answered_in_turn() {
        let replies = replies(
            b"{\"id\":0,\"op\":\"hello\",\"protocol\":1}\n\
              {\"id\":1,\"op\":\"escape\",\"profile\":\"hardened\",\"input\":{\"text\":\"\\ud83d\"}}\n\
              {\"id\":2,\"op\":\"escape\",\"more\":1,\"input\":1.0}",
        );
        assert!(replies[0].contains("\"protocol\":1"));
        assert_eq!(replies[1], r#"{"id":1,"ok":"hardened {\"text\":\"\\ud83d\"}"}"#);
        assert_eq!(replies[2], r#"{"id":2,"ok":"literal 1.0"}"#);
    }

    #[test]
    fn requests_of_the_same_time_are_answered_together() {
        const LINES: &[u8] = b"{\"id\":0,\"op\":\"hello\",\"protocol\":1}\nno request\n{\"id\":1}\n\
              {\"id\":2,\"op\":\"escape\",\"input\":1}\n{\"id\":3,\"op\":\"escape\",\"input\":2}";
        let answer = |requests: &[Request]| {
            requests.iter().rev().map(|request| (request.id, Echo.answer(request).line(request.id))).collect()
        };
        let mut out = Vec::new();
        serve_together(&Echo.hello(), answer, LINES, &mut out).expect("memory does not fail");
        let mut lines: Vec<&str> = str::from_utf8(&out).expect("UTF-8").lines().collect();
        // They come in any order, since a slow machine may take them for requests of different times.
        lines.sort_unstable();
        assert!(lines.len() == 4 && lines[0].contains("protocol") && lines[1].contains("invalid-input"), "{lines:?}");
        assert_eq!(lines[2..], [r#"{"id":2,"ok":"literal 1"}"#, r#"{"id":3,"ok":"literal 2"}"#]);
    }

    /// Says where it stores and whence it goes on; it is killed the first time.
    struct Killed;

    impl Implementation for Killed {
        fn hello(&self) -> Hello {
            Reference.hello()
        }

        fn answer(&mut self, request: &Request) -> Reply {
            let Request { input, storage, from, .. } = request;
            match from {
                None => Reply::Cut { runs: vec![json!([&**input, storage])] },
                Some(from) => Reply::Ok(json!({"runs": [from]})),
            }
        }
    }

    #[test]
    fn serving_ends_when_the_script_kills_the_process() {
        let asked = r#"{"id":7,"op":"session","profile":"universal","input":{"storage":"/a","runs":[1.0]}}"#;
        let mut out = Vec::new();
        let served = serve(&mut Killed, format!("{asked}\n{asked}\n").as_bytes(), &mut out);
        assert_eq!(served.expect("memory does not fail"), Served::UntilKilled);
        let cut = Reply::Cut { runs: vec![json!([r#"{"runs":[1.0]}"#, "/a"])] };
        assert_eq!(Reply::read(out), Ok((7, cut)));
        let mut out = Vec::new();
        let asked = asked.replace("}}", r#"},"from":2}"#);
        let served = serve(&mut Killed, asked.as_bytes(), &mut out);
        assert_eq!(served.expect("memory does not fail"), Served::All);
        assert_eq!(Reply::read(out), Ok((7, Reply::Ok(json!({"runs": [2]})))));
    }

    #[test]
    fn malformed_requests_with_an_id_are_answered() {
        for (request, says) in [
            (r#"{"id":1}"#, "invalid-input"),
            (r#"{"id":1,"op":7}"#, "invalid-input"),
            (r#"{"id":1,"op":"escape"}"#, "invalid-input"),
            (r#"{"id":1,"op":"other","input":{}}"#, "unsupported"),
            (r#"{"id":1,"op":"escape","profile":"other","input":{}}"#, "unsupported"),
        ] {
            let replies = replies(request.as_bytes());
            assert!(replies.len() == 1 && replies[0].contains(says), "{request}: {replies:?}");
        }
    }

    #[test]
    fn lines_without_an_id_are_skipped() {
        let replies = replies(b"\n\xff\nnot json\n[]\n{\"id\":\"1\"}\n{\"id\":5,\"op\":\"escape\",\"input\":{}}\n");
        assert_eq!(replies, [r#"{"id":5,"ok":"literal {}"}"#]);
    }
}
