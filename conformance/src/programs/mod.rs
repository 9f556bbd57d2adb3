//! Runs programs as they are, with the provider on one side and an MCP server on the other: one case, one start.

#[cfg(unix)]
mod apart;
mod case;
mod recipe;

#[cfg(unix)]
pub(crate) use apart::Apart;

use crate::over_wire::ModelServer;
use case::{ModelDoor, PreparedCase, too_long};
use recipe::ProgramStart;
use serde_json::json;
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fs, io, thread};
use threadspec_cli::verify::{OverProvider, Testees};
use threadspec_judge::protocol::{Hello, Implementation, JudgeProfile, Op, Reply, Request};
use threadspec_judge::reference::Reference;
use threadspec_judge::text::{beginning, count};
use threadspec_judge::verdict::{Outcome, Unready};
use threadspec_mcp::McpEvent;
use threadspec_provider::{EndedRun, ProgramPlan, RunPlan, StrayReason, compose};
use threadspec_runner::{Companion, Testee, Trouble, interrupt};

/// The remark on a system that gives programs no network of their own.
const NOT_APART: &str =
    "this system gives a program no network of its own: only proxies that lead nowhere keep it from the network";
/// How often it looks whether the program has ended.
const TICK: Duration = Duration::from_millis(5);
/// How many requests a program may send for a turn of the model, and for no reason that the script knows.
const ATTEMPTS: usize = 12;
const FURTHER: usize = 40;
/// The exit codes by which a shell tells the signal that ended a program.
const SIGNALS: std::ops::Range<i32> = 129..160;
/// How much of a program's last words is shown, in characters.
const SHOWN: usize = 300;
/// Words of a program that needs more than a model: it is not judged.
const OF_LOGIN: [&str; 6] =
    ["log in", "login", "sign in", "not authenticated", "authentication required", "update required"];

/// The testees of a run, and the provider.
///
/// # Errors
///
/// Says why the program cannot be started.
pub(crate) fn testees(asked: &OverProvider<'_>) -> Result<(Testees, Arc<ModelServer>), Unready> {
    let start = ProgramStart::of(asked.program, asked.transport.api).map_err(Unready::Testee)?;
    start.check().map_err(Unready::Testee)?;
    let (start, server) = (Arc::new(start), Arc::new(ModelServer::of(asked)?));
    #[cfg(unix)]
    let is_apart = apart::is_possible();
    #[cfg(not(unix))]
    let is_apart = false;
    let bodies = asked.program.bodies().map(|folder| {
        let names = asked.cases.iter().map(|case| (case.input().to_owned(), case.id.clone())).collect();
        Arc::new(BodyFiles { folder: folder.to_owned(), names })
    });
    let testee = || {
        let bodies = bodies.clone();
        Box::new(Program::new(&start, &server, asked.timeout, is_apart, bodies)) as Box<dyn Testee + Send>
    };
    Ok(((0..asked.jobs).map(|_| testee()).collect(), server))
}

/// A program that is started for each case.
#[derive(Debug)]
struct Program {
    start: Arc<ProgramStart>,
    server: Arc<ModelServer>,
    hello: Hello,
    timeout: Duration,
    /// True if it runs in a network of its own.
    is_apart: bool,
    bodies: Option<Arc<BodyFiles>>,
    /// How many times as long a case may take.
    patience: u32,
    /// How long the latest case took that took longer than it may.
    late: Option<Duration>,
    sent: Option<Request>,
}

/// The files of the bodies, case by case.
#[derive(Debug)]
struct BodyFiles {
    folder: PathBuf,
    /// The ids of the cases, by their inputs.
    names: HashMap<String, String>,
}

impl BodyFiles {
    fn write(&self, input: &str, ended: &EndedRun, events: &[McpEvent], words: &[String]) -> io::Result<()> {
        let Some(name) = self.names.get(input) else { return Ok(()) };
        let folder = self.folder.join(name);
        // What an earlier run left there is not of this one.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder)?;
        for (number, body) in (1..).zip(&ended.beside) {
            fs::write(folder.join(format!("beside-{number}.json")), body)?;
        }
        for (number, attempt) in (1..).zip(&ended.record.attempts) {
            fs::write(folder.join(format!("request-{number}.json")), &attempt.body)?;
        }
        let lines: Vec<String> = events.iter().filter_map(|event| serde_json::to_string(event).ok()).collect();
        fs::write(folder.join("calls.jsonl"), lines.join("\n") + "\n")?;
        fs::write(folder.join("output.txt"), words.join("\n") + "\n")
    }
}

/// How a program ended.
enum ProgramEnd {
    Exit(ExitStatus),
    Late,
    /// It asks without end.
    Flood,
}

impl Program {
    fn new(
        start: &Arc<ProgramStart>,
        server: &Arc<ModelServer>,
        timeout: Duration,
        is_apart: bool,
        bodies: Option<Arc<BodyFiles>>,
    ) -> Self {
        let hello = Hello {
            name: start.name.clone(),
            version: start.version.clone(),
            language: "a program".to_owned(),
            url: None,
            ops: vec![Op::Tools],
            profiles: vec![JudgeProfile::Universal],
            apis: Some(vec![server.transport.api]),
            remarks: start.remarks.iter().cloned().chain((!is_apart).then(|| NOT_APART.to_owned())).collect(),
            ..Reference.hello()
        };
        let (start, server) = (Arc::clone(start), Arc::clone(server));
        Self { start, server, hello, timeout, is_apart, bodies, patience: 1, late: None, sent: None }
    }

    fn play(&mut self, request: &Request) -> Outcome {
        let transport = self.server.transport;
        let plan =
            ProgramPlan::of_case_input(&request.input).and_then(|plan| match too_long(&self.start, &plan.prompt) {
                Some(why) => Err(why),
                None => Ok(plan),
            });
        let program = match plan {
            Ok(plan) => plan,
            Err(why) => return Outcome::Reply(Reply::Unsupported(why)),
        };
        let key = self.server.key();
        let lacking = |why: String| Outcome::NotReady(Unready::Runner(why));
        let run = match RunPlan::of_program(transport.api, &request.input, program.clone()) {
            Ok(plan) => RunPlan { stream: transport.stream, reasoning: request.reasoning || plan.reasoning, ..plan },
            Err(error) => return lacking(format!("a case cannot be played over the wire: {error}")),
        };
        let door = ModelDoor { transport, url: self.server.url(), key: &key, model: &self.server.model };
        let prepared = match PreparedCase::new(&self.start, &program, &door) {
            Ok(prepared) => prepared,
            Err(error) => return lacking(format!("the folders of a case cannot be made: {error}")),
        };
        let most = ATTEMPTS * run.turns.len() + FURTHER;
        let around = match prepared.surroundings() {
            Ok(around) => around,
            Err(error) => return lacking(error.to_string()),
        };
        self.server.begin_as(&key, run);
        let began = Instant::now();
        let (command, _doors) = match behind_doors(&prepared, self.is_apart) {
            Ok(command) => command,
            Err(error) => return lacking(error.to_string()),
        };
        let mut companion = match Companion::start_apart(&command, around) {
            Ok(companion) => companion,
            Err(why) => {
                self.server.abandon(&key);
                return Outcome::NotReady(why);
            }
        };
        let end = self.wait(&mut companion, &key, most, began);
        let Some(end) = end else {
            drop(companion);
            self.server.abandon(&key);
            return Outcome::Interrupted;
        };
        let words = companion.end();
        let Some(ended) = self.server.end(&key) else { return lacking("the run of a case is lost".to_owned()) };
        let took = began.elapsed();
        if let Some(bodies) = &self.bodies
            && let Err(error) = bodies.write(&request.input, &ended, &prepared.events(), &words)
        {
            return lacking(format!("--bodies {}: {error}", bodies.folder.display()));
        }
        self.late = Some(took).filter(|took| *took > self.timeout).or(self.late);
        Self::outcome(&program, ended, &end, &words, &prepared.events(), took)
    }

    /// Waits until the program ends; `None` if the run is interrupted.
    fn wait(&self, companion: &mut Companion, key: &str, most: usize, began: Instant) -> Option<ProgramEnd> {
        loop {
            if let Some(status) = companion.exit_status() {
                return Some(ProgramEnd::Exit(status));
            }
            if interrupt::requested() {
                return None;
            }
            if began.elapsed() > self.timeout * self.patience {
                return Some(ProgramEnd::Late);
            }
            if self.server.attempts(key) > most {
                return Some(ProgramEnd::Flood);
            }
            thread::sleep(TICK);
        }
    }

    /// Judges what came of a start.
    fn outcome(
        program: &ProgramPlan,
        mut ended: EndedRun,
        end: &ProgramEnd,
        words: &[String],
        events: &[McpEvent],
        took: Duration,
    ) -> Outcome {
        let asks = ended.record.asks();
        let said = last_words(words);
        if asks == 0 {
            return Self::silent(&ended, end, words, events);
        }
        let asked = count(asks, "time");
        match end {
            ProgramEnd::Late => {
                let what = format!("it asked the model {asked}, and had not ended after {} s{said}", took.as_secs());
                return Outcome::Timeout(what);
            }
            ProgramEnd::Exit(status) if status.code().is_none_or(|code| SIGNALS.contains(&code)) => {
                return Outcome::Crash(format!(
                    "it asked the model {asked}, and then was ended by a signal: {status}{said}"
                ));
            }
            ProgramEnd::Exit(_) | ProgramEnd::Flood => {}
        }
        if let Err(why) = program.read_back(&ended.plan.turns, &mut ended.record) {
            return Outcome::Reply(Reply::Unsupported(why));
        }
        // What else a program looks for is its own business.
        ended.record.strays.clear();
        let is_whole =
            asks >= ended.plan.turns.len() && ended.record.attempts.last().is_some_and(|last| !last.failed());
        let failure = match end {
            ProgramEnd::Flood => {
                Some(format!("it asks without end, and was ended after {} requests", ended.record.attempts.len()))
            }
            ProgramEnd::Exit(status) if !status.success() && !is_whole => Some(format!("{status}{said}")),
            // What it prints may say so.
            ProgramEnd::Exit(_) if !is_whole && says_failure(words) => Some(format!("it printed{said}")),
            _ => None,
        };
        let output = failure.map_or_else(|| json!({}), |failure| json!({"failure": failure}));
        Outcome::Reply(compose(&ended.plan, &ended.record, Reply::Ok(output)))
    }

    /// The outcome of a start without a request of the conversation.
    fn silent(ended: &EndedRun, end: &ProgramEnd, words: &[String], events: &[McpEvent]) -> Outcome {
        let said = last_words(words);
        let all = words.join("\n").to_lowercase();
        if OF_LOGIN.iter().any(|word| all.contains(word)) {
            return Outcome::Reply(Reply::Unsupported(format!("the program wants a login or an update{said}")));
        }
        if !ended.beside.is_empty() {
            return Outcome::Reply(Reply::Unsupported(
                "no request of the program declares a tool of the MCP server".to_owned(),
            ));
        }
        let stray = ended.record.strays.iter().find(|stray| stray.method == "POST");
        let lost = match stray.map(|stray| (stray, stray.why)) {
            Some((stray, StrayReason::NoKey)) => format!(": its request to {} had no key", stray.target),
            Some((stray, StrayReason::OtherApi)) => format!(": it asked at {}, which is another API", stray.target),
            Some((stray, _)) => format!(": it asked at {}", stray.target),
            None if ended.record.strays.is_empty() && events.is_empty() => String::new(),
            None => ", though it looked around".to_owned(),
        };
        match end {
            ProgramEnd::Late => {
                Outcome::Timeout(format!("it never asked the model{lost}, and waits for something{said}"))
            }
            ProgramEnd::Exit(status) => Outcome::Crash(format!("it never asked the model{lost}: {status}{said}")),
            ProgramEnd::Flood => Outcome::Crash(format!("it asks without end{said}")),
        }
    }
}

/// The command that starts the program of a case, in a network of its own if that can be, and what is to be kept while it runs.
#[cfg(unix)]
fn behind_doors(prepared: &PreparedCase, is_apart: bool) -> io::Result<(Vec<OsString>, Option<apart::Doors>)> {
    let command = prepared.command.clone();
    if !is_apart {
        return Ok((command, None));
    }
    let doors = apart::Doors::open(&prepared.root, &prepared.ports)?;
    Ok((doors.around(command)?, Some(doors)))
}

#[cfg(not(unix))]
fn behind_doors(prepared: &PreparedCase, _: bool) -> io::Result<(Vec<OsString>, ())> {
    Ok((prepared.command.clone(), ()))
}

/// The last words of a program, as the end of a sentence.
fn last_words(words: &[String]) -> String {
    let text = words.iter().rev().take(4).rev().map(String::as_str).collect::<Vec<_>>().join(" / ");
    if text.is_empty() { String::new() } else { format!("; its last words: {}", beginning(&text, SHOWN)) }
}

/// Returns whether a program's output may say that something failed.
fn says_failure(words: &[String]) -> bool {
    let all = words.join("\n").to_lowercase();
    ["error", "fail", "abort", "interrupt", "disconnect", "unable", "invalid", "overload", "limit"]
        .iter()
        .any(|word| all.contains(word))
}

impl Testee for Program {
    fn hello(&self) -> &Hello {
        &self.hello
    }

    fn send(&mut self, request: &Request) {
        self.sent = Some(request.clone());
    }

    fn receive(&mut self) -> (i64, Outcome) {
        let Some(request) = self.sent.take() else {
            return (0, Outcome::NotReady("nothing was sent".to_owned().into()));
        };
        let outcome = self.play(&request);
        (request.id, outcome)
    }

    fn be_patient(&mut self, times: u32) {
        (self.patience, self.late) = (times, None);
    }

    fn lateness(&self) -> Option<Duration> {
        self.late
    }

    fn finish(&mut self) -> Vec<Trouble> {
        Vec::new()
    }
}
