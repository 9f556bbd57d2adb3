//! Takes one request to whoever answers it: its body is read within the limits, and what is planned comes back.

use super::forward::{PassingBody, passed_on};
use super::server::is_local;
use super::socket::{AnswerBody, Link, Phase, PlannedBreak, Receipt, SentBody};
use super::{Answers, ServerLimits, SharedState, UpstreamPart};
use crate::exchange::{PlannedAnswer, PlannedEnd, Reaction, WireStep};
use crate::http::{Received, Unreadable};
use flate2::read::MultiGzDecoder;
use hyper::body::{Body, Incoming};
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode, Version};
use std::cell::Cell;
use std::future::poll_fn;
use std::io::Read;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use tokio::time::{sleep, timeout};

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
            check(&body.bytes, &limits)?;
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

// The body of a request, read within the limits.

/// How a body is packed.
enum Packing {
    Plain,
    Gzip,
}

/// A body as it came, and what is in it.
pub(super) struct Content {
    pub(super) bytes: Vec<u8>,
    /// The body before it was unpacked, if it was packed.
    packed: Option<Vec<u8>>,
}

impl Content {
    /// The body as it came.
    pub(super) fn sent(&self) -> &[u8] {
        self.packed.as_ref().unwrap_or(&self.bytes)
    }
}

/// A body of so many bytes is read whatever others send.
const SMALL: usize = 1 << 20;

/// How many bytes of bodies a server holds that have not come to their ends.
#[derive(Debug, Default)]
pub(super) struct BodyBudget(Cell<usize>);

/// The bytes of one body.
struct Held<'b> {
    budget: &'b BodyBudget,
    bytes: Vec<u8>,
}

impl Held<'_> {
    fn add(&mut self, bytes: &[u8]) {
        self.budget.0.set(self.budget.0.get() + bytes.len());
        self.bytes.extend_from_slice(bytes);
    }

    /// The bytes, which count no more.
    fn take(&mut self) -> Vec<u8> {
        let bytes = std::mem::take(&mut self.bytes);
        self.budget.0.set(self.budget.0.get().saturating_sub(bytes.len()));
        bytes
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.budget.0.set(self.budget.0.get().saturating_sub(self.bytes.len()));
    }
}

/// Reads a body to its end, and unpacks it.
pub(super) async fn content(
    headers: &HeaderMap,
    body: Incoming,
    limits: &ServerLimits,
    budget: &BodyBudget,
) -> Result<Content, Unreadable> {
    // Before the first byte is asked for: who waits for `100 Continue` is refused without sending any.
    let packing = packing(headers)?;
    let most = limits.body_bytes;
    if body.size_hint().lower() > most as u64 {
        return Err(Unreadable::TooLong(most));
    }
    let mut held = Held { budget, bytes: Vec::new() };
    read(body, limits, &mut held).await?;
    match packing {
        Packing::Plain => Ok(Content { bytes: held.take(), packed: None }),
        Packing::Gzip => Ok(Content { bytes: unpacked(&held.bytes, most)?, packed: Some(held.take()) }),
    }
}

fn packing(headers: &HeaderMap) -> Result<Packing, Unreadable> {
    let mut packing = Packing::Plain;
    for value in headers.get_all(CONTENT_ENCODING) {
        for name in String::from_utf8_lossy(value.as_bytes()).split(',').map(str::trim) {
            let name = name.to_ascii_lowercase();
            packing = match (&*name, packing) {
                ("" | "identity", packing) => packing,
                ("gzip" | "x-gzip", Packing::Plain) => Packing::Gzip,
                _ => return Err(Unreadable::Encoding(name)),
            };
        }
    }
    Ok(packing)
}

async fn read(mut body: Incoming, limits: &ServerLimits, held: &mut Held<'_>) -> Result<(), Unreadable> {
    loop {
        let frame = poll_fn(|context| Pin::new(&mut body).poll_frame(context));
        let frame = timeout(limits.body_pause, frame).await.map_err(|_| Unreadable::Stopped)?;
        match frame {
            None => return Ok(()),
            Some(Err(error)) => return Err(Unreadable::Broken(error.to_string())),
            // Trailers say nothing here.
            Some(Ok(frame)) => {
                if let Some(data) = frame.data_ref() {
                    if held.bytes.len() + data.len() > limits.body_bytes {
                        return Err(Unreadable::TooLong(limits.body_bytes));
                    }
                    held.add(data);
                    if held.bytes.len() > SMALL && held.budget.0.get() > limits.all_bodies {
                        return Err(Unreadable::Crowded);
                    }
                }
            }
        }
    }
}

fn unpacked(packed: &[u8], most: usize) -> Result<Vec<u8>, Unreadable> {
    let mut bytes = Vec::new();
    let mut unpacker = MultiGzDecoder::new(packed).take(most as u64 + 1);
    unpacker.read_to_end(&mut bytes).map_err(|error| Unreadable::NotEncoded(error.to_string()))?;
    if bytes.len() > most { Err(Unreadable::TooLong(most)) } else { Ok(bytes) }
}

// How deep a JSON text is nested and how many values it has, found without reading it.

/// Refuses a text that would cost too much to read, whether it is JSON or not.
pub(super) fn check(text: &[u8], limits: &ServerLimits) -> Result<(), Unreadable> {
    // Each value but the first one of a list or an object has a comma before it, so that a short text cannot have too many.
    if text.len() <= limits.depth.min(limits.values) {
        return Ok(());
    }
    let (mut depth, mut values, mut is_string, mut is_escaped) = (0_usize, 1_usize, false, false);
    for &byte in text {
        if is_string {
            (is_string, is_escaped) = (is_escaped || byte != b'"', !is_escaped && byte == b'\\');
            continue;
        }
        match byte {
            b'"' => is_string = true,
            b'[' | b'{' => {
                depth += 1;
                values += 1;
                if depth > limits.depth {
                    return Err(Unreadable::TooDeep(limits.depth));
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b',' => values += 1,
            _ => continue,
        }
        if values > limits.values {
            return Err(Unreadable::TooMany(limits.values));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use hyper::header::HeaderValue;
    use std::io::Write;

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut packer = GzEncoder::new(Vec::new(), Compression::default());
        packer.write_all(text).and_then(|()| packer.finish()).expect("memory does not fail")
    }

    #[test]
    fn gzip_is_undone_within_the_limit() {
        let bomb = packed(&[b' '; 1000]);
        assert!(bomb.len() < 100);
        assert_eq!(unpacked(&bomb, 1000), Ok(vec![b' '; 1000]));
        assert_eq!(unpacked(&bomb, 999), Err(Unreadable::TooLong(999)));
        for broken in [&bomb[..bomb.len() - 1], b"{}", b""] {
            assert!(matches!(unpacked(broken, 1000), Err(Unreadable::NotEncoded(_))), "{broken:?}");
        }
    }

    #[test]
    fn encodings_but_gzip_are_refused() {
        let packing_of = |values: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(CONTENT_ENCODING, HeaderValue::from_static(value));
            }
            packing(&headers).map(|packing| matches!(packing, Packing::Gzip))
        };
        assert_eq!(packing_of(&[]), Ok(false));
        assert_eq!(packing_of(&["identity"]), Ok(false));
        assert_eq!(packing_of(&["GZip"]), Ok(true));
        assert_eq!(packing_of(&["gzip, identity"]), Ok(true));
        assert_eq!(packing_of(&["br"]), Err(Unreadable::Encoding("br".into())));
        assert_eq!(packing_of(&["gzip, gzip"]), Err(Unreadable::Encoding("gzip".into())));
        assert_eq!(packing_of(&["gzip", "deflate"]), Err(Unreadable::Encoding("deflate".into())));
    }

    fn checked(text: &str) -> Result<(), Unreadable> {
        check(text.as_bytes(), &ServerLimits { depth: 3, values: 5, ..ServerLimits::default() })
    }

    #[test]
    fn depth_and_values_are_bounded() {
        for (text, expected) in [
            ("", Ok(())),
            ("[[[]]]", Ok(())),
            ("[[[[]]]]", Err(Unreadable::TooDeep(3))),
            ("[1,2,3,4]", Ok(())),
            ("[1,2,3,4,5]", Err(Unreadable::TooMany(5))),
            (r#"{"a":{"b":{}},"c":1}"#, Ok(())),
            (r#"["[[[[[[,,,,,,,\"[[[[[[,,,,,,,\\"]"#, Ok(())),
            ("]]]]]]]]]]", Ok(())),
            ("not JSON, but, commas, count, all, the, same", Err(Unreadable::TooMany(5))),
        ] {
            assert_eq!(checked(text), expected, "{text}");
        }
    }
}
