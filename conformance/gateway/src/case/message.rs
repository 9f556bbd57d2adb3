//! A message that a client sends.

use threadspec::surrogates::{marked, unmark_surrogates};
use threadspec_apis::Thinking;
use threadspec_judge::protocol::Speaker;
use threadspec_provider::client::{ClientCall, ClientContent, ClientMessage, ClientPart};
use threadspec_provider::{Error, PlayedCall, StrictReading};

pub(super) fn read(reading: StrictReading<'_>) -> Result<ClientMessage, Error> {
    let mut members = reading.members()?;
    let speaker = match &*members.need("type", |kind| kind.word(&["system", "human", "ai", "tool"]))? {
        "system" => Speaker::System,
        "human" => Speaker::Human,
        "ai" => Speaker::Ai,
        _ => Speaker::Tool,
    };
    let content = if speaker == Speaker::System {
        Some(ClientContent::Text(members.need("content", StrictReading::string)?))
    } else {
        members.read("content", content)?
    };
    let mut message = ClientMessage { content, ..ClientMessage::text(speaker, "") };
    match speaker {
        Speaker::Ai => {
            let calls = members.read("tool_calls", |list| list.list()?.into_iter().map(call).collect())?;
            message.calls = calls.unwrap_or_default();
            let thinking = members.read("thinking", |list| list.list()?.into_iter().map(thought).collect())?;
            message.thinking = thinking.unwrap_or_default();
            if message.content.is_none() && message.calls.is_empty() {
                return members.error("a message of the model has content or calls");
            }
            let has_image = |content: &ClientContent| match content {
                ClientContent::Parts(parts) => parts.iter().any(|part| matches!(part, ClientPart::Image(_))),
                ClientContent::Text(_) => false,
            };
            if message.content.as_ref().is_some_and(has_image) {
                return members.error("no API takes an image from the model");
            }
        }
        Speaker::Tool => {
            message.call_id = Some(members.need("tool_call_id", StrictReading::string)?);
            message.is_error = members.read("error", StrictReading::boolean)?.unwrap_or_default();
        }
        Speaker::Human if message.content.is_none() => return members.error("a message of the user has content"),
        Speaker::System | Speaker::Human => {}
    }
    members.end()?;
    Ok(message)
}

/// A text, or a list of texts and images.
fn content(reading: StrictReading<'_>) -> Result<ClientContent, Error> {
    if let Ok(text) = reading.clone().string() {
        return Ok(ClientContent::Text(text));
    }
    Ok(ClientContent::Parts(reading.list()?.into_iter().map(part).collect::<Result<_, _>>()?))
}

fn part(reading: StrictReading<'_>) -> Result<ClientPart, Error> {
    let mut members = reading.members()?;
    let text = members.read("text", StrictReading::string)?.map(ClientPart::Text);
    let image = members.read("image", StrictReading::string)?.map(ClientPart::Image);
    let ((Some(part), None) | (None, Some(part))) = (text, image) else {
        return members.error("a part is a `text` or an `image`");
    };
    members.end()?;
    Ok(part)
}

fn call(reading: StrictReading<'_>) -> Result<ClientCall, Error> {
    let place = reading.clone();
    let PlayedCall { id, name, arguments } = PlayedCall::read(reading)?;
    let Some(id) = id else { return place.error("a call of a history has an `id`") };
    Ok(ClientCall { id, name, arguments: marked(&unmark_surrogates(&arguments)).into_owned() })
}

/// Reads a thought of the model, in the form of one API: a `text` with its `signature`, or `redacted` data, or an item's `id` with
/// `encrypted` content and maybe a `text`.
fn thought(reading: StrictReading<'_>) -> Result<Thinking, Error> {
    let mut members = reading.members()?;
    let text = members.read("text", StrictReading::string)?;
    let thinking = if let Some(data) = members.read("redacted", StrictReading::string)? {
        Thinking { seal: Some(data), is_redacted: true, ..Thinking::default() }
    } else if members.has("id") {
        Thinking {
            item_id: members.read("id", StrictReading::string)?,
            seal: Some(members.need("encrypted", StrictReading::string)?),
            text: text.unwrap_or_default(),
            ..Thinking::default()
        }
    } else {
        let seal = Some(members.need("signature", StrictReading::string)?);
        Thinking { text: text.unwrap_or_default(), seal, ..Thinking::default() }
    };
    members.end()?;
    Ok(thinking)
}
