//! A request of HTTP as it arrived.

use std::fmt;

/// One request, read to its end or to where it could not be read any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// The method, such as `POST`.
    pub method: String,
    /// The target as it was sent: a path, maybe with a query.
    pub target: String,
    /// The names, in lower case, and the values of the header fields, in the order in which they came.
    pub headers: Vec<(String, String)>,
    /// The content, with its encodings undone.
    pub body: Result<Vec<u8>, Unreadable>,
}

impl Received {
    /// The value of a header field, if it came once or more: of the first one.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    /// Replaces all other keys by one.
    pub(crate) fn set_key(&mut self, key: &str) {
        let is_key = |name: &str| name.eq_ignore_ascii_case("x-api-key") || name.eq_ignore_ascii_case("authorization");
        self.headers.retain(|(name, _)| !is_key(name));
        self.headers.push(("x-api-key".to_owned(), key.to_owned()));
    }
}

/// Why the content of a request was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// The field `host` names neither a literal address nor `localhost`: a page in a browser may have been led here.
    ForeignHost,
    /// It has more bytes than this.
    TooLong(usize),
    /// It is nested deeper than this.
    TooDeep(usize),
    /// It has more values than this.
    TooMany(usize),
    /// It has an encoding that is not undone here.
    Encoding(String),
    /// It is not what its encoding says.
    NotEncoded(String),
    /// There are too many other bodies on their way.
    Crowded,
    /// It stopped coming.
    Stopped,
    /// Its chunks or its length are wrong, or the client left.
    Broken(String),
}

impl Unreadable {
    /// The status that says so.
    pub fn status(&self) -> u16 {
        match self {
            Self::ForeignHost => 403,
            Self::TooLong(_) | Self::TooDeep(_) | Self::TooMany(_) => 413,
            Self::Encoding(_) => 415,
            Self::Stopped => 408,
            Self::Crowded => 503,
            Self::NotEncoded(_) | Self::Broken(_) => 400,
        }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ForeignHost => f.write_str("the host of the request is neither a literal address nor localhost"),
            Self::TooLong(most) => write!(f, "the request body has more than {most} bytes"),
            Self::TooDeep(most) => write!(f, "the request body is nested more than {most} levels deep"),
            Self::TooMany(most) => write!(f, "the request body has more than {most} values"),
            Self::Encoding(name) => write!(f, "the content-encoding {name:?} is not supported; send identity or gzip"),
            Self::NotEncoded(why) => write!(f, "the request body is not gzip: {why}"),
            Self::Crowded => f.write_str("too many large request bodies at once"),
            Self::Stopped => f.write_str("the rest of the request body did not come"),
            Self::Broken(why) => write!(f, "the request body broke off: {why}"),
        }
    }
}
