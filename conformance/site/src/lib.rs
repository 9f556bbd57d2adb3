//! Writes the site: what the project has to say, as pages that need no server, and no script to be read.

mod corpus;
mod document;
mod links;

pub use document::Documents;

use links::{Links, relative};
use minijinja::{Environment, Value, context};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use threadspec_judge::corpus::Corpus;
use threadspec_pages::{BASE_STYLE, badge_picture, badge_text, report_page, templates};
use threadspec_report::RunRecord;
use threadspec_report::summary::worst_of;
use threadspec_report::tally::CaseTally;

const STYLE: &str = include_str!("../templates/site.css");
const SCRIPT: &str = include_str!("../templates/site.js");

macro_rules! templates {
    ($($name:literal),*) => { [$(($name, include_str!(concat!("../templates/", $name)))),*] };
}

static TEMPLATES: LazyLock<Environment<'static>> = LazyLock::new(|| {
    templates::environment(&templates!(
        "page.html",
        "inline.html",
        "index.html",
        "clauses.html",
        "clause.html",
        "topics.html",
        "cases.html",
        "rules.html",
        "documents.html",
        "document.html",
        "results.html"
    ))
});

/// The parts of a site.
#[derive(Debug)]
pub struct Site<'a> {
    /// The clauses and cases.
    pub corpus: &'a Corpus,
    /// The guides.
    pub documents: &'a Documents,
    /// Results: runs that belong together, by the name that their badge has.
    pub results: &'a [(String, Vec<RunRecord>)],
    /// The page "paste your request", if there is one.
    pub paste: Option<&'a str>,
    /// Where the site will be, for links from elsewhere.
    pub address: &'a str,
    /// Where the source is.
    pub repository: &'a str,
}

/// The files of a site by their paths, and what the search finds.
struct Pages<'a> {
    site: &'a Site<'a>,
    links: Links<'a>,
    files: BTreeMap<String, Vec<u8>>,
    entries: Vec<SearchEntry>,
}

impl Site<'_> {
    /// The files, by their paths on the site, with `/` between the parts.
    pub fn files(&self, errata: &str) -> BTreeMap<String, Vec<u8>> {
        let links = Links::new(self.corpus, self.documents, self.address, self.repository);
        let mut pages = Pages { site: self, links, files: BTreeMap::new(), entries: Vec::new() };
        corpus::clauses(&mut pages);
        corpus::cases(&mut pages);
        corpus::rules(&mut pages);
        results(&mut pages, errata);
        pages.documents();
        pages.index();
        let mut files = pages.files;
        files.insert("site.css".to_owned(), [BASE_STYLE, STYLE].concat().into());
        files.insert("site.js".to_owned(), SCRIPT.into());
        files.insert("search.js".to_owned(), script(&pages.entries).into());
        files.extend(self.paste.map(|page| ("paste.html".to_owned(), links::with_way_back(page).into())));
        let pictures = self.documents.pictures.iter();
        files.extend(pictures.map(|(path, picture)| (format!("docs/{path}"), picture.clone())));
        files
    }
}

impl Pages<'_> {
    /// Adds a page: what a template makes of these values, under the navigation.
    fn add(&mut self, path: &str, template: &str, title: &str, values: Value) {
        let to = |(name, page): &(&'static str, &'static str)| context! { name => *name, address => relative(path, page), here => path == *page };
        let text = templates::filled(
            &TEMPLATES,
            template,
            &context! {
                title,
                root => "../".repeat(path.matches('/').count()),
                nav => self.nav().iter().map(to).collect::<Vec<_>>(),
                repository => self.site.repository,
                version => env!("CARGO_PKG_VERSION"),
                ..values
            },
        );
        self.files.insert(path.to_owned(), text.into());
    }

    /// The pages that every page leads to.
    fn nav(&self) -> Vec<(&'static str, &'static str)> {
        let documents = self.site.documents;
        let has = |document: &str| documents.texts.contains_key(document) || documents.pages.contains_key(document);
        let mut nav = vec![("Clauses", "clauses.html"), ("Cases", "cases.html"), ("Rules of model APIs", "rules.html")];
        nav.extend(has(links::ERRATA).then_some(("Errata", "errata.html")));
        nav.extend(has(MATRIX).then_some(("Matrix", "matrix.html")));
        nav.extend([("Results and badges", "results.html"), ("Guides", "documents.html")]);
        nav.extend(self.site.paste.map(|_| ("Paste your request", "paste.html")));
        nav
    }

    fn documents(&mut self) {
        let mut rows = Vec::new();
        for (path, text) in &self.site.documents.texts {
            let document::Page { title, html, contents, entries } = document::page(path, text, &self.links);
            let page = links::page_of(path);
            rows.push(context! { path, title => title.clone(), address => page.clone() });
            self.entries.extend(entries);
            let contents: Vec<Value> = contents.into_iter().map(|(text, place)| context! { text, place }).collect();
            let file = self.site.documents.made_from.get(path).unwrap_or(path);
            let source = format!("{}/blob/main/{file}", self.site.repository);
            self.add(
                &page,
                "document.html",
                &title,
                context! { html => Value::from_safe_string(html), contents, source },
            );
        }
        for (path, html) in &self.site.documents.pages {
            let page = links::page_of(path);
            self.files.insert(page.clone(), links::with_way_back(&self.links.of_page(path, html)).into());
            let title = html.split_once("<title>").and_then(|(_, rest)| rest.split('<').next()).unwrap_or(path);
            self.entries.push(SearchEntry::new(page, title.to_owned()));
        }
        self.add("documents.html", "documents.html", "Guides", context! { rows, pages => self.places() });
    }

    fn index(&mut self) {
        let corpus = self.site.corpus;
        let rules = threadspec_golden::provider_rules().len() + threadspec_golden::log_rules().len();
        let values = context! {
            clauses => corpus.clauses.len(),
            cases => corpus.cases.len(),
            rules,
            results => self.site.results.len(),
            guides => self.site.documents.texts.contains_key("README.md"),
            paste => self.site.paste.is_some(),
            pages => self.places(),
        };
        self.add("index.html", "index.html", "threadspec", values);
    }

    /// Returns the documents of this site that a reader needs first, each with its address.
    fn places(&self) -> Vec<Value> {
        let Documents { texts, pages, .. } = self.site.documents;
        let places = PLACES.iter().filter(|(path, ..)| texts.contains_key(*path) || pages.contains_key(*path));
        let entry = |(path, name, about): &(&str, &'static str, &'static str)| context! { name => *name, about => *about, address => links::page_of(path) };
        places.map(entry).collect()
    }
}

const MATRIX: &str = "conformance/adapters/frameworks/matrix.html";

/// The documents that the first page names, and what they are.
const PLACES: &[(&str, &str, &str)] = &[
    ("README.md", "Overview", "the doors to threadspec, each with its command"),
    ("conformance/logs/README.md", "Logs", "a log and a 400 error"),
    ("conformance/provider/README.md", "Agents and programs", "a program that calls a model API"),
    ("conformance/gateway/README.md", "Gateways", "a gateway between APIs"),
    ("conformance/probe/README.md", "Servers", "a mock or a model server"),
    ("conformance/README.md", "Implementations", "a serializer, message builder or agent loop in any language"),
    (MATRIX, "Matrix", "the clauses that real agent frameworks and gateways break, the worst first"),
    (
        "conformance/adapters/frameworks/MATRIX.md",
        "Frameworks",
        "each with its findings in words, and what changed from version to version",
    ),
    (
        "conformance/adapters/frameworks/FRAMEWORKS.md",
        "Adapters of frameworks",
        "how each framework is judged, and where its faults are in its source",
    ),
    ("conformance/adapters/frameworks/SESSIONS.md", "Sessions", "the frameworks that lose threads between runs"),
    ("conformance/adapters/gateways/GATEWAYS.md", "Gateway results", "the changes that published gateways make"),
    (links::ERRATA, "Errata", "decisions where the sources are silent or disagree"),
    ("conformance/PROTOCOL.md", "Protocol", "one page: how the runner and a program in any language talk"),
    ("conformance/REFERENCE.md", "Reference", "every member, option, verdict and exit code"),
    ("CONTRIBUTING.md", "Contributing", "the layout, and how to add a case or a rule"),
];

// The results of runs: each with its report, its badge, and what to copy.

/// A report and a badge for the runs of each name, and the page that shows them.
fn results(pages: &mut Pages<'_>, errata: &str) {
    let mut rows = Vec::new();
    for (name, runs) in pages.site.results {
        let (report, picture) = (format!("results/{name}.html"), format!("results/{name}.svg"));
        pages.files.insert(report.clone(), report_page(runs, pages.site.corpus, errata).into());
        pages.files.insert(picture.clone(), badge_picture(runs).into());
        let address = pages.site.address.trim_end_matches('/');
        let said = badge_text(runs);
        pages.entries.push(SearchEntry::new(format!("results.html#{name}"), format!("Results of {name}")).with(&said));
        rows.push(context! {
            name,
            said => said.clone(),
            markdown => format!("[![{}]({address}/{picture})]({address}/{report})", said.replace(['[', ']'], "")),
            report,
            picture,
            together => CaseTally::sentence(runs),
            runs => runs.iter().map(run).collect::<Vec<_>>(),
        });
    }
    pages.add("results.html", "results.html", "Results and badges", context! { rows });
}

/// The figures of a run, as its own report has them.
fn run(run: &RunRecord) -> Value {
    let summary = &run.summary;
    context! {
        name => run.name(),
        terms => run.options.terms(),
        conclusion => run.conclusion().to_string(),
        passed => summary.passed(),
        applicable => summary.applicable,
        against => summary.against(),
        excused => summary.excused,
        warnings => summary.warnings,
        worst => worst_of(run),
    }
}

// Writes the index of the site's search: a script that the pages load when somebody searches.

/// More characters than these of a section are not searched.
const SEARCHED: usize = 1500;

/// Something that can be found.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SearchEntry {
    place: String,
    title: String,
    text: String,
}

impl SearchEntry {
    fn new(place: String, title: String) -> Self {
        Self { place, title, text: String::new() }
    }

    /// Lets it be found by this text, too.
    fn with(mut self, text: &str) -> Self {
        self.add(text);
        self
    }

    fn add(&mut self, text: &str) {
        if self.text.len() < SEARCHED {
            self.text.push_str(text);
            self.text.push(' ');
        }
    }
}

/// The script.
fn script(entries: &[SearchEntry]) -> String {
    let entries: Vec<_> =
        entries.iter().map(|SearchEntry { place, title, text }| json!([place, title, text.trim_end()])).collect();
    // A line end of its own for each, so that two sites can be compared.
    let lines: Vec<String> = entries.iter().map(ToString::to_string).collect();
    format!("window.threadspecSearch([\n{}\n]);\n", lines.join(",\n"))
}
