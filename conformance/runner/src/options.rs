//! How a run is made, as run files and transcripts tell it.

use serde::{Deserialize, Serialize};
use threadspec::oracle::Api;
use threadspec_judge::corpus::Case;
use threadspec_judge::protocol::{JudgeProfile, Op, Transport};
use threadspec_judge::text::count;

/// How a run was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunOptions {
    /// The profile that it was judged by.
    #[serde(with = "by_name")]
    pub profile: JudgeProfile,
    /// How the testee asked a provider for the model's answers; without one they were scripted in its adapter.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "by_optional_name")]
    pub provider: Option<Transport>,
    /// The gateway that was between client and provider, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub through: Option<RunGateway>,
    /// How the program is started, if one is tested as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<RunProgram>,
    /// The model that it should ask for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How the provider differed from that of the API's maker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    /// How answers were divided that came as streams, if not as usual.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream_pieces: Option<String>,
    /// True if a `should` counts.
    pub strict: bool,
    /// The patterns that chose its cases; all of them without a pattern.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filter: Vec<String>,
    /// The operations that chose them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub op: Vec<String>,
    /// The patterns of clauses that chose them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clause: Vec<String>,
    /// How many `unsupported` replies are allowed for operations that its hello lists.
    #[serde(default, skip_serializing_if = "is_none")]
    pub max_unsupported: usize,
    /// Seconds for one reply.
    pub timeout: f64,
    /// The seed of the order of the cases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The part of the cases, as in `1/4`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
    /// How many testees at once.
    pub jobs: usize,
    /// How often the cases ran against the same process.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub repeat: u64,
    /// For how many seconds they ran against it again and again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soak: Option<f64>,
    /// For how many seconds it waited between two requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause: Option<f64>,
    /// How many cases of the profile were left out because they take too long for every day.
    #[serde(default, skip_serializing_if = "is_none")]
    pub left_out: usize,
}

/// A gateway that is between client and provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunGateway {
    /// The API that the client speaks.
    #[serde(with = "by_name")]
    pub client: Api,
    /// Its name.
    pub name: String,
    /// The words of the command line that say how it is reached, with their placeholders.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
}

/// A program that is tested as it is, from its command line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunProgram {
    /// The words of the command line that say how it is started, with their placeholders.
    pub options: Vec<String>,
}

impl RunOptions {
    /// Names the profile of the run and its wire: `universal over anthropic:stream`, or `universal over openai-chat → anthropic:stream
    /// through litellm`.
    pub fn terms(&self) -> String {
        let (client, name) = match &self.through {
            Some(RunGateway { client, name, .. }) => (format!("{client} → "), format!(" through {name}")),
            None => (String::new(), String::new()),
        };
        let over = self.provider.map(|transport| format!(" over {client}{transport}{name}")).unwrap_or_default();
        let dialect = self.dialect.as_ref().map(|dialect| format!(" with {dialect}")).unwrap_or_default();
        let door = if self.program.is_some() { ", as a program" } else { "" };
        format!("{}{over}{dialect}{door}", self.profile)
    }

    /// Returns whether a case can be part of such a run.
    pub fn fits(&self, case: &Case) -> bool {
        case.is_in(self.profile) && can_be_put(case, self.provider, self.through.as_ref().map(|gateway| gateway.client))
    }

    /// Returns the complaint if a testee answered so many cases with `unsupported`, of operations that its hello names.
    pub fn too_many_declined(&self, declined: usize) -> Option<String> {
        let most = self.max_unsupported;
        let what = format!(
            "its hello names their operation, but it answered {} with `unsupported`; --max-unsupported permits {most}",
            count(declined, "case")
        );
        // A program has no hello: what it can play is known case by case.
        (declined > most && self.program.is_none()).then_some(what)
    }
}

/// Returns whether a case can run against a testee with this provider and gateway. The model may instead be scripted in its adapter.
/// Through a gateway go the cases about gateways, and those about agents: how an agent deals with the wire, a gateway hides. The APIs of a
/// case about gateways are those that say what it sends.
pub fn can_be_put(case: &Case, provider: Option<Transport>, through: Option<Api>) -> bool {
    match (provider, through) {
        (None, _) => !case.needs_provider(),
        // Gateways are not judged there.
        (Some(transport), Some(client)) if [transport.api, client].contains(&Api::Gemini) => false,
        (Some(Transport { api, stream }), None) => !case.needs_gateway() && case.is_for(api, stream),
        (Some(Transport { stream, .. }), Some(client)) if case.needs_gateway() => case.is_for(client, stream),
        (Some(Transport { api, stream }), Some(client)) => {
            case.op == Op::Tools && !case.needs_wire() && [api, client].iter().all(|&api| case.is_for(api, stream))
        }
    }
}

fn once() -> u64 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_once(times: &u64) -> bool {
    *times == 1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_none(count: &usize) -> bool {
    *count == 0
}

/// Serializes a value as its name.
pub mod by_name {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use std::fmt::Display;
    use std::str::FromStr;

    /// Writes the name.
    ///
    /// # Errors
    ///
    /// When the serializer fails.
    pub fn serialize<S: Serializer>(value: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    /// Reads the name.
    ///
    /// # Errors
    ///
    /// When there is no such name.
    pub fn deserialize<'de, D, T>(deserializer: D) -> Result<T, D::Error>
    where
        D: Deserializer<'de>,
        T: FromStr<Err: Display>,
    {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// Serializes what may be absent as its name.
mod by_optional_name {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use std::fmt::Display;
    use std::str::FromStr;

    #[expect(clippy::ref_option, reason = "serde wants it so")]
    pub(super) fn serialize<S: Serializer>(value: &Option<impl Display>, serializer: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => serializer.collect_str(value),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
    where
        D: Deserializer<'de>,
        T: FromStr<Err: Display>,
    {
        let name: Option<String> = Option::deserialize(deserializer)?;
        name.map(|name| name.parse().map_err(D::Error::custom)).transpose()
    }
}
