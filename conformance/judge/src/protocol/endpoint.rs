//! Defines the endpoint of a testee whose model is at the other end of a connection, and the dialects of servers.

use super::facts;
use crate::Error;
use serde_json::{Value, json};
use std::fmt;
use std::str::FromStr;
use strum::{Display, EnumIter, EnumString, IntoEnumIterator};
use threadspec::oracle::Api;

/// The API through which an agent asks its model, and whether it asks for streams. Its name is `anthropic`, or `anthropic:stream`.
///
/// ```
/// use threadspec_judge::protocol::Transport;
///
/// let transport: Transport = "anthropic:stream".parse()?;
/// assert!(transport.stream && transport.to_string() == "anthropic:stream");
/// assert!("anthropic:streams".parse::<Transport>().is_err());
/// # Ok::<(), threadspec_judge::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Transport {
    /// The API.
    pub api: Api,
    /// True if answers are asked for as streams of events.
    pub stream: bool,
}

impl Transport {
    /// Every API, plain and as streams.
    pub fn all() -> impl Iterator<Item = Self> {
        Api::ALL.into_iter().flat_map(|api| [false, true].map(|stream| Self { api, stream }))
    }

    /// Writes it as it is in the hello.
    pub(super) fn to_json(self) -> Value {
        json!({"api": self.api.to_string(), "stream": self.stream})
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}{}", self.api, if self.stream { ":stream" } else { "" }))
    }
}

impl FromStr for Transport {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::all().find(|transport| transport.to_string() == name).ok_or_else(|| {
            let apis = Api::ALL.map(|api| format!("`{api}`")).join(", ");
            Error::new(format_args!("no API is called `{name}`: expected one of {apis}, each also with `:stream`"))
        })
    }
}

/// Where an agent finds its model, and how it is to ask it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Through which API.
    pub transport: Transport,
    /// The base URL, as the API's official SDK takes it.
    pub base_url: String,
    /// The key, which says which run a request belongs to.
    pub api_key: String,
    /// The model to ask.
    pub model: String,
    /// True if to switch the model's thinking on.
    pub reasoning: bool,
}

impl Endpoint {
    /// The member `endpoint` of a request.
    pub fn to_json(&self) -> Value {
        let Self { transport: Transport { api, stream }, base_url, api_key, model, reasoning } = self;
        let mut endpoint =
            json!({"api": api.to_string(), "baseUrl": base_url, "apiKey": api_key, "model": model, "stream": stream});
        if *reasoning {
            endpoint["reasoning"] = true.into();
        }
        endpoint
    }

    /// Reads the member `endpoint` of a request.
    ///
    /// # Errors
    ///
    /// Says what is missing or unknown.
    pub fn from_json(endpoint: &Value) -> Result<Self, Error> {
        let text = |name: &str| {
            let missing = || Error::new(format_args!("its `endpoint.{name}` is missing, or no string"));
            endpoint[name].as_str().map(str::to_owned).ok_or_else(missing)
        };
        let flag = |name: &str| super::hello::flag(&endpoint[name], &format!("endpoint.{name}"));
        let api = text("api")?.parse().map_err(Error::new)?;
        Ok(Self {
            transport: Transport { api, stream: flag("stream")? },
            base_url: text("baseUrl")?,
            api_key: text("apiKey")?,
            model: text("model")?,
            reasoning: flag("reasoning")?,
        })
    }
}

// Names the dialects of servers that are like those of an API: what they say differs, and many clients live with it.

/// A way in which a server differs from that of the API's maker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumIter, EnumString)]
#[strum(serialize_all = "kebab-case", parse_err_fn = unknown, parse_err_ty = Error)]
pub enum ServerDialect {
    /// Each piece of a call has all its arguments so far.
    CumulativeArguments,
    /// Later pieces of a call have its name again.
    RepeatedNames,
    /// No piece of a call has an index.
    NoIndex,
    /// An answer with calls stops as one without.
    StopBesideCalls,
    /// Calls have an empty id, or none.
    EmptyIds,
}

impl ServerDialect {
    /// Every dialect.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::iter()
    }

    /// Returns whether a server that is asked in this way can speak it.
    ///
    /// ```
    /// use threadspec_judge::protocol::ServerDialect;
    /// let fits = |transport: &str| transport.parse().map(|transport| ServerDialect::NoIndex.fits(transport));
    /// assert_eq!((fits("openai-chat:stream"), fits("openai-chat")), (Ok(true), Ok(false)));
    /// ```
    pub fn fits(self, Transport { api, stream }: Transport) -> bool {
        match self {
            Self::CumulativeArguments | Self::RepeatedNames | Self::NoIndex => api == Api::OpenAiChat && stream,
            Self::StopBesideCalls => api == Api::OpenAiChat,
            Self::EmptyIds => !facts(api).needs_ids,
        }
    }
}

fn unknown(name: &str) -> Error {
    let names = ServerDialect::all().map(|dialect| format!("`{dialect}`")).collect::<Vec<_>>().join(", ");
    Error::new(format_args!("no dialect is called `{name}`: expected one of {names}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_read_as_it_was_written() {
        for transport in Transport::all() {
            for reasoning in [false, true] {
                let endpoint = Endpoint {
                    transport,
                    base_url: "http://127.0.0.1:1/v1".into(),
                    api_key: "sk-threadspec-a".into(),
                    model: "gpt-4.1".into(),
                    reasoning,
                };
                assert_eq!(Endpoint::from_json(&endpoint.to_json()), Ok(endpoint));
            }
        }
    }

    #[test]
    fn what_an_endpoint_lacks_is_named() {
        let api = json!({"api": "palm", "baseUrl": "", "apiKey": "", "model": ""});
        for (endpoint, why) in [
            (json!(null), "`endpoint.api`"),
            (json!({"api": "anthropic"}), "`endpoint.baseUrl`"),
            (api, "palm"),
            (json!({"api": "anthropic", "stream": 1}), "`endpoint.stream`"),
        ] {
            let error = Endpoint::from_json(&endpoint).expect_err("it is no endpoint").to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
