//! The catalogue of hazards is true: each case that it lists catches each bug beside it, and what it says cannot show shows nowhere.

use jsonschema::validator_for;
use rayon::iter::{IntoParallelIterator, IntoParallelRefIterator, ParallelIterator};
use serde::de::IgnoredAny;
use serde_json::Value;
use std::path::Path;
use std::{fs, io};
use threadspec_judge::corpus::hazards::{Catalogue, HAZARDS, Place, Shown, catalogue};
use threadspec_judge::corpus::{Case, Corpus, File, embedded};
use threadspec_judge::json::on_deep_stack;
use threadspec_judge::protocol::{Hello, Implementation, JudgeProfile, Reply, Request};
use threadspec_mutants::{catches, sound, sound_agent};
use threadspec_runner::files_in;
use threadspec_runner::{InProcess, Testee};
use threadspec_runner::{Settings, run};

/// Inputs beyond this take their time, and show nothing here that smaller ones do not.
const LARGE: usize = 2 << 10;

fn files() -> Vec<File> {
    files_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden")).expect("the corpus can be read")
}

fn corpus() -> (Catalogue, &'static Corpus) {
    (catalogue(&files()).expect("a catalogue"), embedded().0)
}

/// A row's pairs of a case and a bug, with the place.
type HazardPair<'a> = (&'a str, Place, &'a str, &'a str);

fn pairs(catalogue: &Catalogue) -> Vec<HazardPair<'_>> {
    let mut pairs = Vec::new();
    for hazard in &catalogue.hazards {
        for (place, shown) in hazard.shows() {
            if let Shown::By { cases, bugs } = shown {
                for case in cases {
                    pairs.extend(bugs.iter().map(|bug| (&*hazard.id, place, &**case, &**bug)));
                }
            }
        }
    }
    pairs
}

#[test]
fn each_case_catches_each_bug_of_its_row() {
    let (catalogue, corpus) = corpus();
    let find = |id: &str| corpus.cases.iter().find(|case| case.id == id).expect("lint has found it");
    let missed = |&(hazard, place, case, bug): &HazardPair<'_>| {
        if catches(find(case), bug).expect("lint has found it") {
            return None;
        }
        let small = |case: &&Case| case.id.starts_with(&format!("{place}/")) && case.input().len() < LARGE;
        let others = corpus.cases.iter().filter(small).filter(|case| catches(case, bug) == Some(true));
        let others: Vec<&str> = others.take(8).map(|case| &*case.id).collect();
        Some(format!("{hazard}: {case} does not catch {bug}, but these do: {others:?}"))
    };
    let missed = on_deep_stack(|| {
        let pool = rayon::ThreadPoolBuilder::new().stack_size(1 << 26).build().map_err(io::Error::other)?;
        let pairs = pairs(&catalogue);
        assert!(pairs.len() > 200, "{}", pairs.len());
        Ok::<Vec<String>, io::Error>(pool.install(|| pairs.par_iter().filter_map(missed).collect()))
    });
    let missed = missed.and_then(|missed| missed).expect("threads can be started");
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn the_catalogue_satisfies_its_schema_and_names_tests_that_exist() {
    let files = files();
    let read = |name: &str| {
        let file = files.iter().find(|file| file.path == name).expect("it is there");
        serde_json::from_str::<Value>(&file.text).expect("it is JSON")
    };
    let schema = validator_for(&read("hazards.schema.json")).expect("it is a schema");
    let content = read(HAZARDS);
    let errors: Vec<String> =
        schema.iter_errors(&content).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    let mut strange = content.clone();
    strange["hazards"][0]["note"] = "x".into();
    assert!(!schema.is_valid(&strange), "the schema is open");

    let tests = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")).expect("the tests are there");
    let sources: String = tests.filter_map(|file| fs::read_to_string(file.ok()?.path()).ok()).collect();
    let (catalogue, _) = corpus();
    for (hazard, shown) in
        catalogue.hazards.iter().flat_map(|hazard| hazard.shows().map(move |(_, shown)| (hazard, shown)))
    {
        if let Shown::Never { test, .. } = shown {
            assert!(sources.contains(&format!("#[test]\nfn {test}() {{")), "{}: there is no test `{test}`", hazard.id);
        }
    }
}

/// An implementation whose replies are spelled as other libraries spell them.
struct Respelled<I>(I);

impl<I: Implementation> Implementation for Respelled<I> {
    fn hello(&self) -> Hello {
        self.0.hello()
    }

    fn answer(&mut self, request: &Request) -> Reply {
        self.0.answer(request)
    }

    fn line(&mut self, request: &Request) -> String {
        let line = self.0.line(request);
        // Half a surrogate pair has one spelling only.
        let Ok(reply) = serde_json::from_str::<Value>(&line) else { return line };
        let answer = reply.as_object().into_iter().flatten().find(|(name, _)| *name != "id");
        answer.map_or(line, |(name, value)| format!("{{ \"{name}\" :\t{},\"id\": {}}}", respelled(value), request.id))
    }
}

/// JSON text that means the same: members backwards, spaces, every character that may be escaped, and numbers with a fraction.
fn respelled(value: &Value) -> String {
    match value {
        Value::String(text) => {
            let escape = |unit: u16| match unit {
                0x2f => "\\/".to_owned(),
                0x61..=0x7a => char::from_u32(unit.into()).map_or_else(String::new, String::from),
                unit => format!("\\u{unit:04X}"),
            };
            format!("\"{}\"", text.encode_utf16().map(escape).collect::<String>())
        }
        Value::Number(number) if number.as_i64().is_some_and(|number| number.abs() < 1 << 53) => {
            match number.as_i64() {
                Some(0) => "-0.0e+1".to_owned(),
                _ => format!("{number}.000E0"),
            }
        }
        Value::Array(elements) => {
            format!("[ {} ]", elements.iter().map(respelled).collect::<Vec<_>>().join(" ,\t"))
        }
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| {
                format!("{} : {}", respelled(&name.as_str().into()), respelled(value))
            };
            format!("{{ {} }}", members.iter().rev().map(member).collect::<Vec<_>>().join(" , "))
        }
        constant => constant.to_string(),
    }
}

/// The cases of a profile that fail although only the spelling of each reply is another.
fn accused(
    implementation: impl Implementation + Send + 'static,
    cases: &[&Case],
    profile: JudgeProfile,
) -> Vec<String> {
    let own: Vec<&Case> = cases.iter().copied().filter(|case| case.is_in(profile)).collect();
    assert!(own.len() > 200, "{}", own.len());
    let mut testees: [Box<dyn Testee + Send>; 1] = [Box::new(InProcess::new(Respelled(implementation)))];
    let run = run(&mut testees, &own, &Settings::new(profile), &mut ());
    run.results.iter().filter(|result| result.counts_against(true)).map(|result| result.case.id.clone()).collect()
}

#[test]
fn no_spelling_of_a_reply_is_accused() {
    let (_, corpus) = corpus();
    let is_put = |case: &&Case| !case.needs_provider() && case.inputs().all(|input| input.len() < LARGE);
    let small: Vec<&Case> = corpus.cases.iter().filter(is_put).collect();
    let found = on_deep_stack(|| {
        let own = [JudgeProfile::Literal, JudgeProfile::Hardened]
            .into_par_iter()
            .flat_map_iter(|profile| accused(sound(), &small, profile))
            .collect::<Vec<_>>();
        [own, accused(sound_agent(), &small, JudgeProfile::Universal)].concat()
    });
    assert_eq!(found.expect("a thread can be started"), [""; 0]);
}

#[test]
fn every_request_is_strict_json_on_one_line() {
    let (_, corpus) = corpus();
    let wrong = on_deep_stack(|| {
        // Large ones are made of few pieces: one in five shows how.
        let large = corpus.cases.iter().filter(|case| case.is_template).step_by(5);
        let lines = corpus.cases.iter().filter(|case| !case.is_template).chain(large).flat_map(|case| {
            case.inputs().map(|input| Request { input: input.into(), ..case.request(1, case.profiles[0]) }.line())
        });
        let is_wrong = |line: &String| {
            let mut reader = serde_json::Deserializer::from_str(line);
            reader.disable_recursion_limit();
            let read = serde::Deserialize::deserialize(&mut reader).map(|IgnoredAny| ()).and_then(|()| reader.end());
            line.contains(['\n', '\r']) || read.is_err()
        };
        lines.filter(is_wrong).collect::<Vec<_>>()
    });
    assert_eq!(wrong.expect("a thread can be started"), [""; 0]);
}
