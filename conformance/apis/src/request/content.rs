//! Contents: a text, or a list of parts of which some are texts.

use serde_json::Value;

/// Represents an image, a sound or a file.
pub(super) const OBJECT: char = '\u{fffc}';

/// A part of a content.
pub(super) enum ContentPart<'a> {
    Text(&'a str),
    Refusal(&'a str),
    /// An image, a sound, a file, by its type.
    Object(&'a str),
    /// Another type; empty if there is none.
    Unknown(&'a str),
}

impl<'a> ContentPart<'a> {
    pub(super) fn read(part: &'a Value) -> Self {
        let text = |name: &str| part[name].as_str().unwrap_or_default();
        match text("type") {
            "text" | "input_text" | "output_text" => Self::Text(text("text")),
            "refusal" => Self::Refusal(text("refusal")),
            kind @ ("image_url" | "input_audio" | "file" | "input_image" | "input_file" | "image" | "document"
            | "container_upload" | "search_result") => Self::Object(kind),
            kind => Self::Unknown(kind),
        }
    }
}

/// A content as one text.
#[derive(Default)]
pub(super) struct Joined {
    pub(super) text: String,
    pub(super) refusal: String,
    /// Where in the text a part ends and the next one begins.
    pub(super) seams: Vec<usize>,
    /// The images, in base64, as far as they are in the content itself.
    pub(super) images: Vec<String>,
    /// The notes on content that could not be shown, with the position of its part.
    pub(super) notes: Vec<(usize, String)>,
}

impl Joined {
    pub(super) fn of(content: &Value) -> Self {
        let mut joined = Self::default();
        if let Some(text) = content.as_str() {
            text.clone_into(&mut joined.text);
        }
        for (position, part) in list(content).iter().enumerate() {
            joined.push(position, &ContentPart::read(part));
            joined.images.extend(image(part));
        }
        joined
    }

    pub(super) fn push(&mut self, position: usize, part: &ContentPart<'_>) {
        if matches!(part, ContentPart::Text(_) | ContentPart::Object(_)) && !self.text.is_empty() {
            self.seams.push(self.text.len());
        }
        match *part {
            ContentPart::Text(text) => self.text.push_str(text),
            ContentPart::Refusal(text) => self.refusal.push_str(text),
            ContentPart::Object(kind) => {
                self.text.push(OBJECT);
                self.notes.push((position, format!("`{kind}` is shown as U+FFFC")));
            }
            ContentPart::Unknown(kind) => self.notes.push((position, format!("a part of type `{kind}` is left out"))),
        }
    }

    /// The text and its seams, or else what the model refused with.
    pub(super) fn said(self) -> (String, Vec<usize>) {
        if self.text.is_empty() { (self.refusal, Vec::new()) } else { (self.text, self.seams) }
    }
}

/// The image that a part is, in base64; `None` if it is none, or one that is elsewhere.
pub(super) fn image(part: &Value) -> Option<String> {
    let url = match part["type"].as_str()? {
        "image" if part["source"]["type"] == "base64" => return member_text(&part["source"], "data"),
        "image_url" => part["image_url"]["url"].as_str().or_else(|| part["image_url"].as_str()),
        "input_image" => part["image_url"].as_str(),
        _ => None,
    };
    url?.strip_prefix("data:")?.split_once(";base64,").map(|(_, data)| data.to_owned())
}

pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// A member that is a text.
pub(super) fn member_text(object: &Value, name: &str) -> Option<String> {
    object[name].as_str().map(str::to_owned)
}
