//! Starts the gateway as a program, waits for it, and ends it. Replaces placeholders in its command, configuration and headers.

use super::client::{GatewayRoute, RecordingExchange};
use crate::over_wire::ModelServer;
use std::ffi::OsString;
use std::fs::File;
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};
use std::{env, fs, thread};
use threadspec::Message;
use threadspec::agent::Model;
use threadspec_cli::ThroughOptions;
use threadspec_judge::protocol::{Endpoint, Transport};
use threadspec_judge::text::{beginning, visible};
use threadspec_judge::verdict::Unready;
use threadspec_provider::client::{ClientResponse, HttpModel};
use threadspec_provider::{RunPlan, WireTurn};
use threadspec_runner::{Companion, Storage, Surroundings, files, interrupt};

/// How often it is tried whether a gateway is ready.
const TICK: Duration = Duration::from_millis(300);
/// How long one such try may take.
const TRY: Duration = Duration::from_secs(10);
/// How many times the model says the same in one try: gateways ask again by themselves.
const ANSWERS: usize = 32;
/// The model's answer when a try shows whether a gateway is ready.
const READY: &str = "Ready.";
/// How often a gateway is started once more to see whether a run fails without those before it.
const MOST_ANEW: usize = 5;
/// How long a program whose connection broke off may take to be gone.
const END_GRACE: Duration = Duration::from_millis(500);
/// How much of an answer is shown, in characters.
const SHOWN: usize = 400;
/// The variables that tell a program where its provider is, and the parts of names of those that may hold a key.
const OF_PROVIDERS: &[&str] = &["OPENAI_", "ANTHROPIC_"];
const OF_KEYS: &[&str] = &["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"];

/// A gateway between client and provider.
#[derive(Debug)]
pub(super) struct Gateway {
    /// Its name.
    pub(super) name: String,
    pub(super) server: Arc<ModelServer>,
    /// The words of its command, with placeholders; none if it runs already.
    words: Vec<String>,
    url: String,
    config: Option<PathBuf>,
    headers: Vec<String>,
    log: Option<PathBuf>,
    has_home: bool,
    ready_timeout: Duration,
    /// The API that its client speaks.
    pub(super) client: threadspec::oracle::Api,
    /// The key that it has for the provider, and that of its client.
    keys: (String, String),
    /// The model that its client asks for.
    model: String,
    state: Mutex<GatewayState>,
    /// Runs read it; who wants to be alone with the gateway writes it.
    runs: RwLock<()>,
    /// How often it was started once more.
    anew: AtomicUsize,
}

/// The state of a gateway at the moment.
#[derive(Debug, Default)]
struct GatewayState {
    program: Option<Companion>,
    /// How it is reached, once it is ready.
    route: Option<GatewayRoute>,
    /// True if it was started before: its log goes on.
    was_started: bool,
    /// Removed when the gateway is gone.
    folder: Option<Storage>,
}

impl Gateway {
    pub(super) fn new(options: &ThroughOptions, server: Arc<ModelServer>) -> Self {
        let words = options.words();
        let key = server.key();
        let of_client = options.key().unwrap_or_else(|| server.key());
        server.take_gateway_keys(vec![key.clone(), of_client.clone()]);
        Self {
            name: options.name(),
            words,
            url: options.url(),
            config: options.config().map(Into::into),
            headers: options.headers().to_vec(),
            log: options.log().map(Into::into),
            has_home: options.has_home(),
            ready_timeout: options.ready_timeout(),
            client: options.client(),
            keys: (key, of_client),
            model: options.model().unwrap_or(&server.model).to_owned(),
            server,
            state: Mutex::default(),
            runs: RwLock::default(),
            anew: AtomicUsize::new(0),
        }
    }

    fn state(&self) -> MutexGuard<'_, GatewayState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until nobody else asks the gateway, and keeps others from it.
    pub(super) fn be_alone(&self) -> RwLockWriteGuard<'_, ()> {
        self.runs.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether it may be started once more, to see whether a run fails without those before it.
    pub(super) fn may_begin_anew(&self) -> bool {
        !self.words.is_empty() && self.anew.fetch_add(1, Ordering::Relaxed) < MOST_ANEW
    }

    /// Takes part in what the gateway does at the moment.
    pub(super) fn join(&self) -> RwLockReadGuard<'_, ()> {
        self.runs.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// How a ready gateway is reached. It is started if it is not there.
    ///
    /// # Errors
    ///
    /// Says why it does not get ready.
    pub(super) fn route(&self) -> Result<GatewayRoute, Unready> {
        let mut state = self.state();
        if let Some(route) = &state.route {
            return Ok(route.clone());
        }
        let route = self.start(&mut state).inspect_err(|_| state.program = None)?;
        state.route = Some(route.clone());
        Ok(route)
    }

    /// Ends the program, if it is ours; it is started again when it is next asked.
    pub(super) fn end(&self) {
        *self.state() = GatewayState { was_started: true, ..GatewayState::default() };
    }

    /// How the program ended, if it has, and nobody listens any more in its place; with the last that it printed. One that did not answer
    /// (`has_failed`) may be about to end.
    pub(super) fn last_words(&self, has_failed: bool) -> Option<String> {
        let mut state = self.state();
        let address = state.route.as_ref()?.authority().to_owned();
        let Some(program) = state.program.as_mut() else {
            let is_gone = has_failed && !takes_connections(&address);
            return is_gone.then(|| format!("nobody listens at {address} any more"));
        };
        let given_up = Instant::now() + END_GRACE;
        let mut status = program.exit_status();
        while status.is_none() && has_failed && Instant::now() < given_up && !takes_connections(&address) {
            thread::sleep(Duration::from_millis(10));
            status = program.exit_status();
        }
        let status = status.filter(|_| !takes_connections(&address))?;
        Some(format!("the gateway ended with {status}{}", printed(program)))
    }

    fn start(&self, state: &mut GatewayState) -> Result<GatewayRoute, Unready> {
        let lacking = |error: std::io::Error| Unready::Runner(format!("for the gateway: {error}"));
        let folder = Storage::new().map_err(lacking)?;
        // Free at this moment; nothing keeps others from taking it before the gateway does.
        let port = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).map_err(lacking)?.port();
        let mut placeholders = Placeholders {
            upstream: self.server.url(),
            key: self.keys.0.clone(),
            port,
            model: self.server.model.clone(),
            dir: folder.path().into(),
            config: None,
        };
        if let Some(path) = &self.config {
            let text = fs::read_to_string(path)
                .map_err(|error| Unready::Runner(visible(&format!("--through-config {}: {error}", path.display()))))?;
            let name = path
                .extension()
                .map_or_else(|| "config".into(), |suffix| PathBuf::from("config").with_extension(suffix));
            let filled = PathBuf::from(folder.path()).join(name);
            fs::write(&filled, placeholders.fill(&text)).map_err(lacking)?;
            placeholders.config = Some(filled);
        }
        let headers = self.headers.iter().filter_map(|header| header.split_once(':'));
        let headers = headers.map(|(name, value)| (name.to_lowercase(), placeholders.fill(value.trim()))).collect();
        let url = placeholders.fill(&self.url);
        let route = GatewayRoute::new(&url, headers)
            .ok_or_else(|| Unready::Runner(format!("--through-url: {url} is no URL")))?;
        if !self.words.is_empty() {
            let command: Vec<OsString> = self.words.iter().map(|word| placeholders.fill(word).into()).collect();
            let around = self.surroundings(&placeholders, state.was_started).map_err(lacking)?;
            let named = |why: Unready| match why {
                Unready::Testee(why) => Unready::Testee(format!("the gateway: {why}")),
                lacking @ (Unready::Runner(_) | Unready::Shortage(_)) => lacking,
            };
            state.program = Some(Companion::start_apart(&command, around).map_err(named)?);
        }
        state.folder = Some(folder);
        state.was_started = true;
        self.wait_for(state.program.as_mut(), &route)?;
        Ok(route)
    }

    fn surroundings(&self, placeholders: &Placeholders, goes_on: bool) -> std::io::Result<Surroundings<'static>> {
        let is_withheld = |name: &OsString| {
            let name = name.to_string_lossy().to_uppercase();
            OF_PROVIDERS.iter().any(|beginning| name.starts_with(beginning))
                || OF_KEYS.iter().any(|part| name.contains(part))
        };
        let Placeholders { upstream, key, dir, .. } = placeholders;
        let mut variables: Vec<(&str, OsString)> = vec![
            ("OPENAI_BASE_URL", format!("{upstream}/v1").into()),
            ("OPENAI_API_BASE", format!("{upstream}/v1").into()),
            ("OPENAI_API_KEY", key.into()),
            ("ANTHROPIC_BASE_URL", upstream.into()),
            ("ANTHROPIC_API_KEY", key.into()),
        ];
        if self.has_home {
            variables.push(("HOME", dir.into()));
        }
        let open = |path: &PathBuf| if goes_on { File::options().append(true).open(path) } else { File::create(path) };
        Ok(Surroundings {
            variables,
            withheld: env::vars_os().map(|(name, _)| name).filter(is_withheld).collect(),
            log: self.log.as_ref().map(open).transpose()?,
            ..Surroundings::default()
        })
    }

    /// Waits until a plain text run comes through.
    fn wait_for(&self, mut program: Option<&mut Companion>, route: &GatewayRoute) -> Result<(), Unready> {
        let given_up = Instant::now() + self.ready_timeout;
        let mut last = Tried { answer: NOBODY.to_owned(), arrived: "nothing".to_owned() };
        loop {
            if interrupt::requested() {
                return Err("interrupted".to_owned().into());
            }
            if takes_connections(route.authority()) {
                match self.try_out(route, given_up) {
                    None => return Ok(()),
                    // The last try may have had no time for an answer.
                    Some(tried) if tried.answer != "none" || last.answer == NOBODY => last = tried,
                    Some(_) => {}
                }
            }
            // One that leaves another process behind ends well.
            if let Some(status) =
                program.as_mut().and_then(|program| program.exit_status()).filter(|status| !status.success())
            {
                let printed = program.as_deref().map(printed).unwrap_or_default();
                return Err(
                    format!("the gateway {} ended with {status} before it was ready{printed}", self.name).into()
                );
            }
            if Instant::now() > given_up {
                let printed = program.as_deref().map(printed).unwrap_or_default();
                let Tried { answer, arrived } = last;
                return Err(format!(
                    "the gateway {} was not ready within {:?}\nits last answer: {answer}\nwhat arrived at the provider: {arrived}{printed}",
                    self.name, self.ready_timeout
                )
                .into());
            }
            if !interrupt::wait(TICK) {
                return Err("interrupted".to_owned().into());
            }
        }
    }

    /// Has a plain text run made. Returns what came of it, if it did not come through.
    fn try_out(&self, route: &GatewayRoute, given_up: Instant) -> Option<Tried> {
        let said = WireTurn::read_all(&format!(r#"[{{"content": "{READY}"}}]"#), "model").unwrap_or_default();
        let turns = said.iter().cycle().take(ANSWERS).cloned().collect();
        let mark = self.server.mark();
        let plan =
            RunPlan { model: Some(self.server.model.clone()), ..RunPlan::of_turns(self.server.transport.api, turns) };
        self.server.begin_as(&mark, plan);
        let left = given_up.saturating_duration_since(Instant::now()).max(TICK).min(TRY);
        let mut exchange = RecordingExchange::new(self, route, (&mark, 1), left);
        let endpoint = self.endpoint(route, false, false);
        let answer = HttpModel::new(&endpoint, [], &mut exchange).respond(&[Message::human("Are you ready?")]);
        let exchanges = exchange.into_exchanges();
        let arrived = self.server.so_far(&mark, |record| {
            let attempts = record.attempts.iter().map(|attempt| {
                let status = attempt.status.map(|status| status.to_string()).unwrap_or_default();
                let error = attempt.error.as_ref().map(|error| format!(" {error}")).unwrap_or_default();
                format!("POST {}, answered with {status}{error}", attempt.target)
            });
            let strays = record.strays.iter();
            let strays =
                strays.map(|stray| format!("{} {}, answered with {}", stray.method, stray.target, stray.status));
            let all: Vec<String> = attempts.chain(strays).collect();
            all.last().map(|last| {
                if all.len() == 1 { last.clone() } else { format!("{last}, and {} before it", all.len() - 1) }
            })
        });
        self.server.abandon(&mark);
        if answer.as_ref().is_ok_and(|answer| answer.content.contains(READY)) {
            return None;
        }
        let response = exchanges.last().and_then(|exchange| exchange.response.as_ref());
        Some(Tried {
            answer: visible(&response.map_or_else(|| "none".to_owned(), shown)),
            arrived: visible(&arrived.flatten().unwrap_or_else(|| "nothing".to_owned())),
        })
    }

    /// The key of its client.
    pub(super) fn client_key(&self) -> &str {
        &self.keys.1
    }

    /// Returns the endpoint for the client.
    pub(super) fn endpoint(&self, route: &GatewayRoute, stream: bool, reasoning: bool) -> Endpoint {
        Endpoint {
            transport: Transport { api: self.client, stream },
            base_url: route.base_url(self.client),
            api_key: self.keys.1.clone(),
            model: self.model.clone(),
            reasoning,
        }
    }
}

/// In place of an answer, before the first one.
const NOBODY: &str = "nobody took a connection";

/// The result of a try.
struct Tried {
    answer: String,
    arrived: String,
}

/// An answer in a few words.
fn shown(response: &ClientResponse) -> String {
    let body = String::from_utf8_lossy(&response.body()).into_owned();
    format!("{} {}", response.status, beginning(body.trim(), SHOWN))
}

/// The last lines of a program, on lines of their own.
fn printed(program: &Companion) -> String {
    // What it printed as its last may still be on its way.
    thread::sleep(Duration::from_millis(50));
    let lines = program.last_lines();
    if lines.is_empty() { String::new() } else { format!("\nits last output:\n  {}", lines.join("\n  ")) }
}

fn takes_connections(authority: &str) -> bool {
    let addresses = authority.to_socket_addrs().into_iter().flatten();
    addresses.into_iter().any(|address| TcpStream::connect_timeout(&address, TICK).is_ok())
}

/// Finds out whether a log can be written.
pub(super) fn prepare_log(path: &std::path::Path) -> Result<(), Unready> {
    files::prepare(path).map_err(|error| Unready::Runner(error.to_string()))
}

// Replaces placeholders in a command, in a configuration and in headers: values that are known only when a gateway is started.

/// The values of placeholders.
#[derive(Clone, Debug)]
pub(super) struct Placeholders {
    /// The provider's URL, without a path.
    pub(super) upstream: String,
    /// The key that the provider takes.
    pub(super) key: String,
    /// A port that is free, for the gateway.
    pub(super) port: u16,
    /// The model that the provider has.
    pub(super) model: String,
    /// A folder that nobody else uses.
    pub(super) dir: PathBuf,
    /// The configuration in that folder, if there is one.
    pub(super) config: Option<PathBuf>,
}

impl Placeholders {
    /// A text with everything in its place. Whatever else is in braces stays as it is.
    pub(super) fn fill(&self, text: &str) -> String {
        let (mut filled, mut rest) = (String::with_capacity(text.len()), text);
        while let Some(at) = rest.find('{') {
            filled.push_str(&rest[..at]);
            rest = &rest[at..];
            let known = rest[1..].find('}').and_then(|end| Some((self.value(&rest[1..=end])?, end + 2)));
            let (value, length) = known.unwrap_or_else(|| ("{".to_owned(), 1));
            filled.push_str(&value);
            rest = &rest[length..];
        }
        filled + rest
    }

    fn value(&self, name: &str) -> Option<String> {
        Some(match name {
            "upstream" => self.upstream.clone(),
            "upstream_v1" => format!("{}/v1", self.upstream),
            "key" => self.key.clone(),
            "port" => self.port.to_string(),
            "model" => self.model.clone(),
            "dir" => self.dir.display().to_string(),
            "config" => self.config.as_ref()?.display().to_string(),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_once_and_other_braces_stay() {
        let placeholders = Placeholders {
            upstream: "http://127.0.0.1:1".into(),
            key: "sk-{port}".into(),
            port: 4000,
            model: "m".into(),
            dir: "/tmp/d".into(),
            config: None,
        };
        for (text, expected) in [
            ("a --port {port}", "a --port 4000"),
            ("{upstream}|{upstream_v1}", "http://127.0.0.1:1|http://127.0.0.1:1/v1"),
            (r#"{"key": "{key}", "a": {"b": "{model}"}}"#, r#"{"key": "sk-{port}", "a": {"b": "m"}}"#),
            ("{{port}}", "{4000}"),
            ("{config} {dir}/x {nothing} {", "{config} /tmp/d/x {nothing} {"),
        ] {
            assert_eq!(placeholders.fill(text), expected);
        }
    }
}
