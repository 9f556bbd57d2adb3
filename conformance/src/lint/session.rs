//! Checks that only the cases of op `session` need.

use threadspec_judge::corpus::{CLAUSES, SESSION};
use threadspec_judge::corpus::{Case, Corpus, Problem, session_features, session_problems};
use threadspec_judge::protocol::{Features, Op};
use threadspec_judge::text::count;

/// How the clauses begin that only sessions can break.
const CLAUSE: &str = "SESSION-";
/// How many cases each of them has at least: the plain one, parallel calls, a third run behind it, a long thread.
const LEAST_OF_CLAUSE: usize = 4;
/// How many cases there are at least.
const LEAST: usize = 150;

/// Scripts that are none, features that a case names and does not use or uses and does not name, and clauses with too few cases.
pub(super) fn problems(corpus: &Corpus) -> Vec<Problem> {
    let cases: Vec<&Case> = corpus.cases.iter().filter(|case| case.op == Op::Session).collect();
    let mut problems: Vec<Problem> =
        cases.iter().flat_map(|case| wrong(case).into_iter().map(|what| case.problem(what))).collect();
    if corpus.has_own_clauses && !cases.is_empty() {
        problems.extend(lacking(corpus, &cases).into_iter().map(|what| Problem::in_file(CLAUSES, what)));
    }
    problems
}

fn wrong(case: &Case) -> Vec<String> {
    let mut wrong: Vec<String> = case.inputs().flat_map(session_problems).collect();
    let used = case.inputs().try_fold(Features::default(), |used, input| Ok(used.with(session_features(input)?)));
    if let Ok::<Features, threadspec_judge::Error>(used) = used {
        let (unnamed, unused) = (used.without(case.needs), case.needs.without(used));
        if !unnamed.is_empty() {
            wrong.push(format!("it uses {unnamed}, and its `needs` does not name that"));
        }
        if !unused.is_empty() {
            wrong.push(format!("its `needs` names {unused}, and nothing in it uses that"));
        }
    }
    wrong
}

fn lacking(corpus: &Corpus, cases: &[&Case]) -> Vec<String> {
    let mut lacking = Vec::new();
    for clause in corpus.clauses.iter().filter(|clause| clause.id.starts_with(CLAUSE)) {
        let own = cases.iter().filter(|case| case.clauses.contains(&clause.id)).count();
        if own < LEAST_OF_CLAUSE {
            lacking.push(format!(
                "clause `{}`: {}, where each of sessions has {LEAST_OF_CLAUSE}",
                clause.id,
                count(own, "case")
            ));
        }
    }
    if cases.len() < LEAST {
        lacking.push(format!("`{SESSION}/` has {}, where {LEAST} are needed", count(cases.len(), "case")));
    }
    lacking
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use threadspec_judge::corpus::File;

    type Change = fn(&mut Value);

    fn problems_with(change: impl Fn(&mut Value)) -> Vec<String> {
        let mut case = json!({
            "name": "a", "why": "w", "clauses": ["SESSION-VALID"], "profiles": ["universal"], "severity": "C",
            "needs": ["error"],
            "input": {"runs": [
                {"message": "Go", "model": [{"error": "down"}]},
                {"message": "Again", "model": [{"content": "x"}]},
            ]},
            "expect": {"holds": ["agent-valid"]},
        });
        change(&mut case);
        let text = json!({"op": "session", "about": "x", "cases": [case]}).to_string();
        // The registry of clauses is the built-in one.
        let (corpus, problems) = Corpus::read(&[File { path: "session/t.json".into(), text }]);
        let own = self::problems(&corpus);
        problems.into_iter().chain(own).map(|problem| problem.message).collect()
    }

    #[test]
    fn what_a_case_needs_is_what_it_uses() {
        assert_eq!(problems_with(|_| ()), [""; 0]);
        let changes: [(Change, &str); 7] = [
            (|case| case["needs"] = json!(["error", "limit"]), "names limit, and nothing in it uses that"),
            (|case| drop(case.as_object_mut().and_then(|case| case.remove("needs"))), "it uses error, and its `needs`"),
            (|case| case["needs"] = json!(["message", "error"]), "which every session needs"),
            (|case| case["needs"] = json!(["errors"]), "not known features"),
            (|case| case["needs"] = json!([]), "restates the default"),
            (|case| case["after"] = json!([{"runs": [{"resume": true, "model": [{"content": "x"}]}]}]), "uses resume"),
            (
                |case| drop(case["input"]["runs"][0].as_object_mut().and_then(|run| run.remove("message"))),
                "no beginning",
            ),
        ];
        for (change, says) in changes {
            let found = problems_with(change);
            assert!(found.iter().any(|problem| problem.contains(says)), "{says}: {found:?}");
        }
    }

    #[test]
    fn clauses_of_sessions_have_enough_cases() {
        let clauses = r#"{"clauses":[{"id":"SESSION-VALID","level":"must","source":"s","text":"t"}]}"#;
        let case = json!({
            "name": "a", "why": "w", "clauses": ["SESSION-VALID"], "profiles": ["universal"], "severity": "C",
            "input": {"runs": [{"message": "Go", "model": [{"content": "x"}]}]}, "expect": {"holds": ["agent-valid"]},
        });
        let text = json!({"op": "session", "about": "x", "cases": [case]}).to_string();
        let files = [("clauses.json", clauses.to_owned()), ("session/t.json", text)];
        let (corpus, _) = Corpus::read(&files.map(|(path, text)| File { path: path.into(), text }));
        let found: Vec<String> = problems(&corpus).into_iter().map(|problem| problem.message).collect();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[0].contains("`SESSION-VALID`: 1 case,") && found[1].contains("has 1 case, where 150"),
            "{found:?}"
        );
    }
}
