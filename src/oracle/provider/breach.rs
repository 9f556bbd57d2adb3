//! Describes a fault of a request, with everything that the API's own words for it name.

use crate::surrogates::has_marks;
use serde_json::Value;
use std::fmt::{self, Arguments};

/// A rule that a request breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// The rule's id.
    pub rule: &'static str,
    /// Where, as a path from the body: `messages[3].tool_calls[0].id`. A header is there by its name.
    pub place: String,
    /// The fault.
    pub what: String,
    /// True if every version and server of the API refuses it, as far as is known; otherwise only some do.
    pub is_certain: bool,
    /// The name of the rule's answer to it among its `variants` in `golden/provider-rules.json`, `None` for `answer` itself.
    pub variant: Option<&'static str>,
    /// The details that the answer names.
    pub details: Vec<BreachDetail>,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, place_and_fault(&self.place, &self.what))
    }
}

/// Joins the place and the fault of a breach; what the whole body breaks has no place.
///
/// ```
/// use threadspec::oracle::place_and_fault;
/// assert_eq!(place_and_fault("tools[0]", "no name"), "tools[0]: no name");
/// assert_eq!(place_and_fault("", "5 marks"), "5 marks");
/// ```
pub fn place_and_fault(place: &str, what: &str) -> String {
    if place.is_empty() { what.to_owned() } else { format!("{place}: {what}") }
}

impl Breach {
    /// A breach that is certain, with the usual answer, which names nothing.
    pub fn new(rule: &'static str, place: impl Into<String>, what: impl Into<String>) -> Self {
        Self { rule, place: place.into(), what: what.into(), is_certain: true, variant: None, details: Vec::new() }
    }

    pub(super) fn with(&mut self, detail: BreachDetail) -> &mut Self {
        self.details.push(detail);
        self
    }

    pub(super) fn id(&mut self, id: &str) -> &mut Self {
        self.with(BreachDetail::Id(id.to_owned()))
    }

    pub(super) fn ids(&mut self, ids: &[&str]) -> &mut Self {
        self.with(BreachDetail::Ids(ids.iter().map(|&id| id.to_owned()).collect()))
    }

    pub(super) fn name(&mut self, name: &str) -> &mut Self {
        self.with(BreachDetail::Name(name.to_owned()))
    }

    pub(super) fn variant(&mut self, variant: &'static str) -> &mut Self {
        self.variant = Some(variant);
        self
    }

    /// Only some versions or servers refuse it, unless this is so.
    pub(super) fn certain_if(&mut self, is_certain: bool) -> &mut Self {
        self.is_certain = is_certain;
        self
    }
}

/// The type of a value, with its article and as a bare word.
fn kinds(value: &Value) -> (&'static str, &'static str) {
    match value {
        Value::Null => ("null", "null"),
        Value::Bool(_) => ("a boolean", "boolean"),
        Value::Number(number) if number.is_f64() => ("a decimal", "number"),
        Value::Number(_) => ("an integer", "number"),
        Value::String(_) => ("a string", "string"),
        Value::Array(_) => ("an array", "list"),
        Value::Object(_) => ("an object", "object"),
    }
}

/// Something that an API names when it refuses a request. The texts are as in the body: a lone surrogate is its
/// [mark](crate::surrogates).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BreachDetail {
    /// The id of a call, an item or a response.
    Id(String),
    /// The ids of calls, in the order of the request.
    Ids(Vec<String>),
    /// The name of a tool, a member or a property.
    Name(String),
    /// The value there instead.
    Value(String),
    /// The type of what is there instead, with its article: `an object`, `null`.
    Kind(&'static str),
    /// The type of the value there, as a bare word: `object`, `list`.
    Type(&'static str),
    /// How long a text or list is.
    Length(usize),
    /// How long it may be.
    Max(usize),
    /// The position of the message, in its list, that the fault repeats.
    First(usize),
    /// The position of the message with the calls that the fault is about.
    Calls(usize),
    /// Where in a JSON Schema, as a Python tuple: `('properties', 'a')`.
    Context(String),
}

impl BreachDetail {
    /// Every name of a placeholder that a detail fills.
    pub const PLACEHOLDERS: [&str; 11] =
        ["id", "ids", "name", "value", "kind", "type", "length", "max", "first", "calls", "context"];

    /// The placeholder that it fills in the words of `golden/provider-rules.json`, without the braces.
    ///
    /// ```
    /// use threadspec::oracle::BreachDetail;
    /// let ids = BreachDetail::Ids(vec!["a".into(), "b".into()]);
    /// assert_eq!((ids.placeholder(), ids.to_string()), ("ids", "a, b".to_owned()));
    /// ```
    pub fn placeholder(&self) -> &'static str {
        match self {
            Self::Id(_) => "id",
            Self::Ids(_) => "ids",
            Self::Name(_) => "name",
            Self::Value(_) => "value",
            Self::Kind(_) => "kind",
            Self::Type(_) => "type",
            Self::Length(_) => "length",
            Self::Max(_) => "max",
            Self::First(_) => "first",
            Self::Calls(_) => "calls",
            Self::Context(_) => "context",
        }
    }
}

impl fmt::Display for BreachDetail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(text) | Self::Name(text) | Self::Value(text) | Self::Context(text) => f.write_str(text),
            Self::Ids(ids) => f.write_str(&ids.join(", ")),
            Self::Kind(kind) | Self::Type(kind) => f.write_str(kind),
            Self::Length(number) | Self::Max(number) | Self::First(number) | Self::Calls(number) => {
                write!(f, "{number}")
            }
        }
    }
}

/// The breaches so far.
#[derive(Default)]
pub(super) struct Breaches(pub(super) Vec<Breach>);

#[expect(
    clippy::needless_pass_by_value,
    reason = "places are small, and written only here: nearly all requests have no fault"
)]
impl Breaches {
    pub(super) fn add(&mut self, rule: &'static str, place: impl ToString, what: impl Into<String>) -> &mut Breach {
        self.0.push(Breach::new(rule, place.to_string(), what));
        let last = self.0.len() - 1;
        &mut self.0[last]
    }

    /// Adds a breach of a member: the last one in its place is the subject of the fault.
    pub(super) fn member(&mut self, rule: &'static str, place: impl ToString, fault: impl fmt::Display) -> &mut Breach {
        let place = place.to_string();
        let what = format!("`{}` {fault}", place.rsplit('.').next().unwrap_or_default());
        self.add(rule, place, what)
    }

    /// Adds a breach of a member whose value has the wrong type.
    pub(super) fn not_a(&mut self, wanted: &str, rule: &'static str, place: impl ToString, is: &Value) -> &mut Breach {
        let (kind, bare) = kinds(is);
        let found = if is.is_null() { "null or missing" } else { kind };
        let breach = self.member(rule, place, format_args!("is {found}, not {wanted}"));
        breach.with(BreachDetail::Kind(kind)).with(BreachDetail::Type(bare))
    }

    /// Adds a breach if a list is present and empty.
    pub(super) fn not_empty(&mut self, rule: &'static str, place: Arguments<'_>, list: &Value) {
        if list.as_array().is_some_and(Vec::is_empty) {
            self.member(rule, place, "is an empty array");
        }
    }

    /// Adds a breach if a text is longer than it may be.
    pub(super) fn not_longer(&mut self, max: usize, rule: &'static str, place: Arguments<'_>, text: &str) {
        // A text has no more characters than bytes, which are known.
        let length = if text.len() <= max { 0 } else { text.chars().count() };
        if length > max {
            self.too_long(rule, place, [length, max]);
        }
    }

    /// Adds a breach of a text that has more characters than it may have.
    pub(super) fn too_long(&mut self, rule: &'static str, place: impl ToString, sizes: [usize; 2]) -> &mut Breach {
        let [length, max] = sizes;
        let breach = self.member(rule, place, format_args!("has {length} characters; at most {max} are allowed"));
        breach.with(BreachDetail::Length(length)).with(BreachDetail::Max(max))
    }

    /// Adds a breach for every text or name with a lone surrogate.
    pub(super) fn surrogates(&mut self, is_certain: bool, rule: &'static str, place: Arguments<'_>, value: &Value) {
        // A request nearly never has one, and places cost more than looking.
        if is_cut(value) {
            self.halves(is_certain, rule, &place.to_string(), value);
        }
    }

    fn halves(&mut self, is_certain: bool, rule: &'static str, place: &str, value: &Value) {
        match value {
            Value::String(text) if has_marks(text) => {
                self.add(rule, place, "the text has half a surrogate pair").certain_if(is_certain);
            }
            Value::Array(elements) => {
                for (position, element) in elements.iter().enumerate() {
                    self.halves(is_certain, rule, &format!("{place}[{position}]"), element);
                }
            }
            Value::Object(members) => {
                for (name, member) in members {
                    let place = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
                    if has_marks(name) {
                        self.add(rule, &*place, "the name has half a surrogate pair").certain_if(is_certain);
                    }
                    self.halves(is_certain, rule, &place, member);
                }
            }
            _ => {}
        }
    }
}

/// Returns whether there is a lone surrogate in it.
fn is_cut(value: &Value) -> bool {
    match value {
        Value::String(text) => has_marks(text),
        Value::Array(elements) => elements.iter().any(is_cut),
        Value::Object(members) => members.iter().any(|(name, member)| has_marks(name) || is_cut(member)),
        _ => false,
    }
}
