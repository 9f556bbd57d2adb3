//! Finds the end of a JSON value by its brackets and quotes, piece by piece, much faster than by reading it; and the lines of elements.

use memchr::{memchr, memchr_iter, memchr2};
use serde_json::value::RawValue;
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
