//! Cases from covering arrays: each row of `covering.json` is one, or two where the profiles differ.

use super::{Case, File, Level, Problem};
use crate::error::Error;
use crate::json;
use crate::protocol::{JudgeProfile, Op};
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};
pub use threadspec_golden::covering::COVERING;
use threadspec_golden::covering::{Array, Covering, extended, uncovered};

/// One of so many rows is run every day. What all of them show together is for the last word.
const EVERYDAY: usize = 16;

const WHY: &str = "What is right for each of two features alone may be wrong where both come together.";

/// A row from which a case is written when it is needed.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    data: Arc<Data>,
    array: usize,
    number: usize,
    profile: JudgeProfile,
}

#[derive(Debug)]
struct Data {
    covering: Covering,
    text: String,
    fingerprint: OnceLock<String>,
}

impl Origin {
    /// The case as it would be in a file.
    pub(super) fn source(&self, case: &Case) -> String {
        let array = &self.data.covering.arrays[self.array];
        let row = self.data.covering.row(array, self.number);
        let (input, expected) = (row.input(), row.expected(self.profile == JudgeProfile::Hardened));
        let columns = array.columns(&self.data.covering);
        let levels = array.levels(self.number);
        let features =
            columns.iter().zip(levels).map(|(column, level)| format!("{}: {}", column.name, column.levels[level]));
        let why = format!("{WHY} Here: {}.", features.collect::<Vec<_>>().join("; "));
        let thorough = if case.thorough { "\"thorough\":true," } else { "" };
        let level = if case.level == Level::Should { "\"level\":\"should\"," } else { "" };
        let profiles: Vec<String> = case.profiles.iter().map(ToString::to_string).collect();
        let profiles = if profiles.len() == 1 { format!("\"profiles\":{},", json!(profiles)) } else { String::new() };
        format!(
            r#"{{"name":{},"why":{},"clauses":{},{level}{profiles}{thorough}"input_json":{},"expect":{{"ok":{expected}}}}}"#,
            json!(case.name()),
            json!(why),
            json!(case.clauses),
            json!(input),
        )
    }

    /// A fingerprint of the row and all data.
    pub(super) fn hash(&self) -> String {
        let data = self.data.fingerprint.get_or_init(|| super::fingerprint(&json::compact(&self.data.text)));
        super::fingerprint(&format!("{data} {} {} {}", self.array, self.number, self.profile))
    }
}

fn is_thorough(row: usize) -> bool {
    !row.is_multiple_of(EVERYDAY)
}

/// The data among the files of a corpus, if it has any.
///
/// # Errors
///
/// Says what is malformed.
pub fn read(files: &[File]) -> Result<Option<Covering>, Error> {
    let file = files.iter().find(|file| file.path == COVERING);
    file.map(|file| Covering::read(&file.text)).transpose().map_err(Error::new)
}

/// The cases of all arrays.
///
/// # Errors
///
/// Says what is malformed.
pub(super) fn cases(files: &[File]) -> Result<Vec<Case>, Error> {
    let Some(covering) = read(files)? else { return Ok(Vec::new()) };
    let text = files.iter().find(|file| file.path == COVERING).map(|file| file.text.clone());
    let data = Arc::new(Data { covering, text: text.unwrap_or_default(), fingerprint: OnceLock::new() });
    let mut cases = Vec::new();
    for (index, array) in data.covering.arrays.iter().enumerate() {
        let op: Op = array.op.parse().map_err(Error::new)?;
        let level = array.level.as_deref().map(str::parse::<Level>).transpose()?.unwrap_or_default();
        for row in data.covering.rows(array) {
            let row_number = row.number();
            let name = format!("{}/row-{}", array.name(), row_number + 1);
            let case = |id: String, profiles: &[JudgeProfile]| {
                let origin =
                    Origin { data: Arc::clone(&data), array: index, number: row.number(), profile: profiles[0] };
                let mut case = Case::of_row(id, op, WHY.to_owned(), array.clauses.clone(), profiles.to_vec(), origin);
                case.thorough = is_thorough(row_number);
                case.level = level;
                case
            };
            if row.differs() {
                cases.push(case(name.clone(), &[JudgeProfile::Hardened]));
                cases.push(case(format!("{name}-literal"), &[JudgeProfile::Literal]));
            } else {
                cases.push(case(name, &JudgeProfile::OWN));
            }
        }
    }
    Ok(cases)
}

/// Pairs that no row has.
pub fn problems(files: &[File]) -> Vec<Problem> {
    let covering = match read(files) {
        Ok(Some(covering)) => covering,
        Ok(None) => return Vec::new(),
        Err(error) => return vec![Problem::in_file(COVERING, error)],
    };
    let gap = |array: &Array| {
        let columns = array.columns(&covering);
        let missing = uncovered(&columns, &array.rows);
        let first = missing.first()?;
        let [one, other] = [first.one, first.other]
            .map(|(column, level)| format!("{} `{}`", columns[column].name, columns[column].levels[level]));
        let message = format!(
            "{}: no row has {one} with {other}, and {} more pairs are missing; `lint --fix` adds rows",
            array.name(),
            missing.len() - 1
        );
        Some(Problem::in_file(COVERING, message))
    };
    covering.arrays.iter().filter_map(gap).collect()
}

/// The text of the file, with rows for the pairs that no row has.
///
/// # Errors
///
/// Says what is malformed.
pub fn completed(text: &str) -> Result<String, Error> {
    let covering = Covering::read(text).map_err(Error::new)?;
    let mut completed = text.to_owned();
    for (index, array) in covering.arrays.iter().enumerate() {
        let rows = extended(&array.columns(&covering), &array.rows);
        if rows != array.rows {
            completed = with_rows(&completed, index, &rows)?;
        }
    }
    Ok(completed)
}

/// The text with other rows for an array; the rest stays as it is laid out.
fn with_rows(text: &str, array: usize, rows: &[String]) -> Result<String, Error> {
    const ROWS: &str = "\"rows\": [";
    let arrays = text.find("\"arrays\": [").ok_or_else(|| Error::new("there are no `arrays`"))?;
    let (start, _) =
        text[arrays..].match_indices(ROWS).nth(array).ok_or_else(|| Error::new("an array has no `rows`"))?;
    let from = arrays + start + ROWS.len();
    let to = text[from..].find(']').ok_or_else(|| Error::new("`rows` does not end"))? + from;
    let per_line = 150 / (rows.first().map_or(0, String::len) + 4);
    let lines = rows.chunks(per_line.max(1)).map(|rows| {
        format!(
            "        {}",
            rows.iter().map(|row| Value::from(row.as_str()).to_string()).collect::<Vec<_>>().join(", ")
        )
    });
    Ok(format!("{}\n{}\n      {}", &text[..from], lines.collect::<Vec<_>>().join(",\n"), &text[to..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::embedded_files;

    fn data() -> String {
        let file = embedded_files().into_iter().find(|file| file.path == COVERING);
        file.expect("the corpus has covering arrays").text
    }

    fn problems_of(text: String) -> Vec<String> {
        problems(&[File { path: COVERING.to_owned(), text }]).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_lost_row_is_a_gap_that_is_filled_again() {
        let (text, covering) = (data(), Covering::read(&data()).expect("sound data"));
        assert_eq!(problems_of(text.clone()), Vec::<String>::new());
        let array = &covering.arrays[0];
        let with_gap = with_rows(&text, 0, &array.rows[1..]).expect("an array");
        let found = problems_of(with_gap.clone());
        assert!(found.len() == 1 && found[0].contains("more pairs are missing"), "{found:?}");
        let completed = completed(&with_gap).expect("sound data");
        assert_eq!(problems_of(completed.clone()), Vec::<String>::new());
        let rows = Covering::read(&completed).expect("sound data").arrays[0].rows.clone();
        assert_eq!(rows[..array.rows.len() - 1], array.rows[1..], "what is there stays");
    }

    #[test]
    fn malformed_data_are_refused() {
        for (from, to, says) in [
            ("\"op\": \"escape\"", "\"operation\": \"escape\"", "unknown field"),
            ("\"markup\": {\"why\"", "\"mark-up\": {\"why\"", "there is no class `markup`"),
            ("\"first\": \"text\"", "\"first\": \"texts\"", "there is no type `texts`"),
            ("\"blocks\": [\"user\"", "\"blocks\": [\"users\"", "there is no block `users`"),
        ] {
            let found = problems_of(data().replacen(from, to, 1));
            assert!(found.len() == 1 && found[0].contains(says), "{says}: {found:?}");
        }
        let covering = Covering::read(&data()).expect("sound data");
        let row = &covering.arrays[0].rows[0];
        assert!(problems_of(data().replacen(row, &row[1..], 1))[0].contains("malformed row"));
        assert!(problems_of(data().replacen(row, "ZZZ", 1))[0].contains("malformed row"));
    }
}
