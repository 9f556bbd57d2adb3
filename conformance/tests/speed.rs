//! How fast the runner is, compared with the pipe alone: the same requests to the same program, whose replies nobody judges.
//!
//! `cargo test --release -p threadspec-conformance --test all speed:: -- --ignored --nocapture`; `TESTEE` names another testee.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, thread};
use threadspec_judge::corpus::{Case, Corpus, embedded};
use threadspec_judge::protocol::{Feature, JudgeProfile, Op};
use threadspec_judge::reference::Reference;
use threadspec_judge::verdict::Verdict;
use threadspec_runner::{InProcess, Process, Settings, StoredReference, Testee, run};

const TIMEOUT: Duration = Duration::from_secs(10);
const WINDOW: usize = 16;
/// How often the cases are repeated, for a run that is long enough to be measured.
const TIMES: usize = 100;
/// How often both are measured, one right after the other: what else the machine does hits a few pairs, not the median.
const PAIRS: usize = 41;

fn testee() -> Vec<String> {
    let program = || vec![env!("CARGO_BIN_EXE_threadspec").to_owned(), "serve".into()];
    env::var("TESTEE").map_or_else(|_| program(), |command| command.split(' ').map(str::to_owned).collect())
}

/// Cases of the usual size: the time of a large one goes into parsing it.
fn cases(corpus: &Corpus) -> Vec<&Case> {
    let is_one = |case: &&Case| {
        case.is_in(JudgeProfile::Literal) && case.op == Op::Escape && !case.is_template && case.input().len() < 1000
    };
    let once: Vec<&Case> = corpus.cases.iter().filter(is_one).collect();
    once.repeat(TIMES)
}

/// Seconds for the lines alone, until the program has ended: the runner waits for that, too.
fn ceiling(command: &[String], cases: &[&Case]) -> io::Result<f64> {
    let mut child =
        Command::new(&command[0]).args(&command[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (mut stdin, stdout) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
    let mut replies = BufReader::new(stdout);
    let mut reply = Vec::new();
    // The process is up when it has answered.
    writeln!(stdin, "{{\"id\":0,\"op\":\"hello\",\"protocol\":1}}")?;
    replies.read_until(b'\n', &mut reply)?;
    let begun = Instant::now();
    let lines: Vec<String> =
        (1..).zip(cases).map(|(id, case)| case.request(id, JudgeProfile::Literal).line() + "\n").collect();
    let (room, taken) = std::sync::mpsc::sync_channel(WINDOW);
    let writer = thread::spawn(move || {
        lines.iter().try_for_each(|line| {
            room.send(()).map_err(io::Error::other)?;
            stdin.write_all(line.as_bytes())
        })
    });
    for _ in cases {
        reply.clear();
        replies.read_until(b'\n', &mut reply)?;
        let _ = taken.recv();
    }
    writer.join().expect("it does not panic")?;
    child.wait()?;
    Ok(begun.elapsed().as_secs_f64())
}

#[test]
#[ignore = "a measurement, for a machine that does nothing else"]
fn the_runner_reaches_most_of_what_the_pipe_can_do() -> io::Result<()> {
    let (corpus, command) = (embedded().0, testee());
    let cases = cases(corpus);
    let (mut ratios, mut rates) = (Vec::new(), Vec::new());
    for _ in 0..PAIRS {
        let pipe = ceiling(&command, &cases)?;
        let mut process: [Box<dyn Testee + Send>; 1] =
            [Box::new(Process::start(&command, TIMEOUT).map_err(|why| io::Error::other(why.to_string()))?)];
        let begun = Instant::now();
        let run = run(&mut process, &cases, &Settings::new(JudgeProfile::Literal), &mut ());
        let took = begun.elapsed().as_secs_f64();
        assert!(run.results.iter().all(|result| result.judgement.verdict == Verdict::Pass));
        let rate = |seconds: f64| f64::from(u32::try_from(cases.len()).unwrap_or(u32::MAX)) / seconds;
        ratios.push(pipe / took);
        rates.push(rate(took));
    }
    ratios.sort_by(f64::total_cmp);
    rates.sort_by(f64::total_cmp);
    let ratio = ratios[PAIRS / 2];
    println!("{:.0} cases a second, {:.0} at most: {ratio:.2} of the pipe", rates[PAIRS / 2], rates[PAIRS - 1]);
    assert!(ratio >= 0.8, "{ratios:.2?}");
    Ok(())
}

#[test]
#[ignore = "a measurement, for a machine that does nothing else"]
fn the_whole_corpus_on_the_reference_takes_no_time() {
    let begun = Instant::now();
    let corpus = embedded().0;
    let read = begun.elapsed();
    let cases: Vec<&Case> = corpus.cases.iter().filter(|case| case.is_in(JudgeProfile::Literal)).collect();
    let mut reference: [Box<dyn Testee + Send>; 1] = [Box::new(InProcess::new(Reference))];
    let begun = Instant::now();
    threadspec_judge::json::on_deep_stack(|| {
        run(&mut reference, &cases, &Settings::new(JudgeProfile::Literal), &mut ())
    })
    .expect("a thread");
    println!("corpus read in {read:?}, run in {:?}", begun.elapsed());
}

/// Sessions on files, by four testees, without the cases that end a process.
#[test]
#[ignore = "a measurement, for a machine that does nothing else"]
fn all_sessions_of_the_reference_take_less_than_five_seconds() {
    let corpus = embedded().0;
    let is_session = |case: &&Case| case.op == Op::Session && !case.needs.contains(Feature::Kill);
    let cases: Vec<&Case> = corpus.cases.iter().filter(is_session).collect();
    let mut testees: Vec<Box<dyn Testee + Send>> =
        (0..4).map(|_| Box::new(InProcess::new(StoredReference)) as _).collect();
    let begun = Instant::now();
    let run = run(&mut testees, &cases, &Settings::new(JudgeProfile::Universal), &mut ());
    let took = begun.elapsed();
    println!("{} sessions in {took:?}", run.results.len());
    assert!(took.as_secs() < 5 && run.results.iter().all(|result| result.judgement.verdict == Verdict::Pass));
}
