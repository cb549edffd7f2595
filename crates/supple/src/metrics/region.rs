//! The part of the surface that bends with a joint.

use super::surface::Surface;
use crate::rig::Rig;
use crate::weights::Influence;

/// A joint's hold counts from here on. Weights from diffusion leave traces everywhere, which nobody
/// sees and which would make the whole body part of every joint's region.
const LEAST_WEIGHT: f32 = 0.01;

/// What the joint and its parent must hold together. A vertex that mostly follows others belongs to
/// another joint: the armpit moves with the arm, whatever it has of collar bone and spine.
const LEAST_SUM: f32 = 0.5;

/// The surface around one joint: all that follows both the joint and its parent, each by a weight
/// of at least one per cent and both together by at least a half.
#[derive(Clone, Debug)]
pub struct Region {
    /// The joint.
    pub joint: usize,
    /// The joint above it.
    pub parent: usize,
    /// Vertices, rising.
    pub vertices: Vec<usize>,
    /// Triangles with at least one corner among them, rising.
    pub triangles: Vec<usize>,
    /// The same as `vertices` on the welded surface.
    pub(super) points: Vec<usize>,
    /// Edges with both ends among `points`.
    pub(super) edges: Vec<[usize; 2]>,
}

/// The regions of all joints that have one, in the order of joints.
pub(super) fn regions(rig: &Rig, surface: &Surface) -> Vec<Region> {
    let joints = rig.skeleton().joints();
    let mut regions: Vec<Region> = joints
        .iter()
        .enumerate()
        .filter_map(|(joint, bound)| Some((joint, bound.parent?)))
        .map(|(joint, parent)| Region {
            joint,
            parent,
            vertices: Vec::new(),
            triangles: Vec::new(),
            points: Vec::new(),
            edges: Vec::new(),
        })
        .collect();
    let mut region_of_joint = vec![None; joints.len()];
    for (index, region) in regions.iter().enumerate() {
        region_of_joint[region.joint] = Some(index);
    }

    // All vertices of a point have the same weights, and so the same regions.
    let mut of_point: Vec<Vec<usize>> = vec![Vec::new(); surface.rest.len()];
    for vertex in 0..surface.vertex_count {
        let holds = || {
            let influences = rig.weights().of(vertex);
            influences.filter(|influence| influence.weight >= LEAST_WEIGHT)
        };
        let point = surface.weld.point_of(vertex);
        let is_new = of_point[point].is_empty();
        for own in holds() {
            let Some(index) = region_of_joint[own.joint] else {
                continue;
            };
            let region = &mut regions[index];
            let together = |above: Influence| own.weight + above.weight >= LEAST_SUM;
            if holds().any(|above| above.joint == region.parent && together(above)) {
                region.vertices.push(vertex);
                if is_new {
                    region.points.push(point);
                    of_point[point].push(index);
                }
            }
        }
    }
    for (triangle, corners) in surface.triangles.iter().enumerate() {
        for &index in corners.iter().flat_map(|&point| &of_point[point]) {
            let triangles = &mut regions[index].triangles;
            if triangles.last() != Some(&triangle) {
                triangles.push(triangle);
            }
        }
    }
    for &[a, b] in &surface.edges {
        for &index in of_point[a].iter().filter(|i| of_point[b].contains(i)) {
            regions[index].edges.push([a, b]);
        }
    }
    regions.retain(|region| !region.vertices.is_empty());
    regions
}
