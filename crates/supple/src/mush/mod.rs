//! The bake of direct delta mush: smoothing of a bound surface, as a few numbers per vertex and
//! joint.
//!
//! `direct-delta-mush.txt`, §3.2 to §3.4. `Ψ_ij = Σ_k B_ki w_kj u_k u_kᵀ` (eq. 6b) is the part of
//! joint `j` in the smoothed patch of vertex `i`: its share, its position, its second moments. The
//! data of all variants are derived from `Ω_ij` (eq. 11).
//!
//! **Relative to the middle of the patch.** All moments are relative to `p_i`, the smoothed
//! position of the vertex, instead of the origin. In these coordinates `Σ_j Ω_ij` is the covariance
//! of eq. (8), with nothing to subtract, so that `f32` and 16 bits suffice at any distance from the
//! origin and for any size of the patch. The second term of eq. (11) has a single entry, the share,
//! so it has no effect on the rotation (Appendix C).
//!
//! **Local.** All channels of a joint are smoothed at once (`smoothing.rs`), and only where the
//! joint has influence (`channels.rs`).

mod assembly;
mod channels;
mod pieces;
mod smoothed_blend;
mod strengths;

use crate::option_error::{OptionError, check_option};
use crate::rig::Rig;
use crate::smoothing::{Domain, Scratch, Smoothing, Values};
use crate::surface::{Edges, Laplacian, Weld};
use crate::weights::{Weights, WeightsError, weld_bound};
use glam::{DVec3, Vec3};
use std::collections::BTreeMap;
use thiserror::Error;

pub use crate::smoothing::Steps;
pub use crate::surface::EdgeWeights;
pub(crate) use assembly::missing_thickness;
pub use pieces::Connections;
pub(crate) use smoothed_blend::SmoothedBlend;
pub use strengths::{ALPHA_SHARE, KAPPA_SHARE, LAMBDA_SHARE};

/// Options of the bake of direct delta mush, and of the smoothing of delta mush.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default)
)]
pub struct MushOptions {
    /// `p`: the number of smoothing steps.
    pub iterations: u32,
    /// `λ`: the size of a step for rotations, and for delta mush as a whole.
    pub lambda: f64,
    /// `κ`: the size of a step for the skinning weights that are blended into translations (eq.
    /// 12); below `λ`.
    pub kappa: f64,
    /// `α`: the share of these weights (eq. 11), from 0 up to but not including 1.
    pub alpha: f64,
    /// The weights of neighbours in the Laplacian.
    pub edge_weights: EdgeWeights,
    /// The kind of step.
    pub steps: Steps,
    /// Derives `D_λ` and `D_κ` from the distance to the bones (§4.0.1), so that smoothing reaches
    /// as far as a limb is thick, at any mesh resolution. Otherwise they are one.
    pub radius_from_bones: bool,
    /// First binds each vertex to its heaviest joint alone (rigid bind).
    pub rigid: bool,
    /// The largest number of joints per vertex.
    pub max_influences: Option<usize>,
    /// The largest error of a vertex from pruning joints, relative to the extent, for moderate
    /// poses: the positions that its joints give it are within one extent, and its patch keeps its
    /// shape.
    pub prune: f64,
    /// `D_α` at the vertices of some joints (§4.0.3), weighted by their weights; one at all others.
    /// If a joint occurs twice, the last entry counts.
    pub alpha_at_joints: Vec<(usize, f64)>,
}

impl MushOptions {
    /// Twenty steps, with sizes that suit most characters.
    pub(crate) const DEFAULT: MushOptions = MushOptions {
        iterations: 20,
        lambda: 3.0,
        kappa: 1.0,
        alpha: 0.8,
        edge_weights: EdgeWeights::Uniform,
        steps: Steps::Implicit,
        radius_from_bones: true,
        rigid: false,
        max_influences: None,
        prune: 4e-6,
        alpha_at_joints: Vec::new(),
    };

    /// Checks that all options are in range.
    ///
    /// # Errors
    ///
    /// Fails if an option is out of range.
    pub fn check(&self) -> Result<(), OptionError> {
        check_option(
            self.iterations <= 10_000,
            "the number of iterations",
            f64::from(self.iterations),
            "at most 10000",
        )?;
        for (option, value) in [("lambda", self.lambda), ("kappa", self.kappa)] {
            let is_allowed = (0.0..=10_000.0).contains(&value);
            check_option(is_allowed, option, value, "from 0 to 10000")?;
        }
        for &(_, value) in &self.alpha_at_joints {
            let is_allowed = (0.0..=1.0).contains(&value);
            check_option(
                is_allowed,
                "the share of alpha at a joint",
                value,
                "from 0 to 1",
            )?;
        }
        check_option(
            (0.0..1.0).contains(&self.alpha),
            "alpha",
            self.alpha,
            "from 0 up to, but not including, 1",
        )?;
        check_option(
            (0.0..=0.1).contains(&self.prune),
            "the error of pruning",
            self.prune,
            "from 0 to 0.1",
        )?;
        check_option(
            self.max_influences != Some(0),
            "the number of influences",
            0.0,
            "at least 1",
        )
    }

    /// The factors of [`alpha_at_joints`](MushOptions::alpha_at_joints), each joint once.
    pub fn alpha_by_joint(&self) -> BTreeMap<usize, f64> {
        self.alpha_at_joints.iter().copied().collect()
    }

    pub(crate) fn smoothing(&self) -> Smoothing {
        Smoothing {
            steps: self.steps,
            count: self.iterations,
        }
    }
}

impl Default for MushOptions {
    fn default() -> MushOptions {
        MushOptions::DEFAULT
    }
}

/// Error from baking, or from numbers that are not a valid bake.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum MushError {
    /// An option is out of range.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// A painted number is out of range.
    #[error("the attribute {name} of vertex {vertex} is {value}, but it must be {allowed}")]
    Painted {
        /// The attribute.
        name: &'static str,
        /// The vertex.
        vertex: usize,
        /// Its value.
        value: f32,
        /// The allowed values.
        allowed: &'static str,
    },
    /// An explicit step is unstable: it would amplify instead of smooth.
    #[error(
        "explicit smoothing needs steps of at most 1, but at vertex {vertex} the step is \
         {strength}; use smaller steps, or implicit smoothing"
    )]
    ExplicitTooStrong {
        /// The vertex.
        vertex: usize,
        /// The size of the step there.
        strength: f64,
    },
    /// The total smoothing is too large.
    #[error(
        "{iterations} steps of {strength} at vertex {vertex} are too much smoothing; steps times \
         their size may be at most 200000"
    )]
    TooStrong {
        /// The vertex.
        vertex: usize,
        /// The size of the step there.
        strength: f64,
        /// The number of steps.
        iterations: u32,
    },
    /// A joint does not exist.
    #[error("there is no joint {joint}: the skeleton has {joints}")]
    NoJoint {
        /// The joint.
        joint: usize,
        /// The number of joints.
        joints: usize,
    },
    /// The bake has another number of vertices.
    #[error("the bake is for {found} vertices, but the mesh has {expected}")]
    VertexCount {
        /// Vertices of the bake.
        found: usize,
        /// Vertices of the mesh.
        expected: usize,
    },
    /// There are too many influences.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// A number of a bake is invalid.
    #[error("the {what} of vertex {vertex} {problem}")]
    Numbers {
        /// The kind of number.
        what: &'static str,
        /// The vertex.
        vertex: usize,
        /// The problem.
        problem: &'static str,
    },
}

/// Baked data of direct delta mush: for every vertex the middle of its patch, and an `Ω` for each
/// of its joints.
#[derive(Clone, Debug, PartialEq)]
pub struct Mush {
    /// `ω`, the last entry of `Ω`: also the skinning weights of variant v5. Their rows define the
    /// joints of each vertex.
    weights: Weights,
    /// The other numbers of each influence, in the order of the weights' rows.
    parts: Vec<PatchPart>,
    /// `p`.
    centers: Vec<Vec3>,
}

/// The part of a vertex's patch that a joint holds, without its share `ω`, in the units of the
/// mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PatchPart {
    /// `ψ`: its share of the rotation; the sum over all joints is one.
    pub rotation_weight: f32,
    /// `χ − ω p`: its share times its position relative to the middle of the patch; the sum is
    /// zero.
    pub lever: Vec3,
    /// Second moments about the middle of the patch: xx, xy, xz, yy, yz, zz. Their sum is the
    /// covariance of the patch, times `1 − α`.
    pub moments: [f32; 6],
}

impl Mush {
    /// Bakes a character.
    ///
    /// # Errors
    ///
    /// Fails if an option or a painted number is out of range, or there are too many influences.
    pub fn bake(rig: &Rig, options: &MushOptions) -> Result<Baked, MushError> {
        let surface = MushSurface::of(rig, options)?;
        let rows = assembly::rows(&surface, options);
        let mush = assembly::finish(rows, &surface)?;
        Ok(Baked {
            mush,
            connections: surface.connections,
        })
    }

    /// Builds a bake from stored numbers. The rows of the weights define the joints; `parts` are in
    /// the same order.
    ///
    /// # Errors
    ///
    /// Fails if parts, centers and weights differ in number, or a number is not finite or out of
    /// range.
    pub fn from_parts(
        weights: Weights,
        parts: Vec<PatchPart>,
        centers: Vec<Vec3>,
    ) -> Result<Mush, MushError> {
        let vertices = weights.vertex_count();
        if centers.len() != vertices {
            return Err(MushError::VertexCount {
                found: centers.len(),
                expected: vertices,
            });
        }
        let wrong = |what, vertex, problem| {
            Err(MushError::Numbers {
                what,
                vertex,
                problem,
            })
        };
        if parts.len() != weights.influence_count() {
            return wrong("parts", vertices, "are not as many as its joints");
        }
        let mut parts = parts;
        for (vertex, center) in centers.iter().enumerate() {
            if !center.is_finite() {
                return wrong("center", vertex, "is not finite");
            }
            let row = &mut parts[weights.range(vertex)];
            for part in &*row {
                let numbers = [part.rotation_weight].into_iter();
                let mut numbers = numbers.chain(part.lever.to_array()).chain(part.moments);
                if !numbers.all(f32::is_finite) {
                    return wrong("patch", vertex, "is not finite");
                }
                if part.rotation_weight < 0.0 {
                    return wrong("rotation weight", vertex, "is negative");
                }
            }
            let sum: f32 = row.iter().map(|part| part.rotation_weight).sum();
            if sum <= 0.0 {
                return wrong("rotation weights", vertex, "are all zero");
            }
            if (sum - 1.0).abs() > 1e-6 {
                row.iter_mut().for_each(|part| part.rotation_weight /= sum);
            }
        }
        Ok(Mush {
            weights,
            parts,
            centers,
        })
    }

    /// `ω`, the skinning weights of variant v5.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// `p`, the middle of every vertex's patch.
    pub fn centers(&self) -> &[Vec3] {
        &self.centers
    }

    /// The parts of a vertex's joints, in the order of the weights' row.
    ///
    /// # Panics
    ///
    /// Panics if there is no such vertex, as indexing a slice does.
    #[inline]
    pub fn parts(&self, vertex: usize) -> &[PatchPart] {
        &self.parts[self.weights.range(vertex)]
    }
}

/// A bake with a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Baked {
    /// The baked data.
    pub mush: Mush,
    /// The pieces of the surface that were connected.
    pub connections: Connections,
}

/// A rig prepared for smoothing: welded points with neighbours, and the strength of smoothing at
/// each.
#[derive(Clone, Debug)]
pub(crate) struct MushSurface {
    pub(crate) weld: Weld,
    pub(crate) laplacian: Laplacian,
    /// The weights of the bind.
    pub(crate) weights: Weights,
    /// The first vertex of each point.
    vertex_of: Vec<u32>,
    pub(crate) connections: Connections,
    /// `λ·D_λ` at every point.
    pub(crate) lambda: Vec<f64>,
    /// `κ·D_κ`.
    kappa: Vec<f64>,
    /// `α·D_α` where it is painted.
    painted_alpha: Vec<Option<f64>>,
    joint_count: usize,
    extent: f64,
    /// The median of the squared distances of points from their mean: a size that a few distant
    /// points do not change.
    pub(crate) spread: f64,
}

impl MushSurface {
    pub(crate) fn of(rig: &Rig, options: &MushOptions) -> Result<MushSurface, MushError> {
        options.check()?;
        let joint_count = rig.skeleton().joints().len();
        let unknown = |&&(joint, _): &&(usize, f64)| joint >= joint_count;
        if let Some(&(joint, _)) = options.alpha_at_joints.iter().find(unknown) {
            return Err(MushError::NoJoint {
                joint,
                joints: joint_count,
            });
        }
        let mesh = rig.mesh();
        let weights = crate::weights::closed_over_seams(mesh, rig.weights())?;
        let weights = match options.rigid {
            true => weights.heaviest_only(),
            false => weights,
        };
        let weld = weld_bound(mesh.positions(), &weights);
        let mut vertex_of = vec![0; weld.point_count()];
        for vertex in (0..mesh.vertex_count()).rev() {
            vertex_of[weld.point_of(vertex)] = vertex as u32;
        }
        let heaviest = |point: usize| weights.row(vertex_of[point] as usize).0[0];
        let mut edges = Edges::of(
            mesh.positions(),
            mesh.triangles(),
            &weld,
            options.edge_weights,
        );
        let connections = pieces::connect(&mut edges, heaviest);
        let laplacian = edges.into_laplacian();
        let extent = mesh.extent();
        let mut surface = MushSurface {
            weld,
            laplacian,
            weights,
            vertex_of,
            connections,
            lambda: Vec::new(),
            kappa: Vec::new(),
            painted_alpha: Vec::new(),
            joint_count,
            extent: f64::from(extent),
            spread: 0.0,
        };
        surface.spread = surface.median_squared_distance();
        strengths::set(&mut surface, rig, options)?;
        Ok(surface)
    }

    pub(crate) fn point_count(&self) -> usize {
        self.laplacian.point_count()
    }

    /// The joints and weights of a point, heaviest first.
    pub(crate) fn row(&self, point: usize) -> (&[u16], &[f32]) {
        self.weights.row(self.vertex_of[point] as usize)
    }

    /// The joints of a point with their weights.
    fn influences(&self, point: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let row = self.weights.of(self.vertex_of[point] as usize);
        row.map(|influence| (influence.joint, f64::from(influence.weight)))
    }

    /// The points that each joint holds, with their weights.
    fn points_of_joints(&self) -> Vec<Vec<(u32, f64)>> {
        let mut points = vec![Vec::new(); self.joint_count];
        for point in 0..self.point_count() {
            for (joint, weight) in self.influences(point) {
                points[joint].push((point as u32, weight));
            }
        }
        points
    }

    /// `ũ = p`: the smoothed position of every point.
    fn smoothed_places(&self, smoothing: Smoothing) -> Vec<DVec3> {
        let domain = Domain::whole(&self.laplacian, &self.lambda);
        let middle = self.middle();
        let places = self.laplacian.points().iter();
        let mut values: Vec<Values<4>> = places
            .map(|place| (*place - middle).extend(0.0).to_array())
            .collect();
        let series = domain.series(smoothing);
        domain.smooth(&series, &mut values, domain.len(), &mut Scratch::default());
        let place = |[x, y, z, _]: &Values<4>| DVec3::new(*x, *y, *z) + middle;
        values.iter().map(place).collect()
    }

    fn median_squared_distance(&self) -> f64 {
        let middle = self.middle();
        let points = self.laplacian.points().iter();
        let mut squares: Vec<f64> = points.map(|place| place.distance_squared(middle)).collect();
        let half = squares.len() / 2;
        match squares.is_empty() {
            true => 0.0,
            false => *squares.select_nth_unstable_by(half, f64::total_cmp).1,
        }
    }

    /// A position near all points, so that relative coordinates have small rounding errors.
    fn middle(&self) -> DVec3 {
        let points = self.laplacian.points();
        points.iter().sum::<DVec3>() / points.len().max(1) as f64
    }
}
