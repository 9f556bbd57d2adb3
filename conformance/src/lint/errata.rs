//! Checks the errata, the history of the cases, and the list of the sources' statements.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use threadspec_judge::corpus::{CLAUSES, Case, Corpus, File, MANIFEST, Problem, canonical, fingerprint};
use wildmatch::WildMatch;

/// The errata.
pub(crate) const ERRATA: &str = "errata.md";

/// Where the text of the errata and the corpus do not agree: entries without clauses or cases, unknown clauses and cases, and clauses
/// whose source is an entry that does not exist.
pub(super) fn errata_problems(errata: &str, corpus: &Corpus) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut entries = Vec::new();
    for section in errata.split("\n## ").skip(1) {
        let entry = section.split([' ', '\n']).next().unwrap_or_default();
        entries.push(entry);
        let mut problem = |message: String| problems.push(Problem::in_file(ERRATA, format!("{entry}: {message}")));
        let (facts, cases) = section.split_once("\n- Cases:").unwrap_or((section, ""));
        let (_, clauses) = facts.split_once("\n- Clauses:").unwrap_or((facts, ""));
        let names = |word: &&str| {
            word.contains('-') && word.chars().all(|c| c.is_ascii_uppercase() || "-0123456789".contains(c))
        };
        let clauses: Vec<&str> = clauses.split([' ', ',', '.', '\n']).filter(names).collect();
        if clauses.is_empty() {
            problem("it names no clause".into());
        }
        for clause in clauses.iter().filter(|clause| corpus.clause(clause).is_none()) {
            problem(format!("unknown clause `{clause}`"));
        }
        let ids: Vec<&str> = cases.split('`').skip(1).step_by(2).filter(|id| id.contains('/')).collect();
        if ids.is_empty() {
            problem("it names no case".into());
        }
        for id in ids.iter().filter(|id| !corpus.cases.iter().any(|case| WildMatch::new(id).matches(&case.id))) {
            problem(format!("there is no case `{id}`"));
        }
    }
    for clause in &corpus.clauses {
        for entry in clause.errata().filter(|entry| !entries.contains(entry)) {
            problems.push(Problem::in_file(CLAUSES, format!("clause `{}`: {ERRATA} has no entry {entry}", clause.id)));
        }
    }
    problems
}

// The history of the cases: the manifest, the manifest of the last release, and the reasons for what has changed since.
// Other projects have the ids in their reports and lists, so no case may silently vanish or change.

/// The manifest as it was at the last release: a copy, made by whoever makes the release.
pub(super) const RELEASED: &str = "released.json";
/// The reasons for changed and retired cases.
pub(super) const CHANGES: &str = "changes.json";

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    cases: BTreeMap<String, String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Changes {
    changes: Vec<ChangedCase>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChangedCase {
    case: String,
    /// The hash of what the case became; absent where it is retired.
    hash: Option<String>,
    why: String,
}

/// The manifest as it should be. It shows every changed, renamed or lost case in a review.
pub(super) fn manifest(corpus: &Corpus) -> String {
    let hashes: Map<String, Value> = entries(corpus).into_iter().map(|(id, hash)| (id, hash.into())).collect();
    canonical(&json!({ "cases": hashes }).to_string())
}

/// The hash of each case; the rows of a covering array have one entry together.
fn entries(corpus: &Corpus) -> BTreeMap<String, String> {
    let (rows, own): (Vec<_>, Vec<_>) = corpus.cases.iter().partition(|case| case.is_row());
    let mut entries: BTreeMap<String, String> = own.into_iter().map(|case| (case.id.clone(), case.hash())).collect();
    let topic = |case: &Case| case.id.rsplit_once('/').map_or_else(String::new, |(topic, _)| topic.to_owned());
    for rows in rows.chunk_by(|one, next| topic(one) == topic(next)) {
        let hashes: String = rows.iter().map(|row| row.hash()).collect();
        let topic = topic(rows[0]);
        entries.insert(format!("{topic}/*"), fingerprint(&hashes));
    }
    entries
}

/// Returns whether a text is a manifest, of whatever cases.
pub(super) fn is_manifest(text: &str) -> bool {
    let hashes = |manifest: Manifest| manifest.cases.values().all(|hash| hash.starts_with("sha256:"));
    serde_json::from_str(text).is_ok_and(hashes)
}

/// Everything that is wrong with the manifest and the history of a corpus.
pub(super) fn history_problems(files: &[File], corpus: &Corpus) -> Vec<Problem> {
    let mut problems = Vec::new();
    let text = |path| files.iter().find(|file| file.path == path).map(|file| file.text.as_str());
    match text(MANIFEST) {
        Some(actual) if actual == manifest(corpus) => {}
        Some(_) => problems.push(Problem::in_file(MANIFEST, "it does not match the cases; `lint --fix` writes it")),
        None => problems.push(Problem::in_file(MANIFEST, "it is missing; `lint --fix` writes it")),
    }
    let released: Manifest = read(RELEASED, text(RELEASED), &mut problems);
    let Changes { changes } = read(CHANGES, text(CHANGES), &mut problems);
    let now = entries(corpus);
    for (id, then) in &released.cases {
        let now = now.get(id.as_str());
        let explained = || changes.iter().any(|change| change.case == *id && change.hash.as_ref() == now);
        if now != Some(then) && !explained() {
            let message = match now {
                Some(hash) => {
                    format!("`{id}` is released and has changed; {CHANGES} must say why, with its `hash` {hash}")
                }
                None => format!("`{id}` is released and is gone; {CHANGES} must say why, without a `hash`"),
            };
            problems.push(Problem::in_file(RELEASED, message));
        }
    }
    for ChangedCase { case, hash, why } in &changes {
        if why.trim().is_empty() {
            problems.push(Problem::in_file(CHANGES, format!("`{case}`: `why` is empty")));
        }
        if hash.is_none() && now.contains_key(case) {
            problems.push(Problem::in_file(CHANGES, format!("`{case}` is retired; its id may not be used again")));
        }
    }
    problems
}

/// The content of a file that may be absent.
fn read<T: Default + for<'de> Deserialize<'de>>(path: &str, text: Option<&str>, problems: &mut Vec<Problem>) -> T {
    text.map(serde_json::from_str).transpose().map_or_else(
        |error: serde_json::Error| {
            problems.push(Problem::in_file(path, error.to_string()));
            T::default()
        },
        Option::unwrap_or_default,
    )
}

// Checks the list of the sources' statements: it names only clauses and errata that exist, and forgets no clause.

/// The file that goes through the sources, statement by statement.
pub(super) const SEEDS: &str = "seeds.toml";
/// The sources that it goes through.
const SOURCES: &[&str] = &["SPEC-01", "SPEC-02", "SPEC-03", "PLAN", "FLOW"];

/// By source, each statement with the ids of the clauses or errata that hold it.
type Statements = BTreeMap<String, BTreeMap<String, Vec<String>>>;

/// Lists where the file and the corpus do not agree: names of nothing, and clauses of a source that hold no statement.
pub(super) fn seeds_problems(text: &str, errata: &str, corpus: &Corpus) -> Vec<Problem> {
    let statements: Statements = match basic_toml::from_str(text) {
        Ok(statements) => statements,
        Err(error) => return vec![Problem::in_file(SEEDS, error.to_string())],
    };
    let mut problems = Vec::new();
    let mut held: Vec<&str> = Vec::new();
    for (statement, names) in statements.values().flatten() {
        for name in names {
            let is_entry = name.strip_prefix('E').is_some_and(|number| number.parse::<u32>().is_ok());
            let exists =
                if is_entry { errata.contains(&format!("\n## {name} ")) } else { corpus.clause(name).is_some() };
            if !exists {
                problems.push(Problem::in_file(SEEDS, format!("`{statement}`: there is no `{name}`")));
            }
            held.push(name);
        }
    }
    let is_of_a_source = |source: &str| SOURCES.iter().any(|name| source.starts_with(name));
    let forgotten =
        corpus.clauses.iter().filter(|clause| is_of_a_source(&clause.source) && !held.contains(&&*clause.id));
    problems.extend(forgotten.map(|clause| Problem::in_file(SEEDS, format!("no statement is held by {}", clause.id))));
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadspec_judge::corpus::embedded;

    #[test]
    fn errata_that_point_nowhere_are_found() {
        let (corpus, _) = embedded();
        let entry = "# Errata\n\n## E1 · One\n\n- Clauses: ESC-1, and ESC-99.\n- Cases: `escape/forbidden/*`, `escape/no/no`.\n";
        let found: Vec<String> = errata_problems(entry, corpus).iter().map(ToString::to_string).collect();
        assert!(found.contains(&"errata.md: E1: unknown clause `ESC-99`".to_owned()), "{found:?}");
        assert!(found.contains(&"errata.md: E1: there is no case `escape/no/no`".to_owned()), "{found:?}");
        assert!(found.contains(&"clauses.json: clause `ESC-CR`: errata.md has no entry E3".to_owned()), "{found:?}");
        assert_eq!(
            errata_problems("\n## E1 · One\n", corpus).iter().filter(|p| p.message.contains("names no")).count(),
            2
        );
    }

    fn problems_with(released: &str, changes: &str) -> Vec<String> {
        let case =
            json!({"name": "a", "why": "w", "clauses": ["ESC-1"], "input": {"text": "<"}, "expect": {"ok": "&lt;"}});
        let text = json!({"op": "escape", "about": "x", "cases": [case]}).to_string();
        let file = |path: &str, text: &str| File { path: path.to_owned(), text: text.to_owned() };
        let mut files = vec![file("escape/t.json", &text)];
        let corpus = Corpus::read(&files).0;
        let hash = corpus.cases[0].hash();
        let filled = |text: &str| text.replace("HASH", &hash);
        files.push(file(MANIFEST, &manifest(&corpus)));
        files.push(file(RELEASED, &filled(released)));
        files.push(file(CHANGES, &filled(changes)));
        history_problems(&files, &corpus).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_released_case_changes_with_a_reason_only() {
        const NOTHING: &str = r#"{"changes":[]}"#;
        const RETIRED: &str = r#"{"changes":[{"case":"escape/t/b","why":"It was wrong."}]}"#;
        const CHANGED: &str = r#"{"changes":[{"case":"escape/t/a","hash":"HASH","why":"It was wrong."}]}"#;
        let same = r#"{"cases":{"escape/t/a":"HASH"}}"#;
        let changed = r#"{"cases":{"escape/t/a":"sha256:0"}}"#;
        let gone = r#"{"cases":{"escape/t/a":"HASH","escape/t/b":"sha256:0"}}"#;
        for (released, changes, says) in [
            (r#"{"cases":{}}"#, NOTHING, ""),
            (same, NOTHING, ""),
            (changed, NOTHING, "`escape/t/a` is released and has changed"),
            (changed, CHANGED, ""),
            (changed, &CHANGED.replace("HASH", "sha256:1"), "has changed"),
            (gone, NOTHING, "`escape/t/b` is released and is gone"),
            (gone, RETIRED, ""),
            (same, r#"{"changes":[{"case":"escape/t/a","why":"It was wrong."}]}"#, "may not be used again"),
            (gone, &RETIRED.replace("It was wrong.", " "), "`why` is empty"),
            (same, r#"{"changes":[{"case":"escape/t/b"}]}"#, "missing field `why`"),
            ("{}", NOTHING, "missing field `cases`"),
        ] {
            let problems = problems_with(released, changes);
            assert_eq!(problems.len(), usize::from(!says.is_empty()), "{released} {changes}: {problems:?}");
            assert!(problems.iter().all(|problem| problem.contains(says)), "{problems:?}");
        }
    }

    #[test]
    fn names_of_nothing_and_forgotten_clauses_are_found() {
        let (corpus, _) = embedded();
        let text = "[source]\none = [\"ESC-1\", \"ESC-99\"]\ntwo = [\"E1\", \"E99\"]\n";
        let found: Vec<String> =
            seeds_problems(text, "\n## E1 · One\n", corpus).iter().map(ToString::to_string).collect();
        assert!(found.contains(&"seeds.toml: `one`: there is no `ESC-99`".to_owned()), "{found:?}");
        assert!(found.contains(&"seeds.toml: `two`: there is no `E99`".to_owned()), "{found:?}");
        assert!(found.contains(&"seeds.toml: no statement is held by MSG-CALL".to_owned()), "{found:?}");
        assert!(!found.iter().any(|problem| problem.ends_with("held by ESC-1")), "{found:?}");
        assert_eq!(seeds_problems("[source", "", corpus).len(), 1);
    }
}
