//! WIRE-REQUEST: what is no request of the API.
//! WIRE-KEY: whose key an attempt carries, and when it comes.
//! WIRE-WAIT and WIRE-BACKOFF: how long an agent waits before it tries again.

use crate::over_wire::prelude::*;
use crate::wire::RETRIES;

pub(super) fn bugs() -> Vec<Planted> {
    vec![
        REQUEST.sent("path-of-the-legacy-api", |_, request| {
            request.target = request.target.replace("/chat/completions", "/completions");
            request.target = request.target.replace("/responses", "/response").replace("/messages", "/complete");
        }),
        REQUEST.sent("path-of-another-api", |_, request| {
            let (path, other) = if request.target.ends_with("/responses") {
                ("/responses", "/chat/completions")
            } else if request.target.ends_with("/chat/completions") {
                ("/chat/completions", "/responses")
            } else {
                ("/messages", "/chat/completions")
            };
            request.target = request.target.replace(path, other);
        }),
        REQUEST.sent("path-of-another-api-from-the-second-ask-on", |run, request| {
            if run.turn > 1 {
                request.target = request.target.replace("/chat/completions", "/completions");
                request.target = request.target.replace("/responses", "/completions");
                request.target = request.target.replace("/messages", "/completions");
            }
        }),
        REQUEST.sent("body-put-instead-of-posted", |_, request| request.method = "PUT".to_owned()),
        REQUEST.sent("body-in-a-list", |_, request| request.body = [b"[", &*request.body, b"]"].concat()),
        REQUEST.sent("body-as-json-text-of-json-text", |_, request| {
            request.body = Value::from(String::from_utf8_lossy(&request.body)).to_string().into_bytes();
        }),
        REQUEST.sent("body-in-latin-1", |_, request| {
            let text = String::from_utf8_lossy(&request.body).into_owned();
            request.body = text.chars().map(|c| u8::try_from(c).unwrap_or(b'?')).collect();
        }),
        REQUEST.sent("body-cut-to-its-length-in-characters", |_, request| {
            let characters = String::from_utf8_lossy(&request.body).chars().count();
            request.body.truncate(characters);
        }),
        REQUEST.sent("body-with-a-comma-too-many", |_, request| {
            request.body.pop();
            request.body.extend(b",}");
        }),
        REQUEST.sent("no-body-on-a-retry", |run, request| {
            if run.wire.attempt > 0 {
                request.body.clear();
            }
        }),
        REQUEST.body("model-of-the-library", |run, body| {
            let is_anthropic = run.wire.endpoint.transport.api == Api::Anthropic;
            body["model"] = if is_anthropic { "claude-haiku-4-5" } else { "gpt-4o-mini" }.into();
        }),
        REQUEST
            .since_ask("model-of-the-library-from-the-second-ask-on", 2, |body| body["model"] = "gpt-4o-mini".into()),
        REQUEST.plant("model-of-the-retry-kept", |agent| {
            agent.again = Box::new(|_, body| body["model"] = "gpt-4o-mini".into());
            agent.body = Box::new(|run, body| {
                if run.wire.failures > 0 {
                    body["model"] = "gpt-4o-mini".into();
                }
            });
        }),
        REQUEST.body("model-missing", |_, body| without(body, "model")),
        REQUEST.since_ask("model-missing-from-the-third-ask-on", 3, |body| without(body, "model")),
        REQUEST.body("messages-under-another-name", |_, body| {
            let messages = std::mem::take(history(body));
            without(body, "messages");
            without(body, "input");
            body["prompt"] = messages.into();
        }),
        RULES.of(ALL.of(ANTHROPIC)).body("limit-of-tokens-missing", |_, body| without(body, "max_tokens")),
        RULES
            .of(ALL.of(ANTHROPIC))
            .since_ask("limit-of-tokens-missing-from-the-second-ask-on", 2, |body| without(body, "max_tokens")),
        RULES.of(ALL.of(ANTHROPIC)).sent("version-of-the-api-missing", |_, request| {
            request.headers.retain(|(name, _)| name != "anthropic-version")
        }),
        RULES
            .of(ALL.of(ANTHROPIC))
            .body("temperature-where-there-is-none-any-more", |_, body| body["temperature"] = json!(1.0)),
    ]
}

/// Replaces the key of an attempt.
fn set_key(request: &mut ClientRequest, key: &str) {
    for (name, value) in &mut request.headers {
        if name == "authorization" {
            *value = format!("Bearer {key}");
        }
    }
}

impl WireGroup {
    /// Changes the key of some attempts.
    fn key(
        self,
        name: &'static str,
        change: impl Fn(&mut RunState, &str) -> Option<String> + Copy + Send + Sync + 'static,
    ) -> Planted {
        self.sent(name, move |run, request| {
            let key = run.wire.endpoint.api_key.clone();
            if let Some(key) = change(run, &key) {
                set_key(request, &key);
            }
        })
    }

    /// Remembers a key over runs.
    fn remember(self, name: &'static str, keep: fn(&Value, &str) -> Value) -> Planted {
        self.key(name, move |run, own| {
            let known = &run.memory["key"];
            let key = if known.is_string() { text(known).to_owned() } else { own.to_owned() };
            run.memory = json!({"key": keep(known, own)});
            Some(key)
        })
    }
}

pub(super) fn keys() -> Vec<Planted> {
    vec![
        KEY.remember(
            "key-of-the-first-run-for-ever",
            |known, own| if known.is_null() { own.into() } else { known.clone() },
        ),
        KEY.remember("key-of-the-run-before-for-the-first-attempt", |_, own| own.into()),
        KEY.sent("key-missing", |_, request| request.headers.retain(|(name, _)| name != "authorization")),
        KEY.sent("key-missing-on-a-retry", |run, request| {
            if run.wire.attempt > 0 {
                request.headers.retain(|(name, _)| name != "authorization");
            }
        }),
        KEY.sent("key-missing-from-the-second-ask-on", |run, request| {
            if run.turn > 1 {
                request.headers.retain(|(name, _)| name != "authorization");
            }
        }),
        KEY.key("key-of-the-environment", |_, _| Some("sk-test".to_owned())),
        KEY.key("key-cut-to-32-characters", |_, key| Some(cut(key, 32))),
        KEY.key("key-in-capitals", |_, key| Some(key.to_uppercase())),
        KEY.key("key-twice-in-one-header", |_, key| Some(format!("{key}, Bearer {key}"))),
        KEY.key("key-of-the-environment-on-the-second-retry", |run, _| {
            (run.wire.attempt > 1).then(|| "sk-test".to_owned())
        }),
        KEY.plant("last-request-repeated-behind-the-reply", |agent| {
            agent.late = |last| vec![last.clone()];
        }),
    ]
}

/// What a header says, in these units.
fn header(failed: &Failed, name: &str, unit: fn(u64) -> Duration) -> Option<Duration> {
    failed.response.as_ref()?.header(name)?.parse().ok().map(unit)
}

const NAMED: &str = "retry-after-ms";

impl WireGroup {
    /// Waits so long before the next attempt, given the number of the one that failed, from 0.
    fn wait(self, name: &'static str, pause: fn(&Failed, usize) -> Duration) -> Planted {
        self.failed(name, move |run, failed| {
            let attempt = run.wire.attempt;
            if attempt < RETRIES && failed.is_passing() {
                NextStep::Again(pause(failed, attempt))
            } else {
                NextStep::GiveUp
            }
        })
    }
}

pub(super) fn waits() -> Vec<Planted> {
    vec![
        breaking(&[clause::WIRE_WAIT, clause::WIRE_BACKOFF]).wait("tried-again-at-once", |_, _| Duration::ZERO),
        WAIT.wait("named-pause-not-kept", |failed, attempt| {
            let named = header(failed, NAMED, Duration::from_millis);
            named.map_or_else(|| backoff(attempt), |named| named.saturating_sub(Duration::from_millis(10)))
        }),
        WAIT.wait("named-pause-halved", |failed, attempt| {
            header(failed, NAMED, Duration::from_millis).map_or_else(|| backoff(attempt), |named| named / 2)
        }),
        WAIT.wait("own-pause-in-place-of-a-longer-named-one", |_, attempt| backoff(attempt)),
        WAIT.wait("named-seconds-taken-for-milliseconds", |failed, attempt| {
            header(failed, "retry-after", Duration::from_millis).unwrap_or_else(|| backoff(attempt))
        }),
        WAIT.wait("named-pause-kept-to-20-milliseconds-at-most", |failed, attempt| {
            let named = header(failed, NAMED, Duration::from_millis);
            named.map_or_else(|| backoff(attempt), |named| named.min(Duration::from_millis(20)))
        }),
        WAIT.wait("named-pause-kept-to-a-second-at-most", |failed, attempt| {
            failed.pause(attempt).min(Duration::from_secs(1))
        }),
        WAIT.wait("named-pause-kept-after-the-first-attempt-alone", |failed, attempt| {
            if attempt == 0 { failed.pause(attempt) } else { Duration::from_millis(5) }
        }),
        WAIT.wait("named-pause-kept-for-429-alone", |failed, attempt| {
            if failed.status() == Some(429) { failed.pause(attempt) } else { Duration::from_millis(5 << attempt) }
        }),
        WAIT.failed("pause-of-the-first-failure-kept-for-the-second", |run, failed| {
            let attempt = run.wire.attempt;
            if attempt == 0 {
                run.memory = u64::try_from(failed.pause(0).as_millis()).unwrap_or_default().into();
            }
            let pause = Duration::from_millis(run.memory.as_u64().unwrap_or_default());
            if attempt < RETRIES && failed.is_passing() { NextStep::Again(pause) } else { NextStep::GiveUp }
        }),
        BACKOFF.wait("pauses-of-10-milliseconds", |failed, _| {
            header(failed, NAMED, Duration::from_millis).unwrap_or(Duration::from_millis(10))
        }),
        BACKOFF.wait("pauses-that-shrink", |failed, attempt| {
            let named = header(failed, NAMED, Duration::from_millis);
            named.unwrap_or_else(|| Duration::from_millis(if attempt == 0 { 800 } else { 200 }))
        }),
        BACKOFF.wait("second-pause-forgotten", |failed, attempt| {
            let named = header(failed, NAMED, Duration::from_millis);
            named.unwrap_or_else(|| if attempt == 0 { backoff(0) } else { Duration::ZERO })
        }),
    ]
}
