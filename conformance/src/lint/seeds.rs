//! Checks the list of the sources' statements: it names only clauses and errata that exist, and forgets no clause.

use std::collections::BTreeMap;
use threadspec_judge::corpus::{Corpus, Problem};

/// The file that goes through the sources, statement by statement.
pub(super) const SEEDS: &str = "seeds.toml";
/// The sources that it goes through.
const SOURCES: [&str; 5] = ["SPEC-01", "SPEC-02", "SPEC-03", "PLAN", "FLOW"];

/// By source, each statement with the ids of the clauses or errata that hold it.
type Statements = BTreeMap<String, BTreeMap<String, Vec<String>>>;

/// Lists where the file and the corpus do not agree: names of nothing, and clauses of a source that hold no statement.
pub(super) fn problems(text: &str, errata: &str, corpus: &Corpus) -> Vec<Problem> {
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
    fn names_of_nothing_and_forgotten_clauses_are_found() {
        let (corpus, _) = embedded();
        let text = "[source]\none = [\"ESC-1\", \"ESC-99\"]\ntwo = [\"E1\", \"E99\"]\n";
        let found: Vec<String> = problems(text, "\n## E1 · One\n", corpus).iter().map(ToString::to_string).collect();
        assert!(found.contains(&"seeds.toml: `one`: there is no `ESC-99`".to_owned()), "{found:?}");
        assert!(found.contains(&"seeds.toml: `two`: there is no `E99`".to_owned()), "{found:?}");
        assert!(found.contains(&"seeds.toml: no statement is held by MSG-CALL".to_owned()), "{found:?}");
        assert!(!found.iter().any(|problem| problem.ends_with("held by ESC-1")), "{found:?}");
        assert_eq!(problems("[source", "", corpus).len(), 1);
    }
}
