//! `supple bench`: how long things take on this machine.
//!
//! A frame of every direct method, here or on the GPU; baking centers of rotation and following a
//! brush; baking direct delta mush, and a frame of each of its variants; computing weights and
//! editing them; keeping a surface rigid. Every figure is the best of several runs: what the
//! machine can do, not what else it did.

mod arap;
mod centers;
mod frames;
mod gpu;
mod mush;
mod scenes;
mod weights;

use crate::args::bench::{BenchArguments, Topic};
use crate::args::common::Device;
use crate::console;
use crate::failure::Failure;
use crate::progress;
use crate::source::Source;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use supple::Method;

pub(crate) fn run(options: &BenchArguments) -> Result<(), Failure> {
    let topics = options.topics()?;
    let spinner = progress::spinner("timing");
    let tell = |file: &Path| spinner.set_message(format!("timing {}", file.display()));
    let tell_method = |file: &Path, method: &Method| {
        let file = file.display();
        spinner.set_message(format!("timing {file}, {}", method.name()));
    };
    let methods = match &options.methods[..] {
        [] => scenes::direct_methods(),
        methods => methods.to_vec(),
    };
    let on_gpu = options.device.device == Device::Gpu;
    let methods = match on_gpu {
        true => gpu::with_shader(methods, !options.methods.is_empty())?,
        false => methods,
    };
    let opened = match &options.file {
        Some(file) => Some((file, Source::open(file)?.with_document()?)),
        None => None,
    };
    let mut timed = Timed::default();
    for topic in topics {
        match (topic, &opened) {
            (Topic::Frames, Some((file, (source, _)))) if on_gpu => timed.add(
                &gpu::time_file(source, &methods, |method| tell_method(file, method))?,
                gpu::Row::to_json,
                gpu::table,
            ),
            (Topic::Frames, None) if on_gpu => timed.add(
                &gpu::time_characters(&methods, tell_method)?,
                gpu::Row::to_json,
                gpu::table,
            ),
            (Topic::Frames, Some((file, (source, _)))) => timed.add(
                &frames::time_file(source, &methods, |method| tell_method(file, method))?,
                frames::Row::to_json,
                frames::table,
            ),
            (Topic::Frames, None) => timed.add(
                &frames::time_characters(&methods, tell_method)?,
                frames::Row::to_json,
                frames::table,
            ),
            (Topic::Centers, Some((file, (source, _)))) => timed.add(
                &centers::time_rows(file, None, source, options.exact)?,
                centers::Row::to_json,
                centers::table,
            ),
            (Topic::Centers, None) => timed.add(
                &centers::time_characters(options.exact, tell)?,
                centers::Row::to_json,
                centers::table,
            ),
            (Topic::Mush, opened) => {
                let rows = match opened {
                    Some((file, (source, _))) => {
                        mush::time_file(file, &source.asset, options.exact)?
                    }
                    None => mush::time_characters(options.exact, tell)?,
                };
                timed.rows.extend(rows.to_json());
                timed.tables.push(rows.tables());
            }
            (Topic::Weights, Some((file, (source, document)))) => {
                let rig = &source.asset.rig;
                let groups = document.bind_groups(rig.mesh(), rig.skeleton());
                timed.add(
                    &weights::time_file(file, rig, &groups)?,
                    weights::Row::to_json,
                    weights::table,
                );
            }
            (Topic::Weights, None) => timed.add(
                &weights::time_characters(tell)?,
                weights::Row::to_json,
                weights::table,
            ),
            (Topic::Arap, Some((file, (source, _)))) => timed.add(
                &[arap::time_file(file, &source.asset)?],
                arap::Row::to_json,
                arap::table,
            ),
            (Topic::Arap, None) => timed.add(
                &arap::time_characters(tell)?,
                arap::Row::to_json,
                arap::table,
            ),
        }
    }
    spinner.finish_and_clear();
    match options.json {
        true => console::print_json(&format!("{}", json!(timed.rows))),
        false => console::print(&timed.tables.join("\n")),
    }
}

/// What was timed, for programs and for people.
#[derive(Default)]
struct Timed {
    rows: Vec<Value>,
    tables: Vec<String>,
}

impl Timed {
    fn add<R>(
        &mut self,
        rows: &[R],
        to_json: impl Fn(&R) -> Value,
        table: impl Fn(&[R]) -> String,
    ) {
        self.rows.extend(rows.iter().map(to_json));
        self.tables.push(table(rows));
    }
}

/// How long a bake is timed, over and over.
const MOMENT: Duration = Duration::from_millis(400);

/// The same for one of many strokes.
const SHORT_MOMENT: Duration = Duration::from_millis(50);

/// What takes longer than this is not run again.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the last of some runs gave, and how long the shortest took: at least three runs, unless
/// they are slow, and as many as a moment allows.
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
