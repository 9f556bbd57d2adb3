//! The adapters of real agent frameworks, as `init --framework` copies them.

use super::init::{REPOSITORY, Starter, StarterSessions};
use clap::ValueEnum;

/// A framework that has an adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Framework {
    #[value(name = "agent-framework")]
    MicrosoftAgent,
    Agno,
    #[value(name = "ai-sdk-6")]
    AiSdk6,
    #[value(name = "ai-sdk-7")]
    AiSdk7,
    Autogen,
    Crewai,
    GoogleAdk,
    Haystack,
    LangchainJs,
    LangchainPython,
    LlamaIndex,
    Mastra,
    OpenaiAgentsJs,
    OpenaiAgentsPython,
    PydanticAi,
    Strands,
}

/// The files of a framework's adapters, and the shared files that they need.
macro_rules! files {
    ($folder:literal: $($name:literal $(as $target:literal)?),*; $($shared:literal),*) => {
        vec![
            $((files!(@name $name $($target)?), include_str!(concat!("../../adapters/frameworks/", $folder, "/", $name)).to_owned()),)*
            $((concat!("shared/", $shared), include_str!(concat!("../../adapters/frameworks/shared/", $shared)).to_owned()),)*
        ]
    };
    (@name $name:literal) => { $name };
    (@name $name:literal $target:literal) => { $target };
}

/// The adapter of op `tools`, and where there are `sessions` that of op `session`. Its requirements are what the framework's users name, without
/// all that these need in turn: for another framework there is one line to replace.
macro_rules! python {
    ($folder:literal $(, $shared:literal)*) => {
        files!($folder: "adapter.py", "requirements.in" as "requirements.txt"; "testee.py" $(, $shared)*)
    };
    (sessions $folder:literal $(, $shared:literal)*) => {
        files!($folder: "adapter.py", "session.py", "requirements.in" as "requirements.txt"; "testee.py", "session.py" $(, $shared)*)
    };
}

macro_rules! node {
    ($folder:literal $(, $shared:literal)*) => {
        files!($folder: "adapter.mjs", "package.json"; "testee.mjs" $(, $shared)*)
    };
    (sessions $folder:literal $(, $shared:literal)*) => {
        files!($folder: "adapter.mjs", "session.mjs", "package.json"; "testee.mjs", "session.mjs" $(, $shared)*)
    };
}

impl Framework {
    pub(super) fn starter(self) -> Starter {
        let mut files = self.files();
        // In the copy, shared files are in a folder beside the adapter.
        for (_, text) in &mut files {
            *text = text
                .replace("Path(__file__).parents[1] / \"shared\"", "Path(__file__).parent / \"shared\"")
                .replace("../shared/", "./shared/");
        }
        let has = |name| files.iter().any(|(file, _)| *file == name);
        let is_python = has("adapter.py");
        let (setup, build): (_, &[&str]) = if is_python {
            // Many systems let nobody install beside their own packages.
            ("actions/setup-python@v6", &["python3 -m venv .venv", ".venv/bin/pip install -r requirements.txt"])
        } else {
            ("actions/setup-node@v5", &["npm install"])
        };
        let (command, session) = self.commands(is_python);
        let sessions = (has("session.py") || has("session.mjs")).then_some(StarterSessions {
            command: session,
            about: "Its adapter\nkeeps the thread as the framework's documentation tells its users to, and declares what the framework has:",
        });
        // Some frameworks are slow to import, and no adapter can observe everything.
        let options = "--profile universal --timeout 60 --max-unsupported 25 ";
        let leftovers = if is_python { ".venv/\n__pycache__/\n" } else { "node_modules/\n" };
        Starter { files, about: about(is_python), setup, build, options, command, sessions, leftovers }
    }

    fn files(self) -> Vec<(&'static str, String)> {
        match self {
            Self::MicrosoftAgent => python!(sessions "agent-framework"),
            Self::Agno => python!(sessions "agno"),
            Self::AiSdk6 => node!("ai-sdk-6", "ai-sdk.mjs", "session.mjs"),
            Self::AiSdk7 => node!(sessions "ai-sdk-7", "ai-sdk.mjs"),
            Self::Autogen => python!(sessions "autogen"),
            Self::Crewai => python!("crewai"),
            Self::GoogleAdk => python!(sessions "google-adk"),
            Self::Haystack => python!(sessions "haystack"),
            Self::LangchainJs => node!(sessions "langchain-js"),
            Self::LangchainPython => python!(sessions "langchain-python"),
            Self::LlamaIndex => python!(sessions "llama-index"),
            Self::Mastra => node!(sessions "mastra", "ai-sdk.mjs"),
            Self::OpenaiAgentsJs => node!(sessions "openai-agents-js"),
            Self::OpenaiAgentsPython => python!(sessions "openai-agents-python", "responses.py"),
            Self::PydanticAi => python!(sessions "pydantic-ai"),
            Self::Strands => python!(sessions "strands"),
        }
    }

    /// Returns the commands that start the adapters of op `tools` and of op `session`.
    fn commands(self, is_python: bool) -> (&'static str, &'static str) {
        match self {
            Self::AiSdk6 => ("node adapter.mjs generate", "node session.mjs"),
            Self::AiSdk7 => {
                ("node_modules/node/bin/node adapter.mjs generate", "node_modules/node/bin/node session.mjs")
            }
            _ if is_python => (".venv/bin/python adapter.py", ".venv/bin/python session.py"),
            _ => ("node adapter.mjs", "node session.mjs"),
        }
    }
}

fn about(is_python: bool) -> String {
    let (adapter, testee, requirements, signatures) = if is_python {
        let function =
            " A framework that reads a tool's parameters from the signature of a function gets `run.function(name)`.";
        ("adapter.py", "shared/testee.py", "requirements.txt", function)
    } else {
        ("adapter.mjs", "shared/testee.mjs", "package.json", "")
    };
    format!(
        "It connects an agent framework with [threadspec]({REPOSITORY}), whose profile `universal` \
         judges what any agent owes its model.\n\nIn `{adapter}` are a scripted model at the framework's own model \
         interface, scripted tools, and the framework's own loop; `{testee}` has the protocol.\nFor another framework, replace \
         the model, the tools and the two conversions of messages, and what `{requirements}` installs.{signatures} Repair nothing:\nwhat the \
         framework does is what is judged."
    )
}
