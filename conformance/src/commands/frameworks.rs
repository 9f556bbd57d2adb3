//! The adapters of real agent frameworks, as `init --framework` copies them.

use super::init::Starter;
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

/// The files of a framework's adapter, and the shared files that it needs.
macro_rules! files {
    ($folder:literal: $($name:literal),*; $($shared:literal),*) => {
        vec![
            $(($name, include_str!(concat!("../../adapters/frameworks/", $folder, "/", $name)).to_owned()),)*
            $(($shared, include_str!(concat!("../../adapters/frameworks/shared/", $shared)).to_owned()),)*
        ]
    };
}

macro_rules! python {
    ($folder:literal $(, $shared:literal)*) => {
        (files!($folder: "adapter.py", "requirements.txt"; "testee.py" $(, $shared)*), "python3 adapter.py")
    };
}

macro_rules! node {
    ($folder:literal, $command:literal $(, $shared:literal)*) => {
        (files!($folder: "adapter.mjs", "package.json"; "testee.mjs" $(, $shared)*), $command)
    };
}

impl Framework {
    pub(super) fn starter(self) -> Starter {
        let (mut files, command) = match self {
            Self::MicrosoftAgent => python!("agent-framework"),
            Self::Agno => python!("agno"),
            Self::AiSdk6 => node!("ai-sdk-6", "node adapter.mjs generate", "ai-sdk.mjs"),
            Self::AiSdk7 => node!("ai-sdk-7", "node_modules/node/bin/node adapter.mjs generate", "ai-sdk.mjs"),
            Self::Autogen => python!("autogen"),
            Self::Crewai => python!("crewai"),
            Self::GoogleAdk => python!("google-adk"),
            Self::Haystack => python!("haystack"),
            Self::LangchainJs => node!("langchain-js", "node adapter.mjs"),
            Self::LangchainPython => python!("langchain-python"),
            Self::LlamaIndex => python!("llama-index"),
            Self::Mastra => node!("mastra", "node adapter.mjs", "ai-sdk.mjs"),
            Self::OpenaiAgentsJs => node!("openai-agents-js", "node adapter.mjs"),
            Self::OpenaiAgentsPython => python!("openai-agents-python", "responses.py"),
            Self::PydanticAi => python!("pydantic-ai"),
            Self::Strands => python!("strands"),
        };
        // In the copy, shared files stand beside the adapter.
        for (_, text) in &mut files {
            *text = text
                .replace("Path(__file__).parents[1] / \"shared\"", "Path(__file__).parent")
                .replace("../shared/", "./");
        }
        let is_python = files.iter().any(|(name, _)| *name == "adapter.py");
        let (setup, build): (_, &[&str]) = if is_python {
            ("actions/setup-python@v6", &["python3 -m pip install --no-deps -r requirements.txt"])
        } else {
            ("actions/setup-node@v5", &["npm install"])
        };
        // Some frameworks are slow to import, and no adapter can observe everything.
        let options = "--profile universal --timeout 60 --max-unsupported 25 ";
        let leftovers = if is_python { "__pycache__/\n" } else { "node_modules/\n" };
        Starter { files, about: about(is_python), setup, build, options, command, sessions: None, leftovers }
    }
}

fn about(is_python: bool) -> String {
    let (adapter, testee, requirements) = if is_python {
        ("adapter.py", "testee.py", "requirements.txt")
    } else {
        ("adapter.mjs", "testee.mjs", "package.json")
    };
    format!(
        "It connects an agent framework with [threadspec](https://github.com/threadspec/threadspec), whose profile `universal` \
         judges what any agent owes its model.\n\nIn `{adapter}` are a scripted model at the framework's own model \
         interface, scripted tools, and the framework's own loop; `{testee}` has the protocol.\nFor another framework, replace \
         the model, the tools and the two conversions of messages, and what `{requirements}` installs. Repair nothing:\nwhat the \
         framework does is what is judged."
    )
}
