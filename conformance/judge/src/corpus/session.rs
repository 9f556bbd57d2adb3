//! Checks the script of a session: each run decides and is cut where it can be, and has turns enough.

use crate::error::Error;
use crate::protocol::{Feature, Features};
use crate::script::{
    CallWish, CutMeans, MAIN, ScriptCall, ScriptCut, ScriptRun, ScriptSteer, ScriptTool, ScriptTurn, SessionScript,
};
use crate::text::count;
use serde_json::Value;
use std::collections::BTreeSet;
use threadspec::session::{Approval, Beginning, OpaqueBlock};

/// The features that the script of a session uses, beside `message`: what its case has to name in `needs`.
///
/// ```
/// use threadspec_judge::corpus::session_features;
/// let script = r#"{"runs":[{"message":"Go","model":[{"error":"down"}]},{"resume":true,"model":[{"content":"x"}]}]}"#;
/// assert_eq!(session_features(script)?.to_string(), "error, resume");
/// # Ok::<(), threadspec_judge::Error>(())
/// ```
///
/// # Errors
///
/// Says what no script has.
pub fn session_features(input: &str) -> Result<Features, Error> {
    Ok(features(&SessionScript::read(input)?))
}

/// Lists the problems of the script of a session, in a sentence each.
///
/// ```
/// use threadspec_judge::corpus::session_problems;
/// let problems = session_problems(r#"{"runs":[{"message":"Go","model":[]}]}"#);
/// assert_eq!(problems, ["run 1 has no turn"]);
/// ```
pub fn session_problems(input: &str) -> Vec<String> {
    match SessionScript::read(input) {
        Ok(script) => problems(&script),
        Err(error) => vec![error.to_string()],
    }
}

fn features(script: &SessionScript) -> Features {
    let mut features = Features::default();
    let mut note = |feature, is_used: bool| {
        if is_used {
            features.insert(feature);
        }
    };
    for tool in script.tools() {
        note(Feature::Approval, tool.needs_approval);
        note(Feature::Image, tool.results().into_iter().any(is_image));
    }
    let parents = script.parents();
    for (place, run) in script.runs.iter().enumerate() {
        let before = std::iter::successors(place.checked_sub(1), |run| parents[*run]);
        let is_left = run.at.map(|at| !before.map(|run| run + 1).any(|run| run == at));
        note(Feature::Rewind, is_left == Some(false));
        note(Feature::Branch, is_left == Some(true));
        note(Feature::Steer, run.say.is_some());
        let how = run.cut.as_ref().map(|cut| cut.how);
        let fails = run.turns.iter().any(|turn| matches!(turn, ScriptTurn::Failure(_)));
        note(Feature::Error, how == Some(CutMeans::Throw) || fails);
        note(Feature::Cancel, how == Some(CutMeans::Cancel));
        note(Feature::Kill, how == Some(CutMeans::Kill));
        note(Feature::Limit, run.limit.is_some());
        note(Feature::Resume, run.beginning == Beginning::Resume);
        if let Beginning::Decisions(decisions) = &run.beginning {
            note(Feature::Approval, true);
            let is_edit = |decision: &Approval| matches!(decision, Approval::Approved { args: Some(_) });
            note(Feature::Edit, decisions.values().any(is_edit));
        }
        note(Feature::Compact, run.compact.is_some());
        note(Feature::Handoff, run.calls().any(|call| matches!(call.wants, CallWish::HandOver { .. })));
        note(Feature::Raw, run.calls().any(|call| matches!(call.wants, CallWish::Raw { .. })));
        let is_opaque = |turn: &ScriptTurn| matches!(turn, ScriptTurn::Response(said) if !said.opaque.is_empty());
        note(Feature::Opaque, run.turns.iter().any(is_opaque));
    }
    features
}

fn problems(script: &SessionScript) -> Vec<String> {
    let mut problems = Vec::new();
    if script.runs.is_empty() {
        problems.push("`runs` is empty".to_owned());
    }
    for tool in script.tools() {
        let wrong = tool.results().into_iter().filter(|result| is_image(result) && !is_sound_image(result));
        if tool.tells_args {
            problems.push(format!("tool `{}` has `args`, which belong in the calls", tool.name));
        }
        problems.extend(wrong.map(|image| format!("tool `{}` gives {image}, which is no image", tool.name)));
    }
    for (place, run) in script.runs.iter().enumerate() {
        let mut found = decision_problems(script, place);
        found.extend(run.at.and_then(|at| place_problem(at, place, script)));
        found.extend(turn_problems(run));
        found.extend(run.calls().filter_map(|call| call_problem(call, script)));
        found.extend(run.say.as_ref().and_then(|say| steer_problem(say, run)));
        found.extend(run.cut.as_ref().and_then(|cut| cut_problem(cut, place, script)));
        problems.extend(found.into_iter().map(|what| format!("run {} {what}", place + 1)));
    }
    problems
}

/// Decisions on calls that nobody made, or that wait for none.
fn decision_problems(script: &SessionScript, place: usize) -> Vec<String> {
    let Beginning::Decisions(decisions) = &script.runs[place].beginning else { return Vec::new() };
    if decisions.is_empty() {
        return vec!["decides on nothing".to_owned()];
    }
    let approved: BTreeSet<&str> =
        script.tools().filter(|tool| tool.needs_approval).map(|tool: &ScriptTool| &*tool.name).collect();
    let wrong = |id: &String| {
        let said: Vec<&ScriptCall> =
            script.runs[..place].iter().flat_map(ScriptRun::calls).filter(|call| call.id == *id).collect();
        let waits = |call: &&ScriptCall| call.name().is_some_and(|name| approved.contains(name));
        if said.is_empty() {
            return Some(format!("decides on `{id}`, which no turn before calls"));
        }
        (!said.iter().any(waits)).then(|| format!("decides on `{id}`, whose tool needs no approval"))
    };
    decisions.keys().filter_map(wrong).collect()
}

/// A place in the thread that is no earlier message of the user.
fn place_problem(at: usize, place: usize, script: &SessionScript) -> Option<String> {
    let has_message = |run: usize| matches!(script.runs[run].beginning, Beginning::Message(_));
    let earlier = at.checked_sub(1).filter(|earlier| *earlier < place);
    (!has_message(place) || !earlier.is_some_and(has_message))
        .then(|| format!("begins at run {at}: one with a message replaces an earlier one with a message"))
}

fn turn_problems(run: &ScriptRun) -> Vec<String> {
    let mut problems = Vec::new();
    let turns = run.turns.len();
    let least = run.limit.map_or(1, |limit| limit.saturating_add(1));
    match run.limit {
        _ if turns >= least => {}
        Some(limit) => {
            problems.push(format!("has {} under a limit of {limit}: at least {least}", count(turns, "turn")));
        }
        None => problems.push("has no turn".to_owned()),
    }
    for (number, turn) in (1..).zip(&run.turns) {
        let said = match turn {
            ScriptTurn::Failure(_) if number < turns => {
                problems.push(format!("has a failing turn {number}, and another one behind it"));
                continue;
            }
            ScriptTurn::Failure(_) => continue,
            ScriptTurn::Response(said) => said,
        };
        if said.content.is_none() && said.calls.is_empty() && said.opaque.is_empty() {
            problems.push(format!("has a turn {number} without `content`, `tool_calls` and `error`"));
        }
        let stray = said.opaque.iter().find_map(|part| match part {
            OpaqueBlock::Signature { call, .. } => {
                Some(call).filter(|id| said.calls.iter().all(|call| call.id != **id))
            }
            _ => None,
        });
        problems.extend(stray.map(|id| format!("has a signature for `{id}`, which its turn {number} does not call")));
    }
    problems
}

fn call_problem(call: &ScriptCall, script: &SessionScript) -> Option<String> {
    let CallWish::HandOver { agent } = &call.wants else { return None };
    let is_known = *agent == MAIN || script.agents.iter().any(|known| known.name == *agent);
    (!is_known).then(|| format!("hands over to `{agent}` by `{}`, and `agents` does not name it", call.id))
}

fn steer_problem(ScriptSteer { during, message }: &ScriptSteer, run: &ScriptRun) -> Option<String> {
    let is_other = |text: &str| text.contains(&**message) || message.contains(text);
    let said = match &run.beginning {
        Beginning::Message(text) => is_other(text),
        Beginning::Decisions(_) | Beginning::Resume => false,
    };
    if run.calls().all(|call| call.id != *during) {
        return Some(format!("has a message during `{during}`, which none of its turns calls"));
    }
    (said || message.trim().is_empty()).then(|| "has a message during a call that is like its first one".to_owned())
}

fn cut_problem(ScriptCut { during, .. }: &ScriptCut, place: usize, script: &SessionScript) -> Option<String> {
    // An approved call of an earlier run begins in a later one.
    let is_said = script.runs[..=place].iter().flat_map(ScriptRun::calls).any(|call| call.id == *during);
    if !is_said {
        return Some(format!("is cut during `{during}`, which no turn calls"));
    }
    (place + 1 == script.runs.len()).then(|| "is cut, and no run comes behind it that could show how".to_owned())
}

fn is_image(result: &Value) -> bool {
    result.as_object().is_some_and(|members| members.contains_key("image"))
}

/// Returns whether it is an image in Base64, and no more than a text beside it.
fn is_sound_image(result: &Value) -> bool {
    let is_base64 = |text: &str| {
        let digits = text.trim_end_matches('=');
        let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/';
        !digits.is_empty()
            && text.len().is_multiple_of(4)
            && text.len() - digits.len() < 3
            && digits.bytes().all(is_digit)
    };
    result.as_object().is_some_and(|members| {
        members.iter().all(|(name, value)| match (&**name, value) {
            ("image", Value::String(text)) => is_base64(text),
            ("text", value) => value.is_string(),
            _ => false,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn good() -> Value {
        json!({
            "system": "Be brief.",
            "tools": {"look": {"byId": {"a": "ra"}}, "pay": {"approval": true, "byId": {"b": "rb"}}, "see": [{"image": "AAAA", "text": "x"}]},
            "agents": {"other": {"system": "You are other.", "tools": {}}},
            "runs": [
                {"message": "Go", "maxRecursionDepth": 1, "cut": {"during": "a", "how": "kill"}, "model": [
                    {"content": "I look.", "opaque": [{"kind": "signature", "call": "a", "data": "s"}],
                     "tool_calls": [{"id": "a", "name": "look", "args": {}}, {"id": "b", "name": "pay", "args": {}}]},
                    {"content": "Done."},
                ]},
                {"decisions": {"b": {"approve": true, "args": {}}}, "compact": {"keepMessages": 2, "summary": "s"}, "model": [
                    {"tool_calls": [{"id": "h", "handoff": "other"}, {"id": "r", "name": "look", "arguments": "{"}]},
                    {"error": "down"},
                ]},
                {"resume": true, "model": [{"content": ""}]},
            ],
        })
    }

    #[test]
    fn a_script_uses_what_it_has() {
        let script = good().to_string();
        assert_eq!(session_problems(&script), [""; 0]);
        let used = "error, kill, limit, resume, approval, edit, compact, handoff, opaque, raw, image";
        assert_eq!(session_features(&script).map(|features| features.to_string()), Ok(used.to_owned()));
        let cancel = r#"{"runs":[{"message":"Go","cut":{"during":"a","how":"cancel"},"model":[{"content":"x"}]}]}"#;
        assert_eq!(session_features(cancel).map(|features| features.to_string()), Ok("cancel".to_owned()));
        let places = |third: usize, fourth: usize| {
            let run = |at: Option<usize>| json!({"message": "Go", "at": at, "model": [{"content": "x"}]});
            json!({"runs": [run(None), run(None), run(Some(third)), run(Some(fourth))]}).to_string()
        };
        for (script, used) in [(places(2, 3), "rewind"), (places(1, 2), "rewind, branch")] {
            assert_eq!(session_problems(&script), [""; 0]);
            assert_eq!(session_features(&script).map(|features| features.to_string()), Ok(used.to_owned()));
        }
    }

    #[test]
    fn what_is_no_script_is_told_in_a_sentence() {
        // Each is a JSON Pointer and what to write there; null removes the member.
        for (pointer, value, says) in [
            ("/runs", json!([]), "`runs` is empty"),
            ("/storage", json!("/tmp"), "storage: unknown, expected one of system, tools"),
            ("/runs/0/kut", json!({}), "runs[0].kut: unknown"),
            ("/runs/0/message", Value::Null, "runs[0]: no beginning, expected one of `message`, `decisions`"),
            ("/runs/0/resume", json!(true), "runs[0]: more than one beginning"),
            ("/runs/2/resume", json!(false), "runs[2].resume: expected true"),
            (
                "/runs/2/at",
                json!(1),
                "run 3 begins at run 1: one with a message replaces an earlier one with a message",
            ),
            ("/runs/0/at", json!(1), "run 1 begins at run 1: one with a message"),
            ("/runs/0/at", json!(0), "run 1 begins at run 0: one with a message"),
            ("/runs/1/compact/tokens", json!(5), "runs[1].compact: expected either `keepMessages` or `tokens`"),
            ("/runs/1/compact/keepMessages", Value::Null, "runs[1].compact: expected either"),
            ("/runs/1/decisions", json!({}), "run 2 decides on nothing"),
            ("/runs/1/decisions/x", json!({"approve": true}), "run 2 decides on `x`, which no turn before calls"),
            ("/runs/1/decisions/h", json!({"approve": true}), "run 2 decides on `h`, which no turn before calls"),
            ("/runs/1/decisions/a", json!({"approve": true}), "run 2 decides on `a`, whose tool needs no approval"),
            ("/runs/1/decisions/b/reason", json!("no"), "runs[1].decisions.b.reason: only a denial has one"),
            ("/runs/1/decisions/b/approve", json!(false), "runs[1].decisions.b.args: only an approval has them"),
            ("/runs/1/decisions/b/approve", json!("yes"), "decisions.b.approve: expected a boolean, found a string"),
            ("/runs/2/model", json!([]), "run 3 has no turn"),
            ("/runs/0/maxRecursionDepth", json!(2), "run 1 has 2 turns under a limit of 2: at least 3"),
            ("/runs/0/model/0/error", json!("x"), "runs[0].model[0]: it fails, and says something all the same"),
            ("/runs/1/model/1/error", Value::Null, "run 2 has a turn 2 without `content`"),
            ("/runs/2/model/0/content", Value::Null, "run 3 has a turn 1 without `content`"),
            ("/runs/0/model/0/opaque/0/call", json!("x"), "run 1 has a signature for `x`, which its turn 1"),
            ("/runs/0/model/0/opaque/0/kind", json!("x"), "opaque[0].kind: expected thinking, redacted"),
            ("/runs/1/model/0/tool_calls/0/handoff", json!("nobody"), "run 2 hands over to `nobody` by `h`"),
            ("/runs/1/model/0/tool_calls/0/args", json!({}), "the arguments of a hand-over are the framework's own"),
            ("/runs/1/model/0/tool_calls/0/handoff", Value::Null, "tool_calls[0].name: missing, expected a string"),
            ("/runs/1/model/0/tool_calls/1/args", json!({}), "tool_calls[1]: expected either `args` or `arguments`"),
            ("/runs/0/cut/during", json!("x"), "run 1 is cut during `x`, which no turn calls"),
            ("/runs/0/cut/how", json!("stop"), "runs[0].cut.how: expected cancel, throw or kill"),
            ("/runs/2/cut", json!({"during": "a", "how": "throw"}), "run 3 is cut, and no run comes behind it"),
            ("/tools/look/approval", json!("yes"), "tools.look.approval: expected a boolean, found a string"),
            ("/tools/look/args", json!({"a": {}}), "tool `look` has `args`, which belong in the calls"),
            ("/tools/look/byArgs", json!([]), "tools.look.byArgs: unknown"),
            ("/tools/see", json!([1, 2]), "tools.see: no result may depend on the order of calls"),
            ("/agents/other/runs", json!([]), "agents.other.runs: unknown"),
            ("/tools/see/0/image", json!("A"), "which is no image"),
            ("/tools/see/0/name", json!("A"), "which is no image"),
        ] {
            let mut script = good();
            let (parent, member) = pointer.rsplit_once('/').expect("a pointer");
            let parent = script.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object");
            match value.clone() {
                Value::Null => drop(parent.remove(member)),
                value => drop(parent.insert(member.to_owned(), value)),
            }
            let found = session_problems(&script.to_string());
            assert!(found.len() == 1 && found[0].contains(says), "{pointer} = {value}: {found:?}");
        }
    }
}
