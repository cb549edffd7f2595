//! `supple bench`: how long things take on this machine.
//!
//! Now: baking centers of rotation and following a brush; baking direct delta mush, and a frame of each of its variants; computing weights and editing them; keeping a surface rigid. Every figure is the best of several runs: what the machine can
//! do, not what else it did.

mod arap;
mod centers;
mod mush;
mod scenes;
mod weights;

use crate::args::BenchOptions;
use crate::failure::Failure;
use crate::progress;
use crate::source::Source;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub(crate) fn run(options: &BenchOptions) -> Result<(), Failure> {
    let spinner = progress::spinner("timing");
    let tell = |file: &Path| spinner.set_message(format!("timing {}", file.display()));
    let (centers, mush, weights, arap) = match &options.file {
        Some(file) => {
            let (source, document) = Source::open(file)?.with_document()?;
            let groups = document.bind_groups(source.asset.rig.mesh(), source.asset.rig.skeleton());
            (
                centers::time_rows(file, None, &source, options.exact)?,
                mush::time_file(file, &source.asset, options.exact)?,
                weights::time_file(file, &source.asset.rig, &groups)?,
                vec![arap::time_file(file, &source.asset)?],
            )
        }
        None => (
            centers::time_characters(options.exact, tell)?,
            mush::time_characters(options.exact, tell)?,
            weights::time_characters(tell)?,
            arap::time_characters(tell)?,
        ),
    };
    spinner.finish_and_clear();
    if options.json {
        let centers = centers.iter().map(centers::Row::to_json);
        let weights = weights.iter().map(weights::Row::to_json);
        let arap = arap.iter().map(arap::Row::to_json);
        let rows = centers.chain(mush.to_json()).chain(weights).chain(arap);
        let rows: Vec<Value> = rows.collect();
        return crate::print(&format!("{}\n", json!(rows)));
    }
    crate::print(&format!(
        "{}\n{}\n{}\n{}",
        centers::table(&centers),
        mush.tables(),
        weights::table(&weights),
        arap::table(&arap)
    ))
}

/// How long a bake is timed, over and over.
const MOMENT: Duration = Duration::from_millis(400);

/// The same for one of many strokes.
const SHORT_MOMENT: Duration = Duration::from_millis(50);

/// What takes longer than this is not run again.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the last of some runs gave, and how long the shortest took: at least three runs, unless they are slow, and as many as a moment allows.
fn best_of<T>(
    moment: Duration,
    mut run: impl FnMut() -> Result<(T, Duration), Failure>,
) -> Result<(T, Duration), Failure> {
    let begin = Instant::now();
    let (mut made, mut best) = run()?;
    let mut runs = 1;
    while begin.elapsed() < moment || (runs < 3 && begin.elapsed() < PATIENCE) {
        let (next, time) = run()?;
        made = next;
        best = best.min(time);
        runs += 1;
    }
    Ok((made, best))
}

/// What something gives, and how long it took.
fn clocked<T, E>(run: impl FnOnce() -> Result<T, E>) -> Result<(T, Duration), Failure>
where
    Failure: From<E>,
{
    let start = Instant::now();
    let made = run()?;
    Ok((made, start.elapsed()))
}

/// The time in the middle, and the longest.
fn median_and_slowest(mut times: Vec<Duration>) -> (Duration, Option<Duration>) {
    times.sort();
    let median = times.get(times.len() / 2).copied().unwrap_or_default();
    (median, times.last().copied())
}

/// A built-in character, as commands call it.
fn built_in(character: &str) -> PathBuf {
    PathBuf::from(format!("@{character}"))
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// A time, and the longest of those that it stands for.
fn readable_with_slowest(time: Duration, slowest: Option<Duration>) -> String {
    let slowest = slowest.map(|time| format!(", slowest {}", readable(time)));
    readable(time) + &slowest.unwrap_or_default()
}

/// A table in Markdown, its columns aligned.
fn markdown<const COLUMNS: usize>(
    head: [&str; COLUMNS],
    lines: impl Iterator<Item = [String; COLUMNS]>,
) -> String {
    let lines: Vec<[String; COLUMNS]> =
        [head.map(str::to_owned)].into_iter().chain(lines).collect();
    let widths: [usize; COLUMNS] = std::array::from_fn(|column| {
        let cells = lines.iter().map(|line| line[column].chars().count());
        cells.max().unwrap_or(0)
    });
    let mut text = String::new();
    for (index, line) in lines.iter().enumerate() {
        for (cell, &width) in line.iter().zip(&widths) {
            text += &format!("| {cell:<width$} ");
        }
        text += "|\n";
        if index == 0 {
            for &width in &widths {
                text += &format!("| {} ", "-".repeat(width));
            }
            text += "|\n";
        }
    }
    text
}

fn readable(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        1.0.. => format!("{seconds:.1} s"),
        0.01.. => format!("{:.0} ms", seconds * 1e3),
        _ => format!("{:.1} ms", seconds * 1e3),
    }
}
