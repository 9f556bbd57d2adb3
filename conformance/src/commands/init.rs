//! `threadspec init`.

use super::frameworks::Framework;
use std::path::{Path, PathBuf};
use strum::{Display, EnumString, VariantNames};
use threadspec_cli::{Stop, not_writable};
use threadspec_judge::text::visible;
use threadspec_report::terminal::print;
use threadspec_runner::{Exit, files};

/// Where links of a generated README lead: it is outside of a checkout.
pub(super) const REPOSITORY: &str = "https://github.com/threadspec/threadspec";

/// Begin an adapter: a program that answers `hello` and `escape`, its tests, and a CI workflow
///
/// With `--framework`, copy the complete adapter of a real agent framework, in profile universal, to use as it is or to change for another framework. No existing file is overwritten.
#[derive(Debug, clap::Args)]
#[command(allow_missing_positional = true)]
pub(crate) struct Init {
    /// node, python, typescript, rust, go, java, ruby, php or csharp
    #[arg(value_name = "LANGUAGE", conflicts_with = "framework")]
    language: Option<Language>,
    /// Copy the adapter of a framework
    #[arg(long, value_name = "NAME", value_enum)]
    framework: Option<Framework>,
    /// The folder, which is created if necessary
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// A language that an adapter can begin in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, VariantNames)]
#[strum(serialize_all = "kebab-case", ascii_case_insensitive, parse_err_fn = unknown_language, parse_err_ty = String)]
pub(super) enum Language {
    /// JavaScript without a build.
    Node,
    /// Python 3.
    Python,
    /// TypeScript, built by `tsc`.
    Typescript,
    /// Rust.
    Rust,
    /// Go.
    Go,
    /// Java with Gson, built by Maven.
    Java,
    /// Ruby.
    Ruby,
    /// PHP without Composer.
    Php,
    /// C#, built by the .NET SDK.
    Csharp,
}

fn unknown_language(name: &str) -> String {
    format!(
        "there is no template for `{name}`: write the adapter from the protocol, which is one page, \
         {REPOSITORY}/blob/main/conformance/PROTOCOL.md; the languages with a template are {}",
        Language::VARIANTS.join(", ")
    )
}

/// The files with which an adapter begins.
pub(super) struct Starter {
    pub(super) files: Vec<(&'static str, String)>,
    /// The first text of its README.
    pub(super) about: String,
    /// The GitHub action that installs the toolchain, with its inputs.
    pub(super) setup: &'static str,
    /// Builds and tests.
    pub(super) build: &'static [&'static str],
    /// The options of `verify`, each followed by a space.
    pub(super) options: &'static str,
    /// Starts the adapter.
    pub(super) command: &'static str,
    /// The adapter of op `session`, where there is one; it is a program of its own.
    pub(super) sessions: Option<StarterSessions>,
    /// The leftovers of the build, for `.gitignore`.
    pub(super) leftovers: &'static str,
}

/// An adapter of op `session`.
pub(super) struct StarterSessions {
    /// Starts it.
    pub(super) command: &'static str,
    /// The text of the README before the command that verifies it.
    pub(super) about: &'static str,
}

macro_rules! files {
    ($folder:literal: $($name:literal $(as $target:literal)?),*) => {
        vec![$((files!(@name $name $($target)?), include_str!(concat!("../../templates/init/", $folder, "/", $name)).to_owned())),*]
    };
    (@name $name:literal) => { $name };
    (@name $name:literal $target:literal) => { $target };
}

impl Language {
    fn starter(self) -> Starter {
        let (files, setup, build, command, leftovers): (_, _, &[&str], _, _) = match self {
            Self::Node => (
                files!("node": "adapter.mjs", "adapter.test.mjs", "session.mjs", "session.test.mjs", "package.json"),
                "actions/setup-node@v5",
                &["node --test"],
                "node adapter.mjs",
                "node_modules/\n",
            ),
            Self::Python => (
                files!("python": "adapter.py", "test_adapter.py", "session.py", "test_session.py"),
                "actions/setup-python@v6",
                &["python3 -m unittest"],
                "python3 adapter.py",
                "__pycache__/\n",
            ),
            Self::Typescript => (
                files!("typescript": "adapter.ts", "adapter.test.ts", "session.ts", "session.test.ts", "package.json", "tsconfig.json"),
                "actions/setup-node@v5",
                &["npm install", "npm run build", "npm test"],
                "node dist/adapter.js",
                "node_modules/\ndist/\n",
            ),
            Self::Rust => (
                files!("rust": "Cargo.toml.template" as "Cargo.toml", "main.rs" as "src/main.rs", "session.rs" as "src/session.rs", "lines.rs" as "src/lines.rs"),
                "",
                &["cargo build --release", "cargo test --release"],
                "target/release/threadspec-adapter",
                "target/\n",
            ),
            Self::Go => (
                files!("go": "go.mod.template" as "go.mod", "main.go", "main_test.go", "session/main.go", "session/main_test.go", "lines/lines.go"),
                "actions/setup-go@v6",
                &["go build -o adapter .", "go build -o sessions ./session", "go test ./..."],
                "./adapter",
                "/adapter\n/sessions\n",
            ),
            Self::Java => (
                files!("java": "pom.xml", "Adapter.java" as "src/Adapter.java", "AdapterTest.java" as "src/AdapterTest.java",
                       "Sessions.java" as "src/Sessions.java", "SessionsTest.java" as "src/SessionsTest.java", "Lines.java" as "src/Lines.java"),
                "actions/setup-java@v5\n        with:\n          distribution: temurin\n          java-version: 21",
                &[
                    "mvn --batch-mode --quiet package",
                    "java -cp 'target/classes:target/dependency/*' AdapterTest",
                    "java -cp 'target/classes:target/dependency/*' SessionsTest",
                ],
                "java -cp 'target/classes:target/dependency/*' Adapter",
                "target/\n",
            ),
            Self::Ruby => (
                files!("ruby": "adapter.rb", "test_adapter.rb", "session.rb", "test_session.rb", "lines.rb"),
                "ruby/setup-ruby@v1\n        with:\n          ruby-version: \"3.4\"",
                &["ruby test_adapter.rb", "ruby test_session.rb"],
                "ruby adapter.rb",
                "",
            ),
            Self::Php => (
                files!("php": "adapter.php", "test_adapter.php", "session.php", "test_session.php", "lines.php"),
                "shivammathur/setup-php@v2\n        with:\n          php-version: \"8.4\"",
                &["php test_adapter.php", "php test_session.php"],
                "php adapter.php",
                "",
            ),
            Self::Csharp => (
                files!("csharp": "Adapter.csproj.template" as "Adapter.csproj", "Program.cs", "Adapter.cs", "AdapterTest.cs", "Sessions.cs",
                       "SessionsTest.cs", "Lines.cs"),
                "actions/setup-dotnet@v5\n        with:\n          dotnet-version: 8.0.x",
                &["dotnet build --configuration Release --output build", "dotnet build/threadspec-adapter.dll test"],
                "dotnet build/threadspec-adapter.dll",
                "build/\nobj/\n",
            ),
        };
        let about = format!(
            "It connects this implementation with [threadspec]({REPOSITORY}), which tests it against the golden corpus. \
             It answers `escape`;\nother operations are `unsupported` until you add them."
        );
        Starter { files, about, setup, build, options: "", command, sessions: Some(self.sessions()), leftovers }
    }

    /// The example of op `session`.
    fn sessions(self) -> StarterSessions {
        let command = match self {
            Self::Node => "node session.mjs",
            Self::Python => "python3 session.py",
            Self::Typescript => "node dist/session.js",
            Self::Rust => "target/release/threadspec-sessions",
            Self::Java => "java -cp 'target/classes:target/dependency/*' Sessions",
            Self::Go => "./sessions",
            Self::Ruby => "ruby session.rb",
            Self::Php => "php session.php",
            Self::Csharp => "dotnet build/threadspec-adapter.dll sessions",
        };
        let about =
            "The example\nis an agent with a list as its memory; it declares the feature `message` alone, and passes:";
        StarterSessions { command, about }
    }
}

impl Init {
    /// Runs the command and returns its exit code.
    ///
    /// # Errors
    ///
    /// When a file exists already, or cannot be written.
    pub(crate) fn execute(&self) -> Result<Exit, Stop> {
        let begun = self.language.map(Language::starter).or_else(|| self.framework.map(Framework::starter));
        let Some(starter) = begun else {
            // Of two places one was filled, which is the folder's, whatever it was meant to be.
            let message = match self.folder.to_str().and_then(|name| name.parse::<Language>().ok()) {
                Some(language) => format!("name a folder, too, as in `threadspec init {language} my-adapter`"),
                None => format!("name a language ({}), or a framework with --framework", Language::VARIANTS.join(", ")),
            };
            return Err(Stop::new(Exit::Usage, message));
        };
        let mut files = starter.files.clone();
        files.push(("README.md", starter.readme()));
        files.push((".github/workflows/threadspec.yml", starter.workflow()));
        files.push((".gitignore", format!("{}threadspec-report/\n", starter.leftovers)));
        if let Some((name, _)) = files.iter().find(|(name, _)| self.folder.join(name).exists()) {
            let file = self.folder.join(name);
            let message = format!("{} is there already; choose another folder", file.display());
            return Err(Stop::new(Exit::Usage, visible(&message)));
        }
        for (name, text) in &files {
            let file = self.folder.join(name);
            write(&file, text).map_err(|error| not_writable(&file, &error))?;
        }
        let folder = self.folder.display().to_string();
        let quoted = shlex::try_quote(&folder).unwrap_or_else(|_| folder.as_str().into());
        let (shown, quoted) = (visible(&folder), visible(&quoted));
        print(&format!(
            "{} files in {shown}. Next:\n\n  cd {quoted}\n{}  {}\n{}\nFor the CI workflow in a folder of a repository, see \
             README.md.\n",
            files.len(),
            starter.steps("  "),
            starter.verify(),
            starter.verify_sessions().map(|command| format!("  {command}\n")).unwrap_or_default()
        ));
        Ok(Exit::Ok)
    }
}

fn write(file: &Path, text: &str) -> std::io::Result<()> {
    files::prepare(file)?;
    files::write(file, text.as_bytes())
}

impl Starter {
    fn verify(&self) -> String {
        format!("threadspec verify {}-- {}", self.options, self.command)
    }

    /// The command that verifies the adapter of op `session`, where there is one.
    fn verify_sessions(&self) -> Option<String> {
        let StarterSessions { command, .. } = self.sessions.as_ref()?;
        let options = if self.options.is_empty() { "--profile universal " } else { self.options };
        Some(format!("threadspec verify {options}--op session -- {command}"))
    }

    fn steps(&self, before: &str) -> String {
        let lines: Vec<String> = self.build.iter().map(|step| format!("{before}{step}\n")).collect();
        lines.concat()
    }

    fn readme(&self) -> String {
        format!(
            "# An adapter for threadspec\n\n{}\n\n{}    {}\n\nRequests and replies are one page: [the protocol]({REPOSITORY}/blob/main/conformance/PROTOCOL.md). \
             `threadspec show CASE-ID` prints a request to try by hand,\n`threadspec explain CLAUSE` explains a clause.\n\n{}GitHub runs `.github/workflows/threadspec.yml` only at \
             the root of a repository. If this is a folder in one, move the file there, name\nthe folder as \
             `working-directory` under `with`, and let the other steps run there too: `defaults: {{run: {{working-directory: \
             FOLDER}}}}` in the job.\n",
            self.about,
            self.steps("    "),
            self.verify(),
            self.about_sessions()
        )
    }

    /// Writes the part of the README about op `session`.
    fn about_sessions(&self) -> String {
        let why = "## Sessions\n\nUsers lose threads between runs: a process ends while tools work, a run is cancelled, a call waits for \
                   approval, a history is trimmed.\nOp `session` plays several runs on one thread, which the agent keeps by its own \
                   memory, and judges what the model gets in each.";
        let how = match self.sessions.as_ref().zip(self.verify_sessions()) {
            Some((StarterSessions { about, .. }, command)) => format!(
                "{about}\n\n    {command}\n\n\
                 Put your agent in its place, then declare what it has, one feature after the other; the summary counts what is left \
                 out.\n`threadspec explain SESSION-ANSWERED` shows what users see when a clause is broken."
            ),
            None => "Its adapter\nis a program of its own, or this one with `\"ops\":[\"session\"]` and `\"session\":[\"message\"]` in its \
                     hello, and more features as your agent has them."
                .to_owned(),
        };
        let link = "blob/main/conformance/REFERENCE.md#sessions";
        format!(
            "{why} {how}\nInput, reply and features: [sessions]({REPOSITORY}/{link}).\n\n## Continuous integration\n\n"
        )
    }

    fn workflow(&self) -> String {
        let setup = if self.setup.is_empty() { String::new() } else { format!("      - uses: {}\n", self.setup) };
        let arguments = match self.options {
            "" => String::new(),
            options => format!("          arguments: {}\n", options.trim_end()),
        };
        format!(
            "name: threadspec\n\non:\n  push:\n  pull_request:\n\npermissions:\n  contents: read\n\njobs:\n  verify:\n    \
             runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v5\n{setup}{}      - uses: \
             threadspec/threadspec@main\n        with:\n          command: {}\n{arguments}",
            self.steps("      - run: "),
            self.command
        )
    }
}
