//! GATE-TOOLS: every tool with its name and its schema; GATE-TOOLS-FULL: with descriptions and bounds, too.

use super::schema::{Depth, canonical};
use super::{RequestPair, Spot};
use crate::shown::differing_json;
use std::borrow::Cow;
use std::collections::HashMap;
use threadspec::oracle::Api;
use threadspec::surrogates::without_marks;
use threadspec_apis::DeclaredTool;
use threadspec_golden::clause;
use threadspec_judge::universal::can_be_declared;

const CLAUSE: &str = clause::GATE_TOOLS;
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

pub(super) fn judge(pair: &mut RequestPair<'_, '_>) {
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
        pair.must(CLAUSE, what, Spot::none(), Spot::new(&tool.place, ""));
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
            CLAUSE,
            format!("the tool `{}` ({}) does not arrive", shown(tool), tool.place),
            here,
            Spot::none(),
        );
    };
    let there = Spot::new(&other.place, "");
    if can_be_declared(pair.api, name(tool)) || !can_be_declared(pair.api, name(other)) {
        let what = format!("the tool `{}` ({}) arrives with the name `{}`", shown(tool), tool.place, shown(other));
        return pair.must(CLAUSE, what, here, there);
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
        pair.must(CLAUSE, what, here, there);
    } else if let Some(taken) = taken {
        let what =
            format!("the names `{}` and `{}` both arrive as `{}`", without_marks(&taken), shown(tool), shown(other));
        pair.must(CLAUSE, what, here, there);
    }
    compare(pair, tool, other);
}

fn compare(pair: &mut RequestPair<'_, '_>, tool: &DeclaredTool, other: &DeclaredTool) {
    if !tool.is_function() {
        return;
    }
    let (id, here, there) = (shown(tool), &*tool.place, &*other.place);
    let form = |tool: &DeclaredTool, depth| canonical(tool.schema.as_ref(), depth);
    for (depth, clause) in [(Depth::Shape, CLAUSE), (Depth::Full, clause::GATE_TOOLS_FULL)] {
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
        let [was, is] = crate::shown::differing(&one, &two);
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
