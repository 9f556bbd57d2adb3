//! `threadspec export`.

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use threadspec_cli::{Stop, corpus, not_writable, select, written};
use threadspec_judge::corpus::{Case, Expect, Pattern};
use threadspec_judge::json;
use threadspec_judge::protocol::JudgeProfile;
use threadspec_report::terminal::complain;
use threadspec_runner::Exit;
use threadspec_runner::files::create;

/// Write the cases for use in a test framework of your own, one JSON object per line
///
/// A line is a case in one profile: `id`, `profile`, `op`, `level`, `clauses`, `why`, `input` (or, where parsers differ, `input_json`, a string
/// of JSON text), `after` (the requests to send first, each with `input` or `input_json`), and the expected reply: `ok`, a list of outputs
/// of which any is right, or `reject`, the kind of refusal, with `message`, texts that its message has in any order. A case that expects a
/// property, or has a matcher in its output, is left out and counted on stderr: only `verify` can judge it.
#[derive(Debug, clap::Args)]
pub(crate) struct Export {
    /// Write plain cases to this file; `-` is stdout
    #[arg(long, value_name = "FILE")]
    plain: PathBuf,
    /// Use the corpus in this folder instead of the built-in one
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// Write only cases whose id matches; `*` matches anything, `/` included (repeatable)
    #[arg(long, value_name = "GLOB")]
    filter: Vec<String>,
    /// Write only cases of this profile, literal or hardened (repeatable) [default: both]
    #[arg(long, value_name = "PROFILE")]
    profile: Vec<JudgeProfile>,
}

impl Export {
    /// Runs the command and returns its exit code.
    ///
    /// # Errors
    ///
    /// When the corpus is at fault, a pattern matches nothing, no case is left, or the file cannot be written.
    pub(crate) fn execute(&self) -> Result<Exit, Stop> {
        let corpus = corpus(self.corpus.as_deref())?;
        let profiles = if self.profile.is_empty() { &JudgeProfile::OWN[..] } else { &self.profile };
        let chosen: Vec<(&Case, JudgeProfile)> = select(&corpus, &self.filter)?
            .into_iter()
            .flat_map(|case| {
                profiles.iter().filter(|&&profile| case.is_in(profile)).map(move |&profile| (case, profile))
            })
            .collect();
        let lines: Vec<ExportedCase<'_>> =
            chosen.iter().filter_map(|(case, profile)| ExportedCase::of(case, *profile)).collect();
        if lines.is_empty() {
            return Err(Stop::new(Exit::Usage, "none of these cases has a plain expected output"));
        }
        let code = if self.plain == Path::new("-") {
            written(write(&lines, io::stdout().lock()))?
        } else {
            let wrong = |error| not_writable(&self.plain, &error);
            write(&lines, create(&self.plain).map_err(wrong)?).map_err(wrong)?;
            Exit::Ok
        };
        complain(&format!(
            "{} cases; {} that only `verify` can judge are left out",
            lines.len(),
            chosen.len() - lines.len()
        ));
        Ok(code)
    }
}

fn write(lines: &[ExportedCase<'_>], out: impl Write) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    for line in lines {
        serde_json::to_writer(&mut out, line)?;
        out.write_all(b"\n")?;
    }
    out.flush()
}

/// A case in one profile.
#[derive(Serialize)]
struct ExportedCase<'a> {
    id: &'a str,
    profile: String,
    op: String,
    level: String,
    clauses: &'a [String],
    why: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    after: Vec<ExportedInput<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_json: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ok: Option<Vec<Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reject: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    message: Vec<String>,
}

/// An input: as JSON if every parser reads it alike, else as text.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum ExportedInput<'a> {
    Input(&'a RawValue),
    InputJson(&'a str),
}

impl<'a> ExportedInput<'a> {
    fn of(text: &'a str) -> Self {
        match serde_json::from_str(text) {
            Ok(value) if json::interoperable(text).is_ok() => Self::Input(value),
            _ => Self::InputJson(text),
        }
    }
}

impl<'a> ExportedCase<'a> {
    /// The line of a case, or `None` if the expectation is not plain.
    fn of(case: &'a Case, profile: JudgeProfile) -> Option<Self> {
        let (mut ok, mut reject, mut message) = (None, None, Vec::new());
        match case.expect() {
            Expect::Output(patterns) => ok = Some(patterns.iter().map(Pattern::value).collect::<Option<_>>()?),
            Expect::Reject { kind, message: pattern } => {
                reject = Some(kind.to_string());
                message = pattern.as_ref().map_or(Some(Vec::new()), texts)?;
            }
            Expect::Holds(_) | Expect::Run(_) => return None,
        }
        let (input, input_json) = match ExportedInput::of(case.input()) {
            ExportedInput::Input(value) => (Some(value), None),
            ExportedInput::InputJson(text) => (None, Some(text)),
        };
        Some(Self {
            id: &case.id,
            profile: profile.to_string(),
            op: case.op.to_string(),
            level: case.level.to_string(),
            clauses: &case.clauses,
            why: &case.why,
            after: case.after().iter().map(|input| ExportedInput::of(input)).collect(),
            input,
            input_json,
            ok,
            reject,
            message,
        })
    }
}

/// The texts that a message must hold, in any order.
fn texts(pattern: &Pattern) -> Option<Vec<String>> {
    match pattern {
        Pattern::Text(text) => Some(vec![text.to_string()]),
        Pattern::Includes(parts) => parts.iter().map(texts).collect::<Option<Vec<_>>>().map(|texts| texts.concat()),
        _ => None,
    }
}
