//! Problems of a rig's surface, joints and rest pose that are worth checking before it is used.

use crate::deform::{Method, Normals, Output, Skin, Workspace};
use crate::mesh::Part;
use crate::normals::NormalFit;
use crate::rig::Rig;
use crate::skeleton::Skeleton;
use crate::surface::Topology;
use crate::weights::weld_bound;
use std::ops::Range;

/// Lengths or angles of a transform's axes that differ by less than this differ by rounding only.
const TOLERANCE: f64 = 1e-3;

/// The findings about a rig.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Findings {
    /// The surface, welded.
    pub topology: Topology,
    /// The agreement of the normals with the triangles.
    pub normal_fit: NormalFit,
    /// The number of joints that influence no vertex.
    pub joints_without_weights: usize,
    /// The number of joints without a parent joint.
    pub root_joints: usize,
    /// Joints with a bind matrix that cannot be inverted: see [`Skeleton::singular_binds`].
    pub singular_binds: Vec<usize>,
    /// The number of vertices with 1, 2, 3, … influences.
    pub influence_counts: Vec<usize>,
    /// Joints, and nodes above them, that scale or shear in the rest pose.
    pub rest_scale: RestScale,
    /// The largest distance by which the rest pose (by linear blending) deforms a part, in units of
    /// the bind pose; 0 if parts move rigidly, each with the joint that holds most of it.
    pub rest_distance: f32,
}

/// Nodes (as indices into the skeleton's nodes) whose rest transform is more than a rotation and a
/// uniform scale.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RestScale {
    /// Nodes with different scales along their axes.
    pub non_uniform: Vec<usize>,
    /// Mirrored nodes.
    pub negative: Vec<usize>,
    /// Sheared nodes.
    pub sheared: Vec<usize>,
    /// Nodes with an axis of no length.
    pub collapsed: Vec<usize>,
}

impl Findings {
    /// Examines a rig and the parts of its surface; without parts, the whole surface as one.
    pub fn of(rig: &Rig, parts: &[Part]) -> Findings {
        let (mesh, skeleton, weights) = (rig.mesh(), rig.skeleton(), rig.weights());
        let mut used = vec![false; skeleton.joints().len()];
        let mut influence_counts = vec![0; weights.max_influences()];
        for vertex in 0..weights.vertex_count() {
            let influences = weights.of(vertex);
            influence_counts[influences.len() - 1] += 1;
            influences.for_each(|influence| used[influence.joint] = true);
        }
        let roots = skeleton
            .joints()
            .iter()
            .filter(|joint| joint.parent.is_none());
        Findings {
            topology: Topology::of(
                mesh.positions(),
                mesh.triangles(),
                &weld_bound(mesh.positions(), weights),
            ),
            normal_fit: NormalFit::of(mesh),
            joints_without_weights: used.into_iter().filter(|used| !used).count(),
            root_joints: roots.count(),
            singular_binds: skeleton.singular_binds(),
            influence_counts,
            rest_scale: RestScale::of(skeleton),
            rest_distance: rest_distance(rig, parts),
        }
    }
}

impl RestScale {
    fn of(skeleton: &Skeleton) -> RestScale {
        let nodes = skeleton.nodes();
        let mut matters = vec![false; nodes.len()];
        for joint in skeleton.joints() {
            matters[joint.node] = true;
        }
        // Parents come first, so one pass from the end reaches all ancestors.
        for (index, node) in nodes.iter().enumerate().rev() {
            if let Some(parent) = node.parent {
                matters[parent] |= matters[index];
            }
        }
        let mut found = RestScale::default();
        for index in (0..nodes.len()).filter(|&index| matters[index]) {
            let linear = nodes[index].rest.to_affine().matrix3;
            let axes = [linear.x_axis, linear.y_axis, linear.z_axis];
            let lengths = axes.map(|axis| axis.length());
            let longest = lengths.into_iter().fold(0.0, f64::max);
            let shortest = lengths.into_iter().fold(f64::INFINITY, f64::min);
            if shortest == 0.0 {
                found.collapsed.push(index);
                continue;
            }
            if longest > shortest * (1.0 + TOLERANCE) {
                found.non_uniform.push(index);
            }
            if linear.determinant() < 0.0 {
                found.negative.push(index);
            }
            let [x, y, z] = [
                axes[0] / lengths[0],
                axes[1] / lengths[1],
                axes[2] / lengths[2],
            ];
            let skew = x.dot(y).abs().max(y.dot(z).abs()).max(z.dot(x).abs());
            if skew > TOLERANCE {
                found.sheared.push(index);
            }
        }
        found
    }
}

fn rest_distance(rig: &Rig, parts: &[Part]) -> f32 {
    let skeleton = rig.skeleton();
    let palette = skeleton.rest_palette();
    let mut positions = rig.mesh().positions().to_vec();
    let output = Output {
        positions: &mut positions,
        normals: None,
        tangents: None,
    };
    // Sizes are those of the rig, so this cannot fail; on failure the distance is zero.
    let posed = Skin::bake(rig, &Method::Linear, Normals::Transported)
        .and_then(|skin| skin.deform(&palette, &mut Workspace::default(), output));
    if posed.is_err() {
        return 0.0;
    }
    let bent = |vertices: Range<usize>| {
        let mut held = vec![0.0; skeleton.joints().len()];
        for influence in vertices.clone().flat_map(|vertex| rig.weights().of(vertex)) {
            held[influence.joint] += f64::from(influence.weight);
        }
        let most = (0..held.len()).max_by(|&a, &b| held[a].total_cmp(&held[b]).then(b.cmp(&a)));
        let Some(carried) = most.map(|joint| palette.posed_from_bind[joint]) else {
            return 0.0;
        };
        let scale = carried.scale_factor().abs() as f32;
        // Joints that collapse their vertices have no unit.
        let scale = if scale > f32::EPSILON { scale } else { 1.0 };
        let apart = vertices.map(|vertex| {
            let stored = rig.mesh().positions()[vertex];
            carried.transform_point(stored).distance(positions[vertex]) / scale
        });
        apart.fold(0.0, f32::max)
    };
    let vertices = positions.len();
    // Parts are not validated: one may name vertices that do not exist.
    let of_part = |part: &Part| bent(part.vertices.start..part.vertices.end.min(vertices));
    match parts.is_empty() {
        true => bent(0..vertices),
        false => parts.iter().map(of_part).fold(0.0, f32::max),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Mesh;
    use crate::skeleton::Node;
    use crate::transform::{Local, Trs};
    use crate::weights::WeightsBuilder;
    use glam::{DAffine3, DMat3, DVec3, Vec3};

    fn node(parent: Option<usize>, rest: Local) -> Node {
        Node {
            name: String::new(),
            parent,
            rest,
        }
    }

    fn scaled(scale: DVec3) -> Local {
        Local::Trs(Trs {
            scale,
            ..Trs::IDENTITY
        })
    }

    #[test]
    fn odd_rest_poses_are_found_on_joints_and_above_them_only() {
        let shear = DMat3::from_cols(DVec3::X, DVec3::new(0.5, 1.0, 0.0), DVec3::Z);
        let shear = DAffine3::from_mat3(shear);
        let nodes = vec![
            node(None, scaled(DVec3::new(-1.0, 1.0, 1.0))),
            node(Some(0), scaled(DVec3::new(1.0, 2.0, 1.0))),
            node(Some(1), Local::Matrix(shear)),
            node(Some(0), scaled(DVec3::splat(-3.0))), // nothing hangs on it
        ];
        let skeleton =
            Skeleton::new(nodes, vec![(2, DAffine3::from_translation(DVec3::X))]).unwrap();
        let mesh = Mesh::new(vec![Vec3::ZERO], None, None, vec![]).unwrap();
        let mut weights = WeightsBuilder::new(1).unwrap();
        weights.push([(0, 1.0)], 0).unwrap();
        let rig = Rig::new(mesh, skeleton, weights.finish().0).unwrap();
        let findings = Findings::of(&rig, &[]);
        assert_eq!(findings.rest_scale.negative, [0]);
        assert_eq!(findings.rest_scale.non_uniform, [1, 2]);
        assert_eq!(findings.rest_scale.sheared, [2]);
        assert_eq!(findings.root_joints, 1);
        assert_eq!(findings.influence_counts, [1]);
        assert_eq!(findings.rest_distance, 0.0, "carried as one");
    }

    /// Two joints with a vertex each: first moved and scaled alike, then one of them differently.
    #[test]
    fn what_is_carried_as_a_whole_is_as_it_was_bound() {
        let bent = |second: Local| {
            let nodes = vec![node(None, scaled(DVec3::splat(4.0))), node(None, second)];
            let joints = vec![(0, DAffine3::IDENTITY), (1, DAffine3::IDENTITY)];
            let skeleton = Skeleton::new(nodes, joints).unwrap();
            let mesh = Mesh::new(vec![Vec3::ONE, Vec3::X], None, None, vec![]).unwrap();
            let mut weights = WeightsBuilder::new(2).unwrap();
            weights.push([(0, 1.0)], 0).unwrap();
            weights.push([(1, 1.0)], 1).unwrap();
            let rig = Rig::new(mesh, skeleton, weights.finish().0).unwrap();
            Findings::of(&rig, &[]).rest_distance
        };
        assert_eq!(bent(scaled(DVec3::splat(4.0))), 0.0);
        let shifted = Trs {
            translation: DVec3::Y * 8.0,
            scale: DVec3::splat(4.0),
            ..Trs::IDENTITY
        };
        assert!((bent(Local::Trs(shifted)) - 2.0).abs() < 1e-6);
    }
}
