//! `supple handles`: point handles inside a character, and weights for them.

use crate::args::common::Limit;
use crate::args::handles::{HandlesArguments, PointWeights};
use crate::console;
use crate::failure::Failure;
use crate::output::{DocumentKind, extension};
use crate::progress;
use crate::source::Source;
use crate::wording::many;
use serde_json::json;
use std::io;
use supple::Mesh;
use supple::bind::{BindMethod, BindReport};
use supple::point_handles::{HandleError, HandleKind, HandleOptions, PlacedHandles, place_handles};
use supple_io::whole_file::write_whole;
use supple_render::{SegmentedBody, Settings, render};

/// The output.
enum Output {
    Bound(DocumentKind),
    List,
    Picture,
}

impl Output {
    fn wanted(options: &HandlesArguments) -> Result<Output, Failure> {
        if let Some(kind) = DocumentKind::of(&options.out) {
            return Ok(Output::Bound(kind));
        }
        match extension(&options.out).as_str() {
            "json" => Ok(Output::List),
            "png" => Ok(Output::Picture),
            _ => Err(Failure::wrong_ending(
                &options.out,
                ".glb, .gltf, .json or .png",
            )),
        }
    }

    /// Refuses options without effect on what is written.
    fn check(&self, options: &HandlesArguments) -> Result<(), Failure> {
        let for_weights = [
            ("--method", options.method.is_some()),
            ("--max-influences", options.max_influences.is_some()),
        ];
        let for_pictures = [
            ("--size", options.size.is_some()),
            ("--view", options.view.is_some()),
        ];
        let has_weights = matches!(self, Output::Bound(_));
        let is_picture = matches!(self, Output::Picture);
        let kinds = [
            (for_weights, has_weights, "the weights of a .glb or .gltf"),
            (for_pictures, is_picture, "a .png"),
        ];
        for (given, is_heard, about) in kinds {
            let mut given = given.into_iter().filter(|(_, is_given)| *is_given);
            if let Some((option, _)) = given.next().filter(|_| !is_heard) {
                let message = format!("{option} is for {about}, and has no effect here");
                return Err(Failure::about(&options.out, message).into_usage());
            }
        }
        Ok(())
    }
}

/// Influences per vertex, if no limit is given.
const USUAL_LIMIT: Limit = Some(4);

pub(crate) fn run(options: &HandlesArguments) -> Result<(), Failure> {
    let output = Output::wanted(options)?;
    output.check(options)?;
    Failure::unless_writable(&options.out)?;
    let (source, document) = Source::open(&options.file)?.with_document()?;
    let mesh = document.surface_at_rest(&source.asset.rig)?;
    let spinner = progress::spinner("placing handles");
    let placed = place_handles(&mesh, &options.wanted());
    spinner.finish_and_clear();
    let handles = placed.map_err(explained)?;
    let mut notes = notes_on_handles(&handles);
    match output {
        Output::Bound(kind) => {
            let weights = options.method.unwrap_or(PointWeights::Bbw);
            let method = weights.method();
            let bar = progress::bar(1000, "computing weights");
            let bound = handles.bind(&mesh, &method, &|share| {
                bar.set_position((share * 1000.0) as u64);
            });
            bar.finish_and_clear();
            let bound = bound.map_err(|error| Failure::new(error.to_string()))?;
            let weights = match options.max_influences.unwrap_or(USUAL_LIMIT) {
                Some(most) if bound.weights.max_influences() > most => bound.weights.limited(most),
                _ => bound.weights,
            };
            let rig = &source.asset.rig;
            let mut bound_document = document
                .with_point_handles(rig, &handles, &weights)?
                .document;
            kind.write(&mut bound_document, &options.out)?;
            notes.extend(notes_on_binding(&source, &method, &bound.report));
        }
        Output::List => {
            let list = format!("{:#}\n", listed(&handles));
            write_whole(&options.out, |out| out.write_all(list.as_bytes()))
                .map_err(|error| Failure::writing(&options.out, error))?;
        }
        Output::Picture => draw(options, &mesh, &handles)?,
    }
    notes.iter().for_each(|line| console::eprint(line));
    Ok(())
}

impl HandlesArguments {
    fn wanted(&self) -> HandleOptions {
        let given = if self.at.is_empty() {
            &self.also_at
        } else {
            &self.at
        };
        HandleOptions {
            automatic: self.at.is_empty(),
            given: given.clone(),
            clusters: self.clusters,
            count: self.count,
            ends: !self.no_ends,
            edges: (!self.edges.is_empty()).then(|| self.edges.clone()),
        }
    }
}

impl PointWeights {
    fn method(self) -> BindMethod {
        match self {
            PointWeights::Bbw => BindMethod::BoundedBiharmonic(Default::default()),
            PointWeights::Geodesic => BindMethod::Geodesic(Default::default()),
        }
    }
}

fn explained(error: HandleError) -> Failure {
    let message = error.to_string();
    match error {
        HandleError::Outside { .. } => Failure::new(message)
            .hint("handles must be inside the body; a picture (-o out.png) shows it"),
        HandleError::OffSheet { .. } => Failure::new(message)
            .hint("handles of a sheet must lie on it; a picture (-o out.png) shows it"),
        HandleError::NoSurface => Failure::new(message),
        HandleError::Isolated(_) => Failure::usage(message)
            .hint("give every handle an --edge, or give none for an automatic tree"),
        _ => Failure::usage(message),
    }
}

fn notes_on_handles(handles: &PlacedHandles) -> Vec<String> {
    let of_kind = |wanted: HandleKind| handles.kinds.iter().filter(|kind| **kind == wanted).count();
    let kinds = [
        (of_kind(HandleKind::Given), "given"),
        (
            of_kind(HandleKind::Between),
            "between parts of different thickness",
        ),
        (of_kind(HandleKind::End), "at ends of limbs"),
        (of_kind(HandleKind::Along), "along long parts"),
    ];
    let kinds = kinds.iter().filter(|(count, _)| *count > 0);
    let kinds: Vec<String> = kinds
        .map(|(count, where_)| format!("{count} {where_}"))
        .collect();
    let mut notes = vec![format!(
        "{}: {}; {}; {}",
        many(handles.places.len(), "handle"),
        kinds.join(", "),
        many(handles.segments.count, "segment"),
        many(handles.edges.len(), "pseudo-edge"),
    )];
    let report = &handles.report;
    if report.missing > 0 {
        let (placed, wanted) = (handles.places.len(), handles.places.len() + report.missing);
        notes.push(format!("note: only {placed} of {wanted} handles fit"));
    }
    if report.left_out > 0 {
        let skipped = many(report.left_out, "handle");
        notes.push(format!("note: skipped {skipped} outside the body"));
    }
    if report.sheet {
        notes.push("note: the surface has no inside, so handles lie on it".to_owned());
    }
    if !report.across.is_empty() {
        let edges = report.across.iter().map(|[a, b]| format!("{a}-{b}"));
        let edges: Vec<String> = edges.collect();
        notes.push(format!(
            "note: the body has parts that are not connected inside; edges between them: {}",
            edges.join(", ")
        ));
    }
    notes
}

fn notes_on_binding(source: &Source, method: &BindMethod, report: &BindReport) -> Vec<String> {
    let mut notes = vec![format!(
        "{} bound by '{}'",
        many(source.asset.rig.mesh().vertex_count(), "vertex"),
        method.name()
    )];
    if !source.notes.unskinned {
        let joints = many(source.asset.rig.skeleton().joints().len(), "joint");
        notes.push(format!("note: the handles replace the skin of {joints}"));
    }
    if !source.asset.clips.is_empty() {
        let clips = many(source.asset.clips.len(), "clip");
        notes.push(format!("note: only the morph targets of {clips} are kept"));
    }
    if !source.asset.props.is_empty() {
        let props = many(source.asset.props.len(), "mesh");
        notes.push(format!("note: {props} without a skin stay where they are"));
    }
    notes.extend(source.note_on_followers(report, "handle"));
    let named = |handles: &[usize]| {
        let names = handles.iter().map(|handle| handle.to_string());
        names.collect::<Vec<_>>().join(", ")
    };
    if !report.unreached.is_empty() {
        notes.push(format!(
            "warning: handles without vertices: {}",
            named(&report.unreached)
        ));
    }
    notes
}

fn listed(handles: &PlacedHandles) -> serde_json::Value {
    let kind = |kind: HandleKind| match kind {
        HandleKind::Between => "between",
        HandleKind::End => "end",
        HandleKind::Along => "along",
        HandleKind::Given => "given",
    };
    let list = handles.places.iter().zip(&handles.kinds);
    let list: Vec<_> = list
        .map(|(place, of)| json!({ "place": place.to_array(), "kind": kind(*of) }))
        .collect();
    let segments = &handles.segments;
    let report = &handles.report;
    json!({
        "handles": list,
        "edges": handles.edges,
        "segments": {
            "count": segments.count,
            "clusters": segments.clusters,
            "thicknesses": segments.thicknesses,
            "of_triangles": segments.of_triangles,
        },
        "pieces": report.pieces,
        "pieces_without_handles": report.small_pieces,
        "sheet": report.sheet,
        "moved_inside": report.moved_inside,
        "missing": report.missing,
        "left_out": report.left_out,
        "edges_across": report.across,
    })
}

fn draw(options: &HandlesArguments, mesh: &Mesh, handles: &PlacedHandles) -> Result<(), Failure> {
    let (width, height) = options.size.unwrap_or((800, 800));
    let settings = Settings {
        width,
        height,
        ..Settings::default()
    };
    let body = SegmentedBody::new(mesh, handles);
    let ground = mesh.surface_bounds().map(|bounds| bounds.min.y);
    let view = options.view.unwrap_or_default();
    let camera = body.camera(view, settings.aspect());
    let image = render(&body.scene(ground), &camera, &settings);
    write_whole(&options.out, |out| {
        image.write_png(out).map_err(io::Error::other)
    })
    .map_err(|error| Failure::writing(&options.out, error))
}
