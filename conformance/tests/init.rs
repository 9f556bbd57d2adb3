//! What `init` begins is built, tested and run, in every language whose toolchain is installed.

use crate::is_thorough;
use std::path::Path;
use std::process::Command;
use std::{fs, io};

fn here(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok()
        || Command::new(program).arg("version").output().is_ok();
    if !found {
        eprintln!("SKIPPED: there is no `{program}`; the adapter that needs it is not tested");
    }
    found
}

/// Whether a registry answers, without which nothing can be installed.
fn reaches(program: &str, query: &[&str]) -> bool {
    let reached = Command::new(program).args(query).output().is_ok_and(|output| output.status.success());
    if !reached {
        eprintln!(
            "SKIPPED: `{program} {}` reaches no registry; the adapter that needs it is not tested",
            query.join(" ")
        );
    }
    reached
}

fn shell(folder: &Path, command: &str) -> io::Result<()> {
    let output = Command::new("sh").args(["-c", command]).current_dir(folder).output()?;
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command}: {}\n{said}", output.status);
    Ok(())
}

fn begins(language: &str, build: &[&str], command: &[&str], sessions: &[&str]) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let program = env!("CARGO_BIN_EXE_threadspec");
    let init = || Command::new(program).args(["init", language, "adapter"]).current_dir(folder.path()).output();
    assert!(init()?.status.success());
    assert_eq!(init()?.status.code(), Some(2), "it overwrites what is there");
    let adapter = folder.path().join("adapter");
    assert!(adapter.join("README.md").is_file() && adapter.join(".gitignore").is_file());
    let workflow = fs::read_to_string(adapter.join(".github/workflows/threadspec.yml"))?;
    assert!(workflow.contains("uses: threadspec/threadspec@main"), "{workflow}");
    build.iter().try_for_each(|step| shell(&adapter, step))?;
    let some: &[&str] = if is_thorough() { &[] } else { &["--filter", "escape/*", "--filter", "serialize/names/*"] };
    let mut verify = Command::new(program);
    let verify = verify.arg("verify").args(some).arg("--").args(command).current_dir(&adapter).output()?;
    let said = format!("{}{}", String::from_utf8_lossy(&verify.stdout), String::from_utf8_lossy(&verify.stderr));
    assert!(
        said.contains("my-agent 0.1.0") && said.contains("  escape     pass ") && !said.contains("Fix first"),
        "a case did not pass: {said}"
    );
    let readme = fs::read_to_string(adapter.join("README.md"))?;
    assert!(readme.contains("## Sessions"), "its README does not explain op `session`");
    links_the_protocol(&readme);
    plays_sessions(&adapter, sessions)
}

/// Outside of a checkout only whole addresses lead somewhere; what they name is in this checkout.
fn links_the_protocol(readme: &str) {
    const MAIN: &str = "https://github.com/threadspec/threadspec/blob/main/";
    let links: Vec<&str> =
        readme.split("](").skip(1).map(|rest| rest.split([')', '#']).next().unwrap_or_default()).collect();
    assert!(links.contains(&&*format!("{MAIN}conformance/PROTOCOL.md")), "{links:?}");
    for link in links {
        assert!(link.starts_with("https://"), "{link}");
        if let Some(file) = link.strip_prefix(MAIN) {
            assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file).is_file(), "{link}");
        }
    }
}

/// The example of op `session` passes what needs a memory alone, and says in its hello that it has nothing else.
fn plays_sessions(adapter: &Path, command: &[&str]) -> io::Result<()> {
    let mut verify = Command::new(env!("CARGO_BIN_EXE_threadspec"));
    verify.args(["verify", "--profile", "universal", "--op", "session", "--"]).args(command).current_dir(adapter);
    let output = verify.output()?;
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(
        output.status.success()
            && said.contains("  session    pass ")
            && said.contains("judged 1 of 16 features (message)"),
        "the example of sessions does not pass: {said}"
    );
    let readme = fs::read_to_string(adapter.join("README.md"))?;
    assert!(readme.contains("    threadspec verify --profile universal --op session -- "), "{readme}");
    Ok(())
}

#[test]
fn node() -> io::Result<()> {
    if here("node") {
        begins("node", &["node --test"], &["node", "adapter.mjs"], &["node", "session.mjs"])
    } else {
        Ok(())
    }
}

#[test]
fn python() -> io::Result<()> {
    if here("python3") {
        begins("python", &["python3 -m unittest -q"], &["python3", "adapter.py"], &["python3", "session.py"])
    } else {
        Ok(())
    }
}

#[test]
#[ignore = "slow: it installs a compiler; `.ci/run` does so"]
fn typescript() -> io::Result<()> {
    // The compiler comes from a registry, so the test is skipped offline.
    if !here("node") || !reaches("npm", &["view", "typescript", "version"]) {
        return Ok(());
    }
    begins(
        "typescript",
        &["npm install --silent --no-audit --no-fund", "npm run build", "npm test"],
        &["node", "dist/adapter.js"],
        &["node", "dist/session.js"],
    )
}

#[test]
#[ignore = "slow: it builds a Rust project; `.ci/run` does so"]
fn rust() -> io::Result<()> {
    begins(
        "rust",
        &["CARGO_TARGET_DIR=built cargo test --quiet", "CARGO_TARGET_DIR=built cargo build --quiet"],
        &["built/debug/threadspec-adapter"],
        &["built/debug/threadspec-sessions"],
    )
}

#[test]
fn go() -> io::Result<()> {
    if here("go") {
        let build = ["go build -o adapter .", "go build -o sessions ./session", "go test ./..."];
        begins("go", &build, &["./adapter"], &["./sessions"])
    } else {
        Ok(())
    }
}

#[test]
fn java() -> io::Result<()> {
    // Where Maven is not set up, Debian's Gson does.
    const GSON: &str = "/usr/share/java/gson.jar";
    if !here("javac") || !Path::new(GSON).exists() {
        eprintln!(
            "SKIPPED: no javac or no {GSON} (apt-get install libgoogle-gson-java); the Java adapter is not tested"
        );
        return Ok(());
    }
    let compile = format!("javac -cp {GSON} -d classes src/*.java");
    let test = format!("java -cp {GSON}:classes AdapterTest && java -cp {GSON}:classes SessionsTest");
    let classes = format!("{GSON}:classes");
    begins("java", &[&compile, &test], &["java", "-cp", &classes, "Adapter"], &["java", "-cp", &classes, "Sessions"])
}

#[test]
fn ruby() -> io::Result<()> {
    if here("ruby") {
        let build = ["ruby -W test_adapter.rb", "ruby -W test_session.rb"];
        begins("ruby", &build, &["ruby", "adapter.rb"], &["ruby", "session.rb"])
    } else {
        Ok(())
    }
}

#[test]
fn php() -> io::Result<()> {
    if here("php") {
        let build = ["php test_adapter.php", "php test_session.php"];
        begins("php", &build, &["php", "adapter.php"], &["php", "session.php"])
    } else {
        Ok(())
    }
}

#[test]
fn csharp() -> io::Result<()> {
    if !here("dotnet") {
        return Ok(());
    }
    let version = Command::new("dotnet").arg("--version").output()?;
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    if version.split('.').next().and_then(|major| major.parse::<u32>().ok()).is_none_or(|major| major < 8) {
        eprintln!("SKIPPED: .NET SDK {version} is older than 8; the C# adapter is not tested");
        return Ok(());
    }
    let program = "build/threadspec-adapter.dll";
    let build = ["dotnet build --configuration Release --output build", "dotnet build/threadspec-adapter.dll test"];
    begins("csharp", &build, &["dotnet", program], &["dotnet", program, "sessions"])
}

/// Whatever a copied file imports of the adapters' own files is in the copy, and so for what that imports.
fn finds_what_it_imports(original: &Path, copy: &Path, file: &Path) -> io::Result<()> {
    if !file.exists() {
        return Ok(());
    }
    let text = fs::read_to_string(file)?;
    assert!(!text.contains("parents[1]") && !text.contains("../"), "{} looks outside of its folder", file.display());
    let shared = original.join("../shared");
    for line in text.lines() {
        // `from testee import serve`, `import { serve } from './shared/testee.mjs'`
        let named = match line.split_once(" from './").or_else(|| line.split_once("import('./")) {
            Some((_, path)) => path.split('\'').next().map(|path| file.with_file_name(path)),
            None => line.strip_prefix("from ").and_then(|rest| rest.split_once(" import ")).and_then(|(module, _)| {
                let name = format!("{module}.py");
                // Shared ones are looked for first.
                let places =
                    [(shared.join(&name), copy.join("shared").join(&name)), (original.join(&name), copy.join(&name))];
                places.into_iter().find(|(from, _)| from.exists()).map(|(_, to)| to)
            }),
        };
        if let Some(named) = named {
            assert!(named.is_file(), "{} imports {}", file.display(), named.display());
            finds_what_it_imports(original, copy, &named)?;
        }
    }
    Ok(())
}

const FRAMEWORKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/adapters/frameworks");

/// The frameworks that can be copied, sorted. A crate inside a crate is not packaged, so that it cannot be.
fn frameworks() -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(FRAMEWORKS)? {
        let entry = entry?;
        if entry.path().join("framework.json").exists() && !entry.path().join("Cargo.toml").exists() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

#[test]
#[ignore = "slow: it loads every adapter; `.ci/run` does so"]
fn every_framework_with_an_adapter_can_be_copied() -> io::Result<()> {
    let names = frameworks()?;
    assert!(names.len() >= 12, "{names:?}");
    for name in names {
        let (original, folder) = (Path::new(FRAMEWORKS).join(&name), tempfile::tempdir()?);
        let init = Command::new(env!("CARGO_BIN_EXE_threadspec"))
            .args(["init", "--framework", &name])
            .arg(folder.path())
            .output()?;
        assert!(init.status.success(), "{name}: {}", String::from_utf8_lossy(&init.stderr));
        let said = String::from_utf8_lossy(&init.stdout).into_owned();
        assert!(said.contains("threadspec verify --profile universal --timeout 60 --max-unsupported 25 -- "), "{said}");
        let is_python = folder.path().join("adapter.py").exists();
        let ending = if is_python { "py" } else { "mjs" };
        let session = format!("session.{ending}");
        let has_sessions = original.join(&session).exists();
        assert_eq!(folder.path().join(&session).exists(), has_sessions, "{name}: {session}");
        assert_eq!(said.contains("--max-unsupported 25 --op session -- "), has_sessions, "{said}");
        for file in ["adapter", "session"].into_iter().map(|stem| folder.path().join(format!("{stem}.{ending}"))) {
            finds_what_it_imports(&original, folder.path(), &file)?;
        }
        let readme = fs::read_to_string(folder.path().join("README.md"))?;
        links_the_protocol(&readme);
        assert!(!readme.contains("--no-deps") && !said.contains("--no-deps"), "{readme}");
        if is_python {
            let copied = fs::read_to_string(folder.path().join("requirements.txt"))?;
            let wanted = fs::read_to_string(original.join("requirements.in"))?;
            assert_eq!(copied, wanted, "{name}: more than what its users name");
        }
        let check = "for file in *.mjs shared/*.mjs; do node --check $file || exit; done";
        shell(folder.path(), if is_python { "python3 -m py_compile *.py shared/*.py" } else { check })?;
    }
    Ok(())
}

/// The steps that `init` prints are followed one by one, and the adapter judged: whatever it fails, it starts and answers.
fn runs_as_copied(framework: &str) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let program = Path::new(env!("CARGO_BIN_EXE_threadspec"));
    let init = Command::new(program)
        .args(["init", "--framework", framework, "adapter"])
        .current_dir(folder.path())
        .output()?;
    let said = String::from_utf8_lossy(&init.stdout).into_owned();
    let adapter = folder.path().join("adapter");
    let (mut built, mut verified) = (0, 0);
    for step in said.lines().filter_map(|line| line.strip_prefix("  ")).filter(|step| !step.starts_with("cd ")) {
        let Some(verify) = step.strip_prefix("threadspec verify ") else {
            shell(&adapter, step)?;
            built += 1;
            continue;
        };
        let (options, command) = verify.split_once("-- ").expect("a command");
        // Of sessions, those that need nothing but a memory.
        let filter = if verify.contains("--op session") { "session/plain/*" } else { "agent/results/*" };
        let output = Command::new(program)
            .args(["verify", "--filter", filter])
            .args(options.split_whitespace())
            .arg("--")
            .args(command.split_whitespace())
            .current_dir(&adapter)
            .output()?;
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(
            matches!(output.status.code(), Some(0 | 1)) && said.contains("  pass ") && !said.contains("crash"),
            "{framework}: {step}: {said}"
        );
        verified += 1;
    }
    assert!(built > 0 && verified > 0, "{said}");
    Ok(())
}

#[test]
#[ignore = "slow: it installs a framework; `.ci/run` does so"]
fn a_framework_in_javascript_runs_as_copied() -> io::Result<()> {
    if reaches("npm", &["view", "ai", "version"]) { runs_as_copied("ai-sdk-6") } else { Ok(()) }
}

#[test]
#[ignore = "takes a quarter of an hour: it installs every framework; nightly.yml does so"]
fn every_framework_runs_as_copied() -> io::Result<()> {
    for framework in frameworks()? {
        runs_as_copied(&framework)?;
    }
    Ok(())
}

#[test]
fn what_cannot_be_begun_is_wrong_usage() -> io::Result<()> {
    for (arguments, says) in [
        (&["init", "--framework", "langchain", "x"][..], "invalid value 'langchain'"),
        (&["init", "--framework", "agno", "node", "x"], "cannot be used with"),
        (&["init", "x"], "name a language (node, "),
        (&["init", "perl", "x"], "no template for `perl`: write the adapter from the protocol"),
        (&["init", "ruby"], "name a folder, too, as in `threadspec init ruby my-adapter`"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_threadspec")).args(arguments).output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(says), "{arguments:?}: {said}");
    }
    Ok(())
}
