//! Requests to models with their answers, and histories, one after the other: what is wrong with each, and what one shows of another.

use super::answered::{AnsweredRequest, AnsweredRequests};
use super::answered::{ReturnedText, SaidAgain, first_of, returned};
use super::bodies::{self, in_path};
use super::conversation::{ConversationCalls, are_reordered, calls_of, changed, missing};
use super::finding::{Element, Finding, FindingOutput, Place};
use super::forms::{self, LoggedAnswer, LoggedExchange, LoggedHeaders, LoggedTurn, SaidToModel, ServerVerdict};
use super::items::AnsweredItems;
use super::rules::{family, finding, of_breach};
use super::seen::{self, JudgedHistory};
use foldhash::{HashMap, HashSet};
use serde_json::{Value, json};
use threadspec::oracle::{Api, SentThinking};
use threadspec_apis::follow::{self, Conversations, Lineage, Location, Loss, Owner, StoredPiece};

/// Judges requests and histories in their order.
#[derive(Default)]
pub(super) struct Exchanges {
    /// The API that everything is for, if the user says so.
    api: Option<Api>,
    count: usize,
    conversations: Conversations,
    /// Hashes of the faults of the last requests, to report them once: a history is sent again and again.
    told: HashMap<usize, HashSet<u64>>,
    answered: AnsweredRequests,
    /// The thinking of conversations, by their last request.
    thinking: HashMap<usize, SentThinking>,
    /// The requests whose answers are logged elsewhere, by their keys.
    asked: HashMap<String, usize>,
    /// The calls of all histories of a conversation, by id, and by name and arguments.
    calls: ConversationCalls,
    /// The items of answers of Responses.
    items: AnsweredItems,
    breaches: usize,
    losses: usize,
    /// How many requests of the file extend an earlier one.
    extended: usize,
    /// The first request of the file that goes on from one that is no longer kept, and how many do.
    unjoined: Option<(Place, usize)>,
    /// The judged history of the last request, for those that begin with all of it.
    judged: Option<JudgedHistory>,
    /// The files, each with the number of requests before it.
    files: Vec<(usize, String)>,
    /// True if a request has gone on from one of an earlier file, and a model's reply in it: then the files are parts of one log.
    are_parts: bool,
}

/// A request or history that is being judged: what it was found to be.
struct RelatedRequest {
    place: Place,
    lineage: Lineage,
    /// How many pieces it has.
    length: usize,
    /// True if it has an answer of a model that the earlier request, with which it begins, has not.
    has_new_reply: bool,
    /// A hash of what it begins with, and whether a model has answered in it.
    begun: (u64, bool),
    is_sent: bool,
    /// The model's words behind those of the earlier request.
    again: SaidAgain,
    key: String,
    answer: Option<LoggedAnswer>,
}

impl RelatedRequest {
    fn of(
        place: Place,
        lineage: Lineage,
        (api, body, pieces): (Api, &Value, &[StoredPiece]),
        is_sent: bool,
        (key, answer): (String, Option<LoggedAnswer>),
    ) -> Self {
        let new = &pieces[lineage.extended..];
        let has_new_reply = new.iter().any(|piece| piece.role() == Owner::Model);
        let begun = seen::beginning_of(pieces);
        let is_next = has_new_reply && is_sent && lineage.parent.is_some() && lineage.loss.is_none();
        let again = if is_next { SaidAgain::of(api, body, new) } else { SaidAgain::default() };
        Self { place, lineage, length: pieces.len(), has_new_reply, begun, is_sent, again, key, answer }
    }
}

impl Exchanges {
    pub(super) fn new(api: Option<Api>) -> Self {
        Self { api, ..Self::default() }
    }

    /// Begins a file: the next records are in it.
    pub(super) fn begin_file(&mut self, name: &str) {
        self.files.push((self.count, name.to_owned()));
        (self.breaches, self.losses, self.extended) = (0, 0, 0);
        if !self.are_parts {
            self.asked.clear();
        }
    }

    /// How many requests are in earlier files.
    fn in_earlier_files(&self) -> usize {
        self.files.last().map_or(0, |(before, _)| *before)
    }

    /// The number of an earlier request, if it is in this file, and what it is called.
    fn origin(&self, request: usize) -> (Option<usize>, String) {
        let file = self.files.iter().rev().find(|(before, _)| *before < request);
        match file.filter(|(before, _)| *before < self.in_earlier_files()) {
            Some((before, name)) => (None, format!("request {} of {name}", request - before)),
            None => (Some(request - self.in_earlier_files()), "an earlier one".to_owned()),
        }
    }

    /// Drops the findings about a request in an earlier file as long as the files may be strangers, which begin alike by chance.
    fn of_this_log(&mut self, lineage: Lineage, pieces: &[StoredPiece]) -> Lineage {
        if lineage.parent.is_none_or(|parent| parent > self.in_earlier_files()) {
            return lineage;
        }
        let has_reply = pieces[..lineage.extended].iter().any(|piece| piece.role() == Owner::Model);
        self.are_parts |= has_reply && lineage.loss.is_none() && lineage.extended < pieces.len();
        if self.are_parts { lineage } else { Lineage::default() }
    }

    /// Judges the next exchange of a record at this place.
    /// Returns false if its messages are not in the words of the API that it was taken for.
    pub(super) fn push(&mut self, exchange: LoggedExchange, record: &Place, output: &mut FindingOutput<'_>) -> bool {
        let verdict = exchange.verdict();
        let LoggedExchange { said, is_sent, answer, model, path, key, headers, is_of_others, .. } = exchange;
        self.count += 1;
        let place = Place { request: Some(self.count - self.in_earlier_files()), path, ..record.clone() };
        let elements = said.elements();
        let is_silent = matches!(verdict, ServerVerdict::Unknown | ServerVerdict::Unsaid);
        let (mut is_told, mut told) = (true, None);
        let (api, body, mut found) = match said {
            SaidToModel::Api { api, body, is_whole } => {
                told = api;
                let of_answer = answer.as_ref().and_then(|answer| answer.api);
                let api = self.api.or(api).or(of_answer);
                is_told = api.is_some();
                // It has the fewest rules.
                let api = api.unwrap_or(Api::OpenAiChat);
                let known = headers.as_ref().map(LoggedHeaders::known);
                let mut found = bodies::of_body(api, (&body, known), is_whole, is_sent, &place);
                if is_silent && self.api.is_none() && bodies::is_unlike(&found, elements) {
                    self.count -= 1;
                    return false;
                }
                output.summary.apis.insert(api.to_string());
                if is_sent && api == Api::OpenAiResponses {
                    found.extend(self.items.judge(&body, &place));
                }
                let turns = || forms::turns_of_body(&body);
                let found = bodies::outranked(found, (&verdict, is_of_others), &place, turns);
                (api, body, found)
            }
            SaidToModel::Form { form, body, turns, is_whole } => {
                output.summary.apis.insert(form.to_string());
                let found = bodies::of_form(form, &body, &turns, is_whole, is_sent, &place);
                let found = bodies::outranked(found, (&verdict, is_of_others), &place, || turns.clone());
                (Api::OpenAiChat, neutral(turns), found)
            }
            SaidToModel::Messages(turns) => {
                let found = bodies::of_turns(&turns, &place, !is_sent);
                let found = bodies::outranked(found, (&verdict, is_of_others), &place, Vec::new);
                (Api::OpenAiChat, neutral(turns), found)
            }
        };
        output.summary.judge(if is_sent { "request" } else { "history" }, 1);
        let made = calls_of(api, &body);
        // A history that the server keeps is no part of the request.
        let is_stored = !body["previous_response_id"].is_null() || !body["conversation"].is_null();
        let model = model_of(&body, model);
        let (mut lineage, mut pieces) = (Lineage::default(), Vec::new());
        if !is_stored {
            let segments = follow::segments(api, &body);
            lineage = self.conversations.push(self.count, (api, &model), &segments);
            pieces = segments.pieces().to_vec();
            if !is_told {
                // What goes on from it may tell that it is Anthropic's.
                let segments = follow::segments(Api::Anthropic, &body);
                let other = self.conversations.push(self.count, (Api::Anthropic, &model), &segments);
                lineage = if lineage.parent.is_none() { Lineage { extended: 0, ..other } } else { lineage };
            }
            lineage = self.of_this_log(lineage, &pieces);
            if !is_sent {
                // It was not sent, so that no cache was lost; but it may tell again what a request before it told.
                lineage.loss = None;
            }
        }
        let thinking = answer.as_ref().map_or(&[][..], |answer| &answer.thinking);
        if api == Api::Anthropic && is_sent {
            self.follow_thinking(&lineage, &place, &body, thinking, &mut found);
        }
        if is_sent && api == Api::OpenAiResponses {
            if is_silent && lineage.parent.is_some_and(|parent| self.items.has_answer_to(parent)) {
                let first = first_of(&pieces[lineage.extended..], elements);
                found.extend(self.items.unknown(&body, first, &place));
            }
            if let Some(answer) = &answer {
                self.items.answer(self.count, &body, &answer.response);
            }
        }
        match verdict {
            ServerVerdict::Refused { .. } => output.summary.judge("refusal", 1),
            ServerVerdict::Unjudged(_) => output.summary.judge("failed request", 1),
            _ => {}
        }
        // A later request must have what the answer thought.
        let is_right = found.is_empty() && thinking.is_empty();
        let is_alone = answer.is_none() && key.is_empty();
        self.tell(found, elements, &lineage, output);
        let path = place.path.clone();
        let request = RelatedRequest::of(place, lineage, (api, &body, &pieces), is_sent, (key, answer));
        self.relate(request, &made, &made, output);
        self.judged = told
            .filter(|told| is_right && is_sent && !is_stored && *told == api)
            .and_then(|api| JudgedHistory::of(api, body, (model, headers), (path, is_alone), pieces, made));
        true
    }

    /// Returns the judged history of the last request, if it has no fault.
    pub(super) fn judged(&mut self) -> Option<JudgedHistory> {
        self.judged.take()
    }

    /// Judges a request that begins with all elements of a known one; they are left out, and so may be the settings.
    /// Says whether that was enough: where something is wrong, or what is known does not settle it, nothing has happened.
    pub(super) fn extend(
        &mut self,
        exchange: LoggedExchange,
        known: &mut JudgedHistory,
        has_settings: bool,
        record: &Place,
        output: &mut FindingOutput<'_>,
    ) -> bool {
        if matches!(exchange.verdict(), ServerVerdict::Refused { .. } | ServerVerdict::Unjudged(_)) {
            return false;
        }
        let LoggedExchange { said, is_sent, answer, model, path, key, headers, .. } = exchange;
        let SaidToModel::Api { api: told, body, is_whole } = said else { return false };
        let api = known.api;
        let place = Place { request: Some(self.count + 1 - self.in_earlier_files()), path, ..record.clone() };
        let sent_headers = headers.as_ref().map(LoggedHeaders::known);
        let is_known = is_sent
            && told.is_none_or(|told| told == api)
            && headers == known.headers
            && (!has_settings || (known.has_settings_of(&body) && known.model == model_of(&body, model)))
            && answer.as_ref().is_none_or(|answer| answer.thinking.is_empty())
            && known.settles(&body)
            && (known.is_all_of(&body)
                || bodies::of_body(api, (&body, sent_headers), is_whole, is_sent, &place).is_empty())
            && (api != Api::OpenAiResponses
                || self.items.judge(&body, &place).is_empty() && self.items.unknown(&body, 0, &place).is_empty());
        if !is_known {
            return false;
        }
        self.count += 1;
        output.summary.judge("request", 1);
        let new = follow::new_segments(api, &body, &known.pieces, known.elements);
        let lineage = self.conversations.push_behind(self.count, (api, &known.model), &known.pieces, &new);
        known.pieces.extend(new.pieces());
        let lineage = self.of_this_log(lineage, &known.pieces);
        self.tell(Vec::new(), 0, &lineage, output);
        if let Some(answer) = &answer {
            self.items.answer(self.count, &body, &answer.response);
        }
        let made = calls_of(api, &body);
        known.extend(&body, &made);
        let request = RelatedRequest::of(place, lineage, (api, &body, &known.pieces), is_sent, (key, answer));
        self.relate(request, &known.calls, &made, output);
        true
    }

    /// The answer to a request that was logged before.
    pub(super) fn reply(&mut self, key: &str, answer: LoggedAnswer) {
        let Some(number) = self.asked.remove(key) else { return };
        if let Some(sent) = self.thinking.get_mut(&number) {
            sent.answer(&answer.thinking);
        }
        self.items.answer(number, &Value::Null, &answer.response);
        if let Some(request) = self.answered.get_mut(number) {
            (request.calls, request.text, request.places) = (answer.calls, answer.text, answer.places);
            request.tokens = answer.tokens;
        }
    }

    /// Follows the thinking of an earlier request, or its answer, into this one; `thinking` is that of its own answer.
    fn follow_thinking(
        &mut self,
        lineage: &Lineage,
        place: &Place,
        body: &Value,
        thinking: &[Value],
        found: &mut Vec<Finding>,
    ) {
        // A second branch of a conversation begins again.
        let mut sent = lineage.parent.and_then(|parent| self.thinking.remove(&parent)).unwrap_or_default();
        for breach in sent.request(body) {
            // What one request lets suspect is known now.
            found.retain(|one| one.rule != breach.rule || one.place.path != breach.place);
            found.push(of_breach(&breach, in_path(place, &breach.place)));
        }
        sent.answer(thinking);
        self.thinking.insert(self.count, sent);
        self.thinking.remove(&self.count.saturating_sub(follow::REACH));
    }

    /// Reports the findings about the request that this one continues; it has so many elements.
    fn tell(&mut self, found: Vec<Finding>, elements: usize, lineage: &Lineage, output: &mut FindingOutput<'_>) {
        let identity = |found: &Finding| {
            let Place { path, element, .. } = &found.place;
            // The end of a list is the place of its next element in a later request; the paths of logs begin with the record's.
            let is_answered = family(found.rule) == "answered";
            let number = element.map(|element| element.number).or(is_answered.then_some(elements + 1));
            let path = if is_answered || found.rule.starts_with("LOG-") { "" } else { &**path };
            follow::hash(&(found.rule, path, number, &found.text))
        };
        self.breaches += found.iter().filter(|found| found.level == super::finding::Level::Error).count();
        let all: HashSet<u64> = found.iter().map(identity).collect();
        // Each file shows its own.
        let parent = lineage.parent.filter(|parent| *parent > self.in_earlier_files());
        let known = parent.and_then(|parent| self.told.get(&parent));
        let is_new = |found: &Finding| known.is_none_or(|known| !known.contains(&identity(found)));
        found.into_iter().filter(is_new).for_each(|found| output.found(found));
        if !all.is_empty() {
            self.told.insert(self.count, all);
        }
        self.told.remove(&self.count.saturating_sub(follow::REACH));
    }

    /// Compares a request with the one before it; `calls` are those of its history, and `new` those that were not there before.
    fn relate(
        &mut self,
        request: RelatedRequest,
        calls: &HashSet<u64>,
        new: &HashSet<u64>,
        output: &mut FindingOutput<'_>,
    ) {
        let RelatedRequest { place, mut lineage, length, has_new_reply, begun, is_sent, again, key, answer } = request;
        if lineage.loss.is_none() {
            lineage.parent = lineage.parent.map(|parent| self.answered.taken(parent, length, calls));
        }
        if lineage.is_out_of_reach && is_sent {
            self.unjoined.get_or_insert_with(|| (place.clone(), 0)).1 += 1;
        }
        // Strangers that begin alike share no calls.
        let (begun, has_reply) = begun;
        let begun = follow::hash(&(begun, if self.are_parts { 0 } else { self.in_earlier_files() }));
        let conversation = self.calls.push(self.count, &lineage, (length, begun, has_reply), calls, new);
        let is_asked = !key.is_empty();
        if is_asked {
            self.asked.insert(key, self.count);
        }
        if !is_sent {
            return;
        }
        let (after, origin) = lineage.parent.map(|parent| self.origin(parent)).unwrap_or_default();
        if let (Some(parent), None) = (lineage.parent, &lineage.loss) {
            self.answered.go_on(self.count, parent, length, has_new_reply);
            self.extended += 1;
        }
        let before = lineage.parent.and_then(|parent| self.answered.get_mut(parent));
        let tokens = answer.as_ref().and_then(|answer| answer.tokens);
        let mut twin = None;
        if let Some(loss) = &lineage.loss {
            self.losses += 1;
            let cost = before.and_then(|before| Some((before.tokens?.0, tokens?.1)));
            let again = read_again(loss, cost);
            output.summary.reread += again;
            let place = Place { after, ..in_element(&place, &loss.place) };
            output.found(finding("LOG-PREFIX", place, lost(loss, again, &origin, cost)));
        } else if let Some(before) = before {
            if before.length == length {
                twin = lineage.parent;
                before.again = Some(self.count);
            } else {
                if before.next.is_none() && after.is_none() {
                    before.elsewhere = Some((place.clone(), origin));
                }
                before.next = before.next.or(Some(self.count));
                // Of two answers to the same request nobody knows which one is meant, where both have the same ids.
                let is_one = before.twin.is_none() && before.again.is_none();
                for (id, name, _) in changed(calls, &before.calls).into_iter().filter(|_| is_one) {
                    let text = format!(
                        "it goes on from an earlier request, but the call {id:?} of `{name}` has another name or other arguments than in the model's answer there"
                    );
                    let place = Place { after, path: String::new(), ..place.clone() };
                    output.found(finding("LOG-CALL-CHANGED", place, text));
                }
                // It has part of the answer, and so no other answer.
                let lost = missing(calls, &before.calls);
                let has_calls = !before.calls.is_empty() && lost.is_empty();
                if is_one && has_new_reply && (before.calls.is_empty() || has_calls) {
                    let said = std::mem::take(&mut before.text);
                    let how = match said.trim() {
                        _ if are_reordered(&again.ids, &before.calls) => {
                            ReturnedText::Changed("the calls of the answer are in another order".to_owned())
                        }
                        "" if has_calls => ReturnedText::Same,
                        "" => ReturnedText::Unknown,
                        said => match returned(said, &again.texts, has_calls) {
                            ReturnedText::Same if again.is_moved(&before.calls, &before.places) => {
                                let how = "the text of the answer has another place among the calls";
                                ReturnedText::Changed(how.to_owned())
                            }
                            how => how,
                        },
                    };
                    output.summary.compared += usize::from(how != ReturnedText::Unknown);
                    if let ReturnedText::Changed(how) = how {
                        let text = format!("it goes on from an earlier request, but {how}");
                        let place = Place { after, path: String::new(), ..place.clone() };
                        output.found(finding("LOG-SAID-CHANGED", place, text));
                    }
                }
                if !lost.is_empty() && lost.len() < before.calls.len() {
                    for (id, name, _) in &lost {
                        let text = format!(
                            "it goes on from an earlier request, but without the call of `{name}` ({id:?}) from the model's answer there"
                        );
                        let place = Place { after, path: String::new(), ..place.clone() };
                        output.found(finding("LOG-CALL-LOST", place, text));
                    }
                    before.calls.clear();
                }
            }
        }
        let LoggedAnswer { calls, text, places, tokens, .. } = answer.unwrap_or_default();
        if !calls.is_empty() || !text.is_empty() || tokens.is_some() || is_asked {
            let new = AnsweredRequest::new(place, length, conversation);
            let answered = AnsweredRequest { calls, text, places, tokens, twin, ..new };
            self.answered.insert(self.count, answered);
        }
    }

    /// The file has ended.
    pub(super) fn conclude(&mut self, output: &mut FindingOutput<'_>) {
        for (one, lost) in self.answered.lost(&self.calls) {
            for (id, name, _) in lost {
                let (place, request, next) = match &one.elsewhere {
                    Some((place, request)) => (place, format!(" to {request}"), "this"),
                    None => (&one.place, String::new(), "the next"),
                };
                let text = format!(
                    "the answer{request} calls `{name}` ({id:?}), and {next} request goes on without that call, as do all later ones"
                );
                output.found(finding("LOG-CALL-LOST", Place { path: String::new(), ..place.clone() }, text));
            }
        }
        self.answered.forget_left();
        let unjoined = self.unjoined.take();
        let is_joined = unjoined.is_none();
        if let Some((place, requests)) = unjoined {
            let more = if requests > 1 { format!("; so do {} more", requests - 1) } else { String::new() };
            let text = format!(
                "it seems to go on from a request that is more than {} requests behind, but does not begin with all of it: \
                 only the last ones are kept to be compared, so that where its prompt cache was lost is not known{more}",
                follow::REACH
            );
            output.found(finding("LOG-LIMIT", place, text));
        }
        let count = self.count - self.in_earlier_files();
        if count > 0 && self.breaches == 0 {
            output.summary.holds.push("provider-rules");
        }
        if self.losses == 0 && is_joined && self.extended > 0 {
            output.summary.holds.push("append-only");
        }
    }
}

/// Returns the name on which the cache of a request depends: its model, which may be logged beside the body.
fn model_of(body: &Value, beside: String) -> String {
    if body["model"].is_null() { beside } else { body["model"].to_string() }
}

/// Turns as a body of chat completions, in whose words they are.
fn neutral(turns: Vec<LoggedTurn>) -> Value {
    let messages: Vec<Value> = turns.into_iter().map(|turn| turn.message).collect();
    json!({"messages": messages})
}

/// The place of a piece in a request.
fn in_element(request: &Place, location: &Location) -> Place {
    let element = match location {
        Location::Message(position) => Some(Element { kind: "message", number: position + 1 }),
        Location::Item(position) => Some(Element { kind: "item", number: position + 1 }),
        Location::Tool(position) => Some(Element { kind: "tool", number: position + 1 }),
        Location::System => None,
    };
    let path = if *location == Location::System { "system".to_owned() } else { String::new() };
    Place { element, path, ..request.clone() }
}

/// Fewer bytes than these have too few tokens for any cache, which begins at 1,024 of them: a token has about four bytes.
const TOO_SHORT: usize = 4_096;

/// Returns how many bytes a server reads again because of a lost prefix; none where the earlier request was too short for a cache.
fn read_again(Loss { kept, whole, .. }: &Loss, tokens: Option<(u64, u64)>) -> usize {
    let is_short = tokens.map_or(*whole < TOO_SHORT, |(all, _)| all < TOO_SHORT as u64 / 4);
    if is_short { 0 } else { whole - kept }
}

/// Describes a lost prefix and its cost: so many bytes are read `again`. `origin` is the earlier request. `cost` has the tokens of the earlier request, and how many of
/// them the cache still had.
fn lost(Loss { how, whole, .. }: &Loss, again: usize, origin: &str, cost: Option<(u64, u64)>) -> String {
    let percent = (100 * again).div_ceil(*whole.max(&1));
    let effect = match again {
        0 => "no cache is lost yet: most need 1,024 tokens or so, and the request is shorter".to_owned(),
        _ => format!("so the prompt cache ends here, and the server reads {percent} % of the earlier request again"),
    };
    let tokens = cost
        .map(|(all, cached)| format!(" (by the server's count, {cached} of {all} input tokens came from the cache)"))
        .unwrap_or_default();
    format!("the request goes on from {origin}, but changes its history here: {how}; {effect}{tokens}")
}
