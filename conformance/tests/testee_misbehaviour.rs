//! Every way in which a testee can misbehave, with the verdict, the blame and the exit code that it must get, in bounded time and
//! memory, and with no process left.
//!
//! The ways are those of `threadspec serve --bug DEED@WHEN`.

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::{Value, json};
use std::path::Path;
#[cfg(unix)]
use std::process::Stdio;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};
use std::{fs, io, thread};
use threadspec_conformance::planted::misbehaviour::{Deed, deeds};
use threadspec_conformance::run::Verdict;

const PROGRAM: &str = env!("CARGO_BIN_EXE_threadspec");
/// The texts of the small corpus, which are also the names of its cases.
const TEXTS: [&str; 4] = ["one", "two", "three", "four"];
/// The memory that the runner may hold besides large texts, in KiB.
const SMALL: u64 = 60 << 10;
/// The same with an endless line, until it is known as one, or a reply of several MiB.
const MOST_MEMORY: u64 = SMALL + (200 << 10);
/// A large text, in KiB.
const LARGE: u64 = 12 << 10;
/// A long reply, in MiB.
#[cfg(unix)]
const LONG: u64 = 16;
/// The timeout for one reply, in seconds; deeds that are too late are later than this.
const TIMEOUT: &str = "1";
const LONGEST: Duration = Duration::from_secs(25);

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Most trials wait, most of the time.
    arguments.test_threads.get_or_insert(20);
    libtest_mimic::run(&arguments, trials()).exit_code()
}

fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for deed in deeds().filter(|deed| cfg!(unix) || !deed.name.contains("child")) {
        trials.push(Trial::test(format!("{}@two", deed.name), || with_a_case(deed)));
        if !deed.name.starts_with("hangs-after") && !deed.name.ends_with("of-the-hello") {
            trials.push(Trial::test(format!("{}@hello", deed.name), || with_the_hello(deed)));
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
        trials.push(Trial::test(format!("{name}@3"), || with_a_request(deed)));
    }
    // Other systems tell in other words how a process ended.
    let at_the_end = AT_THE_END.iter().filter(|end| cfg!(unix) || !end.3.contains("ended with"));
    trials.extend(at_the_end.map(|end| Trial::test(format!("{}@end", end.0), || self::at_the_end(end))));
    trials.extend(COMMANDS.iter().map(|command| Trial::test(command.0.join(" "), || ends(command))));
    trials.extend([
        Trial::test("losses end the run, unless it is to go on", losses_end_the_run),
        Trial::test("a large reply is judged in bounded memory", a_large_reply_is_judged_in_bounded_memory),
        Trial::test("a testee that does not read never blocks the judge", a_testee_that_does_not_read),
        Trial::test("a testee that waits in turn is not late", a_testee_that_waits_in_turn_is_not_late),
    ]);
    #[cfg(unix)]
    trials.extend([
        Trial::test("a reply of any length costs a small multiple of it", what_a_long_reply_costs),
        Trial::test("a lack of files is the runner's own", a_lack_of_files),
        Trial::test("the conclusion names the code of the program", the_conclusion_names_the_code),
        Trial::test("ctrl-c ends the run, the second one at once", ctrl_c_ends_the_run),
        Trial::test("ctrl-c leaves no bar on a terminal", ctrl_c_leaves_no_bar),
        Trial::test("a testee ends with its runner", a_testee_ends_with_its_runner),
    ]);
    // The longest ones begin first, so that nobody waits for them at the end.
    trials.reverse();
    trials
}

/// Only the case whose reply comes with the deed is to blame.
fn with_a_case(deed: &Deed) -> Result<(), Failed> {
    let run = Run::of(&format!("{}@two", deed.name), &[])?;
    let verdicts = TEXTS.map(|text| if text == "two" { deed.verdict.to_string() } else { "pass".into() });
    run.expect(i32::from(deed.verdict != Verdict::Pass), &verdicts)?;
    // A second reply is known by its id; of any other loss it is said that the case fails by itself.
    let note = run.note("two");
    let is_lost = !matches!(deed.verdict, Verdict::Pass | Verdict::Fail);
    if !is_lost || note.contains("second reply") || note.contains("by itself") {
        return Ok(());
    }
    Err(format!("it does not say that the case fails by itself: {note}").into())
}

/// What comes with the hello is a fault of the handshake.
fn with_the_hello(deed: &Deed) -> Result<(), Failed> {
    let run = Run::of(&format!("{}@hello", deed.name), &[])?;
    if deed.verdict == Verdict::Pass {
        return run.expect(0, &TEXTS.map(|_| "pass".into()));
    }
    if run.code != 3 || !run.said.contains("the testee is not ready: ") {
        return Err(format!("{} instead of 3:\n{}", run.code, run.said).into());
    }
    Ok(())
}

/// What happens with the third request of each process fails one case, only after others.
fn with_a_request(deed: &Deed) -> Result<(), Failed> {
    let run = Run::of(&format!("{}@3", deed.name), &[])?;
    let verdicts = TEXTS.map(|text| if text == "three" { deed.verdict.to_string() } else { "pass".into() });
    run.expect(i32::from(deed.verdict != Verdict::Pass), &verdicts)?;
    let note = run.note("three");
    let says = deed.verdict == Verdict::Pass || note.contains("second reply") || note.contains("only after others");
    if says { Ok(()) } else { Err(format!("it does not say that it fails only after others: {note}").into()) }
}

/// What is done when the requests have ended, its exit code, the verdict of the last case, and what is said.
type End = (&'static str, i32, &'static str, &'static str);

const AT_THE_END: &[End] = &[
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

fn at_the_end(&(deed, code, last, says): &End) -> Result<(), Failed> {
    // An endless line is known as one when it is long, which takes its time on a busy machine.
    let options: &[&str] = if deed.starts_with("endless") { &["--timeout", "10"] } else { &[] };
    let run = Run::of(&format!("{deed}@end"), options)?;
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
    let run = Run::of(bug.get(1).copied().unwrap_or("slow"), options)?;
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
    let run = Run::new(&corpus, "dies@boom", &[])?;
    run.says("pass 1  crash 10  not-run 2")?;
    run.says("10 cases crashed, timed out or got garbage; --keep-going goes on all the same")?;
    let texts = names.iter().map(|name| (name.as_str(), "boom"));
    Run::new(&self::corpus(&texts.collect::<Vec<_>>())?, "dies@boom", &["--keep-going"])?.says("crash 13")
}

fn a_large_reply_is_judged_in_bounded_memory() -> Result<(), Failed> {
    let corpus = corpus(&[("large", &"x".repeat(usize::try_from(LARGE << 10).expect("a length")))])?;
    let command = command(corpus.path(), &["--timeout", "20"], "slow", "");
    let run = Run::watch(command, corpus.path())?;
    // The text stands in the corpus file, the case, its source, its expectation, the request and the reply.
    if run.code != 0 || run.memory > SMALL + LARGE * 12 {
        return Err(format!("{} with {} KiB:\n{}", run.code, run.memory, run.said).into());
    }
    Ok(())
}

/// Held at once are a part of the line and what is read from it, then that and what is made from it for the comparison.
#[cfg(unix)]
fn what_a_long_reply_costs() -> Result<(), Failed> {
    const HELLO: &str = r#"{"id":0,"ok":{"protocol":1,"implementation":{"name":"long","version":"1","language":"sh"},"ops":["escape"],"profiles":["literal"]}}"#;
    let x = "x".repeat(56);
    // How many MiB, and what they are.
    for (long, before, piece, after) in [
        (LONG, r#""ok":""#, format!("{x}xxxxxxxx"), "\""),
        // Settled before it is compared.
        (LONG, r#""ok":""#, format!("{x}&#13;xxx"), "\""),
        // Replaced before the line is read.
        (LONG, r#""ok":""#, format!(r"{x}\ud83dxx"), "\""),
        (LONG, r#""reject":{"kind":"invalid-input","message":""#, format!("{x}\u{202e}xxxxx"), "\"}"),
        (LONG, r#""unsupported":""#, format!("{x}xxxxxxxx"), "\""),
        // As many values as a reply may have for its length.
        (LONG / 2, r#""ok":["#, format!(r#""{x}xxxxx","#), "0]"),
        (LONG / 2, r#""ok":["#, format!(r#"{{"a":"{x}{x}xxxxxxx"}},"#), "0]"),
        (LONG / 2, r#""ok":["#, format!(r#"[["{x}{x}{x}xxxxxxxxxxxxxxxxxx"]],"#), "0]"),
    ] {
        let (corpus, number) = (small_corpus()?, (1 << 20) / piece.len());
        let script = format!(
            r#"read -r hello; echo '{HELLO}'; text=$(yes '{piece}' | head -n {number} | tr -d '\n')
            while read -r line; do id=${{line#*:}}; printf '{{"id":%d,%s' "${{id%%,*}}" '{before}'; for n in $(seq {long}); do printf %s "$text"; done; echo '{after}}}'; done"#
        );
        let mut command = verify(corpus.path(), &["--timeout", "20", "--filter", "*/two"]);
        command.args(["--", "sh", "-c", &script]);
        let begun = Instant::now();
        let run = Run::watch(command, corpus.path())?;
        let (held, took) = (run.memory, begun.elapsed());
        println!("{long} MiB of {before}{piece} cost {} MiB and {took:?}", held >> 10);
        if run.code != 1 || held > SMALL * 3 / 5 + ((3 * long) << 10) || run.said.len() > 16 << 10 {
            return Err(format!("{piece}: {} with {held} KiB in {took:?}:\n{}", run.code, run.said).into());
        }
    }
    Ok(())
}

/// The testee is not to blame for the limits of the machine.
#[cfg(unix)]
fn a_lack_of_files() -> Result<(), Failed> {
    for arguments in ["verify --jobs 64", "fuzz --jobs 64 --cases 1000"] {
        let (folder, token) = (tempfile::tempdir()?, token());
        let mut command = Command::new("sh");
        let script = r#"ulimit -n 24; program=$0; exec "$program" "$@" -- "$program" serve"#;
        command.args(["-c", script, PROGRAM]).args(arguments.split(' ')).env("MISBEHAVIOUR", &token).env_remove("CI");
        let run = Run::watch(command, folder.path())?;
        if run.code != 4 || run.said.contains("the testee is not ready") || run.said.contains("conformant") {
            return Err(format!("{arguments}: {}:\n{}", run.code, run.said).into());
        }
        run.says("lack of means")?;
        run.says("use fewer --jobs")?;
        nobody_is_left(&token)?;
    }
    Ok(())
}

/// Also where something cannot be written, which is found out at the end.
#[cfg(unix)]
fn the_conclusion_names_the_code() -> Result<(), Failed> {
    let corpus = small_corpus()?;
    // Its name leaves no room for that of a temporary file.
    let known = corpus.path().join("x".repeat(250));
    fs::write(&known, "")?;
    let known = known.display().to_string();
    let full = ["--report json=/dev/full", "--report junit=/dev/full --report badge=-", "--transcript /dev/full"];
    let updated = format!("--reason none --update-known-failures {known}");
    for options in full.into_iter().filter(|_| Path::new("/dev/full").exists()).chain([&*updated]) {
        for (bug, verdicts) in [("slow@one", "pass 4"), ("dies@two", "pass 3  crash 1")] {
            let run = Run::new(&corpus, bug, &options.split(' ').collect::<Vec<_>>())?;
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
    Run::new(&corpus, "hangs@hello", &[])?.says("did not answer `hello`")?;
    let corpus = self::corpus(&[("first", "one"), ("large", &"x".repeat(1 << 20)), ("larger", &"x".repeat(1 << 21))])?;
    Run::new(&corpus, "hangs-after-its-reply@one", &[])?.says("TIMEOUT escape/texts/first")
}

/// Each reply is in time, though all together take longer than the timeout.
fn a_testee_that_waits_in_turn_is_not_late() -> Result<(), Failed> {
    let names: Vec<String> = (0..40).map(|number| format!("case-{number}")).collect();
    let corpus = corpus(&names.iter().map(|name| (name.as_str(), "x")).collect::<Vec<_>>())?;
    let command = command(corpus.path(), &["--timeout", "0.5"], "slow", "");
    let run = Run::watch(command, corpus.path())?;
    if run.code == 0 { Ok(()) } else { Err(run.said.into()) }
}

#[cfg(unix)]
fn ctrl_c_ends_the_run() -> Result<(), Failed> {
    for (bug, interrupts, says) in [
        ("hangs@two", 1, "incomplete: 1 of 4 cases were run, 0 count against it"),
        ("hangs@two", 2, ""),
        ("hangs@end", 1, ""),
    ] {
        let corpus = small_corpus()?;
        let token = token();
        let mut runner = command(corpus.path(), &["--timeout", "60"], bug, &token).stdout(Stdio::piped()).spawn()?;
        wait_until_it_waits(&mut runner)?;
        for _ in 0..interrupts {
            Command::new("kill").arg("-INT").arg(runner.id().to_string()).status()?;
        }
        let begun = Instant::now();
        let output = runner.wait_with_output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        if output.status.code() != Some(130) || !said.contains(says) || begun.elapsed() > Duration::from_secs(5) {
            return Err(format!("{bug}, {interrupts}: {} after {:?}:\n{said}", output.status, begun.elapsed()).into());
        }
        nobody_is_left(&token)?;
    }
    Ok(())
}

/// A terminal writes `^C` behind the bar. What clears the bar clears one line, so both must fit on it.
#[cfg(unix)]
fn ctrl_c_leaves_no_bar() -> Result<(), Failed> {
    const COLUMNS: usize = 60;
    let (corpus, token) = (small_corpus()?, token());
    let verify = command(corpus.path(), &["--timeout", "60"], "hangs@three", &token);
    let words = std::iter::once(verify.get_program()).chain(verify.get_args()).map(|word| word.to_string_lossy());
    let script = format!("stty rows 24 cols {COLUMNS}; exec {}", words.collect::<Vec<_>>().join(" "));
    let mut terminal = Command::new("script");
    terminal.args(["-qec", &script, "/dev/null"]).env("MISBEHAVIOUR", &token).env("TERM", "xterm").env_remove("CI");
    if !cfg!(target_os = "linux") || Command::new("script").arg("--version").output().is_err() {
        eprintln!("SKIPPED: the bar on a terminal is not tested, since there is no `script`");
        return Ok(());
    }
    let mut terminal = terminal.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    wait_until_it_waits(&mut terminal)?;
    let mut stdin = terminal.stdin.take().expect("a pipe");
    io::Write::write_all(&mut stdin, b"\x03")?;
    let output = terminal.wait_with_output()?;
    drop(stdin);
    let said = String::from_utf8_lossy(&output.stdout);
    let (before, after) = said.split_once("^C").ok_or_else(|| format!("no ^C: {said:?}"))?;
    let bar = before.rsplit(['\r', '\n']).next().unwrap_or_default().trim_start_matches("\x1b[2K");
    let is_clean = bar.contains("2/4") && bar.chars().count() + 2 < COLUMNS && after.starts_with("\r\x1b[2K");
    if !is_clean || output.status.code() != Some(130) {
        return Err(format!("{}: {said:?}", output.status).into());
    }
    nobody_is_left(&token)
}

/// Waits for the line that names the testee, which is printed when it is ready; then it hangs at once.
#[cfg(unix)]
fn wait_until_it_waits(runner: &mut std::process::Child) -> io::Result<()> {
    let mut byte = [0];
    while byte != *b"\n" {
        io::Read::read_exact(runner.stdout.as_mut().expect("a pipe"), &mut byte)?;
    }
    thread::sleep(Duration::from_millis(500));
    Ok(())
}

/// A testee ends with its runner, even if that is killed.
#[cfg(unix)]
fn a_testee_ends_with_its_runner() -> Result<(), Failed> {
    if !cfg!(target_os = "linux") {
        return Ok(());
    }
    let (corpus, token) = (small_corpus()?, token());
    let mut runner =
        command(corpus.path(), &["--timeout", "60"], "hangs@two", &token).stdout(Stdio::piped()).spawn()?;
    wait_until_it_waits(&mut runner)?;
    runner.kill()?;
    runner.wait()?;
    nobody_is_left(&token)
}

// ---- running ----

/// What came of a run.
struct Run {
    code: i32,
    said: String,
    /// Its verdicts and notes; null if there was no run.
    report: Value,
    /// The most that it held, in KiB; 0 where that cannot be known.
    memory: u64,
}

impl Run {
    /// The small corpus against a misbehaviour.
    fn of(bug: &str, options: &[&str]) -> Result<Self, Failed> {
        Self::new(&small_corpus()?, bug, options)
    }

    fn new(corpus: &tempfile::TempDir, bug: &str, options: &[&str]) -> Result<Self, Failed> {
        let (begun, token) = (Instant::now(), token());
        let options = [&["--timeout", TIMEOUT], options].concat();
        let run = Self::watch(command(corpus.path(), &options, bug, &token), corpus.path())?;
        if begun.elapsed() > LONGEST {
            return Err(format!("it took {:?}", begun.elapsed()).into());
        }
        if run.memory > MOST_MEMORY {
            return Err(format!("it held {} KiB", run.memory).into());
        }
        if run.said.contains('\u{1b}') || run.said.contains('\r') {
            return Err(format!("control codes: {:?}", run.said).into());
        }
        if run.said.lines().any(|line| line.starts_with("conformant: forged")) {
            return Err(format!("a forged line: {}", run.said).into());
        }
        nobody_is_left(&token)?;
        Ok(run)
    }

    fn watch(mut command: Command, corpus: &Path) -> io::Result<Self> {
        let said = fs::File::create(corpus.join("said"))?;
        let mut runner = command.stdout(said.try_clone()?).stderr(said).spawn()?;
        let mut memory = 0;
        let status = loop {
            memory = held(runner.id()).max(memory);
            match runner.try_wait()? {
                Some(status) => break status,
                None => thread::sleep(Duration::from_millis(20)),
            }
        };
        let said = String::from_utf8_lossy(&fs::read(corpus.join("said"))?).into_owned();
        let report = fs::read_to_string(corpus.join("run.report")).unwrap_or_default();
        let report = serde_json::from_str(&report).unwrap_or_default();
        Ok(Self { code: status.code().unwrap_or(-1), said, report, memory })
    }

    fn expect(&self, code: i32, verdicts: &[String]) -> Result<(), Failed> {
        let cases = self.report["cases"].as_array().map(Vec::as_slice).unwrap_or_default();
        let actual: Vec<&str> = cases.iter().filter_map(|case| case["verdict"].as_str()).collect();
        if self.code == code && actual == *verdicts {
            return Ok(());
        }
        Err(format!("{code} and {verdicts:?} expected: {} and {actual:?}:\n{}", self.code, self.said).into())
    }

    fn note(&self, name: &str) -> &str {
        let cases = self.report["cases"].as_array().map(Vec::as_slice).unwrap_or_default();
        let id = format!("escape/texts/{name}");
        cases.iter().find(|case| case["id"] == id).and_then(|case| case["note"].as_str()).unwrap_or_default()
    }

    fn says(&self, words: &str) -> Result<(), Failed> {
        if self.said.contains(words) {
            Ok(())
        } else {
            Err(format!("it does not say `{words}`:\n{}", self.said).into())
        }
    }
}

/// The most memory that a process has held, in KiB.
fn held(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or_default()
}

fn small_corpus() -> io::Result<tempfile::TempDir> {
    corpus(&TEXTS.map(|text| (text, text)))
}

/// A corpus of texts that come back as they are.
fn corpus(texts: &[(&str, &str)]) -> io::Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    fs::create_dir(folder.path().join("escape"))?;
    let cases: Vec<Value> = texts
        .iter()
        .map(|(name, text)| {
            json!({"name": name, "why": "w", "clauses": ["ESC-3"], "input": {"text": text}, "expect": {"ok": text}})
        })
        .collect();
    let file = json!({"op": "escape", "about": "texts that come back as they are", "cases": cases});
    fs::write(folder.path().join("escape/texts.json"), file.to_string())?;
    Ok(folder)
}

/// A mark for the environment of the processes of a run.
fn token() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    format!("misbehaviour-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed))
}

fn command(corpus: &Path, options: &[&str], bug: &str, token: &str) -> Command {
    let mut command = verify(corpus, options);
    command.args(["--", PROGRAM, "serve", "--bug", bug]).env("MISBEHAVIOUR", token);
    command
}

fn verify(corpus: &Path, options: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command
        .arg("verify")
        .arg("--corpus")
        .arg(corpus)
        .arg("--report")
        .arg(format!("json={}", corpus.join("run.report").display()));
    // In CI the order would be random.
    command.args(options).env_remove("CI");
    command
}

/// Fails if a process with the token in its environment is left, as far as Linux shows environments.
fn nobody_is_left(token: &str) -> Result<(), Failed> {
    let is_one = |process: &Path| {
        let environment = fs::read(process.join("environ")).unwrap_or_default();
        environment.split(|&byte| byte == 0).any(|variable| variable.ends_with(token.as_bytes()))
    };
    let begun = Instant::now();
    loop {
        let Ok(processes) = fs::read_dir("/proc") else { return Ok(()) };
        let left: Vec<_> = processes.flatten().map(|entry| entry.path()).filter(|path| is_one(path)).collect();
        if left.is_empty() {
            return Ok(());
        }
        // A process that was killed may take a moment to be gone.
        if begun.elapsed() > Duration::from_secs(5) {
            return Err(format!("processes are left: {left:?}").into());
        }
        thread::sleep(Duration::from_millis(10));
    }
}
