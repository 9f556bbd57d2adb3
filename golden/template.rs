//! The compact form of large inputs and expectations: `golden/README.md` describes it.
//!
//! A template is read once, to [`Segment`]s that hold JSON text as far as it is the same each time. Writing them costs little more than
//! copying the result.

use crate::Error;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::rc::Rc;

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
    json(template, u64::MAX).map_err(Error::new)
}

/// Expands a template, but each repetition at most once: enough to see what a case is about, at the cost of a small case.
///
/// # Errors
///
/// Says which form is malformed.
pub fn outline(template: &Value) -> Result<String, Error> {
    json(template, 1).map_err(Error::new)
}

fn json(template: &Value, most: u64) -> Result<String, String> {
    let segments = TemplateReader::default().whole(template)?;
    let mut expansion = Expansion { json: Vec::new(), most, numbers: Vec::new(), names: Vec::new(), budget: BUDGET };
    expansion.write(&segments)?;
    Ok(String::from_utf8(expansion.json).expect("only JSON was written"))
}

/// The texts of `each` for a letter, as JSON writes them.
type EachTexts = Rc<[Vec<u8>]>;

/// A segment of a template, with its texts as JSON writes them.
enum Segment {
    /// Text that no repetition changes.
    Text(Vec<u8>),
    /// A comma, except before the first element or member.
    Comma,
    /// `{10n+3}`, with the running number of the repetition that is so far outside.
    Running { depth: usize, factor: u64, summand: u64 },
    /// The text that `each` gives for this turn of the repetition that is so far outside.
    Each { depth: usize, texts: EachTexts },
    /// The number that these segments spell.
    Number(Vec<Segment>),
    /// The name of a member, between quotes.
    Name(Vec<Segment>),
    /// An object that has no name twice.
    Members(Vec<Segment>),
    /// The body, for each number below what `times` spells.
    Repeat { times: Vec<Segment>, body: Vec<Segment> },
}

/// A repetition around what is read.
struct Around {
    letter: char,
    each: Vec<(char, EachTexts)>,
}

/// Reads a template.
#[derive(Default)]
struct TemplateReader {
    segments: Vec<Segment>,
    /// The innermost last.
    around: Vec<Around>,
}

/// Reads an element, which is still a template.
type Taker<'a> = &'a dyn Fn(&mut TemplateReader, &Value) -> Result<(), String>;

impl TemplateReader {
    fn whole(mut self, template: &Value) -> Result<Vec<Segment>, String> {
        self.value(template)?;
        Ok(self.segments)
    }

    /// The segments that a step adds, apart from the others.
    fn apart<T>(&mut self, step: impl FnOnce(&mut Self) -> T) -> (Vec<Segment>, T) {
        let before = std::mem::take(&mut self.segments);
        let result = step(self);
        (std::mem::replace(&mut self.segments, before), result)
    }

    fn push(&mut self, json: &[u8]) {
        match self.segments.last_mut() {
            Some(Segment::Text(text)) => text.extend_from_slice(json),
            _ => self.segments.push(Segment::Text(json.to_vec())),
        }
    }

    fn value(&mut self, template: &Value) -> Result<(), String> {
        match template {
            Value::String(text) => {
                self.quoted_text(text);
                Ok(())
            }
            Value::Array(elements) => {
                self.push(b"[");
                self.elements(elements, &|reader, element| {
                    reader.segments.push(Segment::Comma);
                    reader.value(element)
                })?;
                self.push(b"]");
                Ok(())
            }
            Value::Object(members) => self.object(members),
            scalar => {
                self.push(&written(scalar));
                Ok(())
            }
        }
    }

    fn quoted_text(&mut self, text: &str) {
        self.push(b"\"");
        self.text(text);
        self.push(b"\"");
    }

    fn segments_of(&mut self, text: &str) -> Vec<Segment> {
        self.apart(|reader| reader.text(text)).0
    }

    fn object(&mut self, members: &Map<String, Value>) -> Result<(), String> {
        if members.contains_key("repeat") {
            return Err("`repeat` belongs in an array or in `concat`".to_owned());
        }
        match members.iter().next() {
            Some((name, Value::String(number))) if members.len() == 1 && name == "number" => {
                let number = self.segments_of(number);
                self.segments.push(Segment::Number(number));
            }
            Some((name, Value::Array(parts))) if members.len() == 1 && name == "concat" => {
                self.push(b"\"");
                self.concatenation(parts)?;
                self.push(b"\"");
            }
            Some((name, Value::Array(pairs))) if members.len() == 1 && name == "members" => {
                let (members, read) = self.apart(|reader| reader.members(pairs));
                read?;
                self.segments.push(Segment::Members(members));
            }
            _ => {
                self.push(b"{");
                for (name, value) in members {
                    self.segments.push(Segment::Comma);
                    self.quoted_text(name);
                    self.push(b":");
                    self.value(value)?;
                }
                self.push(b"}");
            }
        }
        Ok(())
    }

    fn concatenation(&mut self, parts: &[Value]) -> Result<(), String> {
        self.elements(parts, &|reader, part| reader.string(part, "`concat` takes strings only"))
    }

    /// Reads what represents a string, without its quotes. Anything else is an error in these words.
    fn string(&mut self, template: &Value, error: &str) -> Result<(), String> {
        match template {
            Value::String(text) => {
                self.text(text);
                Ok(())
            }
            Value::Object(members) if members.len() == 1 => match members.get("concat") {
                Some(Value::Array(parts)) => self.concatenation(parts),
                _ => Err(error.to_owned()),
            },
            _ => Err(error.to_owned()),
        }
    }

    fn members(&mut self, pairs: &[Value]) -> Result<(), String> {
        const WRONG: &str = "`members` takes pairs of a name and a value";
        self.elements(pairs, &|reader, pair| {
            let Some([name, value]) = pair.as_array().map(Vec::as_slice) else { return Err(WRONG.to_owned()) };
            let (name, read) = reader.apart(|reader| reader.string(name, WRONG));
            read?;
            reader.segments.extend([Segment::Comma, Segment::Name(name)]);
            reader.push(b":");
            reader.value(value)
        })
    }

    /// Reads elements, some of which are repeated.
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
        let letter = members.get("as").map_or(Some('n'), |name| letter(name.as_str()?));
        let letter = letter.ok_or("`as` is one letter from a to z")?;
        let each =
            members.get("each").map_or(Some(Vec::new()), texts).ok_or("`each` gives a list of texts per letter")?;
        let times = match (members.get("times"), each.first()) {
            (None, Some((_, texts))) => vec![Segment::Text(texts.len().to_string().into_bytes())],
            (Some(Value::String(times)), None) => self.segments_of(times),
            (Some(times), None) if times.is_u64() => vec![Segment::Text(written(times))],
            (Some(_), None) => return Err("`times` is not a number".to_owned()),
            _ => return Err("`repeat` goes with either `times` or `each`".to_owned()),
        };
        if each.windows(2).any(|lists| lists[0].1.len() != lists[1].1.len()) {
            return Err("the lists of `each` differ in length".to_owned());
        }
        self.around.push(Around { letter, each });
        let (body, read) = self.apart(|reader| reader.elements(elements, take));
        self.around.pop();
        read?;
        self.segments.push(Segment::Repeat { times, body });
        Ok(())
    }

    /// Reads a text with its placeholders.
    fn text(&mut self, template: &str) {
        let mut rest = template;
        while let Some(at) = rest.find('{') {
            self.push(escaped(&rest[..at]).as_bytes());
            rest = &rest[at..];
            let length = if let Some((segment, length)) = self.placeholder(rest) {
                self.segments.push(segment);
                length
            } else {
                self.push(b"{");
                1
            };
            rest = &rest[length..];
        }
        self.push(escaped(rest).as_bytes());
    }

    /// Reads `{n}`, `{n+1}` or `{10n+3}`, and returns how long the placeholder is.
    fn placeholder(&self, rest: &str) -> Option<(Segment, usize)> {
        let (inside, _) = rest[1..].split_once('}')?;
        let at = inside.find(|c: char| !c.is_ascii_digit())?;
        let variable = inside[at..].chars().next()?;
        let length = inside.len() + 2;
        for (depth, around) in self.around.iter().enumerate().rev() {
            if let Some((_, texts)) = around.each.iter().rev().find(|(name, _)| *name == variable) {
                return (inside.len() == 1).then(|| (Segment::Each { depth, texts: Rc::clone(texts) }, length));
            }
            if around.letter == variable {
                let factor = if at == 0 { 1 } else { inside[..at].parse().ok()? };
                let summand = match &inside[at + 1..] {
                    "" => 0,
                    more => more
                        .strip_prefix('+')
                        .filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()))?
                        .parse()
                        .ok()?,
                };
                return Some((Segment::Running { depth, factor, summand }, length));
            }
        }
        None
    }
}

/// Writes the segments of a template.
struct Expansion {
    /// The result so far.
    json: Vec<u8>,
    /// Nothing is repeated more often than this.
    most: u64,
    /// The running numbers of the repetitions around, the innermost last.
    numbers: Vec<u64>,
    /// The names of the objects around that have no name twice, the innermost last.
    names: Vec<HashSet<Vec<u8>>>,
    /// How many turns may follow.
    budget: usize,
}

impl Expansion {
    fn write(&mut self, segments: &[Segment]) -> Result<(), String> {
        for segment in segments {
            match segment {
                Segment::Text(text) => self.json.extend_from_slice(text),
                Segment::Comma => {
                    if !matches!(self.json.last(), Some(b'[' | b'{')) {
                        self.json.push(b',');
                    }
                }
                Segment::Running { depth, factor, summand } => {
                    let number = self.numbers[*depth].checked_mul(*factor).and_then(|n| n.checked_add(*summand));
                    self.number(number.ok_or("a running number is too large")?);
                }
                Segment::Each { depth, texts } => {
                    let text = usize::try_from(self.numbers[*depth]).ok().and_then(|number| texts.get(number));
                    self.json.extend_from_slice(text.map_or(&[], Vec::as_slice));
                }
                Segment::Number(segments) => {
                    let number = self.spelt(segments)?;
                    let number = number.parse().map_err(|_| format!("`{number}` is not a number"))?;
                    self.number(number);
                }
                Segment::Name(segments) => {
                    let start = self.json.len();
                    self.json.push(b'"');
                    self.write(segments)?;
                    self.json.push(b'"');
                    let name = &self.json[start..];
                    if self.names.last_mut().is_some_and(|names| !names.insert(name.to_vec())) {
                        return Err(format!("`members` names {} twice", String::from_utf8_lossy(name)));
                    }
                }
                Segment::Members(pairs) => {
                    self.json.push(b'{');
                    self.names.push(HashSet::new());
                    self.write(pairs)?;
                    self.names.pop();
                    self.json.push(b'}');
                }
                Segment::Repeat { times, body } => self.repeat(times, body)?,
            }
        }
        Ok(())
    }

    fn repeat(&mut self, times: &[Segment], body: &[Segment]) -> Result<(), String> {
        let times: u64 = self.spelt(times)?.parse().map_err(|_| "`times` is not a number")?;
        let start = self.json.len();
        let depth = self.numbers.len();
        for number in 0..times.min(self.most) {
            self.budget = self
                .budget
                .checked_sub(1)
                .filter(|_| self.json.len() <= BUDGET)
                .ok_or("it expands to more than 64 MiB")?;
            self.numbers.push(number);
            self.write(body)?;
            self.numbers.truncate(depth);
            if number == 0 && depth == 0 {
                // Most of the other turns are as long as the first, up to the digits of a number.
                let turn = (self.json.len() - start)
                    .saturating_mul(usize::try_from(times.min(self.most) - 1).unwrap_or(usize::MAX));
                self.json.reserve(turn.saturating_add(turn / 8).min(BUDGET));
            }
        }
        Ok(())
    }

    /// Returns what the segments spell; the result stays as it was.
    fn spelt(&mut self, segments: &[Segment]) -> Result<String, String> {
        let start = self.json.len();
        self.write(segments)?;
        Ok(String::from_utf8_lossy(&self.json.split_off(start)).into_owned())
    }

    fn number(&mut self, number: u64) {
        serde_json::to_writer(&mut self.json, &number).expect("JSON is written to memory");
    }
}

fn written(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("JSON is written to memory")
}

/// A text as JSON writes it, without its quotes.
fn escaped(text: &str) -> String {
    let quoted = serde_json::to_string(text).expect("JSON is written to memory");
    quoted[1..quoted.len() - 1].to_owned()
}

/// The name of a variable.
fn letter(name: &str) -> Option<char> {
    name.chars().next().filter(|letter| letter.is_ascii_lowercase() && name.len() == 1)
}

/// The texts of `each`, for each of its letters.
fn texts(each: &Value) -> Option<Vec<(char, EachTexts)>> {
    let list = |texts: &Value| -> Option<EachTexts> {
        texts.as_array()?.iter().map(|text| text.as_str().map(|text| escaped(text).into_bytes())).collect()
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
