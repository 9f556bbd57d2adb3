//! Judges replies: a request and its reply go in, a verdict comes out.
//!
//! Nothing here starts a process, reads a clock, a file or a terminal: whoever runs a testee brings its words, and whoever reads a
//! corpus from a folder brings pairs of path and text. So the same judge serves a runner, a fuzzer, a recorded exchange and a web page.
//!
//! A case says what is right, and [`tolerance`] which differences do not count. Where there is no case, as in fuzzing, the library answers
//! ([`reference`](mod@reference)) and [`compare`] judges by it. In profile `universal` no answer is the right one: a run must have the
//! properties that every agent owes its model ([`universal`]).
//!
//! ```
//! use threadspec_judge::corpus::embedded;
//! use threadspec_judge::protocol::{Implementation, JudgeProfile};
//! use threadspec_judge::reference::Reference;
//! use threadspec_judge::verdict::{Outcome, Terms, Verdict, judge};
//!
//! let (corpus, _) = embedded();
//! let case = corpus.cases.iter().find(|case| case.id == "escape/five-characters/ampersand-alone").expect("it is there");
//! let terms = Terms { profile: JudgeProfile::Literal, abilities: Reference.hello().abilities };
//! let reply = Reference.answer(&case.request(1, JudgeProfile::Literal));
//! assert_eq!(judge(case, terms, Outcome::Reply(reply)).verdict, Verdict::Pass);
//! ```
//!
//! The modules are facades themselves: each lists what it offers, and keeps its files to itself.
//!
//! | module | what it is |
//! |---|---|
//! | `error` | why a text is not what it should be |
//! | [`text`] | text in which every character is visible, and what a file is that is not UTF-8 |
//! | [`json`] | raw JSON text: tokens, values as a testee may send them, a stack deep enough for both |
//! | `facts` | what differs between the model APIs beside the form of their bodies |
//! | `feature` | what a framework has for its sessions |
//! | `shape` | what messages, events, runs and inputs are in JSON |
//! | [`script`] | the script of a session |
//! | [`protocol`] | the messages of the protocol, and what implements it |
//! | [`corpus`] | cases, clauses, expectations, and the layout of their files |
//! | [`reference`](mod@reference) | the library behind the protocol |
//! | [`tolerance`] | which differences between replies do not count |
//! | [`compare`] | whether a reply is as good as the reference's |
//! | [`universal`] | the judge of profile `universal` |
//! | [`session`] | the judge of several runs on one thread |
//! | [`verdict`] | from the outcome of a case to its verdict |

pub mod compare;
pub mod corpus;
mod error;
mod facts;
mod feature;
pub mod json;
pub mod protocol;
pub mod reference;
pub mod script;
pub mod session;
mod shape;
pub mod text;
pub mod tolerance;
pub mod universal;
pub mod verdict;

pub use error::Error;
