//! Times: the best of several runs, and how they are written.

use crate::failure::Failure;
use std::time::{Duration, Instant};

/// The time for which work is repeated.
pub(super) const MOMENT: Duration = Duration::from_millis(400);

/// Three runs are taken unless they take longer than this.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// The result of the last of the runs that fit into a moment, and how long the fastest took.
pub(super) fn best_of<T, E>(
    moment: Duration,
    mut run: impl FnMut() -> Result<T, E>,
) -> Result<(T, Duration), Failure>
where
    Failure: From<E>,
{
    let begin = Instant::now();
    let (mut made, mut best) = clocked(&mut run)?;
    let mut runs = 1;
    while begin.elapsed() < moment || (runs < 3 && begin.elapsed() < LONGEST_WAIT) {
        let (next, time) = clocked(&mut run)?;
        made = next;
        best = best.min(time);
        runs += 1;
    }
    Ok((made, best))
}

/// A result, and how long it took.
pub(super) fn clocked<T, E>(run: impl FnOnce() -> Result<T, E>) -> Result<(T, Duration), Failure>
where
    Failure: From<E>,
{
    let start = Instant::now();
    let made = run()?;
    Ok((made, start.elapsed()))
}

pub(super) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

pub(super) fn nanoseconds_each(time: Duration, count: usize) -> f64 {
    time.as_secs_f64() * 1e9 / count.max(1) as f64
}

/// The ratio of two times.
pub(super) fn ratio(time: Duration, other: Duration) -> f64 {
    time.as_secs_f64() / other.as_secs_f64().max(f64::MIN_POSITIVE)
}

/// A time in two or three digits.
pub(super) fn readable(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        1.0.. => format!("{seconds:.1} s"),
        0.01.. => format!("{:.0} ms", seconds * 1e3),
        0.001.. => format!("{:.1} ms", seconds * 1e3),
        _ => format!("{:.2} ms", seconds * 1e3),
    }
}
