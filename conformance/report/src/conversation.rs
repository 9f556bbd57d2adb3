//! The runs of a session as one conversation: who said what, what was cut, what was pending, and what each request held.

use super::words::shortened;
use std::collections::HashSet;
use threadspec_judge::json::plain;
use threadspec_judge::protocol::{
    Execution, OpaqueItem, Part, RunReport, SentCall, SessionMessage, SessionOutput, Speaker,
};
use threadspec_judge::script::{
    Approval, Beginning, Budget, CallWish, OpaqueBlock, ScriptCall, ScriptCompaction, ScriptCut, ScriptRun, ScriptTurn,
    SessionScript,
};
use threadspec_judge::text::visible;

/// A text is shown up to this length.
const LONGEST_TEXT: usize = 80;
/// Of a request, at most so many messages are shown from its beginning, and from its end.
const MESSAGES: usize = 12;
/// A conversation has at most so many lines.
const LINES: usize = 160;

/// A line of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationLine {
    /// What it is.
    pub kind: LineKind,
    /// What it says, not indented.
    pub text: String,
}

/// What a line of a conversation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// The beginning of a run.
    Run,
    /// What happens in it.
    Event,
    /// A message of a request.
    Message,
    /// What is wrong with what stands above.
    Finding,
}

impl LineKind {
    /// How many spaces a line is indented.
    pub fn indent(self) -> usize {
        match self {
            Self::Run => 2,
            Self::Event | Self::Finding => 4,
            Self::Message => 6,
        }
    }
}

/// The conversation of a session, with the findings of the note where they belong. Empty if the input is no session, or if the output is
/// none, or was cut off.
pub(super) fn conversation(input: &str, output: &str, note: &str) -> Vec<ConversationLine> {
    let Ok(script) = SessionScript::read(input) else { return Vec::new() };
    let Ok(output) = serde_json::from_str(output).map(SessionOutput::of) else { return Vec::new() };
    let reports = output.runs.list();
    if reports.is_empty() {
        return Vec::new();
    }
    let mut told = ConversationTeller { lines: Vec::new(), note: note.lines().collect(), named: HashSet::new() };
    for (number, run) in script.runs.iter().enumerate() {
        let Some(report) = reports.get(number).and_then(Part::proper) else { break };
        told.run(number, run, report);
    }
    within(told.lines)
}

/// A long conversation without the runs that are far from every finding.
fn within(lines: Vec<ConversationLine>) -> Vec<ConversationLine> {
    if lines.len() <= LINES {
        return lines;
    }
    let mut runs: Vec<Vec<ConversationLine>> = Vec::new();
    for line in lines {
        match runs.last_mut() {
            Some(run) if line.kind != LineKind::Run => run.push(line),
            _ => runs.push(vec![line]),
        }
    }
    let is_wrong: Vec<bool> = runs.iter().map(|run| run.iter().any(|line| line.kind == LineKind::Finding)).collect();
    let is_near = |run: usize| run == 0 || is_wrong[run] || is_wrong.get(run + 1) == Some(&true);
    let (mut kept, mut left_out) = (Vec::new(), 0);
    let count = runs.len();
    for (number, run) in runs.into_iter().enumerate() {
        left_out += usize::from(!is_near(number));
        if left_out > 0 && (is_near(number) || number + 1 == count) {
            kept.push(ConversationLine { kind: LineKind::Run, text: format!("… {left_out} runs …") });
            left_out = 0;
        }
        if is_near(number) {
            kept.extend(run);
        }
    }
    kept.truncate(LINES);
    kept
}

/// A conversation on its way.
struct ConversationTeller<'a> {
    lines: Vec<ConversationLine>,
    note: Vec<&'a str>,
    /// The lines of the note that stand somewhere already.
    named: HashSet<usize>,
}

impl ConversationTeller<'_> {
    fn add(&mut self, kind: LineKind, text: impl Into<String>) {
        self.lines.push(ConversationLine { kind, text: visible(&text.into()) });
    }

    /// Adds the findings that name a place.
    fn findings(&mut self, place: &str) {
        for index in 0..self.note.len() {
            let line = self.note[index];
            let names = line.match_indices(place).any(|(at, _)| {
                let behind = line[at + place.len()..].chars().next();
                behind.is_none_or(|c| !c.is_ascii_digit())
            });
            if names && self.named.insert(index) {
                self.add(LineKind::Finding, format!("✗ {line}"));
            }
        }
    }

    fn run(&mut self, number: usize, script: &ScriptRun, report: &RunReport) {
        self.add(LineKind::Run, format!("run {}: {}", number + 1, beginning(script)));
        if let Some(ScriptCompaction { budget, .. }) = &script.compact {
            let budget = match budget {
                Budget::Messages(count) => format!("{count} messages"),
                Budget::Tokens(count) => format!("{count} tokens"),
            };
            self.add(LineKind::Event, format!("the thread is compacted to {budget}"));
        }
        let requests = report.requests.list();
        let mut before = 0;
        for (index, request) in requests.iter().enumerate() {
            let messages = request.list();
            let is_first = index == 0;
            let from = if is_first || messages.len() < before { 0 } else { before };
            let rest = if from == 0 { String::new() } else { format!(", {from} messages as before, and") };
            self.add(LineKind::Event, format!("request {}{rest}", index + 1));
            self.messages(&messages[from..]);
            self.findings(&format!("run {}, request {}", number + 1, index + 1));
            if let Some(turn) = script.turns.get(index) {
                self.add(LineKind::Event, format!("the model: {}", said(turn)));
            }
            before = messages.len();
        }
        let executed: Vec<String> = report.executed.list().iter().filter_map(Part::proper).map(ran).collect();
        if !executed.is_empty() {
            self.add(LineKind::Event, format!("executed: {}", executed.join(", ")));
        }
        if let Some(ScriptCut { during, how }) = &script.cut {
            self.add(LineKind::Event, format!("cut during `{during}` ({how})"));
        }
        let pending: Vec<&str> = report.pending.list().iter().filter_map(Part::text).collect();
        if !pending.is_empty() {
            self.add(LineKind::Event, format!("pending: {}", pending.join(", ")));
        }
        if let Some(words) = report.refused.text() {
            self.add(LineKind::Event, format!("refused: {}", quoted(words)));
        } else if requests.is_empty() {
            self.add(LineKind::Event, "no request");
        }
        if let Some(failure) = report.failure.text().filter(|failure| !failure.is_empty()) {
            self.add(LineKind::Event, format!("failure: {}", quoted(failure)));
        }
        self.findings(&format!("run {}", number + 1));
    }

    fn messages(&mut self, messages: &[Part<SessionMessage>]) {
        let left_out = messages.len().saturating_sub(2 * MESSAGES);
        for (index, message) in messages.iter().enumerate() {
            if left_out > 0 && index == MESSAGES {
                self.add(LineKind::Message, format!("… {left_out} messages …"));
            }
            if left_out == 0 || index < MESSAGES || index >= MESSAGES + left_out {
                self.add(LineKind::Message, message.proper().map_or_else(|| "?".to_owned(), sent));
            }
        }
    }
}

fn quoted(text: &str) -> String {
    of_json(&plain(text.into()))
}

fn beginning(script: &ScriptRun) -> String {
    match &script.beginning {
        Beginning::Message(message) => format!("the user says {}", quoted(message)),
        Beginning::Decisions(decisions) => {
            let decisions: Vec<String> = decisions.iter().map(|(id, approval)| decided(id, approval)).collect();
            format!("the user decides: {}", decisions.join(", "))
        }
        Beginning::Resume => "the run is resumed".to_owned(),
    }
}

fn decided(id: &str, approval: &Approval) -> String {
    match approval {
        Approval::Approved { args } => {
            let args = args.clone().map(|args| format!(" with {}", of_json(&args.into())));
            format!("`{id}` approved{}", args.unwrap_or_default())
        }
        Approval::Denied { reason } => {
            let reason = reason.as_ref().map(|reason| format!(" since {}", quoted(reason)));
            format!("`{id}` denied{}", reason.unwrap_or_default())
        }
    }
}

fn said(turn: &ScriptTurn) -> String {
    let response = match turn {
        ScriptTurn::Failure(error) => return format!("fails: {}", quoted(error)),
        ScriptTurn::Response(response) => response,
    };
    let call = |ScriptCall { id, wants }: &ScriptCall| match wants {
        CallWish::HandOver { agent } => format!("`{id}` hands over to {agent}"),
        CallWish::Raw { name, arguments } => format!("`{id}` {name} with the text {}", quoted(arguments)),
        CallWish::Tool { name, args } => format!("`{id}` {name}{}", with(Some(args.clone().into()))),
    };
    let kind = |part: &OpaqueBlock| match part {
        OpaqueBlock::Thinking { .. } => "thinking",
        OpaqueBlock::Redacted { .. } => "redacted",
        OpaqueBlock::Reasoning { .. } => "reasoning",
        OpaqueBlock::Signature { .. } => "signature",
    };
    let kinds: Vec<&str> = response.opaque.iter().map(kind).collect();
    joined(response.content.as_deref(), response.calls.iter().map(call), &kinds)
}

fn sent(message: &SessionMessage) -> String {
    let who = match message.speaker.proper() {
        Some(Speaker::System) => "system",
        Some(Speaker::Human) => "human",
        Some(Speaker::Ai) => "ai",
        Some(Speaker::Tool) => "tool",
        None => "?",
    };
    let answers = message.call_id.text().map(|id| format!(" `{id}`")).unwrap_or_default();
    let call = |call: &SentCall| {
        let raw = call.raw.text().map(|raw| format!(" with the text {}", quoted(raw)));
        let args = raw.unwrap_or_else(|| with(call.args.clone().into_json()));
        format!("`{}` {}{args}", call.id.text().unwrap_or("?"), call.name.text().unwrap_or("?"))
    };
    let calls = message.calls.list().iter().filter_map(Part::proper).map(call);
    let parts = message.opaque.list().iter().filter_map(Part::proper);
    let kinds: Vec<&str> = parts.map(|part: &OpaqueItem| part.kind.text().unwrap_or("?")).collect();
    let images = match message.images.list().len() {
        0 => String::new(),
        1 => ", an image".to_owned(),
        count => format!(", {count} images"),
    };
    format!("{who}{answers}: {}{images}", joined(message.content.text(), calls, &kinds))
}

/// A text, calls and opaque parts in a few words.
fn joined(text: Option<&str>, calls: impl Iterator<Item = String>, kinds: &[&str]) -> String {
    let text = text.filter(|text| !text.is_empty()).map(quoted);
    let opaque = (!kinds.is_empty()).then(|| format!("[{}]", kinds.join(", ")));
    let calls: Vec<String> = calls.collect();
    let calls = (!calls.is_empty()).then(|| format!("calls {}", calls.join(", ")));
    let parts: Vec<String> = [opaque, text, calls].into_iter().flatten().collect();
    if parts.is_empty() { "\"\"".to_owned() } else { parts.join(" ") }
}

fn with(args: Option<serde_json::Value>) -> String {
    match args {
        Some(args) if args.as_object().is_none_or(|args| !args.is_empty()) => format!(" {}", of_json(&args)),
        _ => String::new(),
    }
}

fn of_json(value: &serde_json::Value) -> String {
    shortened(&value.to_string(), LONGEST_TEXT)
}

fn ran(execution: &Execution) -> String {
    let id = execution.id.text().unwrap_or("?");
    let returned = if execution.returned.is(&false) { " (had not returned)" } else { "" };
    format!("`{id}`{}{returned}", with(execution.args.clone().into_json()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn runs_are_told_as_one_conversation() {
        let call = json!({"id": "b", "name": "pay", "args": {"n": 1}});
        let input = json!({"runs": [
            {"message": "Go", "model": [{"content": "I pay.", "tool_calls": [call]}], "cut": {"during": "b", "how": "kill"}},
            {"decisions": {"b": {"approve": false, "reason": "No"}}, "compact": {"tokens": 9}, "model": [{"error": "503"}]},
            {"resume": true, "model": [{"content": "Bye."}]},
        ]});
        let (go, pay) = (
            json!({"type": "human", "content": "Go"}),
            json!({"type": "ai", "content": "I pay.", "tool_calls": [call]}),
        );
        let output = json!({"runs": [
            {"requests": [[go]], "executed": [{"id": "b", "name": "pay", "args": {"n": 1}, "returned": false}], "pending": ["c"]},
            {"requests": [[go, pay]], "executed": [], "failure": "503"},
            {"requests": [], "executed": [], "refused": "Nothing to do."},
        ]});
        let note = "SESSION-ANSWERED: run 2, request 1, message 2: the call `b` is not answered\nSESSION-CUT: run 3 is stuck\nelse";
        let lines = conversation(&input.to_string(), &output.to_string(), note);
        let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(
            texts,
            [
                "run 1: the user says \"Go\"",
                "request 1",
                "human: \"Go\"",
                "the model: \"I pay.\" calls `b` pay {\"n\":1}",
                "executed: `b` {\"n\":1} (had not returned)",
                "cut during `b` (kill)",
                "pending: c",
                "run 2: the user decides: `b` denied since \"No\"",
                "the thread is compacted to 9 tokens",
                "request 1",
                "human: \"Go\"",
                "ai: \"I pay.\" calls `b` pay {\"n\":1}",
                "✗ SESSION-ANSWERED: run 2, request 1, message 2: the call `b` is not answered",
                "the model: fails: \"503\"",
                "failure: \"503\"",
                "run 3: the run is resumed",
                "refused: \"Nothing to do.\"",
                "✗ SESSION-CUT: run 3 is stuck",
            ]
        );
        assert_eq!(conversation("{}", &output.to_string(), ""), []);
        assert_eq!(conversation(&input.to_string(), "{\"runs\": [", ""), []);
    }
}
