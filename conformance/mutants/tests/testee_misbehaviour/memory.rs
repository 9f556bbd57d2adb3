//! How much memory a run may hold.

use super::FAR_AWAY;
use super::running::{RunOutcome, SMALL, command, corpus, small_corpus, verify};
use libtest_mimic::Failed;
use std::time::Instant;

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

/// The runner holds a part of the line and what is read from it, and later that and the form in which it is compared.
#[cfg(unix)]
pub(crate) fn what_a_long_reply_costs() -> Result<(), Failed> {
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
        let mut command = verify(corpus.path(), &["--timeout", FAR_AWAY, "--filter", "*/two"]);
        command.args(["--", "sh", "-c", &script]);
        let begun = Instant::now();
        let run = RunOutcome::watch(command, corpus.path())?;
        let (held, took) = (run.memory, begun.elapsed());
        println!("{long} MiB of {before}{piece} cost {} MiB and {took:?}", held >> 10);
        if run.code != 1 || held > SMALL * 3 / 5 + ((3 * long) << 10) || run.said.len() > 16 << 10 {
            return Err(format!("{piece}: {} with {held} KiB in {took:?}:\n{}", run.code, run.said).into());
        }
    }
    Ok(())
}
