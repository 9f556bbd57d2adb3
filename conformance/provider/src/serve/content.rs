//! The body of a request, read within the limits.

use super::ServerLimits;
use crate::received::Unreadable;
use flate2::read::MultiGzDecoder;
use hyper::body::{Body, Incoming};
use hyper::header::{CONTENT_ENCODING, HeaderMap};
use std::cell::Cell;
use std::future::poll_fn;
use std::io::Read;
use std::pin::Pin;
use tokio::time::timeout;

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
}
