//! Finds the properties that a case can show. A property that no gateway can break with it would hold of every one.

use super::GatewayCase;
use serde_json::Value;
use threadspec::surrogates::unmark_surrogates;
use threadspec_judge::protocol::Speaker;
use threadspec_judge::universal::{Property, value};
use threadspec_provider::client::{ClientCall, ClientContent, ClientMessage, ClientOptions, ClientPart};
use threadspec_provider::{Fault, WireTurn};

/// Doubles are exact up to here.
const EXACT: u64 = 1 << 53;

impl GatewayCase {
    /// The properties that a gateway can break with this case.
    pub fn subjects(&self) -> Vec<Property> {
        Property::all().filter(|property| self.can_break(*property)).collect()
    }

    fn can_break(&self, property: Property) -> bool {
        match property {
            Property::GateForward
            | Property::GateMessages
            | Property::GateText
            | Property::GateInvented
            | Property::GateValid
            | Property::GateStatus
            | Property::GateIndependent => true,
            Property::GateCalls => {
                // What the model sent comes back in the next request.
                let goes_on = self.rounds.len() > 1 && self.turns().any(|turn| !turn.calls.is_empty());
                goes_on || self.calls().next().is_some()
            }
            Property::GateCallsExact => {
                let sent = self.calls().map(|call| unmark_surrogates(&call.arguments).into_owned());
                let said = self.turns().flat_map(|turn| &turn.calls).map(|call| call.arguments.clone());
                sent.chain(said).any(|arguments| value::read(&arguments).is_ok_and(|value| has_long_integer(&value)))
            }
            Property::GateIds => self.calls().next().is_some() || self.turns().any(|turn| !turn.calls.is_empty()),
            Property::GateResult => self.sends().any(|message| message.speaker == Speaker::Tool),
            Property::GateMedia => self.sends().any(has_image),
            Property::GateTools => !self.tools.is_empty(),
            Property::GateToolsFull => {
                self.tools.iter().any(|tool| tool.description.is_some() || tool.schema.is_some())
            }
            Property::GateChoice => self.options != ClientOptions::default(),
            Property::GateOpaque => {
                let goes_on = self.rounds.len() > 1 && self.turns().any(|turn| !turn.thinking.is_empty());
                goes_on || self.sends().any(|message| !message.thinking.is_empty())
            }
            Property::GateSaid | Property::GateStream => self.turns().any(|turn| turn.error.is_none()),
            Property::GateCut => self.faults().any(|fault| !matches!(fault, Fault::Status { .. })),
            Property::GateStop => {
                self.turns().any(|turn| matches!(turn.stop.as_deref(), Some("length" | "max_tokens")))
            }
            Property::GateStopCalls => self.turns().any(|turn| !turn.calls.is_empty()),
            // Its own retries, too, keep what those of a client do.
            Property::WireWait => {
                self.faults().any(|fault| matches!(fault, Fault::Status { retry_after: Some(_), .. }))
            }
            Property::GateWords | Property::WireRetry | Property::WireBackoff => {
                self.turns().any(|turn| turn.error.is_some())
                    || self.faults().any(|fault| matches!(fault, Fault::Status { .. }))
            }
            Property::GateWait => {
                self.faults().any(|fault| matches!(fault, Fault::Status { status: 429, retry_after: Some(_), .. }))
            }
            Property::GateThinking => self.turns().any(|turn| !turn.thinking.is_empty()),
            Property::GateCache => self.rounds.len() > 1,
            // Those of agents and of their own wire.
            _ => false,
        }
    }

    fn sends(&self) -> impl Iterator<Item = &ClientMessage> {
        self.rounds.iter().flat_map(|round| &round.sends)
    }

    fn calls(&self) -> impl Iterator<Item = &ClientCall> {
        self.sends().flat_map(|message| &message.calls)
    }

    fn turns(&self) -> impl Iterator<Item = &WireTurn> {
        self.rounds.iter().map(|round| &round.turn)
    }

    fn faults(&self) -> impl Iterator<Item = &Fault> {
        self.turns().flat_map(|turn| &turn.attempts)
    }
}

fn has_image(message: &ClientMessage) -> bool {
    let is_image = |part: &ClientPart| matches!(part, ClientPart::Image(_));
    matches!(&message.content, Some(ClientContent::Parts(parts)) if parts.iter().any(is_image))
}

fn has_long_integer(value: &Value) -> bool {
    match value {
        Value::Number(number) => {
            number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs)).is_some_and(|integer| integer > EXACT)
        }
        Value::Array(elements) => elements.iter().any(has_long_integer),
        Value::Object(members) => members.values().any(has_long_integer),
        _ => false,
    }
}
