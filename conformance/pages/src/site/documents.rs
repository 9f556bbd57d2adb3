//! Collects documents: some, and all others to which they lead.

use crate::site::paths::{is_outside, joined};
use pulldown_cmark::{Event, Options, Parser, Tag};
use std::collections::BTreeMap;

/// The Markdown documents of a repository, by their paths, with the pictures that they show and the pages of HTML that they lead to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Documents {
    pub(super) texts: BTreeMap<String, String>,
    pub(super) pictures: BTreeMap<String, Vec<u8>>,
    pub(super) pages: BTreeMap<String, String>,
    /// The documents that no file holds, each with the file of data that it was made from.
    pub(super) made_from: BTreeMap<String, String>,
}

impl Documents {
    /// These documents, those that they lead to, and so on. `read` gives the content of a file of the repository, and nothing for a folder.
    ///
    /// ```
    /// use threadspec_pages::Documents;
    ///
    /// let read = |path: &str| match path {
    ///     "README.md" => Some(b"[guide](guide/README.md#begin)".to_vec()),
    ///     "guide/README.md" => Some(b"# Guide".to_vec()),
    ///     _ => None,
    /// };
    /// assert_eq!(Documents::from(&["README.md"], read).paths().collect::<Vec<_>>(), ["README.md", "guide/README.md"]);
    /// ```
    pub fn from(roots: &[&str], read: impl Fn(&str) -> Option<Vec<u8>>) -> Self {
        let mut documents = Self::default();
        let mut open: Vec<String> = roots.iter().map(|&root| root.to_owned()).collect();
        while let Some(path) = open.pop() {
            if documents.texts.contains_key(&path) {
                continue;
            }
            let Some(text) = read(&path).and_then(|text| String::from_utf8(text).ok()) else { continue };
            let (leads_to, shows) = named(&text);
            for link in leads_to {
                let file = joined(&path, link.split('#').next().unwrap_or_default());
                match file.rsplit_once('.') {
                    Some((_, "md")) => open.push(file),
                    Some((_, "html")) => {
                        let text = read(&file).and_then(|text| String::from_utf8(text).ok());
                        documents.pages.extend(text.map(|text| (file, text)));
                    }
                    _ => open.push(format!("{file}/README.md")),
                }
            }
            for picture in shows {
                let file = joined(&path, &picture);
                documents.pictures.extend(read(&file).map(|content| (file, content)));
            }
            documents.texts.insert(path, text);
        }
        documents
    }

    /// Adds a document that no file holds, with the file of data that it was made from. Other documents link to its page by the address of
    /// the site.
    #[must_use]
    pub fn with_made(mut self, path: String, made_from: String, text: String) -> Self {
        self.texts.insert(path.clone(), text);
        self.with_source(path, made_from)
    }

    /// Names the file or folder of data that a document was made from.
    #[must_use]
    pub fn with_source(mut self, path: String, made_from: String) -> Self {
        self.made_from.insert(path, made_from);
        self
    }

    /// Returns the paths of the documents, in order.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.texts.keys().map(String::as_str)
    }
}

/// The files that a document leads to, and the pictures that it shows.
fn named(text: &str) -> (Vec<String>, Vec<String>) {
    let (mut leads_to, mut shows) = (Vec::new(), Vec::new());
    for event in Parser::new_ext(text, OPTIONS) {
        match event {
            Event::Start(Tag::Link { dest_url, .. }) => leads_to.push(dest_url.into_string()),
            Event::Start(Tag::Image { dest_url, .. }) => shows.push(dest_url.into_string()),
            Event::Html(html) | Event::InlineHtml(html) => shows.extend(pictures(&html).map(str::to_owned)),
            _ => {}
        }
    }
    let is_file = |link: &String| !link.starts_with('#') && !is_outside(link);
    leads_to.retain(is_file);
    shows.retain(is_file);
    (leads_to, shows)
}

/// The pictures that a piece of HTML shows.
fn pictures(html: &str) -> impl Iterator<Item = &str> {
    let after = ["src=\"", "srcset=\""].into_iter().flat_map(|name| html.split(name).skip(1));
    after.filter_map(|rest| rest.split('"').next())
}

/// The extensions of Markdown that GitHub reads, as far as our documents need them.
pub(super) const OPTIONS: Options = Options::ENABLE_TABLES.union(Options::ENABLE_STRIKETHROUGH);
