//! From both sides of a gateway to the output of op `tools`, which the judge of profile `universal` reads.

use crate::finding::GateFinding;
use crate::judging::judge;
use crate::run::GatewayRun;
use serde_json::Value;
use threadspec_judge::protocol::Reply;

/// Of how many findings of a run both sides are shown.
const SHOWN: usize = 3;

/// The reply of a client whose requests went through a gateway: what it said itself, with the requests as they arrived, and in `wire` what was
/// said, what was found, which API the client spoke (`client`), and what the gateway is called (`through`).
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
/// assert_eq!((&output["wire"]["through"], &output["wire"]["client"]), (&json!("litellm"), &json!("openai-chat")));
/// ```
pub fn compose(run: &GatewayRun<'_>, name: &str, reply: Reply) -> Reply {
    let mut composed = threadspec_provider::compose(run.plan, run.record, reply);
    if let Reply::Ok(output) = &mut composed
        && let Some(Value::Object(wire)) = output.get_mut("wire")
    {
        wire.insert("client".to_owned(), run.client.to_string().into());
        wire.insert("through".to_owned(), name.into());
        // They name all that is wrong behind the gateway; an agent would be judged by the clauses WIRE-*.
        let findings = judge(run);
        // Both sides of the first ones fit on a screen.
        let shown = |(number, finding): (usize, &GateFinding)| match number {
            0..SHOWN => finding.to_json(),
            _ => finding.in_short().to_json(),
        };
        wire.insert("findings".to_owned(), findings.iter().enumerate().map(shown).collect());
    }
    composed
}
