//! `threadspec provider`.

use super::talks::{LiveView, TalkVerdict};
use std::ffi::OsString;
use std::io::{BufWriter, Read, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};
use std::{env, fs, io, thread};
use threadspec_cli::outcome::{prepare, write};
use threadspec_cli::{Stop, corpus_and_errata, keep_apart, not_writable, read_file, target_parser};
use threadspec_judge::protocol::{Hello, JudgeProfile, Op};
use threadspec_judge::text::visible;
use threadspec_judge::universal::Abilities;
use threadspec_judge::verdict::Unready;
use threadspec_provider::{
    Answers, EngineOptions, News, Proxy, Script, Server, ServerLimits, Standalone, Talk, Upstream, header,
};
use threadspec_report::terminal::{WARNING, print, styled};
use threadspec_report::{Circumstances, RunRecord, Target};
use threadspec_runner::{CaseResult, Companion, Exit, RunOptions, adopt_orphans, files, interrupt};

/// How often it looks whether it should end.
const TICK: Duration = Duration::from_millis(20);

/// Play the model for a program, and judge its requests
///
/// It listens on 127.0.0.1 and speaks the APIs of OpenAI (chat completions, Responses), Anthropic and Gemini. With a script it answers; with
/// --proxy it forwards to a real provider, and judges the traffic. It ends with the command behind `--`, with Ctrl-C, or with SIGTERM, and
/// then prints the verdict.
///
/// Exit codes: 0 conformant, with at least one request that was judged; 1 not conformant; 2 wrong usage; 3 it cannot listen, or the command
/// cannot be started; 4 the script is wrong, or an output cannot be written.
#[derive(Debug, clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "switches of a command line")]
pub(crate) struct Provider {
    /// The script: JSON with `model`, a list of turns for each conversation, or with `rules`
    ///
    /// This one calls the first tool twice, and then ends:
    ///
    /// `{"rules": [{"when": {"answered": {"below": 2}}, "turn": {"call": {"tool": ["*"]}}}], "otherwise": {"content": "Done"}}`
    #[arg(long, value_name = "FILE", required_unless_present = "proxy")]
    script: Option<PathBuf>,
    /// Forward to the provider at this base URL instead, and judge the traffic
    #[arg(long, value_name = "URL", conflicts_with = "script")]
    proxy: Option<String>,
    /// With --proxy: refuse requests that the API would surely refuse, instead of forwarding them
    #[arg(long, requires = "proxy", conflicts_with = "script")]
    enforce: bool,
    /// With --proxy: send the key in this variable of the environment, instead of the client's
    #[arg(long, value_name = "NAME", requires = "proxy", conflicts_with = "script")]
    upstream_key_env: Option<String>,
    /// Listen here; port 0 is a free one. Another address than a loopback one needs --key
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Accept only this API key (repeatable)
    #[arg(long, value_name = "KEY")]
    key: Vec<String>,
    /// Write its address into this file, as JSON, once it listens
    #[arg(long, value_name = "FILE")]
    ready_file: Option<PathBuf>,
    /// End when standard input ends, and so with the process that started it
    #[arg(long)]
    end_with_stdin: bool,
    /// Record the exchange in this file; `judge` judges it again
    #[arg(long, value_name = "FILE")]
    transcript: Option<PathBuf>,
    /// Record texts as their length and hash
    #[arg(long, requires = "transcript")]
    redact: bool,
    /// Also write a report: json, junit, html, markdown or badge (repeatable)
    #[arg(long, value_name = "FORMAT=PATH", value_parser = target_parser())]
    report: Vec<Target>,
    /// Count broken recommendations, too
    #[arg(long)]
    strict: bool,
    /// Print the verdict only
    #[arg(long)]
    quiet: bool,
    /// The program to test, and its arguments; `{url}` and `{key}` in them are replaced
    #[arg(last = true, value_name = "CMD")]
    command: Vec<OsString>,
}

/// Who answers: a script, or an upstream.
trait Watched: Answers {
    fn talks(&self) -> Vec<Talk>;
    fn take_news(&mut self) -> Vec<News>;
    fn take_lines(&mut self) -> Vec<String>;
    /// Lists the expectations of the script that did not occur.
    fn unmet(&self) -> Vec<String>;
}

impl Watched for Standalone {
    fn talks(&self) -> Vec<Talk> {
        Self::talks(self).cloned().collect()
    }

    fn take_news(&mut self) -> Vec<News> {
        Self::take_news(self)
    }

    fn take_lines(&mut self) -> Vec<String> {
        Self::take_lines(self)
    }

    fn unmet(&self) -> Vec<String> {
        Self::unmet(self)
    }
}

impl Watched for Proxy {
    fn talks(&self) -> Vec<Talk> {
        Self::talks(self).cloned().collect()
    }

    fn take_news(&mut self) -> Vec<News> {
        Self::take_news(self)
    }

    fn take_lines(&mut self) -> Vec<String> {
        Self::take_lines(self)
    }

    fn unmet(&self) -> Vec<String> {
        Vec::new()
    }
}

impl Provider {
    /// Runs the command and returns its exit code.
    ///
    /// # Errors
    ///
    /// When the script is at fault, it cannot listen, the command cannot be started, or an output cannot be written.
    pub(crate) fn execute(&self) -> Result<Exit, Stop> {
        if !self.listen.ip().is_loopback() && self.key.is_empty() {
            let message = "--listen with an address that others can reach needs --key, or anybody could use it";
            return Err(Stop::new(Exit::Usage, message));
        }
        let outputs = [&self.transcript, &self.ready_file].into_iter().filter_map(|path| path.as_deref());
        prepare(&self.report, outputs.clone(), self.script.as_deref())?;
        keep_apart(outputs.clone(), self.script.as_deref())?;
        for path in outputs {
            files::prepare(path).map_err(|error| not_writable(path, &error))?;
        }
        let epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        match (&self.script, &self.proxy) {
            (Some(path), _) => {
                let at_fault =
                    |error| Stop::new(Exit::Corpus, visible(&format!("the script {}: {error}", path.display())));
                let script = Script::read(&read_file(path)?).map_err(at_fault)?;
                let seed = u64::try_from(epoch.as_nanos() & u128::from(u64::MAX)).unwrap_or_default();
                let options = EngineOptions { seed, epoch: epoch.as_secs(), ..EngineOptions::default() };
                let mut standalone = Standalone::new(options, script, self.key.clone());
                if self.transcript.is_some() {
                    standalone.record(self.redact);
                }
                self.serve(None, standalone)
            }
            (None, Some(url)) => {
                let upstream =
                    Upstream::read(url, self.upstream_key()?).map_err(|error| Stop::new(Exit::Usage, error))?;
                let mut proxy = Proxy::new(self.enforce, epoch.as_secs(), self.key.clone());
                if self.transcript.is_some() {
                    proxy.record(self.redact);
                }
                self.serve(Some(upstream), proxy)
            }
            (None, None) => Err(Stop::new(Exit::Usage, "--script or --proxy is needed")),
        }
    }

    fn upstream_key(&self) -> Result<Option<String>, Stop> {
        let Some(name) = &self.upstream_key_env else { return Ok(None) };
        match env::var(name) {
            Ok(key) if !key.is_empty() => Ok(Some(key)),
            _ => Err(Stop::new(Exit::Usage, visible(&format!("--upstream-key-env: the environment has no {name}")))),
        }
    }

    fn serve<W: Watched>(&self, upstream: Option<Upstream>, answers: W) -> Result<Exit, Stop> {
        let began = SystemTime::now();
        let mut transcript = self.transcript.as_deref().map(TranscriptFile::create).transpose()?;
        interrupt::listen().map_err(|error| Stop::new(Exit::Corpus, format!("Ctrl-C: {error}")))?;
        adopt_orphans();
        let server = Server::start_before(upstream, self.listen, ServerLimits::default(), answers)
            .map_err(|error| Stop::new(Exit::Testee, error))?;
        let url = format!("http://{}", server.address());
        if !self.quiet {
            print(&format!("listening on {url}\n"));
        }
        if let Some(path) = &self.ready_file {
            let ready = serde_json::json!({"url": url, "pid": std::process::id()}).to_string();
            files::write(path, ready.as_bytes()).map_err(|error| not_writable(path, &error))?;
        }
        let is_over = self.end_of_input()?;
        let mut companion = self.companion(&url)?;
        let mut live = LiveView::new(self.quiet);
        let mut exit = None;
        while exit.is_none() && !interrupt::requested() && !is_over.load(Ordering::Relaxed) {
            thread::sleep(TICK);
            exit = companion.as_mut().and_then(Companion::exit_status);
            let (news, lines) = server.with(|answers, _| (answers.take_news(), answers.take_lines()));
            live.show(&news, || server.with(|answers, _| answers.talks()));
            transcript.as_mut().map_or(Ok(()), |transcript| transcript.write(&lines))?;
        }
        drop(companion);
        // What is under way may still come to its end.
        let (talks, unmet, lines, news) = server
            .with_settled(|answers, _| (answers.talks(), answers.unmet(), answers.take_lines(), answers.take_news()));
        live.show(&news, || talks.clone());
        drop(server);
        live.close();
        if let Some(left) = threadspec_cli::left_behind() {
            print(&format!("{left}\n"));
        }
        if let Some(transcript) = &mut transcript {
            transcript.write(&lines)?;
            transcript.close()?;
        }
        self.conclude(&talks, unmet, exit, began)
    }

    /// The program behind `--`, with what it needs to find its model.
    fn companion(&self, url: &str) -> Result<Option<Companion>, Stop> {
        if self.command.is_empty() {
            return Ok(None);
        }
        let key = self.key.first().cloned().unwrap_or_else(|| "sk-threadspec-000000000000000000000000".to_owned());
        let replaced = |word: &OsString| match word.to_str() {
            Some(text) => text.replace("{url}", url).replace("{key}", &key).into(),
            None => word.clone(),
        };
        let command: Vec<OsString> = self.command.iter().map(replaced).collect();
        let mut variables = vec![
            ("OPENAI_BASE_URL", format!("{url}/v1")),
            ("OPENAI_API_BASE", format!("{url}/v1")),
            ("ANTHROPIC_BASE_URL", url.to_owned()),
            ("GOOGLE_GEMINI_BASE_URL", url.to_owned()),
        ];
        // The keys of an upstream are the program's own, unless the proxy has them.
        if self.proxy.is_none() || self.upstream_key_env.is_some() {
            let names = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"];
            variables.extend(names.map(|name| (name, key.clone())));
        }
        let not_started = |why: Unready| {
            let (Unready::Testee(why) | Unready::Runner(why) | Unready::Shortage(why)) = why;
            Stop::new(Exit::Testee, why)
        };
        Companion::start(&command, &variables).map(Some).map_err(not_started)
    }

    /// Is set when standard input has ended, if that is to be noticed.
    fn end_of_input(&self) -> Result<Arc<AtomicBool>, Stop> {
        let is_over = Arc::new(AtomicBool::new(false));
        if self.end_with_stdin {
            let over = Arc::clone(&is_over);
            let wait = move || {
                let mut buffer = [0; 4096];
                while matches!(io::stdin().lock().read(&mut buffer), Ok(length) if length > 0) {}
                over.store(true, Ordering::Relaxed);
            };
            thread::Builder::new()
                .name("stdin".into())
                .spawn(wait)
                .map_err(|error| Stop::new(Exit::Corpus, format!("no thread: {error}")))?;
        }
        Ok(is_over)
    }

    /// Prints the verdict, and writes the reports.
    fn conclude(
        &self,
        talks: &[Talk],
        unmet: Vec<String>,
        exit: Option<ExitStatus>,
        began: SystemTime,
    ) -> Result<Exit, Stop> {
        let (corpus, errata) = corpus_and_errata(None)?;
        let verdict = TalkVerdict::of(talks, unmet, self.strict);
        if let Some(exit) = exit.filter(|exit| !exit.success()) {
            print(&format!("{}\n", styled(WARNING, format!("the command ended with {exit}"))));
        }
        print(&verdict.text(talks));
        let code = verdict.code();
        let run = verdict.run();
        let command = threadspec_cli::verify::shown(&self.command);
        let hello = Hello {
            name: command.first().map_or_else(|| "agent".to_owned(), |word| name_of(word)),
            version: String::new(),
            language: "over the wire".to_owned(),
            url: None,
            ops: vec![Op::Tools],
            profiles: vec![JudgeProfile::Universal],
            abilities: Abilities::default(),
            apis: Some(verdict.apis.clone()),
            remarks: Vec::new(),
        };
        let about = Circumstances {
            corpus: &corpus,
            hello: Some(&hello),
            command: &command,
            options: options(self.strict),
            time: (began, began.elapsed().unwrap_or_default()),
            against: verdict.against.clone(),
            out_of_date: Vec::new(),
            code,
        };
        let mut words = vec!["threadspec".to_owned(), "provider".into()];
        words.extend(self.script.iter().flat_map(|path| ["--script".to_owned(), path.display().to_string()]));
        words.extend(self.proxy.iter().flat_map(|url| ["--proxy".to_owned(), url.clone()]));
        let repeat = |_: &CaseResult<'_>| threadspec_cli::verify::words(words.clone(), &command);
        let unwritten = if self.report.is_empty() {
            None
        } else {
            write(&self.report, &[RunRecord::new(&run, about, &repeat)], (&corpus, &errata), threadspec_pages::write)
        };
        print(&verdict.conclusion());
        unwritten.map_or(Ok(code), Err)
    }
}

/// Prints the verdict on recorded conversations, and returns its exit code.
pub(super) fn judged_again(talks: &[Talk], strict: bool) -> Exit {
    let verdict = TalkVerdict::of(talks, Vec::new(), strict);
    print(&verdict.text(talks));
    print(&verdict.conclusion());
    verdict.code()
}

/// The last part of a path to a program.
fn name_of(word: &str) -> String {
    Path::new(word).file_name().map_or_else(|| word.to_owned(), |name| name.to_string_lossy().into_owned())
}

fn options(strict: bool) -> RunOptions {
    RunOptions {
        profile: JudgeProfile::Universal,
        strict,
        filter: Vec::new(),
        op: Vec::new(),
        clause: Vec::new(),
        max_unsupported: 0,
        timeout: 0.0,
        seed: None,
        shard: None,
        jobs: 1,
        repeat: 1,
        soak: None,
        pause: None,
        left_out: 0,
        provider: None,
        model: None,
        through: None,
        dialect: None,
        program: None,
        stream_pieces: None,
    }
}

/// A transcript that is being written.
struct TranscriptFile {
    path: PathBuf,
    file: BufWriter<fs::File>,
}

impl TranscriptFile {
    fn create(path: &Path) -> Result<Self, Stop> {
        let file = files::create(path).map_err(|error| not_writable(path, &error))?;
        let mut transcript = Self { path: path.to_owned(), file: BufWriter::new(file) };
        transcript.write(&[header()])?;
        Ok(transcript)
    }

    fn write(&mut self, lines: &[String]) -> Result<(), Stop> {
        let written = lines.iter().try_for_each(|line| writeln!(self.file, "{line}"));
        written.map_err(|error| not_writable(&self.path, &error))
    }

    fn close(&mut self) -> Result<(), Stop> {
        self.file.flush().map_err(|error| not_writable(&self.path, &error))
    }
}
