//! `supple pose`: a file in another pose.

use crate::args::pose::PoseArguments;
use crate::console;
use crate::failure::Failure;
use crate::output::DocumentKind;
use crate::posing;
use crate::source::Source;
use crate::wording::printable;

pub(crate) fn run(options: &PoseArguments) -> Result<(), Failure> {
    let Some(kind) = DocumentKind::of(&options.out) else {
        return Err(Failure::wrong_ending(&options.out, ".glb or .gltf")
            .hint("'supple render' draws the pose, 'supple deform' writes its surface"));
    };
    let moment = &options.moment;
    let timed = moment.clip.is_some() || moment.time.is_some() || moment.frame.is_some();
    if options.reach.is_empty() && !timed {
        return Err(Failure::usage("there is no pose to write")
            .hint("give one with --turn, --reach, --move, --clip or --time"));
    }
    Failure::unless_writable(&options.out)?;
    let (source, mut document) = Source::open(&options.file)?.with_document()?;
    source.warn_of_kept_weights();
    source.report_bind_faults();
    let mut pose = posing::wanted_pose(&source.asset, moment)?;
    let notes = options.reach.apply(&source, &mut pose)?;
    document.set_pose(&source.asset, &pose)?;
    kind.write(&mut document, &options.out)?;
    let lines = notes.iter().map(|line| printable(&line.text) + "\n");
    let lines: String = lines.collect();
    console::print(&lines)
}
