//! Generates sessions: several runs on one thread, with whatever cuts them off, waits, or is decided between them.

mod writer;

use super::{AtMost, LIMITS, Rarely, Text};
use serde_json::{Value, json};
use std::fmt;
use threadspec_judge::protocol::{Feature, Features};
use writer::SessionWriter;

/// How many features a session may have or not: all but `message`, `steer`, and `rewind` and `branch`, which are not drawn.
const OPTIONAL: usize = 12;

/// A session for op `session` of profile `universal`.
///
/// Every choice makes a script that the lint of cases accepts, whichever features its agent has. What a run may do depends on what came
/// before: only a pending call is decided on in time, and only one that can begin is cut.
#[derive(Clone, arbitrary::Arbitrary)]
#[cfg_attr(feature = "fuzzer", derive(proptest_derive::Arbitrary))]
pub struct SessionScenario {
    /// The features that the session uses, so that each is also seen without the others.
    uses: [bool; OPTIONAL],
    /// A part of all texts, so that those of two sessions differ.
    key: u8,
    no_system: Rarely,
    /// It is long. Never for libFuzzer, which would keep long ones most: each takes a hundred times as long as a short one.
    #[arbitrary(default)]
    long: Rarely,
    /// How long, if it is long.
    times: u8,
    runs: AtMost<{ LIMITS.runs }, DrawnRun>,
    /// The end behind the runs, where something is open.
    end: u8,
    /// How many plain runs come first.
    #[arbitrary(default)]
    #[cfg_attr(feature = "fuzzer", proptest(value = "0"))]
    pub(super) more: usize,
    /// How often a word of the first message and of the first result is repeated.
    #[arbitrary(default)]
    #[cfg_attr(feature = "fuzzer", proptest(value = "0"))]
    pub(super) words: usize,
}

/// One run. The choices are numbers of which 0 is the plainest.
#[derive(Clone, Debug, arbitrary::Arbitrary)]
#[cfg_attr(feature = "fuzzer", derive(proptest_derive::Arbitrary))]
pub struct DrawnRun {
    begins: u8,
    /// The decisions on the pending calls, one after the other.
    decisions: [u8; 4],
    compacts: u8,
    rounds: AtMost<{ LIMITS.session_rounds }, DrawnRound>,
    cut: u8,
    cut_place: u8,
    limited: u8,
    fails: u8,
    opaque: u8,
    words: Words,
}

/// A text behind a plain one, mostly none.
#[derive(Clone, Debug, arbitrary::Arbitrary)]
#[cfg_attr(feature = "fuzzer", derive(proptest_derive::Arbitrary))]
pub struct Words {
    is_there: Rarely,
    text: Text,
}

impl Words {
    /// The plain text, which tells it apart from all others, and what is odd behind it.
    fn behind(&self, plain: &str) -> String {
        if self.is_there.is_now() { format!("{plain} {}", self.text.text()) } else { plain.to_owned() }
    }
}

impl SessionScenario {
    /// The input of op `session` for an agent that has these features, without `storage`.
    pub fn input(&self, features: Features) -> String {
        let optional = Feature::all().filter(|feature| *feature != Feature::Message);
        let steer = (Feature::Steer, self.end >= 128);
        let used = optional.zip(self.uses).chain([steer]);
        let used = used.filter(|(feature, uses)| *uses && features.contains(*feature));
        let mut writer = SessionWriter::new(used.map(|(feature, _)| feature).collect(), self.key);
        writer.repeats = self.words;
        let long = if self.long.is_now() { usize::from(self.times) } else { 0 };
        // A thread gets long by its runs or by the rounds of one.
        let (runs, rounds) = match long {
            0 => (self.more, 0),
            odd if odd % 2 == 1 => (LONG_RUNS + odd % LONG_RUNS, 0),
            even => (self.more, LONG_ROUNDS + even / 2 % LONG_ROUNDS),
        };
        (0..runs).for_each(|_| writer.plain_run());
        if rounds > 0 {
            writer.long_run(rounds);
        }
        self.runs.iter().for_each(|run| writer.run(run));
        writer.finish(self.end);
        writer.input(!self.no_system.is_now())
    }
}

/// At least so many plain runs make a long thread: more than forty messages.
const LONG_RUNS: usize = 21;
/// At least so many rounds of three calls do.
const LONG_ROUNDS: usize = 10;

impl fmt::Debug for SessionScenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.input(Features::all()))
    }
}

// Generates the responses of a session: their calls, the results of these, and opaque parts.

/// A response with calls.
#[derive(Clone, Debug, arbitrary::Arbitrary)]
#[cfg_attr(feature = "fuzzer", derive(proptest_derive::Arbitrary))]
pub struct DrawnRound {
    calls: AtMost<{ LIMITS.session_calls }, DrawnCall>,
    /// Its text, if it has one.
    says: u8,
    words: Words,
    opaque: u8,
}

/// A call, and what comes of it. The choices are numbers of which 0 is the plainest.
#[derive(Clone, Debug, arbitrary::Arbitrary)]
#[cfg_attr(feature = "fuzzer", derive(proptest_derive::Arbitrary))]
pub struct DrawnCall {
    kind: u8,
    tool: u8,
    args: u8,
    result: u8,
    is_signed: u8,
    words: Words,
}

/// The kind of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallStart {
    /// It begins at once.
    Begins,
    /// It waits for a decision.
    Waits,
    /// It never begins: its arguments are no object, or it hands over.
    Neither,
}

/// A call as it is written.
struct CallText {
    id: String,
    start: CallStart,
    /// The tool and its result; a hand-over has none.
    result: Option<(&'static str, Value)>,
    json: Value,
    /// Its signature.
    opaque: Option<Value>,
}

/// A response as it is written.
struct RoundText {
    calls: Vec<CallText>,
    /// The agents to which it hands over.
    agents: Vec<usize>,
    turn: Value,
}

/// Distinguishes texts and ids of a session.
struct Numbers {
    key: u8,
    calls: usize,
    texts: usize,
    opaque: usize,
    images: u32,
    /// The hand-overs so far.
    handed: usize,
}

/// Tools whose calls begin at once, and those whose calls wait.
const FREE: [&str; 3] = ["look", "find", "read"];
const GUARDED: [&str; 2] = ["pay", "send"];
/// The agents beside `main`. Each hand-over goes to the next one, so that none goes to the agent that has the thread, not even where a
/// run begins with the first agent again, or one of two hand-overs is taken.
const OTHERS: [&str; 3] = ["b", "c", "d"];

/// Arguments that are no object. What is in a fence or doubly encoded may be repaired.
const RAW: [&str; 12] = [
    "{\"n\": 1",
    "not json",
    "[1, 2]",
    "\"text\"",
    "null",
    "{\"n\": 1}}",
    "{n: 1}",
    "```json\n{\"n\": 1}\n```",
    "\"{\\\"n\\\": 1}\"",
    "{\"n\": 1}{\"n\": 2}",
    "17",
    "{\"path\": \"/tmp/a",
];

impl Numbers {
    fn text(&mut self, what: &str) -> String {
        self.texts += 1;
        format!("{what} {}{}", self.texts, self.mark())
    }

    /// The mark of the texts of this session.
    fn mark(&self) -> String {
        if self.key == 0 { String::new() } else { format!(" of {}", self.key) }
    }

    /// The parts before the text of a response.
    fn parts(&mut self, which: u8) -> Vec<Value> {
        let kinds: &[u8] = match which % 8 {
            0..=3 => &[],
            4 => &[0],
            5 => &[0, 1],
            6 => &[2],
            _ => &[2, 0, 1],
        };
        kinds.iter().map(|kind| self.part(*kind)).collect()
    }

    fn part(&mut self, kind: u8) -> Value {
        self.opaque += 1;
        let (number, mark) = (self.opaque, self.mark());
        match kind {
            0 => {
                // Every second one has lines, and white space at its end.
                let end = if number % 2 == 0 { ":\nthe rest of it.\n" } else { "." };
                json!({"kind": "thinking", "text": format!("Thought {number}{mark}{end}"), "signature": format!("sig{number}{mark}==")})
            }
            1 => json!({"kind": "redacted", "data": format!("hidden{number}{mark}==")}),
            _ => {
                json!({"kind": "reasoning", "id": format!("rs_{number}"), "encrypted": format!("secret{number}{mark}==")})
            }
        }
    }

    /// Base64 that no other image of the session has.
    fn image(&mut self) -> String {
        self.images += 1;
        let number = self.images << 8 | u32::from(self.key);
        let digit = |place: u32| char::from(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef"[(number >> (5 * place)) as usize % 32]);
        format!("iVBORw0KGgoA{}{}{}{}", digit(3), digit(2), digit(1), digit(0))
    }
}

impl DrawnRound {
    /// The response; `None` without a call.
    fn write(&self, used: Features, numbers: &mut Numbers, repeats: usize) -> Option<RoundText> {
        if self.calls.is_empty() {
            return None;
        }
        let is_handed = |call: &DrawnCall| used.contains(Feature::Handoff) && call.kind % 16 == 15;
        let mut agents = Vec::new();
        let mut calls: Vec<CallText> = Vec::new();
        for call in self.calls.iter() {
            numbers.calls += 1;
            // Of two agents, one gets the thread. What a third hand-over does is not known.
            calls.push(if is_handed(call) && agents.len() < 2 {
                let agent = numbers.handed % OTHERS.len();
                numbers.handed += 1;
                agents.push(agent);
                let id = format!("h{}", numbers.calls);
                let json = json!({"id": id, "handoff": OTHERS[agent]});
                CallText { id, start: CallStart::Neither, result: None, json, opaque: None }
            } else {
                call.write(used, numbers, repeats)
            });
        }
        let mut turn = json!({});
        if !self.says.is_multiple_of(2) {
            turn["content"] = self.words.behind(&numbers.text("Step")).into();
        }
        let mut opaque = if used.contains(Feature::Opaque) { numbers.parts(self.opaque) } else { Vec::new() };
        opaque.extend(calls.iter().filter_map(|call| call.opaque.clone()));
        if !opaque.is_empty() {
            turn["opaque"] = opaque.into();
        }
        turn["tool_calls"] = calls.iter().map(|call| call.json.clone()).collect();
        Some(RoundText { calls, agents, turn })
    }
}

impl RoundText {
    /// A response of three plain calls.
    fn plain(numbers: &mut Numbers) -> Self {
        let call = |name: &&'static str| {
            numbers.calls += 1;
            let id = format!("c{}", numbers.calls);
            let json = json!({"id": id, "name": name, "args": {"n": numbers.calls}});
            let result = Some((*name, format!("result {id}{}", numbers.mark()).into()));
            CallText { id, start: CallStart::Begins, result, json, opaque: None }
        };
        let calls: Vec<CallText> = FREE.iter().map(call).collect();
        let turn = json!({"tool_calls": calls.iter().map(|call| call.json.clone()).collect::<Vec<_>>()});
        Self { calls, agents: Vec::new(), turn }
    }

    fn has(&self, start: CallStart) -> bool {
        self.calls.iter().any(|call| call.start == start)
    }

    fn into_turn(self) -> Value {
        self.turn
    }
}

impl DrawnCall {
    fn write(&self, used: Features, numbers: &mut Numbers, repeats: usize) -> CallText {
        let number = numbers.calls;
        let id = format!("c{number}");
        let mut raw = None;
        let (start, name) = match self.kind % 16 {
            6..=10 if used.contains(Feature::Approval) => {
                (CallStart::Waits, GUARDED[usize::from(self.tool) % GUARDED.len()])
            }
            11 | 12 if used.contains(Feature::Raw) => {
                let text = RAW[usize::from(self.args) % RAW.len()];
                raw = Some(text.to_owned());
                (CallStart::Neither, FREE[usize::from(self.tool) % FREE.len()])
            }
            // The text of an object is that object.
            5 if used.contains(Feature::Raw) => {
                raw = Some(if self.args.is_multiple_of(3) { String::new() } else { format!("{{ \"n\": {number} }}") });
                (CallStart::Begins, FREE[usize::from(self.tool) % FREE.len()])
            }
            _ => (CallStart::Begins, FREE[usize::from(self.tool) % FREE.len()]),
        };
        let mut json = json!({"id": id, "name": name});
        match raw {
            Some(text) => json["arguments"] = text.into(),
            None => {
                json["args"] = match self.args % 4 {
                    0 => json!({}),
                    1 => json!({"n": number}),
                    2 => json!({"query": self.words.behind(&format!("words {number}{}", numbers.mark()))}),
                    _ => json!({"n": number, "deep": {"list": [number, "x", null, true]}}),
                }
            }
        }
        let is_image = used.contains(Feature::Image) && matches!(self.kind % 16, 13 | 14);
        let mut text = self.words.behind(&format!("result {id}{}", numbers.mark()));
        text += &" more".repeat(if number == 1 { repeats } else { 0 });
        let result = match self.result % 8 {
            0..=3 if is_image => json!({"image": numbers.image()}),
            _ if is_image => json!({"image": numbers.image(), "text": text}),
            5 => json!({"value": text, "n": number}),
            6 => json!({"error": text}),
            // Longer than what some keep of a result.
            7 => format!("{text}: {}", "a line of the result\n".repeat(usize::from(self.result))).into(),
            _ => text.into(),
        };
        let is_signed = used.contains(Feature::Opaque) && self.is_signed % 4 == 3;
        let opaque = is_signed
            .then(|| json!({"kind": "signature", "call": id, "data": format!("sign{number}{}==", numbers.mark())}));
        CallText { id, start, result: Some((name, result)), json, opaque }
    }
}
