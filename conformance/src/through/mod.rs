//! Gateways: programs between a client and its model. A client of ours runs the same cases against them, in this process, whose model is the
//! provider; what arrives is compared with what was sent, and what is read with what was answered.
//!
//! | module | what it is |
//! |---|---|
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
mod over;
mod placeholders;
mod testee;

use crate::over_wire::ModelServer;
use agent::AgentThrough;
use gateway::Gateway;
use std::sync::Arc;
use testee::ThroughGateway;
use threadspec_cli::verify::{OverProvider, Testees};
use threadspec_judge::protocol::Transport;
use threadspec_judge::verdict::Unready;
use threadspec_runner::{Process, Testee};

/// Starts a gateway, and returns the testees of a run through it, the first of them ready, and the provider.
///
/// # Errors
///
/// Says why the gateway does not get ready.
pub(crate) fn testees(asked: &OverProvider<'_>) -> Result<(Testees, Arc<ModelServer>), Unready> {
    let &OverProvider { transport, through: options, command, timeout, .. } = asked;
    let server = Arc::new(ModelServer::start(asked)?);
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
