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

mod client;
mod gateway;
mod options;
mod placeholders;
mod testee;

pub(crate) use options::ThroughOptions;

use crate::over_wire::{ModelServer, StreamPieces};
use gateway::Gateway;
use std::sync::Arc;
use std::time::Duration;
use testee::ThroughGateway;
use threadspec_judge::protocol::Transport;
use threadspec_judge::verdict::Unready;
use threadspec_runner::Testee;

/// The testees of a run through a gateway, the first of them ready, and the provider.
///
/// # Errors
///
/// Says why the gateway does not get ready.
pub(crate) fn testees(
    options: &ThroughOptions,
    (transport, model, pieces): (Transport, Option<&str>, StreamPieces),
    timeout: Duration,
) -> Result<(Vec<Box<dyn Testee + Send>>, Arc<ModelServer>), Unready> {
    let server = ModelServer::start(transport, model, pieces).map_err(|error| Unready::Runner(error.to_string()))?;
    let server = Arc::new(server);
    if let Some(path) = options.log() {
        gateway::prepare_log(path)?;
    }
    let gateway = Arc::new(Gateway::new(options, Arc::clone(&server)));
    gateway.route()?;
    // What came until now was for nobody.
    server.take_strays(|_| true);
    let testee = || Box::new(ThroughGateway::new(Arc::clone(&gateway), timeout)) as Box<dyn Testee + Send>;
    Ok(((0..options.at_once()).map(|_| testee()).collect(), server))
}
