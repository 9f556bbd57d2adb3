//! Reads the output of op `session` for the judge.

use super::opaque;
use crate::shape::{Execution, Part, Parts, RunReport, SessionMessage, SessionOutput, SessionWireReport};
use crate::universal::message::AgentMessage;
use serde_json::{Map, Value};
use threadspec::session::OpaqueBlock;

/// The account of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct RunAccount {
    pub(super) requests: Vec<SentRequest>,
    pub(super) executed: Vec<Executed>,
    /// `None` if it is not given.
    pub(super) pending: Option<Vec<String>>,
    pub(super) refused: Option<String>,
    pub(super) failure: Option<String>,
}

/// A request of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct SentRequest {
    pub(super) messages: Vec<AgentMessage>,
    /// The parts of each message that only sessions have.
    pub(super) extras: Vec<Extras>,
}

/// The parts of a message that only sessions have.
#[derive(Clone, Debug, Default)]
pub(super) struct Extras {
    pub(super) opaque: Vec<OpaqueBlock>,
    /// The SHA-256 of each image, in lower case.
    pub(super) images: Vec<String>,
    /// For each call, whether its arguments are sent as a text that is no object.
    pub(super) raw: Vec<bool>,
}

/// A call that was executed.
#[derive(Clone, Debug)]
pub(super) struct Executed {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) args: Value,
    pub(super) returned: bool,
}

/// Reads the output of op `session`, and what a provider saw of it.
///
/// # Errors
///
/// Says why it is not one.
pub(super) fn read(output: Value, asked: usize) -> Result<(Vec<RunAccount>, Option<SessionWireReport>), String> {
    let SessionOutput { runs, wire } = SessionOutput::of(output);
    let Part::Proper(runs) = runs else { return Err("it has no list of `runs`".into()) };
    if runs.len() != asked {
        return Err(format!("{asked} runs were asked for, but it has {}", runs.len()));
    }
    let read = |(index, run)| read_run(run).map_err(|error| format!("run {}: {error}", index + 1));
    let records = runs.into_iter().enumerate().map(read).collect::<Result<_, _>>()?;
    Ok((records, wire.optional(|| "its `wire` is not an object")?))
}

fn read_run(run: Part<RunReport>) -> Result<RunAccount, String> {
    let Part::Proper(run) = run else { return Err("it is not an object".into()) };
    let Part::Proper(requests) = run.requests else { return Err("it has no list of `requests`".into()) };
    let Part::Proper(executed) = run.executed else { return Err("it has no list `executed`".into()) };
    let refused = run.refused.optional(|| "its `refused` is not a string")?;
    if refused.is_some() && !requests.is_empty() {
        let count = requests.len();
        return Err(format!("it is `refused`, but has {count} request{}", if count == 1 { "" } else { "s" }));
    }
    let read = |(index, request)| {
        let read = SentRequest::read(request);
        read.map_err(|error| format!("request {}: {error}", index + 1))
    };
    let pending = run.pending.optional(|| "its `pending` is not a list")?;
    let id = |id: Part<String>| match id {
        Part::Proper(id) => Ok(id),
        Part::Odd(_) | Part::Missing => Err("an element of its `pending` is not an id"),
    };
    Ok(RunAccount {
        requests: requests.into_iter().enumerate().map(read).collect::<Result<_, _>>()?,
        executed: executed.into_iter().map(Executed::read).collect::<Result<_, _>>()?,
        pending: pending.map(|ids| ids.into_iter().map(id).collect::<Result<_, _>>()).transpose()?,
        refused,
        failure: run.failure.optional(|| "its `failure` is not a string")?,
    })
}

impl SentRequest {
    fn read(request: Part<Parts<SessionMessage>>) -> Result<Self, String> {
        let Part::Proper(list) = request else { return Err("it is not a list of messages".into()) };
        let mut read = Self::default();
        for (index, message) in list.into_iter().enumerate() {
            let (message, extras) = read_message(message).map_err(|error| format!("message {}: {error}", index + 1))?;
            read.messages.push(message);
            read.extras.push(extras);
        }
        Ok(read)
    }
}

fn read_message(message: Part<SessionMessage>) -> Result<(AgentMessage, Extras), String> {
    let Part::Proper(message) = message else { return Err("it is not an object".into()) };
    let plain = AgentMessage::read(message.plain().into())?;
    let raw = message.calls.list().iter().map(|call| {
        let call = call.proper();
        call.is_some_and(|call| call.raw != Part::Missing || call.args.proper().is_some_and(|args| !args.is_object()))
    });
    let raw = raw.collect();
    let parts = message.opaque.optional(|| "its `opaque` is not a list")?.unwrap_or_default();
    let images = message.images.optional(|| "its `images` are not a list")?.unwrap_or_default();
    let image = |image: Part<String>| match image {
        Part::Proper(digest) => Ok(digest.to_ascii_lowercase()),
        Part::Odd(_) | Part::Missing => Err("one of its `images` is not a digest"),
    };
    let extras = Extras {
        opaque: parts.into_iter().map(opaque::read).collect::<Result<_, _>>()?,
        images: images.into_iter().map(image).collect::<Result<_, _>>()?,
        raw,
    };
    Ok((plain, extras))
}

impl Executed {
    fn read(execution: Part<Execution>) -> Result<Self, String> {
        let Part::Proper(Execution { id, name: Part::Proper(name), args, returned }) = execution else {
            return Err("an element of its `executed` is not an object with a `name`".into());
        };
        let returned = returned.optional(|| "the `returned` of what it `executed` is neither true nor false")?;
        let id = id.optional(|| "the `id` of what it `executed` is not a string")?;
        let args = args.into_json().filter(|args| !args.is_null()).unwrap_or_else(|| Map::new().into());
        Ok(Self { id: id.unwrap_or_default(), name, args, returned: returned.unwrap_or(true) })
    }
}

impl RunAccount {
    /// Returns whether the model was asked.
    pub(super) fn asks(&self) -> bool {
        !self.requests.is_empty()
    }

    /// Returns whether the run was refused with words.
    pub(super) fn says_why(&self) -> bool {
        self.refused.as_ref().is_some_and(|words| !words.trim().is_empty())
    }
}
