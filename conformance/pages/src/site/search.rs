//! Writes the index of the site's search: a script that the pages load when somebody searches.

use serde_json::json;

/// More characters than these of a section are not searched.
const SEARCHED: usize = 1500;

/// Something that can be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SearchEntry {
    place: String,
    title: String,
    text: String,
}

impl SearchEntry {
    pub(super) fn new(place: String, title: String) -> Self {
        Self { place, title, text: String::new() }
    }

    /// Lets it be found by this text, too.
    pub(super) fn with(mut self, text: &str) -> Self {
        self.add(text);
        self
    }

    pub(super) fn add(&mut self, text: &str) {
        if self.text.len() < SEARCHED {
            self.text.push_str(text);
            self.text.push(' ');
        }
    }
}

/// The script.
pub(super) fn script(entries: &[SearchEntry]) -> String {
    let entries: Vec<_> =
        entries.iter().map(|SearchEntry { place, title, text }| json!([place, title, text.trim_end()])).collect();
    // A line end of its own for each, so that two sites can be compared.
    let lines: Vec<String> = entries.iter().map(ToString::to_string).collect();
    format!("window.threadspecSearch([\n{}\n]);\n", lines.join(",\n"))
}
