//! Transcripts: JSON Lines of the requests to a testee and their outcomes, from which a run can be judged again.
//!
//! The first line says what was run. Then comes a line per request, with its outcome: `reply`, `crash`, `timeout` or `garbage`.
//! A line with an `id` instead of a `request` corrects an earlier one: the request was sent again. `shutdown` says what went
//! wrong when the testee was ended. A file whose name ends in `.gz` is compressed.

use crate::error::Error;
use crate::files;
use crate::options::RunOptions;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;
use threadspec_judge::corpus::Case;
use threadspec_judge::protocol::{Hello, JudgeProfile, Op, Reply, Request};
use threadspec_judge::text;
use threadspec_judge::verdict::Outcome;

/// The first line of a transcript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TranscriptHeader {
    /// The version of the format.
    pub transcript: u32,
    /// The testee's answer to `hello`.
    pub hello: Value,
    /// The command that started it.
    pub command: Vec<String>,
    /// How it was run.
    pub options: RunOptions,
    /// The ids of the cases that were to be run.
    pub cases: Vec<String>,
}

/// Writes a transcript, line by line.
struct Writer(Box<dyn Write + Send>);

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Writer")
    }
}

impl Writer {
    fn create(path: &Path, header: &TranscriptHeader) -> io::Result<Self> {
        let file = BufWriter::new(files::create(path)?);
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

/// Records a run as a transcript.
#[derive(Debug)]
pub struct Recorder {
    writer: Writer,
    /// The id with which a request was written, by its case and step.
    written: HashMap<(String, usize), i64>,
    /// The error in writing, if one occurred; the run goes on.
    error: Option<io::Error>,
}

impl Recorder {
    /// Begins a file.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn create(path: &Path, header: &TranscriptHeader) -> io::Result<Self> {
        Ok(Self { writer: Writer::create(path, header)?, written: HashMap::new(), error: None })
    }

    /// Notes the outcome of a request. A later outcome of the same one corrects it.
    pub fn record(&mut self, case: &Case, step: usize, request: &Request, outcome: &Outcome) {
        let what = match outcome {
            Outcome::Reply(reply) => format!(r#""reply":{}"#, reply.marked_line(request.id)),
            Outcome::Accepted(line) => format!(r#""reply":{line}"#),
            Outcome::Crash(how) => format!(r#""crash":{}"#, json!(how)),
            Outcome::Timeout(how) => format!(r#""timeout":{}"#, json!(how)),
            Outcome::Garbage(how) | Outcome::Stray { what: how, .. } => format!(r#""garbage":{}"#, json!(how)),
            Outcome::NotReady(_) | Outcome::Interrupted => return,
        };
        match self.written.entry((case.id.clone(), step)) {
            Entry::Occupied(id) => {
                let line = format!(r#"{{"id":{},{what}}}"#, id.get());
                self.line(&line);
            }
            Entry::Vacant(place) => {
                place.insert(request.id);
                self.line(&format!(r#"{{"request":{},{what}}}"#, request.line()));
            }
        }
    }

    /// Ends the file.
    ///
    /// # Errors
    ///
    /// When something could not be written.
    pub fn close(mut self, shutdown: &[String]) -> io::Result<()> {
        for what in shutdown {
            self.line(&json!({"shutdown": what}).to_string());
        }
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

/// A transcript that was read.
#[derive(Debug)]
pub struct Transcript {
    /// The description of the run.
    pub header: TranscriptHeader,
    /// The testee's description of itself.
    pub hello: Hello,
    /// Errors when it was ended.
    pub shutdown: Vec<String>,
    outcomes: HashMap<String, VecDeque<Outcome>>,
}

/// A line of a file, as it is written.
#[derive(Deserialize)]
struct TranscriptLine<'a> {
    #[serde(borrow)]
    request: Option<RecordedRequest<'a>>,
    id: Option<i64>,
    #[serde(borrow)]
    reply: Option<&'a RawValue>,
    crash: Option<String>,
    timeout: Option<String>,
    garbage: Option<String>,
    shutdown: Option<String>,
}

#[derive(Deserialize)]
struct RecordedRequest<'a> {
    id: i64,
    op: String,
    profile: String,
    #[serde(borrow)]
    input: &'a RawValue,
}

fn key(op: Op, profile: &str, input: &str) -> String {
    format!("{op} {profile} {input}")
}

impl Transcript {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// Says why it is not a transcript, and where.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let mut bytes = Vec::new();
        let mut file = files::open(path).map_err(Error::new)?;
        let read = if path.extension().is_some_and(|extension| extension == "gz") {
            GzDecoder::new(file).read_to_end(&mut bytes)
        } else {
            file.read_to_end(&mut bytes)
        };
        read.map_err(Error::new)?;
        let text = text::utf8(bytes).map_err(Error::new)?;
        let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
        let (_, first) = lines.next().ok_or_else(|| Error::new("it is empty"))?;
        let header: TranscriptHeader =
            serde_json::from_str(first).map_err(|error| Error::new(format_args!("not a transcript: {error}")))?;
        if header.transcript != 1 {
            let version = header.transcript;
            return Err(Error::new(format_args!("a transcript of version {version}; this threadspec reads version 1")));
        }
        let hello = Hello::from_json(&header.hello).map_err(Error::new)?;
        let (mut keys, mut outcomes, mut shutdown) = (Vec::new(), HashMap::new(), Vec::new());
        for (number, line) in lines {
            let line = TranscriptLine::read(line, header.options.profile).map_err(|error| error.at_line(number))?;
            match line {
                Recorded::Request { id, key, outcome } => {
                    outcomes.insert(id, outcome);
                    keys.push((id, key));
                }
                Recorded::Correction { id, outcome } => {
                    outcomes.insert(id, outcome);
                }
                Recorded::Shutdown(what) => shutdown.push(what),
            }
        }
        let mut by_key: HashMap<String, VecDeque<Outcome>> = HashMap::new();
        for (id, key) in keys {
            by_key.entry(key).or_default().extend(outcomes.remove(&id));
        }
        Ok(Self { header, hello, shutdown, outcomes: by_key })
    }

    /// The outcome of a request; equal requests get theirs in the order in which they were sent. `None` if it was not recorded.
    pub fn take(&mut self, request: &Request) -> Option<Outcome> {
        let key = key(request.op, &request.profile.to_string(), &request.input);
        self.outcomes.get_mut(&key)?.pop_front()
    }
}

/// The content of a line.
enum Recorded {
    Request { id: i64, key: String, outcome: Outcome },
    Correction { id: i64, outcome: Outcome },
    Shutdown(String),
}

impl TranscriptLine<'_> {
    fn read(line: &str, profile: JudgeProfile) -> Result<Recorded, Error> {
        let line: TranscriptLine<'_> = serde_json::from_str(line).map_err(Error::new)?;
        if let Some(what) = line.shutdown {
            return Ok(Recorded::Shutdown(what));
        }
        let outcome = match (line.reply, line.crash, line.timeout, line.garbage) {
            (Some(reply), None, None, None) => {
                Outcome::Reply(Reply::read_for(profile, reply.get().as_bytes()).map_err(Error::new)?.1)
            }
            (None, Some(what), None, None) => Outcome::Crash(what),
            (None, None, Some(what), None) => Outcome::Timeout(what),
            (None, None, None, Some(what)) => Outcome::Garbage(what),
            _ => return Err(Error::new("it must have exactly one of `reply`, `crash`, `timeout` and `garbage`")),
        };
        match (line.request, line.id) {
            (Some(RecordedRequest { id, op, profile, input }), _) => {
                Ok(Recorded::Request { id, key: key(op.parse().map_err(Error::new)?, &profile, input.get()), outcome })
            }
            (None, Some(id)) => Ok(Recorded::Correction { id, outcome }),
            (None, None) => Err(Error::new("it has neither a `request` nor an `id`")),
        }
    }
}
