//! Weights from another character: by the closest point where that can be trusted, filled in over
//! the surface elsewhere.
//!
//! After Abdrashitov et al. 2023, "Robust skin weights transfer via weight inpainting": a closest
//! point counts if it is near and faces the same way. What is left, such as the inside of a sleeve
//! or a belt far from the body, is filled in from what counts. The fill is harmonic: every point
//! gets the mean of its neighbours, by the clamped cotangents of `surface/laplacian.rs`. So it lies
//! between what it is filled in from, sums to one, and needs one factorisation for all joints.

use super::row::{Row, merged};
use super::{Change, EditError, Editor, OnSurface, SearchSurface, check_number};
use crate::exec;
use crate::mesh::Mesh;
use crate::rig::Rig;
use crate::skeleton::Skeleton;
use crate::sparse::Cholesky;
use crate::surface::{Weld, double_area_normal, weld_positions};
use crate::weights::Weights;
use glam::DVec3;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// The source of transferred weights, and the limits within which it is trusted.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfer {
    /// The source character, in the target's position and pose.
    pub from: Arc<Rig>,
    /// A closest point counts if it is no farther than this share of the target's extent.
    pub reach: f64,
    /// A closest point counts if the two normals differ by no more than this, in radians.
    pub angle: f64,
    /// If true, opposite normals match, too: for surfaces whose inside may be the nearest side.
    pub either_side: bool,
}

impl Transfer {
    /// The reach that the paper has.
    const REACH: f64 = 0.05;

    /// The angle that the paper has, in degrees.
    const DEGREES: f64 = 30.0;

    /// From a character, with the numbers of the paper.
    pub fn new(from: Arc<Rig>) -> Transfer {
        Transfer {
            from,
            reach: Transfer::REACH,
            angle: Transfer::DEGREES.to_radians(),
            either_side: false,
        }
    }
}

/// The result of a transfer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct TransferReport {
    /// Points that took the weights of the closest one.
    pub matched: usize,
    /// Points that were filled in over the surface.
    pub filled: usize,
    /// Points on pieces without a trusted match; they use the closest point anyway.
    pub regardless: usize,
    /// Source joints that hold surface but are missing in the target; their weights go to the
    /// nearest ancestor that is present.
    pub unmatched: Vec<String>,
}

/// Shares below this are not worth keeping.
const NEGLIGIBLE: f64 = 1e-9;

/// The least weight of an edge in the fill, as a share of the mean: no point is connected by edges
/// of no weight alone.
const LEAST_EDGE: f64 = 1e-6;

/// So many joints are filled in at a time: memory is this many numbers per point.
const JOINTS_AT_A_TIME: usize = 32;

impl Editor {
    pub(super) fn transfer_to(
        &self,
        weights: &Weights,
        points: &[u32],
        transfer: &Transfer,
    ) -> Result<(Change, TransferReport), EditError> {
        check_number("the reach", transfer.reach, 0.0..=f64::MAX, "at least 0")?;
        let half_turn = std::f64::consts::PI;
        check_number(
            "the angle",
            transfer.angle,
            0.0..=half_turn,
            "from 0 to 180 degrees",
        )?;
        let mut report = TransferReport::default();
        let Some(bounds) = self.mesh.bounds() else {
            return Ok((self.change(weights, [])?, report));
        };
        let source = Source::of(&transfer.from, &self.skeleton, &mut report)?;
        let reach = transfer.reach * f64::from(bounds.extent());
        let normals = point_normals(&self.mesh, &self.weld);
        let closest = exec::map_chunks(points.len(), |chunk| {
            let closest = points[chunk].iter().map(|&point| {
                let place = self.fans.place(point as usize).as_vec3();
                let there = source.surface.nearest(place, |_| true)?;
                let trusted = there.distance <= reach
                    && agree(normals[point as usize], source.normal(&there), transfer);
                Some((source.row(&there), trusted))
            });
            closest.collect::<Vec<_>>()
        });
        let closest: Vec<Option<(Row, bool)>> = closest.into_iter().flatten().collect();
        // What is outside of the region is known as it is.
        let inside: HashSet<u32> = points.iter().copied().collect();
        let mut known: Vec<Option<Row>> = vec![None; self.weld.point_count()];
        let pieces = &self.pieces;
        let mut trusted_pieces: HashSet<u32> = HashSet::new();
        for point in (0..known.len()).filter(|&point| !inside.contains(&(point as u32))) {
            known[point] = Some(self.row(weights, point));
            trusted_pieces.insert(pieces[point]);
        }
        for (&point, found) in points.iter().zip(&closest) {
            if let Some((row, true)) = found
                && !row.is_empty()
            {
                known[point as usize] = Some(row.clone());
                trusted_pieces.insert(pieces[point as usize]);
                report.matched += 1;
            }
        }
        for (&point, found) in points.iter().zip(closest) {
            if !trusted_pieces.contains(&pieces[point as usize]) {
                known[point as usize] = Some(found.map(|(row, _)| row).unwrap_or_default());
                report.regardless += 1;
            }
        }
        let filled = self.fill(&known)?;
        report.filled = filled.len();
        let mut rows = filled;
        let taken = points.iter().filter_map(|&point| {
            let row = known[point as usize].take()?;
            Some((point, row))
        });
        rows.extend(taken);
        Ok((self.change(weights, rows)?, report))
    }

    /// The rows of all points that are not known: each is the mean of its neighbours. Every piece
    /// has some that is known.
    fn fill(&self, known: &[Option<Row>]) -> Result<Vec<(u32, Row)>, EditError> {
        let unknown = (0..known.len() as u32).filter(|&point| known[point as usize].is_none());
        let unknown: Vec<u32> = unknown.collect();
        if unknown.is_empty() {
            return Ok(Vec::new());
        }
        let number = |point: u32| unknown.binary_search(&point).ok();
        let count = self.edges.iter().count().max(1) as f64;
        let mean = self.edges.iter().map(|edge| edge.weight).sum::<f64>() / count;
        let mut diagonal = vec![0.0; unknown.len()];
        let mut between = Vec::new();
        // Unknown points with their known neighbours, and the weights of the edges between.
        let mut borders: Vec<(usize, &Row, f64)> = Vec::new();
        for edge in self.edges.iter() {
            let [a, b] = edge.ends;
            let weight = edge.weight.max(LEAST_EDGE * mean);
            let ends = [(a, b), (b, a)].map(|(point, other)| (number(point), other));
            if let [(Some(a), _), (Some(b), _)] = ends {
                between.push((a as u32, b as u32, -weight));
            }
            for (point, other) in ends {
                let Some(point) = point else {
                    continue;
                };
                diagonal[point] += weight;
                if let Some(row) = &known[other as usize] {
                    borders.push((point, row, weight));
                }
            }
        }
        let unsolvable =
            |error: crate::sparse::SparseError| EditError::Unsolvable(error.to_string());
        let factored = Cholesky::of(&diagonal, &between).map_err(unsolvable)?;
        let joints = borders.iter().flat_map(|(_, row, _)| row.iter());
        let joints: BTreeSet<u16> = joints.map(|entry| entry.0).collect();
        let joints: Vec<u16> = joints.into_iter().collect();
        let mut rows = vec![Row::new(); unknown.len()];
        for joints in joints.chunks(JOINTS_AT_A_TIME) {
            let mut columns = vec![vec![0.0; unknown.len()]; joints.len()];
            for (point, row, weight) in &borders {
                for (joint, share) in row.iter() {
                    if let Ok(column) = joints.binary_search(joint) {
                        columns[column][*point] += weight * share;
                    }
                }
            }
            for (&joint, column) in joints.iter().zip(factored.solve(columns)) {
                for (row, share) in rows.iter_mut().zip(column) {
                    if share > NEGLIGIBLE {
                        row.push((joint, share));
                    }
                }
            }
        }
        Ok(unknown.into_iter().zip(rows).collect())
    }
}

/// The character that weights come from.
struct Source<'a> {
    rig: &'a Rig,
    surface: SearchSurface,
    weld: Weld,
    normals: Vec<DVec3>,
    /// The target's joint for each joint.
    target_joint: Vec<Option<u16>>,
}

impl<'a> Source<'a> {
    fn of(
        rig: &'a Rig,
        target: &Skeleton,
        report: &mut TransferReport,
    ) -> Result<Source<'a>, EditError> {
        if rig.mesh().triangles().is_empty() {
            return Err(EditError::NoSurface);
        }
        let skeleton = rig.skeleton();
        let mut target_joint: Vec<Option<u16>> = Vec::new();
        let mut has_namesake = Vec::new();
        let namesakes = Namesakes::in_skeleton(target);
        for (joint, description) in skeleton.joints().iter().enumerate() {
            let namesake = namesakes.of(skeleton.joint_name(joint));
            has_namesake.push(namesake.is_some());
            let above = description.parent.and_then(|above| target_joint[above]);
            target_joint.push(namesake.map(|joint| joint as u16).or(above));
        }
        if !has_namesake.contains(&true) {
            let first = skeleton.joints().first().map(|_| skeleton.joint_label(0));
            return Err(EditError::NoCommonJoint {
                joint: first.unwrap_or_default(),
            });
        }
        let vertices = 0..rig.weights().vertex_count();
        let used: BTreeSet<u16> = vertices
            .flat_map(|vertex| rig.weights().row(vertex).0)
            .copied()
            .collect();
        let unmatched = used.into_iter().map(usize::from);
        let unmatched = unmatched.filter(|&joint| !has_namesake[joint]);
        report.unmatched = unmatched.map(|joint| skeleton.joint_label(joint)).collect();
        let weld = weld_positions(rig.mesh().positions());
        Ok(Source {
            rig,
            surface: SearchSurface::of(rig.mesh()),
            normals: point_normals(rig.mesh(), &weld),
            weld,
            target_joint,
        })
    }

    /// The weights at a place, for the target's joints; empty where it knows none of them.
    fn row(&self, there: &OnSurface) -> Row {
        let mut row = there.row(|corner| {
            let (joints, values) = self.rig.weights().row(corner as usize);
            let entries = joints.iter().zip(values);
            let entries = entries.filter_map(|(&joint, &value)| {
                let joint = self.target_joint[usize::from(joint)]?;
                Some((joint, f64::from(value)))
            });
            merged(entries.collect())
        });
        row.retain(|&(_, share)| share > 0.0);
        let sum: f64 = row.iter().map(|(_, share)| share).sum();
        row.iter_mut().for_each(|(_, share)| *share /= sum);
        row
    }

    fn normal(&self, there: &OnSurface) -> DVec3 {
        let corners = there.corners.iter().zip(there.shares);
        let normals = corners
            .map(|(&corner, share)| share * self.normals[self.weld.point_of(corner as usize)]);
        normals.sum()
    }
}

/// The joints of a skeleton by their names, the first of each.
struct Namesakes<'s> {
    exact: HashMap<&'s str, usize>,
    in_lower_case: HashMap<String, usize>,
}

impl<'s> Namesakes<'s> {
    fn in_skeleton(skeleton: &'s Skeleton) -> Namesakes<'s> {
        let (mut exact, mut in_lower_case) = (HashMap::new(), HashMap::new());
        for joint in 0..skeleton.joints().len() {
            let name = skeleton.joint_name(joint);
            exact.entry(name).or_insert(joint);
            in_lower_case.entry(name.to_lowercase()).or_insert(joint);
        }
        Namesakes {
            exact,
            in_lower_case,
        }
    }

    /// The joint of a name, or of the same name but for its case.
    fn of(&self, name: &str) -> Option<usize> {
        if name.is_empty() {
            return None;
        }
        let exact = self.exact.get(name).copied();
        exact.or_else(|| self.in_lower_case.get(&name.to_lowercase()).copied())
    }
}

/// True if two normals agree, or one of them is missing.
fn agree(a: DVec3, b: DVec3, transfer: &Transfer) -> bool {
    if a == DVec3::ZERO || b == DVec3::ZERO {
        return true;
    }
    let angle = a.angle_between(b);
    let opposite = std::f64::consts::PI - angle;
    angle <= transfer.angle || (transfer.either_side && opposite <= transfer.angle)
}

/// The direction in which each point faces, by the areas of the triangles around it; zero without
/// any.
fn point_normals(mesh: &Mesh, weld: &Weld) -> Vec<DVec3> {
    let mut normals = vec![DVec3::ZERO; weld.point_count()];
    for corners in mesh.triangles() {
        let normal = double_area_normal(mesh.corners(corners));
        for &corner in corners {
            normals[weld.point_of(corner as usize)] += normal;
        }
    }
    normals.into_iter().map(DVec3::normalize_or_zero).collect()
}
