//! A request laid beside the thread: which message is which.

use super::report::{Extras, SentRequest};
use super::thread::{CallFate, ItemKind, JudgedItem, ResponseFate};
use crate::universal::halves::arrived;
use crate::universal::message::{AgentCall, AgentMessage, Speaker};

/// A message of the user or the model in a request, with its answers.
#[derive(Debug)]
pub(super) struct MessageBlock<'m> {
    /// The message, counted from 0.
    pub(super) index: usize,
    pub(super) message: &'m AgentMessage,
    pub(super) extras: &'m Extras,
    /// The answers behind it, before anything else is sent.
    pub(super) answers: Vec<usize>,
    /// The human messages behind the answers that carry nothing but images.
    pub(super) carriers: Vec<usize>,
}

/// A request laid beside the thread.
#[derive(Debug)]
pub(super) struct RequestLayout<'m> {
    pub(super) request: &'m SentRequest,
    pub(super) systems: Vec<usize>,
    pub(super) blocks: Vec<MessageBlock<'m>>,
    /// Answers that are behind no response.
    pub(super) strays: Vec<usize>,
    /// For each item of the thread the block that is it.
    pub(super) block_of: Vec<Option<usize>>,
    /// For each block the item that it is.
    pub(super) item_of: Vec<Option<usize>>,
}

/// Where more pairs than this would have to be compared, the first message that fits is taken.
const MOST_PAIRS: usize = 400_000;

impl<'m> RequestLayout<'m> {
    /// Lays a request beside what was sent up to it.
    pub(super) fn of(request: &'m SentRequest, items: &[JudgedItem<'_>]) -> Self {
        let mut layout = Self {
            request,
            systems: Vec::new(),
            blocks: Vec::new(),
            strays: Vec::new(),
            block_of: vec![None; items.len()],
            item_of: Vec::new(),
        };
        layout.divide(items);
        layout.item_of = vec![None; layout.blocks.len()];
        layout.pair(items);
        layout
    }

    fn divide(&mut self, items: &[JudgedItem<'_>]) {
        for (index, (message, extras)) in self.request.messages.iter().zip(&self.request.extras).enumerate() {
            match message.speaker {
                Speaker::System => self.systems.push(index),
                Speaker::Tool => match self.blocks.last_mut() {
                    Some(block) if block.message.speaker == Speaker::Ai && block.carriers.is_empty() => {
                        block.answers.push(index);
                    }
                    _ => self.strays.push(index),
                },
                Speaker::Human if !extras.images.is_empty() && !is_user_text(message.text(), items) => {
                    if let Some(block) = self.blocks.last_mut() {
                        block.carriers.push(index);
                    }
                }
                Speaker::Human | Speaker::Ai => {
                    self.blocks.push(MessageBlock {
                        index,
                        message,
                        extras,
                        answers: Vec::new(),
                        carriers: Vec::new(),
                    });
                }
            }
        }
    }

    fn pair(&mut self, items: &[JudgedItem<'_>]) {
        let (mut first, mut last, mut end) = (0, self.blocks.len(), items.len());
        while first < last.min(end) && likeness(&items[first], self.blocks[first].message) >= SAME {
            self.put(first, first);
            first += 1;
        }
        while last > first && end > first && likeness(&items[end - 1], self.blocks[last - 1].message) >= SAME {
            last -= 1;
            end -= 1;
            self.put(end, last);
        }
        let pairs = if (last - first).saturating_mul(end - first) > MOST_PAIRS {
            self.first_fits(items, first..end, first..last)
        } else {
            self.best_fits(items, first..end, first..last)
        };
        for (item, block) in pairs {
            self.put(item, block);
        }
    }

    fn put(&mut self, item: usize, block: usize) {
        self.block_of[item] = Some(block);
        self.item_of[block] = Some(item);
    }

    fn first_fits(
        &self,
        items: &[JudgedItem<'_>],
        some: std::ops::Range<usize>,
        blocks: std::ops::Range<usize>,
    ) -> Vec<(usize, usize)> {
        let (mut from, mut pairs) = (some.start, Vec::new());
        for block in blocks {
            let fits = |item: &usize| likeness(&items[*item], self.blocks[block].message) >= SAME;
            if let Some(item) = (from..some.end).find(fits) {
                pairs.push((item, block));
                from = item + 1;
            }
        }
        pairs
    }

    /// The pairs, in order, that are most alike together.
    fn best_fits(
        &self,
        items: &[JudgedItem<'_>],
        some: std::ops::Range<usize>,
        blocks: std::ops::Range<usize>,
    ) -> Vec<(usize, usize)> {
        let (height, width) = (some.len(), blocks.len());
        let like =
            |row: usize, column: usize| likeness(&items[some.start + row], self.blocks[blocks.start + column].message);
        let mut best = vec![vec![0_u32; width + 1]; height + 1];
        for row in (0..height).rev() {
            for column in (0..width).rev() {
                let without = best[row + 1][column].max(best[row][column + 1]);
                let likeness = like(row, column);
                let pair = if likeness == 0 { 0 } else { likeness + best[row + 1][column + 1] };
                best[row][column] = without.max(pair);
            }
        }
        let (mut row, mut column, mut pairs) = (0, 0, Vec::new());
        while row < height && column < width {
            let likeness = like(row, column);
            if likeness > 0 && best[row][column] == likeness + best[row + 1][column + 1] {
                pairs.push((some.start + row, blocks.start + column));
                row += 1;
                column += 1;
            } else if best[row][column] == best[row + 1][column] {
                row += 1;
            } else {
                column += 1;
            }
        }
        pairs
    }

    /// The blocks of the open turn: those behind the last user message, if the last response is there and has calls.
    pub(super) fn open_turn(&self) -> std::ops::Range<usize> {
        let end = self.blocks.len();
        let asks = self
            .blocks
            .last()
            .is_some_and(|block| block.message.speaker == Speaker::Ai && !block.message.calls.is_empty());
        if !asks {
            return end..end;
        }
        let user = self.blocks.iter().rposition(|block| block.message.speaker == Speaker::Human);
        user.map_or(0, |user| user + 1)..end
    }

    /// Returns whether no response is between two items in the request.
    pub(super) fn are_neighbours(&self, items: &[JudgedItem<'_>], one: usize, other: usize) -> bool {
        let (first, last) = (one.min(other), one.max(other));
        (first + 1..last).all(|item| items[item].user().is_some() || self.block_of[item].is_none())
    }
}

fn is_user_text(text: &str, items: &[JudgedItem<'_>]) -> bool {
    !text.is_empty() && items.iter().filter_map(JudgedItem::user).any(|user| arrived(user, text))
}

/// From here on a message is an item as it was sent.
const SAME: u32 = 8;

/// How much a message is like an item; 0 if it is not.
fn likeness(item: &JudgedItem<'_>, message: &AgentMessage) -> u32 {
    match &item.kind {
        ItemKind::User(text) => {
            let is_it = message.speaker == Speaker::Human && arrived(text, message.text());
            // What need not be there is back where it is out of its place.
            let weight = if item.may_be_missing { 1 } else { SAME };
            if is_it { weight } else { 0 }
        }
        ItemKind::Response(response) if message.speaker == Speaker::Ai => likeness_of_response(response, message),
        ItemKind::Response(_) => 0,
    }
}

fn likeness_of_response(response: &ResponseFate<'_>, message: &AgentMessage) -> u32 {
    let said = response.said;
    let is_text = arrived(&said.text, message.text());
    if said.calls.is_empty() || message.calls.is_empty() {
        let is_something = !said.text.trim().is_empty();
        return match (said.calls.is_empty(), message.calls.is_empty()) {
            (true, true) if is_text => SAME,
            // All its calls are gone.
            (false, true) if is_text && is_something => 2,
            _ => 0,
        };
    }
    let is_sent = |call: &&super::script::PlannedCall| message.calls.iter().any(|sent| sent.id() == call.id);
    let known = said.calls.iter().filter(is_sent).count();
    let all = known == said.calls.len() && known == message.calls.len();
    let names = |sent: &AgentCall, call: &super::script::PlannedCall| call.name.is_empty() || call.name == sent.name();
    let are_renamed = said.calls.len() == message.calls.len()
        && said.calls.iter().zip(&message.calls).all(|(call, sent)| names(sent, call));
    match (all, is_text) {
        (true, true) => SAME,
        (true, false) => SAME - 2,
        _ if known > 0 => 3 + u32::from(is_text),
        _ if are_renamed && is_text => 3,
        _ => 0,
    }
}

/// For each call of a response its place among those of the message that repeats it.
pub(super) fn sent_calls(calls: &[CallFate<'_>], message: &AgentMessage) -> Vec<Option<usize>> {
    let sent = &message.calls;
    let mut taken = vec![false; sent.len()];
    let mut places: Vec<Option<usize>> = vec![None; calls.len()];
    for (place, call) in places.iter_mut().zip(calls) {
        let is_it = |at: &usize| !taken[*at] && sent[*at].id() == call.said.id;
        if let Some(at) = (0..sent.len()).find(is_it) {
            taken[at] = true;
            *place = Some(at);
        }
    }
    let is_like = |at: usize, call: &CallFate<'_>| call.said.name.is_empty() || sent[at].name() == call.said.name;
    for number in 0..calls.len() {
        if places[number].is_some() {
            continue;
        }
        // A renamed call is in its place, or has the text beside it.
        let same_place =
            (calls.len() == sent.len() && !taken[number] && is_like(number, &calls[number])).then_some(number);
        let args = calls[number].own_args();
        let same_args = || {
            (0..sent.len()).find(|&at| {
                !taken[at]
                    && is_like(at, &calls[number])
                    && calls.iter().all(|call| call.said.id != sent[at].id())
                    && crate::universal::value::equal(&args, &sent[at].args, true)
            })
        };
        places[number] = same_place.or_else(same_args);
        if let Some(at) = places[number] {
            taken[at] = true;
        }
    }
    places
}
