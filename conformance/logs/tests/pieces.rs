//! Mixtures of the small inputs: some hundred in every run of the tests.

use crate::mixed;
use crate::random::Random;

#[test]
fn no_mixture_of_pieces_ends_in_a_panic() {
    const ROUNDS: usize = 300;
    let mut random = Random(7);
    for _ in 0..ROUNDS {
        mixed::check(|limit| random.below(limit));
    }
}
