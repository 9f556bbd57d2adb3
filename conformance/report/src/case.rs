//! One case, for people.

use super::failure::{clause_line, severity_line};
use super::words::gravity;
use crate::terminal::{FAINT, STRONG, styled};
use std::fmt::Write;
use strum::EnumMessage;
use threadspec_judge::corpus::{Case, Corpus, Expect, lay_out};
use threadspec_judge::protocol::{JudgeProfile, Op, Request};

/// Replaces the storage folder of a session in a request that is pasted.
const STORAGE: &str = "/tmp/session";

/// A whole case: what it is for, what it demands, and for each of these profiles the request to paste to a testee by hand.
pub fn case(case: &Case, corpus: &Corpus, profiles: &[JudgeProfile]) -> String {
    let mut out = String::new();
    let own: Vec<String> = case.profiles.iter().map(ToString::to_string).collect();
    let _ = writeln!(out, "{} ({}; {})", styled(STRONG, &case.id), gravity(case.level, case.severity), own.join(", "));
    let _ = writeln!(out, "  why: {}", case.why);
    out.push_str(&severity_line(case.severity, &case.evidence));
    case.clauses.iter().filter_map(|id| corpus.clause(id)).for_each(|clause| out.push_str(&clause_line(clause)));
    if let Expect::Holds(oracles) = case.expect() {
        for oracle in oracles {
            let _ = writeln!(out, "  {oracle}: {}", oracle.get_message().unwrap_or_default());
        }
    }
    if let Expect::Run(properties) = case.expect() {
        for property in properties {
            let _ = writeln!(out, "  {property}: {}", property.about());
        }
    }
    let _ = write!(out, "\n{}", lay_out(case.source(), 1));
    if case.needs_gateway() {
        let how = "sent through a gateway by: threadspec verify --provider API --client API --through CMD --filter";
        let _ = writeln!(out, "\n{} {}", styled(FAINT, how), case.id);
        return out;
    }
    for &profile in profiles {
        let title = if case.after().is_empty() { "request" } else { "requests, the last of which is judged" };
        // Whoever puts a session makes the folder.
        let storage = (case.op == Op::Session).then(|| STORAGE.to_owned());
        let made = if storage.is_some() { " (make a fresh folder, and put its path where `storage` is)" } else { "" };
        let _ = writeln!(out, "\n{}", styled(FAINT, format_args!("{title}{made}:")));
        for (id, input) in (1..).zip(case.inputs()) {
            let request = Request { input: input.into(), storage: storage.clone(), ..case.request(id, profile) };
            let _ = writeln!(out, "{}", request.line());
        }
    }
    out
}
