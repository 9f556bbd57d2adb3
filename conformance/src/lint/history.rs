//! The history of the cases: the manifest, the manifest of the last release, and the reasons for what has changed since.
//! Other projects have the ids in their reports and lists, so no case may silently vanish or change.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use threadspec_judge::corpus::{Case, Corpus, File, MANIFEST, Problem, canonical, fingerprint};

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
pub(super) fn problems(files: &[File], corpus: &Corpus) -> Vec<Problem> {
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

#[cfg(test)]
mod tests {
    use super::*;

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
        problems(&files, &corpus).iter().map(ToString::to_string).collect()
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
}
