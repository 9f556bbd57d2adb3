//! Arguments for a call, made from the schema that an agent declares for its tool.

use serde_json::{Map, Value, json};
use std::cell::{Cell, RefCell};

/// How deep schemas may be nested; what lies deeper is null.
const DEEPEST: usize = 32;
/// How many values there may be in all: the schema is a stranger's, and may refer to itself many times.
const MOST_VALUES: usize = 10_000;

/// A value that the schema accepts, as small as can be: required members, the first of `enum`, the least number, the shortest text.
///
/// It follows `$ref` inside the schema, `const`, `enum`, `default`, `examples`, `anyOf`, `oneOf`, `allOf`, `type` as one name or a list, and the bounds of
/// numbers, texts and lists. A `pattern` or `format` that it does not know is ignored: most tools take any text.
///
/// ```
/// use serde_json::json;
/// let schema = json!({"type": "object", "required": ["command"], "properties": {
///     "command": {"type": "string", "minLength": 3}, "timeout": {"type": "integer"}}});
/// assert_eq!(threadspec_provider::example_of(&schema), json!({"command": "xxx"}));
/// ```
pub fn example_of(schema: &Value) -> Value {
    Schemas { root: schema, left: Cell::new(MOST_VALUES), open: RefCell::default() }.example(schema, DEEPEST)
}

struct Schemas<'a> {
    root: &'a Value,
    left: Cell<usize>,
    /// The references that are being followed.
    open: RefCell<Vec<&'a str>>,
}

impl<'a> Schemas<'a> {
    fn example(&self, schema: &'a Value, depth: usize) -> Value {
        let left = self.left.get();
        let Some(members) = schema.as_object().filter(|_| depth > 0 && left > 0) else { return Value::Null };
        self.left.set(left - 1);
        let first = |name: &str| members.get(name).and_then(Value::as_array).and_then(|list| list.first());
        let given = members.get("const").or_else(|| first("enum")).or_else(|| members.get("default"));
        if let Some(value) = given.or_else(|| first("examples")) {
            return value.clone();
        }
        if let Some(path) = members.get("$ref").and_then(Value::as_str)
            && let Some(target) = self.target(path)
        {
            self.open.borrow_mut().push(path);
            let value = self.example(target, depth - 1);
            self.open.borrow_mut().pop();
            return value;
        }
        if let Some(parts) = members.get("allOf").and_then(Value::as_array) {
            return self.of_all(members, parts, depth);
        }
        // Of several forms null is the least telling, but a list that refers to itself has to end.
        let leads_on = |form: &&Value| {
            let goes_round = form["$ref"].as_str().is_some_and(|path| self.open.borrow().contains(&path));
            form["type"] != "null" && !goes_round
        };
        for name in ["anyOf", "oneOf"] {
            if let Some(forms) = members.get(name).and_then(Value::as_array)
                && let Some(form) = forms
                    .iter()
                    .find(leads_on)
                    .or_else(|| forms.iter().find(|form| form["type"] == "null"))
                    .or_else(|| forms.first())
            {
                return match self.example(form, depth - 1) {
                    // Members that all forms have are beside them.
                    Value::Object(chosen) if members.contains_key("properties") => {
                        let mut all = self.object(members, depth);
                        all.extend(chosen);
                        Value::Object(all)
                    }
                    value => value,
                };
            }
        }
        self.of_type(members, depth)
    }

    /// `#/$defs/Name`, with the escapes of JSON Pointer.
    fn target(&self, path: &str) -> Option<&'a Value> {
        self.root.pointer(path.strip_prefix('#')?)
    }

    fn of_all(&self, members: &'a Map<String, Value>, parts: &'a [Value], depth: usize) -> Value {
        let mut values = parts.iter().map(|part| self.example(part, depth - 1));
        let own = members.contains_key("properties").then(|| Value::Object(self.object(members, depth)));
        let first = own.or_else(|| values.next()).unwrap_or_default();
        values.fold(first, |all, value| match (all, value) {
            (Value::Object(mut all), Value::Object(more)) => {
                all.extend(more);
                Value::Object(all)
            }
            (Value::Null, value) => value,
            (all, _) => all,
        })
    }

    fn of_type(&self, members: &'a Map<String, Value>, depth: usize) -> Value {
        let count =
            |name: &str| members.get(name).and_then(Value::as_u64).and_then(|count| usize::try_from(count).ok());
        match type_of(members) {
            Some("object") => Value::Object(self.object(members, depth)),
            Some("array") => {
                let ahead = members.get("prefixItems").and_then(Value::as_array).into_iter().flatten();
                let mut elements: Vec<Value> = ahead.map(|schema| self.example(schema, depth - 1)).collect();
                let least = count("minItems").unwrap_or_default();
                let element = members.get("items").map(|schema| self.example(schema, depth - 1)).unwrap_or_default();
                elements.resize(least.max(elements.len()), element);
                Value::Array(elements)
            }
            Some("string") => {
                "x".repeat(count("minLength").unwrap_or(1).min(count("maxLength").unwrap_or(usize::MAX))).into()
            }
            Some("integer") => number(members, true),
            Some("number") => number(members, false),
            Some("boolean") => false.into(),
            _ => Value::Null,
        }
    }

    fn object(&self, members: &'a Map<String, Value>, depth: usize) -> Map<String, Value> {
        let required = members.get("required").and_then(Value::as_array).into_iter().flatten();
        let properties = members.get("properties");
        required
            .filter_map(Value::as_str)
            .map(|name| {
                let value = properties.and_then(|all| all.get(name)).map(|schema| self.example(schema, depth - 1));
                (name.to_owned(), value.unwrap_or_default())
            })
            .collect()
    }
}

/// The first type that is not null; what has properties is an object even where no type says so.
fn type_of(members: &Map<String, Value>) -> Option<&str> {
    let named = match members.get("type") {
        Some(Value::String(name)) => Some(name.as_str()),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).find(|name| *name != "null"),
        _ => None,
    };
    named.or_else(|| ["properties", "required"].iter().any(|name| members.contains_key(*name)).then_some("object"))
}

/// The number next to 0 within the bounds, a multiple of `multipleOf`.
#[allow(clippy::cast_possible_truncation, reason = "a whole number in the range of an i64, as it was checked")]
fn number(members: &Map<String, Value>, is_integer: bool) -> Value {
    let bound = |name: &str| members.get(name).and_then(Value::as_f64);
    let step = bound("multipleOf").filter(|step| *step > 0.0).unwrap_or(1.0);
    let least = bound("minimum").into_iter().chain(bound("exclusiveMinimum").map(|bound| bound + f64::MIN_POSITIVE));
    let most = bound("maximum").into_iter().chain(bound("exclusiveMaximum").map(|bound| bound - f64::MIN_POSITIVE));
    let (least, most) = (least.fold(f64::NEG_INFINITY, f64::max), most.fold(f64::INFINITY, f64::min));
    let is_below = |value: f64| value < least || bound("exclusiveMinimum").is_some_and(|bound| value <= bound);
    let is_above = |value: f64| value > most || bound("exclusiveMaximum").is_some_and(|bound| value >= bound);
    let mut value = 0.0;
    if is_below(value) {
        value = (least / step).ceil() * step;
        if is_below(value) {
            value += step;
        }
    } else if is_above(value) {
        value = (most / step).floor() * step;
        if is_above(value) {
            value -= step;
        }
    }
    // Where no multiple of one fits between the bounds, any number does that is between them.
    if (is_below(value) || is_above(value)) && !members.contains_key("multipleOf") && !is_integer {
        value = f64::midpoint(least, most);
    }
    if value.fract() == 0.0 && value.abs() < 9e15 { json!(value as i64) } else { json!(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_value_of_each_kind() {
        for (schema, expected) in [
            (json!({}), json!(null)),
            (json!({"type": "object"}), json!({})),
            (json!({"properties": {"a": {"type": "string"}}, "required": ["a"]}), json!({"a": "x"})),
            (json!({"type": "object", "required": ["a"]}), json!({"a": null})),
            (json!({"type": "string"}), json!("x")),
            (json!({"type": "string", "maxLength": 0}), json!("")),
            (json!({"type": ["null", "integer"], "minimum": 3}), json!(3)),
            (json!({"type": "integer", "exclusiveMinimum": 3}), json!(4)),
            (json!({"type": "integer", "maximum": -2}), json!(-2)),
            (json!({"type": "integer", "exclusiveMaximum": 0}), json!(-1)),
            (json!({"type": "integer", "minimum": 5, "multipleOf": 4}), json!(8)),
            (json!({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}), json!(0.5)),
            (json!({"type": "boolean"}), json!(false)),
            (json!({"enum": ["b", "a"]}), json!("b")),
            (json!({"const": {"k": 1}}), json!({"k": 1})),
            (json!({"type": "string", "default": "d"}), json!("d")),
            (json!({"type": "array", "items": {"type": "string"}}), json!([])),
            (json!({"type": "array", "items": {"type": "string"}, "minItems": 2}), json!(["x", "x"])),
            (
                json!({"type": "array", "prefixItems": [{"const": 1}], "minItems": 2, "items": {"const": 2}}),
                json!([1, 2]),
            ),
            (json!({"anyOf": [{"type": "null"}, {"type": "integer"}]}), json!(0)),
            (json!({"oneOf": [{"type": "null"}]}), json!(null)),
            (
                json!({"allOf": [{"type": "object", "required": ["a"], "properties": {"a": {"const": 1}}},
                    {"type": "object", "required": ["b"], "properties": {"b": {"const": 2}}}]}),
                json!({"a": 1, "b": 2}),
            ),
            (json!(true), json!(null)),
        ] {
            assert_eq!(example_of(&schema), expected, "{schema}");
        }
    }

    #[test]
    fn references_are_followed_and_end() {
        let schema = json!({"$ref": "#/$defs/node", "$defs": {"node": {"type": "object", "required": ["name", "next"], "properties": {
            "name": {"$ref": "#/$defs/a~1b"}, "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}}}, "a/b": {"const": "n"}}});
        assert_eq!(example_of(&schema), json!({"name": "n", "next": null}));
        let endless =
            json!({"type": "object", "required": ["a", "b"], "properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}}});
        assert!(example_of(&endless)["a"]["a"]["a"].is_object());
    }
}
