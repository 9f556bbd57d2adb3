//! One case of the corpus: what is asked, what is expected, and which clauses say so.

use super::{Oracle, expectation::Pattern};
use crate::json;
use crate::protocol::{Op, Profile, RejectKind, Request};
use crate::universal::Property;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

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
    /// The input as raw JSON text on one line.
    pub input: String,
    /// Inputs of the same op that are sent first.
    pub after: Vec<String>,
    /// What must come back.
    pub expect: Expect,
    /// The case as it stands in its file.
    pub source: String,
}

impl Case {
    /// The last part of its id.
    pub fn name(&self) -> &str {
        self.id.rsplit_once('/').map_or(&self.id, |(_, name)| name)
    }

    /// The request that puts the case to a testee.
    pub fn request(&self, id: i64, profile: impl Into<Profile>) -> Request {
        Request { id, op: self.op, profile: profile.into(), input: self.input.clone() }
    }

    /// Whether the case belongs to a profile.
    pub fn is_in(&self, profile: impl Into<Profile>) -> bool {
        self.profiles.contains(&profile.into())
    }

    /// A fingerprint of everything that the case says, whatever its layout.
    pub fn hash(&self) -> String {
        fingerprint(&json::compact(&self.source))
    }

    /// Reads a case; all that can be wrong with it alone is returned beside it.
    pub(crate) fn read(source: &RawValue, op: Op, folder: &str, topic: &str) -> Result<(Self, Vec<String>), String> {
        let text = threadspec::surrogates::repair_surrogates(source.get());
        let written: Written = serde_json::from_str(&text).map_err(|error| error.to_string())?;
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
        // A testee gets to see lone surrogates. Repairing keeps positions, so the original stands at the same place.
        let original = |value: &RawValue| {
            let start = value.get().as_ptr() as usize - text.as_ptr() as usize;
            json::compact(&source.get()[start..start + value.get().len()])
        };
        let input = match (written.input, &written.input_json) {
            (Some(input), None) => original(input),
            (None, Some(input)) => {
                json::read(input).map_err(|error| format!("`input_json`: {error}"))?;
                json::compact(input)
            }
            _ => return Err("it needs exactly one of `input` and `input_json`".into()),
        };
        let after: Vec<String> = written.after.unwrap_or_default().into_iter().map(original).collect();
        if !std::iter::once(&input).chain(&after).all(|input| input.starts_with('{')) {
            problems.push("`input` is not an object".into());
        }
        let expect = written.expect.read(&mut problems)?;
        let case = Self {
            id,
            op,
            why: written.why,
            clauses: written.clauses,
            level: written.level.unwrap_or_default(),
            profiles,
            input,
            after,
            expect,
            source: source.get().to_owned(),
        };
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
    input: Option<&'a RawValue>,
    input_json: Option<String>,
    #[serde(borrow)]
    after: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    expect: WrittenExpect<'a>,
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
    fn read(self, problems: &mut Vec<String>) -> Result<Expect, String> {
        let pattern = |value: &RawValue| Pattern::read(&json::read(value.get())?);
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
                if patterns.iter().enumerate().any(|(index, one)| patterns[..index].contains(one)) {
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
