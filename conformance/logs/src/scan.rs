//! Finds where JSON values and their elements end in the bytes of a file that are in memory.

use super::forms::ENVELOPES;
use super::records::WINDOW;
use memchr::{memchr, memchr_iter, memchr2};
use serde_json::value::RawValue;
use std::io::{self, Read};
use std::ops::Deref;
use threadspec_apis::form::members;

/// How far a scan came.
pub(super) enum ScanStep {
    /// The value ends before this byte.
    End(usize),
    More,
    /// It cannot be JSON.
    Broken,
}

/// Finds the end of a list or an object by its brackets and quotes, piece by piece.
#[derive(Default)]
pub(super) struct Scan {
    /// How many bytes were looked at.
    pub(super) at: usize,
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    /// The last byte that is no white space, outside of strings.
    last: u8,
    pub(super) was_entered: bool,
}

impl Scan {
    /// Looks at the bytes that were not looked at yet; they follow those before.
    pub(super) fn run(&mut self, bytes: &[u8]) -> ScanStep {
        while self.at < bytes.len() {
            if self.in_string {
                if std::mem::take(&mut self.is_escaped) {
                    self.at += 1;
                    continue;
                }
                let Some(found) = memchr2(b'"', b'\\', &bytes[self.at..]) else {
                    let broken = memchr(b'\n', &bytes[self.at..]).is_some();
                    self.at = bytes.len();
                    return if broken { ScanStep::Broken } else { ScanStep::More };
                };
                if memchr(b'\n', &bytes[self.at..self.at + found]).is_some() {
                    return ScanStep::Broken;
                }
                self.at += found + 1;
                match bytes[self.at - 1] {
                    b'"' => self.in_string = false,
                    _ => self.is_escaped = true,
                }
                continue;
            }
            let byte = bytes[self.at];
            self.at += 1;
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => {
                    if self.depth > 0 && !matches!(self.last, b',' | b':' | b'[') {
                        return ScanStep::Broken;
                    }
                    self.depth += 1;
                }
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return ScanStep::End(self.at);
                    }
                }
                _ if byte.is_ascii_whitespace() => continue,
                _ => {}
            }
            self.last = byte;
        }
        ScanStep::More
    }
}

/// Returns whether it has no more of a list than its bracket, as `[INFO] …` or `[12:30:01] …` of a program, or a table of TOML.
pub(super) fn is_no_list(text: &str) -> bool {
    let starts = |text: &str| {
        text.starts_with(['"', '{', '[', ']', '-'])
            || text.starts_with(|first: char| first.is_ascii_digit())
            || ["true", "false", "null"].iter().any(|word| text.starts_with(word))
    };
    let is_stamp =
        |rest: &str| rest.starts_with(|first: char| first.is_ascii_digit()) && !rest.contains(['{', '"', ',']);
    let rest = text.strip_prefix('[').map(str::trim_start);
    rest.is_some_and(|rest| is_stamp(rest) || !rest.is_empty() && !starts(rest))
}

/// Elements with their lines, in any order; they are slices of the text.
pub(super) fn placed<'t>(
    text: &'t str,
    first: usize,
    elements: &[&'t RawValue],
) -> impl Iterator<Item = (&'t str, usize)> {
    let (mut line, mut counted) = (first, 0);
    elements.iter().map(move |element| {
        let element = element.get();
        let start = element.as_ptr() as usize - text.as_ptr() as usize;
        let lines = |range| memchr_iter(b'\n', &text.as_bytes()[range]).count();
        line = if start < counted { first + lines(0..start) } else { line + lines(counted..start) };
        counted = start;
        (element, line)
    })
}

/// The lines in which the messages or items of a record begin that is over several lines; none if it has more than one list of them.
pub(super) fn element_lines(text: &str, first: usize) -> Vec<usize> {
    const DEEPEST: usize = 3;
    if !text.contains('\n') {
        return Vec::new();
    }
    let mut lists = Vec::new();
    find_lists(text, DEEPEST, &mut lists);
    match &*lists {
        [elements] => placed(text, first, elements).map(|(_, line)| line).collect(),
        _ => Vec::new(),
    }
}

fn find_lists<'t>(text: &'t str, depth: usize, found: &mut Vec<Vec<&'t RawValue>>) {
    if text.starts_with('[') {
        return found.extend(serde_json::from_str(text).ok());
    }
    for (name, value) in members(text).into_iter().flatten() {
        let value = value.get();
        let is_list = matches!(&*name, "messages" | "input" | "contents") && value.starts_with('[');
        if is_list || (depth > 0 && value.starts_with('{')) {
            find_lists(value, depth.saturating_sub(1), found);
        }
    }
}

// Where reading is in a value that is too large to be held, and which of its lists are read.

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

// The bytes of a file that are in memory.

/// How much one read asks for.
pub(super) const PIECE: usize = 1 << 16;

/// Bytes that were read. What is dropped leaves its memory to what is read next.
#[derive(Default)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    filled: usize,
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.filled]
    }
}

impl Buffer {
    /// Reads on, and says how much. It is one read: what comes from somebody who is still writing is judged at once.
    pub(super) fn read(&mut self, input: &mut dyn Read) -> io::Result<usize> {
        let wanted = self.filled + PIECE;
        if self.bytes.len() < wanted {
            if self.filled > WINDOW && wanted > self.bytes.capacity() {
                // Grown by doubling, it would take twice what the longest record has.
                self.bytes.reserve_exact(WINDOW);
            }
            self.bytes.resize(wanted, 0);
        }
        loop {
            match input.read(&mut self.bytes[self.filled..wanted]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read.inspect(|read| self.filled += read),
            }
        }
    }

    pub(super) fn drop_first(&mut self, length: usize) {
        self.bytes.copy_within(length..self.filled, 0);
        self.filled -= length;
    }

    pub(super) fn clear(&mut self) {
        self.filled = 0;
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }
}
