//! Runs the reference: `threadspec serialize`, `threadspec messages`, `threadspec serve`.

use super::fuzz::BUGS;
use super::{events_of, read_log};
use clap::ValueEnum;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, IsTerminal, Read, Write};
use std::path::PathBuf;
use std::{io, mem};
use threadspec::surrogates::{repair_surrogates, unmark_surrogates};
use threadspec::{
    ContextMode, ContextOptions, EventReader, Message, Profile, SerializeOptions, ThreadStream, build_messages, wire,
    write_thread,
};
use threadspec_cli::{Stop, at_fault, cannot_read, text_of};
use threadspec_judge::protocol::{Hello, Implementation, Op, Reply, Request};
use threadspec_judge::reference::Reference;
use threadspec_provider::client::{HttpModel, HttpThreadModel};
use threadspec_runner::{Exit, Served, StoredReference, files, serve};

/// Write exactly the `<thread>` document of an event log
///
/// JSON Lines are written while they are read, in bounded memory: if a line is wrong, the document ends before it, and the exit
/// code is 1.
#[derive(Debug, clap::Args)]
pub(crate) struct Serialize {
    /// Event log: a JSON array, an object with `events`, or JSON Lines; `-` is stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Write by this profile, literal or hardened
    #[arg(long, default_value_t)]
    profile: Profile,
}

impl Serialize {
    /// Runs the command and returns its exit code.
    ///
    /// # Errors
    ///
    /// When the log cannot be read.
    pub(crate) fn execute(&self) -> Result<Exit, Stop> {
        let cannot_read = |error: io::Error| cannot_read(&self.file, &error);
        let input = files::open(&self.file).map_err(cannot_read)?;
        let mut log = BufReader::with_capacity(1 << 17, input);
        let mut head = Vec::new();
        let mut out = io::stdout().lock();
        let written = if begins_lines_of_events(&mut log, &mut head).map_err(cannot_read)? {
            self.stream(head.chain(log), &mut out)?
        } else {
            log.read_to_end(&mut head).map_err(cannot_read)?;
            let events = events_of(&self.file, &text_of(&self.file, head)?)?;
            let options = SerializeOptions { profile: self.profile, ..SerializeOptions::default() };
            let written = write_thread(&mut out, &events, &options);
            // The program ends here; giving back every text one by one would take a tenth of its time.
            mem::forget(events);
            written
        };
        let end = if io::stdout().is_terminal() { "\n" } else { "" };
        threadspec_cli::written(written.and_then(|()| out.write_all(end.as_bytes())).and_then(|()| out.flush()))
    }

    /// The outer result is about the log, the inner one about the writer.
    fn stream(&self, log: impl BufRead, out: &mut impl Write) -> Result<io::Result<()>, Stop> {
        let mut stream = ThreadStream::new(out, self.profile);
        for event in EventReader::new(log) {
            let event = event.map_err(|error| at_fault(&self.file, &error))?;
            if let Err(error) = stream.push(&event) {
                return Ok(Err(error));
            }
        }
        Ok(stream.finish("").map(drop))
    }
}

/// Returns whether a log has several lines, the first of which is a JSON object with a `type`, so that it can only be an event. What was
/// read to find out is left in `head`.
fn begins_lines_of_events(log: &mut impl BufRead, head: &mut Vec<u8>) -> io::Result<bool> {
    let first = loop {
        // An array is often one line of many megabytes, which needs no search for its end.
        if log.fill_buf()?.trim_ascii_start().starts_with(b"[") {
            return Ok(false);
        }
        let start = head.len();
        if log.read_until(b'\n', head)? == 0 {
            return Ok(false);
        }
        let line = head[start..].trim_ascii();
        let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        if !line.is_empty() {
            break line;
        }
    };
    let is_event = first.starts_with(b"{")
        && str::from_utf8(first).is_ok_and(|first| {
            serde_json::from_str::<Value>(&repair_surrogates(first)).is_ok_and(|first| first.get("type").is_some())
        });
    if !is_event {
        return Ok(false);
    }
    loop {
        let start = head.len();
        if log.read_until(b'\n', head)? == 0 {
            return Ok(false);
        }
        if !head[start..].trim_ascii().is_empty() {
            return Ok(true);
        }
    }
}

// `threadspec messages`.

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

// `threadspec serve`.

/// Answer protocol requests from stdin on stdout, with the built-in reference
#[derive(Debug, clap::Args)]
pub(crate) struct Serve {
    /// Serve a mutant instead, to see the suite catch it
    #[arg(long, value_name = "NAME", value_parser = BUGS.map(|bug| bug.name))]
    bug: Option<String>,
}

impl Serve {
    /// Serves until stdin is closed.
    ///
    /// # Errors
    ///
    /// When stdin or stdout fails.
    pub(crate) fn execute(&self) -> Result<Exit, Stop> {
        let (requests, replies) = (io::stdin().lock(), io::stdout().lock());
        let bug = BUGS.into_iter().find(|bug| self.bug.as_deref() == Some(bug.name));
        let served = match bug {
            None => serve(&mut AnyModel, requests, replies),
            Some(mut bug) => serve(&mut bug, requests, replies),
        };
        served
            .map(Served::or_die)
            .map(|()| Exit::Ok)
            .map_err(|error| Stop::new(Exit::Corpus, format!("serve: {error}")))
    }
}

/// The reference, which asks its model where the request says.
struct AnyModel;

impl Implementation for AnyModel {
    fn hello(&self) -> Hello {
        StoredReference.hello()
    }

    fn answer(&mut self, request: &Request) -> Reply {
        StoredReference.answer(request)
    }

    fn line(&mut self, request: &Request) -> String {
        if request.op == Op::Session {
            return match HttpThreadModel::of(request) {
                Some(mut model) => StoredReference.line_with(request, &mut model),
                None => StoredReference.line(request),
            };
        }
        match HttpModel::of(request) {
            Some(mut model) => Reference.line_with(request, &mut model),
            None => Reference.line(request),
        }
    }
}
