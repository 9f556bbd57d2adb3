//! `matrix`: what it hands to the scripts of a checkout, and what it says where there is none.

use std::path::Path;
use std::process::{Command, Output};
use std::{fs, io};

fn matrix(arguments: &[&str], folder: &Path) -> io::Result<Output> {
    Command::new(env!("CARGO_BIN_EXE_threadspec")).arg("matrix").args(arguments).current_dir(folder).output()
}

#[test]
fn outside_of_a_checkout_it_says_what_it_needs() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    for arguments in [["run", "haystack@3.1.0"], ["repro", "agno"]] {
        let output = matrix(&arguments, folder.path())?;
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(said.contains("go to a checkout of threadspec"), "{said}");
    }
    Ok(())
}

#[test]
fn the_script_of_the_checkout_gets_what_was_asked_for_and_its_exit_code_counts() -> io::Result<()> {
    let checkout = tempfile::tempdir()?;
    let frameworks = checkout.path().join("conformance/adapters/frameworks");
    fs::create_dir_all(&frameworks)?;
    fs::write(frameworks.join("run-version"), "import sys\nprint(*sys.argv[1:], sep='\\n')\nsys.exit(3)\n")?;
    let output = matrix(&["run", "--into", "a folder", "--no-pages", "haystack@3.1.0", "agno"], &frameworks)?;
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let told: Vec<&str> = said.lines().collect();
    assert_eq!(told[..2], ["--threadspec", env!("CARGO_BIN_EXE_threadspec")]);
    assert_eq!(told[2..], ["--into", "a folder", "--no-pages", "--", "haystack@3.1.0", "agno"]);
    Ok(())
}

#[test]
fn a_reproduction_is_printed_as_one_file_without_the_shared_model() -> io::Result<()> {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (framework, begins, model) in
        [("agno", "\"\"\"", "class Scripted(Model):"), ("ai-sdk-7", "// ", "const model = {")]
    {
        let output = matrix(&["repro", framework, "AGENT-IDS"], &checkout)?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && said.starts_with(begins), "{output:?}");
        assert!(said.contains(model) && !said.contains("scripted import") && !said.contains("./scripted"), "{said}");
    }
    Ok(())
}
