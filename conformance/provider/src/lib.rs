//! A model provider that plays a script: the other end of the wire, at which agents are judged by what they really send.
//!
//! What is answered is decided without a socket and without a clock; `serve` is the thin shell that has both.
//!
//! | module | what it is |
//! |---|---|
//! | `error` | why a script cannot be played, or a server not be started |
//! | `received` | a request of HTTP as it arrived |
//! | `exchange` | what is to be sent when |
//! | `client` | the client of agents: requests and answers of HTTP/1.1, and a connection |
//! | `serve` | the socket, the clock and the thread around it |

pub mod client;
mod error;
mod exchange;
mod received;
mod serve;

pub use error::Error;
pub use exchange::{AttemptId, Ending, PlannedAnswer, Reaction, WireStep};
pub use received::{Received, Unreadable};
pub use serve::{Answers, Limits, Server};
