//! Measures of a deformed surface: volume, area, stretch, thickness, normals, smoothness over time.
//!
//! ```
//! use supple::characters::{self, Character};
//! use supple::metrics::Gauge;
//! use supple::{Method, Normals, Player};
//!
//! let asset = characters::build(Character::Bar, 2_000)?;
//! let gauge = Gauge::new(&asset.rig);
//! let mut player = Player::new(&asset, &Method::Linear, Normals::Transported)?;
//! let pose = asset.pose_at(&asset.clips[0], 1.5);
//! player.pose(&pose)?;
//! let metrics = gauge.measure(player.positions(), player.normals(), player.palette());
//! assert!(metrics.volume_change.is_some_and(|change| change < 0.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod distance;
mod edges;
mod motion;
mod normal_error;
mod radius;
mod reference;
mod region;
mod rigidity;
mod smoothness;
mod stretch;
mod surface;
mod volume;

#[cfg(test)]
mod tests;

pub use distance::{FarthestVertex, RmsDistance};
pub use edges::EdgeChange;
pub use motion::JointMotion;
pub use normal_error::NormalError;
pub use radius::{JointRadius, Station};
pub use reference::{ErrorStatistics, ReferenceErrors, SurfaceErrors, VertexCountError};
pub use region::JointRegion;
pub use smoothness::{Pop, TimeSmoothness};
pub use stretch::{Stretch, StretchSummary, WorstTriangle};

use crate::mesh::Mesh;
use crate::pose::Palette;
use crate::rig::Rig;
use crate::skeleton::{BindBone, Skeleton};
use crate::transform::Affine;
use glam::{DVec3, Vec3};
use normal_error::TrueNormals;
use radius::Sections;
use rigidity::Springs;
use surface::MeasuredSurface;
use volume::HoleCaps;

/// Surfaces with less volume than this share of area^(3/2), such as sheets, count as having none; a
/// ball has 0.094.
const LEAST_VOLUME: f64 = 1e-6;

/// Measures poses of one rig; holds the measures of its rest surface.
///
/// Vertices along seams are welded first. `positions` and `normals` have one entry per vertex of
/// the rig, palettes one map per joint; missing entries count as unmoved.
#[derive(Clone, Debug)]
pub struct Gauge {
    surface: MeasuredSurface,
    caps: HoleCaps,
    springs: Springs,
    true_normals: TrueNormals,
    regions: Vec<JointRegion>,
    main_regions: Vec<JointRegion>,
    sections: Vec<Sections>,
    bones: Vec<BindBone>,
    rest_volume: f64,
    rest_area: f64,
}

/// The measures of one frame; all changes are zero for a rigid motion.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct FrameMetrics {
    /// Change of volume, `posed / rest − 1`; `None` for surfaces without a volume, such as sheets.
    pub volume_change: Option<f64>,
    /// Change of area, `posed / rest − 1`.
    pub area_change: f64,
    /// Stretch and shear of triangles.
    pub stretch: StretchSummary,
    /// Changes of edge lengths.
    pub edges: EdgeChange,
    /// As-rigid-as-possible energy, see [`Gauge::rigid_energy`].
    pub rigid_energy: f64,
    /// Angles between the given normals and those of the posed surface.
    pub normals: NormalError,
    /// The regions of all joints that blend with their parent, in the order of joints.
    pub regions: Vec<RegionMetrics>,
}

/// The measures of one frame around one joint.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RegionMetrics {
    /// The joint.
    pub joint: usize,
    /// Mean of [`Stretch::distortion`] by rest area over the region's triangles.
    pub mean_distortion: f64,
    /// Change of the area of the region's triangles, `posed / rest − 1`.
    pub area_change: f64,
    /// The thickness; `None` if no plane cuts the region, see [`Gauge::radii`].
    pub radius: Option<JointRadius>,
}

/// Lengths in the rest pose over lengths in the bind pose, as the median over joints; negative
/// where the rest pose mirrors. Divide posed positions by it before measuring them, since files may
/// bind in other units than they show.
pub fn rest_scale(skeleton: &Skeleton) -> f64 {
    let palette = skeleton.rest_palette();
    let mut scales: Vec<f64> = palette
        .posed_from_bind
        .iter()
        .map(Affine::scale_factor)
        .filter(|scale| scale.is_finite() && scale.abs() > 1e-9)
        .collect();
    scales.sort_by(f64::total_cmp);
    let scale = scales.get(scales.len() / 2).copied().unwrap_or(1.0);
    // Rounding is no change of units.
    if (scale.abs() - 1.0).abs() < 1e-3 {
        scale.signum()
    } else {
        scale
    }
}

impl Gauge {
    /// Welds the surface, closes its holes, and computes edges, weights and regions.
    pub fn new(rig: &Rig) -> Gauge {
        let surface = MeasuredSurface::new(rig);
        let caps = HoleCaps::find(&surface);
        let regions = region::regions(rig, &surface);
        let bones = rig.skeleton().bind_bones();
        let sections = regions
            .iter()
            .filter_map(|region| Sections::new(&surface, region, &bones));
        Gauge {
            sections: sections.collect(),
            bones,
            main_regions: region::main_regions(rig, &surface),
            regions,
            springs: Springs::new(&surface),
            true_normals: TrueNormals::new(rig, &surface),
            rest_volume: caps.volume(&surface, &surface.rest),
            rest_area: surface.areas.iter().sum(),
            caps,
            surface,
        }
    }

    /// Computes all measures of one frame.
    pub fn measure(&self, positions: &[Vec3], normals: &[Vec3], palette: &Palette) -> FrameMetrics {
        let points = self.surface.posed(positions);
        let stretch = stretch::stretch(&self.surface, &points);
        FrameMetrics {
            volume_change: self.volume_change_of(&points, mirrors_all(palette)),
            area_change: relative_change(self.surface.area(&points), self.rest_area),
            stretch: stretch::summary(&self.surface, &stretch),
            edges: edges::edge_change(&self.surface, &points),
            rigid_energy: self.springs.energy(&self.surface, &points),
            normals: self.true_normals.error(positions, normals, palette),
            regions: self.region_metrics(&points, &stretch, palette),
        }
    }

    /// The signed volume at rest, with each hole closed by a fan around the mean of its rim;
    /// negative for a surface turned inside out.
    ///
    /// Gaps between triangles that face different ways, or along edges shared by more than two
    /// triangles, count as holes.
    pub fn rest_volume(&self) -> f64 {
        self.rest_volume
    }

    /// The signed volume, measured as [`rest_volume`](Gauge::rest_volume); `None` for surfaces
    /// without a volume, such as sheets.
    pub fn volume(&self, positions: &[Vec3]) -> Option<f64> {
        let change = self.volume_change(positions)?;
        Some((1.0 + change) * self.rest_volume)
    }

    /// Change of volume, `posed / rest − 1`; `None` for surfaces without a volume, such as sheets.
    pub fn volume_change(&self, positions: &[Vec3]) -> Option<f64> {
        self.volume_change_of(&self.surface.posed(positions), false)
    }

    /// The number of holes of the surface.
    pub fn holes(&self) -> usize {
        self.caps.count()
    }

    fn area(&self, positions: &[Vec3]) -> f64 {
        self.surface.area(&self.surface.posed(positions))
    }

    /// The area at rest, holes left open.
    pub fn rest_area(&self) -> f64 {
        self.rest_area
    }

    /// Change of area, `posed / rest − 1`; zero for surfaces without an area.
    pub fn area_change(&self, positions: &[Vec3]) -> f64 {
        relative_change(self.area(positions), self.rest_area)
    }

    /// The stretch of each triangle, in the order of the mesh.
    pub fn stretch(&self, positions: &[Vec3]) -> Vec<Stretch> {
        stretch::stretch(&self.surface, &self.surface.posed(positions))
    }

    /// Summarizes the stretch of all triangles, from [`Gauge::stretch`].
    ///
    /// # Panics
    ///
    /// Panics unless there is one stretch per triangle.
    pub fn stretch_summary(&self, stretch: &[Stretch]) -> StretchSummary {
        stretch::summary(&self.surface, stretch)
    }

    /// The mean of [`Stretch::distortion`] by rest area over a region, from [`Gauge::stretch`];
    /// zero for a region without an area.
    ///
    /// # Panics
    ///
    /// Panics unless there is one stretch per triangle, and the region belongs to this surface.
    pub fn region_distortion(&self, region: &JointRegion, stretch: &[Stretch]) -> f64 {
        stretch::mean_distortion(&self.surface, stretch, region.triangles.iter().copied())
    }

    /// Doublings of the area around each vertex, for colours: −1 is half of the area, 0 unchanged,
    /// 1 twice; limited to ±4.
    ///
    /// Areas rather than lengths, because their sign is clear: shear stretches one direction and
    /// compresses the other by the same factor, and which one is the larger would be up to
    /// rounding. For shear see [`Gauge::vertex_distortion`].
    pub fn vertex_stretch(&self, positions: &[Vec3]) -> Vec<f32> {
        stretch::vertex_stretch(&self.surface, &self.stretch(positions))
    }

    /// Mean [`Stretch::distortion`] around each vertex: 0 if the surface keeps its shape, shear
    /// included.
    pub fn vertex_distortion(&self, positions: &[Vec3]) -> Vec<f32> {
        let distortion: Vec<f64> = self
            .stretch(positions)
            .iter()
            .map(Stretch::distortion)
            .collect();
        self.surface.spread_to_vertices(&distortion)
    }

    /// Changes of edge lengths.
    pub fn edges(&self, positions: &[Vec3]) -> EdgeChange {
        edges::edge_change(&self.surface, &self.surface.posed(positions))
    }

    /// As-rigid-as-possible energy: the deviation of the surroundings of points from a rotation.
    ///
    /// `Σ_i Σ_{j∈N(i)} c_ij |p'_i − p'_j − R_i (p_i − p_j)|²` with clamped cotangent weights, over
    /// `Σ_i Σ_j c_ij |p_i − p_j|²`: without units, zero for a rigid motion, `s²` for scaling by
    /// `1 + s`.
    pub fn rigid_energy(&self, positions: &[Vec3]) -> f64 {
        let points = self.surface.posed(positions);
        self.springs.energy(&self.surface, &points)
    }

    /// The thickness around every joint that blends with its parent, in the order of joints.
    ///
    /// Joints whose region no plane across the bones cuts are skipped: it has no edges, or the
    /// bones no length.
    pub fn radii(&self, positions: &[Vec3], palette: &Palette) -> Vec<JointRadius> {
        let points = self.surface.posed(positions);
        self.sections
            .iter()
            .map(|sections| sections.measure(&points, palette))
            .collect()
    }

    /// The angle between a method's normals and those of the posed triangles, by area and corner
    /// angle as in [`crate::normals::vertex_normals`].
    ///
    /// Along hard edges each vertex is compared with the triangles on its own side only: those of
    /// vertices at the same point whose rest normals agree within 2°. Vertices without area are
    /// skipped. Nothing is subtracted for the rest pose: a file whose own normals do not follow
    /// its triangles has an error there too. Triangles that a pose mirrors count as
    /// turned around.
    pub fn normal_error(
        &self,
        positions: &[Vec3],
        normals: &[Vec3],
        palette: &Palette,
    ) -> NormalError {
        self.true_normals.error(positions, normals, palette)
    }

    /// The region of one joint; `None` for a root, or a joint that shares no vertex with its
    /// parent.
    pub fn region_of_joint(&self, joint: usize) -> Option<&JointRegion> {
        let found = self.regions.binary_search_by_key(&joint, |r| r.joint);
        found.ok().map(|index| &self.regions[index])
    }

    /// The regions that matter most for the look, largest first: at most 96, each with more than
    /// 0.02 % of the surface.
    ///
    /// Pairs of joints that are not parent and child count only if they blend more skin than all
    /// others, as in a cloth on unconnected joints.
    pub fn main_regions(&self) -> &[JointRegion] {
        &self.main_regions
    }

    /// The motion of a region's joint relative to the joint that it is blended with.
    ///
    /// # Panics
    ///
    /// Panics unless the region belongs to this surface.
    pub fn motion(&self, region: &JointRegion, palette: &Palette) -> JointMotion {
        JointMotion::of(region, &self.bones[region.joint], palette)
    }

    fn volume_change_of(&self, points: &[DVec3], mirrored: bool) -> Option<f64> {
        let enough = self.rest_volume.abs() > LEAST_VOLUME * self.rest_area.powf(1.5);
        let side = if mirrored { -1.0 } else { 1.0 };
        enough.then(|| side * self.caps.volume(&self.surface, points) / self.rest_volume - 1.0)
    }

    fn region_metrics(
        &self,
        points: &[DVec3],
        stretch: &[Stretch],
        palette: &Palette,
    ) -> Vec<RegionMetrics> {
        let mut sections = self.sections.iter().peekable();
        let of_region = |region: &JointRegion| {
            let triangles = || region.triangles.iter().copied();
            let rest_area: f64 = triangles().map(|t| self.surface.areas[t]).sum();
            let area: f64 = triangles()
                .map(|t| self.surface.areas[t] * stretch[t].area_ratio())
                .sum();
            RegionMetrics {
                joint: region.joint,
                mean_distortion: stretch::mean_distortion(&self.surface, stretch, triangles()),
                area_change: relative_change(area, rest_area),
                radius: sections
                    .next_if(|sections| sections.joint() == region.joint)
                    .map(|sections| sections.measure(points, palette)),
            }
        };
        self.regions.iter().map(of_region).collect()
    }
}

/// True if a palette mirrors the whole character, which changes the sign of its volume.
fn mirrors_all(palette: &Palette) -> bool {
    let maps = &palette.posed_from_bind;
    !maps.is_empty() && maps.iter().all(Affine::mirrors)
}

/// The area around every vertex: a third of each of its triangles.
fn vertex_areas(mesh: &Mesh, triangle_areas: &[f64]) -> Vec<f64> {
    let mut areas = vec![0.0; mesh.vertex_count()];
    for (corners, area) in mesh.triangles().iter().zip(triangle_areas) {
        for &corner in corners {
            areas[corner as usize] += area / 3.0;
        }
    }
    areas
}

/// `posed / rest − 1`; zero where `rest` is zero.
fn relative_change(posed: f64, rest: f64) -> f64 {
    if rest > 0.0 { posed / rest - 1.0 } else { 0.0 }
}
