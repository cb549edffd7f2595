//! `supple bake`: baked data of a method, stored in the file of a character.

mod mush;

use crate::args::bake::{BakeArguments, Bakeable, CenterArguments};
use crate::console;
use crate::failure::Failure;
use crate::output::DocumentKind;
use crate::progress;
use crate::source::Source;
use crate::wording::{many, why_no_centers};
use supple::centers::{CenterOptions, Centers};
use supple::deform::MushVariant;
use supple::{Method, Rig};
use supple_io::gltf::{CENTER_ATTRIBUTE, Document};

pub(crate) fn run(options: &BakeArguments) -> Result<(), Failure> {
    let kind = DocumentKind::wanted(&options.out)?;
    let method = options.method.method();
    let centers = center_options(&options.centers, &method)?;
    options.mush.check(std::slice::from_ref(&method))?;
    if options.as_skin && !matches!(options.method, Bakeable::Mush(MushVariant::V5)) {
        let message = format!("--as-skin is for 'ddm-v5': an ordinary skin cannot hold '{method}'");
        return Err(Failure::usage(message));
    }
    if options.check && (options.as_skin || !matches!(options.method, Bakeable::Mush(_))) {
        return Err(Failure::usage(
            "--check is for bakes of direct delta mush that are stored in the file",
        ));
    }
    Failure::unless_writable(&options.out)?;
    let source = Source::open(&options.file)?;
    let (source, mut document) = source.with_document()?;
    source.report_bind_faults();
    let notes = match options.method {
        Bakeable::Centers => {
            source.warn_of_kept_weights();
            bake_centers(&mut document, &source.asset.rig, &centers)?
        }
        Bakeable::Mush(_) if options.as_skin => {
            mush::store_as_skin(&mut document, &source, &options.mush)?
        }
        Bakeable::Mush(_) => mush::store(&mut document, &source, &options.mush, options.check)?,
    };
    kind.write(&mut document, &options.out)?;
    notes.lines().for_each(console::eprint);
    Ok(())
}

fn center_options(wanted: &CenterArguments, method: &Method) -> Result<CenterOptions, Failure> {
    let given = [
        ("--sigma", wanted.sigma),
        ("--epsilon", wanted.epsilon),
        ("--accuracy", wanted.accuracy),
    ];
    let given = given.iter().find(|(_, value)| value.is_some());
    if let (Some((option, _)), Some(Bakeable::Mush(_))) = (given, Bakeable::of(method)) {
        let message = format!("{option} has no effect on '{method}'");
        return Err(Failure::usage(message).hint("methods with this option: cor"));
    }
    let usual = CenterOptions::PAPER;
    let options = CenterOptions {
        sigma: wanted.sigma.unwrap_or(usual.sigma),
        epsilon: wanted.epsilon.unwrap_or(usual.epsilon),
        accuracy: wanted.accuracy.unwrap_or(usual.accuracy),
    };
    options.check()?;
    Ok(options)
}

/// Stores centers of rotation; returns notes about them.
fn bake_centers(
    document: &mut Document,
    rig: &Rig,
    options: &CenterOptions,
) -> Result<String, Failure> {
    let spinner = progress::spinner("computing centers of rotation");
    let centers = Centers::bake(rig.mesh(), rig.weights(), options);
    spinner.finish_and_clear();
    let centers = centers?;
    document.set_centers(rig, &centers, options)?;
    Ok(summary(rig, &centers))
}

/// A line about vertices with a center, and one about those without.
fn summary(rig: &Rig, centers: &Centers) -> String {
    let all = rig.mesh().vertex_count();
    let found = centers.points().iter().flatten().count();
    let mut text = format!(
        "note: {found} of {} have a center of rotation, in the attribute {CENTER_ATTRIBUTE}",
        many(all, "vertex")
    );
    if found == 0 {
        let why = why_no_centers(rig);
        return text + &format!("\nnote: {why}; 'cor' moves this character as 'linear' does");
    }
    let follows_one = |&vertex: &usize| rig.weights().of(vertex).len() == 1;
    let simple = (0..all).filter(follows_one).count();
    let reasons = [
        (simple, "follow one joint and need none"),
        (all - found - simple, "have weights unlike any triangle's"),
    ];
    let reasons = reasons.iter().filter(|(count, _)| *count > 0);
    let reasons: Vec<String> = reasons
        .map(|(count, why)| format!("{count} {why}"))
        .collect();
    if !reasons.is_empty() {
        text += &format!("\nnote: the others have none: {}", reasons.join(", "));
    }
    text
}
