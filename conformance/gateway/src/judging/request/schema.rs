//! JSON Schemas in one form, however they are written.

use serde_json::{Map, Value, json};

/// How deep schemas are followed.
const DEEPEST: usize = 64;
/// How many schemas one has in all: a stranger's may refer to itself many times.
const MOST: usize = 20_000;
/// The members that GATE-TOOLS-FULL demands beside names, types, required members and enumerations.
const BOUNDS: [&str; 16] = [
    "description",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "default",
];

/// How much of a schema is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Depth {
    /// Members, required ones, types and enumerations.
    Shape,
    /// Descriptions, bounds and `additionalProperties`, too.
    Full,
}

/// The one form of the schema of a tool's arguments.
pub(super) fn canonical(schema: Option<&Value>, depth: Depth) -> Value {
    let nothing = json!({"type": "object"});
    let root = schema.filter(|schema| schema.is_object()).unwrap_or(&nothing);
    let mut form = SchemaForms { root, depth, open: Vec::new(), left: MOST }.form(root, DEEPEST);
    // Arguments are always an object.
    form.entry("types").or_insert_with(|| json!(["object"]));
    form.into()
}

struct SchemaForms<'a> {
    root: &'a Value,
    depth: Depth,
    /// The references that are being followed.
    open: Vec<&'a str>,
    left: usize,
}

impl<'a> SchemaForms<'a> {
    fn form(&mut self, schema: &'a Value, depth: usize) -> Map<String, Value> {
        let Some(members) = schema.as_object().filter(|_| depth > 0 && self.left > 0) else {
            let never = (schema == &Value::Bool(false)).then(|| ("never".to_owned(), true.into()));
            return never.into_iter().collect();
        };
        self.left -= 1;
        let mut form = Map::new();
        if let Some(path) = members.get("$ref").and_then(Value::as_str) {
            if self.open.contains(&path) {
                form.insert("recursive".to_owned(), true.into());
            } else if let Some(target) = path.strip_prefix('#').and_then(|path| self.root.pointer(path)) {
                self.open.push(path);
                form = self.form(target, depth - 1);
                self.open.pop();
            }
        }
        for part in members.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            let part = self.form(part, depth - 1);
            add(&mut form, part);
        }
        for name in ["anyOf", "oneOf"] {
            if let Some(parts) = members.get(name).and_then(Value::as_array) {
                let parts = parts.iter().map(|part| self.form(part, depth - 1)).collect();
                add(&mut form, one_of(parts));
            }
        }
        let own = self.own(members, depth);
        add(&mut form, own);
        form
    }

    /// Returns the members of the schema itself.
    fn own(&mut self, members: &'a Map<String, Value>, depth: usize) -> Map<String, Value> {
        let mut form = Map::new();
        let mut types: Vec<Value> = match members.get("type") {
            Some(Value::String(name)) => vec![name.as_str().into()],
            Some(Value::Array(names)) => names.clone(),
            _ => Vec::new(),
        };
        if members.get("nullable") == Some(&Value::Bool(true)) {
            types.push("null".into());
        }
        let constant = members.get("const").map(|value| vec![value.clone()]);
        if let Some(mut values) = constant.or_else(|| members.get("enum").and_then(Value::as_array).cloned()) {
            if types.is_empty() {
                types.extend(values.iter().map(|value| type_of(value).into()));
            }
            if values.iter().any(Value::is_null) {
                types.push("null".into());
            }
            values.retain(|value| !value.is_null());
            form.insert("enum".to_owned(), sorted(values));
        }
        let properties = members.get("properties").and_then(Value::as_object).filter(|all| !all.is_empty());
        if let Some(properties) = properties {
            let inner = properties.iter().map(|(name, schema)| (name.clone(), self.form(schema, depth - 1).into()));
            let inner: Map<String, Value> = inner.collect();
            form.insert("properties".to_owned(), inner.into());
        }
        if types.is_empty() && properties.is_some() {
            types.push("object".into());
        }
        if !types.is_empty() {
            form.insert("types".to_owned(), sorted(types));
        }
        if let Some(required) = members.get("required").and_then(Value::as_array).filter(|all| !all.is_empty()) {
            form.insert("required".to_owned(), sorted(required.clone()));
        }
        match members.get("items") {
            Some(Value::Array(items)) => drop(form.insert("prefixItems".to_owned(), self.list(items, depth))),
            Some(items) => {
                let items = self.form(items, depth - 1);
                if !items.is_empty() {
                    form.insert("items".to_owned(), items.into());
                }
            }
            None => {}
        }
        if let Some(items) = members.get("prefixItems").and_then(Value::as_array) {
            form.insert("prefixItems".to_owned(), self.list(items, depth));
        }
        if self.depth == Depth::Full {
            self.bounds(members, depth, &mut form);
        }
        form
    }

    fn list(&mut self, items: &'a [Value], depth: usize) -> Value {
        items.iter().map(|item| Value::from(self.form(item, depth - 1))).collect()
    }

    fn bounds(&mut self, members: &'a Map<String, Value>, depth: usize, form: &mut Map<String, Value>) {
        for name in BOUNDS {
            match members.get(name) {
                None | Some(Value::Null) => {}
                Some(Value::String(text)) => drop(form.insert(name.to_owned(), text.trim().into())),
                // 1 and 1.0 are one bound.
                Some(Value::Number(number)) => drop(form.insert(name.to_owned(), json!(number.as_f64()))),
                Some(other) => drop(form.insert(name.to_owned(), other.clone())),
            }
        }
        match members.get("additionalProperties") {
            Some(Value::Bool(false)) => drop(form.insert("additionalProperties".to_owned(), false.into())),
            Some(schema @ Value::Object(_)) => {
                let inner = self.form(schema, depth - 1);
                if !inner.is_empty() {
                    form.insert("additionalProperties".to_owned(), inner.into());
                }
            }
            _ => {}
        }
    }
}

/// One of several forms; null among them is one more type of the others.
fn one_of(parts: Vec<Map<String, Value>>) -> Map<String, Value> {
    let is_null = |part: &Map<String, Value>| part.len() == 1 && part.get("types") == Some(&json!(["null"]));
    let (nulls, mut others): (Vec<_>, Vec<_>) = parts.into_iter().partition(is_null);
    let is_bare = |part: &Map<String, Value>| part.len() == 1 && part.contains_key("types");
    if others.len() > 1 && others.iter().all(is_bare) {
        let types = others.iter().filter_map(|part| part["types"].as_array()).flatten().cloned().collect();
        others = vec![Map::from_iter([("types".to_owned(), sorted(types))])];
    }
    let mut form = match others.len() {
        0 => Map::new(),
        1 => others.remove(0),
        _ => {
            let others = others.into_iter().map(Value::from).collect();
            Map::from_iter([("any".to_owned(), sorted(others))])
        }
    };
    if !nulls.is_empty() {
        let mut types: Vec<Value> = form.get("types").and_then(Value::as_array).cloned().unwrap_or_default();
        types.push("null".into());
        form.insert("types".to_owned(), sorted(types));
    }
    form
}

/// Adds what must hold, too.
fn add(form: &mut Map<String, Value>, more: Map<String, Value>) {
    for (name, value) in more {
        match (form.get_mut(&name), value) {
            (Some(Value::Object(known)), Value::Object(new)) => known.extend(new),
            (Some(Value::Array(known)), Value::Array(new)) if name == "required" || name == "types" => {
                let mut all = std::mem::take(known);
                all.extend(new);
                if let Value::Array(all) = sorted(all) {
                    *known = all;
                }
            }
            (_, value) => drop(form.insert(name, value)),
        }
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A set, in one order.
fn sorted(mut values: Vec<Value>) -> Value {
    values.sort_by_cached_key(Value::to_string);
    values.dedup();
    values.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[allow(clippy::needless_pass_by_value, reason = "it is written where it is given")]
    fn of(inner: Value) -> Value {
        json!({"type": "object", "properties": {"a": inner}})
    }

    #[test]
    fn schemas_that_say_the_same_are_the_same() {
        let text = json!({"type": "string"});
        let reference =
            json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/t"}}, "$defs": {"t": {"type": "string"}}});
        for (one, other) in [
            (reference, of(text.clone())),
            (of(json!({"anyOf": [{"type": "string"}, {"type": "null"}]})), of(json!({"type": ["string", "null"]}))),
            (
                of(json!({"anyOf": [{"type": "string"}, {"type": "null"}]})),
                of(json!({"type": "string", "nullable": true})),
            ),
            (
                of(json!({"oneOf": [{"enum": ["x", "y"]}, {"type": "null"}]})),
                of(json!({"type": ["null", "string"], "enum": ["y", "x", null]})),
            ),
            (of(json!({"const": "x"})), of(json!({"type": "string", "enum": ["x"]}))),
            (of(json!({"allOf": [text]})), of(json!({"type": "string", "title": "A"}))),
            (json!({"type": "object", "properties": {}, "required": [], "$defs": {}}), json!({"type": "object"})),
            (json!({"properties": {"a": text}}), of(json!({"type": "string"}))),
            (json!({}), json!({"type": "object", "additionalProperties": true, "$schema": "x"})),
            (of(json!({"minimum": 1, "type": "integer"})), of(json!({"type": "integer", "minimum": 1.0}))),
        ] {
            for depth in [Depth::Shape, Depth::Full] {
                assert_eq!(canonical(Some(&one), depth), canonical(Some(&other), depth), "{one} {other}");
            }
        }
        assert_eq!(canonical(None, Depth::Full), canonical(Some(&json!({"type": "object"})), Depth::Full));
    }

    #[test]
    fn what_another_schema_says_is_seen() {
        let text = of(json!({"type": "string"}));
        for other in [
            of(json!({})),
            of(json!({"type": "integer"})),
            of(json!({"type": ["string", "null"]})),
            of(json!({"type": "string", "enum": ["x"]})),
            json!({"type": "object", "properties": {"b": {"type": "string"}}}),
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}),
            json!({"type": "object"}),
        ] {
            assert_ne!(canonical(Some(&text), Depth::Shape), canonical(Some(&other), Depth::Shape), "{other}");
        }
        for other in [
            of(json!({"type": "string", "description": "d"})),
            of(json!({"type": "string", "maxLength": 3})),
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false}),
        ] {
            assert_eq!(canonical(Some(&text), Depth::Shape), canonical(Some(&other), Depth::Shape), "{other}");
            assert_ne!(canonical(Some(&text), Depth::Full), canonical(Some(&other), Depth::Full), "{other}");
        }
    }

    #[test]
    fn references_that_lead_round_end() {
        let node = json!({"$ref": "#/$defs/n", "$defs": {"n": {"type": "object", "properties": {"l": {"$ref": "#/$defs/n"}, "r": {"$ref": "#/$defs/n"}}}}});
        assert_eq!(canonical(Some(&node), Depth::Full)["properties"]["l"]["recursive"], true);
    }
}
