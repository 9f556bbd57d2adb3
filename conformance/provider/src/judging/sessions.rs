//! WIRE-TOOLS in a session: each request declares the tools of one of its agents, and may declare those that hand over beside them.

use super::tools::{names, shown, wrong_by_itself};
use super::{WireFindings, numbered};
use crate::record::WireRecord;
use crate::session::{SessionAgentPlan, SessionPlan};
use std::collections::BTreeSet;
use threadspec::oracle::Api;
use threadspec_golden::clause;
use threadspec_judge::universal::can_be_declared;

pub(super) fn judge_tools(api: Api, session: &SessionPlan, record: &WireRecord, findings: &mut WireFindings) {
    for ask in 0..record.asks() {
        let Some(one) = numbered(record, ask).find(|one| one.attempt.request.is_some()) else { continue };
        let Some(request) = &one.attempt.request else { continue };
        let run = record.run_of(ask);
        let is_first = record.runs.get(run).is_none_or(|first| *first == ask);
        let declared = names(request);
        let found = wrong_by_itself(request)
            .or_else(|| lost(api, session, &declared).filter(|_| !session.is_for_summary(run, is_first, request)));
        if let Some(what) = found {
            findings.must(clause::WIRE_TOOLS, format!("{one}: {what}"));
            return;
        }
    }
}

/// A tool that is not declared; `None` if all tools of one of the agents are.
fn lost(api: Api, session: &SessionPlan, declared: &BTreeSet<&str>) -> Option<String> {
    let lost = |agent: &SessionAgentPlan| {
        agent.tools.iter().find(|name| can_be_declared(api, name) && !declared.contains(name.as_str())).cloned()
    };
    let lost: Option<Vec<String>> = session.agents.iter().map(lost).collect();
    let name = lost?.into_iter().next()?;
    Some(format!("the tool `{name}` is not declared, but {}", shown(declared)))
}
