//! The pages that reports fill in. What they show is escaped by the engine, whatever a testee said.

use minijinja::{Environment, Value};

const TEMPLATES: [(&str, &str); 3] = [
    ("report.html", include_str!("../templates/report.html")),
    ("junit.xml", include_str!("../templates/junit.xml")),
    ("badge.svg", include_str!("../templates/badge.svg")),
];

/// A template with its values filled in.
///
/// # Panics
///
/// When a template of this program is wrong, which the tests of each report would show.
#[expect(clippy::expect_used, reason = "templates are part of the program")]
pub(super) fn render(name: &str, values: &Value) -> String {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(minijinja::UndefinedBehavior::Strict);
    for (name, text) in TEMPLATES {
        environment.add_template(name, text).expect("a template that parses");
    }
    environment.get_template(name).and_then(|template| template.render(values)).expect("a template that fits")
}
