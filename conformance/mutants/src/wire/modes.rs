//! The ways in which a model is asked.

use threadspec::oracle::Api;
use threadspec_judge::protocol::Transport;

/// In which APIs, and whether plain or streaming, something shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Modes {
    apis: &'static [Api],
    streams: &'static [bool],
}

/// The APIs that mutants speak.
pub(crate) const SPOKEN: [Api; 3] = [Api::OpenAiChat, Api::OpenAiResponses, Api::Anthropic];

/// Everywhere.
pub(crate) const ALL: Modes = Modes { apis: &SPOKEN, streams: &[false, true] };
/// In answers that are one JSON text.
pub(crate) const PLAIN: Modes = Modes { apis: &SPOKEN, streams: &[false] };
/// In event streams.
pub(crate) const STREAMS: Modes = Modes { apis: &SPOKEN, streams: &[true] };

impl Modes {
    /// Of these, those of some APIs.
    pub(crate) const fn of(self, apis: &'static [Api]) -> Self {
        Self { apis, ..self }
    }

    /// Every API in which it shows, with whether the answers are streams.
    pub(crate) fn each(self) -> impl Iterator<Item = Transport> {
        self.apis.iter().flat_map(move |&api| self.streams.iter().map(move |&stream| Transport { api, stream }))
    }
}
