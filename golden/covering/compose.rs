//! Composes the input of a row, and what must come back, from the frames of its blocks.

use super::rows::levels;
use super::{Array, Block, Covering, LogPart, Rendering, Sample};
use serde_json::Value;
use std::collections::BTreeMap;

/// A row of an array: an input, and what must come back.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    covering: &'a Covering,
    array: &'a Array,
    number: usize,
    samples: BTreeMap<String, &'a Sample>,
    /// The blocks in their order; one occurs twice, perhaps.
    blocks: Vec<&'a str>,
    before: usize,
}

/// Where a frame is.
#[derive(Clone, Copy)]
struct FramePlace<'a> {
    block: Option<&'a str>,
    /// The position of the event.
    id: usize,
    /// The number of the iteration.
    iteration: usize,
    is_hardened: bool,
}

/// Returns the elements or members, as JSON texts, that replace `["{events}"]` and the like in the frame of an input.
type Spliced<'s> = &'s dyn Fn(&str) -> Option<Vec<String>>;

/// A text as parts between which anything may be.
struct TextParts(Vec<String>);

impl TextParts {
    fn new(text: &str) -> Self {
        Self(vec![text.to_owned()])
    }

    fn push(&mut self, parts: Vec<String>) {
        let mut parts = parts.into_iter();
        if let (Some(last), Some(first)) = (self.0.last_mut(), parts.next()) {
            *last += &first;
        }
        self.0.extend(parts);
    }

    fn join(texts: impl Iterator<Item = Self>, separator: &str) -> Self {
        let mut joined = Self::new("");
        for (index, text) in texts.enumerate() {
            joined.push(vec![if index == 0 { String::new() } else { separator.to_owned() }]);
            joined.push(text.0);
        }
        joined
    }

    /// Writes the expectation of a case.
    fn json(self) -> String {
        if let [whole] = self.0.as_slice() {
            return string(whole);
        }
        let parts: Vec<String> = self.0.iter().filter(|part| !part.is_empty()).map(|part| string(part)).collect();
        let parts = if parts.is_empty() { string("") } else { parts.join(",") };
        format!("{{\"includes\":[{parts}]}}")
    }
}

fn string(text: &str) -> String {
    Value::from(text).to_string()
}

fn list(elements: &[String]) -> String {
    format!("[{}]", elements.join(","))
}

/// A frame's text, cut into what is as it is and the names in braces.
fn pieces(frame: &str) -> Vec<(&str, Option<(&str, &str)>)> {
    let (mut pieces, mut rest) = (Vec::new(), frame);
    while let Some(open) = rest.find('{') {
        let inside = rest[open + 1..].find('}').map(|length| &rest[open + 1..open + 1 + length]);
        let name = inside.and_then(|inside| match inside {
            "#" | "@" => Some((inside, "")),
            _ => inside.split_once(':'),
        });
        let length = inside.filter(|_| name.is_some()).map_or(open + 1, |inside| open + inside.len() + 2);
        let plain = if name.is_some() { &rest[..open] } else { &rest[..length] };
        pieces.push((plain, name));
        rest = &rest[length..];
    }
    pieces.push((rest, None));
    pieces
}

impl<'a> Row<'a> {
    pub(super) fn new(covering: &'a Covering, array: &'a Array, number: usize) -> Self {
        let levels = levels(&array.rows[number]);
        let mut samples = BTreeMap::new();
        for (column, (field, kind)) in array.fields(covering).enumerate() {
            let class = &covering.classes[&covering.types[kind][levels[column]]];
            samples.insert(field, &class.samples[(number + column) % class.samples.len()]);
        }
        let mut blocks = Vec::new();
        let mut rest = levels[samples.len()..].iter().copied();
        if !array.blocks.is_empty() {
            let (first, doubled) = (rest.next().unwrap_or(0), rest.next().unwrap_or(0));
            for index in (first..array.blocks.len()).chain(0..first) {
                let times = if doubled == index + 1 { 2 } else { 1 };
                blocks.extend(std::iter::repeat_n(array.blocks[index].as_str(), times));
            }
        }
        let before = rest.next().map_or(0, |level| array.before[level]);
        Self { covering, array, number, samples, blocks, before }
    }

    /// Its place in the array.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Returns whether the profiles may expect different outputs of it.
    pub fn differs(&self) -> bool {
        self.samples.values().any(|sample| sample.differs()) || self.named().any(|(_, block)| block.literal.is_some())
    }

    /// The blocks in their order, each with its name; fillers first.
    fn named(&self) -> impl Iterator<Item = (&'a str, &'a Block)> {
        let names = std::iter::repeat_n("filler", self.before).chain(self.blocks.iter().copied());
        names.map(|name| (name, &self.covering.blocks[name]))
    }

    fn sample(&self, block: Option<&str>, field: &str) -> Option<&'a Sample> {
        let of_block = block.and_then(|block| self.samples.get(&format!("{block}.{field}")));
        of_block.or_else(|| self.samples.get(field)).copied()
    }

    fn is_xml(&self) -> bool {
        self.sample(None, "mode").and_then(Sample::json).is_some_and(|mode| mode == "\"xml\"")
    }

    /// The input, as JSON text.
    pub fn input(&self) -> String {
        let each = |frames: &dyn Fn(&'a Block) -> &'a [Value]| -> Vec<String> {
            let of_block =
                |(name, block)| frames(block).iter().filter_map(move |frame| self.sent(Some(name), frame, &|_| None));
            self.named().flat_map(of_block).collect()
        };
        let spliced = |name: &str| match name {
            "{events}" => Some(each(&|block| &block.events)),
            "{turns}" => Some(each(&|block| &block.turns)),
            "{verify}" => Some(each(&|block| &block.verify)),
            "{tools}" => {
                let mut tools: Vec<String> =
                    self.named().flat_map(|(name, block)| self.members(Some(name), &block.tools, &|_| None)).collect();
                tools.sort_unstable();
                tools.dedup();
                Some(tools)
            }
            _ => None,
        };
        self.sent(None, &self.array.input, &spliced).unwrap_or_default()
    }

    /// Returns the input for a frame, as JSON text; none where a member is left out.
    fn sent(&self, block: Option<&str>, frame: &Value, spliced: Spliced<'_>) -> Option<String> {
        Some(match frame {
            Value::String(text) => match spliced(text) {
                Some(members) => format!("{{{}}}", members.join(",")),
                None => self.sent_text(block, text)?,
            },
            Value::Array(elements) => {
                let each = |element: &Value| match element.as_str().and_then(spliced) {
                    Some(elements) => elements,
                    None => self.sent(block, element, spliced).into_iter().collect(),
                };
                list(&elements.iter().flat_map(each).collect::<Vec<_>>())
            }
            Value::Object(members) => format!("{{{}}}", self.members(block, members, spliced).join(",")),
            scalar => scalar.to_string(),
        })
    }

    fn members(
        &self,
        block: Option<&str>,
        members: &serde_json::Map<String, Value>,
        spliced: Spliced<'_>,
    ) -> Vec<String> {
        let member = |(name, value): (&String, &Value)| {
            Some(format!("{}:{}", self.sent_text(block, name)?, self.sent(block, value, spliced)?))
        };
        members.iter().filter_map(member).collect()
    }

    fn sent_text(&self, block: Option<&str>, frame: &str) -> Option<String> {
        let mut inside = String::new();
        let pieces = pieces(frame);
        for &(plain, name) in &pieces {
            inside += unquoted(&string(plain));
            if let Some((field, _)) = name {
                let json = self.sample(block, field)?.json()?;
                if pieces.len() == 2 && pieces.iter().all(|(plain, _)| plain.is_empty()) {
                    return Some(json);
                }
                inside += unquoted(&json);
            }
        }
        Some(format!("\"{inside}\""))
    }

    /// Returns the expected reply, as the JSON text of an expectation.
    pub fn expected(&self, is_hardened: bool) -> String {
        let place = FramePlace { block: None, id: 0, iteration: 0, is_hardened };
        match self.array.op.as_str() {
            "escape" => self.text(place, &self.array.output).json(),
            "serialize" => {
                let mut document = self.document(place);
                if self.sample(None, "prefix").is_some_and(|prefix| !prefix.is_empty()) {
                    document.push(self.text(place, &self.array.after).0);
                }
                document.json()
            }
            "messages" => {
                let mut messages = self.system(place);
                if self.is_xml() {
                    messages.push(format!("{{\"type\":\"human\",\"content\":{}}}", self.document(place).json()));
                } else {
                    messages.extend(self.each_message(place));
                }
                list(&messages)
            }
            "tools" => self.tools(place),
            _ => self.iterations(place),
        }
    }

    fn text(&self, place: FramePlace<'_>, frame: &str) -> TextParts {
        let mut text = TextParts::new("");
        for (plain, name) in pieces(frame) {
            text.push(vec![plain.to_owned()]);
            match name {
                Some(("#", _)) => text.push(vec![place.id.to_string()]),
                Some(("@", _)) => text.push(vec![place.iteration.to_string()]),
                Some((field, rendering)) => {
                    if let (Some(sample), Some(rendering)) =
                        (self.sample(place.block, field), Rendering::named(rendering))
                    {
                        text.push(sample.rendered(rendering, place.is_hardened));
                    }
                }
                None => {}
            }
        }
        text
    }

    /// Returns the expectation of a frame of an output, as JSON text.
    fn shown(&self, place: FramePlace<'_>, frame: &Value) -> String {
        match frame {
            Value::String(text) if text == "{@}" => place.iteration.to_string(),
            Value::String(text) => match text.strip_prefix('{').and_then(|text| text.strip_suffix(":output}")) {
                Some(field) => {
                    let output = self.sample(place.block, field).and_then(Sample::output);
                    format!("{{\"literally\":{}}}", output.unwrap_or_default())
                }
                None => self.text(place, text).json(),
            },
            Value::Array(elements) => {
                list(&elements.iter().map(|element| self.shown(place, element)).collect::<Vec<_>>())
            }
            Value::Object(members) => {
                let member =
                    |(name, value): (&String, &Value)| format!("{}:{}", string(name), self.shown(place, value));
                format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(","))
            }
            scalar => scalar.to_string(),
        }
    }

    fn document(&self, place: FramePlace<'a>) -> TextParts {
        let lines = self.named().flat_map(|(name, block)| block.lines.iter().map(move |line| (Some(name), 0, line)));
        self.lines(place, lines)
    }

    /// A document of lines, each with its block and its iteration.
    fn lines(
        &self,
        place: FramePlace<'a>,
        lines: impl Iterator<Item = (Option<&'a str>, usize, &'a String)>,
    ) -> TextParts {
        let line = |(id, (block, iteration, line)): (usize, (Option<&'a str>, usize, &String))| {
            let mut text = TextParts::new("  ");
            text.push(self.text(FramePlace { block, id, iteration, ..place }, line).0);
            text
        };
        let lines = lines.enumerate().map(line);
        TextParts::join(
            [TextParts::new("<thread>")].into_iter().chain(lines).chain([TextParts::new("</thread>")]),
            "\n",
        )
    }

    fn each_message(&self, place: FramePlace<'a>) -> impl Iterator<Item = String> {
        self.named().flat_map(move |(name, block)| {
            let literal = block.literal.as_ref().filter(|_| !place.is_hardened);
            let place = FramePlace { block: Some(name), ..place };
            literal.unwrap_or(&block.messages).iter().map(move |frame| self.shown(place, frame))
        })
    }

    /// The system message, if there is one.
    fn system(&self, place: FramePlace<'a>) -> Vec<String> {
        let section = |(name, block): (&'a str, &'a Block)| {
            Some(self.text(FramePlace { block: Some(name), ..place }, block.section.as_ref()?))
        };
        let mut sections = self.named().filter_map(section).peekable();
        let mut system =
            TextParts::new(if sections.peek().is_some() { "## Previous Iteration Summaries\n\n" } else { "" });
        system.push(TextParts::join(sections, "").0);
        let has_summaries = system.0.iter().any(|part| !part.is_empty());
        let instructions = self.sample(None, "instructions").filter(|instructions| !instructions.is_empty());
        if let Some(instructions) = instructions {
            system.push(vec![if has_summaries { "\n\n" } else { "" }.to_owned()]);
            system.push(instructions.rendered(Rendering::Message, place.is_hardened));
        }
        let is_there = has_summaries || instructions.is_some();
        is_there.then(|| format!("{{\"type\":\"system\",\"content\":{}}}", system.json())).into_iter().collect()
    }

    fn tools(&self, place: FramePlace<'a>) -> String {
        let mut messages: Vec<String> = self.array.start.iter().map(|frame| self.shown(place, frame)).collect();
        let mut requests = vec![list(&messages)];
        for (name, block) in self.named() {
            let place = FramePlace { block: Some(name), ..place };
            messages.extend(block.messages.iter().map(|frame| self.shown(place, frame)));
            requests.push(list(&messages));
        }
        messages.push(self.shown(place, &self.array.last));
        format!("{{\"requests\":{},\"messages\":{}}}", list(&requests), list(&messages))
    }

    fn iterations(&self, place: FramePlace<'a>) -> String {
        let mut log: Vec<(FramePlace<'a>, &'a LogPart)> = self.array.parts.iter().map(|part| (place, part)).collect();
        let mut requests = Vec::new();
        for (number, (name, block)) in self.named().enumerate() {
            let place = FramePlace { block: Some(name), iteration: number + 1, ..place };
            let mut request = self.presented(place, &log);
            requests.push(list(&request));
            for round in &block.rounds {
                request.extend(round.iter().map(|frame| self.shown(place, frame)));
                requests.push(list(&request));
            }
            log.extend(self.left(place, &block.parts));
        }
        requests.push(list(&self.presented(place, &log)));
        let last = FramePlace { iteration: self.blocks.len() + 1, ..place };
        log.extend(self.left(last, &self.array.end));
        let events = log.iter().flat_map(|(place, part)| part.events.iter().map(|frame| self.shown(*place, frame)));
        format!(
            r#"{{"requests":{},"events":{},"response":{},"iterations":{},"stopReason":"completed"}}"#,
            list(&requests),
            list(&events.collect::<Vec<_>>()),
            self.shown(place, &self.array.last),
            last.iteration,
        )
    }

    /// Returns the events that an iteration leaves in the log.
    fn left(&self, place: FramePlace<'a>, parts: &'a [LogPart]) -> impl Iterator<Item = (FramePlace<'a>, &'a LogPart)> {
        let is_left = move |part: &&LogPart| {
            let field = part.unless_empty.as_ref().and_then(|field| self.sample(place.block, field));
            !field.is_some_and(Sample::is_empty)
        };
        parts.iter().filter(is_left).map(move |part| (place, part))
    }

    /// The messages with which an iteration begins.
    fn presented(&self, place: FramePlace<'a>, log: &[(FramePlace<'a>, &'a LogPart)]) -> Vec<String> {
        let mut messages = self.system(FramePlace { block: None, ..place });
        if self.is_xml() {
            let lines =
                log.iter().flat_map(|(place, part)| part.lines.iter().map(|line| (place.block, place.iteration, line)));
            messages.push(format!("{{\"type\":\"human\",\"content\":{}}}", self.lines(place, lines).json()));
        } else {
            messages.extend(
                log.iter().flat_map(|(place, part)| part.messages.iter().map(|frame| self.shown(*place, frame))),
            );
        }
        messages
    }
}

/// A JSON string without its quotes; other JSON text as it is.
fn unquoted(json: &str) -> &str {
    json.strip_prefix('"').and_then(|json| json.strip_suffix('"')).unwrap_or(json)
}
