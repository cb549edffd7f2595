//! The result of an edit as a value: the rows before and after, so that undo is exact.

use super::EditError;
use crate::weights::Weights;

/// Change of weights by an edit: the rows of some vertices, before and after.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub(super) vertex_count: usize,
    /// In rising order.
    pub(super) vertices: Vec<u32>,
    /// A row for each vertex.
    pub(super) before: Weights,
    pub(super) after: Weights,
}

impl Change {
    /// The changed vertices, in rising order.
    pub fn vertices(&self) -> &[u32] {
        &self.vertices
    }

    /// The largest difference of a weight.
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

    /// Returns the weights with the change applied; all other rows are kept.
    ///
    /// # Errors
    ///
    /// Fails if the weights have another number of vertices.
    pub fn redo(&self, weights: &Weights) -> Result<Weights, EditError> {
        self.put(&self.after, weights)
    }

    /// Returns the weights before the change, bit for bit.
    ///
    /// # Errors
    ///
    /// Fails if the weights have another number of vertices.
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
