//! The outcome for CI systems.

use crate::report::ProbeReport;
use crate::table;
use crate::verdict::ProbedRule;

/// As `JUnit` XML: a test case for each rule; what was not asked is skipped.
pub fn junit(report: &ProbeReport) -> String {
    let suite = escaped(&format!("probe {} at {}", report.api, report.host));
    let failures = report.rules.iter().filter(|one| !one.is_fine()).count();
    let (tests, errors) = (report.rules.len() + report.not_asked.len(), report.out_of_date.len());
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"{suite}\" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{}\">\n",
        tests + errors,
        report.not_asked.len()
    );
    for one in &report.rules {
        out += &case(&suite, one);
    }
    for left in &report.not_asked {
        out += &format!(
            "    <testcase classname=\"{suite}\" name=\"{}\"><skipped message=\"{}\"/></testcase>\n",
            escaped(&left.rule),
            escaped(&left.why)
        );
    }
    for (number, line) in report.out_of_date.iter().enumerate() {
        out += &format!(
            "    <testcase classname=\"{suite}\" name=\"out-of-date-{}\"><error message=\"{}\"/></testcase>\n",
            number + 1,
            escaped(line)
        );
    }
    out + "  </testsuite>\n</testsuites>\n"
}

fn case(suite: &str, one: &ProbedRule) -> String {
    let rule = escaped(&one.rule);
    if one.is_fine() {
        return format!("    <testcase classname=\"{suite}\" name=\"{rule}\"/>\n");
    }
    format!(
        "    <testcase classname=\"{suite}\" name=\"{rule}\">\n      <failure type=\"{}\" message=\"{}\"/>\n    </testcase>\n",
        one.verdict,
        escaped(&table::what(one))
    )
}

/// A text as the value of an attribute. Characters that XML has not become U+FFFD.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        match character {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ if character.is_control() => out.push('\u{fffd}'),
            _ => out.push(character),
        }
    }
    out
}
