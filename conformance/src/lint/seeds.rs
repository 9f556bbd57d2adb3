//! The page that goes through the sources, statement by statement; it may name only clauses and errata that exist.

use threadspec_judge::corpus::{Corpus, Problem};

/// The page.
pub(super) const SEEDS: &str = "seeds.md";
/// The sources that it goes through.
const SOURCES: [&str; 5] = ["SPEC-01", "SPEC-02", "SPEC-03", "PLAN", "FLOW"];

/// Where the text of the page and the corpus do not agree: statements without a clause or an erratum, names of what does not exist, and clauses
/// with one of these sources that no statement names.
pub(super) fn problems(page: &str, errata: &str, corpus: &Corpus) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut held: Vec<&str> = Vec::new();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.rsplit_once(" | "));
    for (statement, names) in rows.filter(|(statement, _)| *statement != "statement") {
        for name in names.split(", ") {
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
        let page = "| statement | held by |\n|---|---|\n| one | ESC-1, ESC-99 |\n| two | E1, E99 |\n";
        let found: Vec<String> = problems(page, "\n## E1 · One\n", corpus).iter().map(ToString::to_string).collect();
        assert!(found.contains(&"seeds.md: `one`: there is no `ESC-99`".to_owned()), "{found:?}");
        assert!(found.contains(&"seeds.md: `two`: there is no `E99`".to_owned()), "{found:?}");
        assert!(found.contains(&"seeds.md: no statement is held by MSG-CALL".to_owned()), "{found:?}");
        assert!(!found.iter().any(|problem| problem.ends_with("held by ESC-1")), "{found:?}");
    }
}
