//! Which vertices and triangles each joint has a hold on.

use crate::weights::Weights;

/// Per joint, in rising order: the vertices that it moves, and the triangles with such a corner.
#[derive(Clone, Debug)]
pub(super) struct Holdings {
    pub(super) vertices: Vec<Vec<u32>>,
    pub(super) triangles: Vec<Vec<u32>>,
}

impl Holdings {
    pub(super) fn of(weights: &Weights, triangles: &[[u32; 3]]) -> Holdings {
        let joints = weights.max_joint().map_or(0, |joint| joint + 1);
        let mut holdings = Holdings {
            vertices: vec![Vec::new(); joints],
            triangles: vec![Vec::new(); joints],
        };
        for vertex in 0..weights.vertex_count() {
            for &joint in weights.row(vertex).0 {
                holdings.vertices[usize::from(joint)].push(vertex as u32);
            }
        }
        for (triangle, corners) in triangles.iter().enumerate() {
            for corner in corners {
                for &joint in weights.row(*corner as usize).0 {
                    let held = &mut holdings.triangles[usize::from(joint)];
                    if held.last() != Some(&(triangle as u32)) {
                        held.push(triangle as u32);
                    }
                }
            }
        }
        holdings
    }

    pub(super) fn joint_count(&self) -> usize {
        self.vertices.len()
    }
}
