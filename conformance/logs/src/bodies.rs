//! Judges one body, or one history, alone: by the rules of its API, and by a server's verdict, which outranks them.

use super::finding::{Element, Finding, Level, Place};
use super::forms::{LoggedTurn, ServerVerdict};
use super::rules::{self, family, finding, of_breach};
use super::thread::{LoggedThread, SAID_AT_ONCE, SAID_TWICE};
use serde_json::Value;
use std::collections::HashSet;
use std::fmt::Arguments;
use threadspec::MemberLookup;
use threadspec::oracle::{
    Api, Breach, RequestContext, RequestForm, RequestHeaders, provider_breaches_in, provider_breaches_with,
};
use threadspec_golden::provider_rules;
use threadspec_judge::protocol::facts;
use threadspec_judge::text::cut;

// Judges one body, or one history, alone: by the rules of its API, and by the neutral ones.

/// Judges messages whose form is not an API's.
pub(super) fn of_turns(turns: &[LoggedTurn], place: &Place, may_go_on: bool) -> Vec<Finding> {
    // A history that begins with a result goes on from one that the server keeps.
    let first = turns.iter().find(|turn| turn.message["role"] != "system");
    let is_kept = first.is_some_and(|turn| turn.message["role"] == "tool");
    let mut thread = if is_kept { LoggedThread::from_the_middle(0) } else { LoggedThread::default() };
    let mut found = Vec::new();
    for (position, LoggedTurn { message, path }) in turns.iter().enumerate() {
        // What is several messages here may be one where it is.
        let number = position_in(path).unwrap_or(position) + 1;
        let element = Some(Element { kind: "message", number });
        found.extend(thread.push(message, &Place { element, path: path.clone(), ..place.clone() }));
    }
    found.extend(thread.conclude(may_go_on));
    found
}

/// The position in a list with which a path ends.
fn position_in(path: &str) -> Option<usize> {
    path.strip_suffix(']')?.rsplit_once('[')?.1.parse().ok()
}

/// Judges a body in a form with rules of its own, with the faults that only the neutral rules find.
pub(super) fn of_form(
    form: RequestForm,
    body: &Value,
    turns: &[LoggedTurn],
    is_whole: bool,
    is_sent: bool,
    request: &Place,
) -> Vec<Finding> {
    let list = match form {
        RequestForm::Api(api) => body.member(facts(api).list),
        RequestForm::BedrockConverse => body.member("messages"),
    };
    let length = list.as_array().map_or(0, Vec::len);
    // The element at which a breach is; the end is behind the last one.
    let position = |breach: &Breach| match in_path(request, &breach.place).element {
        Some(element) => element.number - 1,
        None => length,
    };
    let mut breaches = provider_breaches_in(form, body);
    breaches.retain(|breach| {
        let family = family(breach.rule);
        // What an end without results is, the neutral rules say; what nobody is sure of, a history is not accused of.
        let is_end = family == "answered" && (!breach.is_certain || (!is_sent && position(breach) == length));
        (is_whole || !OF_WHOLE.contains(&family)) && !is_end && (is_sent || breach.is_certain)
    });
    let mut found: Vec<Finding> =
        breaches.iter().map(|breach| of_breach(breach, in_path(request, &breach.place))).collect();
    let is_told = |one: &Finding| {
        let Some(at) = position_in(&one.place.path) else { return false };
        breaches.iter().any(|breach| match one.rule {
            "LOG-ANSWERED" | "LOG-OPEN" => family(breach.rule) == "answered" && position(breach) == at + 1,
            "LOG-ORPHAN" | "LOG-ONCE" => matches!(breach.rule, "BED-COUNT" | "GEM-COUNT") && position(breach) == at,
            _ => false,
        })
    };
    found.extend(of_turns(turns, request, !is_sent).into_iter().filter(|one| !is_told(one)));
    found
}

/// Families of rules that say something only of a whole body, as it was sent.
const OF_WHOLE: [&str; 3] = ["required", "version", "tool-options"];
/// Families of rules on the end of a request, which a history that is alone has not.
const OF_END: [&str; 2] = ["prefill", "trailing"];

/// Judges a body of an API, with its headers, if they are known.
pub(super) fn of_body(
    api: Api,
    (body, headers): (&Value, Option<RequestHeaders<'_>>),
    is_whole: bool,
    is_sent: bool,
    request: &Place,
) -> Vec<Finding> {
    let context = RequestContext { headers, ..RequestContext::default() };
    let mut breaches = provider_breaches_with(api, &context, body);
    let messages = list_of(api, body);
    let is_noted = messages.len() > 1 && messages.iter().all(has_more_members);
    breaches.retain(|breach| {
        let family = family(breach.rule);
        // What a program keeps beside all of its messages, it does not send.
        let is_kept = family == "extra" && breach.variant == Some("message") && (!is_sent || is_noted);
        // Nor how it keeps arguments, or that there are no calls.
        let is_saved = !is_sent && (breach.rule.ends_with("-ARGS-STRING") || family == "calls-nonempty");
        (is_whole || !OF_WHOLE.contains(&family)) && (is_sent || !OF_END.contains(&family)) && !is_kept && !is_saved
    });
    let open_from = if is_sent { usize::MAX } else { open_end(api, body) };
    let mut found: Vec<Finding> =
        breaches.iter().map(|breach| told(request, breach, family(breach.rule), open_from)).collect();
    found.extend(objects_as_text(api, body).into_iter().map(|path| {
        let what = "the result is JavaScript's text of an object, not its content";
        finding(rules::LOST_RESULT, in_path(request, &path), what)
    }));
    let twice = said_twice(api, body).into_iter().map(|path| (path, SAID_TWICE));
    let at_once = said_at_once(api, body).into_iter().map(|path| (path, SAID_AT_ONCE));
    found.extend(twice.chain(at_once).map(|(path, what)| finding("LOG-TWICE", in_path(request, &path), what)));
    found
}

/// The messages or items of a body.
pub(super) fn list_of(api: Api, body: &Value) -> &[Value] {
    body.member(facts(api).list).as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Returns whether a message has more than a role and content.
pub(super) fn has_more_members(message: &Value) -> bool {
    message.as_object().is_some_and(|members| members.keys().any(|name| !["role", "content"].contains(&&**name)))
}

/// Returns whether every one of the messages breaks the same rule about its form: then they are not in the words of this API.
pub(super) fn is_unlike(found: &[Finding], messages: usize) -> bool {
    const FORMS: [&str; 4] = ["-ROLE", "-CONTENT-TYPE", "-ITEM-TYPE", "-TEXT-TYPE"];
    let at = |rule: &str| {
        let of_rule = found.iter().filter(|one| one.rule == rule);
        of_rule.filter_map(|one| one.place.element).collect::<HashSet<Element>>().len()
    };
    messages > 1
        && found.iter().any(|one| FORMS.iter().any(|form| one.rule.ends_with(form)) && at(one.rule) == messages)
}

/// The paths of messages in which the user says the same as in the message before.
fn said_twice(api: Api, body: &Value) -> Vec<String> {
    let is_again = |pair: &[Value]| pair[1].member("role") == "user" && pair[0] == pair[1];
    let pairs = list_of(api, body).windows(2).enumerate().filter(|(_, pair)| is_again(pair));
    pairs.map(|(position, _)| format!("{}[{}]", facts(api).list, position + 1)).collect()
}

/// The paths of answers behind two messages of the user, of which the first one was not answered before the second.
fn said_at_once(api: Api, body: &Value) -> Vec<String> {
    let is_text = |part: &Value| matches!(part.member("type").as_str(), Some("text" | "input_text" | "output_text"));
    let says = |message: &Value, role: &str| {
        let content = message.member("content");
        let is_said = content.is_string() || content.as_array().is_some_and(|parts| parts.iter().all(is_text));
        message.member("role") == role && is_said && message.member("tool_calls").is_null()
    };
    let is_so =
        |four: &[Value]| four.iter().zip(["user", "user", "assistant", "assistant"]).all(|(one, role)| says(one, role));
    let fours = list_of(api, body).windows(4).enumerate().filter(|(_, four)| is_so(four));
    fours.map(|(position, _)| format!("{}[{}]", facts(api).list, position + 3)).collect()
}

/// From which element on a history is open: behind its last calls are only results, of which some may be missing.
fn open_end(api: Api, body: &Value) -> usize {
    let list = list_of(api, body);
    let has = |item: &Value, kind: &str| {
        item.member("content").as_array().into_iter().flatten().any(|block| block.member("type") == kind)
    };
    let kind = |item: &Value, end: &str| item.member("type").as_str().is_some_and(|kind| kind.ends_with(end));
    let is_result = |item: &&Value| match api {
        Api::OpenAiChat => item.member("role") == "tool",
        Api::Anthropic => has(item, "tool_result"),
        Api::Gemini => false,
        Api::OpenAiResponses => kind(item, "_output"),
    };
    let is_call = |item: &&Value| match api {
        Api::OpenAiChat => item.member("tool_calls").as_array().is_some_and(|calls| !calls.is_empty()),
        Api::Anthropic => has(item, "tool_use"),
        Api::Gemini => false,
        // Calls of one answer are items of their own.
        Api::OpenAiResponses => kind(item, "_call") || kind(item, "reasoning"),
    };
    let results = list.iter().rev().take_while(is_result).count();
    let before = &list[..list.len() - results];
    let calls = before.iter().rev().take_while(is_call).count();
    // Only Responses has more than one item for the calls of an answer.
    let calls = if api == Api::OpenAiResponses { calls } else { calls.min(1) };
    if calls == 0 { usize::MAX } else { before.len() - calls }
}

/// A breach as a finding.
fn told(request: &Place, breach: &Breach, family: &str, open_from: usize) -> Finding {
    let place = in_path(request, &breach.place);
    let is_at_end = place.element.is_none_or(|element| element.number > open_from);
    if family == "answered" && open_from != usize::MAX && is_at_end {
        return finding("LOG-OPEN", place, format!("the log ends before all calls have a result: {}", breach.what));
    }
    of_breach(breach, place)
}

/// The place of a path in a request: `messages[4].tool_call_id` is in message 5.
pub(super) fn in_path(request: &Place, path: &str) -> Place {
    let number = |list: &str| path.strip_prefix(list)?.split_once(']')?.0.parse::<usize>().ok();
    let message = number("messages[")
        .or_else(|| number("contents["))
        .map(|position| Element { kind: "message", number: position + 1 });
    let item = || number("input[").map(|position| Element { kind: "item", number: position + 1 });
    Place { element: message.or_else(item), path: path.to_owned(), ..request.clone() }
}

/// The paths of results that read `[object Object]`: JavaScript's text of an object, instead of what is in it.
fn objects_as_text(api: Api, body: &Value) -> Vec<String> {
    let is_lost = |text: &Value| {
        text.as_str().is_some_and(|text| !text.is_empty() && text.split(',').all(|part| part == "[object Object]"))
    };
    let mut found = Vec::new();
    let mut look = |place: Arguments<'_>, content: &Value| {
        if is_lost(content) {
            found.push(place.to_string());
        }
        let parts =
            content.as_array().into_iter().flatten().enumerate().filter(|(_, part)| is_lost(part.member("text")));
        found.extend(parts.map(|(number, _)| format!("{place}[{number}].text")));
    };
    let list = facts(api).list;
    for (position, item) in body[list].as_array().into_iter().flatten().enumerate() {
        let place = format_args!("{list}[{position}]");
        if item.member("role") == "tool" {
            look(format_args!("{place}.content"), item.member("content"));
        }
        if item.member("type") == "function_call_output" {
            look(format_args!("{place}.output"), item.member("output"));
        }
        for (number, block) in item.member("content").as_array().into_iter().flatten().enumerate() {
            if block.member("type") == "tool_result" {
                look(format_args!("{place}.content[{number}].content"), block.member("content"));
            }
        }
    }
    found
}

// Applies a server's verdict on a request: it outranks the rules, which only predict an API.

/// Families of rules on calls and their results, which matter to a model even where a server lets it pass.
const PAIRS: [&str; 4] = ["answered", "orphan", "once", "result-together"];

/// Returns the findings on a request, with the server's verdict. `turns` gives its messages in the neutral form.
pub(super) fn outranked(
    found: Vec<Finding>,
    (verdict, is_of_others): (&ServerVerdict, bool),
    place: &Place,
    turns: impl FnOnce() -> Vec<LoggedTurn>,
) -> Vec<Finding> {
    let mut found = found;
    if !matches!(verdict, ServerVerdict::Unknown | ServerVerdict::Unsaid) {
        // A recorder may keep a choice of the headers. Without the one of the version, a server speaks of nothing else.
        let words = if let ServerVerdict::Refused { words, .. } = verdict { words } else { "" };
        found.retain(|one| family(one.rule) != "version" || speaks_of(words, one.rule));
    }
    match verdict {
        ServerVerdict::Accepted(status) => accepted(found, *status, place, turns),
        ServerVerdict::Refused { status, words } => refused(found, *status, words, place),
        ServerVerdict::Unknown | ServerVerdict::Unsaid | ServerVerdict::Unjudged(_) if is_of_others => {
            found.into_iter().map(as_warning).collect()
        }
        ServerVerdict::Unknown | ServerVerdict::Unsaid | ServerVerdict::Unjudged(_) => found,
    }
}

fn is_of_api(found: &Finding) -> bool {
    !found.rule.starts_with("LOG-")
}

/// Rules of an API that its server did not apply. What is missing in the pairs of calls and results is still missing for the model.
fn accepted(
    found: Vec<Finding>,
    status: Option<u16>,
    place: &Place,
    turns: impl FnOnce() -> Vec<LoggedTurn>,
) -> Vec<Finding> {
    let is_of_pairs = |one: &Finding| is_of_api(one) && PAIRS.contains(&family(one.rule));
    let (mut lost, mut found) = (Vec::new(), found);
    if found.iter().any(is_of_pairs) {
        found.retain(|one| is_of_api(one) || !is_lost(one));
        lost = of_turns(&turns(), place, false);
        lost.retain(is_lost);
    }
    let status = status.map(|status| format!(" ({status})")).unwrap_or_default();
    let told = |one: Finding| match one {
        one if !is_of_api(&one) => Some(one),
        // What was not certain was right.
        one if one.level != Level::Error => None,
        one if is_of_pairs(&one) && !lost.is_empty() => None,
        Finding { rule, place, text, .. } => {
            let text = format!("{rule} says that the API refuses this, which this server accepted{status}: {text}");
            Some(Finding { rule, level: Level::Note, place, text, advice: "" })
        }
    };
    let mut found: Vec<Finding> = found.into_iter().filter_map(told).collect();
    found.extend(lost);
    found
}

/// Returns whether it is about calls and results, in the neutral rules.
fn is_lost(found: &Finding) -> bool {
    matches!(found.rule, "LOG-ANSWERED" | "LOG-ORPHAN" | "LOG-ONCE")
}

/// A request that was refused: the server's words, with the rule that they speak of.
fn refused(mut found: Vec<Finding>, status: Option<u16>, words: &str, place: &Place) -> Vec<Finding> {
    const LONGEST: usize = 400;
    let (short, rest) = cut(words, LONGEST);
    let status = status.map(|status| format!(" ({status})")).unwrap_or_default();
    let said = match (short.trim(), rest) {
        ("", _) => format!("the server refused it{status}, and gave no reason"),
        (short, rest) => {
            format!("the server refused it{status}: {short:?}{}", if rest.is_empty() { "" } else { "…" })
        }
    };
    // Without words, what our rules say is all that is known.
    let is_wordless = short.trim().is_empty();
    let mut is_told = false;
    let is_meant = |one: &Finding| speaks_of(words, one.rule) || is_wordless && one.level == Level::Error;
    for one in found.iter_mut().filter(|one| is_of_api(one) && is_meant(one)) {
        one.text = one.text.trim_end_matches(UNSURE).to_owned();
        one.text.push_str(&format!("; {said}"));
        one.level = Level::Error;
        is_told = true;
    }
    if !is_told {
        found.push(finding("LOG-REFUSED", place.clone(), said));
    }
    found
}

/// How a finding ends of which it is not certain that the API refuses it.
pub(super) const UNSURE: &str = "; only some servers or versions refuse such a request";

/// A finding by the rule of an API for another server.
fn as_warning(found: Finding) -> Finding {
    if !is_of_api(&found) || found.level != Level::Error {
        return found;
    }
    Finding { level: Level::Warning, text: format!("{}{UNSURE}", found.text), ..found }
}

/// Returns whether the words of a refusal are those of a rule: they have a sentence of it, or the part of one that names nothing of the
/// request.
fn speaks_of(words: &str, rule: &str) -> bool {
    /// A shorter part could be in any refusal.
    const SHORTEST: usize = 24;
    let plain = |text: &str| text.replace(['\'', '`', '"'], "");
    let words = plain(words);
    let rules = provider_rules().iter().filter(|known| known.id == rule);
    let mut texts = rules.flat_map(|known| {
        let own = known.variants.values().chain([&known.answer]).map(|words| &*words.message);
        own.chain(known.others.iter().map(|other| &*other.message))
    });
    texts.any(|text| {
        let parts = text.split('{').enumerate();
        let parts =
            parts.map(|(number, part)| if number == 0 { part } else { part.split_once('}').map_or("", |it| it.1) });
        let mut sentences =
            parts.flat_map(|part| part.split(". ")).map(|part| plain(part.trim_matches([' ', '.', ':'])));
        let is_whole = !text.contains('{') && !text.is_empty() && words.contains(&plain(text));
        is_whole || sentences.any(|part| part.len() >= SHORTEST && words.contains(&part))
    })
}
