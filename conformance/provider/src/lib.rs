//! The other end of the wire.

pub mod client;
