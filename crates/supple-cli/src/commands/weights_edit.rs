//! `supple weights edit`: the edits of `supple::edit`, in the order of the command line.

use crate::args::weights_edit::{
    JointPaint, Operation, Operations, Task, Touches, WeightsEditArguments,
};
use crate::console;
use crate::failure::Failure;
use crate::joints::find_joints;
use crate::output::DocumentKind;
use crate::progress;
use crate::source::Source;
use crate::wording::{listed, many, measure};
use glam::Vec3;
use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;
use supple::bind::BindGroup;
use supple::edit::{
    Brush, Change, Edit, EditError, EditRegion, Editor, Falloff, Paint, StrokePoint, Transfer,
    TransferReport,
};
use supple::weights::WeightsReport;
use supple::{Rig, Weights};
use supple_io::gltf::SaveError;

pub(crate) fn run(options: &WeightsEditArguments) -> Result<(), Failure> {
    let kind = DocumentKind::wanted(&options.out)?;
    let Operations(operations) = &options.operations;
    if operations.is_empty() {
        return Err(Failure::usage("there is nothing to do")
            .hint("name an operation, such as --smooth 5 or --max-influences 4; see --help"));
    }
    options.check_settings()?;
    Failure::unless_writable(&options.out)?;
    let source = Source::open(&options.file)?;
    let (source, mut document) = source.with_document()?;
    let rig = &source.asset.rig;
    let groups = document.bind_groups(rig.mesh(), rig.skeleton())?;
    if groups.is_empty() {
        return Err(SaveError::NoSkin.into());
    }
    if source.has_no_weights() {
        check_first(operations)?;
    }
    let mut session = Session {
        options,
        source: &source,
        groups,
        editor: Editor::new(rig),
        weights: rig.weights().clone(),
        region: EditRegion::All,
        notes: Vec::new(),
    };
    for operation in operations {
        let spinner = progress::spinner(&operation.written);
        let done = session.perform(operation);
        spinner.finish_and_clear();
        done?;
    }
    let Session {
        weights, mut notes, ..
    } = session;
    if weights != *rig.weights() {
        notes.extend(source.notes_on_stale_bakes());
    }
    let edited = Rig::new(rig.mesh().clone(), rig.skeleton().clone(), weights)?;
    document.set_binding(&edited)?;
    kind.write(&mut document, &options.out)?;
    for line in notes {
        console::eprint(&line);
    }
    Ok(())
}

/// Checks that the first operation on a file without weights transfers some.
fn check_first(operations: &[Operation]) -> Result<(), Failure> {
    let mut needy = operations.iter().filter(|operation| {
        let task = &operation.task;
        !matches!(task, Task::Lock(_) | Task::Unlock(_) | Task::Within(_))
    });
    match needy.next() {
        Some(Operation { task, written }) if !matches!(task, Task::Transfer(_)) => {
            let message = format!("the file has no weights for --{written}");
            let hint =
                "'supple weights' computes some, --transfer takes those of another character";
            Err(Failure::new(message).hint(hint))
        }
        _ => Ok(()),
    }
}

/// The weights between two operations.
struct Session<'a> {
    options: &'a WeightsEditArguments,
    source: &'a Source,
    /// The vertices of each skin, and its joints.
    groups: Vec<BindGroup>,
    editor: Editor,
    weights: Weights,
    region: EditRegion,
    /// Notes about the operations.
    notes: Vec<String>,
}

impl Session<'_> {
    fn perform(&mut self, operation: &Operation) -> Result<(), Failure> {
        let Operation { written, task } = operation;
        let edits = match task {
            Task::Normalise => {
                let mended = mended(&self.source.notes.weights);
                self.notes.push(format!("note: normalise: {mended}"));
                self.in_region(Edit::CloseSeams)
            }
            Task::Prune(below) => self.in_region(Edit::Prune { below: *below }),
            Task::Limit(most) => self.in_region(Edit::Limit { most: *most }),
            Task::Smooth {
                steps,
                strength,
                joints,
            } => self.in_region(Edit::Smooth {
                steps: *steps,
                strength: *strength,
                joints: self.joints(joints)?,
            }),
            Task::Mirror(mirror) => self.in_region(Edit::Mirror(*mirror)),
            Task::Transfer(file) => return self.transfer(written, file),
            Task::Flood(paint) => self.painted(paint, Edit::Flood)?,
            Task::Brush { paint, touches } => {
                self.painted(paint, |paint| self.stroke(paint, touches))?
            }
            Task::BrushSmooth { strength, touches } => {
                let strength = *strength;
                self.in_region(self.stroke(Paint::Smooth { strength }, touches))
            }
            Task::Lock(joint) => return self.set_locked(joint, true),
            Task::Unlock(joint) => return self.set_locked(joint, false),
            Task::Within(region) => return self.set_region(region),
        };
        // Before the edit, which may change who holds what.
        let limited = match task {
            Task::Limit(most) => Some((*most, self.vertices_in_region())),
            _ => None,
        };
        let mut changes = Vec::with_capacity(edits.len());
        for (edit, region) in edits {
            let change = self.editor.apply(&self.weights, &edit, &region)?;
            self.weights = change.redo(&self.weights)?;
            changes.push(change);
        }
        self.note_changes(written, &changes);
        if let Some((most, vertices)) = limited {
            self.note_excess(written, most, &vertices);
        }
        if let Task::Brush { touches, .. } | Task::BrushSmooth { touches, .. } = task {
            self.note_far_positions(written, touches);
        }
        Ok(())
    }

    /// Adds a note about vertices with more locked joints than a limit allows.
    fn note_excess(&mut self, written: &str, most: usize, vertices: &[usize]) {
        let beyond = |vertex: &&usize| self.weights.of(**vertex).len() > most;
        let count = vertices.iter().filter(beyond).count();
        if count > 0 {
            let keep = if count == 1 { "keeps" } else { "keep" };
            self.notes.push(format!(
                "note: {written}: {} {keep} more, as locked joints are not dropped",
                many(count, "vertex")
            ));
        }
    }

    /// Adds a note about brush positions farther from the surface than the radius, which are often
    /// mistakes of the unit or of the up axis.
    fn note_far_positions(&mut self, written: &str, touches: &Touches) {
        for place in &touches.places {
            let StrokePoint::Near(place) = *place else {
                continue;
            };
            let distance = self.editor.distance_from(place);
            if let Some(distance) = distance.filter(|distance| *distance > touches.radius) {
                let Vec3 { x, y, z } = place;
                self.notes.push(format!(
                    "note: {written}: {x},{y},{z} is {} from the surface, more than the radius; \
                     painted at the nearest point",
                    measure(distance)
                ));
            }
        }
    }

    fn vertices_in_region(&self) -> Vec<usize> {
        let vertices = 0..self.weights.vertex_count();
        vertices
            .filter(|&vertex| self.is_in_region(vertex))
            .collect()
    }

    /// An edit in the current region.
    fn in_region(&self, edit: Edit) -> Vec<(Edit, EditRegion)> {
        vec![(edit, self.region.clone())]
    }

    /// Adds a note about what an operation changed; the changes are of different vertices.
    fn note_changes(&mut self, written: &str, changes: &[Change]) {
        let all = many(self.weights.vertex_count(), "vertex");
        let count: usize = changes.iter().map(|change| change.vertices().len()).sum();
        let differences = changes.iter().map(Change::largest_difference);
        let largest = differences.fold(0.0, f32::max);
        self.notes.push(match count {
            0 => format!("note: {written}: nothing changed"),
            _ => format!("note: {written}: {count} of {all} changed, by at most {largest:.4}"),
        });
    }

    fn transfer(&mut self, written: &str, file: &Path) -> Result<(), Failure> {
        let other = Source::open(file)?;
        if other.has_no_weights() {
            let message = format!("{} has no weights to take", file.display());
            return Err(Failure::new(message).hint("'supple weights' computes some"));
        }
        let without_weights = other.notes.weights.without_weights;
        let mut transfer = Transfer {
            either_side: self.options.either_side,
            ..Transfer::new(Arc::new(other.asset.rig))
        };
        if let Some(reach) = self.options.reach {
            transfer.reach = reach;
        }
        if let Some(degrees) = self.options.angle {
            transfer.angle = degrees.to_radians();
        }
        let done = self.editor.transfer(&self.weights, &transfer, &self.region);
        let (change, report) = done?;
        self.weights = change.redo(&self.weights)?;
        self.note_changes(written, &[change]);
        self.notes.extend(transfer_notes(&report));
        if without_weights > 0 {
            self.notes.push(format!(
                "note: {} of {} had no weights and counted as bound to the root of their skin",
                many(without_weights, "vertex"),
                file.display()
            ));
        }
        Ok(())
    }

    fn stroke(&self, paint: Paint, touches: &Touches) -> Edit {
        let falloff = match self.options.falloff.as_deref() {
            Some("linear") => Falloff::Linear,
            Some("constant") => Falloff::Constant,
            _ => Falloff::Smooth,
        };
        let brush = Brush {
            paint,
            radius: touches.radius,
            falloff,
        };
        Edit::Stroke(brush, touches.places.clone())
    }

    /// Paints a joint, given by name. If several joints have the name, as skins may bind one node
    /// in several ways, every vertex takes the joint of its own skin.
    fn painted(
        &self,
        paint: &JointPaint,
        edit: impl Fn(Paint) -> Edit,
    ) -> Result<Vec<(Edit, EditRegion)>, Failure> {
        let joints = find_joints(self.source, &paint.joint)?;
        if let [joint] = joints[..] {
            return Ok(self.in_region(edit(paint.of(joint))));
        }
        let mut vertices: Vec<Vec<u32>> = vec![Vec::new(); joints.len()];
        for group in &self.groups {
            let own = joints.iter().position(|joint| group.joints.contains(joint));
            let of_group = group.vertices.iter().cloned().flatten();
            let of_group = of_group.filter(|&vertex| self.is_in_region(vertex));
            vertices[own.unwrap_or(0)].extend(of_group.map(|vertex| vertex as u32));
        }
        let joints = joints.into_iter().zip(vertices);
        Ok(joints
            .map(|(joint, vertices)| (edit(paint.of(joint)), EditRegion::Vertices(vertices)))
            .collect())
    }

    fn is_in_region(&self, vertex: usize) -> bool {
        match &self.region {
            EditRegion::All => true,
            EditRegion::HeldBy(joints) => {
                let mut influences = self.weights.of(vertex);
                influences.any(|influence| joints.contains(&influence.joint))
            }
            EditRegion::Vertices(vertices) => vertices.binary_search(&(vertex as u32)).is_ok(),
        }
    }

    fn joints(&self, names: &[String]) -> Result<Vec<usize>, Failure> {
        let found = names.iter().map(|name| find_joints(self.source, name));
        Ok(found.collect::<Result<Vec<_>, _>>()?.concat())
    }

    fn set_locked(&mut self, name: &str, locked: bool) -> Result<(), Failure> {
        for joint in find_joints(self.source, name)? {
            self.editor.set_locked(joint, locked)?;
        }
        Ok(())
    }

    fn set_region(&mut self, wanted: &str) -> Result<(), Failure> {
        self.region = match wanted.strip_prefix("mesh:") {
            _ if wanted == "all" => EditRegion::All,
            Some(name) => EditRegion::Vertices(self.vertices_of_part(name)?),
            None => EditRegion::HeldBy(find_joints(self.source, wanted)?),
        };
        Ok(())
    }

    /// The vertices of all parts with a name, in ascending order.
    fn vertices_of_part(&self, name: &str) -> Result<Vec<u32>, Failure> {
        let parts = &self.source.asset.parts;
        let named = parts.iter().filter(|part| part.name == name);
        let vertices = named.flat_map(|part| part.vertices.clone());
        let mut vertices: Vec<u32> = vertices.map(|vertex| vertex as u32).collect();
        vertices.sort_unstable();
        if vertices.is_empty() {
            let mut meshes: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
            meshes.dedup();
            return Err(Failure::usage(format!("there is no mesh '{name}'"))
                .hint(format!("meshes: {}", listed(meshes.into_iter()))));
        }
        Ok(vertices)
    }
}

/// The repairs made when the file was read.
fn mended(report: &WeightsReport) -> String {
    let mut words = Vec::new();
    let mut word_if = |count: usize, word: &dyn Display| {
        if count > 0 {
            words.push(format!("{} {word}", many(count, "vertex")));
        }
    };
    match report.sum_range {
        Some((low, high)) => {
            let word = format!("did not sum to one (from {low:.4} to {high:.4})");
            word_if(report.unnormalised, &word);
        }
        None => word_if(report.unnormalised, &"did not sum to one"),
    }
    word_if(report.without_weights, &"had no weights");
    if report.negative > 0 {
        words.push(format!("{} were negative", many(report.negative, "weight")));
    }
    match words.is_empty() {
        true => "all weights of the file sum to one".to_owned(),
        false => format!("repaired when read: {}", words.join(", ")),
    }
}

/// Notes about the points that matched in a transfer, and those that did not.
fn transfer_notes(report: &TransferReport) -> Vec<String> {
    let mut notes = vec![format!(
        "note: {} took the weights of the closest point, {} filled in along the surface",
        many(report.matched, "point"),
        match report.filled {
            1 => "1 was".to_owned(),
            count => format!("{count} were"),
        }
    )];
    if report.regardless > 0 {
        notes.push(format!(
            "note: {} on pieces that are not near the other surface took the closest point as well",
            many(report.regardless, "point")
        ));
    }
    if !report.unmatched.is_empty() {
        notes.push(format!(
            "note: no joint here is named {}; their parents took their weights",
            listed(report.unmatched.iter().map(String::as_str))
        ));
    }
    notes
}

impl From<EditError> for Failure {
    fn from(error: EditError) -> Failure {
        let failure = match &error {
            EditError::Option(_)
            | EditError::NoSuchVertex { .. }
            | EditError::NoSuchJoint { .. } => Failure::usage(error.to_string()),
            _ => Failure::new(error.to_string()),
        };
        match error {
            EditError::Locked { .. } => failure.hint("--unlock it before painting"),
            EditError::NoCounterpart { .. } => failure.hint(
                "give the axis from left to right, as in --mirror +y; or name the joints of \
                     both sides alike (.L and .R, Left and Right); or give the plane, as in \
                     --mirror +x@PLANE",
            ),
            EditError::NoCommonJoint { .. } => {
                failure.hint("weights go to joints of one name; 'supple info --json' lists them")
            }
            _ => failure,
        }
    }
}
