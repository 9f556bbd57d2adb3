//! The golden corpus as data: every JSON file of the `golden/` folder, embedded in the program, and the expansion of what stands there in short: [`covering`] arrays and [`template`]s. The ids of clauses
//! are constants of [`clause`].

/// The ids of the clauses: an unknown one does not compile.
pub mod clause {
    include!(concat!(env!("OUT_DIR"), "/clauses.rs"));
}
pub mod covering;
pub mod template;

/// For each file its path, relative to `golden/` and with `/` as separator, and its content; sorted by path.
///
/// Case files are `<op>/<topic>.json`; the files at the top (`clauses.json`, `case.schema.json`, …) describe them.
pub static FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// The errata: where the sources are silent or contradict each other, and what was decided.
pub const ERRATA: &str = include_str!("errata.md");
