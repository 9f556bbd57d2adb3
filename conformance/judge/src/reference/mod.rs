//! The built-in implementation: the library behind the protocol.

mod keyed;
mod session;

pub use session::{SessionModel, play, play_with};

use crate::json::plain;
use crate::protocol::{self, Hello, Implementation, Op, RejectKind, Reply, Request};
use crate::universal::Abilities;
use keyed::KeyedTools;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use threadspec::agent::{
    LoopOptions, Model, ScriptedModel, ScriptedTools, ScriptedVerifier, ToolOptions, Turn, Verification, Verifier,
    run_loop, run_tools,
};
use threadspec::surrogates::{mark_surrogates, marked, repair_surrogates, unmark_surrogates};
use threadspec::{
    ContextMode, ContextOptions, Error, Event, Field, Message, Profile, SerializeOptions, build_messages, escape_text,
    oracle, read_events, read_json, serialize_thread,
};

/// The reference as a testee.
#[derive(Debug, Default)]
pub struct Reference;

impl Reference {
    /// The output as JSON text, as a reply has it; `None` where an input is refused.
    pub fn output(request: &Request) -> Option<String> {
        let output: String = output(request).ok()?;
        Some(match unmark_surrogates(&output) {
            Cow::Owned(unmarked) => unmarked,
            Cow::Borrowed(_) => output,
        })
    }

    /// The reply line to a request of op `tools` in profile `universal` whose model is not in its input.
    pub fn line_with(&self, request: &Request, model: &mut dyn Model) -> String {
        let output = RawInput::read(&repair_surrogates(&request.input)).and_then(|input| input.with_model(model));
        reply_line(request.id, output.map_err(|error| refused(&error)))
    }
}

impl Implementation for Reference {
    fn hello(&self) -> Hello {
        Hello {
            name: "threadspec".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            language: "Rust".into(),
            url: Some(env!("CARGO_PKG_REPOSITORY").into()),
            ops: Op::all().filter(|op| *op != Op::Session).collect(),
            profiles: protocol::JudgeProfile::ALL.into(),
            abilities: Abilities::default(),
            apis: None,
            remarks: Vec::new(),
        }
    }

    fn answer(&mut self, request: &Request) -> Reply {
        match output(request) {
            Ok(output) => Reply::Ok(plain(output)),
            Err(refusal) => refusal,
        }
    }

    /// Lone surrogates are written as escapes again, which only text can hold: the library marks them in data.
    fn line(&mut self, request: &Request) -> String {
        reply_line(request.id, output(request))
    }
}

/// A reply line in which lone surrogates are escapes again, which only text can hold: the library marks them in data.
fn reply_line(id: i64, output: Result<String, Reply>) -> String {
    let line = match output {
        // Its length is known: a text that grows is copied several times.
        Ok(output) => [r#"{"id":"#, &id.to_string(), r#","ok":"#, &output, "}"].concat(),
        Err(Reply::Reject { kind, message }) => Reply::Reject { kind, message: marked(&message).into_owned() }.line(id),
        Err(refusal) => refusal.line(id),
    };
    match unmark_surrogates(&line) {
        Cow::Owned(unmarked) => unmarked,
        Cow::Borrowed(_) => line,
    }
}

fn refused(error: &Error) -> Reply {
    let kind = if error.is_invalid_event() { RejectKind::InvalidEvent } else { RejectKind::InvalidInput };
    Reply::Reject { kind, message: error.to_string() }
}

/// The form in which an output is wanted: a JSON value, or JSON text.
trait Form {
    fn of(output: &impl Serialize) -> Self;
}

impl Form for Value {
    fn of(output: &impl Serialize) -> Self {
        json!(output)
    }
}

impl Form for String {
    fn of(output: &impl Serialize) -> Self {
        serde_json::to_string(output).expect("all members have names")
    }
}

/// The output, in which lone surrogates in data are marked, or the refusal.
fn output<F: Form>(request: &Request) -> Result<F, Reply> {
    let profile = request.profile.rendering();
    let universal = request.op == Op::Tools && request.profile == protocol::JudgeProfile::Universal;
    // No lone surrogate may reach a request (AGENT-ENCODABLE).
    let text = if universal { repair_surrogates(&request.input) } else { Cow::Borrowed(&*request.input) };
    let output = RawInput::read(&text).and_then(|input| match request.op {
        Op::Tools if universal => input.any_agent(),
        Op::Escape => Ok(F::of(&marked(&escape_text(&input.text("text")?, profile)))),
        Op::Serialize => input.serialize(profile),
        Op::Messages => input.messages(profile),
        Op::Tools => input.tools(profile),
        Op::Loop => input.outer_loop(profile),
        Op::Session => Err(input.get("runs").error("sessions are not played")),
    });
    output.map_err(|error| refused(&error))
}

/// The output of op `tools`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rounds<'a> {
    requests: &'a [Vec<Message>],
    #[serde(skip_serializing_if = "Option::is_none")]
    requests_at_end: Option<Vec<&'a [Message]>>,
    messages: &'a [Message],
    #[serde(skip_serializing_if = "Option::is_none")]
    given: Option<Vec<Message>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<Cow<'a, str>>,
}

/// The output of op `loop`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OuterLoop<'a> {
    requests: &'a [Vec<Message>],
    events: &'a [Event],
    response: Cow<'a, str>,
    iterations: u64,
    stop_reason: String,
}

/// The input of an operation: the events as text, so that the library reads each on its own, and the other members.
struct RawInput {
    events: Option<String>,
    others: Value,
}

impl RawInput {
    fn read(input: &str) -> Result<Self, Error> {
        if !input.starts_with('{') {
            let others = read_json(input)?;
            Field::root(&others, "input").object()?;
            return Ok(Self { events: None, others });
        }
        let marked = mark_surrogates(input);
        let members: BTreeMap<String, &RawValue> = serde_json::from_str(&marked).unwrap_or_default();
        let (mut events, mut others) = (None, Map::new());
        for (name, value) in members {
            let value = unmark_surrogates(value.get());
            if name == "events" {
                events = Some(value.into_owned());
            } else {
                let field = |error: Error| Field::root(&Value::Null, &name).error(error.reason());
                let value = read_json(&value).map_err(field)?;
                others.insert(name, value);
            }
        }
        Ok(Self { events, others: others.into() })
    }

    fn get(&self, name: &str) -> Field<'_> {
        Field::root(&self.others, "input").get(name)
    }

    fn text(&self, name: &str) -> Result<String, Error> {
        self.get(name).string().map(Cow::into_owned)
    }

    fn optional_text(&self, name: &str) -> Result<String, Error> {
        self.get(name).optional().map_or(Ok(String::new()), |text| text.string().map(Cow::into_owned))
    }

    fn limit(&self, name: &str) -> Result<Option<u64>, Error> {
        self.get(name).optional().map(Field::integer).transpose()
    }

    fn mode(&self) -> Result<ContextMode, Error> {
        self.get("contextMode").optional().map_or(Ok(ContextMode::default()), |mode| mode.string()?.parse())
    }

    /// The events, read by the library, so that an error names the index of the event.
    fn events(&self) -> Result<Vec<Event>, Error> {
        match self.events.as_deref() {
            Some(events) if events.starts_with('[') => read_events(events),
            Some(other) => {
                let value = read_json(other)?;
                let error = Field::root(&value, "events").elements().err();
                Err(error.unwrap_or_else(|| self.get("events").error("expected an array")))
            }
            None => Err(self.get("events").error("missing, expected an array")),
        }
    }

    fn serialize<F: Form>(&self, profile: Profile) -> Result<F, Error> {
        let options = SerializeOptions { profile, response_prefix: &self.optional_text("responsePrefix")? };
        Ok(F::of(&marked(&serialize_thread(&self.events()?, &options))))
    }

    fn messages<F: Form>(&self, profile: Profile) -> Result<F, Error> {
        let instructions = self.optional_text("instructions")?;
        let options = ContextOptions { profile, mode: self.mode()?, instructions: &instructions };
        Ok(F::of(&build_messages(&self.events()?, &options)))
    }

    fn given(&self) -> Result<Vec<Message>, Error> {
        self.get("messages").elements()?.map(|message| Message::read(&message)).collect()
    }

    fn model(&self) -> Result<ScriptedModel, Error> {
        let turns = self.get("model").elements()?.map(|turn| Turn::read(&turn));
        turns.collect::<Result<_, _>>().map(ScriptedModel::new)
    }

    /// The scripted tools, read by `read`; without `tools`, none.
    fn scripted<T: Default>(&self, read: impl Fn(&Field<'_>) -> Result<T, Error>) -> Result<T, Error> {
        self.get("tools").optional().map_or_else(|| Ok(T::default()), read)
    }

    fn tools<F: Form>(&self, profile: Profile) -> Result<F, Error> {
        let messages = self.given()?;
        let (mut model, mut tools) = (self.model()?, self.scripted(ScriptedTools::read)?);
        let options = ToolOptions { profile, max_recursion_depth: self.limit("maxRecursionDepth")?.map(count) };
        let run = run_tools(messages, &mut model, &mut tools, &options);
        Ok(F::of(&Rounds {
            requests: model.requests(),
            requests_at_end: None,
            messages: &run.messages,
            given: None,
            failure: None,
        }))
    }

    /// Op `tools` in profile `universal`, with a model that remembers nothing.
    fn with_model(&self, model: &mut dyn Model) -> Result<String, Error> {
        let messages = self.given()?;
        oracle::provider_valid(&messages).map_err(|fault| self.get("messages").error(fault.to_string()))?;
        let mut tools = self.scripted(KeyedTools::read)?;
        let max_recursion_depth = self.limit("maxRecursionDepth")?.map(count);
        let options = ToolOptions { profile: Profile::Hardened, max_recursion_depth };
        let given = messages.clone();
        let run = run_tools(messages, model, &mut tools, &options);
        Ok(String::of(&Rounds {
            requests: &[],
            requests_at_end: None,
            messages: &run.messages,
            given: Some(given),
            failure: run.failure.as_deref().map(marked),
        }))
    }

    /// Op `tools` in profile `universal`.
    fn any_agent<F: Form>(&self) -> Result<F, Error> {
        let messages = self.given()?;
        oracle::provider_valid(&messages).map_err(|fault| self.get("messages").error(fault.to_string()))?;
        let (mut model, mut tools) = (self.model()?, self.scripted(KeyedTools::read)?);
        let max_recursion_depth = self.limit("maxRecursionDepth")?.map(count);
        let options = ToolOptions { profile: Profile::Hardened, max_recursion_depth };
        let given = messages.clone();
        let run = run_tools(messages, &mut model, &mut tools, &options);
        let failure = run.failure.as_deref().map(marked);
        // The model is shown the beginning of one list, to which the run only adds.
        let shown = |request: &Vec<Message>| run.messages.get(..request.len());
        Ok(F::of(&Rounds {
            requests: model.requests(),
            requests_at_end: model.requests().iter().map(shown).collect(),
            messages: &run.messages,
            given: Some(given),
            failure,
        }))
    }

    fn outer_loop<F: Form>(&self, profile: Profile) -> Result<F, Error> {
        let requests = self.limit("maxToolCallsPerIteration")?.map(count);
        let options = LoopOptions {
            profile,
            mode: self.mode()?,
            instructions: self.optional_text("instructions")?,
            max_iterations: self.limit("maxIterations")?,
            max_tool_calls_per_iteration: requests.unwrap_or(LoopOptions::default().max_tool_calls_per_iteration),
        };
        let prompt = self.text("prompt")?;
        let (mut model, mut tools) = (self.model()?, self.scripted(ScriptedTools::read)?);
        let verify = |list: &Field<'_>| list.elements()?.map(|next| Verification::read(&next)).collect();
        let mut verifier = self.get("verify").optional().map(verify).transpose()?.map(ScriptedVerifier::new);
        let verifier = verifier.as_mut().map(|verifier| verifier as &mut dyn Verifier);
        let run = run_loop(&prompt, &mut model, &mut tools, verifier, &options);
        Ok(F::of(&OuterLoop {
            requests: model.requests(),
            events: &run.events,
            response: marked(&run.response),
            iterations: run.iterations,
            stop_reason: run.stop_reason.to_string(),
        }))
    }
}

/// A limit as a count; one that is too large for it is one that no run reaches.
fn count(limit: u64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(op: Op, input: &str) -> String {
        let request = Request::new(1, op, protocol::JudgeProfile::Hardened, input);
        match Reference.answer(&request) {
            Reply::Reject { kind, message } => format!("{kind}: {message}"),
            other => panic!("{input}: {other:?}"),
        }
    }

    #[test]
    fn a_refusal_names_the_field_and_what_was_expected() {
        let tools = |members: &str| format!(r#"{{"messages":[],"model":[],{members}}}"#);
        for (op, input, message) in [
            (Op::Escape, "[\"x\"]", "invalid-input: input: expected an object, found an array"),
            (Op::Escape, "{}", "invalid-input: text: missing, expected a string"),
            (Op::Escape, r#"{"text":["x"]}"#, "invalid-input: text: expected a string, found an array"),
            (Op::Serialize, "{}", "invalid-input: events: missing, expected an array"),
            (Op::Serialize, r#"{"events":{}}"#, "invalid-input: events: expected an array, found an object"),
            (
                Op::Serialize,
                r#"{"events":[["message","user","Hi",0]]}"#,
                "invalid-event: event 0 (line 1): event: expected an object, found an array",
            ),
            (
                Op::Messages,
                r#"{"events":[],"contextMode":"json"}"#,
                "invalid-input: contextMode \"json\": expected `standard` or `xml`",
            ),
            (
                Op::Messages,
                r#"{"events":[],"instructions":7}"#,
                "invalid-input: instructions: expected a string, found a number",
            ),
            (Op::Tools, r#"{"messages":[]}"#, "invalid-input: model: missing, expected an array"),
            (
                Op::Tools,
                r#"{"messages":[],"model":[["Hi",null]]}"#,
                "invalid-input: model[0]: expected an object, found an array",
            ),
            (
                Op::Tools,
                r#"{"messages":[{"type":"ai","content":"","tool_calls":[["c","t"]]}],"model":[]}"#,
                "invalid-input: messages[0].tool_calls[0]: expected an object, found an array",
            ),
            (Op::Tools, &tools(r#""tools":{"t":{}}"#), "invalid-input: tools.t: expected an array, found an object"),
            (
                Op::Tools,
                &tools(r#""maxRecursionDepth":1.5"#),
                "invalid-input: maxRecursionDepth: expected an integer from 0 to 2^53-1, found 1.5",
            ),
            (
                Op::Loop,
                r#"{"prompt":"Go","model":[],"verify":[[true]]}"#,
                "invalid-input: verify[0]: expected an object, found an array",
            ),
            (
                Op::Loop,
                r#"{"prompt":"Go","model":[{"error":"down","content":""}]}"#,
                "invalid-input: model[0]: either `error`, or `content` and `tool_calls`",
            ),
        ] {
            assert_eq!(refusal(op, input), message);
        }
        let deep = format!(r#"{{"text":{}1{}}}"#, "[".repeat(5000), "]".repeat(5000));
        let message = "invalid-input: text: not readable as JSON: nested deeper than 128 levels";
        assert_eq!(refusal(Op::Escape, &deep), message);
    }

    #[test]
    fn numbers_may_be_spelled_and_members_repeated_as_in_ecmascript() {
        let input = r#"{"prompt":"no","model":[],"model":[{"content":"no","content":"yes"}],"maxIterations":1.0,
            "maxToolCallsPerIteration":-0,"maxToolCallsPerIteration":2e0,"prompt":"Go"}"#;
        let request = Request::new(1, Op::Loop, protocol::JudgeProfile::Literal, input);
        let Reply::Ok(output) = Reference.answer(&request) else { panic!("it is refused") };
        assert_eq!(output["requests"], json!([[{"type": "human", "content": "Go"}]]));
        assert_eq!((&output["response"], &output["stopReason"]), (&json!("yes"), &json!("stop_condition")));
    }

    #[test]
    fn arguments_keep_lone_surrogates_and_texts_do_not() {
        let input = r#"{"events":[{"type":"tool_call","toolName":"\ud83d","toolCallId":"c","args":{"\ud83d":1,"\ud83e":"\ude00"},
            "iteration":1},{"type":"message","role":"user","content":"\udbf6\udc3d","iteration":1}]}"#;
        let request = Request::new(1, Op::Messages, protocol::JudgeProfile::Hardened, input);
        let call = r#"{"id":"c","name":"�","args":{"\ud83d":1,"\ud83e":"\ude00"}}"#;
        let missing = r#"{"type":"tool","content":"[No result recorded]","tool_call_id":"c"}"#;
        let human = "{\"type\":\"human\",\"content\":\"\u{10d83d}\"}";
        let messages = format!(r#"[{{"type":"ai","content":"","tool_calls":[{call}]}},{missing},{human}]"#);
        assert_eq!(Reference.line(&request), format!(r#"{{"id":1,"ok":{messages}}}"#));
    }
}
