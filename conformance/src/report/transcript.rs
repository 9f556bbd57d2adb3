//! A recorded exchange: JSON Lines of what a testee was asked and what came of it, from which a run can be judged again.
//!
//! The first line says what was run. Then comes a line per request, with what came of it: `reply`, `crash`, `timeout` or
//! `garbage`. A line with an `id` instead of a `request` corrects an earlier one, and `shutdown` says what the testee did
//! wrong in ending. A file whose name ends in `.gz` is compressed.

use crate::protocol::{Hello, Op, Profile, Reply, Request};
use crate::report::record::Options;
use crate::testee::{Outcome, Testee, Trouble};
use crate::universal::halves;
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json, value::RawValue};
use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

/// The first line of a transcript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The version of the format.
    pub transcript: u32,
    /// The testee's answer to `hello`.
    pub hello: Value,
    /// The command that started it.
    pub command: Vec<String>,
    /// How it was run.
    pub options: Options,
    /// The ids of the cases that were to be run.
    pub cases: Vec<String>,
}

/// Writes a transcript.
pub struct Writer(Box<dyn Write>);

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Writer")
    }
}

impl Writer {
    /// Begins a file.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn create(path: &Path, header: &Header) -> io::Result<Self> {
        let file = BufWriter::new(File::create(path)?);
        let mut writer = Self(if path.extension().is_some_and(|extension| extension == "gz") {
            Box::new(GzEncoder::new(file, Compression::default()))
        } else {
            Box::new(file)
        });
        writer.line(&serde_json::to_string(header)?)?;
        Ok(writer)
    }

    fn line(&mut self, line: &str) -> io::Result<()> {
        self.0.write_all(line.as_bytes())?;
        self.0.write_all(b"\n")
    }
}

/// A testee whose exchange is recorded.
pub struct Recorded<'a> {
    testee: &'a mut dyn Testee,
    writer: Writer,
    /// What went wrong in writing; the run goes on.
    error: Option<io::Error>,
}

impl<'a> Recorded<'a> {
    /// Records what is said from now on.
    pub fn new(testee: &'a mut dyn Testee, writer: Writer) -> Self {
        Self { testee, writer, error: None }
    }

    /// Ends the file.
    ///
    /// # Errors
    ///
    /// When something could not be written.
    pub fn close(mut self) -> io::Result<()> {
        match self.error {
            Some(error) => Err(error),
            None => self.writer.0.flush(),
        }
    }

    fn line(&mut self, line: &str) {
        if self.error.is_none() {
            self.error = self.writer.line(line).err();
        }
    }
}

impl Testee for Recorded<'_> {
    fn hello(&self) -> &Hello {
        self.testee.hello()
    }

    fn ask(&mut self, request: &Request) -> Outcome {
        let outcome = self.testee.ask(request);
        let came = match &outcome {
            Outcome::Reply(reply) => format!(r#""reply":{}"#, halves::escaped(&reply.line(request.id))),
            Outcome::Crash(what) => format!(r#""crash":{}"#, json!(what)),
            Outcome::Timeout(what) => format!(r#""timeout":{}"#, json!(what)),
            Outcome::Garbage(what) => format!(r#""garbage":{}"#, json!(what)),
            Outcome::Stray { id, what } => {
                self.line(&json!({"id": id, "garbage": what}).to_string());
                return outcome;
            }
            Outcome::Interrupted => return outcome,
        };
        self.line(&format!(r#"{{"request":{},{came}}}"#, request.line()));
        outcome
    }

    fn finish(&mut self) -> Vec<Trouble> {
        let troubles = self.testee.finish();
        for trouble in &troubles {
            let line = match trouble {
                Trouble::Stray { id, what } => json!({"id": id, "garbage": what}),
                Trouble::Shutdown(what) => json!({"shutdown": what}),
            };
            self.line(&line.to_string());
        }
        troubles
    }
}

/// A transcript as a testee: each request gets what it got then.
#[derive(Debug)]
pub struct Replay {
    /// What was run.
    pub header: Header,
    hello: Hello,
    outcomes: HashMap<String, VecDeque<Outcome>>,
    shutdown: Vec<String>,
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    request: Option<Asked<'a>>,
    id: Option<i64>,
    #[serde(borrow)]
    reply: Option<&'a RawValue>,
    crash: Option<String>,
    timeout: Option<String>,
    garbage: Option<String>,
    shutdown: Option<String>,
}

#[derive(Deserialize)]
struct Asked<'a> {
    id: i64,
    op: String,
    profile: String,
    #[serde(borrow)]
    input: &'a RawValue,
}

fn key(op: Op, profile: &str, input: &str) -> String {
    format!("{op} {profile} {input}")
}

impl Replay {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// Says why it is not a transcript, and where.
    pub fn read(path: &Path) -> Result<Self, String> {
        let mut bytes = Vec::new();
        let mut file = File::open(path).map_err(|error| error.to_string())?;
        let read = if path.extension().is_some_and(|extension| extension == "gz") {
            GzDecoder::new(file).read_to_end(&mut bytes)
        } else {
            file.read_to_end(&mut bytes)
        };
        read.map_err(|error| error.to_string())?;
        let text = String::from_utf8(bytes).map_err(|error| error.to_string())?;
        let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
        let (_, first) = lines.next().ok_or("it is empty")?;
        let header: Header = serde_json::from_str(first).map_err(|error| format!("not a transcript: {error}"))?;
        if header.transcript != 1 {
            return Err(format!("a transcript of version {}; this threadspec reads version 1", header.transcript));
        }
        let hello = Hello::from_json(&header.hello)?;
        let (mut keys, mut outcomes, mut shutdown) = (Vec::new(), HashMap::new(), Vec::new());
        for (number, line) in lines {
            let line = Line::read(line, header.options.profile).map_err(|why| format!("line {number}: {why}"))?;
            match line {
                Entry::Asked { id, key, outcome } => {
                    outcomes.insert(id, outcome);
                    keys.push((id, key));
                }
                Entry::Correction { id, outcome } => {
                    outcomes.insert(id, outcome);
                }
                Entry::Shutdown(what) => shutdown.push(what),
            }
        }
        let mut by_key: HashMap<String, VecDeque<Outcome>> = HashMap::new();
        for (id, key) in keys {
            by_key.entry(key).or_default().extend(outcomes.remove(&id));
        }
        Ok(Self { header, hello, outcomes: by_key, shutdown })
    }
}

enum Entry {
    Asked { id: i64, key: String, outcome: Outcome },
    Correction { id: i64, outcome: Outcome },
    Shutdown(String),
}

impl Line<'_> {
    fn read(line: &str, profile: Profile) -> Result<Entry, String> {
        let line: Line<'_> = serde_json::from_str(line).map_err(|error| error.to_string())?;
        if let Some(what) = line.shutdown {
            return Ok(Entry::Shutdown(what));
        }
        let outcome = match (line.reply, line.crash, line.timeout, line.garbage) {
            (Some(reply), None, None, None) => Outcome::Reply(Reply::read_for(profile, reply.get().as_bytes())?.1),
            (None, Some(what), None, None) => Outcome::Crash(what),
            (None, None, Some(what), None) => Outcome::Timeout(what),
            (None, None, None, Some(what)) => Outcome::Garbage(what),
            _ => return Err("it has not exactly one of `reply`, `crash`, `timeout` and `garbage`".into()),
        };
        match (line.request, line.id) {
            (Some(Asked { id, op, profile, input }), _) => {
                Ok(Entry::Asked { id, key: key(op.parse()?, &profile, input.get()), outcome })
            }
            (None, Some(id)) => Ok(Entry::Correction { id, outcome }),
            (None, None) => Err("it has neither a `request` nor an `id`".into()),
        }
    }
}

impl Testee for Replay {
    fn hello(&self) -> &Hello {
        &self.hello
    }

    fn ask(&mut self, request: &Request) -> Outcome {
        let key = key(request.op, &request.profile.to_string(), &request.input);
        // What was not asked then cannot be answered now.
        self.outcomes.get_mut(&key).and_then(VecDeque::pop_front).unwrap_or(Outcome::Interrupted)
    }

    fn finish(&mut self) -> Vec<Trouble> {
        std::mem::take(&mut self.shutdown).into_iter().map(Trouble::Shutdown).collect()
    }
}
