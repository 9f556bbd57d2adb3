//! AGENT-INDEPENDENT at the same time: agents whose runs influence each other while they are under way, and only then.

use super::agent::{Agent, Run, refused, text};
use serde_json::Value;
use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use threadspec_golden::clause;
use threadspec_judge::protocol::{Hello, Implementation, Op, Profile, Reply, Request};
use threadspec_judge::universal::halves;
use threadspec_judge::verdict::Outcome;
use threadspec_runner::testee::{Testee, Trouble};

/// What happens to a run before it asks its model while others are under way, given all of them and its place; an error refuses it.
type Meet = Box<dyn Fn(&mut [Run], usize) -> Result<(), String> + Send + Sync>;

/// A bug that shows only where runs meet.
pub struct Clash {
    /// In kebab-case, telling the mechanism.
    pub name: String,
    meet: Meet,
}

impl fmt::Debug for Clash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Clash({})", self.name)
    }
}

impl Clash {
    /// The clause that each of them breaks.
    pub const BREAKS: &[&str] = &[clause::AGENT_INDEPENDENT];
}

/// Every bug.
pub(super) fn all() -> Vec<Clash> {
    let clash = |name: &str, meet: Meet| Clash { name: name.to_owned(), meet };
    let always = |name, change: fn(&mut [Run], usize)| {
        let meet = move |runs: &mut [Run], at: usize| {
            change(runs, at);
            Ok(())
        };
        clash(name, Box::new(meet))
    };
    let mut all = vec![
        always("system-messages-of-another-run-at-once", |runs, at| {
            let (mut others, own) = (runs[next(runs, at)].list.clone(), &mut runs[at].list);
            others.retain(is_system);
            own.retain(|message| !is_system(message));
            own.splice(0..0, others);
        }),
        always("tools-of-the-newest-run-at-once", |runs, at| taken_from(runs, at, runs.len() - 1, "tools")),
        always("tools-of-the-oldest-run-at-once", |runs, at| taken_from(runs, at, 0, "tools")),
        always("model-of-the-newest-run-at-once", |runs, at| taken_from(runs, at, runs.len() - 1, "model")),
        always("model-of-the-oldest-run-at-once", |runs, at| taken_from(runs, at, 0, "model")),
        always("tools-of-all-runs-at-once", |runs, at| {
            let tools: Vec<Value> = runs.iter().map(|run| run.input["tools"].clone()).collect();
            for (name, results) in tools.iter().filter_map(Value::as_object).flatten() {
                if runs[at].input["tools"].get(name).is_none() {
                    runs[at].input["tools"][name] = results.clone();
                }
            }
        }),
        always("results-by-id-of-all-runs-at-once", |runs, at| {
            let tools = runs[next(runs, at)].input["tools"].clone();
            let own = runs[at].input["tools"].as_object_mut().into_iter().flatten();
            for (name, results) in own.filter(|(_, results)| results["byId"].is_object()) {
                for (id, result) in results["byId"].as_object_mut().into_iter().flatten() {
                    if let Some(other) = tools[name]["byId"].get(id) {
                        *result = other.clone();
                    }
                }
            }
        }),
        always("rounds-of-all-runs-counted-at-once", |runs, at| {
            let turns: usize = runs.iter().map(|run| run.turn).sum::<usize>() - runs[at].turn;
            let run = &mut runs[at];
            if run.memory.is_null() {
                run.memory = run.input["maxRecursionDepth"].clone();
            }
            if let Some(limit) = run.memory.as_u64() {
                run.input["maxRecursionDepth"] = limit.saturating_sub(turns as u64).into();
            }
        }),
        always("requests-kept-in-another-run-at-once", |runs, at| {
            if let Ok([own, other]) = runs.get_disjoint_mut([at, next(runs, at)]) {
                std::mem::swap(&mut own.requests, &mut other.requests);
            }
        }),
        always("last-answer-in-another-run-at-once", |runs, at| {
            let other = next(runs, at);
            if runs[other].list.last().is_some_and(|message| message["type"] == "tool") {
                let answer = runs[other].list.pop();
                runs[at].list.extend(answer);
            }
        }),
        clash(
            "failing-model-ends-runs-at-once",
            Box::new(|runs, at| {
                let failing = |run: &Run| run.input["model"].as_array().into_iter().flatten().find_map(error_of);
                let others = runs.iter().enumerate().filter(|(other, _)| *other != at);
                others.map(|(_, run)| run).find_map(failing).map_or(Ok(()), Err)
            }),
        ),
        clash(
            "second-run-at-once-refused",
            Box::new(|_, at| if at == 0 { Ok(()) } else { Err("the agent is busy".into()) }),
        ),
        clash("dies-of-two-runs-at-once", Box::new(|_, _| panic!("two runs at once"))),
    ];
    all.extend([2, 3, 4, 6].map(|size| {
        let meet = move |runs: &mut [Run], at: usize| {
            if runs.len() >= size {
                runs[at].list = runs[next(runs, at)].list.clone();
            }
            Ok(())
        };
        clash(&format!("one-list-for-{size}-runs-at-once"), Box::new(meet))
    }));
    all
}

/// The place of the run that is asked next, which is the first one for the last.
fn next(runs: &[Run], at: usize) -> usize {
    (at + 1) % runs.len()
}

fn taken_from(runs: &mut [Run], at: usize, other: usize, member: &str) {
    runs[at].input[member] = runs[other].input[member].clone();
}

fn is_system(message: &Value) -> bool {
    message["type"] == "system"
}

fn error_of(turn: &Value) -> Option<String> {
    turn.get("error").map(|error| text(error).to_owned())
}

/// The agent as one that takes several requests at once: its runs take turns in asking the model.
#[derive(Debug)]
pub struct Together {
    clash: Option<&'static Clash>,
    hello: Hello,
    sent: Vec<Request>,
    answered: VecDeque<(i64, Outcome)>,
}

impl Together {
    /// The agent with a bug, or with none.
    pub fn new(clash: Option<&'static Clash>) -> Self {
        let mut hello = Agent::default().hello();
        hello.abilities.concurrent = true;
        Self { clash, hello, sent: Vec::new(), answered: VecDeque::new() }
    }

    /// The same, but its hello does not say that it takes several requests.
    #[must_use]
    pub fn undeclared(mut self) -> Self {
        self.hello.abilities.concurrent = false;
        self
    }

    /// Answers requests that came at the same time: the id and the line of each reply, as the runs end.
    ///
    /// # Panics
    ///
    /// With the bug that is to die of it.
    pub fn answer(&self, requests: &[Request]) -> Vec<(i64, String)> {
        let mut agent = Agent::default();
        let (mut lines, mut ids, mut runs) = (Vec::new(), Vec::new(), Vec::new());
        let line = |id, reply: &Reply| (id, halves::written(&reply.line(id)).into_owned());
        for request in requests {
            match (request.op, agent.start(&request.input)) {
                (Op::Tools, Ok(run)) => {
                    ids.push(request.id);
                    runs.push(run);
                }
                (Op::Tools, Err(refusal)) => lines.push(line(request.id, &refused(refusal))),
                _ => lines.push((request.id, agent.line(request))),
            }
        }
        let mut at = 0;
        while !runs.is_empty() {
            at %= runs.len();
            let clash = self.clash.filter(|_| runs.len() > 1);
            let met = clash.map_or(Ok(()), |clash| (clash.meet)(&mut runs, at));
            if met.is_ok() && agent.step(&mut runs[at]) {
                at += 1;
                continue;
            }
            let (id, run) = (ids.remove(at), runs.remove(at));
            let reply = met.map_or_else(refused, |()| Reply::Ok(agent.finish(run)));
            agent.memory = Value::Null;
            lines.push(line(id, &reply));
        }
        lines
    }
}

impl Testee for Together {
    fn hello(&self) -> &Hello {
        &self.hello
    }

    fn window(&self) -> usize {
        16
    }

    fn send(&mut self, request: &Request) {
        self.sent.push(request.clone());
    }

    fn receive(&mut self) -> (i64, Outcome) {
        if self.answered.is_empty() {
            let requests = std::mem::take(&mut self.sent);
            match catch_unwind(AssertUnwindSafe(|| self.answer(&requests))) {
                Err(_) => return (requests[0].id, Outcome::Crash("it panicked".into())),
                Ok(lines) => self.answered.extend(lines.into_iter().map(|(id, line)| {
                    let read = Reply::read_for(Profile::Universal, line.as_bytes());
                    (id, read.map_or_else(|why| Outcome::Garbage(why.to_string()), |(_, reply)| Outcome::Reply(reply)))
                })),
            }
        }
        self.answered.pop_front().expect("a request was sent")
    }

    fn restart(&mut self) {
        self.sent.clear();
        self.answered.clear();
    }

    fn finish(&mut self) -> Vec<Trouble> {
        Vec::new()
    }
}
