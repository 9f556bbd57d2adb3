//! Faults as data: a name, the clauses that it breaks, where it happens, what happens, and with which sizes.

use crate::agent::taps::Operator::{Inside, List, ListBy, Text, TextBy, ValueBy};
use crate::agent::taps::TapSite::{
    Answers, ArgumentNames, Arguments, BesideCalls, Calls, Failure, Given, GivenList, InResult, Result, Said,
    Structured,
};
use crate::agent::taps::{Operator, TapSite};
use crate::universal::prelude::*;

const ANY: TapSite = Given("");
const QUESTION: TapSite = Given("human");
const INSTRUCTIONS: TapSite = Given("system");
const GIVEN_RESULT: TapSite = Given("tool");
const GIVEN_ANSWER: TapSite = Given("ai");

/// One fault for each size, or a single one. `{n}` in the name stands for the size.
struct BugRow {
    name: &'static str,
    breaks: &'static [&'static str],
    site: TapSite,
    operator: Operator,
    sizes: &'static [usize],
}

const fn row(name: &'static str, breaks: &'static [&'static str], site: TapSite, operator: Operator) -> BugRow {
    BugRow { name, breaks, site, operator, sizes: &[0] }
}

const fn edits(
    name: &'static str,
    breaks: &'static [&'static str],
    site: TapSite,
    edit: fn(&str, usize) -> String,
    sizes: &'static [usize],
) -> BugRow {
    BugRow { name, breaks, site, operator: TextBy(edit, 0), sizes }
}

const fn values(
    name: &'static str,
    breaks: &'static [&'static str],
    site: TapSite,
    change: fn(&mut Value, usize),
    sizes: &'static [usize],
) -> BugRow {
    BugRow { name, breaks, site, operator: ValueBy(change, 0), sizes }
}

const fn lists(
    name: &'static str,
    breaks: &'static [&'static str],
    site: TapSite,
    cut: fn(&mut Vec<Value>, usize),
    sizes: &'static [usize],
) -> BugRow {
    BugRow { name, breaks, site, operator: ListBy(cut, 0), sizes }
}

/// What happens to texts.
#[rustfmt::skip]
const TEXTS: &[BugRow] = &[
    row("results-without-tokens", TEXT, Result, Text(op::without_tokens)),
    row("results-without-colours", TEXT, Result, Text(op::without_colours)),
    row("results-without-invisible-characters", TEXT, Result, Text(op::visible)),
    row("results-with-unix-line-ends", TEXT, Result, Text(op::unix_lines)),
    row("results-up-to-nul", TEXT, Result, Text(op::up_to_nul)),
    row("results-in-the-basic-plane", TEXT, Result, Text(op::basic_plane)),
    row("results-trimmed-behind", TEXT, Result, Text(op::trimmed_behind)),
    row("results-with-spaces-joined", TEXT, Result, Text(op::spaces_joined)),
    row("results-with-the-home-expanded", TEXT, Result, Text(op::home_expanded)),
    row("results-with-tabs-as-spaces", TEXT, Result, Text(op::tabs_as_spaces)),
    row("results-that-are-white-space-emptied", TEXT, Result, Text(op::white_space_emptied)),
    row("results-split-into-lines-and-joined", TEXT, Result, Text(op::split_lines)),
    row("results-split-at-line-feeds-and-joined", TEXT, Result, Text(|text| text.trim_end_matches('\n').to_owned())),
    row("results-as-replacements-in-java", TEXT, Result, Text(op::javas_replacement)),
    row("results-as-formats-in-go", TEXT, Result, Text(op::gos_format)),
    row("results-decoded-as-urls", TEXT, Result, Text(op::url_decoded)),
    row("results-in-latin-1", TEXT, Result, Text(op::latin_1)),
    row("results-without-their-byte-order-mark", TEXT, Result, Text(|text| text.strip_prefix('\u{feff}').unwrap_or(text).to_owned())),
    row("results-of-one-zero-emptied", RESULT, Result, Text(|text| if text == "0" { String::new() } else { text.to_owned() })),
    row("carriage-returns-of-responses-lost", TEXT, Said, Text(|text| text.replace('\r', ""))),
    row("lines-of-responses-that-begin-with-data-unpacked", TEXT, Said, Text(|text| text.strip_prefix("data: ").unwrap_or(text).to_owned())),
    row("questions-without-tokens", TEXT, ANY, Text(op::without_tokens)),
    row("texts-up-to-nul", TEXT, ANY, Text(op::up_to_nul)),
    row("responses-up-to-nul", TEXT, Said, Text(op::up_to_nul)),
    row("arguments-up-to-nul", TEXT, Arguments, Text(op::up_to_nul)),
    row("errors-up-to-nul", TOLD, Failure, Text(op::up_to_nul)),

    edits("results-cut-at-{n}-characters", TEXT, Result, op::first, &[1_000, 10_000, 65_536, 262_144, 500_000, 1_000_000, 2_000_000]),
    edits("results-end-at-{n}-characters", TEXT, Result, op::first, &[300_000, 1_048_576, 2_900_000]),
    edits("questions-cut-at-{n}-characters", TEXT, ANY, op::first, &[1_000, 20_000]),
    edits("questions-cut-at-{n}-characters", TEXT, QUESTION, op::first, &[100_000, 500_000]),
    edits("system-message-cut-at-{n}-characters", TEXT, INSTRUCTIONS, op::first, &[4_096, 100_000]),
    edits("responses-cut-at-{n}-characters", TEXT, Said, op::first, &[5_000, 60_000, 250_000]),
    edits("structured-results-cut-at-{n}-characters", RESULT, Structured, op::first, &[20, 1_000, 10_000, 100_000, 1_000_000]),
    edits("questions-end-at-{n}-characters", TEXT, QUESTION, op::first, &[65_536, 300_000]),
    edits("instructions-end-at-{n}-characters", TEXT, INSTRUCTIONS, op::first, &[32_768, 100_000]),
    edits("given-results-end-at-{n}-characters", TEXT, GIVEN_RESULT, op::first, &[2_000, 100_000]),
    edits("given-answers-end-at-{n}-characters", TEXT, GIVEN_ANSWER, op::first, &[2_000, 100_000]),
    edits("texts-beside-calls-end-at-{n}-characters", TEXT, Said, op::first, &[4_096, 100_000]),
    edits("arguments-cut-at-{n}-characters", TEXT, Arguments, op::first, &[1_000, 16_000, 65_536, 262_144]),
    edits("arguments-end-at-{n}-characters", TEXT, Arguments, op::first, &[65_536, 200_000, 1_900_000]),
    edits("structured-results-end-at-{n}-characters", RESULT, Structured, op::first, &[50_000, 190_000]),
    edits("errors-end-at-{n}-characters", TOLD, Failure, op::first, &[5_000, 50_000]),
    edits("results-cut-in-the-middle-beyond-{n}-characters", TEXT, Result, op::middle_cut, &[2_000, 200_000]),
    edits("lines-wrapped-at-{n}", TEXT, Result, op::wrapped, &[1_000, 20_000]),
    edits("long-lines-wrapped-at-{n}", TEXT, Result, op::wrapped_once, &[65_536, 2_000_000]),
    edits("at-most-{n}-lines-of-a-result", TEXT, Result, op::first_lines, &[200, 10_000]),
    edits("lines-beyond-{n}-left-out", TEXT, Result, op::first_lines, &[2_000, 19_999]),
    // Readers that work piece by piece, and lose what lies on a border.
    edits("results-decoded-in-pieces-of-{n}-bytes", TEXT, Result, op::bytes_in_pieces, &[1_024, 4_096, 8_192, 16_384]),
    edits("results-split-at-{n}-bytes", TEXT, Result, op::bytes_in_pieces, &[1_024, 8_192, 65_536]),
    edits("questions-split-at-{n}-bytes", TEXT, QUESTION, op::bytes_in_pieces, &[16, 4_096]),
    edits("responses-split-at-{n}-bytes", TEXT, Said, op::bytes_in_pieces, &[7, 256, 4_096]),
    edits("responses-split-at-{n}-units", TEXT, Said, op::units_in_pieces, &[2, 16, 64, 1_000]),
    edits("blank-pieces-of-{n}-of-responses-lost", TEXT, Said, op::without_blank_pieces, &[1, 4, 8]),
    edits("results-in-pieces-of-{n}-units", TEXT, Result, op::units_in_pieces, &[1_024, 4_096, 16_384]),
    edits("escapes-of-results-in-pieces-of-{n}-bytes", TEXT, Result, op::escapes_in_pieces, &[1_024, 4_096, 16_384]),
    edits("line-ends-at-borders-of-{n}-bytes-lost", TEXT, Result, op::returns_lost, &[4_096, 16_384]),
    edits("results-of-a-multiple-of-{n}-characters-cut", RESULT, Result, op::multiple_cut, &[7]),
    edits("results-of-a-multiple-of-{n}-characters-cut", TEXT, Result, op::multiple_cut, &[100, 255]),
    edits("texts-of-exactly-{n}-characters-cut", TEXT, Result, op::multiple_beyond_ascii_cut, &[1_000, 1_024]),
    edits("emoji-behind-{n}-characters-lost", TEXT, Result, op::emoji_lost, &[63, 1_023, 8_191]),
    edits("arguments-decoded-in-pieces-of-{n}-bytes", TEXT, Arguments, op::bytes_in_pieces, &[256, 1_024]),
    edits("escapes-of-arguments-in-pieces-of-{n}-bytes", TEXT, Arguments, op::escapes_in_pieces, &[256, 1_024]),
    edits("arguments-of-exactly-{n}-characters-cut", TEXT, Arguments, op::exact_cut, &[64, 512]),
    edits("names-of-arguments-decoded-in-pieces-of-{n}-bytes", RESPONSE, ArgumentNames, op::bytes_in_pieces, &[8, 16]),
    edits("texts-beside-calls-decoded-in-pieces-of-{n}-bytes", TEXT, BesideCalls, op::bytes_in_pieces, &[1_024, 4_096]),
    edits("questions-decoded-in-pieces-of-{n}-bytes", TEXT, QUESTION, op::bytes_in_pieces, &[1_024, 4_096]),
    edits("instructions-decoded-in-pieces-of-{n}-bytes", TEXT, INSTRUCTIONS, op::bytes_in_pieces, &[256, 1_024]),
    edits("structured-results-in-pieces-of-{n}-bytes", TEXT, Structured, op::bytes_in_pieces, &[1_024, 4_096]),
    edits("errors-decoded-in-pieces-of-{n}-bytes", TOLD, Failure, op::bytes_in_pieces, &[256, 1_024]),
];

/// Where a text can be, with the clause of a changed text that AGENT-TEXT does not list.
const POSITIONS: [(&str, TapSite, &[&str]); 9] = [
    ("questions", QUESTION, START),
    ("system-texts", INSTRUCTIONS, START),
    ("answers-of-the-history", GIVEN_ANSWER, START),
    ("results-of-the-history", GIVEN_RESULT, START),
    ("responses", Said, RESPONSE),
    ("arguments", Arguments, RESPONSE),
    ("results", Result, RESULT),
    ("texts-in-structured-results", InResult, TEXT),
    ("errors", Failure, TOLD),
];

/// What happens inside arguments and results.
#[rustfmt::skip]
const VALUES: &[BugRow] = &[
    values("members-beyond-{n}-dropped", RESULT, InResult, op::first_members, &[1_024, 9_999]),
    values("elements-beyond-{n}-dropped", RESULT, InResult, op::first_elements, &[1_024, 9_999]),
    values("results-with-at-most-{n}-members", RESULT, InResult, op::own_members, &[1, 10, 100, 999, 5_000]),
    values("results-with-at-most-{n}-elements", RESULT, InResult, op::first_elements, &[100, 1_000, 10_000]),
    values("results-deeper-than-{n}-cut", RESULT, InResult, op::pruned, &[1, 3, 10, 50]),
    values("escapes-of-arguments-split-at-{n}-characters", TEXT, Arguments, op::escapes_split, &[8, 32, 128]),
    values("results-below-level-{n}-lost", RESULT, InResult, op::pruned, &[16, 32]),
    values("only-the-first-{n}-arguments", RESPONSE, Arguments, op::own_members, &[1, 20, 199, 500, 2_000]),
    values("arguments-beyond-{n}-dropped", RESPONSE, Arguments, op::own_members, &[256, 1_999]),
    values("elements-of-arguments-beyond-{n}-dropped", RESPONSE, Arguments, op::first_elements, &[1_024, 9_999]),
    values("arguments-deeper-than-{n}-dropped", RESPONSE, Arguments, op::pruned, &[1, 4, 8]),
    values("arguments-below-level-{n}-lost", RESPONSE, Arguments, op::pruned, &[16, 32]),
    row("dates-of-results-written-anew", RESULT, InResult, Inside(op::date_anew)),
    row("dates-of-arguments-written-anew", RESPONSE, Arguments, Inside(op::date_anew)),
    row("members-of-results-with-a-dollar-sign-dropped", RESULT, InResult, Inside(op::without_dollar_members)),
    row("arguments-with-a-dollar-sign-dropped", RESPONSE, Arguments, Inside(op::without_dollar_members)),
    row("results-that-look-like-lists-become-lists", RESULT, InResult, Inside(op::as_list)),
    row("numbers-of-results-off-by-one-place", NUMBERS, InResult, Inside(op::nearly)),
    row("numbers-of-arguments-off-by-one-place", NUMBERS, Arguments, Inside(op::nearly)),
];

fn is_failure(answer: &Value) -> bool {
    words(answer).starts_with("The tool failed")
}

/// What happens to lists: the messages that are given, the calls of a response, and their answers.
#[rustfmt::skip]
const LISTS: &[BugRow] = &[
    row("only-the-first-call-answered", ANSWERED, Answers, List(|answers| answers.truncate(1))),
    row("only-the-last-call-answered", ANSWERED, Answers, List(|answers| op::last(answers, 1))),
    row("no-call-answered", ANSWERED, Answers, List(Vec::clear)),
    row("every-hundredth-call-unanswered", ANSWERED, Answers, List(|answers| op::nth_lost(answers, 100))),
    row("answers-sent-twice", ANSWERED, Answers, List(|answers| answers.extend_from_within(..))),
    row("last-answer-sent-twice", ANSWERED, Answers, List(|answers| answers.extend_from_within(answers.len() - 1..))),
    row("equal-answers-merged", ANSWERED, Answers, List(|answers| answers.dedup_by(|one, other| one["content"] == other["content"]))),
    row("all-answers-in-one", ANSWERED, Answers, List(op::joined)),
    row("answers-as-questions", ANSWERED, Answers, List(|answers| {
        answers.iter_mut().for_each(|answer| *answer = json!({"type": "human", "content": answer["content"]}));
    })),
    row("question-between-answers", ANSWERED, Answers, List(|answers| {
        if answers.len() > 1 {
            answers.insert(1, json!({"type": "human", "content": "Wait."}));
        }
    })),
    row("question-between-call-and-answer", ANSWERED, Answers, List(|answers| {
        answers.insert(0, json!({"type": "human", "content": "Calling."}));
    })),
    row("answers-under-the-first-id", ANSWERED, Answers, List(|answers| {
        let first = answers[0]["tool_call_id"].clone();
        answers.iter_mut().for_each(|answer| answer["tool_call_id"] = first.clone());
    })),
    row("missing-ids-answered-under-none", ANSWERED, Answers, List(|answers| {
        let nameless = answers.iter_mut().filter(|one| text(&one["tool_call_id"]).is_empty());
        nameless.for_each(|one| *one = answer(&json!({"id": "none"}), one["content"].clone()));
    })),
    row("answers-without-an-id", VALID, Answers, List(|answers| {
        answers.iter_mut().for_each(|answer| answer["tool_call_id"] = Value::Null);
    })),
    row("failures-answered-without-an-id", VALID, Answers, List(|answers| {
        let failed = answers.iter_mut().filter(|answer| words(answer).starts_with("The"));
        failed.for_each(|answer| answer["tool_call_id"] = Value::Null);
    })),
    row("empty-answers-without-content", RESULT, Answers, List(|answers| {
        let empty = answers.iter_mut().filter(|answer| matches!(words(answer), "" | "null" | "[]"));
        empty.for_each(|answer| answer["content"] = Value::Null);
    })),
    row("answers-in-reverse", ORDER, Answers, List(|answers| answers.reverse())),
    row("answers-sorted-by-id", ORDER, Answers, List(|answers| answers.sort_by_key(|answer| text(&answer["tool_call_id"]).to_owned()))),
    row("answers-in-the-order-of-hashes", ORDER, Answers, List(|answers| answers.sort_by_key(|answer| op::bucket(text(&answer["tool_call_id"]), 0)))),
    row("failures-last", ORDER, Answers, List(|answers| answers.sort_by_key(is_failure))),
    row("unknown-tools-last", ORDER, Answers, List(|answers| answers.sort_by_key(|answer| words(answer).starts_with("There is no tool")))),
    row("short-answers-first", ORDER, Answers, List(|answers| answers.sort_by_key(|answer| words(answer).len()))),
    row("calls-repeated-in-reverse", RESPONSE, Calls, List(|calls| calls.reverse())),

    lists("only-{n}-calls-answered", ANSWERED, Answers, Vec::truncate, &[2, 5, 16, 64, 256, 512, 1_000]),
    lists("calls-beyond-{n}-unanswered", ANSWERED, Answers, Vec::truncate, &[299, 1_024, 2_569]),
    lists("results-beyond-{n}-wrap-around", RESULT, Answers, op::wrapped_around, &[512, 2_048]),
    lists("results-of-a-round-beyond-{n}-characters-emptied", RESULT, Answers, op::behind_a_budget, &[300_000, 1_800_000]),
    lists("failures-beyond-{n}-unanswered", FAILURE, Answers, |answers, n| {
        let mut failures = 0;
        answers.retain(|answer| {
            failures += usize::from(is_failure(answer));
            failures <= n || !is_failure(answer)
        });
    }, &[50, 99]),
    lists("answers-from-number-{n}-on-come-first", ORDER, Answers, op::rotated, &[2, 9, 65, 250]),
    lists("answers-beyond-{n}-come-first", ORDER, Answers, op::rotated, &[300, 2_048]),
    lists("only-the-first-{n}-calls", RESPONSE, Calls, Vec::truncate, &[1, 2, 10, 32, 128, 256, 512, 1_000, 2_000]),
    lists("calls-beyond-{n}-not-repeated", RESPONSE, Calls, Vec::truncate, &[300, 2_560]),
    lists("history-cut-to-the-last-{n}-messages", START, GivenList, op::last, &[4, 20, 100, 999, 2_000, 5_000]),
    lists("newest-{n}-messages-given", START, GivenList, op::last, &[1_024, 4_096, 10_000]),
    lists("given-rounds-before-the-last-{n}-messages-dropped", START, GivenList, op::without_old_rounds, &[128, 996]),
    lists("list-of-a-multiple-of-{n}-loses-its-first", START, GivenList, op::full_loses_its_first, &[16, 64, 256]),
];

/// The faults of all rows.
pub(super) fn bugs() -> Vec<Planted> {
    let of_row = |row: &'static BugRow| {
        row.sizes.iter().map(move |&n| {
            let operator = row.operator.with(n);
            bug(&row.name.replace("{n}", &n.to_string()), row.breaks, move |agent| {
                agent.taps.0.push((row.site, operator))
            })
        })
    };
    let everywhere = POSITIONS.iter().flat_map(|&(place, site, clause)| {
        // White space at the ends of an error is nobody's; no case has what AGENT-TEXT does not list inside a result.
        let is_judged =
            move |what: &str, is_listed| (site != Failure || what != "trimmed") && (site != InResult || is_listed);
        let hazards = op::HAZARDS.iter().filter(move |(what, _, is_listed)| is_judged(what, *is_listed));
        hazards.map(move |&(what, edit, is_listed)| {
            let breaks = if is_listed && site != Failure { TEXT } else { clause };
            bug(&format!("{place}-{what}"), breaks, move |agent| agent.taps.0.push((site, Text(edit))))
        })
    });
    [TEXTS, VALUES, LISTS].into_iter().flatten().flat_map(of_row).chain(everywhere).collect()
}
