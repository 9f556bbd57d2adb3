//! Whether case files fit the JSON Schema that is published with them.

use super::case_files;
use crate::corpus::{self, File, Problem, SCHEMA};
use crate::json;

pub(super) fn problems(files: &[File]) -> Vec<Problem> {
    let own = files.iter().find(|file| file.path == SCHEMA).map(|file| file.text.clone());
    let embedded = || corpus::embedded_files().into_iter().find(|file| file.path == SCHEMA).map(|file| file.text);
    let Some(text) = own.or_else(embedded) else {
        return vec![Problem::in_file(SCHEMA, "it is missing")];
    };
    let validator =
        json::read(&text).and_then(|schema| jsonschema::validator_for(&schema).map_err(|error| error.to_string()));
    let validator = match validator {
        Ok(validator) => validator,
        Err(error) => return vec![Problem::in_file(SCHEMA, error)],
    };
    let mut problems = Vec::new();
    for file in case_files(files) {
        // Reading the corpus has already said what is not JSON.
        let Ok(value) = json::read(&file.text) else { continue };
        for error in validator.iter_errors(&value) {
            let place = error.instance_path().to_string();
            let message =
                format!("against the schema{}: {error}", if place.is_empty() { place } else { format!(" at {place}") });
            problems.push(Problem::in_file(&file.path, message.chars().take(500).collect::<String>()));
        }
    }
    problems
}
