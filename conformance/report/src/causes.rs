//! Groups failures by cause, so that a fault that fails many cases is read once.
//!
//! Each failure has a set of signs: a replaced piece of text, another kind of value at some place, what was found about the clause that
//! it is charged to. The sign that most failures share is the first cause and takes all of them; the next one is sought among the rest.

use super::record::{CaseRecord, Details};
use super::{diff, words};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::iter::Peekable;
use std::str::Chars;
use threadspec_judge::corpus::{Mismatch, Severity, Side, SideKind, Sides};
use threadspec_judge::text::{beginning, visible};
use threadspec_judge::verdict::Verdict;

/// More replaced pieces than this, or longer ones, are another text altogether.
const PIECES: usize = 6;
const LONGEST_PIECE: usize = 24;
const LONGEST_NOTE: usize = 120;
/// How a note quotes a line of stderr.
const QUOTED: &str = "  | ";

/// What failed for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// What the failures share, in words.
    pub sign: String,
    /// Their positions, the clearest one first.
    pub members: Vec<usize>,
}

/// One failure, as far as its cause is concerned.
#[derive(Clone, Copy, Debug)]
pub struct Symptoms<'a> {
    /// How it ended.
    pub verdict: Verdict,
    /// The clause that it is charged to.
    pub charged: &'a str,
    /// What happened, in words.
    pub note: &'a str,
    /// Where the output differs from the expected one.
    pub mismatches: &'a [Mismatch],
    /// How much there is to read: the length of the input.
    pub size: usize,
    /// Whether it makes the testee not conformant.
    pub counts: bool,
    /// Whether the implementation documents it as its choice.
    pub documented: bool,
    /// How much it hurts; a case without a severity comes first.
    pub severity: Option<Severity>,
}

/// Groups failures by cause: first those that count, then those that hurt most, and of these the ones of the most cases.
pub fn causes(failures: &[Symptoms<'_>]) -> Vec<Cause> {
    let signs: Vec<BTreeSet<String>> = failures.iter().map(signs).collect();
    let mut left: BTreeSet<usize> = (0..failures.len()).collect();
    let mut causes = Vec::new();
    while !left.is_empty() {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for sign in left.iter().flat_map(|&index| &signs[index]) {
            *counts.entry(sign).or_default() += 1;
        }
        // Of equally frequent signs the first in the alphabet, so that the same run reads the same.
        let most = counts.values().copied().max().unwrap_or_default();
        let Some(sign) = counts.iter().find(|&(_, &count)| count == most).map(|(&sign, _)| sign.to_owned()) else {
            break;
        };
        let mut members: Vec<usize> = left.iter().copied().filter(|&index| signs[index].contains(&sign)).collect();
        left.retain(|index| !members.contains(index));
        members.sort_by_key(|&index| {
            let Symptoms { counts, severity, mismatches, size, .. } = failures[index];
            (!counts, severity, signs[index].len(), mismatches.len(), size, index)
        });
        causes.push(Cause { sign, members });
    }
    // Its first member counts if any does, and hurts most. Warnings hide nothing that counts.
    causes.sort_by_key(|cause| {
        let Symptoms { counts, severity, .. } = failures[cause.members[0]];
        (!counts, severity)
    });
    causes
}

/// Failed cases by cause.
pub fn causes_of(failed: &[&CaseRecord]) -> Vec<Cause> {
    causes(&symptoms(failed, &first_mismatches(failed)))
}

/// The first difference of each case, if there is one.
pub fn first_mismatches(failed: &[&CaseRecord]) -> Vec<Vec<Mismatch>> {
    failed.iter().map(|case| case.mismatches.iter().take(1).map(Mismatch::from).collect()).collect()
}

/// Failed cases as far as their causes are concerned.
pub fn symptoms<'a>(failed: &[&'a CaseRecord], mismatches: &'a [Vec<Mismatch>]) -> Vec<Symptoms<'a>> {
    let symptoms = |(case, mismatches): (&&'a CaseRecord, &'a Vec<Mismatch>)| {
        // A large case is never the clearest.
        let size = |details: &Details| if details.expand { usize::MAX } else { details.input.len() };
        Symptoms {
            verdict: case.verdict,
            charged: case.charged().unwrap_or_default(),
            note: &case.note,
            mismatches,
            size: case.details.as_ref().map_or(0, size),
            counts: case.counts,
            documented: case.documented,
            severity: case.severity,
        }
    };
    failed.iter().zip(mismatches).map(symptoms).collect()
}

/// The failed cases among these, those that hurt most first.
pub fn by_severity<'a>(
    cases: impl IntoIterator<Item = &'a CaseRecord>,
    failed: fn(&CaseRecord) -> bool,
) -> Vec<&'a CaseRecord> {
    let mut failed: Vec<&CaseRecord> = cases.into_iter().filter(|case| failed(case)).collect();
    failed.sort_by_key(|case| case.severity);
    failed
}

fn signs(Symptoms { verdict, charged, note, mismatches, .. }: &Symptoms<'_>) -> BTreeSet<String> {
    // A known failure has the cause of those that are not known.
    let (verdict, note) = words::as_found(*verdict, note);
    let name = if verdict == Verdict::Fail { String::new() } else { format!("{verdict}: ") };
    let signs = match mismatches.first() {
        // Later differences may follow from the first one.
        Some(Mismatch { path, sides: Sides::Texts { expected, actual } }) => {
            pieces(expected, actual).unwrap_or_else(|| vec![format!("another text{}", place(path))])
        }
        Some(Mismatch { path, sides: Sides::Values { expected, actual } }) => {
            let place = place(path);
            vec![if actual.kind == SideKind::Nothing {
                format!("{} is missing{place}", kind(expected))
            } else if expected.kind == SideKind::Nothing {
                format!("{} is unexpected{place}", kind(actual))
            } else {
                format!("{} instead of {}{place}", kind(actual), kind(expected))
            }]
        }
        None => messages(verdict, charged, note),
    };
    signs.into_iter().map(|sign| format!("{name}{sign}")).collect()
}

/// What was replaced by what; `None` if the pieces are too many or too long.
fn pieces(expected: &str, actual: &str) -> Option<Vec<String>> {
    let pairs = diff::pairs(expected, actual);
    let short = |text: &String| text.chars().count() <= LONGEST_PIECE;
    if pairs.is_empty() || pairs.len() > PIECES || !pairs.iter().all(|(old, new)| short(old) && short(new)) {
        return None;
    }
    let is_number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    // Reports join several spaces to one.
    let shape = |text: &str| {
        let is_blank = text.chars().all(char::is_whitespace);
        if is_blank { visible(text).replace(' ', "␣") } else { visible(text) }
    };
    let piece = |(old, new): &(String, String)| match (shape(old), shape(new)) {
        (old, new) if is_number(&old) && is_number(&new) => "another number in the text".to_owned(),
        (old, new) if new.is_empty() => format!("`{old}` is missing"),
        (old, new) if old.is_empty() => format!("`{new}` is unexpected"),
        (old, new) => format!("`{new}` instead of `{old}`"),
    };
    Some(pairs.iter().map(piece).collect())
}

/// A place, whatever its positions in lists.
fn place(path: &str) -> String {
    if path.is_empty() {
        return String::new();
    }
    let parts = path.split('/').map(|part| if part.parse::<usize>().is_ok() { "*" } else { part });
    format!(" at {}", visible(&parts.collect::<Vec<_>>().join("/")))
}

/// What one side is, in words.
fn kind(Side { kind, shown }: &Side) -> String {
    match kind {
        SideKind::String => "a string".into(),
        SideKind::Number => "a number".into(),
        SideKind::List => "a list".into(),
        SideKind::Including => "something that includes a list".into(),
        SideKind::Object => "an object".into(),
        SideKind::Typed(name) => format!("an object of type {}", beginning(&visible(name), 30)),
        SideKind::Nothing | SideKind::Other => beginning(&visible(shown), 60),
    }
}

/// With this begins a line that shows what the line above it says.
const DETAIL: &str = "    ";

/// What was found about the clause, a sign each, or about others if nothing was; of a crash and the like, what happened and the last words
/// of its stderr, since the rest is about the case.
fn messages(verdict: Verdict, charged: &str, note: &str) -> Vec<String> {
    let mut lines = note.lines().filter(|line| !line.trim().is_empty());
    if verdict == Verdict::Fail {
        let is_own = |line: &&str| words::finding(line, charged).is_some();
        let own: Vec<String> = lines.clone().filter(is_own).map(message).collect();
        // What is indented shows what the line above says.
        let all = || lines.filter(|line| !line.starts_with(DETAIL)).map(message).collect();
        return if own.is_empty() { all() } else { own };
    }
    let first = lines.next().unwrap_or_default();
    let last_words = lines.rev().find_map(|line| line.strip_prefix(QUOTED)).unwrap_or_default();
    vec![message(format!("{first} {last_words}").trim_end())]
}

/// A message without what differs from case to case: places, numbers, quotations, and JSON.
fn message(line: &str) -> String {
    let line = visible(without_place(line).as_ref());
    let mut plain = String::new();
    let mut rest = line.chars().peekable();
    while let Some(&c) = rest.peek() {
        if VALUES.iter().any(|before| plain.ends_with(before)) && !matches!(c, '`' | '"' | '\'' | '[' | '{') {
            // A number, true, false or null.
            while rest.next_if(|&c| !c.is_whitespace() && c != ',').is_some() {}
            plain.push('…');
            continue;
        }
        rest.next();
        match c {
            '`' | '"' => {
                skip_quotation(&mut rest, c);
                plain.push('…');
            }
            // Not an apostrophe.
            '\'' if !plain.ends_with(char::is_alphanumeric) => {
                skip_quotation(&mut rest, c);
                plain.push('…');
            }
            '[' | '{' => {
                let mut depth = 1_usize;
                while depth > 0
                    && let Some(c) = rest.next()
                {
                    match c {
                        '"' => skip_quotation(&mut rest, c),
                        '[' | '{' => depth += 1,
                        ']' | '}' => depth -= 1,
                        _ => {}
                    }
                }
                plain.push('…');
            }
            c if c.is_ascii_digit() => {
                while rest.next_if(char::is_ascii_digit).is_some() {}
                plain.push('N');
            }
            c => plain.push(c),
        }
    }
    beginning(&plain, LONGEST_NOTE)
}

/// Behind these words stands a value, which may be a bare word or number.
const VALUES: [&str; 2] = ["the result ", " became "];

/// A finding without the run, request and message, and the place inside a value, where it was made.
fn without_place(line: &str) -> Cow<'_, str> {
    let Some((clause, mut what)) = line.split_once(": ") else { return line.into() };
    while let Some((place, rest)) = what.split_once(": ")
        && is_place(place)
    {
        what = rest;
    }
    format!("{clause}: {what}").into()
}

fn is_place(text: &str) -> bool {
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let is_part = |part: &str| {
        part.split_once(' ').is_some_and(|(what, number)| {
            matches!(what, "run" | "request" | "message") && is_number(number)
                || what == "at" && number.starts_with('/')
        })
    };
    text.split(", ").all(is_part)
}

/// Goes behind the end of a quotation; one that is never closed goes to the end.
fn skip_quotation(rest: &mut Peekable<Chars<'_>>, quote: char) {
    while let Some(c) = rest.next()
        && c != quote
    {
        if c == '\\' {
            rest.next();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(expected: &str, actual: &str) -> Vec<Mismatch> {
        let sides = Sides::Texts { expected: expected.into(), actual: actual.into() };
        vec![Mismatch { path: "/0/content".into(), sides }]
    }

    fn grouped(failures: &[(Verdict, &str, Vec<Mismatch>)]) -> Vec<(String, Vec<usize>)> {
        let shown: Vec<Symptoms<'_>> = failures
            .iter()
            .map(|(verdict, note, mismatches)| {
                // Notes of warnings say so.
                let counts = !note.starts_with("warning");
                let severity = note.rsplit_once("severity ").and_then(|(_, name)| name.parse().ok());
                // The first finding is the one that counts.
                let charged = note.split(": ").next().unwrap_or_default();
                Symptoms {
                    verdict: *verdict,
                    charged,
                    note,
                    mismatches,
                    size: note.len(),
                    counts,
                    documented: false,
                    severity,
                }
            })
            .collect();
        causes(&shown).into_iter().map(|cause| (cause.sign, cause.members)).collect()
    }

    #[test]
    fn lines_that_show_both_sides_are_no_causes() {
        let note = |sent: &str| {
            format!(
                "GATE-TEXT: request 1: the text was `{sent}`\n    sent     {sent}\n    arrived  x\n    curl -sS {sent}"
            )
        };
        let [one, other] = [note("one"), note("other")];
        let found = grouped(&[(Verdict::Fail, &one, Vec::new()), (Verdict::Fail, &other, Vec::new())]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(!found[0].0.contains("curl") && found[0].1 == [0, 1], "{found:?}");
    }

    #[test]
    fn one_replacement_is_one_cause_wherever_it_happens() {
        let found = grouped(&[
            (Verdict::Fail, "", text("a&apos;b", "a'b")),
            (Verdict::Fail, "", text("x &lt; and &apos; y", "x < and ' y")),
            (Verdict::Fail, "", text("long text &apos;", "long text '")),
            (Verdict::Fail, "", text("&apos;x&apos;, &apos;y&apos;", "'x', 'y'")),
            (Verdict::Fail, "", text("  a", "a")),
            (Verdict::Fail, "", text(" b", "b")),
            (Verdict::Fail, "", text("one", "something else that is much longer than that")),
        ]);
        let signs: Vec<(&str, usize)> = found.iter().map(|(sign, members)| (&**sign, members.len())).collect();
        let others = [("`␣` is missing", 1), ("`␣␣` is missing", 1), ("another text at /*/content", 1)];
        assert_eq!(signs[0], ("`'` instead of `&apos;`", 4));
        assert_eq!(signs[1..], others);
    }

    #[test]
    fn crashes_are_told_apart_by_their_last_words_and_not_by_their_numbers() {
        let crash = |stderr: &str| {
            let ended = "before its reply it ended (exit status: 1); its stderr ends with:";
            format!("{ended}\n  | {stderr}\nby itself: asked alone, it ends in the same way")
        };
        let found = grouped(&[
            (Verdict::Crash, &crash("Error: at\n  | TypeError: 'x' is undefined at line 17"), Vec::new()),
            (Verdict::Crash, &crash("TypeError: 'y' is undefined at line 18"), Vec::new()),
            (Verdict::Crash, &crash("out of memory"), Vec::new()),
        ]);
        let signs: Vec<(&str, &[usize])> = found.iter().map(|(sign, members)| (&**sign, &**members)).collect();
        let ended = "crash: before its reply it ended (exit status: N); its stderr ends with:";
        assert_eq!(
            signs,
            [
                (&*format!("{ended} TypeError: … is undefined at line N"), &[1, 0][..]),
                (&*format!("{ended} out of memory"), &[2][..]),
            ]
        );
    }

    #[test]
    fn of_several_findings_those_of_the_clause_that_is_charged_are_the_cause() {
        let result = |value: &str| format!("RESULT: request 2: the result {value} became \"1\", which is no JSON text");
        let found = grouped(&[
            (Verdict::Fail, &result("[1, \"]\"]"), Vec::new()),
            (Verdict::Fail, &format!("START: the system is lost\n{}", result("{\"a\": [\"\\\"\", {}]}")), Vec::new()),
            (Verdict::Fail, "START: the system is lost", Vec::new()),
            (Verdict::Fail, &result("{}"), Vec::new()),
        ]);
        assert_eq!(
            found,
            [
                ("RESULT: the result … became …, which is no JSON text".to_owned(), vec![3, 0]),
                ("START: the system is lost".to_owned(), vec![2, 1]),
            ]
        );
    }

    #[test]
    fn one_fault_is_one_cause_whatever_the_value_and_wherever_it_stands() {
        let said =
            |place: &str, value: &str, became: &str| format!("RESULT: {place}: the result {value} became {became}");
        let notes = [
            said("request 2, message 3", "null", "\"None\""),
            said("request 12, message 30", "{\"a\":[1]}", "\"{'a': [1]}\""),
            said("run 2, request 1, message 4", "-1.5e3", "\"-1500\""),
            said("request 2, message 3: at /a/0", "true", "false"),
        ];
        let found = grouped(&notes.each_ref().map(|note| (Verdict::Fail, &**note, Vec::new())));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].0, "RESULT: the result … became …");
    }

    #[test]
    fn warnings_stand_behind_what_counts() {
        let found = grouped(&[
            (Verdict::Fail, "warning", text("a&apos;b", "a'b")),
            (Verdict::Fail, "", text("a long text &apos; b", "a long text ' b")),
            (Verdict::Rejected, "warning", Vec::new()),
            (Verdict::Rejected, "warning", Vec::new()),
            (Verdict::Rejected, "warning", Vec::new()),
            (Verdict::Crash, "one", Vec::new()),
        ]);
        let members: Vec<_> = found.into_iter().map(|(_, members)| members).collect();
        assert_eq!(members, [vec![1, 0], vec![5], vec![2, 3, 4]]);
    }

    #[test]
    fn what_hurts_most_stands_first() {
        let apostrophe = || text("a&apos;b", "a'b");
        let found = grouped(&[
            (Verdict::Fail, "severity C", text("a", "b")),
            (Verdict::Fail, "severity C", text("c a", "c b")),
            (Verdict::Fail, "warning, severity A", text("x", "y")),
            (Verdict::Fail, "severity C", apostrophe()),
            (Verdict::Fail, "severity B and long", apostrophe()),
            (Verdict::Fail, "a long note, severity B", apostrophe()),
            (Verdict::Fail, "severity A", text("  z", "z")),
        ]);
        let members: Vec<_> = found.into_iter().map(|(_, members)| members).collect();
        assert_eq!(members, [vec![4, 5, 3], vec![6], vec![0, 1], vec![2]]);
    }

    #[test]
    fn what_is_missing_is_named_whatever_is_in_it() {
        let missing = |kind: SideKind| {
            let expected = Side { kind, shown: r#"{"content": "4", "type": "tool"}"#.into() };
            vec![Mismatch { path: "/2".into(), sides: Sides::Values { expected, actual: Side::nothing() } }]
        };
        let typed = |name: &str| (Verdict::Fail, "", missing(SideKind::Typed(name.into())));
        let found =
            grouped(&[typed("tool"), typed("ai"), typed("tool"), (Verdict::Fail, "", missing(SideKind::Other))]);
        let signs: Vec<(&str, &[usize])> = found.iter().map(|(sign, members)| (&**sign, &**members)).collect();
        assert_eq!(signs[0], ("an object of type tool is missing at /*", &[0, 2][..]));
        // A run file of an earlier version does not say what it is.
        assert!(signs.contains(&(r#"{"content": "4", "type": "tool"} is missing at /*"#, &[3][..])), "{signs:?}");
    }

    #[test]
    fn every_failure_is_in_exactly_one_cause() {
        let failures: Vec<_> = (0..40_usize)
            .map(|n| (Verdict::Fail, "", text(&"a".repeat(n % 7), &format!("{}b{}", "a".repeat(n % 5), n % 3))))
            .collect();
        let mut members: Vec<usize> = grouped(&failures).into_iter().flat_map(|(_, members)| members).collect();
        members.sort_unstable();
        assert_eq!(members, (0..40).collect::<Vec<_>>());
    }
}
