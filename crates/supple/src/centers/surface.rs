//! A bound surface, indexed by joint.

use super::joint_support::{CornerWeights, JointSupport, TriangleRows};
use super::pieces::TriangleCorners;
use super::{CenterOptions, PLACES, SPREADS, SQUARES};
use crate::mesh::Mesh;
use crate::surface::{Units, positive_or_one};
use crate::weights::Weights;
use glam::DVec3;
use std::borrow::Cow;

/// Mesh and weights, with the weights of triangles, and the vertices and triangles of each joint.
#[derive(Clone, Debug)]
pub(super) struct WeightedSurface<'a> {
    pub(super) mesh: Cow<'a, Mesh>,
    pub(super) weights: Cow<'a, Weights>,
    pub(super) joint_count: usize,
    pub(super) rows: TriangleRows,
    pub(super) support: JointSupport,
    pub(super) options: CenterOptions,
    pub(super) units: MomentUnits,
}

/// Units of sums over the surface, in which single precision suffices for them: those of stored
/// positions, and the area of the surface.
#[derive(Clone, Copy, Debug)]
pub(super) struct MomentUnits {
    middle: DVec3,
    extent: f64,
    area: f64,
}

impl MomentUnits {
    fn of(mesh: &Mesh) -> MomentUnits {
        let units = Units::of(mesh.bounds()).stored();
        let areas =
            (0..mesh.triangles().len()).map(|triangle| TriangleCorners::of(mesh, triangle).area);
        MomentUnits {
            middle: units.middle().as_dvec3(),
            extent: f64::from(units.extent()),
            area: positive_or_one(areas.sum()),
        }
    }

    /// A share of the whole surface.
    pub(super) fn share(&self, area: f64) -> f64 {
        area / self.area
    }

    /// Moments in these units, `scale` times.
    #[inline(always)]
    pub(super) fn shrink<const C: usize>(&self, moments: &[f64; C], scale: f64) -> [f32; C] {
        let moved = moved_by(moments, -self.middle);
        let mut shrunk = [0.0; C];
        for (index, (shrunk, moment)) in shrunk.iter_mut().zip(moved).enumerate() {
            *shrunk = (moment * scale / self.of_moment(index)) as f32;
        }
        shrunk
    }

    /// Moments as they are in the model, up to a common factor.
    #[inline(always)]
    pub(super) fn grow<const C: usize>(&self, shrunk: &[f32; C]) -> [f64; C] {
        let mut moments = [0.0; C];
        for (index, (moment, shrunk)) in moments.iter_mut().zip(shrunk).enumerate() {
            *moment = f64::from(*shrunk) * self.of_moment(index);
        }
        moved_by(&moments, self.middle)
    }

    /// The unit of a measure, a place, a square of places.
    #[inline(always)]
    fn of_moment(&self, index: usize) -> f64 {
        match index {
            0 => 1.0,
            1..PLACES => self.extent,
            _ => self.extent * self.extent,
        }
    }
}

/// Sums of a surface moved by `shift`.
#[inline(always)]
fn moved_by<const C: usize>(moments: &[f64; C], shift: DVec3) -> [f64; C] {
    let mut moved = *moments;
    let measure = moments[0];
    for axis in 0..3 {
        moved[1 + axis] += measure * shift[axis];
    }
    if C == SPREADS {
        for (index, (row, column)) in SQUARES.into_iter().enumerate() {
            let across = moments[1 + row] * shift[column] + moments[1 + column] * shift[row];
            moved[PLACES + index] += across + measure * shift[row] * shift[column];
        }
    }
    moved
}

/// Triangles whose rows changed, rising, and what those rows were.
pub(super) struct Repainted {
    pub(super) triangles: Vec<u32>,
    pub(super) before: Vec<Vec<CornerWeights>>,
}

impl<'a> WeightedSurface<'a> {
    pub(super) fn new(
        mesh: Cow<'a, Mesh>,
        weights: Cow<'a, Weights>,
        options: &CenterOptions,
    ) -> WeightedSurface<'a> {
        let joint_count = joints_in(&weights);
        let rows = TriangleRows::of(&weights, mesh.triangles());
        WeightedSurface {
            units: MomentUnits::of(&mesh),
            support: JointSupport::of(joint_count, &weights, &rows),
            mesh,
            weights,
            joint_count,
            rows,
            options: *options,
        }
    }

    /// All vertices.
    pub(super) fn vertices(&self) -> Vec<u32> {
        (0..self.mesh.vertex_count() as u32).collect()
    }

    /// Takes new weights of some vertices, around which some triangles lie. Both lists rise.
    pub(super) fn repaint(
        &mut self,
        weights: &Weights,
        vertices: &[u32],
        triangles: Vec<u32>,
    ) -> Repainted {
        self.joint_count = self.joint_count.max(joints_in(weights));
        self.support.make_room(self.joint_count);
        self.support
            .rebind_vertices(&self.weights, weights, vertices);
        self.weights = Cow::Owned(self.weights.with_rows_of(weights, vertices));
        let mut before = Vec::with_capacity(triangles.len());
        for &triangle in &triangles {
            let triangle = triangle as usize;
            before.push(self.rows.of_triangle(triangle).to_vec());
            let corners = &self.mesh.triangles()[triangle];
            self.rows.replace(triangle, &self.weights, corners);
        }
        self.support
            .rebind_triangles(&before, &self.rows, &triangles);
        Repainted { triangles, before }
    }
}

fn joints_in(weights: &Weights) -> usize {
    weights.max_joint().map_or(0, |joint| joint + 1)
}
