//! `supple info`: what a file holds, and problems in it.

use crate::args::info::InfoArguments;
use crate::console;
use crate::failure::Failure;
use crate::joint_tree::{self, Extent};
use crate::source::Source;
use crate::weight_quality;
use crate::weight_rating::WeightRating;
use crate::wording::{
    bytes, center_options, listed, many, mush_influences, mush_options, printable, short_sentence,
    unusable, weight_flaws,
};
use anstyle::Style;
use serde_json::{Value, json};
use std::fmt::Write;
use supple::findings::Findings;
use supple::quality::WeightQuality;
use supple::{Asset, Prop, Weights};
use supple_io::gltf::{CENTER_ATTRIBUTE, MUSH_EXTENSION, StoredCenters, StoredMush, StoredState};
use supple_io::text::{quoted, shortened};

/// What was found in a file.
struct Report<'a> {
    file: &'a str,
    source: &'a Source,
    findings: Findings,
    quality: WeightQuality,
    rating: WeightRating,
    oddities: Vec<Oddity>,
}

pub(crate) fn run(options: &InfoArguments) -> Result<(), Failure> {
    let source = Source::open(&options.file)?;
    let file = options.file.to_string_lossy();
    let findings = Findings::of(&source.asset.rig, &source.asset.parts);
    let quality = WeightQuality::of(&source.asset.rig).as_found(&source.notes.weights);
    let report = Report {
        rating: WeightRating::of(&source, &quality, &file),
        oddities: oddities(&source, &findings),
        file: &file,
        source: &source,
        findings,
        quality,
    };
    let extent = match options.joints {
        true => Extent::All,
        false => Extent::Abridged,
    };
    match options.json {
        true => console::print_json(&format!("{:#}", report.to_json())),
        false => console::print(&report.to_text(extent)),
    }
}

/// A problem of a file.
struct Oddity {
    /// An identifier for programs.
    kind: &'static str,
    count: usize,
    /// A sentence for people.
    message: String,
}

fn oddities(source: &Source, findings: &Findings) -> Vec<Oddity> {
    let (asset, notes) = (&source.asset, &source.notes);
    let mut found = Vec::new();
    let mut note = |kind, count: usize, message: String| {
        if count > 0 {
            found.push(Oddity {
                kind,
                count,
                message,
            });
        }
    };
    let vertices = asset.rig.mesh().vertex_count();
    for flaw in weight_flaws(&notes.weights, vertices) {
        let message = format!("{}{}", flaw.found, flaw.mended);
        note(flaw.kind, flaw.count, message);
    }
    topology_oddities(asset, findings, &mut note);
    normal_oddities(asset, findings, &mut note);
    skeleton_oddities(source, findings, &mut note);
    let singular = &findings.singular_binds;
    note(
        "singular_binds",
        singular.len(),
        source.bound_flat(singular),
    );
    if notes.unskinned {
        note(
            "no_skin",
            1,
            "no skin: every mesh follows its own node".to_owned(),
        );
    }
    let centers = source.stored_centers.as_ref().map(|stored| &stored.state);
    let mush = source.stored_mush.as_ref().map(|stored| &stored.state);
    for (kind, what, state) in [
        ("unusable_centers", "centers of rotation", centers),
        ("unusable_mush", "data of direct delta mush", mush),
    ] {
        if let Some((word, why)) = state.and_then(unusable) {
            note(kind, 1, format!("the stored {what} are {word}: {why}"));
        }
    }
    let edges = source.bad_pseudo_edges();
    if let Some(first) = edges.first() {
        let count = many(edges.len(), "pseudo-edge");
        let first = short_sentence(&first.to_string());
        note(
            "bad_pseudo_edges",
            edges.len(),
            format!("ignored: {count} between point handles; {first}"),
        );
    }
    let ignored = notes.ignored_channels;
    note(
        "ignored_channels",
        ignored,
        format!(
            "not played: {} other than transforms and morphs",
            many(ignored, "animation channel")
        ),
    );
    let lines = notes.not_triangles;
    note(
        "not_triangles",
        lines,
        format!("not drawn: {} of points or lines", many(lines, "primitive")),
    );
    let extensions = &notes.unknown_required_extensions;
    note(
        "unknown_extensions",
        extensions.len(),
        format!(
            "the file requires {}, which Supple does not support",
            listed(extensions.iter().map(String::as_str))
        ),
    );
    found
}

fn topology_oddities(
    asset: &Asset,
    findings: &Findings,
    note: &mut impl FnMut(&'static str, usize, String),
) {
    let topology = &findings.topology;
    let flat = topology.degenerate_triangles;
    note(
        "degenerate_triangles",
        flat,
        format!("{} without area", many(flat, "triangle")),
    );
    let degenerate = |prop: &Prop| prop.mesh.topology().degenerate_triangles;
    let flat = asset.props.iter().map(degenerate).sum();
    note(
        "degenerate_triangles_in_props",
        flat,
        format!("{} without area in props", many(flat, "triangle")),
    );
    if topology.components > 1 {
        note(
            "components",
            topology.components,
            format!("the surface has {} separate pieces", topology.components),
        );
    }
    let open = topology.open_edges;
    note(
        "open_edges",
        open,
        format!(
            "{}: the surface has holes or borders",
            many(open, "open edge")
        ),
    );
    let crowded = topology.non_manifold_edges;
    note(
        "non_manifold_edges",
        crowded,
        format!("{} with three or more triangles", many(crowded, "edge")),
    );
    let turned = topology.inconsistent_edges;
    note(
        "inconsistent_edges",
        turned,
        format!(
            "{} between triangles of opposite orientation",
            many(turned, "edge")
        ),
    );
}

/// Normals that disagree with more than 1 % of the triangles; a few slivers are in every file.
fn normal_oddities(
    asset: &Asset,
    findings: &Findings,
    note: &mut impl FnMut(&'static str, usize, String),
) {
    let triangles = asset.rig.mesh().triangles().len();
    let fit = findings.normal_fit;
    let kinds = [
        ("normals_askew", fit.askew, "are off by more than 60°"),
        ("normals_inward", fit.inward, "point inwards"),
    ];
    for (kind, count, what) in kinds {
        if count * 100 > triangles {
            let of = format!("{count} of {}", many(triangles, "triangle"));
            note(kind, count, format!("normals of {of} {what}"));
        }
    }
}

fn skeleton_oddities(
    source: &Source,
    findings: &Findings,
    note: &mut impl FnMut(&'static str, usize, String),
) {
    let asset = &source.asset;
    let skeleton = asset.rig.skeleton();
    let first_names = |nodes: &[usize]| {
        let shown = nodes
            .iter()
            .take(3)
            .map(|&node| match skeleton.nodes()[node].name.as_str() {
                "" => "one without a name".to_owned(), // its number in the file is not known
                name => quoted(name),
            });
        let list = shown.collect::<Vec<_>>().join(", ");
        if nodes.len() > 3 {
            format!("{list}, …")
        } else {
            list
        }
    };
    let scale = &findings.rest_scale;
    let kinds = [
        (
            "non_uniform_scale",
            &scale.non_uniform,
            "scaled non-uniformly",
        ),
        (
            "negative_scale",
            &scale.negative,
            "mirrored (negative scale)",
        ),
        ("shear", &scale.sheared, "sheared"),
        ("zero_scale", &scale.collapsed, "scaled to zero"),
    ];
    for (kind, nodes, what) in kinds {
        let count = nodes.len();
        note(
            kind,
            count,
            format!(
                "{} {what} in the rest pose: {}",
                many(count, "node"),
                first_names(nodes)
            ),
        );
    }
    // Point handles are all roots.
    if findings.root_joints > 1 && source.pseudo_edges().is_empty() {
        note(
            "several_roots",
            findings.root_joints,
            format!("the skeleton has {} roots", findings.root_joints),
        );
    }
    let idle = findings.joints_without_weights;
    note(
        "joints_without_weights",
        idle,
        format!("{} without vertices", many(idle, "joint")),
    );
    let extent = asset.rig.mesh().extent();
    if findings.rest_distance > 1e-4 * extent {
        let times = findings.rest_distance / extent.max(f32::MIN_POSITIVE);
        let far = match times {
            0.0..10.0 => format!("{:.1} % of its size", 100.0 * times),
            _ => format!("{times:.0} times its size"),
        };
        note(
            "rest_is_not_bind",
            1,
            format!("the rest pose differs from the bind pose: vertices move by up to {far}"),
        );
    }
}

fn twist_joint_names(source: &Source) -> Vec<&str> {
    let nodes = source.asset.rig.skeleton().nodes();
    let added = source.twist_joints().into_iter();
    added.map(|node| nodes[node].name.as_str()).collect()
}

fn mean_influences(asset: &Asset) -> f64 {
    let weights = asset.rig.weights();
    weights.influence_count() as f64 / weights.vertex_count().max(1) as f64
}

impl Report<'_> {
    fn to_text(&self, extent: Extent) -> String {
        let Report {
            file,
            source,
            findings,
            quality,
            rating,
            oddities,
        } = self;
        let asset = &source.asset;
        let bold = Style::new().bold();
        let (mesh, skeleton, weights) =
            (asset.rig.mesh(), asset.rig.skeleton(), asset.rig.weights());
        let mut text = String::new();
        let mut row = |label: &str, value: String| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {bold}{label:<12}{bold:#} {}", printable(&value));
        };
        let topology = &findings.topology;
        let surface = match (topology.is_closed_manifold(), topology.components) {
            (_, 0) => "no surface".to_owned(),
            (true, 1) => "one closed surface".to_owned(),
            (true, pieces) => format!("{pieces} closed surfaces"),
            (false, _) => "open".to_owned(),
        };
        row(
            "surface",
            format!(
                "{}, {} ({}), {surface}",
                many(mesh.vertex_count(), "vertex"),
                many(mesh.triangles().len(), "triangle"),
                many(topology.points, "distinct point")
            ),
        );
        if let Some(bounds) = mesh.bounds() {
            let size = bounds.max - bounds.min;
            row(
                "size",
                format!("{:.3} × {:.3} × {:.3}", size.x, size.y, size.z),
            );
        }
        if asset.parts.len() > 1 {
            row(
                "parts",
                listed(asset.parts.iter().map(|part| part.name.as_str())),
            );
        }
        row(
            "skeleton",
            format!(
                "{} among {}",
                many(skeleton.joints().len(), "joint"),
                many(skeleton.nodes().len(), "node")
            ),
        );
        let name = |joint| match skeleton.joint_name(joint) {
            "" => source.joint_label(joint),
            name => shortened(name),
        };
        let tree = joint_tree::lines(&asset.rig, extent, name);
        row(
            "joints",
            "with the number of vertices that each influences".to_owned(),
        );
        for line in tree {
            row("", line);
        }
        let twist_joints = twist_joint_names(source);
        if !twist_joints.is_empty() {
            row("twist joints", listed(twist_joints.into_iter()));
        }
        let counts = findings
            .influence_counts
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0);
        let counts = counts
            .map(|(index, count)| format!("{}: {count}", index + 1))
            .collect::<Vec<_>>()
            .join(", ");
        row(
            "influences",
            format!(
                "at most {}, {:.2} on average ({counts})",
                weights.max_influences(),
                mean_influences(asset)
            ),
        );
        row("weights", rating.headline());
        for reason in &rating.reasons {
            row("", format!("- {}", reason.text));
            if let Some(command) = &reason.command {
                row("", format!("    {command}"));
            }
        }
        let lines = weight_quality::lines(quality, |joint| source.joint_label(joint));
        for (index, line) in lines.into_iter().enumerate() {
            row(if index == 0 { "measures" } else { "" }, line);
        }
        if let Some(centers) = &source.stored_centers {
            let how = centers.options.as_ref().map(center_options);
            let how = how.unwrap_or_else(|| "options unknown".to_owned());
            let state = match unusable(&centers.state) {
                None => "fit".to_owned(),
                Some((word, _)) => format!("{word}, bake again"),
            };
            row("centers", format!("of rotation, stored ({how}): {state}"));
        }
        if let Some(stored) = &source.stored_mush {
            row("ddm", mush_text(stored));
        }
        let targets: usize = asset.rest_morph_weights.len();
        if targets > 0 {
            row("morphs", many(targets, "target"));
        }
        if !asset.props.is_empty() {
            let props = listed(asset.props.iter().map(|prop| prop.name.as_str()));
            row(
                "props",
                format!("{}, not skinned: {props}", many(asset.props.len(), "mesh")),
            );
        }
        match asset.clips.len() {
            0 => row("clips", "none".to_owned()),
            count => row("clips", count.to_string()),
        }
        for clip in &asset.clips {
            row(
                "",
                format!(
                    "{} ({:.2} s, {})",
                    shortened(&clip.name),
                    clip.duration(),
                    many(clip.tracks.len(), "track")
                ),
            );
        }
        match oddities.len() {
            0 => row("problems", "none".to_owned()),
            count => row("problems", count.to_string()),
        }
        for oddity in oddities {
            row("", oddity.message.clone());
        }
        format!("{bold}{}{bold:#}\n{text}", printable(file))
    }

    fn to_json(&self) -> Value {
        let Report {
            file,
            source,
            findings,
            quality,
            rating,
            oddities,
        } = self;
        let asset = &source.asset;
        let (mesh, skeleton, weights) =
            (asset.rig.mesh(), asset.rig.skeleton(), asset.rig.weights());
        let topology = &findings.topology;
        let clips = asset.clips.iter().map(|clip| {
        json!({ "name": clip.name, "seconds": clip.duration(), "tracks": clip.tracks.len() })
    });
        let parts = asset.parts.iter().map(|part| {
            let (vertices, triangles) = (part.vertices.len(), part.triangles.len());
            json!({ "name": part.name, "vertices": vertices, "triangles": triangles })
        });
        let counts = joint_tree::vertex_counts(&asset.rig);
        let joints = skeleton.joints().iter().zip(counts).enumerate();
        let joints = joints.map(|(index, (joint, vertices))| {
            json!({
                "name": skeleton.joint_name(index),
                "parent": joint.parent,
                "vertices": vertices,
            })
        });
        let odd = oddities.iter().map(
        |oddity| json!({ "kind": oddity.kind, "count": oddity.count, "message": oddity.message }),
    );
        json!({
            "file": file,
            "vertices": mesh.vertex_count(),
            "triangles": mesh.triangles().len(),
            "points": topology.points,
            "bounds": mesh.bounds().map(|bounds| json!({
                "min": bounds.min.to_array(),
                "max": bounds.max.to_array(),
            })),
            "parts": parts.collect::<Vec<_>>(),
            "joint_count": skeleton.joints().len(),
            "joints": joints.collect::<Vec<_>>(),
            "node_count": skeleton.nodes().len(),
            "twist_joints": twist_joint_names(source),
            "max_influences": weights.max_influences(),
            "mean_influences": mean_influences(asset),
            "influence_counts": findings.influence_counts,
            "weight_rating": rating.to_json(),
            "weight_quality": weight_quality::to_json(quality),
            "stored_centers": source.stored_centers.as_ref().map(centers_json),
            "stored_mush": source.stored_mush.as_ref().map(mush_json),
            "morph_targets": asset.rest_morph_weights.len(),
            "props": asset.props.iter().map(|prop| prop.name.as_str()).collect::<Vec<_>>(),
            "clips": clips.collect::<Vec<_>>(),
            "topology": {
                "closed_manifold": topology.is_closed_manifold(),
                "components": topology.components,
                "open_edges": topology.open_edges,
                "non_manifold_edges": topology.non_manifold_edges,
                "inconsistent_edges": topology.inconsistent_edges,
                "degenerate_triangles": topology.degenerate_triangles,
            },
            "odd": odd.collect::<Vec<_>>(),
        })
    }
}

fn centers_json(centers: &StoredCenters) -> Value {
    let options = centers.options;
    json!({
        "attribute": CENTER_ATTRIBUTE,
        "state": state_word(&centers.state),
        "sigma": options.map(|options| options.sigma),
        "epsilon": options.map(|options| options.epsilon),
        "accuracy": options.map(|options| options.accuracy),
    })
}

fn mush_text(stored: &StoredMush) -> String {
    let how = stored.options.as_ref().map(mush_options);
    let how = how.unwrap_or_else(|| "options unknown".to_owned());
    let state = match unusable(&stored.state) {
        None => "fits".to_owned(),
        Some((word, _)) => format!("{word}, bake again"),
    };
    let rows = stored.mush.as_ref();
    let rows = rows.map(|mush| mush_influences(mush.weights()) + ", ");
    format!(
        "direct delta mush, baked ({how}): {state}; {}{}",
        rows.unwrap_or_default(),
        bytes(stored.byte_count)
    )
}

fn mush_json(stored: &StoredMush) -> Value {
    let weights = stored.mush.as_ref().map(|mush| mush.weights());
    let mean =
        |weights: &Weights| weights.influence_count() as f64 / weights.vertex_count().max(1) as f64;
    json!({
        "extension": MUSH_EXTENSION,
        "state": state_word(&stored.state),
        "bytes": stored.byte_count,
        "influence_count": weights.map(Weights::influence_count),
        "max_influences": weights.map(Weights::max_influences),
        "mean_influences": weights.map(mean),
        "options": stored.options.as_ref().map(|options| json!({
            "iterations": options.iterations,
            "lambda": options.lambda,
            "kappa": options.kappa,
            "alpha": options.alpha,
            "laplacian": options.edge_weights.to_string(),
            "smoothing": options.steps.to_string(),
            "radius_from_bones": options.radius_from_bones,
            "rigid": options.rigid,
            "max_influences": options.max_influences,
            "prune": options.prune,
            "alpha_at_joints": options.alpha_at_joints,
        })),
    })
}

/// The state of a stored bake, for programs.
fn state_word(state: &StoredState) -> &'static str {
    match state {
        StoredState::Fit => "fit",
        StoredState::Stale => "stale",
        StoredState::Incomplete => "incomplete",
        StoredState::UnknownOrigin => "unknown_origin",
        StoredState::Broken { .. } => "broken",
    }
}
