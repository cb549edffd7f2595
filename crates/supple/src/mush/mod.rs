//! Direct delta mush, the slow part: what smoothing does to a bound surface, as a few numbers per
//! vertex and joint.
//!
//! `direct-delta-mush.txt`, §3.2 to §3.4. `Ψ_ij = Σ_k B_ki w_kj u_k u_kᵀ` (eq. 6b) is what joint
//! `j` holds of the patch that smoothing gathers at vertex `i`: its share, its place, its
//! second moments. Of `Ω_ij` (eq. 11) the run time of every variant is made.
//!
//! **About the middle of the patch.** All moments are kept about `p_i`, the smoothed place of the
//! vertex, instead of the origin. In these coordinates `Σ_j Ω_ij` is the covariance that
//! eq. (8) wants, with nothing to subtract, so that `f32` and 16 bits are enough wherever the
//! character stands and however small the patch is; and the second term of eq. (11) has a
//! single entry, the share, so that it plainly cannot turn anything (Appendix C).
//!
//! **Where it is solved.** All channels of a joint are smoothed at once (`smoothing.rs`), and only
//! where the joint matters (`channels.rs`).

mod assembly;
mod channels;
mod pieces;
mod strengths;

use crate::rig::Rig;
use crate::smoothing::{Domain, Scratch, Smoothing, Values};
use crate::surface::{EdgeWeights, Edges, Laplacian, Weld};
use crate::weights::{Weights, WeightsError, weld_bound};
use glam::{DVec3, Vec3};
use std::collections::BTreeMap;
use thiserror::Error;

pub use crate::smoothing::Steps;
pub(crate) use assembly::missing_thickness;
pub use pieces::Connections;
pub use strengths::{ALPHA_SHARE, KAPPA_SHARE, LAMBDA_SHARE};

/// How direct delta mush is baked, and delta mush smoothed.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MushOptions {
    /// `p`: how many steps of smoothing.
    pub iterations: u32,
    /// `λ`: the size of a step for rotations, and for all that delta mush does.
    pub lambda: f64,
    /// `κ`: the size of a step for the skinning weights that translations are mixed with (eq. 12);
    /// below `λ`.
    pub kappa: f64,
    /// `α`: how much of those is mixed in (eq. 11), from 0 up to but not including 1.
    pub alpha: f64,
    /// How much neighbours count for each other.
    pub edge_weights: EdgeWeights,
    /// How a step is taken.
    pub steps: Steps,
    /// Makes `D_λ` and `D_κ` from the distance to the bones (§4.0.1), so that smoothing reaches as
    /// far as a limb is thick, however fine the mesh. Without, they are one.
    pub radius_from_bones: bool,
    /// Binds each vertex to its heaviest joint alone first.
    pub rigid: bool,
    /// At most so many joints per vertex.
    pub max_influences: Option<usize>,
    /// What leaving out joints may cost: how far a vertex may be off, as a share of the extent,
    /// while its joints carry it no farther apart than one extent and its patch keeps its shape.
    pub prune: f64,
    /// `D_α` at the vertices of some joints (§4.0.3), spread as their weights are; one at all
    /// others. The last counts where a joint is given twice.
    pub alpha_at_joints: Vec<(usize, f64)>,
}

impl MushOptions {
    /// Twenty steps, of sizes that suit most characters.
    pub const DEFAULT: MushOptions = MushOptions {
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

    /// Tells what is wrong with the options, if anything is.
    ///
    /// # Errors
    ///
    /// If an option is out of its range.
    pub fn check(&self) -> Result<(), MushError> {
        let wrong = |name, value, allowed| {
            Err(MushError::Option {
                name,
                value,
                allowed,
            })
        };
        if self.iterations > 10_000 {
            return wrong(
                "number of iterations",
                f64::from(self.iterations),
                "at most 10000",
            );
        }
        for (name, value) in [("lambda", self.lambda), ("kappa", self.kappa)] {
            if !(0.0..=10_000.0).contains(&value) {
                return wrong(name, value, "from 0 to 10000");
            }
        }
        let joints = self.alpha_at_joints.iter().map(|&(_, value)| value);
        if let Some(value) = joints
            .into_iter()
            .find(|value| !(0.0..=1.0).contains(value))
        {
            return wrong("share of alpha at a joint", value, "from 0 to 1");
        }
        if !(0.0..1.0).contains(&self.alpha) {
            return wrong("alpha", self.alpha, "from 0 up to, but not including, 1");
        }
        if !(0.0..=0.1).contains(&self.prune) {
            return wrong("error of pruning", self.prune, "from 0 to 0.1");
        }
        if self.max_influences == Some(0) {
            return wrong("number of influences", 0.0, "at least 1");
        }
        Ok(())
    }

    /// What [`alpha_at_joints`](MushOptions::alpha_at_joints) says, each joint once.
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

/// Why a surface cannot be baked, or numbers are no bake.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum MushError {
    /// An option out of its range.
    #[error("the {name} is {value}, but it must be {allowed}")]
    Option {
        /// Which option.
        name: &'static str,
        /// What was given.
        value: f64,
        /// What may be given.
        allowed: &'static str,
    },
    /// A number painted on a vertex that is out of its range.
    #[error("the attribute {name} of vertex {vertex} is {value}, but it must be {allowed}")]
    Painted {
        /// Which attribute.
        name: &'static str,
        /// Which vertex.
        vertex: usize,
        /// What was painted.
        value: f32,
        /// What may be painted.
        allowed: &'static str,
    },
    /// An explicit step that would not smooth but grow.
    #[error(
        "explicit smoothing needs steps of at most 1, but at vertex {vertex} the step is {strength}; use smaller steps, or implicit smoothing"
    )]
    ExplicitTooStrong {
        /// Which vertex.
        vertex: usize,
        /// The step there.
        strength: f64,
    },
    /// Smoothing over more of the surface than anyone could want.
    #[error(
        "{iterations} steps of {strength} at vertex {vertex} are too much smoothing; steps times their size may be at most 200000"
    )]
    TooStrong {
        /// Which vertex.
        vertex: usize,
        /// The step there.
        strength: f64,
        /// How many there are.
        iterations: u32,
    },
    /// A joint that does not exist.
    #[error("there is no joint {joint}: the skeleton has {joints}")]
    NoJoint {
        /// Which joint.
        joint: usize,
        /// How many there are.
        joints: usize,
    },
    /// A bake for another number of vertices.
    #[error("the bake is for {found} vertices, but the mesh has {expected}")]
    VertexCount {
        /// Vertices of the bake.
        found: usize,
        /// Vertices of the mesh.
        expected: usize,
    },
    /// More influences than can be counted.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// Numbers of a bake that cannot be right.
    #[error("the {what} of vertex {vertex} {problem}")]
    Numbers {
        /// Which numbers.
        what: &'static str,
        /// Which vertex.
        vertex: usize,
        /// What is wrong with them.
        problem: &'static str,
    },
}

/// What direct delta mush knows about a character: for every vertex the middle of its patch, and
/// for each of its joints an `Ω`.
#[derive(Clone, Debug, PartialEq)]
pub struct Mush {
    /// `ω`, the last entry of `Ω`: also the skinning weights of variant v5. Their rows say which
    /// joints a vertex has.
    weights: Weights,
    /// What goes with each influence, in the order of the weights' rows.
    parts: Vec<PatchPart>,
    /// `p`.
    centers: Vec<Vec3>,
}

/// What one joint holds of the patch of a vertex, beside its share `ω`, in the units of the mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PatchPart {
    /// `ψ`: its share of the rotation; they sum to one.
    pub rotation_weight: f32,
    /// `χ − ω p`: its share times where it lies from the middle of the patch; they sum to zero.
    pub lever: Vec3,
    /// Second moments about the middle of the patch: xx, xy, xz, yy, yz, zz. They sum to the
    /// covariance of the patch, times `1 − α`.
    pub moments: [f32; 6],
}

impl Mush {
    /// Bakes a character.
    ///
    /// # Errors
    ///
    /// If an option or a painted number is out of its range, or there are too many influences.
    pub fn bake(rig: &Rig, options: &MushOptions) -> Result<Baked, MushError> {
        let surface = MushSurface::of(rig, options)?;
        let rows = assembly::rows(&surface, options);
        let mush = assembly::finish(rows, &surface)?;
        Ok(Baked {
            mush,
            connections: surface.connections,
        })
    }

    /// Takes numbers that were baked before, such as a file's. The weights' rows name the joints;
    /// `parts` follow them.
    ///
    /// # Errors
    ///
    /// If parts, centers and weights differ in number, or a number is not finite or out of its
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
        let starts = weights.row_starts();
        if parts.len() != weights.influence_count() {
            return wrong("parts", vertices, "are not as many as its joints");
        }
        let mut parts = parts;
        for (vertex, center) in centers.iter().enumerate() {
            if !center.is_finite() {
                return wrong("center", vertex, "is not finite");
            }
            let row = &mut parts[starts[vertex] as usize..starts[vertex + 1] as usize];
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

    /// What the joints of a vertex hold of its patch, in the order of the weights' row.
    ///
    /// # Panics
    ///
    /// If there is no such vertex, as indexing a slice does.
    #[inline]
    pub fn parts(&self, vertex: usize) -> &[PatchPart] {
        let starts = self.weights.row_starts();
        &self.parts[starts[vertex] as usize..starts[vertex + 1] as usize]
    }
}

/// A bake, and what was done for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Baked {
    /// The numbers.
    pub mush: Mush,
    /// Which pieces of the surface were connected.
    pub connections: Connections,
}

/// A rig as smoothing sees it: welded points with neighbours, and how strongly each is smoothed.
#[derive(Clone, Debug)]
pub(crate) struct MushSurface {
    pub(crate) weld: Weld,
    pub(crate) laplacian: Laplacian,
    /// What the vertices are bound with.
    pub(crate) weights: Weights,
    /// A vertex of each point.
    vertex_of: Vec<u32>,
    pub(crate) connections: Connections,
    /// `λ·D_λ` at every point.
    pub(crate) lambda: Vec<f64>,
    /// `κ·D_κ`.
    kappa: Vec<f64>,
    /// `α·D_α` where it was painted.
    painted_alpha: Vec<Option<f64>>,
    joint_count: usize,
    extent: f64,
    /// The median of the squared distances of points from their mean: a size that a few stray
    /// points don't change.
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
        let extent = mesh.bounds().map_or(0.0, |bounds| bounds.extent());
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

    /// The joints that hold a point, and how much.
    fn influences(&self, point: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let row = self.weights.of(self.vertex_of[point] as usize);
        row.map(|influence| (influence.joint, f64::from(influence.weight)))
    }

    /// `ũ = p`: the smoothed place of every point.
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

    /// A place near all points, so that coordinates about it round little.
    fn middle(&self) -> DVec3 {
        let points = self.laplacian.points();
        points.iter().sum::<DVec3>() / points.len().max(1) as f64
    }
}
