//! The check of every fuzz target, on its seeds and on the golden corpus, without a fuzzer.

use crate::is_thorough;
use arbitrary::{Arbitrary, Unstructured};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use threadspec::Profile;
use threadspec_campaign::generate::{GoldenThread, ScriptPlan, SessionScenario, StreamPlan, golden_inputs, seeds};
use threadspec_campaign::laws::{self, SecondReaders};
use threadspec_judge::protocol::Op;

/// The value that a structured target decodes from the bytes of a seed.
fn decoded<P: for<'a> Arbitrary<'a>>(bytes: &[u8]) -> P {
    P::arbitrary_take_rest(Unstructured::new(bytes)).expect("a seed is a plan")
}

fn replay(target: &str, check: impl Fn(&[u8])) {
    let seeds = seeds(target);
    assert!(seeds.len() >= 20, "`{target}` has {} seeds", seeds.len());
    for seed in seeds {
        check(&seed.bytes);
    }
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).expect("this target takes text")
}

#[test]
fn serialize() {
    replay("serialize", |bytes| {
        for profile in Profile::ALL {
            laws::serialize(&decoded::<GoldenThread>(bytes).events(), profile, SecondReaders::Both);
        }
    });
}

#[test]
fn messages() {
    replay("messages", |bytes| {
        for profile in Profile::ALL {
            laws::messages(&decoded::<GoldenThread>(bytes).events(), profile);
        }
    });
}

#[test]
fn equivalence() {
    replay("equivalence", |bytes| {
        for profile in Profile::ALL {
            laws::equivalence(&decoded::<GoldenThread>(bytes).events(), profile);
        }
    });
}

#[test]
fn plain() {
    replay("plain", |bytes| {
        for profile in Profile::ALL {
            laws::plain(&decoded::<GoldenThread>(bytes).events(), profile);
        }
    });
}

#[test]
fn session() {
    replay("session", |bytes| laws::session(&decoded::<SessionScenario>(bytes)));
}

#[test]
fn run_loop() {
    replay("loop", |bytes| laws::agent(&decoded::<ScriptPlan>(bytes)));
    golden_inputs(Op::Loop).for_each(|input| laws::run_loop(&input));
    golden_inputs(Op::Tools).for_each(|input| laws::tools(&input));
}

#[test]
fn escape() {
    replay("escape", |bytes| {
        for profile in Profile::ALL {
            laws::escape(text(bytes), profile, SecondReaders::Both);
        }
    });
}

#[test]
fn read() {
    replay("read", |bytes| laws::read(text(bytes)));
}

#[test]
fn input() {
    replay("input", laws::input);
}

#[test]
fn case() {
    replay("case", |bytes| laws::case(text(bytes)));
}

#[test]
fn reply() {
    // To judge a reply takes long: usually one in thirty of them.
    let step = if is_thorough() { 1 } else { 30 };
    seeds("reply").iter().step_by(step).for_each(|seed| laws::reply(&seed.bytes));
    laws::reply(br#"{"id":1,"ok":"half a character: \ud83d, and one that looks like its mark: \udbf6\udc3d"}"#);
}

#[test]
fn provider_http() {
    replay("provider_http", laws::provider_http);
}

#[test]
fn provider_sse() {
    replay("provider_sse", |bytes| laws::provider_sse(&decoded::<StreamPlan>(bytes)));
}

/// `fuzz/README.md` lists the targets that there are, and its links and commands are right.
#[test]
fn the_readme_lists_what_exists() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz");
    let read = |file: &str| fs::read_to_string(folder.join(file)).expect("the fuzz crate is there");
    let (readme, manifest) = (read("README.md"), read("Cargo.toml"));
    let sources = fs::read_dir(folder.join("fuzz_targets")).expect("the fuzz crate is there");
    let targets: BTreeSet<String> = sources
        .map(|source| source.expect("a source file").path())
        .map(|source| source.file_stem().expect("a source file").to_string_lossy().into_owned())
        .collect();

    let targets_of_table = readme.split("## Targets").nth(1).expect("a section on targets").lines();
    let listed = targets_of_table.filter_map(|line| line.strip_prefix("| `")?.split('`').next().map(str::to_owned));
    assert_eq!(listed.collect::<BTreeSet<_>>(), targets, "the README's table");
    let built = manifest.lines().filter_map(|line| line.strip_prefix("path = \"fuzz_targets/")?.strip_suffix(".rs\""));
    assert_eq!(built.map(str::to_owned).collect::<BTreeSet<_>>(), targets, "Cargo.toml");

    for link in readme.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
        assert!(folder.join(link).exists(), "{link}");
    }
    let bins: Vec<&str> = manifest.split("[[bin]]").skip(1).collect();
    for run in readme.lines().filter(|line| line.contains("fuzz run ")) {
        let (command, options) = run.split_once(" -- ").unwrap_or((run, ""));
        let target = command.split(' ').next_back().unwrap_or_default();
        let named = command.split_once("--features ").and_then(|(_, rest)| rest.split(' ').next());
        let bin = bins.iter().find(|bin| bin.contains(&format!("name = \"{target}\"\n")));
        let bin = bin.unwrap_or_else(|| panic!("no such target: {run}"));
        let needed = bin.split_once("required-features = [\"").and_then(|(_, rest)| rest.split('"').next());
        assert_eq!(named, needed, "the feature that it is built with: {run}");
        assert!(!options.contains("-dict=") || options.contains("-dict=fuzz/threadspec.dict"), "{run}");
    }
    assert!(folder.join("threadspec.dict").exists());
}

/// A seed of a structured target is the golden thread that it is named after, and nothing else.
#[test]
fn a_thread_seed_is_a_golden_thread() {
    let seed = seeds("serialize").into_iter().find(|seed| seed.name == "serialize-name-lookup-no-call-at-all");
    let thread: GoldenThread = decoded(&seed.expect("the case exists").bytes);
    assert_eq!(thread.events().len(), 1);
}
