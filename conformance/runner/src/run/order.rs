//! Selects the cases of a run, their order, and their ids. Hashes decide, so that it is the same on every machine and in every version.

use crate::error::Error;
use std::fmt;
use std::str::FromStr;
use threadspec_judge::corpus::Case;

/// One of several parts of the cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Its number, from 1.
    number: u64,
    /// How many there are.
    of: u64,
}

impl Shard {
    /// Returns whether a case belongs to it; the id of the case alone decides.
    pub fn has(self, case: &Case) -> bool {
        hash(&[case.id.as_bytes()]) % self.of == self.number - 1
    }
}

impl FromStr for Shard {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let parts = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((number, of)) if (1..=of).contains(&number) => Ok(Self { number, of }),
            _ => Err(Error::new("it is not I/N, as in 1/4")),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// Sorts the cases for a round. The first round goes by operation, from the simplest to the loop, so that a broken loop hides nothing.
pub(super) fn sort(cases: &[&Case], order: &mut [usize], seed: Option<u64>, round: u64) {
    let draw =
        |index: usize| seed.map(|seed| hash(&[&seed.to_le_bytes(), &round.to_le_bytes(), cases[index].id.as_bytes()]));
    order.sort_by_cached_key(|&index| ((round == 0).then_some(cases[index].op), draw(index), index));
}

/// The id of the nth request, counted from 1: no two are equal, and none is 0, the id of the hello.
pub(super) fn request_id(seed: Option<u64>, number: i64) -> i64 {
    const BITS: u32 = 31;
    seed.map_or(number, |seed| {
        // An odd factor maps the numbers below a power of two one to one.
        let factor = hash(&[b"ids", &seed.to_le_bytes()]) | 1;
        let below = (number.unsigned_abs().wrapping_mul(factor)) & ((1 << BITS) - 1);
        (below | (number.unsigned_abs() >> BITS << BITS)).cast_signed()
    })
}

fn hash(parts: &[&[u8]]) -> u64 {
    let mut hash = hmac_sha256::Hash::new();
    for part in parts {
        hash.update(part);
    }
    let digest = hash.finalize();
    digest.iter().take(8).fold(0, |number, &byte| number << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::{Shard, request_id};
    use std::collections::HashSet;

    #[test]
    fn ids_differ_and_none_is_that_of_the_hello() {
        let ids: HashSet<i64> = (1..10_000).map(|number| request_id(Some(7), number)).collect();
        assert_eq!(ids.len(), 9_999);
        assert!(ids.iter().all(|&id| id > 0));
        assert_ne!(request_id(Some(7), 1), request_id(Some(8), 1));
        assert_eq!(request_id(None, 5), 5);
    }

    #[test]
    fn a_shard_is_one_of_its_number() {
        assert_eq!("2/3".parse(), Ok(Shard { number: 2, of: 3 }));
        for wrong in ["0/3", "4/3", "1", "1/0", "a/b", "-1/2"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}
