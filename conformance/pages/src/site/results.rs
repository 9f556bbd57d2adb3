//! The results of runs: each with its report, its badge, and what to copy.

use super::Pages;
use crate::site::search::SearchEntry;
use crate::{badge, html};
use minijinja::{Value, context};
use threadspec_report::RunRecord;
use threadspec_report::tally::CaseTally;
use threadspec_report::worst::worst_of;

/// A report and a badge for the runs of each name, and the page that shows them.
pub(super) fn results(pages: &mut Pages<'_>, errata: &str) {
    let mut rows = Vec::new();
    for (name, runs) in pages.site.results {
        let (report, picture) = (format!("results/{name}.html"), format!("results/{name}.svg"));
        pages.files.insert(report.clone(), html::html(runs, pages.site.corpus, errata).into());
        pages.files.insert(picture.clone(), badge::svg(runs).into());
        let address = pages.site.address.trim_end_matches('/');
        let said = badge::text(runs);
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
    pages.add("results.html", "site/results.html", "Results and badges", context! { rows });
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
