//! Delta mush: smooths the posed surface in every frame and adds back the details that smoothing
//! removes at rest.
//!
//! `direct-delta-mush.txt`, §3.1: `ṽ` is the smoothed, linearly blended surface (eq. 1 and 2), `d_i
//! = u_i − ũ_i` the detail that smoothing removes at rest (eq. 3), and `x_i = ṽ_i + R_i d_i` (eq.
//! 4). This is the baseline and the reference of direct delta mush: with best-fit rotations of the
//! weighted patch (eq. 5) instead of tangent frames, both methods agree.
//!
//! The smoothed surface is a blend of the joints ([`SmoothedBlend`]), which is baked. Under scale
//! and shear (two phases) the rest surface of the second phase is the stretched surface: then both
//! are smoothed in every frame. The vertex loop applies the frame `Γ_i = [R_i  ṽ_i − R_i ũ_i]`.
//!
//! Another rest shape, such as a morphed one, uses the frames of the baked shape: the difference
//! rotates as details do.

mod frames;
mod normals;
mod passes;

use super::direct::{FieldKey, Fields};
use super::error::DeformError;
use super::lanes::{FrameLanes, Group, Packing};
use super::neighbour_blend::{NeighbourBlend, rigid_frame};
use super::rigid_motion::{BlendsMotions, MotionLanes, MotionStreams, RigidMotions, TwoPhases};
use super::streams::{Kernel, StreamLayout};
use super::vertex_loop::Deformer;
use crate::mush::{MushOptions, MushSurface, SmoothedBlend, missing_thickness};
use crate::polar::{nearest_rotation, outer};
use crate::rig::Rig;
use crate::smoothing::{Domain, Scratch, Series, Smoothing, Values};
use crate::transform::Affine;
use fearless_simd::{Level, Simd};
use frames::RestFrames;
use glam::{DAffine3, DMat3, DVec3};
use normals::PointNormals;
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
    packing: Arc<Packing>,
    level: Level,
    domain: Domain,
    smoothing: Smoothing,
    series: Series,
    /// The smoothed surface of any pose without stretches, for tangent frames; none where smoothing
    /// it is cheaper.
    blend: Option<SmoothedBlend>,
    frames: LocalFrames,
    normals: PointNormals,
    /// Rest positions, and the smoothed rest surface.
    rest: Vec<DVec3>,
    smooth_rest: SmoothSurface,
    /// The neighbour that gives each point's tangent.
    towards: Vec<u32>,
    /// The tangent frames of the smoothed rest surface, eight points at a time.
    rest_frames: Vec<RestFrames>,
    /// For best-fit frames: by how much each patch is thickened. Empty if no patch is thickened.
    thickness: Vec<f64>,
    /// The origin of coordinates in covariances.
    middle: DVec3,
    neighbours: NeighbourBlend,
}

/// A smoothed surface.
#[derive(Clone, Debug, Default)]
struct SmoothSurface {
    /// Positions; the fourth number is unused.
    places: Vec<Values<4>>,
    /// Twice the area-weighted sum of normals around each point.
    normals: Vec<DVec3>,
    /// Twice the area vectors of all triangles.
    areas: Vec<DVec3>,
}

impl SmoothSurface {
    #[inline]
    fn place(&self, point: usize) -> DVec3 {
        let [x, y, z, _] = self.places[point];
        DVec3::new(x, y, z)
    }
}

impl DeltaMushSkin {
    fn new(rig: &Rig, surface: MushSurface, options: &DeltaMush) -> DeltaMushSkin {
        let domain = Domain::whole(&surface.laplacian, &surface.lambda);
        let smoothing = options.smoothing.smoothing();
        let rest = surface.laplacian.points().to_vec();
        let weights = surface.weights.clone();
        let mut skin = DeltaMushSkin {
            packing: Arc::new(Packing::in_order(weights.vertex_count(), weights)),
            level: Level::new(),
            smoothing,
            series: domain.series(smoothing),
            blend: None,
            frames: options.frames,
            normals: PointNormals::of(rig.mesh(), &surface.weld),
            smooth_rest: SmoothSurface::default(),
            towards: Vec::new(),
            rest_frames: Vec::new(),
            thickness: Vec::new(),
            middle: rest.iter().sum::<DVec3>() / rest.len().max(1) as f64,
            neighbours: NeighbourBlend::of(rest.len(), |point| surface.laplacian.row(point).0),
            surface,
            domain,
            rest,
        };
        let mut posed = PosedSurface::default();
        let mut smooth_rest = SmoothSurface::default();
        skin.smooth(&skin.rest, &mut smooth_rest, &mut posed.scratch);
        skin.normals.update(&mut smooth_rest);
        skin.towards = skin.tangent_neighbours(&smooth_rest);
        skin.rest_frames = skin.rest_frames_of(&smooth_rest);
        match skin.frames {
            LocalFrames::Tangent => {
                let rest = |point: usize| smooth_rest.place(point);
                skin.blend = SmoothedBlend::of(&skin.surface, &options.smoothing, rest);
                skin.smooth_rest = smooth_rest;
            }
            LocalFrames::BestFit => {
                skin.smooth_rest = smooth_rest;
                skin.thickness = skin.missing_thickness(&mut posed);
            }
        }
        skin
    }

    /// The missing thickness of each patch, measured at rest as in direct delta mush.
    fn missing_thickness(&self, posed: &mut PosedSurface) -> Vec<f64> {
        posed.blended.clone_from(&self.rest);
        posed.stretched.clone_from(&self.rest);
        self.smooth_products(posed);
        let missing = |point: usize| {
            let place = self.smooth_rest.place(point) - self.middle;
            let covariance = DMat3::from_cols_slice(&posed.products[point]) - outer(place, place);
            missing_thickness(&covariance, self.surface.spread)
        };
        let thickness: Vec<f64> = (0..self.rest.len()).map(missing).collect();
        match thickness.iter().any(|&missing| missing > 0.0) {
            true => thickness,
            false => Vec::new(),
        }
    }

    /// Smooths positions, step by step.
    fn smooth(&self, places: &[DVec3], smooth: &mut SmoothSurface, scratch: &mut Scratch<4>) {
        let about = |place: &DVec3| (*place - self.middle).extend(0.0).to_array();
        let smoothed = &mut smooth.places;
        smoothed.clear();
        smoothed.extend(places.iter().map(about));
        let count = self.domain.len();
        self.domain.smooth(&self.series, smoothed, count, scratch);
        for [x, y, z, _] in smoothed {
            *x += self.middle.x;
            *y += self.middle.y;
            *z += self.middle.z;
        }
    }

    /// For every point, the neighbour that is farthest along the surface.
    fn tangent_neighbours(&self, smooth: &SmoothSurface) -> Vec<u32> {
        let towards = |point: usize| {
            let normal = smooth.normals[point].normalize_or_zero();
            let neighbours = self.surface.laplacian.row(point).0.iter().copied();
            let along = |other: u32| {
                let edge = smooth.place(other as usize) - smooth.place(point);
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
        let edge = smooth.place(self.towards[point] as usize) - smooth.place(point);
        let tangent = edge.reject_from_normalized(normal).try_normalize()?;
        Some(DMat3::from_cols(tangent, normal.cross(tangent), normal))
    }
}

/// Scratch data of a pose.
#[derive(Clone, Debug, Default)]
struct PosedSurface {
    matrices: Vec<DAffine3>,
    stretched: Vec<DVec3>,
    blended: Vec<DVec3>,
    columns: Vec<[Values<4>; 4]>,
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
    type Lanes = DeltaMushSkin;

    const ONE_JOINT_IS_RIGID: bool = false;

    fn pose(&self, motions: &RigidMotions, posed: &mut PosedSurface) {
        posed.frames.clear();
        if let Some(common) = motions.common() {
            posed.frames.resize(self.rest.len(), common);
            return;
        }
        let stretches = !motions.stretches.is_empty();
        let blend = self.blend.as_ref().filter(|_| !stretches);
        if blend.is_none() {
            motions.blend_linearly(
                &self.rest,
                |point| self.surface.row(point),
                &mut posed.matrices,
                &mut posed.stretched,
                &mut posed.blended,
            );
        }
        let mut rest = std::mem::take(&mut posed.smooth_rest);
        let mut after = std::mem::take(&mut posed.smooth_posed);
        if stretches {
            self.smooth(&posed.stretched, &mut rest, &mut posed.scratch);
            self.normals.update(&mut rest);
        }
        match blend {
            Some(blend) => {
                let rest = &self.smooth_rest.places;
                let motions = motions.motions.iter().map(|motion| {
                    DAffine3::from_rotation_translation(motion.rotation, motion.translation)
                });
                blend.places(motions, rest, &mut posed.columns, &mut after.places);
            }
            None => self.smooth(&posed.blended, &mut after, &mut posed.scratch),
        }
        self.normals.update(&mut after);
        let before = if stretches { &rest } else { &self.smooth_rest };
        match self.frames {
            LocalFrames::Tangent if !stretches => self.tangent_frames(&after, motions, posed),
            LocalFrames::Tangent => {
                let frames = (0..self.rest.len())
                    .map(|point| self.frame_between(point, before, &after, motions));
                posed.frames.extend(frames);
            }
            LocalFrames::BestFit => {
                self.smooth_products(posed);
                self.smooth_rotations(motions, posed);
                for point in 0..self.rest.len() {
                    let products = DMat3::from_cols_slice(&posed.products[point]);
                    let (from, to) = (before.place(point), after.place(point));
                    let mut products = products - outer(to - self.middle, from - self.middle);
                    if let Some(rotations) = posed.rotations.get(point) {
                        products += DMat3::from_cols_slice(rotations) * self.thickness[point];
                    }
                    let frame = rigid_frame(&nearest_rotation(&products), from, to);
                    posed.frames.push(frame);
                }
            }
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

    fn lanes(&self) -> Option<&DeltaMushSkin> {
        Some(self)
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

impl MotionLanes<PosedSurface> for DeltaMushSkin {
    fn packing(&self) -> &Arc<Packing> {
        &self.packing
    }

    /// The packing has no sums of joints, which stretches need.
    #[inline(always)]
    fn goes_together(&self, _group: &Group<'_>, stretched: bool, _posed: &PosedSurface) -> bool {
        !stretched
    }

    #[inline(always)]
    fn frames<S: Simd>(
        &self,
        simd: S,
        group: &Group<'_>,
        _stretch: Option<&FrameLanes<S>>,
        posed: &PosedSurface,
    ) -> FrameLanes<S> {
        let weld = &self.surface.weld;
        FrameLanes {
            rigid: true,
            ..FrameLanes::one_by_one(simd, group, |vertex| posed.frames[weld.point_of(vertex)])
        }
    }

    /// Smoothing, normals and frames; twelve numbers for each vertex are a frame.
    fn bytes(&self) -> usize {
        let blend = self.blend.as_ref().map_or(0, SmoothedBlend::bytes);
        blend + self.normals.bytes() + self.rest_frames.len() * size_of::<RestFrames>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::characters::{self, Character};
    use crate::deform::common_scale::RestScale;
    use crate::deform::rigid_motion::joint_heads;
    use crate::mush::Steps;

    /// What the options make of a character, and the motions of a frame of its first clip.
    fn posed(character: Character, options: &MushOptions) -> (DeltaMushSkin, RigidMotions, f64) {
        let asset = characters::build(character, 2000).expect("built in");
        let surface = MushSurface::of(&asset.rig, options).expect("in range");
        let options = DeltaMush {
            smoothing: options.clone(),
            frames: LocalFrames::Tangent,
        };
        let skin = DeltaMushSkin::new(&asset.rig, surface, &options);
        let palette = asset.palette_at(&asset.clips[0], 0.8);
        let mut motions = RigidMotions::default();
        let heads = joint_heads(&asset.rig);
        let rest_scale = RestScale::of(&asset.rig);
        motions.split(&palette.posed_from_bind, &heads, &rest_scale);
        (skin, motions, f64::from(asset.rig.mesh().extent()))
    }

    fn frames(skin: &DeltaMushSkin, motions: &RigidMotions) -> Vec<Affine> {
        let mut posed = PosedSurface::default();
        skin.pose(motions, &mut posed);
        posed.frames
    }

    #[test]
    fn the_blend_of_joints_is_the_smoothed_surface() {
        let explicit = MushOptions {
            steps: Steps::Explicit,
            lambda: 0.5,
            radius_from_bones: false,
            ..MushOptions::DEFAULT
        };
        for options in [MushOptions::DEFAULT, explicit] {
            for character in [Character::Figure, Character::Arm, Character::Bar] {
                let (mut skin, motions, extent) = posed(character, &options);
                let blended = frames(&skin, &motions);
                assert!(skin.blend.take().is_some(), "{character:?}");
                let smoothed = frames(&skin, &motions);
                for (point, (a, b)) in blended.iter().zip(&smoothed).enumerate() {
                    let place = skin.rest[point].as_vec3();
                    let off = a.transform_point(place).distance(b.transform_point(place));
                    let off = f64::from(off) / extent;
                    assert!(off < 2e-5, "{character:?}, point {point}: {off:e}");
                }
            }
        }
    }

    #[test]
    fn frames_in_lanes_are_those_of_single_points() {
        let (skin, motions, extent) = posed(Character::Figure, &MushOptions::DEFAULT);
        let mut posed = PosedSurface::default();
        skin.pose(&motions, &mut posed);
        for (point, frame) in posed.frames.iter().enumerate() {
            let alone = skin.frame_between(point, &skin.smooth_rest, &posed.smooth_posed, &motions);
            let place = skin.rest[point].as_vec3();
            let off = frame
                .transform_point(place)
                .distance(alone.transform_point(place));
            assert!(f64::from(off) < 1e-6 * extent, "point {point}: {off:e}");
        }
    }

    #[test]
    fn smoothing_that_mixes_all_joints_everywhere_is_not_baked() {
        let options = MushOptions {
            lambda: 10_000.0,
            radius_from_bones: false,
            ..MushOptions::DEFAULT
        };
        assert!(posed(Character::Figure, &options).0.blend.is_none());
        assert!(
            posed(Character::Figure, &MushOptions::DEFAULT)
                .0
                .blend
                .is_some()
        );
    }
}
