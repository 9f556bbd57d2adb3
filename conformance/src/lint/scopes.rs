//! Checks the scope of each clause: event types, the places where they are rendered, and profiles. Each combination needs a case.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use std::collections::HashSet;
use strum::{Display, EnumIter, IntoEnumIterator};
use threadspec::EventType;
use threadspec_judge::Error;
use threadspec_judge::corpus::{Case, Corpus, Problem};
use threadspec_judge::protocol::{Input, JudgeProfile, Op};

/// The file that holds the scopes.
pub(super) const SCOPES: &str = "scopes.json";

/// An operation, with its context mode where that makes a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Display, EnumIter)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub(super) enum ScopePlace {
    /// The operation `escape`.
    Escape,
    /// The operation `serialize`.
    Serialize,
    /// The operation `messages` in standard mode.
    #[strum(to_string = "messages, standard")]
    MessagesStandard,
    /// The operation `messages` in xml mode.
    #[strum(to_string = "messages, xml")]
    MessagesXml,
    /// The operation `tools`.
    Tools,
    /// The operation `loop` in standard mode.
    #[strum(to_string = "loop, standard")]
    LoopStandard,
    /// The operation `loop` in xml mode.
    #[strum(to_string = "loop, xml")]
    LoopXml,
    /// The operation `tools` in profile `universal`.
    Agent,
    /// Operation `tools` over the wire.
    Wire,
    /// A gateway between a client and a provider.
    Gateway,
    /// The operation `session`.
    Session,
}

impl ScopePlace {
    /// Every place.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        Self::iter()
    }
}

/// The reach of a case: its place, and the event types in its log.
#[derive(Clone, Debug)]
pub(super) struct Reach {
    /// The place.
    pub(super) place: ScopePlace,
    /// The event types; none for an operation that takes no log.
    pub(super) events: HashSet<EventType>,
}

impl Reach {
    /// Returns the reach of a case.
    ///
    /// # Errors
    ///
    /// When its input cannot be read.
    pub(super) fn of(case: &Case) -> Result<Self, Error> {
        let input = Input::read(case.outline())?;
        let place = match (case.op, input.is_in_xml_mode()) {
            (Op::Escape, _) => ScopePlace::Escape,
            (Op::Serialize, _) => ScopePlace::Serialize,
            (Op::Messages, false) => ScopePlace::MessagesStandard,
            (Op::Messages, true) => ScopePlace::MessagesXml,
            (Op::Tools, _) if case.needs_wire() => ScopePlace::Wire,
            (Op::Tools, _) if case.needs_gateway() => ScopePlace::Gateway,
            (Op::Tools, _) if case.is_in(JudgeProfile::Universal) => ScopePlace::Agent,
            (Op::Tools, _) => ScopePlace::Tools,
            (Op::Loop, false) => ScopePlace::LoopStandard,
            (Op::Loop, true) => ScopePlace::LoopXml,
            (Op::Session, _) => ScopePlace::Session,
        };
        // Anything else is there on purpose: the case wants it refused.
        let thread = input.thread();
        Ok(Self { place, events: thread.iter().filter_map(|event| event.proper()?.body.event_type()).collect() })
    }
}

/// The scope of some clauses.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Scope {
    clauses: Vec<String>,
    /// Empty where the event type makes no difference; `*` represents all.
    #[serde(default, deserialize_with = "event_types")]
    events: Vec<EventType>,
    places: Vec<ScopePlace>,
    #[serde(default = "both")]
    profiles: Vec<JudgeProfile>,
}

fn both() -> Vec<JudgeProfile> {
    JudgeProfile::OWN.into()
}

fn event_types<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<EventType>, D::Error> {
    let names = Vec::<String>::deserialize(deserializer)?;
    if names == ["*"] {
        return Ok(EventType::ALL.into());
    }
    names.iter().map(|name| name.parse().map_err(D::Error::custom)).collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Scopes {
    scopes: Vec<Scope>,
}

/// Each case with what it covers, and the cases whose input cannot be read. Rows of covering arrays do not count: they cover too much
/// at once to represent anything alone.
pub(super) fn reached(corpus: &Corpus) -> (Vec<(&Case, Reach)>, Vec<Problem>) {
    let (mut reached, mut problems) = (Vec::new(), Vec::new());
    for case in corpus.cases.iter().filter(|case| !case.is_row()) {
        match Reach::of(case) {
            Ok(reach) => reached.push((case, reach)),
            Err(error) => problems.push(case.problem(format!("`input`: {error}"))),
        }
    }
    (reached, problems)
}

/// Checks the text of the scopes: what is in the scope of a clause but in none of its cases, clauses without a scope, and scopes
/// of unknown clauses.
pub(super) fn problems(scopes: &str, corpus: &Corpus) -> Vec<Problem> {
    let Scopes { scopes } = match serde_json::from_str(scopes) {
        Ok(scopes) => scopes,
        Err(error) => return vec![Problem::in_file(SCOPES, error.to_string())],
    };
    let mut problems = Vec::new();
    let unknown_clauses = scopes.iter().flat_map(|scope| &scope.clauses).filter(|id| corpus.clause(id).is_none());
    problems.extend(unknown_clauses.map(|id| Problem::in_file(SCOPES, format!("unknown clause `{id}`"))));

    let (reached, unreadable) = reached(corpus);
    problems.extend(unreadable);
    for clause in &corpus.clauses {
        let mut problem = |message: String| {
            problems.push(Problem::in_file(SCOPES, format!("clause `{}`: {message}", clause.id)));
        };
        let own: Vec<&Scope> = scopes.iter().filter(|scope| scope.clauses.contains(&clause.id)).collect();
        if own.is_empty() {
            problem("it has no scope".into());
        }
        let cases: Vec<_> = reached.iter().filter(|(case, _)| case.clauses.contains(&clause.id)).collect();
        for (scope, &place) in own.iter().flat_map(|scope| scope.places.iter().map(move |place| (scope, place))) {
            for profile in &scope.profiles {
                let there: Vec<&Reach> = (cases.iter())
                    .filter(|(case, reach)| reach.place == place && case.profiles.contains(profile))
                    .map(|(_, reach)| reach)
                    .collect();
                let has = |event: &EventType| there.iter().any(|reach| reach.events.contains(event));
                let missing: Vec<String> =
                    scope.events.iter().filter(|event| !has(event)).map(|event| format!("`{event}`")).collect();
                if there.is_empty() {
                    problem(format!("no case in {place}, {profile}"));
                } else if !missing.is_empty() {
                    problem(format!("no case in {place}, {profile}, with {}", missing.join(", ")));
                }
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadspec_judge::corpus::File;

    const CASE: &str = r#"{"name":"a-b","why":"w","clauses":["ESC-1"],"profiles":["literal"],"input":{"events":[
        {"type":"message","role":"user","content":"a","iteration":0}],"contextMode":"xml"},"expect":{"ok":"x"}}"#;
    const CLAUSES: &str = r#"{"clauses":[{"id":"ESC-1","level":"must","source":"s","text":"t"}]}"#;

    fn problems_with(scope: &str) -> Vec<String> {
        let cases = format!(r#"{{"op":"messages","about":"x","cases":[{CASE}]}}"#);
        let files = [("clauses.json", CLAUSES), ("messages/a.json", &cases)];
        let files = files.map(|(path, text)| File { path: path.into(), text: text.into() });
        let (corpus, _) = Corpus::read(&files);
        let found = problems(&format!(r#"{{"scopes":[{scope}]}}"#), &corpus);
        found.iter().map(|problem| problem.message.clone()).collect()
    }

    #[test]
    fn each_gap_is_a_problem() {
        let literal = r#""profiles":["literal"]"#;
        for (scope, expected) in [
            (format!(r#"{{"clauses":["ESC-1"],"events":["user"],"places":["messages-xml"],{literal}}}"#), None),
            (format!(r#"{{"clauses":["ESC-1"],"places":["messages-xml"],{literal}}}"#), None),
            (
                r#"{"clauses":["ESC-1"],"places":["messages-xml"]}"#.into(),
                Some("clause `ESC-1`: no case in messages, xml, hardened"),
            ),
            (
                format!(r#"{{"clauses":["ESC-1"],"places":["messages-standard"],{literal}}}"#),
                Some("clause `ESC-1`: no case in messages, standard, literal"),
            ),
            (
                format!(r#"{{"clauses":["ESC-1"],"events":["user","error"],"places":["messages-xml"],{literal}}}"#),
                Some("clause `ESC-1`: no case in messages, xml, literal, with `error`"),
            ),
            (String::new(), Some("clause `ESC-1`: it has no scope")),
        ] {
            assert_eq!(problems_with(&scope), Vec::from_iter(expected), "{scope}");
        }
        let many =
            problems_with(&format!(r#"{{"clauses":["ESC-1"],"events":["*"],"places":["messages-xml"],{literal}}}"#));
        assert!(many.len() == 1 && many[0].matches('`').count() == 2 * 10, "{many:?}");
    }

    #[test]
    fn what_does_not_exist_is_a_problem() {
        let scope =
            r#"{"clauses":["ESC-1","ESC-99"],"events":["users"],"places":["messages-xml"],"profiles":["literal"]}"#;
        assert!(problems_with(scope)[0].contains("unknown event type \"users\""));
        let problems = problems_with(&scope.replace("users", "user"));
        assert!(problems.contains(&"unknown clause `ESC-99`".into()), "{problems:?}");
        assert!(problems_with(r#"{"clauses":[],"places":["elsewhere"]}"#)[0].contains("unknown variant"));
        assert!(problems_with(r#"{"clauses":[],"place":[]}"#)[0].contains("unknown field"));
    }
}
