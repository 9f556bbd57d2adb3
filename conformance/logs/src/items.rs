//! Follows the items of OpenAI's Responses from the answers of a log into later requests, which name them by their ids.

use super::answered::text_of_model;
use super::bodies::{in_path, list_of};
use super::finding::{Finding, Level, Place};
use super::rules::{finding, of_breach};
use foldhash::{HashMap, HashSet};
use serde_json::Value;
use std::iter::successors;
use threadspec::MemberLookup;
use threadspec::oracle::{Api, Breach};
use threadspec_apis::follow::hash;

/// The items of the answers so far, by hashes.
#[derive(Default)]
pub(super) struct AnsweredItems {
    /// By the id of an item the one behind it in its answer, if it is reasoning.
    next: HashMap<u64, Option<u64>>,
    /// By the text of a message its phase; `None` if the same text had several.
    phases: HashMap<u64, Option<String>>,
    /// By the id of a response the one before it, and the items that are stored with it.
    stored: HashMap<u64, (Option<u64>, HashSet<u64>)>,
    /// The numbers of the requests whose answers these are.
    requests: HashSet<usize>,
}

impl AnsweredItems {
    /// Takes the answer to a request of this number and body.
    pub(super) fn answer(&mut self, number: usize, body: &Value, response: &Value) {
        /// The number of items that are remembered; then all are forgotten.
        const MOST: usize = 1 << 20;
        let Some(items) = response.member("output").as_array().filter(|items| !items.is_empty()) else { return };
        if self.next.len() > MOST {
            *self = Self::default();
        }
        let sent = list_of(Api::OpenAiResponses, body).iter().filter_map(id_of);
        let mut all: HashSet<u64> = sent.collect();
        for id in &all {
            self.next.entry(*id).or_default();
        }
        for (position, item) in items.iter().enumerate() {
            if let Some(id) = id_of(item) {
                let behind = items.get(position + 1).filter(|_| item.member("type") == "reasoning");
                self.next.insert(id, behind.and_then(id_of));
                all.insert(id);
            }
            let text = text_of_model(item).filter(|text| !text.is_empty());
            if let (Some(text), Some(phase)) = (text, item.member("phase").as_str()) {
                let known = self.phases.entry(hash(&text)).or_insert_with(|| Some(phase.to_owned()));
                known.take_if(|known| known.as_str() != phase);
            }
        }
        if let Some(id) = id_of(response) {
            self.stored.insert(id, (previous(body), all));
        }
        self.requests.insert(number);
    }

    /// Returns whether the answer to a request is known.
    pub(super) fn has_answer_to(&self, number: usize) -> bool {
        self.requests.contains(&number)
    }

    /// Says what is wrong with the items of a request that answers had.
    pub(super) fn judge(&self, body: &Value, place: &Place) -> Vec<Finding> {
        let items = list_of(Api::OpenAiResponses, body);
        let mut found = Vec::new();
        for (position, item) in items.iter().enumerate() {
            let at = || in_path(place, &format!("input[{position}]"));
            let mut add = |rule, what: &str, is_certain| {
                let breach = Breach { is_certain, ..Breach::new(rule, "", what) };
                found.push(of_breach(&breach, at()));
            };
            let id = id_of(item);
            if id.is_some_and(|id| self.holds(previous(body), id)) {
                add("OAI-RESP-ITEM-UNIQUE", "the item is in what `previous_response_id` holds", true);
            }
            let next = id.and_then(|id| *self.next.get(&id)?).filter(|_| body.member("store") != false);
            let behind = &items[position + 1..];
            // Without an id it may be the same.
            let is_other = |next: &u64| behind.first().and_then(id_of).is_some_and(|id| id != *next);
            if let Some(next) = next.filter(is_other) {
                let is_gone = behind.iter().all(|item| id_of(item) != Some(next));
                add("OAI-RESP-REASON-NEXT", "the item that followed it in the answer is not behind it", is_gone);
            }
            let phase_of = |text: String| self.phases.get(&hash(&text))?.as_deref();
            let said = if self.phases.is_empty() { None } else { text_of_model(item).and_then(phase_of) };
            if let Some(phase) = said.filter(|phase| item.member("phase") != *phase) {
                let what = format!("the message has not the `phase` {phase:?} that the answer had");
                found.push(finding("LOG-SAID-CHANGED", at(), what));
            }
        }
        found
    }

    /// The references from the item at this position on to what no answer had.
    pub(super) fn unknown(&self, body: &Value, first: usize, place: &Place) -> Vec<Finding> {
        let items = list_of(Api::OpenAiResponses, body).iter().enumerate().skip(first);
        let is_unknown = |item: &Value| id_of(item).is_some_and(|id| !self.next.contains_key(&id));
        let unknown = items.filter(|(_, item)| item.member("type") == "item_reference" && is_unknown(item));
        let told = |position: usize| {
            let breach = Breach::new("OAI-RESP-STORE", "", "it refers to an item that no answer of the log had");
            Finding { level: Level::Warning, ..of_breach(&breach, in_path(place, &format!("input[{position}]"))) }
        };
        unknown.map(|(position, _)| told(position)).collect()
    }

    /// Returns whether an item is stored with a response, or with one before it.
    fn holds(&self, response: Option<u64>, id: u64) -> bool {
        let before = |response: &u64| self.stored.get(response)?.0;
        successors(response, before).any(|one| self.stored.get(&one).is_some_and(|(_, items)| items.contains(&id)))
    }
}

fn id_of(item: &Value) -> Option<u64> {
    item.member("id").as_str().map(|id| hash(&id))
}

fn previous(body: &Value) -> Option<u64> {
    body.member("previous_response_id").as_str().map(|id| hash(&id))
}
