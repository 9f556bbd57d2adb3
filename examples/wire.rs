//! Prints lists of messages in the forms of LangChain, OpenAI and Anthropic.
//!
//! Reads JSON Lines, one list of messages each, and prints JSON Lines, one object
//! `{"langchain", "openai", "anthropic"}` each:
//!
//! ```sh
//! echo '[{"type": "human", "content": "Hi"}]' | cargo run --example wire
//! ```

use std::{
    error::Error,
    io::{self, BufRead, Write},
};

use serde_json::json;
use threadspec::{Message, surrogates::repair_surrogates, wire};

fn main() -> Result<(), Box<dyn Error>> {
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let messages: Vec<Message> = serde_json::from_str(&repair_surrogates(&line?))?;
        let forms = json!({
            "langchain": wire::to_langchain(&messages),
            "openai": wire::to_openai(&messages),
            "anthropic": wire::to_anthropic(&messages),
        });
        writeln!(output, "{forms}")?;
    }
    Ok(())
}
