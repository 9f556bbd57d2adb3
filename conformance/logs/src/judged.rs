//! Keeps the state of a faultless request for those that begin with all of it.

use super::bodies::{has_more_members, list_of};
use super::forms::{LoggedExchange, LoggedHeaders, SaidToModel, are_words_of};
use super::order::weight;
use foldhash::HashSet;
use serde_json::{Map, Value};
use threadspec::MemberLookup;
use threadspec::oracle::{Api, RequestForm};
use threadspec_apis::follow::{self, Owner, StoredPiece};
use threadspec_apis::form;
use threadspec_judge::protocol::facts;

/// Longer settings are not kept.
const LONGEST: usize = 256;
/// Requests with more elements are read as a whole: there is a limit on their number.
const MOST_ELEMENTS: usize = 50_000;

/// The state of a faultless request.
pub(super) struct JudgedHistory {
    pub(super) api: Api,
    /// The name on which its cache depends beside its pieces.
    pub(super) model: String,
    /// The headers that rules speak of.
    pub(super) headers: Option<LoggedHeaders>,
    /// A hash of everything in the body but its list, and of its members those that are short.
    settings: u64,
    short_settings: Map<String, Value>,
    /// Where the body is in the record, and whether there was nothing else, such as an answer.
    path: String,
    is_alone: bool,
    /// How many messages or items it has.
    pub(super) elements: usize,
    /// The role or type of the last piece. The next ones can be judged without it or not, depending on this.
    last: String,
    pub(super) pieces: Vec<StoredPiece>,
    pub(super) calls: HashSet<u64>,
    /// Hashes of the ids that may come only once.
    ids: HashSet<u64>,
}

impl JudgedHistory {
    /// Nothing if what comes later may say something of what is there already.
    pub(super) fn of(
        api: Api,
        body: Value,
        (model, headers): (String, Option<LoggedHeaders>),
        (path, is_alone): (String, bool),
        pieces: Vec<StoredPiece>,
        calls: HashSet<u64>,
    ) -> Option<Self> {
        let elements = list_of(api, &body);
        if !are_settled(api, &body, elements) {
            return None;
        }
        let (ids, settings, last) =
            (ids_of(api, elements).collect(), settings_of(api, &body), kind_of(elements.last()?));
        let elements = elements.len();
        let short_settings = short_settings(api, body);
        Some(Self { api, model, headers, settings, short_settings, path, is_alone, elements, last, pieces, calls, ids })
    }

    /// A request with these new elements whose record has nothing else that is new; nothing if it may have had more than a request.
    pub(super) fn again(&self, elements: Vec<Value>) -> Option<LoggedExchange> {
        let mut body = self.short_settings.clone();
        body.insert(facts(self.api).list.to_owned(), elements.into());
        let body = Value::Object(body);
        let api = match form::form_of(&body) {
            None => None,
            Some(RequestForm::Api(Api::Gemini) | RequestForm::BedrockConverse) => return None,
            Some(RequestForm::Api(api)) => Some(api),
        };
        let said = SaidToModel::Api { api, body, is_whole: false };
        self.is_alone
            .then(|| LoggedExchange { headers: self.headers.clone(), ..LoggedExchange::of(said, None, &self.path) })
    }

    /// Returns whether a body has everything but the list as it was.
    pub(super) fn has_settings_of(&self, body: &Value) -> bool {
        self.settings == settings_of(self.api, body)
    }

    /// Returns whether the elements of a body, which are new, say nothing of what is settled.
    pub(super) fn settles(&self, body: &Value) -> bool {
        let new = list_of(self.api, body);
        self.elements + new.len() <= MOST_ELEMENTS
            && new.first().is_none_or(|first| self.begins_anew(first))
            && are_settled(self.api, body, new)
            && ids_of(self.api, new).all(|id| !self.ids.contains(&id))
    }

    /// Returns whether there are no new elements in a body.
    pub(super) fn is_all_of(&self, body: &Value) -> bool {
        list_of(self.api, body).is_empty()
    }

    /// Returns whether this element, and those behind it, are judged without those before, with which nothing is wrong: all calls have
    /// their results.
    fn begins_anew(&self, first: &Value) -> bool {
        match self.api {
            Api::OpenAiChat => first.member("role") != "tool",
            // Neighbours of one role are one message.
            Api::Anthropic | Api::Gemini => matches!(
                (&*self.last, first.member("role").as_str()),
                ("user", Some("assistant")) | ("assistant", Some("user"))
            ),
            Api::OpenAiResponses => self.last != "reasoning",
        }
    }

    /// Takes the new elements of a body as judged, and their calls.
    pub(super) fn extend(&mut self, body: &Value, calls: &HashSet<u64>) {
        let new = list_of(self.api, body);
        self.ids.extend(ids_of(self.api, new));
        self.calls.extend(calls);
        self.elements += new.len();
        if let Some(last) = new.last() {
            self.last = kind_of(last);
        }
    }
}

/// A hash of everything in a body but its messages or items.
fn settings_of(api: Api, body: &Value) -> u64 {
    let list = facts(api).list;
    let members = body.as_object().into_iter().flatten().filter(|(name, _)| *name != list);
    let members: Vec<(&String, u64)> = members.map(|(name, value)| (name, follow::hash_of_json(value))).collect();
    follow::hash(&members)
}

/// The members of a body that are short, without the list.
fn short_settings(api: Api, body: Value) -> Map<String, Value> {
    let list = facts(api).list;
    let Value::Object(mut members) = body else { return Map::new() };
    members.retain(|name, value| name != list && weight(value) <= LONGEST);
    members
}

/// Returns whether these messages are in the words of the API, and say nothing of the whole request: of a turn that thinks, what comes last
/// says something of what came first, and marks of the cache are counted.
fn are_settled(api: Api, body: &Value, elements: &[Value]) -> bool {
    let mut blocks = elements.iter().flat_map(|message| message.member("content").as_array().into_iter().flatten());
    let is_thinking = |block: &Value| matches!(block.member("type").as_str(), Some("thinking" | "redacted_thinking"));
    // The result of a tool of the server may come later; members of a message beside these are a fault of a whole body.
    let is_of_server = |block: &Value| block.member("type") == "server_tool_use";
    let is_entangled = api == Api::Anthropic
        && (!body.member("thinking").is_null()
            || elements.iter().any(has_more_members)
            || blocks
                .any(|block| is_thinking(block) || is_of_server(block) || !block.member("cache_control").is_null()));
    !is_entangled && are_words_of(api, elements)
}

/// The role or type of an element.
fn kind_of(element: &Value) -> String {
    let name = ["role", "type"].iter().find_map(|name| element.member(name).as_str());
    name.unwrap_or_default().to_owned()
}

/// Hashes of the ids of calls and items that may come only once in a request.
fn ids_of(api: Api, elements: &[Value]) -> impl Iterator<Item = u64> {
    let ids = elements.iter().flat_map(move |item| {
        let is_result = item.member("type").as_str().is_some_and(|kind| kind.ends_with("_output"));
        let own = if api == Api::OpenAiResponses && !is_result {
            [item.member("id"), item.member("call_id")]
        } else {
            [&Value::Null; 2]
        };
        let blocks = item.member("content").as_array().into_iter().flatten();
        let of_blocks = blocks.filter(|block| block.member("type") == "tool_use").map(|block| block.member("id"));
        of_blocks.chain(own).filter_map(Value::as_str)
    });
    ids.map(|id| follow::hash(&id))
}

/// Returns the beginning of a conversation: a hash of the first message of a person, and whether a model has answered in it.
pub(super) fn beginning_of(pieces: &[StoredPiece]) -> (u64, bool) {
    let first = pieces.iter().find(|piece| piece.role() != Owner::Setting);
    (first.map_or(0, StoredPiece::hash), pieces.iter().any(|piece| piece.role() == Owner::Model))
}
