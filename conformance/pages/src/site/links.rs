//! Where everything is on the site, and how one page leads to another.

use crate::site::documents::Documents;
use crate::site::paths::{is_outside, joined, outside, page_of, relative};
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
