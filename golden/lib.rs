//! The golden corpus as data: every JSON file of the `golden/` folder, embedded in the program, and the expansion of what is there in
//! short.
//!
//! The files are the corpus for every language; `golden/README.md` describes them. This crate only carries them to Rust, so that a program
//! has the corpus in any folder. It knows neither what a case means nor how it is judged: `threadspec-judge` reads the files.
//!
//! ```
//! use serde_json::json;
//!
//! assert!(threadspec_golden::files().iter().any(|(path, _)| *path == "clauses.json"));
//! assert_eq!(threadspec_golden::clause::ESC_1, "ESC-1");
//! assert_eq!(threadspec_golden::expand(&json!([{"repeat": ["{n}"], "times": 2}]))?, r#"["0","1"]"#);
//! # Ok::<(), threadspec_golden::Error>(())
//! ```
//!
//! | module | what it is |
//! |---|---|
//! | `error` | what is wrong with a template or with covering arrays |
//! | [`clause`] | the ids of the clauses, as constants |
//! | [`covering`] | covering arrays: two conditions at once |
//! | `rules` | the rules by which model APIs refuse requests, and their answers |
//! | `template` | templates: large inputs and expectations in a few lines |

pub mod covering;
mod error;
mod rules;
mod template;

pub use error::Error;
pub use rules::{
    HeaderPair, LOG_RULES, LogRuleEntry, OtherWords, PROVIDER_RULES, ProbedAnswer, RecordedAnswers, RefusalWords,
    RuleCondition, RuleEntry, how_sure, log_rules, provider_rules, read_log_rules, read_provider_rules,
};
pub use template::{expand, outline};

use flate2::bufread::DeflateDecoder;
use std::io::Read;
use std::sync::LazyLock;

/// The ids of the clauses: an unknown one does not compile.
pub mod clause {
    include!(concat!(env!("OUT_DIR"), "/clauses.rs"));
}

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
