//! Finds the sound requests that others begin with, so that only what is new in those is read.

use super::bodies::{has_more_members, list_of};
use super::forms::{LoggedExchange, LoggedHeaders, SaidToModel, are_words_of};
use super::order::weight;
use foldhash::{HashMap, HashSet};
use memchr::{memchr_iter, memmem};
use serde_json::{Map, Value};
use threadspec::MemberLookup;
use threadspec::oracle::{Api, RequestForm};
use threadspec_apis::follow::{self, Owner, StoredPiece};
use threadspec_apis::form;
use threadspec_judge::protocol::facts;
use twox_hash::{XxHash3_64, XxHash3_128};

// Requests that begin with all of an earlier one, as those of an agent do: of these only what is new has to be read.  A request is found
// again by its bytes: from where its list begins, as many as the earlier list had, by their hash. Of an earlier request there is nothing
// but hashes, so that memory grows with messages and not with bytes. What was judged is left out of the record; the rest of it stays as it
// is.

/// Shorter lists are read again.
const SHORTEST: usize = 1 << 10;
/// How many histories are known at most that begin in the same way; others are read again.
const MOST_ALIKE: usize = 4096;
/// How many elements all known histories may have; then all are read again.
const MOST_ELEMENTS: usize = 1 << 22;
/// So many bytes at the end of a list tell nearly all of them apart.
const END: usize = 64;

/// The list of messages that an earlier request had.
pub(super) struct SeenHistory {
    /// How many bytes it has, from the first byte of its first element to the last byte of its last.
    length: usize,
    hash: u128,
    end: u64,
    landmark: Landmark,
    /// Hashes of what was before it and behind it.
    around: (u64, u64),
    /// The form of the record.
    pub(super) form: &'static str,
    /// The judged history of its elements.
    pub(super) judged: JudgedHistory,
}

/// A length and the hash of so many bytes of a list.
type Landmark = (usize, u128);

/// The lists of all conversations.
#[derive(Default)]
pub(super) struct SeenHistories {
    known: HashMap<Landmark, Vec<SeenHistory>>,
    /// How many elements they have.
    elements: usize,
}

/// A record without what was judged already.
pub(super) struct ShortRecord<'r> {
    pub(super) text: String,
    /// True if that is only the list, since what is around it is what it was.
    pub(super) is_list: bool,
    pub(super) seen: SeenHistory,
    list: HashedList<'r>,
    /// Where its list ends, what is around it, and how many elements it has.
    end: usize,
    around: (u64, u64),
    elements: usize,
}

impl SeenHistories {
    /// Leaves out of a record the known history that its list begins with; that history is taken out.
    pub(super) fn shorten<'r>(&mut self, record: &'r [u8]) -> Option<ShortRecord<'r>> {
        if self.known.is_empty() {
            return None;
        }
        let start = list(record)?;
        let content = &record[start..];
        let (seen, list) = self.take(content)?;
        let short = elements_of(content, seen.length).and_then(|(end, new)| {
            let around = around(record, start, end);
            let is_list = seen.around == around;
            let behind = content[seen.length..].trim_ascii_start();
            let from = content.len() - behind.strip_prefix(b",").unwrap_or(behind).len();
            let text = if is_list {
                [b"[", &content[from.min(end)..end], b"]"].concat()
            } else {
                [&record[..start], &content[from..]].concat()
            };
            // Another list of that name may be the one that was judged.
            let is_first = is_list || list_behind(content, end).is_none();
            let text = String::from_utf8(text).ok().filter(|_| is_first)?;
            Some((text, is_list, end, around, seen.judged.elements + new))
        });
        if let Some((text, is_list, end, around, elements)) = short {
            return Some(ShortRecord { text, is_list, seen, list, end, around, elements });
        }
        self.insert(seen);
        None
    }

    /// The longest history that a list begins with, and the list, hashed so far.
    fn take<'r>(&mut self, content: &'r [u8]) -> Option<(SeenHistory, HashedList<'r>)> {
        let mut list = HashedList::new(content);
        let mut longest = None;
        while let Some(landmark) = list.next_landmark() {
            for (position, seen) in self.known.get(&landmark).into_iter().flatten().enumerate() {
                let behind = content.get(seen.length..).unwrap_or_default().trim_ascii_start();
                if matches!(behind.first(), Some(b',' | b']'))
                    && end_of(content, seen.length) == seen.end
                    && longest.as_ref().is_none_or(|(_, _, list): &(_, _, HashedList<'r>)| list.done < seen.length)
                {
                    let mut list = list.clone();
                    list.read_to(seen.length);
                    if list.hasher.finish_128() == seen.hash {
                        longest = Some((landmark, position, list));
                    }
                }
            }
        }
        let (landmark, position, list) = longest?;
        let alike = self.known.get_mut(&landmark)?;
        let seen = alike.swap_remove(position);
        if alike.is_empty() {
            self.known.remove(&landmark);
        }
        self.elements -= seen.judged.elements;
        Some((seen, list))
    }

    /// Remembers the list of a record with which nothing is wrong.
    pub(super) fn remember(&mut self, record: &[u8], form: &'static str, judged: JudgedHistory) {
        let Some(start) = list(record) else { return };
        let content = &record[start..];
        let Some((end, elements)) = elements_of(content, 0) else { return };
        // Another list of that name may be the one that was judged.
        if elements != judged.elements || end < SHORTEST || list_behind(content, end).is_some() {
            return;
        }
        let (length, around) = (end, around(record, start, end));
        let seen = SeenHistory { length, hash: 0, end: 0, landmark: (0, 0), around, form, judged };
        self.hash(seen, HashedList::new(content));
    }

    /// Remembers the whole list of a record that was found right, too.
    pub(super) fn go_on(&mut self, short: ShortRecord<'_>) {
        let ShortRecord { seen, list, end, around, elements, .. } = short;
        if elements == seen.judged.elements {
            self.hash(SeenHistory { length: end, around, ..seen }, list);
        }
    }

    /// Puts back what was taken out for nothing.
    pub(super) fn put_back(&mut self, short: ShortRecord<'_>) {
        self.insert(short.seen);
    }

    fn hash(&mut self, seen: SeenHistory, mut list: HashedList<'_>) {
        list.read_to(seen.length);
        let end = end_of(list.content, seen.length);
        self.insert(SeenHistory { hash: list.hasher.finish_128(), end, landmark: list.landmark, ..seen });
    }

    fn insert(&mut self, seen: SeenHistory) {
        if self.elements > MOST_ELEMENTS {
            *self = Self::default();
        }
        let alike = self.known.entry(seen.landmark).or_default();
        if alike.len() < MOST_ALIKE {
            self.elements += seen.judged.elements;
            alike.push(seen);
        }
    }
}

/// A list of which more and more is hashed.
#[derive(Clone)]
struct HashedList<'r> {
    content: &'r [u8],
    hasher: XxHash3_128,
    done: usize,
    /// The last landmark that was passed.
    landmark: Landmark,
}

impl<'r> HashedList<'r> {
    fn new(content: &'r [u8]) -> Self {
        Self { content, hasher: XxHash3_128::new(), done: 0, landmark: (0, 0) }
    }

    /// Where the next landmark is: there are few even in a long list, and one is never far before its end.
    fn next(&self) -> usize {
        let last = self.landmark.0;
        if last == 0 { SHORTEST } else { last + last / 4 }
    }

    fn next_landmark(&mut self) -> Option<Landmark> {
        let next = self.next();
        self.hasher.write(self.content.get(self.done..next)?);
        self.done = next;
        self.landmark = (next, self.hasher.finish_128());
        Some(self.landmark)
    }

    fn read_to(&mut self, end: usize) {
        while self.next() <= end && self.next_landmark().is_some() {}
        self.hasher.write(&self.content[self.done..end]);
        self.done = end;
    }
}

/// Where the elements of the first list begin that may be a request's. In a string the name's quotes would be escaped.
fn list(record: &[u8]) -> Option<usize> {
    let named = |name: &str, record: &[u8]| {
        memmem::find_iter(record, name).find_map(|at| {
            let rest = record[at + name.len()..].trim_ascii_start().strip_prefix(b":")?;
            let rest = rest.trim_ascii_start().strip_prefix(b"[")?;
            Some(record.len() - rest.trim_ascii_start().len())
        })
    };
    let messages = named("\"messages\"", record);
    let before = &record[..messages.unwrap_or(record.len())];
    named("\"input\"", before).or(messages)
}

/// Finds the list behind this place of a list's content.
fn list_behind(content: &[u8], end: usize) -> Option<usize> {
    list(&content[end..])
}

/// Hashes of what is before a list and behind it.
fn around(record: &[u8], start: usize, length: usize) -> (u64, u64) {
    (XxHash3_64::oneshot(&record[..start]), XxHash3_64::oneshot(record[start + length..].trim_ascii_start()))
}

fn end_of(content: &[u8], length: usize) -> u64 {
    XxHash3_64::oneshot(&content[length.saturating_sub(END)..length])
}

/// Where the last element of a list ends, and how many there are behind the known bytes.
fn elements_of(content: &[u8], known: usize) -> Option<(usize, usize)> {
    let (mut depth, mut at, mut end, mut is_inside, mut elements) = (0_usize, known, known, known > 0, 0);
    loop {
        let byte = *content.get(at)?;
        if depth == 0 && !is_inside && !byte.is_ascii_whitespace() && byte != b']' {
            elements += 1;
            is_inside = true;
        }
        match byte {
            b'"' => {
                // A text has many escapes of other characters, at which it would cost to stop.
                let text = &content[at + 1..];
                let is_end =
                    |quote: &usize| text[..*quote].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 0;
                at += 1 + memchr_iter(b'"', text).find(is_end)?;
            }
            b'{' | b'[' => depth += 1,
            b']' if depth == 0 => return (end > 0).then_some((end, elements)),
            b'}' | b']' => depth = depth.checked_sub(1)?,
            b',' if depth == 0 => is_inside = false,
            _ => {}
        }
        at += 1;
        if depth == 0 && is_inside && !byte.is_ascii_whitespace() {
            end = at;
        }
    }
}

// Keeps the state of a faultless request for those that begin with all of it.

/// Longer settings are not kept.
const LONGEST: usize = 256;
/// Requests with more elements are read as a whole: there is a limit on their number.
const MOST_IN_HISTORY: usize = 50_000;

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
        self.elements + new.len() <= MOST_IN_HISTORY
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchanges::Exchanges;
    use crate::finding::Report;
    use crate::log::FileLog;
    use crate::options::CheckOptions;
    use crate::records::Records;
    use crate::thread::NumberedThreads;
    use serde_json::json;
    use std::io;

    /// How many bytes a log of conversations has that grow by a message with each request, and how many of them are read as JSON.
    fn read(conversations: usize, requests: usize) -> io::Result<(usize, usize)> {
        let mut histories: Vec<_> = (0..conversations)
            .map(|number| vec![json!({"role": "system", "content": "S".repeat(SHORTEST + number)})])
            .collect();
        let mut text = String::new();
        for request in 0..requests {
            for history in &mut histories {
                history.push(json!({"role": "user", "content": format!("{request} {}", "x".repeat(200))}));
                text += &format!("{}\n", json!({"model": "gpt-4.1", "messages": history}));
            }
        }
        let mut report = Report::default();
        let (mut exchanges, mut seen) = (Exchanges::new(None), SeenHistories::default());
        let mut numbered = NumberedThreads::default();
        let mut log =
            FileLog::new(CheckOptions::default(), ("", &mut numbered), &mut exchanges, &mut seen, &mut report);
        log.records(Records::new(Box::new(text.as_bytes())))?;
        let parsed = log.parsed;
        assert_eq!(log.end(Ok(()), None)?.judged, [("request", conversations * requests)]);
        assert_eq!(report.findings, []);
        Ok((text.len(), parsed))
    }

    #[test]
    fn what_is_read_grows_with_what_is_new() -> io::Result<()> {
        for conversations in [1, 600] {
            let [(_, few), (all, many)] = [read(conversations, 5)?, read(conversations, 20)?];
            assert!(many < 4 * few && 10 * many < 4 * all, "{few}, {many} of {all} bytes");
        }
        Ok(())
    }

    #[test]
    fn elements_are_counted_to_the_end_of_the_last() {
        for (content, known, expected) in [
            (&b"{\"a\": \"]\\\"\"}, [1, 2] , \"x\" ], \"z\": 1}"[..], 0, Some((26, 3))),
            (b"{}, {}]", 2, Some((6, 1))),
            (b"{} ]", 2, Some((2, 0))),
            // A quote behind an escaped backslash ends its text, one behind another is part of it.
            (br#""\\", "\\\"]"]"#, 0, Some((13, 2))),
            (br#"{"a": "\""#, 0, None),
            (b"]", 0, None),
            (b"{}, {", 0, None),
        ] {
            assert_eq!(elements_of(content, known), expected, "{}", content.escape_ascii());
        }
    }

    #[test]
    fn a_list_is_one_that_is_no_text() {
        let found = |record: &str| list(record.as_bytes()).map(|at| record[at..].to_owned());
        assert_eq!(found(r#"{"messages" : [ {}]}"#).as_deref(), Some("{}]}"));
        assert_eq!(found(r#"{"input": [2], "messages": [1]}"#).as_deref(), Some("2], \"messages\": [1]}"));
        assert_eq!(found(r#"{"a": "\"messages\": [1]", "input": [2]}"#).as_deref(), Some("2]}"));
        assert_eq!(found(r#"{"messages": "[1]"}"#), None);
    }
}
