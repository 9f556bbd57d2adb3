//! Op `session`: the library's sessions, with scripted models and tools. Where a thread is stored, and what time it is, others say.

mod digest;
mod script;
mod tools;

use super::{RawInput, refused};
use crate::json::plain;
use crate::protocol::{Reply, Request};
use digest::image_digest;
use script::CutMeans;
use script::{Script, ScriptedRun};
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use threadspec::session::{ModelReply, ModelRequest, RunEnd, SentMessage, Session, Store, ThreadModel};
use threadspec::surrogates::{marked, repair_surrogates};
use threadspec::{Error, Field};
use tools::{CutTools, ExecutedCall};

/// Plays a session on the thread of a store. If the script kills the process in a run, the reply is [`Reply::Cut`] with the runs up to
/// it; nothing is done in that run behind the kill, and nothing must be done behind it by the caller. The request goes on in another
/// process with the same store.
///
/// The clock gives milliseconds; nothing waits for it.
pub fn play(request: &Request, store: impl Store, clock: impl FnMut() -> u64 + Send + 'static) -> Reply {
    played(request, store, clock).unwrap_or_else(|error| refused(&error))
}

fn played(request: &Request, store: impl Store, clock: impl FnMut() -> u64 + Send + 'static) -> Result<Reply, Error> {
    // No lone surrogate may reach a request (AGENT-ENCODABLE).
    let input = RawInput::read(&repair_surrogates(&request.input))?;
    let Script { agents, mut tools, runs } = Script::read(&Field::root(&input.others, "input"))?;
    let mut session = Session::open(store, agents, clock)?;
    let mut reports = Vec::new();
    for run in runs.into_iter().skip(request.from.unwrap_or(0)) {
        let mut tools = CutTools::new(&mut tools, run.cut.clone());
        reports.push(plain(report(&mut session, run, &mut tools)?));
        if tools.was_cut == Some(CutMeans::Kill) {
            return Ok(Reply::Cut { runs: reports });
        }
    }
    Ok(Reply::Ok(json!({"runs": reports})))
}

/// Plays a run, and says what came of it.
fn report(session: &mut Session<impl Store>, run: ScriptedRun, tools: &mut CutTools<'_>) -> Result<Value, Error> {
    let mut report = Map::new();
    if let Some(compact) = run.compact {
        let mut asked = Vec::new();
        let mut summarize = |messages: &[SentMessage]| {
            asked.push(messages_to_json(messages));
            Ok(compact.summary.clone().unwrap_or_default())
        };
        session.compact(compact.budget, compact.summary.is_some().then_some(&mut summarize))?;
        if !asked.is_empty() {
            report.insert("summaries".to_owned(), asked.into());
        }
    }
    let mut model = TurnModel { turns: run.turns.into(), requests: Vec::new() };
    let end = session.run(run.beginning, run.limit, &mut model, tools)?;
    report.insert("requests".to_owned(), model.requests.into());
    report.insert("executed".to_owned(), tools.executed.iter().map(execution).collect());
    if !session.pending().is_empty() {
        report.insert("pending".to_owned(), session.pending().iter().map(|id| marked(id).into_owned()).collect());
    }
    match end {
        RunEnd::Refused(words) => report.insert("refused".to_owned(), marked(&words).into()),
        RunEnd::Failed(words) => report.insert("failure".to_owned(), marked(&words).into()),
        RunEnd::Answered | RunEnd::Pending | RunEnd::LimitReached | RunEnd::Cancelled => None,
    };
    Ok(report.into())
}

/// A model that answers with the turns of a run, and remembers what it was asked.
struct TurnModel {
    turns: VecDeque<Result<ModelReply, Error>>,
    requests: Vec<Value>,
}

impl ThreadModel for TurnModel {
    fn respond(&mut self, request: &ModelRequest) -> Result<ModelReply, Error> {
        self.requests.push(messages_to_json(&request.messages));
        self.turns.pop_front().unwrap_or_else(|| Err(Error::model_failure("script exhausted")))
    }
}

/// Messages as a reply shows them: images by their digests.
fn messages_to_json(messages: &[SentMessage]) -> Value {
    let message = |sent: &SentMessage| {
        let images = sent.images.iter().map(|image| image_digest(image)).collect();
        SentMessage { images, ..sent.clone() }.to_json()
    };
    messages.iter().map(message).collect()
}

fn execution(executed: &ExecutedCall) -> Value {
    let mut execution = executed.call.to_json();
    if !executed.returned {
        execution["returned"] = false.into();
    }
    execution
}
