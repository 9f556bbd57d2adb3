//! Takes inputs, and the seeds of the fuzz targets, from the golden corpus.

use super::golden::{FIRST, THREADS, logs};
use super::{LIMITS, samples};
use proptest::strategy::ValueTree;
use threadspec::surrogates::repair_surrogates;
use threadspec::{Profile, SerializeOptions, serialize_thread};
use threadspec_judge::corpus::{Case, Expect, embedded};
use threadspec_judge::protocol::{Implementation, Op, Reply};
use threadspec_judge::reference::Reference;

/// The cases of an operation that accept one output, but for those that take too long for every day.
fn answered(op: Op) -> impl Iterator<Item = &'static Case> {
    let one_output =
        |case: &&Case| !case.is_template && matches!(case.expect(), Expect::Output(patterns) if patterns.len() == 1);
    // Cases of profile `universal` have folders of their own; the reference does not answer them.
    let in_folder =
        move |case: &&Case| case.id.strip_prefix(&*op.to_string()).is_some_and(|rest| rest.starts_with('/'));
    embedded().0.cases.iter().filter(|case| !case.thorough).filter(in_folder).filter(one_output)
}

/// The inputs of the golden cases of an operation that accept one output; lone surrogates as U+FFFD.
pub fn golden_inputs(op: Op) -> impl Iterator<Item = String> {
    answered(op).map(|case| repair_surrogates(case.input()).into_owned())
}

/// The name of a seed that is made from a case.
fn seed_name(case: &Case) -> String {
    case.id.replace('/', "-")
}

/// Returns whether a text is small enough for a fuzzer to run it thousands of times.
fn is_small(text: &str) -> bool {
    text.len() <= LIMITS.golden_bytes
}

/// An input that a fuzz target begins with.
#[derive(Clone, Debug)]
pub struct Seed {
    /// The golden case that it is made from, or a number.
    pub name: String,
    /// The input of the target.
    pub bytes: Vec<u8>,
}

/// Connections of clients, right and wrong ones.
fn connections() -> Vec<Seed> {
    const PATHS: [(&str, &str); 3] = [
        ("/v1/chat/completions", r#"{"model":"gpt-4.1","messages":[{"role":"user","content":"Go"}]}"#),
        ("/v1/responses", r#"{"model":"gpt-4.1","input":"Go","stream":true}"#),
        (
            "/v1/messages",
            r#"{"model":"claude-sonnet-5","max_tokens":9,"messages":[{"role":"user","content":"Go"}],"stream":true}"#,
        ),
    ];
    let seed = |name: String, text: String| Seed { name, bytes: text.into_bytes() };
    let key = "sk-threadspec-0123456789abcdefghijklmn";
    let mut seeds = Vec::new();
    for (path, body) in PATHS {
        let name = path.replace('/', "-");
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: {key}\r\nanthropic-version: 2026-10-21\r\ncontent-type: application/json\r\n"
        );
        let counted = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
        let (one, two) = body.split_at(20);
        let chunked = format!(
            "{head}transfer-encoding: chunked\r\n\r\n14\r\n{one}\r\n{:x};a=b\r\n{two}\r\n0\r\nx: y\r\n\r\n",
            two.len()
        );
        for (kind, text) in [
            ("whole", counted.clone()),
            ("chunked", chunked.clone()),
            ("twice", counted.repeat(2)),
            ("waits", counted.replace("content-length", "expect: 100-continue\r\ncontent-length")),
            ("closes", counted.replace("host:", "connection: close\r\nhost:")),
            ("old", counted.replace("HTTP/1.1", "HTTP/1.0")),
            ("cut", counted[..counted.len() - 5].to_owned()),
            ("two-lengths", counted.replace("host:", "content-length: 1\r\nhost:")),
            ("both-lengths", chunked.replace("host:", "content-length: 1\r\nhost:")),
            ("foreign", counted.replace("127.0.0.1", "example.com")),
            ("packed", counted.replace("host:", "content-encoding: gzip\r\nhost:")),
            ("no-chunk", chunked.replace("\r\n14\r\n", "\r\nzz\r\n")),
        ] {
            seeds.push(seed(format!("{kind}{name}"), text));
        }
    }
    for (name, target) in
        [("models", "GET /v1/models"), ("root", "HEAD /"), ("no-path", "DELETE /v2//x?a=%00"), ("star", "OPTIONS *")]
    {
        seeds.push(seed(
            name.into(),
            format!("{target} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\n\r\n"),
        ));
    }
    seeds
}

/// The seeds of a fuzz target; empty for an unknown target.
///
/// A target that takes text begins with texts of the golden corpus, one that takes a `GoldenThread` with the
/// corpus's threads, each followed by nothing, and one that takes a [`ScriptPlan`](super::ScriptPlan), a
/// [`SessionScenario`](super::SessionScenario) or a [`StreamPlan`](super::StreamPlan) with random bytes, each of which is one.
pub fn seeds(target: &str) -> Vec<Seed> {
    let text = |(name, text): (String, String)| Seed { name, bytes: text.into_bytes() };
    match target {
        "serialize" | "messages" | "equivalence" | "plain" => {
            let numbered = (FIRST..).zip(THREADS.iter());
            numbered.map(|(which, (id, _))| Seed { name: id.clone(), bytes: which.to_le_bytes().into() }).collect()
        }
        "provider_http" => connections(),
        "check" | "loop" | "provider_sse" | "session" => (0..200)
            .zip(samples::<Vec<u8>>(0))
            .map(|(number, bytes)| Seed { name: format!("{number:03}"), bytes: bytes.current() })
            .collect(),
        "escape" => {
            let cases = answered(Op::Escape).filter(|case| is_small(case.input()));
            cases.map(|case| text((seed_name(case), repair_surrogates(case.input()).into_owned()))).collect()
        }
        "input" => logs().map(|log| text((log.case, log.json))).collect(),
        "read" => Profile::ALL
            .into_iter()
            .flat_map(|profile| {
                let options = SerializeOptions { profile, ..SerializeOptions::default() };
                let documents = THREADS.iter().map(move |(id, events)| (id, serialize_thread(events, &options)));
                documents.map(move |(id, document)| text((format!("{id}-{profile}"), document)))
            })
            .collect(),
        "case" => {
            let file = |case: &Case| {
                let (op, source) = (case.op, repair_surrogates(case.source()));
                text((seed_name(case), format!(r#"{{"op":"{op}","about":"a seed","cases":[{source}]}}"#)))
            };
            let files = Op::all().flat_map(answered).map(file);
            files.filter(|seed| seed.bytes.len() <= LIMITS.golden_bytes).collect()
        }
        "reply" => {
            let reply = |case: &Case| Reference.answer(&case.request(1, case.profiles[0]));
            let small = Op::all().flat_map(answered).filter(|case| is_small(case.input()));
            let replies = small.filter_map(|case| match reply(case) {
                reply @ Reply::Ok(_) => Some(text((seed_name(case), reply.line(1)))),
                _ => None,
            });
            replies.filter(|seed| seed.bytes.len() <= LIMITS.golden_bytes).collect()
        }
        _ => Vec::new(),
    }
}
