//! Makes the ids of the calls of one response distinct.

use crate::Message;
use crate::ids::Ids;
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
pub(crate) fn make_distinct<'a>(response: impl IntoIterator<Item = &'a mut String>, thread: &mut Ids) {
    let response: Vec<&mut String> = response.into_iter().collect();
    for id in &response {
        thread.take(id);
    }
    let mut seen = HashSet::new();
    for id in response {
        if !seen.insert(id.clone()) {
            *id = thread.take_numbered(id, usize::MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renamed(thread: &mut Ids, response: &[&str]) -> Vec<String> {
        let mut ids: Vec<String> = response.iter().map(|id| (*id).to_owned()).collect();
        make_distinct(&mut ids, thread);
        ids
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
