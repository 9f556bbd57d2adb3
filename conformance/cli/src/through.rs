//! The options of `verify` that put a gateway between client and provider.

use serde_json::Value;
use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;
use threadspec::oracle::Api;
use threadspec_judge::corpus::Case;
use threadspec_judge::protocol::Op;
use threadspec_judge::text::visible;
use threadspec_judge::universal::{can_be_declared, value};
use threadspec_runner::RunGateway;

/// How the texts of streams are divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, strum::Display)]
#[strum(serialize_all = "kebab-case")]
pub enum StreamPieces {
    /// Into pieces of 1, 1, 2, 3, 5, 8 … characters
    #[default]
    Usual,
    /// Into single characters
    Tiny,
}

/// Returns whether a case can run: an agent plays no case about gateways, and of several runs at once each needs tools, by which it is
/// known.
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

/// How a gateway is started and reached.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "A gateway between client and provider")]
pub struct ThroughOptions {
    /// Start a gateway with this command, send requests through it, and judge its changes
    #[arg(long, value_name = "CMD", requires_all = ["provider", "client"])]
    through: Option<String>,
    /// The API that the client speaks: openai-chat, openai-responses or anthropic
    #[arg(long, value_name = "API", requires = "provider")]
    client: Option<Api>,
    /// Write this file, with its placeholders filled in, to a fresh folder; it is `{config}` in CMD
    #[arg(long, value_name = "FILE", requires = "through")]
    through_config: Option<PathBuf>,
    /// Send this header to the gateway, with its placeholders filled in (repeatable)
    #[arg(long, value_name = "NAME: VALUE", value_parser = header)]
    through_header: Vec<String>,
    /// Ask the gateway for this model [default: the provider's]
    #[arg(long, value_name = "NAME")]
    through_model: Option<String>,
    /// Send the gateway the key in this variable [default: one that is made up]
    #[arg(long, value_name = "NAME")]
    through_key_env: Option<String>,
    /// The gateway's address; without CMD, it runs already [default: `http://127.0.0.1:{port}`]
    #[arg(long, value_name = "URL", requires_all = ["provider", "client"])]
    through_url: Option<String>,
    /// Make the fresh folder the gateway's HOME
    #[arg(long, requires = "through")]
    through_home: bool,
    /// Write the gateway's output to this file
    #[arg(long, value_name = "FILE", requires = "through")]
    through_log: Option<PathBuf>,
    /// The gateway's name in reports, perhaps with its version [default: the first word of CMD]
    #[arg(long, value_name = "NAME")]
    through_name: Option<String>,
    /// The time limit for the gateway's start
    #[arg(long, value_name = "SECS", default_value = "60", value_parser = crate::common::seconds)]
    ready_timeout: Duration,
    /// Run this many cases with tools at once, and judge that they do not influence each other
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=64))]
    at_once: u64,
}

/// A header as it is given: a name, a colon, a value.
fn header(text: &str) -> Result<String, String> {
    let is_of_name = |of: char| of.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(of);
    match text.split_once(':') {
        Some((name, value))
            if !name.is_empty() && name.chars().all(is_of_name) && !value.chars().any(char::is_control) =>
        {
            Ok(text.to_owned())
        }
        _ => Err("not a name, a colon and a value".to_owned()),
    }
}

impl ThroughOptions {
    /// Refuses what cannot be meant.
    ///
    /// # Errors
    ///
    /// Says what is missing, or contradicts.
    pub fn check(&self, jobs: u64, is_agent: bool, ops: &[Op]) -> Result<(), String> {
        let usage = |message: &str| Err(message.to_owned());
        if !self.is_given() {
            let is_lonely = self.client.is_some()
                || self.through_model.is_some()
                || self.through_key_env.is_some()
                || self.through_name.is_some()
                || !self.through_header.is_empty()
                || self.at_once > 1;
            return if is_lonely {
                usage(
                    "--client, --at-once and --through-… are about a gateway: add `--through CMD` or `--through-url URL`",
                )
            } else {
                Ok(())
            };
        }
        if !ops.is_empty() && !ops.contains(&Op::Tools) {
            return usage(
                "through a gateway, runs of op `tools` are judged, each for itself; threads of several runs are judged without one: leave out --through, or --op",
            );
        }
        if is_agent && self.at_once > 1 {
            return usage("--at-once is for our own client: how many runs an agent has at once is up to it");
        }
        if jobs > 1 {
            return usage("a gateway is one program for all cases; use `--at-once N` instead of --jobs");
        }
        if self.through.as_deref().is_some_and(|command| shlex::split(command).is_none_or(|words| words.is_empty())) {
            return usage("--through names no command, or has a quotation that does not end");
        }
        if let Some(name) = &self.through_key_env
            && env::var(name).is_ok_and(|key| !key.is_empty()).then_some(()).is_none()
        {
            return usage(&visible(&format!("--through-key-env: the environment has no {name}")));
        }
        if self.through.is_none() && self.url().contains("{port}") {
            return usage("--through-url has `{port}`, which is for a gateway that --through starts");
        }
        Ok(())
    }

    /// Returns whether the options name a gateway.
    pub fn is_given(&self) -> bool {
        self.through.is_some() || self.through_url.is_some()
    }

    /// The words of the gateway's command, split as a shell would; none if it runs already.
    pub fn words(&self) -> Vec<String> {
        // A quotation that does not end was refused.
        self.through.as_deref().and_then(shlex::split).unwrap_or_default()
    }

    /// The API that the client speaks.
    pub fn client(&self) -> Api {
        self.client.unwrap_or(Api::OpenAiChat)
    }

    /// Where it listens, with placeholders.
    pub fn url(&self) -> String {
        let url = self.through_url.as_deref().unwrap_or("http://127.0.0.1:{port}");
        let url = url.trim_end_matches('/');
        url.strip_suffix("/v1").unwrap_or(url).to_owned()
    }

    /// Returns the file whose placeholders are filled.
    pub fn config(&self) -> Option<&Path> {
        self.through_config.as_deref()
    }

    /// Returns the headers for the gateway, with placeholders.
    pub fn headers(&self) -> &[String] {
        &self.through_header
    }

    /// Returns the model that the gateway is asked for.
    pub fn model(&self) -> Option<&str> {
        self.through_model.as_deref()
    }

    /// The client's own key, if it has one.
    pub fn key(&self) -> Option<String> {
        self.through_key_env.as_ref().and_then(|name| env::var(name).ok())
    }

    /// Returns whether the fresh folder is the HOME of the gateway.
    pub fn has_home(&self) -> bool {
        self.through_home
    }

    /// Returns the file for what the gateway prints.
    pub fn log(&self) -> Option<&Path> {
        self.through_log.as_deref()
    }

    /// Returns how long the gateway may take to get ready.
    pub fn ready_timeout(&self) -> Duration {
        self.ready_timeout
    }

    /// Returns how many cases are put at once.
    pub fn at_once(&self) -> u64 {
        self.at_once
    }

    /// Returns its name, and its version if the name has one.
    pub fn name(&self) -> String {
        if let Some(name) = &self.through_name {
            return name.clone();
        }
        let words = self.words();
        match words.first() {
            Some(program) => Path::new(program)
                .file_stem()
                .map_or_else(|| program.clone(), |stem| stem.to_string_lossy().into_owned()),
            None => self.url(),
        }
    }

    /// Describes it for run files; `None` without a gateway.
    pub fn told(&self) -> Option<RunGateway> {
        if !self.is_given() {
            return None;
        }
        let mut options = Vec::new();
        let mut add = |name: &str, value: &str| options.extend([name.to_owned(), value.to_owned()]);
        let path = |path: &PathBuf| path.display().to_string();
        for (name, value) in [
            ("--through", self.through.clone()),
            ("--through-config", self.through_config.as_ref().map(path)),
            ("--through-model", self.through_model.clone()),
            ("--through-key-env", self.through_key_env.clone()),
            ("--through-url", self.through_url.clone()),
            ("--through-log", self.through_log.as_ref().map(path)),
            ("--through-name", self.through_name.clone()),
        ] {
            if let Some(value) = value {
                add(name, &value);
            }
        }
        self.through_header.iter().for_each(|header| add("--through-header", header));
        if self.ready_timeout != Duration::from_secs(60) {
            add("--ready-timeout", &self.ready_timeout.as_secs_f64().to_string());
        }
        if self.at_once > 1 {
            add("--at-once", &self.at_once.to_string());
        }
        options.extend(self.through_home.then(|| "--through-home".to_owned()));
        Some(RunGateway { client: self.client(), name: self.name(), options })
    }
}
