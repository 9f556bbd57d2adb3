//! Chooses the turn that answers a request of a session: the next one of the run that began last.

use super::turns::Turns;
use crate::script::WireTurn;
use crate::session::SessionPlan;
use std::collections::HashMap;
use threadspec_apis::ApiRequest;

/// The turns of a session.
#[derive(Debug)]
pub(crate) struct SessionTurns {
    plan: SessionPlan,
    run: usize,
    /// How many asks of the run there were, and how many of them were not for a summary.
    asks: (usize, usize),
    places: HashMap<usize, TurnPlace>,
}

/// Where the answer to an ask is.
#[derive(Clone, Copy, Debug)]
enum TurnPlace {
    Summary(usize),
    Turn(usize, usize),
}

impl SessionTurns {
    pub(crate) fn new(plan: SessionPlan) -> Self {
        Self { plan, run: 0, asks: (0, 0), places: HashMap::new() }
    }

    fn place(&mut self, ask: usize, request: &ApiRequest) -> TurnPlace {
        if let Some(place) = self.places.get(&ask) {
            return *place;
        }
        let (all, turns) = &mut self.asks;
        let is_first = *all == 0;
        *all += 1;
        let place = if self.plan.is_for_summary(self.run, is_first, request) {
            TurnPlace::Summary(self.run)
        } else {
            *turns += 1;
            TurnPlace::Turn(self.run, *turns - 1)
        };
        self.places.insert(ask, place);
        place
    }
}

impl Turns for SessionTurns {
    fn turn(&mut self, ask: usize, request: &ApiRequest) -> Option<WireTurn> {
        match self.place(ask, request) {
            TurnPlace::Summary(run) => {
                let content = self.plan.runs.get(run)?.summary.clone();
                Some(WireTurn { content, ..WireTurn::default() })
            }
            TurnPlace::Turn(run, number) => {
                let turn = self.plan.runs.get(run)?.turns.get(number)?;
                let failing = |agent| WireTurn::failing(format!("no tool hands over to {agent}"));
                Some(turn.said_to(request).unwrap_or_else(failing))
            }
        }
    }

    fn ask(&mut self, ask: usize, request: &ApiRequest) {
        // A refused request has its place, too.
        self.place(ask, request);
    }

    fn begin_run(&mut self, run: usize) {
        (self.run, self.asks) = (run, (0, 0));
    }
}
