//! The strict reader of documents.
//!
//! The public function of the crate's root, which reads usual documents faster, is in `fast/read.rs`.

use super::escape::is_xml_char;
use crate::Error;
use crate::error::ErrorKind;
use quick_xml::Reader;
use quick_xml::events::Event as Token;
use std::collections::HashSet;

/// A thread document as an XML parser sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// The `event` elements in order.
    pub elements: Vec<Element>,
}

/// One `event` element as an XML parser sees it: references resolved, line ends and attribute white space normalized.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Element {
    /// Name and value in the order of the document; the first is not necessarily `type`.
    pub attributes: Vec<(String, String)>,
    /// The content.
    pub text: String,
}

impl Element {
    /// The value of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(other, _)| other == name).map(|(_, value)| &**value)
    }
}

/// Reads a `<thread>` document back into its elements, as strictly as XML 1.0 asks for: the plain form of
/// [`read_thread`](crate::read_thread), which says more.
///
/// # Errors
/// Those of [`read_thread`](crate::read_thread).
///
/// ```
/// let document = "<thread>\n<event type='human'>a<!-- b --></event></thread>";
/// assert!(threadspec::plain::read_thread(document).unwrap_err().is_not_a_thread());
/// ```
pub fn read_thread(document: &str) -> Result<Document, Error> {
    StrictReader::new(document).read()
}

/// Separates a document from the response prefix behind it: at its first `</thread>`, which no text can contain.
///
/// ```
/// use threadspec::split_response_prefix;
/// assert_eq!(split_response_prefix("<thread>\n</thread>\nI will"), ("<thread>\n</thread>", "\nI will"));
/// ```
pub fn split_response_prefix(text: &str) -> (&str, &str) {
    const END: &str = "</thread>";
    text.split_at(text.find(END).map_or(text.len(), |at| at + END.len()))
}

/// quick-xml cuts the document into tokens; everything that it lets through although XML 1.0 refuses it is checked here.
struct StrictReader<'a> {
    source: &'a str,
    tokens: Reader<&'a [u8]>,
    /// The names of the open elements.
    open: Vec<String>,
    root_seen: bool,
    document: Document,
    /// The first thing that no thread document has. It only counts once the rest is known to be well-formed.
    not_a_thread: Option<Error>,
}

impl<'a> StrictReader<'a> {
    fn new(source: &'a str) -> Self {
        let mut tokens = Reader::from_str(source);
        tokens.config_mut().check_comments = true;
        Self { source, tokens, open: Vec::new(), root_seen: false, document: Document::default(), not_a_thread: None }
    }

    fn read(mut self) -> Result<Document, Error> {
        if let Some((at, character)) = self.source.char_indices().find(|&(_, character)| !is_xml_char(character)) {
            let code = u32::from(character);
            return Err(self.error_at(
                at,
                ErrorKind::NotWellFormed,
                &format!("U+{code:04X} is not a character of XML 1.0"),
            ));
        }
        if self.source.starts_with('\u{feff}') {
            self.foreign("a byte order mark");
        }
        loop {
            match self.tokens.read_event() {
                Err(error) => return Err(self.ill_formed(&error.to_string())),
                Ok(Token::Start(tag)) => self.start(tag.name().0, tag.attributes_raw())?,
                Ok(Token::Empty(tag)) => {
                    self.start(tag.name().0, tag.attributes_raw())?;
                    self.open.pop();
                }
                Ok(Token::End(tag)) => {
                    if self.open.pop().as_deref() != Some(tag.name().0) {
                        return Err(self.ill_formed("end tag without its start tag"));
                    }
                }
                Ok(Token::Text(text)) => self.text(&text)?,
                Ok(Token::GeneralRef(reference)) => {
                    let character = resolve(&reference).map_err(|reason| self.ill_formed(&reason))?;
                    if self.open.is_empty() {
                        return Err(self.ill_formed("a reference outside the root element"));
                    }
                    self.push(character.encode_utf8(&mut [0; 4]), false);
                }
                Ok(Token::CData(text)) => {
                    if self.open.is_empty() {
                        return Err(self.ill_formed("a CDATA section outside the root element"));
                    }
                    self.foreign("a CDATA section");
                    self.push(&text.xml10_content(), false);
                }
                Ok(Token::Comment(_)) => self.foreign("a comment"),
                Ok(Token::PI(instruction)) => {
                    if !is_name(instruction.target()) || instruction.target().eq_ignore_ascii_case("xml") {
                        return Err(self.ill_formed("malformed target of a processing instruction"));
                    }
                    self.namespace(instruction.target())?;
                    self.foreign("a processing instruction");
                }
                Ok(Token::Decl(_)) => return Err(self.unsupported("an XML declaration")),
                Ok(Token::DocType(_)) => return Err(self.unsupported("a document type")),
                Ok(Token::Eof) => break,
            }
        }
        if let Some(name) = self.open.last() {
            return Err(self.ill_formed(&format!("`{name}` is never closed")));
        }
        if !self.root_seen {
            return Err(self.ill_formed("no root element"));
        }
        self.not_a_thread.map_or(Ok(self.document), Err)
    }

    fn start(&mut self, name: &str, attributes: &str) -> Result<(), Error> {
        if !is_name(name) {
            return Err(self.ill_formed(&format!("{name:?} is not an element name")));
        }
        self.namespace(name)?;
        let attributes = parse_attributes(attributes).map_err(|reason| self.ill_formed(&reason))?;
        for (name, _) in &attributes {
            self.namespace(name)?;
        }
        match self.open.len() {
            0 if self.root_seen => return Err(self.ill_formed("a second root element")),
            0 if name != "thread" || !attributes.is_empty() => self.foreign("a root other than `<thread>`"),
            0 => {}
            1 if name == "event" => self.document.elements.push(Element { attributes, text: String::new() }),
            _ => self.foreign(&format!("an element `{name}`")),
        }
        self.root_seen = true;
        self.open.push(name.to_owned());
        Ok(())
    }

    fn text(&mut self, raw: &quick_xml::events::BytesText<'_>) -> Result<(), Error> {
        if raw.contains(']') && raw.contains("]]>") {
            return Err(self.ill_formed("`]]>` in text"));
        }
        let blank = raw.bytes().all(|byte| is_space(byte.into()));
        if self.open.is_empty() && !blank {
            return Err(self.ill_formed("text outside the root element"));
        }
        self.push(&raw.xml10_content(), blank);
        Ok(())
    }

    /// Adds text to the element that is open.
    fn push(&mut self, text: &str, blank: bool) {
        match self.open.len() {
            2 => {
                if let Some(element) = self.document.elements.last_mut() {
                    element.text.push_str(text);
                }
            }
            1 if !blank => self.foreign("text between events"),
            _ => {}
        }
    }

    fn namespace(&self, name: &str) -> Result<(), Error> {
        if name.contains(':') || name == "xmlns" { Err(self.unsupported("a namespace")) } else { Ok(()) }
    }

    fn foreign(&mut self, what: &str) {
        if self.not_a_thread.is_none() {
            self.not_a_thread =
                Some(self.error(ErrorKind::NotAThread, &format!("{what} is not part of a thread document")));
        }
    }

    fn unsupported(&self, what: &str) -> Error {
        self.error(ErrorKind::UnsupportedXml, &format!("{what}, which no thread document has"))
    }

    fn ill_formed(&self, reason: &str) -> Error {
        self.error(ErrorKind::NotWellFormed, reason)
    }

    fn error(&self, kind: ErrorKind, reason: &str) -> Error {
        let at = self.tokens.error_position().max(self.tokens.buffer_position());
        self.error_at(usize::try_from(at).unwrap_or(usize::MAX), kind, reason)
    }

    fn error_at(&self, at: usize, kind: ErrorKind, reason: &str) -> Error {
        let before = self.source.get(..at).unwrap_or(self.source);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Error::new(kind, reason)
            .at_line(before.matches('\n').count() + 1)
            .at_column(before[line_start..].chars().count() + 1)
    }
}

/// The attributes of a start tag, values normalized (XML 1.0, 3.3.3).
fn parse_attributes(mut rest: &str) -> Result<Vec<(String, String)>, String> {
    let mut attributes = Vec::new();
    let mut names = HashSet::new();
    loop {
        let trimmed = rest.trim_start_matches(is_space);
        if trimmed.is_empty() {
            return Ok(attributes);
        }
        if trimmed.len() == rest.len() {
            return Err("no white space before an attribute".to_owned());
        }
        let (name, value) = trimmed.split_once('=').ok_or("an attribute without a value")?;
        let name = name.trim_end_matches(is_space);
        if !is_name(name) {
            return Err(format!("{name:?} is not an attribute name"));
        }
        let value = value.trim_start_matches(is_space);
        let quote = value
            .chars()
            .next()
            .filter(|quote| matches!(quote, '"' | '\''))
            .ok_or("an attribute value without quotes")?;
        let (value, after) = value[1..].split_once(quote).ok_or("an attribute value without its closing quote")?;
        if !names.insert(name) {
            return Err(format!("attribute `{name}` twice"));
        }
        attributes.push((name.to_owned(), normalize(value)?));
        rest = after;
    }
}

pub(crate) fn normalize(value: &str) -> Result<String, String> {
    if !value.bytes().any(|byte| matches!(byte, b'<' | b'&' | b'\t' | b'\n' | b'\r')) {
        return Ok(value.to_owned());
    }
    let mut normalized = String::new();
    let mut rest = value;
    while let Some(character) = rest.chars().next() {
        rest = &rest[character.len_utf8()..];
        match character {
            '<' => return Err("`<` in an attribute value".to_owned()),
            '&' => {
                let (reference, after) = rest.split_once(';').ok_or("`&` that begins no reference")?;
                normalized.push(resolve(reference)?);
                rest = after;
            }
            // A CRLF is one line end, hence one space.
            '\r' if rest.starts_with('\n') => {}
            character if is_space(character) => normalized.push(' '),
            character => normalized.push(character),
        }
    }
    Ok(normalized)
}

/// The character that a reference (without `&` and `;`) represents.
pub(crate) fn resolve(reference: &str) -> Result<char, String> {
    let character = match reference {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let (digits, radix) = match (reference.strip_prefix("#x"), reference.strip_prefix('#')) {
                (Some(digits), _) => (digits, 16),
                (None, Some(digits)) => (digits, 10),
                (None, None) => ("", 10),
            };
            // The standard library's parser would accept a sign.
            let code =
                digits.chars().all(|digit| digit.is_digit(radix)).then(|| u32::from_str_radix(digits, radix).ok());
            code.flatten().and_then(char::from_u32).filter(|&character| is_xml_char(character))
        }
    };
    character
        .ok_or_else(|| format!("`&{};` is not a reference of XML 1.0", reference.chars().take(40).collect::<String>()))
}

/// Production `S`.
pub(crate) fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n')
}

/// Production `Name`.
fn is_name(name: &str) -> bool {
    let start = |character| {
        matches!(character,
            ':' | '_' | 'A'..='Z' | 'a'..='z' | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2ff}'
            | '\u{370}'..='\u{37d}' | '\u{37f}'..='\u{1fff}' | '\u{200c}'..='\u{200d}' | '\u{2070}'..='\u{218f}'
            | '\u{2c00}'..='\u{2fef}' | '\u{3001}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}'
            | '\u{10000}'..='\u{effff}')
    };
    let part = |character| {
        start(character)
            || matches!(character, '-' | '.' | '0'..='9' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}'..='\u{2040}')
    };
    name.starts_with(start) && name.chars().all(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_refuses_is_refused() {
        for document in [
            "",
            " ",
            "text",
            "<thread>",
            "</thread>",
            "<thread></thread",
            "<thread></Thread>",
            "<thread></thread><thread/>",
            "<thread></thread>text",
            "<thread></thread>&amp;",
            "<thread><![CDATA[x]]></thread><![CDATA[x]]>",
            "<thread>&</thread>",
            "<thread>& amp;</thread>",
            "<thread>&nbsp;</thread>",
            "<thread>&#0;</thread>",
            "<thread>&#x1b;</thread>",
            "<thread>&#+65;</thread>",
            "<thread>&#xD800;</thread>",
            "<thread>&#;</thread>",
            "<thread>\u{1b}</thread>",
            "<thread>\u{ffff}</thread>",
            "<thread>]]></thread>",
            "<thread><event type=\"a\" type=\"b\"></event></thread>",
            "<thread><event type=\"a\"id=\"b\"></event></thread>",
            "<thread><event type=\"<\"></event></thread>",
            "<thread><event type=\"&\"></event></thread>",
            "<thread><event type=a></event></thread>",
            "<thread><event type></event></thread>",
            "<thread><event 1=\"a\"></event></thread>",
            "<thread><1></1></thread>",
            "<thread>< event></event></thread>",
            "<thread><event/ ></thread>",
            "<thread><event></ event></thread>",
            "<thread><event></thread></event>",
            "<thread><!-- a -- b --></thread>",
            "<thread><!-- a ---></thread>",
            "<thread><?xML a?></thread>",
            "<thread><? a?></thread>",
            "<?pi<a?><thread/>",
        ] {
            let error = read_thread(document).expect_err(document);
            assert!(error.is_not_well_formed(), "{document:?}: {error}");
        }
    }

    #[test]
    fn what_xml_accepts_and_no_thread_has_is_refused_as_such() {
        for document in [
            "<other></other>",
            "<thread a=\"b\"></thread>",
            "<thread>text</thread>",
            "<thread><other/></thread>",
            "<thread><event><b/></event></thread>",
            "<thread><event><event/></event></thread>",
            "<thread><event><!-- a --></event></thread>",
            "<thread><event><![CDATA[a]]></event></thread>",
            "<thread><?a b?></thread>",
            "\u{feff}<thread></thread>",
        ] {
            let error = read_thread(document).expect_err(document);
            assert!(error.is_not_a_thread(), "{document:?}: {error}");
        }
        for document in ["<?xml version=\"1.0\"?><thread/>", "<!DOCTYPE a><thread/>", "<thread xmlns=\"a\"/>", "<a:b/>"]
        {
            let error = read_thread(document).expect_err(document);
            assert!(error.is_unsupported_xml(), "{document:?}: {error}");
        }
    }

    #[test]
    fn a_parser_normalizes_and_resolves() {
        let document = read_thread(
            "<thread>\n <event a='&lt;\t\r\n\n&#9;&#13;>' >\r\n1\r2\r&#13;&#x1F600;&amp;amp;</event>\n<event/></thread>\n",
        );
        let elements = document.expect("the document is well-formed").elements;
        assert_eq!(elements.len(), 2);
        assert_eq!(elements[0].attribute("a"), Some("<   \t\r>"));
        assert_eq!(elements[0].text, "\n1\n2\n\r😀&amp;");
        assert_eq!(elements[1], Element::default());
    }

    #[test]
    fn an_error_says_where() {
        let error = read_thread("<thread>\n  é\u{8}</thread>").expect_err("U+0008 is forbidden");
        assert_eq!(error.to_string(), "line 2, column 4: U+0008 is not a character of XML 1.0");
    }
}
