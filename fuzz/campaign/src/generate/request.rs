//! Generates whole requests.

use super::growth::widened;
use super::json::AsJsonText;
use super::{Enlargement, Mode, Scenario, ScriptPlan, SessionScenario, Text, Thread};
use proptest::arbitrary::any;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::fmt;
use threadspec_judge::protocol::{Features, Op};

/// A request to any implementation: an operation of the protocol, and its input.
#[derive(Clone, arbitrary::Arbitrary, proptest_derive::Arbitrary)]
pub enum RequestPlan {
    /// `escape`.
    Escape(Text),
    /// `serialize`, possibly with a response prefix.
    Serialize(Thread, Option<Text>),
    /// `messages`, possibly with instructions.
    Messages(Thread, Mode, Option<Text>),
    /// `tools`.
    Tools(ScriptPlan),
    /// `loop`.
    Loop(ScriptPlan),
    /// `tools` of profile `universal`, drawn only where it is asked for.
    #[arbitrary(skip)]
    #[proptest(skip)]
    Agent(Scenario),
    /// `session`, for a testee with these features, drawn only where it is asked for.
    #[arbitrary(skip)]
    #[proptest(skip)]
    Session(SessionScenario, Features),
    /// An input as it is, where a smaller form of another plan is none of its own.
    #[arbitrary(skip)]
    #[proptest(skip)]
    Written(Op, String),
    /// Another request made large, drawn only where it is asked for.
    #[arbitrary(skip)]
    #[proptest(skip)]
    Large(Enlargement, Box<RequestPlan>),
}

impl RequestPlan {
    /// The operation.
    pub fn op(&self) -> Op {
        match self {
            Self::Escape(_) => Op::Escape,
            Self::Serialize(..) => Op::Serialize,
            Self::Messages(..) => Op::Messages,
            Self::Tools(_) | Self::Agent(_) => Op::Tools,
            Self::Loop(_) => Op::Loop,
            Self::Session(..) => Op::Session,
            Self::Written(op, _) => *op,
            Self::Large(_, plan) => plan.op(),
        }
    }

    /// The input as JSON text on one line.
    pub fn input(&self) -> String {
        let mut json = String::new();
        let (thread, text) = match self {
            Self::Tools(script) => return script.tools_input(),
            Self::Loop(script) => return script.loop_input(),
            Self::Agent(scenario) => return scenario.input(),
            Self::Session(session, features) => return session.input(*features),
            Self::Written(_, input) => return input.clone(),
            Self::Large(growth, plan) => return plan.grown_input(*growth),
            Self::Escape(escaped) => {
                json.push_str(r#"{"text":"#);
                escaped.write(&mut json);
                json.push('}');
                return json;
            }
            Self::Serialize(thread, prefix) => (thread, prefix.as_ref().map(|prefix| ("responsePrefix", prefix))),
            Self::Messages(thread, _, instructions) => {
                (thread, instructions.as_ref().map(|instructions| ("instructions", instructions)))
            }
        };
        json.push_str(r#"{"events":"#);
        thread.write(&mut json);
        if let Self::Messages(_, mode, _) = self
            && let Some(mode) = mode.member()
        {
            json.push(',');
            json.push_str(mode);
        }
        if let Some((name, text)) = text {
            json.push_str(",\"");
            json.push_str(name);
            json.push_str("\":");
            text.write(&mut json);
        }
        json.push('}');
        json
    }
}

impl RequestPlan {
    fn grown_input(&self, growth: Enlargement) -> String {
        match (self, growth.inside()) {
            (Self::Session(session, features), _) => session.grown(growth).input(*features),
            _ if growth.is_of_a_text() => growth.with_long_text(&self.input()),
            (_, Some(kind)) if self.op() != Op::Escape => widened(growth, kind, &self.input()),
            (Self::Serialize(thread, prefix), _) => Self::Serialize(thread.grown(growth), prefix.clone()).input(),
            (Self::Messages(thread, mode, text), _) => {
                Self::Messages(thread.grown(growth), *mode, text.clone()).input()
            }
            (Self::Tools(script), _) => Self::Tools(script.grown(growth, false)).input(),
            (Self::Loop(script), _) => Self::Loop(script.grown(growth, true)).input(),
            (Self::Escape(_) | Self::Agent(_) | Self::Written(..) | Self::Large(..), _) => {
                growth.with_long_text(&self.input())
            }
        }
    }
}

impl fmt::Debug for RequestPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.op(), self.input())
    }
}

/// An endless stream of plans, the same for the same seed, each of which can be made smaller while it still shows a
/// failure: `simplify` and `complicate` of proptest's `ValueTree`.
///
/// ```
/// use proptest::strategy::ValueTree;
/// use threadspec_campaign::generate::{RequestPlan, samples};
/// let first = |seed| samples::<RequestPlan>(seed).next().map(|tree| tree.current().input());
/// assert_eq!(first(7), first(7));
/// assert_ne!(first(7), first(8));
/// ```
pub fn samples<P: proptest::arbitrary::Arbitrary>(seed: u64) -> impl Iterator<Item = impl ValueTree<Value = P>> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config { failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let plans = any::<P>();
    // No plan is ever rejected, so there is always a next one.
    std::iter::from_fn(move || plans.new_tree(&mut runner).ok())
}
