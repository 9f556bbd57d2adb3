//! Decides which items of a thread stay when it is compacted (SESSION-COMPACT, SESSION-COMPACT-WHOLE).

use super::thread::ThreadItem;
use serde_json::Value;

/// How much of a thread stays when it is compacted. The system message and a summary are not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// So many messages.
    Messages(usize),
    /// So many tokens, of which each is taken to have four bytes of the messages' JSON text.
    Tokens(usize),
}

impl Budget {
    fn cost(self, item: &ThreadItem) -> usize {
        if matches!(item, ThreadItem::Summary(_)) {
            return 0;
        }
        let messages = item.messages();
        match self {
            Self::Messages(_) => messages.len(),
            Self::Tokens(_) => {
                messages.iter().map(|message| Value::to_string(&message.to_json()).len().div_ceil(4)).sum()
            }
        }
    }

    fn size(self) -> usize {
        let (Self::Messages(size) | Self::Tokens(size)) = self;
        size
    }
}

/// The positions of the items that stay.
///
/// An item has a response with all its answers, so that nothing is torn. The newest turn keeps its user message and its newest item, whatever
/// the budget: they hold the open round, and what is pending. What the budget leaves is for the items before that, newest first, and
/// then for whole turns, so that no list begins with a response, which some providers refuse.
pub(super) fn kept(items: &[ThreadItem], budget: Budget) -> Vec<usize> {
    let turns = turns(items);
    let Some((newest, earlier)) = turns.split_last() else { return Vec::new() };
    let (begin, end) = (newest.start, newest.end);
    let costs: Vec<usize> = items.iter().map(|item| budget.cost(item)).collect();
    let mut left = budget.size().saturating_sub(costs[begin]);
    let mut first = end;
    while first > begin + 1 && (first == end || costs[first - 1] <= left) {
        first -= 1;
        left = left.saturating_sub(costs[first]);
    }
    let mut kept: Vec<usize> = [begin].into_iter().chain(first..end).collect();
    if first == begin + 1 {
        for turn in earlier.iter().rev() {
            let cost: usize = costs[turn.clone()].iter().sum();
            if cost > left {
                break;
            }
            left -= cost;
            kept.splice(0..0, turn.clone());
        }
    }
    // An earlier summary stays, unless a new one repeats it.
    if matches!(items[0], ThreadItem::Summary(_)) && kept[0] != 0 {
        kept.insert(0, 0);
    }
    kept
}

/// The turns: each begins with a user message or a summary.
fn turns(items: &[ThreadItem]) -> Vec<std::ops::Range<usize>> {
    let is_begin = |position: &usize| *position == 0 || !matches!(items[*position], ThreadItem::Round(_));
    let mut begins: Vec<usize> = (0..items.len()).filter(is_begin).collect();
    begins.push(items.len());
    begins.windows(2).map(|pair| pair[0]..pair[1]).collect()
}
