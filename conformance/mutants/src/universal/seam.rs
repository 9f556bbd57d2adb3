//! A fault for each decision of the agent, which it replaces.

use super::{Clauses, bug};
use crate::agent::{RunState, ToolOutcome};
use crate::planted::Planted;
use serde_json::Value;

macro_rules! seams {
    ($($seam:ident: Fn($($given:ty),*) $(-> $back:ty)?;)*) => {
        $(pub(super) fn $seam(
            name: &str,
            breaks: Clauses,
            seam: impl Fn($($given),*) $(-> $back)? + Copy + Send + Sync + 'static,
        ) -> Planted {
            bug(name, breaks, move |agent| agent.$seam = Box::new(seam))
        })*
    };
}

seams! {
    begin: Fn(&mut RunState) -> Result<(), String>;
    shown: Fn(&mut RunState, &mut Vec<Value>);
    response: Fn(&mut RunState, &mut Value);
    is_last: Fn(&mut RunState, &Value) -> bool;
    is_cut: Fn(&mut RunState) -> bool;
    answers_when_cut: Fn(&mut RunState, &Vec<Value>) -> Vec<Value>;
    outcome: Fn(&mut RunState, &Value) -> ToolOutcome;
    content: Fn(&mut RunState, &ToolOutcome) -> Value;
    answers: Fn(&mut RunState, &mut Vec<Value>);
    after_round: Fn(&mut RunState);
    failed: Fn(&mut RunState, &String) -> bool;
    end: Fn(&mut RunState, &mut Value);
    at_end: Fn(&mut RunState, Vec<Value>) -> Option<Vec<Value>>;
}
