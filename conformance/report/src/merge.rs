//! Puts the shards of a run together.

use super::record::RunRecord;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use threadspec_judge::corpus::Corpus;

/// Puts the shards of each testee and profile together, in the order in which the testees come, their cases in the order of the
/// corpus. Runs that are no shards stay as they are.
///
/// # Errors
///
/// When a shard is missing or comes twice, or shards are not of one run.
pub fn merge(runs: Vec<RunRecord>, corpus: &Corpus) -> Result<Vec<RunRecord>, String> {
    let mut merged: Vec<Vec<RunRecord>> = Vec::new();
    for run in runs {
        let same = |group: &&mut Vec<RunRecord>| {
            let first = &group[0];
            run.options.shard.is_some()
                && first.options.shard.is_some()
                && (first.testee == run.testee || first.testee.is_null() || run.testee.is_null())
                && first.options.profile == run.options.profile
        };
        match merged.iter_mut().find(same) {
            Some(group) => group.push(run),
            None => merged.push(vec![run]),
        }
    }
    let mut complete = Vec::new();
    for group in merged {
        complete.push(if group[0].options.shard.is_some() { whole(group, corpus)? } else { group });
    }
    Ok(complete.into_iter().flatten().collect())
}

fn whole(shards: Vec<RunRecord>, corpus: &Corpus) -> Result<Vec<RunRecord>, String> {
    let mut numbers: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for run in &shards {
        let shard = run.options.shard.as_deref().unwrap_or_default();
        let parts = shard.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        let (number, of) = parts.ok_or_else(|| format!("{}: `{shard}` is not a shard", run.name()))?;
        if !numbers.entry(of).or_default().insert(number) {
            return Err(format!("{}: shard {shard} comes twice", run.name()));
        }
    }
    // How many cases were declined is judged again below, for all shards together.
    let mut shards = shards.into_iter().map(|mut shard| {
        let too_many = shard.options.too_many_declined(shard.declined);
        shard.against.retain(|what| Some(what) != too_many.as_ref());
        shard
    });
    let Some(mut merged) = shards.next() else { return Ok(Vec::new()) };
    let name = merged.name();
    match numbers.first_key_value() {
        Some((of, found)) if numbers.len() == 1 => {
            if let Some(missing) = (1..=*of).find(|number| !found.contains(number)) {
                return Err(format!("{name}: shard {missing}/{of} is missing"));
            }
        }
        _ => return Err(format!("{name}: shards of different runs")),
    }
    let mut total = merged.summary.total;
    for shard in shards {
        if shard.corpus != merged.corpus || shard.options.strict != merged.options.strict {
            return Err(format!("{name}: its shards are of different runs: another corpus, or strict and not"));
        }
        total += shard.summary.total;
        // One that did not start said nothing about itself.
        if merged.testee.is_null() {
            merged.testee = shard.testee;
        }
        // Each shard may have a seed of its own.
        merged.options.seed = merged.options.seed.filter(|seed| shard.options.seed == Some(*seed));
        merged.started = merged.started.min(shard.started);
        merged.seconds = merged.seconds.max(shard.seconds);
        merged.exit_code = worse(merged.exit_code, shard.exit_code);
        merged.stopped = merged.stopped.or(shard.stopped);
        merged.options.left_out += shard.options.left_out;
        merged.declined += shard.declined;
        // What every shard says is one fault, as in one run.
        let both = [
            (&mut merged.shutdown, shard.shutdown),
            (&mut merged.against, shard.against),
            (&mut merged.out_of_date, shard.out_of_date),
        ];
        for (all, found) in both {
            for what in found {
                if !all.contains(&what) {
                    all.push(what);
                }
            }
        }
        merged.cases.extend(shard.cases);
    }
    let mut seen = HashSet::new();
    if let Some(twice) = merged.cases.iter().find(|case| !seen.insert(case.id.clone())) {
        return Err(format!("{name}: two shards have the case {}", twice.id));
    }
    let place: HashMap<&str, usize> = corpus.cases.iter().enumerate().map(|(place, case)| (&*case.id, place)).collect();
    merged.cases.sort_by_key(|case| place.get(&*case.id).copied().unwrap_or(usize::MAX));
    merged.options.shard = None;
    merged.against.extend(merged.options.too_many_declined(merged.declined));
    merged.count(total, corpus);
    // A shard without an applicable case is not conformant, but the whole run may be.
    let only_empty = merged.summary.failures == 0 && merged.summary.applicable > 0 && merged.stopped.is_none();
    if merged.exit_code == 1 && only_empty {
        merged.exit_code = 0;
    }
    // What each shard may do a few times, all of them together may do too often.
    if merged.summary.failures > 0 {
        merged.exit_code = worse(merged.exit_code, 1);
    }
    Ok(vec![merged])
}

/// The worse of two exit codes: one that says that the run itself failed outweighs one about the testee.
fn worse(one: u8, other: u8) -> u8 {
    let rank = |code: u8| match code {
        0 => 0,
        5 => 1,
        1 => 2,
        code => code.saturating_add(2),
    };
    if rank(one) >= rank(other) { one } else { other }
}
