//! Where reading is in a value that is too large to be held, and which of its lists are read.

use super::forms::ENVELOPES;

/// A value that is read element by element: where it is being read.
pub(super) struct Large {
    /// The path as envelopes are written: `log.entries[]`.
    pub(super) path: String,
    /// For each list or object around this place the length of its path.
    pub(super) stack: Vec<usize>,
    pub(super) line: usize,
}

impl Large {
    pub(super) fn is_element(&self) -> bool {
        ENVELOPES.contains(&&*self.path)
    }

    /// Returns whether there may be elements in a list or an object at this place.
    pub(super) fn leads_on(&self, byte: u8) -> bool {
        let leads = |pattern: &str| {
            let rest = pattern.strip_prefix(&*self.path);
            rest.is_some_and(|rest| match byte {
                b'[' => rest.starts_with("[]"),
                _ => rest.starts_with('.') || (self.path.is_empty() && !rest.is_empty() && !rest.starts_with('[')),
            })
        };
        ENVELOPES.iter().any(|pattern| leads(pattern))
    }

    /// Returns whether the next string is the name of a member.
    pub(super) fn wants_name(&self) -> bool {
        let Some(&length) = self.stack.last() else { return false };
        self.path.len() == length && !self.is_in_list()
    }

    fn is_in_list(&self) -> bool {
        self.stack.last().is_some_and(|&length| self.path[length..].starts_with("[]"))
    }

    pub(super) fn enter_member(&mut self, name: &str) {
        if !self.path.is_empty() {
            self.path.push('.');
        }
        // A name with nothing in it is a member, too.
        self.path.push_str(if name.is_empty() { "?" } else { name });
    }

    /// The value of a member has ended.
    pub(super) fn leave_member(&mut self) {
        if let Some(&length) = self.stack.last()
            && !self.is_in_list()
        {
            self.path.truncate(length);
        }
    }
}
