//! Whether requests go on at all, once, and independently of each other.
//! Failures of the upstream as the client is told them.
//! What a gateway asks again by itself: what was refused for good, with another request, too early, or behind half an answer.

use crate::gateways::prelude::*;
use threadspec_apis::json_text;

/// Returns whether a request says a text anywhere.
fn says(asked: &Value, text: &str) -> bool {
    asked.to_string().contains(text)
}

pub(super) fn bugs() -> Vec<Planted> {
    let tables = vec![
        FORWARD.refusal("names-of-prototypes-refused", |course, refusal| {
            if says(&course.asked["messages"], "__proto__") || says(&course.asked["input"], "__proto__") {
                *refusal = Some(ApiError::invalid("The request has a forbidden member."));
            }
        }),
        FORWARD.refusal("histories-of-more-than-fifty-messages-refused", |course, refusal| {
            if ApiRequest::read(course.client, &course.asked).messages.len() > 50 {
                *refusal = Some(ApiError::invalid("The conversation is too long."));
            }
        }),
        FORWARD.refusal("large-requests-refused", |course, refusal| {
            if course.asked.to_string().len() > 100_000 {
                *refusal = Some(ApiError::too_large(course.client));
            }
        }),
        FORWARD.refusal("images-refused-as-a-failure", |course, refusal| {
            let request = ApiRequest::read(course.client, &course.asked);
            if request.messages.iter().any(|message| !message.images.is_empty()) {
                *refusal = Some(ApiError::server_error(course.client));
            }
        }),
        FORWARD.at(ALL.streams()).refusal("parallel-calls-refused-in-streams", |course, refusal| {
            let request = ApiRequest::read(course.client, &course.asked);
            if request.messages.iter().any(|message| message.calls.len() > 1) {
                *refusal = Some(ApiError::invalid("Parallel calls are not supported with streaming."));
            }
        }),
        FORWARD.refusal("second-requests-refused", |course, refusal| {
            if course.ask_of_run == 2 {
                *refusal = Some(ApiError::invalid("The conversation is over."));
            }
        }),
        FORWARD.when(WITH_CALLS).beside("sent-twice", |_, requests| {
            requests.extend(requests.first().cloned());
        }),
        FORWARD.beside("asked-again-for-another-answer", |course, requests| {
            if course.ask_of_run >= 2 {
                requests.extend(requests.first().cloned());
            }
        }),
        INDEPENDENT.beside("sent-again-in-the-next-run", |course, requests| {
            let own = requests.first().map(|request| String::from_utf8_lossy(&request.body).into_owned());
            let last = course.kept.insert("last", own.into());
            let run = course.kept.insert("run of last", course.run.into());
            if run.is_some_and(|run| run != course.run)
                && let Some(body) = last.as_ref().and_then(Value::as_str)
                && let Some(first) = requests.first().cloned()
            {
                requests.push(threadspec_provider::client::ClientRequest { body: body.as_bytes().to_vec(), ..first });
            }
        }),
        INDEPENDENT.plant("cooldown-after-a-failure", |gateway, _| {
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
        INDEPENDENT.body("tools-of-the-run-before-kept", |course, body| {
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
        MESSAGES.body("beginning-of-the-run-before-kept", |course, body| {
            let first = history(body).first().cloned().unwrap_or_default();
            let before = course.kept.insert("first", first);
            let run = course.kept.insert("run of first", course.run.into());
            if run.is_some_and(|run| run != course.run)
                && let Some(before) = before.filter(|before| before["role"] == "user")
            {
                history(body).insert(0, before);
            }
        }),
        INDEPENDENT.body("mark-of-the-first-run-kept", |course, body| {
            let own = tools(body).into_iter().next().map(|tool| tool["description"].clone()).unwrap_or_default();
            let kept = course.kept.entry("description").or_insert(own).clone();
            if let Some(tool) = tools(body).into_iter().next().filter(|_| !kept.is_null()) {
                tool["description"] = kept;
            }
        }),
        FORWARD.sent("key-not-sent", |_, request| {
            request.headers.retain(|(name, _)| name != "authorization" && name != "x-api-key");
        }),
        TEXT.body("words-of-users-counted", |course, body| {
            let run = course.run;
            if run > 3 {
                on_texts(body, &[Who::User], |text| text.replace('.', "!"));
            }
        }),
    ];
    tables.into_iter().flatten().collect()
}

pub(super) fn failures() -> Vec<Planted> {
    let tables = vec![
        STATUS.when(SOMETIMES).becomes("refusals-told-as-failures", &[400], 500),
        STATUS.when(SOMETIMES).becomes("rate-limits-told-as-failures", &[429], 500),
        STATUS.becomes("rate-limits-told-as-refusals", &[429], 400),
        STATUS.becomes("wrong-keys-told-as-refusals", &[401], 400),
        STATUS.becomes("wrong-keys-told-as-failures", &[401], 502),
        STATUS.becomes("unknown-models-told-as-failures", &[404], 503),
        STATUS.when(SOMETIMES).becomes("failures-told-as-refusals", &[500], 400),
        STATUS.becomes("overloads-told-as-refusals", &[503, 529], 403),
        STATUS.becomes("missing-permissions-told-as-passing", &[403], 408),
        STATUS.at(TRANSLATING.streams()).error("failures-of-streams-told-with-200", |_, error| {
            if error.status >= 400 {
                error.status = 200;
            }
        }),
        STATUS.at(TRANSLATING).head("served-answers-told-as-failures", |course, head| {
            if course.ask_of_run >= 2 {
                head.status = 500;
            }
        }),
        WORDS.when(SOMETIMES).error("words-of-the-upstream-replaced", |_, error| {
            error.message = "The upstream has refused the request.".to_owned();
        }),
        WORDS.error("words-of-the-upstream-cut", |_, error| {
            error.message = error.message.chars().take(12).collect();
        }),
        WORDS.error("words-of-failures-hidden", |_, error| {
            if error.status >= 500 {
                error.message = "Internal error".to_owned();
            }
        }),
        WAIT.when(SOMETIMES).error("time-to-wait-lost", |_, error| error.headers.clear()),
        WAIT.error("time-to-wait-made-an-hour", |_, error| {
            for (name, value) in &mut error.headers {
                if name.starts_with("retry-after") {
                    *value = "3600000".to_owned();
                }
            }
        }),
    ];
    tables.into_iter().flatten().collect()
}

/// Long enough to be no tight loop.
const PAUSE: Duration = Duration::from_millis(200);

/// Returns whether it failed in a way that may pass, and nothing of an answer came.
fn has_failed(tried: &TriedRequest) -> bool {
    !tried.has_begun && (tried.status >= 500 || tried.status == 429)
}

/// Once more, with another body.
fn with(tried: &mut TriedRequest, change: impl FnOnce(&mut Value)) {
    let text = String::from_utf8_lossy(&tried.request.body).into_owned();
    let Ok(mut body) = value::read(&text) else { return };
    change(&mut body);
    (tried.request.body, tried.pause) = (json_text(&body, false).into_bytes(), Some(PAUSE));
}

pub(super) fn retries() -> Vec<Planted> {
    let tables = vec![
        RETRY.again("refusals-asked-again", |_, tried| {
            tried.pause = matches!(tried.status, 400 | 403 | 404 | 422).then_some(PAUSE).filter(|_| tried.tries < 3);
        }),
        RETRY.again("wrong-keys-asked-again", |_, tried| {
            tried.pause = (tried.status == 401 && tried.tries < 3).then_some(PAUSE)
        }),
        RETRY.again("failures-asked-again-with-a-hint", |_, tried| {
            if has_failed(tried) && tried.tries < 3 {
                with(tried, |body| history(body).push(json!({"role": "user", "content": "Please go on."})));
            }
        }),
        RETRY.again("failures-asked-again-without-tools", |_, tried| {
            if has_failed(tried) && tried.tries < 3 {
                with(tried, |body| {
                    if !tools(body).is_empty() {
                        body["tools"] = Value::Null;
                        body.as_object_mut().map(|members| members.remove("tools"));
                    }
                });
            }
        }),
        breaking(&[clause::WIRE_WAIT]).again("rate-limits-asked-again-too-early", |_, tried| {
            if tried.status == 429 && tried.tries < 3 {
                tried.pause = tried.wanted.map(|wanted| wanted / 2);
            }
        }),
        breaking(&[clause::WIRE_BACKOFF]).again("failures-asked-again-at-once", |_, tried| {
            tried.pause = (has_failed(tried) && tried.tries < 3).then_some(tried.wanted.unwrap_or_default())
        }),
        SAID.at(TRANSLATING.from(RESPONSES_OR_ANTHROPIC).streams())
            .again("answers-that-broke-off-begun-again-in-their-middle", begun_again),
        // Bytes that pass begin the stream a second time, and in chunks an id that comes again is appended: no client reads them.
        STREAM.at(PROXY.streams()).again("passing-answers-that-broke-off-begun-again-in-their-middle", begun_again),
        STREAM
            .at(TRANSLATING.from(CHAT).streams())
            .again("chunks-that-broke-off-begun-again-in-their-middle", begun_again),
    ];
    tables.into_iter().flatten().collect()
}

/// Asks again though the client has the beginning.
fn begun_again(_: &mut ExchangeCourse, tried: &mut TriedRequest) {
    tried.pause = (tried.has_begun && tried.tries < 3).then_some(PAUSE);
}
