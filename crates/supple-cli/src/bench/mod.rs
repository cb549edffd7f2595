//! `supple bench`: how long things take on this machine.
//!
//! Now: baking centers of rotation and following a brush; baking direct delta mush, and a frame of each of its variants. Every figure is the best of several runs: what the machine can
//! do, not what else it did.

mod centers;
mod mush;
mod scenes;

use crate::args::BenchOptions;
use crate::failure::Failure;
use crate::progress;
use crate::source::Source;
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

pub(crate) fn run(options: &BenchOptions) -> Result<(), Failure> {
    let spinner = progress::spinner("timing");
    let tell = |file: &Path| spinner.set_message(format!("timing {}", file.display()));
    let (centers, mush) = match &options.file {
        Some(file) => {
            let source = Source::open(file)?;
            let centers = centers::time_rows(file, None, &source, options.exact)?;
            (
                centers,
                mush::time_file(file, &source.asset, options.exact)?,
            )
        }
        None => (
            centers::time_characters(options.exact, tell)?,
            mush::time_characters(options.exact, tell)?,
        ),
    };
    spinner.finish_and_clear();
    if options.json {
        let centers = centers.iter().map(centers::Row::to_json);
        let rows: Vec<Value> = centers.chain(mush.to_json()).collect();
        return crate::print(&format!("{}\n", json!(rows)));
    }
    crate::print(&format!("{}\n{}", centers::table(&centers), mush.tables()))
}

/// How long a bake is timed, over and over.
const MOMENT: Duration = Duration::from_millis(400);

/// The same for one of many strokes.
const SHORT_MOMENT: Duration = Duration::from_millis(50);

/// The shortest of some runs: at least three, and as many as a moment allows.
fn best_of(
    moment: Duration,
    mut run: impl FnMut() -> Result<Duration, Failure>,
) -> Result<Duration, Failure> {
    let begin = Instant::now();
    let mut best = run()?;
    let mut runs = 1;
    while runs < 3 || begin.elapsed() < moment {
        best = best.min(run()?);
        runs += 1;
    }
    Ok(best)
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
