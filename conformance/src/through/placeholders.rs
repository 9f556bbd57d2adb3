//! Replaces placeholders in a command, in a configuration and in headers: values that are known only when a gateway is started.

use std::path::PathBuf;

/// The values of placeholders.
#[derive(Clone, Debug)]
pub(super) struct Placeholders {
    /// The provider's URL, without a path.
    pub(super) upstream: String,
    /// The key that the provider takes.
    pub(super) key: String,
    /// A port that is free, for the gateway.
    pub(super) port: u16,
    /// The model that the provider has.
    pub(super) model: String,
    /// A folder that nobody else uses.
    pub(super) dir: PathBuf,
    /// The configuration in that folder, if there is one.
    pub(super) config: Option<PathBuf>,
}

impl Placeholders {
    /// A text with everything in its place. Whatever else is in braces stays as it is.
    pub(super) fn fill(&self, text: &str) -> String {
        let (mut filled, mut rest) = (String::with_capacity(text.len()), text);
        while let Some(at) = rest.find('{') {
            filled.push_str(&rest[..at]);
            rest = &rest[at..];
            let known = rest[1..].find('}').and_then(|end| Some((self.value(&rest[1..=end])?, end + 2)));
            let (value, length) = known.unwrap_or_else(|| ("{".to_owned(), 1));
            filled.push_str(&value);
            rest = &rest[length..];
        }
        filled + rest
    }

    fn value(&self, name: &str) -> Option<String> {
        Some(match name {
            "upstream" => self.upstream.clone(),
            "upstream_v1" => format!("{}/v1", self.upstream),
            "key" => self.key.clone(),
            "port" => self.port.to_string(),
            "model" => self.model.clone(),
            "dir" => self.dir.display().to_string(),
            "config" => self.config.as_ref()?.display().to_string(),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_once_and_other_braces_stay() {
        let placeholders = Placeholders {
            upstream: "http://127.0.0.1:1".into(),
            key: "sk-{port}".into(),
            port: 4000,
            model: "m".into(),
            dir: "/tmp/d".into(),
            config: None,
        };
        for (text, expected) in [
            ("a --port {port}", "a --port 4000"),
            ("{upstream}|{upstream_v1}", "http://127.0.0.1:1|http://127.0.0.1:1/v1"),
            (r#"{"key": "{key}", "a": {"b": "{model}"}}"#, r#"{"key": "sk-{port}", "a": {"b": "m"}}"#),
            ("{{port}}", "{4000}"),
            ("{config} {dir}/x {nothing} {", "{config} /tmp/d/x {nothing} {"),
        ] {
            assert_eq!(placeholders.fill(text), expected);
        }
    }
}
