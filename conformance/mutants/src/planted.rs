//! What can be planted: bugs, permitted readings and misbehaving processes, each with a name and with what is needed to make it.

use crate::agent::{Agent, RunState};
use crate::gateway::{GatewayServer, Places, TestGateway};
use crate::threads::SessionAgent;
use crate::twin::Twin;
use crate::wire::{Modes, WireAgent};
use std::fmt;
use std::time::Duration;
use threadspec_judge::corpus::growth::Quantity;
use threadspec_judge::protocol::{Hello, Implementation, JudgeProfile, Reply, Request};
use threadspec_judge::verdict::Verdict;

/// Something that is planted in an implementation that is right without it.
#[derive(Clone, Copy)]
pub struct Planted {
    /// In kebab-case, telling the mechanism.
    pub name: &'static str,
    /// What it is.
    pub kind: Kind,
    /// The clauses that it breaks: none for a reading, none for a misbehaving process, which breaks the protocol instead, and none for a family,
    /// which must be caught by the cases of `golden/growth.json`.
    pub breaks: &'static [&'static str],
    /// The profiles in which it is wrong; for a reading, those that permit it.
    pub profiles: &'static [JudgeProfile],
}

/// What is planted, and where.
#[derive(Clone, Copy)]
pub enum Kind {
    /// The twin of the reference answers wrongly. In the profiles in which it is not wrong it is an accepted reading, and must pass.
    Bug(OnTwin),
    /// The twin deviates as a clause or an erratum permits.
    Reading(Reading),
    /// The twin answers wrongly from a size on.
    Family(Family),
    /// An agent that is not the reference answers wrongly.
    AgentBug(OnAgent),
    /// That agent deviates as the clauses and the rules of fairness permit.
    AgentReading(OnAgent),
    /// That agent answers wrongly while several runs are under way, and only then.
    Clash(Clash),
    /// That agent goes wrong over the wire.
    WireBug(OnWire),
    /// That agent deviates over the wire as the clauses and the rules of fairness permit.
    WireReading(OnWire),
    /// An agent that keeps threads from run to run goes wrong.
    SessionBug(OnSession),
    /// That agent breaks what a `must` clause of sessions recommends beside.
    SessionLapse(OnSession),
    /// That agent deviates as the specification of sessions permits.
    SessionReading(OnSession),
    /// A gateway goes wrong.
    GatewayBug(OnGateway),
    /// A gateway deviates as the specification of gateways permits.
    GatewayReading(OnGateway),
    /// A process does something other than write its reply, which would be right.
    Misbehaviour(Misbehaviour),
}

impl Kind {
    /// In what it is planted, in a word.
    pub fn host(&self) -> &'static str {
        match self {
            Self::Bug(_) | Self::Reading(_) | Self::Family(_) => "twin",
            Self::AgentBug(_) | Self::AgentReading(_) | Self::Clash(_) => "agent",
            Self::WireBug(_) | Self::WireReading(_) => "wire",
            Self::SessionBug(_) | Self::SessionLapse(_) | Self::SessionReading(_) => "sessions",
            Self::GatewayBug(_) | Self::GatewayReading(_) => "gateways",
            Self::Misbehaviour(_) => "process",
        }
    }

    /// What is planted in the agent that keeps threads.
    pub(crate) fn of_sessions(&self) -> Option<OnSession> {
        match *self {
            Self::SessionBug(planted) | Self::SessionLapse(planted) | Self::SessionReading(planted) => Some(planted),
            _ => None,
        }
    }
}

/// A change of the twin.
#[derive(Clone, Copy)]
pub struct OnTwin(pub(crate) PlantOnTwin);

/// Plants something on the twin.
pub(crate) type PlantOnTwin = &'static (dyn Fn(&mut Twin) + Send + Sync);

/// A change of the agent.
#[derive(Clone, Copy)]
pub struct OnAgent(pub(crate) &'static (dyn Fn(&mut Agent) + Send + Sync));

/// A change of the agent that keeps threads.
#[derive(Clone, Copy)]
pub struct OnSession(pub(crate) &'static (dyn Fn(&mut SessionAgent) + Send + Sync));

/// A change of the agent over the wire.
#[derive(Clone, Copy)]
pub struct OnWire {
    /// Where it shows.
    pub(crate) modes: Modes,
    /// The `should` clauses that a reading does not follow. Only cases of these may object.
    pub(crate) neglects: &'static [&'static str],
    pub(crate) plant: &'static (dyn Fn(&mut WireAgent) + Send + Sync),
}

/// A change of a gateway.
#[derive(Clone, Copy)]
pub struct OnGateway {
    /// Where it shows.
    pub(crate) places: Places,
    /// The `should` clauses that a reading does not follow. Only cases of these may object.
    pub(crate) neglects: &'static [&'static str],
    pub(crate) plant: &'static (dyn Fn(&mut TestGateway) + Send + Sync),
}

/// A deviation of the twin that is permitted.
#[derive(Clone, Copy)]
pub struct Reading {
    /// The entries of the errata and the clauses that permit it.
    pub permitted_by: &'static [&'static str],
    /// The `should` clauses that it does not follow. Only cases of these may object.
    pub neglects: &'static [&'static str],
    pub(crate) plant: PlantOnTwin,
}

/// Bugs of the twin that differ only in the size from which on they show: one of them, the smallest unless its name says more.
#[derive(Clone, Copy)]
pub struct Family {
    /// What grows.
    pub(crate) quantity: Quantity,
    /// Where it makes a difference: places that begin with one of these, or all.
    pub(crate) places: &'static [&'static str],
    /// What it does to the texts of the input.
    pub(crate) change: Option<fn(&str, usize) -> String>,
    pub(crate) plant: PlantOnTwin,
    /// The size.
    pub(crate) n: usize,
    /// The members of the input in which it changes texts.
    pub(crate) member: &'static str,
}

/// What happens to a run before it asks its model while others are under way, given all of them and its place; an error refuses it.
pub(crate) type Meet = dyn Fn(&mut [RunState], usize) -> Result<(), String> + Send + Sync;

/// How runs influence each other.
#[derive(Clone, Copy)]
pub struct Clash(pub(crate) &'static Meet);

/// What is done instead of writing a reply line, and when.
#[derive(Clone, Copy)]
pub struct Misbehaviour {
    /// The verdict on the case with whose reply it is done; a pass if it is allowed.
    pub verdict: Verdict,
    /// Does it, given the reply with its line end.
    pub(crate) how: fn(&[u8]),
    pub(crate) when: When,
}

/// With which reply a process misbehaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    Always,
    Hello,
    Request(usize),
    Every(usize),
    /// When nothing was written for so long.
    Pause(Duration),
    Text(&'static str),
    /// After the last one.
    End,
}

impl fmt::Debug for Planted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Planted({})", self.name)
    }
}

impl Planted {
    /// Returns whether it is permitted rather than wrong.
    pub fn is_reading(&self) -> bool {
        matches!(
            self.kind,
            Kind::Reading(_)
                | Kind::AgentReading(_)
                | Kind::WireReading(_)
                | Kind::SessionReading(_)
                | Kind::GatewayReading(_)
        )
    }

    /// Returns whether a profile forbids it.
    pub fn is_wrong_in(&self, profile: JudgeProfile) -> bool {
        !self.is_reading() && self.profiles.contains(&profile)
    }

    /// What answers with it. Where only a process or runs that meet go wrong, the answers are right.
    pub fn implementation(&self) -> impl Implementation + Send + use<> {
        together(&[self])
    }

    /// Plants it in the agent, whether in what that does on the wire or in what it does anyway.
    pub(crate) fn plant_in(&self, agent: &mut WireAgent) {
        match self.kind {
            Kind::WireBug(OnWire { plant, .. }) | Kind::WireReading(OnWire { plant, .. }) => plant(agent),
            Kind::AgentBug(OnAgent(plant)) | Kind::AgentReading(OnAgent(plant)) => plant(&mut agent.agent),
            _ => {}
        }
    }

    /// Plants it in a gateway, if that is where it belongs.
    pub(crate) fn plant_in_gateway(&self, gateway: &mut TestGateway) {
        if let Kind::GatewayBug(OnGateway { plant, .. }) | Kind::GatewayReading(OnGateway { plant, .. }) = self.kind {
            plant(gateway);
        }
    }

    /// Plants it in a gateway that is to be served, if that is where it belongs.
    pub fn plant_in_server(&self, server: &mut GatewayServer) {
        self.plant_in_gateway(server.gateway());
    }

    /// Returns whether it is planted in a gateway.
    pub fn is_of_gateway(&self) -> bool {
        matches!(self.kind, Kind::GatewayBug(_) | Kind::GatewayReading(_))
    }

    /// The same with what stands behind its name: a size (`:100`, or `:content:100` for the texts in members of that name), or the moment of a
    /// misbehaviour. `name` is the whole name.
    pub(crate) fn with(self, name: &'static str) -> Option<Self> {
        let parameters = name.strip_prefix(self.name)?;
        let kind = match self.kind {
            Kind::Family(family) => {
                let size = parameters.strip_prefix(':')?;
                let (member, n) = size.rsplit_once(':').unwrap_or(("", size));
                Kind::Family(Family { member, n: n.parse().ok()?, ..family })
            }
            Kind::Misbehaviour(how) => Kind::Misbehaviour(Misbehaviour { when: When::read(parameters)?, ..how }),
            kind => parameters.is_empty().then_some(kind)?,
        };
        Some(Self { name, kind, ..self })
    }
}

impl When {
    /// Reads `@hello`, `@end`, `@3`, `@every-997`, `@pause-200` in milliseconds, or a text that the reply holds, such as `@two`.
    fn read(parameter: &'static str) -> Option<Self> {
        Some(match parameter {
            "" | "@" => Self::Always,
            "@hello" => Self::Hello,
            "@end" => Self::End,
            _ => {
                let when = parameter.strip_prefix('@')?;
                let [every, pause] = ["every-", "pause-"].map(|name| when.strip_prefix(name));
                match (every.map(str::parse), pause.map(str::parse)) {
                    (Some(Ok(number)), _) if number > 0 => Self::Every(number),
                    (_, Some(Ok(pause))) => Self::Pause(Duration::from_millis(pause)),
                    _ => when.parse().map_or(Self::Text(when), Self::Request),
                }
            }
        })
    }
}

/// Ends the request as a crash, without a message on stderr.
pub(crate) fn crash(why: &'static str) -> ! {
    std::panic::resume_unwind(Box::new(why))
}

/// What answers with several things planted at once. Of two that replace the same part only the last one counts.
///
/// # Panics
///
/// If they are planted in different places, such as one in the twin and another in the agent.
pub fn together(planted: &[&Planted]) -> impl Implementation + Send + use<> {
    let is_of_agent = |planted: &&Planted| {
        !matches!(planted.kind, Kind::Bug(_) | Kind::Reading(_) | Kind::Family(_) | Kind::Misbehaviour(_))
    };
    let mut host = if planted.iter().any(|planted| planted.kind.of_sessions().is_some()) {
        PlantedHost::Sessions(Box::default())
    } else if planted.iter().any(is_of_agent) {
        PlantedHost::Agent(Box::default())
    } else {
        PlantedHost::Twin(Box::default())
    };
    planted.iter().for_each(|planted| host.plant(planted));
    host
}

/// The twin of the reference without a bug, which must pass.
pub fn sound() -> impl Implementation + Send {
    PlantedHost::Twin(Box::default())
}

/// The agent without a bug, which must pass.
pub fn sound_agent() -> impl Implementation + Send {
    PlantedHost::Agent(Box::default())
}

/// The agent that keeps threads, without a bug, which must pass.
pub fn sound_sessions() -> impl Implementation + Send {
    PlantedHost::Sessions(Box::default())
}

/// Where something is planted.
enum PlantedHost {
    Twin(Box<Twin>),
    Agent(Box<WireAgent>),
    Sessions(Box<SessionAgent>),
}

impl PlantedHost {
    fn plant(&mut self, planted: &Planted) {
        match (planted.kind, self) {
            (Kind::Bug(OnTwin(plant)) | Kind::Reading(Reading { plant, .. }), Self::Twin(twin)) => plant(twin),
            (Kind::Family(Family { change, plant, n, member, .. }), Self::Twin(twin)) => {
                (twin.n, twin.member) = (n, member);
                if let Some(change) = change {
                    twin.change = change;
                }
                plant(twin);
            }
            (_, Self::Agent(agent)) => planted.plant_in(agent),
            (Kind::Misbehaviour(_), _) => {}
            (kind, Self::Sessions(agent)) if kind.of_sessions().is_some() => {
                kind.of_sessions().into_iter().for_each(|OnSession(plant)| plant(agent));
            }
            _ => panic!("{} is not planted where the others are", planted.name),
        }
    }
}

impl Implementation for PlantedHost {
    fn hello(&self) -> Hello {
        match self {
            Self::Twin(twin) => twin.hello(),
            Self::Agent(agent) => agent.hello(),
            Self::Sessions(agent) => agent.hello(),
        }
    }

    fn answer(&mut self, request: &Request) -> Reply {
        match self {
            Self::Twin(twin) => twin.answer(request),
            Self::Agent(agent) => agent.answer(request),
            Self::Sessions(agent) => agent.answer(request),
        }
    }

    fn line(&mut self, request: &Request) -> String {
        match self {
            Self::Twin(twin) => twin.line(request),
            Self::Agent(agent) => agent.line(request),
            Self::Sessions(agent) => agent.line(request),
        }
    }

    fn start_over(&mut self) {
        match self {
            Self::Twin(twin) => twin.start_over(),
            Self::Agent(agent) => agent.start_over(),
            Self::Sessions(agent) => agent.start_over(),
        }
    }
}
