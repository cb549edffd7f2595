//! `supple weights`: automatic weights.

use crate::args::weights::{BindArguments, BindKind};
use crate::console;
use crate::failure::Failure;
use crate::joints::find_joints;
use crate::output::DocumentKind;
use crate::progress;
use crate::source::Source;
use crate::weight_quality;
use crate::wording::{many, measure};
use serde_json::json;
use supple::bind::{
    BindError, BindGroup, BindMethod, BindReport, BoundedBiharmonicOptions, EnvelopeOptions,
    GeodesicOptions, HeatOptions, bind_groups, is_control_name,
};
use supple::quality::WeightQuality;
use supple::{Rig, Skeleton, Weights};
use supple_io::gltf::SaveError;
use supple_io::text::quoted;

pub(crate) fn run(options: &BindArguments) -> Result<(), Failure> {
    let kind = DocumentKind::wanted(&options.out)?;
    options.check()?;
    Failure::unless_writable(&options.out)?;
    let (source, mut document) = Source::open(&options.file)?.with_document()?;
    let (mesh, skeleton) = (source.asset.rig.mesh(), source.asset.rig.skeleton());
    let mut groups = document.bind_groups(mesh, skeleton)?;
    if groups.is_empty() {
        return Err(SaveError::NoSkin.into());
    }
    let excluded = options.excluded(&source)?;
    for group in &mut groups {
        group.joints.retain(|joint| !excluded[*joint]);
    }
    if let Some(group) = groups.iter().find(|group| group.joints.is_empty()) {
        return Err(no_joint_left(group));
    }
    let method = options.method(&source)?;
    let bar = progress::bar(1000, "computing weights");
    let report_progress = |share: f64| bar.set_position((share * 1000.0) as u64);
    let bound = bind_groups(mesh, skeleton, &groups, &method, &report_progress);
    bar.finish_and_clear();
    let bound = bound.map_err(|error| match error {
        BindError::NoHandles => without_handles(&source, &groups),
        _ => explained(error, skeleton),
    })?;
    let weights = options.finished(bound.weights);
    let rig = Rig::new(mesh.clone(), skeleton.clone(), weights)?;
    document.set_binding(&rig)?;
    kind.write(&mut document, &options.out)?;
    let quality = WeightQuality::of(&rig);
    if options.json {
        let object = to_json(&rig, &method, &bound.report, &quality);
        return console::print_json(&format!("{object:#}"));
    }
    let mut lines = summary(&source, &rig, &method, &bound.report, &quality);
    let controls: Vec<usize> = (0..excluded.len())
        .filter(|&joint| excluded[joint] && is_control_name(skeleton.joint_name(joint)))
        .collect();
    if !controls.is_empty() && !options.used {
        let joints = source.named(&controls);
        let note = format!(
            "note: left out as controls by their names (--all-joints includes them): {joints}"
        );
        lines.insert(1, note);
    }
    lines.extend(source.notes_on_stale_bakes());
    lines.iter().for_each(|line| console::eprint(line));
    Ok(())
}

impl BindArguments {
    /// Refuses options of other methods.
    fn check(&self) -> Result<(), Failure> {
        let kind = self.method;
        let voxels = matches!(kind, BindKind::Geodesic | BindKind::Bbw);
        let falloff = matches!(kind, BindKind::Envelope | BindKind::Geodesic);
        let of_others = [
            (
                "--strength",
                self.strength.is_some(),
                kind == BindKind::Heat,
            ),
            ("--falloff", self.falloff.is_some(), falloff),
            (
                "--radius",
                !self.radius.is_empty(),
                kind == BindKind::Envelope,
            ),
            ("--voxels", self.voxels.is_some(), voxels),
        ];
        match of_others.iter().find(|(_, given, fits)| *given && !fits) {
            Some((option, ..)) => {
                let name = kind.default_method().name();
                Err(Failure::usage(format!(
                    "{option} is not an option of '{name}'"
                )))
            }
            None => Ok(()),
        }
    }

    /// The joints that are left out.
    fn excluded(&self, source: &Source) -> Result<Vec<bool>, Failure> {
        let rig = &source.asset.rig;
        let skeleton = rig.skeleton();
        let joints = 0..skeleton.joints().len();
        let is_control = |joint: usize| is_control_name(skeleton.joint_name(joint));
        let mut excluded: Vec<bool> = joints
            .map(|joint| !self.all_joints && is_control(joint))
            .collect();
        if excluded.iter().all(|excluded| *excluded) {
            excluded.fill(false);
        }
        if self.used {
            if source.has_no_weights() {
                let message = "--used needs weights, and the file has none";
                return Err(Failure::new(message).hint("--without leaves out joints by name"));
            }
            excluded.fill(true);
            for vertex in 0..rig.weights().vertex_count() {
                for influence in rig.weights().of(vertex) {
                    excluded[influence.joint] = false;
                }
            }
        }
        for wanted in &self.without {
            for joint in find_joints(source, wanted)? {
                excluded[joint] = true;
            }
        }
        Ok(excluded)
    }

    fn method(&self, source: &Source) -> Result<BindMethod, Failure> {
        let mut method = self.method.default_method();
        match &mut method {
            BindMethod::Rigid => {}
            BindMethod::Envelope(EnvelopeOptions { falloff, radii }) => {
                *falloff = self.falloff.unwrap_or(*falloff);
                for (wanted, radius) in &self.radius {
                    let joints = find_joints(source, wanted)?;
                    radii.extend(joints.into_iter().map(|joint| (joint, *radius)));
                }
            }
            BindMethod::Heat(HeatOptions { strength }) => {
                *strength = self.strength.unwrap_or(*strength);
            }
            BindMethod::Geodesic(GeodesicOptions { voxels, falloff }) => {
                *voxels = self.voxels.or(*voxels);
                *falloff = self.falloff.unwrap_or(*falloff);
            }
            BindMethod::BoundedBiharmonic(BoundedBiharmonicOptions { voxels, .. }) => {
                *voxels = self.voxels.or(*voxels);
            }
        }
        Ok(method)
    }

    /// Limits the number of influences.
    fn finished(&self, weights: Weights) -> Weights {
        match self.max_influences {
            Some(most) if weights.max_influences() > most => weights.limited(most),
            _ => weights,
        }
    }
}

fn no_joint_left(group: &BindGroup) -> Failure {
    let vertex = group.vertices.first().map_or(0, |vertices| vertices.start);
    let message = format!("no joint is left for vertex {vertex} and its skin");
    Failure::new(message).hint("leave out fewer joints; --used keeps those that have weights now")
}

/// The error for a skin whose joints cannot be bound, because of their bind matrices.
fn without_handles(source: &Source, groups: &[BindGroup]) -> Failure {
    let mut singular = source.asset.rig.skeleton().singular_binds();
    singular.retain(|joint| groups.iter().any(|group| group.joints.contains(joint)));
    let failure = Failure::new(BindError::NoHandles.to_string());
    match singular.is_empty() {
        true => failure,
        false => failure.hint(source.bound_flat(&singular)),
    }
}

pub(crate) fn explained(error: BindError, skeleton: &Skeleton) -> Failure {
    match error {
        BindError::NotFinite(joint) | BindError::EmptyHandle(joint) => {
            let name = skeleton.joint_name(joint);
            Failure::new(format!("{error} ({})", quoted(name)))
        }
        BindError::Option(error) => error.into(),
        _ => Failure::new(error.to_string()),
    }
}

/// A report about computed weights.
fn summary(
    source: &Source,
    rig: &Rig,
    method: &BindMethod,
    report: &BindReport,
    quality: &WeightQuality,
) -> Vec<String> {
    let weights = rig.weights();
    let mut lines = vec![format!(
        "{} bound to {} by '{}', at most {}",
        many(weights.vertex_count(), "vertex"),
        many(holding(weights), "joint"),
        method.name(),
        many(weights.max_influences(), "influence"),
    )];
    if report.cells > 0 {
        let patches = report.cells - report.voxels;
        let mut line = format!(
            "{} of width {}",
            many(report.voxels, "voxel"),
            measure(report.voxel_size)
        );
        if patches > 0 {
            line += &format!(", and {patches} surface patches too thin for voxels");
        }
        lines.push(line);
    }
    if let Some(convergence) = &report.convergence {
        lines.push(format!(
            "energy {:.4} after {}, about {:.2} % above the minimum",
            convergence.energy,
            many(convergence.sweeps, "sweep"),
            100.0 * convergence.left,
        ));
    }
    lines.extend(source.note_on_followers(report, "bone"));
    let singular = rig.skeleton().singular_binds();
    if !singular.is_empty() {
        lines.push(format!("warning: {}", source.bound_flat(&singular)));
    }
    let unreached = |joint: &usize| report.unreached.contains(joint);
    let outside = |joint: &usize| report.outside.contains(joint);
    let (idle, holding): (Vec<usize>, Vec<usize>) =
        report.outside.iter().partition(|joint| unreached(joint));
    let lost: Vec<usize> = report
        .unreached
        .iter()
        .copied()
        .filter(|joint| !outside(joint))
        .collect();
    if !idle.is_empty() {
        let joints = source.named(&idle);
        lines.push(format!(
            "note: joints outside the body without vertices: {joints}"
        ));
    }
    if !holding.is_empty() {
        let joints = source.named(&holding);
        lines.push(format!(
            "note: joints outside the body, which hold the nearest vertices: {joints}"
        ));
    }
    if !lost.is_empty() {
        let joints = source.named(&lost);
        let count = many(lost.len(), "joint");
        let hold = if lost.len() == 1 { "holds" } else { "hold" };
        lines.push(format!("warning: {count} {hold} no vertex: {joints}"));
    }
    lines.extend(weight_quality::lines(quality, |joint| {
        source.joint_label(joint)
    }));
    lines
}

/// The number of joints that hold a vertex.
fn holding(weights: &Weights) -> usize {
    let mut holds = vec![false; weights.max_joint().map_or(0, |joint| joint + 1)];
    for vertex in 0..weights.vertex_count() {
        for influence in weights.of(vertex) {
            holds[influence.joint] = true;
        }
    }
    holds.into_iter().filter(|holds| *holds).count()
}

fn to_json(
    rig: &Rig,
    method: &BindMethod,
    report: &BindReport,
    quality: &WeightQuality,
) -> serde_json::Value {
    let skeleton = rig.skeleton();
    let names = |joints: &[usize]| -> Vec<&str> {
        joints
            .iter()
            .map(|&joint| skeleton.joint_name(joint))
            .collect()
    };
    let followers = report.followers.iter();
    let followers: Vec<_> = followers
        .map(|follower| json!({ "vertex": follower.vertex, "points": follower.points }))
        .collect();
    json!({
        "method": method.name(),
        "vertices": rig.weights().vertex_count(),
        "joints": skeleton.joints().len(),
        "joints_holding": holding(rig.weights()),
        "max_influences": rig.weights().max_influences(),
        "influences": rig.weights().influence_count(),
        "unreached": names(&report.unreached),
        "outside": names(&report.outside),
        "singular_binds": names(&skeleton.singular_binds()),
        "pieces": report.pieces,
        "followers": followers,
        "partition_error": report.partition_error,
        "voxels": report.voxels,
        "cells": report.cells,
        "voxel_size": report.voxel_size,
        "convergence": report.convergence.as_ref().map(|convergence| json!({
            "sweeps": convergence.sweeps,
            "energy": convergence.energy,
            "left": convergence.left,
        })),
        "weight_quality": weight_quality::to_json(quality),
    })
}
