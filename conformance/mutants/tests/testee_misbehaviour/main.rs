//! Every way in which a testee can misbehave, with the verdict, the blame and the exit code that it must get, in bounded time and
//! memory, and with no process left.
//!
//! The ways are those of `threadspec-mutants serve --bug DEED@WHEN`. No outcome depends on the speed of the machine: the time that the runner gives a
//! testee does not pass while the machine keeps it waiting, what is too late is later by far, and the other limits are for hangs.

#[cfg(unix)]
mod interrupts;
mod memory;
mod running;

use libtest_mimic::{Arguments, Failed, Trial};
use running::{RunOutcome, command, corpus, nobody_is_left, small_corpus, token};
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;
use threadspec_judge::verdict::Verdict;
use threadspec_mutants::{Kind, all};

/// The program that is tested.
const PROGRAM: &str = env!("CARGO_BIN_EXE_threadspec-tested");
/// Its testee.
const TESTEE: &str = env!("CARGO_BIN_EXE_threadspec-mutants");
/// The texts of the small corpus, which are also the names of its cases.
const TEXTS: [&str; 4] = ["one", "two", "three", "four"];
/// The timeout for one reply, in seconds; deeds that are too late are later than this by far.
const TIMEOUT: &str = "1";
/// A timeout that only a hang reaches.
const FAR_AWAY: &str = "600";
/// A run takes seconds, unless it hangs.
const LONGEST: Duration = Duration::from_secs(900);

/// What a testee can do instead of writing a reply.
#[derive(Clone, Copy)]
struct Deed {
    name: &'static str,
    /// The verdict on the case with whose reply it is done; a pass if it is allowed.
    verdict: Verdict,
}

/// Every deed.
fn deeds() -> impl Iterator<Item = Deed> {
    all().filter_map(|planted| match planted.kind {
        Kind::Misbehaviour(how) => Some(Deed { name: planted.name, verdict: how.verdict }),
        _ => None,
    })
}

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Most trials wait, most of the time.
    arguments.test_threads.get_or_insert(20);
    libtest_mimic::run(&arguments, trials()).exit_code()
}

fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for deed in deeds().filter(|deed| cfg!(unix) || !deed.name.contains("child")) {
        trials.push(Trial::test(format!("{}@two", deed.name), move || with_a_case(deed)));
        if !deed.name.starts_with("hangs-after") && !deed.name.ends_with("of-the-hello") {
            trials.push(Trial::test(format!("{}@hello", deed.name), move || with_the_hello(deed)));
        }
    }
    // Each way of losing a process, with its third request.
    for name in [
        "dies",
        "hangs",
        "logs-before",
        "not-json",
        "answers-twice",
        "answers-with-the-id-of-the-hello",
        "logs-after",
        "prompts-after",
        "ends-after-its-reply",
        "slow",
    ] {
        let deed = deeds().find(|deed| deed.name == name).expect("a deed");
        trials.push(Trial::test(format!("{name}@3"), move || with_a_request(deed)));
    }
    // Other systems describe in other words how a process ended.
    let at_the_end = AT_THE_END.iter().filter(|end| cfg!(unix) || !end.3.contains("ended with"));
    trials.extend(at_the_end.map(|end| Trial::test(format!("{}@end", end.0), || self::at_the_end(end))));
    trials.extend(COMMANDS.iter().map(|command| Trial::test(command.0.join(" "), || ends(command))));
    trials.extend([
        Trial::test("losses end the run, unless it is to go on", losses_end_the_run),
        Trial::test("a large reply is judged in bounded memory", memory::a_large_reply),
        Trial::test("a testee that does not read never blocks the judge", a_testee_that_does_not_read),
        Trial::test("a testee that waits in turn is not late", a_testee_that_waits_in_turn_is_not_late),
    ]);
    #[cfg(unix)]
    trials.extend([
        Trial::test("a reply of any length costs a small multiple of it", memory::what_a_long_reply_costs),
        Trial::test("a lack of files is the runner's own", a_lack_of_files),
        Trial::test("the conclusion names the code of the program", the_conclusion_names_the_code),
        Trial::test("ctrl-c ends the run, the second one at once", interrupts::ctrl_c_ends_the_run),
        Trial::test("ctrl-c leaves no bar on a terminal", interrupts::ctrl_c_leaves_no_bar),
        Trial::test("a testee ends with its runner", interrupts::a_testee_ends_with_its_runner),
        Trial::test("ctrl-c ends a pause", interrupts::ctrl_c_ends_a_pause),
    ]);
    // The longest ones begin first, so that nobody waits for them at the end.
    trials.reverse();
    trials
}

/// Only deeds that must be late get little time.
fn timeout(deed: Deed) -> &'static [&'static str] {
    if deed.verdict == Verdict::Timeout { &[] } else { &["--timeout", FAR_AWAY] }
}

/// Only the case whose reply comes with the deed is to blame.
fn with_a_case(deed: Deed) -> Result<(), Failed> {
    let run = RunOutcome::of(&format!("{}@two", deed.name), timeout(deed))?;
    let verdicts = TEXTS.map(|text| if text == "two" { deed.verdict.to_string() } else { "pass".into() });
    run.expect(i32::from(deed.verdict != Verdict::Pass), &verdicts)?;
    // A second reply is recognized by its id. For every other loss, the note says that the case fails by itself.
    let note = run.note("two");
    let is_lost = !matches!(deed.verdict, Verdict::Pass | Verdict::Fail);
    if !is_lost || note.contains("second reply") || note.contains("by itself") {
        return Ok(());
    }
    Err(format!("it does not say that the case fails by itself: {note}").into())
}

/// A deed with the hello is a fault of the handshake.
fn with_the_hello(deed: Deed) -> Result<(), Failed> {
    let run = RunOutcome::of(&format!("{}@hello", deed.name), timeout(deed))?;
    if deed.verdict == Verdict::Pass {
        return run.expect(0, &TEXTS.map(|_| "pass".into()));
    }
    if run.code != 3 || !run.said.contains("the testee is not ready: ") {
        return Err(format!("{} instead of 3:\n{}", run.code, run.said).into());
    }
    Ok(())
}

/// A deed with the third request of each process fails one case, and only after others.
fn with_a_request(deed: Deed) -> Result<(), Failed> {
    let run = RunOutcome::of(&format!("{}@3", deed.name), timeout(deed))?;
    let verdicts = TEXTS.map(|text| if text == "three" { deed.verdict.to_string() } else { "pass".into() });
    run.expect(i32::from(deed.verdict != Verdict::Pass), &verdicts)?;
    let note = run.note("three");
    let says = deed.verdict == Verdict::Pass || note.contains("second reply") || note.contains("only after others");
    if says { Ok(()) } else { Err(format!("it does not say that it fails only after others: {note}").into()) }
}

/// What is done when the requests have ended, its exit code, the verdict of the last case, and what is said.
type EndOfRequests = (&'static str, i32, &'static str, &'static str);

const AT_THE_END: &[EndOfRequests] = &[
    ("ends", 0, "pass", "conformant"),
    ("dies", 1, "pass", "shutdown: it ended with exit status: 9"),
    ("aborts", 1, "pass", "shutdown: it ended with signal: 6"),
    ("kills-itself", 1, "pass", "shutdown: it ended with signal: 9"),
    ("hangs", 1, "pass", "shutdown: it did not end within 1s"),
    ("answers-too-late", 1, "pass", "shutdown: it did not end within 1s"),
    ("keeps-its-buffer", 0, "pass", "conformant"),
    ("logs-instead", 1, "pass", "shutdown: it printed `INFO answering` after its input was closed"),
    ("says-nothing-but-a-line-end", 1, "pass", "shutdown: it printed `` after"),
    ("forges-a-verdict", 1, "pass", "shutdown: it printed `␛[2K␍conformant: 4 of 4 cases. Exit code 0.`"),
    ("not-json", 1, "pass", "shutdown: it printed"),
    ("not-utf-8", 1, "pass", "shutdown: it printed"),
    ("wrong-id", 1, "pass", "shutdown: it printed"),
    ("endless-line", 1, "pass", "shutdown: it printed an endless line"),
    ("endless-lines", 1, "pass", "shutdown: it printed `xxxxxxx`"),
    ("answers-twice", 1, "garbage", "a second reply to one request"),
    ("slow", 1, "garbage", "a second reply to one request"),
    ("answers-with-the-id-of-the-hello", 1, "pass", "shutdown: a second reply to one request"),
    ("prompts-after", 1, "garbage", "a second reply to one request"),
    ("hangs-with-half-a-line", 1, "pass", "shutdown: it did not end within 1s"),
    ("closes-stdout-and-stays", 0, "pass", "conformant"),
];

fn at_the_end(&(deed, code, last, says): &EndOfRequests) -> Result<(), Failed> {
    let is_late = says.contains("did not end within");
    let options: &[&str] = if is_late { &[] } else { &["--timeout", FAR_AWAY] };
    let run = RunOutcome::of(&format!("{deed}@end"), options)?;
    run.expect(code, &TEXTS.map(|text| if text == "four" { last.into() } else { "pass".into() }))?;
    run.says(says)
}

/// The options and the misbehaviour, the exit code, and what is said.
type Ends = (&'static [&'static str], i32, &'static [&'static str]);

const COMMANDS: &[Ends] = &[
    (&["--bug", "slow"], 0, &["4 run / 4 applicable / 4 total", "pass 4", "conformant: 4 of 4 cases"]),
    (&["--fail-fast", "--bug", "dies@two"], 1, &["pass 1  crash 1  not-run 2", "first failure"]),
    (&["--quiet", "--bug", "dies@two"], 1, &["threadspec 0.1.0 (Rust", "CRASH escape/texts/two"]),
    (&["--filter", "escape/*/five"], 2, &["`escape/*/five` matches no case"]),
    (&["--require-ops", "escape,loop", "--bug", "slow"], 0, &["pass 4"]),
    (&["--jobs", "3", "--bug", "dies@two"], 1, &["pass 3  crash 1", "by itself"]),
    (&["--shuffle", "4", "--bug", "logs-after@two"], 1, &["pass 3  garbage 1", "by itself"]),
    (&["--repeat", "3", "--bug", "dies@7"], 1, &["crash 1", "only after others: in round 2"]),
    (&["--repeat", "3", "--bug", "dies@700"], 0, &["pass 4"]),
    (&["--soak", "0.3", "--bug", "slow@two"], 0, &["pass 4"]),
];

fn ends(&(options, code, says): &Ends) -> Result<(), Failed> {
    let place = options.iter().position(|&option| option == "--bug").unwrap_or(options.len());
    let (options, bug) = options.split_at(place);
    let run = RunOutcome::of(bug.get(1).copied().unwrap_or("slow"), options)?;
    if run.code != code {
        return Err(format!("{} instead of {code}:\n{}", run.code, run.said).into());
    }
    says.iter().try_for_each(|words| run.says(words))
}

fn losses_end_the_run() -> Result<(), Failed> {
    let names: Vec<String> = (0..13).map(|number| format!("case-{number}")).collect();
    // Every sixth case passes: losses count in total, not in a row.
    let texts =
        names.iter().enumerate().map(|(number, name)| (name.as_str(), if number % 6 == 5 { "x" } else { "boom" }));
    let corpus = corpus(&texts.collect::<Vec<_>>())?;
    let run = RunOutcome::new(&corpus, "dies@boom", &[])?;
    run.says("pass 1  crash 10  not-run 2")?;
    run.says("10 cases crashed, timed out or got garbage; --keep-going goes on all the same")?;
    let texts = names.iter().map(|name| (name.as_str(), "boom"));
    RunOutcome::new(&self::corpus(&texts.collect::<Vec<_>>())?, "dies@boom", &["--keep-going"])?.says("crash 13")
}

/// The testee is not to blame for the limits of the machine.
#[cfg(unix)]
fn a_lack_of_files() -> Result<(), Failed> {
    // Each process is there for long enough that many are there at once.
    for arguments in ["verify --op escape --jobs 64", "fuzz --op escape --jobs 64 --cases 1000"] {
        let (folder, token) = (tempfile::tempdir()?, token());
        let mut command = Command::new("sh");
        let script =
            r#"ulimit -n 24; program=$0; testee=$1; shift; exec "$program" "$@" -- "$testee" serve --bug slow"#;
        command
            .args(["-c", script, PROGRAM, TESTEE])
            .args(arguments.split(' '))
            .env("MISBEHAVIOUR", &token)
            .env_remove("CI");
        let run = RunOutcome::watch(command, folder.path())?;
        if run.code != 4 || run.said.contains("the testee is not ready") || run.said.contains("conformant") {
            return Err(format!("{arguments}: {}:\n{}", run.code, run.said).into());
        }
        run.says("does not let another testee start")?;
        run.says("use fewer --jobs")?;
        nobody_is_left(&token)?;
    }
    Ok(())
}

/// Also where something cannot be written, which shows only at the end.
#[cfg(unix)]
fn the_conclusion_names_the_code() -> Result<(), Failed> {
    let corpus = small_corpus()?;
    // Its name leaves no room for that of a temporary file.
    let known = corpus.path().join("x".repeat(255));
    fs::write(&known, "")?;
    let known = known.display().to_string();
    let full = ["--report json=/dev/full", "--report junit=/dev/full --report badge=-", "--transcript /dev/full"];
    let updated = format!("--reason none --update-known-failures {known}");
    for options in full.into_iter().filter(|_| Path::new("/dev/full").exists()).chain([&*updated]) {
        for (bug, verdicts) in [("slow@one", "pass 4"), ("dies@two", "pass 3  crash 1")] {
            let run = RunOutcome::new(&corpus, bug, &options.split(' ').collect::<Vec<_>>())?;
            let concluded = run.said.matches("Exit code ").count() == 1 && run.said.contains("Exit code 4.");
            if run.code != 4 || !concluded || run.report.is_null() {
                return Err(format!("{options}, {bug}: {}:\n{}", run.code, run.said).into());
            }
            run.says(verdicts)?;
        }
    }
    Ok(())
}

fn a_testee_that_does_not_read() -> Result<(), Failed> {
    let corpus = corpus(&[("large", &"x".repeat(1 << 20))])?;
    RunOutcome::new(&corpus, "hangs@hello", &[])?.says("did not answer `hello`")?;
    let corpus = self::corpus(&[("first", "one"), ("large", &"x".repeat(1 << 20)), ("larger", &"x".repeat(1 << 21))])?;
    RunOutcome::new(&corpus, "hangs-after-its-reply@one", &[])?.says("TIMEOUT escape/texts/first")
}

/// Each reply is in time, though all together take longer than the timeout.
fn a_testee_that_waits_in_turn_is_not_late() -> Result<(), Failed> {
    let names: Vec<String> = (0..40).map(|number| format!("case-{number}")).collect();
    let corpus = corpus(&names.iter().map(|name| (name.as_str(), "x")).collect::<Vec<_>>())?;
    // It waits for the machine at times, too, which counts for nothing.
    let command = command(corpus.path(), &["--timeout", "0.5"], "slow", "");
    let run = RunOutcome::watch(command, corpus.path())?;
    if run.code == 0 { Ok(()) } else { Err(run.said.into()) }
}
