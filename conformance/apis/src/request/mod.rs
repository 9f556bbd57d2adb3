//! Reads a request's body as messages, tools and options, as leniently as the API reads it.

mod anthropic;
mod chat;
mod gemini;
mod message;
mod responses;
#[cfg(test)]
mod tests;

pub use message::{OpaqueContent, OpaquePart, WireCall, WireMessage};

use message::{list, member_text};
use serde_json::{Map, Value};
use threadspec::oracle::Api;
use threadspec_judge::protocol::Speaker;

/// The content of a request to a model.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct ApiRequest {
    /// The API that it is for.
    pub api: Api,
    /// The model, if it names one.
    pub model: Option<String>,
    /// True if it asks for a stream.
    pub stream: bool,
    /// True if the stream is to be one list in JSON (gemini).
    pub is_list: bool,
    /// True if it asks for the usage in a stream (openai-chat).
    pub include_usage: bool,
    /// System texts and history, in the form of op `tools`.
    pub messages: Vec<WireMessage>,
    /// Opaque parts that are beside no message of the model.
    pub loose: Vec<OpaquePart>,
    /// The tools that it declares, in order.
    pub tools: Vec<DeclaredTool>,
    /// The choice of the tool that is called.
    pub choice: ToolChoice,
    /// True if it says so in a form that the API has, or says nothing.
    pub is_choice_proper: bool,
    /// True if several calls at once are allowed, if it says so.
    pub parallel: Option<bool>,
    /// True if it switches the model's thinking on.
    pub thinking: bool,
    /// True if the model thinks only where it likes to (`adaptive`): then a response may come back without its thoughts.
    pub thinks_freely: bool,
    /// True if the texts of the thinking are to be left out of the answer, and only their signatures to come.
    pub omits_thinking: bool,
    /// True if it limits the length of the answer.
    pub has_max_tokens: bool,
    /// To how many tokens, if that is a whole number.
    pub max_tokens: Option<u64>,
    /// The texts at which the answer is to stop.
    pub stop: Vec<String>,
    /// The response that it goes on from (openai-responses).
    pub previous_response_id: Option<String>,
    /// The conversation that it belongs to (openai-responses).
    pub conversation: Option<String>,
    /// True if the response is to be kept, if it says so (openai-responses).
    pub store: Option<bool>,
    /// The further outputs that it asks for (openai-responses).
    pub include: Vec<String>,
    /// Items that it names by their ids alone (openai-responses).
    pub references: Vec<ItemReference>,
    /// Members that the API requires and that are not there.
    pub lacks: Vec<&'static str>,
    /// The notes on content that messages cannot show.
    pub notes: Vec<RequestNote>,
    /// The members that a response repeats (openai-responses).
    pub(crate) echo: Map<String, Value>,
}

/// An item that a request names by its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemReference {
    /// The item's id.
    pub id: String,
    /// Where it is in the body.
    pub place: String,
}

/// Something in a request that its messages do not show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestNote {
    /// Where it is in the body.
    pub place: String,
    /// The name.
    pub what: String,
}

impl ApiRequest {
    /// Reads the body of a request, which was read with [`threadspec::read_json`]. Whatever has another form than the API wants is
    /// passed over: to say what is wrong is the work of [`threadspec::oracle::provider_breaches_in`].
    ///
    /// ```
    /// use serde_json::json;
    /// use threadspec::oracle::Api;
    /// use threadspec_apis::ApiRequest;
    /// let body = json!({"model": "gpt-4.1", "messages": [{"role": "assistant", "content": null, "tool_calls": [
    ///     {"id": "call_a", "type": "function", "function": {"name": "look", "arguments": "{\"n\": 1}"}}]}]});
    /// let request = ApiRequest::read(Api::OpenAiChat, &body);
    /// assert_eq!(request.messages[0].to_json(), json!(
    ///     {"type": "ai", "content": "", "tool_calls": [{"id": "call_a", "name": "look", "args": {"n": 1}}]}));
    /// ```
    pub fn read(api: Api, body: &Value) -> Self {
        let most = MAX_TOKENS.iter().map(|name| &body[*name]).find(|most| !most.is_null()).or_else(|| {
            Some(gemini::config(body, "maxOutputTokens")).filter(|most| api == Api::Gemini && !most.is_null())
        });
        let mut request = Self {
            api,
            model: member_text(body, "model"),
            stream: body["stream"] == true,
            is_list: api == Api::Gemini && body["alt"] == "json",
            include_usage: body["stream_options"]["include_usage"] == true,
            messages: Vec::new(),
            loose: Vec::new(),
            tools: DeclaredTool::read_all(api, body),
            choice: if api == Api::Gemini { gemini::choice(body) } else { ToolChoice::read(body) },
            is_choice_proper: ToolChoice::is_proper(api, &body["tool_choice"]),
            parallel: match api {
                Api::Anthropic => body["tool_choice"]["disable_parallel_tool_use"].as_bool().map(|disabled| !disabled),
                Api::OpenAiChat | Api::OpenAiResponses => body["parallel_tool_calls"].as_bool(),
                Api::Gemini => None,
            },
            thinking: is_thinking(api, body),
            thinks_freely: api == Api::Anthropic && body["thinking"]["type"] == "adaptive",
            omits_thinking: match api {
                Api::Anthropic => body["thinking"]["display"] == "omitted",
                Api::Gemini => gemini::either(gemini::config(body, "thinkingConfig"), "includeThoughts") != true,
                Api::OpenAiChat | Api::OpenAiResponses => false,
            },
            has_max_tokens: most.is_some(),
            max_tokens: most.and_then(Value::as_u64),
            stop: stops(api, body),
            previous_response_id: None,
            conversation: None,
            store: None,
            include: Vec::new(),
            references: Vec::new(),
            lacks: lacking(api, body),
            notes: Vec::new(),
            echo: Map::new(),
        };
        match api {
            Api::OpenAiChat => chat::read(body, &mut request),
            Api::OpenAiResponses => responses::read(body, &mut request),
            Api::Anthropic => anthropic::read(body, &mut request),
            Api::Gemini => gemini::read(body, &mut request),
        }
        request
    }

    /// Adds to a body what its API has in the target of the request instead: the model of Gemini, and whether it streams.
    ///
    /// ```
    /// use serde_json::json;
    /// use threadspec::oracle::Api;
    /// use threadspec_apis::ApiRequest;
    /// let target = "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse";
    /// let body = ApiRequest::with_target(Api::Gemini, target, json!({"contents": []}));
    /// let request = ApiRequest::read(Api::Gemini, &body);
    /// assert!(request.model.as_deref() == Some("gemini-2.5-pro") && request.stream && !request.is_list);
    /// ```
    #[must_use]
    pub fn with_target(api: Api, target: &str, body: Value) -> Value {
        if api == Api::Gemini { gemini::with_target(target, body) } else { body }
    }

    /// Why an answer with calls of these tools contradicts the request; `None` if it does not.
    pub fn forbids<'a>(&self, calls: impl IntoIterator<Item = &'a str>) -> Option<String> {
        let names: Vec<&str> = calls.into_iter().collect();
        let first = names.first()?;
        if names.len() > 1 && self.parallel == Some(false) {
            return Some(format!("it forbids parallel calls, and {} are to be made", names.len()));
        }
        match &self.choice {
            ToolChoice::None => Some(format!("it forbids calls, and `{first}` is to be called")),
            ToolChoice::Named(wanted) => {
                let other = names.iter().find(|name| *name != wanted)?;
                Some(format!("it forces the tool `{wanted}`, and `{other}` is to be called"))
            }
            ToolChoice::Auto | ToolChoice::Any | ToolChoice::Other => None,
        }
    }

    /// Returns whether the response is to carry encrypted reasoning (openai-responses).
    pub fn wants_encrypted_reasoning(&self) -> bool {
        self.include.iter().any(|name| name == "reasoning.encrypted_content")
    }

    fn push(&mut self, speaker: Speaker, content: String, place: String) {
        self.messages.push(WireMessage::text(speaker, content, place));
    }

    fn note(&mut self, place: impl Into<String>, what: impl Into<String>) {
        self.notes.push(RequestNote { place: place.into(), what: what.into() });
    }
}

/// The members that limit the length of the answer.
const MAX_TOKENS: &[&str] = &["max_completion_tokens", "max_tokens", "max_output_tokens"];

/// The texts at which an answer is to stop; Responses has none.
fn stops(api: Api, body: &Value) -> Vec<String> {
    let given = match api {
        Api::OpenAiChat => &body["stop"],
        Api::OpenAiResponses => &Value::Null,
        Api::Anthropic => &body["stop_sequences"],
        Api::Gemini => gemini::config(body, "stopSequences"),
    };
    let texts = match given {
        Value::Array(texts) => texts.iter().collect(),
        one => vec![one],
    };
    texts.into_iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn is_thinking(api: Api, body: &Value) -> bool {
    match api {
        Api::Anthropic => matches!(body["thinking"]["type"].as_str(), Some("enabled" | "adaptive")),
        Api::Gemini => gemini::is_thinking(body),
        Api::OpenAiChat => body["reasoning_effort"].as_str().is_some_and(|effort| effort != "none"),
        Api::OpenAiResponses => body["reasoning"].as_object().is_some_and(|reasoning| {
            reasoning.values().any(|value| !value.is_null()) && reasoning.get("effort").is_none_or(|one| one != "none")
        }),
    }
}

/// The required members that a body lacks.
fn lacking(api: Api, body: &Value) -> Vec<&'static str> {
    let is_there = |name: &str| !body[name].is_null();
    let goes_on = ["input", "previous_response_id", "conversation", "prompt"].into_iter().any(is_there);
    let required: &[&str] = match api {
        Api::OpenAiResponses if goes_on => &["model"],
        Api::OpenAiResponses => &["model", "input"],
        // Of `max_tokens` a rule speaks, ANT-MAX-TOKENS.
        Api::OpenAiChat | Api::Anthropic => &["model", "messages"],
        Api::Gemini => &["contents"],
    };
    required.iter().copied().filter(|name| !is_there(name)).collect()
}

// The tools that a request declares, and what it says about calling them.

/// A tool that a request declares.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclaredTool {
    /// The name; tools of the provider may have none.
    pub name: Option<String>,
    /// The description.
    pub description: Option<String>,
    /// Its type: `function`, `custom`, or one of the provider's own, such as `web_search`.
    pub kind: String,
    /// The JSON Schema of the arguments, if there is one.
    pub schema: Option<Value>,
    /// True if arguments are to follow the schema, if it says so.
    pub strict: Option<bool>,
    /// The whole declaration.
    pub raw: Value,
    /// Where it is in the body.
    pub place: String,
}

/// The tool that a request wants to be called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// None.
    None,
    /// At least one.
    Any,
    /// This one.
    Named(String),
    /// Something that is not known here.
    Other,
}

impl DeclaredTool {
    fn read_all(api: Api, body: &Value) -> Vec<Self> {
        if api == Api::Gemini {
            return gemini::tools(body);
        }
        list(&body["tools"]).iter().enumerate().map(|(position, tool)| Self::read(api, position, tool)).collect()
    }

    fn read(api: Api, position: usize, tool: &Value) -> Self {
        let given = tool["type"].as_str();
        let (members, schema, kind) = match api {
            Api::OpenAiChat if given == Some("custom") => (&tool["custom"], "parameters", "custom"),
            Api::OpenAiChat => (&tool["function"], "parameters", given.unwrap_or("function")),
            Api::OpenAiResponses => (tool, "parameters", given.unwrap_or("function")),
            // Its custom tools are what others call functions.
            Api::Anthropic | Api::Gemini => {
                (tool, "input_schema", given.filter(|kind| *kind != "custom").unwrap_or("function"))
            }
        };
        Self {
            name: member_text(members, "name"),
            description: member_text(members, "description"),
            kind: kind.to_owned(),
            schema: members.get(schema).filter(|schema| !schema.is_null()).cloned(),
            strict: members["strict"].as_bool(),
            raw: tool.clone(),
            place: format!("tools[{position}]"),
        }
    }

    /// Returns whether the agent runs it: a function with a name.
    pub fn is_function(&self) -> bool {
        self.kind == "function" && self.name.is_some()
    }
}

impl ToolChoice {
    fn read(body: &Value) -> Self {
        let choice = &body["tool_choice"];
        let kind = choice.as_str().or_else(|| choice["type"].as_str());
        match kind {
            None if choice.is_null() => Self::Auto,
            Some("auto") => Self::Auto,
            Some("none") => Self::None,
            Some("required" | "any") => Self::Any,
            Some("function" | "tool" | "custom") => {
                let inner = ["function", "custom"].into_iter().find_map(|name| member_text(&choice[name], "name"));
                member_text(choice, "name").or(inner).map_or(Self::Other, Self::Named)
            }
            _ => Self::Other,
        }
    }

    /// Returns whether a choice has a form that the API knows, or is none.
    fn is_proper(api: Api, choice: &Value) -> bool {
        let is_named = |holder: &Value| holder["name"].is_string();
        match (choice, choice["type"].as_str()) {
            (Value::Null, _) => true,
            (Value::String(word), _) => api != Api::Anthropic && ["none", "auto", "required"].contains(&&**word),
            (_, Some(kind)) => match api {
                Api::OpenAiChat => match kind {
                    "function" | "custom" => is_named(&choice[kind]),
                    kind => kind == "allowed_tools",
                },
                Api::OpenAiResponses => match kind {
                    "function" | "custom" => is_named(choice),
                    // A tool of the provider's own.
                    kind => !["auto", "any", "none", "required", "tool"].contains(&kind),
                },
                Api::Anthropic | Api::Gemini => match kind {
                    "tool" => is_named(choice),
                    kind => ["auto", "any", "none"].contains(&kind),
                },
            },
            (_, None) => false,
        }
    }
}
