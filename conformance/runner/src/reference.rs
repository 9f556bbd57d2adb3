//! The reference with its sessions, which are stored on disk.

use crate::testee::InProcess;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};
use threadspec::session::FileStore;
use threadspec_judge::protocol::{
    Features, Hello, Implementation, Op, RejectKind, Reply, Request, Saves, SessionAbilities,
};
use threadspec_judge::reference::{Reference, SessionModel, play, play_with};
use threadspec_judge::universal::Abilities;

/// The name of the file in the storage folder of a session.
const FILE: &str = "thread.jsonl";

/// The reference as a testee for every operation. It remembers nothing: a session is in its storage folder alone.
#[derive(Debug, Default)]
pub struct StoredReference;

impl StoredReference {
    /// The reference as a testee, which is asked on all processors.
    pub fn testee() -> InProcess<Self> {
        InProcess::new(Self).with_twins(|| Box::new(InProcess::new(Self)))
    }

    /// The reply line to a request of op `session` whose model is not in its input.
    pub fn line_with(&self, request: &Request, model: &mut dyn SessionModel) -> String {
        Self::session(request, |store| play_with(request, store, milliseconds, model)).line(request.id)
    }

    fn session(request: &Request, play: impl FnOnce(FileStore) -> Reply) -> Reply {
        let rejected = |message: String| Reply::Reject { kind: RejectKind::InvalidInput, message };
        let Some(folder) = &request.storage else {
            return rejected("storage: missing, expected the path of a folder".to_owned());
        };
        match FileStore::open(Path::new(folder).join(FILE)) {
            Ok(store) => play(store),
            Err(error) => rejected(format!("storage: {error}")),
        }
    }

    fn scripted(request: &Request) -> Reply {
        Self::session(request, |store| play(request, store, milliseconds))
    }
}

/// The milliseconds since 1970.
fn milliseconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

impl Implementation for StoredReference {
    fn hello(&self) -> Hello {
        let hello = Reference.hello();
        let session = SessionAbilities { features: Features::all(), saves: Saves::Call, both_systems: false };
        Hello { ops: Op::all().collect(), abilities: Abilities { session, ..hello.abilities }, ..hello }
    }

    fn answer(&mut self, request: &Request) -> Reply {
        if request.op == Op::Session { Self::scripted(request) } else { Reference.answer(request) }
    }

    fn line(&mut self, request: &Request) -> String {
        if request.op == Op::Session { Self::scripted(request).line(request.id) } else { Reference.line(request) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Testee;
    use serde_json::{Value, json};
    use threadspec_judge::protocol::JudgeProfile;
    use threadspec_judge::verdict::Outcome;

    fn runs(input: &Value) -> Value {
        let mut testee = InProcess::new(StoredReference);
        testee.send(&Request::new(7, Op::Session, JudgeProfile::Universal, input.to_string()));
        match testee.receive() {
            (7, Outcome::Reply(Reply::Ok(mut output))) => output["runs"].take(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_killed_process_leaves_what_had_returned() {
        let calls: Vec<Value> = ["a", "b", "c"].map(|id| json!({"id": id, "name": "look", "args": {}})).into();
        let runs = runs(&json!({
            "system": "Be brief.",
            "tools": {"look": {"byId": {"a": "ra", "b": "rb", "c": "rc"}}},
            "runs": [
                {"message": "Go", "cut": {"during": "b", "how": "kill"}, "model": [{"tool_calls": calls}]},
                {"message": "And?", "model": [{"content": "Cut."}]},
            ],
        }));
        let execution = |id, returned: Option<bool>| match returned {
            None => json!({"id": id, "name": "look", "args": {}}),
            Some(returned) => json!({"id": id, "name": "look", "args": {}, "returned": returned}),
        };
        assert_eq!(
            runs[0]["executed"],
            json!([execution("a", None), execution("b", Some(false)), execution("c", None)])
        );
        let request = runs[1]["requests"][0].as_array().expect("a request");
        let texts: Vec<&str> = request.iter().filter_map(|message| message["content"].as_str()).collect();
        assert_eq!((&texts[..4], &texts[5..]), (&["Be brief.", "Go", "", "ra"][..], &["rc", "And?"][..]));
        assert!(texts[4].starts_with("Interrupted"), "{texts:?}");
    }

    #[test]
    fn the_example_of_the_specification_is_played() {
        let runs = runs(&json!({
            "system": "Be brief.",
            "tools": {"look": {"byId": {"a": "ra", "c": "rc"}}, "pay": {"approval": true, "byId": {"b": "rb"}}},
            "runs": [
                {"message": "Go", "model": [{"content": "I look.", "tool_calls": [
                    {"id": "a", "name": "look", "args": {}}, {"id": "b", "name": "pay", "args": {"n": 1}}]}]},
                {"decisions": {"b": {"approve": true}}, "model": [{"content": "Paid."}]},
                {"message": "Thanks", "model": [{"content": "Bye."}]},
            ],
        }));
        let (look, pay) =
            (json!({"id": "a", "name": "look", "args": {}}), json!({"id": "b", "name": "pay", "args": {"n": 1}}));
        let mut thread = vec![
            json!({"type": "system", "content": "Be brief."}),
            json!({"type": "human", "content": "Go"}),
            json!({"type": "ai", "content": "I look.", "tool_calls": [look, pay]}),
            json!({"type": "tool", "content": "ra", "tool_call_id": "a"}),
            json!({"type": "tool", "content": "rb", "tool_call_id": "b"}),
        ];
        assert_eq!(runs[0], json!({"requests": [thread[..2]], "executed": [look], "pending": ["b"]}));
        assert_eq!(runs[1], json!({"requests": [thread], "executed": [pay]}));
        thread.extend([json!({"type": "ai", "content": "Paid."}), json!({"type": "human", "content": "Thanks"})]);
        assert_eq!(runs[2], json!({"requests": [thread], "executed": []}));
    }
}
