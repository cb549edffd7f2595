//! Weights over the points of a surface, by point and by joint.

use super::point_graph::PointGraph;
use crate::exec;
use crate::merging::merge_by_key;
use crate::surface::Rows;
use crate::weights::{Weights, heaviest_influence};

/// The weights of all joints over a surface. The weights of a point are the mean over its vertices.
pub(super) struct Fields {
    /// (joint, weight) of each point by rising joint.
    rows: Rows<(u16, f64)>,
    /// For every joint its points with positive weights, in rising order.
    pub(super) of_joint: Vec<Vec<(u32, f64)>>,
}

impl Fields {
    pub(super) fn of(weights: &Weights, surface: &PointGraph, joint_count: usize) -> Fields {
        let mut shares = vec![0.0; surface.point_count()];
        for vertex in 0..weights.vertex_count() {
            shares[surface.point_of(vertex)] += 1.0;
        }
        let mut entries: Vec<(u32, u16, f64)> = Vec::with_capacity(weights.influence_count());
        for vertex in 0..weights.vertex_count() {
            let point = surface.point_of(vertex);
            let (joints, values) = weights.row(vertex);
            let row = joints.iter().zip(values);
            entries.extend(
                row.map(|(&joint, &value)| (point as u32, joint, f64::from(value) / shares[point])),
            );
        }
        Fields::from_entries(entries, surface.point_count(), joint_count)
    }

    /// Every point with its heaviest joint alone; the lowest joint wins ties.
    pub(super) fn heaviest_only(&self, surface: &PointGraph) -> Fields {
        let heaviest = |point: usize| {
            let (joint, _) = heaviest_influence(self.row(point))?;
            Some((point as u32, joint, 1.0))
        };
        let entries = (0..surface.point_count()).filter_map(heaviest).collect();
        Fields::from_entries(entries, surface.point_count(), self.of_joint.len())
    }

    fn from_entries(
        mut entries: Vec<(u32, u16, f64)>,
        point_count: usize,
        joint_count: usize,
    ) -> Fields {
        merge_by_key(
            &mut entries,
            |&(point, joint, _)| (point, joint),
            |kept, next| kept.2 += next.2,
        );
        let mut of_joint = vec![Vec::new(); joint_count];
        for &(point, joint, weight) in &entries {
            of_joint[usize::from(joint)].push((point, weight));
        }
        let entries = entries.into_iter();
        let entries = entries.map(|(point, joint, weight)| (point as usize, (joint, weight)));
        Fields {
            rows: Rows::of(point_count, entries),
            of_joint,
        }
    }

    /// The influences of a point by rising joint.
    pub(super) fn row(&self, point: usize) -> &[(u16, f64)] {
        self.rows.row(point)
    }

    /// Calls `look` for every joint and collects the results in order. `look` gets an array of
    /// zeros, one number per point, and must reset it to zeros.
    pub(super) fn map_joints<T: Send>(
        &self,
        look: impl Fn(usize, &[(u32, f64)], &mut [f64]) -> T + Sync,
    ) -> Vec<T> {
        /// A few joints share an array, since there may be very many joints.
        const JOINTS_PER_ARRAY: usize = 8;
        let points = self.rows.len();
        let runs = self.of_joint.len().div_ceil(JOINTS_PER_ARRAY);
        let found = exec::map(runs, |run| {
            let first = run * JOINTS_PER_ARRAY;
            let held = self.of_joint.iter().enumerate().skip(first);
            let mut scratch = vec![0.0; points];
            held.take(JOINTS_PER_ARRAY)
                .map(|(joint, held)| look(joint, held, &mut scratch))
                .collect::<Vec<T>>()
        });
        found.into_iter().flatten().collect()
    }
}
