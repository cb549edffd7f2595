//! Binding of characters with several skins: parts with the same joints are bound as one body.

use super::{BindError, BindMethod, BindReport, Bound, Follower, Handle, bind};
use crate::mesh::Mesh;
use crate::skeleton::Skeleton;
use crate::weights::WeightsBuilder;
use std::ops::Range;

/// Parts of a surface that are bound together, such as a body and its jacket.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BindGroup {
    /// Its vertices.
    pub vertices: Vec<Range<usize>>,
    /// The joints that may hold the vertices.
    pub joints: Vec<usize>,
}

impl BindGroup {
    /// The whole mesh, held by any joint.
    pub fn whole(mesh: &Mesh, skeleton: &Skeleton) -> BindGroup {
        BindGroup {
            vertices: std::iter::once(0..mesh.vertex_count()).collect(),
            joints: (0..skeleton.joints().len()).collect(),
        }
    }

    fn check(&self, vertices: usize, joints: usize) -> Result<(), BindError> {
        let ends = self.vertices.iter().filter(|range| !range.is_empty());
        let last = ends.map(|range| range.end - 1).max();
        if let Some(vertex) = last.filter(|&vertex| vertex >= vertices) {
            return Err(BindError::NoSuchVertex { vertex, vertices });
        }
        match self.joints.iter().find(|&&joint| joint >= joints) {
            Some(&joint) => Err(BindError::NoSuchJoint { joint, joints }),
            None => Ok(()),
        }
    }
}

/// Binds each group separately to the bones of its joints. Every vertex must be in exactly one
/// group.
///
/// # Errors
///
/// Fails if a vertex is in no group, a group names a vertex or a joint that does not exist or has
/// no joint to bind to, an option is out of range, or the equations of the method cannot be solved.
pub fn bind_groups(
    mesh: &Mesh,
    skeleton: &Skeleton,
    groups: &[BindGroup],
    method: &BindMethod,
    progress: &dyn Fn(f64),
) -> Result<Bound, BindError> {
    let joints = skeleton.joints().len();
    for group in groups {
        group.check(mesh.vertex_count(), joints)?;
    }
    // The usual case: a single body, whose weights are used as they are.
    if let [group] = groups
        && group
            .vertices
            .iter()
            .cloned()
            .flatten()
            .eq(0..mesh.vertex_count())
    {
        let handles = Handle::of_joints(skeleton, &group.joints);
        let mut bound = bind(mesh, &handles, joints, method, progress)?;
        let listed = group.joints.iter().copied();
        bound.report.list_unreached(&bound.weights, listed);
        return Ok(bound);
    }
    let mut rows: Vec<Option<Vec<(u16, f64)>>> = vec![None; mesh.vertex_count()];
    let mut report = BindReport::default();
    let mut of_no_group = vec![true; joints];
    for (done, group) in groups.iter().enumerate() {
        let vertices: Vec<usize> = group.vertices.iter().cloned().flatten().collect();
        let part = part_of(mesh, &vertices);
        let handles = Handle::of_joints(skeleton, &group.joints);
        let share = |of_group: f64| progress((done as f64 + of_group) / groups.len() as f64);
        let bound = bind(&part, &handles, joints, method, &share)?;
        for (row, &vertex) in vertices.iter().enumerate() {
            let influences = bound.weights.of(row);
            let influences =
                influences.map(|influence| (influence.joint as u16, f64::from(influence.weight)));
            rows[vertex] = Some(influences.collect());
        }
        report.add(bound.report, &vertices);
        for &joint in &group.joints {
            of_no_group[joint] = false;
        }
    }
    let mut builder = WeightsBuilder::new(joints)?;
    for (vertex, row) in rows.into_iter().enumerate() {
        builder.push_shares(row.ok_or(BindError::InNoGroup(vertex))?)?;
    }
    let weights = builder.finish().0;
    report.list_unreached(&weights, (0..joints).filter(|&joint| !of_no_group[joint]));
    Ok(Bound { weights, report })
}

/// Some vertices of a mesh, in this order, with the triangles between them.
fn part_of(mesh: &Mesh, vertices: &[usize]) -> Mesh {
    let mut number = vec![u32::MAX; mesh.vertex_count()];
    for (new, &vertex) in vertices.iter().enumerate() {
        number[vertex] = new as u32;
    }
    let positions = vertices
        .iter()
        .map(|&vertex| mesh.positions()[vertex])
        .collect();
    let normals = vertices
        .iter()
        .map(|&vertex| mesh.normals()[vertex])
        .collect();
    let triangles = mesh
        .triangles()
        .iter()
        .map(|corners| corners.map(|corner| number[corner as usize]));
    let triangles = triangles
        .filter(|corners| !corners.contains(&u32::MAX))
        .collect();
    // Parts of a valid mesh are valid.
    Mesh::new(positions, Some(normals), None, triangles).unwrap_or_else(|_| mesh.clone())
}

impl BindReport {
    /// Adds the report of another group, whose vertices are these of the whole mesh.
    fn add(&mut self, group: BindReport, vertices: &[usize]) {
        self.outside.extend(group.outside);
        self.pieces += group.pieces;
        self.followers
            .extend(group.followers.into_iter().map(|follower| Follower {
                vertex: vertices[follower.vertex],
                ..follower
            }));
        self.partition_error = self.partition_error.max(group.partition_error);
        self.voxels += group.voxels;
        self.cells += group.cells;
        self.voxel_size = self.voxel_size.max(group.voxel_size);
        self.convergence = match (self.convergence.take(), group.convergence) {
            (Some(one), Some(other)) => Some(if one.left >= other.left { one } else { other }),
            (one, other) => one.or(other),
        };
    }
}
