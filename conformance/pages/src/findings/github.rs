//! Findings as annotations of GitHub Actions: <https://docs.github.com/actions/reference/workflow-commands-for-github-actions>.

use std::path::Path;
use threadspec_judge::text::visible;
use threadspec_logs::{Finding, Level};

/// A finding in a file as a workflow command, on a line of its own. Nothing in it can begin another command.
///
/// The runner finds files from the root of the checkout, `workspace`, on.
pub fn annotation(name: &str, finding: &Finding, workspace: Option<&Path>) -> String {
    let line = finding.place.line.map(|line| format!(",line={line}")).unwrap_or_default();
    let text = format!("{finding} {}", finding.advice);
    let title = property(&format!("threadspec {}", finding.rule));
    format!(
        "::{} file={}{line},title={title}::{}\n",
        command(finding.level),
        property(&file(name, workspace)),
        data(text.trim_end())
    )
}

/// A file that could not be read, as a workflow command.
pub fn annotation_of_unread(name: &str, why: &str, workspace: Option<&Path>) -> String {
    format!("::error file={}::{}\n", property(&file(name, workspace)), data(&format!("{name}: {why}")))
}

fn command(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "notice",
    }
}

/// The path of a file from the root of the checkout on, if it is in it.
fn file(name: &str, workspace: Option<&Path>) -> String {
    let path = std::path::absolute(name).ok();
    let inside = workspace.zip(path.as_deref()).and_then(|(root, path)| path.strip_prefix(root).ok());
    inside.map_or_else(|| name.to_owned(), |path| path.to_string_lossy().into_owned())
}

fn data(text: &str) -> String {
    visible(text).replace('%', "%25")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
