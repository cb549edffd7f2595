//! `supple bake -m ddm`: stores the bake in the character's file, and measures rounding errors.

use crate::args::mush::MushArguments;
use crate::console;
use crate::failure::Failure;
use crate::mush;
use crate::progress;
use crate::source::Source;
use crate::wording::{bytes, many, mush_influences, share_of_size, unusable};
use std::sync::Arc;
use supple::Weights;
use supple::mush::{Mush, MushOptions};
use supple_io::gltf::{Document, MUSH_EXTENSION, MushErrors, StoredMush};
use supple_io::text::shortened;

/// The largest number of influences per vertex of the ordinary skin, which every engine supports.
const SKIN_INFLUENCES: usize = 4;

/// Stores the bake, with its own weights as the ordinary skin; returns notes for the user. With
/// `check`, the notes include the errors of the stored data.
pub(crate) fn store(
    document: &mut Document,
    source: &Source,
    wanted: &MushArguments,
    check: bool,
) -> Result<String, Failure> {
    let (options, mush) = bake(source, wanted)?;
    let rig = &source.asset.rig;
    let most = skin_influences(&options);
    let stored = document.set_mush(rig, &mush, &options, most)?;
    let kept = fitting(Some(&stored))?;
    let errors = match check {
        true => Some(measure(document, source, mush)?),
        false => None,
    };
    let mut notes = format!(
        "note: {} of {}, {} in the extension {MUSH_EXTENSION}\n",
        mush_influences(kept.weights()),
        many(rig.mesh().vertex_count(), "vertex"),
        bytes(stored.byte_count),
    );
    if let Some(errors) = &errors {
        notes += &format!(
            "note: rounding to 16 bits moves the surface by at most {} of its size, 'ddm-v1' by {} \
             ({} of {})\n",
            share_of_size(errors.rounding),
            share_of_size(errors.rounding_of_v1),
            many(errors.poses, "pose"),
            names_of_poses(errors),
        );
    }
    notes += &format!(
        "note: the ordinary skin is now that of 'ddm-v5' with {}, so that any program shows an \
         approximation",
        at_most(&kept.weights().limited(most)),
    );
    if let Some(errors) = &errors {
        notes += &format!(
            ": at most {} of the size away from 'ddm' in these poses",
            share_of_size(errors.skin)
        );
    }
    Ok(notes)
}

/// The stored bake, if it is usable.
fn fitting(stored: Option<&StoredMush>) -> Result<&Arc<Mush>, Failure> {
    stored.and_then(StoredMush::fitting).ok_or_else(|| {
        let why = stored.and_then(|stored| unusable(&stored.state));
        let why = why.map_or_else(String::new, |(_, why)| format!(": {why}"));
        Failure::new(format!("the bake cannot be read back from the file{why}"))
    })
}

/// Measures the error of the stored bake and of the ordinary skin, as read from the file.
fn measure(document: &Document, source: &Source, mush: Mush) -> Result<MushErrors, Failure> {
    let read = document.clone().read(&source.asset.name)?;
    let kept = fitting(read.stored_mush.as_ref())?;
    let spinner = progress::spinner("measuring rounding errors");
    let errors = MushErrors::measure(&source.asset, &Arc::new(mush), kept, &read.asset.rig);
    spinner.finish_and_clear();
    Ok(errors?)
}

/// The names of the clips whose poses were measured.
fn names_of_poses(errors: &MushErrors) -> String {
    if errors.clips.is_empty() {
        return "all joints turned".to_owned();
    }
    let names: Vec<String> = errors.clips.iter().map(|name| shortened(name)).collect();
    names.join(", ")
}

/// Stores the bake's own weights as the ordinary skin, and nothing else; returns notes for the
/// user.
pub(crate) fn store_as_skin(
    document: &mut Document,
    source: &Source,
    wanted: &MushArguments,
) -> Result<String, Failure> {
    let (options, mush) = bake(source, wanted)?;
    let most = skin_influences(&options);
    document.set_skin_of_mush(&source.asset.rig, &mush, most)?;
    Ok(format!(
        "note: the skin is now that of 'ddm-v5' with {}; nothing else is stored",
        at_most(&mush.weights().limited(most))
    ))
}

fn bake(source: &Source, wanted: &MushArguments) -> Result<(MushOptions, Mush), Failure> {
    let rig = &source.asset.rig;
    let mut options = source.mush_options(wanted)?;
    // The weights are about to be replaced, so the option must record that the bind was rigid.
    options.rigid |= rig.weights().max_influences() == 1;
    let stored = source.stored_mush.as_ref();
    let same = stored.filter(|stored| stored.is_by(&options));
    if let Some(mush) = same.and_then(StoredMush::fitting) {
        console::eprint("note: the file holds this bake already; it is stored again as it is");
        return Ok((options, Mush::clone(mush)));
    }
    source.report_smoothed_weights(&options);
    let mush = mush::bake(rig, &options)?;
    Ok((options, mush))
}

fn skin_influences(options: &MushOptions) -> usize {
    options.max_influences.unwrap_or(SKIN_INFLUENCES)
}

fn at_most(weights: &Weights) -> String {
    format!(
        "at most {} per vertex",
        many(weights.max_influences(), "joint")
    )
}
