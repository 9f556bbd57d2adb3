//! The compact form of large inputs and expectations: `golden/README.md` describes it.

use crate::Error;
use serde::Serialize;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write;

/// A template may expand to about this many bytes; more is a mistake.
const BUDGET: usize = 64 << 20;

/// Expands a template: `{"repeat": […], "times": N}` and `{"repeat": […], "each": {…}}` in an array, `{"concat": […]}` for a
/// string, `{"members": […]}` for an object, `{"number": "{n}"}` for a number, and `{n}`, `{n+1}`, `{10n+3}` in the strings of
/// what is repeated.
///
/// The result is JSON text on one line, as `JSON.stringify` writes it.
///
/// # Errors
///
/// Says which form is malformed, or that the result would be larger than 64 MiB.
///
/// ```
/// use serde_json::json;
/// use threadspec_golden::expand;
/// let events = json!([{"repeat": [{"content": "text {2n+1}", "iteration": {"number": "{n}"}}], "times": 2}]);
/// let expanded = r#"[{"content":"text 1","iteration":0},{"content":"text 3","iteration":1}]"#;
/// assert_eq!(expand(&events)?, expanded);
/// assert_eq!(expand(&json!({"concat": ["<", {"repeat": ["{n},"], "times": 3}, ">"]}))?, r#""<0,1,2,>""#);
/// # Ok::<(), threadspec_golden::Error>(())
/// ```
pub fn expand(template: &Value) -> Result<String, Error> {
    Expansion::new(u64::MAX).json(template).map_err(Error::new)
}

/// Expands a template, but each repetition at most once: enough to see what a case is about, at the cost of a small case.
///
/// # Errors
///
/// Says which form is malformed.
pub fn outline(template: &Value) -> Result<String, Error> {
    Expansion::new(1).json(template).map_err(Error::new)
}

struct Expansion {
    /// The result so far.
    json: Vec<u8>,
    /// Nothing is repeated more often than this.
    most: u64,
    /// The variables of the enclosing repetitions, the innermost last.
    variables: Vec<(char, Variable)>,
    budget: usize,
}

/// Takes an element, which is still a template.
type Taker<'a> = &'a mut dyn FnMut(&mut Expansion, &Value) -> Result<(), String>;

#[derive(Clone)]
enum Variable {
    Number(u64),
    Text(String),
}

impl Expansion {
    fn new(most: u64) -> Self {
        Self { json: Vec::new(), most, variables: Vec::new(), budget: BUDGET }
    }

    fn json(mut self, template: &Value) -> Result<String, String> {
        self.value(template)?;
        Ok(String::from_utf8(self.json).expect("only JSON was written"))
    }

    fn spend(&mut self, bytes: usize) -> Result<(), String> {
        self.budget = self.budget.checked_sub(bytes + 1).ok_or("it expands to more than 64 MiB")?;
        Ok(())
    }

    fn value(&mut self, template: &Value) -> Result<(), String> {
        match template {
            Value::String(text) => {
                let text = self.text(text)?;
                self.write(&text);
            }
            Value::Array(elements) => {
                self.json.push(b'[');
                self.elements(elements, &mut |expansion, element| {
                    expansion.separate();
                    expansion.value(element)
                })?;
                self.json.push(b']');
            }
            Value::Object(members) => self.object(members)?,
            scalar => {
                self.spend(4)?;
                self.write(scalar);
            }
        }
        Ok(())
    }

    fn write(&mut self, value: &impl Serialize) {
        serde_json::to_writer(&mut self.json, value).expect("JSON is written to memory");
    }

    /// Writes a comma, except before the first element or member.
    fn separate(&mut self) {
        if !matches!(self.json.last(), Some(b'[' | b'{')) {
            self.json.push(b',');
        }
    }

    fn member(&mut self, name: &str, value: &Value) -> Result<(), String> {
        self.separate();
        self.write(&name);
        self.json.push(b':');
        self.value(value)
    }

    fn object(&mut self, members: &Map<String, Value>) -> Result<(), String> {
        if members.contains_key("repeat") {
            return Err("`repeat` belongs in an array or in `concat`".to_owned());
        }
        match members.iter().next() {
            Some((name, Value::String(number))) if members.len() == 1 && name == "number" => {
                let number = self.text(number)?;
                let number: u64 = number.parse().map_err(|_| format!("`{number}` is not a number"))?;
                self.write(&number);
            }
            Some((name, Value::Array(parts))) if members.len() == 1 && name == "concat" => {
                let text = self.concatenation(parts)?;
                self.write(&text);
            }
            Some((name, Value::Array(pairs))) if members.len() == 1 && name == "members" => self.members(pairs)?,
            _ => {
                self.json.push(b'{');
                for (name, value) in members {
                    let name = self.text(name)?;
                    self.member(&name, value)?;
                }
                self.json.push(b'}');
            }
        }
        Ok(())
    }

    fn concatenation(&mut self, parts: &[Value]) -> Result<String, String> {
        let mut text = String::new();
        self.elements(parts, &mut |expansion, part| match part {
            Value::String(part) => expansion.text_onto(&mut text, part),
            other => {
                text += &expansion.string(other)?.ok_or("`concat` takes strings only")?;
                Ok(())
            }
        })?;
        Ok(text)
    }

    /// The string, if a template represents one.
    fn string<'t>(&mut self, template: &'t Value) -> Result<Option<Cow<'t, str>>, String> {
        match template {
            Value::String(text) => self.text(text).map(Some),
            Value::Object(members) if members.len() == 1 => match members.get("concat") {
                Some(Value::Array(parts)) => self.concatenation(parts).map(|text| Some(text.into())),
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    fn members(&mut self, pairs: &[Value]) -> Result<(), String> {
        let mut names = HashSet::new();
        self.json.push(b'{');
        self.elements(pairs, &mut |expansion, pair| {
            let wrong = || "`members` takes pairs of a name and a value".to_owned();
            let Some([name, value]) = pair.as_array().map(Vec::as_slice) else { return Err(wrong()) };
            let name = expansion.string(name)?.ok_or_else(wrong)?;
            expansion.member(&name, value)?;
            if names.contains(&*name) {
                return Err(format!("`members` names `{name}` twice"));
            }
            names.insert(name.into_owned());
            Ok(())
        })?;
        self.json.push(b'}');
        Ok(())
    }

    /// Hands over each element as often as it is repeated.
    fn elements(&mut self, elements: &[Value], take: Taker<'_>) -> Result<(), String> {
        for element in elements {
            match element.as_object().filter(|members| members.contains_key("repeat")) {
                Some(members) => self.repeat(members, take)?,
                None => take(self, element)?,
            }
        }
        Ok(())
    }

    fn repeat(&mut self, members: &Map<String, Value>, take: Taker<'_>) -> Result<(), String> {
        if let Some(unknown) = members.keys().find(|name| !["repeat", "times", "each", "as"].contains(&name.as_str())) {
            return Err(format!("unknown member `{unknown}` beside `repeat`"));
        }
        let Some(elements) = members["repeat"].as_array().filter(|elements| !elements.is_empty()) else {
            return Err("`repeat` takes the elements to repeat".to_owned());
        };
        let variable = members.get("as").map_or(Some('n'), |name| letter(name.as_str()?));
        let variable = variable.ok_or("`as` is one letter from a to z")?;
        let texts =
            members.get("each").map_or(Some(Vec::new()), texts).ok_or("`each` gives a list of texts per letter")?;
        let times = match (members.get("times"), texts.first()) {
            (None, Some((_, texts))) => Some(texts.len() as u64),
            (Some(Value::String(times)), None) => self.text(times)?.parse().ok(),
            (Some(times), None) => times.as_u64(),
            _ => return Err("`repeat` goes with either `times` or `each`".to_owned()),
        };
        let times = times.ok_or("`times` is not a number")?;
        if texts.iter().any(|(_, texts)| texts.len() as u64 != times) {
            return Err("the lists of `each` differ in length".to_owned());
        }
        let outside = self.variables.len();
        for number in 0..times.min(self.most) {
            self.spend(0)?;
            self.variables.push((variable, Variable::Number(number)));
            let of_this = texts.iter().filter_map(|(name, texts)| {
                let text = usize::try_from(number).ok().and_then(|number| texts.get(number))?;
                Some((*name, Variable::Text(text.clone())))
            });
            self.variables.extend(of_this);
            self.elements(elements, take)?;
            self.variables.truncate(outside);
        }
        Ok(())
    }

    /// A text with its variables replaced.
    fn text<'t>(&mut self, template: &'t str) -> Result<Cow<'t, str>, String> {
        if self.variables.is_empty() || !template.contains('{') {
            self.spend(template.len())?;
            return Ok(template.into());
        }
        let mut text = String::new();
        self.text_onto(&mut text, template)?;
        Ok(text.into())
    }

    fn text_onto(&mut self, text: &mut String, template: &str) -> Result<(), String> {
        let (before, mut rest) = (text.len(), template);
        while let Some(at) = rest.find('{').filter(|_| !self.variables.is_empty()) {
            *text += &rest[..at];
            rest = &rest[at..];
            let length = self.placeholder_onto(text, rest).unwrap_or_else(|| {
                text.push('{');
                1
            });
            rest = &rest[length..];
        }
        *text += rest;
        self.spend(text.len() - before)
    }

    /// Adds what `{n}`, `{n+1}` or `{10n+3}` represents. Returns how long the placeholder is.
    fn placeholder_onto(&self, text: &mut String, rest: &str) -> Option<usize> {
        let (inside, _) = rest[1..].split_once('}')?;
        let at = inside.find(|c: char| !c.is_ascii_digit())?;
        let variable = inside[at..].chars().next()?;
        let number = match &self.variables.iter().rev().find(|(name, _)| *name == variable)?.1 {
            Variable::Text(value) if inside.len() == 1 => {
                *text += value;
                return Some(inside.len() + 2);
            }
            Variable::Text(_) => return None,
            Variable::Number(number) => *number,
        };
        let factor = if at == 0 { 1 } else { inside[..at].parse().ok()? };
        let summand = match &inside[at + 1..] {
            "" => 0,
            more => more.strip_prefix('+').filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()))?.parse().ok()?,
        };
        let number = number.checked_mul(factor)?.checked_add(summand)?;
        write!(text, "{number}").ok()?;
        Some(inside.len() + 2)
    }
}

/// The name of a variable.
fn letter(name: &str) -> Option<char> {
    name.chars().next().filter(|letter| letter.is_ascii_lowercase() && name.len() == 1)
}

/// The texts of `each`, for each of its letters.
fn texts(each: &Value) -> Option<Vec<(char, Vec<String>)>> {
    let list = |texts: &Value| -> Option<Vec<String>> {
        texts.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
    };
    let letters = each.as_object().filter(|letters| !letters.is_empty())?;
    letters.iter().map(|(name, texts)| Some((letter(name)?, list(texts)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn expand(template: &Value) -> Result<Value, Error> {
        super::expand(template).map(|json| serde_json::from_str(&json).expect("JSON"))
    }

    fn outline(template: &Value) -> Result<Value, Error> {
        super::outline(template).map(|json| serde_json::from_str(&json).expect("JSON"))
    }

    #[test]
    fn repetitions_nest_and_their_numbers_count_from_zero() {
        let triangle = json!([{"repeat": [[{"repeat": ["{n}/{m+1}"], "times": "{n+1}", "as": "m"}]], "times": 3}]);
        assert_eq!(expand(&triangle), Ok(json!([["0/1"], ["1/1", "1/2"], ["2/1", "2/2", "2/3"]])));
        assert_eq!(
            expand(&json!([{"repeat": ["a", "b{n}"], "times": 2}, "c"])),
            Ok(json!(["a", "b0", "a", "b1", "c"]))
        );
        assert_eq!(expand(&json!([{"repeat": ["a"], "times": 0}])), Ok(json!([])));
        assert_eq!(
            expand(&json!([{"repeat": [{"k{n}": {"number": "{3n+2}"}}], "times": 2}])),
            Ok(json!([{"k0": 2}, {"k1": 5}]))
        );
    }

    #[test]
    fn each_gives_texts_beside_the_running_number() {
        let pairs = json!([{"repeat": ["{n}{a}{b}{2a}"], "each": {"a": ["x", "{n}"], "b": ["y", ""]}}]);
        assert_eq!(expand(&pairs), Ok(json!(["0xy{2a}", "1{n}{2a}"])));
        assert_eq!(outline(&pairs), Ok(json!(["0xy{2a}"])));
        let members = json!({"members": [["a", 1], {"repeat": [["k{n}", {"number": "{n}"}]], "times": 2}]});
        assert_eq!(expand(&members), Ok(json!({"a": 1, "k0": 0, "k1": 1})));
    }

    #[test]
    fn what_only_looks_like_a_form_is_data() {
        let data = json!({"a": "{n}", "number": 1, "b": {"number": 1}, "c": {"concat": "x"}});
        assert_eq!(expand(&data), Ok(data));
        let text = json!([{"repeat": ["{\"n\":{n}} {m} {n-1} {n+} {}"], "times": 1}]);
        assert_eq!(expand(&text), Ok(json!(["{\"n\":0} {m} {n-1} {n+} {}"])));
    }

    #[test]
    fn malformed_templates_are_refused() {
        for template in [
            json!({"repeat": ["a"], "times": 2}),
            json!([{"repeat": [], "times": 2}]),
            json!([{"repeat": ["a"]}]),
            json!([{"repeat": ["a"], "times": -1}]),
            json!([{"repeat": ["a"], "times": 1, "from": 3}]),
            json!([{"repeat": ["a"], "times": 1, "as": "nn"}]),
            json!({"concat": [1]}),
            json!({"number": "x"}),
            json!({"members": [["a"]]}),
            json!({"members": [[1, 1]]}),
            json!({"members": [["a", 1], ["a", 2]]}),
            json!([{"repeat": ["a"], "each": {}}]),
            json!([{"repeat": ["a"], "each": {"a": "x"}}]),
            json!([{"repeat": ["a"], "each": {"a": ["x"], "b": []}}]),
            json!([{"repeat": ["a"], "times": 1, "each": {"a": ["x"]}}]),
        ] {
            assert!(expand(&template).is_err(), "{template}");
            assert!(outline(&template).is_err(), "{template}");
        }
        assert!(expand(&json!([{"repeat": ["a"], "times": 1_000_000_000}])).is_err(), "more than 64 MiB");
    }

    #[test]
    fn an_outline_has_everything_once() {
        let template =
            json!({"events": [{"repeat": [{"repeat": ["{n}{m}"], "times": 9, "as": "m"}], "times": 1_000_000_000}]});
        assert_eq!(outline(&template), Ok(json!({"events": ["00"]})));
        assert_eq!(outline(&json!([{"repeat": ["a"], "times": 0}])), Ok(json!([])));
    }
}
