//! Composes the output of op `tools`, which the judge of profile `universal` reads, from what went over the wire.

mod session;

use crate::judging::{WireFinding, judge};
use crate::plan::RunPlan;
use crate::record::{Attempt, Said, SaidByModel, WireRecord};
use serde_json::{Map, Value, json};
use std::collections::{HashMap, VecDeque};
use threadspec::oracle::Api;
use threadspec_apis::WireMessage;
use threadspec_judge::json::{list, text};
use threadspec_judge::protocol::{RejectKind, Reply, ServerDialect, Speaker, facts};
use threadspec_judge::universal::{can_be_declared, value};

/// Composes the reply of a testee whose model was the provider: its own reply, with the requests as they went over the wire, and in `wire`
/// the real answers and the findings.
///
/// A refusal before the model was asked stays one. If the model was never asked and the testee says that it failed, it refused.
pub fn compose(plan: &RunPlan, record: &WireRecord, reply: Reply) -> Reply {
    if let Some(session) = &plan.session {
        return match reply {
            Reply::Ok(output) => session::compose(plan, session, record, output),
            other => other,
        };
    }
    let was_silent = record.attempts.is_empty() && record.strays.is_empty();
    let mut output = match reply {
        Reply::Unsupported(_) | Reply::Cut { .. } => return reply,
        Reply::Reject { .. } if was_silent => return reply,
        Reply::Reject { message, .. } => json!({ "failure": message }),
        Reply::Ok(Value::Object(members)) => Value::Object(members),
        Reply::Ok(_) => json!({}),
    };
    let failure = text(&output["failure"]);
    if was_silent && !failure.is_empty() {
        return Reply::Reject { kind: RejectKind::InvalidInput, message: failure.to_owned() };
    }
    let asks = Asks::of(plan, record);
    if let Some(members) = output.as_object_mut() {
        members.retain(|name, _| ["messages", "given", "failure"].contains(&name.as_str()));
        let mut whole = Map::new();
        whole.insert("requests".to_owned(), asks.requests.into());
        whole.append(members);
        let mut wire = json!({
            "api": plan.api.to_string(),
            "stream": plan.stream,
            "said": asks.said,
            "findings": judge(plan, record).iter().map(WireFinding::to_json).collect::<Vec<_>>(),
        });
        if let Some(why) = unsupported(plan, record).or_else(|| unsayable(plan, record)) {
            wire["unsupported"] = why.into();
        }
        whole.insert("wire".to_owned(), wire);
        *members = whole;
    }
    Reply::Ok(output)
}

/// The asks of a run, in the words of op `tools`.
#[derive(Debug, Default)]
struct Asks {
    requests: Vec<Value>,
    said: Vec<Value>,
}

impl Asks {
    fn of(plan: &RunPlan, record: &WireRecord) -> Self {
        let mut asks = Self::default();
        let mut known: Vec<KnownCall> = plan.given.iter().flat_map(given_calls).collect();
        let mut renamed = Renamed::default();
        for ask in 0..record.asks() {
            // What nobody could read has no messages, and is a finding of its own.
            let Some(last) = record.attempts_of(ask).rfind(|attempt| attempt.request.is_some()) else { continue };
            let mut messages = last.request.as_ref().map(|request| request.messages.clone()).unwrap_or_default();
            renamed.settle(plan, &known, &mut messages);
            asks.requests.push(messages.iter().map(WireMessage::to_json).collect());
            asks.said.push(gone_on_from(record, last).map_or_else(|| said_by(last), |message| part_of(last, message)));
            let said = last.said.iter().flat_map(|said| said.whole_calls(&last.came));
            known.extend(said.map(|call| KnownCall { id: call.id.clone(), name: call.name.clone() }));
        }
        asks
    }
}

/// Gives calls with an empty id their places as ids, and answers without one those of the calls before them, in order.
fn name_by_place(messages: &mut [WireMessage]) {
    let mut open = VecDeque::new();
    for message in messages {
        if message.speaker == Speaker::Ai {
            open.clear();
        }
        for call in message.calls.iter_mut().filter(|call| call.id.is_empty()) {
            call.id.clone_from(&call.place);
            open.push_back(call.id.clone());
        }
        if message.speaker == Speaker::Tool && message.call_id.as_deref().unwrap_or_default().is_empty() {
            message.call_id = open.pop_front();
        }
    }
}

fn given_calls(message: &Value) -> impl Iterator<Item = KnownCall> {
    let owned = |value: &Value| text(value).to_owned();
    list(&message["tool_calls"])
        .iter()
        .map(move |call| KnownCall { id: owned(&call["id"]), name: owned(&call["name"]) })
}

/// The message with which the next request goes on from an answer that broke off, if it does.
fn gone_on_from<'a>(record: &'a WireRecord, last: &Attempt) -> Option<&'a WireMessage> {
    let earlier = last.request.as_ref().filter(|_| last.failed())?.messages.len();
    let next = record.attempts_of(last.ask + 1).find_map(|attempt| attempt.request.as_ref())?;
    let message = next.messages.get(earlier).filter(|message| message.speaker == Speaker::Ai)?;
    last.came.text.starts_with(&message.content).then_some(message)
}

/// Returns the part of a broken answer from which the agent goes on. It has as much of the text as the client has read, and those of its
/// whole calls that are sent.
fn part_of(last: &Attempt, message: &WireMessage) -> Value {
    let mut turn = Map::new();
    turn.insert("content".to_owned(), message.content.as_str().into());
    let whole = last.said.iter().flat_map(|said| said.whole_calls(&last.came));
    let is_sent = |call: &&SaidByModel| message.calls.iter().any(|sent| sent.id == call.id);
    let calls: Vec<Value> = whole.filter(is_sent).map(call).collect();
    if calls.is_empty() {
        // A text that was cut off, behind which the model may be asked again.
        turn.insert("stop".to_owned(), "length".into());
    } else {
        turn.insert("tool_calls".to_owned(), calls.into());
    }
    turn.into()
}

/// Returns the answer to an ask as a turn: an error with the parts that came whole before it, if it failed for good.
fn said_by(attempt: &Attempt) -> Value {
    let mut turn = Map::new();
    if attempt.failed() {
        let error = attempt.error.as_deref().unwrap_or("the answer broke off");
        turn.insert("error".to_owned(), error.into());
    }
    let Some(said) = &attempt.said else { return turn.into() };
    let failed = attempt.failed();
    let content = if failed { &attempt.came.text } else { said.refusal.as_ref().unwrap_or(&said.text) };
    if !failed || !content.is_empty() {
        turn.insert("content".to_owned(), content.as_str().into());
    }
    let calls: Vec<Value> = said.whole_calls(&attempt.came).map(call).collect();
    if !calls.is_empty() {
        turn.insert("tool_calls".to_owned(), calls.into());
    }
    let Said { refusal, stop, .. } = said;
    let others = [("refusal", refusal), ("stop", stop)].into_iter();
    turn.extend(others.filter_map(|(name, text)| Some((name.to_owned(), text.clone()?.into()))));
    turn.into()
}

fn call(said: &SaidByModel) -> Value {
    let SaidByModel { id, name, arguments } = said;
    json!({"id": id, "name": name, "args": args(arguments)})
}

/// The value of arguments; text that is none of an object stays a text.
fn args(arguments: &str) -> Value {
    if arguments.is_empty() {
        return json!({});
    }
    value::read(arguments).ok().filter(Value::is_object).unwrap_or_else(|| arguments.into())
}

/// Why the case cannot be judged with this agent.
pub fn unsupported(plan: &RunPlan, record: &WireRecord) -> Option<String> {
    let requests: Vec<_> = record.attempts.iter().filter_map(|attempt| attempt.request.as_ref()).collect();
    if requests.is_empty() {
        return None;
    }
    if let Some(why) = plan.contradiction() {
        return Some(format!("the dialect contradicts the case: {why}"));
    }
    if plan.stream && !requests.iter().any(|request| request.stream) {
        return Some("no request asks the provider for a stream".to_owned());
    }
    if plan.reasoning && !requests.iter().any(|request| request.thinking) {
        return Some("no request switches the model's thinking on".to_owned());
    }
    None
}

/// Returns why this API cannot express the model's answer, or not for these requests.
pub fn unsayable(plan: &RunPlan, record: &WireRecord) -> Option<String> {
    record.attempts.iter().find_map(|attempt| {
        let (request, said) = (attempt.request.as_ref()?, attempt.said.as_ref()?);
        let is_raw = said.calls.iter().any(|call| !args(&call.arguments).is_object());
        match plan.api {
            Api::Anthropic if is_raw && !attempt.streamed => {
                return Some("arguments that are no JSON are sent in streams only".to_owned());
            }
            Api::Gemini if is_raw => return Some("the arguments of this API are always an object".to_owned()),
            Api::Gemini if said.refusal.is_some() => return Some("this API has no refusals".to_owned()),
            _ => {}
        }
        let why = request.forbids(said.calls.iter().map(|call| call.name.as_str()))?;
        Some(format!("a request contradicts what the model is to say: {why}"))
    })
}

// Ids and names that the API refuses are sent in another form. Here they get their own back, so that the judge compares what was sent.

/// A call that an agent was given or that the model sent.
#[derive(Clone, Debug, PartialEq, Eq)]
struct KnownCall {
    id: String,
    name: String,
}

/// The replacements of ids and of names: one to one.
#[derive(Debug, Default)]
struct Renamed {
    ids: OneToOne,
    names: OneToOne,
}

/// Texts that represent others.
#[derive(Debug, Default)]
struct OneToOne {
    own: HashMap<String, String>,
    sent: HashMap<String, String>,
}

impl OneToOne {
    /// Notes that one text was sent for another, unless either represents something else already.
    fn note(&mut self, own: &str, sent: &str) {
        let is_new =
            self.own.get(sent).is_none_or(|other| other == own) && self.sent.get(own).is_none_or(|other| other == sent);
        if is_new {
            self.own.insert(sent.to_owned(), own.to_owned());
            self.sent.insert(own.to_owned(), sent.to_owned());
        }
    }

    fn restore(&self, text: &mut String) {
        if let Some(own) = self.own.get(text) {
            own.clone_into(text);
        }
    }
}

impl Renamed {
    /// Gives the calls and answers of a request the ids and names that are known.
    fn settle(&mut self, plan: &RunPlan, known: &[KnownCall], messages: &mut [WireMessage]) {
        let lacks_ids = plan.dialect == Some(ServerDialect::EmptyIds);
        if lacks_ids {
            name_by_place(messages);
        }
        self.learn(plan.api, known, messages, lacks_ids);
        self.restore(messages);
    }

    /// Lays the calls of a request beside those that are known, in their order.
    fn learn(&mut self, api: Api, known: &[KnownCall], messages: &[WireMessage], lacks_ids: bool) {
        let is_known = |own: &dyn Fn(&KnownCall) -> &str, sent: &str| known.iter().any(|call| own(call) == sent);
        for (call, sent) in known.iter().zip(messages.iter().flat_map(|message| &message.calls)) {
            if call.name != sent.name && can_be_declared(api, &call.name) {
                // Other calls are here.
                return;
            }
            let is_kept = || messages.iter().flat_map(|message| &message.calls).any(|sent| sent.id == call.id);
            // Where another call has it still, it was not its form: the model sent it twice.
            let may_differ = lacks_ids || refuses_id(api, &call.id) || (sent.has_no_id() && !call.id.is_empty());
            if call.id != sent.id && may_differ && !is_known(&|call| &call.id, &sent.id) && !is_kept() {
                self.ids.note(&call.id, &sent.id);
            }
            if call.name != sent.name && !is_known(&|call| &call.name, &sent.name) {
                self.names.note(&call.name, &sent.name);
            }
        }
    }

    /// Gives the calls and answers of a request their own ids and names back.
    fn restore(&self, messages: &mut [WireMessage]) {
        if self.ids.own.is_empty() && self.names.own.is_empty() {
            return;
        }
        for message in messages {
            message.call_id.iter_mut().for_each(|id| self.ids.restore(id));
            for call in &mut message.calls {
                self.ids.restore(&mut call.id);
                self.names.restore(&mut call.name);
            }
        }
    }
}

/// Returns whether the API refuses an id for its form (OAI-CHAT-ID-LEN, OAI-RESP-CALLID-LEN, ANT-ID-PATTERN).
fn refuses_id(api: Api, id: &str) -> bool {
    let facts = facts(api);
    let is_missing = facts.needs_ids && id.is_empty();
    is_missing || id.chars().count() > facts.longest_id || api == Api::Anthropic && !is_plain(id)
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Came;
    use std::time::Duration;
    use threadspec_apis::ApiRequest;

    fn attempt(ask: usize, messages: &Value, came: Came) -> Attempt {
        let body = json!({"model": "m", "messages": messages});
        let said = Said {
            text: "I look.".into(),
            calls: vec![SaidByModel { id: "c1".into(), name: "look".into(), arguments: "{}".into() }],
            ..Said::default()
        };
        Attempt {
            at: Duration::ZERO,
            ended: None,
            api: Api::OpenAiChat,
            target: String::new(),
            beta: String::new(),
            ask,
            body: body.to_string(),
            resolved: None,
            request: Some(ApiRequest::read(Api::OpenAiChat, &body)),
            breaches: Vec::new(),
            problem: None,
            status: Some(200),
            error: None,
            fault: None,
            said: Some(said),
            came,
            streamed: true,
            delivered: Some(true),
        }
    }

    fn said(second: Option<&Value>) -> Value {
        let user = json!({"role": "user", "content": "Go"});
        let came = Came { text: "I lo".into(), calls: vec![0], ..Came::default() };
        let mut attempts = vec![attempt(0, &json!([user]), came)];
        attempts.extend(second.map(|message| {
            let answer = json!({"role": "tool", "tool_call_id": "c1", "content": "r"});
            attempt(1, &json!([user, message, answer]), Came { whole: true, ..Came::default() })
        }));
        let (began, ended, strays) = (Duration::ZERO, Duration::ZERO, Vec::new());
        let record =
            WireRecord { api: Api::OpenAiChat, key: String::new(), began, ended, attempts, strays, runs: Vec::new() };
        Asks::of(&RunPlan::of_turns(Api::OpenAiChat, Vec::new()), &record).said.swap_remove(0)
    }

    #[test]
    fn an_answer_that_broke_off_is_a_failure_unless_the_agent_goes_on_from_it() {
        let look = json!([{"id": "c1", "name": "look", "args": {}}]);
        let broken = json!({"error": "the answer broke off", "content": "I lo", "tool_calls": look});
        assert_eq!(said(None), broken);
        let sent = |content: &str| {
            let call = json!({"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}});
            json!({"role": "assistant", "content": content, "tool_calls": [call]})
        };
        for part in ["I lo", ""] {
            assert_eq!(said(Some(&sent(part))), json!({"content": part, "tool_calls": look}));
        }
        assert_eq!(said(Some(&sent("Sorry"))), broken);
    }
}
