//! Names the dialects of servers that are like those of an API: what they say differs, and many clients live with it.

use super::{Transport, facts};
use crate::Error;
use strum::{Display, EnumIter, EnumString, IntoEnumIterator};
use threadspec::oracle::Api;

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
