//! The canonical run file: everything that a report says comes from it. `run.schema.json` describes it.
//!
//! Inputs, expectations and replies are in it as strings of JSON text: they may hold what not every JSON parser reads.

use super::causes::causes_beside;
use super::tally::{ClauseTally, Tallied};
use super::words::BESIDE;
use crate::diff::MismatchRecord;
use crate::{Conclusion, Error, Judged, JudgedFeatures, words};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};
use threadspec_judge::compare::OutputFault;
use threadspec_judge::corpus::{Case, Corpus, Level, Severity};
use threadspec_judge::json;
use threadspec_judge::protocol::{Features, Hello, JudgeProfile, Op};
use threadspec_judge::text::visible;
use threadspec_judge::verdict::Verdict;
use threadspec_runner::{CaseResult, Exit, Run, RunOptions, by_name};

/// The version of the format.
const VERSION: u32 = 1;
/// The JSON Schema of run files.
pub const RUN_SCHEMA: &str = include_str!("../run.schema.json");

/// One run of one testee.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunRecord {
    /// The version of the format.
    pub format: u32,
    /// The version of threadspec that ran.
    pub threadspec: String,
    /// When it began, in seconds since 1970.
    pub started: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// The testee's answer to `hello`; null if it gave none.
    pub testee: Value,
    /// The command that started the testee; empty for the built-in reference.
    pub command: Vec<String>,
    /// The corpus.
    pub corpus: CorpusRecord,
    /// How it was run.
    pub options: RunOptions,
    /// Why it ended before its last case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// Errors when the testee was ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shutdown: Vec<String>,
    /// How many cases it answered with `unsupported`, of operations that its hello names.
    #[serde(default, skip_serializing_if = "is_none")]
    pub declined: usize,
    /// Further faults that count against it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub against: Vec<String>,
    /// Remarks about its hello, which do not count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// Outdated entries of the file of known failures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub out_of_date: Vec<String>,
    /// The exit code of the run.
    pub exit_code: Exit,
    /// The numbers.
    pub summary: Counts,
    /// One entry per case of the profile, in the order of the corpus.
    pub cases: Vec<CaseRecord>,
}

/// The corpus of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CorpusRecord {
    /// A hash of the ids and hashes of all its cases.
    pub hash: String,
    /// How many cases it has.
    pub cases: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_none(count: &usize) -> bool {
    *count == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_false(flag: &bool) -> bool {
    !flag
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn has_none(features: &Features) -> bool {
    features.is_empty()
}

/// The numbers of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// The cases of the profile that were chosen.
    pub total: usize,
    /// Those of them that the testee supports.
    pub applicable: usize,
    /// Those of them that ran.
    pub run: usize,
    /// Everything that counts against the testee.
    pub failures: usize,
    /// Those of them that are causes which only findings beside cases show.
    #[serde(default, skip_serializing_if = "is_none")]
    pub beside: usize,
    /// Failed `should` cases that do not count.
    pub warnings: usize,
    /// Failed cases that severity C excuses.
    #[serde(default, skip_serializing_if = "is_none")]
    pub excused: usize,
    /// The cases by verdict.
    pub verdicts: BTreeMap<String, usize>,
    /// The tally of each clause, in the order of the corpus; run files of earlier versions lack it.
    #[serde(default)]
    pub clauses: Vec<ClauseTally>,
    /// How much of the profile was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged: Option<Judged>,
    /// The features of sessions that were judged, if any session was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<JudgedFeatures>,
}

/// One case and how it ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CaseRecord {
    /// Its id.
    pub id: String,
    /// The hash of its content, as in the manifest.
    pub hash: String,
    /// The operation of the request.
    #[serde(with = "by_name")]
    pub op: Op,
    /// The features of sessions that a framework must have for it.
    #[serde(default, skip_serializing_if = "has_none")]
    pub needs: Features,
    /// The clauses that it tests.
    pub clauses: Vec<String>,
    /// The clause that it is charged to, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charged: Option<String>,
    /// The other clauses that it touches, if it failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touched: Vec<String>,
    /// The `must` clauses that its reply breaks beside it; the note says how.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<String>,
    /// True if it holds the findings beside a case; no run file has it.
    #[serde(skip)]
    pub is_beside: bool,
    /// How binding it is.
    #[serde(with = "by_name")]
    pub level: Level,
    /// How much its failure hurts, in profile `universal`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// The profile that it was judged by.
    #[serde(with = "by_name")]
    pub profile: JudgeProfile,
    /// How it ended.
    #[serde(with = "by_name")]
    pub verdict: Verdict,
    /// True if that makes the testee not conformant.
    pub counts: bool,
    /// True if the implementation documents it as its choice.
    #[serde(default, skip_serializing_if = "is_false")]
    pub documented: bool,
    /// The faults with their places, whatever the values are; run files of earlier versions lack them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<OutputFault>,
    /// A description of the outcome, in words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Where the output differs from the expected one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mismatches: Vec<MismatchRecord>,
    /// How many more there are.
    #[serde(default, skip_serializing_if = "is_none")]
    pub more_mismatches: usize,
    /// Further details of a case that did not pass.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub details: Option<Details>,
}

/// The details that explain a failure without the corpus.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Details {
    /// Why the case exists.
    pub why: String,
    /// The input, as JSON text.
    pub input: String,
    /// The expectation, as JSON text.
    pub expect: String,
    /// True if both are templates, as the corpus has them.
    #[serde(default, skip_serializing_if = "is_false")]
    pub expand: bool,
    /// The reply, as JSON text; its first 64 KiB, if it is longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actual: Option<String>,
    /// The rules of model APIs that the note names, each with how sure it was.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rules: BTreeMap<String, String>,
    /// The command that repeats it alone.
    pub repeat: String,
}

/// Gives the command that repeats a case.
pub type Repeat<'a> = &'a dyn Fn(&CaseResult<'_>) -> String;

/// The circumstances that a record needs beyond the run itself.
#[derive(Debug)]
pub struct Circumstances<'a> {
    /// The corpus.
    pub corpus: &'a Corpus,
    /// The testee's description of itself, if it gave one.
    pub hello: Option<&'a Hello>,
    /// The command that started it.
    pub command: &'a [String],
    /// How it was run.
    pub options: RunOptions,
    /// When it began, and how long it took.
    pub time: (SystemTime, Duration),
    /// Faults of the testee beyond the cases.
    pub against: Vec<String>,
    /// Outdated entries of the file of known failures.
    pub out_of_date: Vec<String>,
    /// The exit code.
    pub code: Exit,
}

impl Counts {
    /// The cases that passed, known to fail or not.
    pub fn passed(&self) -> usize {
        let count = |verdict: Verdict| self.verdicts.get(&verdict.to_string()).copied().unwrap_or_default();
        count(Verdict::Pass) + count(Verdict::UnexpectedPass)
    }

    /// Counts the faults of the testee, without the cases that were not run.
    pub fn against(&self) -> usize {
        self.failures - (self.applicable - self.run)
    }
}

impl RunRecord {
    /// The record of a run.
    pub fn new(run: &Run<'_>, about: Circumstances<'_>, repeat: Repeat<'_>) -> Self {
        let Circumstances { corpus, hello, command, options, time: (began, took), against, out_of_date, code } = about;
        let case = |result: &CaseResult<'_>| CaseRecord::new(result, &options, repeat);
        let mut record = Self {
            format: VERSION,
            threadspec: env!("CARGO_PKG_VERSION").to_owned(),
            started: began.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs(),
            seconds: took.as_secs_f64(),
            testee: hello.map_or(Value::Null, Hello::to_json),
            command: command.to_vec(),
            corpus: CorpusRecord { hash: corpus.hash(), cases: corpus.cases.len() },
            cases: run.results.iter().map(case).collect(),
            options,
            stopped: run.stopped.clone(),
            shutdown: run.shutdown.clone(),
            declined: run.declined,
            against,
            remarks: run.remarks.clone(),
            out_of_date,
            exit_code: code,
            summary: Counts::default(),
        };
        record.count(corpus);
        record
    }

    /// Reads a run file: one run, or several.
    ///
    /// # Errors
    ///
    /// Says why it is not a run file.
    pub fn read_all(text: &str) -> Result<Vec<Self>, Error> {
        #[derive(Deserialize)]
        struct Several {
            runs: Vec<RunRecord>,
        }
        let wrong = |error: serde_json::Error| Error::new(format!("not a run file: {error}"));
        let value: Value = serde_json::from_str(text).map_err(wrong)?;
        let runs = if value.get("runs").is_some() {
            serde_json::from_value::<Several>(value).map_err(wrong)?.runs
        } else {
            vec![serde_json::from_value(value).map_err(wrong)?]
        };
        if let Some(run) = runs.iter().find(|run| run.format != VERSION) {
            return Err(Error::new(format!(
                "a run file of format {}; this threadspec reads format {VERSION}",
                run.format
            )));
        }
        // Reports show names as they are, and no corpus has such names.
        let mut names = runs.iter().flat_map(|run| &run.cases).flat_map(CaseRecord::names);
        let odd = names.find(|name| visible(name) != **name).map(|name| visible(name));
        drop(names);
        odd.map_or(Ok(runs), |name| Err(Error::new(format!("not a run file: it names `{name}`, which no corpus does"))))
    }

    /// Counts its cases again.
    pub fn count(&mut self, corpus: &Corpus) {
        let mut verdicts: BTreeMap<String, usize> = BTreeMap::new();
        for case in &self.cases {
            *verdicts.entry(case.verdict.to_string()).or_default() += 1;
        }
        let count = |verdict: Verdict| verdicts.get(&verdict.to_string()).copied().unwrap_or_default();
        let applicable = self.cases.len() - count(Verdict::Unsupported);
        let counting = self.cases.iter().filter(|case| case.counts).count();
        let warnings = self.cases.iter().filter(|case| case.is_warning()).count();
        let excused = self.cases.iter().filter(|case| case.is_excused()).count();
        let beside = causes_beside(self).iter().filter(|case| case.counts).count();
        self.summary = Counts {
            total: self.cases.len(),
            applicable,
            run: applicable - count(Verdict::NotRun),
            failures: counting + beside + self.shutdown.len() + self.against.len(),
            beside,
            warnings,
            excused,
            verdicts,
            clauses: self.tallies(corpus),
            judged: Some(Judged::of(self.cases.iter().map(|case| (&*case.id, case.verdict)), (corpus, &self.options))),
            sessions: JudgedFeatures::of(self.cases.iter().map(|case| (case.op, case.needs, case.verdict))),
        };
    }

    /// Returns the tally of each clause, in the order of the corpus. Run files of earlier versions do not say it, so it is counted.
    pub fn tallies(&self, corpus: &Corpus) -> Vec<ClauseTally> {
        ClauseTally::of(self.cases.iter().map(|case| case.tallied(self.options.strict)), corpus)
    }

    /// Returns the findings beside its cases, as failures. A case that counts by itself explains what was found beside it.
    pub fn beside(&self) -> Vec<CaseRecord> {
        self.cases.iter().filter_map(|case| case.of_beside(self.options.strict)).collect()
    }

    /// The testee's name, version and language, on one line; its command if it gave no hello.
    pub fn name(&self) -> String {
        if self.testee.is_null() {
            return words::shortened(&self.command.join(" "), 100);
        }
        let about = |field: &str, longest: usize| {
            words::shortened(self.testee["implementation"][field].as_str().unwrap_or("?"), longest)
        };
        // A gateway may tell no version.
        let version = Some(about("version", 50)).filter(|version| version != "?");
        let version = version.map(|version| format!(" {version}")).unwrap_or_default();
        format!("{}{version} ({})", about("name", 100), about("language", 50))
    }

    /// Lists the gaps of the run: the other shards, cases that were not chosen, operations of which no case was run, or all of them.
    pub fn limits(&self) -> Vec<String> {
        let mut limits: Vec<String> = self.options.shard.iter().map(|shard| format!("shard {shard}")).collect();
        let RunOptions { filter, op, clause, .. } = &self.options;
        for (chosen, by) in [(filter, "cases"), (op, "operations"), (clause, "clauses")] {
            limits.extend((!chosen.is_empty()).then(|| format!("only the {by} {}", chosen.join(", "))));
        }
        let tested = |op: Op| {
            let put = |case: &CaseRecord| !matches!(case.verdict, Verdict::Unsupported | Verdict::NotRun);
            self.cases.iter().any(|case| case.op == op && put(case))
        };
        let chosen = |op: Op| self.cases.iter().any(|case| case.op == op);
        if self.summary.applicable == 0 {
            limits.push("no case was applicable, so nothing was shown".to_owned());
        } else {
            let untested: Vec<String> =
                Op::all().filter(|&op| chosen(op) && !tested(op)).map(|op| op.to_string()).collect();
            limits.extend((!untested.is_empty()).then(|| format!("not tested: {}", untested.join(", "))));
        }
        let judged = self.summary.judged.filter(|judged| !judged.is_all());
        limits.extend(judged.map(|judged| format!("judged: {judged}")));
        let sessions = self.summary.sessions.as_ref().filter(|sessions| !sessions.is_all());
        limits.extend(sessions.map(|sessions| format!("sessions: {sessions}")));
        limits
    }

    /// Concludes about the testee, as far as the run goes.
    pub fn conclusion(&self) -> Conclusion {
        Conclusion::of(self.exit_code)
    }

    /// The record as JSON text: one case a line, so that two records can be compared line by line.
    ///
    /// # Errors
    ///
    /// Never in practice; `serde_json` can return errors.
    fn to_json(&self) -> serde_json::Result<String> {
        let mut head = serde_json::to_value(Self { cases: Vec::new(), ..self.clone() })?;
        if let Some(members) = head.as_object_mut() {
            members.remove("cases");
        }
        let head = serde_json::to_string_pretty(&head)?;
        let cases = self.cases.iter().map(|case| Ok(format!("    {}", serde_json::to_string(case)?)));
        let cases = cases.collect::<serde_json::Result<Vec<_>>>()?.join(",\n");
        Ok(format!("{},\n  \"cases\": [\n{cases}\n  ]\n}}\n", head.strip_suffix("\n}").unwrap_or(&head)))
    }
}

/// A run file as JSON text: one run, or several in a list under `runs`.
///
/// # Errors
///
/// Never in practice; `serde_json` can return errors.
pub fn to_json(runs: &[RunRecord]) -> serde_json::Result<String> {
    let texts = runs.iter().map(RunRecord::to_json).collect::<serde_json::Result<Vec<_>>>()?;
    Ok(match texts.as_slice() {
        [one] => one.clone(),
        several => format!("{{\"runs\": [\n{}]}}\n", several.join(",\n")),
    })
}

impl CaseRecord {
    fn new(result: &CaseResult<'_>, options: &RunOptions, repeat: Repeat<'_>) -> Self {
        let CaseResult { case, judgement } = result;
        let failed = judgement.verdict.is_failure();
        let note = words::note_of(judgement);
        let charge = result.charge();
        let touched = charge.iter().flat_map(|charge| &charge.touched);
        Self {
            charged: charge.as_ref().map(|charge| charge.clause.to_owned()),
            touched: touched.map(|&clause| clause.to_owned()).collect(),
            id: case.id.clone(),
            hash: case.hash(),
            op: case.op,
            needs: case.needs,
            clauses: case.clauses.clone(),
            beside: judgement.clauses_beside().map(str::to_owned).collect(),
            is_beside: false,
            level: case.level,
            severity: case.severity,
            profile: options.profile,
            verdict: judgement.verdict,
            counts: result.counts_against(options.strict),
            documented: judgement.documented,
            faults: judgement.faults.clone(),
            mismatches: judgement.mismatches.iter().map(MismatchRecord::from).collect(),
            more_mismatches: judgement.more,
            details: (failed || !judgement.beside.is_empty()).then(|| Details {
                why: case.why.clone(),
                input: case.written_input(),
                expect: expectation(case),
                expand: case.is_template,
                actual: judgement.actual.clone(),
                rules: words::rules_in(&note),
                repeat: repeat(result),
            }),
            note,
        }
    }

    /// Everything that reports show as it is.
    fn names(&self) -> impl Iterator<Item = &String> {
        self.clauses.iter().chain(&self.charged).chain(&self.touched).chain(&self.beside).chain([&self.id])
    }

    /// Returns whether what was found beside it makes the testee not conformant, in a run that is not strict.
    pub(super) fn counts_beside(&self) -> bool {
        !self.beside.is_empty() && self.severity != Some(Severity::C)
    }

    /// Returns the findings beside it as a failure of its own, unless it counts by itself.
    fn of_beside(&self, strict: bool) -> Option<Self> {
        let (first, others) = self.beside.split_first().filter(|_| !self.counts)?;
        let [note, _] = words::parted(&self.note);
        Some(Self {
            id: format!("{BESIDE}{}", self.id),
            charged: Some(first.clone()),
            touched: others.to_vec(),
            beside: Vec::new(),
            is_beside: true,
            level: Level::Must,
            verdict: Verdict::Fail,
            counts: strict || self.counts_beside(),
            documented: false,
            faults: Vec::new(),
            mismatches: Vec::new(),
            more_mismatches: 0,
            note,
            ..self.clone()
        })
    }

    /// The id of the case that it is about.
    pub fn case_id(&self) -> &str {
        self.id.strip_prefix(BESIDE).filter(|_| self.is_beside).unwrap_or(&self.id)
    }

    /// The clause that it is charged to, if it failed. Run files of earlier versions do not say it.
    pub fn charged(&self) -> Option<&str> {
        let charged = self.charged.as_ref().or_else(|| self.clauses.first());
        charged.filter(|_| self.failed()).map(String::as_str)
    }

    /// Returns the finding in a line: about the clause that it is charged to, or else the first difference, or the outcome.
    pub fn finding(&self) -> String {
        let charged = self.charged().unwrap_or_default();
        let found = self.note.lines().find_map(|line| words::finding(line, charged));
        let first = || self.note.lines().next().filter(|line| !line.is_empty()).map(str::to_owned);
        let different = || {
            let mismatch = self.mismatches.first()?;
            let [expected, actual] = mismatch.sides();
            let place = if mismatch.path.is_empty() { String::new() } else { format!("at {}: ", mismatch.path) };
            Some(format!("{place}expected {expected}, but it is {actual}"))
        };
        let what = found.map(str::to_owned).or_else(different).or_else(first).unwrap_or_default();
        let clause = if self.failed() && !charged.is_empty() { format!("{charged}: ") } else { String::new() };
        words::shortened(&format!("{clause}{what}"), 1000)
    }

    /// Returns its contribution to the tallies of clauses.
    fn tallied(&self, strict: bool) -> Tallied<'_> {
        Tallied {
            clauses: &self.clauses,
            verdict: self.verdict,
            charge: self.charged().map(|charged| (charged, self.touched.iter().map(String::as_str).collect())),
            is_excused: self.is_excused(),
            severity: self.severity,
            beside: self.beside.iter().map(String::as_str).filter(|_| strict || self.counts_beside()).collect(),
        }
    }

    /// Returns whether it is a failed `should` that does not count, and is not known to fail.
    fn is_warning(&self) -> bool {
        self.verdict.is_news() && !self.counts && self.level == Level::Should
    }

    /// Returns whether it is a failed `must` that does not count, and is not known to fail: severity C excuses it.
    pub fn is_excused(&self) -> bool {
        self.verdict.is_news() && !self.counts && self.level == Level::Must
    }

    /// Its level, and its severity if it has one, in words.
    pub fn gravity(&self) -> String {
        words::gravity(self.level, self.severity)
    }

    /// Returns whether the testee did it right, known to fail or not.
    pub fn passed(&self) -> bool {
        matches!(self.verdict, Verdict::Pass | Verdict::UnexpectedPass)
    }

    /// Returns whether the testee did it wrong.
    pub fn failed(&self) -> bool {
        self.verdict.is_failure()
    }
}

/// Returns the expectation of a case, as JSON text on one line.
pub fn expectation(case: &Case) -> String {
    json::member(case.source(), "expect").unwrap_or_default()
}
