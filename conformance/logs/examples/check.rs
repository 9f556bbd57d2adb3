//! Prints what is wrong with files: `cargo run -p threadspec-logs --example check -- FILE…`.

use std::{env, fs, io};
use threadspec_logs::{CheckOptions, Report, check};

fn main() -> io::Result<()> {
    for path in env::args().skip(1) {
        let mut report = Report::default();
        report.summary = check(fs::File::open(&path)?, &CheckOptions::default(), &mut report)?;
        let forms: Vec<&str> = report.summary.forms.iter().map(|form| &*form.form).collect();
        let how = report.summary.unjudged().unwrap_or("judged");
        println!("{path}: {how}: {} ({})", report.summary.total(), forms.join("; "));
        report.findings.iter().for_each(|finding| println!("  {} {finding}", finding.level));
        report.summary.skipped.iter().for_each(|skipped| println!("  skipped {}: {}", skipped.records, skipped.why));
    }
    Ok(())
}
