//! Smoothing passes on a GPU.

use super::{DeltaMushSkin, PosedSurface};
use crate::deform::rigid_motion::{MotionStreams, RigidMotions};
use crate::deform::streams::{
    PoseStream, SmoothedPiece, SmoothedPoint, SmoothingStream, VertexStream,
};
use crate::disjoint_sets::DisjointSets;
use glam::DVec3;
use std::collections::BTreeMap;

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
        for [a, b, c] in self.normals.triangles() {
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
        for &[a, b, c] in self.normals.triangles() {
            for [own, second, third] in [[a, b, c], [b, c, a], [c, a, b]] {
                points[own as usize].triangles.push([second, third]);
            }
        }
        let mut pieces = Vec::new();
        for members in self.pieces() {
            let place = |&point: &u32| self.smooth_rest.place(point as usize);
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
