//! Writes runs and findings as pages and files: HTML, `JUnit`, Markdown, badges, SARIF and annotations of GitHub.
//!
//! The texts for a terminal and the JSON of a run are made by `threadspec-report`, so that `verify` alone can be built without templates
//! and without the readers of logs. What a testee says is escaped for the form in which it is shown.
//!
//! | module | what it is |
//! |---|---|
//! | `html` | runs as a page |
//! | `ci` | runs for CI systems: Markdown, `JUnit`, badges |
//! | [`templates`] | the templates that some of them fill in |
//! | [`findings`] | what was found in logs, in each of its forms |

mod ci;
pub mod findings;
mod html;
pub mod templates;

pub use ci::{badge_picture, badge_text};
pub use html::{BASE_STYLE, report_page};

use std::io;
use threadspec_judge::corpus::Corpus;
use threadspec_report::{ReportFormat, RunRecord, Target};

/// Writes the report of runs. The HTML page shows the corpus and the errata, too.
///
/// # Errors
///
/// When it cannot be written.
pub fn write(target: &Target, runs: &[RunRecord], corpus: &Corpus, errata: &str) -> io::Result<()> {
    let is_picture = target.path.extension().is_some_and(|extension| extension == "svg");
    target.write_text(&match target.format {
        ReportFormat::Json => return target.write_json(runs),
        ReportFormat::Junit => ci::junit(runs),
        ReportFormat::Html => report_page(runs, corpus, errata),
        ReportFormat::Markdown => ci::markdown(runs),
        ReportFormat::Badge if is_picture => badge_picture(runs),
        ReportFormat::Badge => ci::endpoint(runs),
    })
}
