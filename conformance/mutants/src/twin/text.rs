//! Escaping, `JSON.stringify` and `String`.

use super::Twin;
use serde_json::{Map, Number, Value};
use threadspec::{escape_attribute, escape_text};

pub(crate) fn text(twin: &Twin, text: &str) -> String {
    escape_text(text, twin.profile).into_owned()
}

pub(crate) fn attribute(twin: &Twin, text: &str) -> String {
    escape_attribute(text, twin.profile).into_owned()
}

pub(crate) fn number(number: &Number) -> String {
    threadspec::json_stringify(&Value::Number(number.clone()))
}

pub(crate) fn quoted(text: &str) -> String {
    threadspec::json_stringify(&text.into())
}

/// The members in property order.
pub(crate) fn members(object: &Map<String, Value>) -> Vec<(&String, &Value)> {
    by_index(object, index)
}

/// The members whose keys have an index come first, in its order.
pub(crate) fn by_index(object: &Map<String, Value>, index: impl Fn(&str) -> Option<u64>) -> Vec<(&String, &Value)> {
    let mut members: Vec<_> = object.iter().collect();
    members.sort_by_key(|(key, _)| index(key).map_or((true, 0), |index| (false, index)));
    members
}

fn index(key: &str) -> Option<u64> {
    let index = key.parse::<u32>().ok().filter(|&index| index < u32::MAX && index.to_string() == key);
    index.map(u64::from)
}

pub(crate) fn string(twin: &Twin, value: &Value) -> String {
    match value {
        Value::Array(elements) => {
            elements.iter().filter_map(|element| (twin.item)(twin, element)).collect::<Vec<_>>().join(",")
        }
        Value::Object(_) => "[object Object]".to_owned(),
        Value::String(text) => text.clone(),
        scalar => twin.stringify(scalar),
    }
}

/// An element as a part of the text of its array.
pub(crate) fn item(twin: &Twin, element: &Value) -> Option<String> {
    Some(if element.is_null() { String::new() } else { (twin.string)(twin, element) })
}

impl Twin {
    pub(crate) fn stringify(&self, value: &Value) -> String {
        let (comma, _) = self.separators;
        match value {
            Value::Number(number) => (self.number)(number),
            Value::String(text) => (self.quoted)(text),
            Value::Array(elements) => {
                let elements: Vec<_> = elements.iter().map(|element| self.stringify(element)).collect();
                format!("[{}]", elements.join(comma))
            }
            Value::Object(object) => self.stringify_object(object),
            constant => constant.to_string(),
        }
    }

    pub(crate) fn stringify_object(&self, object: &Map<String, Value>) -> String {
        let (comma, colon) = self.separators;
        let member =
            |(key, value): (&String, &Value)| format!("{}{colon}{}", (self.quoted)(key), self.stringify(value));
        let members: Vec<_> = (self.members)(object).into_iter().map(member).collect();
        format!("{{{}}}", members.join(comma))
    }
}
