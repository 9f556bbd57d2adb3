//! `threadspec judge`.

use super::provider;
use std::collections::HashSet;
use std::io::Read;
use std::path::PathBuf;
use std::time::SystemTime;
use threadspec_cli::outcome::{Finished, Reporting};
use threadspec_cli::selection::KnownFailures;
use threadspec_cli::{Stop, corpus_and_errata, read_file, verify};
use threadspec_judge::corpus::Case;
use threadspec_judge::protocol::{Hello, JudgeProfile, Reply, Request};
use threadspec_judge::text::visible;
use threadspec_judge::verdict::Outcome;
use threadspec_judge::verdict::{Earlier, Judgement, Terms, Verdict, judge};
use threadspec_provider::{Talk, judge_again};
use threadspec_report::terminal::print;
use threadspec_runner::{CaseResult, Exit, Run, Transcript, files, lack};

/// Judge a recorded exchange again, without the testee
///
/// `verify --transcript FILE` records one. The record is judged by the current corpus: a case that is new or was changed since has no
/// answer, and counts as not run. `provider --transcript FILE` records conversations, which are judged again, too.
#[derive(Debug, clap::Args)]
pub(crate) struct Judge {
    /// Use the corpus in this folder instead of the built-in one
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// Count failed `should` cases, and failed cases of severity C
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    known: KnownFailures,
    #[command(flatten)]
    output: Reporting,
    /// The transcript
    #[arg(value_name = "TRANSCRIPT")]
    transcript: PathBuf,
}

impl Judge {
    /// Runs the command and returns its exit code.
    ///
    /// # Errors
    ///
    /// When the corpus is at fault, the transcript cannot be read, or a report cannot be written.
    pub(crate) fn execute(&self) -> Result<Exit, Stop> {
        if let Some(talks) = self.conversations()? {
            return Ok(provider::judged_again(&talks, self.strict));
        }
        let (mut corpus, errata) = corpus_and_errata(self.corpus.as_deref())?;
        let known = self.known.read()?;
        self.output.prepare([], [&*self.transcript].into_iter().chain(self.known.path()))?;
        let wrong = |error| Stop::new(Exit::Usage, visible(&format!("{}: {error}", self.transcript.display())));
        let mut transcript = Transcript::read(&self.transcript).map_err(wrong)?;
        let (header, hello) = (transcript.header.clone(), transcript.hello.clone());
        if header.options.dialect.is_some() {
            corpus.cases.iter_mut().for_each(Case::recommend);
        }
        let recorded: HashSet<&str> = header.cases.iter().map(String::as_str).collect();
        let profile: JudgeProfile = header.options.profile;
        let cases: Vec<&Case> = corpus.cases.iter().filter(|case| recorded.contains(&*case.id)).collect();
        let gone = recorded.len() - cases.len();
        self.output.say(&threadspec_cli::introduction(&hello, header.options.terms()));
        if gone > 0 {
            print(&format!("{gone} recorded cases are not in the corpus any more\n\n"));
        }
        let began = SystemTime::now();
        let mut run = judged(&mut transcript, &cases, &hello, profile);
        let strict = self.strict || header.options.strict;
        let by = (&corpus, profile);
        let mut unwritten = Vec::new();
        let known = self.known.update(known, &run, by, strict).unwrap_or_else(|(stop, known)| {
            unwritten.push(stop);
            known
        });
        known.excuse(&mut run);
        let options = threadspec_runner::RunOptions { strict, ..header.options.clone() };
        let repeat = |result: &CaseResult<'_>| {
            let mut words = ["threadspec", "verify", "--filter", &result.case.id].map(str::to_owned).to_vec();
            verify::add_terms(&header.options, &mut words);
            if let Some(folder) = &self.corpus {
                words.extend(["--corpus".to_owned(), folder.display().to_string()]);
            }
            verify::words(words, &header.command)
        };
        self.output.conclude(Finished {
            run: &run,
            corpus: &corpus,
            errata: &errata,
            hello: &hello,
            command: &header.command,
            against: options.too_many_declined(run.declined).into_iter().collect(),
            out_of_date: KnownFailures::out_of_date(&known, by),
            options,
            began,
            unwritten,
            repeat: &repeat,
            write: threadspec_pages::write,
            next: None,
        })
    }
}

impl Judge {
    /// The conversations in a transcript of `provider`; `None` if it is one of `verify`.
    fn conversations(&self) -> Result<Option<Vec<Talk>>, Stop> {
        const SHORTEST: &[u8] = b"{\"provider\":";
        let path = &self.transcript;
        let mut beginning = vec![0; SHORTEST.len()];
        let begins = files::open(path).and_then(|mut file| file.read_exact(&mut beginning)).is_ok();
        if !begins || beginning != SHORTEST {
            return Ok(None);
        }
        let text = read_file(path)?;
        let wrong = |error| Stop::new(Exit::Usage, visible(&format!("{}: {error}", path.display())));
        judge_again(text.lines()).map(Some).map_err(wrong)
    }
}

/// The recorded outcomes as a run.
fn judged<'a>(transcript: &mut Transcript, cases: &[&'a Case], hello: &Hello, profile: JudgeProfile) -> Run<'a> {
    let terms = Terms { profile, abilities: hello.abilities };
    let (shutdown, remarks) = (std::mem::take(&mut transcript.shutdown), hello.remarks.clone());
    let mut run = Run { shutdown, remarks, ..Run::default() };
    for &case in cases {
        let mut earlier = Earlier::default();
        let asked = &*case.for_a_while();
        for (step, input) in asked.after().iter().enumerate() {
            if let Some(outcome) = transcript.take(&Request { input: input.clone(), ..asked.request(0, profile) }) {
                earlier.hear(asked, terms, step, &outcome);
            }
        }
        let judgement = match (lack(hello, case), transcript.take(&asked.request(0, profile))) {
            (Some(lack), _) => Judgement::new(Verdict::Unsupported, lack),
            (None, None) => Judgement::new(Verdict::NotRun, "it was not recorded"),
            (None, Some(outcome)) => {
                run.declined +=
                    usize::from(!case.reasoning && matches!(outcome, Outcome::Reply(Reply::Unsupported(_))));
                earlier.with(judge(asked, terms, outcome))
            }
        };
        run.results.push(CaseResult { case, judgement });
    }
    run
}
