//! Finds the earlier request that each request of a log continues, and the place where a prompt cache was lost.
//!
//! A model's cache is kept as long as each request begins with all of the one before it. A log may hold many conversations at once,
//! branches and retries. So each request is related to the longest earlier one that it extends. A loss is reported only if the
//! request has more replies of a model than that explains, and clearly continues another earlier request without extending it.
//!
//! However long a log is, the memory is bounded: only the last requests are kept, of each piece a hash, and the texts up to a number of
//! bytes; of earlier requests there is one hash, by which a request that extends one of them is recognized.

use super::segments::{Divergence, Location, Owner, difference};
use super::{KeptTexts, Segments, StoredPiece};
use foldhash::quality::FixedState;
use foldhash::{HashMap, HashSet};
use serde_json::Value;
use std::collections::VecDeque;
use std::fmt;
use std::hash::{BuildHasher, Hash};

/// How many earlier requests are kept, and searched for one that a request continues without extending it.
pub const REACH: usize = 500;
/// How many pieces the kept requests may have together; the last request is always kept.
const MOST_PIECES: usize = 1 << 20;
/// How many hashes of whole requests are kept.
const MOST_WHOLE: usize = 1 << 16;

#[derive(Debug)]
struct EarlierRequest {
    number: usize,
    /// Requests with another key share no cache.
    key: u64,
    pieces: Vec<StoredPiece>,
    replies: usize,
}

/// How a request relates to the earlier ones.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Lineage {
    /// The number of the request that it goes on from.
    pub parent: Option<usize>,
    /// Where the prompt cache was lost, if it was.
    pub loss: Option<Loss>,
    /// How many pieces of it an earlier request had, all of whose pieces they are.
    pub extended: usize,
    /// True if it seems to go on from a request that is no longer kept, without extending it.
    pub is_out_of_reach: bool,
}

/// Where a request stops being an extension of the one that it goes on from.
#[derive(Debug, PartialEq, Eq)]
pub struct Loss {
    /// The first piece that differs.
    pub place: Location,
    /// The kind of loss.
    pub how: LossKind,
    /// How many bytes the two requests begin with that are the same.
    pub kept: usize,
    /// How many bytes the earlier request has, all of which a cache had.
    pub whole: usize,
}

/// The change of the piece with which a request stops being an extension.
#[derive(Debug, PartialEq, Eq)]
pub enum LossKind {
    /// Something else is there.
    Changed(Divergence),
    /// This piece is gone, and what was after it is still there.
    Removed(Location),
    /// Something new is before what was there.
    Inserted,
    /// Something else is there, but the text that was there before is no longer kept.
    Forgotten,
}

impl fmt::Display for LossKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed(Divergence { path, byte, before, now }) => {
                // A text alone is the same as a list of one block of text.
                let what = if path.is_empty() || path == "content[0].text" { "the text" } else { path };
                write!(f, "{what} was {before:?} and is now {now:?}, after {byte} equal bytes of it")
            }
            Self::Removed(piece) => write!(f, "{piece} is gone"),
            Self::Inserted => f.write_str("the earlier request had something else here"),
            Self::Forgotten => f.write_str("it has changed; the earlier text is no longer known"),
        }
    }
}

/// A whole request, by the hash of all its pieces.
#[derive(Clone, Copy, Debug)]
struct Whole {
    number: usize,
    /// How many pieces it has.
    length: usize,
}

/// The last requests of a log.
#[derive(Debug, Default)]
pub struct Conversations {
    /// The oldest first.
    requests: VecDeque<EarlierRequest>,
    /// How many pieces they have.
    pieces: usize,
    whole: HashMap<u64, Whole>,
    /// The hashes of whole requests, the oldest first.
    order: VecDeque<(u64, usize)>,
    /// The beginnings of requests that are no longer kept, and the most replies that one of them had.
    begun: HashMap<u64, usize>,
    texts: KeptTexts,
}

impl Conversations {
    /// Adds the next request with all its pieces. What its cache depends on beside them, such as the model, is in `key`.
    pub fn push(&mut self, number: usize, key: impl Hash, pieces: &Segments) -> Lineage {
        self.push_behind(number, key, &[], pieces)
    }

    /// Adds the next request: the pieces that an earlier one had, all of them at its beginning, and those that may be new.
    pub fn push_behind(&mut self, number: usize, key: impl Hash, known: &[StoredPiece], new: &Segments) -> Lineage {
        self.texts.insert(new);
        let (key, pieces) = (hash(&key), [known, new.pieces()].concat());
        let replies = replies_behind(&pieces, 0);
        let parent = self.longest_extended(key, &pieces);
        let whole = whole_hash(key, pieces.last());
        let begun = parent.map_or(0, |parent| parent.length);
        let explained = usize::from(parent.is_some());
        let now = EarlierRequest { number, key, pieces, replies };
        let parent = parent.map(|parent| parent.number);
        let mut relation = Lineage { parent, extended: begun, ..Lineage::default() };
        if replies_behind(&now.pieces, begun) > explained || self.repeats_the_last(&now, begun, parent) {
            if let Some(before) = self.continued(&now, begun) {
                relation = Lineage { parent: Some(before.number), loss: Some(self.loss(before, &now)), ..relation };
            } else {
                let forgotten = beginning(&now).and_then(|beginning| self.begun.get(&beginning));
                let extended = replies_behind(&now.pieces[..begun], 0);
                // Requests that begin with the same examples have as many replies.
                relation.is_out_of_reach = forgotten.is_some_and(|most| (extended + 1..now.replies).contains(most));
            }
        }
        self.whole.insert(whole, Whole { number, length: now.pieces.len() });
        self.order.push_back((whole, number));
        self.pieces += now.pieces.len();
        self.requests.push_back(now);
        self.forget();
        relation
    }

    /// Drops what is too old.
    fn forget(&mut self) {
        // A request that may be for two APIs is there twice.
        let newest = self.requests.back().map_or(0, |newest| newest.number);
        while let Some(oldest) = self.requests.front()
            && (oldest.number + REACH <= newest || (oldest.number < newest && self.pieces > MOST_PIECES))
            && let Some(oldest) = self.requests.pop_front()
        {
            self.pieces -= oldest.pieces.len();
            if let Some(beginning) = beginning(&oldest) {
                let most = self.begun.entry(beginning).or_default();
                *most = oldest.replies.max(*most);
            }
        }
        if self.begun.len() > MOST_WHOLE {
            self.begun.clear();
        }
        if self.texts.are_many() {
            self.texts.keep(self.requests.iter().rev().flat_map(|request| &request.pieces));
        }
        if self.order.len() > MOST_WHOLE
            && let Some((whole, number)) = self.order.pop_front()
            && self.whole.get(&whole).is_some_and(|last| last.number == number)
        {
            self.whole.remove(&whole);
        }
    }

    /// The longest earlier request that the pieces begin with.
    fn longest_extended(&self, key: u64, pieces: &[StoredPiece]) -> Option<Whole> {
        let mut spoken = pieces.iter().rev().filter(|piece| piece.role != Owner::Setting);
        spoken.find_map(|piece| self.whole.get(&whole_hash(key, Some(piece))).copied())
    }

    /// Returns whether the request before this one, which it does not extend, has a reply of the model that this one adds.
    fn repeats_the_last(&self, now: &EarlierRequest, begun: usize, parent: Option<usize>) -> bool {
        let last = self.requests.back().filter(|last| last.key == now.key && Some(last.number) != parent);
        // Few pieces are new, so that no set is built of the many others.
        let new = now.pieces[begun..].iter().filter(|piece| piece.role == Owner::Model);
        last.is_some_and(|last| {
            let has =
                |new: &StoredPiece| last.pieces.iter().any(|old| old.role == Owner::Model && old.hash == new.hash);
            new.into_iter().any(has)
        })
    }

    /// The request that this one clearly goes on from, although it does not extend it.
    fn continued(&self, now: &EarlierRequest, begun: usize) -> Option<&EarlierRequest> {
        let known: HashSet<u64> = now.pieces.iter().map(|piece| piece.hash).collect();
        let mut best: Option<(usize, &EarlierRequest)> = None;
        for before in self.requests.iter().rev().filter(|before| before.key == now.key) {
            let common = common(before, now);
            let has_new_reply = || {
                let said: HashSet<u64> = before.pieces.iter().map(|piece| piece.hash).collect();
                now.pieces.iter().any(|piece| piece.role == Owner::Model && !said.contains(&piece.hash))
            };
            if common == now.pieces.len() || common == before.pieces.len() || !has_new_reply() {
                continue;
            }
            let said: Vec<&StoredPiece> = before.pieces.iter().filter(|piece| piece.role != Owner::Setting).collect();
            let shared = said.iter().filter(|piece| known.contains(&piece.hash));
            let (shared, replies) =
                shared.fold((0, 0), |(all, model), piece| (all + 1, model + usize::from(piece.role == Owner::Model)));
            let is_clear = if before.replies == 0 {
                shared == said.len() && shared > 0 && self.have_similar_settings(before, now)
            } else {
                // Most of it is shared, or its end, as when a history is cut at its beginning.
                let has_end = said.last().is_some_and(|last| known.contains(&last.hash));
                let has_most = 2 * shared >= said.len();
                (has_most && (replies > 0 || shared > 1)) || (has_end && replies > 0 && shared > 1)
            };
            // What the request extends explains it better, unless it shares more with this one.
            let extended = now.pieces[..begun].iter().filter(|piece| piece.role != Owner::Setting).count();
            if is_clear && shared > extended && best.is_none_or(|(most, _)| shared > most) {
                best = Some((shared, before));
            }
        }
        best.map(|(_, before)| before)
    }

    /// Returns whether tools and system texts are those of one agent: at least half of them are equal, or three quarters of their text.
    fn have_similar_settings(&self, before: &EarlierRequest, now: &EarlierRequest) -> bool {
        let texts = |request: &EarlierRequest| -> Vec<&[u8]> {
            let settings = request.pieces.iter().filter(|piece| piece.role == Owner::Setting);
            settings.filter_map(|piece| self.texts.get(piece)).collect()
        };
        let (one, other) = (texts(before), texts(now));
        if one.is_empty() || other.is_empty() {
            return false;
        }
        let same = one.iter().filter(|text| other.contains(text)).count();
        if 2 * same >= one.len().max(other.len()) {
            return true;
        }
        let (one, other) = (one.concat(), other.concat());
        let shorter = one.len().min(other.len());
        let start = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
        let end = one.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count().min(shorter - start);
        4 * (start + end) >= 3 * one.len().max(other.len())
    }

    fn loss(&self, before: &EarlierRequest, now: &EarlierRequest) -> Loss {
        let at = common(before, now);
        let (lost, found) = (before.pieces[at], now.pieces[at]);
        let stands = |piece: StoredPiece, pieces: &[StoredPiece]| pieces.iter().any(|other| other.hash == piece.hash);
        let value = |piece: StoredPiece| -> Option<Value> {
            // The texts were written from values.
            self.texts.get(&piece).and_then(|text| serde_json::from_slice(text).ok())
        };
        let how = if stands(found, &before.pieces[at..]) && !stands(lost, &now.pieces[at..]) {
            LossKind::Removed(lost.place)
        } else if stands(lost, &now.pieces[at..]) && !stands(found, &before.pieces[at..]) {
            LossKind::Inserted
        } else if let (Some(lost), Some(found)) = (value(lost), value(found)) {
            LossKind::Changed(difference(&lost, &found))
        } else {
            LossKind::Forgotten
        };
        let length = |pieces: &[StoredPiece]| -> usize { pieces.iter().map(|piece| piece.length).sum() };
        let (before, whole) = (length(&before.pieces[..at]), length(&before.pieces));
        let within = if let LossKind::Changed(difference) = &how { difference.byte } else { 0 };
        Loss { place: found.place, how, kept: (before + within).min(whole), whole }
    }
}

/// A hash of a whole request with this key that ends in this piece.
fn whole_hash(key: u64, last: Option<&StoredPiece>) -> u64 {
    hash(&(key, last.map(|last| last.chain)))
}

/// Returns the beginning of a request behind its settings, as a hash.
fn beginning(request: &EarlierRequest) -> Option<u64> {
    let first = request.pieces.iter().find(|piece| piece.role != Owner::Setting)?;
    Some(hash(&(request.key, first.hash)))
}

/// How many pieces two requests have in common at the beginning.
fn common(one: &EarlierRequest, other: &EarlierRequest) -> usize {
    one.pieces.iter().zip(&other.pieces).take_while(|(one, other)| one.hash == other.hash).count()
}

/// How many replies a model has given from a place on; neighbouring pieces of it are one reply.
fn replies_behind(pieces: &[StoredPiece], begun: usize) -> usize {
    let begins =
        |at: &usize| pieces[*at].role == Owner::Model && (*at == begun || pieces[*at - 1].role != Owner::Model);
    (begun..pieces.len()).filter(begins).count()
}

/// A hash that is the same within one process.
pub fn hash(value: &impl Hash) -> u64 {
    FixedState::default().hash_one(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::follow::MOST_TEXT;

    /// A request in words: those that begin with `s` are system texts, with `a`, `b` or `c` the model's.
    fn segments(request: &str) -> Segments {
        let mut found = Segments::default();
        for (position, word) in request.split_whitespace().enumerate() {
            let (place, role) = match word.as_bytes()[0] {
                b's' => (Location::System, Owner::Setting),
                b'a'..=b'c' | b'A' => (Location::Message(position), Owner::Model),
                _ => (Location::Message(position), Owner::Other),
            };
            found.push(place, role, &word);
        }
        found
    }

    /// Parents, and the places where caches were lost.
    fn related(requests: &[&str]) -> Vec<(Option<usize>, Option<Location>)> {
        let mut conversations = Conversations::default();
        let requests = requests.iter().enumerate();
        requests
            .map(|(number, request)| {
                let relation = conversations.push(number, "model", &segments(request));
                (relation.parent, relation.loss.map(|loss| loss.place))
            })
            .collect()
    }

    #[test]
    fn innocent_logs_lose_nothing() {
        for requests in [
            &["s u1", "s u1 a1 t1", "s u1 a1 t1 a2 t2"][..],
            // Two conversations at once, and two with the same beginning.
            &["s u1", "s v1", "s u1 a1 t1", "s v1 b1 w1", "s v1 b1 w1 b2 w2", "s u1 a1 t1 a2 t2"],
            &["s u1", "s u1", "s u1 a1 t", "s u1 b1 t", "s u1 a1 t a2 t", "s u1 b1 t b2 t"],
            // The system texts of two agents; the same prompt at another time.
            &["s:coder u1", "s:writer u1", "s:writer u1 a1 t1", "s:coder u1 b1 t1"],
            &["s:12:00 u1", "s:12:00 u1 a1 t1", "s:12:01 u1", "s:12:01 u1 b1 t1"],
            // A retry, a step back, an answer edited by its user, an imported history.
            &["s u1", "s u1 a1 t1", "s u1 a1 t1", "s u1", "s u1 b1 t1"],
            &["s u1", "s u1 a1 u2", "s u1 a1 u2 a2 u3", "s u1 a1 u4", "s u1 a1 u4 a4 u5"],
            &["s u1 a1 u2 a2 u3", "s v1 b1 v2 b2 v3", "s w1 c1 w2 c2 w3"],
            &["s u1 a1 u2", "s u1 a1"],
            // A reply of several messages.
            &["s u1", "s u1 a1 a2 t1 t2", "s u1 a1 a2 t1 t2 a3 a4 t3"],
        ] {
            assert!(related(requests).iter().all(|(_, lost)| lost.is_none()), "{requests:?}: {:?}", related(requests));
        }
        assert_eq!(related(&["s u1", "s v1", "s u1 a1 t1"])[2], (Some(0), None));
    }

    #[test]
    fn a_lost_cache_is_found_where_it_was_lost() {
        for (requests, place) in [
            // It extends the first request, and repeats a reply that only the second one has.
            (&["s u1", "s u1 a1 t1", "s u1 u1 a1 a2 u2"][..], Location::Message(2)),
            (&["s:It-is-12:00 u1", "s:It-is-12:01 u1 a1 t1"][..], Location::System),
            (&["s u1", "s u1 a1 t1", "s u1 a1 T1 a2 t2"], Location::Message(3)),
            (&["s u1", "s u1 a1 t1", "s u1 A1 t1 a2 t2"], Location::Message(2)),
            (&["s u1", "s u1 a1 t1 ", "s u1 a1 t1 a2 t2", "s a2 t2 a3 t3"], Location::Message(1)),
            (&["s u1", "s u1 a1 t1", "s:changed u1 a1 t1 a2 t2"], Location::System),
            (&["s u1", "s v1", "s u1 a1 t1", "s v1 b1 w1", "s v1 x b1 w1 b2 w2"], Location::Message(2)),
        ] {
            let related = related(requests);
            let (last, before) = related.split_last().expect("there are requests");
            assert_eq!(last.1, Some(place), "{requests:?}");
            assert!(before.iter().all(|(_, lost)| lost.is_none()), "{requests:?}");
        }
    }

    #[test]
    fn what_goes_on_from_a_changed_request_loses_nothing_more() {
        let related = related(&["s u1", "s u1 a1 t1", "s u1 a1 T1 a2 t2", "s u1 a1 T1 a2 t2 a3 t3"]);
        assert_eq!(related[3], (Some(2), None));
    }

    #[test]
    fn only_the_last_requests_are_kept() {
        let mut conversations = Conversations::default();
        let mut push = |number: usize, request: &str| {
            let relation = conversations.push(number, (), &segments(request));
            (relation.parent, conversations.requests.len(), conversations.texts.len())
        };
        assert_eq!(push(0, "s u1 a1 t1"), (None, 1, 4));
        for number in 1..=2 * REACH {
            push(number, &format!("s v{number}"));
        }
        // What extends a request that is gone is still recognized.
        assert_eq!(push(2 * REACH + 1, "s u1 a1 t1 b2 t2"), (Some(0), REACH, 2 * REACH + 6));
    }

    #[test]
    fn what_goes_on_from_a_request_that_is_gone_is_told() {
        for (between, request, expected) in [
            (REACH, "s u1 a1 T1 a2 t2", true),
            // It is kept, is extended, has no more replies, or begins in another way.
            (REACH - 1, "s u1 a1 T1 a2 t2", false),
            (REACH, "s u1 a1 t1 a2 t2 a3 t3", false),
            (REACH, "s u1 b1 u3", false),
            (REACH, "s u2 a1 T1 a2 t2", false),
        ] {
            let mut conversations = Conversations::default();
            let mut push = |number: usize, request: &str| conversations.push(number, (), &segments(request));
            push(0, "s u1 a1 t1");
            for number in 1..=between {
                assert!(!push(number, &format!("s v{number}")).is_out_of_reach);
            }
            assert_eq!(push(between + 1, request).is_out_of_reach, expected, "{between} {request}");
        }
    }

    #[test]
    fn only_so_many_bytes_of_texts_are_kept() {
        let mut conversations = Conversations::default();
        let mut push = |number: usize, words: &[&str]| {
            let lineage = conversations.push(number, (), &segments(&words.join(" ")));
            (lineage.loss, conversations.texts.bytes)
        };
        push(0, &["s", "u1", "a1", "t1"]);
        for number in 1..12 {
            let long = number.to_string().repeat(MOST_TEXT / 8);
            let (_, kept) = push(number, &["s", "v", &long]);
            assert!(kept <= MOST_TEXT, "{kept}");
        }
        let (loss, _) = push(12, &["s", "u1", "a1", "T1", "a2", "t2"]);
        let loss = loss.expect("the history has changed");
        assert_eq!((loss.place, loss.how), (Location::Message(3), LossKind::Forgotten));
        // What is old and still in use is not.
        let (loss, _) = push(13, &["s:changed", "u1", "a1", "T1", "a2", "t2", "a3", "t3"]);
        let loss = loss.expect("the system text has changed");
        assert!(matches!(loss.how, LossKind::Changed(_)), "{loss:?}");
    }

    #[test]
    fn how_a_cache_was_lost() {
        let how = |requests: &[&str]| {
            let mut conversations = Conversations::default();
            let relations: Vec<Lineage> = requests
                .iter()
                .enumerate()
                .map(|(number, request)| conversations.push(number, (), &segments(request)))
                .collect();
            relations.into_iter().next_back().and_then(|relation| relation.loss).map(|loss| loss.how)
        };
        assert_eq!(how(&["s u a t", "s a t b x"]), Some(LossKind::Removed(Location::Message(1))));
        assert_eq!(how(&["s u a t", "s u x a t b y"]), Some(LossKind::Inserted));
        let Some(LossKind::Changed(difference)) = how(&["s u a t:12:00", "s u a t:12:01 b y"]) else {
            panic!("changed")
        };
        assert_eq!((difference.byte, &*difference.now), (6, "t:12:01"));
    }
}
