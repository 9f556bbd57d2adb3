//! Reads the table of growing quantities and places, each with the cases that are large enough to show what breaks with size.

use super::{Case, Corpus, File, Problem};
use crate::error::Error;
use crate::json::{self, list};
use crate::protocol::{Call, EventBody, Input, JudgeProfile, Op, Part, ScriptedTurn, ThreadEvent};
use serde::Deserialize;
use serde_json::{Map, Number, Value};
use std::collections::{BTreeMap, HashSet};
use strum::Display;

/// The file that holds the table.
const GROWTH: &str = "growth.json";

/// A quantity of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Display)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Quantity {
    /// Events in a thread.
    Events,
    /// Events from a call to its result.
    Distance,
    /// Calls without their result so far.
    OpenCalls,
    /// Calls that follow each other directly.
    Group,
    /// Summary events.
    Summaries,
    /// Iterations that a summary is about.
    SummarizedIterations,
    /// Messages of a given list.
    Messages,
    /// Responses with calls that follow each other directly.
    Rounds,
    /// Rounds with long results.
    LongRounds,
    /// Rounds that a limit allows.
    RoundLimit,
    /// Calls in a response.
    Calls,
    /// Calls with the same id in a response.
    SameIds,
    /// Tools.
    Tools,
    /// Results of a tool.
    Results,
    /// Iterations of a loop.
    Iterations,
    /// Iterations that have begun when the last request is made, from the first that calls a tool on: how old a result gets.
    Age,
    /// The age of long results.
    LongAge,
    /// Iterations of a loop that call tools.
    ToolIterations,
    /// Iterations of which the text beside calls is recorded.
    RecordedIterations,
    /// Failing model calls before the last one.
    Failures,
    /// Members of an object.
    Members,
    /// Elements of an array.
    Elements,
    /// Lists with one text among numbers, at each position from the first on.
    Positions,
    /// Levels of nesting.
    Depth,
    /// Requests to one process.
    Requests,
    /// Characters of a text.
    Text,
    /// Texts of each length from 0 up.
    Lengths,
    /// Texts that end in a special character just before, at and behind each power of two from 8 up.
    Blocks,
    /// Characters of an id that is not shown, but tells calls apart.
    Id,
    /// Kinds of white space at both ends of a text.
    WhiteSpace,
}

/// A row of the table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Growth {
    /// The quantity that grows.
    pub quantity: Quantity,
    /// The operation, with its context mode where it has one.
    pub place: String,
    /// The members of the input that hold it, if it is a text.
    #[serde(default)]
    pub members: Vec<String>,
    /// The profiles in which it shows; both when absent.
    #[serde(default = "own_profiles")]
    pub profiles: Vec<JudgeProfile>,
    /// The ids of the cases, each with its size; of several texts, that of the shortest.
    pub cases: BTreeMap<String, u64>,
}

fn own_profiles() -> Vec<JudgeProfile> {
    JudgeProfile::OWN.to_vec()
}

impl Growth {
    /// Its cases of a profile with their sizes, the smallest first.
    pub fn cases<'a>(&self, corpus: &'a Corpus, profile: JudgeProfile) -> Vec<(&'a Case, u64)> {
        let own = corpus.cases.iter().filter(|case| case.is_in(profile));
        let mut cases: Vec<_> = own.filter_map(|case| Some((case, *self.cases.get(&case.id)?))).collect();
        cases.sort_by_key(|&(_, size)| size);
        cases
    }

    fn size(&self, case: &Case) -> Result<u64, Error> {
        if self.members.is_empty() {
            return Ok(size(self.quantity, case, &Input::read(case.input())?) as u64);
        }
        let input = json::read(case.input())?;
        let sizes = self.members.iter().map(|member| size_of_texts(self.quantity, member, &input));
        Ok(sizes.min().unwrap_or(0) as u64)
    }
}

/// The table among the files of a corpus; empty where there is none.
///
/// # Errors
///
/// Says what is malformed.
pub fn table(files: &[File]) -> Result<Vec<Growth>, Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Table {
        growth: Vec<Growth>,
    }
    let Some(file) = files.iter().find(|file| file.path == GROWTH) else { return Ok(Vec::new()) };
    serde_json::from_str(&file.text).map(|table: Table| table.growth).map_err(Error::new)
}

/// Everything that is wrong with the table: rows without a case in one of their profiles, cases that are elsewhere or not
/// as large as it says, and large cases that it does not name.
pub fn problems(files: &[File], corpus: &Corpus) -> Vec<Problem> {
    let table = match table(files) {
        Ok(table) => table,
        Err(error) => return vec![Problem::in_file(GROWTH, error)],
    };
    let mut problems = Vec::new();
    let mut problem = |message: String| problems.push(Problem::in_file(GROWTH, message));
    let mut named = HashSet::new();
    for row in &table {
        let name = format!("{} in {}", row.quantity, row.place);
        for &profile in row.profiles.iter().filter(|&&profile| row.cases(corpus, profile).is_empty()) {
            problem(format!("{name}: no case in profile {profile}"));
        }
        for (id, &stated) in &row.cases {
            let Some(case) = corpus.cases.iter().find(|case| case.id == *id) else {
                problem(format!("{name}: there is no case `{id}`"));
                continue;
            };
            named.insert(id);
            if place(case) != row.place {
                problem(format!("{name}: `{id}` belongs to {}", place(case)));
            }
            match row.size(case) {
                Ok(size) if size == stated => {}
                Ok(size) => problem(format!("{name}: `{id}` has {size}, not {stated}")),
                Err(error) => problem(format!("{name}: `{id}`: {error}")),
            }
        }
    }
    if !table.is_empty() {
        let large = corpus.cases.iter().filter(|case| case.is_template && !case.is_in(JudgeProfile::Universal));
        for case in large.filter(|case| !named.contains(&case.id)) {
            problem(format!("no row names the large case `{}`", case.id));
        }
    }
    problems
}

/// The operation of a case, with its context mode where it has one.
fn place(case: &Case) -> String {
    match case.op {
        Op::Messages | Op::Loop => {
            let is_xml = Input::read(case.outline()).is_ok_and(|input| input.is_in_xml_mode());
            format!("{}-{}", case.op, if is_xml { "xml" } else { "standard" })
        }
        op => op.to_string(),
    }
}

/// How much of a quantity an input has.
fn size(quantity: Quantity, case: &Case, input: &Input) -> usize {
    let thread = input.thread();
    let events: Vec<&EventBody> = thread.iter().filter_map(|event| Some(&event.proper()?.body)).collect();
    let turns: Vec<&ScriptedTurn> = input.turns().collect();
    let has_calls = |turn: &&ScriptedTurn| turn.has_calls();
    let data = || data(&events, &turns, input);
    let most = |sizes: &mut dyn Iterator<Item = usize>| sizes.max().unwrap_or(0);
    match quantity {
        Quantity::Events => thread.len(),
        Quantity::Distance => most(&mut open_calls(&thread).map(|(distance, _)| distance)),
        Quantity::OpenCalls => most(&mut open_calls(&thread).map(|(_, open)| open)),
        Quantity::Group => most(&mut runs(&events, |event| matches!(event, EventBody::ToolCall { .. }))),
        Quantity::Summaries => events.iter().filter(|event| matches!(event, EventBody::Summary { .. })).count(),
        Quantity::SummarizedIterations => most(&mut events.iter().filter_map(|event| match event {
            EventBody::Summary { summarized_iterations, .. } => Some(list(summarized_iterations.proper()?).len()),
            _ => None,
        })),
        Quantity::Messages => input.messages.list().len(),
        Quantity::LongRounds | Quantity::LongAge if !has_long_results(input) => 0,
        Quantity::Rounds | Quantity::LongRounds => most(&mut runs(&turns, has_calls)),
        Quantity::RoundLimit => {
            let limit = input.max_recursion_depth.proper().and_then(Number::as_u64);
            limit.and_then(|limit| limit.try_into().ok()).unwrap_or(0)
        }
        Quantity::Calls => most(&mut turns.iter().map(|turn| turn.calls.list().len())),
        Quantity::SameIds => most(&mut turns.iter().map(|turn| {
            let ids = || calls(turn).map(|call| &call.id);
            ids().filter(|&id| Some(id) == ids().next()).count()
        })),
        Quantity::Tools => input.tools.proper().map_or(0, Map::len),
        Quantity::Results => most(&mut results(input).map(<[Value]>::len)),
        Quantity::Iterations => turns.iter().filter(|turn| !has_calls(turn)).count(),
        Quantity::Age | Quantity::LongAge => {
            turns.iter().skip_while(|turn| !has_calls(turn)).filter(|turn| !has_calls(turn)).count()
        }
        Quantity::ToolIterations | Quantity::RecordedIterations => {
            turns.windows(2).filter(|pair| has_calls(&pair[0]) && !has_calls(&pair[1])).count()
        }
        Quantity::Failures => turns.iter().filter(|turn| turn.error.text().is_some()).count().saturating_sub(1),
        Quantity::Members => most(&mut data().map(|value| largest(value, &|_| 0, &Map::len))),
        Quantity::Elements => most(&mut data().map(|value| largest(value, &<[Value]>::len, &|_| 0))),
        Quantity::Positions => {
            let is_there =
                |at: &usize| data().any(|value| largest(value, &|list| usize::from(is_odd(list, *at)), &|_| 0) > 0);
            (0..usize::MAX).take_while(is_there).count()
        }
        Quantity::Depth => most(&mut data().map(depth)),
        Quantity::Requests => case.after().len() + 1,
        // `size_of_texts` measures these.
        Quantity::Text | Quantity::Lengths | Quantity::Blocks | Quantity::Id | Quantity::WhiteSpace => 0,
    }
}

/// For each result, how many events after its call it is, and how many calls are open there.
fn open_calls(events: &[Part<ThreadEvent>]) -> impl Iterator<Item = (usize, usize)> {
    let mut open: BTreeMap<&str, usize> = BTreeMap::new();
    events.iter().enumerate().filter_map(move |(position, event)| match &event.proper()?.body {
        EventBody::ToolCall { tool_call_id, .. } => {
            open.insert(tool_call_id.text()?, position);
            None
        }
        EventBody::ToolResult { tool_call_id, .. } => {
            let count = open.len();
            open.remove(tool_call_id.text()?).map(|call| (position - call, count))
        }
        _ => None,
    })
}

fn calls(turn: &ScriptedTurn) -> impl Iterator<Item = &Call> {
    turn.calls.list().iter().filter_map(Part::proper)
}

/// The results of each tool of a script.
fn results(input: &Input) -> impl Iterator<Item = &[Value]> {
    input.tools.proper().into_iter().flat_map(Map::values).map(list)
}

/// Returns whether every result of a script is a text of more than five thousand characters.
fn has_long_results(input: &Input) -> bool {
    results(input).flatten().all(|result| result.as_str().is_some_and(|text| text.chars().count() > 5_000))
}

fn runs<T>(items: &[T], belongs: impl Fn(&T) -> bool) -> impl Iterator<Item = usize> {
    items.chunk_by(move |one, next| belongs(one) && belongs(next)).map(<[T]>::len)
}

/// The arguments of calls and the results of tools.
fn data<'a>(events: &'a [&EventBody], turns: &'a [&ScriptedTurn], input: &'a Input) -> impl Iterator<Item = &'a Value> {
    let of_events = events.iter().filter_map(|event| match event {
        EventBody::ToolCall { args: value, .. } | EventBody::ToolResult { result: value, .. } => value.proper(),
        _ => None,
    });
    let arguments = turns.iter().flat_map(|turn| calls(turn)).filter_map(|call| call.args.proper());
    of_events.chain(arguments).chain(results(input).flatten())
}

fn largest(value: &Value, array: &dyn Fn(&[Value]) -> usize, map: &dyn Fn(&Map<String, Value>) -> usize) -> usize {
    let inside = |values: &mut dyn Iterator<Item = &Value>| values.map(|value| largest(value, array, map)).max();
    match value {
        Value::Array(elements) => array(elements).max(inside(&mut elements.iter()).unwrap_or(0)),
        Value::Object(members) => map(members).max(inside(&mut members.values()).unwrap_or(0)),
        _ => 0,
    }
}

/// Returns whether the only text of a list has this position.
fn is_odd(list: &[Value], at: usize) -> bool {
    list.iter().enumerate().all(|(position, element)| element.is_string() == (position == at)) && at < list.len()
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(elements) => 1 + elements.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// The size of the texts in the members of a name: the characters of the longest, how many lengths there are, or the kinds of white
/// space around them.
fn size_of_texts(quantity: Quantity, member: &str, input: &Value) -> usize {
    let mut texts = Vec::new();
    collect(input, member, false, &mut texts);
    if quantity == Quantity::Lengths {
        let lengths: HashSet<usize> = texts.iter().map(|text| text.chars().count()).collect();
        return (0..=lengths.len()).take_while(|length| lengths.contains(length)).count();
    }
    if quantity == Quantity::Blocks {
        let is_special = |text: &&&str| text.chars().next_back().is_some_and(|c| !c.is_ascii_alphanumeric());
        let lengths: HashSet<usize> = texts.iter().filter(is_special).map(|text| text.chars().count()).collect();
        let is_there = |size: &usize| (size - 1..=size + 1).all(|length| lengths.contains(&length));
        return (3..usize::BITS - 1).map(|power| 1 << power).take_while(is_there).last().unwrap_or(0);
    }
    if quantity != Quantity::WhiteSpace {
        return texts.iter().map(|text| text.chars().count()).max().unwrap_or(0);
    }
    let is_blank = |c: &char| !c.is_alphanumeric();
    let ends = texts.iter().flat_map(|text| [text.chars().next(), text.chars().next_back()]);
    ends.flatten().filter(is_blank).collect::<HashSet<_>>().len()
}

/// All texts in the members of a name, and in what is below them.
fn collect<'a>(value: &'a Value, member: &str, inside: bool, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) if inside => texts.push(text),
        Value::Array(elements) => elements.iter().for_each(|element| collect(element, member, inside, texts)),
        Value::Object(members) => {
            for (name, value) in members {
                // The names of arguments are data.
                if inside && member == "args" {
                    texts.push(name);
                }
                collect(value, member, inside || name == member, texts);
            }
        }
        _ => {}
    }
}
