//! Writes the runs of a session one after the other, and keeps account of what is pending and what was cut, as far as an agent that does
//! what is expected has it so: what is written is a script for every other agent, too.

use super::{CallStart, CallText, DrawnRun, GUARDED, Numbers, OTHERS, RoundText};
use crate::generate::json::pick;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use threadspec_judge::protocol::{Feature, Features};

/// The session so far.
pub(super) struct SessionWriter {
    used: Features,
    numbers: Numbers,
    /// How often a word of the first message and of the first result is repeated.
    pub(super) repeats: usize,
    tools: Map<String, Value>,
    agents: BTreeSet<usize>,
    runs: Vec<Value>,
    /// The calls that wait for a decision.
    pending: Vec<String>,
    /// Those that a user message went past.
    passed: Vec<String>,
    /// The last run ended early.
    is_open: bool,
}

/// How a run begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RunStart {
    Message,
    Resume,
    /// With decisions on all pending calls.
    Decide,
    /// On some.
    DecidePart,
    /// On calls that a message went past.
    DecideLate,
}

impl SessionWriter {
    pub(super) fn new(used: Features, key: u8) -> Self {
        let numbers = Numbers { key, calls: 0, texts: 0, opaque: 0, images: 0, handed: 0 };
        let (tools, agents, runs) = (Map::new(), BTreeSet::new(), Vec::new());
        let (pending, passed) = (Vec::new(), Vec::new());
        Self { used, numbers, repeats: 0, tools, agents, runs, pending, passed, is_open: false }
    }

    /// A run of a message and its answer.
    pub(super) fn plain_run(&mut self) {
        let message = self.message();
        let answer = self.numbers.text("Answer");
        self.begin_with_message();
        self.runs.push(json!({"message": message, "model": [{"content": answer}]}));
    }

    /// A run of so many rounds of three calls.
    pub(super) fn long_run(&mut self, rounds: usize) {
        let message = self.message();
        self.begin_with_message();
        let rounds: Vec<RoundText> = (0..rounds).map(|_| RoundText::plain(&mut self.numbers)).collect();
        let mut model: Vec<Value> = rounds.into_iter().map(|round| self.keep(round)).collect();
        model.push(json!({"content": self.numbers.text("Answer")}));
        self.runs.push(json!({"message": message, "model": model}));
    }

    pub(super) fn run(&mut self, plan: &DrawnRun) {
        let start = self.start(plan.begins);
        let mut run = json!({});
        // Calls that this run can begin without a response of its own.
        let mut begun: Vec<String> = Vec::new();
        let mut goes_on = true;
        match start {
            RunStart::Message => {
                run["message"] = plan.words.behind(&self.message()).into();
                self.begin_with_message();
            }
            RunStart::Resume => {
                run["resume"] = true.into();
                goes_on = self.is_open && self.pending.is_empty();
            }
            RunStart::Decide | RunStart::DecidePart | RunStart::DecideLate => {
                let (decisions, approved) = self.decisions(start, plan);
                run["decisions"] = decisions.into();
                begun = approved;
                goes_on = start == RunStart::Decide;
            }
        }
        if self.used.contains(Feature::Compact) && plan.compacts % 3 == 2 {
            run["compact"] = self.compaction(plan.compacts / 3);
        }
        let mut rounds = if goes_on { self.rounds(plan) } else { Vec::new() };
        // How rounds are counted that begin with a decision is the framework's own.
        let may_be_limited = start == RunStart::Message && self.used.contains(Feature::Limit) && !rounds.is_empty();
        let limit = match plan.limited % 6 {
            4 if may_be_limited => Some(rounds.len()),
            5 if may_be_limited => Some(rounds.len() - 1),
            _ => None,
        };
        let is_limited = limit == Some(rounds.len().wrapping_sub(1));
        let cut = if is_limited { None } else { self.cut(plan, &begun, &rounds) };
        if let Some((during, _, last)) = &cut {
            rounds.truncate(*last);
            run["cut"] = json!({"during": during, "how": cut.as_ref().map(|cut| cut.1)});
        }
        let during = cut.as_ref().map(|(during, ..)| &**during);
        if let Some(call) = self.steered(plan, &rounds, during) {
            run["say"] = json!({"during": call, "message": self.numbers.text("Meanwhile")});
        }
        if let Some(limit) = limit.filter(|_| cut.is_none()) {
            run["maxRecursionDepth"] = limit.into();
        }
        if let Some(round) = rounds.last().filter(|_| !is_limited) {
            let waits = round.calls.iter().filter(|call| call.start == CallStart::Waits);
            self.pending.extend(waits.map(|call| call.id.clone()));
        }
        let mut model: Vec<Value> = rounds.into_iter().map(|round| self.keep(round)).collect();
        // Behind a cut or a pending call it is for an agent that goes on all the same.
        let fails = self.used.contains(Feature::Error) && plan.fails % 5 == 4;
        model.push(if fails {
            json!({"error": self.numbers.text("The model is down")})
        } else {
            let mut last = json!({"content": plan.words.behind(&self.numbers.text("Answer"))});
            let opaque = if self.used.contains(Feature::Opaque) { self.numbers.parts(plan.opaque) } else { Vec::new() };
            if !opaque.is_empty() {
                last["opaque"] = opaque.into();
            }
            last
        });
        run["model"] = model.into();
        self.is_open =
            cut.is_some() || is_limited || fails && self.pending.is_empty() && goes_on || self.is_open && !goes_on;
        self.runs.push(run);
    }

    /// Writes what shows how the last runs ended.
    pub(super) fn finish(&mut self, end: u8) {
        let is_cut = |run: &Value| run.get("cut").is_some();
        let ends_cut = self.runs.last().is_some_and(is_cut);
        if self.used.contains(Feature::Approval) && !self.pending.is_empty() && end % 4 == 1 {
            let ids = std::mem::take(&mut self.pending);
            let decisions: Map<String, Value> = ids.into_iter().map(|id| (id, json!({"approve": true}))).collect();
            self.push_closing(json!({"decisions": decisions}));
        } else if self.runs.is_empty() || ends_cut || self.is_open || end % 4 == 2 {
            self.plain_run();
        }
        if self.used.contains(Feature::Resume) && end % 8 >= 4 {
            // A thread that refuses a message is not lost if it can be resumed.
            self.push_closing(json!({"resume": true}));
            self.plain_run();
        }
        if !self.passed.is_empty() && end % 4 != 3 {
            let decisions: Map<String, Value> =
                self.passed.iter().map(|id| (id.clone(), json!({"approve": true}))).collect();
            self.push_closing(json!({"decisions": decisions}));
        }
    }

    /// The whole input.
    pub(super) fn input(self, has_system: bool) -> String {
        let Self { tools, agents, runs, .. } = self;
        let mut input = json!({});
        if has_system {
            input["system"] = "You are the first.".into();
        }
        if !agents.is_empty() {
            // Each has all tools, so that a response may call any, whoever says it.
            let agent = |agent: usize| {
                let name = OTHERS[agent];
                (name.to_owned(), json!({"system": format!("You are agent {name}."), "tools": tools}))
            };
            input["agents"] = agents.into_iter().map(agent).collect::<Map<_, _>>().into();
        }
        if !tools.is_empty() {
            input["tools"] = tools.into();
        }
        input["runs"] = runs.into();
        input.to_string()
    }

    fn push_closing(&mut self, mut run: Value) {
        run["model"] = json!([{"content": self.numbers.text("Answer")}]);
        self.runs.push(run);
    }

    fn message(&mut self) -> String {
        let more = if self.runs.is_empty() { self.repeats } else { 0 };
        format!("Message {}{}{}", self.runs.len() + 1, self.numbers.mark(), " more".repeat(more))
    }

    fn begin_with_message(&mut self) {
        self.passed.append(&mut self.pending);
        self.is_open = false;
    }

    fn start(&self, choice: u8) -> RunStart {
        let may_resume = self.used.contains(Feature::Resume) && !self.runs.is_empty();
        match choice % 8 {
            4..=7 if !self.pending.is_empty() && choice >= 128 && self.pending.len() > 1 => RunStart::DecidePart,
            1..=7 if !self.pending.is_empty() && choice % 8 != 3 => RunStart::Decide,
            3 if may_resume => RunStart::Resume,
            5 if may_resume && self.is_open => RunStart::Resume,
            6 | 7 if !self.passed.is_empty() => RunStart::DecideLate,
            _ => RunStart::Message,
        }
    }

    /// The decisions, and the calls that are approved in time.
    fn decisions(&mut self, start: RunStart, plan: &DrawnRun) -> (Map<String, Value>, Vec<String>) {
        let is_late = start == RunStart::DecideLate;
        let ids = if is_late { self.passed.clone() } else { std::mem::take(&mut self.pending) };
        let (mut decided, mut approved) = (Vec::new(), Vec::new());
        let last = ids.len() - 1;
        for (place, id) in ids.into_iter().enumerate() {
            let choice = plan.decisions[place % plan.decisions.len()];
            if start == RunStart::DecidePart && (place == last || place > 0 && choice >= 128) {
                self.pending.push(id);
                continue;
            }
            let decision = match choice % 8 {
                3 | 4 if self.used.contains(Feature::Edit) => {
                    json!({"approve": true, "args": {"edited": format!("by {place}{}", self.numbers.mark())}})
                }
                5 => json!({"approve": false}),
                6 | 7 => json!({"approve": false, "reason": self.numbers.text("Not now, for reason")}),
                _ => json!({"approve": true}),
            };
            if decision["approve"] == true && !is_late {
                approved.push(id.clone());
            }
            decided.push((id, decision));
        }
        if plan.begins / 8 % 2 == 1 {
            decided.reverse();
        }
        (decided.into_iter().collect(), approved)
    }

    fn compaction(&mut self, choice: u8) -> Value {
        let mut compaction = match choice % 4 {
            0 | 1 => json!({"keepMessages": u64::from(choice / 8 % 6) + 1}),
            _ => json!({"tokens": pick(&[1, 20, 60, 200], choice / 8)}),
        };
        if choice % 2 == 1 {
            compaction["summary"] = self.numbers.text("Summary").into();
        }
        compaction
    }

    /// The responses with calls: behind one of which a call waits, none comes.
    fn rounds(&mut self, plan: &DrawnRun) -> Vec<RoundText> {
        let mut rounds: Vec<RoundText> = Vec::new();
        for round in plan.rounds.iter() {
            rounds.extend(round.write(self.used, &mut self.numbers, self.repeats));
            if rounds.last().is_some_and(|round| round.has(CallStart::Waits)) {
                break;
            }
        }
        rounds
    }

    /// The call during which the run is cut, how, and how many rounds the run has then.
    fn cut(&self, plan: &DrawnRun, begun: &[String], rounds: &[RoundText]) -> Option<(String, &'static str, usize)> {
        let hows = [(Feature::Cancel, "cancel"), (Feature::Error, "throw"), (Feature::Kill, "kill")];
        let hows: Vec<&str> =
            hows.iter().filter(|(feature, _)| self.used.contains(*feature)).map(|(_, how)| *how).collect();
        let approved = begun.iter().map(|id| (id, 0));
        let own = rounds.iter().enumerate().flat_map(|(place, round)| {
            let begins = round.calls.iter().filter(|call| call.start == CallStart::Begins);
            begins.map(move |call| (&call.id, place + 1))
        });
        let places: Vec<(&String, usize)> = approved.chain(own).collect();
        if hows.is_empty() || places.is_empty() || plan.cut % 8 < 4 {
            return None;
        }
        let (during, last) = places[usize::from(plan.cut_place) % places.len()];
        Some((during.clone(), hows[usize::from(plan.cut / 8) % hows.len()], last))
    }

    /// The call during which the user speaks: one that begins and returns, and beside which none waits.
    fn steered(&self, plan: &DrawnRun, rounds: &[RoundText], cut: Option<&str>) -> Option<String> {
        let calls = rounds.iter().filter(|round| !round.has(CallStart::Waits)).flat_map(|round| &round.calls);
        let returns = |call: &&CallText| call.start == CallStart::Begins && Some(&*call.id) != cut;
        let calls: Vec<&CallText> = calls.filter(returns).collect();
        if !self.used.contains(Feature::Steer) || plan.limited < 128 || calls.is_empty() {
            return None;
        }
        Some(calls[usize::from(plan.limited / 8) % calls.len()].id.clone())
    }

    /// The turn of a response; its calls get their results, and its agents are named.
    fn keep(&mut self, mut round: RoundText) -> Value {
        self.agents.extend(round.agents.drain(..));
        for call in &mut round.calls {
            let Some((tool, result)) = call.result.take() else { continue };
            let tool_of = self.tools.entry(tool).or_insert_with(|| {
                if GUARDED.contains(&tool) { json!({"approval": true, "byId": {}}) } else { json!({"byId": {}}) }
            });
            tool_of["byId"][&call.id] = result;
        }
        round.into_turn()
    }
}
