//! `threadspec messages`.

use super::read_log;
use clap::ValueEnum;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::PathBuf;
use threadspec::surrogates::unmark_surrogates;
use threadspec::{ContextMode, ContextOptions, Message, Profile, build_messages, wire};
use threadspec_cli::Stop;
use threadspec_runner::Exit;

/// Print the messages that a model receives for an event log
#[derive(Debug, clap::Args)]
pub(crate) struct Messages {
    /// Event log: a JSON array, an object with `events`, or JSON Lines; `-` is stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Build by this profile, literal or hardened
    #[arg(long, default_value_t)]
    profile: Profile,
    /// Present history as messages (standard) or as one document (xml)
    #[arg(long, value_name = "MODE", default_value_t)]
    context_mode: ContextMode,
    /// Instructions for the system message
    #[arg(long, value_name = "TEXT", default_value = "")]
    instructions: String,
    /// The form to print
    #[arg(long, value_enum, default_value_t = Format::Threadspec)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The form of the protocol and the corpus
    Threadspec,
    /// LangChain's stored messages
    Langchain,
    /// OpenAI chat completions
    Openai,
    /// OpenAI Responses, as `input` items
    OpenaiResponses,
    /// Anthropic messages
    Anthropic,
}

impl Format {
    fn write(self, messages: &[Message]) -> Result<String, threadspec::Error> {
        match self {
            Self::Threadspec => return Ok(with_surrogates(&json!(messages))),
            Self::Langchain => return Ok(with_surrogates(&wire::to_langchain(messages))),
            Self::Openai => wire::to_openai(messages),
            Self::OpenaiResponses => wire::to_openai_responses(messages),
            Self::Anthropic => wire::to_anthropic(messages),
        }
        .map(|request| format!("{request:#}"))
    }
}

/// Data as JSON text, with the escapes of the lone surrogates that are marked in it.
fn with_surrogates(data: &Value) -> String {
    unmark_surrogates(&format!("{data:#}")).into_owned()
}

impl Messages {
    /// Runs the command and returns its exit code.
    ///
    /// # Errors
    ///
    /// When the log cannot be read, or there is nothing to send in the form of a provider.
    pub(crate) fn execute(&self) -> Result<Exit, Stop> {
        let events = read_log(&self.file)?;
        let options =
            ContextOptions { profile: self.profile, mode: self.context_mode, instructions: &self.instructions };
        let printed = self.format.write(&build_messages(&events, &options));
        let printed = printed.map_err(|error| Stop::new(Exit::NotConformant, error.to_string()))?;
        threadspec_cli::written(writeln!(io::stdout().lock(), "{printed}"))
    }
}
