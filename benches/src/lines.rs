//! What is compared with what.

use crate::data::{self, TextStyle};
use crate::measure::{Contestant, ratios, timed};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::{env, fs};
use threadspec::{
    ContextMode, ContextOptions, Event, MessageBuilder, Profile, SerializeOptions, build_messages, escape_text_into,
    oracle, read_events, read_thread, serialize_thread,
};

/// One ratio.
pub struct BenchLine {
    /// What is done, and with what.
    pub work: String,
    pub peer: &'static str,
    /// How many times as long the peer takes (for a memory line: how many times as much it needs).
    pub ratio: f64,
    /// The ratio that is wanted.
    pub target: Option<f64>,
    /// Our own figure with its unit.
    pub own: String,
}

/// The events of one comparison: about 9 MB of JSON.
const EVENTS: usize = 10_000;
const KINDS: [(TextStyle, &str); 3] = [(TextStyle::Realistic, "realistic"), (TextStyle::Clean, "clean"), (TextStyle::Dense, "dense")];

/// All ratios; `rounds` is how often each comparison is made, fewer times where it is slow.
pub fn all(rounds: usize, scratch: &Path) -> Vec<BenchLine> {
    let mut lines = Vec::new();
    escape(rounds, &mut lines);
    serialize(rounds, scratch, &mut lines);
    incremental(rounds, &mut lines);
    read(rounds, &mut lines);
    oracles(rounds, &mut lines);
    whole_process(rounds, scratch, &mut lines);
    lines
}

fn megabytes_per_second(bytes: usize, seconds: f64) -> String {
    format!("{:.0} MB/s", bytes as f64 / seconds / 1e6)
}

fn escape(rounds: usize, lines: &mut Vec<BenchLine>) {
    for (texts, kind) in KINDS {
        let texts = data::texts(&data::thread(EVENTS, texts));
        let bytes: usize = texts.iter().map(String::len).sum();
        let into = |escape: fn(&mut String, &str)| {
            let (texts, mut out) = (&texts, String::with_capacity(3 * bytes));
            timed(move || {
                out.clear();
                texts.iter().for_each(|text| escape(&mut out, text));
                out.len()
            })
        };
        let peers: [(&'static str, Option<f64>, fn(&mut String, &str)); 5] = [
            ("memcpy", (kind == "clean").then_some(0.8), |out, text| out.push_str(text)),
            (
                "askama_escape",
                match kind {
                    "realistic" => Some(3.0),
                    "dense" => Some(1.3),
                    _ => None,
                },
                |out, text| askama_escape::escape_html(out, text).expect("a string takes everything"),
            ),
            ("v_htmlescape", None, |out, text| v_htmlescape::escape_string(text, out)),
            ("html-escape", None, |out, text| {
                html_escape::encode_safe_to_string(text, out);
            }),
            ("quick-xml", None, |out, text| out.push_str(&quick_xml::escape::escape(text))),
        ];
        let mut sides: Vec<Contestant<'_>> = vec![into(|out, text| escape_text_into(out, text, Profile::Literal))];
        sides.extend(peers.iter().map(|(_, _, escape)| into(*escape)));
        let (own, ratios) = ratios(rounds, &mut sides);
        for ((peer, target, _), ratio) in peers.into_iter().zip(ratios) {
            let own = megabytes_per_second(bytes, own);
            lines.push(BenchLine { work: format!("escape, {kind}"), peer, ratio, target, own });
        }
    }
}

fn serialize(rounds: usize, scratch: &Path, lines: &mut Vec<BenchLine>) {
    for ((texts, kind), target) in KINDS.into_iter().zip([25.0, 18.0, 50.0]) {
        let events = data::thread(EVENTS, texts);
        let file = scratch.join(format!("{kind}.json"));
        fs::write(&file, data::json(&events)).expect("the scratch folder is writable");
        let length = serialize_thread(&events, &SerializeOptions::default()).len();
        let Some(mut node) = NodeProcess::start(&file) else { continue };
        let ours = timed(|| serialize_thread(&events, &SerializeOptions::default()));
        let theirs: Contestant<'_> = Box::new(|| node.round(length, kind));
        let (own, ratios) = ratios(rounds, &mut [ours, theirs]);
        let own = megabytes_per_second(length, own);
        let work = format!("serialize, {kind}");
        lines.push(BenchLine { work, peer: "JavaScript", ratio: ratios[0], target: Some(target), own });
    }
}

/// The JavaScript serializer, waiting for rounds.
pub struct NodeProcess {
    process: Child,
    replies: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl NodeProcess {
    /// `None` where there is no Node.js.
    pub fn start(file: &Path) -> Option<Self> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("serialize.mjs");
        let mut process = Command::new("node")
            .arg(script)
            .arg("--rounds")
            .arg(file)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let replies = BufReader::new(process.stdout.take()?).lines();
        let mut node = Self { process, replies };
        // Not measured: the first rounds, in which the engine still compiles.
        for _ in 0..5 {
            node.round(0, "");
        }
        Some(node)
    }

    /// One serialization: the seconds that it took.
    pub fn round(&mut self, length: usize, kind: &str) -> f64 {
        #[derive(Deserialize)]
        struct NodeReply {
            seconds: f64,
            length: usize,
        }
        let stdin = self.process.stdin.as_mut().expect("it is piped");
        stdin.write_all(b"\n").expect("the JavaScript serializer is there");
        let reply = self.replies.next().expect("the JavaScript serializer answers").expect("in UTF-8");
        let reply: NodeReply = serde_json::from_str(&reply).expect("as it always does");
        // It writes the forbidden characters of realistic texts as they are, so that its documents have other lengths.
        assert!(length == 0 || kind == "realistic" || reply.length == length, "two serializers disagree");
        reply.seconds
    }
}

impl Drop for NodeProcess {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        // It ends by itself at the end of its input; its exit code does not matter.
        let _ = self.process.wait();
    }
}

fn incremental(rounds: usize, lines: &mut Vec<BenchLine>) {
    let iterations = 1000;
    let events = data::thread(3 * iterations, TextStyle::Realistic);
    for (mode, profile) in [
        (ContextMode::Xml, Profile::Literal),
        (ContextMode::Standard, Profile::Literal),
        (ContextMode::Standard, Profile::Hardened),
    ] {
        let options = ContextOptions { mode, profile, ..ContextOptions::default() };
        let kept = timed(|| grow(&events, &options));
        let anew =
            timed(|| (1..=iterations).map(|done| build_messages(&events[..3 * done], &options).len()).sum::<usize>());
        let (own, ratios) = ratios(rounds.div_ceil(5), &mut [kept, anew]);
        lines.push(BenchLine {
            work: format!("{iterations} iterations, {mode}, {profile}"),
            peer: "messages built again",
            ratio: ratios[0],
            target: None,
            own: format!("{:.1} µs each", own / iterations as f64 * 1e6),
        });
    }
}

/// The messages of every iteration of three events, from a builder that is kept.
pub fn grow(events: &[Event], options: &ContextOptions<'_>) -> usize {
    let mut builder = MessageBuilder::new(options);
    let mut messages = 0;
    for iteration in events.chunks(3) {
        iteration.iter().for_each(|event| builder.push(event));
        messages += builder.messages().len();
    }
    messages
}

/// An event as `serde_json` reads it, without any check.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[expect(dead_code, reason = "only read into")]
enum Tagged {
    Message { role: String, content: String, iteration: u64 },
    ToolCall { tool_name: String, tool_call_id: String, args: Map<String, Value>, iteration: u64 },
    ToolResult { tool_call_id: String, result: Value, iteration: u64 },
}

/// The same without a tag, for which `serde` needs a copy: the fastest way.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only read into")]
struct Flat {
    r#type: String,
    role: Option<String>,
    content: Option<String>,
    tool_name: Option<String>,
    tool_call_id: Option<String>,
    args: Option<Map<String, Value>>,
    result: Option<Value>,
    iteration: u64,
}

fn read(rounds: usize, lines: &mut Vec<BenchLine>) {
    let events = data::thread(EVENTS, TextStyle::Realistic);
    let json = data::json(&events);
    assert_eq!(read_events(&json).as_ref(), Ok(&events));
    let (own, other) = ratios(
        rounds,
        &mut [
            timed(|| read_events(&json)),
            timed(|| serde_json::from_str::<Vec<Flat>>(&json).expect("the log is valid")),
            timed(|| serde_json::from_str::<Vec<Tagged>>(&json).expect("the log is valid")),
        ],
    );
    for ((peer, target), ratio) in
        [("serde_json, typed", Some(0.8)), ("serde_json, tagged", None)].into_iter().zip(other)
    {
        let own = megabytes_per_second(json.len(), own);
        lines.push(BenchLine { work: "read a log".to_owned(), peer, ratio, target, own });
    }

    let document = serialize_thread(&events, &SerializeOptions::default());
    let (own, other) = ratios(
        rounds,
        &mut [
            timed(|| read_thread(&document).expect("the document is a thread")),
            timed(|| tokens(&document)),
            timed(|| roxmltree::Document::parse(&document).expect("the document is XML").descendants().count()),
        ],
    );
    for ((peer, target), ratio) in [("quick-xml, tokens only", 0.5), ("roxmltree", 1.5)].into_iter().zip(other) {
        let own = megabytes_per_second(document.len(), own);
        lines.push(BenchLine { work: "read a document".to_owned(), peer, ratio, target: Some(target), own });
    }
}

/// Counts the tokens of a document.
fn tokens(document: &str) -> usize {
    let mut reader = quick_xml::Reader::from_str(document);
    let mut tokens = 0;
    while !matches!(reader.read_event().expect("the document is XML"), quick_xml::events::Event::Eof) {
        tokens += 1;
    }
    tokens
}

fn oracles(rounds: usize, lines: &mut Vec<BenchLine>) {
    let events = data::thread(EVENTS, TextStyle::Realistic);
    let document = serialize_thread(&events, &SerializeOptions::default());
    let all = || oracle::document_verdicts(&events, &document, Profile::Literal);
    assert!(all().iter().all(|(_, verdict)| verdict.is_ok()));
    let (own, other) = ratios(
        rounds.div_ceil(2),
        &mut [
            timed(all),
            timed(|| roxmltree::Document::parse(&document).expect("the document is XML").descendants().count()),
        ],
    );
    let own = megabytes_per_second(document.len(), own);
    lines.push(BenchLine {
        work: "all oracles on a document".to_owned(),
        peer: "roxmltree",
        ratio: other[0],
        target: None,
        own,
    });
}

/// The release binary of this checkout.
fn threadspec() -> PathBuf {
    let target = env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../target"), PathBuf::from);
    target.join("release/threadspec")
}

fn whole_process(rounds: usize, scratch: &Path, lines: &mut Vec<BenchLine>) {
    #[derive(Deserialize)]
    struct PairedRatios {
        milliseconds: f64,
        time: f64,
        megabytes: f64,
        memory: f64,
    }
    let threadspec = threadspec();
    if !threadspec.exists() {
        eprintln!("no whole processes: {} is not built", threadspec.display());
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new("python3")
        .arg(folder.join("whole_process.py"))
        .arg(rounds.to_string())
        .arg(scratch.join("realistic.json"))
        .arg("--")
        .arg(threadspec)
        .args(["serialize", "--", "node"])
        .arg(folder.join("serialize.mjs"))
        .stderr(Stdio::inherit())
        .output();
    let Some(PairedRatios { milliseconds, time, megabytes, memory }) =
        output.ok().and_then(|output| serde_json::from_slice(&output.stdout).ok())
    else {
        eprintln!("no whole processes: python3 and node are needed");
        return;
    };
    let work = |what| format!("whole process, JSON file to XML: {what}");
    let own = format!("{milliseconds:.0} ms");
    lines.push(BenchLine { work: work("time"), peer: "Node.js", ratio: time, target: Some(10.0), own });
    let own = format!("{megabytes:.0} MB");
    lines.push(BenchLine { work: work("memory"), peer: "Node.js", ratio: memory, target: Some(6.0), own });
}
