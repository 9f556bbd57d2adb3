//! Reads runs over the wire: the provider's answers instead of the script, and its findings in the requests as such. Its findings and those
//! of the oracles name each fault once.

use super::finding::{Finding, Findings};
use super::gateway;
use super::script::RunScript;
use crate::facts::facts;
use crate::shape::{Part, Parts, WireRemark, WireReport};
use threadspec::oracle::{Api, provider_rules};
use threadspec_golden::clause;

/// The properties that a change of a request also seems to break.
const CHANGES: [&str; 6] = [
    clause::AGENT_START,
    clause::AGENT_PREFIX,
    clause::AGENT_RESPONSE,
    clause::AGENT_ANSWERED,
    clause::AGENT_IDS,
    clause::AGENT_VALID,
];
/// The properties that a call that did not come whole also seems to break.
const PARTS: [&str; 5] = [
    clause::AGENT_RESPONSE,
    clause::AGENT_ANSWERED,
    clause::AGENT_IDS,
    clause::AGENT_VALID,
    clause::AGENT_MODEL_FAILURE,
];
/// The clauses about what a request holds: whoever breaks one may send what the API refuses.
pub(super) const CONTENTS: [&str; 13] = [
    clause::AGENT_HISTORY,
    clause::AGENT_START,
    clause::AGENT_PREFIX,
    clause::AGENT_RESPONSE,
    clause::AGENT_IDS,
    clause::AGENT_ANSWERED,
    clause::AGENT_FAILURE,
    clause::AGENT_RESULT,
    clause::AGENT_ENCODABLE,
    clause::AGENT_TEXT,
    clause::AGENT_ORDINARY,
    clause::AGENT_VALID,
    clause::AGENT_INDEPENDENT,
];

/// The provider's view of a run.
#[derive(Debug)]
pub(crate) struct ProviderView {
    pub(super) api: Api,
    /// True if a gateway was before it.
    pub(super) is_through: bool,
    must: Vec<Finding>,
    should: Vec<Finding>,
    notes: Vec<String>,
    unsupported: Option<String>,
}

impl ProviderView {
    /// Reads what a provider saw, and puts its answers into the script.
    ///
    /// # Errors
    ///
    /// Says what is wrong with it.
    pub(super) fn read(report: WireReport, script: &mut RunScript) -> Result<Self, String> {
        let WireReport { api, said, findings, unsupported, through, .. } = report;
        let mut view = Self::of(&api, findings, unsupported)?;
        view.is_through = is_through(through)?;
        let Part::Proper(said) = said else { return Err("its `wire` has no list `said`".into()) };
        script.hear(view.api, said).map_err(|error| format!("its `wire`: {error}"))?;
        Ok(view)
    }

    /// Reads what a provider saw of a client that is no agent, whatever it answered.
    ///
    /// # Errors
    ///
    /// Says what is wrong with it.
    pub(super) fn through(report: WireReport) -> Result<Self, String> {
        let WireReport { api, findings, unsupported, through, .. } = report;
        let view = Self::of(&api, findings, unsupported)?;
        Ok(Self { is_through: is_through(through)?, ..view })
    }

    /// Reads what a provider saw, but for its answers.
    ///
    /// # Errors
    ///
    /// Says what is wrong with it.
    pub(crate) fn of(
        api: &Part<String>,
        findings: Part<Parts<WireRemark>>,
        unsupported: Part<String>,
    ) -> Result<Self, String> {
        let api = Api::ALL.into_iter().find(|known| api.is(&*known.to_string()));
        let api = api.ok_or("the `api` of its `wire` is none that is known")?;
        let unsupported = unsupported.optional(|| "the `unsupported` of its `wire` is not a string")?;
        let mut wire =
            Self { api, is_through: false, must: Vec::new(), should: Vec::new(), notes: Vec::new(), unsupported };
        let findings = findings.optional(|| "the `findings` of its `wire` are not a list")?;
        for remark in findings.into_iter().flatten() {
            wire.add(remark)?;
        }
        Ok(wire)
    }

    fn add(&mut self, remark: Part<WireRemark>) -> Result<(), String> {
        let Part::Proper(WireRemark { clause: Part::Proper(name), level: Part::Proper(level), what }) = remark else {
            return Err("a finding of its `wire` has no `clause` or no `level`".into());
        };
        let what = what.optional(|| "the `what` of a finding is not a string")?.unwrap_or_default();
        let clause =
            known(&name).ok_or_else(|| format!("its `wire` names `{name}`, which is neither clause nor rule"))?;
        let finding = Finding { clause, what };
        match &*level {
            "must" => self.must.push(finding),
            "should" => self.should.push(finding),
            "note" => self.notes.push(format!("note: {finding}")),
            _ => return Err(format!("the level `{level}` of a finding is none of must, should, note")),
        }
        Ok(())
    }

    /// Adds what the provider found to what the oracles found, so that each fault has one name. Returns why the run shows nothing, if so.
    pub(super) fn settle(self, findings: &mut Findings) -> Option<String> {
        let Self { mut must, mut should, notes, unsupported, .. } = self;
        let is_end_named = gateway::settle(&mut must, &mut should, findings);
        let has = |name: &str| must.iter().any(|finding| finding.clause == name);
        let (is_changed, is_partial) = (has(clause::WIRE_RETRY), has(clause::WIRE_PARTIAL));
        // A run that was refused, or that asked something else, ends early for that reason.
        let ends = |finding: &Finding| {
            is_rule(finding.clause)
                || [clause::WIRE_REQUEST, clause::WIRE_KEY, clause::WIRE_TOOLS].contains(&finding.clause)
        };
        if findings.cut_short && !is_end_named && must.iter().any(ends) {
            findings.found.remove(0);
        }
        // Nor is the list at the end judged where requests are wrong.
        let is_refused = must.iter().any(|finding| is_rule(finding.clause));
        let is_explained = |finding: &Finding| {
            is_changed && CHANGES.contains(&finding.clause)
                || is_partial && PARTS.contains(&finding.clause)
                || (is_changed || is_partial || is_refused) && finding.clause == clause::AGENT_END
        };
        findings.found.retain(|finding| !is_explained(finding));
        if has(clause::WIRE_OPAQUE) {
            must.retain(|finding| !finding.clause.starts_with("ANT-THINK-"));
        }
        let explains = |finding: &Finding| CONTENTS.contains(&finding.clause);
        if let Some(at) = findings.found.iter().position(explains).filter(|_| is_refused) {
            let mut first = findings.found.remove(at);
            let rules: Vec<&str> = must.iter().map(|finding| finding.clause).filter(|clause| is_rule(clause)).collect();
            first.what += &format!("; answered with 400 {}", rules.join(", "));
            findings.refused.push(first.clone());
            findings.found.insert(0, first);
            must.retain(|finding| !is_rule(finding.clause));
        }
        // What was refused was not answered, so that most cannot be judged.
        findings.cut_short |= is_refused;
        findings.found.splice(0..0, must);
        findings.recommended.extend(should);
        findings.notes.extend(notes);
        unsupported
    }
}

impl ProviderView {
    /// Adds what the provider found in a session to what its judge found. A fault in a request explains the rules of the API that this
    /// request breaks. Returns why the session shows nothing, if so.
    pub(crate) fn settle_session(self, findings: &mut Findings) -> Option<String> {
        let Self { must, should, notes, unsupported, .. } = self;
        let (mut unexplained, mut refused) = (Vec::new(), Vec::new());
        for finding in must {
            let place = finding.what.split([',', ':']).take(2).collect::<Vec<_>>().join(",");
            let is_there = |found: &&Finding| {
                let behind = found.what.strip_prefix(&*place);
                behind.is_some_and(|behind| behind.starts_with([',', ':'])) && !is_of_wire(found)
            };
            match findings.found.iter().position(|found| is_there(&found)).filter(|_| is_rule(finding.clause)) {
                Some(at) => {
                    findings.found[at].what += &format!("; answered with 400 {}", finding.clause);
                    refused.push(at);
                }
                None => unexplained.push(finding),
            }
        }
        refused.dedup();
        findings.refused.extend(refused.into_iter().map(|at| findings.found[at].clone()));
        // What was refused was not answered, so that the rest cannot be judged.
        findings.cut_short |= unexplained.iter().any(|finding| is_rule(finding.clause));
        findings.found.splice(0..0, unexplained);
        findings.recommended.extend(should);
        findings.notes.extend(notes);
        unsupported
    }
}

/// Returns whether a run went through a gateway, whose name it says.
fn is_through(name: Part<String>) -> Result<bool, String> {
    Ok(name.optional(|| "the `through` of its `wire` is not a string")?.is_some())
}

/// Returns whether only a provider finds this, or a second run of a call shows it.
pub(crate) fn is_of_wire(finding: &Finding) -> bool {
    ["WIRE-", "GATE-"].iter().any(|prefix| finding.clause.starts_with(prefix)) || is_rule(finding.clause)
}

/// Returns whether a name is that of a rule of an API.
pub(super) fn is_rule(name: &str) -> bool {
    provider_rules().any(|rule| rule.id == name)
}

/// Returns whether an API takes the name of a tool (OAI-CHAT-NAME-PATTERN, OAI-CHAT-NAME-LEN, ANT-TOOL-NAME, GEM-NAME). A model that calls another
/// one calls what no request can declare.
///
/// ```
/// use threadspec::oracle::Api;
/// use threadspec_judge::universal::can_be_declared;
///
/// assert!(can_be_declared(Api::OpenAiChat, "look_up-2"));
/// assert!(!can_be_declared(Api::OpenAiChat, "files.read"));
/// assert!(can_be_declared(Api::Anthropic, &"a".repeat(128)) && !can_be_declared(Api::OpenAiChat, &"a".repeat(65)));
/// ```
#[must_use]
pub fn can_be_declared(api: Api, name: &str) -> bool {
    (1..=facts(api).longest_name).contains(&name.len())
        && (api != Api::Gemini || !name.starts_with(|first: char| first == '-' || first.is_ascii_digit()))
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

/// A name as the registry of clauses, or that of rules, has it.
fn known(name: &str) -> Option<&'static str> {
    let of_wire = |clause: &&str| ["WIRE-", "GATE-"].iter().any(|prefix| clause.starts_with(prefix));
    let clauses = clause::ALL.iter().copied().filter(of_wire);
    clauses.chain(provider_rules().map(|rule| rule.id)).find(|known| *known == name)
}
