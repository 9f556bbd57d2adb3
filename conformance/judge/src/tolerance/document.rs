//! A document taken apart into its elements, to be put as the clauses say.

/// Separates elements. A text cannot hold it: it has no raw `<`.
const BETWEEN: &str = "\n  <event ";
const START: &str = "<thread>";
const END: &str = "\n</thread>";

/// Elements, each without what is before and after it: `type="human" id="0" …>text</event>`.
pub(super) struct Elements(pub(super) Vec<String>);

impl Elements {
    /// None of a text that is no document, or one without elements.
    pub(super) fn read(document: &str) -> Option<Self> {
        let elements = document.strip_prefix(START)?.strip_suffix(END)?.strip_prefix(BETWEEN)?;
        Some(Self(elements.split(BETWEEN).map(str::to_owned).collect()))
    }

    pub(super) fn text(&self) -> String {
        let elements: Vec<String> = self.0.iter().map(|element| format!("{BETWEEN}{element}")).collect();
        format!("{START}{}{END}", elements.concat())
    }
}

/// Changes a number in an attribute of each element.
pub(super) fn renumber(elements: &mut [String], attribute: &str, number: impl Fn(i64) -> i64) {
    for element in elements {
        let Some((start, rest)) = element.split_once(&format!(" {attribute}=\"")) else { continue };
        let Some((value, rest)) = rest.split_once('"') else { continue };
        let Ok(value) = value.parse() else { continue };
        *element = format!("{start} {attribute}=\"{}\"{rest}", number(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_taken_apart_and_put_together() {
        let text = "<thread>\n  <event type=\"ai\" id=\"0\" iteration=\"1\"> id=&quot;1&quot;\n</event>\n  <event type=\"ai\" id=\"1\" iteration=\"2\">\n</thread>\n</event>\n</thread>";
        let mut document = Elements::read(text).expect("a document");
        assert_eq!(document.text(), text);
        renumber(&mut document.0[1..], "id", |id| id + 1);
        assert_eq!(document.text(), text.replace(" id=\"1\"", " id=\"2\""));
        renumber(&mut document.0, "iteration", |number| number - 1);
        assert_eq!(document.0.len(), 2);
        assert!(document.0[0].starts_with("type=\"ai\" id=\"0\" iteration=\"0\">"), "{}", document.0[0]);
        for other in ["<thread>\n</thread>", "", "a"] {
            assert!(Elements::read(other).is_none(), "{other}");
        }
    }
}
