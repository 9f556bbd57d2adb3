//! Bugs that need two conditions at once: for each two features of a covering array, one that shows only where an input has both.

mod features;

use crate::Error;
use crate::planted::sound;
use crate::trial::{Survey, workers};
use features::{ColumnLevel, Finder, InputLevels};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use serde_json::Value;
use threadspec_golden::covering::Covering;
use threadspec_judge::corpus::{Case, Corpus};
use threadspec_judge::json;
use threadspec_judge::protocol::{Hello, Implementation, JudgeProfile, Op, Reply, Request};
use threadspec_judge::verdict::Outcome;
use threadspec_judge::verdict::judge;
use threadspec_runner::{CaseResult, InProcess, Testee};

/// A bug: an input that has both features is answered as if one of its values were another: that of one feature, of the other, or a
/// third one, where the first two are not shown or any text is right.
struct Both<'a, I> {
    finder: &'a Finder<'a>,
    one: ColumnLevel,
    other: ColumnLevel,
    /// How many values that make a difference are passed over.
    skip: usize,
    sound: I,
}

impl<I: Implementation> Implementation for Both<'_, I> {
    fn hello(&self) -> Hello {
        self.sound.hello()
    }

    fn answer(&mut self, request: &Request) -> Reply {
        let right = self.sound.answer(request);
        let Ok(input) = json::read(&request.input) else { return right };
        let features = found(self.finder, request.op, &input);
        if !features.all.contains(&self.one) || !features.all.contains(&self.other) {
            return right;
        }
        let at = |column: usize| features.places.iter().filter(move |place| place.0 == column);
        let places = at(self.one.0).chain(at(self.other.0)).chain(&features.places);
        let wrong = places.filter_map(|(_, path)| {
            let mut input = input.clone();
            change(input.pointer_mut(path)?);
            Some(self.sound.answer(&Request { input: input.to_string().into(), ..request.clone() }))
        });
        wrong.filter(|wrong| *wrong != right).nth(self.skip).unwrap_or(right)
    }
}

fn found(finder: &Finder<'_>, op: Op, input: &Value) -> InputLevels {
    match (op, input["text"].as_str()) {
        (Op::Escape, Some(text)) => finder.features_of_text(text),
        _ => finder.features(input),
    }
}

/// Changes a value as little as possible. Nothing is appended to a text, since literal might accept anything there.
fn change(value: &mut Value) {
    match value {
        Value::String(text) => match text.rfind(|c: char| c.is_ascii_alphanumeric()) {
            Some(last) => text.replace_range(last..=last, "!"),
            None => text.insert(0, '!'),
        },
        Value::Bool(flag) => *flag = !*flag,
        Value::Number(number) => *value = number.as_u64().map_or(1, |number| number / 2 + 1).into(),
        Value::Array(elements) => elements.push(7.into()),
        Value::Object(members) => {
            members.insert("more".to_owned(), true.into());
        }
        Value::Null => {}
    }
}

/// A row's case, with its features.
struct Trap<'c> {
    case: &'c Case,
    features: InputLevels,
    right: Outcome,
}

/// Puts to each bug the rows that have both features, until one catches it. Of all pairs every `step`-th is tried.
///
/// # Errors
///
/// When no thread of the operating system can be started.
pub fn survey_pairs(corpus: &Corpus, covering: &Covering, step: usize) -> Result<Survey, Error> {
    let workers = workers()?;
    let mut survey = Survey::default();
    for array in &covering.arrays {
        let finder = Finder::new(covering, array);
        for profile in JudgeProfile::OWN {
            let rows: Vec<&Case> = corpus
                .cases
                .iter()
                .filter(|case| case.is_row() && case.is_in(profile))
                .filter(|case| case.id.rsplit_once('/').is_some_and(|(topic, _)| topic == array.name()))
                .collect();
            let tried = workers.install(|| tried(&finder, &rows, profile, step));
            survey.trials += tried.len();
            let survivors = tried.into_iter().flatten().map(|bug| format!("{}: {bug} ({profile})", array.name()));
            survey.survivors.extend(survivors);
        }
    }
    Ok(survey)
}

/// For each pair that was tried, its bug if it survived.
fn tried<'c>(finder: &Finder<'_>, rows: &[&'c Case], profile: JudgeProfile, step: usize) -> Vec<Option<String>> {
    let trap = |case: &'c Case| {
        let input = json::read(case.input()).unwrap_or_default();
        let right = InProcess::new(sound()).ask(&case.request(1, profile));
        Trap { case, features: found(finder, case.op, &input), right }
    };
    let mut traps: Vec<Trap<'c>> = rows.par_iter().map(|&case| trap(case)).collect();
    // The smallest row that has both features is the quickest.
    traps.sort_by_cached_key(|trap| trap.case.input().len());
    let levels: Vec<ColumnLevel> = finder
        .columns()
        .iter()
        .enumerate()
        .flat_map(|(column, levels)| (0..levels.levels.len()).map(move |level| (column, level)))
        .collect();
    let pairs = levels.iter().flat_map(|one| levels.iter().map(move |other| (*one, *other)));
    let pairs: Vec<(ColumnLevel, ColumnLevel)> = pairs.filter(|(one, other)| one.0 < other.0).step_by(step).collect();
    let survives = |&(one, other): &(ColumnLevel, ColumnLevel)| {
        let has_both = |trap: &&Trap<'_>| trap.features.all.contains(&one) && trap.features.all.contains(&other);
        let fails = |trap: &Trap<'_>, skip: usize| {
            let bug = Both { finder, one, other, skip, sound: sound() };
            let outcome = InProcess::new(bug).ask(&trap.case.request(1, profile));
            outcome != trap.right
                && CaseResult { case: trap.case, judgement: judge(trap.case, profile, outcome) }.counts_against(true)
        };
        let is_caught = (0..6).any(|skip| traps.iter().filter(has_both).any(|trap| fails(trap, skip)));
        let name = |feature: ColumnLevel| {
            let column = &finder.columns()[feature.0];
            format!("{} `{}`", column.name, column.levels[feature.1])
        };
        (!is_caught).then(|| format!("{} with {}", name(one), name(other)))
    };
    pairs.par_iter().map(survives).collect()
}
