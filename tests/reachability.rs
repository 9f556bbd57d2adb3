//! The generators produce everything that the specification mentions, in both engines, proptest and libFuzzer.

use arbitrary::{Arbitrary, Unstructured};
use proptest::strategy::ValueTree;
use serde_json::Value;
use std::collections::BTreeSet;
use threadspec::surrogates::repair_surrogates;
use threadspec::{Event, EventKind, EventType, is_xml_char, read_events};
use threadspec_campaign::generate::{CLASSES, LIMITS, RequestPlan, SessionScenario, samples};
use threadspec_judge::corpus::{session_features, session_problems};
use threadspec_judge::json::{list, tokens};
use threadspec_judge::protocol::{Feature, Features, JudgeProfile, Op};

/// A request, prepared for the situations below.
struct Seen {
    op: Op,
    written: String,
    input: Value,
    events: Vec<Event>,
}

type Situation = (&'static str, fn(&Seen) -> bool);

/// Inputs that the errata (`golden/errata.md`) decide about, and inputs that are unusual or wrong on purpose.
const SITUATIONS: &[Situation] = &[
    ("E1 quotes in text content", |seen| seen.texts().any(|text| text.contains('"'))),
    ("E2 a forbidden character in a text", |seen| seen.texts().any(|text| !text.chars().all(is_xml_char))),
    ("E2 a forbidden character in a name", |seen| seen.names().any(|name| !name.chars().all(is_xml_char))),
    ("E3 a carriage return in a text", |seen| seen.texts().any(|text| text.contains('\r'))),
    ("E3 white space in a name", |seen| seen.names().any(|name| name.contains(['\t', '\n', '\r']))),
    ("E4 a result of an id used twice", |seen| {
        seen.results().any(|(at, id)| seen.calls(id).filter(|&call| call < at).count() > 1)
    }),
    ("E4 a result before its call", |seen| {
        seen.results().any(|(at, id)| seen.calls(id).next().is_some_and(|call| call > at))
    }),
    ("E5 an empty response prefix", |seen| seen.input["responsePrefix"] == ""),
    ("E6 a structured result", |seen| {
        seen.events.iter().any(|event| {
            matches!(&event.kind, EventKind::ToolResult { result: Some(Value::Array(_) | Value::Object(_)), .. })
        })
    }),
    ("E7 an absent result", |seen| {
        seen.events.iter().any(|event| matches!(event.kind, EventKind::ToolResult { result: None, .. }))
    }),
    ("E8 calls made in parallel", |seen| {
        seen.events.windows(2).any(|pair| match (&pair[0].kind, &pair[1].kind) {
            (EventKind::ToolCall { tool_call_id: one, .. }, EventKind::ToolCall { tool_call_id: other, .. }) => {
                one != other && pair[0].iteration == pair[1].iteration
            }
            _ => false,
        })
    }),
    ("E9 a summary in xml mode", |seen| {
        seen.input["contextMode"] == "xml"
            && seen.events.iter().any(|event| matches!(event.kind, EventKind::Summary { .. }))
    }),
    ("E10 text next to tool calls", |seen| {
        seen.op == Op::Loop
            && seen.input["model"].as_array().is_some_and(|turns| {
                let filled = |value: &Value| value.as_array().is_some_and(|calls| !calls.is_empty());
                turns.iter().any(|turn| {
                    turn["content"].as_str().is_some_and(|text| !text.is_empty()) && filled(&turn["tool_calls"])
                })
            })
    }),
    ("E11 a result without a call", |seen| seen.results().any(|(_, id)| seen.calls(id).next().is_none())),
    ("E11 a second result", |seen| {
        let ids: Vec<_> = seen.results().map(|(_, id)| id).collect();
        ids.iter().enumerate().any(|(at, id)| ids[..at].contains(id) && seen.calls(id).count() == 1)
    }),
    ("E11 a call without a result", |seen| {
        let answered: BTreeSet<&str> = seen.results().map(|(_, id)| id).collect();
        seen.events.iter().any(|event| match &event.kind {
            EventKind::ToolCall { tool_call_id, .. } => !answered.contains(&**tool_call_id),
            _ => false,
        })
    }),
    ("E12 a lone surrogate in a text", |seen| {
        repair_surrogates(&seen.written) != seen.written && seen.texts().any(|text| text.contains('\u{fffd}'))
    }),
    ("E12 a lone surrogate in arguments", |seen| {
        repair_surrogates(&seen.written) != seen.written && seen.arguments().any(|json| json.contains('\u{fffd}'))
    }),
    ("E13 an integer beyond 2^53", |seen| seen.arguments().any(|json| json.contains("9007199254740993"))),
    ("E14 a name that objects have already", |seen| seen.names().any(|name| name == "__proto__")),
    ("E14 an empty name", |seen| seen.names().any(str::is_empty)),
    ("a repeated key", |seen| tokens(&seen.written).count() > tokens(&seen.input.to_string()).count()),
    ("a failing tool", |seen| seen.op == Op::Tools && seen.written.contains(r#"[{"error":""#)),
    ("a model that fails", |seen| seen.op == Op::Loop && seen.written.contains(r#"{"error":"#)),
    ("a verifier that gives no reason", |seen| seen.written.contains(r#"{"complete":false}"#)),
    ("a limit of one iteration", |seen| seen.input["maxIterations"] == 1),
    ("no round at all", |seen| seen.input["maxRecursionDepth"] == 0),
];

impl Seen {
    fn new(request: &RequestPlan) -> Self {
        let written = request.input();
        let input: Value = serde_json::from_str(&repair_surrogates(&written)).expect("an input is JSON");
        let events = input.get("events").map(|events| read_events(&events.to_string()).expect("a thread is valid"));
        Self { op: request.op(), written, input, events: events.unwrap_or_default() }
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        self.events.iter().filter_map(|event| match &event.kind {
            EventKind::Message { content: text, .. }
            | EventKind::ToolResult { result: Some(Value::String(text)), .. }
            | EventKind::Error { error: text, .. } => Some(&**text),
            _ => None,
        })
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.events.iter().filter_map(|event| match &event.kind {
            EventKind::ToolCall { tool_name, .. } => Some(&**tool_name),
            _ => None,
        })
    }

    fn arguments(&self) -> impl Iterator<Item = String> {
        self.events.iter().filter_map(|event| match &event.kind {
            EventKind::ToolCall { args, .. } => Some(Value::Object(args.clone()).to_string()),
            _ => None,
        })
    }

    /// The positions of the calls with an id.
    fn calls<'a>(&'a self, wanted: &'a str) -> impl Iterator<Item = usize> {
        self.events.iter().enumerate().filter_map(move |(position, event)| match &event.kind {
            EventKind::ToolCall { tool_call_id, .. } if tool_call_id == wanted => Some(position),
            _ => None,
        })
    }

    /// The positions of the results, and the ids that they name.
    fn results(&self) -> impl Iterator<Item = (usize, &str)> {
        self.events.iter().enumerate().filter_map(|(position, event)| match &event.kind {
            EventKind::ToolResult { tool_call_id, .. } => Some((position, &**tool_call_id)),
            _ => None,
        })
    }

    fn event_rows(&self) -> impl Iterator<Item = String> {
        self.events.iter().map(|event| format!("event: {}", event.kind.event_type()))
    }

    fn classes(&self) -> impl Iterator<Item = String> {
        let long = CLASSES.len() - 1;
        CLASSES.iter().enumerate().filter_map(move |(number, class)| {
            let repeats = if number == long { LIMITS.repeats } else { 1 };
            let mut texts = class.texts.iter().filter(|text| !text.is_empty());
            texts.any(|text| self.written.contains(&text.repeat(repeats))).then(|| format!("text: {}", class.name))
        })
    }
}

/// Checks that a few thousand requests show everything that they should.
fn compare(requests: impl Iterator<Item = RequestPlan>) {
    let mut found = BTreeSet::new();
    let mut ops = BTreeSet::new();
    for request in requests.take(5_000) {
        let seen = Seen::new(&request);
        ops.insert(seen.op);
        found.extend(seen.event_rows().chain(seen.classes()));
        found.extend(SITUATIONS.iter().filter(|(_, is_there)| is_there(&seen)).map(|(name, _)| (*name).to_owned()));
    }
    assert_eq!(ops, Op::of(JudgeProfile::Literal).collect(), "operations");
    let expected = (EventType::ALL.iter().map(|name| format!("event: {name}")))
        .chain(CLASSES.iter().map(|class| format!("text: {}", class.name)))
        .chain(SITUATIONS.iter().map(|(name, _)| (*name).to_owned()));
    let missing: Vec<String> = expected.filter(|name| !found.contains(name)).collect();
    assert!(missing.is_empty(), "never generated: {missing:#?}");
}

#[test]
fn proptest_reaches_everything() {
    compare(samples::<RequestPlan>(1).map(|tree| tree.current()));
}

#[test]
fn libfuzzer_reaches_everything_from_random_bytes() {
    // xorshift: any source of bytes will do.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    compare(std::iter::from_fn(|| {
        let bytes: Vec<u8> = (0..256).flat_map(|_| random().to_le_bytes()).collect();
        RequestPlan::arbitrary(&mut Unstructured::new(&bytes)).ok()
    }));
}

type SessionSituation = (&'static str, fn(&Value) -> bool);

/// What sessions must show, as their input spells it.
const SESSION_SITUATIONS: &[SessionSituation] = &[
    ("two cuts", |input| runs(input).filter(|run| run["cut"].is_object()).count() >= 2),
    ("a cut in a run of decisions", |input| {
        runs(input).any(|run| run["cut"].is_object() && run["decisions"].is_object())
    }),
    ("a cut beside two other calls", |input| runs(input).any(|run| run["cut"].is_object() && most_calls(run) >= 3)),
    ("decisions that differ", |input| {
        let approve = |run: &Value, wanted: bool| {
            run["decisions"].as_object().is_some_and(|all| all.values().any(|one| one["approve"] == wanted))
        };
        runs(input).any(|run| approve(run, true) && approve(run, false))
    }),
    ("a reason", |input| input.to_string().contains("\"reason\":")),
    ("a summary", |input| runs(input).any(|run| run["compact"]["summary"].is_string())),
    ("a compaction before decisions", |input| {
        runs(input).any(|run| run["compact"].is_object() && run["decisions"].is_object())
    }),
    ("two hand-overs in a response", |input| input.to_string().matches("\"handoff\":").count() >= 2),
    ("words during a call, and a cut", |input| runs(input).any(|run| run["say"].is_object() && run["cut"].is_object())),
    ("a long thread", |input| runs(input).count() > 20),
    ("a run of many rounds", |input| runs(input).any(|run| list(&run["model"]).len() > 10)),
];

fn runs(input: &Value) -> impl Iterator<Item = &Value> {
    list(&input["runs"]).iter()
}

fn most_calls(run: &Value) -> usize {
    list(&run["model"]).iter().map(|turn| list(&turn["tool_calls"]).len()).max().unwrap_or(0)
}

#[test]
fn sessions_use_each_feature_that_the_testee_has_and_no_other() {
    let few: Features = [Feature::Message, Feature::Cancel, Feature::Approval].into_iter().collect();
    for has in [Features::all(), few, Features::default()] {
        let (mut used, mut seen) = (Features::default(), BTreeSet::new());
        for plan in samples::<SessionScenario>(1).take(600) {
            let input = plan.current().input(has);
            assert_eq!(session_problems(&input), [""; 0], "{input}");
            used = used.with(session_features(&input).expect("a script"));
            let input = serde_json::from_str(&input).expect("JSON");
            seen.extend(SESSION_SITUATIONS.iter().filter(|(_, is_there)| is_there(&input)).map(|(name, _)| *name));
        }
        // Each session has messages, which no case names. No drawn thread goes back.
        let others = [Feature::Message, Feature::Rewind, Feature::Branch].into_iter().collect();
        assert_eq!(used, has.without(others));
        if has == Features::all() {
            assert_eq!(seen.len(), SESSION_SITUATIONS.len(), "{seen:?}");
        }
    }
}
