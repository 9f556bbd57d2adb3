//! Defines the plan of each run of a session.

use super::hand_over::hand_over_tool;
use super::script;
use crate::Error;
use crate::script::WireTurn;
use serde_json::{Value, json};
use std::collections::HashSet;
use threadspec::oracle::Api;
use threadspec_apis::ApiRequest;
use threadspec_judge::json::{self, list};
use threadspec_judge::protocol::Speaker;
use threadspec_judge::script::{ScriptAgent, SessionScript};
use threadspec_judge::universal::value;

/// The plan of the runs of a session.
#[derive(Clone, Debug, Default)]
pub struct SessionPlan {
    /// The runs, in order.
    pub runs: Vec<SessionRunPlan>,
    /// The agents; `main` is the first.
    pub agents: Vec<SessionAgentPlan>,
}

/// An agent of a session.
#[derive(Clone, Debug, Default)]
pub struct SessionAgentPlan {
    /// Its name, marked.
    pub name: String,
    /// Its system message, marked.
    pub system: Option<String>,
    /// The names of its tools, marked.
    pub tools: Vec<String>,
}

/// The plan of a run of a session.
#[derive(Clone, Debug, Default)]
pub struct SessionRunPlan {
    /// The user message that it begins with, if it does.
    pub message: Option<String>,
    /// The model's answers, one turn for each ask.
    pub turns: Vec<SessionTurnPlan>,
    /// The answer of a summarizing model, if the thread is compacted before the run.
    pub summary: Option<String>,
}

/// The model's answer to an ask of a session.
#[derive(Clone, Debug, Default)]
pub struct SessionTurnPlan {
    /// As the script has it.
    pub script: Value,
    /// The turn as it is played. The calls that hand over have no names yet.
    pub turn: WireTurn,
    /// The calls that hand over, by their positions, and to which agents.
    pub hand_overs: Vec<(usize, String)>,
    /// The kinds of its opaque parts.
    pub kinds: Vec<String>,
}

impl SessionPlan {
    /// Reads the input of a case of op `session`.
    ///
    /// # Errors
    ///
    /// Says what is wrong with it, and where.
    pub(crate) fn of_case_input(input: &str) -> Result<Self, Error> {
        let read = value::read(input).map_err(|error| Error::new("", error))?;
        let texts = json::member(input, "runs").ok_or_else(|| Error::new("runs", "it is missing"))?;
        let mut runs = script::read_runs(&texts)?;
        for (run, script) in runs.iter_mut().zip(list(&read["runs"])) {
            for (turn, script) in run.turns.iter_mut().zip(list(&script["model"])) {
                turn.script = script.clone();
            }
        }
        let script = SessionScript::read(input).map_err(|error| Error::new("", error))?;
        let agent = |ScriptAgent { name, system, tools }| {
            let tools = tools.into_iter().map(|tool| tool.name).collect();
            SessionAgentPlan { name, system, tools }
        };
        Ok(Self { runs, agents: script.agents.into_iter().map(agent).collect() })
    }

    /// The messages that an agent may repeat: those of the user, and the system messages of the agents of the input.
    pub(crate) fn given(&self) -> Vec<Value> {
        let systems = self.agents.iter().filter_map(|agent| agent.system.as_deref());
        let users = self.runs.iter().filter_map(|run| run.message.as_deref());
        let system = systems.map(|text| json!({"type": "system", "content": text}));
        system.chain(users.map(|text| json!({"type": "human", "content": text}))).collect()
    }

    /// The kinds of opaque parts in the script that an API does not have.
    pub(crate) fn unsaid_kinds(&self, api: Api) -> Vec<&str> {
        let has: &[&str] = match api {
            Api::OpenAiChat => &[],
            Api::OpenAiResponses => &["reasoning"],
            Api::Anthropic => &["thinking", "redacted"],
        };
        let mut seen = HashSet::new();
        self.kinds().filter(|kind| !has.contains(kind) && seen.insert(*kind)).collect()
    }

    /// Returns whether the model thinks, in parts that the API has.
    pub(crate) fn thinks(&self, api: Api) -> bool {
        self.kinds().next().is_some() && self.unsaid_kinds(api).is_empty()
    }

    fn kinds(&self) -> impl Iterator<Item = &str> {
        self.runs.iter().flat_map(|run| &run.turns).flat_map(|turn| &turn.kinds).map(String::as_str)
    }

    /// Returns whether something other than a new message changes what a request begins with: compaction, or another agent.
    pub(crate) fn moves_history(&self) -> bool {
        self.agents.len() > 1 || self.runs.iter().any(|run| run.summary.is_some())
    }

    /// Returns whether a request of a run that compacts is for a summary: it has none of the tools, and none that hands over to another
    /// agent. Where nobody has either, it is the first one of the run and ends with a message that no user has sent.
    pub(crate) fn is_for_summary(&self, run: usize, is_first: bool, request: &ApiRequest) -> bool {
        if self.runs.get(run).is_none_or(|run| run.summary.is_none()) {
            return false;
        }
        let mut tools = self.agents.iter().flat_map(|agent| &agent.tools).peekable();
        if tools.peek().is_none() && self.agents.len() == 1 {
            let last = request.messages.last().filter(|message| message.speaker == Speaker::Human);
            let is_users = |content: &str| self.runs.iter().any(|run| run.message.as_deref() == Some(content));
            return is_first && last.is_some_and(|message| !is_users(&message.content));
        }
        !tools.any(|name| request.tools.iter().any(|tool| tool.name.as_ref() == Some(name)))
            && !self.agents.iter().any(|agent| hand_over_tool(request, &agent.name).is_some())
    }
}

impl SessionTurnPlan {
    /// The turn with the names of the tools that hand over, as the request declares them.
    ///
    /// # Errors
    ///
    /// The agent to which no tool of the request hands over.
    pub(crate) fn said_to(&self, request: &ApiRequest) -> Result<WireTurn, &str> {
        let mut turn = self.turn.clone();
        for (position, agent) in &self.hand_overs {
            let tool = hand_over_tool(request, agent).ok_or(agent.as_str())?;
            if let Some(call) = turn.calls.get_mut(*position) {
                (call.name, call.arguments) = (tool.name, tool.arguments);
            }
        }
        Ok(turn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn request(messages: &Value, tools: &[&str]) -> ApiRequest {
        let declared = |name| json!({"type": "function", "function": {"name": name, "parameters": {"type": "object"}}});
        let tools: Vec<Value> = tools.iter().map(declared).collect();
        let body = json!({"model": "m", "messages": messages, "tools": tools});
        ApiRequest::read(Api::OpenAiChat, &body)
    }

    fn plan(tools: &Value, compaction: &Value) -> SessionPlan {
        let runs = json!([
            {"message": "Add", "model": [{"content": "3"}]},
            {"message": "And now?", "compact": compaction, "model": [{"content": "4"}]},
        ]);
        SessionPlan::of_case_input(&json!({"tools": tools, "runs": runs}).to_string()).expect("a plan")
    }

    #[test]
    fn a_summary_is_asked_for_where_the_script_has_none() {
        let tools = json!({"add": {"byId": {"a1": "3"}}});
        for compaction in [json!({"keepMessages": 1}), json!({"keepMessages": 1, "summary": "They added."})] {
            let plan = plan(&tools, &compaction);
            let asked = request(&json!([{"role": "user", "content": "Summarize: Add, 3"}]), &[]);
            assert!(plan.is_for_summary(1, true, &asked));
            // In a run that compacts, and from no agent that has its tools.
            assert!(!plan.is_for_summary(0, true, &asked));
            assert!(!plan.is_for_summary(
                1,
                true,
                &request(&json!([{"role": "user", "content": "And now?"}]), &["add"])
            ));
            assert!(plan.runs[1].summary.is_some());
        }
    }

    #[test]
    fn where_nobody_has_tools_the_messages_of_the_user_tell() {
        let plan = plan(&json!({}), &json!({"keepMessages": 1}));
        assert!(plan.is_for_summary(
            1,
            true,
            &request(&json!([{"role": "user", "content": "Summarize: Add, 3"}]), &[])
        ));
        for last in [
            json!({"role": "user", "content": "And now?"}),
            json!({"role": "user", "content": "Add"}),
            json!({"role": "assistant", "content": "3"}),
        ] {
            assert!(!plan.is_for_summary(1, true, &request(&json!([last]), &[])));
        }
        assert!(!plan.is_for_summary(1, false, &request(&json!([{"role": "user", "content": "Why?"}]), &[])));
    }
}
