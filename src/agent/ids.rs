//! Makes the ids of the calls of one response distinct.

use crate::ids::Ids;
use crate::{Message, ToolCall};
use std::collections::HashSet;

/// The ids of all calls and results in a list of messages.
pub(super) fn ids_of(messages: &[Message]) -> Ids {
    let mut ids = Ids::default();
    for message in messages {
        for call in message.tool_calls() {
            ids.take(&call.id);
        }
        if let Message::Tool { tool_call_id, .. } = message {
            ids.take(tool_call_id);
        }
    }
    ids
}

/// Makes the ids of one response distinct: the first call keeps its id, each later one with that id gets the first of
/// `<id>_2`, `<id>_3`, … that neither the thread nor the response has (TOOLS-DISTINCT).
pub(super) fn make_distinct(calls: &mut [ToolCall], thread: &mut Ids) {
    for call in &*calls {
        thread.take(&call.id);
    }
    let mut seen = HashSet::new();
    for call in calls {
        if !seen.insert(call.id.clone()) {
            call.id = thread.take_numbered(&call.id, usize::MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;

    fn renamed(thread: &mut Ids, response: &[&str]) -> Vec<String> {
        let call = |id: &&str| ToolCall { id: (*id).to_owned(), name: "t".to_owned(), args: Map::new() };
        let mut calls: Vec<ToolCall> = response.iter().map(call).collect();
        make_distinct(&mut calls, thread);
        calls.into_iter().map(|call| call.id).collect()
    }

    #[test]
    fn a_repeated_id_gets_the_first_number_that_is_free() {
        for (thread, response, expected) in [
            (&[][..], &["c", "d", "c", "c"][..], &["c", "d", "c_2", "c_3"][..]),
            (&[], &["c", "c", "c_2"], &["c", "c_3", "c_2"]),
            (&[], &["c_2", "c", "c", "c_2"], &["c_2", "c", "c_3", "c_2_2"]),
            (&[], &["", ""], &["", "_2"]),
            (&["c", "c_2"], &["c"], &["c"]),
            (&["c_2"], &["c", "c"], &["c", "c_3"]),
        ] {
            let thread: Vec<Message> = thread.iter().map(|id| Message::tool(*id, "")).collect();
            assert_eq!(renamed(&mut ids_of(&thread), response), expected);
        }
    }

    #[test]
    fn later_responses_go_on_counting() {
        let mut ids = Ids::default();
        assert_eq!(renamed(&mut ids, &["c", "c"]), ["c", "c_2"]);
        assert_eq!(renamed(&mut ids, &["c", "c", "c"]), ["c", "c_3", "c_4"]);
    }
}
