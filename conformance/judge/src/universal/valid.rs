//! Checks whether every provider accepts a list of messages.

use super::message::{AgentMessage, Conversation, Speaker};
use threadspec::surrogates::without_marks;

/// A fault of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListFault {
    /// The message, counted from 0.
    pub(crate) index: usize,
    /// True if it is about calls and their answers, rather than about a single message.
    pub(crate) pairing: bool,
    pub(crate) what: String,
}

/// Everything that is wrong with a list; system messages may be anywhere.
pub(crate) fn faults(messages: &[AgentMessage]) -> Vec<ListFault> {
    let conversation = Conversation::of(messages);
    let mut faults = Vec::new();
    // The calls of the group that is open: id, where, and whether it was answered.
    let mut open: Vec<(&str, usize, bool)> = Vec::new();
    for placed in &conversation.rest {
        let mut fault = |index, pairing, what: String| faults.push(ListFault { index, pairing, what });
        let message = placed.message;
        if message.speaker == Speaker::Tool {
            match &message.call_id {
                None => {
                    fault(placed.index, false, "it answers a call, but has no `tool_call_id`".into());
                    // Any call may be the one that it answers.
                    if let Some((_, _, answered)) = open.iter_mut().find(|(_, _, answered)| !answered) {
                        *answered = true;
                    }
                }
                Some(id) => match open.iter_mut().find(|(open, _, _)| open == id) {
                    None => fault(
                        placed.index,
                        true,
                        format!("it answers `{}`, which is no call of the message before", without_marks(id)),
                    ),
                    Some((_, _, true)) => {
                        fault(placed.index, true, format!("it answers `{}` a second time", without_marks(id)));
                    }
                    Some((_, _, answered)) => *answered = true,
                },
            }
        } else {
            for (id, index, _) in open.drain(..).filter(|(_, _, answered)| !answered) {
                fault(index, true, format!("its call `{}` is not answered directly behind it", without_marks(id)));
            }
            for (position, call) in message.calls.iter().enumerate() {
                if call.id.is_none() {
                    fault(placed.index, false, format!("its call {} has no `id`", position + 1));
                } else if message.calls[..position].iter().any(|other| other.id == call.id) {
                    fault(placed.index, false, format!("two of its calls have the id `{}`", without_marks(call.id())));
                }
                if call.name.is_none() {
                    fault(placed.index, false, format!("its call {} has no `name`", position + 1));
                }
                if !call.args.is_object() {
                    fault(placed.index, false, format!("the arguments of its call {} are no object", position + 1));
                }
            }
            open.extend(message.calls.iter().map(|call| (call.id(), placed.index, false)));
        }
        if message.content.is_none() && message.calls.is_empty() {
            fault(placed.index, false, "its content is null, which only a message with calls may have".into());
        }
    }
    for (id, index, _) in open.into_iter().filter(|(_, _, answered)| !answered) {
        faults.push(ListFault {
            index,
            pairing: true,
            what: format!("its call `{}` is not answered", without_marks(id)),
        });
    }
    for placed in conversation.systems.iter().filter(|placed| placed.message.content.is_none()) {
        faults.push(ListFault { index: placed.index, pairing: false, what: "its content is null".into() });
    }
    faults
}
