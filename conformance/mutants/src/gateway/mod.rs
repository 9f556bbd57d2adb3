//! Two gateways that are sound without a bug: a plain proxy, which passes bytes, and one that translates between two APIs. They know no socket:
//! a request of the client goes in, and a request upstream or a refusal comes out; the parts of the upstream's answer go in, and the parts of
//! the client's come out. Their decisions are seams, which a planted bug or reading replaces.
//!
//! | module | what it does |
//! |---|---|
//! | `course` | the gateway with its seams, and what it knows of one exchange |
//! | `asking` | a request of the client as one for the upstream |
//! | `names` | ids and names that the other API would refuse, one to one |
//! | `write` | what a request says as the body of another API |
//! | `passage` | the answer of the upstream as one for the client |
//! | `said` | what is new in a streamed answer |
//! | `stream` | the events of an answer as it comes |
//! | `places`, `plant` | where and when something shows, and how it is planted |
//! | `bodies` | what bugs change in a body, whatever its API |
//! | `bugs`, `readings` | the tables |
//! | `testee` | client, gateway and provider in one process |
//! | `through` | the gateway in front of another exchange, in one process |
//! | `server` | the socket around it |

mod asking;
mod bodies;
mod bugs;
mod course;
mod names;
mod passage;
mod places;
mod plant;
mod readings;
mod said;
mod server;
mod stream;
mod testee;
mod through;
mod write;

pub use places::Between;
pub use server::{GatewayServer, GatewaySettings};

pub(crate) use asking::Asked;
pub(crate) use course::{AnswerHead, TestGateway};
pub(crate) use passage::{Outgoing, Passage};
pub(crate) use places::Places;
pub(crate) use testee::ThroughTestGateway;
pub(crate) use through::Through;

use crate::planted::Planted;

/// Every bug and every reading.
pub(crate) fn all() -> impl Iterator<Item = Planted> {
    bugs::all().into_iter().chain(readings::all())
}
