//! WIRE-REQUEST: what is no request of the API.

use super::{ANTHROPIC, bug, from_ask, history, on_bodies, on_retries, on_sent, without};
use crate::planted::Planted;
use crate::wire::modes::ALL;
use serde_json::{Value, json};
use threadspec::oracle::Api;
use threadspec_golden::clause;

const REQUEST: &[&str] = &[clause::WIRE_REQUEST];

pub(super) fn bugs() -> Vec<Planted> {
    vec![
        bug("path-of-the-legacy-api", REQUEST, ALL, |agent| {
            on_sent(agent, |_, request| {
                request.target = request.target.replace("/chat/completions", "/completions");
                request.target = request.target.replace("/responses", "/response").replace("/messages", "/complete");
            });
        }),
        bug("path-of-another-api", REQUEST, ALL, |agent| {
            on_sent(agent, |_, request| {
                let (path, other) = if request.target.ends_with("/responses") {
                    ("/responses", "/chat/completions")
                } else if request.target.ends_with("/chat/completions") {
                    ("/chat/completions", "/responses")
                } else {
                    ("/messages", "/chat/completions")
                };
                request.target = request.target.replace(path, other);
            });
        }),
        bug("path-of-another-api-from-the-second-ask-on", REQUEST, ALL, |agent| {
            on_sent(agent, |run, request| {
                if run.turn > 1 {
                    request.target = request.target.replace("/chat/completions", "/completions");
                    request.target = request.target.replace("/responses", "/completions");
                    request.target = request.target.replace("/messages", "/completions");
                }
            });
        }),
        bug("body-put-instead-of-posted", REQUEST, ALL, |agent| {
            on_sent(agent, |_, request| request.method = "PUT".to_owned());
        }),
        bug("body-in-a-list", REQUEST, ALL, |agent| {
            on_sent(agent, |_, request| request.body = [b"[", &*request.body, b"]"].concat());
        }),
        bug("body-as-json-text-of-json-text", REQUEST, ALL, |agent| {
            on_sent(agent, |_, request| {
                request.body = Value::from(String::from_utf8_lossy(&request.body)).to_string().into_bytes();
            });
        }),
        bug("body-in-latin-1", REQUEST, ALL, |agent| {
            on_sent(agent, |_, request| {
                let text = String::from_utf8_lossy(&request.body).into_owned();
                request.body = text.chars().map(|c| u8::try_from(c).unwrap_or(b'?')).collect();
            });
        }),
        bug("body-cut-to-its-length-in-characters", REQUEST, ALL, |agent| {
            on_sent(agent, |_, request| {
                let characters = String::from_utf8_lossy(&request.body).chars().count();
                request.body.truncate(characters);
            });
        }),
        bug("body-with-a-comma-too-many", REQUEST, ALL, |agent| {
            on_sent(agent, |_, request| {
                request.body.pop();
                request.body.extend(b",}");
            });
        }),
        bug("no-body-on-a-retry", REQUEST, ALL, |agent| {
            on_sent(agent, |run, request| {
                if run.wire.attempt > 0 {
                    request.body.clear();
                }
            });
        }),
        bug("model-of-the-library", REQUEST, ALL, |agent| {
            on_bodies(agent, |run, body| {
                let is_anthropic = run.wire.endpoint.transport.api == Api::Anthropic;
                body["model"] = if is_anthropic { "claude-haiku-4-5" } else { "gpt-4o-mini" }.into();
            });
        }),
        bug("model-of-the-library-from-the-second-ask-on", REQUEST, ALL, |agent| {
            from_ask(agent, 2, |body| body["model"] = "gpt-4o-mini".into());
        }),
        bug("model-of-the-retry-kept", REQUEST, ALL, |agent| {
            on_retries(agent, |_, body| body["model"] = "gpt-4o-mini".into());
            on_bodies(agent, |run, body| {
                if run.wire.failures > 0 {
                    body["model"] = "gpt-4o-mini".into();
                }
            });
        }),
        bug("model-missing", REQUEST, ALL, |agent| on_bodies(agent, |_, body| without(body, "model"))),
        bug("model-missing-from-the-third-ask-on", REQUEST, ALL, |agent| {
            from_ask(agent, 3, |body| without(body, "model"));
        }),
        bug("messages-under-another-name", REQUEST, ALL, |agent| {
            on_bodies(agent, |_, body| {
                let messages = std::mem::take(history(body));
                without(body, "messages");
                without(body, "input");
                body["prompt"] = messages.into();
            });
        }),
        bug("limit-of-tokens-missing", &[clause::WIRE_RULES], ALL.of(ANTHROPIC), |agent| {
            on_bodies(agent, |_, body| without(body, "max_tokens"));
        }),
        bug("limit-of-tokens-missing-from-the-second-ask-on", &[clause::WIRE_RULES], ALL.of(ANTHROPIC), |agent| {
            from_ask(agent, 2, |body| without(body, "max_tokens"));
        }),
        bug("version-of-the-api-missing", &[clause::WIRE_RULES], ALL.of(ANTHROPIC), |agent| {
            on_sent(agent, |_, request| request.headers.retain(|(name, _)| name != "anthropic-version"));
        }),
        bug("temperature-where-there-is-none-any-more", &[clause::WIRE_RULES], ALL.of(ANTHROPIC), |agent| {
            on_bodies(agent, |_, body| body["temperature"] = json!(1.0));
        }),
    ]
}
