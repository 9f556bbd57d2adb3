//! Where a planted bug or reading shows: in which of the two gateways, between which APIs, plain or streaming, and when.

use super::course::ExchangeCourse;
use crate::wire::modes::SPOKEN;
use std::fmt;
use threadspec::oracle::Api;
use threadspec_apis::ApiRequest;

/// Between which APIs, and in which modes, something shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Places {
    clients: &'static [Api],
    upstreams: &'static [Api],
    /// In the plain proxy, and in the one that translates.
    proxies: bool,
    translates: bool,
    streams: &'static [bool],
}

/// A gateway between two APIs, in one mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Between {
    /// What the client speaks.
    pub client: Api,
    /// What the upstream speaks.
    pub upstream: Api,
    /// Whether answers are streams.
    pub stream: bool,
}

impl fmt::Display for Between {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} → {}{}", self.client, self.upstream, if self.stream { ":stream" } else { "" })
    }
}

impl Between {
    /// Every pair of APIs in both modes.
    pub fn all() -> impl Iterator<Item = Self> {
        ALL.each()
    }
}

/// Everywhere.
pub(crate) const ALL: Places =
    Places { clients: &SPOKEN, upstreams: &SPOKEN, proxies: true, translates: true, streams: &[false, true] };
/// In the plain proxy.
pub(crate) const PROXY: Places = Places { translates: false, ..ALL };
/// In the gateway that translates.
pub(crate) const TRANSLATING: Places = Places { proxies: false, ..ALL };

impl Places {
    /// Of these, those with clients of some APIs.
    pub(crate) const fn from(self, clients: &'static [Api]) -> Self {
        Self { clients, ..self }
    }

    /// Of these, those with upstreams of some APIs.
    pub(crate) const fn to(self, upstreams: &'static [Api]) -> Self {
        Self { upstreams, ..self }
    }

    /// Of these, those where answers are one JSON text.
    pub(crate) const fn plain(self) -> Self {
        Self { streams: &[false], ..self }
    }

    /// Of these, those where answers are streams.
    pub(crate) const fn streams(self) -> Self {
        Self { streams: &[true], ..self }
    }

    /// Every place.
    pub(crate) fn each(self) -> impl Iterator<Item = Between> {
        let pairs = self.clients.iter().flat_map(move |&client| self.upstreams.iter().map(move |&to| (client, to)));
        let fits = move |(client, upstream): &(Api, Api)| {
            if client == upstream { self.proxies } else { self.translates }
        };
        pairs.filter(fits).flat_map(move |(client, upstream)| {
            self.streams.iter().map(move |&stream| Between { client, upstream, stream })
        })
    }
}

/// When a bug shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShowsWhen {
    Always,
    /// In the second request of a run, and later.
    SecondRequest,
    /// From the second run on.
    SecondRun,
    /// Where a message of the history makes three calls.
    ThreeCalls,
    /// In a history of more than twelve messages.
    LongHistory,
    /// Where there are parallel calls and the answer is to be a stream: two conditions at once.
    ParallelInStreams,
}

impl ShowsWhen {
    /// What follows the name of the bug.
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Self::Always => "",
            Self::SecondRequest => "-in-the-second-request",
            Self::SecondRun => "-from-the-second-run-on",
            Self::ThreeCalls => "-with-three-calls",
            Self::LongHistory => "-in-long-histories",
            Self::ParallelInStreams => "-with-parallel-calls-in-streams",
        }
    }

    /// Returns whether it shows in an exchange.
    pub(crate) fn holds(self, course: &ExchangeCourse) -> bool {
        let calls = |least: usize| {
            let request = ApiRequest::read(course.client, &course.asked);
            request.messages.iter().any(|message| message.calls.len() >= least)
        };
        match self {
            Self::Always => true,
            Self::SecondRequest => course.ask_of_run >= 2,
            Self::SecondRun => course.run >= 2,
            Self::ThreeCalls => calls(3),
            Self::LongHistory => ApiRequest::read(course.client, &course.asked).messages.len() > 12,
            Self::ParallelInStreams => course.stream && calls(2),
        }
    }
}
