//! Draws the request of a case from the seed, the operation and the number of the case, and counts what was drawn.

use crate::generate::{
    CLASSES, Enlargement, LIMITS, Mode, RequestPlan, Scenario, ScriptPlan, SessionScenario, Text, TextClass, Thread,
};
use proptest::arbitrary::any;
use proptest::strategy::{BoxedStrategy, Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use threadspec::EventType;
use threadspec_judge::corpus::session_features;
use threadspec_judge::json;
use threadspec_judge::protocol::{Feature, Features, Hello, JudgeProfile, Op};

/// One case in so many is large.
const LARGE: u64 = 50;

/// The relation between replies that a case checks beside the reply to its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    /// Nothing more.
    Reply,
    /// The last event is made invalid, in a way that the number chooses.
    Refused(u64),
    /// An input gets its reply again, after another one in between.
    Again,
    /// Unknown fields change nothing.
    UnknownFields,
    /// The document of the first events is the beginning of the document of all.
    Growing,
    /// The context mode changes no event of a run.
    BothModes,
}

impl Relation {
    /// The relation that a case checks; three in four check none.
    pub(super) fn of(op: Op, index: u64) -> Self {
        // The numbers are scattered, so that neighbouring cases are made invalid in unrelated ways.
        let refused = Self::Refused(index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33);
        let checks: &[Self] = match op {
            Op::Escape | Op::Tools | Op::Session => &[Self::Again],
            Op::Serialize => &[Self::Again, Self::UnknownFields, Self::Growing, refused],
            Op::Messages => &[Self::Again, Self::UnknownFields, refused],
            Op::Loop => &[Self::Again, Self::BothModes],
        };
        let (number, last) = (index / 4, index % 4 == 3);
        checks
            .iter()
            .cycle()
            .nth(usize::try_from(number % 64).unwrap_or(0))
            .copied()
            .filter(|_| last)
            .unwrap_or(Self::Reply)
    }
}

/// Draws the plans of cases.
pub(super) struct Draw {
    seed: u64,
    ops: Vec<(Op, Plans)>,
}

/// The plans of an operation, and the large ones among them.
struct Plans {
    usual: BoxedStrategy<RequestPlan>,
    large: BoxedStrategy<RequestPlan>,
}

impl Draw {
    pub(super) fn new(seed: u64, ops: &[Op], profile: JudgeProfile, hello: &Hello) -> Self {
        let features = hello.abilities.session.features;
        let strategy = |&op: &Op| {
            let usual = match op {
                Op::Session => {
                    any::<SessionScenario>().prop_map(move |session| RequestPlan::Session(session, features)).boxed()
                }
                Op::Escape => any::<Text>().prop_map(RequestPlan::Escape).boxed(),
                Op::Serialize => {
                    any::<(Thread, Option<Text>)>().prop_map(|(log, text)| RequestPlan::Serialize(log, text)).boxed()
                }
                Op::Messages => any::<(Thread, Mode, Option<Text>)>()
                    .prop_map(|(log, mode, text)| RequestPlan::Messages(log, mode, text))
                    .boxed(),
                Op::Tools if profile == JudgeProfile::Universal => {
                    any::<Scenario>().prop_map(RequestPlan::Agent).boxed()
                }
                Op::Tools => any::<ScriptPlan>().prop_map(RequestPlan::Tools).boxed(),
                Op::Loop => any::<ScriptPlan>().prop_map(RequestPlan::Loop).boxed(),
            };
            // The growth comes first, so that a failing case that shrinks loses it first.
            let large = (any::<Enlargement>(), usual.clone())
                .prop_map(|(growth, plan)| RequestPlan::Large(growth, Box::new(plan)));
            (op, Plans { usual, large: large.boxed() })
        };
        Self { seed, ops: ops.iter().map(strategy).collect() }
    }

    /// The operation of a case, and its number among those of the operation: the number that it has when it is run alone.
    pub(super) fn place(ops: &[Op], case: u64) -> (Op, u64) {
        let ops_count = ops.len() as u64;
        (ops[usize::try_from(case % ops_count).unwrap_or(0)], case / ops_count)
    }

    /// The plan of a case of an operation, which can be made smaller.
    pub(super) fn plan(&self, op: Op, index: u64) -> Option<Box<dyn ValueTree<Value = RequestPlan>>> {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&self.seed.to_le_bytes());
        bytes[8..16].copy_from_slice(&index.to_le_bytes());
        let config = Config { failure_persistence: None, ..Config::default() };
        let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
        let (_, plans) = self.ops.iter().find(|(known, _)| *known == op)?;
        let is_large = index % LARGE == LARGE - 1;
        let plans = if is_large { &plans.large } else { &plans.usual };
        plans.new_tree(&mut runner).ok()
    }
}

/// Adds unknown fields to each event of an input.
pub(super) fn with_unknown_fields(plan: &RequestPlan, input: &str) -> String {
    match plan {
        RequestPlan::Serialize(thread, _) | RequestPlan::Messages(thread, ..) => {
            input.replacen(&thread.json(), &thread.json_with_unknown_fields(), 1)
        }
        _ => input.to_owned(),
    }
}

/// Wrong values for the fields of events, as JSON; a missing one is wrong, too.
const WRONG: [(&str, &[&str]); 6] = [
    ("type", &["\"other\"", "null", "1"]),
    ("role", &["\"tool\"", "null", "[]"]),
    ("iteration", &["-1", "0.5", "\"1\"", "9007199254740992", "null"]),
    ("args", &["[]", "\"{}\"", "null"]),
    ("recoverable", &["\"true\"", "1", "null"]),
    ("summarizedIterations", &["[-1]", "[\"1\"]", "1", "null"]),
];
const NO_TEXT: &[&str] = &["1", "null", "[]", "true", "{}"];

/// Puts a fault into the last event of an input, if it has one (INP-1).
pub(super) fn with_wrong_event(input: &str, how: u64) -> String {
    let spoiled = || {
        let mut input = json::read(input).ok()?;
        let event = input.get_mut("events")?.as_array_mut()?.last_mut()?.as_object_mut()?;
        // Any value is a valid result, and `verified` is not required.
        let required: Vec<String> =
            event.keys().filter(|name| !["result", "verified"].contains(&name.as_str())).cloned().collect();
        let how = usize::try_from(how).ok()?;
        let name = &required[how % required.len()];
        let wrong = WRONG.iter().find(|(field, _)| field == name).map_or(NO_TEXT, |(_, wrong)| wrong);
        match wrong.get(how / required.len() % (wrong.len() + 1)) {
            Some(wrong) => *event.get_mut(name)? = json::read(wrong).ok()?,
            None => drop(event.shift_remove(name)),
        }
        Some(input.to_string())
    };
    spoiled().unwrap_or_else(|| input.to_owned())
}

/// Two inputs without a response prefix: the first half of the log, and the whole log.
pub(super) fn half_and_whole(input: &str) -> Option<[String; 2]> {
    let input: Value = json::read(input).ok()?;
    let events = input["events"].as_array()?;
    let log = |events: &[Value]| serde_json::json!({"events": events}).to_string();
    Some([log(&events[..events.len() / 2]), log(events)])
}

// Counts the generated inputs.

/// An event type as a generated log spells it.
fn spelling(event_type: EventType) -> String {
    let member = match event_type {
        EventType::User | EventType::Assistant | EventType::System => "role",
        _ => "type",
    };
    format!(r#""{member}":"{event_type}""#)
}

/// The operations, event types, classes of text and features of sessions that were drawn.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// Cases per operation.
    pub cases: BTreeMap<Op, u64>,
    events: BTreeSet<EventType>,
    classes: BTreeSet<&'static str>,
    features: Features,
}

impl Coverage {
    pub(super) fn add(&mut self, op: Op, input: &str) {
        *self.cases.entry(op).or_default() += 1;
        // What is covered is not looked for again: soon there is nothing left to look for.
        if self.events.len() < EventType::ALL.len() && matches!(op, Op::Serialize | Op::Messages) {
            let missing = EventType::ALL.into_iter().filter(|event_type| !self.events.contains(event_type));
            let new: Vec<_> = missing.filter(|&event_type| input.contains(&spelling(event_type))).collect();
            self.events.extend(new);
        }
        if op == Op::Session && self.features.len() < Feature::all().count() - 1 {
            self.features = self.features.with(session_features(input).unwrap_or_default());
        }
        if self.classes.len() < CLASSES.len() {
            let drawn = |class: &&TextClass| {
                let times = if class.name == "long" { LIMITS.repeats } else { 1 };
                class.texts.iter().any(|text| !text.is_empty() && input.contains(&text.repeat(times)))
            };
            let new = CLASSES.iter().filter(|class| !self.classes.contains(class.name)).filter(drawn);
            let new: Vec<_> = new.map(|class| class.name).collect();
            self.classes.extend(new);
        }
    }

    /// All cases.
    pub fn total(&self) -> u64 {
        self.cases.values().sum()
    }

    /// A summary in a few words.
    pub fn text(&self) -> String {
        let (events, rows, classes, all) = (self.events.len(), EventType::ALL.len(), self.classes.len(), CLASSES.len());
        let mut text =
            format!("{} ops, {events}/{rows} event types and roles, {classes}/{all} text classes", self.cases.len());
        if self.cases.contains_key(&Op::Session) {
            // Each session has messages.
            let (drawn, features) = (self.features.len() + 1, Feature::all().count());
            let _ = write!(text, ", {drawn}/{features} features of sessions");
        }
        text
    }
}
