//! Gateways: programs between a client and its model. The same cases are put to them by a client of ours, in this process, whose model is the
//! provider; what arrives is compared with what was sent, and what was said with what was got.
//!
//! | module | what it is |
//! |---|---|
//! | `options` | the options of `verify` |
//! | `placeholders` | what is filled in when a gateway is started |
//! | `gateway` | the program: started, waited for, ended |
//! | `client` | the way of our client, on which everything is kept |
//! | `testee` | a gateway as a testee, with our client |
//! | `front` | a server before a gateway, for agents that are not ours |
//! | `agent` | an agent as a testee, behind a gateway |
//! | `over` | a run through a gateway that is over |

mod agent;
mod client;
mod front;
mod gateway;
mod options;
mod over;
mod placeholders;
mod testee;

pub(crate) use options::ThroughOptions;

use crate::over_wire::{ModelServer, StreamPieces, Testees};
use agent::AgentThrough;
use gateway::Gateway;
use serde_json::Value;
use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;
use testee::ThroughGateway;
use threadspec::oracle::Api;
use threadspec_judge::corpus::Case;
use threadspec_judge::protocol::Transport;
use threadspec_judge::universal::{can_be_declared, value};
use threadspec_judge::verdict::Unready;
use threadspec_runner::{Process, Testee};

/// Whether a case can be put: an agent plays no case about gateways, and of several runs at once each needs tools, by which it is known.
pub(crate) fn takes(options: &ThroughOptions, is_agent: bool, case: &Case) -> bool {
    if !options.is_given() {
        return true;
    }
    let has_tools = || {
        let input = value::read(case.input()).unwrap_or_default();
        let is_declared = |name: &str| can_be_declared(Api::OpenAiChat, name);
        match &input["tools"] {
            Value::Object(tools) => tools.keys().any(|name| is_declared(name)),
            Value::Array(tools) => tools.iter().any(|tool| tool["name"].as_str().is_some_and(is_declared)),
            _ => false,
        }
    };
    !(is_agent && case.needs_gateway()) && (options.at_once() == 1 || has_tools())
}

/// The testees of a run through a gateway, the first of them ready, and the provider.
///
/// # Errors
///
/// Says why the gateway does not get ready.
pub(crate) fn testees(
    options: &ThroughOptions,
    (transport, model, pieces): (Transport, Option<&str>, StreamPieces),
    (command, timeout): (&[OsString], Duration),
) -> Result<(Testees, Arc<ModelServer>), Unready> {
    let server = ModelServer::start(transport, model, pieces).map_err(|error| Unready::Runner(error.to_string()))?;
    let server = Arc::new(server);
    if let Some(path) = options.log() {
        gateway::prepare_log(path)?;
    }
    let gateway = Arc::new(Gateway::new(options, Arc::clone(&server)));
    gateway.route()?;
    // What came until now was for nobody.
    server.take_strays(|_| true);
    if !command.is_empty() {
        let process = Process::start_over(Transport { api: gateway.client, ..transport }, command, timeout)?;
        return Ok((vec![Box::new(AgentThrough::new(process, gateway))], server));
    }
    let several = options.at_once() > 1;
    let testee = || Box::new(ThroughGateway::new(Arc::clone(&gateway), timeout, several)) as Box<dyn Testee + Send>;
    Ok(((0..options.at_once()).map(|_| testee()).collect(), server))
}
