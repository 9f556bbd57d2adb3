//! Defines the plan of a run: the API, the script, and the agent's input.

use crate::Error;
use crate::script::WireTurn;
use crate::session::SessionPlan;
use serde_json::Value;
use threadspec::oracle::Api;
use threadspec_judge::json;
use threadspec_judge::universal::value;

/// The input of an agent, and the model's answers to it.
#[derive(Clone, Debug)]
pub struct RunPlan {
    /// The API that the agent speaks.
    pub api: Api,
    /// True if it is asked to stream.
    pub stream: bool,
    /// True if it is asked to switch the model's thinking on.
    pub reasoning: bool,
    /// The model that it is to name; any will do without one.
    pub model: Option<String>,
    /// The model's answers, one turn for each ask.
    pub turns: Vec<WireTurn>,
    /// The messages that the agent begins with, in the form of op `tools`, marked (`threadspec::surrogates`).
    pub given: Vec<Value>,
    /// The names of the case's tools, marked.
    pub tools: Vec<String>,
    /// The runs of a session, instead of `turns` and `tools`.
    pub session: Option<SessionPlan>,
}

impl RunPlan {
    /// A run of a model that answers these turns, whatever the agent begins with.
    pub fn of_turns(api: Api, turns: Vec<WireTurn>) -> Self {
        let (model, given, tools) = (None, Vec::new(), Vec::new());
        Self { api, stream: false, reasoning: false, model, turns, given, tools, session: None }
    }

    /// The run of a case of op `tools`. How the agent reaches the model is the caller's to add.
    ///
    /// ```
    /// use threadspec::oracle::Api;
    /// use threadspec_provider::RunPlan;
    /// let input = r#"{"messages": [{"type": "human", "content": "Go"}], "model": [{"content": "Done"}], "tools": {"look": ["ok"]}}"#;
    /// let plan = RunPlan::of_case_input(Api::Anthropic, input)?;
    /// assert_eq!((plan.turns.len(), plan.given.len(), plan.tools), (1, 1, vec!["look".to_owned()]));
    /// # Ok::<(), threadspec_provider::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Says what is wrong with the input, and where.
    pub fn of_case_input(api: Api, input: &str) -> Result<Self, Error> {
        let read = value::read(input).map_err(|error| Error::new("", error))?;
        let model = json::member(input, "model").ok_or_else(|| Error::new("model", "it is missing"))?;
        let tools = read["tools"].as_object().into_iter().flat_map(|tools| tools.keys().cloned());
        Ok(Self {
            turns: WireTurn::read_all(&model, "model")?,
            given: json::list(&read["messages"]).to_vec(),
            tools: tools.collect(),
            ..Self::of_turns(api, Vec::new())
        })
    }

    /// All runs of a case of op `session`, which have one key. The model's thinking is to be switched on where the script has some that the
    /// API has, too.
    ///
    /// ```
    /// use threadspec::oracle::Api;
    /// use threadspec_provider::RunPlan;
    /// let input = r#"{"runs": [{"message": "Go", "model": [{"content": "Gone"}]}, {"message": "Well?", "model": [{"content": "Well."}]}]}"#;
    /// let plan = RunPlan::of_session_input(Api::Anthropic, input)?;
    /// assert_eq!((plan.given.len(), plan.session.map(|session| session.runs.len())), (2, Some(2)));
    /// # Ok::<(), threadspec_provider::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Says what is wrong with the input, and where.
    pub fn of_session_input(api: Api, input: &str) -> Result<Self, Error> {
        let session = SessionPlan::of_case_input(input)?;
        let (given, reasoning) = (session.given(), session.thinks(api));
        Ok(Self { given, reasoning, session: Some(session), ..Self::of_turns(api, Vec::new()) })
    }
}
