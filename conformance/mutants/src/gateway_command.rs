//! `threadspec-mutants gateway`.

use std::io::Write;
use threadspec::oracle::Api;
use threadspec_cli::Stop;
use threadspec_mutants::{GatewayServer, GatewaySettings, Planted, find};
use threadspec_runner::Exit;

/// Serve a gateway that is sound, or one with a planted bug: a plain proxy if both APIs are the same, else one that translates
#[derive(Debug, clap::Args)]
pub(crate) struct ServeGateway {
    /// What its clients speak: openai-chat, openai-responses, anthropic
    #[arg(long, value_name = "API")]
    from: Api,
    /// What its upstream speaks
    #[arg(long, value_name = "API")]
    to: Api,
    /// The port to listen at; 0 is a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// The base URL of the upstream
    #[arg(long, value_name = "URL")]
    upstream: String,
    /// The model that the upstream is asked for, in the place of the client's
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// What is planted in it, bug or reading; `threadspec-mutants list` has all
    #[arg(long, value_name = "NAME")]
    bug: Option<String>,
}

impl ServeGateway {
    /// Serves until the process ends. The key for the upstream stands in `OPENAI_API_KEY` or `ANTHROPIC_API_KEY`.
    ///
    /// # Errors
    ///
    /// When it cannot listen.
    pub(crate) fn execute(&self) -> Result<Exit, Stop> {
        let variable = if self.to == Api::Anthropic { "ANTHROPIC_API_KEY" } else { "OPENAI_API_KEY" };
        let planted = self.bug.as_deref().map(|name| {
            let unknown = || Stop::new(Exit::Usage, format!("nothing of the name `{name}` is planted in gateways"));
            find(name).filter(Planted::is_of_gateway).ok_or_else(unknown)
        });
        let planted = planted.transpose()?;
        let settings = GatewaySettings {
            client: self.from,
            upstream: self.to,
            url: self.upstream.clone(),
            key: std::env::var(variable).ok().filter(|key| !key.is_empty()),
            model: self.model.clone(),
        };
        let failed = |error: std::io::Error| Stop::new(Exit::Corpus, format!("gateway: {error}"));
        let mut server = GatewayServer::listen(&settings, self.port).map_err(failed)?;
        if let Some(planted) = planted {
            planted.plant_in_server(&mut server);
        }
        let mut out = std::io::stdout();
        // Whoever started it on a free port reads where it is.
        let _ = writeln!(out, "http://{}", server.address().map_err(failed)?);
        let _ = out.flush();
        server.run().map_err(failed)?;
        Ok(Exit::Ok)
    }
}
