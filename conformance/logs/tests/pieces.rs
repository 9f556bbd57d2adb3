//! Pieces of the small inputs, cut, joined and shuffled: whatever a file holds, reading it ends without a panic.

mod random;

use random::Random;
use std::path::Path;
use std::{fs, io};
use threadspec_logs::{CheckOptions, check_bytes};

#[test]
fn no_mixture_of_pieces_ends_in_a_panic() -> io::Result<()> {
    const ROUNDS: usize = 300;
    let mut inputs = Vec::new();
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inputs"))? {
        inputs.push(fs::read(entry?.path())?);
    }
    inputs.sort();
    let mut random = Random(7);
    for _ in 0..ROUNDS {
        let mut mixed = Vec::new();
        for _ in 0..=random.below(4) {
            let input = &inputs[random.below(inputs.len())];
            // A whole file, its lines in another order, or a part that begins and ends anywhere.
            match random.below(3) {
                0 => mixed.extend_from_slice(input),
                1 => {
                    let mut lines: Vec<&[u8]> = input.split_inclusive(|&byte| byte == b'\n').collect();
                    for number in 0..lines.len() {
                        let other = random.below(lines.len());
                        lines.swap(number, other);
                    }
                    mixed.extend(lines.concat());
                }
                _ => {
                    let (one, other) = (random.below(input.len() + 1), random.below(input.len() + 1));
                    mixed.extend_from_slice(&input[one.min(other)..one.max(other)]);
                }
            }
        }
        let report = check_bytes(&mixed, &CheckOptions::default());
        // Nothing holds where nothing was recognized.
        assert!(report.summary.has_recognized() || report.summary.holds.is_empty());
    }
    Ok(())
}
