//! Explains a clause, a case, a profile or an entry of the errata: `threadspec explain`.

use crate::explain_rule::rule_text;
use crate::programs::{RECIPES, recipe_text};
use crate::selection::clauses_named;
use crate::{Stop, corpus_and_errata, did_you_mean, effects};
use std::collections::HashSet;
use std::fmt::Write;
use std::path::PathBuf;
use strum::{EnumMessage, IntoEnumIterator};
use threadspec_golden::{log_rules, provider_rules};
use threadspec_judge::corpus::{Case, Clause, Corpus, Oracle};
use threadspec_judge::protocol::JudgeProfile;
use threadspec_judge::text::visible;
use threadspec_judge::verdict::Verdict;
use threadspec_report::terminal::{STRONG, print, styled};
use threadspec_runner::Exit;

/// Explain a clause, a case, a rule of a model API, a profile, an erratum, a verdict, an exit code or a word of the output
#[derive(Debug, clap::Args)]
pub struct Explain {
    /// Use the corpus in this folder instead of the built-in one
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// A clause such as ESC-1, a case as `list` names it, a rule such as ANT-PREFILL, a profile such as hardened, an erratum such as E8
    /// (`errata` lists them), a recipe of a program (`recipes` lists them), a verdict such as garbage, an exit code such as 3, or a word of the output such as severity
    #[arg(value_name = "CLAUSE|CASE|RULE|PROFILE|ERRATUM|VERDICT|EXIT-CODE|WORD", default_value = TOPICS)]
    what: String,
}

impl Explain {
    /// Runs the command and returns its exit code.
    ///
    /// # Errors
    ///
    /// When the corpus is at fault or there is no such thing.
    pub fn execute(&self) -> Result<Exit, Stop> {
        let (corpus, errata) = corpus_and_errata(self.corpus.as_deref())?;
        let text = if let Some(clause) = corpus.clauses.iter().find(|clause| clause.id.eq_ignore_ascii_case(&self.what))
        {
            clause_text(clause, &corpus, &errata)
        } else if let Some(case) = corpus.cases.iter().find(|case| case.id == self.what) {
            threadspec_report::case(case, &corpus, &case.profiles)
        } else if let Some(text) = rule_text(&self.what) {
            text
        } else if let Ok(profile) = self.what.to_lowercase().parse::<JudgeProfile>() {
            profile_text(profile, &corpus, &errata)
        } else if let Some(erratum) = Erratum::all(&errata).find(|erratum| erratum.id.eq_ignore_ascii_case(&self.what))
        {
            erratum.text()
        } else if self.what.eq_ignore_ascii_case("errata") {
            Erratum::all(&errata).map(|erratum| erratum.heading() + "\n").collect()
        } else if self.what == TOPICS {
            topics()
        } else if self.what == VERDICTS {
            Verdict::iter().map(explained_verdict).collect()
        } else if self.what == EXIT_CODES {
            (0..=u8::MAX).map_while(|code| Exit::try_from(code).ok()).map(explained_exit).collect()
        } else if let Ok(verdict) = self.what.to_lowercase().parse::<Verdict>() {
            explained_verdict(verdict)
        } else if let Some(exit) = self.what.parse::<u8>().ok().and_then(|code| Exit::try_from(code).ok()) {
            explained_exit(exit)
        } else if let Ok(oracle) = self.what.parse::<Oracle>() {
            format!("{}: {}\n", styled(STRONG, oracle), oracle.get_message().unwrap_or_default())
        } else if let Some(text) = recipe_text(&self.what) {
            text
        } else if let Some((word, text)) = WORDS.iter().find(|(word, _)| word.eq_ignore_ascii_case(&self.what)) {
            format!("{}: {text}\n", styled(STRONG, word))
        } else {
            return Err(Stop::new(Exit::Usage, self.unknown(&corpus, &errata)));
        };
        print(&text);
        Ok(Exit::Ok)
    }

    fn unknown(&self, corpus: &Corpus, errata: &str) -> String {
        let clauses = corpus.clauses.iter().map(|clause| clause.id.as_str());
        let verdicts: Vec<String> = Verdict::iter().map(|verdict| verdict.to_string()).collect();
        let cases = corpus.cases.iter().map(|case| case.id.as_str());
        let rules = provider_rules().iter().map(|rule| rule.id.as_str());
        let rules = rules.chain(log_rules().iter().map(|rule| rule.id.as_str()));
        let others = JudgeProfile::ALL.map(|profile| profile.to_string());
        let others = others
            .iter()
            .map(String::as_str)
            .chain(Erratum::all(errata).map(|erratum| erratum.id))
            .chain(["errata", "recipes", TOPICS, VERDICTS, EXIT_CODES])
            .chain(RECIPES.iter().map(|(name, _)| *name))
            .chain(WORDS.map(|(word, _)| word));
        let names = clauses.chain(verdicts.iter().map(String::as_str)).chain(cases).chain(rules).chain(others);
        let hint = did_you_mean(&self.what, names);
        let what = visible(&self.what);
        format!(
            "there is no clause, case, rule, profile, erratum, verdict, exit code or word `{what}`{hint} `list`, `list --clauses` and \
             `explain topics` show what there is"
        )
    }
}

/// Without a word, `explain` says what it explains.
const TOPICS: &str = "topics";
const VERDICTS: &str = "verdicts";
const EXIT_CODES: &str = "exit-codes";

fn topics() -> String {
    let profiles = JudgeProfile::ALL.map(|profile| profile.to_string()).join(", ");
    let words = WORDS.map(|(word, _)| word).join(", ");
    format!(
        "`threadspec explain` explains\n  a clause, such as ESC-1 (`threadspec list --clauses`)\n  a case (`threadspec list`)\n  a rule of a model API or \
         of logs, such as ANT-PREFILL\n  a profile: {profiles}\n  {VERDICTS} of `verify`, or one of them; {EXIT_CODES}, or one of them\n  errata, or one of \
         them; recipes, or one of them\n  a word of the output: {words}\n"
    )
}

fn explained_verdict(verdict: Verdict) -> String {
    format!("{}: {}\n", styled(STRONG, verdict), verdict_text(verdict))
}

fn explained_exit(exit: Exit) -> String {
    format!("exit code {}: {}\n", styled(STRONG, exit), exit_text(exit))
}

/// The words of the output that are neither clauses nor verdicts.
const WORDS: [(&str, &str); 14] = [
    (
        "severity",
        "how much a failure hurts, in profile universal. A: a thread is lost or wrong on ordinary input. B: odd input that users \
         reported. C: contrived: a failure counts only with --strict, unless it breaks a clause that the case does not list.",
    ),
    ("must", "the level of a case that the sources decide: who fails it is not conformant."),
    (
        "should",
        "the level of a case that the sources only imply: a failure is a warning, unless the run is --strict. A crash, a timeout and garbage \
         always count.",
    ),
    ("testee", "the program under test: your adapter, or whatever command comes after `--`."),
    (
        "thorough",
        "cases that take too long for every day, such as very large threads. `verify --thorough` runs them, too.",
    ),
    ("applicable", "the cases that the testee can run: all but those whose verdict is unsupported."),
    (
        "also about",
        "other clauses that a failed case concerns. It is charged to one clause only, the one in front of it.",
    ),
    (
        "beside",
        "a finding about a clause that its case does not list. A broken `must` clause counts wherever it is seen.",
    ),
    (
        "append-only",
        "of logs: each request of a conversation begins with everything that the one before it sent, so that the prompt cache serves it.",
    ),
    ("provider-rules", "of logs: the rules of the model API by which it refuses requests, such as ANT-ORPHAN."),
    ("contrived", "of severity C: input that nobody reported. `explain severity` says when such a failure counts."),
    ("silent", "a verdict of `probe`: the server accepts a request that the real API refuses."),
    ("passed", "what `check` looked for in a file and did not find broken, such as append-only."),
    ("touched", "the member of reports with what the terminal calls `also about`."),
];

fn clause_text(clause: &Clause, corpus: &Corpus, errata: &str) -> String {
    let name = styled(STRONG, &clause.id);
    let seen = effects::session_effect(clause).or_else(|| effects::gateway_effect(clause));
    let mut out = seen.map(|seen| format!("{name}: {seen}")).unwrap_or_default();
    let _ = writeln!(out, "{name} ({}; {})\n  {}", clause.level, clause.source, clause.text);
    for erratum in clause.errata().filter_map(|entry| Erratum::all(errata).find(|erratum| erratum.id == entry)) {
        let _ = write!(out, "\n{}", erratum.text());
    }
    out.push_str("\ncases:\n");
    let cases: Vec<&Case> = corpus.cases.iter().filter(|case| case.clauses.contains(&clause.id)).collect();
    for group in cases.chunk_by(|one, next| one.is_row() && next.is_row() && topic(one) == topic(next)) {
        match group {
            [row, ..] if row.is_row() => {
                let _ = writeln!(out, "  {}/*  {} rows of a covering array: {}", topic(row), group.len(), row.why);
            }
            _ => group.iter().for_each(|case| {
                let _ = writeln!(out, "  {}  {}", case.id, case.why);
            }),
        }
    }
    if clauses_of(JudgeProfile::Universal, corpus).any(|id| id == clause.id) {
        out.push_str("  and any other case of universal that shows it: `threadspec explain beside`\n");
    }
    out
}

/// Returns the folder and the topic of a case: its id without its name.
fn topic(case: &Case) -> &str {
    case.id.rsplit_once('/').map_or(&case.id, |(topic, _)| topic)
}

fn verdict_text(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "the reply is as expected.",
        Verdict::Fail => {
            "the output is not the expected one. It counts against the testee; of a `should` case only with --strict. So does one of a case of \
             severity C (contrived), unless a clause is broken that the case does not list. Look at `expected` and `actual`, at \
             the clause, and at the case with `threadspec show`."
        }
        Verdict::Rejected => {
            "a refusal where an output was expected, or the other way round, or of the wrong kind. It counts against the \
             testee; of a `should` case only with --strict."
        }
        Verdict::Crash => {
            "the testee ended before its reply. It counts against the testee, which is started afresh for the next case. The \
             end of its stderr is shown: write the reason there."
        }
        Verdict::Timeout => {
            "no reply in time (--timeout). It counts against the testee. A reply that waits in a buffer looks the same: flush \
             stdout after each line."
        }
        Verdict::Garbage => {
            "something on stdout that is not the one reply to the request: a log line, a second reply, no JSON, another id. It \
             counts against the testee. Logs go to stderr. In a session also a `cut` where nothing is killed, other runs after a kill than were left, \
             and files beside the storage folder."
        }
        Verdict::Unsupported => {
            "the testee does not do this, and says so: the op, or a feature that a session needs, is not in its hello, it answered `unsupported`, or its reply lacks an optional member that the case needs. The case is \
             not applicable, and shows nothing."
        }
        Verdict::NotRun => "the run ended before the case. It counts against the testee, since nothing was shown.",
        Verdict::KnownFailure => {
            "the case fails, and the file of known failures lists it (--known-failures). It does not count against the testee."
        }
        Verdict::UnexpectedPass => {
            "the case passes, and the file of known failures says that it fails: exit code 5. Take it out of the file, or let \
             `verify --update-known-failures FILE` do it."
        }
    }
}

fn exit_text(exit: Exit) -> &'static str {
    match exit {
        Exit::Ok => "conformant, or simply done: no case counts against the testee, and at least one was applicable.",
        Exit::NotConformant => {
            "not conformant, or a regression: at least one case counts against the testee, or nothing was applicable. Of `check`: an error was found (with --strict: or a warning)."
        }
        Exit::Usage => {
            "wrong usage: an option, a pattern that matches nothing, `--` without a command, a file of the wrong form. Of `check`: a file cannot be read, or less than half of it was judged."
        }
        Exit::Testee => {
            "the testee or gateway could not be started, or did not get ready. Try an adapter by hand: paste \
             {\"id\":0,\"op\":\"hello\",\"protocol\":1} into it; it must answer with one line, and flush."
        }
        Exit::Corpus => {
            "the corpus, a script of `provider` or the harness itself is at fault, the system gives it no more files or processes (fewer --jobs need fewer), or output could not be written. `threadspec lint` says what is wrong with a corpus."
        }
        Exit::KnownFailures => {
            "a known failure passed, or its entry matches nothing or has expired: take it out of the file of known failures."
        }
        Exit::Interrupted => {
            "interrupted; the testee was ended, the summary printed and the reports written. Of `check`: the findings so far were printed."
        }
    }
}

// Explains a profile or an entry of the errata, for `threadspec explain`.

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
             contrived: its own clauses count with --strict only."
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
