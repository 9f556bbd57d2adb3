//! Holds three mutants, for those who want to see a finding. `threadspec-mutants`, which is part of the repository, has thousands.

use serde_json::Value;
use threadspec_judge::protocol::{Hello, Implementation, Op, Reply, Request};
use threadspec_judge::reference::Reference;

/// A mutant: its change of an output of the reference.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bug {
    /// In kebab-case, telling the mechanism.
    pub(crate) name: &'static str,
    plant: fn(Op, &mut Value),
}

/// The bugs that `threadspec serve --bug` knows.
pub(crate) const BUGS: [Bug; 3] = [
    Bug { name: "ampersand-escaped-last", plant: escape_ampersands_last },
    Bug { name: "requests-share-one-list", plant: share_one_list },
    Bug { name: "tool-results-dropped", plant: drop_tool_results },
];

/// `<` becomes `&lt;`, and that `&amp;lt;`.
fn escape_ampersands_last(op: Op, output: &mut Value) {
    if let (Op::Escape | Op::Serialize, Value::String(text)) = (op, output) {
        *text = text.replace("&amp;", "&").replace('&', "&amp;");
    }
}

/// The list of messages is sent without being copied, so that what comes later is seen in earlier requests.
fn share_one_list(op: Op, output: &mut Value) {
    if op != Op::Tools {
        return;
    }
    if let Some(requests) = output.get_mut("requests").and_then(Value::as_array_mut)
        && let Some(last) = requests.last().cloned()
    {
        requests.fill(last);
    }
}

/// The message builder does not know tool results.
fn drop_tool_results(op: Op, output: &mut Value) {
    if let (Op::Messages, Value::Array(messages)) = (op, output) {
        messages.retain(|message| message["type"] != "tool");
    }
}

impl Implementation for Bug {
    fn hello(&self) -> Hello {
        Reference.hello()
    }

    fn answer(&mut self, request: &Request) -> Reply {
        let mut reply = Reference.answer(request);
        if let Reply::Ok(output) = &mut reply {
            (self.plant)(request.op, output);
        }
        reply
    }
}
