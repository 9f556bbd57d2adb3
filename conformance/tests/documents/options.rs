//! Checks the commands and options that documents name against the program's own help.

use super::prose::tracked;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

const REFERENCE: &str = include_str!("../../REFERENCE.md");

/// Returns the help of the program, or of a command.
fn help(command: Option<&str>) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_threadspec")).args(command).arg("--help").output();
    String::from_utf8(output.expect("the program runs").stdout).expect("UTF-8")
}

/// Returns the options that a text names: `--filter`.
fn options(text: &str) -> BTreeSet<&str> {
    let is_part = |c: char| c.is_ascii_lowercase() || c == '-';
    let starts =
        text.match_indices("--").filter(|&(at, _)| !text[..at].ends_with(|c: char| c == '-' || c.is_alphanumeric()));
    let names = starts.map(|(at, _)| text[at..].split(|c| !is_part(c)).next().unwrap_or_default());
    names.filter(|name| name.len() > 2 && !name.ends_with('-')).collect()
}

/// Returns each command with its help.
fn commands() -> BTreeMap<String, String> {
    let all = help(None);
    let listed =
        all.split("Commands:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).expect("a list of commands");
    let names = listed.lines().filter_map(|line| line.split_whitespace().next()).filter(|&name| name != "help");
    let commands: BTreeMap<_, _> = names.map(|name| (name.to_owned(), help(Some(name)))).collect();
    assert!(commands.len() > 15, "{:?}", commands.keys());
    commands
}

/// Returns the part of a line that belongs to a command: without the program to test, and without quoted arguments.
fn own_part(rest: &str) -> String {
    let rest = rest.split(['`']).next().unwrap_or_default();
    rest.split(" -- ").next().unwrap_or_default().split('\'').step_by(2).collect()
}

#[test]
fn documents_name_only_options_that_exist() {
    let (commands, mut wrong, mut named) = (commands(), Vec::new(), 0);
    for (path, page) in tracked("*.md") {
        for (number, line) in page.lines().enumerate() {
            for rest in line.split("threadspec ").skip(1) {
                let Some(help) = rest.split([' ', '`']).next().and_then(|name| commands.get(name)) else { continue };
                let (part, known) = (own_part(rest), options(help));
                let used = options(&part);
                named += used.len();
                let unknown: Vec<_> = used.difference(&known).collect();
                if !unknown.is_empty() {
                    wrong.push(format!("{path}:{}: {unknown:?}", number + 1));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "these options do not exist:\n{}", wrong.join("\n"));
    assert!(named > 80, "{named}");
}

#[test]
fn the_reference_shows_every_command() {
    let commands = commands();
    let missing: Vec<_> =
        commands.keys().filter(|name| !REFERENCE.contains(&format!("\n    threadspec {name} "))).collect();
    assert!(missing.is_empty(), "conformance/REFERENCE.md does not show {missing:?}");
}

/// An option has one row, in which its meaning is. Other pages may show it in a command.
#[test]
fn the_reference_has_each_option_of_verify_once() {
    let help = help(Some("verify"));
    let known = options(&help);
    let mut rows: BTreeMap<&str, usize> = BTreeMap::new();
    for row in REFERENCE.lines().filter_map(|line| line.strip_prefix("| ").filter(|row| row.starts_with("`--"))) {
        let first = row.split(" | ").next().unwrap_or_default();
        for option in options(first) {
            *rows.entry(option).or_default() += 1;
        }
    }
    let repeated: Vec<_> = rows.iter().filter(|(_, times)| **times > 1).collect();
    assert!(repeated.is_empty(), "{repeated:?}");
    let unknown: Vec<_> = rows.keys().filter(|option| !known.contains(*option)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    let named = options(REFERENCE);
    let missing: Vec<_> = known.iter().filter(|option| **option != "--help" && !named.contains(*option)).collect();
    assert!(missing.is_empty(), "conformance/REFERENCE.md does not name {missing:?}");
}

#[test]
fn an_unknown_option_is_found() {
    assert_eq!(options("`--filter`, (--jobs N) --no-such=1 a--b ---"), ["--filter", "--jobs", "--no-such"].into());
    assert_eq!(own_part("verify --op tools -- cmd --x"), "verify --op tools");
    assert_eq!(own_part("verify --through 'gateway --port 1' --client a` --y"), "verify --through  --client a");
}
