//! `threadspec init`.

use super::{Stop, exit};
use crate::files;
use crate::terminal::print;
use std::path::{Path, PathBuf};
use strum::{Display, EnumString, VariantNames};

/// Begin an adapter: a program that answers `hello` and `escape`, its tests, and a CI workflow
///
/// Nothing that is there already is overwritten.
#[derive(Debug, clap::Args)]
pub struct Init {
    /// node, python, typescript, rust, go or java
    #[arg(value_name = "LANGUAGE")]
    language: Language,
    /// The folder, which is made if it is not there
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// A language that an adapter can begin in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, VariantNames)]
#[strum(serialize_all = "kebab-case")]
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
}

/// What a template is made of.
struct Template {
    files: &'static [(&'static str, &'static str)],
    /// The step of the workflow that installs the toolchain.
    setup: &'static str,
    /// Builds and tests; empty lines are left out.
    build: &'static [&'static str],
    /// Starts the adapter.
    command: &'static str,
}

macro_rules! files {
    ($folder:literal: $($name:literal $(as $target:literal)?),*) => {
        &[$((files!(@name $name $($target)?), include_str!(concat!("../../templates/init/", $folder, "/", $name)))),*]
    };
    (@name $name:literal) => { $name };
    (@name $name:literal $target:literal) => { $target };
}

impl Language {
    fn template(self) -> Template {
        match self {
            Self::Node => Template {
                files: files!("node": "adapter.mjs", "adapter.test.mjs", "package.json"),
                setup: "actions/setup-node@v5",
                build: &["node --test"],
                command: "node adapter.mjs",
            },
            Self::Python => Template {
                files: files!("python": "adapter.py", "test_adapter.py"),
                setup: "actions/setup-python@v6",
                build: &["python3 -m unittest"],
                command: "python3 adapter.py",
            },
            Self::Typescript => Template {
                files: files!("typescript": "adapter.ts", "adapter.test.ts", "package.json", "tsconfig.json"),
                setup: "actions/setup-node@v5",
                build: &["npm install", "npm run build", "npm test"],
                command: "node dist/adapter.js",
            },
            Self::Rust => Template {
                files: files!("rust": "Cargo.toml.template" as "Cargo.toml", "main.rs" as "src/main.rs"),
                setup: "",
                build: &["cargo build --release", "cargo test --release"],
                command: "target/release/threadspec-adapter",
            },
            Self::Go => Template {
                files: files!("go": "go.mod.template" as "go.mod", "main.go", "main_test.go"),
                setup: "actions/setup-go@v6",
                build: &["go build -o adapter .", "go test ./..."],
                command: "./adapter",
            },
            Self::Java => Template {
                files: files!("java": "pom.xml", "Adapter.java" as "src/Adapter.java", "AdapterTest.java" as "src/AdapterTest.java"),
                setup: "actions/setup-java@v5",
                build: &[
                    "mvn --batch-mode --quiet package",
                    "java -cp 'target/classes:target/dependency/*' AdapterTest",
                ],
                command: "java -cp 'target/classes:target/dependency/*' Adapter",
            },
        }
    }
}

impl Init {
    /// Runs the command and returns its exit code.
    ///
    /// # Errors
    ///
    /// When a file is there already, or cannot be written.
    pub fn execute(&self) -> Result<u8, Stop> {
        let template = self.language.template();
        let mut files: Vec<(&str, String)> =
            template.files.iter().map(|&(name, text)| (name, text.to_owned())).collect();
        files.push(("README.md", readme(&template)));
        files.push((".github/workflows/threadspec.yml", workflow(&template, self.language)));
        if let Some((name, _)) = files.iter().find(|(name, _)| self.folder.join(name).exists()) {
            let file = self.folder.join(name);
            return Err(Stop::new(exit::USAGE, format!("{} is there already; choose another folder", file.display())));
        }
        for (name, text) in &files {
            let file = self.folder.join(name);
            write(&file, text).map_err(|error| Stop::new(exit::CORPUS, format!("{}: {error}", file.display())))?;
        }
        let steps: Vec<String> = template.build.iter().map(|step| format!("  {step}\n")).collect();
        print(&format!(
            "{} files in {}. Next:\n\n  cd {}\n{}  threadspec verify -- {}\n",
            files.len(),
            self.folder.display(),
            self.folder.display(),
            steps.concat(),
            template.command
        ));
        Ok(exit::OK)
    }
}

fn write(file: &Path, text: &str) -> std::io::Result<()> {
    files::prepare(file)?;
    files::write(file, text.as_bytes())
}

fn readme(template: &Template) -> String {
    let steps: Vec<String> = template.build.iter().map(|step| format!("    {step}\n")).collect();
    format!(
        "# An adapter for threadspec\n\nIt connects this implementation with [threadspec](https://github.com/threadspec/threadspec), \
         which tests it against the golden corpus. It answers `escape`;\nwhat it does not have yet is `unsupported`, and is listed \
         in its `hello` as soon as it is there.\n\n{}    threadspec verify -- {}\n\n`threadspec show CASE-ID` prints a request to \
         try by hand, `threadspec explain CLAUSE` says what a clause demands.\n",
        steps.concat(),
        template.command
    )
}

fn workflow(template: &Template, language: Language) -> String {
    let setup = match (template.setup, language) {
        ("", _) => String::new(),
        (action, Language::Java) => {
            format!(
                "      - uses: {action}\n        with:\n          distribution: temurin\n          java-version: 21\n"
            )
        }
        (action, _) => format!("      - uses: {action}\n"),
    };
    let steps: Vec<String> = template.build.iter().map(|step| format!("      - run: {step}\n")).collect();
    format!(
        "name: threadspec\n\non:\n  push:\n  pull_request:\n\npermissions:\n  contents: read\n\njobs:\n  verify:\n    runs-on: \
         ubuntu-latest\n    steps:\n      - uses: actions/checkout@v5\n{setup}{}      - uses: threadspec/threadspec@main\n        \
         with:\n          command: {}\n",
        steps.concat(),
        template.command
    )
}
