//! Finds where everything is on the site and in the repository, and how one page leads to another.

use super::document::Documents;
use minijinja::{Value, context};
use std::collections::HashMap;
use threadspec_golden::{log_rules, provider_rules};
use threadspec_judge::corpus::{Case, Corpus};
use threadspec_judge::text::visible;

/// The rules that only logs break are on a page of their own, as those of each API do.
pub(super) const LOGS: &str = "logs";

/// The targets of links, by their names, with the page and the place there.
#[derive(Debug)]
pub(super) struct Links<'a> {
    named: HashMap<&'a str, String>,
    documents: &'a Documents,
    /// The address of the site, without a slash at its end.
    address: &'a str,
    repository: &'a str,
}

impl<'a> Links<'a> {
    pub(super) fn new(corpus: &'a Corpus, documents: &'a Documents, address: &'a str, repository: &'a str) -> Self {
        let mut named = HashMap::new();
        // A rule that two APIs have is found at the first; what comes later replaces it.
        named.extend(log_rules().iter().map(|rule| (&*rule.id, rule_place(LOGS, &rule.id))));
        named.extend(provider_rules().iter().rev().map(|rule| (&*rule.id, rule_place(&rule.api, &rule.id))));
        named.extend(corpus.clauses.iter().map(|clause| (&*clause.id, clause_page(&clause.id))));
        named.extend(corpus.cases.iter().map(|case| (&*case.id, case_place(case))));
        Self { named, documents, address: address.trim_end_matches('/'), repository }
    }

    /// From a page to the clause, case or rule of this name, if there is one.
    pub(super) fn to(&self, name: &str, from: &str) -> Option<String> {
        self.named.get(name).map(|place| relative(from, place))
    }

    /// Text as spans: `code`, what has a name on the site, addresses, and threads of GitHub such as `owner/repo#1`.
    pub(super) fn spans(&self, text: &str, from: &str) -> Vec<Value> {
        let mut spans = Vec::new();
        for (number, part) in text.split('`').enumerate().filter(|(_, part)| !part.is_empty()) {
            if number % 2 == 1 {
                spans.push(context! { code => true, text => visible(part), address => self.to(part, from) });
                continue;
            }
            for word in words(part) {
                let bare = word.trim_end_matches(['.', ',', ';', ':', ')']);
                let address = self.to(bare, from).or_else(|| outside(bare));
                spans.push(context! { code => false, text => visible(bare), address });
                spans.push(context! { code => false, text => visible(&word[bare.len()..]), address => None::<String> });
            }
        }
        spans
    }

    /// A page of HTML of the repository, with its links as they are on the site.
    pub(super) fn of_page(&self, path: &str, html: &str) -> String {
        let mut parts = html.split(" href=\"");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |out, part| {
            let (link, rest) = part.split_once('"').unwrap_or((part, ""));
            format!("{out} href=\"{}\"{rest}", self.of_document(path, link))
        })
    }

    /// Where a link of a document leads: to a page of the site, or else to the file in the repository.
    pub(super) fn of_document(&self, document: &str, link: &str) -> String {
        // A document that no file holds has no path to link to.
        if let Some(page) = link.strip_prefix(self.address).and_then(|rest| rest.strip_prefix('/')) {
            return relative(&page_of(document), page);
        }
        if link.starts_with('#') || is_outside(link) {
            return link.to_owned();
        }
        let (path, place) = link.find('#').map_or((link, ""), |at| link.split_at(at));
        let file = joined(document, path);
        let readme = if file.is_empty() { "README.md".to_owned() } else { format!("{file}/README.md") };
        let from = page_of(document);
        let is_page =
            |file: &&String| self.documents.texts.contains_key(*file) || self.documents.pages.contains_key(*file);
        let page = [&file, &readme].into_iter().find(is_page);
        match page {
            Some(file) => relative(&from, &page_of(file)) + place,
            None if self.documents.pictures.contains_key(&file) => relative(&from, &format!("docs/{file}")),
            None => format!("{}/blob/main/{file}{place}", self.repository),
        }
    }
}

/// A page at the root that was made for itself, with a way back to the site.
pub(super) fn with_way_back(html: &str) -> String {
    html.replacen("<h1", "<p><a href=\"index.html\">threadspec</a></p><h1", 1)
}

pub(super) fn clause_page(id: &str) -> String {
    format!("clauses/{id}.html")
}

/// The page of the topic that a case belongs to, without its ending: `agent/ids`.
pub(super) fn topic(case: &Case) -> &str {
    case.id.rsplit_once('/').map_or("", |(topic, _)| topic)
}

fn case_place(case: &Case) -> String {
    format!("cases/{}.html#{}", topic(case), case.name())
}

fn rule_place(api: &str, id: &str) -> String {
    format!("rules/{api}.html#{id}")
}

/// Words, each with the white space before it.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive([' ', '(', '\n', '|'])
        .flat_map(|word| {
            let bare = word.trim_end_matches([' ', '(', '\n', '|']);
            [bare, &word[bare.len()..]]
        })
        .filter(|word| !word.is_empty())
}

// Where things are on the site and in the repository, as texts.

/// The errata have a page of their own.
pub(super) const ERRATA: &str = "golden/errata.md";

/// Where a document is on the site; pictures and other documents are to it as in the repository. Pages of HTML are at the root.
pub(super) fn page_of(path: &str) -> String {
    if path == ERRATA {
        return "errata.html".to_owned();
    }
    // Beside the document of the same name it would be one file where names differ in more than their case.
    let name = path.rsplit('/').next().unwrap_or(path);
    if name.rsplit_once('.').is_some_and(|(_, extension)| extension == "html") {
        return name.to_owned();
    }
    format!("docs/{}.html", path.strip_suffix(".md").unwrap_or(path))
}

pub(super) fn is_outside(link: &str) -> bool {
    ["https://", "http://", "mailto:"].iter().any(|scheme| link.starts_with(scheme))
}

/// The address of a text that is one, or that names a thread of GitHub.
pub(super) fn outside(text: &str) -> Option<String> {
    if is_outside(text) {
        return Some(text.to_owned());
    }
    let (repository, number) = text.split_once('#')?;
    let (owner, name) = repository.split_once('/')?;
    let is_name = |name: &str| {
        let fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        !name.is_empty() && name.chars().all(fits)
    };
    let is_number = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
    // GitHub leads from the number of an issue to the pull request, if it is one.
    (is_name(owner) && is_name(name) && is_number).then(|| format!("https://github.com/{repository}/issues/{number}"))
}

/// From one page to another, with the place there.
pub(super) fn relative(from: &str, to: &str) -> String {
    let (page, place) = to.find('#').map_or((to, ""), |at| to.split_at(at));
    if page == from {
        return if place.is_empty() { page.rsplit('/').next().unwrap_or(page).to_owned() } else { place.to_owned() };
    }
    let mut ups: Vec<&str> = from.split('/').collect();
    let mut downs: Vec<&str> = page.split('/').collect();
    while ups.len() > 1 && downs.len() > 1 && ups[0] == downs[0] {
        ups.remove(0);
        downs.remove(0);
    }
    "../".repeat(ups.len() - 1) + &downs.join("/") + place
}

/// A path that a document names, from the root of the repository.
pub(super) fn joined(document: &str, path: &str) -> String {
    let folder = document.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_page_leads_to_another() {
        for (from, to, expected) in [
            ("index.html", "clauses.html", "clauses.html"),
            ("index.html", "cases/agent/ids.html#a", "cases/agent/ids.html#a"),
            ("cases/agent/ids.html", "index.html", "../../index.html"),
            ("cases/agent/ids.html", "cases/agent/end.html#b", "end.html#b"),
            ("cases/agent/ids.html", "cases/agent/ids.html#b", "#b"),
            ("cases/agent/ids.html", "cases/agent/ids.html", "ids.html"),
            ("docs/conformance/README.html", "docs/golden/README.html", "../golden/README.html"),
        ] {
            assert_eq!(relative(from, to), expected, "{from} → {to}");
        }
        assert_eq!(joined("conformance/README.md", "../golden/./errata.md"), "golden/errata.md");
        assert_eq!(joined("README.md", "golden/"), "golden");
    }

    #[test]
    fn threads_and_addresses_are_known() {
        assert_eq!(outside("vercel/ai#8132").as_deref(), Some("https://github.com/vercel/ai/issues/8132"));
        assert_eq!(outside("https://example.com/a#b").as_deref(), Some("https://example.com/a#b"));
        for text in ["a/b", "a/b#", "a/b#c", "a#1", "and/or b#1", "a/b/c#1", ""] {
            assert_eq!(outside(text), None, "{text}");
        }
    }
}
