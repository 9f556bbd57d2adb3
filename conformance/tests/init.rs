//! What `init` begins is built, tested and run, in every language whose toolchain is installed.

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

fn shell(folder: &Path, command: &str) -> io::Result<()> {
    let output = Command::new("sh").args(["-c", command]).current_dir(folder).output()?;
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command}: {}\n{said}", output.status);
    Ok(())
}

fn begins(language: &str, build: &[&str], command: &[&str], sessions: Option<&[&str]>) -> io::Result<()> {
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
    let verify = Command::new(program).args(["verify", "--"]).args(command).current_dir(&adapter).output()?;
    let said = format!("{}{}", String::from_utf8_lossy(&verify.stdout), String::from_utf8_lossy(&verify.stderr));
    assert!(
        said.contains("my-agent 0.1.0") && said.contains("  escape     pass ") && !said.contains("clauses  "),
        "a case did not pass: {said}"
    );
    assert!(
        fs::read_to_string(adapter.join("README.md"))?.contains("## Sessions"),
        "its README does not explain op `session`"
    );
    sessions.map_or(Ok(()), |command| plays_sessions(&adapter, command))
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
            && said.contains("judged 1 of 13 features (message)"),
        "the example of sessions does not pass: {said}"
    );
    let readme = fs::read_to_string(adapter.join("README.md"))?;
    let run = format!("    threadspec verify --profile universal --op session -- {}\n", command.join(" "));
    assert!(readme.contains(&run), "{readme}");
    Ok(())
}

#[test]
fn node() -> io::Result<()> {
    if here("node") {
        begins("node", &["node --test"], &["node", "adapter.mjs"], Some(&["node", "session.mjs"]))
    } else {
        Ok(())
    }
}

#[test]
fn python() -> io::Result<()> {
    if here("python3") {
        begins("python", &["python3 -m unittest -q"], &["python3", "adapter.py"], Some(&["python3", "session.py"]))
    } else {
        Ok(())
    }
}

#[test]
#[ignore = "slow: it installs a compiler; `.ci/run` does so"]
fn typescript() -> io::Result<()> {
    // The compiler comes from a registry, so the test is skipped offline.
    if !here("npm") || !here("node") {
        return Ok(());
    }
    let reached = Command::new("npm")
        .args(["view", "typescript", "version"])
        .output()
        .is_ok_and(|output| output.status.success());
    if !reached {
        eprintln!("SKIPPED: npm reaches no registry; the TypeScript adapter is not tested");
        return Ok(());
    }
    begins(
        "typescript",
        &["npm install --silent --no-audit --no-fund", "npm run build", "npm test"],
        &["node", "dist/adapter.js"],
        Some(&["node", "dist/session.js"]),
    )
}

#[test]
#[ignore = "slow: it builds a Rust project; `.ci/run` does so"]
fn rust() -> io::Result<()> {
    begins(
        "rust",
        &["CARGO_TARGET_DIR=built cargo test --quiet", "CARGO_TARGET_DIR=built cargo build --quiet"],
        &["built/debug/threadspec-adapter"],
        None,
    )
}

#[test]
fn go() -> io::Result<()> {
    if here("go") { begins("go", &["go build -o adapter .", "go test ./..."], &["./adapter"], None) } else { Ok(()) }
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
    let compile = format!("javac -cp {GSON} -d classes src/*.java && java -cp {GSON}:classes AdapterTest");
    begins("java", &[&compile], &["java", "-cp", &format!("{GSON}:classes"), "Adapter"], None)
}

#[test]
fn every_framework_with_an_adapter_can_be_copied() -> io::Result<()> {
    let frameworks = Path::new(env!("CARGO_MANIFEST_DIR")).join("adapters/frameworks");
    let mut tried = 0;
    for entry in fs::read_dir(frameworks)? {
        let entry = entry?;
        // A crate inside a crate is not packaged, so that it cannot be copied.
        if !entry.path().join("framework.json").exists() || entry.path().join("Cargo.toml").exists() {
            continue;
        }
        let (name, folder) = (entry.file_name(), tempfile::tempdir()?);
        let init = Command::new(env!("CARGO_BIN_EXE_threadspec"))
            .args(["init", "--framework"])
            .args([name.as_os_str(), folder.path().as_os_str()])
            .output()?;
        assert!(init.status.success(), "{name:?}: {}", String::from_utf8_lossy(&init.stderr));
        let said = String::from_utf8_lossy(&init.stdout).into_owned();
        assert!(said.contains("threadspec verify --profile universal --timeout 60 --max-unsupported 25 -- "), "{said}");
        let is_python = folder.path().join("adapter.py").exists();
        let adapter = fs::read_to_string(folder.path().join(if is_python { "adapter.py" } else { "adapter.mjs" }))?;
        assert!(!adapter.contains("shared"), "{name:?} looks for what stands beside other adapters:\n{adapter}");
        let check = "for file in *.mjs; do node --check $file || exit; done";
        shell(folder.path(), if is_python { "python3 -m py_compile *.py" } else { check })?;
        tried += 1;
    }
    assert!(tried >= 12, "{tried} frameworks");
    Ok(())
}

#[test]
fn a_framework_that_has_no_adapter_is_wrong_usage() -> io::Result<()> {
    for arguments in
        [&["init", "--framework", "langchain", "x"][..], &["init", "--framework", "agno", "node", "x"], &["init", "x"]]
    {
        let output = Command::new(env!("CARGO_BIN_EXE_threadspec")).args(arguments).output()?;
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
    Ok(())
}
