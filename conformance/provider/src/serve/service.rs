//! One request and its answer: what hyper parsed goes to whoever answers, and what that plans comes back.

use super::answer::{AnswerBody, PlannedBreak, SentBody};
use super::bounds;
use super::content::{BodyBudget, content};
use super::forward::{PassingBody, passed_on};
use super::host::is_local;
use super::link::{Link, Phase, Receipt};
use super::{Answers, ServerLimits, SharedState, UpstreamPart};
use crate::exchange::{PlannedAnswer, PlannedEnd, Reaction, WireStep};
use crate::received::{Received, Unreadable};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode, Version};
use std::rc::Rc;
use std::sync::Arc;
use tokio::time::sleep;

/// Answers one request.
pub(super) async fn exchange<A: Answers>(
    request: Request<Incoming>,
    link: Rc<Link>,
    (limits, budget): (Rc<ServerLimits>, Rc<BodyBudget>),
    shared: Arc<SharedState<A>>,
) -> Result<Response<SentBody>, PlannedBreak> {
    link.enter(Phase::Body);
    let (head, body) = request.into_parts();
    let body = if is_foreign(&head) {
        Err(Unreadable::ForeignHost)
    } else {
        content(&head.headers, body, &limits, &budget).await.and_then(|body| {
            bounds::check(&body.bytes, &limits)?;
            Ok(body)
        })
    };
    link.enter(Phase::Answer);
    let is_read = body.is_ok();
    // Only a proxy needs the body as it was sent.
    let sent = shared.upstream.as_ref().and(body.as_ref().ok()).map(|body| body.sent().to_vec());
    let body = body.map(|content| content.bytes);
    let received = Received { headers: fields(&head.headers), body, ..named(&head) };
    let (id, reaction) = shared.answers().receive(shared.now(), received);
    let owner = Arc::clone(&shared);
    let own = id.clone();
    let ended = link.ended();
    let receipt = Receipt::new(move |is_whole| {
        let at = ended.take().map_or_else(|| owner.now(), |at| owner.at(at.into_std()));
        owner.answers().delivered(at, own, is_whole);
    });
    match reaction {
        Reaction::Forward => forward(&head, sent.unwrap_or_default(), link, (&shared, id), receipt).await,
        Reaction::Silence { after, ending } => {
            // Held until the connection ends: nothing of an answer has left.
            let _receipt = receipt;
            sleep(after).await;
            link.break_off(ending == PlannedEnd::Reset);
            Err(PlannedBreak)
        }
        Reaction::Answer(answer) => {
            link.promise(receipt);
            if !answer.delay.is_zero() {
                sleep(answer.delay).await;
            }
            Ok(response(answer, link, (is_read, head.method != Method::HEAD)))
        }
    }
}

/// Sends a request on, and passes through what is answered.
async fn forward<A: Answers>(
    head: &Parts,
    body: Vec<u8>,
    link: Rc<Link>,
    (shared, id): (&Arc<SharedState<A>>, A::Attempt),
    receipt: Receipt,
) -> Result<Response<SentBody>, PlannedBreak> {
    let tell = {
        let shared = Arc::clone(shared);
        move |heard: UpstreamPart<'_>| shared.answers().heard(shared.now(), &id, heard)
    };
    let sent = match &shared.upstream {
        Some(upstream) => upstream.send(head, body).await,
        None => Err("there is no upstream".to_owned()),
    };
    let answer = match sent {
        Ok(answer) => answer,
        Err(why) => {
            tell(UpstreamPart::Unreachable(&why));
            link.promise(receipt);
            return Ok(response(unreachable(&why), link, (true, head.method != Method::HEAD)));
        }
    };
    let (upstream, incoming) = answer.into_parts();
    let kind = upstream.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let headers = fields(&upstream.headers);
    tell(UpstreamPart::Head { status: upstream.status.as_u16(), content_type: kind, headers: &headers });
    link.promise(receipt);
    let mut response =
        Response::new(SentBody::Passing(PassingBody::new(incoming, link, move |data| tell(UpstreamPart::Data(data)))));
    *response.status_mut() = upstream.status;
    *response.headers_mut() = passed_on(&upstream.headers);
    Ok(response)
}

/// Answers a client whose request did not reach its upstream.
fn unreachable(why: &str) -> PlannedAnswer {
    let body = serde_json::json!({"error": {"message": format!("threadspec provider: the upstream cannot be reached: {why}"), "type": "upstream_error"}});
    let body = body.to_string().into_bytes();
    PlannedAnswer {
        delay: std::time::Duration::ZERO,
        status: 502,
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        length: Some(body.len() as u64),
        steps: vec![WireStep::Write(body)],
        ending: PlannedEnd::Whole,
    }
}

/// Returns whether a request was sent to a name that may represent any address.
fn is_foreign(head: &Parts) -> bool {
    let mut hosts = head.headers.get_all(HOST).iter();
    let (host, is_single) = (hosts.next(), hosts.next().is_none());
    let is_fine = match host {
        Some(host) => is_single && host.to_str().is_ok_and(is_local),
        // Browsers do not speak it.
        None => head.version == Version::HTTP_10,
    };
    !is_fine || head.uri.authority().is_some_and(|authority| !is_local(authority.as_str()))
}

/// The request without its fields and its body.
fn named(head: &Parts) -> Received {
    let target = head.uri.path_and_query().map_or_else(|| head.uri.to_string(), ToString::to_string);
    Received { method: head.method.to_string(), target, headers: Vec::new(), body: Ok(Vec::new()) }
}

fn fields(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect()
}

fn response(answer: PlannedAnswer, link: Rc<Link>, (is_read, has_content): (bool, bool)) -> Response<SentBody> {
    let PlannedAnswer { status, headers, length, steps, ending, .. } = answer;
    let steps = if has_content { steps } else { Vec::new() };
    let mut response = Response::new(SentBody::Planned(AnswerBody::new(link, steps, ending, length)));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in headers {
        // A text of a script that no header can hold is left out, as a server that makes headers of it would have to.
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            response.headers_mut().append(name, value);
        }
    }
    if !is_read {
        // The rest of the body may still come.
        response.headers_mut().insert(hyper::header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}
