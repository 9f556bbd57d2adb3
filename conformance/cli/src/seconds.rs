//! Spans of time as they are given on a command line.

use std::time::Duration;

/// Reads a number of seconds.
///
/// # Errors
///
/// When it is none, or nobody would wait so long.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds")?;
    let duration = Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())?;
    // A day is longer than anybody waits, and far from overflowing a clock.
    if duration.is_zero() || duration > Duration::from_secs(86_400) {
        Err("not between 0 and a day".into())
    } else {
        Ok(duration)
    }
}
