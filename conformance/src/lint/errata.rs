//! The errata, written by people; an entry may name only existing clauses and cases.

use threadspec_judge::corpus::{CLAUSES, Corpus, Problem};
use wildmatch::WildMatch;

/// The errata.
pub(crate) const ERRATA: &str = "errata.md";

/// Where the text of the errata and the corpus do not agree: entries without clauses or cases, unknown clauses and cases, and clauses
/// whose source is an entry that does not exist.
pub(super) fn problems(errata: &str, corpus: &Corpus) -> Vec<Problem> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use threadspec_judge::corpus::embedded;

    #[test]
    fn errata_that_point_nowhere_are_found() {
        let (corpus, _) = embedded();
        let entry = "# Errata\n\n## E1 · One\n\n- Clauses: ESC-1, and ESC-99.\n- Cases: `escape/forbidden/*`, `escape/no/no`.\n";
        let found: Vec<String> = problems(entry, corpus).iter().map(ToString::to_string).collect();
        assert!(found.contains(&"errata.md: E1: unknown clause `ESC-99`".to_owned()), "{found:?}");
        assert!(found.contains(&"errata.md: E1: there is no case `escape/no/no`".to_owned()), "{found:?}");
        assert!(found.contains(&"clauses.json: clause `ESC-CR`: errata.md has no entry E3".to_owned()), "{found:?}");
        assert_eq!(problems("\n## E1 · One\n", corpus).iter().filter(|p| p.message.contains("names no")).count(), 2);
    }
}
