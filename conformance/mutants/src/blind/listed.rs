//! The list of changes that are permitted: `permitted-changes.json`.

use super::changes::RequestChange;
use crate::Error;
use serde::Deserialize;
use serde::de::Error as _;

/// Changes that nothing has to show, and the clause that says so. What is left out stands for anything; the end of a text may be left open by `*`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListedChange {
    #[serde(default)]
    doors: Vec<String>,
    /// Names of edits.
    changes: Vec<String>,
    /// Speakers of messages, or `call`.
    #[serde(default)]
    of: Vec<String>,
    /// In which requests.
    #[serde(default)]
    extents: Vec<String>,
    #[serde(default)]
    cases: Vec<String>,
    clause: String,
    why: String,
}

/// The list.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(super) struct ListedChanges(Vec<ListedChange>);

impl ListedChanges {
    /// Reads the list.
    ///
    /// # Errors
    ///
    /// Says what is wrong with it.
    pub(super) fn read() -> Result<Self, Error> {
        let list: Self = serde_json::from_str(include_str!("../../permitted-changes.json")).map_err(Error::of_list)?;
        let known = |entry: &&ListedChange| threadspec_golden::clause::ALL.contains(&&*entry.clause);
        match list.0.iter().find(|entry| !known(entry) || entry.why.is_empty()) {
            Some(entry) => {
                Err(Error::of_list(serde_json::Error::custom(format!("{}: no clause, or no reason", entry.clause))))
            }
            None => Ok(list),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The entries in words.
    pub(super) fn names(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|entry| format!("{} ({}): {}", entry.changes.join(", "), entry.clause, entry.why))
    }

    /// The number of the entry that permits a change.
    pub(super) fn permits(&self, door: &str, case: &str, change: &RequestChange) -> Option<usize> {
        let has = |names: &[String], name: &str| {
            let is = |wanted: &String| match wanted.strip_suffix('*') {
                Some(beginning) => name.starts_with(beginning),
                None => wanted == name,
            };
            names.is_empty() || names.iter().any(is)
        };
        self.0.iter().position(|entry| {
            has(&entry.doors, door)
                && has(&entry.changes, change.name)
                && has(&entry.of, change.of)
                && has(&entry.extents, change.extent.name())
                && has(&entry.cases, case)
        })
    }
}
