//! WIRE-KEY: whose key an attempt carries, and when it comes.

use super::{bug, on_sent};
use crate::agent::RunState;
use crate::planted::Planted;
use crate::wire::WireAgent;
use crate::wire::modes::ALL;
use serde_json::{Value, json};
use threadspec_golden::clause;
use threadspec_judge::json::text;
use threadspec_provider::client::ClientRequest;

const KEY: &[&str] = &[clause::WIRE_KEY];

/// Replaces the key of an attempt.
fn set_key(request: &mut ClientRequest, key: &str) {
    for (name, value) in &mut request.headers {
        if name == "authorization" {
            *value = format!("Bearer {key}");
        }
    }
}

/// Changes the key of some attempts.
fn on_key(agent: &mut WireAgent, change: impl Fn(&mut RunState, &str) -> Option<String> + Send + Sync + 'static) {
    on_sent(agent, move |run, request| {
        let key = run.wire.endpoint.api_key.clone();
        if let Some(key) = change(run, &key) {
            set_key(request, &key);
        }
    });
}

/// Remembers a key over runs.
fn remember(agent: &mut WireAgent, keep: fn(&Value, &str) -> Value) {
    on_key(agent, move |run, own| {
        let known = &run.memory["key"];
        let key = if known.is_string() { text(known).to_owned() } else { own.to_owned() };
        run.memory = json!({"key": keep(known, own)});
        Some(key)
    });
}

pub(super) fn bugs() -> Vec<Planted> {
    vec![
        bug("key-of-the-first-run-for-ever", KEY, ALL, |agent| {
            remember(agent, |known, own| if known.is_null() { own.into() } else { known.clone() });
        }),
        bug("key-of-the-run-before-for-the-first-attempt", KEY, ALL, |agent| remember(agent, |_, own| own.into())),
        bug("key-missing", KEY, ALL, |agent| {
            on_sent(agent, |_, request| request.headers.retain(|(name, _)| name != "authorization"));
        }),
        bug("key-missing-on-a-retry", KEY, ALL, |agent| {
            on_sent(agent, |run, request| {
                if run.wire.attempt > 0 {
                    request.headers.retain(|(name, _)| name != "authorization");
                }
            });
        }),
        bug("key-missing-from-the-second-ask-on", KEY, ALL, |agent| {
            on_sent(agent, |run, request| {
                if run.turn > 1 {
                    request.headers.retain(|(name, _)| name != "authorization");
                }
            });
        }),
        bug("key-of-the-environment", KEY, ALL, |agent| on_key(agent, |_, _| Some("sk-test".to_owned()))),
        bug("key-cut-to-32-characters", KEY, ALL, |agent| on_key(agent, |_, key| Some(crate::wire::cut(key, 32)))),
        bug("key-in-capitals", KEY, ALL, |agent| on_key(agent, |_, key| Some(key.to_uppercase()))),
        bug("key-twice-in-one-header", KEY, ALL, |agent| on_key(agent, |_, key| Some(format!("{key}, Bearer {key}")))),
        bug("key-of-the-environment-on-the-second-retry", KEY, ALL, |agent| {
            on_key(agent, |run, _| (run.wire.attempt > 1).then(|| "sk-test".to_owned()));
        }),
        bug("last-request-repeated-behind-the-reply", KEY, ALL, |agent| {
            agent.late = |last| vec![last.clone()];
        }),
    ]
}
