//! One request and its answer: what hyper parsed goes to whoever answers, and what that plans comes back.

use super::answer::{AnswerBody, PlannedBreak};
use super::bounds;
use super::content::{Budget, content};
use super::host::is_local;
use super::link::{Link, Phase, Receipt};
use super::{Answers, Limits, Shared};
use crate::exchange::{Ending, PlannedAnswer, Reaction};
use crate::received::{Received, Unreadable};
use hyper::body::Incoming;
use hyper::header::{HOST, HeaderMap, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode, Version};
use std::rc::Rc;
use std::sync::Arc;
use tokio::time::sleep;

/// Answers one request.
pub(super) async fn exchange<A: Answers>(
    request: Request<Incoming>,
    link: Rc<Link>,
    (limits, budget): (Rc<Limits>, Rc<Budget>),
    shared: Arc<Shared<A>>,
) -> Result<Response<AnswerBody>, PlannedBreak> {
    link.enter(Phase::Body);
    let (head, body) = request.into_parts();
    let body = if is_foreign(&head) {
        Err(Unreadable::ForeignHost)
    } else {
        content(&head.headers, body, &limits, &budget).await.and_then(|body| {
            bounds::check(&body, &limits)?;
            Ok(body)
        })
    };
    link.enter(Phase::Answer);
    let is_read = body.is_ok();
    let received = Received { headers: fields(&head.headers), body, ..named(&head) };
    let (id, reaction) = shared.answers().receive(shared.now(), received);
    let owner = Arc::clone(&shared);
    let receipt = Receipt::new(move |is_whole| owner.answers().delivered(owner.now(), id, is_whole));
    match reaction {
        Reaction::Silence { after, ending } => {
            // Held until the connection ends: nothing of an answer has left.
            let _receipt = receipt;
            sleep(after).await;
            if ending == Ending::Reset {
                link.reset();
            }
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

/// Whether a request was sent to a name that may stand for any address.
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

fn response(answer: PlannedAnswer, link: Rc<Link>, (is_read, has_content): (bool, bool)) -> Response<AnswerBody> {
    let PlannedAnswer { status, headers, length, steps, ending, .. } = answer;
    let steps = if has_content { steps } else { Vec::new() };
    let mut response = Response::new(AnswerBody::new(link, steps, ending, length));
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
