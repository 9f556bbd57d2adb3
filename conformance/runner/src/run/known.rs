//! Known failures: their cases are run all the same, and must fail.
//!
//! A file of known failures can only shrink, unless somebody gives a reason for what is new.

use super::worker::join;
use super::{CaseResult, Run};
use crate::error::Error;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::time::SystemTime;
use threadspec_judge::corpus::{Case, Corpus};
use threadspec_judge::protocol::JudgeProfile;
use threadspec_judge::verdict::{Judgement, Verdict};
use wildmatch::WildMatch;

/// The comment at the top of a written file.
const HEAD: &str = "\
# What is known to fail, for `threadspec verify --known-failures`. Each of these cases must fail: take out what passes, or let
# `threadspec verify --update-known-failures` do it, which adds nothing without --reason.
";

/// A file of known failures.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    #[serde(default)]
    known: Vec<Entry>,
}

/// Cases that are known to fail, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// The cases whose id matches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pattern: Option<String>,
    /// The cases of this clause.
    #[serde(skip_serializing_if = "Option::is_none")]
    clause: Option<String>,
    reason: String,
    /// Where it is being worked on.
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<String>,
    /// The page on which the implementation documents it as its choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    documented: Option<String>,
    /// The last day on which it is excused, as in `2026-12-31`.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<String>,
}

impl Entry {
    fn covers(&self, case: &Case) -> bool {
        self.pattern.as_ref().is_some_and(|pattern| WildMatch::new(pattern).matches(&case.id))
            || self.clause.as_ref().is_some_and(|clause| case.clauses.contains(clause))
    }

    /// Returns whether it excuses what was found of a clause beside a case.
    fn covers_beside(&self, case: &Case, clause: &str) -> bool {
        self.pattern.is_some() && self.covers(case) || self.clause.as_deref() == Some(clause)
    }

    fn name(&self) -> String {
        let both = self.pattern.iter().map(|pattern| format!("`{pattern}`"));
        both.chain(self.clause.iter().map(|clause| format!("clause {clause}"))).collect::<Vec<_>>().join(", ")
    }

    fn fault(&self) -> Option<String> {
        if self.pattern.is_some() == self.clause.is_some() {
            return Some("exactly one of `pattern` and `clause` is needed".into());
        }
        if self.reason.trim().is_empty() {
            return Some("its `reason` is empty".into());
        }
        if self.documented.as_ref().is_some_and(|page| page.trim().is_empty()) {
            return Some("its `documented` is empty".into());
        }
        let expires = self.expires.as_ref().filter(|date| !is_date(date))?;
        Some(format!("its `expires` is {expires:?}, which is not a date such as \"2026-12-31\""))
    }
}

impl Known {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// Says what is wrong with it.
    pub fn read(text: &str) -> Result<Self, Error> {
        let known: Self = basic_toml::from_str(text).map_err(Error::new)?;
        let fault =
            |(number, entry): (usize, &Entry)| Some(Error::new(entry.fault()?).at_entry(number + 1, entry.name()));
        match known.known.iter().enumerate().find_map(fault) {
            Some(fault) => Err(fault),
            None => Ok(known),
        }
    }

    /// The file as text.
    ///
    /// # Errors
    ///
    /// Never in practice; the TOML writer can return errors.
    pub fn text(&self) -> Result<String, Error> {
        let entries = if self.known.is_empty() { Ok(String::new()) } else { basic_toml::to_string(self) };
        Ok(format!("{HEAD}\n{}", entries.map_err(Error::new)?).trim_end().to_owned() + "\n")
    }

    /// Returns whether the case is known to fail.
    pub fn covers(&self, case: &Case) -> bool {
        self.known.iter().any(|entry| entry.covers(case))
    }

    /// The entry that covers a case, or else every clause that it breaks without being about it.
    fn entry(&self, case: &Case, judgement: &Judgement) -> Option<&Entry> {
        let of_clause = |broken: &&str| self.known.iter().find(|entry| entry.clause.as_deref() == Some(broken));
        let of_broken = || {
            let all_known = judgement.broken.iter().all(|broken| of_clause(broken).is_some());
            judgement.broken.first().filter(|_| all_known && judgement.verdict.is_failure()).and_then(of_clause)
        };
        self.known.iter().find(|entry| entry.covers(case)).or_else(of_broken)
    }

    /// Marks the cases of a run that are known to fail: as known failures if they fail, and as unexpected passes if they pass. What is known of
    /// the findings beside a case becomes a part of its note.
    pub fn excuse(&self, run: &mut Run<'_>) {
        for CaseResult { case, judgement } in &mut run.results {
            let mut is_needed = false;
            judgement.beside.retain(|finding| {
                let Some(entry) = self.known.iter().find(|entry| entry.covers_beside(case, finding.clause)) else {
                    return true;
                };
                is_needed |= entry.pattern.is_some();
                judgement.note = join(&judgement.note, &format!("known beside: {}: {finding}", entry.reason.trim()));
                false
            });
            if is_needed && judgement.verdict == Verdict::Pass {
                continue;
            }
            let Some(entry) = self.entry(case, judgement) else { continue };
            let (reason, was) = (entry.reason.trim(), judgement.verdict);
            let page = entry.documented.as_deref().map(str::trim);
            let (verdict, note) = match was {
                Verdict::Pass => (Verdict::UnexpectedPass, format!("known to fail, and passes: {reason}")),
                Verdict::Unsupported | Verdict::NotRun => continue,
                _ => {
                    let link = entry.link.as_ref().map(|link| format!(" ({link})")).unwrap_or_default();
                    let documented = page.map(|page| format!(", documented as a choice ({page})")).unwrap_or_default();
                    (Verdict::KnownFailure, format!("known{documented}: {reason}{link}\n{was}: {}", judgement.note))
                }
            };
            let documented = page.is_some() && verdict == Verdict::KnownFailure;
            *judgement = Judgement { verdict, note: note.trim_end().to_owned(), documented, ..judgement.clone() };
        }
    }

    /// The entries that are out of date: those that have expired, or match no case of the corpus in this profile.
    pub fn out_of_date(&self, corpus: &Corpus, profile: JudgeProfile, now: SystemTime) -> Vec<String> {
        let today = date(now);
        let stale = |entry: &Entry| {
            let is_of = |case: &Case| case.is_in(profile) && entry.covers(case);
            if !corpus.cases.iter().any(is_of) {
                return Some(format!("{} matches no case of profile {profile}", entry.name()));
            }
            let expires = entry.expires.as_ref().filter(|&last| *last < today)?;
            Some(format!("{} has expired on {expires}: {}", entry.name(), entry.reason.trim()))
        };
        self.known.iter().filter_map(stale).collect()
    }

    /// The shortest file that fits a run: without what passes, and with the new failures if there is a reason for them. Also returns
    /// how many new failures are left out because there is none.
    pub fn updated(
        &self,
        run: &Run<'_>,
        by: (&Corpus, JudgeProfile),
        strict: bool,
        reason: Option<&str>,
    ) -> (Self, usize) {
        let (corpus, profile) = by;
        let of_profile: Vec<&Case> = corpus.cases.iter().filter(|case| case.is_in(profile)).collect();
        // What is excused anyway needs no entry, and what has one keeps it.
        let counts_beside = |result: &CaseResult<'_>| {
            let CaseResult { case, judgement } = result;
            let is_known = |clause| self.known.iter().any(|entry| entry.covers_beside(case, clause));
            let is_new = judgement.beside.iter().any(|finding| !is_known(finding.clause));
            is_new && judgement.counts_beside(case, strict)
        };
        let fails = |result: &&CaseResult<'_>| {
            let verdict = result.judgement.verdict;
            let is_wrong = !matches!(verdict, Verdict::Pass | Verdict::Unsupported | Verdict::NotRun);
            is_wrong && (result.counts_against(strict) || self.covers(result.case)) || counts_beside(result)
        };
        let failing: BTreeSet<&str> = run.results.iter().filter(fails).map(|result| &*result.case.id).collect();
        let passes =
            |result: &&CaseResult<'_>| result.judgement.verdict == Verdict::Pass && result.judgement.beside.is_empty();
        let passing: BTreeSet<&str> = run.results.iter().filter(passes).map(|result| &*result.case.id).collect();
        let mut updated = Self::default();
        for entry in &self.known {
            let covered: Vec<&Case> = of_profile.iter().copied().filter(|case| entry.covers(case)).collect();
            if !covered.iter().any(|case| passing.contains(&*case.id)) && !covered.is_empty() {
                updated.known.push(entry.clone());
                continue;
            }
            // Some of its cases pass: the others get entries of their own.
            let left = covered.iter().filter(|case| !passing.contains(&*case.id));
            updated.known.extend(left.map(|case| Entry {
                pattern: Some(case.id.clone()),
                clause: None,
                ..entry.clone()
            }));
        }
        let is_new = |result: &&CaseResult<'_>| {
            let is_covered = updated.entry(result.case, &result.judgement).is_some();
            failing.contains(&*result.case.id) && (!is_covered || counts_beside(result))
        };
        let mut new: BTreeSet<&str> = run.results.iter().filter(is_new).map(|result| &*result.case.id).collect();
        let Some(reason) = reason else { return (updated, new.len()) };
        let entry = |pattern: Option<&str>, clause: Option<&str>| Entry {
            pattern: pattern.map(str::to_owned),
            clause: clause.map(str::to_owned),
            reason: reason.to_owned(),
            ..Entry::default()
        };
        // Topics and clauses that fail as a whole, those of the most new cases first. Of two that say the same, a clause says more.
        let topics: BTreeSet<&str> = new.iter().filter_map(|id| Some(id.rsplit_once('/')?.0)).collect();
        let topics = topics.into_iter().map(|topic| entry(Some(&format!("{topic}/*")), None));
        let clauses = corpus.clauses.iter().map(|clause| entry(None, Some(&clause.id)));
        let mut groups: Vec<(Entry, BTreeSet<&str>)> = Vec::new();
        for group in topics.chain(clauses) {
            let of_it: BTreeSet<&str> =
                of_profile.iter().filter(|case| group.covers(case)).map(|case| &*case.id).collect();
            if of_it.len() > 1 && of_it.is_subset(&failing) {
                groups.push((group, of_it));
            }
        }
        let news = |of_it: &BTreeSet<&str>, new: &BTreeSet<&str>| of_it.intersection(new).count();
        while let Some((group, of_it)) =
            groups.iter().filter(|(_, of_it)| news(of_it, &new) > 1).max_by_key(|(_, of_it)| news(of_it, &new))
        {
            updated.known.push(group.clone());
            new.retain(|id| !of_it.contains(id));
        }
        updated.known.extend(new.iter().map(|id| entry(Some(id), None)));
        (updated, 0)
    }
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let number = |part: &str, length: usize| {
        (part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit())).then(|| part.parse::<u32>().ok())?
    };
    let [year, month, day] = parts[..] else { return false };
    number(year, 4).is_some()
        && number(month, 2).is_some_and(|month| (1..=12).contains(&month))
        && number(day, 2).is_some_and(|day| (1..=31).contains(&day))
}

/// The day of a time, in UTC, as `2026-11-26`: days count from 1 March of year 0, so that a leap day ends a year.
pub fn date(time: SystemTime) -> String {
    const EPOCH: u64 = 719_468;
    let days = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs() / 86_400 + EPOCH;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_file_is_read_strictly() {
        let good = "[[known]]\npattern = \"escape/*\"\nreason = \"r\"\nlink = \"l\"\nexpires = \"2026-02-28\"\n";
        assert!(Known::read(good).is_ok_and(|known| known.known.len() == 1));
        assert_eq!(Known::read(""), Ok(Known::default()));
        for (text, says) in [
            ("[[known]]\nreason = \"r\"", "exactly one of"),
            ("[[known]]\npattern = \"a\"\nclause = \"B\"\nreason = \"r\"", "exactly one of"),
            ("[[known]]\npattern = \"a\"\nreason = \" \"", "`reason` is empty"),
            ("[[known]]\npattern = \"a\"\nreason = \"r\"\ndocumented = \"\"", "`documented` is empty"),
            ("[[known]]\npattern = \"a\"", "missing field `reason`"),
            ("[[known]]\npattern = \"a\"\nreason = \"r\"\nexpires = \"soon\"", "not a date"),
            ("[[known]]\npattern = \"a\"\nreason = \"r\"\nuntil = \"soon\"", "unknown field `until`"),
            ("[[failure]]\npattern = \"a\"\nreason = \"r\"", "unknown field `failure`"),
            ("known", ""),
        ] {
            let error = Known::read(text).expect_err(text).to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn a_file_survives_its_own_writing() {
        let reason = "a \"quote\", \u{7}, \\ and a\nline".to_owned();
        let entry = Entry { pattern: Some("a/*".into()), reason, ..Entry::default() };
        let known = Known { known: vec![entry.clone(), Entry { expires: Some("2026-01-01".into()), ..entry }] };
        assert_eq!(Known::read(&known.text().expect("text")), Ok(known));
        assert_eq!(Known::read(&Known::default().text().expect("text")), Ok(Known::default()));
    }

    /// Returns the entries that are added to an empty file when these of the cases fail: two of topic a, two of topic b, of one clause.
    fn added(failing: &[&str]) -> String {
        let case = |name: &str| {
            format!(
                r#"{{"name":"{name}","why":"w","clauses":["ESC-1"],"input":{{"text":"<"}},"expect":{{"ok":"&lt;"}}}}"#
            )
        };
        let file = |topic: &str| threadspec_judge::corpus::File {
            path: format!("escape/{topic}.json"),
            text: format!(r#"{{"op":"escape","about":"x","cases":[{},{}]}}"#, case("one"), case("two")),
        };
        let (corpus, problems) = Corpus::read(&[file("a"), file("b")]);
        assert_eq!(problems, []);
        let verdict = |case: &Case| if failing.contains(&&*case.id) { Verdict::Fail } else { Verdict::Pass };
        let result = |case| CaseResult { case, judgement: Judgement::new(verdict(case), "") };
        let run = Run { results: corpus.cases.iter().map(result).collect(), ..Run::default() };
        let (updated, _) = Known::default().updated(&run, (&corpus, JudgeProfile::Literal), false, Some("r"));
        let name = |entry: &Entry| entry.pattern.clone().or(entry.clause.clone()).unwrap_or_default();
        updated.known.iter().map(name).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_topic_or_a_clause_that_fails_as_a_whole_is_one_entry() {
        let all = ["escape/a/one", "escape/a/two", "escape/b/one", "escape/b/two"];
        assert_eq!(added(&all), "ESC-1");
        assert_eq!(added(&all[..3]), "escape/a/* escape/b/one");
        // A pattern would excuse what passes.
        assert_eq!(added(&[all[1], all[3]]), "escape/a/two escape/b/two");
    }

    #[test]
    fn days_have_their_dates() {
        for (days, text) in [(0, "1970-01-01"), (59, "1970-03-01"), (11_016, "2000-02-29"), (20_818, "2026-12-31")] {
            assert_eq!(date(SystemTime::UNIX_EPOCH + Duration::from_secs(days * 86_400 + 5)), text);
        }
    }
}
