//! Serves the tools of a script, as the official SDK has servers.

use crate::record::{McpEvent, McpRecord, now};
use crate::script::{McpCall, McpScript, McpTool};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often a call that waits looks whether it may end.
const TICK: Duration = Duration::from_millis(5);
/// How much of arguments is shown, in characters.
const SHOWN: usize = 200;

/// The tools of a script. Copies of it are one server.
#[derive(Clone, Debug)]
pub struct ScriptedServer {
    script: Arc<McpScript>,
    record: Arc<McpRecord>,
    /// Calls that hang end when this file is there.
    release: Option<Arc<PathBuf>>,
    state: Arc<Mutex<PlayState>>,
}

/// How far the script is played.
#[derive(Debug, Default)]
struct PlayState {
    /// How often the first of several equal calls came, by the tool and its position.
    came: HashMap<(String, usize), usize>,
    /// The names of the calls that ended.
    ended: HashSet<String>,
}

impl ScriptedServer {
    /// A server of these tools.
    pub fn new(script: McpScript, record: Arc<McpRecord>, release: Option<PathBuf>) -> Self {
        Self { script: Arc::new(script), record, release: release.map(Arc::new), state: Arc::default() }
    }

    /// Returns what has come so far.
    pub fn record(&self) -> &McpRecord {
        &self.record
    }

    /// The calls of the script that never came, as `tool(arguments)`.
    pub fn missing(&self) -> Vec<String> {
        let is_begun = |tool: &str, position: usize| {
            let came = |event: &McpEvent| matches!(event, McpEvent::Call { tool: own, call: Some(call), .. } if own == tool && *call == position);
            self.record.events().iter().any(came)
        };
        let calls =
            self.script.tools.iter().flat_map(|(name, tool)| {
                tool.calls.iter().enumerate().map(move |(position, call)| (name, position, call))
            });
        calls
            .filter(|(name, position, _)| !is_begun(name, *position))
            .map(|(name, _, call)| shown(name, &call.args))
            .collect()
    }

    fn state(&self) -> MutexGuard<'_, PlayState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The position of the call that comes now: of equal calls the next one, and the last one again and again.
    fn take(&self, name: &str, tool: &McpTool, args: &Map<String, Value>) -> Option<usize> {
        let equal = tool.calls_with(args);
        let first = *equal.first()?;
        let mut state = self.state();
        let came = state.came.entry((name.to_owned(), first)).or_default();
        let position = equal.get(*came).or(equal.last()).copied();
        *came += 1;
        position
    }

    /// Waits until a call may end.
    async fn wait(&self, call: &McpCall) {
        let is_held = || {
            let waits = call.after.as_ref().is_some_and(|after| !self.state().ended.contains(after));
            waits || call.hangs && self.release.as_ref().is_none_or(|file| !file.exists())
        };
        while is_held() {
            tokio::time::sleep(TICK).await;
        }
    }

    async fn called(&self, name: &str, args: Map<String, Value>) -> Result<CallToolResult, ErrorData> {
        let Some(tool) = self.script.tool(name) else {
            self.record.problem(format!("it calls the tool `{name}`, which nobody declared"));
            return Err(ErrorData::invalid_params(format!("Unknown tool: {name}"), None));
        };
        let position = self.take(name, tool, &args);
        self.record.add(McpEvent::Call { at: now(), tool: name.to_owned(), args: args.clone(), call: position });
        let Some((position, call)) = position.and_then(|position| Some((position, tool.calls.get(position)?))) else {
            self.record
                .problem(format!("it calls {}, and the script has no call with these arguments", shown(name, &args)));
            let text = format!("the script has no call of {name} with these arguments");
            return Ok(CallToolResult::error(vec![ContentBlock::text(text)]));
        };
        self.wait(call).await;
        self.state().ended.extend(call.name.clone());
        self.record.add(McpEvent::End { at: now(), tool: name.to_owned(), call: position });
        let text = call.text.iter().map(ContentBlock::text);
        let content = text.chain(call.content.iter().cloned()).collect();
        let mut result = if call.is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
        result.structured_content.clone_from(&call.structured_content);
        Ok(result)
    }
}

impl ServerHandler for ScriptedServer {
    fn get_info(&self) -> ServerConfig {
        let version = env!("CARGO_PKG_VERSION");
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("threadspec", version))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.record.add(McpEvent::List { at: now() });
        let declared = |(name, tool): &(String, McpTool)| {
            let schema = tool.schema().as_object().cloned().unwrap_or_default();
            let description = tool.description.clone().map(Into::into);
            let declared = Tool::new_with_raw(name.clone(), description, Arc::new(schema));
            match &tool.output_schema {
                Some(schema) => declared.with_raw_output_schema(Arc::new(schema.clone())),
                None => declared,
            }
        };
        Ok(ListToolsResult::with_all_items(self.script.tools.iter().map(declared).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.called(&request.name, request.arguments.unwrap_or_default()).await.map(Into::into)
    }
}

/// A call as people read it.
fn shown(name: &str, args: &Map<String, Value>) -> String {
    let args = Value::from(args.clone()).to_string();
    let short: String = args.chars().take(SHOWN).collect();
    let mark = if short.len() < args.len() { "…" } else { "" };
    format!("{name}({short}{mark})")
}
