//! Ctrl-C, and a runner that is killed.

use super::running::{command, corpus, nobody_is_left, small_corpus, token};
use super::{FAR_AWAY, LONGEST};
use libtest_mimic::Failed;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A run of the small corpus that only an interrupt ends in time.
struct WaitingRun {
    corpus: tempfile::TempDir,
    token: String,
    command: Command,
}

impl WaitingRun {
    fn of(corpus: tempfile::TempDir, options: &[&str], bug: &str) -> Self {
        let token = token();
        let mut command = command(corpus.path(), &[&["--timeout", FAR_AWAY], options].concat(), bug, &token);
        command.env("DEED_BEGINS", Self::mark(&corpus));
        Self { corpus, token, command }
    }

    /// The file that appears when the deed begins.
    fn mark(corpus: &tempfile::TempDir) -> PathBuf {
        corpus.path().join("begins")
    }

    /// Starts the run, and waits until its testee begins to misbehave.
    fn start(&mut self) -> Result<Child, Failed> {
        let mut runner = self.command.stdout(Stdio::piped()).spawn()?;
        wait_for(&Self::mark(&self.corpus), &mut runner)?;
        Ok(runner)
    }
}

fn wait_for(file: &Path, runner: &mut Child) -> Result<(), Failed> {
    let begun = Instant::now();
    while !file.exists() {
        if begun.elapsed() > LONGEST || runner.try_wait()?.is_some() {
            return Err("the testee never came so far".into());
        }
        thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

fn interrupt(process: u32) -> io::Result<()> {
    Command::new("kill").arg("-INT").arg(process.to_string()).status().map(drop)
}

pub(crate) fn ctrl_c_ends_the_run() -> Result<(), Failed> {
    for (bug, interrupts, says) in
        [("hangs@two", 1, " of 4 cases were run, 0 count against it"), ("hangs@two", 2, ""), ("hangs@end", 1, "")]
    {
        let mut run = WaitingRun::of(small_corpus()?, &[], bug);
        let runner = run.start()?;
        for _ in 0..interrupts {
            interrupt(runner.id())?;
        }
        let output = runner.wait_with_output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        if output.status.code() != Some(130) || !said.contains(says) {
            return Err(format!("{bug}, {interrupts}: {}:\n{said}", output.status).into());
        }
        nobody_is_left(&run.token)?;
    }
    Ok(())
}

pub(crate) fn ctrl_c_ends_a_pause() -> Result<(), Failed> {
    // Its deed, with the first reply, is allowed; then comes a pause of a day.
    let corpus = corpus(&[("first", "one"), ("second", "two")])?;
    let mut run = WaitingRun::of(corpus, &["--pause", "86400"], "slow@1");
    let runner = run.start()?;
    interrupt(runner.id())?;
    let output = runner.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    if output.status.code() != Some(130) || !said.contains(" of 2 cases were run, 0 count against it") {
        return Err(format!("{}:\n{said}", output.status).into());
    }
    nobody_is_left(&run.token)
}

/// A terminal writes `^C` behind the bar. What clears the bar clears one line, so both must fit on it.
pub(crate) fn ctrl_c_leaves_no_bar() -> Result<(), Failed> {
    const COLUMNS: usize = 60;
    let run = WaitingRun::of(small_corpus()?, &[], "hangs@three");
    let words = std::iter::once(run.command.get_program()).chain(run.command.get_args());
    let words = words.map(|word| word.to_string_lossy());
    let script = format!("stty rows 24 cols {COLUMNS}; exec {}", words.collect::<Vec<_>>().join(" "));
    let mut terminal = Command::new("script");
    terminal.args(["-qec", &script, "/dev/null"]).env("MISBEHAVIOUR", &run.token).env("TERM", "xterm").env_remove("CI");
    if !cfg!(target_os = "linux") || Command::new("script").arg("--version").output().is_err() {
        eprintln!("SKIPPED: the bar on a terminal is not tested, since there is no `script`");
        return Ok(());
    }
    let mut terminal = terminal.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    // The bar is drawn before the testee hangs, or never.
    let (mut shown, mut byte) = (Vec::new(), [0]);
    while !shown.ends_with(b"2/4") {
        io::Read::read_exact(terminal.stdout.as_mut().expect("a pipe"), &mut byte)?;
        shown.extend_from_slice(&byte);
    }
    let mut stdin = terminal.stdin.take().expect("a pipe");
    io::Write::write_all(&mut stdin, b"\x03")?;
    let output = terminal.wait_with_output()?;
    drop(stdin);
    shown.extend_from_slice(&output.stdout);
    let said = String::from_utf8_lossy(&shown);
    let (before, after) = said.split_once("^C").ok_or_else(|| format!("no ^C: {said:?}"))?;
    let bar = before.rsplit(['\r', '\n']).next().unwrap_or_default().trim_start_matches("\x1b[2K");
    let is_clean = bar.contains("2/4") && bar.chars().count() + 2 < COLUMNS && after.starts_with("\r\x1b[2K");
    if !is_clean || output.status.code() != Some(130) {
        return Err(format!("{}: {said:?}", output.status).into());
    }
    nobody_is_left(&run.token)
}

/// A testee ends with its runner, even if the runner is killed.
pub(crate) fn a_testee_ends_with_its_runner() -> Result<(), Failed> {
    if !cfg!(target_os = "linux") {
        return Ok(());
    }
    let mut run = WaitingRun::of(small_corpus()?, &[], "hangs@two");
    let mut runner = run.start()?;
    runner.kill()?;
    runner.wait()?;
    nobody_is_left(&run.token)
}
