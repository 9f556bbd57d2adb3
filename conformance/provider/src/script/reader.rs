//! Strict reading of JSON that people write: what is not known is refused, and an error names its place.

use crate::Error;
use threadspec::surrogates::mark_surrogates;
use threadspec_judge::json::{self, Node, compact};

/// A value and its place. Strings are marked data, and numbers have the digits that were written.
#[derive(Clone, Debug)]
pub struct StrictReading<'a> {
    node: Node<'a>,
    place: String,
}

/// The members of an object that are not read yet.
#[derive(Debug)]
pub struct ObjectReading<'a> {
    rest: Vec<(String, Node<'a>)>,
    place: String,
}

/// Reads a whole text.
///
/// # Errors
///
/// Says where the text is no JSON, or what `read` says of it.
pub fn read_text<T>(
    text: &str,
    place: &str,
    read: impl FnOnce(StrictReading<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    json::read(text).map_err(|error| Error::new(place, format!("not JSON: {error}")))?;
    let marked = mark_surrogates(text);
    read(StrictReading { node: Node::of(&marked), place: place.to_owned() })
}

impl<'a> StrictReading<'a> {
    /// The error that says what is wrong here.
    ///
    /// # Errors
    ///
    /// Always.
    pub fn error<T>(&self, reason: impl std::fmt::Display) -> Result<T, Error> {
        Err(Error::new(&self.place, reason))
    }

    fn wanted<T>(&self, what: &str) -> Result<T, Error> {
        let text = self.text();
        let is_short = text.chars().count() <= 60;
        let found = if is_short { text } else { "another value".to_owned() };
        self.error(format!("{found} is not {what}"))
    }

    /// The JSON text without white space, marked.
    pub fn text(&self) -> String {
        compact(&self.node.text())
    }

    /// Returns whether it is null.
    pub fn is_null(&self) -> bool {
        self.node == Node::Scalar("null")
    }

    /// A string, marked.
    ///
    /// # Errors
    ///
    /// Says that it is none.
    pub fn string(self) -> Result<String, Error> {
        let text = match &self.node {
            Node::Scalar(token) if token.starts_with('"') => serde_json::from_str(token).ok(),
            _ => None,
        };
        text.map_or_else(|| self.wanted("a string"), Ok)
    }

    /// True or false.
    ///
    /// # Errors
    ///
    /// Says that it is neither.
    pub fn boolean(self) -> Result<bool, Error> {
        match self.node {
            Node::Scalar("true") => Ok(true),
            Node::Scalar("false") => Ok(false),
            _ => self.wanted("true or false"),
        }
    }

    /// A count from `least` on.
    ///
    /// # Errors
    ///
    /// Says that it is none.
    pub fn count(self, least: u64) -> Result<u64, Error> {
        let count = match &self.node {
            Node::Scalar(token) => token.parse().ok().filter(|count| *count >= least),
            _ => None,
        };
        count.map_or_else(|| self.wanted(&format!("a whole number from {least} on")), Ok)
    }

    /// The elements of a list.
    ///
    /// # Errors
    ///
    /// Says that it is none.
    pub fn list(self) -> Result<Vec<Self>, Error> {
        let Node::Array(elements) = self.node else { return self.wanted("a list") };
        let place = self.place;
        let read = |(index, node)| Self { node, place: format!("{place}[{index}]") };
        Ok(elements.into_iter().enumerate().map(read).collect())
    }

    /// The members of an object.
    ///
    /// # Errors
    ///
    /// Says that it is none, or that a name is twice.
    pub fn members(self) -> Result<ObjectReading<'a>, Error> {
        let Node::Object(members) = self.node else { return self.wanted("an object") };
        let mut rest: Vec<(String, Node<'a>)> = Vec::with_capacity(members.len());
        for (name, node) in members {
            let name: String = serde_json::from_str(name).unwrap_or_default();
            if rest.iter().any(|(other, _)| *other == name) {
                return Err(Error::new(self.place, format!("`{name}` is there twice")));
            }
            rest.push((name, node));
        }
        Ok(ObjectReading { rest, place: self.place })
    }

    /// One of some words.
    ///
    /// # Errors
    ///
    /// Says that it is none of them.
    pub fn word(self, words: &[&str]) -> Result<String, Error> {
        let found = self.clone().string()?;
        if words.contains(&&*found) {
            return Ok(found);
        }
        self.error(format!("`{found}` is none of {}", words.join(", ")))
    }
}

impl<'a> ObjectReading<'a> {
    /// Takes a member; one that is null is not there.
    pub fn take(&mut self, name: &str) -> Option<StrictReading<'a>> {
        let at = self.rest.iter().position(|(other, _)| other == name)?;
        let (_, node) = self.rest.remove(at);
        let place = if self.place.is_empty() { name.to_owned() } else { format!("{}.{name}", self.place) };
        Some(StrictReading { node, place }).filter(|reading| !reading.is_null())
    }

    /// Takes a member and reads it.
    ///
    /// # Errors
    ///
    /// What `read` says.
    pub fn read<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(StrictReading<'a>) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        self.take(name).map(read).transpose()
    }

    /// Takes a member that must be there, and reads it.
    ///
    /// # Errors
    ///
    /// What `read` says, or that it is missing.
    pub fn need<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(StrictReading<'a>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.read(name, read)?.map_or_else(|| self.error(format!("`{name}` is missing")), Ok)
    }

    /// Returns whether a member is there that nobody has taken.
    pub fn has(&self, name: &str) -> bool {
        self.rest.iter().any(|(other, node)| other == name && *node != Node::Scalar("null"))
    }

    /// The error that says what is wrong with the object.
    ///
    /// # Errors
    ///
    /// Always.
    pub fn error<T>(&self, reason: impl std::fmt::Display) -> Result<T, Error> {
        Err(Error::new(&self.place, reason))
    }

    /// Refuses what was not taken.
    ///
    /// # Errors
    ///
    /// Names the first member that is left.
    pub fn end(self) -> Result<(), Error> {
        match self.rest.first() {
            None => Ok(()),
            Some((name, _)) => self.error(format!("`{name}` is no member that is known here")),
        }
    }
}
