//! The agent as a testee that is asked several things at once.

use crate::agent::{Agent, refused};
use crate::planted::{Clash, Kind, Planted};
use serde_json::Value;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use threadspec_judge::protocol::{Hello, Implementation, JudgeProfile, Op, Reply, Request};
use threadspec_judge::verdict::Outcome;
use threadspec_runner::{Testee, Trouble};

/// The agent as one that takes several requests at once: its runs take turns in asking the model.
pub struct Together {
    clash: Option<Clash>,
    hello: Hello,
    sent: Vec<Request>,
    answered: VecDeque<(i64, Outcome)>,
}

impl Together {
    /// The agent with a bug that shows only where runs meet. With anything else, and with nothing, it is sound.
    pub fn new(planted: Option<&Planted>) -> Self {
        let clash = planted.and_then(|planted| match planted.kind {
            Kind::Clash(clash) => Some(clash),
            _ => None,
        });
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

    /// Answers requests that came at the same time: the id and the line of each reply, in the order in which the runs end.
    ///
    /// # Panics
    ///
    /// With the bug that makes two runs at once crash.
    pub fn answer(&self, requests: &[Request]) -> Vec<(i64, String)> {
        let mut agent = Agent::default();
        let (mut lines, mut ids, mut runs) = (Vec::new(), Vec::new(), Vec::new());
        let line = |id, reply: &Reply| (id, reply.marked_line(id));
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
            let met = clash.map_or(Ok(()), |Clash(meet)| meet(&mut runs, at));
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
                    let read = Reply::read_for(JudgeProfile::Universal, line.as_bytes());
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
