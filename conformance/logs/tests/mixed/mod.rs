//! Pieces of the small inputs, cut, joined and shuffled: whatever a file holds, reading it ends without a panic. `fuzz/fuzz_targets/check.rs`
//! draws the pieces, too.

use std::path::Path;
use std::sync::LazyLock;
use std::{fs, io};
use threadspec_logs::{CheckOptions, check_bytes};

static INPUTS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| read().expect("the inputs are there"));

fn read() -> io::Result<Vec<Vec<u8>>> {
    let mut inputs = Vec::new();
    // Of this crate, or of the fuzz targets' beside it.
    let folders =
        ["tests/inputs", "../conformance/logs/tests/inputs"].map(|at| Path::new(env!("CARGO_MANIFEST_DIR")).join(at));
    for entry in fs::read_dir(folders.iter().find(|folder| folder.is_dir()).unwrap_or(&folders[0]))? {
        let path = entry?.path();
        if !path.ends_with("expected.json") {
            inputs.push(fs::read(path)?);
        }
    }
    inputs.sort();
    Ok(inputs)
}

/// Checks a mixture of pieces; `below` draws a number below a limit.
pub(crate) fn check(mut below: impl FnMut(usize) -> usize) {
    let mut mixed = Vec::new();
    for _ in 0..=below(3) {
        let input = &INPUTS[below(INPUTS.len())];
        // A whole file, its lines in another order, or a part that begins and ends anywhere.
        match below(3) {
            0 => mixed.extend_from_slice(input),
            1 => {
                let mut lines: Vec<&[u8]> = input.split_inclusive(|&byte| byte == b'\n').collect();
                for number in 0..lines.len() {
                    let other = below(lines.len());
                    lines.swap(number, other);
                }
                mixed.extend(lines.concat());
            }
            _ => {
                let (one, other) = (below(input.len() + 1), below(input.len() + 1));
                mixed.extend_from_slice(&input[one.min(other)..one.max(other)]);
            }
        }
    }
    let report = check_bytes(&mixed, &CheckOptions::default());
    // Nothing holds where nothing was recognized.
    assert!(report.summary.has_recognized() || report.summary.holds.is_empty());
}
