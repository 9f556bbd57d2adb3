//! Reads the scripts of a provider that runs alone: a list of turns for each conversation, or rules that look at the request.

use crate::Error;
use crate::example::example_of;
use crate::run::Turns;
use crate::script::{PlayedCall, StrictReading, WireTurn, read_text};
use regex_lite::Regex;
use serde_json::{Map, Value};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use threadspec::oracle::Api;
use threadspec::surrogates::marked;
use threadspec_apis::{ApiRequest, DeclaredTool, WireMessage};
use threadspec_judge::protocol::Speaker;
use wildmatch::WildMatch;

/// The answers, and the expectations at the end.
///
/// ```
/// use threadspec_provider::Script;
/// let script = Script::read(r#"{"rules": [
///     {"when": {"tools": true, "answered": {"below": 2}}, "turn": {"call": {"tool": ["bash", "*"], "args": {"command": "ls"}}}},
///     {"when": {"last": "user", "matches": "(?i)title"}, "turn": {"content": "A title"}, "times": 1}],
///     "otherwise": {"content": "Done"}, "expect": {"conversations": {"atLeast": 1}}}"#)?;
/// assert_eq!(script.expect.broken_by(0, 0), ["0 conversations, and the script expects at least 1"]);
/// assert_eq!(Script::read(r#"{"rules": []}"#).unwrap_err().to_string(), "rules: there is none, and no `otherwise`");
/// # Ok::<(), threadspec_provider::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Script {
    lines: Spoken,
    /// The expectations at the end.
    pub expect: ExpectedCounts,
}

#[derive(Clone, Debug)]
enum Spoken {
    /// One list for each conversation.
    Listed(Vec<WireTurn>),
    Ruled(Arc<RuleList>),
}

#[derive(Debug)]
struct RuleList {
    list: Vec<Rule>,
    otherwise: Option<RuleTurn>,
    /// How often each rule has answered.
    used: Mutex<Vec<u64>>,
}

#[derive(Debug)]
struct Rule {
    when: WhenAsked,
    turn: RuleTurn,
    /// How often it answers; always without a number.
    times: Option<u64>,
}

/// A turn that may call a tool of the agent's, whatever it is called.
#[derive(Clone, Debug)]
struct RuleTurn {
    turn: WireTurn,
    call: Option<ToolByGlob>,
}

#[derive(Clone, Debug)]
struct ToolByGlob {
    /// The first one that fits a declared tool names it.
    globs: Vec<WildMatch>,
    /// Members that replace those of the arguments that the schema asks for.
    args: Map<String, Value>,
}

/// The conditions on a request; a missing one allows anything.
#[derive(Debug, Default)]
struct WhenAsked {
    last: Option<Speaker>,
    contains: Option<String>,
    matches: Option<Regex>,
    tool: Option<WildMatch>,
    tools: Option<bool>,
    answered: Bounds,
    api: Option<Api>,
    model: Option<WildMatch>,
    turn: Bounds,
}

/// Counts that a script expects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExpectedCounts {
    conversations: Bounds,
    asks: Bounds,
}

/// How many there may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bounds {
    least: Option<u64>,
    most: Option<u64>,
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    ///
    /// Says where the text is no JSON or no script: a member that is not known, or that has no such value.
    pub fn read(text: &str) -> Result<Self, Error> {
        read_text(text, "", |reading| {
            let mut members = reading.members()?;
            let listed = members.read("model", WireTurn::read_list)?;
            let read_rules =
                |list: StrictReading<'_>| list.list()?.into_iter().map(Rule::read).collect::<Result<Vec<_>, _>>();
            let rules = members.read("rules", read_rules)?;
            let otherwise = members.read("otherwise", RuleTurn::read)?;
            let expect = members.read("expect", ExpectedCounts::read)?.unwrap_or_default();
            let lines = match (listed, rules, otherwise) {
                (Some(_), Some(_), _) | (Some(_), _, Some(_)) => {
                    return members
                        .error("`model` is a list for every conversation; `rules` and `otherwise` replace it");
                }
                (Some(turns), None, None) => Spoken::Listed(turns),
                (None, Some(rules), None) if rules.is_empty() => {
                    return Err(Error::new("rules", "there is none, and no `otherwise`"));
                }
                (None, None, None) => return members.error("`model` or `rules` is missing"),
                (None, rules, otherwise) => {
                    let rules = rules.unwrap_or_default();
                    let used = Mutex::new(vec![0; rules.len()]);
                    Spoken::Ruled(Arc::new(RuleList { list: rules, otherwise, used }))
                }
            };
            members.end()?;
            Ok(Self { lines, expect })
        })
    }

    /// Returns the turns of a new conversation.
    pub(super) fn turns(&self) -> Box<dyn Turns> {
        match &self.lines {
            Spoken::Listed(turns) => Box::new(crate::run::Listed(turns.clone())),
            Spoken::Ruled(rules) => Box::new(Ruled(Arc::clone(rules))),
        }
    }
}

impl ExpectedCounts {
    fn read(reading: StrictReading<'_>) -> Result<Self, Error> {
        let mut members = reading.members()?;
        let conversations = members.read("conversations", Bounds::read)?.unwrap_or_default();
        let asks = members.read("asks", Bounds::read)?.unwrap_or_default();
        members.end()?;
        Ok(Self { conversations, asks })
    }

    /// Lists the expectations that do not hold.
    pub fn broken_by(&self, conversations: u64, asks: u64) -> Vec<String> {
        let broken = |what: &str, count: u64, bounds: Bounds| {
            (!bounds.hold(count)).then(|| format!("{count} {what}, and the script expects {bounds}"))
        };
        [broken("conversations", conversations, self.conversations), broken("asks", asks, self.asks)]
            .into_iter()
            .flatten()
            .collect()
    }
}

impl Bounds {
    /// A number, or an object with `below`, `atLeast`, `atMost`.
    fn read(reading: StrictReading<'_>) -> Result<Self, Error> {
        if let Ok(exactly) = reading.clone().count(0) {
            return Ok(Self { least: Some(exactly), most: Some(exactly) });
        }
        let mut members = reading.members()?;
        let least = members.read("atLeast", |count| count.count(0))?;
        let below = members.read("below", |count| count.count(1))?.map(|below| below - 1);
        let most = members.read("atMost", |count| count.count(0))?.into_iter().chain(below).min();
        if least.is_none() && most.is_none() {
            return members.error("it needs `below`, `atLeast` or `atMost`");
        }
        members.end()?;
        Ok(Self { least, most })
    }

    fn hold(self, count: u64) -> bool {
        self.least.is_none_or(|least| count >= least) && self.most.is_none_or(|most| count <= most)
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.least, self.most) {
            (Some(least), Some(most)) if least == most => write!(f, "{least}"),
            (Some(least), Some(most)) => write!(f, "{least} to {most}"),
            (Some(least), None) => write!(f, "at least {least}"),
            (None, Some(most)) => write!(f, "at most {most}"),
            (None, None) => f.write_str("any number"),
        }
    }
}

impl Rule {
    fn read(reading: StrictReading<'_>) -> Result<Self, Error> {
        let mut members = reading.members()?;
        let rule = Self {
            when: members.read("when", WhenAsked::read)?.unwrap_or_default(),
            turn: members.need("turn", RuleTurn::read)?,
            times: members.read("times", |times| times.count(1))?,
        };
        members.end()?;
        Ok(rule)
    }
}

impl RuleTurn {
    fn read(reading: StrictReading<'_>) -> Result<Self, Error> {
        let mut members = reading.members()?;
        let call = members.read("call", ToolByGlob::read)?;
        let turn = WireTurn::from_members(members)?;
        Ok(Self { turn, call })
    }

    /// The turn with its call; `None` if the request declares no tool that fits.
    fn for_request(&self, request: &ApiRequest) -> Option<WireTurn> {
        let mut turn = self.turn.clone();
        if let Some(call) = &self.call {
            let call = call.of(&request.tools)?;
            turn.calls.push(call);
        }
        Some(turn)
    }
}

impl ToolByGlob {
    fn read(reading: StrictReading<'_>) -> Result<Self, Error> {
        let mut members = reading.members()?;
        let globs = members.need("tool", |tool| {
            let one = tool.clone().string().map(|glob| vec![WildMatch::new(&glob)]);
            one.or_else(|_| tool.list()?.into_iter().map(|glob| Ok(WildMatch::new(&glob.string()?))).collect())
        })?;
        let args = members.read("args", |args| match serde_json::from_str(&marked(&args.text())) {
            Ok(Value::Object(args)) => Ok(args),
            _ => args.error("the arguments are no object"),
        })?;
        members.end()?;
        Ok(Self { globs, args: args.unwrap_or_default() })
    }

    fn of(&self, tools: &[DeclaredTool]) -> Option<PlayedCall> {
        let named = || tools.iter().filter_map(|tool| Some((tool, tool.name.as_deref()?)));
        let (tool, name) = self.globs.iter().find_map(|glob| named().find(|(_, name)| glob.matches(name)))?;
        let mut args = match tool.schema.as_ref().map(example_of) {
            Some(Value::Object(args)) => args,
            _ => Map::new(),
        };
        // A tool of another program may not know the member, and refuse it.
        let knows = |name: &str| {
            tool.schema.as_ref().is_none_or(|schema| schema.get("properties").is_none_or(|all| all.get(name).is_some()))
        };
        args.extend(
            self.args.iter().filter(|(name, _)| knows(name)).map(|(name, value)| (name.clone(), value.clone())),
        );
        Some(PlayedCall { id: None, name: name.to_owned(), arguments: Value::Object(args).to_string() })
    }
}

impl WhenAsked {
    fn read(reading: StrictReading<'_>) -> Result<Self, Error> {
        let glob = |reading: StrictReading<'_>| Ok(WildMatch::new(&reading.string()?));
        let mut members = reading.members()?;
        let when = Self {
            last: members.read("last", |last| {
                Ok(match &*last.word(&["system", "user", "assistant", "tool"])? {
                    "system" => Speaker::System,
                    "user" => Speaker::Human,
                    "assistant" => Speaker::Ai,
                    _ => Speaker::Tool,
                })
            })?,
            contains: members.read("contains", StrictReading::string)?,
            matches: members.read("matches", |pattern| {
                let text = pattern.clone().string()?;
                Regex::new(&text).or_else(|error| pattern.error(format!("no regular expression: {error}")))
            })?,
            tool: members.read("tool", glob)?,
            tools: members.read("tools", StrictReading::boolean)?,
            answered: members.read("answered", Bounds::read)?.unwrap_or_default(),
            api: members.read("api", |api| {
                let name = api.clone().word(&Api::ALL.map(|api| api.to_string()).each_ref().map(String::as_str))?;
                Api::ALL.into_iter().find(|api| api.to_string() == name).map_or_else(|| api.error("no API"), Ok)
            })?,
            model: members.read("model", glob)?,
            turn: members.read("turn", Bounds::read)?.unwrap_or_default(),
        };
        members.end()?;
        Ok(when)
    }

    /// Returns whether it is true of a request; `ask` counts from 0, and the turns of a script from 1.
    fn fits(&self, ask: usize, request: &ApiRequest) -> bool {
        let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let last = request.messages.last();
        let text = last.map(|message| message.content.as_str()).unwrap_or_default();
        let answered = request.messages.iter().filter(|message| message.speaker == Speaker::Tool).count();
        self.last.is_none_or(|speaker| last.is_some_and(|message| message.speaker == speaker))
            && self.contains.as_ref().is_none_or(|part| text.contains(part))
            && self.matches.as_ref().is_none_or(|pattern| pattern.is_match(text))
            && self
                .tool
                .as_ref()
                .is_none_or(|glob| last.and_then(|last| tool_of(request, last)).is_some_and(|name| glob.matches(name)))
            && self.tools.is_none_or(|some| some != request.tools.is_empty())
            && self.answered.hold(count(answered))
            && self.api.is_none_or(|api| api == request.api)
            && self.model.as_ref().is_none_or(|glob| request.model.as_ref().is_some_and(|model| glob.matches(model)))
            && self.turn.hold(count(ask + 1))
    }
}

/// The tool that a message answers.
fn tool_of<'a>(request: &'a ApiRequest, answer: &WireMessage) -> Option<&'a str> {
    let id = answer.call_id.as_ref()?;
    let mut calls = request.messages.iter().rev().flat_map(|message| &message.calls);
    calls.find(|call| call.id == *id).map(|call| call.name.as_str())
}

/// The rules, in one conversation.
#[derive(Debug)]
struct Ruled(Arc<RuleList>);

impl Turns for Ruled {
    fn turn(&mut self, ask: usize, request: &ApiRequest) -> Option<WireTurn> {
        let RuleList { list, otherwise, used } = &*self.0;
        let mut used = used.lock().unwrap_or_else(PoisonError::into_inner);
        for (rule, used) in list.iter().zip(used.iter_mut()) {
            if rule.times.is_none_or(|times| *used < times)
                && rule.when.fits(ask, request)
                && let Some(turn) = rule.turn.for_request(request)
            {
                *used += 1;
                return Some(turn);
            }
        }
        otherwise.as_ref().and_then(|turn| turn.for_request(request))
    }
}
