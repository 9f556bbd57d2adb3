//! The golden corpus as data: every JSON file of the `golden/` folder, embedded, so that a program can carry it anywhere.

pub mod template;

/// Path relative to `golden/` with `/` as separator, and content, sorted by path.
///
/// Case files are `<op>/<topic>.json`; the files at the top (`clauses.json`, `case.schema.json`, …) describe them.
pub const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// The errata: where the sources are silent or contradict each other, and what was decided.
pub const ERRATA: &str = include_str!("errata.md");
