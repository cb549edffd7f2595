//! `supple demo`: a page that compares methods on built-in characters.

use super::compare::{check_folder, write_report};
use crate::args::demo::DemoArguments;
use crate::failure::Failure;
use crate::posing;
use crate::source::Source;
use supple::deform::BakedData;
use supple::weights::WeightsReport;
use supple_report::{ReportOptions, Subject};

const FIGURE: &str = "@figure:8000";
const TOY: &str = "@bar:2000";
/// The motions of the papers. The clips of the figure are chosen by how much methods differ.
const TOY_CLIPS: [&str; 3] = ["bend-120", "twist-150", "bend-and-shift"];

const COMMANDS: &str = "\
supple info    hero.glb                              # what it holds, and problems in it
supple compare hero.glb -o hero-report               # this page, for your character
supple render  hero.glb --clip Run -o run.gif
supple deform  hero.glb --clip Run --time 0.4 -o run.obj
supple convert @figure:20000 -o figure.glb           # this figure as a file";

pub(crate) fn run(options: &DemoArguments) -> Result<(), Failure> {
    check_folder(&options.out)?;
    let figure = Source::open(FIGURE.as_ref())?.asset;
    let toy = Source::open(TOY.as_ref())?.asset;
    let toy_clips = TOY_CLIPS.map(|clip| posing::find_clip(&toy, clip));
    let subjects = [
        Subject {
            title: "A figure".to_owned(),
            file: FIGURE.to_owned(),
            asset: &figure,
            baked: BakedData::default(),
            weights_report: WeightsReport::default(),
            clips: Vec::new(),
        },
        Subject {
            title: "A bar".to_owned(),
            file: TOY.to_owned(),
            asset: &toy,
            baked: BakedData::default(),
            weights_report: WeightsReport::default(),
            clips: toy_clips.into_iter().collect::<Result<_, _>>()?,
        },
    ];
    let wanted = ReportOptions {
        heading: Some("Supple moves skin with bones.".to_owned()),
        lead: Some(
            "This figure was built, bound to its skeleton, posed, deformed, measured and drawn by \
             the command that you just ran, without any other file. The page shows the same \
             motions by one skinning method after another: the artifacts of each, and its cost."
                .to_owned(),
        ),
        commands: Some(COMMANDS.to_owned()),
        ..ReportOptions::default()
    };
    write_report(&subjects, &wanted, &options.out)
}
