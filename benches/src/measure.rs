//! Ratios: both sides take turns in one run, so that whatever slows the machine slows both.

use cpu_time::ThreadTime;
use std::hint::black_box;

/// One side of a comparison: does its work once, and says how long it took in seconds.
pub type Contestant<'a> = Box<dyn FnMut() -> f64 + 'a>;

/// A side in this process. Processor time: what others do on the machine is not counted.
pub fn timed<'a, T>(mut work: impl FnMut() -> T + 'a) -> Contestant<'a> {
    Box::new(move || {
        let start = ThreadTime::now();
        black_box(work());
        start.elapsed().as_secs_f64()
    })
}

/// The seconds that the first side takes, and for each other side how many times as long it takes: medians over all rounds.
pub fn ratios(rounds: usize, sides: &mut [Contestant<'_>]) -> (f64, Vec<f64>) {
    for side in &mut *sides {
        side();
    }
    let times: Vec<Vec<f64>> = (0..rounds).map(|_| sides.iter_mut().map(|side| side()).collect()).collect();
    let own = median(times.iter().map(|round| round[0]).collect());
    let ratio = |other: usize| median(times.iter().map(|round| round[other] / round[0]).collect());
    (own, (1..sides.len()).map(ratio).collect())
}

pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
