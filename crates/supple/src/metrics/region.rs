//! The part of the surface that bends with a joint.

use super::surface::MeasuredSurface;
use super::vertex_areas;
use crate::rig::Rig;
use glam::{DVec3, Vec3};
use std::collections::BTreeMap;

/// The least weight of a joint that counts. Automatic weights from diffusion are tiny but positive
/// everywhere, which would make the whole body part of every joint's region.
const LEAST_WEIGHT: f32 = 0.01;

/// The least sum of the weights of the two joints. A vertex that mostly follows other joints
/// belongs to their region: the armpit moves with the arm, regardless of its weights of collar bone
/// and spine.
const LEAST_SUM: f32 = 0.5;

/// The least share of the surface of a main region.
const LEAST_SHARE: f64 = 2e-4;

/// The largest number of main regions.
const MOST_REGIONS: usize = 96;

/// The surface around one joint: all vertices that follow the joint and another joint, each with a
/// weight of at least 1 %, and both together with at least 50 %.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct JointRegion {
    /// The joint.
    pub joint: usize,
    /// The joint that it is blended with: its parent, unless [`Gauge::main_regions`] found
    /// unrelated joints that are blended.
    ///
    /// [`Gauge::main_regions`]: super::Gauge::main_regions
    pub other: usize,
    /// Its vertices, in rising order.
    pub vertices: Vec<usize>,
    /// How evenly each of these vertices is shared, as `4 a b` of the two weights: 1 is half and
    /// half.
    pub blends: Vec<f32>,
    /// Triangles with at least one corner among the vertices, in rising order.
    pub triangles: Vec<usize>,
    /// Its share of the rest area, each vertex counted by its blend.
    pub share: f64,
    /// The mean distance of its vertices from their middle, at rest.
    pub size: f64,
    /// The points of the welded surface for `vertices`.
    pub(super) points: Vec<usize>,
    /// Edges with both ends among `points`.
    pub(super) edges: Vec<[usize; 2]>,
}

/// A joint and the joint that it is blended with.
type Pair = (usize, usize);

/// Returns `4 a b` for two weights of a vertex; `None` if it does not belong to their region.
fn blend(own: f32, other: f32) -> Option<f32> {
    let belongs = own >= LEAST_WEIGHT && other >= LEAST_WEIGHT && own + other >= LEAST_SUM;
    belongs.then_some(4.0 * own * other)
}

/// The regions of all joints that blend with their parent, in the order of joints.
pub(super) fn regions(rig: &Rig, surface: &MeasuredSurface) -> Vec<JointRegion> {
    let joints = rig.skeleton().joints().iter().enumerate();
    let pairs = joints.filter_map(|(joint, bound)| Some((joint, bound.parent?)));
    regions_of(rig, surface, &pairs.collect::<Vec<_>>())
}

/// The regions that matter most for the look, largest first: those of joints and their parents; or
/// of any two joints, if most of the skin is blended between unrelated joints.
pub(super) fn main_regions(rig: &Rig, surface: &MeasuredSurface) -> Vec<JointRegion> {
    let joints = rig.skeleton().joints();
    let is_related = |(joint, other): Pair| joints[joint].parent == Some(other);
    let areas = vertex_areas(rig.mesh(), &surface.areas);
    // Joints are numbered parents first.
    let mut shared: BTreeMap<Pair, f64> = BTreeMap::new();
    for (vertex, area) in areas.iter().enumerate() {
        // Sorted by weight, so at most a hundred of them count.
        let influences = rig.weights().of(vertex);
        let influences = influences.take_while(|influence| influence.weight >= LEAST_WEIGHT);
        let influences: Vec<_> = influences.collect();
        for (index, a) in influences.iter().enumerate() {
            for b in &influences[..index] {
                if let Some(blend) = blend(a.weight, b.weight) {
                    let pair = (a.joint.max(b.joint), a.joint.min(b.joint));
                    *shared.entry(pair).or_default() += area * f64::from(blend);
                }
            }
        }
    }
    let of_kind = |related: bool| -> f64 {
        let pairs = shared
            .iter()
            .filter(|(pair, _)| is_related(**pair) == related);
        pairs.map(|(_, area)| area).sum()
    };
    // A cloth on unconnected joints has no relevant parents; in a body, everything is blended a
    // little with everything.
    let only_related = of_kind(true) >= of_kind(false);
    let least = LEAST_SHARE * areas.iter().sum::<f64>();
    let mut pairs: Vec<(Pair, f64)> = shared
        .into_iter()
        .filter(|&(pair, area)| (!only_related || is_related(pair)) && area > least)
        .collect();
    pairs.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let pairs: Vec<Pair> = pairs.into_iter().map(|(pair, _)| pair).collect();
    let mut regions = regions_of(rig, surface, &pairs[..pairs.len().min(MOST_REGIONS)]);
    regions.retain(|region| !region.triangles.is_empty());
    regions
}

/// The regions of some pairs of joints, in their order; pairs without a vertex are skipped.
fn regions_of(rig: &Rig, surface: &MeasuredSurface, pairs: &[Pair]) -> Vec<JointRegion> {
    let mut regions: Vec<JointRegion> = pairs
        .iter()
        .map(|&pair| JointRegion::without_skin(pair))
        .collect();
    let mut regions_of_joint: Vec<Vec<usize>> = vec![Vec::new(); rig.skeleton().joints().len()];
    for (index, region) in regions.iter().enumerate() {
        regions_of_joint[region.joint].push(index);
    }
    // All vertices of a point have the same weights, and so the same regions.
    let mut of_point: Vec<Vec<usize>> = vec![Vec::new(); surface.rest.len()];
    for vertex in 0..surface.vertex_count {
        let point = surface.weld.point_of(vertex);
        let is_new = of_point[point].is_empty();
        for own in rig.weights().of(vertex) {
            for &index in &regions_of_joint[own.joint] {
                let region = &mut regions[index];
                let other = rig.weights().weight_of(vertex, region.other);
                let Some(blend) = blend(own.weight, other) else {
                    continue;
                };
                region.vertices.push(vertex);
                region.blends.push(blend);
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
    let areas = vertex_areas(rig.mesh(), &surface.areas);
    let whole: f64 = areas.iter().sum();
    for region in &mut regions {
        region.measure(rig.mesh().positions(), &areas, whole);
    }
    regions
}

impl JointRegion {
    fn without_skin((joint, other): Pair) -> JointRegion {
        JointRegion {
            joint,
            other,
            vertices: Vec::new(),
            blends: Vec::new(),
            triangles: Vec::new(),
            share: 0.0,
            size: 0.0,
            points: Vec::new(),
            edges: Vec::new(),
        }
    }

    /// Computes share and size from the area around every vertex and the total area.
    fn measure(&mut self, positions: &[Vec3], areas: &[f64], whole: f64) {
        let vertices = self.vertices.iter().zip(&self.blends);
        let area: f64 = vertices
            .map(|(&vertex, &blend)| areas[vertex] * f64::from(blend))
            .sum();
        self.share = if whole > 0.0 { area / whole } else { 0.0 };
        let places = || {
            self.vertices
                .iter()
                .map(|&vertex| positions[vertex].as_dvec3())
        };
        let count = self.vertices.len() as f64;
        let middle = places().sum::<DVec3>() / count;
        self.size = places().map(|place| place.distance(middle)).sum::<f64>() / count;
    }
}
