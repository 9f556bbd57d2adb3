//! Writes findings as candidate cases of the corpus.

use super::FuzzFinding;
use super::probe::DENIED_REASON;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::{fs, io, process};
use threadspec_golden::clause;
use threadspec_judge::corpus::{AGENT, Corpus, File, Level, Pattern, canonical, cases_in, session_features};
use threadspec_judge::protocol::{Features, JudgeProfile, Op, Reply};
use threadspec_runner::files::write;

const ABOUT: &str = "Found by fuzzing; candidates for a topic of their own.";

/// Finds out, before a campaign, whether findings can be written to a folder, which is made if it is not there.
///
/// # Errors
///
/// When no file can be written there.
pub fn prepare_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let trial = folder.join(format!(".threadspec.{}", process::id()));
    fs::write(&trial, "")?;
    fs::remove_file(trial)
}

/// Writes findings to `<op>/found.json` below a folder, after the cases that are there already, and returns the files.
///
/// A case expects what the reference answers, or in profile `universal` the property that does not hold. Confirm that claim before
/// the case joins a corpus.
///
/// # Errors
///
/// When a file cannot be read or written, or one that is there is not a case file.
pub fn save_findings(
    folder: &Path,
    findings: &[FuzzFinding],
    profile: JudgeProfile,
    corpus: &Corpus,
) -> io::Result<Vec<PathBuf>> {
    let mut by_op: BTreeMap<_, Vec<&FuzzFinding>> = BTreeMap::new();
    for finding in findings {
        by_op.entry(finding.op).or_default().push(finding);
    }
    let mut files = Vec::new();
    for (op, findings) in by_op {
        let subfolder =
            if profile == JudgeProfile::Universal && op == Op::Tools { AGENT.to_owned() } else { op.to_string() };
        let name = format!("{subfolder}/found.json");
        let file = folder.join(&name);
        let mut cases = Cases::read(&file, &name)?;
        for finding in findings {
            cases.add(finding, profile, corpus);
        }
        fs::create_dir_all(folder.join(subfolder))?;
        let about = Value::from(ABOUT);
        let text = format!(r#"{{"op":"{op}","about":{about},"cases":[{}]}}"#, cases.sources.join(","));
        write(&file, canonical(&text).as_bytes())?;
        files.push(file);
    }
    Ok(files)
}

/// The cases of a file, by their source.
#[derive(Default)]
struct Cases {
    sources: Vec<String>,
    names: HashSet<String>,
    inputs: HashSet<String>,
}

impl Cases {
    /// Reads the cases of a file; there are none if there is no such file.
    fn read(path: &Path, name: &str) -> io::Result<Self> {
        let text = match fs::read_to_string(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            text => text?,
        };
        let (cases, problems) = cases_in(&File { path: name.to_owned(), text });
        if let Some(problem) = problems.first() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem.to_string()));
        }
        Ok(Self {
            names: cases.iter().map(|case| case.name().to_owned()).collect(),
            inputs: cases.iter().map(|case| case.input().to_owned()).collect(),
            sources: cases.into_iter().map(|case| case.source().to_owned()).collect(),
        })
    }

    /// Adds a finding as a case, unless a case with its input is there already.
    fn add(&mut self, finding: &FuzzFinding, profile: JudgeProfile, corpus: &Corpus) {
        let input = with_visible_characters(&threadspec_judge::json::compact(&finding.input));
        if !self.inputs.insert(input.clone()) {
            return;
        }
        let clause = finding.clause.to_lowercase();
        let numbered = (2..).map(|number| format!("{clause}-{number}"));
        let mut names = std::iter::once(clause.clone()).chain(numbered);
        let Some(name) = names.find(|name| self.names.insert(name.clone())) else { return };
        let is_part = finding.what == DENIED_REASON;
        let should = is_part || corpus.clause(finding.clause).is_some_and(|clause| clause.level == Level::Should);
        let level = if should { r#""level":"should","# } else { "" };
        let about = if finding.what.is_empty() { String::new() } else { format!(" ({})", finding.what) };
        let why = Value::from(format!("Fuzzing found an implementation that breaks {} here{about}.", finding.clause));
        let is_json = |input: &String| threadspec_judge::json::interoperable(input).is_ok();
        let after = if finding.after.is_empty() || !finding.after.iter().all(is_json) {
            // Without the requests before it, the case would show nothing.
            if !finding.after.is_empty() || finding.clause == clause::AGENT_INDEPENDENT {
                return;
            }
            String::new()
        } else {
            let after: Vec<String> = finding.after.iter().map(|input| with_visible_characters(input)).collect();
            format!(r#""after":[{}],"#, after.join(","))
        };
        let member = match threadspec_judge::json::interoperable(&input) {
            Ok(()) => format!(r#""input":{input}"#),
            Err(_) => format!(r#""input_json":{}"#, Value::from(&*input)),
        };
        let expect = match &finding.expected {
            Some(expected) => with_visible_characters(&expectation(expected).to_string()),
            None if is_part => json!({"holds": [finding.what]}).to_string(),
            None => json!({"holds": [finding.clause.to_lowercase()]}).to_string(),
        };
        let needs = needs(finding);
        // What a generator made up is contrived until somebody reports it.
        let severity = if profile == JudgeProfile::Universal { r#""severity":"C","# } else { "" };
        self.sources.push(format!(
            r#"{{"name":"{name}","why":{why},"clauses":["{}"],{level}"profiles":["{profile}"],{severity}{needs}{after}{member},"expect":{expect}}}"#,
            finding.clause
        ));
    }
}

/// The features that a session and those before it use, as a member of the case.
fn needs(finding: &FuzzFinding) -> String {
    if finding.op != Op::Session {
        return String::new();
    }
    let inputs = finding.after.iter().chain([&finding.input]);
    let used = inputs.filter_map(|input| session_features(input).ok()).fold(Features::default(), Features::with);
    if used.is_empty() { String::new() } else { format!(r#""needs":{},"#, json!(used)) }
}

fn expectation(reply: &Reply) -> Value {
    match reply {
        Reply::Ok(Value::String(text)) if text.contains('\n') => {
            json!({"ok": {"lines": text.split('\n').collect::<Vec<_>>()}})
        }
        // What looks like a matcher is data here.
        Reply::Ok(output) if Pattern::read(output) != Pattern::read(&json!({"literally": output})) => {
            json!({"ok": {"literally": output}})
        }
        Reply::Ok(output) => json!({"ok": output}),
        Reply::Reject { kind, .. } => json!({"reject": kind.to_string()}),
        Reply::Unsupported(_) | Reply::Cut { .. } => json!({"holds": ["accepted-or-refused"]}),
    }
}

/// JSON text in which characters without a shape of their own are escaped.
fn with_visible_characters(json: &str) -> String {
    let mut visible = String::new();
    for character in json.chars() {
        if character.is_ascii() || !character.escape_debug().to_string().starts_with("\\u") {
            visible.push(character);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                visible.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    visible
}
