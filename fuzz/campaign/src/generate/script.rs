//! Generates scripts: a model, its tools, a verifier and limits.

use super::list::join;
use super::{AtMost, Json, LIMITS, Name, Rarely, Text};
use std::fmt;

/// A run of the agent: what is asked, what the model, the tools and the verifier answer, and the limits.
///
/// The same plan serves the operations `tools` and `loop`.
#[derive(Clone, arbitrary::Arbitrary)]
#[cfg_attr(feature = "fuzzer", derive(proptest_derive::Arbitrary))]
pub struct ScriptPlan {
    mode: Mode,
    prompt: Text,
    instructions: Option<Text>,
    pub(super) turns: AtMost<{ LIMITS.turns }, TurnPlan>,
    pub(super) tools: [AtMost<{ LIMITS.results }, Returned>; 2],
    pub(super) odd_tool: Name,
    pub(super) verify: Option<AtMost<{ LIMITS.verifications }, VerificationPlan>>,
    pub(super) limited: bool,
    iterations: LimitPlan,
    requests: LimitPlan,
    /// What is added to each limit.
    #[arbitrary(default)]
    #[cfg_attr(feature = "fuzzer", proptest(value = "0"))]
    pub(super) more: usize,
}

/// A context mode as a request names it.
#[derive(Clone, Copy, Debug, arbitrary::Arbitrary)]
#[cfg_attr(feature = "fuzzer", derive(proptest_derive::Arbitrary))]
pub enum Mode {
    /// Not at all, which means standard.
    Absent,
    /// `null`, which means the same.
    Null,
    /// `standard`.
    Standard,
    /// `xml`.
    Xml,
}

impl Mode {
    /// The member of an input.
    pub(super) fn member(self) -> Option<String> {
        match self {
            Self::Absent => None,
            Self::Null => Some(r#""contextMode":null"#.to_owned()),
            Self::Standard => Some(r#""contextMode":"standard""#.to_owned()),
            Self::Xml => Some(r#""contextMode":"xml""#.to_owned()),
        }
    }
}

/// A limit from 1 to 4.
#[derive(Clone, Copy, Debug, arbitrary::Arbitrary)]
#[cfg_attr(feature = "fuzzer", derive(proptest_derive::Arbitrary))]
pub struct LimitPlan(u8);

/// What the model answers once.
#[derive(Clone, Debug, arbitrary::Arbitrary)]
#[cfg_attr(feature = "fuzzer", derive(proptest_derive::Arbitrary))]
pub enum TurnPlan {
    /// A text.
    Say(Text),
    /// Tool calls, possibly with a text beside them.
    Use(Option<Text>, AtMost<{ LIMITS.calls }, CallPlan>),
    /// Neither.
    Nothing,
    /// The model call fails.
    Fail(Text),
}

/// A tool call of the model.
#[derive(Clone, Debug, arbitrary::Arbitrary)]
#[cfg_attr(feature = "fuzzer", derive(proptest_derive::Arbitrary))]
pub struct CallPlan {
    name: Name,
    wrong: Rarely,
    args: Option<Json>,
}

/// What a tool returns.
#[derive(Clone, Debug, arbitrary::Arbitrary)]
#[cfg_attr(feature = "fuzzer", derive(proptest_derive::Arbitrary))]
pub enum Returned {
    /// A text.
    Text(Text),
    /// Any value.
    Value(Json),
    /// In a script a failure; in a log a result like any other.
    Failure(Text),
    /// One of many, drawn only where it is asked for.
    #[cfg(feature = "fuzzer")]
    #[arbitrary(skip)]
    #[proptest(skip)]
    Numbered(usize),
}

/// What the verifier answers once.
#[derive(Clone, Debug, arbitrary::Arbitrary)]
#[cfg_attr(feature = "fuzzer", derive(proptest_derive::Arbitrary))]
pub enum VerificationPlan {
    /// Not yet, with a reason or without one.
    Incomplete(Option<Text>),
    /// Done.
    Complete,
}

impl ScriptPlan {
    /// The input of the operation `loop`.
    pub fn loop_input(&self) -> String {
        self.loop_input_in(self.mode)
    }

    /// The input of the operation `loop`, in another context mode.
    pub fn loop_input_in(&self, mode: Mode) -> String {
        let mut members = vec![format!(r#""prompt":{}"#, self.prompt.json())];
        members.extend(mode.member());
        members.extend(self.instructions.as_ref().map(|text| format!(r#""instructions":{}"#, text.json())));
        members.extend(self.model_and_tools());
        members.extend(
            self.verify
                .as_ref()
                .map(|verify| format!(r#""verify":[{}]"#, join(verify.iter().map(VerificationPlan::json)))),
        );
        if self.limited {
            members.push(format!(r#""maxIterations":{}"#, self.iterations.number() + self.more));
            members.push(format!(r#""maxToolCallsPerIteration":{}"#, self.requests.number() + self.more));
        }
        format!("{{{}}}", members.join(","))
    }

    /// The input of the operation `tools`.
    pub fn tools_input(&self) -> String {
        let message = |kind: &str, text: &Text| format!(r#"{{"type":"{kind}","content":{}}}"#, text.json());
        let given = self.instructions.iter().chain([&self.prompt]).map(|text| message("human", text));
        // What a verifier says in a loop stands in the list from which the rounds start.
        let reasons = self.verify.iter().flat_map(|verify| verify.iter()).filter_map(VerificationPlan::reason);
        let more = reasons.zip(["ai", "human"].into_iter().cycle()).map(|(text, kind)| message(kind, text));
        let messages = join(given.chain(more));
        let mut members = vec![format!(r#""messages":[{messages}]"#)];
        members.extend(self.model_and_tools());
        if self.limited {
            // A limit of zero rounds is valid, too.
            members.push(format!(r#""maxRecursionDepth":{}"#, self.iterations.number() + self.more - 1));
        }
        format!("{{{}}}", members.join(","))
    }

    /// The members `model` and `tools`. No tool has the last of the plain names, so that some calls are to tools that do not exist.
    fn model_and_tools(&self) -> [String; 2] {
        let mut calls = 0;
        let model = join(self.turns.iter().map(|turn| turn.json(&mut calls, &self.odd_tool)));
        let results = |results: &[Returned]| format!("[{}]", join(results.iter().map(Returned::json)));
        let tools = Name::plain().zip(&self.tools).map(|(name, list)| format!("{name}:{}", results(list)));
        let odd = format!("{}:{}", self.odd_tool.odd_json(), results(&self.tools[0]));
        [format!(r#""model":[{model}]"#), format!(r#""tools":{{{}}}"#, join(tools.chain([odd])))]
    }
}

impl LimitPlan {
    fn number(self) -> usize {
        usize::from(self.0 % 4) + 1
    }
}

impl TurnPlan {
    pub(super) fn json(&self, calls: &mut usize, odd_tool: &Name) -> String {
        match self {
            Self::Say(text) => format!(r#"{{"content":{}}}"#, text.json()),
            Self::Use(text, list) => {
                let text = text.as_ref().map(|text| format!(r#""content":{},"#, text.json())).unwrap_or_default();
                let list = join(list.iter().map(|call| call.json(calls, odd_tool)));
                format!(r#"{{{text}"tool_calls":[{list}]}}"#)
            }
            Self::Nothing => "{}".to_owned(),
            Self::Fail(text) => format!(r#"{{"error":{}}}"#, text.json()),
        }
    }
}

impl CallPlan {
    fn json(&self, calls: &mut usize, odd_tool: &Name) -> String {
        // A wrong call repeats the id before it, or has an odd one, or the one that a repetition would get.
        *calls += usize::from(!self.wrong.is_now());
        let id = match self.wrong.which() % 4 {
            1 if self.wrong.is_now() => self.name.odd_json(),
            3 if self.wrong.is_now() => format!("\"call_{calls}_2\""),
            _ => format!("\"call_{calls}\""),
        };
        let args = self.args.as_ref().map(|args| format!(r#","args":{}"#, args.object())).unwrap_or_default();
        // Half of the odd names are that of the odd tool, which would hardly ever be called by chance.
        let name = if self.name.is_odd() && self.wrong.which().is_multiple_of(2) {
            odd_tool.odd_json()
        } else {
            self.name.json()
        };
        format!(r#"{{"id":{id},"name":{name}{args}}}"#)
    }
}

impl Returned {
    /// The result as JSON.
    pub fn json(&self) -> String {
        match self {
            Self::Text(text) => text.json(),
            Self::Value(value) => value.value(),
            Self::Failure(message) => format!(r#"{{"error":{}}}"#, message.json()),
            #[cfg(feature = "fuzzer")]
            Self::Numbered(number) => format!("\"result {number}\""),
        }
    }
}

impl VerificationPlan {
    fn reason(&self) -> Option<&Text> {
        if let Self::Incomplete(reason) = self { reason.as_ref() } else { None }
    }

    fn json(&self) -> String {
        match self {
            Self::Complete => r#"{"complete":true}"#.to_owned(),
            Self::Incomplete(None) => r#"{"complete":false}"#.to_owned(),
            Self::Incomplete(Some(reason)) => format!(r#"{{"complete":false,"reason":{}}}"#, reason.json()),
        }
    }
}

impl fmt::Debug for ScriptPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.loop_input())
    }
}
