//! `threadspec mcp`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use threadspec_cli::{Stop, at_fault, not_writable, read_file};
use threadspec_judge::text::{count, visible};
use threadspec_mcp::{McpHttp, McpRecord, McpScript, ScriptedServer, serve_stdio};
use threadspec_runner::{Exit, files, interrupt};

/// How often it looks whether it should end.
const TICK: Duration = Duration::from_millis(20);

/// Be an MCP server that plays a script, and name what its client does wrong
///
/// It speaks on standard input and output, or with --listen over streamable HTTP. A call is known by its arguments, since MCP has no ids for
/// calls; equal calls get their results in order.
///
/// Exit codes: 0 the client did nothing wrong; 1 it did; 2 wrong usage; 3 it cannot listen; 4 the script is wrong, or an output cannot be written.
#[derive(Debug, clap::Args)]
pub(crate) struct Mcp {
    /// The script: JSON with `tools`, each with its `calls`
    ///
    /// `{"tools": {"look": {"calls": [{"args": {"path": "a.txt"}, "text": "ok"}, {"args": {}, "text": "no such file", "isError": true}]}}}`
    ///
    /// A tool may have a `description`, an `inputSchema` (without it one that fits the arguments) and an `outputSchema`. A call may have
    /// `content`, blocks as MCP has them (images too), `structuredContent`, a `name`, `after` (the name of a call that ends before it), and
    /// `hangs`: it ends when the file of --release is there.
    #[arg(long, value_name = "FILE")]
    script: PathBuf,
    /// Append each call to this file, with its time, as JSON Lines
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Listen here for streamable HTTP; port 0 is a free one
    #[arg(long, value_name = "ADDR:PORT")]
    listen: Option<SocketAddr>,
    /// With --listen: write its address into this file, as JSON, once it listens
    #[arg(long, value_name = "FILE", requires = "listen")]
    ready_file: Option<PathBuf>,
    /// Let calls that hang end once this file is there
    #[arg(long, value_name = "FILE")]
    release: Option<PathBuf>,
}

impl Mcp {
    /// Runs the command and returns its exit code.
    ///
    /// # Errors
    ///
    /// When the script is at fault, it cannot listen, or a file cannot be written.
    pub(crate) fn execute(&self) -> Result<Exit, Stop> {
        let script = McpScript::read(&read_file(&self.script)?).map_err(|why| at_fault(&self.script, &why))?;
        let record = match &self.record {
            Some(path) => McpRecord::in_file(path).map_err(|error| not_writable(path, &error))?,
            None => McpRecord::default(),
        };
        let server = ScriptedServer::new(script, Arc::new(record), self.release.clone());
        match self.listen {
            Some(address) => self.listen(address, &server)?,
            None => serve_stdio(server.clone()).map_err(|error| Stop::new(Exit::Testee, error))?,
        }
        let problems = server.record().problems();
        for problem in &problems {
            eprintln!("{}", visible(problem));
        }
        let missing = server.missing();
        if !missing.is_empty() {
            eprintln!("{} of the script never came: {}", count(missing.len(), "call"), visible(&missing.join(", ")));
        }
        Ok(if problems.is_empty() { Exit::Ok } else { Exit::NotConformant })
    }

    fn listen(&self, address: SocketAddr, server: &ScriptedServer) -> Result<(), Stop> {
        if !address.ip().is_loopback() {
            return Err(Stop::new(Exit::Usage, "--listen needs a loopback address: the server knows no keys"));
        }
        interrupt::listen().map_err(|error| Stop::new(Exit::Corpus, format!("Ctrl-C: {error}")))?;
        let http = McpHttp::start(address, server.clone()).map_err(|error| Stop::new(Exit::Testee, error))?;
        eprintln!("listening on {}", http.url());
        if let Some(path) = &self.ready_file {
            let ready = serde_json::json!({"url": http.url(), "pid": std::process::id()}).to_string();
            files::write(path, ready.as_bytes()).map_err(|error| not_writable(path, &error))?;
        }
        while !interrupt::requested() {
            thread::sleep(TICK);
        }
        Ok(())
    }
}
