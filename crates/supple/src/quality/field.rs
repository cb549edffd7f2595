//! Weights over the points of a surface, by point and by joint.

use super::point_graph::PointGraph;
use crate::exec;
use crate::merging::merge_by_key;
use crate::surface::Rows;
use crate::weights::Weights;

/// The weights of all joints over a surface. A point has the mean of what its vertices have.
pub(super) struct Fields {
    /// (joint, weight) of each point by rising joint.
    rows: Rows<(u16, f64)>,
    /// For every joint the points that it holds, rising, with positive weights.
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

    /// Every point held by its heaviest joint alone, ties by the lower one.
    pub(super) fn heaviest_only(&self, surface: &PointGraph) -> Fields {
        let heaviest = |point: usize| {
            let row = self.row(point).iter();
            let first = row.copied().reduce(|a, b| if b.1 > a.1 { b } else { a })?;
            Some((point as u32, first.0, 1.0))
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

    /// What `look` finds out about every joint, in order. It is handed an array of one number per
    /// point, all of them zero, which it must leave that way.
    pub(super) fn map_joints<T: Send>(
        &self,
        look: impl Fn(usize, &[(u32, f64)], &mut [f64]) -> T + Sync,
    ) -> Vec<T> {
        /// A few joints share an array: there may be very many joints.
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
