//! Merges the shards of a run.

use super::Error;
use super::record::RunRecord;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use threadspec_judge::corpus::Corpus;
use threadspec_runner::Exit;

/// Merges the shards of each testee and profile. Testees keep the order in which they were given, and cases are in the order of the
/// corpus. A run that is not a shard is not changed.
///
/// # Errors
///
/// When a shard is missing or given twice, or the shards are of different runs.
pub fn merge(runs: Vec<RunRecord>, corpus: &Corpus) -> Result<Vec<RunRecord>, Error> {
    let mut merged: Vec<Vec<RunRecord>> = Vec::new();
    for run in runs {
        let same = |group: &&mut Vec<RunRecord>| {
            let first = &group[0];
            run.options.shard.is_some()
                && first.options.shard.is_some()
                && (first.testee == run.testee || first.testee.is_null() || run.testee.is_null())
                && first.options.terms() == run.options.terms()
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

fn whole(shards: Vec<RunRecord>, corpus: &Corpus) -> Result<Vec<RunRecord>, Error> {
    let mut numbers: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for run in &shards {
        let shard = run.options.shard.as_deref().unwrap_or_default();
        let parts = shard.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        let (number, of) = parts.ok_or_else(|| Error::new(format!("{}: `{shard}` is not a shard", run.name())))?;
        if !numbers.entry(of).or_default().insert(number) {
            return Err(Error::new(format!("{}: shard {shard} comes twice", run.name())));
        }
    }
    // Declined cases are counted over all shards, below.
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
                return Err(Error::new(format!("{name}: shard {missing}/{of} is missing")));
            }
        }
        _ => return Err(Error::new(format!("{name}: shards of different runs"))),
    }
    for shard in shards {
        if shard.corpus != merged.corpus || shard.options.strict != merged.options.strict {
            return Err(Error::new(format!(
                "{name}: its shards are of different runs: another corpus, or strict and not"
            )));
        }
        // A testee that did not start has no hello.
        if merged.testee.is_null() {
            merged.testee = shard.testee;
        }
        // Shards may have different seeds.
        merged.options.seed = merged.options.seed.filter(|seed| shard.options.seed == Some(*seed));
        merged.started = merged.started.min(shard.started);
        merged.seconds = merged.seconds.max(shard.seconds);
        merged.exit_code = merged.exit_code.max(shard.exit_code);
        merged.stopped = merged.stopped.or(shard.stopped);
        merged.options.left_out += shard.options.left_out;
        merged.declined += shard.declined;
        // The same fault in every shard counts once, as in a single run.
        let both = [
            (&mut merged.shutdown, shard.shutdown),
            (&mut merged.against, shard.against),
            (&mut merged.remarks, shard.remarks),
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
        return Err(Error::new(format!("{name}: two shards have the case {}", twice.id)));
    }
    let place: HashMap<&str, usize> = corpus.cases.iter().enumerate().map(|(place, case)| (&*case.id, place)).collect();
    merged.cases.sort_by_key(|case| place.get(&*case.id).copied().unwrap_or(usize::MAX));
    merged.options.shard = None;
    merged.against.extend(merged.options.too_many_declined(merged.declined));
    merged.count(corpus);
    // A shard without applicable cases is not conformant by itself, but the merged run may be.
    let only_empty = merged.summary.failures == 0 && merged.summary.applicable > 0 && merged.stopped.is_none();
    if merged.exit_code == Exit::NotConformant && only_empty {
        merged.exit_code = Exit::Ok;
    }
    // Each shard may stay below the limit while all of them together exceed it.
    if merged.summary.failures > 0 {
        merged.exit_code = merged.exit_code.max(Exit::NotConformant);
    }
    Ok(vec![merged])
}
