//! From what went over the wire to the output of op `session`.

#[cfg(test)]
mod tests;

use super::{KnownCall, Renamed};
use crate::judging::{WireFinding, judge};
use crate::plan::{RunPlan, SessionPlan};
use crate::record::{Attempt, WireRecord};
use serde_json::{Value, json};
use threadspec::oracle::Api;
use threadspec::surrogates::without_marks;
use threadspec_apis::{ApiRequest, OpaquePart, WireMessage};
use threadspec_judge::protocol::{Reply, Speaker};

/// Composes the reply of a testee whose model was the provider in all runs of a session: its own reply, with the requests of each run as
/// they went over the wire, and in `wire` the real answers and the findings.
pub(super) fn compose(plan: &RunPlan, session: &SessionPlan, record: &WireRecord, mut output: Value) -> Reply {
    let asks = SessionAsks::of(plan, session, record);
    let (mut reported, mut said) = (0, Vec::new());
    for (run, report) in output["runs"].as_array_mut().into_iter().flatten().enumerate() {
        reported = run + 1;
        let own = || asks.0.iter().filter(|ask| ask.run == run);
        said.push(own().filter_map(|ask| ask.said.clone()).collect::<Value>());
        let Some(report) = report.as_object_mut() else { continue };
        let requests: Vec<Value> = own().filter(|ask| ask.said.is_some()).map(|ask| ask.messages.clone()).collect();
        // Who does not see the requests takes an early end for a refusal.
        if !requests.is_empty()
            && let Some(words) = report.remove("refused")
        {
            report.entry("failure").or_insert(words);
        }
        let summaries: Vec<Value> = own().filter(|ask| ask.said.is_none()).map(|ask| ask.messages.clone()).collect();
        report.insert("requests".to_owned(), requests.into());
        report.remove("summaries");
        if !summaries.is_empty() {
            report.insert("summaries".to_owned(), summaries.into());
        }
    }
    let finding = |finding: &WireFinding| {
        let what = in_runs(session, record, &finding.what);
        WireFinding { what, ..finding.clone() }.to_json()
    };
    let mut wire = json!({
        "api": plan.api.to_string(),
        "stream": plan.stream,
        "said": said,
        "findings": judge(plan, record).iter().map(finding).collect::<Vec<_>>(),
    });
    if record.attempts.iter().filter_map(|attempt| attempt.request.as_ref()).any(|request| request.thinks_freely) {
        wire["adaptive"] = true.into();
    }
    if let Some(why) = unsupported(plan, session, record, reported) {
        wire["unsupported"] = why.into();
    }
    if let Some(members) = output.as_object_mut() {
        members.retain(|name, _| name == "runs");
        members.insert("wire".to_owned(), wire);
    }
    Reply::Ok(output)
}

/// The asks of all runs that could be read.
struct SessionAsks(Vec<SessionAsk>);

/// An ask, in the words of op `session`.
struct SessionAsk {
    run: usize,
    messages: Value,
    /// The turn that was sent; `None` of a summary.
    said: Option<Value>,
}

impl SessionAsks {
    fn of(plan: &RunPlan, session: &SessionPlan, record: &WireRecord) -> Self {
        let (mut asks, mut known, mut renamed) = (Vec::new(), Vec::<KnownCall>::new(), Renamed::default());
        for (ask, place) in places(session, record) {
            let Some(last) = record.attempts_of(ask).rfind(|attempt| attempt.request.is_some()) else { continue };
            let Some(request) = &last.request else { continue };
            let mut messages = request.messages.clone();
            renamed.settle(plan, &known, &mut messages);
            let said = place.turn.map(|turn| said_by(session, place.run, turn, last));
            asks.push(SessionAsk { run: place.run, messages: written(request, messages), said });
            let said = last.said.iter().flat_map(|said| &said.calls);
            known.extend(said.map(|call| KnownCall { id: call.id.clone(), name: call.name.clone() }));
        }
        Self(asks)
    }
}

/// Where an ask is in the script: in which run, and which turn answers it; none of a summary.
struct AskPlace {
    run: usize,
    turn: Option<usize>,
}

/// The asks that could be read, with their places.
fn places<'a>(session: &'a SessionPlan, record: &'a WireRecord) -> impl Iterator<Item = (usize, AskPlace)> {
    let (mut current, mut asks, mut turns) = (None, 0, 0);
    (0..record.asks()).filter_map(move |ask| {
        let run = record.run_of(ask);
        if current != Some(run) {
            (current, asks, turns) = (Some(run), 0, 0);
        }
        let request = record.attempts_of(ask).find_map(|attempt| attempt.request.as_ref())?;
        let is_for_summary = session.is_for_summary(run, asks == 0, request);
        asks += 1;
        turns += usize::from(!is_for_summary);
        Some((ask, AskPlace { run, turn: (!is_for_summary).then(|| turns - 1) }))
    })
}

/// The turn that was sent to an ask: that of the script, or an error.
fn said_by(session: &SessionPlan, run: usize, turn: usize, last: &Attempt) -> Value {
    let script = session.runs.get(run).and_then(|run| run.turns.get(turn)).map(|turn| &turn.script);
    let is_said = last.status == Some(200) && last.said.is_some();
    match script {
        Some(script) if is_said || !script["error"].is_null() => script.clone(),
        _ => json!({"error": last.error.as_deref().unwrap_or("there was no answer")}),
    }
}

/// The messages of a request, with opaque parts that are beside none of them as messages of their own.
fn written(request: &ApiRequest, mut messages: Vec<WireMessage>) -> Value {
    for part in &request.loose {
        let at = messages.iter().position(|message| number(&message.place) > number(&part.place));
        let at = at.unwrap_or(messages.len());
        messages.insert(at, alone(part));
    }
    messages.iter().map(WireMessage::to_session_json).collect()
}

fn alone(part: &OpaquePart) -> WireMessage {
    WireMessage {
        speaker: Speaker::Ai,
        content: String::new(),
        seams: Vec::new(),
        calls: Vec::new(),
        call_id: None,
        is_error: false,
        opaque: vec![part.clone()],
        images: Vec::new(),
        place: part.place.clone(),
    }
}

/// The position in a place such as `input[3]`.
fn number(place: &str) -> Option<usize> {
    place.split_once('[')?.1.split_once(']')?.0.parse().ok()
}

/// A finding with the place in its run: "request 3" of all is "run 2, request 1" of the session, or "run 2, summary".
fn in_runs(session: &SessionPlan, record: &WireRecord, what: &str) -> String {
    let numbered = what.strip_prefix("request ").and_then(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        Some((rest[..end].parse::<usize>().ok()?.checked_sub(1)?, &rest[end..]))
    });
    let Some((ask, rest)) = numbered else { return what.to_owned() };
    match places(session, record).find(|(other, _)| *other == ask) {
        Some((_, AskPlace { run, turn: Some(turn) })) => format!("run {}, request {}{rest}", run + 1, turn + 1),
        Some((_, AskPlace { run, turn: None })) => format!("run {}, summary{rest}", run + 1),
        None => format!("run {}{rest}", record.run_of(ask) + 1),
    }
}

/// Why the session shows nothing with this agent.
fn unsupported(plan: &RunPlan, session: &SessionPlan, record: &WireRecord, reported: usize) -> Option<String> {
    if record.runs.len() < reported {
        let next = record.runs.len() + 1;
        return Some(format!("nobody announced that run {next} begins: POST to `runs/{next}` behind the base URL"));
    }
    if let [first, ..] = session.unsaid_kinds(plan.api)[..] {
        return Some(format!("{} has no opaque parts of the kind `{first}`", plan.api));
    }
    if let Some(why) = super::unsupported(plan, record).or_else(|| super::unsayable(plan, record)) {
        return Some(why);
    }
    let requests = || record.attempts.iter().filter_map(|attempt| attempt.request.as_ref());
    let is_sealed = plan.api == Api::OpenAiResponses && plan.reasoning && requests().next().is_some();
    if is_sealed && !requests().any(ApiRequest::wants_encrypted_reasoning) {
        return Some("no request asks for encrypted reasoning".to_owned());
    }
    places(session, record).find_map(|(ask, place)| {
        let turn = session.runs.get(place.run)?.turns.get(place.turn?)?;
        let request = record.attempts_of(ask).rev().find_map(|attempt| attempt.request.as_ref())?;
        let agent = turn.said_to(request).err()?;
        Some(format!("no tool of a request hands over to the agent `{}`", without_marks(agent)))
    })
}
