//! Defines the parts of a record, and finds messages and answers in any value.

use super::message::{self, Dialect, any, list, unquoted, word};
use super::streams;
use serde_json::{Value, json};
use threadspec::MemberLookup;
use threadspec::oracle::{Api, RequestForm, RequestHeaders};
use threadspec_apis::{ModelAnswer, Thinking, form, read_answer};

/// Something that can be judged.
#[expect(clippy::large_enum_variant, reason = "nearly all pieces are exchanges")]
pub(in super::super) enum RecordPiece {
    /// A request to a model, with the model's answer.
    Exchange(LoggedExchange),
    /// The answer of a model to another request.
    Answer,
    /// The answer of a model to the request of this key, which was logged before.
    Reply { key: String, answer: LoggedAnswer },
    /// The next messages of a conversation that is logged turn by turn.
    Turns { key: String, turns: Vec<LoggedTurn> },
    /// A turn of a thread in which each record names the one before it, which may be logged a little later. `answer` is the name of the
    /// answer of which the record may be a part.
    Linked { key: String, id: String, parent: String, answer: String, turns: Vec<LoggedTurn> },
    /// A message that the next record replaces, if that has the same id.
    Version { key: String, id: String, turns: Vec<LoggedTurn> },
    /// A message with its number in the conversation, each of which is a file of its own.
    Numbered { number: u64, turns: Vec<LoggedTurn> },
    /// A part of a message of a conversation whose messages are logged part by part.
    MessagePart { key: String, message: String, part: Value },
    /// All messages of a conversation until now, of which those before are known.
    Snapshot { key: String, turns: Vec<LoggedTurn> },
    /// A message of the request of a call to a model that is logged message by message; `is_answer` if it is what the model answered.
    Part { key: String, turn: LoggedTurn, is_answer: bool },
    /// The place of a text with messages that ends in the middle.
    CutOff(String),
    /// Something else than is judged here, by its name.
    Skipped(&'static str),
}

impl RecordPiece {
    /// Returns whether its messages have parts of unknown types that may be calls or results.
    pub(in super::super) fn is_partly_known(&self) -> bool {
        let turns = match self {
            Self::Exchange(LoggedExchange {
                said: SaidToModel::Messages(turns) | SaidToModel::Form { turns, .. },
                ..
            })
            | Self::Turns { turns, .. }
            | Self::Linked { turns, .. }
            | Self::Version { turns, .. }
            | Self::Numbered { turns, .. }
            | Self::Snapshot { turns, .. } => &**turns,
            _ => &[],
        };
        turns.iter().any(|turn| list(&turn.message["content"]).iter().any(message::may_be_call))
    }
}

/// The verdict of a server on a request, as far as a log shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in super::super) enum ServerVerdict {
    /// The log says nothing, unless it has an answer.
    #[default]
    Unknown,
    /// The log says nothing, and its answers do not either.
    Unsaid,
    /// The server took it, with this status, if that is logged.
    Accepted(Option<u16>),
    /// The server refused it for its contents, with this status, if that is logged, and in these words.
    Refused { status: Option<u16>, words: String },
    /// The server did not look at its contents.
    Unjudged(u16),
}

/// A request to a model, with the model's answer.
pub(in super::super) struct LoggedExchange {
    pub(in super::super) said: SaidToModel,
    /// True if it went to a model as it is: then its end is no open end.
    pub(in super::super) is_sent: bool,
    pub(in super::super) answer: Option<LoggedAnswer>,
    /// The model that it was for, if it is logged beside the messages.
    pub(in super::super) model: String,
    /// Where it is in the record.
    pub(in super::super) path: String,
    /// By what its answer is known, if that is logged elsewhere.
    pub(in super::super) key: String,
    /// Its headers, as far as rules speak of them and the log has them.
    pub(in super::super) headers: Option<LoggedHeaders>,
    /// The server's verdict.
    pub(in super::super) verdict: ServerVerdict,
    /// True if the server offers another vendor's API, whose rules it need not have.
    pub(in super::super) is_of_others: bool,
}

/// The headers of a request that rules speak of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct LoggedHeaders {
    version: Option<String>,
    betas: String,
}

impl LoggedHeaders {
    /// Those among the headers of a log: an object, or a list of names and values. Nothing if the version of the API may have been left out.
    pub(super) fn of(headers: &Value) -> Option<Self> {
        let in_list = list(headers).iter().map(|pair| match pair {
            Value::Array(pair) if pair.len() == 2 => (pair[0].as_str(), &pair[1]),
            pair => (pair["name"].as_str(), &pair["value"]),
        });
        let in_object = headers.as_object().into_iter().flatten().map(|(name, value)| (Some(&**name), value));
        let (mut version, mut betas, mut is_whole) = (None, Vec::new(), false);
        for (name, value) in in_list.chain(in_object) {
            // Some logs have a list of values for each name.
            let value = value.as_str().or(value[0].as_str()).unwrap_or_default();
            match &*name.unwrap_or_default().to_ascii_lowercase() {
                "anthropic-version" => version = Some(value.to_owned()),
                "anthropic-beta" => betas.push(value),
                // Where a log has a choice of the headers, it has none of these, with which no rule is concerned.
                "host" | ":authority" | "content-length" => is_whole = true,
                _ => {}
            }
        }
        (is_whole || version.is_some()).then(|| Self { version, betas: betas.join(",") })
    }

    pub(in super::super) fn known(&self) -> RequestHeaders<'_> {
        RequestHeaders { anthropic_version: self.version.as_deref(), anthropic_beta: &self.betas }
    }
}

/// The messages to a model.
pub(in super::super) enum SaidToModel {
    /// In the words of an API; `None` if it could be for several.
    Api {
        api: Option<Api>,
        body: Value,
        /// True if that is all of the body, and not only its messages.
        is_whole: bool,
    },
    /// In the words of a form that is judged by rules of its own, and in the neutral ones.
    Form {
        form: RequestForm,
        body: Value,
        turns: Vec<LoggedTurn>,
        /// As above.
        is_whole: bool,
    },
    /// In other words.
    Messages(Vec<LoggedTurn>),
}

impl SaidToModel {
    /// Messages whose body is of a form that is judged by rules of its own, or is none.
    fn of(turns: Vec<LoggedTurn>, body: Value, is_whole: bool) -> Self {
        match form::form_of(&body) {
            Some(form @ (RequestForm::Api(Api::Gemini) | RequestForm::BedrockConverse)) => {
                Self::Form { form, body, turns, is_whole }
            }
            Some(RequestForm::Api(_)) | None => Self::Messages(turns),
        }
    }
}

impl SaidToModel {
    /// How many elements its list has.
    pub(in super::super) fn elements(&self) -> usize {
        match self {
            Self::Messages(turns) => turns.len(),
            Self::Api { body, .. } | Self::Form { body, .. } => {
                list(any(body, &["messages", "input", "contents"])).len()
            }
        }
    }
}

/// A message in the words of chat completions, and where it is in the record.
#[derive(Clone)]
pub(in super::super) struct LoggedTurn {
    pub(in super::super) message: Value,
    pub(in super::super) path: String,
}

/// The answer of a model.
#[derive(Clone, Default)]
pub(in super::super) struct LoggedAnswer {
    /// The API in whose words it is.
    pub(in super::super) api: Option<Api>,
    /// Its calls: id, name and arguments.
    pub(in super::super) calls: Vec<(String, String, String)>,
    /// Its text, if the log has all of it in the words of an API.
    pub(in super::super) text: String,
    /// How much of the text is before each call, in an answer of blocks (anthropic).
    pub(in super::super) places: Vec<usize>,
    /// How many tokens went in, and how many of them the cache had, if the log says so.
    pub(in super::super) tokens: Option<(u64, u64)>,
    /// The thinking before its first call and that call, as blocks of Anthropic's, if the log has all of it.
    pub(in super::super) thinking: Vec<Value>,
    /// The answer itself, if it is one of Responses: later requests name its items.
    pub(in super::super) response: Value,
}

impl LoggedExchange {
    pub(in super::super) fn of(said: SaidToModel, answer: Option<LoggedAnswer>, path: &str) -> Self {
        let (model, path, key) = (String::new(), path.to_owned(), String::new());
        let verdict = ServerVerdict::Unknown;
        Self { said, is_sent: true, answer, model, path, key, headers: None, verdict, is_of_others: false }
    }

    /// Returns the server's verdict: a server that answers has accepted the request.
    pub(in super::super) fn verdict(&self) -> ServerVerdict {
        match &self.verdict {
            ServerVerdict::Unknown if self.answer.is_some() => ServerVerdict::Accepted(None),
            verdict => verdict.clone(),
        }
    }

    /// A history that is alone, and may go on.
    pub(super) fn history(said: SaidToModel, path: &str) -> Self {
        Self { is_sent: false, ..Self::of(said, None, path) }
    }

    /// The model that is logged beside the messages. Rules depend on it.
    pub(super) fn model(mut self, model: &Value) -> Self {
        model.as_str().unwrap_or_default().clone_into(&mut self.model);
        if let SaidToModel::Api { body, .. } | SaidToModel::Form { body, .. } = &mut self.said
            && body["model"].is_null()
            && model.is_string()
        {
            body["model"] = model.clone();
        }
        // What is logged apart from its settings may lack what else tells the API.
        if let SaidToModel::Api { api, body, .. } = &mut self.said
            && form::api_of_settings(body) == Some(Api::Anthropic)
        {
            *api = Some(Api::Anthropic);
        }
        self
    }

    pub(super) fn piece(self) -> Vec<RecordPiece> {
        vec![RecordPiece::Exchange(self)]
    }
}

/// The messages in a value: a body, a list of messages, or the JSON text of either.
pub(super) fn said(value: &Value, path: &str) -> Option<SaidToModel> {
    let value = unquoted(value)?;
    if value.is_array() {
        return list_of(&value, path);
    }
    let contents = value.member("contents");
    if contents.is_array() {
        let system = any(&value, &["systemInstruction", "system_instruction"]);
        let system = turns_of(std::slice::from_ref(system), &under(path, "systemInstruction"));
        let mut turns: Vec<LoggedTurn> = system.into_iter().map(as_system).collect();
        turns.extend(turns_of(list(contents), &under(path, "contents")));
        return Some(SaidToModel::of(turns, value.into_owned(), true));
    }
    let name = if value.member("messages").is_array() { "messages" } else { "input" };
    let messages = &value[name];
    if name == "input"
        && messages.is_string()
        && (value.member("model").is_string() || value.member("tools").is_array())
    {
        return Some(SaidToModel::Api { api: Some(Api::OpenAiResponses), body: value.into_owned(), is_whole: true });
    }
    let is_whole = ["model", "modelId", "anthropic_version"].iter().any(|name| value.member(name).is_string());
    if !messages.is_array() {
        return None;
    }
    // What only one API's requests have beside the messages tells it, however strange their words are.
    let told = form::api_of_settings(&value).filter(|_| is_mixed(list(messages)));
    if told.is_some() {
        return Some(SaidToModel::Api { api: told, body: value.into_owned(), is_whole });
    }
    let turns = match words_of(list(messages)) {
        Some(ListWords::Api(_)) => None,
        Some(ListWords::Other) | None => match list_of(messages, &under(path, name)) {
            None if !is_whole => return None,
            Some(SaidToModel::Messages(turns) | SaidToModel::Form { turns, .. }) => Some(turns),
            None | Some(SaidToModel::Api { .. }) => None,
        },
    };
    if let Some(mut turns) = turns {
        let system = any(&value, &["system", "instructions"]);
        if !system.is_null() && !turns.iter().any(|turn| turn.message["role"] == "system") {
            let message = json!({"role": "system", "content": system_text(system)});
            turns.insert(0, LoggedTurn { message, path: under(path, "system") });
        }
        return Some(SaidToModel::of(turns, value.into_owned(), is_whole));
    }
    let api = match form::form_of(&value) {
        Some(RequestForm::Api(Api::Gemini)) | None => None,
        Some(RequestForm::Api(api)) => Some(api),
        Some(RequestForm::BedrockConverse) => {
            let turns = turns_of(list(messages), &under(path, name));
            return Some(SaidToModel::of(turns, value.into_owned(), is_whole));
        }
    };
    Some(SaidToModel::Api { api, body: value.into_owned(), is_whole })
}

fn system_text(system: &Value) -> String {
    match system {
        Value::String(text) => text.clone(),
        other => list(other).iter().map(|block| word(block, "text")).collect::<Vec<_>>().join("\n"),
    }
}

fn as_system(mut turn: LoggedTurn) -> LoggedTurn {
    turn.message["role"] = "system".into();
    turn
}

pub(super) fn under(path: &str, name: &str) -> String {
    if path.is_empty() || name.is_empty() { format!("{path}{name}") } else { format!("{path}.{name}") }
}

/// A list of messages, each of which can be read.
fn list_of(value: &Value, path: &str) -> Option<SaidToModel> {
    let messages = value.as_array()?;
    // LangChain's models take a batch of lists.
    if let [Value::Array(_)] = &**messages {
        return list_of(&messages[0], &format!("{path}[0]"));
    }
    let ListWords::Api(api) = words_of(messages)? else {
        let name = if messages.iter().all(is_content_of_gemini) { "contents" } else { "messages" };
        return Some(SaidToModel::of(turns_of(messages, path), json!({name: messages}), false));
    };
    let name = if api == Some(Api::OpenAiResponses) { "input" } else { "messages" };
    Some(SaidToModel::Api { api, body: json!({name: messages}), is_whole: false })
}

/// In whose words a list of messages is.
enum ListWords {
    /// In those of this API, or such as several have.
    Api(Option<Api>),
    Other,
}

/// In whose words a list is; `None` if it is no list of messages.
fn words_of(messages: &[Value]) -> Option<ListWords> {
    let dialects: Vec<Dialect> = messages.iter().filter_map(message::dialect).collect();
    // A message that nobody knows does not make the others something else.
    if dialects.is_empty() || 2 * dialects.len() < messages.len() {
        return None;
    }
    let has = |dialect| dialects.contains(&dialect);
    Some(match (has(Dialect::Chat), has(Dialect::Anthropic), has(Dialect::Responses), has(Dialect::Other)) {
        (false, false, false, false) => ListWords::Api(None),
        (true, false, false, false) => ListWords::Api(Some(Api::OpenAiChat)),
        (false, true, false, false) => ListWords::Api(Some(Api::Anthropic)),
        (false, false, true, false) => ListWords::Api(Some(Api::OpenAiResponses)),
        _ => ListWords::Other,
    })
}

/// Returns whether messages are in the words of several APIs, and of nobody else.
fn is_mixed(messages: &[Value]) -> bool {
    let dialects: Option<Vec<Dialect>> = messages.iter().map(message::dialect).collect();
    let known = [Dialect::Chat, Dialect::Anthropic, Dialect::Responses];
    dialects.is_some_and(|dialects| {
        !dialects.contains(&Dialect::Other) && known.iter().filter(|known| dialects.contains(known)).count() > 1
    })
}

/// Returns whether it is a content of Gemini, and not a message in parts of another program, which have a `type`.
fn is_content_of_gemini(message: &Value) -> bool {
    let parts = list(&message["parts"]);
    let has_role = matches!(message["role"].as_str(), None | Some("user" | "model" | "function"));
    has_role && message["parts"].is_array() && parts.iter().all(|part| part.is_object() && part["type"].is_null())
}

/// Returns whether messages are in the words of an API, each by itself, or could be.
pub(in super::super) fn are_words_of(api: Api, messages: &[Value]) -> bool {
    let is_of = |message: &Value| match message::dialect(message) {
        Some(Dialect::Plain) => true,
        Some(Dialect::Chat) => api == Api::OpenAiChat,
        Some(Dialect::Anthropic) => api == Api::Anthropic,
        Some(Dialect::Responses) => api == Api::OpenAiResponses,
        Some(Dialect::Other) | None => false,
    };
    messages.iter().all(is_of)
}

/// Messages of any dialects in the words of chat completions.
pub(super) fn turns_of(messages: &[Value], path: &str) -> Vec<LoggedTurn> {
    let mut turns = Vec::new();
    for (position, one) in messages.iter().enumerate() {
        let path = format!("{path}[{position}]");
        let read = message::read(one).map(|(_, messages)| messages).unwrap_or_default();
        turns.extend(read.into_iter().map(|message| LoggedTurn { message, path: path.clone() }));
    }
    message::number(turns.iter_mut().map(|turn| &mut turn.message));
    turns
}

/// The messages of a body, in the words of chat completions.
pub(in super::super) fn turns_of_body(body: &Value) -> Vec<LoggedTurn> {
    let name = ["messages", "input", "contents"].into_iter().find(|name| body.member(name).is_array());
    name.map_or_else(Vec::new, |name| turns_of(list(body.member(name)), name))
}

/// The members of an answer's usage that say what the cache had. Without one nothing is known of it.
const CACHED: [&str; 3] = ["prompt_tokens_details", "input_tokens_details", "cache_read_input_tokens"];

/// Returns the messages as turns, if they are messages.
pub(super) fn turns(said: SaidToModel) -> Vec<LoggedTurn> {
    match said {
        SaidToModel::Messages(turns) | SaidToModel::Form { turns, .. } => turns,
        SaidToModel::Api { body, .. } => turns_of_body(&body),
    }
}

/// The answer in a value: of any API, a framework's message, a recorded stream, or the JSON text of it.
pub(in super::super) fn answer(value: &Value) -> Option<LoggedAnswer> {
    if let Some(came) = value.as_str().and_then(streams::in_text) {
        return Some(came);
    }
    let value = unquoted(value)?;
    if value.as_array().is_some_and(|list| list.first().is_some_and(streams::is_chunk)) {
        return streams::in_chunks(list(&value));
    }
    for api in Api::ALL {
        let is_of = match api {
            Api::OpenAiChat => value["choices"].is_array(),
            Api::OpenAiResponses => value["output"].is_array() && value["output"][0]["type"].is_string(),
            // Read below, with what has the same words.
            Api::Gemini => false,
            Api::Anthropic => value["type"] == "message" && value["content"].is_array() && value["role"].is_string(),
        };
        if is_of && let Ok(said) = read_answer(api, &value) {
            let usage = said.answer.usage;
            let thinking = if api == Api::Anthropic { thinking_of(&said.answer) } else { Vec::new() };
            let places = if api == Api::Anthropic { places_in(&value["content"]).0 } else { Vec::new() };
            let places = places.into_iter().map(|(_, place)| place).collect();
            let calls = said.answer.calls.into_iter().map(|call| (call.id, call.name, call.arguments)).collect();
            let tells_cache = CACHED.iter().any(|name| value["usage"].get(name).is_some());
            let tokens = tells_cache.then_some((usage.input, usage.cached));
            let response = if api == Api::OpenAiResponses { value.into_owned() } else { Value::Null };
            return Some(LoggedAnswer {
                api: Some(api),
                calls,
                text: said.answer.text,
                places,
                tokens,
                thinking,
                response,
            });
        }
    }
    let generations = &value["generations"];
    let inner = match () {
        () if generations.is_array() => {
            let first = if generations[0].is_array() { &generations[0][0] } else { &generations[0] };
            any(first, &["message"])
        }
        () if value["candidates"].is_array() => &value["candidates"][0]["content"],
        () if value["output"]["message"].is_object() => &value["output"]["message"],
        () if value["message"].is_object() => &value["message"],
        () if value["messages"].is_array() => list(&value["messages"]).last().unwrap_or(&Value::Null),
        () => &*value,
    };
    let messages = match inner {
        Value::Array(messages) => turns_of(messages, "").into_iter().map(|turn| turn.message).collect(),
        one => {
            let mut messages = message::read(one)?.1;
            message::number(&mut messages);
            messages
        }
    };
    let calls = messages.iter().flat_map(|message| list(&message["tool_calls"]));
    let calls = calls.map(|call| {
        let (function, arguments) = (&call["function"], &call["function"]["arguments"]);
        // Ollama's own are no text.
        let text = if arguments.is_object() { arguments.to_string() } else { word(function, "arguments").to_owned() };
        (word(call, "id").to_owned(), word(function, "name").to_owned(), text)
    });
    Some(LoggedAnswer { calls: calls.collect(), ..LoggedAnswer::default() })
}

/// Returns the ids of the calls among the blocks of a message, each with how much text is before it, and how many texts there are.
pub(in super::super) fn places_in(blocks: &Value) -> (Vec<(&str, usize)>, usize) {
    let (mut places, mut texts, mut before) = (Vec::new(), 0, 0);
    for block in list(blocks) {
        match word(block, "type") {
            "text" => {
                let letters = word(block, "text").chars().filter(|character| !character.is_whitespace()).count();
                texts += usize::from(letters > 0);
                before += letters;
            }
            "tool_use" => places.push((word(block, "id"), before)),
            _ => {}
        }
    }
    (places, texts)
}

/// The thinking of an answer among its calls, as blocks; none where a log has kept the texts and not the signatures.
pub(super) fn thinking_of(answer: &ModelAnswer) -> Vec<Value> {
    let mut calls = answer.calls.iter().map(|call| json!({"type": "tool_use", "id": call.id})).enumerate().peekable();
    let mut blocks = Vec::new();
    for Thinking { text, seal, is_redacted, calls_before, .. } in &answer.thinking {
        let Some(seal) = seal.as_deref().filter(|seal| !seal.is_empty()) else { return Vec::new() };
        while let Some((_, call)) = calls.next_if(|(number, _)| number < calls_before) {
            blocks.push(call);
        }
        blocks.push(if *is_redacted {
            json!({"type": "redacted_thinking", "data": seal})
        } else {
            json!({"type": "thinking", "thinking": text, "signature": seal})
        });
    }
    let has_calls = !answer.calls.is_empty() && !blocks.is_empty();
    blocks.extend(calls.map(|(_, call)| call).filter(|_| has_calls));
    if has_calls { blocks } else { Vec::new() }
}
