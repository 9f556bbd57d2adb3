//! Records what came to an MCP server: each call with its time, and what its client did wrong.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// Something that came to the server. Times are microseconds since 1970.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "event")]
pub enum McpEvent {
    /// The client asked for the list of the tools.
    List {
        /// When.
        at: u64,
    },
    /// A call came.
    Call {
        /// When.
        at: u64,
        /// The tool.
        tool: String,
        /// The arguments.
        args: Map<String, Value>,
        /// The position of the call among those of the script's tool; `None` if the script has none like it.
        call: Option<usize>,
    },
    /// A call got its result.
    End {
        /// When.
        at: u64,
        /// The tool.
        tool: String,
        /// The position of the call.
        call: usize,
    },
    /// The client calls what the script does not have.
    Problem {
        /// When.
        at: u64,
        /// The fault, in one sentence.
        what: String,
    },
    /// The client sent something that is no message of MCP.
    Broken {
        /// When.
        at: u64,
        /// The fault, in one sentence.
        what: String,
    },
}

/// The events so far, in a file as JSON Lines if there is one.
#[derive(Debug, Default)]
pub struct McpRecord {
    file: Option<Mutex<File>>,
    events: Mutex<Vec<McpEvent>>,
}

impl McpRecord {
    /// A record that is kept in a file, too. Several servers may write to one.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn in_file(path: &Path) -> io::Result<Self> {
        let file = File::options().create(true).append(true).open(path)?;
        Ok(Self { file: Some(Mutex::new(file)), events: Mutex::default() })
    }

    /// Reads the events of a file. A line that is not whole yet is left out.
    pub fn read(text: &str) -> Vec<McpEvent> {
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// The events so far.
    pub fn events(&self) -> Vec<McpEvent> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns what the client did wrong so far, each in one sentence.
    pub fn problems(&self) -> Vec<String> {
        let what = |event| match event {
            McpEvent::Problem { what, .. } | McpEvent::Broken { what, .. } => Some(what),
            _ => None,
        };
        self.events().into_iter().filter_map(what).collect()
    }

    pub(crate) fn problem(&self, what: impl Into<String>) {
        self.add(McpEvent::Problem { at: now(), what: what.into() });
    }

    pub(crate) fn broken(&self, what: &str) {
        self.add(McpEvent::Broken { at: now(), what: what.to_owned() });
    }

    /// How many calls wait for their end.
    pub(crate) fn waiting(&self) -> usize {
        let counts = |event: &McpEvent| match event {
            McpEvent::Call { call: Some(_), .. } => 1,
            McpEvent::End { .. } => -1,
            _ => 0_isize,
        };
        self.events.lock().unwrap_or_else(PoisonError::into_inner).iter().map(counts).sum::<isize>().unsigned_abs()
    }

    pub(crate) fn add(&self, event: McpEvent) {
        if let Some(file) = &self.file {
            let line = serde_json::to_string(&event).unwrap_or_default() + "\n";
            // A full disk costs the record, not the client. One write a line keeps the lines of several servers whole.
            let _ = file.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes());
        }
        self.events.lock().unwrap_or_else(PoisonError::into_inner).push(event);
    }
}

pub(crate) fn now() -> u64 {
    let passed = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(passed.as_micros()).unwrap_or(u64::MAX)
}
