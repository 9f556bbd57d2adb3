//! Reads the part of a hello about op `session`: the features of the framework, and its promises.

use crate::Error;
use crate::json;
use crate::text::closest;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};
use std::fmt;
use strum::{Display, EnumIter, EnumString, IntoEnumIterator};

/// How much is shown of what a testee says instead of a name, in characters.
const LONGEST_NAME: usize = 200;

/// Something that a framework has for its sessions, by itself or as documented for its users; a case says which it needs.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Display, EnumIter, EnumString, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Feature {
    /// Another run on the same thread begins with a user message. Every session needs it.
    Message,
    /// A run that ends with a failing model or a failing tool leaves a thread that goes on.
    Error,
    /// A run can be cancelled.
    Cancel,
    /// The thread is on disk, so that it survives the end of the process.
    Kill,
    /// A run ends at a limit of rounds.
    Limit,
    /// A run goes on without a new message.
    Resume,
    /// Calls wait for a decision.
    Approval,
    /// A decision can replace the arguments.
    Edit,
    /// The thread can be trimmed or summarized.
    Compact,
    /// A run is handed over to another agent.
    Handoff,
    /// The model's thinking, signed or encrypted, is sent back.
    Opaque,
    /// Arguments that are no JSON object reach the framework.
    Raw,
    /// A result can be an image.
    Image,
    /// A run replaces an earlier message of the user, and what is behind it.
    Rewind,
    /// A thread goes back to the messages that such a run left.
    Branch,
    /// The user can say something while a tool works.
    Steer,
}

impl Feature {
    /// Every feature, in the order of the protocol.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::iter()
    }

    fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// A set of features.
///
/// ```
/// use threadspec_judge::protocol::{Feature, Features};
///
/// let mut features: Features = [Feature::Limit, Feature::Message].into_iter().collect();
/// features.insert(Feature::Kill);
/// assert!(features.contains(Feature::Kill) && !features.contains(Feature::Raw));
/// // They are in the order of the protocol.
/// assert_eq!(features.to_string(), "message, kill, limit");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Features(u16);

impl Features {
    /// Every feature.
    pub fn all() -> Self {
        Feature::all().collect()
    }

    /// Adds a feature.
    pub fn insert(&mut self, feature: Feature) {
        self.0 |= feature.bit();
    }

    /// Returns whether it is one of them.
    pub fn contains(self, feature: Feature) -> bool {
        self.0 & feature.bit() != 0
    }

    /// Returns whether there is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many there are.
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Each of them, in the order of the protocol.
    pub fn iter(self) -> impl Iterator<Item = Feature> {
        Feature::all().filter(move |feature| self.contains(*feature))
    }

    /// Those that are not among the others.
    #[must_use]
    pub fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    /// These and the others.
    #[must_use]
    pub fn with(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }
}

impl FromIterator<Feature> for Features {
    fn from_iter<I: IntoIterator<Item = Feature>>(features: I) -> Self {
        Self(features.into_iter().fold(0, |bits, feature| bits | feature.bit()))
    }
}

/// A list of names, in the order of the protocol.
impl Serialize for Features {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Features {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::<Feature>::deserialize(deserializer).map(Self::from_iter)
    }
}

impl fmt::Display for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.iter().map(|feature| feature.to_string()).collect();
        f.pad(&names.join(", "))
    }
}

/// How much a framework promises to keep of a run that ends early.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Display, EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum Saves {
    /// Every call that had returned.
    #[default]
    Call,
    /// Every round in which all calls had returned.
    Round,
    /// Whole runs only.
    Run,
}

/// The abilities of a testee for sessions; by default it has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionAbilities {
    /// The features that it has; none, not even `message`, without op `session`.
    pub features: Features,
    /// The amount that it promises to keep.
    pub saves: Saves,
    /// True if the system messages of all agents are joined at a hand-over.
    pub both_systems: bool,
}

impl SessionAbilities {
    /// Writes the members of a hello.
    pub(crate) fn write(self, hello: &mut Value) {
        let Self { features, saves, both_systems } = self;
        if !features.is_empty() {
            hello["session"] = features.iter().map(|feature| feature.to_string()).collect();
        }
        if saves != Saves::default() {
            hello["saves"] = saves.to_string().into();
        }
        if both_systems {
            hello["systems"] = json!("both");
        }
    }

    /// Reads the members of a hello, whose `ops` have op `session` or not, with remarks about them.
    ///
    /// # Errors
    ///
    /// Says what is wrong. A feature that is not known is no error: it represents cases that a later corpus has.
    pub(crate) fn read(hello: &Value, has_op: bool) -> Result<(Self, Vec<String>), Error> {
        let mut remarks = Vec::new();
        let features = match &hello["session"] {
            Value::Null => Features::default(),
            Value::Array(names) => names.iter().filter_map(|name| feature(name, &mut remarks)).collect(),
            other => return Err(Error::new(format!("its `session` is {}, not a list of features", shown(other)))),
        };
        if has_op && !features.contains(Feature::Message) {
            return Err(Error::new(
                "its `ops` names `session`, but its `session` does not name `message`, which every session needs",
            ));
        }
        if !has_op && !features.is_empty() {
            remarks.push("its hello has `session`, but its `ops` does not name it: no session is played".to_owned());
        }
        let saves = match &hello["saves"] {
            Value::Null => Saves::default(),
            name => name.as_str().and_then(|name| name.parse().ok()).ok_or_else(|| {
                Error::new(format!("its `saves` is {}: expected \"call\", \"round\" or \"run\"", shown(name)))
            })?,
        };
        let both_systems = match &hello["systems"] {
            Value::Null => false,
            name if name == "both" => true,
            other => return Err(Error::new(format!("its `systems` is {}: expected \"both\"", shown(other)))),
        };
        Ok((Self { features, saves, both_systems }, remarks))
    }
}

/// The feature with a name; what is none is remarked on.
fn feature(name: &Value, remarks: &mut Vec<String>) -> Option<Feature> {
    if let Some(feature) = name.as_str().and_then(|name| name.parse().ok()) {
        return Some(feature);
    }
    let all: Vec<String> = Feature::all().map(|feature| feature.to_string()).collect();
    let hint = name.as_str().and_then(|name| closest(name, &all));
    let hint = hint.map(|one| format!("; did you mean `{one}`?")).unwrap_or_default();
    remarks.push(format!("the `session` of its hello names {}, which is no feature that is known{hint}", shown(name)));
    None
}

fn shown(value: &Value) -> String {
    json::shortened(value, LONGEST_NAME)
}
