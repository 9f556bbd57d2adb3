//! Runs of programs as they are: they declare our tools beside their own and under other names, wrap the prompt, and ask for more than the
//! conversation.
//!
//! A [`ProgramPlan`] says which cases a program can play, and what its tools give. Its run is answered with the declared names; afterwards
//! [`ProgramPlan::read_back`] gives the requests the names of the case, and takes out what is the program's own choice. The judge then reads
//! them like those of any agent.

use crate::record::{Attempt, WireRecord};
use crate::script::WireTurn;
use serde_json::Value;
use std::collections::HashMap;
use threadspec::surrogates::has_marks;
use threadspec_apis::{ApiRequest, DeclaredTool, NAMESPACE_END, WireMessage};
use threadspec_judge::json::{Node, is_beyond_doubles, list, text, tokens};
use threadspec_judge::protocol::Speaker;
use threadspec_judge::universal::value;

/// The tool that is declared where a case has none: by it the conversation is known.
const SPARE: &str = "threadspec_idle";
/// A prompt of so many bytes is in no other text by chance.
const TELLING: usize = 24;

/// The prompt of a program, and the results of its tools.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProgramPlan {
    /// The user message.
    pub prompt: String,
    /// The names of the tools that its MCP server declares.
    pub tools: Vec<String>,
    /// The calls of the script that a tool executes, in order.
    pub calls: Vec<ProgramCall>,
}

/// A call of the script, and its result.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramCall {
    /// The turn of the model.
    pub turn: usize,
    /// The id, if the script has one.
    pub id: Option<String>,
    /// The tool.
    pub tool: String,
    /// The arguments.
    pub args: Value,
    /// The result as text: any other value is JSON text.
    pub text: String,
    /// True if the tool fails with this text.
    pub is_error: bool,
    /// The result if it is executed a second time.
    pub again: Option<String>,
}

impl ProgramPlan {
    /// The plan of a case of op `tools`.
    ///
    /// ```
    /// use threadspec_provider::ProgramPlan;
    /// let plan = ProgramPlan::of_case_input(r#"{"messages": [{"type": "human", "content": "Go"}], "model": [
    ///     {"tool_calls": [{"id": "c1", "name": "look", "args": {"n": 1.0}}]}, {"content": "Done"}], "tools": {"look": {"byId": {"c1": [1.0, "a"]}}}}"#)?;
    /// assert_eq!((plan.tools, plan.calls[0].text.as_str()), (vec!["look".to_owned()], r#"[1.0,"a"]"#));
    /// let why = ProgramPlan::of_case_input(r#"{"messages": [{"type": "system", "content": "Hi"}], "model": []}"#);
    /// assert_eq!(why, Err("the case begins with a system message".to_owned()));
    /// # Ok::<(), String>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Says why no program can play it.
    pub fn of_case_input(input: &str) -> Result<Self, String> {
        let unfit = |why: &str| Err(why.to_owned());
        let read = value::read(input).map_err(|error| error.to_string())?;
        let messages = list(&read["messages"]);
        if messages.iter().any(|message| message["type"] == "system") {
            return unfit("the case begins with a system message");
        }
        let [message] = messages else { return unfit("the case begins with a history") };
        let prompt = text(&message["content"]);
        if message["type"] != "human" {
            return unfit("the case begins with a history");
        }
        if prompt.trim().is_empty() {
            return unfit("the case begins with an empty message");
        }
        if !read["maxRecursionDepth"].is_null() {
            return unfit("the case limits the rounds");
        }
        if has_marks(prompt) || prompt.contains('\0') {
            return unfit("the user message has a character that no command line can hold");
        }
        let mut tools: Vec<String> =
            read["tools"].as_object().into_iter().flat_map(|all| all.keys().cloned()).collect();
        if tools.iter().any(|name| !is_of_mcp(name)) {
            return unfit("MCP does not allow the name of a tool");
        }
        let calls = calls(input)?;
        if tools.is_empty() {
            tools.push(SPARE.to_owned());
        }
        Ok(Self { prompt: prompt.to_owned(), tools, calls })
    }

    /// The tool of the case that a declared name means: the longest one with which it ends.
    fn own(&self, declared: &str) -> Option<&str> {
        let declared = plain(declared);
        let ends = |name: &&String| declared.ends_with(&plain(name));
        self.tools.iter().filter(ends).max_by_key(|name| name.len()).map(String::as_str)
    }

    /// The declared name of a tool of the case; `None` if none is, or several are and none of them is clearly meant.
    pub(crate) fn declared(&self, request: &ApiRequest, tool: &str) -> Option<String> {
        let mut found: Vec<String> =
            request.tools.iter().flat_map(names).filter(|name| self.own(name) == Some(tool)).collect();
        if found.len() > 1 {
            // A word of the program's own may end like a short name.
            found.retain(|name| name.to_ascii_lowercase().contains("threadspec"));
        }
        found.pop().filter(|_| found.is_empty())
    }

    pub(crate) fn declares_ours(&self, request: &ApiRequest) -> bool {
        self.tools.iter().any(|tool| self.declared(request, tool).is_some())
    }

    pub(crate) fn has_prompt(&self, request: &ApiRequest) -> bool {
        let humans = request.messages.iter().filter(|message| message.speaker == Speaker::Human);
        humans.into_iter().any(|message| is_in(&self.prompt, &message.content))
    }

    /// Gives the record of a run the names of the case, and takes out what is the program's own choice: its system messages and reminders,
    /// the wrappers of the prompt and of results.
    ///
    /// # Errors
    ///
    /// Says why the run shows nothing about the program.
    pub fn read_back(&self, turns: &[WireTurn], record: &mut WireRecord) -> Result<(), String> {
        for attempt in &mut record.attempts {
            self.rename(turns, attempt)?;
        }
        let said = record.attempts.iter().filter_map(|attempt| attempt.said.as_ref()).flat_map(|said| &said.calls);
        let mut texts: HashMap<String, Vec<&ProgramCall>> = HashMap::new();
        for call in said {
            let args = value::read(&call.arguments).unwrap_or_default();
            let is_meant = |own: &&ProgramCall| match &own.id {
                Some(id) => *id == call.id,
                None => own.tool == call.name && value::equal(&own.args, &args, false),
            };
            texts.entry(call.id.clone()).or_default().extend(self.calls.iter().filter(is_meant));
        }
        let requests = record.attempts.iter_mut().filter_map(|attempt| attempt.request.as_mut());
        for messages in requests.map(|request| &mut request.messages) {
            self.settle_start(messages);
            leave_own_out(&self.prompt, messages);
            for message in messages.iter_mut().filter(|message| message.speaker == Speaker::Tool) {
                let calls = message.call_id.as_ref().and_then(|id| texts.get(id)).into_iter().flatten();
                // A call without an id may be refused in words.
                let is_refusable = message.call_id.as_deref() == Some("");
                let fits = |text: &&String| is_refusable || is_wrapped(&message.content, text);
                let found = calls.flat_map(|call| call.texts()).find(fits);
                if let Some(text) = found {
                    text.clone_into(&mut message.content);
                }
            }
        }
        Ok(())
    }

    /// Gives the calls of an attempt the names of the case.
    fn rename(&self, turns: &[WireTurn], attempt: &mut Attempt) -> Result<(), String> {
        let Some(request) = &attempt.request else { return Ok(()) };
        let calls = turns.get(attempt.ask).map(|turn| turn.calls.as_slice()).unwrap_or_default();
        for call in calls {
            let is_declared = || request.tools.iter().any(|tool| tool.name.as_ref() == Some(&call.name));
            if !self.tools.contains(&call.name) && is_declared() {
                return Err("the case calls a tool that is one of the program's own".to_owned());
            }
            if self.tools.contains(&call.name) && self.declared(request, &call.name).is_none() {
                return Err("the program does not declare a tool of the MCP server, or not by a name that tells which"
                    .to_owned());
            }
        }
        let names: HashMap<String, String> =
            self.tools.iter().filter_map(|tool| Some((self.declared(request, tool)?, tool.clone()))).collect();
        let give = |name: &mut String| {
            if let Some(own) = names.get(name) {
                own.clone_into(name);
            }
        };
        if let Some(request) = &mut attempt.request {
            // How it declares tools of its own is not ours to judge.
            request.tools.retain(|tool| tool.name.as_ref().is_some_and(|name| names.contains_key(name)));
        }
        let request = attempt.request.iter_mut();
        let sent = request.flat_map(|request| &mut request.messages).flat_map(|message| &mut message.calls);
        sent.for_each(|call| give(&mut call.name));
        let said = attempt.said.iter_mut().flat_map(|said| &mut said.calls);
        said.for_each(|call| give(&mut call.name));
        Ok(())
    }

    /// Reduces what is before the first response to the prompt, if it is there, unchanged and once.
    fn settle_start(&self, messages: &mut Vec<WireMessage>) {
        let first = messages.iter().position(|message| message.speaker == Speaker::Ai).unwrap_or(messages.len());
        let humans: Vec<&WireMessage> =
            messages[..first].iter().filter(|message| message.speaker == Speaker::Human).collect();
        let exact = humans.iter().flat_map(|message| message.parts()).filter(|part| *part == self.prompt).count();
        let inside = humans.iter().map(|message| message.content.matches(&self.prompt).count()).sum::<usize>();
        let times = if self.prompt.len() >= TELLING { inside } else { exact.max(1) };
        let Some(holder) = humans.iter().find(|message| is_in(&self.prompt, &message.content)) else {
            messages.retain(|message| message.speaker != Speaker::System);
            return;
        };
        let prompt = WireMessage { content: self.prompt.clone(), seams: Vec::new(), ..(*holder).clone() };
        messages.splice(..first, vec![prompt; times]);
    }
}

impl ProgramCall {
    /// The texts that its result may be. What a failure says is judged as it is.
    fn texts(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.text).filter(|_| !self.is_error).chain(&self.again)
    }
}

/// Takes out the program's own messages behind the first response: system messages, and those of the user where no call waits for its answer.
fn leave_own_out(prompt: &str, messages: &mut Vec<WireMessage>) {
    let mut open: Vec<String> = Vec::new();
    let mut has_begun = false;
    messages.retain(|message| match message.speaker {
        Speaker::System => false,
        Speaker::Ai => {
            has_begun = true;
            open = message.calls.iter().map(|call| call.id.clone()).collect();
            true
        }
        Speaker::Tool => {
            open.retain(|id| Some(id) != message.call_id.as_ref());
            true
        }
        Speaker::Human => !has_begun || !open.is_empty() || message.parts().any(|part| part == prompt),
    });
}

/// The names of a declaration: one of a function, and of a namespace those of its functions.
fn names(declared: &DeclaredTool) -> Vec<String> {
    let Some(name) = &declared.name else { return Vec::new() };
    if declared.kind == "namespace" {
        let inner = list(&declared.raw["tools"]).iter().filter_map(|tool| tool["name"].as_str());
        return inner.map(|inner| format!("{name}{NAMESPACE_END}{inner}")).collect();
    }
    declared.is_function().then(|| name.clone()).into_iter().collect()
}

/// Returns whether MCP allows a name, and every API that it may be declared with.
fn is_of_mcp(name: &str) -> bool {
    let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    (1..=64).contains(&name.len()) && name.bytes().all(is_sign)
}

/// A name without what programs change in it.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

// Where a text is in another one: a wrapper is the program's choice, the text in it is not.

/// Returns whether a text is in another one, not as a part of a longer word.
fn is_in(text: &str, whole: &str) -> bool {
    let is_of_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    whole.match_indices(text).any(|(at, found)| {
        let before = is_of_word(text.chars().next()) && is_of_word(whole[..at].chars().next_back());
        let behind = is_of_word(text.chars().next_back()) && is_of_word(whole[at + found.len()..].chars().next());
        !before && !behind
    })
}

/// Shorter results are not shortened.
const LONG: usize = 4_000;
/// The words that say that a text was shortened.
const MARKS: [&str; 9] = ["truncat", "…", "...", "omitted", "exceed", "too large", "too long", "shortened", "saved to"];

/// Returns whether a content is a wrapper of a text: with it inside, as it is or as a string of JSON, or shortened with a mark that says so.
fn is_wrapped(content: &str, text: &str) -> bool {
    text.is_empty() || is_in(text, content) || is_shortened(content, text) || {
        let read = value::read(content).unwrap_or_default();
        is_leaf(&read, text)
    }
}

/// Returns whether a string in a value is a wrapper of a text.
fn is_leaf(read: &Value, text: &str) -> bool {
    match read {
        Value::String(own) => is_in(text, own) || is_shortened(own, text),
        Value::Array(elements) => elements.iter().any(|element| is_leaf(element, text)),
        Value::Object(members) => members.values().any(|member| is_leaf(member, text)),
        _ => false,
    }
}

/// Returns whether a long text was shortened with a mark: its lines are lines of the text, but for a few that say so.
fn is_shortened(content: &str, text: &str) -> bool {
    if text.len() < LONG || content.len() >= text.len() {
        return false;
    }
    let lower = content.to_lowercase();
    let Some(mark) = MARKS.iter().find_map(|mark| lower.find(mark)) else { return false };
    // Before the mark's line the text is verbatim, from its beginning.
    let Some(before) = content.get(..mark.min(content.len())) else { return true };
    let kept = before.rsplit_once('\n').map_or("", |(kept, _)| kept);
    kept.len() < TELLING || {
        let head: String = kept.chars().rev().take(TELLING).collect::<Vec<_>>().into_iter().rev().collect();
        text.contains(&head)
    }
}

// The calls that a tool executes, and their results.

fn calls(input: &str) -> Result<Vec<ProgramCall>, String> {
    let input = Node::of(input);
    let mut found: Vec<ProgramCall> = Vec::new();
    let Some(Node::Array(turns)) = member(&input, "model") else { return Ok(found) };
    for (turn, node) in turns.iter().enumerate() {
        let Some(Node::Array(calls)) = member(node, "tool_calls") else { continue };
        for call in calls {
            let name = member(call, "name").map(Node::text).map(|name| string(&name)).unwrap_or_default();
            let Some(results) = member(&input, "tools").and_then(|tools| member(tools, &name)) else { continue };
            let args = member(call, "args").map_or_else(|| "{}".to_owned(), Node::text);
            let id = member(call, "id").map(|id| string(&id.text()));
            if member(call, "arguments").is_some() {
                // It is no object, or is judged for how it is written.
                return Err("the arguments of a call are no JSON object".to_owned());
            }
            let read = value::read(&args).map_err(|error| error.to_string())?;
            if !read.is_object() && !read.is_null() {
                return Err("the arguments of a call are no JSON object".to_owned());
            }
            if has_marks(&read.to_string()) || tokens(&args).any(is_beyond_doubles) {
                return Err("the arguments of a call hold what no MCP message can".to_owned());
            }
            let (text, is_error) = result(results, id.as_deref(), &read);
            let again =
                member(results, "again").and_then(|again| member(again, id.as_deref()?)).map(|node| plain_text(node).0);
            if has_marks(&text) {
                return Err("a result holds half a character, which no MCP message can".to_owned());
            }
            let args = if read.is_null() { Value::Object(serde_json::Map::new()) } else { read };
            let is_twin =
                |own: &&ProgramCall| own.turn == turn && own.tool == name && value::equal(&own.args, &args, false);
            if found.iter().find(is_twin).is_some_and(|own| own.text != text || own.is_error != is_error) {
                return Err("equal calls of one response have different results".to_owned());
            }
            found.push(ProgramCall { turn, id, tool: name, args, text, is_error, again });
        }
    }
    Ok(found)
}

/// The result of a call as text, and whether the tool fails with it.
fn result(results: &Node<'_>, id: Option<&str>, args: &Value) -> (String, bool) {
    let nothing = || (String::new(), false);
    match results {
        Node::Array(list) => list.first().map_or_else(nothing, plain_text),
        results => {
            if let Some(by_id) = member(results, "byId") {
                return id.and_then(|id| member(by_id, id)).map_or_else(nothing, plain_text);
            }
            let Some(Node::Array(pairs)) = member(results, "byArgs") else { return nothing() };
            let is_own = |pair: &&Node<'_>| match pair {
                Node::Array(pair) => pair
                    .first()
                    .is_some_and(|own| value::read(&own.text()).is_ok_and(|own| value::equal(&own, args, false))),
                _ => false,
            };
            match pairs.iter().find(is_own) {
                Some(Node::Array(pair)) => pair.get(1).map_or_else(nothing, plain_text),
                _ => nothing(),
            }
        }
    }
}

/// A result as text: a string as it is, the message of a failure, any other value as JSON text.
fn plain_text(result: &Node<'_>) -> (String, bool) {
    match result {
        Node::Scalar(token) if token.starts_with('"') => (string(token), false),
        Node::Object(members) if members.len() == 1 && string(members[0].0) == "error" => match &members[0].1 {
            Node::Scalar(token) if token.starts_with('"') => (string(token), true),
            _ => (json_text(result), false),
        },
        _ => (json_text(result), false),
    }
}

/// A value as JSON text: numbers as they are written, strings without needless escapes.
fn json_text(value: &Node<'_>) -> String {
    let quoted = |token: &str| Value::from(string(token)).to_string();
    match value {
        Node::Scalar(token) if token.starts_with('"') => quoted(token),
        Node::Scalar(token) => (*token).to_owned(),
        Node::Array(elements) => format!("[{}]", elements.iter().map(json_text).collect::<Vec<_>>().join(",")),
        Node::Object(members) => {
            let members = members.iter().map(|(name, value)| format!("{}:{}", quoted(name), json_text(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
    }
}

fn member<'n, 'a>(object: &'n Node<'a>, name: &str) -> Option<&'n Node<'a>> {
    let Node::Object(members) = object else { return None };
    members.iter().find(|(key, _)| string(key) == name).map(|(_, value)| value)
}

/// The text of a string, lone surrogates marked.
fn string(token: &str) -> String {
    value::read(token).ok().as_ref().and_then(Value::as_str).map(str::to_owned).unwrap_or_default()
}
