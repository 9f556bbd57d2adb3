//! Prints lists of messages in the forms of LangChain, OpenAI and Anthropic.
//!
//! Reads JSON Lines, one list of messages each, and prints JSON Lines, one object
//! `{"langchain", "openai", "openai_responses", "anthropic"}` each, with `null` where there is nothing to send:
//!
//! ```sh
//! echo '[{"type": "human", "content": "Hi"}]' | cargo run --example wire
//! ```

use serde_json::json;
use std::error::Error;
use std::io::{self, BufRead, Write};
use threadspec::surrogates::{mark_surrogates, unmark_surrogates};
use threadspec::{Message, wire};

fn main() -> Result<(), Box<dyn Error>> {
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let messages: Vec<Message> = serde_json::from_str(&mark_surrogates(&line?))?;
        let forms = json!({
            "langchain": wire::to_langchain(&messages),
            "openai": wire::to_openai(&messages).ok(),
            "openai_responses": wire::to_openai_responses(&messages).ok(),
            "anthropic": wire::to_anthropic(&messages).ok(),
        });
        writeln!(output, "{}", unmark_surrogates(&forms.to_string()))?;
    }
    Ok(())
}
