//! Judges GATE-TOOLS, GATE-TOOLS-FULL and GATE-CHOICE: the tools that are declared, and what the client says about calling them.

use super::schema::{Depth, canonical};
use super::{RequestPair, Spot};
use crate::finding::{differing_json, json};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;
use threadspec::oracle::Api;
use threadspec::surrogates::without_marks;
use threadspec_apis::{ApiRequest, DeclaredTool, ToolChoice};
use threadspec_golden::clause;
use threadspec_judge::universal::can_be_declared;
use threadspec_provider::WireLevel;

const TOOLS: &str = clause::GATE_TOOLS;
/// With what a mark of a run begins, in the description of a tool.
const MARK: &str = "threadspec run ";

/// The known new names of tools whose names the provider's API cannot declare.
#[derive(Debug)]
pub(crate) struct KnownNames {
    api: Api,
    arrived_as: HashMap<String, String>,
}

impl KnownNames {
    pub(crate) fn new(api: Api) -> Self {
        Self { api, arrived_as: HashMap::new() }
    }

    /// Returns whether a name arrived, or as what it has been mapped.
    pub(super) fn is_same(&self, sent: &str, arrived: &str) -> bool {
        match self.arrived_as.get(sent) {
            Some(known) => known == arrived,
            // What no tool of the request has may be written otherwise where the API refuses it.
            None => sent == arrived || !can_be_declared(self.api, sent),
        }
    }

    /// Returns the name that the client knows for one that the provider sent.
    pub(crate) fn back<'s>(&'s self, said: &'s str) -> &'s str {
        self.arrived_as.iter().find(|(_, arrived)| *arrived == said).map_or(said, |(sent, _)| sent)
    }
}

pub(super) fn judge_tools(pair: &mut RequestPair<'_, '_>) {
    let (sent, arrived) = (pair.sent, pair.arrived);
    let is_proxy = sent.request.api == pair.api;
    // Tools of the provider's own exist in one API only.
    let counts = |tool: &&DeclaredTool| tool.is_function() || is_proxy;
    let ours: Vec<&DeclaredTool> = sent.request.tools.iter().filter(counts).collect();
    let mut free: Vec<&DeclaredTool> = arrived.tools.iter().filter(counts).collect();
    let mut left = Vec::new();
    for tool in ours {
        let known = pair.judging.names.arrived_as.get(name(tool)).cloned();
        let wanted = known.as_deref().unwrap_or(name(tool));
        match free.iter().position(|other| name(other) == wanted && other.kind == tool.kind) {
            Some(found) => compare(pair, tool, free.remove(found)),
            None => left.push(tool),
        }
    }
    for tool in left {
        lost(pair, tool, &mut free);
    }
    for tool in free {
        let is_known = sent.request.tools.iter().any(|known| name(known) == name(tool));
        let how = if is_known { "twice" } else { "that the request does not declare" };
        let what = format!("a tool `{}` arrives ({}) {how}", shown(tool), tool.place);
        pair.must(TOOLS, what, Spot::none(), Spot::new(&tool.place, ""));
    }
}

fn name(tool: &DeclaredTool) -> &str {
    tool.name.as_deref().unwrap_or(&tool.kind)
}

fn shown(tool: &DeclaredTool) -> Cow<'_, str> {
    without_marks(name(tool))
}

/// A tool of whose name none arrived.
fn lost(pair: &mut RequestPair<'_, '_>, tool: &DeclaredTool, free: &mut Vec<&DeclaredTool>) {
    let same = |other: &&DeclaredTool| {
        canonical(tool.schema.as_ref(), Depth::Shape) == canonical(other.schema.as_ref(), Depth::Shape)
            && text(tool.description.as_deref()) == text(other.description.as_deref())
    };
    let found = free.iter().position(same).or_else(|| (free.len() == 1).then_some(0));
    let here = Spot::new(&tool.place, "");
    let Some(other) = found.map(|found| free.remove(found)) else {
        return pair.must(
            TOOLS,
            format!("the tool `{}` ({}) does not arrive", shown(tool), tool.place),
            here,
            Spot::none(),
        );
    };
    let there = Spot::new(&other.place, "");
    if can_be_declared(pair.api, name(tool)) || !can_be_declared(pair.api, name(other)) {
        let what = format!("the tool `{}` ({}) arrives with the name `{}`", shown(tool), tool.place, shown(other));
        return pair.must(TOOLS, what, here, there);
    }
    let names = &mut pair.judging.names.arrived_as;
    let taken = names.iter().find(|(_, arrived)| *arrived == name(other)).map(|(sent, _)| sent.clone());
    if let Some(before) = names.insert(name(tool).to_owned(), name(other).to_owned()) {
        let what = format!(
            "the name `{}` ({}) arrived as `{before}` before, and arrives as `{}` now",
            shown(tool),
            tool.place,
            shown(other)
        );
        pair.must(TOOLS, what, here, there);
    } else if let Some(taken) = taken {
        let what =
            format!("the names `{}` and `{}` both arrive as `{}`", without_marks(&taken), shown(tool), shown(other));
        pair.must(TOOLS, what, here, there);
    }
    compare(pair, tool, other);
}

fn compare(pair: &mut RequestPair<'_, '_>, tool: &DeclaredTool, other: &DeclaredTool) {
    if !tool.is_function() {
        return;
    }
    let (id, here, there) = (shown(tool), &*tool.place, &*other.place);
    let form = |tool: &DeclaredTool, depth| canonical(tool.schema.as_ref(), depth);
    for (depth, clause) in [(Depth::Shape, TOOLS), (Depth::Full, clause::GATE_TOOLS_FULL)] {
        let (one, two) = (form(tool, depth), form(other, depth));
        if one != two {
            let [was, is] = differing_json(&one, &two);
            let what = format!("the schema of the tool `{id}` ({here}) says {was}, and arrives ({there}) with {is}");
            let spots = (Spot::new(here, ""), Spot::new(there, ""));
            if depth == Depth::Shape {
                return pair.must(clause, what, spots.0, spots.1);
            }
            pair.should(clause, what, spots.0, spots.1);
        }
    }
    let (one, two) = (text(tool.description.as_deref()), text(other.description.as_deref()));
    if one != two {
        let [was, is] = crate::finding::differing(&one, &two);
        let what = format!("the description of the tool `{id}` ({here}) was {was}, and arrives ({there}) as {is}");
        pair.should(clause::GATE_TOOLS_FULL, what, Spot::new(here, &one), Spot::new(there, &two));
    }
}

/// A description without the mark of the run.
fn text(description: Option<&str>) -> String {
    let text = description.unwrap_or_default();
    let Some(begin) = text.find(MARK) else { return text.trim().to_owned() };
    let behind = &text[begin + MARK.len()..];
    let end = behind.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(behind.len());
    format!("{}{}", &text[..begin], &behind[end..]).trim().to_owned()
}

/// The marks of runs that declarations carry.
pub(crate) fn marks_of(tools: &[DeclaredTool]) -> impl Iterator<Item = &str> {
    tools.iter().filter_map(|tool| {
        let behind = tool.description.as_deref()?.split_once(MARK)?.1;
        let end = behind.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(behind.len());
        Some(&behind[..end])
    })
}

// GATE-CHOICE: which tool is called, how long the answer may be, where it stops, and one call at a time.

const CHOICE: &str = clause::GATE_CHOICE;
/// The least limit that Responses takes.
const LEAST_OUTPUT: u64 = 16;
/// How many texts to stop at chat completions take.
const MOST_STOPS: usize = 4;

pub(super) fn judge_choice(pair: &mut RequestPair<'_, '_>) {
    if !pair.sent.request.tools.is_empty() && !pair.arrived.tools.is_empty() {
        judge_chosen_tool(pair);
        judge_parallel(pair);
    }
    judge_limit(pair);
    judge_stop(pair);
}

fn judge_chosen_tool(pair: &mut RequestPair<'_, '_>) {
    let (sent, arrived) = (&pair.sent.request, pair.arrived);
    let given = &pair.sent.body()["tool_choice"];
    let is = match &pair.body["tool_choice"] {
        Value::Null => "does not arrive".to_owned(),
        is => format!("arrives as {}", json(is)),
    };
    let (here, there) = (Spot::new("tool_choice", ""), Spot::new("tool_choice", ""));
    if !arrived.is_choice_proper {
        if sent.is_choice_proper {
            let what = format!("`tool_choice` was {}, and {is}, which {} does not know", json(given), pair.api);
            pair.must(CHOICE, what, here, there);
        }
        return;
    }
    let is_same = match (&sent.choice, &arrived.choice) {
        (ToolChoice::Named(one), ToolChoice::Named(other)) => pair.judging.names.is_same(one, other),
        // What is not known here exists in one API only.
        (ToolChoice::Other, _) => sent.api != pair.api || *given == pair.body["tool_choice"],
        (one, other) => one == other,
    };
    if !is_same {
        pair.must(CHOICE, format!("`tool_choice` was {}, and {is}", json(given)), here, there);
    }
}

fn judge_parallel(pair: &mut RequestPair<'_, '_>) {
    let (sent, arrived) = (&pair.sent.request, pair.arrived);
    // Where no tool is called, none is called beside another.
    if sent.choice == ToolChoice::None {
        return;
    }
    let is_single = |request: &ApiRequest| request.parallel == Some(false);
    let place = |api| if api == Api::Anthropic { "tool_choice" } else { "parallel_tool_calls" };
    let what = match (is_single(sent), is_single(arrived)) {
        (true, false) => "one call at a time was asked for, and that does not arrive",
        (false, true) => "one call at a time was not asked for, and arrives",
        _ => return,
    };
    let spots = (Spot::new(place(sent.api), ""), Spot::new(place(pair.api), ""));
    pair.must(CHOICE, what, spots.0, spots.1);
}

fn judge_limit(pair: &mut RequestPair<'_, '_>) {
    let (sent, arrived) = (pair.sent.request.max_tokens, pair.arrived.max_tokens);
    let Some(limit) = sent else { return };
    let is_least = pair.api == Api::OpenAiResponses && limit < LEAST_OUTPUT && arrived == Some(LEAST_OUTPUT);
    if arrived == sent || is_least {
        return;
    }
    let is = arrived.map_or_else(|| "without one".to_owned(), |arrived| format!("with {arrived}"));
    let what = format!("the limit of output tokens was {limit}, and the request arrives {is}");
    let spots = (limit_of(pair.sent.body()), limit_of(pair.body));
    pair.must(CHOICE, what, Spot { place: spots.0, text: "" }, Spot { place: spots.1, text: "" });
}

fn limit_of(body: &Value) -> Option<&'static str> {
    ["max_completion_tokens", "max_tokens", "max_output_tokens"].into_iter().find(|name| !body[*name].is_null())
}

fn judge_stop(pair: &mut RequestPair<'_, '_>) {
    let (mut sent, mut arrived) = (pair.sent.request.stop.clone(), pair.arrived.stop.clone());
    // Anthropic refuses those of white space.
    if pair.api == Api::Anthropic && pair.sent.request.api != pair.api {
        sent.retain(|text| !text.trim().is_empty());
    }
    sent.sort();
    arrived.sort();
    if sent == arrived {
        return;
    }
    let list =
        |texts: &[String]| texts.iter().map(|text| format!("{:?}", without_marks(text))).collect::<Vec<_>>().join(", ");
    let is = if arrived.is_empty() { "without any".to_owned() } else { format!("with {}", list(&arrived)) };
    let was = if sent.is_empty() { "none".to_owned() } else { list(&sent) };
    let what = format!("the texts at which the answer stops were {was}, and the request arrives {is}");
    // Responses has none.
    let cannot_say = match pair.api {
        Api::OpenAiResponses => true,
        Api::OpenAiChat => sent.len() > MOST_STOPS,
        Api::Anthropic | Api::Gemini => false,
    };
    let level = if cannot_say && !sent.is_empty() { WireLevel::Note } else { WireLevel::Must };
    let place = |api| if api == Api::Anthropic { "stop_sequences" } else { "stop" };
    let (here, there) = (place(pair.sent.request.api), place(pair.api));
    pair.add(CHOICE, level, what, Spot::new(here, ""), Spot::new(there, ""));
}
