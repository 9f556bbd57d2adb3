//! The client of a case: one request for each round, without retries.

use super::{GatewayCase, GatewayRound};
use threadspec_apis::{AnswerEnd, ModelAnswer};
use threadspec_judge::protocol::{Endpoint, Speaker};
use threadspec_provider::WireTurn;
use threadspec_provider::client::{
    ClientAsk, ClientCall, ClientContent, ClientMessage, ClientRequest, ClientTool, Exchange,
};

/// Sends the requests of a case, and says how many were sent: the next one only where the answer to the one before came whole. Each
/// request has the messages of the one before, the answer as it was read, with the ids that the client got, and what the round adds.
///
/// With a `mark`, the description of each tool ends in it.
pub fn play(case: &GatewayCase, endpoint: &Endpoint, mark: Option<&str>, exchange: &mut impl Exchange) -> usize {
    let endpoint = Endpoint { reasoning: case.thinking, ..endpoint.clone() };
    let tools = case.tools.iter().map(|tool| marked(tool, mark)).collect();
    let mut ask = ClientAsk { tools, options: case.options.clone(), ..ClientAsk::default() };
    let mut before: Option<(&WireTurn, ModelAnswer)> = None;
    for (number, round) in case.rounds.iter().enumerate() {
        add(&mut ask, round, before.as_ref());
        let response = exchange.exchange(&ClientRequest::of(&endpoint, &ask));
        let read = response.filter(|response| response.status < 400);
        let read = read.and_then(|response| response.read(endpoint.transport.api).ok());
        match read.filter(|read| read.end == AnswerEnd::Whole) {
            Some(read) => before = Some((&round.turn, read.answer)),
            None => return number + 1,
        }
    }
    case.rounds.len()
}

fn marked(tool: &ClientTool, mark: Option<&str>) -> ClientTool {
    let described = |mark: &str| match &tool.description {
        Some(description) => format!("{description} {mark}"),
        None => mark.to_owned(),
    };
    ClientTool { description: mark.map(described).or_else(|| tool.description.clone()), ..tool.clone() }
}

/// Adds what is new in a round.
fn add(ask: &mut ClientAsk, round: &GatewayRound, before: Option<&(&WireTurn, ModelAnswer)>) {
    let mut sends = round.sends.clone();
    let Some((turn, answer)) = before else {
        // What is first has a place of its own in some APIs.
        if let [ClientMessage { speaker: Speaker::System, content: Some(ClientContent::Text(text)), .. }, ..] =
            &sends[..]
        {
            ask.instructions = Some(text.clone());
            sends.remove(0);
        }
        ask.messages = sends;
        return;
    };
    readdress(&mut sends, turn, answer);
    ask.messages.push(said(answer));
    ask.messages.append(&mut sends);
}

/// Gives results the ids that the client read, which a gateway may have made again, instead of those that the script says.
fn readdress(sends: &mut [ClientMessage], turn: &WireTurn, answer: &ModelAnswer) {
    let mut is_answered = vec![false; turn.calls.len()];
    for result in sends.iter_mut().filter(|message| message.speaker == Speaker::Tool) {
        let is_own = |place: &usize| !is_answered[*place] && turn.calls[*place].id == result.call_id;
        let Some(place) = (0..turn.calls.len()).find(is_own) else { continue };
        is_answered[place] = true;
        if let Some(call) = answer.calls.get(place) {
            result.call_id = Some(call.id.clone());
        }
    }
}

/// An answer as a message of a history.
fn said(answer: &ModelAnswer) -> ClientMessage {
    let text = if answer.text.is_empty() { answer.refusal.clone().unwrap_or_default() } else { answer.text.clone() };
    let call = |call: &threadspec_apis::SaidCall| ClientCall {
        id: call.id.clone(),
        name: call.name.clone(),
        arguments: call.arguments.clone(),
    };
    ClientMessage {
        calls: answer.calls.iter().map(call).collect(),
        thinking: answer.thinking.clone(),
        ..ClientMessage::text(Speaker::Ai, text)
    }
}
