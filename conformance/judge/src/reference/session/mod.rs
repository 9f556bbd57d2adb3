//! Op `session`: the library's sessions, with scripted models and tools. Where a thread is stored, and what time it is, others say.

mod script;

use super::{RawInput, refused};
use crate::json::plain;
use crate::protocol::{Reply, Request};
use crate::script::{CutMeans, ScriptCompaction, ScriptRun, SessionScript};
use script::image_digest;
use script::{CutTools, ExecutedCall};
use serde_json::{Value, json};
use std::collections::VecDeque;
use threadspec::session::{Beginning, ModelReply, ModelRequest, RunEnd, SentMessage, Session, Store, ThreadModel};
use threadspec::surrogates::{marked, repair_surrogates};
use threadspec::{Error, Message};

/// Plays a session on the thread of a store. If the script kills the process in a run, the reply is [`Reply::Cut`] with the runs up to
/// it; nothing is done in that run behind the kill, and nothing must be done behind it by the caller. The request goes on in another
/// process with the same store.
///
/// The clock gives milliseconds; nothing waits for it.
pub fn play(request: &Request, store: impl Store, clock: impl FnMut() -> u64 + Send + 'static) -> Reply {
    played(request, store, clock, None).unwrap_or_else(|error| refused(&error))
}

/// A model that the input does not script, and that learns of each run.
pub trait SessionModel: ThreadModel {
    /// A run begins, counted from 1.
    fn begin_run(&mut self, run: usize);
}

/// As [`play`], with a model that the input does not script. What it was asked is not reported.
pub fn play_with(
    request: &Request,
    store: impl Store,
    clock: impl FnMut() -> u64 + Send + 'static,
    model: &mut dyn SessionModel,
) -> Reply {
    played(request, store, clock, Some(model)).unwrap_or_else(|error| refused(&error))
}

fn played(
    request: &Request,
    store: impl Store,
    clock: impl FnMut() -> u64 + Send + 'static,
    mut model: Option<&mut dyn SessionModel>,
) -> Result<Reply, Error> {
    // No lone surrogate may reach a request (AGENT-ENCODABLE).
    let input = RawInput::read(&repair_surrogates(&request.input))?;
    let SessionScript { agents, runs } = SessionScript::of(&input.others)?;
    let (agents, mut tools): (Vec<_>, Vec<_>) = agents.into_iter().map(script::agent).unzip();
    let mut session = Session::open(store, agents, clock)?;
    let mut reports = Vec::new();
    // How many messages the user has sent with each run.
    let count = |sent: &mut usize, run: &ScriptRun| {
        *sent += usize::from(matches!(run.beginning, Beginning::Message(_)));
        Some(*sent)
    };
    let messages: Vec<usize> = runs.iter().scan(0, count).collect();
    for (number, run) in (1..).zip(runs).skip(request.from.unwrap_or(0)) {
        let mut tools = CutTools::new(&mut tools, run.cut.clone(), run.say.clone());
        if let Some(at) = run.at {
            session.rewind(messages.get(at.wrapping_sub(1)).copied().unwrap_or_default())?;
        }
        let report = match &mut model {
            None => report(&mut session, run, &mut tools)?,
            Some(model) => {
                model.begin_run(number);
                report_with(&mut session, run, &mut tools, &mut **model)?
            }
        };
        reports.push(plain(report));
        if tools.was_cut == Some(CutMeans::Kill) {
            return Ok(Reply::Cut { runs: reports });
        }
    }
    Ok(Reply::Ok(json!({"runs": reports})))
}

/// Plays a run with the model of the script, and says what came of it.
fn report(session: &mut Session<impl Store>, run: ScriptRun, tools: &mut CutTools<'_>) -> Result<Value, Error> {
    let mut asked = Vec::new();
    if let Some(ScriptCompaction { budget, summary }) = run.compact {
        let mut summarize = |messages: &[SentMessage]| {
            asked.push(messages_to_json(messages));
            Ok(script::plain(summary.as_deref().unwrap_or_default()))
        };
        session.compact(budget, summary.is_some().then_some(&mut summarize))?;
    }
    let mut model = TurnModel { turns: run.turns.into_iter().map(script::reply).collect(), requests: Vec::new() };
    let end = session.run(script::beginning(run.beginning), run.limit, &mut model, tools)?;
    let mut report = report_of(session, &end, tools, &model.requests);
    if !asked.is_empty() {
        report["summaries"] = asked.into();
    }
    Ok(report)
}

/// Plays a run with another model, which also summarizes.
fn report_with(
    session: &mut Session<impl Store>,
    run: ScriptRun,
    tools: &mut CutTools<'_>,
    model: &mut dyn SessionModel,
) -> Result<Value, Error> {
    if let Some(ScriptCompaction { budget, summary }) = run.compact {
        let mut summarize = |messages: &[SentMessage]| {
            let told: Vec<String> = messages.iter().map(|sent| plain(sent.message.to_json()).to_string()).collect();
            let task = Message::human(format!("Summarize this conversation:\n{}", told.join("\n")));
            // It is no agent of the session, and has none of their tools.
            let request = ModelRequest { agent: String::new(), messages: vec![task.into()] };
            model.respond(&request).map(|reply| reply.content)
        };
        match session.compact(budget, summary.is_some().then_some(&mut summarize)) {
            Err(error) if !error.is_model_failure() => return Err(error),
            // Nothing was taken away, and the run goes on with more than was asked.
            Ok(()) | Err(_) => {}
        }
    }
    let end = session.run(script::beginning(run.beginning), run.limit, model, tools)?;
    Ok(report_of(session, &end, tools, &[]))
}

fn report_of(session: &Session<impl Store>, end: &RunEnd, tools: &CutTools<'_>, requests: &[Value]) -> Value {
    let executed: Vec<Value> = tools.executed.iter().map(execution).collect();
    let mut report = json!({"requests": requests, "executed": executed});
    let pending = session.pending();
    if !pending.is_empty() {
        report["pending"] = pending.iter().map(|id| marked(id).into_owned()).collect();
    }
    match end {
        RunEnd::Refused(words) => report["refused"] = marked(words).into(),
        RunEnd::Failed(words) => report["failure"] = marked(words).into(),
        RunEnd::Answered | RunEnd::Pending | RunEnd::LimitReached | RunEnd::Cancelled => {}
    }
    report
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
