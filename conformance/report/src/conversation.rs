//! Shows a run, or the runs of a session, as one conversation: messages, cuts, pending calls, and the content of each request.

use super::words::shortened;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashSet;
use threadspec_judge::json::plain;
use threadspec_judge::protocol::{
    Execution, Op, OpaqueItem, Part, RunReport, SentCall, SessionMessage, SessionOutput, Speaker,
};
use threadspec_judge::script::{
    Approval, Beginning, Budget, CallWish, OpaqueBlock, ScriptCall, ScriptCompaction, ScriptCut, ScriptRun,
    ScriptSteer, ScriptTurn, SessionScript,
};
use threadspec_judge::text::visible;

/// A text is shown up to this length.
const LONGEST_TEXT: usize = 80;
/// The most messages of a request that are shown, from its beginning and from its end.
const MESSAGES: usize = 12;
/// A conversation has at most so many lines.
const LINES: usize = 80;

/// A reply that was not cut off.
#[derive(Deserialize)]
struct Replied {
    ok: Value,
}

/// Begins a judgement about another session, which was sent first.
const OF_ANOTHER: &str = "in the reply to request ";

/// A line of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationLine {
    /// The kind of the line.
    pub kind: LineKind,
    /// The text, not indented.
    pub text: String,
}

/// The kind of a line of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// The beginning of a run.
    Run,
    /// An event of the conversation.
    Event,
    /// A message of a request, with its number there.
    Message,
    /// A fault of the lines above.
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

/// The conversation of a case, with the findings of the note where they belong. Empty if it has none, if the reply has no output, or if that
/// was cut off.
pub fn conversation(op: Op, input: &str, reply: &str, note: &str) -> Vec<ConversationLine> {
    let Ok(Replied { ok: output }) = serde_json::from_str(reply) else { return Vec::new() };
    // The reply is that of another request where only that one is wrong.
    if note.starts_with(OF_ANOTHER) {
        return Vec::new();
    }
    match op {
        Op::Session => of_session(input, output, note),
        Op::Tools => of_run(input, output, note),
        _ => Vec::new(),
    }
}

fn of_session(input: &str, output: Value, note: &str) -> Vec<ConversationLine> {
    let Ok(script) = SessionScript::read(input) else { return Vec::new() };
    let output = SessionOutput::of(output);
    let mut told = ConversationTeller::new(note);
    for (number, run) in script.runs.iter().enumerate() {
        let Some(report) = output.runs.list().get(number).and_then(Part::proper) else { break };
        told.run(number, run, report);
    }
    within(told.lines)
}

/// Shows a single run as the run of a session that begins with its requests.
fn of_run(input: &str, mut output: Value, note: &str) -> Vec<ConversationLine> {
    let requests = output.get_mut("requests").map(Value::take).unwrap_or_default();
    let failure = output.get_mut("failure").map(Value::take).unwrap_or_default();
    let report = SessionOutput::of(json!({"runs": [{"requests": requests, "failure": failure}]}));
    let Some(report) = report.runs.list().first().and_then(Part::proper) else { return Vec::new() };
    let model = serde_json::from_str::<Value>(input).ok().and_then(|mut input| Some(input.get_mut("model")?.take()));
    // Members that only scripts of single runs have are left out.
    let script = json!({"runs": [{"resume": true, "model": model.unwrap_or_else(|| json!([]))}]}).to_string();
    let turns = SessionScript::read(&script).ok().and_then(|mut script| Some(script.runs.pop()?.turns));
    let mut told = ConversationTeller::new(note);
    told.requests("", &turns.unwrap_or_default(), report);
    told.ending(report);
    told.findings("");
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
    /// The lines of the note that are somewhere already.
    named: HashSet<usize>,
    /// The request before the next one, in this run or an earlier one.
    before: &'a [Part<SessionMessage>],
}

impl<'a> ConversationTeller<'a> {
    fn new(note: &'a str) -> Self {
        let note = note.lines().take_while(|line| !line.starts_with(OF_ANOTHER)).collect();
        Self { lines: Vec::new(), note, named: HashSet::new(), before: &[] }
    }

    fn add(&mut self, kind: LineKind, text: impl Into<String>) {
        self.lines.push(ConversationLine { kind, text: visible(&text.into()) });
    }

    /// Adds the findings that begin with a place, or all that are left; those of other places may name it, too.
    fn findings(&mut self, place: &str) {
        for index in 0..self.note.len() {
            let line = self.note[index];
            // The details of a finding stay with the note.
            if line.starts_with(' ') {
                continue;
            }
            let Some((clause, what)) = line.split_once(": ") else { continue };
            let behind = what.strip_prefix(place).map(|rest| rest.chars().next().filter(|_| !place.is_empty()));
            let is_here = behind.is_some_and(|next| next.is_none_or(|c| !c.is_ascii_digit()));
            if is_here && self.named.insert(index) {
                match clause {
                    "note" => self.add(LineKind::Event, line),
                    _ => self.add(LineKind::Finding, format!("✗ {line}")),
                }
            }
        }
    }

    fn run(&mut self, number: usize, script: &ScriptRun, report: &'a RunReport) {
        self.add(LineKind::Run, format!("run {}: {}", number + 1, beginning(script)));
        if let Some(ScriptCompaction { budget, .. }) = &script.compact {
            let budget = match budget {
                Budget::Messages(count) => format!("{count} messages"),
                Budget::Tokens(count) => format!("{count} tokens"),
            };
            self.add(LineKind::Event, format!("the thread is compacted to {budget}"));
        }
        if let Some(ScriptSteer { during, message }) = &script.say {
            self.add(LineKind::Event, format!("while `{during}` works, the user says {}", quoted(message)));
        }
        self.requests(&format!("run {}, ", number + 1), &script.turns, report);
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
        self.ending(report);
        self.findings(&format!("run {}", number + 1));
    }

    /// The requests of a run, and what the model answered to each.
    fn requests(&mut self, run: &str, turns: &[ScriptTurn], report: &'a RunReport) {
        for (index, request) in report.requests.list().iter().enumerate() {
            self.request(&format!("{run}request {}", index + 1), index, request.list());
            if let Some(turn) = turns.get(index) {
                self.add(LineKind::Event, format!("the model: {}", said(turn)));
            }
        }
    }

    fn ending(&mut self, report: &RunReport) {
        if let Some(words) = report.refused.text() {
            self.add(LineKind::Event, format!("refused: {}", quoted(words)));
        } else if report.requests.list().is_empty() {
            self.add(LineKind::Event, "no request");
        }
        if let Some(failure) = report.failure.text().filter(|failure| !failure.is_empty()) {
            self.add(LineKind::Event, format!("failure: {}", quoted(failure)));
        }
    }

    /// The number of the first message of a request that a finding names.
    fn accused(&self, request: &str) -> Option<usize> {
        let named = |line: &&str| {
            let (_, what) = line.split_once(": ")?;
            let number = what.strip_prefix(request)?.strip_prefix(", message ")?;
            number.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
        };
        self.note.iter().filter_map(named).min()
    }

    /// A request without the beginning that it shares with the one before, as far as nothing is wrong there, and unless that is all of it.
    fn request(&mut self, place: &str, index: usize, messages: &'a [Part<SessionMessage>]) {
        let shared = messages.iter().zip(self.before).take_while(|(one, other)| one == other).count();
        let sound = self.accused(place).map_or(shared, |number| shared.min(number.saturating_sub(1)));
        let from = if sound == messages.len() { 0 } else { sound };
        let rest = match from {
            0 => String::new(),
            1 => ": message 1 as before, and".to_owned(),
            _ => format!(": messages 1–{from} as before, and"),
        };
        self.add(LineKind::Event, format!("request {}{rest}", index + 1));
        let left_out = (messages.len() - from).saturating_sub(2 * MESSAGES);
        for (index, message) in messages.iter().enumerate().skip(from) {
            let at = index - from;
            if left_out > 0 && at == MESSAGES {
                self.add(LineKind::Message, format!("… {left_out} messages …"));
            }
            if left_out == 0 || at < MESSAGES || at >= MESSAGES + left_out {
                let text = message.proper().map_or_else(|| "?".to_owned(), sent);
                self.add(LineKind::Message, format!("{} {text}", index + 1));
                self.findings(&format!("{place}, message {}", index + 1));
            }
        }
        self.findings(place);
        self.before = messages;
    }
}

/// Quotes a text, in which U+FFFC represents an image or a file.
fn quoted(text: &str) -> String {
    of_json(&plain(text.replace('\u{fffc}', "[image or file]").into()))
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

fn with(args: Option<Value>) -> String {
    match args {
        Some(args) if args.as_object().is_none_or(|args| !args.is_empty()) => format!(" {}", of_json(&args)),
        _ => String::new(),
    }
}

fn of_json(value: &Value) -> String {
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

    #[test]
    fn runs_are_told_as_one_conversation() {
        let call = json!({"id": "b", "name": "pay", "args": {"n": 1}});
        let input = json!({"runs": [
            {"message": "Go", "model": [{"content": "I pay.", "tool_calls": [call]}], "cut": {"during": "b", "how": "kill"}},
            {"decisions": {"b": {"approve": false, "reason": "No"}}, "compact": {"tokens": 9}, "model": [{"error": "503"}]},
            {"resume": true, "model": [{"content": "Bye."}]},
        ]});
        let (go, bye) = (json!({"type": "human", "content": "Go"}), json!({"type": "human", "content": "Bye"}));
        let pay = json!({"type": "ai", "content": "I pay.", "tool_calls": [call]});
        let output = json!({"ok": {"runs": [
            {"requests": [[go]], "executed": [{"id": "b", "name": "pay", "args": {"n": 1}, "returned": false}], "pending": ["c"]},
            {"requests": [[go, pay, bye]], "executed": [], "failure": "503"},
            {"requests": [], "executed": [], "refused": "Nothing to do."},
        ]}});
        let note = "SESSION-ANSWERED: run 2, request 1, message 2: the call `b` is not answered\n\
                    SESSION-CUT: run 3 is stuck\nSESSION-ONCE: run 3: `b` of run 1 runs again\nnote: run 2: odd\nelse";
        let lines = conversation(Op::Session, &input.to_string(), &output.to_string(), note);
        let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(
            texts,
            [
                "run 1: the user says \"Go\"",
                "request 1",
                "1 human: \"Go\"",
                "the model: \"I pay.\" calls `b` pay {\"n\":1}",
                "executed: `b` {\"n\":1} (had not returned)",
                "cut during `b` (kill)",
                "pending: c",
                "run 2: the user decides: `b` denied since \"No\"",
                "the thread is compacted to 9 tokens",
                "request 1: message 1 as before, and",
                "2 ai: \"I pay.\" calls `b` pay {\"n\":1}",
                "✗ SESSION-ANSWERED: run 2, request 1, message 2: the call `b` is not answered",
                "3 human: \"Bye\"",
                "the model: fails: \"503\"",
                "failure: \"503\"",
                "note: run 2: odd",
                "run 3: the run is resumed",
                "refused: \"Nothing to do.\"",
                "✗ SESSION-CUT: run 3 is stuck",
                "✗ SESSION-ONCE: run 3: `b` of run 1 runs again",
            ]
        );
        let of_another = format!("{OF_ANOTHER}1 of the 1 that are sent first, SESSION-CUT is broken\n{note}");
        assert_eq!(conversation(Op::Session, &input.to_string(), &output.to_string(), &of_another), []);
        assert_eq!(conversation(Op::Session, "{}", &output.to_string(), ""), []);
        assert_eq!(conversation(Op::Session, &input.to_string(), "{\"ok\":{\"runs\": [", ""), []);
    }

    #[test]
    fn a_single_run_is_told_with_its_finding_below_the_message() {
        let input = json!({
            "messages": [{"type": "human", "content": "Go"}],
            "model": [{"tool_calls": [{"id": "c1", "name": "look", "args": {"n": 1}}]}, {"content": "Done"}],
            "tools": {"look": [null]},
        });
        let go = json!({"type": "human", "content": "Go"});
        let calls =
            json!({"type": "ai", "content": "", "tool_calls": [{"id": "c1", "name": "look", "args": {"n": 1}}]});
        let answer = json!({"type": "tool", "tool_call_id": "c1", "content": "None"});
        let output = json!({"ok": {"requests": [[go], [go, calls, answer]]}});
        let note =
            "AGENT-RESULT: request 2, message 3: the result null became \"None\"\nAGENT-END: the list at the end: lost";
        let lines = conversation(Op::Tools, &input.to_string(), &output.to_string(), note);
        let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(
            texts,
            [
                "request 1",
                "1 human: \"Go\"",
                "the model: calls `c1` look {\"n\":1}",
                "request 2: message 1 as before, and",
                "2 ai: calls `c1` look {\"n\":1}",
                "3 tool `c1`: \"None\"",
                "✗ AGENT-RESULT: request 2, message 3: the result null became \"None\"",
                "the model: \"Done\"",
                "✗ AGENT-END: the list at the end: lost",
            ]
        );
        assert_eq!(conversation(Op::Escape, &input.to_string(), &output.to_string(), note), []);
    }
}
