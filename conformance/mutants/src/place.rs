//! Where a fault is tried: in which host, and in which profile, over which API, or between which two.

use crate::gateway::Between;
use crate::gateways::ThroughTestGateway;
use crate::over_wire::InOneProcess;
use crate::planted::{Kind, Planted, sound, sound_agent, sound_sessions, together};
use crate::wire::modes;
use std::fmt;
use threadspec_judge::corpus::Case;
use threadspec_judge::protocol::{JudgeProfile, Op, Transport};
use threadspec_runner::{InProcess, Testee};

/// A host in one of the ways in which it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The twin of the reference, in a profile of its own.
    Twin(JudgeProfile),
    /// The agent, whose model is a script.
    Agent,
    /// The agent that keeps threads from run to run.
    Sessions,
    /// The agent that asks its model over an API.
    Wire(Transport),
    /// A gateway between two APIs.
    Gateway(Between),
    /// An agent that is right, behind a gateway.
    Behind(Between),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Twin(profile) => write!(f, "{profile}"),
            Self::Agent => f.write_str("agent"),
            Self::Sessions => f.write_str("sessions"),
            Self::Wire(transport) => write!(f, "over {transport}"),
            Self::Gateway(between) => write!(f, "{between}"),
            Self::Behind(between) => write!(f, "behind {between}"),
        }
    }
}

impl Place {
    /// Every place.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let twins = JudgeProfile::OWN.map(Self::Twin);
        let gateways = Between::all().flat_map(|between| [Self::Gateway(between), Self::Behind(between)]);
        twins.into_iter().chain([Self::Agent, Self::Sessions]).chain(modes::ALL.each().map(Self::Wire)).chain(gateways)
    }

    /// Where each case is put to something that is planted.
    pub fn of(planted: &Planted) -> Vec<Self> {
        match planted.kind {
            Kind::Bug(_) => JudgeProfile::OWN.map(Self::Twin).to_vec(),
            Kind::Reading(_) => planted.profiles.iter().map(|&profile| Self::Twin(profile)).collect(),
            Kind::AgentBug(_) | Kind::AgentReading(_) => vec![Self::Agent],
            Kind::SessionBug(_) | Kind::SessionLapse(_) | Kind::SessionReading(_) => vec![Self::Sessions],
            Kind::WireBug(on_wire) | Kind::WireReading(on_wire) => on_wire.modes.each().map(Self::Wire).collect(),
            Kind::GatewayBug(on_gateway) | Kind::GatewayReading(on_gateway) => {
                on_gateway.places.each().map(Self::Gateway).collect()
            }
            Kind::Family(_) | Kind::Clash(_) | Kind::Misbehaviour(_) => Vec::new(),
        }
    }

    /// The profile in which replies are judged.
    pub fn profile(self) -> JudgeProfile {
        match self {
            Self::Twin(profile) => profile,
            _ => JudgeProfile::Universal,
        }
    }

    /// Returns whether a case can be put there.
    pub(crate) fn takes(self, case: &Case) -> bool {
        let is_of_agents = case.op == Op::Tools && !case.needs_gateway();
        let is_put = match self {
            Self::Twin(_) => true,
            Self::Agent => is_of_agents && !case.needs_wire(),
            Self::Sessions => case.op == Op::Session && !case.needs_provider(),
            Self::Wire(transport) => is_of_agents && case.is_for(transport.api, transport.stream),
            Self::Gateway(between) => case.needs_gateway() && case.is_for(between.client, between.stream),
            Self::Behind(between) => {
                let is_for = |api| case.is_for(api, between.stream);
                is_of_agents && !case.needs_wire() && is_for(between.upstream) && is_for(between.client)
            }
        };
        is_put && case.is_in(self.profile())
    }

    /// What answers there with all this planted.
    pub(crate) fn testee(self, planted: &[&'static Planted]) -> Box<dyn Testee> {
        let one = || planted.first().copied();
        match self {
            Self::Wire(transport) => Box::new(InOneProcess::new(one(), transport)),
            Self::Gateway(between) | Self::Behind(between) => Box::new(ThroughTestGateway::new(one(), between)),
            Self::Twin(_) if planted.is_empty() => Box::new(InProcess::new(sound())),
            Self::Agent if planted.is_empty() => Box::new(InProcess::new(sound_agent())),
            Self::Sessions if planted.is_empty() => Box::new(InProcess::new(sound_sessions())),
            Self::Twin(_) | Self::Agent | Self::Sessions => Box::new(InProcess::new(together(planted))),
        }
    }
}
