//! Prepares a case for a program: fresh folders, files, the environment, and the server of its tools.

use super::recipe::{ProgramStart, filled};
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, io};
use threadspec_judge::protocol::Transport;
use threadspec_mcp::{McpCall, McpEvent, McpHttp, McpRecord, McpScript, McpTool, ScriptedServer};
use threadspec_provider::ProgramPlan;
use threadspec_runner::{Storage, Surroundings};

/// The longest argument that every system takes, in bytes.
const LONGEST_ARGUMENT: usize = 120_000;
/// Where nobody listens: what does not go to our two servers ends there.
const NOWHERE: &str = "http://127.0.0.1:9";
/// The variables of this program's environment that a program may know.
const KEPT: [&str; 8] = ["PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SystemRoot", "PATHEXT", "COMSPEC"];

/// The model's provider, as a program finds it.
pub(super) struct ModelDoor<'a> {
    pub(super) transport: Transport,
    pub(super) url: String,
    pub(super) key: &'a str,
    pub(super) model: &'a str,
}

/// A case that is ready for its program. Dropping it removes the folders.
pub(super) struct PreparedCase {
    pub(super) command: Vec<OsString>,
    variables: Vec<(String, OsString)>,
    folder: PathBuf,
    input: Option<PathBuf>,
    record: PathBuf,
    /// The ports of our servers.
    pub(super) ports: Vec<u16>,
    /// Where their doors may be.
    pub(super) root: PathBuf,
    _http: Option<McpHttp>,
    _storage: Storage,
}

impl PreparedCase {
    /// Prepares a case.
    ///
    /// # Errors
    ///
    /// Says what cannot be written, or why the program cannot get the case.
    pub(super) fn new(start: &ProgramStart, plan: &ProgramPlan, door: &ModelDoor<'_>) -> io::Result<Self> {
        let storage = Storage::new()?;
        let root = PathBuf::from(storage.path());
        let [home, folder, temporary] = ["home", "dir", "tmp"].map(|name| root.join(name));
        for made in [&home, &folder, &temporary] {
            fs::create_dir(made)?;
        }
        let script = script(plan);
        let (script_file, record, mcp) = (root.join("script.json"), root.join("record.jsonl"), root.join("mcp.json"));
        fs::write(&script_file, script.text())?;
        File::create(&record)?;
        let own = env::current_exe()?;
        let words =
            ["mcp".to_owned(), "--script".to_owned(), shown(&script_file), "--record".to_owned(), shown(&record)];
        let servers = serde_json::json!({"mcpServers": {"threadspec": {"command": shown(&own), "args": words}}});
        fs::write(&mcp, servers.to_string())?;
        let prompt_file = root.join("prompt.txt");
        fs::write(&prompt_file, &plan.prompt)?;
        let all = || {
            start
                .words
                .iter()
                .chain(start.setup.iter().map(|(_, text)| text))
                .chain(start.variables.iter().map(|(_, value)| value))
        };
        let has = |placeholder: &str| all().any(|text| text.contains(placeholder));
        let mut http = None;
        if has("{mcp_url}") {
            let server = ScriptedServer::new(script, Arc::new(McpRecord::in_file(&record)?), None);
            http = Some(McpHttp::start(([127, 0, 0, 1], 0).into(), server)?);
        }
        let http_url = http.as_ref().map(McpHttp::url);
        let ModelDoor { transport, url, key, model } = door;
        let quoted = |words: &[String]| serde_json::json!(words).to_string();
        let url_v1 = format!("{url}/v1");
        let values = [
            ("prompt", plan.prompt.clone()),
            ("prompt-file", shown(&prompt_file)),
            ("url", url.clone()),
            ("url_v1", url_v1.clone()),
            ("key", (*key).to_owned()),
            ("model", (*model).to_owned()),
            ("api", transport.api.to_string()),
            ("stream", transport.stream.to_string()),
            ("mcp", shown(&mcp)),
            ("mcp_command", shown(&own)),
            ("mcp_args", quoted(&words)),
            ("mcp_words", quoted(&[vec![shown(&own)], words.to_vec()].concat())),
            ("mcp_url", http_url.clone().unwrap_or_default()),
            ("home", shown(&home)),
            ("dir", shown(&folder)),
        ];
        for (file, text) in &start.setup {
            let path = home.join(filled(file, &values));
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(path, filled(text, &values))?;
        }
        let command: Vec<OsString> = start.words.iter().map(|word| filled(word, &values).into()).collect();
        let mut variables: Vec<(String, OsString)> =
            KEPT.iter().filter_map(|name| Some(((*name).to_owned(), env::var_os(name)?))).collect();
        let mut set = |name: &str, value: &str| variables.push((name.to_owned(), value.into()));
        for name in ["HOME", "USERPROFILE"] {
            set(name, &shown(&home));
        }
        for name in ["TMPDIR", "TEMP", "TMP"] {
            set(name, &shown(&temporary));
        }
        for (name, part) in
            [("CONFIG", ".config"), ("DATA", ".local/share"), ("STATE", ".local/state"), ("CACHE", ".cache")]
        {
            set(&format!("XDG_{name}_HOME"), &shown(&home.join(part)));
        }
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
            set(name, NOWHERE);
        }
        for name in ["NO_PROXY", "no_proxy"] {
            set(name, "127.0.0.1,localhost");
        }
        for (name, value) in
            [("TERM", "dumb"), ("NO_COLOR", "1"), ("CI", "1"), ("DISABLE_TELEMETRY", "1"), ("DO_NOT_TRACK", "1")]
        {
            set(name, value);
        }
        for name in ["OPENAI_BASE_URL", "OPENAI_API_BASE"] {
            set(name, &url_v1);
        }
        set("ANTHROPIC_BASE_URL", url);
        for name in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY"] {
            set(name, key);
        }
        for (name, value) in &start.variables {
            set(name, &filled(value, &values));
        }
        let is_told = has("{prompt}") || has("{prompt-file}");
        Ok(Self {
            command,
            variables,
            folder,
            input: (!is_told).then_some(prompt_file),
            record,
            ports: [Some(url.as_str()), http_url.as_deref()].into_iter().flatten().filter_map(port).collect(),
            root,
            _http: http,
            _storage: storage,
        })
    }

    /// Returns what the program finds around it.
    pub(super) fn surroundings(&self) -> io::Result<Surroundings<'_>> {
        Ok(Surroundings {
            variables: self.variables.iter().map(|(name, value)| (name.as_str(), value.clone())).collect(),
            is_bare: true,
            folder: Some(self.folder.clone()),
            input: self.input.as_deref().map(File::open).transpose()?,
            ..Surroundings::default()
        })
    }

    /// Returns what came to the server of the tools.
    pub(super) fn events(&self) -> Vec<McpEvent> {
        McpRecord::read(&fs::read_to_string(&self.record).unwrap_or_default())
    }
}

/// Why a command line cannot hold a prompt, if so.
pub(super) fn too_long(start: &ProgramStart, prompt: &str) -> Option<String> {
    let is_argument = start.words.iter().any(|word| word.contains("{prompt}"));
    (is_argument && prompt.len() > LONGEST_ARGUMENT)
        .then(|| "the user message is too long for a command line".to_owned())
}

/// The script of the MCP server: each tool with its calls, and behind them what a second execution gets.
fn script(plan: &ProgramPlan) -> McpScript {
    let calls = |name: &String| {
        let own = || plan.calls.iter().filter(|call| call.tool == *name);
        let args = |args: &serde_json::Value| args.as_object().cloned().unwrap_or_default();
        let first = own().map(|call| McpCall {
            args: args(&call.args),
            text: Some(call.text.clone()),
            is_error: call.is_error,
            ..McpCall::default()
        });
        let again = own().filter_map(|call| {
            Some(McpCall { args: args(&call.args), text: Some(call.again.clone()?), ..McpCall::default() })
        });
        first.chain(again).collect()
    };
    let tool = |name: &String| {
        let description = format!("Gives what the script of the case has for {name}.");
        (name.clone(), McpTool { description: Some(description), calls: calls(name), ..McpTool::default() })
    };
    McpScript { tools: plan.tools.iter().map(tool).collect() }
}

/// The port in the URL of one of our servers.
fn port(url: &str) -> Option<u16> {
    url.trim_start_matches("http://").split(['/', ':']).nth(1)?.parse().ok()
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
