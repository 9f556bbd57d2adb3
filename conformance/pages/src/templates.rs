//! Fills in the templates of reports and of the site. What they show is escaped by the engine, whatever a testee sent.

use minijinja::{AutoEscape, Environment, Value, escape_formatter};
use std::sync::LazyLock;

macro_rules! templates {
    ($($name:literal),*) => { [$(($name, include_str!(concat!("../templates/", $name)))),*] };
}

const TEMPLATES: [(&str, &str); 3] = templates!("report.html", "junit.xml", "badge.xml");

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| environment(&TEMPLATES));

/// Returns an engine with these templates, each a name and a text.
///
/// # Panics
///
/// When one of them does not parse.
#[expect(clippy::expect_used, reason = "templates are part of the program")]
pub fn environment(templates: &[(&'static str, &'static str)]) -> Environment<'static> {
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
    for (name, text) in templates {
        environment.add_template(name, text).expect("a template that parses");
    }
    environment
}

/// Fills values into a template of this crate.
pub(super) fn render(name: &str, values: &Value) -> String {
    filled(&ENVIRONMENT, name, values)
}

/// Fills values into a template.
///
/// # Panics
///
/// When the template is wrong, which the tests of each report would show.
#[expect(clippy::expect_used, reason = "templates are part of the program")]
pub fn filled(environment: &Environment<'_>, name: &str, values: &Value) -> String {
    environment.get_template(name).and_then(|template| template.render(values)).expect("a template that fits")
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
