//! The module `threadspec._native`: `threadspec check` for bytes that Python has in memory. `threadspec.check` wraps it, and promises more.

// Arguments come from Python as values.
#![allow(clippy::needless_pass_by_value)]

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use threadspec_logs::{CheckOptions, Finding, Place, check_bytes};

/// The members of `threadspec.Place`, in its order.
type PlaceMembers =
    (String, Option<String>, Option<usize>, Option<usize>, Option<usize>, Option<String>, Option<String>, String);
/// Those of `threadspec.Finding`.
type FindingMembers = (&'static str, String, PlaceMembers, String, &'static str);

fn members(finding: Finding, has_lines: bool) -> FindingMembers {
    let Finding { rule, level, mut place, text, advice } = finding;
    place.line = place.line.filter(|_| has_lines);
    let phrase = place.to_string();
    let Place { entry, line, request, after, element, conversation, path } = place;
    let element = element.map(|element| format!("{} {}", element.kind, element.number));
    let place = (phrase, entry, line, request, after, element, conversation, path);
    (rule, level.to_string(), place, text, advice)
}

/// What is wrong with a log, document or request. Raises `ValueError` for an unknown API, and where there was nothing to judge.
///
/// The interpreter's lock is released meanwhile.
#[pyfunction]
fn check(py: Python<'_>, log: &[u8], api: Option<&str>, has_lines: bool) -> PyResult<Vec<FindingMembers>> {
    let api =
        api.map(str::parse).transpose().map_err(|error: threadspec::Error| PyValueError::new_err(error.to_string()))?;
    let report = py.detach(|| check_bytes(log, &CheckOptions { api, ..CheckOptions::default() }));
    if let Some(why) = report.unjudged() {
        return Err(PyValueError::new_err(why));
    }
    Ok(report.findings.into_iter().map(|finding| members(finding, has_lines)).collect())
}

/// The native part of the Python package `threadspec`.
#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use super::check;
}
