//! A provider under load: `benches/README.md` says how it is measured.
//!
//! `load judged` plays and judges runs of three rounds with two calls each, begun by the first request of a key and judged after the third;
//! `load answers` gives the same answers by the same server, and judges nothing. It prints where it listens, and its figures when its input ends.

use cpu_time::ProcessTime;
use serde_json::json;
use std::collections::HashMap;
use std::io::Read;
use std::time::{Duration, Instant};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;
use std::{env, fs, io, thread};
use threadspec_provider::{
    Answers, AttemptId, EndedRun, Engine, PlannedEnd, EngineOptions, ServerLimits, PlannedAnswer, Reaction, Received, RunPlan, Server,
    WireStep, compose,
};
use threadspec::oracle::Api;
use threadspec_judge::protocol::Reply;
use threadspec_judge::universal::{Abilities, AgentReply, Others, judge};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const ROUNDS: usize = 3;

/// The input of op `tools` that every run has.
fn input() -> String {
    let call = |number: usize| json!({"id": format!("c{number}"), "name": "look", "args": {"n": number}});
    let turn = |round: usize| json!({"content": "I look.", "tool_calls": [call(2 * round), call(2 * round + 1)]});
    let turns: Vec<_> = (0..ROUNDS - 1).map(turn).chain([json!({"content": "Done"})]).collect();
    let messages = json!([{"type": "system", "content": "Be brief."}, {"type": "human", "content": "Go"}]);
    json!({"messages": messages, "model": turns, "tools": {"look": ["ok"]}}).to_string()
}

/// What is counted.
#[derive(Default)]
struct LoadCounts {
    runs: usize,
    breached: usize,
}

/// Plays a run for each key, and lets it be judged after its last round, by a thread of its own as in `verify`.
struct LoadJudged {
    engine: Engine,
    plan: RunPlan,
    rounds: HashMap<String, usize>,
    open: HashMap<AttemptId, String>,
    requests: usize,
    ended: Sender<EndedRun>,
}

impl LoadJudged {
    /// With the thread that judges, which gives its counts when nothing comes any more.
    fn new() -> (Self, JoinHandle<LoadCounts>) {
        let (ended, runs) = mpsc::channel();
        let engine = Engine::new(EngineOptions::default());
        let plan = RunPlan::of_case_input(Api::OpenAiChat, &input()).expect("a plan");
        let (rounds, open, requests) = (HashMap::new(), HashMap::new(), 0);
        (Self { engine, plan, rounds, open, requests, ended }, thread::spawn(move || judge_all(runs)))
    }
}

fn judge_all(runs: Receiver<EndedRun>) -> LoadCounts {
    let (input, mut counts) = (input(), LoadCounts::default());
    for EndedRun { plan, record, .. } in runs {
        let Reply::Ok(output) = compose(&plan, &record, Reply::Ok(json!({}))) else { continue };
        let found = output["wire"]["findings"].as_array().map_or(0, Vec::len);
        let ruling = judge(&input, &Others::default(), Abilities::default(), AgentReply::Output(output));
        let is_clean = found == 0 && ruling.is_ok_and(|ruling| ruling.findings().is_empty());
        counts.runs += 1;
        counts.breached += usize::from(!is_clean);
    }
    counts
}

impl Answers for LoadJudged {
    type Attempt = AttemptId;

    fn receive(&mut self, now: Duration, request: Received) -> (AttemptId, Reaction) {
        self.requests += 1;
        let key = request.header("authorization").and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
        let key = key.to_owned();
        let round = self.rounds.entry(key.clone()).or_default();
        if *round == 0 {
            self.engine.begin(now, &key, self.plan.clone());
        }
        *round += 1;
        let (id, reaction) = self.engine.receive(now, request);
        if *round == ROUNDS {
            self.open.insert(id, key);
        }
        (id, reaction)
    }

    fn delivered(&mut self, now: Duration, id: AttemptId, is_whole: bool) {
        self.engine.delivered(now, id, is_whole);
        let Some(key) = self.open.remove(&id) else { return };
        self.rounds.remove(&key);
        // Who judges is there as long as this is.
        let _ = self.engine.end(now, &key).map(|run| self.ended.send(run));
    }
}

/// Gives one answer to everything.
struct Constant {
    answer: PlannedAnswer,
    requests: usize,
}

impl Answers for Constant {
    type Attempt = ();

    fn receive(&mut self, _: Duration, _: Received) -> ((), Reaction) {
        self.requests += 1;
        ((), Reaction::Answer(self.answer.clone()))
    }

    fn delivered(&mut self, _: Duration, (): (), _: bool) {}
}

/// The memory that the process has now, in MB.
fn memory() -> f64 {
    let pages = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let resident = pages.split(' ').nth(1).and_then(|pages| pages.parse::<f64>().ok()).unwrap_or_default();
    resident * 4096.0 / 1e6
}

fn serve<A: Answers>(answers: A, requests: impl Fn(&A) -> usize, judging: Option<JoinHandle<LoadCounts>>) {
    let server = Server::start(([127, 0, 0, 1], 0).into(), ServerLimits::default(), answers).expect("a free port");
    println!("http://{}", server.address());
    let (began, spent) = (Instant::now(), ProcessTime::now());
    thread::scope(|scope| {
        scope.spawn(|| io::stdin().read_to_end(&mut Vec::new()));
    });
    let (requests, elapsed) = (server.with_settled(|answers, _| requests(answers)), began.elapsed());
    drop(server);
    tell(requests, judging, spent);
    println!("{:.1} s", elapsed.as_secs_f64());
}

fn tell(requests: usize, judging: Option<JoinHandle<LoadCounts>>, spent: ProcessTime) {
    let LoadCounts { runs, breached } = judging.map(|judging| judging.join().expect("it judges")).unwrap_or_default();
    let each = spent.elapsed().as_secs_f64() * 1e6 / requests.max(1) as f64;
    println!("{requests} requests; {runs} runs judged, {breached} with a breach; {each:.1} µs of processor time a request; {:.1} MB", memory());
}

/// How long it takes to take a request with a history of so many bytes, and to judge the run.
fn history(bytes: usize) {
    let mut engine = Engine::new(EngineOptions::default());
    let round = |number: usize| {
        let id = format!("h{number}");
        let call = json!({"id": id, "type": "function", "function": {"name": "look", "arguments": "{}"}});
        [json!({"role": "assistant", "content": "", "tool_calls": [call]}), json!({"role": "tool", "tool_call_id": id, "content": "x".repeat(900)})]
    };
    let given = |number: usize| {
        let id = format!("h{number}");
        [json!({"type": "ai", "content": "", "tool_calls": [{"id": id, "name": "look", "args": {}}]}), json!({"type": "tool", "tool_call_id": id, "content": "x".repeat(900)})]
    };
    let rounds = bytes / 1060;
    let messages: Vec<_> = [json!({"role": "user", "content": "Go"})].into_iter().chain((0..rounds).flat_map(round)).collect();
    let given: Vec<_> = [json!({"type": "human", "content": "Go"})].into_iter().chain((0..rounds).flat_map(given)).collect();
    let tools = json!([{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]);
    let body = json!({"model": "gpt-4.1", "messages": messages, "tools": tools}).to_string();
    let input = json!({"messages": given, "model": [{"content": "Done"}], "tools": {"look": ["ok"]}}).to_string();
    let plan = RunPlan::of_case_input(Api::OpenAiChat, &input).expect("a plan");
    let mut times = Vec::new();
    for number in 0..9 {
        let key = format!("sk-threadspec-{number}");
        engine.begin(Duration::ZERO, &key, plan.clone());
        let request = Received {
            method: "POST".into(),
            target: "/v1/chat/completions".into(),
            headers: vec![("authorization".into(), format!("Bearer {key}"))],
            body: Ok(body.clone().into_bytes()),
        };
        let spent = ProcessTime::now();
        let (id, reaction) = engine.receive(Duration::ZERO, request);
        times.push(spent.elapsed().as_secs_f64() * 1e3);
        let Reaction::Answer(answer) = reaction else { panic!("it is answered") };
        assert_eq!(answer.status, 200);
        engine.delivered(Duration::ZERO, id, true);
        engine.end(Duration::ZERO, &key);
    }
    times.sort_by(f64::total_cmp);
    println!("a history of {:.2} MB: {:.1} ms", body.len() as f64 / 1e6, times[times.len() / 2]);
}

/// The requests of a run, as the agent of `load.lua` sends them.
fn bodies() -> Vec<String> {
    let call = |number: usize| json!({"id": format!("c{number}"), "type": "function", "function": {"name": "look", "arguments": format!("{{\"n\":{number}}}")}});
    let answer = |number: usize| json!({"role": "tool", "tool_call_id": format!("c{number}"), "content": "ok"});
    let round = |round: usize| {
        let (first, second) = (2 * round, 2 * round + 1);
        [json!({"role": "assistant", "content": "I look.", "tool_calls": [call(first), call(second)]}), answer(first), answer(second)]
    };
    let body = |rounds: usize| {
        let given = [json!({"role": "system", "content": "Be brief."}), json!({"role": "user", "content": "Go"})];
        let messages: Vec<_> = given.into_iter().chain((0..rounds).flat_map(round)).collect();
        let tools = json!([{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]);
        json!({"model": "gpt-4.1", "messages": messages, "tools": tools}).to_string()
    };
    (0..ROUNDS).map(body).collect()
}

/// What playing and judging costs without a socket.
fn work(runs: usize) {
    let (mut judged, judging) = LoadJudged::new();
    let bodies = bodies();
    let spent = ProcessTime::now();
    for run in 0..runs {
        for body in &bodies {
            let headers = [("host", "127.0.0.1:1"), ("content-type", "application/json"), ("content-length", "800")];
            let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).into_iter();
            let key = ("authorization".to_owned(), format!("Bearer sk-threadspec-1-{run}"));
            let request = Received {
                method: "POST".into(),
                target: "/v1/chat/completions".into(),
                headers: headers.chain([key]).collect(),
                body: Ok(body.clone().into_bytes()),
            };
            let (id, _) = judged.receive(Duration::ZERO, request);
            judged.delivered(Duration::ZERO, id, true);
        }
    }
    let requests = judged.requests;
    drop(judged);
    tell(requests, Some(judging), spent);
}

fn main() {
    match env::args().nth(1).as_deref() {
        Some("judged") => {
            let (judged, judging) = LoadJudged::new();
            serve(judged, |judged| judged.requests, Some(judging));
        }
        Some("answers") => {
            let body = json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": "gpt-4.1", "choices": [
                {"index": 0, "message": {"role": "assistant", "content": "Done"}, "finish_reason": "stop"}]});
            let body = body.to_string().into_bytes();
            let answer = PlannedAnswer {
                delay: Duration::ZERO,
                status: 200,
                headers: vec![("content-type".into(), "application/json".into())],
                length: Some(body.len() as u64),
                steps: vec![WireStep::Write(body)],
                ending: PlannedEnd::Whole,
            };
            serve(Constant { answer, requests: 0 }, |constant| constant.requests, None);
        }
        Some("work") => work(20_000),
        Some("history") => [1, 2, 4, 8].iter().for_each(|quarters| history(quarters << 18)),
        _ => eprintln!("usage: load judged|answers|work|history"),
    }
}
