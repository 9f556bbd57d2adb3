//! `threadspec check` for JavaScript, in three functions that need no glue: [`input`] gives the memory for a log, [`check`] judges what was
//! written there, and [`output`] is where the findings are. `check.mjs` wraps them, and promises more.

// The names are all that JavaScript sees of it.
#![allow(unsafe_code)]

use serde_json::{Value, json};
use std::cell::RefCell;
use threadspec_logs::{CheckOptions, Finding, check_bytes};

thread_local! {
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static OUTPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Memory for this many bytes: the API's name (as many as the length that [`check`] receives, or none), and behind it the log.
#[unsafe(no_mangle)]
pub extern "C" fn input(length: usize) -> *mut u8 {
    INPUT.with_borrow_mut(|input| {
        *input = vec![0; length];
        input.as_mut_ptr()
    })
}

/// Judges the input. Returns how long the output is: JSON, `{"findings": […], "read": "…", "skipped": […]}`, or
/// `{"error": "…"}` if there was nothing to judge.
#[unsafe(no_mangle)]
pub extern "C" fn check(length_of_api: usize) -> usize {
    let input = INPUT.take();
    let (api, log) = input.split_at(length_of_api);
    let answer = judge(&String::from_utf8_lossy(api), log).unwrap_or_else(|error| json!({"error": error}));
    OUTPUT.set(answer.to_string().into_bytes());
    OUTPUT.with_borrow(Vec::len)
}

/// Where the output is, until the next call.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    OUTPUT.with_borrow(Vec::as_ptr)
}

fn judge(api: &str, log: &[u8]) -> Result<Value, String> {
    let api =
        if api.is_empty() { None } else { Some(api.parse().map_err(|error: threadspec::Error| error.to_string())?) };
    let report = check_bytes(log, &CheckOptions { api, ..CheckOptions::default() });
    match report.unjudged() {
        Some(why) => Err(why),
        None => Ok(json!({
            "findings": report.findings.iter().map(told).collect::<Vec<_>>(),
            "read": report.summary.total(),
            "skipped": report.summary.skipped.iter().map(|skipped| skipped.why).collect::<Vec<_>>(),
        })),
    }
}

/// A finding with its place in an object of its own, and the phrase for it.
fn told(finding: &Finding) -> Value {
    let mut place = finding.to_json();
    let mut told = json!({});
    if let Some(members) = place.as_object_mut() {
        for name in ["rule", "level", "text", "advice"] {
            told[name] = members.shift_remove(name).unwrap_or_default();
        }
    }
    place["phrase"] = json!(finding.place.to_string());
    told["place"] = place;
    told
}
