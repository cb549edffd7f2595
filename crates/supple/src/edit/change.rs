//! What an edit does, as a value: rows before and rows after, so that it can be taken back to the
//! bit.

use super::EditError;
use crate::weights::Weights;

/// What an edit changes: the rows of some vertices, before and after.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub(super) vertex_count: usize,
    /// Rising.
    pub(super) vertices: Vec<u32>,
    /// A row for each of them.
    pub(super) before: Weights,
    pub(super) after: Weights,
}

impl Change {
    /// The vertices whose weights change, rising.
    pub fn vertices(&self) -> &[u32] {
        &self.vertices
    }

    /// Their weights before: the first row is that of the first changed vertex.
    pub fn before(&self) -> &Weights {
        &self.before
    }

    /// Their weights after.
    pub fn after(&self) -> &Weights {
        &self.after
    }

    /// True where nothing changes.
    pub fn is_empty(&self) -> bool {
        self.vertices.is_empty()
    }

    /// The largest difference of any weight.
    pub fn largest_difference(&self) -> f32 {
        let mut largest: f32 = 0.0;
        for row in 0..self.vertices.len() {
            for (these, those) in [(&self.before, &self.after), (&self.after, &self.before)] {
                for influence in these.of(row) {
                    let other = those.weight_of(row, influence.joint);
                    largest = largest.max((influence.weight - other).abs());
                }
            }
        }
        largest
    }

    /// The weights with the change made: all other rows are kept.
    ///
    /// # Errors
    ///
    /// If the weights are of another number of vertices.
    pub fn redo(&self, weights: &Weights) -> Result<Weights, EditError> {
        self.put(&self.after, weights)
    }

    /// The weights as they were before, to the bit.
    ///
    /// # Errors
    ///
    /// If the weights are of another number of vertices.
    pub fn undo(&self, weights: &Weights) -> Result<Weights, EditError> {
        self.put(&self.before, weights)
    }

    fn put(&self, rows: &Weights, weights: &Weights) -> Result<Weights, EditError> {
        if weights.vertex_count() != self.vertex_count {
            return Err(EditError::VertexCount {
                weights: weights.vertex_count(),
                vertices: self.vertex_count,
            });
        }
        let numbered = self.vertices.iter().copied().zip(0..);
        Ok(weights.with_replaced(rows, numbered))
    }
}
