//! The module `threadspec._native`: `threadspec check` for bytes that Python has in memory. `threadspec.check` wraps it, and promises more.

// Arguments come from Python as values.
#![allow(clippy::needless_pass_by_value)]

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString};
use serde::ser::{Error, Serialize, SerializeMap, SerializeSeq, Serializer};
use threadspec_logs::{CheckOptions, Finding, Place, check_bytes};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

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

/// The JSON text of a value; `None` where only Python's `json` knows what to make of it: objects of the SDKs, halves of characters, large integers, `nan`.
#[pyfunction]
fn json_text<'py>(value: &Bound<'py, PyAny>) -> Option<Bound<'py, PyBytes>> {
    serde_json::to_vec(&PlainValue(value, 0)).ok().map(|text| PyBytes::new(value.py(), &text))
}

/// A value of Python's own types, and its depth.
struct PlainValue<'a, 'py>(&'a Bound<'py, PyAny>, usize);

impl Serialize for PlainValue<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        /// A value may hold itself.
        const DEEPEST: usize = 100;
        let Self(value, depth) = *self;
        if depth > DEEPEST {
            return Err(S::Error::custom("too deep"));
        }
        if let Ok(text) = value.cast_exact::<PyString>() {
            return serializer.serialize_str(&text.to_cow().map_err(S::Error::custom)?);
        }
        if let Ok(members) = value.cast_exact::<PyDict>() {
            let mut map = serializer.serialize_map(Some(members.len()))?;
            for (name, member) in members {
                let name = name.cast_exact::<PyString>().map_err(S::Error::custom)?;
                map.serialize_entry(&*name.to_cow().map_err(S::Error::custom)?, &PlainValue(&member, depth + 1))?;
            }
            return map.end();
        }
        if let Ok(list) = value.cast_exact::<PyList>() {
            let mut elements = serializer.serialize_seq(Some(list.len()))?;
            for element in list {
                elements.serialize_element(&PlainValue(&element, depth + 1))?;
            }
            return elements.end();
        }
        if let Ok(is_true) = value.cast_exact::<PyBool>() {
            return serializer.serialize_bool(is_true.is_true());
        }
        if value.is_none() {
            return serializer.serialize_unit();
        }
        if let Ok(number) = value.cast_exact::<PyInt>() {
            return serializer.serialize_i64(number.extract().map_err(S::Error::custom)?);
        }
        match value.cast_exact::<PyFloat>().map(PyFloatMethods::value) {
            Ok(number) if number.is_finite() => serializer.serialize_f64(number),
            _ => Err(S::Error::custom("none of Python's own types")),
        }
    }
}

/// The native part of the Python package `threadspec`.
#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use super::{check, json_text};
}
