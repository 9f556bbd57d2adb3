//! Writes the page on coverage for the site: how many cases each clause has, and where.

use crate::lint::scopes::{Reach, SCOPES, ScopePlace, reached};
use std::fmt::Write;
use threadspec::EventType;
use threadspec_judge::corpus::{CLAUSES, Case, Corpus, Level};
use threadspec_judge::protocol::JudgeProfile;

/// A number for a cell of a table; empty for zero.
fn cell(count: usize) -> String {
    if count == 0 { String::new() } else { count.to_string() }
}

/// Writes the page that shows how many cases each clause has, and where.
pub(super) fn page(corpus: &Corpus) -> String {
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
