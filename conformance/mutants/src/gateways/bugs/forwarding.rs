//! Whether requests go on at all, once, and independently of each other.

use super::super::bodies::{Who, history, on_texts, tools};
use super::super::plant::{body, bugs as each, refusing, sent};
use super::{ALWAYS, WITH_CALLS};
use crate::gateway::places::ALL;
use crate::planted::Planted;
use serde_json::Value;
use std::sync::Arc;
use threadspec_apis::{ApiError, ApiRequest};
use threadspec_golden::clause;

const FORWARD: &[&str] = &[clause::GATE_FORWARD];
const INDEPENDENT: &[&str] = &[clause::GATE_INDEPENDENT];

/// Whether a request says a text anywhere.
fn says(asked: &Value, text: &str) -> bool {
    asked.to_string().contains(text)
}

pub(super) fn bugs() -> Vec<Planted> {
    let tables = vec![
        each(
            "names-of-prototypes-refused",
            FORWARD,
            ALL,
            ALWAYS,
            refusing(|course, refusal| {
                if says(&course.asked["messages"], "__proto__") || says(&course.asked["input"], "__proto__") {
                    *refusal = Some(ApiError::invalid("The request has a forbidden member."));
                }
            }),
        ),
        each(
            "histories-of-more-than-fifty-messages-refused",
            FORWARD,
            ALL,
            ALWAYS,
            refusing(|course, refusal| {
                if ApiRequest::read(course.client, &course.asked).messages.len() > 50 {
                    *refusal = Some(ApiError::invalid("The conversation is too long."));
                }
            }),
        ),
        each(
            "large-requests-refused",
            FORWARD,
            ALL,
            ALWAYS,
            refusing(|course, refusal| {
                if course.asked.to_string().len() > 100_000 {
                    *refusal = Some(ApiError::too_large(course.client));
                }
            }),
        ),
        each(
            "images-refused-as-a-failure",
            FORWARD,
            ALL,
            ALWAYS,
            refusing(|course, refusal| {
                let request = ApiRequest::read(course.client, &course.asked);
                if request.messages.iter().any(|message| !message.images.is_empty()) {
                    *refusal = Some(ApiError::server_error(course.client));
                }
            }),
        ),
        each(
            "parallel-calls-refused-in-streams",
            FORWARD,
            ALL.streams(),
            ALWAYS,
            refusing(|course, refusal| {
                let request = ApiRequest::read(course.client, &course.asked);
                if request.messages.iter().any(|message| message.calls.len() > 1) {
                    *refusal = Some(ApiError::invalid("Parallel calls are not supported with streaming."));
                }
            }),
        ),
        each(
            "second-requests-refused",
            FORWARD,
            ALL,
            ALWAYS,
            refusing(|course, refusal| {
                if course.ask_of_run == 2 {
                    *refusal = Some(ApiError::invalid("The conversation is over."));
                }
            }),
        ),
        each(
            "sent-twice",
            FORWARD,
            ALL,
            WITH_CALLS,
            Box::new(|gateway, shows| {
                gateway.seams.beside = Some(Arc::new(move |course, requests| {
                    if shows.holds(course) {
                        requests.extend(requests.first().cloned());
                    }
                }));
            }),
        ),
        each(
            "asked-again-for-another-answer",
            FORWARD,
            ALL,
            ALWAYS,
            Box::new(|gateway, _| {
                gateway.seams.beside = Some(Arc::new(|course, requests| {
                    if course.ask_of_run >= 2 {
                        requests.extend(requests.first().cloned());
                    }
                }));
            }),
        ),
        each(
            "sent-again-in-the-next-run",
            INDEPENDENT,
            ALL,
            ALWAYS,
            Box::new(|gateway, _| {
                gateway.seams.beside = Some(Arc::new(|course, requests| {
                    let own = requests.first().map(|request| String::from_utf8_lossy(&request.body).into_owned());
                    let last = course.kept.insert("last", own.into());
                    let run = course.kept.insert("run of last", course.run.into());
                    if run.is_some_and(|run| run != course.run)
                        && let Some(body) = last.as_ref().and_then(Value::as_str)
                        && let Some(first) = requests.first().cloned()
                    {
                        requests.push(threadspec_provider::client::ClientRequest {
                            body: body.as_bytes().to_vec(),
                            ..first
                        });
                    }
                }));
            }),
        ),
        each(
            "cooldown-after-a-failure",
            INDEPENDENT,
            ALL,
            ALWAYS,
            Box::new(|gateway, _| {
                gateway.seams.head = Some(Arc::new(|course, head| {
                    if head.status == 429 || head.status >= 500 {
                        course.kept.insert("cooldown", course.run.into());
                    }
                }));
                gateway.seams.refusal = Some(Arc::new(|course, refusal| {
                    if course.kept.remove("cooldown").is_some_and(|run| run != course.run) {
                        *refusal = Some(ApiError::rate_limited(course.client, "No deployments available"));
                    }
                }));
            }),
        ),
        each(
            "tools-of-the-run-before-kept",
            INDEPENDENT,
            ALL,
            ALWAYS,
            body(|course, body| {
                let first = course.kept.get("tools").cloned();
                let own = body["tools"].clone();
                let run = course.kept.insert("run of tools", course.run.into());
                let is_other = run.is_some_and(|run| run != course.run);
                if is_other
                    && let (Some(Value::Array(first)), Some(tools)) =
                        (first, body.get_mut("tools").and_then(Value::as_array_mut))
                {
                    tools.extend(first.into_iter().take(1));
                }
                course.kept.insert("tools", own);
            }),
        ),
        each(
            "beginning-of-the-run-before-kept",
            &[clause::GATE_MESSAGES],
            ALL,
            ALWAYS,
            body(|course, body| {
                let first = history(body).first().cloned().unwrap_or_default();
                let before = course.kept.insert("first", first);
                let run = course.kept.insert("run of first", course.run.into());
                if run.is_some_and(|run| run != course.run)
                    && let Some(before) = before.filter(|before| before["role"] == "user")
                {
                    history(body).insert(0, before);
                }
            }),
        ),
        each(
            "mark-of-the-first-run-kept",
            INDEPENDENT,
            ALL,
            ALWAYS,
            body(|course, body| {
                let own = tools(body).into_iter().next().map(|tool| tool["description"].clone()).unwrap_or_default();
                let kept = course.kept.entry("description").or_insert(own).clone();
                if let Some(tool) = tools(body).into_iter().next().filter(|_| !kept.is_null()) {
                    tool["description"] = kept;
                }
            }),
        ),
        each(
            "key-not-sent",
            FORWARD,
            ALL,
            ALWAYS,
            sent(|_, request| {
                request.headers.retain(|(name, _)| name != "authorization" && name != "x-api-key");
            }),
        ),
        each(
            "words-of-users-counted",
            &[clause::GATE_TEXT],
            ALL,
            ALWAYS,
            body(|course, body| {
                let run = course.run;
                if run > 3 {
                    on_texts(body, &[Who::User], |text| text.replace('.', "!"));
                }
            }),
        ),
    ];
    tables.into_iter().flatten().collect()
}
