//! One case of the corpus: what is asked, what is expected, and which clauses say so.

use super::covering::Origin;
use super::expectation::Pattern;
use super::written::{Extent, Sent, Written, apis, needs};
use super::{AGENT, Accepted, GATEWAY, Oracle, SESSION, Severity, WIRE, clause};
use crate::error::Error;
use crate::json;
use crate::protocol::{Features, JudgeProfile, Op, RejectKind, Request};
use crate::universal::Property;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};
use threadspec::oracle::Api;

/// How binding a case is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, strum::Display, strum::EnumString)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", parse_err_fn = unknown_level, parse_err_ty = Error)]
pub enum Level {
    /// The sources decide it: whoever fails it is not conformant.
    #[default]
    Must,
    /// The sources imply it: failing it is a warning, unless the run is strict.
    Should,
}

fn unknown_level(name: &str) -> Error {
    Error::new(format_args!("there is no level `{name}`"))
}

/// The demand on a reply.
#[derive(Clone, Debug, PartialEq)]
pub enum Expect {
    /// An output that matches one of these; the first is the reference's.
    Output(Arc<[Pattern]>),
    /// A refusal.
    Reject {
        /// The kind of refusal.
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
    /// `<folder>/<topic>/<name>`; the folder is the op, or `agent`, `wire` or `gateway`.
    pub id: String,
    /// The operation of the request.
    pub op: Op,
    /// The effect in implementations that fail the case.
    pub why: String,
    /// The ids of the clauses that it tests.
    pub clauses: Vec<String>,
    /// How binding it is.
    pub level: Level,
    /// The profiles that it belongs to.
    pub profiles: Vec<JudgeProfile>,
    /// How much its failure hurts; only cases of profile `universal` have it.
    pub severity: Option<Severity>,
    /// Reports and documents that show the severity: `owner/repo#1`, or an address.
    pub evidence: Vec<String>,
    /// True if it takes too long for every day: `verify` runs it with `--thorough` only.
    pub thorough: bool,
    /// Over the wire: the APIs that have what it is about; empty for all.
    pub apis: Vec<Api>,
    /// Over the wire: whether it is about streams, or about whole answers; `None` for both.
    pub streams: Option<bool>,
    /// Over the wire: whether the model's thinking is to be switched on.
    pub reasoning: bool,
    /// For op `session`: the features that a framework must have for it, beside `message`, which every session needs.
    pub needs: Features,
    /// The case as it is in its file, or as it would.
    source: OnceLock<Arc<str>>,
    /// Where it comes from if it is in no file.
    origin: Option<Origin>,
    /// True if it is a template, hence large.
    pub is_template: bool,
    /// These are made when they are asked for: most runs need few of them, and none for long: see [`Case::for_a_while`].
    sent: OnceLock<Result<Sent, Error>>,
    expect: OnceLock<Result<Expect, Error>>,
    accepted: OnceLock<Arc<[String]>>,
    outline: OnceLock<Arc<str>>,
}

impl Case {
    /// The case as it is worked with. What is made of it, megabytes of a template, goes with it; a run that asked the corpus itself would
    /// hold that of every case to its end.
    pub fn for_a_while(&self) -> Cow<'_, Self> {
        if self.sent.get().is_some() { Cow::Borrowed(self) } else { Cow::Owned(self.clone()) }
    }

    /// Makes what it takes to put the case and to judge it. Returns about how many bytes that are.
    pub fn prepare(&self) -> usize {
        let accepted = self.accepted().size();
        let sent: usize = self.inputs().map(str::len).sum();
        // Texts are compared as they are, and need no pattern.
        let expected = (accepted == 0).then(|| self.expect());
        let patterns = match expected {
            Some(Expect::Output(patterns)) => patterns.iter().map(Pattern::size).sum(),
            _ => 0,
        };
        sent + accepted + patterns
    }

    /// Makes it a recommendation: not a specification but a server asks for it.
    pub fn recommend(&mut self) {
        (self.level, self.severity) = (Level::Should, Some(Severity::C));
    }

    /// The last part of its id.
    pub fn name(&self) -> &str {
        self.id.rsplit_once('/').map_or(&self.id, |(_, name)| name)
    }

    /// The request that puts the case to a testee.
    pub fn request(&self, id: i64, profile: impl Into<JudgeProfile>) -> Request {
        Request { reasoning: self.reasoning, ..Request::new(id, self.op, profile, Arc::clone(&self.sent().input)) }
    }

    /// Returns whether it is about an agent's requests, and only a provider can judge it, at the other end of the wire.
    pub fn needs_wire(&self) -> bool {
        self.is_in_folder(WIRE)
    }

    /// Returns whether it is sent through a gateway between a client and a provider.
    pub fn needs_gateway(&self) -> bool {
        self.is_in_folder(GATEWAY)
    }

    /// Returns whether it cannot run against a testee whose model is scripted in its adapter.
    pub fn needs_provider(&self) -> bool {
        self.needs_wire() || self.needs_gateway()
    }

    fn is_in_folder(&self, folder: &str) -> bool {
        self.id.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
    }

    /// Returns whether it is about something that an API has, streaming or not. Every case that needs no wire is.
    pub fn is_for(&self, api: Api, stream: bool) -> bool {
        (self.apis.is_empty() || self.apis.contains(&api)) && self.streams.is_none_or(|streams| streams == stream)
    }

    /// Returns whether the case belongs to a profile.
    pub fn is_in(&self, profile: impl Into<JudgeProfile>) -> bool {
        self.profiles.contains(&profile.into())
    }

    /// The inputs of the requests that are sent first.
    pub fn after(&self) -> &[Arc<str>] {
        &self.sent().after
    }

    /// The input as raw JSON text on one line.
    pub fn input(&self) -> &str {
        &self.sent().input
    }

    /// The input as the corpus has it, on one line: that of a template is short.
    pub fn written_input(&self) -> String {
        let written = if self.is_template { json::member(self.source(), "input") } else { None };
        written.unwrap_or_else(|| self.input().to_owned())
    }

    /// Returns the expectation.
    pub fn expect(&self) -> &Expect {
        sound(self.expectation())
    }

    /// The outputs that are accepted without parsing the reply. Other replies may be as good.
    pub fn accepted(&self) -> Accepted {
        if self.is_template {
            let make = || sound(self.written().map(|written| written.expect.accepted())).into();
            let texts = self.accepted.get_or_init(make);
            if !texts.is_empty() {
                return Accepted::Texts(Arc::clone(texts));
            }
        }
        match self.expect() {
            Expect::Output(patterns) if self.is_template => Accepted::LargeValues(Arc::clone(patterns)),
            Expect::Output(patterns) => Accepted::Values(Arc::clone(patterns)),
            _ => Accepted::default(),
        }
    }

    /// The input, with each repetition of a template made once at most: enough to see what the case is about.
    pub fn outline(&self) -> &str {
        if !self.is_template {
            return self.input();
        }
        let make = || self.written().and_then(|written| written.sent(Extent::Outline)).map(|sent| sent.input);
        self.outline.get_or_init(|| sound(make()))
    }

    /// The inputs of all its requests, in the order in which they are sent; the last one is the case's own.
    pub fn inputs(&self) -> impl Iterator<Item = &str> {
        self.after().iter().map(AsRef::as_ref).chain([self.input()])
    }

    fn sent(&self) -> &Sent {
        sound(self.requests())
    }

    /// Why it cannot be expanded, if so.
    pub(super) fn template_problem(&self) -> Option<String> {
        self.requests().err().or_else(|| self.expectation().err()).map(|error| error.to_string())
    }

    fn written(&self) -> Result<Written<'_>, Error> {
        serde_json::from_str(self.source()).map_err(Error::new)
    }

    fn extent(&self) -> Extent {
        if self.is_template { Extent::Whole } else { Extent::Plain }
    }

    fn requests(&self) -> Result<&Sent, Error> {
        self.sent.get_or_init(|| self.written()?.sent(self.extent())).as_ref().map_err(Clone::clone)
    }

    fn expectation(&self) -> Result<&Expect, Error> {
        let make = || {
            let mut problems = Vec::new();
            let expect = self.written()?.expect.read(self.extent(), &mut problems)?;
            if problems.is_empty() { Ok(expect) } else { Err(Error::new(problems.join("; "))) }
        };
        self.expect.get_or_init(make).as_ref().map_err(Clone::clone)
    }

    /// The case as it is in its file; for a row of a covering array, as it would be there.
    pub fn source(&self) -> &str {
        self.source.get_or_init(|| self.origin.as_ref().map(|origin| origin.source(self)).unwrap_or_default().into())
    }

    /// Returns whether it is a row of a covering array.
    pub fn is_row(&self) -> bool {
        self.origin.is_some()
    }

    /// A case from a row of a covering array.
    pub(super) fn of_row(
        id: String,
        op: Op,
        why: String,
        clauses: Vec<String>,
        profiles: Vec<JudgeProfile>,
        origin: Origin,
    ) -> Self {
        Self {
            id,
            op,
            why,
            clauses,
            level: Level::default(),
            severity: None,
            evidence: Vec::new(),
            thorough: false,
            apis: Vec::new(),
            streams: None,
            reasoning: false,
            needs: Features::default(),
            profiles,
            source: OnceLock::new(),
            origin: Some(origin),
            is_template: false,
            sent: OnceLock::new(),
            expect: OnceLock::new(),
            accepted: OnceLock::new(),
            outline: OnceLock::new(),
        }
    }

    /// A case that nobody wrote: something that was observed, and judged by these clauses.
    ///
    /// ```
    /// use threadspec_golden::clause::AGENT_ANSWERED;
    /// use threadspec_judge::corpus::Case;
    /// assert_eq!(Case::observed("provider/1", "a conversation", &[AGENT_ANSWERED]).clauses, [AGENT_ANSWERED]);
    /// ```
    pub fn observed(id: &str, why: &str, clauses: &[&str]) -> Self {
        let written = serde_json::json!({
            "name": "observed", "why": why, "clauses": clauses, "profiles": [JudgeProfile::Universal.to_string()],
            "input": {"messages": [], "model": []}, "expect": {"holds": [<&str>::from(Property::AgentValid)]},
        });
        let source = serde_json::value::to_raw_value(&written).map_err(Error::new);
        let (case, _) = sound(source.and_then(|source| Self::read(&source, Op::Tools, AGENT, "observed")));
        Self { id: id.to_owned(), ..case }
    }

    /// A fingerprint of everything that the case says, whatever its layout.
    pub fn hash(&self) -> String {
        if let Some(origin) = &self.origin {
            return origin.hash();
        }
        fingerprint(&json::compact(self.source()))
    }

    /// Reads a case, except for its inputs and its expectation, and returns it with what is wrong so far.
    pub(crate) fn read(source: &RawValue, op: Op, folder: &str, topic: &str) -> Result<(Self, Vec<String>), Error> {
        let written: Written = serde_json::from_str(source.get()).map_err(Error::new)?;
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
            None => JudgeProfile::OWN.to_vec(),
            Some(names) => {
                let parsed: Vec<JudgeProfile> = names.iter().filter_map(|name| name.parse().ok()).collect();
                if parsed.len() != names.len() || parsed.is_empty() {
                    problems.push(format!("`profiles` {names:?} are not known profiles"));
                } else if parsed.len() > 1 {
                    problems.push("`profiles` restates the default, or repeats one".into());
                }
                parsed
            }
        };
        for (name, flag) in [("expand", written.expand), ("thorough", written.thorough)] {
            if flag == Some(false) {
                problems.push(format!("`{name}` restates the default"));
            }
        }
        let is_of_agents = [AGENT, WIRE, GATEWAY, SESSION].contains(&folder);
        for (name, is_there) in [
            ("severity", written.severity.is_some()),
            ("evidence", written.evidence.is_some()),
            ("apis", written.apis.is_some()),
        ] {
            if is_there && !is_of_agents {
                problems.push(format!(
                    "only the cases of `{AGENT}/`, `{WIRE}/`, `{GATEWAY}/` and `{SESSION}/` have `{name}`"
                ));
            }
        }
        if folder != SESSION && written.needs.is_some() {
            problems.push(format!("only the cases of `{SESSION}/` have `needs`"));
        }
        if folder == SESSION && profiles != [JudgeProfile::Universal] {
            problems.push(format!("the cases of `{SESSION}/` belong to profile `universal` alone"));
        }
        let needs = written.needs.as_deref().map(|names| needs(names, &mut problems)).unwrap_or_default();
        let has_modes = folder == WIRE || folder == GATEWAY && written.endpoint.is_none();
        if !has_modes && (written.streams.is_some() || written.endpoint.is_some()) {
            problems.push(format!(
                "only the cases of `{WIRE}/` have `endpoint`, and with those of `{GATEWAY}/` they have `streams`"
            ));
        }
        let apis = written.apis.as_deref().map(|names| apis(names, &mut problems)).unwrap_or_default();
        let reasoning = written.endpoint.as_ref().map(|endpoint| endpoint.reasoning);
        if reasoning == Some(false) {
            problems.push("`reasoning` restates the default".into());
        }
        problems.extend(clause::problems(written.severity, written.evidence.as_deref()));
        let case = Self {
            id,
            op,
            why: written.why,
            clauses: written.clauses,
            level: written.level.unwrap_or_default(),
            profiles,
            severity: written.severity,
            evidence: written.evidence.unwrap_or_default(),
            thorough: written.thorough == Some(true),
            apis,
            streams: written.streams,
            reasoning: reasoning == Some(true),
            needs,
            source: OnceLock::from(Arc::from(source.get())),
            origin: None,
            is_template: written.expand == Some(true),
            sent: OnceLock::new(),
            expect: OnceLock::new(),
            accepted: OnceLock::new(),
            outline: OnceLock::new(),
        };
        Ok((case, problems))
    }

    /// Checks the inputs and the expectation; of a template only the outline.
    ///
    /// # Errors
    ///
    /// Says why there is no usable case at all.
    pub(super) fn check(&self) -> Result<Vec<String>, Error> {
        let (written, mut problems) = (self.written()?, Vec::new());
        let extent = if self.is_template { Extent::Outline } else { Extent::Plain };
        let sent = written.sent(extent)?;
        if !sent.after.iter().chain([&sent.input]).all(|input| input.starts_with('{')) {
            problems.push("the input is not an object".into());
        }
        written.expect.read(extent, &mut problems)?;
        Ok(problems)
    }
}

/// Unwraps what can only fail for a case that was not checked.
fn sound<T>(made: Result<T, Error>) -> T {
    made.expect("the corpus was checked")
}

/// The fingerprint of a text: the beginning of its SHA-256.
pub fn fingerprint(text: &str) -> String {
    use std::fmt::Write;
    let digest = hmac_sha256::Hash::hash(text.as_bytes());
    digest[..8].iter().fold("sha256:".to_owned(), |mut hash, byte| {
        let _ = write!(hash, "{byte:02x}");
        hash
    })
}

/// Returns whether a name is of lower-case words and digits with hyphens between them.
pub fn is_kebab_case(name: &str) -> bool {
    !name.is_empty()
        && name
            .split('-')
            .all(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()))
}
