//! How much memory a run may hold.

use super::FAR_AWAY;
use super::running::{RunOutcome, SMALL, command, corpus, small_corpus, verify};
use libtest_mimic::Failed;

/// A large text, in KiB.
const LARGE: u64 = 12 << 10;
/// A long reply, in MiB.
#[cfg(unix)]
const LONG: u64 = 16;

pub(crate) fn a_large_reply() -> Result<(), Failed> {
    let corpus = corpus(&[("large", &"x".repeat(usize::try_from(LARGE << 10).expect("a length")))])?;
    let command = command(corpus.path(), &["--timeout", FAR_AWAY], "slow", "");
    let run = RunOutcome::watch(command, corpus.path())?;
    // The text stands in the corpus file, the case, its source, its expectation, the request and the reply.
    if run.code != 0 || run.memory > SMALL + LARGE * 12 {
        return Err(format!("{} with {} KiB:\n{}", run.code, run.memory, run.said).into());
    }
    Ok(())
}

/// The runner holds a part of the line and what is read from it, and later that and the form in which it is compared. What it holds
/// anyway, a run with a short reply shows.
#[cfg(unix)]
pub(crate) fn what_a_long_reply_costs() -> Result<(), Failed> {
    const HELLO: &str = r#"{"id":0,"ok":{"protocol":1,"implementation":{"name":"long","version":"1","language":"sh"},"ops":["escape"],"profiles":["literal"]}}"#;
    // What a second run may hold more than the first, in KiB.
    const NOISE: u64 = 6 << 10;
    let x = "x".repeat(56);
    let short = cost_of_reply(HELLO, 0, r#""ok":""#, &x, "\"")?;
    // How many MiB, at most how often they are held, and what they are.
    for (long, times, before, piece, after) in [
        (LONG, 3, r#""ok":""#, format!("{x}xxxxxxxx"), "\""),
        // Settled before it is compared.
        (LONG, 3, r#""ok":""#, format!("{x}&#13;xxx"), "\""),
        // Replaced before the line is read.
        (LONG, 3, r#""ok":""#, format!(r"{x}\ud83dxx"), "\""),
        (LONG, 3, r#""reject":{"kind":"invalid-input","message":""#, format!("{x}\u{202e}xxxxx"), "\"}"),
        (LONG, 3, r#""unsupported":""#, format!("{x}xxxxxxxx"), "\""),
        // As many values as a reply may have for its length.
        (LONG / 2, 5, r#""ok":["#, format!(r#""{x}xxxxx","#), "0]"),
        (LONG / 2, 5, r#""ok":["#, format!(r#"{{"a":"{x}{x}xxxxxxx"}},"#), "0]"),
        (LONG / 2, 5, r#""ok":["#, format!(r#"[["{x}{x}{x}xxxxxxxxxxxxxxxxxx"]],"#), "0]"),
    ] {
        let held = cost_of_reply(HELLO, long, before, &piece, after)?;
        println!("{long} MiB of {before}{piece} cost {} MiB more than a short reply", held.saturating_sub(short) >> 10);
        if held > short + ((times * long) << 10) + NOISE {
            return Err(format!("{piece}: {held} KiB; a short reply {short} KiB").into());
        }
    }
    Ok(())
}

/// What a run holds, in KiB, if one reply is so many MiB long.
#[cfg(unix)]
fn cost_of_reply(hello: &str, long: u64, before: &str, piece: &str, after: &str) -> Result<u64, Failed> {
    let (corpus, number) = (small_corpus()?, (1 << 20) / piece.len());
    let script = format!(
        r#"read -r hello; echo '{hello}'; text=$(yes '{piece}' | head -n {number} | tr -d '\n')
        while read -r line; do id=${{line#*:}}; printf '{{"id":%d,%s' "${{id%%,*}}" '{before}'; for n in $(seq {long}); do printf %s "$text"; done; echo '{after}}}'; done"#
    );
    let mut command = verify(corpus.path(), &["--timeout", FAR_AWAY, "--filter", "*/two"]);
    command.args(["--", "sh", "-c", &script]);
    let run = RunOutcome::watch(command, corpus.path())?;
    // Each reply is wrong, and no report repeats it whole.
    if run.code != 1 || run.said.len() > 16 << 10 {
        return Err(format!("{piece}: {}:\n{}", run.code, run.said).into());
    }
    Ok(run.memory)
}
