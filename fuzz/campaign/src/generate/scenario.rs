//! Generates scenarios: what an agent of any framework is asked, and what its model and its tools answer.

use super::growth::{repetitions, size};
use super::json::{AsJsonText, join, pick};
use super::odd::{IDS, MEMBERS, TOOLS as ODD_TOOLS, WORDS};
use super::{AtMost, Json, LIMITS, Rarely, Returned, Text};
use std::fmt;

/// A run of tool rounds for profile `universal`.
///
/// Results are found by the id of the call; by its arguments, which are numbered, where the model repeats an id.
#[derive(Clone, arbitrary::Arbitrary, proptest_derive::Arbitrary)]
pub struct Scenario {
    system: System,
    past: AtMost<{ LIMITS.past }, Past>,
    question: Text,
    rounds: AtMost<{ LIMITS.turns }, RoundPlan>,
    /// The list ends with the results of its last round, and not with a question.
    ends_with_results: Rarely,
    long: Rarely,
    wide: Rarely,
    long_past: Rarely,
    /// How often what is long or wide is repeated.
    times: u16,
    repeats_ids: Rarely,
    /// Ids begin again in each round.
    renews_ids: Rarely,
    /// A word that occurs somewhere.
    word: Rarely,
    which_word: u8,
    end: Last,
    limited: Rarely,
    limit: u8,
}

/// The instructions.
#[derive(Clone, Debug, arbitrary::Arbitrary, proptest_derive::Arbitrary)]
pub enum System {
    /// There are none.
    None,
    /// In front of everything.
    First(Text),
    /// In front of the last question.
    BeforeTheQuestion(Text),
    /// In both places.
    Both(Text, Text),
}

/// The content of the history.
#[derive(Clone, Debug, arbitrary::Arbitrary, proptest_derive::Arbitrary)]
pub enum Past {
    /// A question and its answer.
    Talk(Text, Text),
    /// A question, calls with their results, of which one may be missing.
    RoundPlan(Text, AtMost<{ LIMITS.calls }, Text>, Rarely),
    /// A question without an answer.
    Question(Text),
}

/// A response with calls.
#[derive(Clone, Debug, arbitrary::Arbitrary, proptest_derive::Arbitrary)]
pub struct RoundPlan {
    text: Option<Text>,
    first: ScriptedCall,
    others: AtMost<{ LIMITS.calls }, ScriptedCall>,
}

/// A call, and its result.
#[derive(Clone, Debug, arbitrary::Arbitrary, proptest_derive::Arbitrary)]
pub struct ScriptedCall {
    odd_name: Rarely,
    odd_id: Rarely,
    name: u8,
    args: Option<Json>,
    result: Returned,
    long: Rarely,
    /// The result is a word, or holds one; and the arguments.
    word: Rarely,
    which_word: u8,
    /// Arguments and result have a member of an odd name.
    member: Rarely,
}

/// How the model ends.
#[derive(Clone, Debug, arbitrary::Arbitrary, proptest_derive::Arbitrary)]
pub enum Last {
    /// With a text.
    Say(Text),
    /// With neither text nor calls.
    Nothing,
    /// With a text and an empty list of calls.
    EmptyList(Text),
    /// The model call fails.
    Fail(Text),
    /// The script has no more answers.
    RunOut,
}

/// Names that the model calls; no tool has the last one.
const TOOLS: [&str; 4] = ["search", "bash", "read_file", "missing"];
/// How often the text of a long result is repeated.
const LONG: usize = 400;

/// Returns whether a run is long, or wide: about one in fifty is.
fn is_large(rarely: Rarely) -> bool {
    rarely.is_now() && rarely.which().is_multiple_of(5)
}

/// A call as it is written.
struct WrittenCall {
    id: String,
    name: &'static str,
    args: Option<String>,
    result: String,
}

impl Scenario {
    /// The input of op `tools`.
    pub fn input(&self) -> String {
        let rounds = self.calls();
        let calls: Vec<&WrittenCall> = rounds.iter().flatten().collect();
        let mut turns: Vec<String> = Vec::new();
        for (index, calls) in rounds.iter().enumerate() {
            let text = self.rounds.get(index).and_then(|round| round.text.as_ref());
            let text = self.word_at(1).filter(|_| index == 0).or_else(|| text.map(AsJsonText::json));
            let content = text.map(|text| format!(r#""content":{text},"#)).unwrap_or_default();
            turns.push(format!(r#"{{{content}"tool_calls":[{}]}}"#, join(calls.iter().map(WrittenCall::json))));
        }
        match &self.end {
            Last::Say(text) => {
                let text = self.word_at(0).unwrap_or_else(|| text.json());
                turns.push(format!(r#"{{"content":{text}}}"#));
            }
            Last::EmptyList(text) => turns.push(format!(r#"{{"content":{},"tool_calls":[]}}"#, text.json())),
            Last::Nothing => turns.push("{}".into()),
            // Never empty, so that an agent that reports the error has something to say.
            Last::Fail(text) => turns.push(format!(r#"{{"error":"Down. {}}}"#, &text.json()[1..])),
            Last::RunOut => {}
        }
        if matches!(self.end, Last::Say(_) | Last::EmptyList(_) | Last::Nothing) {
            // For an agent that calls the model once more.
            turns.push(r#"{"content":"Anything else?"}"#.into());
        }
        let tools = join(TOOLS[..3].iter().chain(ODD_TOOLS.iter().step_by(2)).map(|name| {
            let own = calls.iter().filter(|call| call.name == *name);
            if self.finds_by_arguments() {
                let pair = |call: &&WrittenCall| format!("[{},{}]", call.args.as_deref().unwrap_or("{}"), call.result);
                format!(r#""{name}":{{"byArgs":[{}]}}"#, join(own.copied().map(|call| pair(&call))))
            } else {
                format!(
                    r#""{name}":{{"byId":{{{}}}}}"#,
                    join(own.map(|call| format!("\"{}\":{}", call.id, call.result)))
                )
            }
        }));
        let limit =
            if self.limited.is_now() { format!(r#","maxRecursionDepth":{}"#, self.limit % 5) } else { String::new() };
        format!(r#"{{"messages":[{}],"model":[{}],"tools":{{{tools}}}{limit}}}"#, self.messages(), join(turns))
    }

    /// Returns whether results are found by arguments, since ids are not unique.
    fn finds_by_arguments(&self) -> bool {
        self.repeats_ids.is_now() || self.renews_ids.is_now()
    }

    /// The word in such a place, if there is one.
    fn word_at(&self, place: usize) -> Option<String> {
        let is_here = self.word.is_now() && self.word.which() % 4 == place;
        is_here.then(|| format!("\"{}\"", pick(&WORDS, self.which_word)))
    }

    fn messages(&self) -> String {
        let message = |role: &str, text: &Text| format!(r#"{{"type":"{role}","content":{}}}"#, text.json());
        // Instructions without a text may be left out.
        let system = |text: &Text| (!text.text().trim().is_empty()).then(|| message("system", text));
        let (mut messages, mut ends_with_results) = (Vec::new(), false);
        if let System::First(text) | System::Both(text, _) = &self.system {
            messages.extend(system(text));
        }
        let longer = self.past.iter().cycle().take(self.times_of_the_past());
        for (number, past) in self.past.iter().chain(longer).enumerate() {
            ends_with_results = false;
            match past {
                Past::Talk(question, answer) => {
                    messages.extend([message("human", question), message("ai", answer)]);
                }
                Past::RoundPlan(text, results, fault) => {
                    messages.push(message("human", text));
                    let id = |index: usize| format!("past_{number}_{index}");
                    let calls = (0..results.len())
                        .map(|index| format!(r#"{{"id":"{}","name":"bash","args":{{"n":{index}}}}}"#, id(index)));
                    if !results.is_empty() {
                        messages.push(format!(r#"{{"type":"ai","content":"","tool_calls":[{}]}}"#, join(calls)));
                    }
                    let missing = if fault.is_now() { fault.which() % 3 } else { usize::MAX };
                    for (index, result) in results.iter().enumerate().filter(|(index, _)| *index != missing) {
                        let id = id(index);
                        messages
                            .push(format!(r#"{{"type":"tool","content":{},"tool_call_id":"{id}"}}"#, result.json()));
                    }
                    ends_with_results = self.ends_with_results.is_now() && !results.is_empty() && missing > 2;
                    messages.push(r#"{"type":"ai","content":"I see."}"#.into());
                }
                Past::Question(text) => messages.push(message("human", text)),
            }
        }
        if ends_with_results {
            messages.pop();
            return join(messages);
        }
        if let System::BeforeTheQuestion(text) | System::Both(_, text) = &self.system {
            messages.extend(system(text));
        }
        if let Some(word) = self.word_at(2) {
            let said = |role: &str| format!(r#"{{"type":"{role}","content":{word}}}"#);
            // Said twice, since whoever drops repetitions shows only so.
            messages.extend([said("human"), said("ai"), said("human"), said("ai")]);
        }
        messages.push(message("human", &self.question));
        join(messages)
    }

    /// How many elements of a long history follow its first ones; each request holds them all.
    fn times_of_the_past(&self) -> usize {
        if self.past.is_empty() || !is_large(self.long_past) || is_large(self.long) {
            return 0;
        }
        let bytes = |past: &Past| match past {
            Past::Talk(one, other) => one.json().len() + other.json().len(),
            Past::RoundPlan(text, results, _) => {
                text.json().len() + results.iter().map(|text| text.json().len() + 200).sum::<usize>()
            }
            Past::Question(text) => text.json().len(),
        };
        let bytes: usize = self.past.iter().map(|past| bytes(past) + 100).sum();
        let limit = LIMITS.large_run / (bytes * (self.rounds.len() + 1)) * self.past.len();
        size(self.times, limit.clamp(2, LIMITS.many_events))
    }

    /// So many more calls, or as many as fill a block together with those of the round: what loses the last one of a full block
    /// shows only so.
    fn filled(&self, round: &RoundPlan, times: usize) -> usize {
        let own = 1 + round.others.len();
        if times == 0 || self.limit.is_multiple_of(2) {
            times
        } else {
            (usize::midpoint(own, times) + 1).next_power_of_two().max(own) - own
        }
    }

    /// The calls of each response. In a long run the last response is repeated; in a wide one the first response repeats its first call.
    fn calls(&self) -> Vec<Vec<WrittenCall>> {
        let mut number = 0;
        let mut call = |asked: &ScriptedCall, before: Option<&str>| {
            number += 1;
            let is_large = is_large(self.long) || is_large(self.wide);
            let before = before.filter(|_| self.repeats_ids.is_now());
            asked.call(number, before, self.finds_by_arguments(), is_large, usize::from(self.limit))
        };
        let mut rounds: Vec<Vec<WrittenCall>> = Vec::new();
        let bytes = |round: &RoundPlan| {
            let asked = [&round.first].into_iter().chain(round.others.iter());
            asked
                .map(|asked| asked.args.as_ref().map_or(0, |args| args.json().len()) + asked.result.json().len() + 100)
                .sum()
        };
        let times = |is: Rarely, of: Option<&RoundPlan>| match of {
            Some(round) if is_large(is) => size(self.times, repetitions(1, bytes(round))),
            _ => 0,
        };
        let is_long = is_large(self.long);
        let longer = self.rounds.last().into_iter().cycle().take(times(self.long, self.rounds.last()));
        for (index, round) in self.rounds.iter().chain(longer).enumerate() {
            // One thing at a time is large: later requests repeat it all.
            let is_wide = index == 0 && !is_long;
            let wider = std::iter::repeat_n(
                &round.first,
                if is_wide { self.filled(round, times(self.wide, Some(round))) } else { 0 },
            );
            let mut calls: Vec<WrittenCall> = Vec::new();
            for asked in [&round.first].into_iter().chain(round.others.iter()).chain(wider) {
                let before = calls.last().map(|call| call.id.clone());
                calls.push(call(asked, before.as_deref()));
            }
            if self.renews_ids.is_now() && !self.repeats_ids.is_now() {
                calls.iter_mut().enumerate().for_each(|(index, call)| call.id = format!("call:{index}"));
            }
            rounds.push(calls);
        }
        rounds
    }
}

impl ScriptedCall {
    fn call(
        &self,
        number: usize,
        before: Option<&str>,
        is_found_by_arguments: bool,
        is_large: bool,
        first_id: usize,
    ) -> WrittenCall {
        let id = match before {
            Some(before) if self.odd_id.is_now() || self.name % 2 == 1 => before.to_owned(),
            // Each odd id is used at most once, so that ids differ.
            _ if self.odd_id.is_now() && number <= IDS.len() => IDS[(first_id + number) % IDS.len()].to_owned(),
            _ => format!("call_{number}"),
        };
        let name = if self.odd_name.is_now() { pick(&ODD_TOOLS, self.name) } else { pick(&TOOLS, self.name) };
        let word = pick(&WORDS, self.which_word);
        let says = |place| self.word.is_now() && self.word.which() % 3 == place;
        let member = self.member.is_now().then(|| {
            let value =
                if self.member.which().is_multiple_of(3) { r#"["x"]"#.to_owned() } else { format!("\"{word}\"") };
            format!(r#""{}":{value}"#, pick(&MEMBERS, self.which_word))
        });
        let more = member.iter().cloned().chain(says(0).then(|| format!(r#""w":"{word}""#)));
        let more: Vec<String> = more.map(|member| format!(",{member}")).collect();
        let more = more.concat();
        let args = match &self.args {
            _ if is_found_by_arguments => Some(format!(r#"{{"n":{number}}}"#)),
            None if more.is_empty() => None,
            None => Some(format!(r#"{{"n":{number}{more}}}"#)),
            Some(args) => Some(format!(r#"{{"n":{number},"v":{}{more}}}"#, args.json())),
        };
        let result = match &self.result {
            _ if says(1) => format!("\"{word}\""),
            _ if says(2) => format!(r#"{{"w":"{word}"}}"#),
            // Without another member, so that whoever unwraps an object shows.
            Returned::Value(_) if member.is_some() => format!("{{{}}}", member.unwrap_or_default()),
            Returned::Text(text) if self.long.is_now() && !is_large => {
                let text = text.json();
                format!("\"{}\"", text[1..text.len() - 1].repeat(LONG.min(1 + 20_000 / text.len())))
            }
            result => result.json(),
        };
        WrittenCall { id, name, args, result }
    }
}

impl WrittenCall {
    fn json(&self) -> String {
        let args = self.args.as_ref().map(|args| format!(r#","args":{args}"#)).unwrap_or_default();
        format!(r#"{{"id":"{}","name":"{}"{args}}}"#, self.id, self.name)
    }
}

impl fmt::Debug for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.input())
    }
}
