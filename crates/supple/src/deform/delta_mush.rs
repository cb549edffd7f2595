//! Delta mush: smooths the posed surface in every frame and adds back the details that smoothing
//! removes at rest.
//!
//! `direct-delta-mush.txt`, §3.1: `ṽ` is the smoothed, linearly blended surface (eq. 1 and 2), `d_i
//! = u_i − ũ_i` the detail that smoothing removes at rest (eq. 3), and `x_i = ṽ_i + R_i d_i` (eq.
//! 4). This is the baseline and the reference of direct delta mush: with best-fit rotations of the
//! weighted patch (eq. 5) instead of tangent frames, both methods agree.
//!
//! Smoothing needs the whole surface, so it runs once per pose; the vertex loop then applies the
//! frame `Γ_i = [R_i  ṽ_i − R_i ũ_i]`.
//!
//! Under scale and shear (two phases) the rest surface of the second phase is the stretched
//! surface, which is smoothed as well.
//!
//! Another rest shape, such as a morphed one, uses the frames of the baked shape: the difference
//! rotates as details do.

use super::direct::{FieldKey, Fields, OneByOne};
use super::error::DeformError;
use super::neighbour_blend::{NeighbourBlend, rigid_frame};
use super::rigid_motion::{BlendsMotions, MotionStreams, RigidMotions, TwoPhases};
use super::streams::{
    Kernel, PoseStream, SmoothedPiece, SmoothedPoint, SmoothingStream, StreamLayout, VertexStream,
};
use super::vertex_loop::Deformer;
use crate::disjoint_sets::DisjointSets;
use crate::mush::{MushOptions, MushSurface, missing_thickness};
use crate::polar::{nearest_rotation, outer};
use crate::rig::Rig;
use crate::smoothing::{Domain, Scratch, Series, Smoothing, Values};
use crate::surface::double_area_normal;
use crate::transform::Affine;
use glam::{DAffine3, DMat3, DVec3};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Options of delta mush.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default)
)]
pub struct DeltaMush {
    /// Options of smoothing: iterations, `λ`, painted factors of `λ`, and the kind of bind.
    pub smoothing: MushOptions,
    /// The frames that rotate details.
    pub frames: LocalFrames,
}

impl DeltaMush {
    pub(super) const DEFAULT: DeltaMush = DeltaMush {
        smoothing: MushOptions::DEFAULT,
        frames: LocalFrames::Tangent,
    };
}

/// The frames that rotate details, from the rest surface to the posed one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum LocalFrames {
    /// From the normal and one edge of the smoothed surface, as in the original method.
    #[default]
    Tangent,
    /// The rotation that fits the smoothed patch best: as direct delta mush bakes it, but solved in
    /// every frame.
    BestFit,
}

pub(super) fn bake(rig: &Rig, options: &DeltaMush) -> Result<Arc<dyn Deformer>, DeformError> {
    let surface = MushSurface::of(rig, &options.smoothing)?;
    let weights = surface.weights.clone();
    let skin = DeltaMushSkin::new(rig, surface, options);
    Ok(Arc::new(TwoPhases::with_weights(rig, &weights, skin)))
}

/// A surface prepared for smoothing.
#[derive(Debug)]
struct DeltaMushSkin {
    surface: MushSurface,
    domain: Domain,
    smoothing: Smoothing,
    series: Series,
    frames: LocalFrames,
    triangles: Vec<[u32; 3]>,
    /// Rest positions, and the smoothed rest surface.
    rest: Vec<DVec3>,
    smooth_rest: SmoothSurface,
    /// The neighbour that gives each point's tangent.
    towards: Vec<u32>,
    /// For best-fit frames: by how much each patch is thickened. Empty if no patch is thickened.
    thickness: Vec<f64>,
    /// The origin of coordinates in covariances.
    middle: DVec3,
    neighbours: NeighbourBlend,
}

/// The smoothed surface at rest, or stretched.
#[derive(Clone, Debug, Default)]
struct SmoothSurface {
    places: Vec<DVec3>,
    /// Twice the area-weighted sum of normals around each point.
    normals: Vec<DVec3>,
}

impl DeltaMushSkin {
    fn new(rig: &Rig, surface: MushSurface, options: &DeltaMush) -> DeltaMushSkin {
        let domain = Domain::whole(&surface.laplacian, &surface.lambda);
        let weld = &surface.weld;
        let triangles = rig.mesh().triangles().iter();
        let triangles = triangles
            .map(|corners| corners.map(|corner| weld.point_of(corner as usize) as u32))
            .collect();
        let rest = surface.laplacian.points().to_vec();
        let middle = rest.iter().sum::<DVec3>() / rest.len().max(1) as f64;
        let neighbours = NeighbourBlend::of(rest.len(), |point| surface.laplacian.row(point).0);
        let mut skin = DeltaMushSkin {
            smoothing: options.smoothing.smoothing(),
            series: domain.series(options.smoothing.smoothing()),
            surface,
            domain,
            frames: options.frames,
            triangles,
            rest,
            smooth_rest: SmoothSurface::default(),
            towards: Vec::new(),
            thickness: Vec::new(),
            middle,
            neighbours,
        };
        let mut posed = PosedSurface::default();
        skin.smooth(&skin.rest, &mut posed);
        let mut smooth_rest = SmoothSurface::default();
        skin.take(&posed, &mut smooth_rest);
        skin.towards = skin.tangent_neighbours(&smooth_rest);
        skin.smooth_rest = smooth_rest;
        if skin.frames == LocalFrames::BestFit {
            skin.thickness = skin.missing_thickness(&mut posed);
        }
        skin
    }

    /// The missing thickness of each patch, measured at rest as in direct delta mush.
    fn missing_thickness(&self, posed: &mut PosedSurface) -> Vec<f64> {
        posed.blended.clone_from(&self.rest);
        posed.stretched.clone_from(&self.rest);
        self.smooth_products(posed);
        let missing = |point: usize| {
            let place = self.smooth_rest.places[point] - self.middle;
            let covariance = DMat3::from_cols_slice(&posed.products[point]) - outer(place, place);
            missing_thickness(&covariance, self.surface.spread)
        };
        let thickness: Vec<f64> = (0..self.rest.len()).map(missing).collect();
        match thickness.iter().any(|&missing| missing > 0.0) {
            true => thickness,
            false => Vec::new(),
        }
    }

    /// Smooths positions into the first block of the posed values.
    fn smooth(&self, places: &[DVec3], posed: &mut PosedSurface) {
        let about = |place: &DVec3| (*place - self.middle).extend(0.0).to_array();
        posed.values.clear();
        posed.values.extend(places.iter().map(about));
        let count = self.domain.len();
        self.domain
            .smooth(&self.series, &mut posed.values, count, &mut posed.scratch);
    }

    /// Reads the surface that was just smoothed.
    fn take(&self, posed: &PosedSurface, smooth: &mut SmoothSurface) {
        let place = |[x, y, z, _]: &Values<4>| DVec3::new(*x, *y, *z) + self.middle;
        smooth.places.clear();
        smooth.places.extend(posed.values.iter().map(place));
        smooth.normals.clear();
        smooth.normals.resize(smooth.places.len(), DVec3::ZERO);
        for corners in &self.triangles {
            let normal = double_area_normal(corners.map(|corner| smooth.places[corner as usize]));
            for &corner in corners {
                smooth.normals[corner as usize] += normal;
            }
        }
    }

    /// For every point, the neighbour that is farthest along the surface.
    fn tangent_neighbours(&self, smooth: &SmoothSurface) -> Vec<u32> {
        let towards = |point: usize| {
            let normal = smooth.normals[point].normalize_or_zero();
            let neighbours = self.surface.laplacian.row(point).0.iter().copied();
            let along = |other: u32| {
                let edge = smooth.places[other as usize] - smooth.places[point];
                edge.reject_from_normalized(normal).length_squared()
            };
            let farthest = neighbours.max_by(|&a, &b| along(a).total_cmp(&along(b)));
            farthest.unwrap_or(point as u32)
        };
        (0..smooth.places.len()).map(towards).collect()
    }

    /// The frame of the smoothed surface at a point: tangent, bitangent, normal. None where the
    /// surface has collapsed.
    fn tangent_frame(&self, smooth: &SmoothSurface, point: usize) -> Option<DMat3> {
        let normal = smooth.normals[point].try_normalize()?;
        let edge = smooth.places[self.towards[point] as usize] - smooth.places[point];
        let tangent = edge.reject_from_normalized(normal).try_normalize()?;
        Some(DMat3::from_cols(tangent, normal.cross(tangent), normal))
    }
}

/// Smoothing passes on a GPU.
impl DeltaMushSkin {
    /// The points of each connected piece of the surface.
    fn pieces(&self) -> Vec<Vec<u32>> {
        let mut sets = DisjointSets::new(self.rest.len());
        for point in 0..self.rest.len() {
            for (neighbour, _) in self.domain.row(point) {
                sets.join(point, neighbour as usize);
            }
        }
        // An edge may have the cotangent weight zero; the normal of its triangle still needs all
        // three corners.
        for [a, b, c] in &self.triangles {
            sets.join(*a as usize, *b as usize);
            sets.join(*a as usize, *c as usize);
        }
        let mut pieces: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        for point in 0..self.rest.len() {
            let piece = pieces.entry(sets.find(point)).or_default();
            piece.push(point as u32);
        }
        pieces.into_values().collect()
    }

    /// The joint with the largest sum of weights over some points.
    fn heaviest_joint(&self, points: &[u32]) -> u16 {
        let mut held: BTreeMap<u16, f64> = BTreeMap::new();
        for &point in points {
            let (joints, weights) = self.surface.row(point as usize);
            for (&joint, &weight) in joints.iter().zip(weights) {
                *held.entry(joint).or_default() += f64::from(weight);
            }
        }
        let most = held.into_iter().max_by(|(_, a), (_, b)| a.total_cmp(b));
        most.map_or(0, |(joint, _)| joint)
    }
}

/// Scratch data of a pose.
#[derive(Clone, Debug, Default)]
struct PosedSurface {
    matrices: Vec<DAffine3>,
    stretched: Vec<DVec3>,
    blended: Vec<DVec3>,
    values: Vec<Values<4>>,
    scratch: Scratch<4>,
    products: Vec<Values<10>>,
    /// `Σ_j ψ_ij R_j`, column by column.
    rotations: Vec<Values<10>>,
    product_scratch: Scratch<10>,
    smooth_rest: SmoothSurface,
    smooth_posed: SmoothSurface,
    /// `Γ` of every point.
    frames: Vec<Affine>,
}

impl DeltaMushSkin {
    /// `Q_i − q_i p_iᵀ` of every point: smoothed products of posed and rest positions.
    fn smooth_products(&self, posed: &mut PosedSurface) {
        let (middle, products) = (self.middle, &mut posed.products);
        products.clear();
        products.extend(
            posed
                .blended
                .iter()
                .zip(&posed.stretched)
                .map(|(to, from)| {
                    let [x, y, z] = outer(*to - middle, *from - middle).to_cols_array_2d();
                    [x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2], 0.0]
                }),
        );
        let count = self.domain.len();
        self.domain
            .smooth(&self.series, products, count, &mut posed.product_scratch);
    }

    /// `Σ_j ψ_ij R_j` of every point: the joints' rotations, blended by the weights and smoothed.
    /// It rotates what thickens a patch; nothing if no patch is thickened.
    fn smooth_rotations(&self, motions: &RigidMotions, posed: &mut PosedSurface) {
        posed.rotations.clear();
        if self.thickness.is_empty() {
            return;
        }
        posed.rotations.extend((0..self.rest.len()).map(|point| {
            let (joints, weights) = self.surface.row(point);
            let mut blend = DMat3::ZERO;
            for (&joint, &weight) in joints.iter().zip(weights) {
                let rotation = motions.motions[usize::from(joint)].rotation;
                blend += DMat3::from_quat(rotation) * f64::from(weight);
            }
            let [x, y, z] = blend.to_cols_array_2d();
            [x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2], 0.0]
        }));
        self.domain.smooth(
            &self.series,
            &mut posed.rotations,
            self.domain.len(),
            &mut posed.product_scratch,
        );
    }
}

impl BlendsMotions for DeltaMushSkin {
    type Posed = PosedSurface;
    type Lanes = OneByOne;

    const ONE_JOINT_IS_RIGID: bool = false;

    fn pose(&self, motions: &RigidMotions, posed: &mut PosedSurface) {
        posed.frames.clear();
        if let Some(common) = motions.common() {
            posed.frames.resize(self.rest.len(), common);
            return;
        }
        motions.blend_linearly(
            &self.rest,
            |point| self.surface.row(point),
            &mut posed.matrices,
            &mut posed.stretched,
            &mut posed.blended,
        );
        let stretches = !motions.stretches.is_empty();
        let mut rest = std::mem::take(&mut posed.smooth_rest);
        if stretches {
            let stretched = std::mem::take(&mut posed.stretched);
            self.smooth(&stretched, posed);
            posed.stretched = stretched;
            self.take(posed, &mut rest);
        }
        let blended = std::mem::take(&mut posed.blended);
        self.smooth(&blended, posed);
        posed.blended = blended;
        let mut after = std::mem::take(&mut posed.smooth_posed);
        self.take(posed, &mut after);
        if self.frames == LocalFrames::BestFit {
            self.smooth_products(posed);
            self.smooth_rotations(motions, posed);
        }
        let before = if stretches { &rest } else { &self.smooth_rest };
        for point in 0..self.rest.len() {
            let heaviest = usize::from(self.surface.row(point).0[0]);
            let joint = || DMat3::from_quat(motions.motions[heaviest].rotation);
            let rotation = match self.frames {
                LocalFrames::Tangent => {
                    let ends = self
                        .tangent_frame(before, point)
                        .zip(self.tangent_frame(&after, point));
                    ends.map_or_else(joint, |(before, after)| after * before.transpose())
                }
                LocalFrames::BestFit => {
                    let products = DMat3::from_cols_slice(&posed.products[point]);
                    let q = after.places[point] - self.middle;
                    let p = before.places[point] - self.middle;
                    let mut products = products - outer(q, p);
                    if let Some(rotations) = posed.rotations.get(point) {
                        products += DMat3::from_cols_slice(rotations) * self.thickness[point];
                    }
                    nearest_rotation(&products)
                }
            };
            let (rest, smoothed) = (before.places[point], after.places[point]);
            posed.frames.push(rigid_frame(&rotation, rest, smoothed));
        }
        posed.smooth_rest = rest;
        posed.smooth_posed = after;
    }

    #[inline]
    fn extras(&self, vertex: usize) -> &[f32] {
        self.neighbours.values(self.surface.weld.point_of(vertex))
    }

    fn extra_keys(&self, vertex: usize, keys: &mut Vec<FieldKey>) {
        self.neighbours
            .keys(self.surface.weld.point_of(vertex), keys);
    }

    fn lanes(&self) -> Option<&OneByOne> {
        None
    }

    #[inline]
    fn frame(
        &self,
        vertex: usize,
        _joints: &[u16],
        fields: Fields<'_>,
        _motions: &RigidMotions,
        posed: &PosedSurface,
    ) -> Affine {
        let point = self.surface.weld.point_of(vertex);
        self.neighbours.frame(point, fields.extras, &posed.frames)
    }

    /// Best-fit frames would need smoothed products of coordinates, whose differences need double
    /// precision. Direct delta mush bakes those frames.
    fn streams(&self) -> Option<(StreamLayout, &dyn MotionStreams<PosedSurface>)> {
        let layout = StreamLayout::of(Kernel::DeltaMush, 1, 0, 3);
        (self.frames == LocalFrames::Tangent).then_some((layout, self as _))
    }
}

impl MotionStreams<PosedSurface> for DeltaMushSkin {
    fn smoothing(&self) -> Option<SmoothingStream> {
        let places = self.rest.iter().zip(self.surface.weld.first_vertices());
        let mut points: Vec<SmoothedPoint> = places
            .zip(&self.towards)
            .enumerate()
            .map(|(point, ((place, vertex), &towards))| SmoothedPoint {
                place: place.as_vec3().to_array(),
                vertex,
                towards,
                neighbours: self
                    .domain
                    .row(point)
                    .map(|(neighbour, share)| (neighbour, share as f32))
                    .collect(),
                ..SmoothedPoint::default()
            })
            .collect();
        for &[a, b, c] in &self.triangles {
            for [own, second, third] in [[a, b, c], [b, c, a], [c, a, b]] {
                points[own as usize].triangles.push([second, third]);
            }
        }
        let mut pieces = Vec::new();
        for members in self.pieces() {
            let place = |&point: &u32| self.smooth_rest.places[point as usize];
            let middle = members.iter().map(place).sum::<DVec3>() / members.len() as f64;
            let middle = middle.as_vec3();
            for member in &members {
                let point = &mut points[*member as usize];
                let exact = place(member) - middle.as_dvec3();
                let smooth = exact.as_vec3();
                point.smooth = smooth.to_array();
                point.smooth_left = (exact - smooth.as_dvec3()).as_vec3().to_array();
                point.piece = pieces.len() as u32;
            }
            pieces.push(SmoothedPiece {
                middle: middle.to_array(),
                joint: self.heaviest_joint(&members),
            });
        }
        Some(SmoothingStream {
            points,
            pieces,
            series: self.domain.single_precision_series(self.smoothing),
        })
    }

    fn push_vertex(&self, vertex: usize, stream: &mut VertexStream) {
        let point = self.surface.weld.point_of(vertex) as u32;
        stream.numbers.push(f32::from_bits(point));
    }

    /// False: smoothing runs on the GPU.
    fn needs_pose(&self) -> bool {
        false
    }

    fn push_joints(&self, motions: &RigidMotions, _posed: &PosedSurface, stream: &mut PoseStream) {
        for motion in &motions.motions {
            stream.push_rows(&motion.to_affine());
        }
    }
}
