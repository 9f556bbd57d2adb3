//! Generates scripts: a model, its tools, a verifier and limits.

use super::json::{AsJsonText, write_list};
use super::{AtMost, Json, LIMITS, Name, Rarely, Text};
use std::fmt;
use std::fmt::Write;

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
    /// The number that is added to each limit.
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
    pub(super) fn member(self) -> Option<&'static str> {
        match self {
            Self::Absent => None,
            Self::Null => Some(r#""contextMode":null"#),
            Self::Standard => Some(r#""contextMode":"standard""#),
            Self::Xml => Some(r#""contextMode":"xml""#),
        }
    }
}

/// A limit from 1 to 4.
#[derive(Clone, Copy, Debug, arbitrary::Arbitrary)]
#[cfg_attr(feature = "fuzzer", derive(proptest_derive::Arbitrary))]
pub struct LimitPlan(u8);

/// An answer of the model.
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

/// A result of a tool.
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

/// An answer of the verifier.
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
        let mut json = String::from(r#"{"prompt":"#);
        self.prompt.write(&mut json);
        if let Some(mode) = mode.member() {
            json.push(',');
            json.push_str(mode);
        }
        if let Some(instructions) = &self.instructions {
            json.push_str(r#","instructions":"#);
            instructions.write(&mut json);
        }
        self.write_model_and_tools(&mut json);
        if let Some(verify) = &self.verify {
            json.push_str(r#","verify":["#);
            write_list(&mut json, verify.iter(), VerificationPlan::write);
            json.push(']');
        }
        if self.limited {
            let [iterations, requests] = [&self.iterations, &self.requests].map(|limit| limit.number() + self.more);
            let _ = write!(json, r#","maxIterations":{iterations},"maxToolCallsPerIteration":{requests}"#);
        }
        json.push('}');
        json
    }

    /// The input of the operation `tools`.
    pub fn tools_input(&self) -> String {
        let given = self.instructions.iter().chain([&self.prompt]).map(|text| (text, "human"));
        // What a verifier says in a loop stands in the list from which the rounds start.
        let reasons = self.verify.iter().flat_map(|verify| verify.iter()).filter_map(VerificationPlan::reason);
        let messages = given.chain(reasons.zip(["ai", "human"].into_iter().cycle()));
        let mut json = String::from(r#"{"messages":["#);
        write_list(&mut json, messages, |(text, kind), json| {
            let _ = write!(json, r#"{{"type":"{kind}","content":"#);
            text.write(json);
            json.push('}');
        });
        json.push(']');
        self.write_model_and_tools(&mut json);
        if self.limited {
            // A limit of zero rounds is valid, too.
            let _ = write!(json, r#","maxRecursionDepth":{}"#, self.iterations.number() + self.more - 1);
        }
        json.push('}');
        json
    }

    /// Appends the members `model` and `tools`. No tool has the last of the plain names, so that some calls are to tools that do not exist.
    fn write_model_and_tools(&self, json: &mut String) {
        let mut calls = 0;
        json.push_str(r#","model":["#);
        write_list(json, self.turns.iter(), |turn, json| turn.write(&mut calls, &self.odd_tool, json));
        json.push_str(r#"],"tools":{"#);
        let write_results = |results: &[Returned], json: &mut String| {
            json.push_str(":[");
            write_list(json, results, Returned::write);
            json.push_str("],");
        };
        for (name, results) in Name::plain().into_iter().zip(&self.tools) {
            let _ = write!(json, "\"{name}\"");
            write_results(results, json);
        }
        self.odd_tool.write_odd(json);
        write_results(&self.tools[0], json);
        json.pop();
        json.push('}');
    }
}

impl LimitPlan {
    fn number(self) -> usize {
        usize::from(self.0 % 4) + 1
    }
}

impl TurnPlan {
    pub(super) fn write(&self, calls: &mut usize, odd_tool: &Name, json: &mut String) {
        json.push('{');
        match self {
            Self::Say(text) => write_content(text, json),
            Self::Use(text, list) => {
                if let Some(text) = text {
                    write_content(text, json);
                    json.push(',');
                }
                json.push_str(r#""tool_calls":["#);
                write_list(json, list.iter(), |call, json| call.write(calls, odd_tool, json));
                json.push(']');
            }
            Self::Nothing => {}
            Self::Fail(text) => write_error(text, json),
        }
        json.push('}');
    }
}

fn write_content(text: &Text, json: &mut String) {
    json.push_str(r#""content":"#);
    text.write(json);
}

fn write_error(text: &Text, json: &mut String) {
    json.push_str(r#""error":"#);
    text.write(json);
}

impl CallPlan {
    fn write(&self, calls: &mut usize, odd_tool: &Name, json: &mut String) {
        json.push_str(r#"{"id":"#);
        // A wrong call repeats the id before it, or has an odd one, or the one that a repetition would get.
        *calls += usize::from(!self.wrong.is_now());
        let _ = match self.wrong.which() % 4 {
            1 if self.wrong.is_now() => {
                self.name.write_odd(json);
                Ok(())
            }
            3 if self.wrong.is_now() => write!(json, "\"call_{calls}_2\""),
            _ => write!(json, "\"call_{calls}\""),
        };
        json.push_str(r#","name":"#);
        // Half of the odd names are that of the odd tool, which would hardly ever be called by chance.
        if self.name.is_odd() && self.wrong.which().is_multiple_of(2) {
            odd_tool.write_odd(json);
        } else {
            self.name.write(json);
        }
        if let Some(args) = &self.args {
            json.push_str(r#","args":"#);
            args.write_object(json);
        }
        json.push('}');
    }
}

impl AsJsonText for Returned {
    fn write(&self, json: &mut String) {
        match self {
            Self::Text(text) => text.write(json),
            Self::Value(value) => value.write(json),
            Self::Failure(message) => {
                json.push('{');
                write_error(message, json);
                json.push('}');
            }
            #[cfg(feature = "fuzzer")]
            Self::Numbered(number) => {
                let _ = write!(json, "\"result {number}\"");
            }
        }
    }
}

impl VerificationPlan {
    fn reason(&self) -> Option<&Text> {
        if let Self::Incomplete(reason) = self { reason.as_ref() } else { None }
    }

    fn write(&self, json: &mut String) {
        match self {
            Self::Complete => json.push_str(r#"{"complete":true}"#),
            Self::Incomplete(None) => json.push_str(r#"{"complete":false}"#),
            Self::Incomplete(Some(reason)) => {
                json.push_str(r#"{"complete":false,"reason":"#);
                reason.write(json);
                json.push('}');
            }
        }
    }
}

impl fmt::Debug for ScriptPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.loop_input())
    }
}
