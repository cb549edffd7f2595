//! Bound surfaces to compute centers of.

use crate::common::vector;
use glam::{DVec3, Vec3};
use proptest::prelude::*;
use std::f64::consts::TAU;
use std::ops::RangeInclusive;
use supple::centers::{CenterOptions, Centers};
use supple::weights::WeightsBuilder;
use supple::{Mesh, Weights};

/// The weights of a vertex.
pub type Row = Vec<(usize, f64)>;

/// A surface and its weights, in parts that can be rearranged.
#[derive(Clone, Debug)]
pub struct Bound {
    pub positions: Vec<DVec3>,
    pub rows: Vec<Row>,
    pub triangles: Vec<[u32; 3]>,
    pub joints: usize,
}

impl Bound {
    pub fn mesh(&self) -> Mesh {
        let positions: Vec<Vec3> = self.positions.iter().map(|p| p.as_vec3()).collect();
        let normals = vec![Vec3::Z; positions.len()];
        Mesh::new(positions, Some(normals), None, self.triangles.clone()).unwrap()
    }

    pub fn weights(&self) -> Weights {
        let mut builder = WeightsBuilder::new(self.joints).unwrap();
        for row in &self.rows {
            let row = row.iter().map(|&(joint, weight)| (joint, weight as f32));
            builder.push(row, 0).unwrap();
        }
        builder.finish().0
    }

    pub fn exact(&self, options: &CenterOptions) -> Vec<Option<DVec3>> {
        supple::centers::exact(&self.mesh(), &self.weights(), options).unwrap()
    }

    pub fn baked(&self, options: &CenterOptions) -> Vec<Option<DVec3>> {
        let centers = Centers::bake(&self.mesh(), &self.weights(), options).unwrap();
        let points = centers.points().iter();
        points.map(|point| point.map(|p| p.as_dvec3())).collect()
    }

    pub fn extent(&self) -> f64 {
        f64::from(self.mesh().bounds().unwrap().extent())
    }

    /// Another surface beside it, on the same joints.
    pub fn beside(mut self, other: &Bound) -> Bound {
        let first = self.positions.len() as u32;
        self.positions.extend(&other.positions);
        self.rows.extend(other.rows.iter().cloned());
        let moved = other
            .triangles
            .iter()
            .map(|t| t.map(|corner| corner + first));
        self.triangles.extend(moved);
        self.joints = self.joints.max(other.joints);
        self
    }
}

/// The largest distance between two sets of centers, as a share of an extent. A center that only
/// one of them has counts as a large difference.
pub fn apart(a: &[Option<DVec3>], b: &[Option<DVec3>], extent: f64) -> f64 {
    assert_eq!(a.len(), b.len());
    let distances = a.iter().zip(b).map(|pair| match pair {
        (Some(a), Some(b)) => a.distance(*b) / extent,
        (None, None) => 0.0,
        _ => f64::INFINITY,
    });
    distances.fold(0.0, f64::max)
}

/// Points thrown anywhere, rows of 1 to `influences`, and triangles between any of them: some
/// degenerate, some edges crowded, some points unused.
pub fn soup(
    vertices: usize,
    triangles: RangeInclusive<usize>,
    influences: usize,
) -> impl Strategy<Value = Bound> {
    let row = prop::collection::vec((0..influences, 0.001..1.0f64), 1..=influences);
    let vertex = (vector(1.0), row);
    let corner = move || 0..vertices as u32;
    let triangle = (corner(), corner(), corner()).prop_map(|(a, b, c)| [a, b, c]);
    (
        prop::collection::vec(vertex, vertices),
        prop::collection::vec(triangle, triangles),
    )
        .prop_map(move |(vertices, triangles)| {
            let (positions, rows) = vertices.into_iter().unzip();
            Bound {
                positions,
                rows,
                triangles,
                joints: influences,
            }
        })
}

/// A grid of vertices `u` by `v`, closed around in `v` if wanted.
pub fn sheet(
    [u, v]: [usize; 2],
    closed: bool,
    joints: usize,
    vertex: impl Fn(f64, f64) -> (DVec3, Row),
) -> Bound {
    let rings = 0..=u;
    let columns = if closed { v } else { v + 1 };
    let at = |ring: usize, column: usize| vertex(ring as f64 / u as f64, column as f64 / v as f64);
    let (positions, rows) = rings
        .flat_map(|ring| (0..columns).map(move |column| (ring, column)))
        .map(|(ring, column)| at(ring, column))
        .unzip();
    let index = |ring: usize, column: usize| (ring * columns + column % columns) as u32;
    let triangles = (0..u * v)
        .flat_map(|quad| {
            let (ring, column) = (quad / v, quad % v);
            let [a, b] = [index(ring, column), index(ring, column + 1)];
            let [c, d] = [index(ring + 1, column), index(ring + 1, column + 1)];
            [[a, c, b], [b, c, d]]
        })
        .collect();
    Bound {
        positions,
        rows,
        triangles,
        joints,
    }
}

/// A tube about a bent axis, on joints in a row that hand over to each other; the larger `steep`,
/// the sooner.
pub fn tube(joints: usize, steep: f64, bend: f64) -> Bound {
    sheet([48, 12], true, joints, |along, around| {
        let angle = TAU * around;
        let radius = 0.1 + 0.03 * (7.0 * along).sin();
        let place = DVec3::new(
            radius * angle.cos() + bend * along * along,
            along,
            radius * angle.sin(),
        );
        let row = (0..joints).map(|joint| {
            let from = along * joints as f64 - joint as f64 - 0.5 + 0.1 * angle.sin();
            (joint, (-steep * from * from).exp())
        });
        (place, row.filter(|&(_, weight)| weight > 1e-3).collect())
    })
}
