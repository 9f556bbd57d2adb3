//! The corpus: every case and every clause, from the files in this binary or from a folder, read strictly.

mod accepted;
mod case;
mod clause;
pub mod covering;
pub(crate) mod expectation;
pub mod growth;
pub mod hazards;
pub(crate) mod mismatch;
mod session;
mod written;

pub use accepted::Accepted;
pub use case::{Case, Expect, Level, fingerprint, is_kebab_case};
pub use clause::Clause;
pub use clause::Oracle;
pub use clause::Severity;
pub use expectation::{NOTHING, Pattern};
pub use mismatch::CONTEXT;
pub use mismatch::{Mismatch, Side, SideKind, Sides};
pub use session::{session_features, session_problems};
pub use written::{canonical, lay_out};

use crate::error::Error;
use crate::json::{self, on_deep_stack};
use crate::protocol::Op;
use crate::text::{beginning, visible};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::LazyLock;

/// A file of a corpus.
#[derive(Clone, Debug)]
pub struct File {
    /// Relative to the corpus folder, with `/` between its parts.
    pub path: String,
    /// The content.
    pub text: String,
}

/// Something wrong with a corpus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file that it is in.
    pub file: String,
    /// The case that it is in, by name or position.
    pub case: Option<String>,
    /// The problem.
    pub message: String,
}

impl Problem {
    /// A problem with a file as a whole.
    pub fn in_file(file: &str, message: impl fmt::Display) -> Self {
        Self { file: file.to_owned(), case: None, message: message.to_string() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, case, message } = self;
        let problem = match case {
            Some(case) => format!("{file}: {case}: {message}"),
            None => format!("{file}: {message}"),
        };
        // A message may quote the file, whatever is in it.
        f.write_str(&visible(&problem))
    }
}

/// The folder of the cases of profile `universal`.
pub const AGENT: &str = "agent";
/// The folder of those cases of profile `universal` that only a provider can judge.
pub const WIRE: &str = "wire";
/// The folder of those that are sent through a gateway between a client and a provider.
pub const GATEWAY: &str = "gateway";
/// The folder of the cases of op `session`, all of which are of profile `universal`.
pub const SESSION: &str = "session";
/// The registry of clauses.
pub const CLAUSES: &str = "clauses.json";
/// The JSON Schema of case files, for editors and other languages; reading a corpus refuses the same things.
pub const SCHEMA: &str = "case.schema.json";
/// The list of ids and content hashes.
pub const MANIFEST: &str = "manifest.json";

/// Cases and clauses.
#[derive(Clone, Debug, Default)]
pub struct Corpus {
    /// Every case, by file and in the order of the file.
    pub cases: Vec<Case>,
    /// The clause registry.
    pub clauses: Vec<Clause>,
    /// True if the registry came with the cases, so that they must cover it.
    pub has_own_clauses: bool,
}

static EMBEDDED: LazyLock<(Corpus, Vec<Problem>)> = LazyLock::new(|| {
    on_deep_stack(read_embedded).unwrap_or_else(|error| {
        (Corpus::default(), vec![Problem::in_file(".", format!("cannot start a thread: {error}"))])
    })
});

/// The corpus that is part of this program, read once, and everything that is wrong with it.
pub fn embedded() -> (&'static Corpus, &'static [Problem]) {
    (&EMBEDDED.0, &EMBEDDED.1)
}

/// Reads the corpus that is part of this program. Inputs and expectations are read when they are needed: a test has checked them.
pub fn read_embedded() -> (Corpus, Vec<Problem>) {
    Corpus::of(&embedded_files(), |_| Ok(Vec::new()))
}

/// The files of the corpus that is part of this program.
pub fn embedded_files() -> Vec<File> {
    threadspec_golden::files()
        .iter()
        .map(|&(path, text)| File { path: path.to_owned(), text: text.to_owned() })
        .collect()
}

impl Corpus {
    /// Reads all files and returns everything that is wrong with them beside what could be read.
    ///
    /// Cases with deeply nested values, which the golden corpus has, need a deep stack:
    /// [`on_deep_stack`].
    pub fn read(files: &[File]) -> (Self, Vec<Problem>) {
        Self::of(files, Case::check)
    }

    fn of(files: &[File], check: ContentCheck) -> (Self, Vec<Problem>) {
        let (mut corpus, mut problems) = (Self::default(), Vec::new());
        corpus.read_clauses(files, &mut problems);
        for file in files.iter().filter(|file| file.path.contains('/')) {
            let (cases, found) = checked_cases(file, check);
            corpus.cases.extend(cases);
            problems.extend(found);
        }
        match covering::cases(files) {
            Ok(cases) => corpus.cases.extend(cases),
            Err(error) => problems.push(Problem::in_file(covering::COVERING, error)),
        }
        let known: HashSet<&str> = corpus.clauses.iter().map(|clause| clause.id.as_str()).collect();
        for case in &corpus.cases {
            let mut named = HashSet::new();
            for clause in &case.clauses {
                let message = match (known.contains(clause.as_str()), named.insert(clause)) {
                    (false, _) => format!("unknown clause `{clause}`"),
                    (true, false) => format!("names clause `{clause}` twice"),
                    (true, true) => continue,
                };
                problems.push(case.problem(message));
            }
        }
        (corpus, problems)
    }

    /// The templates that cannot be expanded. Reading a corpus checks only their outline, since most runs need few of them.
    pub fn template_problems(&self) -> Vec<Problem> {
        self.cases.iter().filter_map(|case| Some(case.problem(case.for_a_while().template_problem()?))).collect()
    }

    /// The clause with this id.
    pub fn clause(&self, id: &str) -> Option<&Clause> {
        self.clauses.iter().find(|clause| clause.id == id)
    }

    /// A fingerprint of all cases, whatever their order.
    pub fn hash(&self) -> String {
        let mut lines: Vec<String> = self.cases.iter().map(|case| format!("{} {}\n", case.id, case.hash())).collect();
        lines.sort_unstable();
        fingerprint(&lines.concat())
    }

    fn read_clauses(&mut self, files: &[File], problems: &mut Vec<Problem>) {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Registry {
            clauses: Vec<Clause>,
        }
        let own = files.iter().find(|file| file.path == CLAUSES).map(|file| file.text.as_str());
        let embedded = || threadspec_golden::files().iter().find(|(path, _)| *path == CLAUSES).map(|&(_, text)| text);
        self.has_own_clauses = own.is_some();
        match own.or_else(embedded).map(serde_json::from_str::<Registry>) {
            Some(Ok(registry)) => self.clauses = registry.clauses,
            Some(Err(error)) => problems.push(Problem::in_file(CLAUSES, error.to_string())),
            None => problems.push(Problem::in_file(CLAUSES, "it is missing")),
        }
        let mut seen = HashSet::new();
        for clause in &self.clauses {
            if !seen.insert(&clause.id) {
                problems.push(Problem::in_file(CLAUSES, format!("clause `{}` is registered twice", clause.id)));
            }
        }
    }
}

/// Returns whether a file has the place of a case file and, if it is JSON at all, the members of one.
pub fn is_case_file(file: &File) -> bool {
    let Some((folder, topic)) = file.path.strip_suffix(".json").and_then(|path| path.split_once('/')) else {
        return false;
    };
    let members = || match json::read(&file.text) {
        Ok(content) => content.get("op").is_some() && content.get("cases").is_some(),
        Err(_) => true,
    };
    is_kebab_case(topic) && ([AGENT, WIRE, GATEWAY].contains(&folder) || folder.parse::<Op>().is_ok()) && members()
}

/// A check of the inputs and the expectation of a case. Its error is the reason why there is no usable case at all.
type ContentCheck = fn(&Case) -> Result<Vec<String>, Error>;

/// The cases of a case file, and everything that is wrong with each of them or with the file.
pub fn cases_in(file: &File) -> (Vec<Case>, Vec<Problem>) {
    checked_cases(file, Case::check)
}

fn checked_cases(file: &File, check: ContentCheck) -> (Vec<Case>, Vec<Problem>) {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct CaseFile<'a> {
        op: String,
        about: String,
        #[serde(borrow)]
        cases: Vec<&'a RawValue>,
    }
    let (mut cases, mut problems) = (Vec::new(), Vec::new());
    let wrong = |message: String| Problem::in_file(&file.path, message);
    let place = file.path.strip_suffix(".json").and_then(|path| path.split_once('/'));
    let Some((folder, topic)) = place.filter(|(_, topic)| is_kebab_case(topic)) else {
        let message = "a case file is `<op>/<topic>.json`, its topic in kebab-case";
        return (cases, vec![wrong(message.to_owned())]);
    };
    let op: Op = match folder.parse() {
        Ok(op) => op,
        // The cases of profile `universal` have folders of their own.
        Err(_) if [AGENT, WIRE, GATEWAY].contains(&folder) => Op::Tools,
        Err(error) => return (cases, vec![Problem::in_file(&file.path, error)]),
    };
    let contents: CaseFile<'_> = match serde_json::from_str(&file.text) {
        Ok(contents) => contents,
        Err(error) => return (cases, vec![wrong(error.to_string())]),
    };
    if contents.op != op.to_string() {
        problems.push(wrong(format!("its `op` is `{}`, but it is in `{folder}/`", contents.op)));
    }
    if contents.about.trim().is_empty() {
        problems.push(wrong("`about` is empty".into()));
    }
    if contents.cases.is_empty() {
        problems.push(wrong("it has no case".into()));
    }
    let mut names: HashMap<String, usize> = HashMap::new();
    for (index, source) in contents.cases.into_iter().enumerate() {
        let checked = Case::read(source, op, folder, topic).and_then(|(case, mut problems)| {
            problems.extend(check(&case)?);
            Ok((case, problems))
        });
        match checked {
            Ok((case, found)) => {
                if let Some(first) = names.insert(case.id.clone(), index) {
                    problems.push(case.problem(format!("the name is already that of case {first}")));
                }
                problems.extend(found.into_iter().map(|message| case.problem(message)));
                cases.push(case);
            }
            Err(error) => {
                let case = Some(format!("case {index} ({})", beginning_of(source.get())));
                problems.push(Problem { file: file.path.clone(), case, message: error.to_string() });
            }
        }
    }
    (cases, problems)
}

impl Case {
    /// A problem with this case.
    pub fn problem(&self, message: String) -> Problem {
        let (file, name) = self.id.rsplit_once('/').unwrap_or(("", &self.id));
        Problem { file: format!("{file}.json"), case: Some(name.to_owned()), message }
    }
}

/// As much of a case without a name as tells which one it is.
fn beginning_of(source: &str) -> String {
    beginning(&json::compact(source), 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems_of(path: &str, text: &str) -> Vec<String> {
        let file = File { path: path.into(), text: text.into() };
        Corpus::read(&[file]).1.iter().map(ToString::to_string).collect()
    }

    fn problems_with_case(case: &str) -> Vec<String> {
        problems_of("escape/a.json", &format!(r#"{{"op":"escape","about":"x","cases":[{case}]}}"#))
    }

    const GOOD: &str =
        r#"{"name":"a-b","why":"w","clauses":["ESC-1"],"input":{"text":"\ud83d 1"},"expect":{"ok":"&amp;"}}"#;

    #[test]
    fn a_good_case_is_read_with_its_input_untouched() {
        let text = format!(r#"{{"op":"escape","about":"x","cases":[{GOOD}]}}"#);
        let (corpus, problems) = Corpus::read(&[File { path: "escape/a.json".into(), text }]);
        assert_eq!(problems, []);
        assert_eq!(corpus.cases[0].id, "escape/a/a-b");
        assert_eq!(corpus.cases[0].input(), r#"{"text":"\ud83d 1"}"#);
        assert!(!corpus.has_own_clauses);
    }

    #[test]
    fn inputs_are_sent_in_order_and_as_they_are_written() {
        let case = GOOD
            .replace(r#""input":{"text":"\ud83d 1"}"#, r#""input_json":"{\"text\":\"\\ud83d 1\",\"text\":1e400}""#)
            .replacen('{', r#"{"expand":true,"after":[{"repeat":[{"text":"{n}"}],"times":2}],"#, 1);
        let text = format!(r#"{{"op":"escape","about":"x","cases":[{case}]}}"#);
        let (corpus, problems) = Corpus::read(&[File { path: "escape/a.json".into(), text }]);
        assert_eq!(problems, []);
        let inputs: Vec<&str> = corpus.cases[0].inputs().collect();
        assert_eq!(inputs, [r#"{"text":"0"}"#, r#"{"text":"1"}"#, r#"{"text":"\ud83d 1","text":1e400}"#]);
    }

    #[test]
    fn each_fault_is_one_problem() {
        for (from, to, says) in [
            ("\"why\"", "\"comment\"", "unknown field"),
            ("a-b", "A_b", "kebab-case"),
            ("\"w\"", "\" \"", "`why`"),
            ("[\"ESC-1\"]", "[]", "names no clause"),
            ("[\"ESC-1\"]", "[\"ESC-99\"]", "unknown clause"),
            ("[\"ESC-1\"]", "[\"ESC-1\",\"ESC-1\"]", "twice"),
            ("\"input\"", "\"level\":\"must\",\"input\"", "restates"),
            ("\"input\"", "\"level\":\"may\",\"input\"", "unknown variant"),
            ("\"input\"", "\"profiles\":[\"literal\",\"hardened\"],\"input\"", "restates"),
            ("\"input\"", "\"profiles\":[\"other\"],\"input\"", "not known"),
            ("\"input\"", "\"profiles\":[],\"input\"", "not known"),
            ("{\"text\":\"\\ud83d 1\"}", "[]", "not an object"),
            ("\"input\"", "\"input_json\":\"{}\",\"input\"", "exactly one of `input`"),
            ("\"input\":{\"text\":\"\\ud83d 1\"}", "\"input_json\":\"{\"", "`input_json`: EOF"),
            ("\"input\"", "\"after\":[],\"input\"", "names no input"),
            ("\"input\"", "\"after\":[7],\"input\"", "not an object"),
            ("\"input\"", "\"expand\":false,\"input\"", "restates"),
            ("\"input\"", "\"thorough\":false,\"input\"", "restates"),
            ("\"input\"", "\"expand\":true,\"after\":[{\"repeat\":[]}],\"input\"", "takes the elements"),
            ("{\"ok\":\"&amp;\"}", "{}", "exactly one"),
            ("{\"ok\":\"&amp;\"}", "{\"ok\":1,\"holds\":[\"well-formed\"]}", "exactly one"),
            ("{\"ok\":\"&amp;\"}", "{\"oneOf\":[1]}", "at least two"),
            ("{\"ok\":\"&amp;\"}", "{\"oneOf\":[1,1.0]}", "same alternative"),
            ("{\"ok\":\"&amp;\"}", "{\"holds\":[]}", "no oracle"),
            ("{\"ok\":\"&amp;\"}", "{\"holds\":[\"x\"]}", "unknown oracle"),
            ("{\"ok\":\"&amp;\"}", "{\"reject\":\"x\"}", "not a reject kind"),
            ("{\"ok\":\"&amp;\"}", "{\"ok\":1,\"message\":\"x\"}", "goes with `reject`"),
            ("{\"ok\":\"&amp;\"}", "{\"ok\":{\"includes\":[]}}", "malformed matcher"),
        ] {
            let case = GOOD.replacen(from, to, 1);
            let problems = problems_with_case(&case);
            assert!(problems.len() == 1 && problems[0].contains(says), "{case}\n{problems:?}");
        }
    }

    #[test]
    fn severity_needs_its_evidence_and_its_folder() {
        let problems = |folder: &str, op: &str, members: &str| {
            let case = GOOD.replacen("\"input\"", &format!("{members},\"input\""), 1);
            problems_of(&format!("{folder}/a.json"), &format!(r#"{{"op":"{op}","about":"x","cases":[{case}]}}"#))
        };
        assert_eq!(problems("agent", "tools", r#""severity":"A","evidence":["a/b#1","https://a.example"]"#), [""; 0]);
        assert_eq!(problems("agent", "tools", r#""severity":"C""#), [""; 0]);
        for (members, says) in [
            (r#""severity":"A""#, "needs `evidence`"),
            (r#""severity":"B""#, "needs `evidence`"),
            (r#""severity":"D""#, "unknown variant"),
            (r#""severity":"a""#, "unknown variant"),
            (r#""evidence":["a/b#1"]"#, "goes with `severity`"),
            (r#""severity":"B","evidence":[]"#, "names nothing"),
            (r#""severity":"B","evidence":["a/b"]"#, "neither"),
            (r#""severity":"B","evidence":["a/b#1","a/b#1"]"#, "twice"),
        ] {
            let found = problems("agent", "tools", members);
            assert!(found.len() == 1 && found[0].contains(says), "{members}: {found:?}");
        }
        assert!(problems("escape", "escape", r#""severity":"C""#)[0].contains("only the cases of `agent/`"));
        assert_eq!(problems("wire", "tools", r#""severity":"C","apis":["anthropic"],"streams":true"#), [""; 0]);
        assert_eq!(problems("wire", "tools", r#""streams":false,"endpoint":{"reasoning":true}"#), [""; 0]);
        for (members, says) in [
            (r#""apis":["anthropic","palm"]"#, "not known APIs"),
            (r#""apis":[]"#, "not known APIs"),
            (r#""apis":["anthropic","anthropic"]"#, "repeats one"),
            (r#""apis":["openai-chat","openai-responses","anthropic","gemini"]"#, "restates the default"),
            (r#""endpoint":{"reasoning":false}"#, "restates the default"),
            (r#""endpoint":{"effort":true}"#, "unknown field"),
        ] {
            let found = problems("wire", "tools", members);
            assert!(found.len() == 1 && found[0].contains(says), "{members}: {found:?}");
        }
        assert!(problems("agent", "tools", r#""streams":true"#)[0].contains("only the cases of `wire/`"));
    }

    #[test]
    fn files_are_checked_too() {
        assert!(problems_with_case(&format!("{GOOD},{GOOD}"))[0].contains("already"));
        assert!(problems_with_case("")[0].contains("no case"));
        assert!(problems_of("escape/a.json", "{")[0].contains("EOF"));
        assert!(problems_of("other/a.json", "{}")[0].contains("unknown op"));
        assert!(problems_of("escape/a/b.json", "{}")[0].contains("case file"));
        assert!(
            problems_of("escape/a.json", r#"{"\n\u001b[1m":1}"#)[0].contains("`⏎␛[1m`"),
            "one line, nothing to run"
        );
        let text = format!(r#"{{"op":"loop","about":"x","cases":[{GOOD}]}}"#);
        assert!(problems_of("escape/a.json", &text)[0].contains("but it is in"));
    }
}
