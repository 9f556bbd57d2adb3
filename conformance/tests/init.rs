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
    plays_sessions(&adapter, sessions)
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
        let ending = if is_python { "py" } else { "mjs" };
        let session = format!("session.{ending}");
        let has_sessions = entry.path().join(&session).exists();
        assert_eq!(folder.path().join(&session).exists(), has_sessions, "{name:?}: {session}");
        assert_eq!(said.contains("--max-unsupported 25 --op session -- "), has_sessions, "{said}");
        for file in ["adapter", "session"].into_iter().map(|stem| folder.path().join(format!("{stem}.{ending}"))) {
            finds_what_it_imports(&entry.path(), folder.path(), &file)?;
        }
        let check = "for file in *.mjs shared/*.mjs; do node --check $file || exit; done";
        shell(folder.path(), if is_python { "python3 -m py_compile *.py shared/*.py" } else { check })?;
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
