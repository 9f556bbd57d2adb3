//! A run through a gateway that is over.

use super::gateway::Gateway;
use std::collections::VecDeque;
use threadspec::oracle::Api;
use threadspec_gateway::{ClientExchange, GateFinding, GatewayRun, compose_with, judge};
use threadspec_golden::clause;
use threadspec_judge::protocol::Reply;
use threadspec_judge::verdict::Outcome;
use threadspec_provider::{EndedRun, WireLevel};

/// A run through a gateway that is over.
#[derive(Debug)]
pub(super) struct EndedThrough {
    id: i64,
    run: EndedRun,
    exchanges: Vec<ClientExchange>,
    findings: Vec<GateFinding>,
    reply: Reply,
    /// True if others are why it failed.
    is_due_to_others: bool,
}

impl EndedThrough {
    pub(super) fn new(gateway: &Gateway, id: i64, run: EndedRun, exchanges: Vec<ClientExchange>, reply: Reply) -> Self {
        let mut ended = Self { id, run, exchanges, findings: Vec::new(), reply, is_due_to_others: false };
        ended.findings = judge(&ended.sides(gateway.client));
        ended
    }

    fn sides(&self, client: Api) -> GatewayRun<'_> {
        let EndedRun { plan, record } = &self.run;
        GatewayRun { client, plan, record, exchanges: &self.exchanges }
    }

    /// Returns whether a clause is broken that counts.
    pub(super) fn is_at_fault(&self) -> bool {
        self.findings.iter().any(|finding| finding.level == WireLevel::Must)
    }

    /// Returns whether the gateway gave an answer, or an error that passes, without having asked.
    pub(super) fn is_answered_by_gateway(&self, client: Api) -> bool {
        let attempts = self.sides(client).attempts().of_exchanges;
        attempts.iter().zip(&self.exchanges).any(|(attempts, exchange)| {
            let status = exchange.response.as_ref().map(|response| response.status);
            attempts.is_empty() && status.is_some_and(|status| status < 400 || status == 429 || status >= 500)
        })
    }

    /// Says that the run failed because of others: alone it does not.
    pub(super) fn blame_others(&mut self, when: &str) {
        let Some(found) = self.findings.iter().find(|finding| finding.level == WireLevel::Must).cloned() else {
            return;
        };
        let what = format!("{when} this failed, and alone it does not: {}: {}", found.clause, found.what);
        self.findings = vec![GateFinding { clause: clause::GATE_INDEPENDENT, what, ..found }];
        self.is_due_to_others = true;
    }

    /// Returns the outcome for a testee.
    pub(super) fn outcome(&self, gateway: &Gateway, is_of_agent: bool) -> Outcome {
        let run = self.sides(gateway.client);
        Outcome::Reply(compose_with(&run, &gateway.name, &self.findings, is_of_agent, self.reply.clone()))
    }

    /// Adds to runs what came with their marks when they were over. Returns those of which more is known now.
    pub(super) fn amend(ended: &mut VecDeque<Self>, gateway: &Gateway, is_of_agent: bool) -> Vec<(i64, Outcome)> {
        let is_own = |key: Option<&String>| ended.iter().any(|ended| key == Some(&ended.run.record.key));
        let late = gateway.server.take_strays(|stray| is_own(stray.key.as_ref()));
        let mut amended = Vec::new();
        for ended in ended {
            let own = late.iter().filter(|stray| stray.key.as_ref() == Some(&ended.run.record.key));
            let before = ended.run.record.strays.len();
            ended.run.record.strays.extend(own.cloned());
            if ended.run.record.strays.len() > before {
                if !ended.is_due_to_others {
                    ended.findings = judge(&ended.sides(gateway.client));
                }
                amended.push((ended.id, ended.outcome(gateway, is_of_agent)));
            }
        }
        amended
    }
}
