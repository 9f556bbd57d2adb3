//! What `init` begins is built, tested and run, in every language whose toolchain is here.

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

fn begins(language: &str, build: &[&str], command: &[&str]) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let program = env!("CARGO_BIN_EXE_threadspec");
    let init = || Command::new(program).args(["init", language, "adapter"]).current_dir(folder.path()).output();
    assert!(init()?.status.success());
    assert_eq!(init()?.status.code(), Some(2), "it overwrites what is there");
    let adapter = folder.path().join("adapter");
    assert!(adapter.join("README.md").is_file());
    let workflow = fs::read_to_string(adapter.join(".github/workflows/threadspec.yml"))?;
    assert!(workflow.contains("uses: threadspec/threadspec@main"), "{workflow}");
    build.iter().try_for_each(|step| shell(&adapter, step))?;
    let verify = Command::new(program).args(["verify", "--"]).args(command).current_dir(&adapter).output()?;
    let said = format!("{}{}", String::from_utf8_lossy(&verify.stdout), String::from_utf8_lossy(&verify.stderr));
    assert!(
        said.contains("my-agent 0.1.0") && said.contains("  escape     pass ") && !said.contains("fail "),
        "{said}"
    );
    Ok(())
}

#[test]
fn node() -> io::Result<()> {
    if here("node") { begins("node", &["node --test"], &["node", "adapter.mjs"]) } else { Ok(()) }
}

#[test]
fn python() -> io::Result<()> {
    if here("python3") { begins("python", &["python3 -m unittest -q"], &["python3", "adapter.py"]) } else { Ok(()) }
}

#[test]
fn typescript() -> io::Result<()> {
    // The compiler comes from a registry; who works offline leaves it out.
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
    )
}

#[test]
fn rust() -> io::Result<()> {
    begins(
        "rust",
        &["CARGO_TARGET_DIR=built cargo test --quiet", "CARGO_TARGET_DIR=built cargo build --quiet"],
        &["built/debug/threadspec-adapter"],
    )
}

#[test]
fn go() -> io::Result<()> {
    if here("go") { begins("go", &["go build -o adapter .", "go test ./..."], &["./adapter"]) } else { Ok(()) }
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
    begins("java", &[&compile], &["java", "-cp", &format!("{GSON}:classes"), "Adapter"])
}
