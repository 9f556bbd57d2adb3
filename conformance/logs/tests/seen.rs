//! What is judged of a request that goes on from earlier ones is what is judged of it as a whole, whatever comes in which order.

use crate::random::Random;
use serde_json::{Value, json};
use threadspec::oracle::Api;
use threadspec_logs::{CheckOptions, Report, check_bytes};

impl Random {
    fn text(&mut self) -> String {
        let words = ["a \\ \"b\" ", "], {\"messages\": [", "é\n", "def f(): ", "[object Object] "];
        (0..self.below(60)).map(|_| words[self.below(words.len())]).collect::<String>() + "."
    }
}

/// A conversation that grows by a round with each request.
struct Talk {
    api: Api,
    number: usize,
    rounds: usize,
    elements: Vec<Value>,
    /// The ids of the calls that come next.
    next: Vec<String>,
    /// Their arguments.
    input: Value,
}

impl Talk {
    fn new(api: Api, number: usize, random: &mut Random) -> Self {
        let elements =
            vec![json!({"role": "user", "content": format!("{number}: {} {}", "x".repeat(1200), random.text())})];
        let input = json!({"q": random.text()});
        Self { api, number, rounds: 0, elements, next: Self::calls(number, 1, random), input }
    }

    fn calls(number: usize, round: usize, random: &mut Random) -> Vec<String> {
        (0..=random.below(3)).map(|call| format!("c{number}_{round}_{call}")).collect()
    }

    /// The answer to the last request.
    fn answer(&self) -> Value {
        match self.api {
            Api::OpenAiChat => {
                let function = json!({"name": "t", "arguments": self.input.to_string()});
                let calls = self.next.iter().map(|id| json!({"id": id, "type": "function", "function": function}));
                let message = json!({"role": "assistant", "tool_calls": calls.collect::<Vec<_>>()});
                json!({"choices": [{"message": message}], "usage": {"prompt_tokens": 9, "completion_tokens": 1}})
            }
            Api::Anthropic | Api::Gemini => {
                let calls =
                    self.next.iter().map(|id| json!({"type": "tool_use", "id": id, "name": "t", "input": self.input}));
                json!({"type": "message", "role": "assistant", "content": calls.collect::<Vec<_>>()})
            }
            Api::OpenAiResponses => {
                let calls = self
                    .next
                    .iter()
                    .map(|id| json!({"type": "function_call", "call_id": id, "name": "t", "arguments": self.input.to_string()}));
                json!({"object": "response", "output": calls.collect::<Vec<_>>()})
            }
        }
    }

    fn grow(&mut self, random: &mut Random) {
        self.rounds += 1;
        let next = Self::calls(self.number, self.rounds + 1, random);
        let calls = std::mem::replace(&mut self.next, next);
        let input = std::mem::replace(&mut self.input, json!({"q": random.text()}));
        match self.api {
            Api::OpenAiChat => {
                let made = calls.iter().map(|id| {
                    json!({"id": id, "type": "function", "function": {"name": "t", "arguments": input.to_string()}})
                });
                self.elements
                    .push(json!({"role": "assistant", "content": null, "tool_calls": made.collect::<Vec<_>>()}));
                let results =
                    calls.iter().map(|id| json!({"role": "tool", "tool_call_id": id, "content": random.text()}));
                self.elements.extend(results.collect::<Vec<_>>());
            }
            Api::Anthropic | Api::Gemini => {
                let made = calls.iter().map(|id| json!({"type": "tool_use", "id": id, "name": "t", "input": input}));
                self.elements.push(json!({"role": "assistant", "content": made.collect::<Vec<_>>()}));
                let results =
                    calls.iter().map(|id| json!({"type": "tool_result", "tool_use_id": id, "content": random.text()}));
                self.elements.push(json!({"role": "user", "content": results.collect::<Vec<_>>()}));
            }
            Api::OpenAiResponses => {
                for id in &calls {
                    let item = format!("fc_{id}");
                    let call = json!({"type": "function_call", "id": item, "call_id": id, "name": "t", "arguments": input.to_string()});
                    self.elements.push(call);
                }
                for id in &calls {
                    self.elements.push(json!({"type": "function_call_output", "call_id": id, "output": random.text()}));
                }
            }
        }
        if random.below(3) == 0 {
            let kind = if self.api == Api::OpenAiResponses { "output_text" } else { "text" };
            let said = json!([{"type": kind, "text": random.text()}]);
            self.elements.push(json!({"role": "assistant", "content": said}));
            self.elements.push(json!({"role": "user", "content": random.text()}));
        }
    }

    /// A fault somewhere in what is there, new or old.
    fn spoil(&mut self, random: &mut Random) {
        let at = random.below(self.elements.len());
        match random.below(8) {
            0 => drop(self.elements.remove(at)),
            1 => self.elements.insert(at, self.elements[at].clone()),
            2 => self.elements[at]["role"] = json!("nobody"),
            3 => self.elements[at]["content"] = json!([{"type": "text", "text": ""}]),
            4 => self.elements.push(json!({"role": "tool", "tool_call_id": "unknown", "content": "r"})),
            5 => self.elements.truncate(at.max(1)),
            // A history that was made shorter in its middle.
            6 => drop(self.elements.drain(1.min(at)..at)),
            _ => {
                let end = self.elements.len() - 1;
                self.elements.swap(at, end);
            }
        }
    }

    /// A line of a log; what stands around the list is not always the same.
    fn request(&self, random: &mut Random, id: usize, is_faulty: bool) -> Value {
        let tools = match self.api {
            Api::OpenAiChat => json!([{"type": "function", "function": {"name": "t", "parameters": {}}}]),
            Api::Anthropic | Api::Gemini => json!([{"name": "t", "input_schema": {"type": "object"}}]),
            Api::OpenAiResponses => json!([{"type": "function", "name": "t", "parameters": {}}]),
        };
        let list = if self.api == Api::OpenAiResponses { "input" } else { "messages" };
        let mut body = json!({"model": "m", "max_tokens": 100, list: self.elements, "tools": tools});
        match random.below(16) {
            0 => body["model"] = json!("n"),
            1 if is_faulty => body["tools"] = json!([]),
            2 => body["temperature"] = json!(0.5),
            3 => return json!({"time": id, "request": body}),
            4 => return json!({"request": body, "time": id}),
            5 | 6 => return json!({"request": body, "response": self.answer()}),
            7 => body.as_object_mut().expect("an object").sort_keys(),
            _ => {}
        }
        body
    }
}

fn report(log: &str) -> Report {
    check_bytes(log.as_bytes(), &CheckOptions::default())
}

/// The same log so that no request is recognized by its bytes: each list is written in another way.
fn unlike(lines: &[String]) -> String {
    let space = |(number, line): (usize, &String)| {
        let list = if line.contains("\"input\":[") { "\"input\":[" } else { "\"messages\":[" };
        let (before, behind) = line.split_once(list).expect("each has a list");
        // The white space is part of what is hashed, behind the first brace.
        format!("{before}{list}{{{}{}\n", " ".repeat(number % 977 + 1), behind.strip_prefix('{').expect("of objects"))
    };
    lines.iter().enumerate().map(space).collect()
}

/// What is found in requests is found, too, if each is read as a whole.
fn compare(lines: &[String], seed: u64) -> usize {
    let (short, whole) = (report(&(lines.join("\n") + "\n")), report(&unlike(lines)));
    let pairs = short.findings.iter().zip(&whole.findings);
    let first = pairs.clone().position(|(one, other)| one != other).unwrap_or(pairs.len());
    assert_eq!(short.findings.get(first), whole.findings.get(first), "seed {seed}, finding {first}");
    assert_eq!(short.summary, whole.summary, "seed {seed}");
    short.findings.len()
}

#[test]
fn of_many_conversations_nothing_is_hidden() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut talks: Vec<Talk> = (0..600).map(|number| Talk::new(Api::ALL[number % 3], number, &mut random)).collect();
    let mut lines = Vec::new();
    for id in 0..3 {
        for talk in &mut talks {
            if random.below(200) == 0 {
                talk.spoil(&mut random);
            }
            if !talk.elements.is_empty() {
                lines.push(talk.request(&mut random, id, true).to_string());
            }
            talk.grow(&mut random);
        }
    }
    assert!(compare(&lines, 0) > 10);
}

#[test]
fn what_was_seen_hides_nothing() {
    let (mut faulty, mut right) = (0, 0);
    for seed in 1..30_u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let apis = [Api::ALL[random.below(3)], Api::ALL[random.below(3)]];
        let mut talks: Vec<Talk> =
            (0..=random.below(3)).map(|number| Talk::new(apis[number % 2], number, &mut random)).collect();
        let mut lines = Vec::new();
        let spoils = random.below(2) == 0;
        for id in 0..24 {
            let at = random.below(talks.len());
            let talk = &mut talks[at];
            if random.below(8) > 0 {
                talk.grow(&mut random);
            }
            if spoils && random.below(8) == 0 {
                talk.spoil(&mut random);
            }
            if talk.elements.first().is_some_and(Value::is_object) {
                lines.push(talk.request(&mut random, id, spoils).to_string());
            }
        }
        if compare(&lines, seed) == 0 { right += 1 } else { faulty += 1 }
    }
    assert!(faulty > 10 && right > 0, "{faulty} logs with findings, {right} without");
}
