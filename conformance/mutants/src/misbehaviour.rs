//! Processes that misbehave, whatever they answer: served for real by `threadspec serve --bug NAME`.
//!
//! `NAME` is that of a [`Deed`], done with every reply, or `DEED@WHEN`: done with the hello (`@hello`), with the reply to the
//! third request (`@3`), with every 997th (`@every-997`), with each reply that holds a text (`@two`), or after the last reply (`@end`).

use super::deeds;
use std::io::{self, BufReader, Write};
use threadspec_judge::reference::Reference;
use threadspec_judge::verdict::Verdict;
use threadspec_runner::serve;

/// What is done instead of writing a reply line.
#[derive(Clone, Copy, Debug)]
pub struct Deed {
    /// In kebab-case.
    pub name: &'static str,
    /// Does it, given the reply with its line end.
    pub(super) how: fn(&[u8]),
    /// The verdict on the case with whose reply it is done; a pass if it is allowed.
    pub verdict: Verdict,
}

/// When it is done.
#[derive(Clone, Debug, PartialEq, Eq)]
enum When {
    Always,
    Hello,
    Request(usize),
    Every(usize),
    Text(String),
    End,
}

/// A way to misbehave.
#[derive(Clone, Debug)]
pub struct Misbehaviour {
    deed: Deed,
    when: When,
}

/// Every deed.
pub fn deeds() -> impl Iterator<Item = &'static Deed> {
    deeds::ALL.iter()
}

/// The misbehaviours that every run must catch, whatever its cases.
pub fn names() -> impl Iterator<Item = &'static str> {
    deeds().filter(|deed| deed.verdict != Verdict::Pass).map(|deed| deed.name)
}

impl Misbehaviour {
    /// The misbehaviour of a name; `None` for an unknown deed.
    pub fn named(name: &str) -> Option<Self> {
        let (deed, when) = name.split_once('@').unwrap_or((name, ""));
        let deed = deeds().find(|one| one.name == deed)?;
        let when = match when {
            "" => When::Always,
            "hello" => When::Hello,
            "end" => When::End,
            text => match text.strip_prefix("every-").map(str::parse) {
                Some(Ok(number)) if number > 0 => When::Every(number),
                _ => text.parse().map_or_else(|_| When::Text(text.to_owned()), When::Request),
            },
        };
        Some(Self { deed: *deed, when })
    }

    /// Serves stdin and stdout, misbehaving in this way.
    ///
    /// # Errors
    ///
    /// When stdin or stdout fails.
    pub fn serve(&self) -> io::Result<()> {
        let mut replies = Lines { how: self, number: 0, line: Vec::new(), last: Vec::new() };
        serve(&mut Reference, BufReader::new(io::stdin().lock()), &mut replies)?;
        if self.when == When::End {
            tell_that_it_begins();
            (self.deed.how)(&replies.last);
        }
        Ok(())
    }
}

/// Makes the file that the variable `DEED_BEGINS` names, so that a test need not guess when a deed is done.
fn tell_that_it_begins() {
    if let Some(path) = std::env::var_os("DEED_BEGINS") {
        let _ = std::fs::write(path, "");
    }
}

/// Stdout, with the deed in place of some of the lines.
struct Lines<'a> {
    how: &'a Misbehaviour,
    /// The number of the request that is answered; 0 is the hello.
    number: usize,
    line: Vec<u8>,
    last: Vec<u8>,
}

impl Write for Lines<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        let is_it = match &self.how.when {
            When::Always => self.number > 0,
            When::Hello => self.number == 0,
            When::Request(number) => self.number == *number,
            When::Every(number) => self.number > 0 && self.number.is_multiple_of(*number),
            When::Text(text) => String::from_utf8_lossy(&line).contains(&format!("\"{text}\"")),
            When::End => false,
        };
        if is_it {
            tell_that_it_begins();
            (self.how.deed.how)(&line);
        } else {
            deeds::say(&line);
        }
        self.number += 1;
        self.last = line;
        Ok(())
    }
}
