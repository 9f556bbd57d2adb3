//! An MCP server that plays a script: for programs that take their tools over MCP, and for those who test an MCP client alone.
//!
//! A [`McpScript`] declares tools, and the result of each call. A call is known by its arguments, since MCP has no ids for calls; calls with
//! equal arguments get their results in order. The official Rust SDK (`rmcp`) speaks the protocol. What came, and when, is in an [`McpRecord`].
//!
//! | module | what it is |
//! |---|---|
//! | `script` | the tools, and the results of their calls, read from JSON |
//! | `record` | the calls that came, with their times, and what the client did wrong |
//! | `check` | what is wrong with a message before anybody reads its method |
//! | `server` | the tools as the SDK serves them |
//! | `stdio` | the server on standard input and output |
//! | `http` | the server over streamable HTTP |

mod check;
mod http;
mod record;
mod script;
mod server;
mod stdio;

pub use http::McpHttp;
pub use record::{McpEvent, McpRecord};
pub use script::{McpCall, McpScript, McpTool};
pub use server::ScriptedServer;
pub use stdio::{serve_lines, serve_stdio};
