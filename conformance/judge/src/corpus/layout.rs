//! The one layout of corpus files. It moves white space only: every token stays as its author wrote it.

use crate::json::Node;

const WIDTH: usize = 120;
/// The deepest level with lines of its own. Indentation would be most of the file otherwise.
const DEEPEST: usize = 16;

/// Lays out a file: two spaces of indentation, and what fits into 120 columns on one line, except that the file, its
/// list of cases and each case are always broken over lines.
///
/// ```
/// let text = r#"{"op":"escape","cases":[{"name":"a","input":{"n":1.0}}]}"#;
/// let laid_out = threadspec_judge::corpus::canonical(text);
/// assert!(laid_out.contains("      \"input\": {\"n\": 1.0}\n"));
/// assert_eq!(threadspec_judge::corpus::canonical(&laid_out), laid_out);
/// ```
pub fn canonical(text: &str) -> String {
    lay_out(text, 3)
}

/// Lays out valid JSON text of which the outer levels are always broken over lines.
pub fn lay_out(text: &str, broken_levels: usize) -> String {
    let mut out = String::new();
    Layout { broken_levels, out: &mut out }.write(&Node::of(text), 0, 0, 0);
    out.push('\n');
    out
}

struct Layout<'a> {
    broken_levels: usize,
    out: &'a mut String,
}

impl Layout<'_> {
    /// `level` counts the containers around the node, `taken` the columns of its line before it, `trailing` those after.
    fn write(&mut self, node: &Node<'_>, level: usize, taken: usize, trailing: usize) {
        let line = node.text();
        let empty = matches!(line.as_str(), "[]" | "{}");
        let scalar = matches!(node, Node::Scalar(_));
        if scalar
            || empty
            || level == DEEPEST
            || (level >= self.broken_levels && taken + line.chars().count() + trailing <= WIDTH)
        {
            self.out.push_str(&line);
            return;
        }
        let indent = "  ".repeat(level + 1);
        let members: Vec<(String, &Node<'_>)> = match node {
            Node::Object(members) => members.iter().map(|(key, value)| (format!("{indent}{key}: "), value)).collect(),
            Node::Array(elements) => elements.iter().map(|element| (indent.clone(), element)).collect(),
            Node::Scalar(_) => Vec::new(),
        };
        let (open, close) = if matches!(node, Node::Object(_)) { ('{', '}') } else { ('[', ']') };
        self.out.push(open);
        let last = members.len() - 1;
        for (index, (start, member)) in members.into_iter().enumerate() {
            self.out.push('\n');
            self.out.push_str(&start);
            let comma = usize::from(index < last);
            self.write(member, level + 1, start.chars().count(), comma);
            self.out.push_str(&","[..comma]);
        }
        self.out.push('\n');
        self.out.push_str(&"  ".repeat(level));
        self.out.push(close);
    }
}

#[cfg(test)]
mod tests {
    use super::canonical;
    use crate::json::compact;

    #[test]
    fn tokens_survive_and_a_second_pass_changes_nothing() {
        let long = "x".repeat(130);
        for text in [
            r#"{"op":"escape","about":"","cases":[{"name":"a","input":{"text":"\ud83d A"},"expect":{"ok":"1"}}]}"#
                .to_owned(),
            r#"{"cases":[{"input":{"a":1.0,"a":-0,"b":[],"c":{}}}]}"#.to_owned(),
            format!(r#"{{"cases":[{{"input":{{"text":"{long}","more":["{long}",[1,2,[3]]]}}}}]}}"#),
            "[]".to_owned(),
            "7".to_owned(),
        ] {
            let laid_out = canonical(&text);
            assert_eq!(compact(&laid_out), text);
            assert_eq!(canonical(&laid_out), laid_out);
        }
    }
}
