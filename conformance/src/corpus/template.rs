//! The compact form of large inputs and expectations: `golden/README.md` describes it.

use serde_json::{Map, Value};

/// What a template expands to may have so many bytes of text, roughly; more is a mistake.
const BUDGET: usize = 64 << 20;

/// Expands a template: `{"repeat": […], "times": N}` in an array, `{"concat": […]}` for a string, `{"number": "{n}"}` for a
/// number, and `{n}`, `{n+1}`, `{10n+3}` in the strings of what is repeated.
///
/// # Errors
///
/// Says which form is malformed, or that the result would be larger than anybody wants.
///
/// ```
/// use serde_json::json;
/// use threadspec_conformance::corpus::template::expand;
/// let events = json!([{"repeat": [{"content": "text {2n+1}", "iteration": {"number": "{n}"}}], "times": 2}]);
/// let expanded = json!([{"content": "text 1", "iteration": 0}, {"content": "text 3", "iteration": 1}]);
/// assert_eq!(expand(&events), Ok(expanded));
/// assert_eq!(expand(&json!({"concat": ["<", {"repeat": ["{n},"], "times": 3}, ">"]})), Ok(json!("<0,1,2,>")));
/// ```
pub fn expand(template: &Value) -> Result<Value, String> {
    Expansion { variables: Vec::new(), budget: BUDGET }.value(template)
}

struct Expansion {
    /// The running numbers of the repetitions around, the innermost last.
    variables: Vec<(char, u64)>,
    budget: usize,
}

impl Expansion {
    fn spend(&mut self, bytes: usize) -> Result<(), String> {
        self.budget = self.budget.checked_sub(bytes + 1).ok_or("it expands to more than 64 MiB")?;
        Ok(())
    }

    fn value(&mut self, template: &Value) -> Result<Value, String> {
        match template {
            Value::String(text) => self.text(text).map(Value::String),
            Value::Array(elements) => self.elements(elements).map(Value::Array),
            Value::Object(members) => self.object(members),
            scalar => {
                self.spend(4)?;
                Ok(scalar.clone())
            }
        }
    }

    fn object(&mut self, members: &Map<String, Value>) -> Result<Value, String> {
        if members.contains_key("repeat") {
            return Err("`repeat` stands in an array or in `concat`".to_owned());
        }
        match members.iter().next() {
            Some((name, Value::String(number))) if members.len() == 1 && name == "number" => {
                let number = self.text(number)?;
                number.parse::<u64>().map(Value::from).map_err(|_| format!("`{number}` is not a number"))
            }
            Some((name, Value::Array(parts))) if members.len() == 1 && name == "concat" => {
                let mut text = String::new();
                for part in self.elements(parts)? {
                    text += part.as_str().ok_or("`concat` takes strings only")?;
                }
                Ok(text.into())
            }
            _ => members.iter().map(|(key, value)| Ok((self.text(key)?, self.value(value)?))).collect(),
        }
    }

    fn elements(&mut self, elements: &[Value]) -> Result<Vec<Value>, String> {
        let mut expanded = Vec::new();
        for element in elements {
            match element.as_object().filter(|members| members.contains_key("repeat")) {
                Some(members) => self.repeat(members, &mut expanded)?,
                None => expanded.push(self.value(element)?),
            }
        }
        Ok(expanded)
    }

    fn repeat(&mut self, members: &Map<String, Value>, expanded: &mut Vec<Value>) -> Result<(), String> {
        if let Some(unknown) = members.keys().find(|name| !["repeat", "times", "as"].contains(&name.as_str())) {
            return Err(format!("unknown member `{unknown}` beside `repeat`"));
        }
        let Some(elements) = members["repeat"].as_array().filter(|elements| !elements.is_empty()) else {
            return Err("`repeat` takes the elements to repeat".to_owned());
        };
        let times = match members.get("times") {
            Some(Value::String(times)) => self.text(times)?.parse().ok(),
            Some(times) => times.as_u64(),
            None => None,
        };
        let times = times.ok_or("`times` is not a number")?;
        let variable = match members.get("as").map(Value::as_str) {
            None => 'n',
            Some(Some(name)) if name.len() == 1 && name.bytes().all(|byte| byte.is_ascii_lowercase()) => {
                name.chars().next().unwrap_or('n')
            }
            Some(_) => return Err("`as` is one letter from a to z".to_owned()),
        };
        for number in 0..times {
            self.spend(0)?;
            self.variables.push((variable, number));
            let elements = self.elements(elements)?;
            self.variables.pop();
            expanded.extend(elements);
        }
        Ok(())
    }

    /// A text with the running numbers in it.
    fn text(&mut self, template: &str) -> Result<String, String> {
        let mut text = String::new();
        let mut rest = template;
        while let Some(at) = rest.find('{').filter(|_| !self.variables.is_empty()) {
            text += &rest[..at];
            rest = &rest[at..];
            let length = if let Some((number, length)) = self.placeholder(rest) {
                text += &number.to_string();
                length
            } else {
                text.push('{');
                1
            };
            rest = &rest[length..];
        }
        text += rest;
        self.spend(text.len())?;
        Ok(text)
    }

    /// The number that `{n}`, `{n+1}` or `{10n+3}` stands for, and how long the placeholder is.
    fn placeholder(&self, text: &str) -> Option<(u64, usize)> {
        let (inside, _) = text[1..].split_once('}')?;
        let at = inside.find(|c: char| !c.is_ascii_digit())?;
        let variable = inside[at..].chars().next()?;
        let (_, number) = self.variables.iter().rev().find(|(name, _)| *name == variable)?;
        let factor = if at == 0 { 1 } else { inside[..at].parse().ok()? };
        let summand = match &inside[at + 1..] {
            "" => 0,
            more => more.strip_prefix('+').filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()))?.parse().ok()?,
        };
        Some((number.checked_mul(factor)?.checked_add(summand)?, inside.len() + 2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
            json!([{"repeat": ["a"], "times": 1_000_000_000}]),
            json!({"concat": [1]}),
            json!({"number": "x"}),
        ] {
            assert!(expand(&template).is_err(), "{template}");
        }
    }
}
