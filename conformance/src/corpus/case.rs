//! One case of the corpus: what is asked, what is expected, and which clauses say so.

use super::{Oracle, expectation::Pattern};
use crate::json;
use crate::protocol::{Op, Profile, RejectKind, Request};
use crate::universal::Property;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, value::RawValue};
use std::sync::OnceLock;
use threadspec_golden::template::{expand, outline};

/// How much a case binds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, strum::Display, strum::EnumString)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", parse_err_fn = unknown_level, parse_err_ty = String)]
pub enum Level {
    /// The texts decide it: failing it is not conformant.
    #[default]
    Must,
    /// The texts imply it: failing it is a warning, unless the run is strict.
    Should,
}

fn unknown_level(name: &str) -> String {
    format!("there is no level `{name}`")
}

/// What a reply must be.
#[derive(Clone, Debug, PartialEq)]
pub enum Expect {
    /// An output that matches one of these; the first is the reference's.
    Output(Vec<Pattern>),
    /// A refusal.
    Reject {
        /// Of this kind.
        kind: RejectKind,
        /// With a message that matches.
        message: Option<Pattern>,
    },
    /// An output of which these oracles hold.
    Holds(Vec<Oracle>),
    /// A run of which these properties hold, or that is refused for an accepted reason (profile `universal`).
    Run(Vec<Property>),
}

/// One case.
#[derive(Clone, Debug)]
pub struct Case {
    /// `<folder>/<topic>/<name>`; the folder is the op, or `agent`.
    pub id: String,
    /// What the testee is asked to do.
    pub op: Op,
    /// What goes wrong in implementations that fail the case.
    pub why: String,
    /// The ids of the clauses that it tests.
    pub clauses: Vec<String>,
    /// How much it binds.
    pub level: Level,
    /// The profiles that it belongs to.
    pub profiles: Vec<Profile>,
    /// The case as it stands in its file.
    pub source: String,
    /// That of a template is made when it is asked for.
    content: OnceLock<Result<Content, String>>,
    /// The input of a template, with each repetition made once at most.
    outline: Option<String>,
}

/// What is asked, and what must come back.
#[derive(Clone, Debug)]
struct Content {
    after: Vec<String>,
    input: String,
    expect: Expect,
}

impl Case {
    /// The last part of its id.
    pub fn name(&self) -> &str {
        self.id.rsplit_once('/').map_or(&self.id, |(_, name)| name)
    }

    /// The request that puts the case to a testee.
    pub fn request(&self, id: i64, profile: impl Into<Profile>) -> Request {
        Request { id, op: self.op, profile: profile.into(), input: self.input().to_owned() }
    }

    /// Whether the case belongs to a profile.
    pub fn is_in(&self, profile: impl Into<Profile>) -> bool {
        self.profiles.contains(&profile.into())
    }

    /// Whether it is a template, hence large.
    pub fn is_template(&self) -> bool {
        self.outline.is_some()
    }

    /// The inputs of the requests that are sent first, whatever the replies.
    pub fn after(&self) -> &[String] {
        &self.content().after
    }

    /// The input as raw JSON text on one line.
    pub fn input(&self) -> &str {
        &self.content().input
    }

    /// What must come back.
    pub fn expect(&self) -> &Expect {
        &self.content().expect
    }

    /// The input, in which a template makes each repetition once at most: what the case is about, however large it is.
    pub fn outline(&self) -> &str {
        self.outline.as_deref().unwrap_or_else(|| self.input())
    }

    /// The inputs of all its requests, in the order in which they are sent; the last one is the case's own.
    pub fn inputs(&self) -> impl Iterator<Item = &str> {
        self.after().iter().map(String::as_str).chain([self.input()])
    }

    fn content(&self) -> &Content {
        self.expanded().expect("a corpus whose templates expand")
    }

    /// Why it cannot be expanded, if it is a template that cannot.
    pub(super) fn template_problem(&self) -> Option<String> {
        self.expanded().err()
    }

    /// Its content, for which a template is expanded.
    fn expanded(&self) -> Result<&Content, String> {
        let expand = || {
            let written: Written = serde_json::from_str(&self.source).map_err(|error| error.to_string())?;
            let mut problems = Vec::new();
            let content = written.content(Extent::Whole, &mut problems)?;
            if problems.is_empty() { Ok(content) } else { Err(problems.join("; ")) }
        };
        self.content.get_or_init(expand).as_ref().map_err(Clone::clone)
    }

    /// A fingerprint of everything that the case says, whatever its layout.
    pub fn hash(&self) -> String {
        fingerprint(&json::compact(&self.source))
    }

    /// Reads a case; all that can be wrong with it alone is returned beside it.
    pub(crate) fn read(source: &RawValue, op: Op, folder: &str, topic: &str) -> Result<(Self, Vec<String>), String> {
        let written: Written = serde_json::from_str(source.get()).map_err(|error| error.to_string())?;
        let mut problems = Vec::new();
        let id = format!("{folder}/{topic}/{}", written.name);
        if !is_kebab_case(&written.name) {
            problems.push(format!("`{}` is not a kebab-case name", written.name));
        }
        if written.why.trim().is_empty() {
            problems.push("`why` is empty".into());
        }
        if written.clauses.is_empty() {
            problems.push("it names no clause".into());
        }
        if written.level == Some(Level::Must) {
            problems.push("`level` restates the default".into());
        }
        let profiles = match &written.profiles {
            None => Profile::OWN.to_vec(),
            Some(names) => {
                let parsed: Vec<Profile> = names.iter().filter_map(|name| name.parse().ok()).collect();
                if parsed.len() != names.len() || parsed.is_empty() {
                    problems.push(format!("`profiles` {names:?} are not known profiles"));
                } else if parsed.len() > 1 {
                    problems.push("`profiles` restates the default, or repeats one".into());
                }
                parsed
            }
        };
        if written.expand == Some(false) {
            problems.push("`expand` restates the default".into());
        }
        let is_template = written.expand == Some(true);
        let extent = if is_template { Extent::Outline } else { Extent::Plain };
        let (why, clauses, level) = (written.why.clone(), written.clauses.clone(), written.level.unwrap_or_default());
        let content = written.content(extent, &mut problems)?;
        let (content, outline) =
            if is_template { (OnceLock::new(), Some(content.input)) } else { (Ok(content).into(), None) };
        let case = Self { id, op, why, clauses, level, profiles, source: source.get().to_owned(), content, outline };
        Ok((case, problems))
    }
}

pub(super) fn fingerprint(text: &str) -> String {
    use std::fmt::Write;
    let digest = hmac_sha256::Hash::hash(text.as_bytes());
    digest[..8].iter().fold("sha256:".to_owned(), |mut hash, byte| {
        let _ = write!(hash, "{byte:02x}");
        hash
    })
}

pub(crate) fn is_kebab_case(name: &str) -> bool {
    !name.is_empty()
        && name
            .split('-')
            .all(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written<'a> {
    name: String,
    why: String,
    clauses: Vec<String>,
    level: Option<Level>,
    profiles: Option<Vec<String>>,
    #[serde(borrow)]
    after: Option<&'a RawValue>,
    expand: Option<bool>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    input_json: Option<String>,
    #[serde(borrow)]
    expect: WrittenExpect<'a>,
}

/// How much of a template is made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// It is none.
    Plain,
    /// Each repetition once at most.
    Outline,
    /// All of it.
    Whole,
}

impl Extent {
    fn value(self, text: &str) -> Result<Value, String> {
        let value = json::read(text)?;
        match self {
            Self::Plain => Ok(value),
            Self::Outline => outline(&value),
            Self::Whole => expand(&value),
        }
    }

    /// JSON text on one line; outside of templates just as it was written.
    fn text(self, text: &str) -> Result<String, String> {
        if self == Self::Plain { Ok(json::compact(text)) } else { self.value(text).map(|value| value.to_string()) }
    }
}

impl Written<'_> {
    fn content(self, extent: Extent, problems: &mut Vec<String>) -> Result<Content, String> {
        let input = match (self.input, self.input_json) {
            (Some(input), None) => extent.text(input.get())?,
            (None, Some(text)) => {
                serde_json::from_str::<&RawValue>(&text).map_err(|error| format!("`input_json`: {error}"))?;
                json::compact(&text)
            }
            _ => return Err("exactly one of `input` and `input_json` is needed".into()),
        };
        let after = self.after.map(|inputs| read_after(inputs, extent)).transpose()?.unwrap_or_default();
        if !after.iter().chain([&input]).all(|input| input.starts_with('{')) {
            problems.push("the input is not an object".into());
        }
        Ok(Content { after, input, expect: self.expect.read(extent, problems)? })
    }
}

/// The inputs that are sent first.
fn read_after(inputs: &RawValue, extent: Extent) -> Result<Vec<String>, String> {
    let text = extent.text(inputs.get())?;
    let inputs: Vec<&RawValue> = serde_json::from_str(&text).map_err(|error| format!("`after`: {error}"))?;
    if inputs.is_empty() {
        return Err("`after` names no input".into());
    }
    Ok(inputs.into_iter().map(|input| input.get().to_owned()).collect())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct WrittenExpect<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    ok: Option<&'a RawValue>,
    #[serde(borrow)]
    one_of: Option<Vec<&'a RawValue>>,
    reject: Option<String>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    holds: Option<Vec<String>>,
}

/// `"ok": null` expects null; an `Option` alone would take it for absent.
fn present<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'a RawValue>, D::Error> {
    Deserialize::deserialize(deserializer).map(Some)
}

impl WrittenExpect<'_> {
    fn read(self, extent: Extent, problems: &mut Vec<String>) -> Result<Expect, String> {
        let pattern = |value: &RawValue| Pattern::read(&extent.value(value.get())?);
        if self.message.is_some() && self.reject.is_none() {
            problems.push("`message` goes with `reject` only".into());
        }
        match (self.ok, self.one_of, self.reject, self.holds) {
            (Some(value), None, None, None) => Ok(Expect::Output(vec![pattern(value)?])),
            (None, Some(values), None, None) => {
                let patterns = values.into_iter().map(pattern).collect::<Result<Vec<_>, _>>()?;
                if patterns.len() < 2 {
                    problems.push("`oneOf` needs at least two alternatives".into());
                }
                let is_repeated = |(index, one): (usize, &Pattern)| patterns[..index].contains(one);
                // In outline two alternatives may well be the same.
                if extent != Extent::Outline && patterns.iter().enumerate().any(is_repeated) {
                    problems.push("`oneOf` has the same alternative twice".into());
                }
                Ok(Expect::Output(patterns))
            }
            (None, None, Some(kind), None) => {
                Ok(Expect::Reject { kind: kind.parse()?, message: self.message.map(pattern).transpose()? })
            }
            (None, None, None, Some(names)) => {
                if names.is_empty() {
                    problems.push("`holds` names no oracle".into());
                }
                let unknown = |name: &String| format!("unknown oracle `{name}`");
                if names.first().is_some_and(|name| name.starts_with("agent-")) {
                    let property = |name: &String| Property::of(name).ok_or_else(|| unknown(name));
                    return Ok(Expect::Run(names.iter().map(property).collect::<Result<_, _>>()?));
                }
                let oracle = |name: &String| name.parse().map_err(|_| unknown(name));
                Ok(Expect::Holds(names.iter().map(oracle).collect::<Result<_, _>>()?))
            }
            _ => Err("`expect` needs exactly one of `ok`, `oneOf`, `reject` and `holds`".into()),
        }
    }
}
