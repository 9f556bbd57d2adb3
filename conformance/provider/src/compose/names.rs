//! Ids and names that the API refuses are sent in another form. Here they get their own back, so that the judge compares what was sent.

use std::collections::HashMap;
use threadspec::oracle::Api;
use threadspec_apis::WireMessage;
use threadspec_judge::universal::can_be_declared;

/// A call that an agent was given or that the model sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KnownCall {
    pub(super) id: String,
    pub(super) name: String,
}

/// The replacements of ids and of names: one to one.
#[derive(Debug, Default)]
pub(super) struct Renamed {
    ids: OneToOne,
    names: OneToOne,
}

/// Texts that represent others.
#[derive(Debug, Default)]
struct OneToOne {
    own: HashMap<String, String>,
    sent: HashMap<String, String>,
}

impl OneToOne {
    /// Notes that one text was sent for another, unless either represents something else already.
    fn note(&mut self, own: &str, sent: &str) {
        let is_new =
            self.own.get(sent).is_none_or(|other| other == own) && self.sent.get(own).is_none_or(|other| other == sent);
        if is_new {
            self.own.insert(sent.to_owned(), own.to_owned());
            self.sent.insert(own.to_owned(), sent.to_owned());
        }
    }

    fn restore(&self, text: &mut String) {
        if let Some(own) = self.own.get(text) {
            own.clone_into(text);
        }
    }
}

impl Renamed {
    /// Lays the calls of a request beside those that are known, in their order.
    pub(super) fn learn(&mut self, api: Api, known: &[KnownCall], messages: &[WireMessage]) {
        let is_known = |own: &dyn Fn(&KnownCall) -> &str, sent: &str| known.iter().any(|call| own(call) == sent);
        for (call, sent) in known.iter().zip(messages.iter().flat_map(|message| &message.calls)) {
            if call.name != sent.name && can_be_declared(api, &call.name) {
                // Other calls are here.
                return;
            }
            let is_kept = || messages.iter().flat_map(|message| &message.calls).any(|sent| sent.id == call.id);
            // Where another call has it still, it was not its form: the model sent it twice.
            if call.id != sent.id && refuses_id(api, &call.id) && !is_known(&|call| &call.id, &sent.id) && !is_kept() {
                self.ids.note(&call.id, &sent.id);
            }
            if call.name != sent.name && !is_known(&|call| &call.name, &sent.name) {
                self.names.note(&call.name, &sent.name);
            }
        }
    }

    /// Gives the calls and answers of a request their own ids and names back.
    pub(super) fn restore(&self, messages: &mut [WireMessage]) {
        if self.ids.own.is_empty() && self.names.own.is_empty() {
            return;
        }
        for message in messages {
            message.call_id.iter_mut().for_each(|id| self.ids.restore(id));
            for call in &mut message.calls {
                self.ids.restore(&mut call.id);
                self.names.restore(&mut call.name);
            }
        }
    }
}

/// Returns whether the API refuses an id for its form (OAI-CHAT-ID-LEN, OAI-RESP-CALLID-LEN, ANT-ID-PATTERN).
fn refuses_id(api: Api, id: &str) -> bool {
    match api {
        // Older versions take no more.
        Api::OpenAiChat => id.chars().count() > 40,
        Api::OpenAiResponses => id.is_empty() || id.chars().count() > 64,
        Api::Anthropic => !is_plain(id),
    }
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}
