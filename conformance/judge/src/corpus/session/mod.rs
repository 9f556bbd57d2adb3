//! Whether the script of a session is one: each run begins once, decides and is cut where it can be, and has turns enough.

mod script;

use crate::error::Error;
use crate::protocol::{Feature, Features};
use crate::text::count;
use script::{Call, Cut, Decision, How, Opaque, Run, Script, Turn};
use serde_json::Value;
use std::collections::BTreeSet;

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
    Ok(features(&Script::read(input)?))
}

/// What is wrong with the script of a session, in a sentence each.
///
/// ```
/// use threadspec_judge::corpus::session_problems;
/// let problems = session_problems(r#"{"runs":[{"message":"Go","resume":true,"model":[{"content":"x"}]}]}"#);
/// assert_eq!(problems, ["run 1 has two beginnings: `message` and `resume`"]);
/// ```
pub fn session_problems(input: &str) -> Vec<String> {
    match Script::read(input) {
        Ok(script) => problems(&script),
        Err(error) => vec![error.to_string()],
    }
}

fn features(script: &Script) -> Features {
    let mut features = Features::default();
    let mut note = |feature, is_used: bool| {
        if is_used {
            features.insert(feature);
        }
    };
    for (_, tool) in script.all_tools() {
        note(Feature::Approval, tool.needs_approval());
        note(Feature::Image, tool.results().into_iter().any(is_image));
    }
    for run in &script.runs {
        let how = run.cut.as_ref().map(|cut| cut.how);
        note(Feature::Error, how == Some(How::Throw) || run.model.iter().any(|turn| turn.error.is_some()));
        note(Feature::Cancel, how == Some(How::Cancel));
        note(Feature::Kill, how == Some(How::Kill));
        note(Feature::Limit, run.max_recursion_depth.is_some());
        note(Feature::Resume, run.resume.is_some());
        note(Feature::Approval, run.decisions.is_some());
        note(Feature::Edit, run.decisions.iter().flat_map(|all| all.values()).any(|one| one.args.is_some()));
        note(Feature::Compact, run.compact.is_some());
        note(Feature::Handoff, run.calls().any(|call| call.handoff.is_some()));
        note(Feature::Raw, run.calls().any(|call| call.arguments.is_some()));
        note(Feature::Opaque, run.model.iter().any(|turn| !turn.opaque.is_empty()));
    }
    features
}

fn problems(script: &Script) -> Vec<String> {
    let mut problems = Vec::new();
    if script.runs.is_empty() {
        problems.push("`runs` is empty".to_owned());
    }
    for (name, tool) in script.all_tools() {
        let wrong = tool.results().into_iter().filter(|result| is_image(result) && !is_sound_image(result));
        problems.extend(wrong.map(|image| format!("tool `{name}` gives {image}, which is no image")));
    }
    for (place, run) in script.runs.iter().enumerate() {
        let mut found = beginning_problems(run);
        found.extend(decision_problems(script, place));
        found.extend(turn_problems(run));
        found.extend(run.calls().filter_map(|call| call_problem(call, script)));
        found.extend(run.cut.as_ref().and_then(|cut| cut_problem(cut, place, script)));
        problems.extend(found.into_iter().map(|what| format!("run {} {what}", place + 1)));
    }
    problems
}

fn beginning_problems(run: &Run) -> Vec<String> {
    let mut problems = Vec::new();
    let begins =
        [("message", run.message.is_some()), ("decisions", run.decisions.is_some()), ("resume", run.resume.is_some())];
    let begins: Vec<String> =
        begins.iter().filter(|(_, is_there)| *is_there).map(|(name, _)| format!("`{name}`")).collect();
    match &begins[..] {
        [] => problems.push("has no beginning: one of `message`, `decisions` and `resume`".to_owned()),
        [_] => {}
        [one, other] => problems.push(format!("has two beginnings: {one} and {other}")),
        _ => problems.push(format!("has three beginnings: {}", begins.join(", "))),
    }
    if run.resume == Some(false) {
        problems.push("has a `resume` that is not true".to_owned());
    }
    if run.compact.as_ref().is_some_and(|budget| budget.keep_messages.is_some() == budget.tokens.is_some()) {
        problems.push("compacts to no budget, or to two: one of `keepMessages` and `tokens`".to_owned());
    }
    problems
}

/// Decisions on calls that nobody made, or that wait for none.
fn decision_problems(script: &Script, place: usize) -> Vec<String> {
    let Some(decisions) = &script.runs[place].decisions else { return Vec::new() };
    if decisions.is_empty() {
        return vec!["decides on nothing".to_owned()];
    }
    let approved: BTreeSet<&String> =
        script.all_tools().filter(|(_, tool)| tool.needs_approval()).map(|(name, _)| name).collect();
    let wrong = |(id, decision): (&String, &Decision)| {
        let said: Vec<&Call> = script.runs[..place].iter().flat_map(Run::calls).filter(|call| call.id == *id).collect();
        let waits = |call: &&Call| call.name.as_ref().is_some_and(|name| approved.contains(name));
        match decision {
            _ if said.is_empty() => Some(format!("decides on `{id}`, which no turn before calls")),
            _ if !said.iter().any(waits) => Some(format!("decides on `{id}`, whose tool needs no approval")),
            Decision { approve: false, args: Some(_), .. } => Some(format!("denies `{id}`, and gives it `args`")),
            Decision { approve: true, reason: Some(_), .. } => Some(format!("approves `{id}`, and gives a `reason`")),
            _ => None,
        }
    };
    decisions.iter().filter_map(wrong).collect()
}

fn turn_problems(run: &Run) -> Vec<String> {
    let mut problems = Vec::new();
    let turns = run.model.len();
    let least = run.max_recursion_depth.map_or(1, |limit| limit.saturating_add(1));
    match run.max_recursion_depth {
        _ if turns >= least => {}
        Some(limit) => {
            problems.push(format!("has {} under a limit of {limit}: at least {least}", count(turns, "turn")));
        }
        None => problems.push("has no turn".to_owned()),
    }
    for (number, turn) in (1..).zip(&run.model) {
        let Turn { error, content, tool_calls, opaque } = turn;
        let says = content.is_some() || !tool_calls.is_empty() || !opaque.is_empty();
        if error.is_some() && (says || number < turns) {
            problems.push(format!("has a failing turn {number} that says something, or has another one behind it"));
        } else if error.is_none() && !says {
            problems.push(format!("has a turn {number} without `content`, `tool_calls` and `error`"));
        }
        let stray = opaque.iter().find_map(|part| match part {
            Opaque::Signature { call, .. } => Some(call).filter(|id| tool_calls.iter().all(|call| call.id != **id)),
            _ => None,
        });
        problems.extend(stray.map(|id| format!("has a signature for `{id}`, which its turn {number} does not call")));
    }
    problems
}

fn call_problem(call: &Call, script: &Script) -> Option<String> {
    let Call { id, name, args, arguments, handoff } = call;
    match (name, handoff) {
        (None, None) => Some(format!("has a call `{id}` without a `name` and a `handoff`")),
        (None, Some(agent)) if agent != MAIN && !script.agents.contains_key(agent) => {
            Some(format!("hands over to `{agent}` by `{id}`, and `agents` does not name it"))
        }
        (_, Some(_)) if name.is_some() || args.is_some() || arguments.is_some() => {
            Some(format!("has a hand-over `{id}` with a name or arguments, which are the framework's own"))
        }
        (Some(_), None) if args.is_some() && arguments.is_some() => {
            Some(format!("has a call `{id}` with both `args` and `arguments`"))
        }
        _ => None,
    }
}

/// The name of the agent of the input itself.
const MAIN: &str = "main";

fn cut_problem(Cut { during, .. }: &Cut, place: usize, script: &Script) -> Option<String> {
    // An approved call of an earlier run begins in a later one.
    let is_said = script.runs[..=place].iter().flat_map(Run::calls).any(|call| call.id == *during);
    if !is_said {
        return Some(format!("is cut during `{during}`, which no turn calls"));
    }
    (place + 1 == script.runs.len()).then(|| "is cut, and no run comes behind it that could show how".to_owned())
}

fn is_image(result: &Value) -> bool {
    result.as_object().is_some_and(|members| members.contains_key("image"))
}

/// Whether it is an image in Base64, and no more than a text beside it.
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
    }

    #[test]
    fn what_is_no_script_is_told_in_a_sentence() {
        // Each is a JSON Pointer and what to write there; null removes the member.
        for (pointer, value, says) in [
            ("/runs", json!([]), "`runs` is empty"),
            ("/storage", json!("/tmp"), "unknown field `storage`"),
            ("/runs/0/kut", json!({}), "unknown field `kut`"),
            ("/runs/0/message", Value::Null, "run 1 has no beginning: one of `message`, `decisions` and `resume`"),
            ("/runs/0/resume", json!(true), "run 1 has two beginnings: `message` and `resume`"),
            ("/runs/2/resume", json!(false), "run 3 has a `resume` that is not true"),
            ("/runs/1/compact/tokens", json!(5), "run 2 compacts to no budget, or to two"),
            ("/runs/1/compact/keepMessages", Value::Null, "run 2 compacts to no budget, or to two"),
            ("/runs/1/decisions", json!({}), "run 2 decides on nothing"),
            ("/runs/1/decisions/x", json!({"approve": true}), "run 2 decides on `x`, which no turn before calls"),
            ("/runs/1/decisions/h", json!({"approve": true}), "run 2 decides on `h`, which no turn before calls"),
            ("/runs/1/decisions/a", json!({"approve": true}), "run 2 decides on `a`, whose tool needs no approval"),
            ("/runs/1/decisions/b/reason", json!("no"), "run 2 approves `b`, and gives a `reason`"),
            ("/runs/1/decisions/b/approve", json!(false), "run 2 denies `b`, and gives it `args`"),
            ("/runs/1/decisions/b/approve", json!("yes"), "invalid type"),
            ("/runs/2/model", json!([]), "run 3 has no turn"),
            ("/runs/0/maxRecursionDepth", json!(2), "run 1 has 2 turns under a limit of 2: at least 3"),
            ("/runs/0/model/0/error", json!("x"), "run 1 has a failing turn 1 that says something"),
            ("/runs/2/model/0/content", Value::Null, "run 3 has a turn 1 without `content`"),
            ("/runs/0/model/0/opaque/0/call", json!("x"), "run 1 has a signature for `x`, which its turn 1"),
            ("/runs/0/model/0/opaque/0/kind", json!("x"), "unknown variant `x`"),
            ("/runs/1/model/0/tool_calls/0/handoff", json!("nobody"), "run 2 hands over to `nobody` by `h`"),
            ("/runs/1/model/0/tool_calls/0/args", json!({}), "run 2 has a hand-over `h` with a name or arguments"),
            ("/runs/1/model/0/tool_calls/0/handoff", Value::Null, "run 2 has a call `h` without a `name`"),
            ("/runs/1/model/0/tool_calls/1/args", json!({}), "run 2 has a call `r` with both `args` and `arguments`"),
            ("/runs/0/cut/during", json!("x"), "run 1 is cut during `x`, which no turn calls"),
            ("/runs/0/cut/how", json!("stop"), "unknown variant `stop`"),
            ("/runs/2/cut", json!({"during": "a", "how": "throw"}), "run 3 is cut, and no run comes behind it"),
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
