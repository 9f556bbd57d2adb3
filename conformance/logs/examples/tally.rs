//! Counts what servers made of requests that break a rule, over any number of recordings: how often each rule was broken in a request that was
//! accepted, and in one that was refused in its words. Prints numbers and rules, and no text of a recording.
//!
//! `cargo run -p threadspec-logs --example tally -- FILE…`, with `--list` also each file with its findings that count.

use std::collections::BTreeMap;
use std::{env, fs};
use threadspec_logs::{CheckOptions, Level, check_bytes};

#[derive(Default)]
struct RuleCount {
    accepted: usize,
    refused: usize,
    other: usize,
}

fn main() {
    let (mut rules, mut totals): (BTreeMap<&str, RuleCount>, BTreeMap<String, usize>) = Default::default();
    let is_listed = env::args().any(|argument| argument == "--list");
    for file in env::args().skip(1).filter(|argument| argument != "--list") {
        let Ok(bytes) = fs::read(&file) else { continue };
        let report = check_bytes(&bytes, &CheckOptions::default());
        let mut count = |what: &str, number: usize| *totals.entry(what.to_owned()).or_default() += number;
        count("files", 1);
        count(report.summary.unjudged().unwrap_or("judged"), 1);
        for (what, number) in &report.summary.judged {
            count(what, *number);
        }
        for found in &report.findings {
            let rule = rules.entry(found.rule).or_default();
            let is_accepted = found.text.contains("which this server accepted");
            match () {
                () if is_accepted => rule.accepted += 1,
                () if found.text.contains("the server refused it") => rule.refused += 1,
                () => rule.other += 1,
            }
            if is_listed && (is_accepted || found.level != Level::Note) {
                println!("{file}: {} {found}", found.level);
            }
        }
    }
    println!("{totals:?}");
    for (rule, RuleCount { accepted, refused, other }) in rules {
        println!("{rule}: {accepted} accepted, {refused} refused, {other} otherwise");
    }
}
