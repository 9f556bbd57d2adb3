//! Groups failures by cause, so that a fault that fails many cases is read once.
//!
//! Each failure has a set of signs: the faults that the judge found, or, if it has only a sentence, that sentence without its values. A
//! fault is a cause wherever it is, also in cases that have others, too. Of words, the sign that most failures share
//! explains all of them, and the next one is sought among the rest.

use crate::record::{CaseRecord, Details, RunRecord};
use crate::words;
use crate::words::{every_message, messages};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use threadspec_judge::compare::{FaultKey, FaultKind, OutputFault};
use threadspec_judge::corpus::{Mismatch, Severity};
use threadspec_judge::protocol::Op;
use threadspec_judge::verdict::Verdict;

/// A reply with more faults than this may owe some of them to others.
const INDEPENDENT: usize = 4;

/// A group of failures with one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The common property of the failures, in words.
    pub sign: String,
    /// The clause that it breaks.
    pub clause: String,
    /// The area of the cause.
    pub area: Area,
    /// Their positions, the clearest one first. A failure may have several causes.
    pub members: Vec<usize>,
}

/// The area of a cause. What comes later is made of what comes before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Area {
    /// Escaped text.
    Escape,
    /// Documents.
    Document,
    /// Lists of messages.
    Messages,
    /// Rounds of tool calls.
    Rounds,
    /// The outer loop.
    Loop,
    /// Any agent: how much it hurts says more.
    Agent,
}

/// One failure, as far as its cause is concerned.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Symptoms<'a> {
    /// How it ended.
    pub verdict: Verdict,
    /// The operation of the request.
    pub op: Op,
    /// The clause that it is charged to.
    pub charged: &'a str,
    /// The faults that the judge found, with their places.
    pub faults: &'a [OutputFault],
    /// A description of the outcome, in words.
    pub note: &'a str,
    /// Where the output differs from the expected one.
    pub mismatches: &'a [Mismatch],
    /// How much there is to read: the length of the input.
    pub size: usize,
    /// True if it has a name and one request: it is no row of pairs, no template, and not about state.
    pub is_ordinary: bool,
    /// True if it makes the testee not conformant.
    pub counts: bool,
    /// True if it was found beside a case.
    pub is_beside: bool,
    /// True if the implementation documents it as its choice.
    pub documented: bool,
    /// How much it hurts; a case without a severity comes first.
    pub severity: Option<Severity>,
}

/// The common property of failures with one cause.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Sign<'a> {
    OutputFault(FaultKey<'a>),
    Words(String),
}

/// Groups failures by cause: first those that count, then those that hurt most, then what the rest is made of, and of these the ones of
/// the most cases. What was found beside a case is told with the failures that show it, too, and else is grouped by itself.
pub fn causes(failures: &[Symptoms<'_>]) -> Vec<Cause> {
    let signs: Vec<BTreeSet<Sign<'_>>> = failures.iter().map(signs).collect();
    let (beside, own): (BTreeSet<usize>, _) = (0..failures.len()).partition(|&index| failures[index].is_beside);
    let mut causes = causes_among(&own, failures, &signs);
    let mut unexplained = beside;
    if !unexplained.is_empty() {
        for cause in &mut causes {
            let shown: BTreeSet<Sign<'_>> =
                cause.members.iter().flat_map(|&index| every_sign(&failures[index])).collect();
            let (explained, left): (Vec<usize>, _) =
                unexplained.into_iter().partition(|&index| !signs[index].is_disjoint(&shown));
            unexplained = left.into_iter().collect();
            cause.members.extend(explained);
            sort(&mut cause.members, failures, &signs);
        }
        causes.extend(causes_among(&unexplained, failures, &signs));
    }
    // Its first member counts if any does, and hurts most. Warnings hide nothing that counts.
    causes.sort_by_key(|cause| {
        let Symptoms { counts, severity, .. } = failures[cause.members[0]];
        (!counts, severity, cause.area, Reverse(cause.members.len()))
    });
    causes
}

/// Groups some of the failures.
fn causes_among(among: &BTreeSet<usize>, failures: &[Symptoms<'_>], signs: &[BTreeSet<Sign<'_>>]) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut left = among.clone();
    for (sign, mut members) in of_faults(among, signs) {
        left.retain(|index| !members.contains(index));
        sort(&mut members, failures, signs);
        causes.push(cause(&sign, members, failures));
    }
    while !left.is_empty() {
        let counts = counted(left.iter().flat_map(|&index| &signs[index]));
        // Of equally frequent signs the first in the alphabet, so that the same run reads the same.
        let most = counts.values().copied().max().unwrap_or_default();
        let Some(sign) = counts.iter().find(|&(_, &count)| count == most).map(|(&sign, _)| sign.clone()) else {
            break;
        };
        let mut members: Vec<usize> = among.iter().copied().filter(|&index| signs[index].contains(&sign)).collect();
        left.retain(|index| !members.contains(index));
        sort(&mut members, failures, signs);
        causes.push(cause(&sign, members, failures));
    }
    causes
}

/// The faults that are causes, with all failures that have them. One that is only beside many others may follow from them.
fn of_faults<'a>(among: &BTreeSet<usize>, signs: &[BTreeSet<Sign<'a>>]) -> Vec<(Sign<'a>, Vec<usize>)> {
    let mut members: BTreeMap<&Sign<'a>, Vec<usize>> = BTreeMap::new();
    for &index in among {
        for sign in signs[index].iter().filter(|sign| matches!(sign, Sign::OutputFault(_))) {
            members.entry(sign).or_default().push(index);
        }
    }
    let is_clear = |members: &[usize]| members.iter().any(|&index| signs[index].len() <= INDEPENDENT);
    members.retain(|_, members| is_clear(members));
    members.into_iter().map(|(sign, members)| (sign.clone(), members)).collect()
}

fn counted<'s, 'a: 's>(signs: impl Iterator<Item = &'s Sign<'a>>) -> BTreeMap<&'s Sign<'a>, usize> {
    let mut counts = BTreeMap::new();
    for sign in signs {
        *counts.entry(sign).or_default() += 1;
    }
    counts
}

/// Puts the clearest failure first.
fn sort(members: &mut [usize], failures: &[Symptoms<'_>], signs: &[BTreeSet<Sign<'_>>]) {
    members.sort_by_key(|&index| {
        let failure = &failures[index];
        let area = of_op(failure.op);
        // What has an expected output shows more than what only has properties.
        let is_bare = failure.mismatches.is_empty();
        let kept = (failure.mismatches.len(), failure.size, index);
        (
            !failure.counts,
            failure.is_beside,
            failure.severity,
            !failure.is_ordinary,
            area,
            is_bare,
            signs[index].len(),
            kept,
        )
    });
}

/// A cause with its title, which is that of the clearest failure.
fn cause(sign: &Sign<'_>, members: Vec<usize>, failures: &[Symptoms<'_>]) -> Cause {
    let clearest = &failures[members[0]];
    let fault = clearest.faults.iter().find(|fault| matches!(sign, Sign::OutputFault(key) if fault.key() == *key));
    let (title, clause) = match (sign, fault) {
        (Sign::Words(words), _) => (words.clone(), clearest.charged.to_owned()),
        (_, Some(fault)) => (fault.title(), fault.clause.to_string()),
        (Sign::OutputFault((clause, place, _)), None) => ((*place).to_owned(), (*clause).to_owned()),
    };
    // What all of them are about says more than the place, as in cases about state.
    let shared = members.iter().all(|&index| failures[index].charged == clearest.charged);
    let is_escape = fault.is_some_and(|fault| {
        matches!(fault.kind, FaultKind::Unescaped | FaultKind::EscapedTwice | FaultKind::Respelled)
    });
    let area = if is_escape { Area::Escape } else { area(&clause, clearest.op) };
    let clause = if shared && !clearest.charged.is_empty() { clearest.charged.to_owned() } else { clause };
    Cause { sign: title, clause, area, members }
}

/// Returns the area of a clause; for one that holds everywhere, that of the operation.
fn area(clause: &str, op: Op) -> Area {
    match clause.split('-').next().unwrap_or_default() {
        "ESC" => Area::Escape,
        "DOC" | "EVT" | "ATT" | "JSON" | "STR" => Area::Document,
        "MSG" | "CTX" | "EQ" => Area::Messages,
        "TOOLS" => Area::Rounds,
        "LOOP" => Area::Loop,
        "INP" | "NAME" => of_op(op),
        _ => Area::Agent,
    }
}

fn of_op(op: Op) -> Area {
    match op {
        Op::Escape => Area::Escape,
        Op::Serialize => Area::Document,
        Op::Messages => Area::Messages,
        Op::Tools => Area::Rounds,
        Op::Loop => Area::Loop,
        Op::Session => Area::Agent,
    }
}

impl Area {
    /// The reason to fix its causes before others; `None` where it is no reason.
    pub fn why_first(self) -> Option<&'static str> {
        match self {
            Self::Escape => Some("Escaping comes first: documents, and so messages, are made of escaped text."),
            Self::Document => Some("Documents come before messages, rounds and the loop, which show the same events."),
            Self::Messages => Some("Messages come before rounds and the loop, whose requests begin with them."),
            Self::Rounds => Some("Rounds come before the loop, which is made of them."),
            Self::Loop | Self::Agent => None,
        }
    }
}

/// The clearest of the findings beside cases, one of each cause that no failed case shows.
pub fn causes_beside(run: &RunRecord) -> Vec<CaseRecord> {
    let beside = run.beside();
    if beside.is_empty() {
        return beside;
    }
    let failed = by_severity(run.cases.iter().chain(&beside), |case| case.verdict.is_news());
    let clearest = causes_of(&failed).into_iter().map(|cause| failed[cause.members[0]]);
    clearest.filter(|case| case.is_beside).cloned().collect()
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
        let is_large = |details: &Details| details.expand;
        Symptoms {
            verdict: case.verdict,
            op: case.op,
            charged: case.charged().unwrap_or_default(),
            faults: &case.faults,
            note: &case.note,
            mismatches,
            size: case.details.as_ref().map_or(0, |details| details.input.len()),
            // What a gateway changed is clearest in the cases that are about gateways.
            is_ordinary: !is_special(&case.id)
                && !case.details.as_ref().is_some_and(is_large)
                && (case.id.starts_with("gateway/")
                    || !case.charged().is_some_and(|clause| clause.starts_with("GATE-"))),
            counts: case.counts,
            is_beside: case.is_beside,
            documented: case.documented,
            severity: case.severity,
        }
    };
    failed.iter().zip(mismatches).map(symptoms).collect()
}

/// Returns whether the id of a case says that it is a row of pairs, or about state.
pub fn is_special(id: &str) -> bool {
    let mut parts = id.rsplit('/');
    let is_row = parts.next().is_some_and(|name| name.starts_with("row-"));
    is_row || parts.next().is_some_and(|topic| matches!(topic, "state" | "independence"))
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

/// Returns the signs of all that a failure shows, also of clauses that it is not charged to.
fn every_sign<'a>(failure: &Symptoms<'a>) -> BTreeSet<Sign<'a>> {
    let (_, note) = words::as_found(failure.verdict, failure.note);
    signs(failure).into_iter().chain(every_message(note).into_iter().map(Sign::Words)).collect()
}

fn signs<'a>(&Symptoms { verdict, charged, faults, note, mismatches, .. }: &Symptoms<'a>) -> BTreeSet<Sign<'a>> {
    // A known failure has the cause of those that are not known.
    let (verdict, note) = words::as_found(verdict, note);
    if matches!(verdict, Verdict::Fail | Verdict::Rejected) && !faults.is_empty() {
        return faults.iter().map(|fault| Sign::OutputFault(fault.key())).collect();
    }
    let name = if verdict == Verdict::Fail { String::new() } else { format!("{verdict}: ") };
    if let Some(mismatch) = mismatches.first() {
        // A run file of an earlier version names no faults.
        let title = OutputFault::of_mismatch(charged.to_owned(), mismatch).title();
        return BTreeSet::from([Sign::Words(format!("{name}{title}"))]);
    }
    let mut found = messages(verdict, charged, note);
    if found.is_empty() {
        found.push("it failed".to_owned());
    }
    found.into_iter().map(|sign| Sign::Words(format!("{name}{sign}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadspec_judge::corpus::Sides;

    /// A failure with what it is charged to in front of its note, and these faults.
    fn failure<'a>(verdict: Verdict, note: &'a str, faults: &'a [OutputFault]) -> Symptoms<'a> {
        Symptoms {
            verdict,
            op: Op::Serialize,
            // The first finding is the one that counts.
            charged: note.split(": ").next().unwrap_or_default(),
            faults,
            note,
            mismatches: &[],
            size: note.len(),
            is_ordinary: true,
            // Notes of warnings say so.
            counts: !note.starts_with("warning"),
            is_beside: false,
            documented: false,
            severity: note.rsplit_once("severity ").and_then(|(_, name)| name.parse().ok()),
        }
    }

    fn grouped(failures: &[Symptoms<'_>]) -> Vec<(String, Vec<usize>)> {
        causes(failures).into_iter().map(|cause| (cause.sign, cause.members)).collect()
    }

    fn fault(clause: &'static str, place: &str, kind: FaultKind) -> OutputFault {
        OutputFault { clause: clause.into(), place: place.to_owned(), kind, shown: None }
    }

    fn noted(notes: &[(Verdict, &str)]) -> Vec<(String, Vec<usize>)> {
        grouped(&notes.iter().map(|&(verdict, note)| failure(verdict, note, &[])).collect::<Vec<_>>())
    }

    #[test]
    fn a_fault_is_one_cause_whatever_the_value_and_beside_others() {
        let name = || fault("ATT-NAME", "attribute `name`", FaultKind::Missing);
        let shown = |what: &str| {
            let sides = ["{\"a\":1}".to_owned(), what.to_owned()];
            OutputFault { shown: Some(sides), ..fault("EVT-CALL", "the text", FaultKind::Foreign) }
        };
        let other_place = OutputFault { clause: "STR-1".into(), place: "a result".into(), ..shown("None") };
        let [one, two, three] = [[name(), shown("{'a': 1}")], [name(), other_place], [shown("{'b': 2}"), name()]];
        let quotes = [fault("ESC-1", "quotes", FaultKind::Unescaped)];
        let in_attribute = [fault("ATT-ESCAPED", "quotes", FaultKind::Unescaped)];
        let failures: Vec<Symptoms<'_>> = [&one[..], &two, &three, &quotes, &in_attribute, &one[..1]]
            .map(|faults| failure(Verdict::Fail, "", faults))
            .into();
        let found = grouped(&failures);
        // Escaping comes first, then what is in the most cases; the clearest case has one fault only.
        assert_eq!(found[0], ("quotes are not escaped".to_owned(), vec![3, 4]));
        assert_eq!(found[1], ("attribute `name` is missing".to_owned(), vec![5, 0, 1, 2]));
        assert_eq!(found[2].1, [0, 1, 2]);
        assert!(found[2].0.ends_with("`{'a': 1}`, expected `{\"a\":1}`"), "{}", found[2].0);
        assert_eq!(found.len(), 3);
    }

    #[test]
    fn what_was_found_beside_a_case_is_told_with_the_failures_that_show_it() {
        let own =
            failure(Verdict::Fail, "AGENT-TEXT: request 1, message 2: `a` became `b`\nAGENT-IDS: `c1` is lost", &[]);
        let beside = |note| Symptoms { is_beside: true, ..failure(Verdict::Fail, note, &[]) };
        let failures = [
            beside("AGENT-TEXT: request 3, message 1: `c` became `d`"),
            own,
            beside("AGENT-ORDER: the answers are swapped"),
            beside("AGENT-IDS: `c2` is lost"),
            beside("AGENT-ORDER: the answers are swapped"),
        ];
        let found = causes(&failures);
        let members: Vec<&[usize]> = found.iter().map(|cause| &*cause.members).collect();
        assert_eq!(members, [&[1, 3, 0][..], &[2, 4]]);
        assert_eq!([&*found[0].clause, &*found[1].clause], ["AGENT-TEXT", "AGENT-ORDER"]);
    }

    #[test]
    fn what_follows_from_other_faults_is_no_cause() {
        let place = |number: usize| fault("DOC-2", &format!("place {number}"), FaultKind::Other);
        let many: Vec<OutputFault> = (0..9).map(place).collect();
        let found = grouped(&[failure(Verdict::Fail, "", &many), failure(Verdict::Fail, "", &many[..1])]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].1, [1, 0]);
        // If nothing else is known of a failure, it is still told.
        let found = grouped(&[failure(Verdict::Fail, "", &many)]);
        assert_eq!(found.iter().map(|(_, members)| members.clone()).collect::<Vec<_>>(), [[0]]);
    }

    #[test]
    fn causes_stand_in_the_order_in_which_things_are_built() {
        let clauses = ["LOOP-EVENTS", "TOOLS-ID", "MSG-CALL", "JSON-1", "ESC-CR"];
        let faults = clauses.map(|clause| [fault(clause, clause, FaultKind::Other)]);
        let failures = faults.each_ref().map(|faults| failure(Verdict::Fail, "", faults));
        let members: Vec<_> = grouped(&failures).into_iter().map(|(_, members)| members[0]).collect();
        assert_eq!(members, [4, 3, 2, 1, 0]);
    }

    #[test]
    fn the_clearest_case_is_an_ordinary_one() {
        let faults = [fault("ATT-NAME", "attribute `name`", FaultKind::Missing)];
        let of = |size, is_ordinary| Symptoms { size, is_ordinary, ..failure(Verdict::Fail, "", &faults) };
        let found = grouped(&[of(1, false), of(9, true), of(5, true)]);
        assert_eq!(found[0].1, [2, 1, 0]);
        for (id, special) in [
            ("serialize/pairs/row-177-literal", true),
            ("serialize/state/no-events-after-some", true),
            ("serialize/names/rows", false),
        ] {
            assert_eq!(is_special(id), special, "{id}");
        }
    }

    #[test]
    fn a_run_file_without_faults_has_causes_too() {
        let sides = Sides::Texts { expected: "a".into(), actual: "b".into() };
        let mismatches = [Mismatch { path: "/0/content".into(), sides }];
        let found = grouped(&[Symptoms { mismatches: &mismatches, ..failure(Verdict::Fail, "", &[]) }]);
        assert_eq!(found, [("`content` is `b`, expected `a`".to_owned(), vec![0])]);
        assert_eq!(grouped(&[failure(Verdict::Fail, "", &[])]), [("it failed".to_owned(), vec![0])]);
    }

    #[test]
    fn lines_that_show_both_sides_are_no_causes() {
        let note = |sent: &str| {
            format!(
                "GATE-TEXT: request 1: the text was `{sent}`\n    sent     {sent}\n    arrived  x\n    curl -sS {sent}"
            )
        };
        let [one, other] = [note("one"), note("other")];
        let found = noted(&[(Verdict::Fail, &one), (Verdict::Fail, &other)]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(!found[0].0.contains("curl") && found[0].1 == [0, 1], "{found:?}");
    }

    #[test]
    fn crashes_are_told_apart_by_their_last_words_and_not_by_their_numbers() {
        let crash = |stderr: &str| {
            let ended = "before its reply it ended (exit status: 1); its stderr ends with:";
            format!("{ended}\n  | {stderr}\nby itself: run alone, it ends in the same way")
        };
        let found = noted(&[
            (Verdict::Crash, &crash("Error: at\n  | TypeError: 'x' is undefined at line 17")),
            (Verdict::Crash, &crash("TypeError: 'y' is undefined at line 18")),
            (Verdict::Crash, &crash("out of memory")),
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
        let found = noted(&[
            (Verdict::Fail, &result("[1, \"]\"]")),
            (Verdict::Fail, &format!("START: the system is lost\n{}", result("{\"a\": [\"\\\"\", {}]}"))),
            (Verdict::Fail, "START: the system is lost"),
            (Verdict::Fail, &result("{}")),
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
            said("request 2, message 3", "…⟨171 equal⟩…é and more\"", "…⟨171 equal⟩…é\""),
        ];
        let found = noted(&notes.each_ref().map(|note| (Verdict::Fail, &**note)));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].0, "RESULT: the result … became …");
    }

    #[test]
    fn a_place_inside_a_value_and_the_length_of_a_list_make_no_other_cause() {
        for [one, other] in [
            [
                "R: the arguments of `c1`: at /no: false became \"False\"",
                "R: the arguments of `x`: at /a/b/0: true became \"True\"",
            ],
            [
                "E: message 2 is missing: a message with the calls `a`, `b`",
                "E: message 4 is missing: a message with the calls `c`",
            ],
        ] {
            assert_eq!(noted(&[(Verdict::Fail, one), (Verdict::Fail, other)]).len(), 1, "{one}");
        }
    }

    #[test]
    fn warnings_stand_behind_what_counts() {
        let found = noted(&[
            (Verdict::Fail, "warning: one"),
            (Verdict::Fail, "DOC-1: two"),
            (Verdict::Rejected, "warning: three"),
            (Verdict::Rejected, "warning: three"),
            (Verdict::Rejected, "warning: three"),
            (Verdict::Crash, "one"),
        ]);
        let members: Vec<_> = found.into_iter().map(|(_, members)| members).collect();
        assert_eq!(members, [vec![1], vec![5], vec![2, 3, 4], vec![0]]);
    }

    #[test]
    fn what_hurts_most_stands_first() {
        let found = noted(&[
            (Verdict::Fail, "A: text, severity C"),
            (Verdict::Fail, "A: text, severity C"),
            (Verdict::Fail, "warning: x, severity A"),
            (Verdict::Fail, "B: number\nseverity C"),
            (Verdict::Fail, "B: number\nlong, severity B"),
            (Verdict::Fail, "B: number\nlong, long, severity B"),
            (Verdict::Fail, "C: end, severity A"),
        ]);
        let members: Vec<_> = found.into_iter().map(|(_, members)| members).collect();
        assert_eq!(members, [vec![6], vec![4, 5, 3], vec![0, 1], vec![2]]);
    }

    #[test]
    fn every_failure_has_a_cause() {
        let places: Vec<OutputFault> =
            (0..8).map(|n| fault("DOC-2", &format!("place {n}"), FaultKind::Other)).collect();
        let failures: Vec<_> = (0..40_usize).map(|n| failure(Verdict::Fail, "", &places[..=n % 8])).collect();
        let mut members: Vec<usize> = grouped(&failures).into_iter().flat_map(|(_, members)| members).collect();
        members.sort_unstable();
        members.dedup();
        assert_eq!(members, (0..40).collect::<Vec<_>>());
    }
}
