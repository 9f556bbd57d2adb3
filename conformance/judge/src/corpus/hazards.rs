//! Reads the catalogue of library functions that mishandle unusual input, with the cases and mutants that show it.

use super::File;
use crate::error::Error;
use serde::Deserialize;
use std::collections::BTreeMap;
use strum::{Display, EnumIter};

/// The file that holds the catalogue.
pub const HAZARDS: &str = "hazards.json";

/// The languages and what their libraries do.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalogue {
    /// The languages, each of which needs rows.
    pub languages: Vec<String>,
    /// Where the choice of languages comes from.
    pub chosen: Vec<String>,
    /// The rows, by step.
    pub hazards: Vec<Hazard>,
}

/// A row: one thing that functions of one or several libraries do.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hazard {
    /// In kebab-case.
    pub id: String,
    /// The step of the program.
    pub step: LibraryStep,
    /// By language, the functions and libraries.
    pub functions: BTreeMap<String, String>,
    /// The effect of the functions, in a sentence.
    pub does: String,
    /// Documentation, as addresses, and issues, as `owner/repo#1`.
    pub evidence: Vec<String>,
    /// Where it can show, and what shows it, one way after the other.
    pub shows: BTreeMap<Place, Vec<Shown>>,
}

impl Hazard {
    /// Lists the evidence of each place.
    pub fn shows(&self) -> impl Iterator<Item = (Place, &Shown)> {
        self.shows.iter().flat_map(|(place, shown)| shown.iter().map(|shown| (*place, shown)))
    }
}

/// One way in which a hazard shows in a place.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Shown {
    /// Each of the cases catches each of the bugs.
    By {
        /// Ids of cases.
        cases: Vec<String>,
        /// The names of mutants.
        bugs: Vec<String>,
    },
    /// It changes nothing that anybody could see.
    #[serde(rename_all = "camelCase")]
    Never {
        /// Why not.
        cannot_show: String,
        /// The property test that shows so.
        test: String,
    },
}

/// A step of the specification at which an implementer uses a function of a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Display, EnumIter)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum LibraryStep {
    /// Reading JSON.
    Read,
    /// Comparing names.
    Compare,
    /// Looking something up.
    LookUp,
    /// Counting.
    Count,
    /// Cutting texts.
    Cut,
    /// Escaping.
    Escape,
    /// Replacing in texts.
    Replace,
    /// Numbers and other values as text.
    NumberToText,
    /// Sorting.
    Sort,
    /// Writing JSON, documents and lines.
    Write,
}

/// An operation, or any agent behind `tools`; its name is that of the folder of its cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Display)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Place {
    /// Op `escape`.
    Escape,
    /// Op `serialize`.
    Serialize,
    /// Op `messages`.
    Messages,
    /// Op `tools`.
    Tools,
    /// Op `loop`.
    Loop,
    /// Op `tools` in profile `universal`.
    Agent,
}

/// The catalogue among the files of a corpus; empty where there is none.
///
/// # Errors
///
/// Says what is wrong with the file.
pub fn catalogue(files: &[File]) -> Result<Catalogue, Error> {
    match files.iter().find(|file| file.path == HAZARDS) {
        None => Ok(Catalogue::default()),
        Some(file) => serde_json::from_str(&file.text).map_err(Error::new),
    }
}
