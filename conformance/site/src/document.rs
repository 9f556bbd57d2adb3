//! Writes documents as pages, and collects those to which others lead.

use super::SearchEntry;
use super::links::{Links, is_outside, joined, outside, page_of};
use pulldown_cmark::{CodeBlockKind, CowStr, Event, LinkType, Options, Parser, Tag, TagEnd, html};
use std::collections::{BTreeMap, HashMap};

/// A document as HTML.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) title: String,
    pub(super) html: String,
    /// The headings of the second level, with their places.
    pub(super) contents: Vec<(String, String)>,
    pub(super) entries: Vec<SearchEntry>,
}

/// A document as a page, whose links lead to pages, and in which clauses, rules and cases lead to theirs.
pub(super) fn page(path: &str, text: &str, links: &Links<'_>) -> Page {
    let at = page_of(path);
    let mut events: Vec<Event<'_>> = Parser::new_ext(text, OPTIONS).collect();
    let headings = headings(&mut events);
    let title = headings.first().map_or_else(|| path.to_owned(), |heading| heading.text.clone());
    let mut entries: Vec<SearchEntry> = Vec::new();
    let mut out: Vec<Event<'_>> = Vec::new();
    let (mut is_linked, mut is_code, mut heading) = (false, false, headings.iter());
    for event in events {
        if let Event::Text(text) | Event::Code(text) = &event
            && let Some(entry) = entries.last_mut()
        {
            entry.add(text);
        }
        match event {
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                is_linked = true;
                let dest_url = links.of_document(path, &dest_url).into();
                out.push(Event::Start(Tag::Link { link_type, dest_url, title, id }));
            }
            Event::Start(Tag::Heading { level, id, classes, attrs }) => {
                if let Some(heading) = heading.next() {
                    let place = id.as_deref().unwrap_or_default();
                    entries.push(SearchEntry::new(format!("{at}#{place}"), format!("{} – {title}", heading.text)));
                    // `E1 · The example …` is known as E1, too.
                    let short = heading.text.split_once(" · ").map(|(short, _)| format!("<a id=\"{short}\"></a>"));
                    out.extend(short.map(|short| Event::Html(short.into())));
                }
                is_linked = true;
                out.push(Event::Start(Tag::Heading { level, id, classes, attrs }));
            }
            Event::End(end @ (TagEnd::Link | TagEnd::Heading(_))) => {
                is_linked = false;
                out.push(Event::End(end));
            }
            Event::Start(Tag::Table(columns)) => {
                out.push(Event::Html(
                    "<div class=\"scroll\" role=\"group\" aria-label=\"Table\" tabindex=\"0\">".into(),
                ));
                out.push(Event::Start(Tag::Table(columns)));
            }
            Event::End(TagEnd::Table) => out.extend([Event::End(TagEnd::Table), Event::Html("</div>".into())]),
            Event::Start(Tag::CodeBlock(kind)) => {
                is_code = true;
                // The language is for highlighting, which there is none of.
                let kind =
                    if matches!(kind, CodeBlockKind::Fenced(_)) { CodeBlockKind::Fenced("".into()) } else { kind };
                out.push(Event::Start(Tag::CodeBlock(kind)));
            }
            Event::End(TagEnd::CodeBlock) => {
                is_code = false;
                out.push(Event::End(TagEnd::CodeBlock));
            }
            Event::Code(code) if !is_linked => match links.to(&code, &at) {
                Some(address) => out.extend(linked(address, Event::Code(code))),
                None => out.push(Event::Code(code)),
            },
            Event::Text(text) if !is_linked && !is_code => out.extend(with_links(&text, links, &at)),
            event => out.push(event),
        }
    }
    let mut html = String::new();
    html::push_html(&mut html, out.into_iter());
    let contents =
        headings.into_iter().filter(|heading| heading.level == 2).map(|heading| (heading.text, heading.place));
    Page { title, html, contents: contents.collect(), entries }
}

struct Heading {
    text: String,
    place: String,
    level: usize,
}

/// Gives each heading the place that GitHub gives it.
fn headings(events: &mut [Event<'_>]) -> Vec<Heading> {
    let mut taken: HashMap<String, usize> = HashMap::new();
    let mut headings = Vec::new();
    for start in 0..events.len() {
        if !matches!(events[start], Event::Start(Tag::Heading { .. })) {
            continue;
        }
        let inside = events[start..].iter().take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_))));
        let text: String = inside
            .filter_map(|event| if let Event::Text(text) | Event::Code(text) = event { Some(&**text) } else { None })
            .collect();
        let kept =
            text.to_lowercase().chars().filter(|&c| c.is_alphanumeric() || " -_".contains(c)).collect::<String>();
        let slug = kept.replace(' ', "-");
        let times = taken.entry(slug.clone()).or_default();
        let place = if *times == 0 { slug } else { format!("{slug}-{times}") };
        *times += 1;
        if let Event::Start(Tag::Heading { level, id, .. }) = &mut events[start] {
            *id = Some(CowStr::from(place.clone()));
            headings.push(Heading { text, place, level: *level as usize });
        }
    }
    headings
}

fn linked(address: String, content: Event<'_>) -> [Event<'_>; 3] {
    let link = Tag::Link { link_type: LinkType::Inline, dest_url: address.into(), title: "".into(), id: "".into() };
    [Event::Start(link), content, Event::End(TagEnd::Link)]
}

/// A text in which the names of clauses and rules, and addresses, lead to what they name.
fn with_links<'a>(text: &str, links: &Links<'_>, at: &str) -> Vec<Event<'a>> {
    let is_named = |c: char| c.is_ascii_alphanumeric() || "-_./:#".contains(c);
    let mut events = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = rest.find(|c| !is_named(c)).unwrap_or(rest.len());
        let word = rest[..length].trim_end_matches(['.', ':', '/']);
        let address = if word.contains(['-', '#', ':']) { links.to(word, at).or_else(|| outside(word)) } else { None };
        if let Some(address) = address {
            events.push(Event::Text(std::mem::take(&mut plain).into()));
            events.extend(linked(address, Event::Text(word.to_owned().into())));
            rest = &rest[word.len()..];
        } else {
            let skipped = length.max(c.len_utf8());
            plain.push_str(&rest[..skipped]);
            rest = &rest[skipped..];
        }
    }
    events.push(Event::Text(plain.into()));
    events
}

// Collects documents: some, and all others to which they lead.

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
    /// use threadspec_site::Documents;
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
