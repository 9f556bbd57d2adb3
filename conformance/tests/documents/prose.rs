//! Checks the English of documents and comments: short sentences, plain openings, the words of the field.

use super::{CRATES, root, rust_files};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// The most words of a sentence.
const LONGEST_SENTENCE: usize = 28;
/// The most characters of a line. Rows of tables, HTML, code and lines of one link cannot be wrapped.
const LONGEST_LINE: usize = 140;

/// Words to avoid, each with a better one. A star represents any ending.
const AVOIDED: [(&str, &str); 16] = [
    ("planted", "mutant or fault"),
    ("put to", "run against"),
    ("puts to", "runs against"),
    ("told", "reported, output"),
    ("heard", "received"),
    ("said", "sent, reported, listed"),
    ("twin*", "host, or request without the fault"),
    ("deed*", "process fault"),
    ("clash*", "race"),
    ("anew", "again"),
    ("mend*", "fix"),
    ("stands", "is"),
    ("stand", "are"),
    ("stood", "was"),
    ("in the place of", "instead of"),
    ("how-manieth", "number"),
];

/// Openings of a sentence that has no subject yet. A question may begin so, and a heading.
const OPENINGS: [&str; 5] = ["What", "Whether", "Which", "Of", "The same"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    Sentence,
    Colons,
    Line,
    Opening,
    Word,
}

/// A sentence with the line on which its paragraph begins.
type Sentence = (usize, String);

/// Returns what is wrong with a page, as `line: rule: text`.
fn faults(page: &str) -> Vec<(usize, Rule, String)> {
    let mut faults = Vec::new();
    let (sentences, headings) = sentences(page);
    for (line, sentence) in &sentences {
        let is_question = sentence.ends_with('?') || headings.contains(line);
        let words = sentence.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).count();
        if words > LONGEST_SENTENCE {
            faults.push((*line, Rule::Sentence, format!("{words} words: {sentence}")));
        }
        if joints(sentence) > 1 {
            faults.push((*line, Rule::Colons, sentence.clone()));
        }
        if let Some(opening) = OPENINGS.iter().find(|opening| opens(sentence, opening)).filter(|_| !is_question) {
            faults.push((*line, Rule::Opening, format!("“{opening}” opens a statement: {sentence}")));
        }
        for (word, better) in AVOIDED.iter().filter(|(word, _)| has_word(sentence, word)) {
            faults.push((*line, Rule::Word, format!("“{word}” ({better}): {sentence}")));
        }
    }
    for (number, line) in lines_of_prose(page).filter(|(_, line)| !line.trim_start().starts_with(['|', '<'])) {
        let is_link = line.split_whitespace().any(|word| word.chars().count() > LONGEST_LINE / 2);
        if line.chars().count() > LONGEST_LINE && !is_link {
            faults.push((number, Rule::Line, line.to_owned()));
        }
    }
    faults
}

/// Returns whether a sentence begins with these words.
fn opens(sentence: &str, opening: &str) -> bool {
    sentence.strip_prefix(opening).is_some_and(|rest| rest.starts_with(|c: char| !c.is_alphanumeric()))
}

/// Counts the colons and semicolons that divide a sentence.
fn joints(sentence: &str) -> usize {
    let divides = |(at, _): &(usize, &str)| {
        sentence[at + 1..].chars().next().is_none_or(|next| next.is_whitespace() || next == ')')
    };
    sentence.match_indices([':', ';']).filter(divides).count()
}

/// Returns whether a sentence has these words, whatever the case of the first letter.
fn has_word(sentence: &str, word: &str) -> bool {
    let (word, any_ending) = word.strip_suffix('*').map_or((word, false), |word| (word, true));
    let text = sentence.to_lowercase();
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let behind = text[at + word.len()..].chars().next();
        let ends = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '-');
        ends(before) && (any_ending || ends(behind))
    })
}

/// Returns the lines outside of blocks of code and comments, with their numbers from 1.
pub(super) fn lines_of_prose(page: &str) -> impl Iterator<Item = (usize, &str)> {
    let (mut fence, mut in_list, mut blank) = (None, false, true);
    page.lines().enumerate().filter_map(move |(index, line)| {
        let bare = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| bare.starts_with(mark));
        if let Some(mark) = mark.filter(|mark| fence.is_none_or(|open| open == *mark)) {
            fence = if fence.is_some() { None } else { Some(mark) };
            return None;
        }
        let is_item = is_item(bare);
        let indent = line.len() - bare.len();
        in_list = if bare.is_empty() { in_list } else { is_item && indent < 4 || in_list && indent > 0 };
        let is_code = fence.is_some() || indent >= 4 && blank && !in_list;
        blank = bare.is_empty() || is_code || bare.starts_with('<');
        (!is_code).then_some((index + 1, line))
    })
}

/// Returns whether a line begins an element of a list.
fn is_item(line: &str) -> bool {
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark))
        || digits.len() < line.len() && digits.starts_with(". ")
}

/// Returns the sentences of a page, without its code and markup, and the lines of its headings.
fn sentences(page: &str) -> (Vec<Sentence>, Vec<usize>) {
    let (mut blocks, mut headings): (Vec<Sentence>, Vec<usize>) = (Vec::new(), Vec::new());
    let mut is_open = false;
    for (number, line) in lines_of_prose(page) {
        let bare = line.trim().trim_start_matches("> ");
        if let Some(row) = bare.strip_prefix('|') {
            // A cell is a list of fragments: a semicolon ends one.
            let row = plain(row);
            let fragments = row.split('|').flat_map(|cell| cell.split("; "));
            blocks.extend(fragments.map(|fragment| (number, fragment.trim().to_owned())));
            is_open = false;
        } else if bare.is_empty() || bare.starts_with('<') || bare.starts_with("[!") {
            is_open = false;
        } else if bare.starts_with('#') {
            headings.push(number);
            blocks.push((number, plain(bare.trim_start_matches(['#', ' ']))));
            is_open = false;
        } else if is_open && !is_item(bare) {
            let block = &mut blocks.last_mut().expect("an open block").1;
            block.push(' ');
            block.push_str(bare);
        } else {
            let text =
                if is_item(bare) { bare.split_once(' ').map_or("", |(_, rest)| without_label(rest)) } else { bare };
            blocks.push((number, text.to_owned()));
            is_open = true;
        }
    }
    let split = |(line, block): (usize, String)| {
        split(&plain(&block)).into_iter().map(move |text| (line, text)).collect::<Vec<_>>()
    };
    (blocks.into_iter().flat_map(split).collect(), headings)
}

/// Returns the text of an element of a list behind its label of one or two words: `Cases:`, `**Both profiles:**`.
fn without_label(text: &str) -> &str {
    let (label, rest) = text.split_once(":** ").or_else(|| text.split_once(": ")).unwrap_or_default();
    if !label.is_empty() && !label.contains('`') && label.split(' ').count() <= 2 { rest } else { text }
}

/// Returns text without its markup: what is code counts as one word, and a link as its text.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for (number, part) in text.split('`').enumerate() {
        plain.push_str(if number % 2 == 1 { "`x`" } else { part });
    }
    let mut out = String::new();
    let mut rest = &*plain;
    while let Some(at) = rest.find("](") {
        out.push_str(&rest[..at]);
        rest = rest[at..].find(')').map_or("", |end| &rest[at + end + 1..]);
    }
    out.push_str(rest);
    out.replace("**", "").replace(['[', ']', '*'], "").replace('!', "").trim().to_owned()
}

/// Divides text into sentences: at a stop or a question mark before a capital letter or code.
fn split(text: &str) -> Vec<String> {
    let (mut found, mut begin) = (Vec::new(), 0);
    for (at, mark) in text.match_indices(['.', '?']) {
        let behind = text[at + mark.len()..].trim_start_matches([')', '”', '"']);
        let next = behind.trim_start();
        let begins = next.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit() || "`“\"(".contains(c))
            || next.starts_with("threadspec ");
        if behind.len() > next.len() && begins {
            let end = text.len() - behind.len();
            found.push(text[begin..end].trim().to_owned());
            begin = end;
        }
    }
    found.push(text[begin..].trim().to_owned());
    found.retain(|sentence| !sentence.is_empty());
    found
}

/// Returns the files that Git knows by a pattern, each with its text.
pub(super) fn tracked(pattern: &str) -> Vec<(String, String)> {
    let output = Command::new("git").args(["ls-files", pattern]).current_dir(root()).output().expect("Git runs");
    let files = String::from_utf8(output.stdout).expect("UTF-8");
    let read = |path: &str| fs::read_to_string(root().join(path)).expect("the file is readable");
    files.lines().map(|path| (path.to_owned(), read(path))).collect()
}

#[test]
fn documents_are_plain_english() {
    let mut wrong = Vec::new();
    for (path, page) in tracked("*.md") {
        wrong.extend(faults(&page).iter().map(|(line, rule, text)| format!("{path}:{line}: {rule:?}: {text}")));
    }
    assert!(wrong.is_empty(), "{} faults:\n{}", wrong.len(), wrong.join("\n"));
}

/// The site makes a page of these texts. A text is one line of its file, however long.
#[test]
fn texts_about_frameworks_are_plain_english() {
    let (mut wrong, mut texts) = (Vec::new(), 0);
    for (path, page) in tracked("*/about.toml") {
        for (number, line) in page.lines().enumerate() {
            let Some((_, value)) = line.split_once(" = ") else { continue };
            let text: String = serde_json::from_str(value).expect("a string, which TOML writes as JSON does");
            texts += 1;
            let faults = faults(&text).into_iter().filter(|(_, rule, _)| *rule != Rule::Line);
            wrong.extend(faults.map(|(_, rule, text)| format!("{path}:{}: {rule:?}: {text}", number + 1)));
        }
    }
    assert!(wrong.is_empty(), "{} faults:\n{}", wrong.len(), wrong.join("\n"));
    assert!(texts > 100, "{texts}");
}

/// The crates whose comments were written before the rules, and are rewritten with their code.
const OLD_COMMENTS: [&str; 1] = ["conformance/mutants"];

/// Returns the first sentence of each documentation comment, with its line.
fn first_sentences(code: &str) -> Vec<Sentence> {
    let text =
        |line: &&str| ["//! ", "/// "].iter().find_map(|mark| line.trim_start().strip_prefix(mark).map(str::to_owned));
    let lines: Vec<Option<String>> = code.lines().map(|line| text(&line)).collect();
    let begins = (0..lines.len()).filter(|&at| lines[at].is_some() && (at == 0 || !is_documentation(code, at - 1)));
    begins
        .filter_map(|at| {
            let comment: Vec<&str> = lines[at..].iter().map_while(Option::as_deref).collect();
            Some((at + 1, split(&plain(&comment.join(" "))).into_iter().next()?))
        })
        .collect()
}

/// Returns whether a line is part of a documentation comment, an empty one included.
fn is_documentation(code: &str, at: usize) -> bool {
    code.lines().nth(at).is_some_and(|line| ["//!", "///"].iter().any(|mark| line.trim_start().starts_with(mark)))
}

#[test]
fn comments_begin_with_a_verb_or_a_noun() {
    let (mut wrong, mut sentences) = (Vec::new(), 0);
    for (folder, _) in CRATES.iter().filter(|(folder, _)| !OLD_COMMENTS.contains(folder)) {
        let (folder, mut files) = (root().join(folder), Vec::new());
        let source = folder.join("src");
        rust_files(if source.is_dir() { &source } else { &folder }, &mut files);
        for file in files {
            let code = fs::read_to_string(&file).expect("the file is readable");
            for (line, sentence) in first_sentences(&code) {
                sentences += 1;
                let opening =
                    OPENINGS.iter().find(|opening| opens(&sentence, opening)).filter(|_| !sentence.ends_with('?'));
                let word = AVOIDED.iter().map(|(word, _)| word).find(|word| has_word(&sentence, word));
                if let Some(fault) = opening.or(word) {
                    wrong.push(format!("{}:{line}: “{fault}”: {sentence}", file.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} faults:\n{}", wrong.len(), wrong.join("\n"));
    assert!(sentences > 5_000, "{sentences}");
}

/// The crates whose messages are rewritten with their code, and the reference's summary, which models read as it is.
const OLD_MESSAGES: [&str; 2] = ["conformance/mutants", "conformance/logs"];
const KEPT_MESSAGE: &str = "Summary of what was said so far:";

/// Returns the string literals of code, each with its line.
fn literals(code: &str) -> Vec<Sentence> {
    let (mut found, mut rest, mut line) = (Vec::new(), code, 1);
    while let Some(c) = rest.chars().next() {
        let raw = rest.strip_prefix('r').map(|rest| rest.trim_start_matches('#')).filter(|rest| rest.starts_with('"'));
        let (length, text) = if rest.starts_with("//") {
            (rest.find('\n').unwrap_or(rest.len()), None)
        } else if rest.starts_with("/*") {
            (rest.find("*/").map_or(rest.len(), |end| end + 2), None)
        } else if let Some(inside) = raw {
            let marks = rest.len() - inside.len() - 1;
            let end = format!("\"{}", "#".repeat(marks));
            let length = inside[1..].find(&end).unwrap_or(inside.len() - 1);
            (marks + 2 + length + end.len(), Some(&inside[1..=length]))
        } else if c == '"' {
            let mut is_escaped = false;
            let closes = |(_, c): &(usize, char)| {
                let closes = *c == '"' && !is_escaped;
                is_escaped = *c == '\\' && !is_escaped;
                closes
            };
            let length = rest[1..].char_indices().find(closes).map_or(rest.len() - 1, |(at, _)| at);
            (length + 2, Some(&rest[1..=length]))
        } else if c == '\'' && (rest[1..].starts_with('\\') || rest[1..].chars().nth(1) == Some('\'')) {
            let behind =
                if rest[1..].starts_with('\\') { 3 } else { 1 + rest[1..].chars().next().map_or(1, char::len_utf8) };
            (behind + rest[behind..].find('\'').map_or(0, |end| end + 1), None)
        } else {
            (c.len_utf8(), None)
        };
        let length = length.min(rest.len());
        found.extend(text.map(|text| (line, text.replace("\\n", " ").replace("\\\"", "\""))));
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    found
}

/// Returns a format string without the names of its values.
fn without_values(text: &str) -> String {
    text.split('{').map(|part| part.split_once('}').map_or(part, |(_, rest)| rest)).collect()
}

/// A message has a space; a literal without one is a name or a pattern.
#[test]
fn messages_have_the_words_of_the_field() {
    let (mut wrong, mut messages) = (Vec::new(), 0);
    for (folder, _) in CRATES.iter().filter(|(folder, _)| !OLD_MESSAGES.contains(folder)) {
        let (folder, mut files) = (root().join(folder), Vec::new());
        let source = folder.join("src");
        rust_files(if source.is_dir() { &source } else { &folder }, &mut files);
        let is_test = |file: &&PathBuf| file.iter().any(|part| part == "tests" || part == "tests.rs");
        for file in files.iter().filter(|file| !is_test(file)) {
            let code = fs::read_to_string(file).expect("the file is readable");
            let code = code.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            let literals = literals(code).into_iter().filter(|(_, text)| text.contains(' '));
            for (line, text) in literals.filter(|(_, text)| !text.starts_with(KEPT_MESSAGE)) {
                messages += 1;
                let text = without_values(&plain(&text));
                if let Some((word, better)) = AVOIDED.iter().find(|(word, _)| has_word(&text, word)) {
                    wrong.push(format!("{}:{line}: “{word}” ({better}): {text}", file.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} faults:\n{}", wrong.len(), wrong.join("\n"));
    assert!(messages > 2_000, "{messages}");
}

#[test]
fn each_rule_finds_its_fault() {
    let long = "six ten two ".repeat(10);
    let found = |text: &str| faults(text).into_iter().map(|(line, rule, _)| (line, rule)).collect::<Vec<_>>();
    for (text, fault) in [
        (&*format!("A {long} ends."), (1, Rule::Sentence)),
        (&*format!("| a | A {long} |"), (1, Rule::Sentence)),
        ("It does: this; that.", (1, Rule::Colons)),
        ("- Label: it does: this; that.", (1, Rule::Colons)),
        ("Fine.\n\nWhat is missing is refused.", (3, Rule::Opening)),
        ("- Whether it runs is unknown.", (1, Rule::Opening)),
        ("It runs. The same holds there.", (1, Rule::Opening)),
        ("A bug that was *planted* shows.", (1, Rule::Word)),
        ("A case is put\nto an agent.", (1, Rule::Word)),
        (&*"sentence ".repeat(17), (1, Rule::Line)),
    ] {
        assert_eq!(found(text), [fault], "{text}");
    }
    for text in [
        "What is it? It is a test.",
        "## What is judged",
        "```\nWhat is planted: this; that.\n```",
        "    What is planted: this; that.",
        "Run `What is planted` now.",
        "See [the page](told.md). It is at 12:30:59.",
        "A run of the mandated kind; one more.",
        "- **Both profiles:** one request: no round.\n- Cases: all; first one.",
        "| one; two; three |",
    ] {
        assert_eq!(found(text), [], "{text}");
    }
    let code = "// \"no\"\nlet a = '\"'; let b = \"it \\\"is\\\" one\";\nlet c: &'static str = r#\"two \"2\"\"#; let d = '\\''; f(\"three\")";
    let found: Vec<_> = literals(code);
    assert_eq!(
        found.iter().map(|(line, text)| (*line, &**text)).collect::<Vec<_>>(),
        [(2, "it \"is\" one"), (3, "two \"2\""), (3, "three")]
    );
    assert_eq!(
        split("It runs `a`. `b` follows, e.g. here. Is it? Yes."),
        ["It runs `a`.", "`b` follows, e.g. here.", "Is it?", "Yes."]
    );
}
