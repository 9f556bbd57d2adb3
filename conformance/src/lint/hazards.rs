//! Checks the catalogue of hazards, and writes two pages of the site: on hazards, and on how many cases each clause has.

use super::scopes::{Reach, SCOPES, ScopePlace, reached};
use std::collections::HashSet;
use std::fmt::Write;
use strum::IntoEnumIterator;
use threadspec::EventType;
use threadspec_judge::corpus::hazards::{Catalogue, HAZARDS, Hazard, LibraryStep, Shown, catalogue};
use threadspec_judge::corpus::{CLAUSES, Case, Corpus, File, Level, Problem, is_kebab_case};
use threadspec_judge::protocol::JudgeProfile;

/// Checks the catalogue: cases, mutants, steps and languages must fit together.
pub(super) fn problems(files: &[File], corpus: &Corpus) -> Vec<Problem> {
    if files.iter().all(|file| file.path != HAZARDS) {
        return Vec::new();
    }
    let wrong = match catalogue(files) {
        Ok(catalogue) => wrong(&catalogue, corpus),
        Err(error) => vec![error.to_string()],
    };
    wrong.into_iter().map(|what| Problem::in_file(HAZARDS, what)).collect()
}

fn wrong(catalogue: &Catalogue, corpus: &Corpus) -> Vec<String> {
    let mut wrong = Vec::new();
    let (mut ids, mut used) = (HashSet::new(), HashSet::new());
    for hazard in &catalogue.hazards {
        let mut add = |what: String| wrong.push(format!("{}: {what}", hazard.id));
        if !is_kebab_case(&hazard.id) || !ids.insert(&*hazard.id) {
            add("it needs a name of its own in kebab-case".into());
        }
        for language in hazard.functions.keys() {
            used.insert(language);
            if !catalogue.languages.contains(language) {
                add(format!("`{language}` is not among the languages"));
            }
        }
        for (what, is_missing) in [
            ("functions", hazard.functions.is_empty()),
            ("a sentence that ends with a full stop", !hazard.does.ends_with('.')),
            ("evidence", hazard.evidence.is_empty()),
            ("a place where it shows", hazard.shows().next().is_none()),
        ] {
            if is_missing {
                add(format!("it needs {what}"));
            }
        }
        let is_strange = |evidence: &&String| !evidence.starts_with("https://") && link(evidence) == **evidence;
        hazard
            .evidence
            .iter()
            .filter(is_strange)
            .for_each(|evidence| add(format!("`{evidence}` is neither an address nor an issue")));
        for (place, shown) in hazard.shows() {
            if let Shown::By { cases, bugs } = shown {
                if cases.is_empty() || bugs.is_empty() {
                    add(format!("{place}: it needs a case and a bug"));
                }
                let is_missing =
                    |id: &&String| !case(corpus, id).is_some_and(|case| case.id.starts_with(&format!("{place}/")));
                cases.iter().filter(is_missing).for_each(|id| add(format!("{place}: there is no case `{id}`")));
            }
        }
    }
    let has_step = |step: &LibraryStep| catalogue.hazards.iter().any(|hazard| hazard.step == *step);
    wrong.extend(
        LibraryStep::iter().filter(|step| !has_step(step)).map(|step| format!("no hazard is about the step `{step}`")),
    );
    let unused = catalogue.languages.iter().filter(|language| !used.contains(language));
    wrong.extend(unused.map(|language| format!("no hazard is about {language}")));
    wrong
}

fn case<'a>(corpus: &'a Corpus, id: &str) -> Option<&'a Case> {
    corpus.cases.iter().find(|case| case.id == id)
}

/// The page: a table for each step.
pub(super) fn hazards_page(catalogue: &Catalogue) -> String {
    let mut page = format!(
        "# Hazards of libraries\n\n{} rows of `{HAZARDS}`.\n\nAn implementer uses functions of a library at each step: reading JSON, comparing names and so on. Each row\n\
         describes how such a function, used in the obvious way, mishandles unusual input. The table below a row lists the cases that show it, by operation\n\
         (`agent` is any agent in profile `universal`). It also lists the mutants with the same fault, which these cases catch\n\
         (`threadspec-mutants serve --bug NAME`). A test runs each case against each of its mutants.\n\nThe languages are the most used ones ({}).\n",
        catalogue.hazards.len(),
        catalogue.chosen.iter().map(|source| link(source)).collect::<Vec<_>>().join(", "),
    );
    let _ = writeln!(
        page,
        "\n| step | {} |\n|---|{}",
        catalogue.languages.join(" | "),
        "--:|".repeat(catalogue.languages.len())
    );
    for step in LibraryStep::iter() {
        let count = |language: &String| {
            let of_both = |hazard: &&Hazard| hazard.step == step && hazard.functions.contains_key(language);
            match catalogue.hazards.iter().filter(of_both).count() {
                0 => String::new(),
                count => count.to_string(),
            }
        };
        let counts: Vec<String> = catalogue.languages.iter().map(count).collect();
        let _ = writeln!(page, "| [{}](#{}) | {} |", title(step), anchor(step), counts.join(" | "));
    }
    for step in LibraryStep::iter() {
        let _ = write!(page, "\n## {}\n", title(step));
        catalogue
            .hazards
            .iter()
            .filter(|hazard| hazard.step == step)
            .for_each(|hazard| page += &section(hazard, catalogue));
    }
    page
}

fn section(hazard: &Hazard, catalogue: &Catalogue) -> String {
    let in_order = catalogue.languages.iter().filter_map(|language| Some((language, hazard.functions.get(language)?)));
    let functions: Vec<String> = in_order.map(|(language, functions)| format!("{language}: {functions}")).collect();
    let evidence: Vec<String> = hazard.evidence.iter().map(|evidence| link(evidence)).collect();
    let mut section = format!(
        "\n### {}\n\n{}\n\n{}. Seen in {}.\n\n| where | cases | mutants |\n|---|---|---|\n",
        hazard.id,
        hazard.does,
        functions.join("; "),
        evidence.join(", ")
    );
    for (place, shown) in hazard.shows() {
        let _ = match shown {
            Shown::By { cases, bugs } => writeln!(section, "| {place} | {} | {} |", code(cases), code(bugs)),
            Shown::Never { cannot_show, test } => {
                writeln!(section, "| {place} | cannot show: {cannot_show} (test `{test}`) | |")
            }
        };
    }
    section
}

fn code(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// An issue as a link to it; anything else as it is.
fn link(evidence: &str) -> String {
    match evidence.split_once('#') {
        Some((repository, number)) if repository.split('/').count() == 2 && number.parse::<u32>().is_ok() => {
            format!("[{evidence}](https://github.com/{repository}/issues/{number})")
        }
        _ if evidence.starts_with("https://") => format!("<{evidence}>"),
        _ => evidence.to_owned(),
    }
}

fn title(step: LibraryStep) -> &'static str {
    match step {
        LibraryStep::Read => "Read JSON",
        LibraryStep::Compare => "Compare names",
        LibraryStep::LookUp => "Look up",
        LibraryStep::Count => "Count",
        LibraryStep::Cut => "Cut",
        LibraryStep::Escape => "Escape",
        LibraryStep::Replace => "Replace",
        LibraryStep::NumberToText => "Number to text",
        LibraryStep::Sort => "Sort",
        LibraryStep::Write => "Write",
    }
}

fn anchor(step: LibraryStep) -> String {
    title(step).to_lowercase().replace(' ', "-")
}

// Writes the page on coverage for the site: how many cases each clause has, and where.

/// A number for a cell of a table; empty for zero.
fn cell(count: usize) -> String {
    if count == 0 { String::new() } else { count.to_string() }
}

/// Writes the page that shows how many cases each clause has, and where.
pub(super) fn coverage_page(corpus: &Corpus) -> String {
    // `lint` reports the cases that cannot be read.
    let (cases, _) = reached(corpus);
    let mut page = format!(
        "# Coverage\n\n{} clauses, {} cases.\n\n## Clauses\n\nThe table counts the cases of each clause of `{CLAUSES}`: all of \
         them, by level, by profile, and by operation and context mode.\n\
         `threadspec-mutants run` prints which mutants each case catches.\n\n",
        corpus.clauses.len(),
        corpus.cases.len(),
    );
    let places: Vec<String> = ScopePlace::all().map(|place| place.to_string()).collect();
    let _ = writeln!(
        page,
        "| clause | cases | `must` | `should` | literal | hardened | universal | {} |",
        places.join(" | ")
    );
    let _ = writeln!(page, "|---|{}", "--:|".repeat(places.len() + 6));
    for clause in &corpus.clauses {
        let own: Vec<_> = cases.iter().filter(|(case, _)| case.clauses.contains(&clause.id)).collect();
        let count = |counts: &dyn Fn(&Case, &Reach) -> bool| {
            cell(own.iter().filter(|(case, reach)| counts(case, reach)).count())
        };
        let levels = [Level::Must, Level::Should].map(|level| count(&|case, _| case.level == level));
        let profiles = JudgeProfile::ALL.map(|profile| count(&|case, _| case.profiles.contains(&profile)));
        let places: Vec<String> = ScopePlace::all().map(|place| count(&|_, reach| reach.place == place)).collect();
        let counts = [&levels[..], &profiles, &places].concat().join(" | ");
        let _ = writeln!(page, "| {} ({}) | {} | {counts} |", clause.id, clause.level, own.len());
    }
    page + &event_types(corpus, &cases)
}

/// Clause × event type × place × profile, for the operations that take a log.
fn event_types(corpus: &Corpus, cases: &[(&Case, Reach)]) -> String {
    let mut page = format!(
        "\n## Event types\n\nThis table counts the same cases by the event types in their logs. `4 5` means four cases in literal and five in \
         hardened.\n`{SCOPES}` lists the event types of each clause. `lint` demands a case for each.\n\n| clause | where | {} |\n|---|---|{}\n",
        EventType::ALL.map(EventType::name).join(" | "),
        "---|".repeat(EventType::ALL.len()),
    );
    for clause in &corpus.clauses {
        for place in [ScopePlace::Serialize, ScopePlace::MessagesStandard, ScopePlace::MessagesXml] {
            let counts = EventType::ALL.map(|event_type| {
                JudgeProfile::OWN.map(|profile| {
                    let counts = |(case, reach): &&(&Case, Reach)| {
                        case.clauses.contains(&clause.id)
                            && case.profiles.contains(&profile)
                            && reach.place == place
                            && reach.events.contains(&event_type)
                    };
                    cases.iter().filter(counts).count()
                })
            });
            if counts.iter().flatten().any(|&count| count > 0) {
                let cells = counts.map(|[literal, hardened]| match (literal, hardened) {
                    (0, 0) => String::new(),
                    _ => format!("{literal} {hardened}"),
                });
                let _ = writeln!(page, "| {} | {place} | {} |", clause.id, cells.join(" | "));
            }
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use threadspec_judge::corpus::embedded;

    fn problems_with(change: impl Fn(&mut Value)) -> Vec<String> {
        let row = |step: LibraryStep| {
            json!({
                "id": step.to_string(), "step": step.to_string(), "functions": {"Go": "`f`"}, "does": "It does.", "evidence": ["a/b#1"],
                "shows": {"escape": [{"cases": ["escape/five-characters/ampersand-alone"], "bugs": ["ampersand-escaped-last"]}]},
            })
        };
        let mut content = json!({"languages": ["Go"], "chosen": ["https://a.example"], "hazards": LibraryStep::iter().map(row).collect::<Vec<_>>()});
        change(&mut content);
        let file = File { path: HAZARDS.to_owned(), text: content.to_string() };
        problems(&[file], embedded().0).into_iter().map(|problem| problem.message).collect()
    }

    type Change = fn(&mut Value);

    #[test]
    fn what_does_not_fit_together_is_found() {
        assert_eq!(problems_with(|_| ()), [""; 0]);
        let changes: [(Change, &str); 11] = [
            (|all| all["hazards"][1]["id"] = "read".into(), "a name of its own"),
            (|all| all["hazards"][0]["functions"]["Cobol"] = "`f`".into(), "`Cobol` is not among"),
            (|all| all["hazards"][0]["functions"] = json!({}), "needs functions"),
            (|all| all["hazards"][0]["does"] = "It does".into(), "full stop"),
            (|all| all["hazards"][0]["evidence"] = json!([]), "needs evidence"),
            (|all| all["hazards"][0]["evidence"] = json!(["hearsay"]), "`hearsay` is neither"),
            (|all| all["hazards"][0]["shows"] = json!({}), "needs a place"),
            (|all| all["hazards"][0]["shows"]["escape"][0]["cases"] = json!(["escape/a/b"]), "no case `escape/a/b`"),
            (|all| all["hazards"][0]["shows"]["escape"][0]["bugs"] = json!([]), "a case and a bug"),
            (|all| all["hazards"][0]["step"] = "compare".into(), "the step `read`"),
            (|all| all["languages"] = json!(["Go", "C"]), "about C"),
        ];
        for (change, says) in changes {
            let found = problems_with(change);
            assert!(found.iter().any(|problem| problem.contains(says)), "{says}: {found:?}");
        }
        assert!(problems_with(|all| all["hazards"][0]["note"] = "x".into())[0].contains("unknown field"));
    }
}
