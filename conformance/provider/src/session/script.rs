//! The runs of a session, read strictly from JSON, so that arguments keep the spelling of the script.

use super::plan::{SessionRunPlan, SessionTurnPlan};
use crate::Error;
use crate::script::{ObjectReading, PlayedCall, PlayedThought, StrictReading, WireTurn, read_text};

/// Reads the list of the runs. What only the judge and the testee need is not looked at.
pub(super) fn read_runs(text: &str) -> Result<Vec<SessionRunPlan>, Error> {
    read_text(text, "runs", |runs| runs.list()?.into_iter().map(read_run).collect())
}

fn read_run(reading: StrictReading<'_>) -> Result<SessionRunPlan, Error> {
    let mut members = reading.members()?;
    let mut run =
        SessionRunPlan { message: members.read("message", StrictReading::string)?, ..SessionRunPlan::default() };
    if let Some(compaction) = members.take("compact") {
        let summary = compaction.members()?.read("summary", StrictReading::string)?;
        // Some frameworks ask for one whatever the script says.
        run.summary = Some(summary.unwrap_or_else(|| "A summary.".to_owned()));
    }
    run.turns = members.need("model", |turns| turns.list()?.into_iter().map(read_turn).collect())?;
    Ok(run)
}

fn read_turn(reading: StrictReading<'_>) -> Result<SessionTurnPlan, Error> {
    let mut members = reading.members()?;
    let mut planned = SessionTurnPlan::default();
    let mut thinking = Vec::new();
    for part in members.read("opaque", StrictReading::list)?.unwrap_or_default() {
        let (kind, thought) = read_opaque(part)?;
        planned.kinds.push(kind);
        thinking.extend(thought);
    }
    let mut calls = Vec::new();
    for call in members.read("tool_calls", StrictReading::list)?.unwrap_or_default() {
        let mut members = call.members()?;
        match members.read("handoff", StrictReading::string)? {
            Some(agent) => {
                planned.hand_overs.push((calls.len(), agent));
                let id = members.read("id", StrictReading::string)?;
                calls.push(PlayedCall { id, name: String::new(), arguments: "{}".to_owned() });
            }
            None => calls.push(PlayedCall::from_members(members)?),
        }
    }
    planned.turn = WireTurn { calls, thinking, ..WireTurn::from_members(members)? };
    Ok(planned)
}

/// Reads the kind and content of an opaque part; nothing, if none of the APIs has it.
fn read_opaque(reading: StrictReading<'_>) -> Result<(String, Option<PlayedThought>), Error> {
    let mut members = reading.members()?;
    let kind = members.need("kind", StrictReading::string)?;
    let text = |members: &mut ObjectReading<'_>, name: &str| {
        members.read(name, StrictReading::string).map(Option::unwrap_or_default)
    };
    let thought = match kind.as_str() {
        "thinking" => {
            let (text, signature) = (text(&mut members, "text")?, text(&mut members, "signature")?);
            Some(PlayedThought::Open { text, signature: Some(signature) })
        }
        "redacted" => Some(PlayedThought::Redacted(text(&mut members, "data")?)),
        "reasoning" => {
            let (id, data) = (text(&mut members, "id")?, text(&mut members, "encrypted")?);
            Some(PlayedThought::Sealed { id, data })
        }
        _ => None,
    };
    Ok((kind, thought))
}
