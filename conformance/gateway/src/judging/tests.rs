//! Runs whose faults are known.

use super::judge;
use crate::run::GatewayRun;
use std::time::Duration;
use threadspec::oracle::Api;
use threadspec_provider::{RunPlan, Stray, StrayReason, WireRecord};

fn record(strays: Vec<Stray>) -> WireRecord {
    let (began, ended) = (Duration::ZERO, Duration::from_secs(1));
    let (attempts, runs) = (Vec::new(), Vec::new());
    WireRecord { api: Api::Anthropic, key: "sha256:0".to_owned(), began, ended, attempts, strays, runs }
}

#[test]
fn what_comes_astray_was_not_asked() {
    let plan = RunPlan::of_turns(Api::Anthropic, Vec::new());
    for (method, why, clause) in [
        ("POST", StrayReason::NoKey, Some("GATE-FORWARD")),
        ("POST", StrayReason::OtherApi, Some("GATE-FORWARD")),
        ("POST", StrayReason::Late, Some("GATE-INDEPENDENT")),
        ("GET", StrayReason::Path, None),
    ] {
        let (method, target) = (method.to_owned(), "/v1/x".to_owned());
        let stray = Stray { at: Duration::ZERO, method, target, key: None, status: 404, why };
        let record = record(vec![stray]);
        let run = GatewayRun { client: Api::OpenAiChat, plan: &plan, record: &record, exchanges: &[] };
        let found: Vec<&str> = judge(&run).iter().map(|finding| finding.clause).collect();
        assert_eq!(found, clause.into_iter().collect::<Vec<_>>(), "{why:?}");
    }
}
