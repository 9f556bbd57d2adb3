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
//! | `places` | where and when something shows that is planted |
//! | `through` | the gateway in front of another exchange, in one process |
//! | `server` | the socket around it |

mod asking;
pub(crate) mod course;
pub(crate) mod names;
mod passage;
pub(crate) mod places;
pub(crate) mod said;
mod server;
mod stream;
mod through;
mod write;

pub use places::Between;
pub use server::{GatewayServer, GatewaySettings};

pub(crate) use asking::GatewayAsk;
pub(crate) use course::{AnswerHead, TestGateway};
pub(crate) use passage::{Outgoing, Passage};
pub(crate) use places::Places;
pub(crate) use through::Through;
