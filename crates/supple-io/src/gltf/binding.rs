//! New weights for a file's character, whatever weights it had.

use super::{Document, SaveError};
use std::borrow::Cow;
use supple::Rig;
use supple::weights::{Influence, Weights, WeightsBuilder};

impl Document {
    /// Replaces the weights of the character and adds the joints that they need to the skins.
    ///
    /// If skins bind a node by matrices that differ by rounding, vertices follow it by the matrix
    /// of their own skin; if the matrices differ by more, this is an error.
    /// [`Document::set_weights`] changes no skin.
    ///
    /// # Errors
    ///
    /// If the rig is not the character of this file, or its skins cannot list the joints.
    pub fn set_binding(&mut self, rig: &Rig) -> Result<(), SaveError> {
        self.check_character(rig)?;
        let weights = self.with_own_joints(rig)?;
        // On an error the document stays as it was.
        let mut changed = self.clone();
        changed.list_joints(rig.skeleton(), &weights)?;
        changed.set_weights(&weights)?;
        *self = changed;
        Ok(())
    }

    /// The weights, with joints of one node merged where a skin can list only one of them.
    fn with_own_joints<'r>(&self, rig: &'r Rig) -> Result<Cow<'r, Weights>, SaveError> {
        let weights = rig.weights();
        let called = self.names_in_skins(rig, |vertex| {
            let influences = weights.of(vertex);
            influences.map(|influence| (influence.joint, f64::from(influence.weight)))
        })?;
        if called.is_empty() {
            return Ok(Cow::Borrowed(weights));
        }
        let mut builder = WeightsBuilder::new(rig.skeleton().joints().len())?;
        for vertex in 0..weights.vertex_count() {
            let row = weights.of(vertex).map(|Influence { joint, weight }| {
                let own = called.get(&(vertex, joint));
                (own.copied().unwrap_or(joint), weight)
            });
            builder.push(row, 0)?;
        }
        Ok(Cow::Owned(builder.finish().0))
    }
}
