//! `supple compare`: a page that compares methods, or its numbers.

use crate::args::compare::CompareArguments;
use crate::args::method::method_text;
use crate::args::reach::ReachArguments;
use crate::console;
use crate::failure::Failure;
use crate::source::Source;
use crate::wording::printable;
use crate::{posing, progress};
use indicatif::ProgressBar;
use std::path::Path;
use supple::arap::Arap;
use supple::{Asset, Clip, Method};
use supple_io::whole_file::{make_folders, write_whole};
use supple_report::{
    Numbers, ReportError, ReportOptions, Subject, all_methods, default_methods, numbers, report,
};

/// The number of steps of the progress bar.
const STEPS: usize = 200;

/// The name of the page.
const INDEX: &str = "index.html";

pub(crate) fn run(options: &CompareArguments) -> Result<(), Failure> {
    let mut methods = match (options.all, options.methods.methods.is_empty()) {
        (true, _) => all_methods(),
        (false, true) => default_methods(),
        (false, false) => options.methods.methods.clone(),
    };
    options.mush.check(&methods)?;
    let output = CompareOutput::of(options);
    output.check()?;
    let source = Source::open(&options.file)?;
    let asset = &source.asset;
    let mut clips = Vec::new();
    for wanted in &options.clip {
        // A name may contain a comma.
        let found = match posing::find_clip(asset, wanted) {
            Ok(whole) => vec![whole],
            Err(_) => wanted
                .split(',')
                .map(|wanted| posing::find_clip(asset, wanted))
                .collect::<Result<_, _>>()?,
        };
        for clip in found {
            if !clips.contains(&clip) {
                clips.push(clip);
            }
        }
    }
    let posed = match options.reach.is_empty() {
        true => None,
        false => Some(in_pose(&source, &options.reach)?),
    };
    let subject = Subject {
        title: title(&options.file),
        file: options.file.to_string_lossy().into_owned(),
        asset: posed.as_ref().unwrap_or(asset),
        baked: source.prepare(&mut methods, &options.mush)?,
        weights_report: source.notes.weights.clone(),
        clips,
    };
    for method in &methods {
        if let Method::Arap(options) = method {
            // Errors are shown on the page.
            let arap = Arap::new(&asset.rig, options).ok();
            posing::report_handles(asset, method, arap.map(|arap| arap.report()).as_ref());
        }
    }
    let wanted = ReportOptions {
        methods,
        method_text,
        picture_size: options.size,
        ..ReportOptions::default()
    };
    match output {
        CompareOutput::Page(folder) => write_report(&[subject], &wanted, folder),
        CompareOutput::Numbers(format, folder) => {
            let (bar, progress) = progress_bar();
            let numbers = numbers(&subject, &wanted, progress);
            bar.finish_and_clear();
            write_numbers(&numbers?, format, folder)
        }
    }
}

/// What is written, and where.
enum CompareOutput<'a> {
    Page(&'a Path),
    /// Into a folder, else to standard output.
    Numbers(NumberFormat, Option<&'a Path>),
}

/// The formats of numbers.
#[derive(Clone, Copy)]
enum NumberFormat {
    Json,
    Csv,
}

impl NumberFormat {
    fn file_name(self) -> &'static str {
        match self {
            NumberFormat::Json => "compare.json",
            NumberFormat::Csv => "compare.csv",
        }
    }
}

impl CompareOutput<'_> {
    fn of(options: &CompareArguments) -> CompareOutput<'_> {
        let folder = options.out.as_deref();
        match (options.json, options.csv, folder) {
            (true, ..) => CompareOutput::Numbers(NumberFormat::Json, folder),
            (_, true, _) => CompareOutput::Numbers(NumberFormat::Csv, folder),
            // clap asks for the folder.
            (false, false, folder) => CompareOutput::Page(folder.unwrap_or(Path::new("."))),
        }
    }

    /// Checks that the output can be written, before the long work.
    fn check(&self) -> Result<(), Failure> {
        match self {
            CompareOutput::Page(folder) => check_folder(folder),
            CompareOutput::Numbers(format, Some(folder)) => {
                Failure::unless_writable_in(folder, format.file_name())
            }
            CompareOutput::Numbers(_, None) => Ok(()),
        }
    }
}

fn write_numbers(
    numbers: &Numbers,
    format: NumberFormat,
    folder: Option<&Path>,
) -> Result<(), Failure> {
    let text = match format {
        NumberFormat::Json => format!("{:#}\n", numbers.to_json()),
        NumberFormat::Csv => numbers.to_csv(),
    };
    let Some(folder) = folder else {
        return match format {
            NumberFormat::Json => console::print_json(text.trim_end()),
            NumberFormat::Csv => {
                let lines: String = text.lines().map(|line| printable(line) + "\n").collect();
                console::print(&lines)
            }
        };
    };
    write_into(folder, format.file_name(), &text)
}

/// The character with a single clip that holds the pose.
fn in_pose(source: &Source, reach: &ReachArguments) -> Result<Asset, Failure> {
    let rest = source.asset.rest_pose();
    let mut pose = rest.clone();
    reach.apply_and_report_misses(source, &mut pose)?;
    let clip = Clip::of_pose("pose", &pose, &rest);
    let clip = clip.map_err(|error| Failure::new(error.to_string()))?;
    Ok(Asset {
        clips: vec![clip],
        ..source.asset.clone()
    })
}

/// Writes a comparison page into a folder.
pub(crate) fn write_report(
    subjects: &[Subject<'_>],
    options: &ReportOptions,
    folder: &Path,
) -> Result<(), Failure> {
    let (bar, progress) = progress_bar();
    let page = report(subjects, options, progress);
    bar.finish_and_clear();
    write_into(folder, INDEX, &page?)?;
    let index = folder.join(INDEX);
    console::print(&format!("open {}\n", printable(&index.to_string_lossy())))
}

/// A bar, and what moves it to a share of the work.
fn progress_bar() -> (ProgressBar, impl FnMut(f64)) {
    let bar = progress::bar(STEPS, "comparing");
    let moved = bar.clone();
    let progress = move |share: f64| moved.set_position((share * STEPS as f64) as u64);
    (bar, progress)
}

/// Writes a file into a folder, which is made if it is missing.
fn write_into(folder: &Path, file: &str, text: &str) -> Result<(), Failure> {
    let made = make_folders(folder).map_err(|error| Failure::writing(folder, error))?;
    let path = folder.join(file);
    write_whole(&path, |out| out.write_all(text.as_bytes()))
        .map_err(|error| Failure::writing(&path, error))?;
    drop(made);
    Ok(())
}

/// Checks that a page can be written into a folder, before the long work.
pub(crate) fn check_folder(folder: &Path) -> Result<(), Failure> {
    Failure::unless_writable_in(folder, INDEX)
}

impl From<ReportError> for Failure {
    fn from(error: ReportError) -> Failure {
        Failure::new(error.to_string())
    }
}

/// The title for a file: its name without extension, or the name of a built-in character.
fn title(file: &Path) -> String {
    let name = if file.to_string_lossy().starts_with('@') {
        file.to_str()
    } else {
        file.file_stem().and_then(|stem| stem.to_str())
    };
    name.unwrap_or("character").to_owned()
}
