//! Plays the script of a session: its model's turns, and tools that return what it says until it cuts the run.

use crate::reference::keyed::KeyedTools;
use crate::script::{CallWish, CutMeans, ScriptAgent, ScriptCall, ScriptCut, ScriptResponse, ScriptSteer, ScriptTurn};
use serde_json::{Map, Value};
use std::collections::VecDeque;
use threadspec::agent::{ToolError, Tools};
use threadspec::session::{
    AgentSpec, Approval, Beginning, ModelReply, ParallelTools, RequestedCall, ToolEvent, ToolOutput, handoff_tool,
};
use threadspec::surrogates::{unmark_surrogates, without_marks};
use threadspec::{Error, ToolCall};

// The script of a session, as the library plays it: in the names of agents, tools and calls and in what people read, each lone surrogate
// is U+FFFD.

/// An agent with its tools.
pub(super) fn agent(agent: ScriptAgent) -> (AgentSpec, KeyedTools) {
    let guarded = agent.tools.iter().filter(|tool| tool.needs_approval).map(|tool| plain(&tool.name)).collect();
    let system = plain(&agent.system.unwrap_or_default());
    (AgentSpec { name: plain(&agent.name), system, guarded }, KeyedTools::of_session(agent.tools))
}

pub(super) fn beginning(beginning: Beginning) -> Beginning {
    let approval = |approval| match approval {
        Approval::Denied { reason } => Approval::Denied { reason: reason.as_deref().map(plain) },
        approved @ Approval::Approved { .. } => approved,
    };
    match beginning {
        Beginning::Message(text) => Beginning::Message(plain(&text)),
        Beginning::Decisions(decisions) => {
            Beginning::Decisions(decisions.into_iter().map(|(id, decision)| (plain(&id), approval(decision))).collect())
        }
        Beginning::Resume => Beginning::Resume,
    }
}

/// Returns the model's answer, or the reason why it fails.
pub(super) fn reply(turn: ScriptTurn) -> Result<ModelReply, Error> {
    match turn {
        ScriptTurn::Failure(message) => Err(Error::model_failure(plain(&message))),
        ScriptTurn::Response(ScriptResponse { content, calls, opaque }) => {
            let content = plain(&content.unwrap_or_default());
            // Opaque parts come back as they are, marks included.
            Ok(ModelReply { content, calls: calls.into_iter().map(requested).collect(), opaque })
        }
    }
}

fn requested(ScriptCall { id, wants }: ScriptCall) -> RequestedCall {
    let (name, arguments) = match wants {
        CallWish::HandOver { agent } => (handoff_tool(&plain(&agent)), String::new()),
        CallWish::Raw { name, arguments } => (plain(&name), plain(&arguments)),
        // Data is marked, and arguments are text.
        CallWish::Tool { name, args } => {
            (plain(&name), unmark_surrogates(&Value::Object(args).to_string()).into_owned())
        }
    };
    RequestedCall { id: plain(&id), name, arguments }
}

pub(super) fn plain(text: &str) -> String {
    without_marks(text).into_owned()
}

// Images as replies name them.

/// The SHA-256 of an image in base64, in hexadecimal. What is no character of base64 is passed over.
pub(super) fn image_digest(base64: &str) -> String {
    let digest = hmac_sha256::Hash::hash(&decoded(base64));
    digest
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

/// The bytes that base64 represents.
fn decoded(base64: &str) -> Vec<u8> {
    let sextet = |character: u8| match character {
        b'A'..=b'Z' => Some(character - b'A'),
        b'a'..=b'z' => Some(character - b'a' + 26),
        b'0'..=b'9' => Some(character - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    };
    let (mut bytes, mut held, mut count) = (Vec::with_capacity(base64.len() / 4 * 3), 0_u32, 0);
    for six in base64.bytes().filter_map(sextet) {
        held = held << 6 | u32::from(six);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.extend((held >> count).to_le_bytes().first());
            held &= (1 << count) - 1;
        }
    }
    bytes
}

// Tools that return what a script says, until it cuts the run.

/// The tools of a run. A call of several tools of one name is that of the agent whose script has a result for it.
pub(super) struct CutTools<'s> {
    pub(super) tools: &'s mut [KeyedTools],
    pub(super) cut: Option<ScriptCut>,
    say: Option<ScriptSteer>,
    under_way: VecDeque<ToolCall>,
    pub(super) executed: Vec<ExecutedCall>,
    /// How the run was cut, if it was.
    pub(super) was_cut: Option<CutMeans>,
}

/// A call that began.
pub(super) struct ExecutedCall {
    pub(super) call: ToolCall,
    pub(super) returned: bool,
}

impl<'s> CutTools<'s> {
    pub(super) fn new(tools: &'s mut [KeyedTools], cut: Option<ScriptCut>, say: Option<ScriptSteer>) -> Self {
        let cut = cut.map(|cut| ScriptCut { during: plain(&cut.during), ..cut });
        let plain_steer =
            |ScriptSteer { during, message }| ScriptSteer { during: plain(&during), message: plain(&message) };
        let say = say.map(plain_steer);
        Self { tools, cut, say, under_way: VecDeque::new(), executed: Vec::new(), was_cut: None }
    }

    fn call(&mut self, call: &ToolCall) -> Result<ToolOutput, ToolError> {
        let has_result = |tools: &&mut KeyedTools| tools.scripted(call).is_some();
        let has_tool = |tools: &&mut KeyedTools| tools.has(&call.name);
        let position = self.tools.iter_mut().position(|tools| has_result(&tools));
        let position = position.or_else(|| self.tools.iter_mut().position(|tools| has_tool(&tools)));
        let result = self.tools[position.ok_or(ToolError::NotFound)?].call(call)?;
        Ok(image(&result).unwrap_or_else(|| ToolOutput::from(&result)))
    }
}

impl ParallelTools for CutTools<'_> {
    fn begin(&mut self, call: &ToolCall) {
        self.executed.push(ExecutedCall { call: call.clone(), returned: false });
        self.under_way.push_back(call.clone());
    }

    /// All calls of a response have begun, and return in their order. The one in which the run is cut does so last, so that every other
    /// has returned before the cut: nobody needs to wait for that.
    fn next(&mut self) -> ToolEvent {
        let is_said = |say: &mut ScriptSteer| self.under_way.iter().any(|call| call.id == say.during);
        if let Some(say) = self.say.take_if(is_said) {
            return ToolEvent::Steered(say.message);
        }
        let is_cut = |call: &ToolCall| self.cut.as_ref().is_some_and(|cut| cut.during == call.id);
        let next = self.under_way.iter().position(|call| !is_cut(call));
        let (Some(call), Some(_)) = (next.and_then(|next| self.under_way.remove(next)), next) else {
            let how = self.cut.take().map_or(CutMeans::Cancel, |cut| cut.how);
            self.was_cut = Some(how);
            return match how {
                CutMeans::Cancel | CutMeans::Kill => ToolEvent::Cancelled,
                CutMeans::Throw => ToolEvent::Threw("the tool threw an exception".to_owned()),
            };
        };
        let result = self.call(&call);
        if let Some(executed) = self.executed.iter_mut().rev().find(|executed| executed.call.id == call.id) {
            executed.returned = true;
        }
        ToolEvent::Returned { call: call.id, result }
    }
}

/// The output of a result that is an image: `{"image": base64, "text"?}`.
fn image(result: &Value) -> Option<ToolOutput> {
    let members: &Map<String, Value> = result.as_object()?;
    let image = members.get("image")?.as_str()?.to_owned();
    let text = match members.get("text") {
        None => String::new(),
        Some(text) => text.as_str()?.to_owned(),
    };
    (members.len() <= 2).then(|| ToolOutput { text, images: vec![image] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_every_length_is_decoded() {
        for (base64, bytes) in
            [("", &b""[..]), ("Zg==", b"f"), ("Zm8=", b"fo"), ("Zm9v", b"foo"), ("-_8\n=", b"\xfb\xff")]
        {
            assert_eq!(decoded(base64), bytes, "{base64}");
        }
        let digest = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae";
        assert_eq!(image_digest("Zm9v"), digest);
    }
}
