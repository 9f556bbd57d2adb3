//! Writes answers of the three APIs, plain and as streams in many shapes, for clients to be tried on: one JSON object a line, with the
//! name of the shape, what the answer says, and the bytes of its body.
//!
//!     cargo run -p threadspec-apis --example answers >answers.jsonl

use serde_json::{Value, json};
use threadspec::oracle::Api;
use threadspec_apis::{
    ApiRequest, EventPart, Finish, IdSource, ModelAnswer, Pieces, SaidCall, StreamShape, Thinking, Usage, json_text,
    sse,
};

/// The answers, each with what it is about.
fn answers() -> Vec<(&'static str, ModelAnswer)> {
    let call = |id: &str, args: &Value| SaidCall::new(id, "look", args);
    let calls = vec![call("call_a", &json!({"n": 1})), call("call_b", &json!({"n": [2, "é😀\"\\"]}))];
    let thought = |text: &str| Thinking { text: text.to_owned(), ..Thinking::default() };
    let redacted = Thinking { is_redacted: true, ..Thinking::default() };
    let of = |text: &str| ModelAnswer { text: text.to_owned(), ..ModelAnswer::default() };
    let mut answers = vec![
        ("text", of("Hello, Zoë 😀.\nA second line, \"quoted\".")),
        ("empty", of("")),
        ("calls", ModelAnswer { calls: calls.clone(), ..of("I look.") }),
        ("calls-alone", ModelAnswer { calls: calls.clone(), ..of("") }),
        ("no-arguments", ModelAnswer { calls: vec![call("call_a", &json!({}))], ..of("") }),
        ("refusal", ModelAnswer { refusal: Some("I cannot do that.".to_owned()), ..of("") }),
        ("thinking", ModelAnswer { thinking: vec![thought("Hm, so."), redacted], calls, ..of("I look.") }),
    ];
    for (_, answer) in &mut answers {
        answer.finish = answer.usual_finish();
    }
    answers.push(("length", ModelAnswer { finish: Finish::Length, ..of("Cut o") }));
    answers.push(("half", of("half \u{10d83d}")));
    answers
}

fn shapes() -> Vec<(&'static str, StreamShape, bool)> {
    let usual = StreamShape::default;
    vec![
        ("usual", usual(), false),
        ("tiny", StreamShape { pieces: Pieces::Tiny, ..usual() }, false),
        ("interleave", StreamShape { interleave: true, ..usual() }, false),
        ("text-last", StreamShape { text_last: true, ..usual() }, false),
        ("ping", StreamShape { ping_all: true, ..usual() }, false),
        ("empty", StreamShape { empty: true, ..usual() }, false),
        ("utf8", StreamShape { ascii: false, ..usual() }, false),
        ("crlf", usual(), true),
    ]
}

fn main() {
    for api in Api::ALL {
        let body = json!({"model": "m", "stream_options": {"include_usage": true}, "include": ["reasoning.encrypted_content"]});
        let request = ApiRequest::read(api, &body);
        for (name, answer) in answers() {
            let answer = ModelAnswer { model: "m".to_owned(), created: 1_790_000_000, ..answer }
                .with_ids(api, &mut IdSource::new(7))
                .with_usage(Usage { input: 18, ..Usage::default() });
            let calls: Vec<Value> = answer
                .calls
                .iter()
                .map(|call| json!({"id": call.id, "name": call.name, "args": call.args()}))
                .collect();
            let thinking: Vec<&str> = answer.thinking.iter().map(|thought| &*thought.text).collect();
            let line = |shape: &str, body: &str| {
                let line = json!({"api": api.to_string(), "answer": name, "shape": shape, "text": answer.text, "refusal": answer.refusal,
                    "thinking": thinking, "calls": calls, "finish": answer.finish.name(api), "body": body});
                println!("{}", json_text(&line, true));
            };
            line("plain", &json_text(&answer.plain(&request), false));
            for (shape, form, crlf) in shapes() {
                let events = answer.events(&request, &form);
                let bytes: Vec<u8> = events
                    .iter()
                    .flat_map(|event| match event.part {
                        EventPart::Comment => sse::comment(&event.data, crlf),
                        _ => sse::event(event.name, &event.data, crlf),
                    })
                    .collect();
                line(shape, &String::from_utf8_lossy(&bytes));
            }
        }
    }
}
