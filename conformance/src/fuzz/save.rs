//! Findings as candidate cases of the corpus.

use super::Finding;
use crate::corpus::Corpus;
use crate::corpus::Level;
use crate::corpus::expectation::Pattern;
use crate::corpus::layout::canonical;
use crate::protocol::Reply;
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::{fs, io};
use threadspec::Profile;

const ABOUT: &str = "Found by fuzzing; candidates for a topic of their own.";

/// Writes findings to `<op>/found.json` below a folder, behind the cases that stand there already, and returns the files.
///
/// What the case expects is what the reference answers, which is a claim to be confirmed before the case joins a corpus.
///
/// # Errors
///
/// When a file cannot be read or written, or one that is there is not a case file.
pub fn save(folder: &Path, findings: &[Finding], profile: Profile, corpus: &Corpus) -> io::Result<Vec<PathBuf>> {
    let mut by_op: BTreeMap<_, Vec<&Finding>> = BTreeMap::new();
    for finding in findings {
        by_op.entry(finding.op).or_default().push(finding);
    }
    let mut files = Vec::new();
    for (op, findings) in by_op {
        let file = folder.join(op.name()).join("found.json");
        let mut cases = Cases::read(&file)?;
        for finding in findings {
            cases.add(finding, profile, corpus);
        }
        fs::create_dir_all(folder.join(op.name()))?;
        let about = Value::from(ABOUT);
        let text = format!(r#"{{"op":"{op}","about":{about},"cases":[{}]}}"#, cases.sources.join(","));
        fs::write(&file, canonical(&text))?;
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
    fn read(file: &Path) -> io::Result<Self> {
        #[derive(Deserialize)]
        struct Written<'a> {
            #[serde(borrow)]
            cases: Vec<&'a RawValue>,
        }
        #[derive(Deserialize)]
        struct Case<'a> {
            name: String,
            #[serde(borrow)]
            input: Option<&'a RawValue>,
            input_json: Option<String>,
        }
        let text = match fs::read_to_string(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            text => text?,
        };
        let mut cases = Self::default();
        for source in serde_json::from_str::<Written<'_>>(&text)?.cases {
            let case: Case<'_> = serde_json::from_str(source.get())?;
            cases.names.insert(case.name);
            let input = case.input.map(|input| crate::json::compact(input.get()));
            cases.inputs.extend(input.or(case.input_json));
            cases.sources.push(source.get().to_owned());
        }
        Ok(cases)
    }

    /// A case that is there already is not written again.
    fn add(&mut self, finding: &Finding, profile: Profile, corpus: &Corpus) {
        let input = with_visible_characters(&crate::json::compact(&finding.input));
        if !self.inputs.insert(input.clone()) {
            return;
        }
        let clause = finding.clause.to_lowercase();
        let numbered = (2..).map(|number| format!("{clause}-{number}"));
        let mut names = std::iter::once(clause.clone()).chain(numbered);
        let Some(name) = names.find(|name| self.names.insert(name.clone())) else { return };
        let should = corpus.clause(finding.clause).is_some_and(|clause| clause.level == Level::Should);
        let level = if should { r#""level":"should","# } else { "" };
        let about = if finding.what.is_empty() { String::new() } else { format!(" ({})", finding.what) };
        let why = Value::from(format!("Fuzzing found an implementation that breaks {} here{about}.", finding.clause));
        let member = match crate::json::interoperable(&input) {
            Ok(()) => format!(r#""input":{input}"#),
            Err(_) => format!(r#""input_json":{}"#, Value::from(&*input)),
        };
        let expect = with_visible_characters(&expectation(&finding.expected).to_string());
        self.sources.push(format!(
            r#"{{"name":"{name}","why":{why},"clauses":["{}"],{level}"profiles":["{profile}"],{member},"expect":{expect}}}"#,
            finding.clause
        ));
    }
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
        Reply::Unsupported(_) => json!({"holds": ["accepted-or-refused"]}),
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
