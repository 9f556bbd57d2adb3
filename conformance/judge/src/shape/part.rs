//! Parts of JSON that should have a shape, and may have any other.

use serde_json::{Map, Number, Value};

/// A value where the protocol wants a `T`. A wrong reply is judged, too, so whatever it has there is kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Part<T> {
    /// The wanted value.
    Proper(T),
    /// Another value.
    Odd(Box<Value>),
    /// Nothing: the object lacks the member.
    #[default]
    Missing,
}

/// A list, any element of which may be odd.
pub type Parts<T> = Vec<Part<T>>;

/// A shape that JSON may have.
pub trait Shape: Clone {
    /// Reads a value, or gives it back if it has another shape.
    ///
    /// # Errors
    ///
    /// The value.
    fn read(json: Value) -> Result<Self, Value>;

    /// The JSON again, without what the protocol does not name.
    fn into_json(self) -> Value;
}

impl<T: Shape> Part<T> {
    /// Reads a value.
    pub fn read(json: Value) -> Self {
        T::read(json).map_or_else(|other| Self::Odd(Box::new(other)), Self::Proper)
    }

    /// Takes a member out of an object.
    pub(super) fn take(members: &mut Map<String, Value>, name: &str) -> Self {
        members.get_mut(name).map(Value::take).map_or(Self::Missing, Self::read)
    }

    /// Takes an optional member, which `null` leaves out.
    pub(super) fn take_optional(members: &mut Map<String, Value>, name: &str) -> Self {
        Some(Self::take(members, name)).filter(|part| !part.is_null()).unwrap_or_default()
    }

    /// The JSON again; nothing for a member that is missing.
    pub fn into_json(self) -> Option<Value> {
        match self {
            Self::Proper(proper) => Some(proper.into_json()),
            Self::Odd(other) => Some(*other),
            Self::Missing => None,
        }
    }

    /// The JSON again; null for a member that is missing.
    pub fn to_json(&self) -> Value {
        self.clone().into_json().unwrap_or_default()
    }
}

impl<T> Part<T> {
    /// Returns the wanted value, if it is there.
    pub fn proper(&self) -> Option<&T> {
        match self {
            Self::Proper(proper) => Some(proper),
            Self::Odd(_) | Self::Missing => None,
        }
    }

    /// Returns the wanted value, to be changed.
    pub fn proper_mut(&mut self) -> Option<&mut T> {
        match self {
            Self::Proper(proper) => Some(proper),
            Self::Odd(_) | Self::Missing => None,
        }
    }

    /// Returns whether it is exactly this.
    pub fn is<U: ?Sized>(&self, wanted: &U) -> bool
    where
        T: PartialEq<U>,
    {
        self.proper().is_some_and(|proper| proper == wanted)
    }

    /// Returns whether it is null.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Odd(other) if other.is_null())
    }

    /// Returns the wanted value, if there is any; null is none.
    ///
    /// # Errors
    ///
    /// The given one if there is something else.
    pub(crate) fn optional<E>(self, error: impl FnOnce() -> E) -> Result<Option<T>, E> {
        match self {
            Self::Proper(proper) => Ok(Some(proper)),
            Self::Missing => Ok(None),
            Self::Odd(other) if other.is_null() => Ok(None),
            Self::Odd(_) => Err(error()),
        }
    }
}

impl Part<String> {
    /// The text.
    pub fn text(&self) -> Option<&str> {
        self.proper().map(String::as_str)
    }
}

impl Part<Number> {
    /// The number as a double.
    pub fn double(&self) -> Option<f64> {
        self.proper().and_then(Number::as_f64)
    }
}

impl<T> Part<Vec<T>> {
    /// The elements; none of what is not a list.
    pub fn list(&self) -> &[T] {
        self.proper().map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the list, to be changed.
    pub fn list_mut(&mut self) -> &mut [T] {
        self.proper_mut().map(Vec::as_mut_slice).unwrap_or_default()
    }
}

impl<T> From<T> for Part<T> {
    fn from(proper: T) -> Self {
        Self::Proper(proper)
    }
}

impl From<&str> for Part<String> {
    fn from(text: &str) -> Self {
        Self::Proper(text.to_owned())
    }
}

/// Any value has this shape: what is free data.
impl Shape for Value {
    fn read(json: Value) -> Result<Self, Value> {
        Ok(json)
    }

    fn into_json(self) -> Value {
        self
    }
}

impl Shape for String {
    fn read(json: Value) -> Result<Self, Value> {
        if let Value::String(text) = json { Ok(text) } else { Err(json) }
    }

    fn into_json(self) -> Value {
        self.into()
    }
}

impl Shape for bool {
    fn read(json: Value) -> Result<Self, Value> {
        json.as_bool().ok_or(json)
    }

    fn into_json(self) -> Value {
        self.into()
    }
}

impl Shape for Number {
    fn read(json: Value) -> Result<Self, Value> {
        if let Value::Number(number) = json { Ok(number) } else { Err(json) }
    }

    fn into_json(self) -> Value {
        Value::Number(self)
    }
}

impl Shape for Map<String, Value> {
    fn read(json: Value) -> Result<Self, Value> {
        if let Value::Object(members) = json { Ok(members) } else { Err(json) }
    }

    fn into_json(self) -> Value {
        Value::Object(self)
    }
}

impl<T: Shape> Shape for Parts<T> {
    fn read(json: Value) -> Result<Self, Value> {
        if let Value::Array(elements) = json { Ok(elements.into_iter().map(Part::read).collect()) } else { Err(json) }
    }

    fn into_json(self) -> Value {
        self.into_iter().filter_map(Part::into_json).collect()
    }
}

/// The members that are there.
pub(super) fn object<const N: usize>(members: [(&str, Option<Value>); N]) -> Value {
    let members = members.into_iter();
    Value::Object(members.filter_map(|(name, value)| Some((name.to_owned(), value?))).collect())
}
