//! What the library's strict reader sees: for each line of stdin, a JSON string with a document, a line with the JSON
//! of its elements, each a list of attributes and a text, or of what is wrong with it.

use serde_json::{Value, json};
use std::io::{self, BufRead};

fn main() -> io::Result<()> {
    for line in io::stdin().lock().lines() {
        let document: String = serde_json::from_str(&line?)?;
        let elements = threadspec::read_thread(&document).map(|document| {
            document
                .elements
                .into_iter()
                .map(|element| json!([element.attributes, element.text]))
                .collect::<Vec<Value>>()
        });
        println!("{}", elements.map_or_else(|error| json!(error.to_string()), Value::from));
    }
    Ok(())
}
