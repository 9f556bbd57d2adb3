//! New ids for calls that cannot keep their own.

use std::collections::{HashMap, HashSet};

/// The ids that are taken.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    taken: HashSet<String>,
    /// For each id the last number that was appended to it; all smaller ones are taken.
    tried: HashMap<String, usize>,
}

impl Ids {
    /// Takes an id; `true` if it was free.
    pub(crate) fn take(&mut self, id: &str) -> bool {
        self.taken.insert(id.to_owned())
    }

    /// Takes the first of `<id>_2`, `<id>_3`, … that is free. The id is cut so that at most `longest` characters result.
    pub(crate) fn take_numbered(&mut self, id: &str, longest: usize) -> String {
        let number = self.tried.entry(id.to_owned()).or_insert(1);
        loop {
            *number += 1;
            let suffix = format!("_{number}");
            let room = longest.saturating_sub(suffix.len());
            let kept = id.char_indices().nth(room).map_or(id, |(end, _)| &id[..end]);
            let numbered = format!("{kept}{suffix}");
            if self.taken.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}
