//! Explains a profile or an entry of the errata, for `threadspec explain`.

use crate::selection::clauses_named;
use std::collections::HashSet;
use std::fmt::Write;
use threadspec_judge::corpus::Corpus;
use threadspec_judge::protocol::JudgeProfile;
use threadspec_report::terminal::{STRONG, styled};

/// An entry of the errata: where the sources are silent or disagree, and what each profile takes from it.
pub(crate) struct Erratum<'a> {
    /// As clauses name it: `E8`.
    pub(crate) id: &'a str,
    title: &'a str,
    text: &'a str,
}

impl<'a> Erratum<'a> {
    /// Returns the entries of the errata in their order.
    pub(crate) fn all(errata: &'a str) -> impl Iterator<Item = Self> {
        errata.split("\n## ").skip(1).filter_map(|section| {
            let (heading, text) = section.split_once('\n')?;
            let (id, title) = heading.split_once(" · ")?;
            Some(Self { id, title, text: text.trim() })
        })
    }

    /// Returns the entry as it is written.
    pub(crate) fn text(&self) -> String {
        format!("{}\n\n{}\n", self.heading(), self.text)
    }

    /// Returns the line that the list of all entries has for this one.
    pub(crate) fn heading(&self) -> String {
        format!("{} · {}", styled(STRONG, self.id), self.title)
    }

    /// Returns what it decides for one profile alone, on one line.
    fn decision(&self, profile: JudgeProfile) -> Option<String> {
        let name = match profile {
            JudgeProfile::Literal => "Literal",
            JudgeProfile::Hardened => "Hardened",
            JudgeProfile::Universal => return None,
        };
        let (_, rest) = self.text.split_once(&format!("- **{name}:** "))?;
        let decision = rest.split("\n- ").next()?;
        Some(decision.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

/// Returns what `explain PROFILE` says.
pub(crate) fn profile_text(profile: JudgeProfile, corpus: &Corpus, errata: &str) -> String {
    let cases = corpus.cases.iter().filter(|case| case.is_in(profile)).count();
    let mut out = format!("profile {}: {}\n\n", styled(STRONG, profile), about(profile));
    let _ = writeln!(
        out,
        "{cases} cases: threadspec list --profile {profile}\n{} clauses: threadspec list --clauses --profile {profile}\n",
        clauses_of(profile, corpus).count()
    );
    match profile {
        JudgeProfile::Literal => {
            out.push_str("accepted here, where hardened has one reading:\n");
            out.push_str(&decisions(errata, &[JudgeProfile::Literal]));
        }
        JudgeProfile::Hardened => {
            out.push_str("changes against literal:\n");
            out.push_str(&decisions(errata, &JudgeProfile::OWN));
        }
        JudgeProfile::Universal => out.push_str(&families(corpus)),
    }
    let others: HashSet<&str> = JudgeProfile::ALL
        .into_iter()
        .filter(|&other| other != profile)
        .flat_map(|other| clauses_of(other, corpus))
        .collect();
    let alone: Vec<&str> = clauses_of(profile, corpus).filter(|clause| !others.contains(clause)).collect();
    if profile != JudgeProfile::Universal && !alone.is_empty() {
        let _ = writeln!(out, "\nclauses of {profile} alone: {}", alone.join(", "));
    }
    out
}

/// Returns what a profile is about, and whom it is for.
fn about(profile: JudgeProfile) -> &'static str {
    match profile {
        JudgeProfile::Literal => {
            "the letter of the sources. Where they leave a choice, each reading is accepted. `verify` judges \
             by it unless --profile says otherwise or the program does not have it."
        }
        JudgeProfile::Hardened => {
            "the letter of the sources, and the smallest changes that keep their promises for every input. A document parses, \
             and its texts come back from the parser. Both context modes carry the same information. Model providers accept \
             each list of messages."
        }
        JudgeProfile::Universal => {
            "any agent that calls tools, whatever its design. No exact output is expected: each clause is a property of what the \
             model was sent. A case has a severity: A is lost or wrong on ordinary input, B was reported by users, C is \
             contrived and counts with --strict only."
        }
    }
}

/// Returns, for each entry of the errata that decides for hardened alone, what it says of these profiles.
fn decisions(errata: &str, profiles: &[JudgeProfile]) -> String {
    let mut out = String::new();
    for erratum in Erratum::all(errata).filter(|erratum| erratum.decision(JudgeProfile::Hardened).is_some()) {
        let _ = writeln!(out, "\n{}", erratum.heading());
        for &profile in profiles {
            let decision = erratum.decision(profile).unwrap_or_default();
            let _ = writeln!(out, "  {:10}{decision}", format!("{profile}:"));
        }
    }
    out
}

/// Returns the clauses of `universal` by families, each with what runs its cases.
fn families(corpus: &Corpus) -> String {
    const FAMILIES: [(&str, &str, &str); 4] = [
        ("AGENT-", "tool rounds within one run", "threadspec verify --profile universal -- CMD"),
        ("WIRE-", "requests over HTTP, which a provider of ours judges", "threadspec verify --provider API -- CMD"),
        ("SESSION-", "several runs on one thread", "threadspec verify --profile universal --op session -- CMD"),
        (
            "GATE-",
            "a gateway between client and provider",
            "threadspec verify --provider API --client API --through CMD",
        ),
    ];
    let mut out = String::from("what it judges:\n");
    for (start, what, command) in FAMILIES {
        let ids: Vec<&str> = clauses_of(JudgeProfile::Universal, corpus).filter(|id| id.starts_with(start)).collect();
        if !ids.is_empty() {
            let _ =
                writeln!(out, "\n{} {what}: {command}\n  {}", styled(STRONG, format_args!("{start}*")), ids.join(", "));
        }
    }
    out
}

/// Returns the ids of the clauses that have a case in a profile.
fn clauses_of(profile: JudgeProfile, corpus: &Corpus) -> impl Iterator<Item = &str> {
    let cases = corpus.cases.iter().filter(move |case| case.is_in(profile));
    clauses_named(corpus, cases).map(|clause| clause.id.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadspec_golden::ERRATA;
    use threadspec_judge::corpus::embedded;

    #[test]
    fn what_a_clause_says_of_hardened_is_an_erratum() {
        let decided = |entry: &str| {
            Erratum::all(ERRATA).any(|erratum| {
                erratum.id == entry && JudgeProfile::OWN.into_iter().all(|profile| erratum.decision(profile).is_some())
            })
        };
        let clauses = || embedded().0.clauses.iter().filter(|clause| clause.text.contains("ardened: "));
        assert!(clauses().count() > 8, "{}", clauses().count());
        for clause in clauses() {
            assert!(clause.errata().any(decided), "{}: {}", clause.id, clause.source);
        }
    }

    #[test]
    fn every_clause_of_universal_is_in_a_family() {
        let told = families(embedded().0);
        for id in clauses_of(JudgeProfile::Universal, embedded().0) {
            assert!(told.contains(id), "{id}");
        }
    }
}
