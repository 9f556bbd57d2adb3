//! Makes one thing large: in a plan a text or a number of events, rounds, calls or iterations; in an input a value, the messages or the tools.

#[cfg(test)]
mod tests;

use super::json::{AsJsonText, pick};
use super::script::{Returned, TurnPlan, VerificationPlan};
use super::thread::{Alone, ThreadStep, Tool, What};
use super::{AtMost, LIMITS, ScriptPlan, SessionScenario, Thread};
use std::borrow::Cow;
use threadspec_judge::json::{Node, tokens};

/// The part that grows, and its size.
///
/// Sizes are spread evenly over their orders of magnitude. When a failing case shrinks, its size does first.
#[derive(Clone, Copy, Debug, proptest_derive::Arbitrary)]
pub struct Enlargement {
    size: u16,
    what: u8,
    at: u8,
    length: u8,
}

/// The part of a script that grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grown {
    /// The rounds of one iteration.
    Rounds,
    /// The calls of one response.
    Calls,
    /// Iterations without calls.
    Iterations,
    /// Iterations with a round each.
    ToolIterations,
    /// Model calls that fail.
    Failures,
}

/// The part of a thread that is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repeated {
    /// One to three events.
    Anything,
    /// A tool call.
    Call,
    /// A summary.
    Summary,
}

/// Words of the protocol: a string that is one of them is not made long.
const WORDS: &[&str] = &[
    "answer",
    "args",
    "assistant",
    "byArgs",
    "byId",
    "call",
    "complete",
    "completion",
    "content",
    "contextMode",
    "error",
    "events",
    "human",
    "human_input_received",
    "human_input_requested",
    "instructions",
    "iteration",
    "maxIterations",
    "maxRecursionDepth",
    "maxToolCallsPerIteration",
    "message",
    "messages",
    "model",
    "name",
    "id",
    "prompt",
    "question",
    "reason",
    "recoverable",
    "response",
    "responsePrefix",
    "result",
    "role",
    "standard",
    "summarizedIterations",
    "summary",
    "system",
    "text",
    "tool",
    "tool_call",
    "tool_call_id",
    "tool_calls",
    "tool_result",
    "toolCallId",
    "toolName",
    "tools",
    "type",
    "user",
    "verified",
    "verify",
    "xml",
    "ai",
];

/// A size from 2 to a limit, equally likely in each order of magnitude.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "small and positive"
)]
pub(super) fn size(which: u16, limit: usize) -> usize {
    let share = f64::from(which) / f64::from(u16::MAX);
    (limit as f64 / 2.0).powf(share).mul_add(2.0, -0.5).ceil() as usize
}

/// How often so many turns of so many bytes may occur in a run, each request of which repeats all that came before it.
pub(super) fn repetitions(turns: usize, bytes: usize) -> usize {
    (LIMITS.large_run / bytes.max(1)).isqrt().clamp(2, LIMITS.many_turns / turns.max(1))
}

impl Enlargement {
    pub(super) fn size(self, limit: usize) -> usize {
        size(self.size, limit)
    }

    /// Returns whether a text grows, and not the number of things.
    pub(super) fn is_of_a_text(self) -> bool {
        self.what.is_multiple_of(4)
    }

    /// Returns the part inside the input that grows, if it is that.
    pub(super) fn inside(self) -> Option<Widened> {
        (self.what % 4 == 1).then(|| pick(&WIDENED, self.what / 4))
    }

    pub(super) fn of_script(self, is_loop: bool) -> Grown {
        let all = [Grown::Rounds, Grown::Calls, Grown::ToolIterations, Grown::Iterations, Grown::Failures];
        pick(if is_loop { &all } else { &all[..2] }, self.what / 4)
    }

    /// Returns the part of a thread that grows.
    pub(super) fn of_thread(self) -> Repeated {
        pick(&[Repeated::Anything, Repeated::Call, Repeated::Summary], self.what / 4)
    }

    /// A choice among so many.
    pub(super) fn at(self, count: usize) -> usize {
        usize::from(self.at) % count.max(1)
    }

    /// The list with one to three adjacent elements repeated, or with one of those that are preferred.
    pub(super) fn repeated<T: Clone>(self, list: &[T], limit: usize, is_preferred: impl Fn(&T) -> bool) -> Vec<T> {
        let preferred: Vec<usize> = (0..list.len()).filter(|&place| is_preferred(&list[place])).collect();
        let start = preferred.get(self.at(preferred.len())).copied();
        let length = if start.is_some() { 1 } else { 1 + usize::from(self.length % 3) };
        let start = start.unwrap_or_else(|| self.at(list.len()));
        let end = (start + length).min(list.len());
        let segment = list.get(start..end).unwrap_or_default();
        let more = segment.iter().cycle().take(self.size(limit) * segment.len().min(1)).cloned();
        list[..start].iter().cloned().chain(more).chain(list[start..].iter().cloned()).collect()
    }

    /// The input with one of its texts made long, wherever it is; running numbers mark its parts.
    pub(super) fn with_long_text(self, input: &str) -> String {
        let is_text =
            |token: &&str| token.len() > 1 && token.starts_with('"') && !WORDS.contains(&&token[1..token.len() - 1]);
        let texts: Vec<&str> = tokens(input).filter(is_text).collect();
        let Some(&text) = texts.get(self.at(texts.len())) else { return input.to_owned() };
        let part = &text[1..text.len() - 1];
        let mut long = String::from("\"");
        let mut number = 0;
        let size = self.size(longest(input, text));
        while long.len() < size {
            long += &format!("{part}{number} ");
            number += 1;
        }
        long += "\"";
        tokens(input).map(|token| if token == text { Cow::Borrowed(&*long) } else { Cow::Borrowed(token) }).collect()
    }
}

impl Thread {
    /// A longer log.
    pub(super) fn grown(&self, growth: Enlargement) -> Self {
        let is_preferred = |step: &ThreadStep| match growth.of_thread() {
            Repeated::Anything => false,
            Repeated::Call => matches!(step.what, What::Tool(Tool::Call { .. })),
            Repeated::Summary => matches!(step.what, What::Alone(Alone::Summary(..))),
        };
        Self(AtMost::grown(growth.repeated(&self.0, LIMITS.many_events, is_preferred)))
    }
}

impl ScriptPlan {
    /// A script with more rounds, calls or iterations, and with limits that allow them.
    pub(super) fn grown(&self, growth: Enlargement, is_loop: bool) -> Self {
        let what = growth.of_script(is_loop);
        let is_round = |turn: &&TurnPlan| matches!(turn, TurnPlan::Use(_, calls) if !calls.is_empty());
        let round = self.turns.iter().find(is_round);
        let last = self.turns.iter().find(|turn| matches!(turn, TurnPlan::Say(_))).unwrap_or(&TurnPlan::Nothing);
        let failure = self.turns.iter().find(|turn| matches!(turn, TurnPlan::Fail(_)));
        let repeated: Vec<&TurnPlan> = match what {
            Grown::Rounds | Grown::Calls => round.into_iter().collect(),
            Grown::Iterations => vec![last],
            Grown::ToolIterations => round.into_iter().chain([last]).collect(),
            Grown::Failures => failure.into_iter().collect(),
        };
        // Each request repeats what was said before it.
        let said: usize = repeated
            .iter()
            .map(|turn| {
                let mut json = String::new();
                turn.write(&mut 0, &self.odd_tool, &mut json);
                json.len()
            })
            .sum();
        let given = self.tools.iter().flat_map(|results| results.iter()).map(|result| result.json().len()).max();
        let size =
            if repeated.is_empty() { 0 } else { growth.size(repetitions(repeated.len(), said + given.unwrap_or(0))) };
        let mut script = self.clone();
        script.more = size;
        script.limited |= size > 0;
        if matches!(what, Grown::Rounds | Grown::Calls | Grown::ToolIterations) {
            // Each call has a result of its own.
            let more = |results: &[Returned]| {
                let numbered = (0..size * LIMITS.calls).map(Returned::Numbered);
                AtMost::grown(results.iter().cloned().chain(numbered).collect())
            };
            script.tools = self.tools.each_ref().map(|results| more(results));
        }
        if let (Grown::Calls, [TurnPlan::Use(text, calls)]) = (what, &*repeated) {
            let many = calls.iter().cycle().take(size).cloned().collect();
            let wide = TurnPlan::Use(text.clone(), AtMost::grown(many));
            script.turns = AtMost::grown([wide].into_iter().chain(self.turns.iter().cloned()).collect());
            return script;
        }
        let more = std::iter::repeat_n(repeated, size).flatten().chain(&*self.turns);
        script.turns = AtMost::grown(more.cloned().collect());
        if matches!(what, Grown::Iterations | Grown::ToolIterations) {
            let verify = self.verify.as_ref().map_or(&[][..], |verify| verify);
            let again = verify.iter().find(|answer| matches!(answer, VerificationPlan::Incomplete(_)));
            let again = again.cloned().unwrap_or(VerificationPlan::Incomplete(None));
            let verify = std::iter::repeat_n(again, size).chain(verify.iter().cloned()).collect();
            script.verify = Some(AtMost::grown(verify));
        }
        script
    }
}

impl SessionScenario {
    /// A session with more runs, or with a long text.
    pub(super) fn grown(&self, growth: Enlargement) -> Self {
        let mut session = self.clone();
        if growth.is_of_a_text() {
            session.words = growth.size(LIMITS.long_text / LIMITS.runs / 10);
        } else {
            session.more = growth.size(LIMITS.many_runs);
        }
        session
    }
}

/// How long a text of an input may get: each request of a run repeats it, wherever it is.
fn longest(input: &str, text: &str) -> usize {
    let count = |wanted: &str| tokens(input).filter(|token| *token == wanted).count();
    let times = count(text) * (1 + count("\"tool_calls\""));
    (LIMITS.large_run / times.max(1)).clamp(2, LIMITS.long_text)
}

#[cfg(test)]
impl Enlargement {
    /// The growth to a size below some hundred values.
    pub(super) fn of_size(size: usize, at: u8) -> Self {
        let which = (0..=u16::MAX).find(|&which| self::size(which, LIMITS.many_values) == size);
        Self { size: which.expect("a size"), what: 0, at, length: 0 }
    }
}

// Makes something inside an input wide or deep: a value, the messages that are given, the tools.

/// The part that grows inside an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Widened {
    /// Elements of an array in arguments or a result.
    Elements,
    /// Members of an object there.
    Members,
    /// Levels there.
    Depth,
    /// A list that an input has once: given messages, tools, or iterations of a summary.
    List,
}

/// Every kind of growth inside an input.
pub(super) const WIDENED: [Widened; 4] = [Widened::Elements, Widened::Members, Widened::Depth, Widened::List];

/// JSON texts of what is added: nodes borrow their tokens.
struct Added {
    numbers: Vec<String>,
    names: Vec<String>,
    texts: Vec<String>,
}

/// The input with one thing of this kind, chosen by the growth, made large; the same input where it has none.
pub(super) fn widened(growth: Enlargement, kind: Widened, input: &str) -> String {
    let limit = if kind == Widened::Depth { LIMITS.depth } else { LIMITS.many_values };
    let all = 0..growth.size(limit);
    let added = Added {
        numbers: all.clone().map(|number| number.to_string()).collect(),
        names: all.clone().map(|number| format!("\"more {number}\"")).collect(),
        texts: all.map(|number| format!("\"More {number}\"")).collect(),
    };
    let mut tree = Node::of(input);
    let mut growable = growable(&mut tree, kind);
    if growable.is_empty() {
        return input.to_owned();
    }
    growable.swap_remove(growth.at(growable.len())).grow(kind, &added);
    drop(growable);
    tree.text()
}

/// A part of an input that can grow.
enum Growable<'t, 'a> {
    Value(&'t mut Node<'a>),
    Iterations(&'t mut Vec<Node<'a>>),
    Messages(&'t mut Vec<Node<'a>>),
    Tools(&'t mut Vec<(&'a str, Node<'a>)>),
}

fn growable<'t, 'a>(tree: &'t mut Node<'a>, kind: Widened) -> Vec<Growable<'t, 'a>> {
    let mut growable = Vec::new();
    for (name, node) in members(tree) {
        if kind == Widened::List {
            lists(name, node, &mut growable);
        } else {
            values(name, node, &mut growable);
        }
    }
    growable
}

/// The lists in a member of an input.
fn lists<'t, 'a>(name: &str, node: &'t mut Node<'a>, growable: &mut Vec<Growable<'t, 'a>>) {
    match (name, node) {
        ("\"messages\"", Node::Array(messages)) => growable.push(Growable::Messages(messages)),
        ("\"tools\"", Node::Object(tools)) => growable.push(Growable::Tools(tools)),
        ("\"events\"", Node::Array(events)) => {
            for (name, node) in events.iter_mut().flat_map(|event| members(event).iter_mut()) {
                if let ("\"summarizedIterations\"", Node::Array(numbers)) = (*name, node) {
                    growable.push(Growable::Iterations(numbers));
                }
            }
        }
        _ => {}
    }
}

/// The values in a member of an input: arguments and results.
fn values<'t, 'a>(name: &str, node: &'t mut Node<'a>, growable: &mut Vec<Growable<'t, 'a>>) {
    match name {
        "\"tools\"" => {
            let results = members(node).iter_mut().flat_map(|(_, results)| elements(results).iter_mut());
            growable.extend(results.filter(|result| !is_failure(result)).map(Growable::Value));
        }
        "\"model\"" => {
            let turns = elements(node).iter_mut().flat_map(|turn| members(turn).iter_mut());
            let calls = turns.filter(|(name, _)| *name == "\"tool_calls\"");
            let calls = calls.flat_map(|(_, calls)| elements(calls).iter_mut());
            let args = calls.flat_map(|call| members(call).iter_mut()).filter(|(name, _)| *name == "\"args\"");
            growable.extend(args.map(|(_, args)| Growable::Value(args)));
        }
        // The result of a completion is a text.
        "\"events\"" => {
            let events = elements(node).iter_mut().filter(|event| is_of_a_tool(event));
            let data = events.flat_map(|event| members(event).iter_mut());
            let data = data.filter(|(name, _)| ["\"args\"", "\"result\""].contains(name));
            growable.extend(data.map(|(_, value)| Growable::Value(value)));
        }
        _ => {}
    }
}

fn members<'t, 'a>(node: &'t mut Node<'a>) -> &'t mut [(&'a str, Node<'a>)] {
    if let Node::Object(members) = node { members } else { &mut [] }
}

fn elements<'t, 'a>(node: &'t mut Node<'a>) -> &'t mut [Node<'a>] {
    if let Node::Array(elements) = node { elements } else { &mut [] }
}

/// In a script `{"error": …}` is no value.
fn is_failure(result: &Node<'_>) -> bool {
    matches!(result, Node::Object(members) if matches!(members[..], [("\"error\"", _)]))
}

impl<'a> Growable<'_, 'a> {
    fn grow(self, kind: Widened, added: &'a Added) {
        let numbers = added.numbers.iter().map(|number| Node::Scalar(number));
        match self {
            Self::Iterations(list) => list.extend(numbers),
            Self::Tools(tools) => {
                // Before the others, which are called.
                let more = added.names.iter().map(|name| (&**name, Node::Array(vec![Node::Scalar(name)])));
                tools.splice(0..0, more);
            }
            Self::Messages(messages) => {
                let human = |text| Node::Object(vec![("\"type\"", Node::Scalar("\"human\"")), ("\"content\"", text)]);
                let is_system = |message: &Node<'_>| matches!(message, Node::Object(members) if members.contains(&("\"type\"", Node::Scalar("\"system\""))));
                let start = messages.iter().take_while(|message| is_system(message)).count();
                messages.splice(start..start, added.texts.iter().map(|text| human(Node::Scalar(text))));
            }
            Self::Value(value) => {
                let names = added.names.iter().map(|name| &**name);
                match (kind, value) {
                    (Widened::Members, Node::Object(members)) => members.extend(names.zip(numbers)),
                    (_, Node::Object(members)) => members.push(("\"more\"", large(kind, added))),
                    (_, value) => {
                        let small = std::mem::replace(value, Node::Scalar("null"));
                        *value = Node::Array(vec![small, large(kind, added)]);
                    }
                }
            }
        }
    }
}

/// A value with so many elements, members or levels.
fn large(kind: Widened, added: &Added) -> Node<'_> {
    let numbers = added.numbers.iter().map(|number| Node::Scalar(number));
    match kind {
        Widened::Elements | Widened::List => Node::Array(numbers.collect()),
        Widened::Members => Node::Object(added.names.iter().map(|name| &**name).zip(numbers).collect()),
        Widened::Depth => numbers.fold(Node::Scalar("true"), |inner, number| match inner {
            Node::Array(_) => Node::Object(vec![("\"inner\"", inner)]),
            inner => Node::Array(vec![number, inner]),
        }),
    }
}

fn is_of_a_tool(event: &Node<'_>) -> bool {
    let is_of = |kind| matches!(event, Node::Object(members) if members.contains(&("\"type\"", Node::Scalar(kind))));
    is_of("\"tool_call\"") || is_of("\"tool_result\"")
}
