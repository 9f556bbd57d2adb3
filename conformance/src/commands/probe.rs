//! `threadspec probe`.

use std::env;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};
use threadspec::oracle::Api;
use threadspec_apis::rfc3339;
use threadspec_cli::outcome::prepare;
use threadspec_cli::{Stop, not_writable, read_file, target_parser};
use threadspec_judge::text::visible;
use threadspec_probe::{
    Allowances, ProbeConclusion, ProbeEstimate, ProbeLimits, ProbeOptions, ProbePlan, ProbeReply, ProbeReport,
    ProbeRequest, ProbeRun, ProbeStep, Secrets, changes_since, junit, key_header, markdown, probe_plan, proposal,
    table,
};
use threadspec_provider::client::ClientRequest;
use threadspec_provider::{AskLimits, Upstream};
use threadspec_report::terminal::{BAD, GOOD, WARNING, complain, print, styled};
use threadspec_report::{ReportFormat, Target};
use threadspec_runner::{Exit, files, interrupt};

/// How soon a pause notices that the run should end.
const TICK: Duration = Duration::from_millis(50);
/// The real servers, whose answers correct the rules.
const MAKERS: &[&str] = &["api.openai.com", "api.anthropic.com", "api.deepseek.com"];

/// Test which rules of its API a server keeps
///
/// For each rule of `provider-rules.json` it sends a request that keeps the rule, and one that breaks it. A server that answers both lets a
/// mistake pass that the real API refuses. Sent to the real API with your own key, they show whether the rule is true.
///
/// Nothing is stored, no tool runs, and only texts of the corpus are sent. `--dry-run` shows the requests and their cost at most.
/// It asks before it sends to an address that is not loopback, unless --yes is given.
///
/// Exit codes: 0 all tested rules agree; 1 some do not; 2 wrong usage; 3 nothing was learned; 4 an output cannot be written; 130
/// interrupted, with the results so far.
#[derive(Debug, clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "switches of a command line")]
pub(crate) struct ProbeCommand {
    /// The base URL of the server, with or without `/v1`
    #[arg(value_name = "URL")]
    url: String,
    /// The API whose rules are tested
    #[arg(long, value_name = "API", value_parser = ["openai-chat", "openai-responses", "anthropic"])]
    api: String,
    /// The model that the requests name
    #[arg(long, value_name = "NAME")]
    model: String,
    /// Send the key in this variable of the environment
    #[arg(long, value_name = "NAME")]
    key_env: Option<String>,
    /// Send this header, too (repeatable); its value is never shown
    #[arg(long, value_name = "NAME: VALUE")]
    header: Vec<String>,
    /// Test only rules whose id matches (repeatable)
    #[arg(long, value_name = "GLOB")]
    rule: Vec<String>,
    /// Also test rules of other models, versions or servers
    #[arg(long)]
    all: bool,
    /// Ask for streams
    #[arg(long)]
    stream: bool,
    /// Send this `anthropic-version`
    #[arg(long, value_name = "DATE")]
    anthropic_version: Option<String>,
    /// The time limit for a whole answer, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = seconds)]
    timeout: f64,
    /// How long to wait between two requests, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 200)]
    pause: u64,
    /// How many tokens an answer may have
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u64).range(1..))]
    max_tokens: u64,
    /// How many requests are sent at most
    #[arg(long, value_name = "N", default_value_t = 120)]
    max_requests: usize,
    /// Send requests of more than a megabyte, too; the largest one has 32
    #[arg(long)]
    large: bool,
    /// Send nothing, and print the figures of the requests
    #[arg(long)]
    dry_run: bool,
    /// With the dry run: the price of a million tokens, in and out
    #[arg(long, value_name = "IN,OUT", value_parser = price)]
    price: Option<Price>,
    /// With the dry run: show the body of each request
    #[arg(long)]
    show: bool,
    /// Send without asking to an address that is not loopback
    #[arg(long)]
    yes: bool,
    /// The known results of the server: RULE=VERDICT, separated by commas, or a file with such lines (repeatable). Each must still hold
    #[arg(long, value_name = "RULE=VERDICT,…|FILE")]
    allow: Vec<String>,
    /// Show the changes since an earlier report
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Print a patch that writes the results into `golden/provider-rules.json`; the table goes to stderr
    #[arg(long)]
    propose: bool,
    /// Also write a report: json, markdown or junit (repeatable)
    #[arg(long, value_name = "FORMAT=PATH", value_parser = target_parser())]
    report: Vec<Target>,
}

/// The price of a million tokens.
#[derive(Clone, Copy, Debug)]
struct Price {
    input: f64,
    output: f64,
}

fn price(text: &str) -> Result<Price, String> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|price| price.is_finite() && *price >= 0.0);
    let both =
        text.split_once(',').and_then(|(input, output)| Some(Price { input: number(input)?, output: number(output)? }));
    both.ok_or_else(|| "two numbers are needed, such as 2,8".to_owned())
}

fn seconds(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|time| *time > 0.0 && *time <= 86_400.0);
    number.ok_or_else(|| "a number of seconds is needed, up to a day".to_owned())
}

/// Who is asked, and with what.
struct ProbedServer {
    upstream: Upstream,
    /// The key and the user's headers.
    headers: Vec<(String, String)>,
    secrets: Secrets,
}

impl ProbeCommand {
    /// Runs the command and returns its exit code.
    ///
    /// # Errors
    ///
    /// When there is nothing to ask, the address may not be asked, or an output cannot be written.
    pub(crate) fn execute(&self) -> Result<Exit, Stop> {
        let options = self.options()?;
        let limits = ProbeLimits { requests: self.max_requests, pause: Duration::from_millis(self.pause) };
        let plan = probe_plan(&options).map_err(|error| Stop::new(Exit::Usage, visible(&error.to_string())))?;
        let asked = self.asked(options.api)?;
        let allowances = self.allowances()?;
        let against = self.against.as_deref().map(earlier).transpose()?;
        if let Some(target) = self.report.iter().find(|target| !is_known(target.format)) {
            let message = format!("--report {}: probe writes json, markdown and junit", target.format);
            return Err(Stop::new(Exit::Usage, message));
        }
        let is_near = asked.upstream.is_loopback();
        if self.dry_run || !is_near {
            self.say(&self.dry_run_text(&asked, &plan, &options, limits), &asked);
        }
        if self.dry_run {
            return Ok(Exit::Ok);
        }
        if !is_near && !self.yes && !is_confirmed()? {
            return Err(Stop::new(Exit::Usage, "nothing was sent"));
        }
        prepare(&self.report, None, self.against.as_deref())?;
        interrupt::listen().map_err(|error| Stop::new(Exit::Corpus, format!("Ctrl-C: {error}")))?;
        let ProbePlan { pairs, left_out } = plan;
        let mut run = ProbeRun::new(&options, pairs, limits, asked.secrets.clone());
        self.ask(&asked, &mut run);
        let mut rules = run.results().to_vec();
        let out_of_date = allowances.apply(&mut rules);
        let report = ProbeReport {
            threadspec: env!("CARGO_PKG_VERSION").to_owned(),
            api: options.api.to_string(),
            host: asked.upstream.authority(),
            model: options.model.clone(),
            version: options.version.clone(),
            stream: options.stream,
            date: today(),
            requests: run.requests(),
            ended: run.ended().map(str::to_owned),
            not_asked: run.not_asked().into_iter().chain(left_out).collect(),
            rules,
            out_of_date,
        };
        self.tell(&report, against.as_ref(), &asked)
    }

    fn options(&self) -> Result<ProbeOptions, Stop> {
        let api = Api::ALL.into_iter().find(|api| api.to_string() == self.api);
        Ok(ProbeOptions {
            api: api.ok_or_else(|| Stop::new(Exit::Usage, format!("there is no API `{}`", self.api)))?,
            model: self.model.clone(),
            stream: self.stream,
            version: self.anthropic_version.clone(),
            max_tokens: self.max_tokens,
            rules: self.rule.clone(),
            all: self.all,
            large: self.large,
        })
    }

    /// Reads the address and the key, and refuses to send one where others can read it.
    fn asked(&self, api: Api) -> Result<ProbedServer, Stop> {
        let usage = |message: String| Stop::new(Exit::Usage, visible(&message));
        let upstream = Upstream::read(&self.url, None).map_err(|error| usage(error.to_string()))?;
        let mut headers = Vec::new();
        for header in &self.header {
            let (name, value) = header
                .split_once(':')
                .filter(|(name, _)| {
                    !name.is_empty()
                        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
                })
                .ok_or_else(|| Stop::new(Exit::Usage, "--header: it is not `Name: value`"))?;
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut secret: Vec<String> = headers.iter().map(|(_, value)| value.clone()).collect();
        secret.extend(headers.iter().filter_map(|(_, value)| Some(value.split_once(' ')?.1.to_owned())));
        if let Some(name) = &self.key_env {
            match env::var(name).ok().filter(|key| !key.is_empty()) {
                Some(key) => {
                    headers.push(key_header(api, &key));
                    secret.push(key);
                }
                // What would be sent can be seen without one.
                None if self.dry_run => {}
                None => return Err(usage(format!("--key-env: the environment has no {name}"))),
            }
        }
        if !headers.is_empty() && !upstream.is_secure() && !upstream.is_loopback() {
            return Err(usage(format!(
                "{}: plain http would show the key to everybody on the way",
                upstream.authority()
            )));
        }
        Ok(ProbedServer { upstream, headers, secrets: Secrets::new(secret) })
    }

    fn allowances(&self) -> Result<Allowances, Stop> {
        let mut all = Allowances::default();
        for value in &self.allow {
            let text = if value.contains('=') { value.clone() } else { read_file(Path::new(value))? };
            let read = Allowances::read(&text);
            all.extend(read.map_err(|error| Stop::new(Exit::Usage, visible(&format!("--allow: {error}"))))?);
        }
        Ok(all)
    }

    /// Sends what is to be sent, and waits between.
    fn ask(&self, asked: &ProbedServer, run: &mut ProbeRun) {
        let limits = AskLimits { time: Duration::from_secs_f64(self.timeout), ..AskLimits::default() };
        loop {
            if interrupt::requested() {
                run.end("interrupted");
            }
            match run.next() {
                ProbeStep::End => return,
                ProbeStep::Wait(time) => wait(time),
                ProbeStep::Send(request) => {
                    let answer =
                        asked.upstream.ask(&sent(&request, &asked.headers), limits, &|| !interrupt::requested());
                    if interrupt::requested() {
                        // What broke off because of that says nothing about the server.
                        continue;
                    }
                    run.heard(answer.map(heard).map_err(|error| error.to_string()));
                }
            }
        }
    }

    fn dry_run_text(
        &self,
        asked: &ProbedServer,
        plan: &ProbePlan,
        options: &ProbeOptions,
        limits: ProbeLimits,
    ) -> String {
        let estimate = ProbeEstimate::of(plan, options, limits);
        let target = plan.pairs.first().map_or("", |pair| &*pair.twin.target);
        let mut out = format!("to {}, model {}\n  {estimate}\n", asked.upstream.url(target), options.model);
        if let Some(Price { input, output }) = self.price {
            out += &format!(
                "  at most {:.4} at {input} in and {output} out for a million tokens\n",
                estimate.cost(input, output)
            );
        }
        for left in &plan.left_out {
            out += &format!("  not asked: {}: {}\n", left.rule, left.why);
        }
        for pair in plan.pairs.iter().filter(|_| self.show) {
            out += &format!(
                "\n{}, keeps it:\n{}\n{}, breaks it:\n{}\n",
                pair.rule.id,
                body(&pair.twin),
                pair.rule.id,
                body(&pair.broken)
            );
        }
        if self.dry_run {
            out += "dry run: nothing was sent\n";
        }
        out
    }

    /// Prints what was learnt, writes the reports, and returns the exit code.
    fn tell(&self, report: &ProbeReport, against: Option<&ProbeReport>, asked: &ProbedServer) -> Result<Exit, Stop> {
        self.say(&table(report), asked);
        if let Some(earlier) = against {
            let changes =
                changes_since(earlier, report).map_err(|error| Stop::new(Exit::Usage, visible(&error.to_string())))?;
            let mut text =
                format!("\nsince {}: {}\n", earlier.date, if changes.is_empty() { "nothing has changed" } else { "" });
            for change in &changes {
                text += &format!("  {change}\n");
            }
            self.say(&text, asked);
        }
        if self.propose {
            print(&asked.secrets.clean(&proposal(report)));
            if !MAKERS.iter().any(|maker| report.host == *maker) {
                complain(&styled(
                    WARNING,
                    format!("{} is not the API's own server: the rules are about that", visible(&report.host)),
                ));
            }
        }
        let code = match report.conclusion() {
            _ if interrupt::requested() => Exit::Interrupted,
            ProbeConclusion::AllAgree => Exit::Ok,
            ProbeConclusion::SomeDiffer => Exit::NotConformant,
            ProbeConclusion::NothingLearnt => Exit::Testee,
        };
        let (style, sentence) = match (code, report.conclusion()) {
            (Exit::Interrupted, _) => (WARNING, "interrupted"),
            (_, ProbeConclusion::AllAgree) => (GOOD, "every rule that was asked agrees, or is allowed not to"),
            (_, ProbeConclusion::SomeDiffer) => (BAD, "not every rule agrees"),
            (_, ProbeConclusion::NothingLearnt) => (BAD, "nothing was learnt"),
        };
        self.say(&format!("{}. Exit code {code}.\n", styled(style, sentence)), asked);
        let unwritten = self.report.iter().filter_map(|target| {
            let text = match target.format {
                ReportFormat::Junit => junit(report),
                ReportFormat::Markdown => markdown(report),
                _ => report.to_json(),
            };
            let written = files::write(&target.path, asked.secrets.clean(&text).as_bytes());
            written.err().map(|error| not_writable(&target.path, &error))
        });
        unwritten.reduce(Stop::and).map_or(Ok(code), Err)
    }

    /// Prints a text without secrets: on stderr if stdout is for a patch.
    fn say(&self, text: &str, asked: &ProbedServer) {
        let text: String = asked.secrets.clean(text);
        if self.propose {
            complain(text.trim_end_matches('\n'));
        } else {
            print(&text);
        }
    }
}

fn is_known(format: ReportFormat) -> bool {
    matches!(format, ReportFormat::Json | ReportFormat::Markdown | ReportFormat::Junit)
}

fn earlier(path: &Path) -> Result<ProbeReport, Stop> {
    let wrong = |error| Stop::new(Exit::Usage, visible(&format!("{}: {error}", path.display())));
    ProbeReport::read(&read_file(path)?).map_err(wrong)
}

/// Asks on a terminal whether that may be sent.
fn is_confirmed() -> Result<bool, Stop> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(Stop::new(
            Exit::Usage,
            "--yes sends that to another address than a loopback one; nothing was sent",
        ));
    }
    let mut line = String::new();
    let asked = write!(io::stderr(), "Send that? [y/N] ").and_then(|()| io::stderr().flush());
    asked.and_then(|()| io::stdin().lock().read_line(&mut line)).map_err(|error| Stop::new(Exit::Usage, error))?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

fn sent(request: &ProbeRequest, headers: &[(String, String)]) -> ClientRequest {
    let is_replaced = |name: &str| headers.iter().any(|(own, _)| own == name);
    let usual = request.headers.iter().filter(|(name, _)| !is_replaced(name)).cloned();
    ClientRequest {
        method: "POST".into(),
        target: request.target.clone(),
        headers: usual.chain(headers.iter().cloned()).collect(),
        body: request.body.clone().into_bytes(),
    }
}

fn heard(response: threadspec_provider::client::ClientResponse) -> ProbeReply {
    let body = response.body();
    ProbeReply { status: response.status, headers: response.headers, body, is_whole: response.is_whole }
}

/// A body as it would be sent. Nobody reads a megabyte.
fn body(request: &ProbeRequest) -> String {
    threadspec_judge::text::beginning(&request.body, 20_000)
}

fn wait(time: Duration) {
    let begun = Instant::now();
    while !interrupt::requested() && begun.elapsed() < time {
        thread::sleep(TICK.min(time.saturating_sub(begun.elapsed())));
    }
}

fn today() -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    rfc3339(now.as_secs()).chars().take(10).collect()
}
