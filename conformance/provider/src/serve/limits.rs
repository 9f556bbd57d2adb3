//! Limits the cost of one client.

use std::time::Duration;

/// How much a client may send, and how long it may take.
///
/// What exceeds a limit is answered with 431, 413 or 408, or its connection is closed; others do not notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerLimits {
    /// The bytes of a request before its body.
    pub header_bytes: usize,
    /// The fields of a header.
    pub header_fields: usize,
    /// The bytes of a body, as it was sent and as it is when its encoding is undone.
    pub body_bytes: usize,
    /// The bytes of all bodies that are on their way at once; who would exceed them with more than a megabyte is refused.
    pub all_bodies: usize,
    /// How deep a body may be nested.
    pub depth: usize,
    /// How many values it may have.
    pub values: usize,
    /// How many connections are open at once; others wait until one ends.
    pub connections: usize,
    /// How long the header of a request may take, and the first one of a connection to begin.
    pub header_time: Duration,
    /// How long a client may send no byte of a body.
    pub body_pause: Duration,
    /// How long it may read nothing of an answer.
    pub stalled: Duration,
    /// How long a connection may wait for its next request.
    pub idle: Duration,
    /// How long answers may go on when the server should end.
    pub farewell: Duration,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            header_bytes: 64 << 10,
            header_fields: 100,
            body_bytes: 64 << 20,
            all_bodies: 512 << 20,
            depth: 10_000,
            values: 1 << 20,
            connections: 1024,
            header_time: Duration::from_secs(10),
            body_pause: Duration::from_secs(10),
            stalled: Duration::from_secs(30),
            idle: Duration::from_secs(60),
            farewell: Duration::from_secs(1),
        }
    }
}
