//! The golden corpus as data: every JSON file of the `golden/` folder, embedded in the program, and the expansion of what stands there in short: [`covering`] arrays and [`template`]s. The ids of clauses
//! are constants of [`clause`].

/// The ids of the clauses: an unknown one does not compile.
pub mod clause {
    include!(concat!(env!("OUT_DIR"), "/clauses.rs"));
}
pub mod covering;
pub mod template;

use flate2::bufread::DeflateDecoder;
use std::io::Read;
use std::sync::LazyLock;

/// For each file its path, relative to `golden/` and with `/` as separator, and its content; sorted by path.
///
/// Case files are `<op>/<topic>.json`; the files at the top (`clauses.json`, `case.schema.json`, …) describe them.
pub fn files() -> &'static [(&'static str, &'static str)] {
    &FILES
}

/// Embedded compressed: the program is 3.5 MB smaller, and starts some milliseconds later.
static FILES: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    #[allow(clippy::unreadable_literal, reason = "the build writes them")]
    const LENGTHS: &[(&str, usize)] = include!(concat!(env!("OUT_DIR"), "/files.rs"));
    let mut texts = String::with_capacity(LENGTHS.iter().map(|(_, length)| length).sum());
    DeflateDecoder::new(&include_bytes!(concat!(env!("OUT_DIR"), "/files.deflate"))[..])
        .read_to_string(&mut texts)
        .expect("what was compressed at build time");
    let mut rest: &'static str = texts.leak();
    let next = |&(path, length)| {
        let (text, behind) = rest.split_at(length);
        rest = behind;
        (path, text)
    };
    LENGTHS.iter().map(next).collect()
});

/// The errata: where the sources are silent or contradict each other, and what was decided.
pub const ERRATA: &str = include_str!("errata.md");
