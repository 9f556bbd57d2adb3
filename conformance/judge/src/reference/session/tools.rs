//! Tools that return what a script says, until it cuts the run.

use super::script::plain;
use crate::reference::keyed::KeyedTools;
use crate::script::{CutMeans, ScriptCut};
use serde_json::{Map, Value};
use std::collections::VecDeque;
use threadspec::ToolCall;
use threadspec::agent::{ToolError, Tools};
use threadspec::session::{ParallelTools, ToolEvent, ToolOutput};

/// The tools of a run. A call of several tools of one name is that of the agent whose script has a result for it.
pub(super) struct CutTools<'s> {
    pub(super) tools: &'s mut [KeyedTools],
    pub(super) cut: Option<ScriptCut>,
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
    pub(super) fn new(tools: &'s mut [KeyedTools], cut: Option<ScriptCut>) -> Self {
        let cut = cut.map(|cut| ScriptCut { during: plain(&cut.during), ..cut });
        Self { tools, cut, under_way: VecDeque::new(), executed: Vec::new(), was_cut: None }
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
