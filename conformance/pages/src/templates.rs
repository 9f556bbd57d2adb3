//! The pages that reports and the site fill in. What they show is escaped by the engine, whatever a testee sent.

use minijinja::{AutoEscape, Environment, Value, escape_formatter};
use std::sync::LazyLock;

macro_rules! templates {
    ($($name:literal),*) => { [$(($name, include_str!(concat!("../templates/", $name)))),*] };
}

const TEMPLATES: [(&str, &str); 14] = templates!(
    "report.html",
    "junit.xml",
    "badge.xml",
    "site/page.html",
    "site/inline.html",
    "site/index.html",
    "site/clauses.html",
    "site/clause.html",
    "site/topics.html",
    "site/cases.html",
    "site/rules.html",
    "site/documents.html",
    "site/document.html",
    "site/results.html"
);

#[expect(clippy::expect_used, reason = "templates are part of the program")]
static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(minijinja::UndefinedBehavior::Strict);
    environment.set_formatter(|out, state, value| match value.as_str() {
        Some(text) if *state.auto_escape() == AutoEscape::Html && !value.is_safe() => {
            Ok(out.write_str(&escaped(text, true))?)
        }
        _ => escape_formatter(out, state, value),
    });
    // In text between tags, quotes are themselves: JSON is full of them.
    environment.add_filter("text", |text: &str| Value::from_safe_string(escaped(text, false)));
    for (name, text) in TEMPLATES {
        environment.add_template(name, text).expect("a template that parses");
    }
    environment
});

/// A template with its values filled in.
///
/// # Panics
///
/// When a template of this program is wrong, which the tests of each report would show.
#[expect(clippy::expect_used, reason = "templates are part of the program")]
pub(super) fn render(name: &str, values: &Value) -> String {
    ENVIRONMENT.get_template(name).and_then(|template| template.render(values)).expect("a template that fits")
}

/// Text in which nothing is markup; with `"` escaped it fits an attribute, too.
fn escaped(text: &str, quotes: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' if quotes => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}
