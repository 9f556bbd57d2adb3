//! From both sides of a gateway to the output of op `tools`, which the judge of profile `universal` reads.

use crate::finding::GateFinding;
use crate::judging::judge;
use crate::run::GatewayRun;
use serde_json::Value;
use threadspec::oracle::Api;
use threadspec_golden::clause;
use threadspec_judge::protocol::{Reply, facts};
use threadspec_judge::universal::value;
use threadspec_provider::{Overheard, RunPlan, overheard, unsayable, unsupported};

/// The number of findings of a run of which both sides are shown.
const SHOWN: usize = 3;

/// Composes the reply of a client of ours whose requests went through a gateway: its own reply, with the requests as it sent them, and in
/// `wire` the answers that it read, the findings between both sides, and the name of the gateway (`through`).
///
/// Judges the client by what it received, so that each change of a gateway is the gateway's alone, and named by a clause GATE-*.
///
/// ```
/// use serde_json::json;
/// use std::time::Duration;
/// use threadspec::oracle::Api;
/// use threadspec_gateway::{GatewayRun, compose};
/// use threadspec_judge::protocol::Reply;
/// use threadspec_provider::{Engine, EngineOptions, RunPlan};
///
/// let mut engine = Engine::new(EngineOptions::default());
/// engine.begin(Duration::ZERO, "q8Zr", RunPlan::of_turns(Api::Anthropic, Vec::new()));
/// let ended = engine.end(Duration::from_secs(1), "q8Zr").expect("the run is known");
/// let run = GatewayRun { client: Api::OpenAiChat, plan: &ended.plan, record: &ended.record, exchanges: &[] };
/// let Reply::Ok(output) = compose(&run, "litellm", Reply::Ok(json!({"messages": []}))) else { panic!("an output") };
/// assert_eq!((&output["wire"]["api"], &output["wire"]["through"]), (&json!("openai-chat"), &json!("litellm")));
/// ```
pub fn compose(run: &GatewayRun<'_>, name: &str, reply: Reply) -> Reply {
    compose_with(run, name, &judge(run), false, reply)
}

/// Composes the reply with these findings. What an agent did that is not ours is judged by the clauses WIRE-* as well, beside what the
/// gateway did.
pub fn compose_with(
    run: &GatewayRun<'_>,
    name: &str,
    findings: &[GateFinding],
    is_of_agent: bool,
    reply: Reply,
) -> Reply {
    let RunPlan { stream, reasoning, given, tools, .. } = run.plan;
    let plan = RunPlan {
        stream: *stream,
        reasoning: *reasoning,
        given: given.clone(),
        tools: tools.clone(),
        ..RunPlan::of_turns(run.client, Vec::new())
    };
    let exchanges = run.exchanges.iter().map(|exchange| Overheard {
        began: exchange.began,
        ended: exchange.ended,
        request: &exchange.request,
        response: exchange.response.as_ref(),
    });
    let record = overheard(&plan, exchanges);
    let mut composed = threadspec_provider::compose(&plan, &record, reply);
    let Reply::Ok(output) = &mut composed else { return composed };
    let Some(Value::Object(wire)) = output.get_mut("wire") else { return composed };
    // Both sides of the first ones fit on a screen.
    let shown = |(number, finding): (usize, &GateFinding)| match number {
        0..SHOWN => finding.to_json(),
        _ => finding.in_short().to_json(),
    };
    let mut all: Vec<Value> = findings.iter().enumerate().map(shown).collect();
    if let Some(Value::Array(own)) = wire.get_mut("findings").filter(|_| is_of_agent) {
        all.append(own);
    }
    wire.insert("findings".to_owned(), all.into());
    wire.insert("through".to_owned(), name.into());
    // What the client received and no model can have sent is the gateway's fault.
    // A client that asked for a stream and got none misses it, however the gateway asked.
    let is_missed = findings.iter().any(|finding| finding.clause == clause::GATE_STREAM);
    let behind = unsupported(run.plan, run.record).filter(|_| !is_missed);
    let behind = behind.or_else(|| unsayable(run.plan, run.record));
    match behind.or_else(|| untellable(run)).or_else(|| unsupported(&plan, &record)) {
        Some(why) => drop(wire.insert("unsupported".to_owned(), why.into())),
        None => drop(wire.remove("unsupported")),
    }
    composed
}

/// Returns the part of the answers that the client's API cannot express.
fn untellable(run: &GatewayRun<'_>) -> Option<String> {
    let is_plain = run.client == Api::Anthropic && !run.plan.stream;
    let is_raw = |arguments: &str| {
        !value::read(if arguments.is_empty() { "{}" } else { arguments }).is_ok_and(|arguments| arguments.is_object())
    };
    let calls = || run.record.attempts.iter().filter_map(|attempt| attempt.said.as_ref()).flat_map(|said| &said.calls);
    let has_raw = is_plain && calls().any(|call| is_raw(&call.arguments));
    let has_empty_id = facts(run.plan.api).needs_ids && calls().any(|call| call.id.is_empty());
    if has_empty_id {
        return Some("the model gives a call no id, and the upstream's API needs one".to_owned());
    }
    has_raw.then(|| "arguments that are no JSON are sent in streams only".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::time::Duration;
    use threadspec_provider::{Engine, EngineOptions, Received, WireTurn};

    /// No gateway can pass on a call without an id where the API demands one.
    #[test]
    fn an_empty_id_of_an_api_that_needs_ids_is_nobodys_fault() {
        for (api, path, is_unsupported) in
            [(Api::Anthropic, "/v1/messages", true), (Api::OpenAiChat, "/v1/chat/completions", false)]
        {
            let mut engine = Engine::new(EngineOptions::default());
            let turns =
                WireTurn::read_all(r#"[{"tool_calls": [{"id": "", "name": "look"}]}]"#, "model").expect("turns");
            engine.begin(Duration::ZERO, "k", RunPlan::of_turns(api, turns));
            let body = json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Go"}]});
            let headers = [("x-api-key", "k"), ("anthropic-version", "2026-10-21")];
            let received = Received {
                method: "POST".into(),
                target: path.into(),
                headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
                body: Ok(body.to_string().into_bytes()),
            };
            let (attempt, _) = engine.receive(Duration::ZERO, received);
            engine.delivered(Duration::ZERO, attempt, true);
            let ended = engine.end(Duration::ZERO, "k").expect("the run");
            let run = GatewayRun { client: Api::OpenAiChat, plan: &ended.plan, record: &ended.record, exchanges: &[] };
            assert_eq!(untellable(&run).is_some(), is_unsupported, "{api}");
        }
    }
}
