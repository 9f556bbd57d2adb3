//! The script of a session, the input of op `session`: read once, strictly, for whoever plays, judges, checks or shows it.
//!
//! Ids, names, texts and arguments are data, in which lone surrogates are marked (`threadspec::surrogates`).
//!
//! ```
//! use threadspec_judge::script::{Beginning, SessionScript};
//!
//! let script = SessionScript::read(r#"{"runs": [{"message": "Go", "model": [{"content": "Done."}]}]}"#)?;
//! assert_eq!(script.runs[0].beginning, Beginning::Message("Go".into()));
//! let error = SessionScript::read(r#"{"runs": [{"message": "Go", "model": [{"content": 7}]}]}"#).unwrap_err();
//! assert_eq!(error.to_string(), "runs[0].model[0].content: expected a string, found a number");
//! # Ok::<(), threadspec_judge::Error>(())
//! ```

mod read;

use crate::Error;
use serde_json::{Map, Value};
use strum::{Display, EnumString};

pub use threadspec::session::{Approval, Beginning, Budget, OpaqueBlock};

/// The agent of the input itself.
pub const MAIN: &str = "main";

/// The script of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionScript {
    /// The agents; the first is [`MAIN`].
    pub agents: Vec<ScriptAgent>,
    /// The runs on the thread, in order.
    pub runs: Vec<ScriptRun>,
}

/// An agent of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptAgent {
    /// Its name.
    pub name: String,
    /// Its system message.
    pub system: Option<String>,
    /// The tools that it can call.
    pub tools: Vec<ScriptTool>,
}

/// A tool, and what it gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptTool {
    /// Its name.
    pub name: String,
    /// True if its calls wait for a decision.
    pub needs_approval: bool,
    /// Its results.
    pub results: ScriptResults,
    /// True if the arguments of its calls are beside its results. Over the wire they are, where nothing else describes the calls.
    pub tells_args: bool,
}

/// The results of a tool. Where it gives nothing for a call, that call has an empty result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptResults {
    /// One result for every call, or nothing.
    Always(Option<Value>),
    /// By the ids of the calls.
    ById(Vec<(String, Value)>),
}

/// A run: how it begins, what the model answers in it, and how it is cut off.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptRun {
    /// How it begins.
    pub beginning: Beginning,
    /// Its message replaces that of this run, counted from 1, and all that is behind it.
    pub at: Option<usize>,
    /// The thread is compacted before it.
    pub compact: Option<ScriptCompaction>,
    /// The model's answers; empty where it is asked elsewhere.
    pub turns: Vec<ScriptTurn>,
    /// How many rounds it may have.
    pub limit: Option<usize>,
    /// A message of the user while a call is under way.
    pub say: Option<ScriptSteer>,
    /// The cut that ends it early.
    pub cut: Option<ScriptCut>,
}

/// A message of the user while a call is under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptSteer {
    /// The id of the call.
    pub during: String,
    /// The text.
    pub message: String,
}

/// A compaction of the thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptCompaction {
    /// How much stays.
    pub budget: Budget,
    /// The answer of the summarizing model.
    pub summary: Option<String>,
}

/// A cut that ends a run while a call is under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptCut {
    /// The id of the call.
    pub during: String,
    /// How it ends.
    pub how: CutMeans,
}

/// How a run is cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum CutMeans {
    /// By the framework's means.
    Cancel,
    /// By an exception of the call.
    Throw,
    /// By the end of the process.
    Kill,
}

/// The model's answer to a request.
#[derive(Clone, Debug, PartialEq)]
pub enum ScriptTurn {
    /// It fails with this message.
    Failure(String),
    /// It responds.
    Response(ScriptResponse),
}

/// A response of the model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScriptResponse {
    /// The text.
    pub content: Option<String>,
    /// The calls.
    pub calls: Vec<ScriptCall>,
    /// The parts that only the provider can read.
    pub opaque: Vec<OpaqueBlock>,
}

/// A call of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptCall {
    /// The id to which its answer refers.
    pub id: String,
    /// The demand of the call.
    pub wants: CallWish,
}

/// The demand of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallWish {
    /// A tool, with these arguments.
    Tool {
        /// Its name.
        name: String,
        /// The arguments.
        args: Map<String, Value>,
    },
    /// A tool, with arguments as the model wrote them, which may be no object.
    Raw {
        /// Its name.
        name: String,
        /// The text.
        arguments: String,
    },
    /// Another agent.
    HandOver {
        /// Its name.
        agent: String,
    },
}

impl SessionScript {
    /// Reads an input.
    ///
    /// # Errors
    ///
    /// Names the place where something is missing, of another type, or in nobody's script.
    pub fn read(input: &str) -> Result<Self, Error> {
        let input = crate::json::read(&threadspec::surrogates::mark_surrogates(input))?;
        Self::of(&input).map_err(Error::new)
    }

    /// The script that JSON is, as marked data.
    pub(crate) fn of(input: &Value) -> Result<Self, threadspec::Error> {
        read::script(input)
    }

    /// For each run the one on whose thread it goes on.
    pub fn parents(&self) -> Vec<Option<usize>> {
        let mut parents: Vec<Option<usize>> = Vec::new();
        for (place, run) in self.runs.iter().enumerate() {
            parents.push(match run.at {
                Some(at) => at.checked_sub(1).and_then(|at| parents.get(at).copied().flatten()),
                None => place.checked_sub(1),
            });
        }
        parents
    }

    /// The tools of all agents.
    pub fn tools(&self) -> impl Iterator<Item = &ScriptTool> {
        self.agents.iter().flat_map(|agent| &agent.tools)
    }
}

impl ScriptTurn {
    /// The turn that JSON is, as marked data.
    pub(crate) fn of(turn: &Value) -> Result<Self, threadspec::Error> {
        read::turn(&threadspec::Field::root(turn, "turn"))
    }
}

impl ScriptTool {
    /// Every result that it can give.
    pub fn results(&self) -> Vec<&Value> {
        match &self.results {
            ScriptResults::Always(result) => result.iter().collect(),
            ScriptResults::ById(results) => results.iter().map(|(_, result)| result).collect(),
        }
    }
}

impl ScriptRun {
    /// The calls of its turns.
    pub fn calls(&self) -> impl Iterator<Item = &ScriptCall> {
        self.turns.iter().flat_map(|turn| match turn {
            ScriptTurn::Failure(_) => &[],
            ScriptTurn::Response(response) => &response.calls[..],
        })
    }
}

impl ScriptCall {
    /// The tool; `None` for a hand-over, whose tool is the framework's own.
    pub fn name(&self) -> Option<&str> {
        match &self.wants {
            CallWish::Tool { name, .. } | CallWish::Raw { name, .. } => Some(name),
            CallWish::HandOver { .. } => None,
        }
    }
}
