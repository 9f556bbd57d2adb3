//! Chooses the turn that answers an ask.

use crate::script::WireTurn;
use std::fmt::Debug;
use threadspec_apis::ApiRequest;

/// A source of the turns of a run.
///
/// A case has a list; a script of a provider that is alone may have rules.
pub(crate) trait Turns: Debug + Send {
    /// The turn that answers an ask, counted from 0, whose first acceptable request this is; `None` if nothing is left to say.
    fn turn(&mut self, ask: usize, request: &ApiRequest) -> Option<WireTurn>;

    /// An ask begins with this request, which may be refused.
    fn ask(&mut self, _ask: usize, _request: &ApiRequest) {}

    /// A run of a session begins, counted from 0.
    fn begin_run(&mut self, _run: usize) {}
}

/// A list: each ask has its own turn, in the order in which the asks came.
#[derive(Debug)]
pub(crate) struct Listed(pub(crate) Vec<WireTurn>);

impl Turns for Listed {
    fn turn(&mut self, ask: usize, _: &ApiRequest) -> Option<WireTurn> {
        // No ask comes twice.
        self.0.get_mut(ask).map(std::mem::take)
    }
}
