//! Rigs (mesh, skeleton and weights that fit each other), and assets around them.

use crate::clip::Clip;
use crate::mesh::{Mesh, Morph, Part};
use crate::pose::{Palette, Pose};
use crate::skeleton::Skeleton;
use crate::weights::Weights;
use thiserror::Error;

/// A mesh bound to a skeleton by weights, which are checked to fit each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Rig {
    mesh: Mesh,
    skeleton: Skeleton,
    weights: Weights,
}

/// Error from building a [`Rig`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RigError {
    /// Weights and mesh differ in size.
    #[error("there are weights for {weights} vertices, but the mesh has {vertices}")]
    VertexCount {
        /// Rows of weights.
        weights: usize,
        /// Vertices of the mesh.
        vertices: usize,
    },
    /// Weights name a joint that the skeleton does not have.
    #[error("the weights name joint {joint}, but the skeleton has {joints} joints")]
    JointOutOfRange {
        /// The joint named.
        joint: usize,
        /// Joints of the skeleton.
        joints: usize,
    },
}

impl Rig {
    /// Checks that mesh, skeleton and weights fit together.
    ///
    /// # Errors
    ///
    /// Fails if mesh and weights differ in their number of vertices, or the weights name a joint
    /// that the skeleton does not have.
    pub fn new(mesh: Mesh, skeleton: Skeleton, weights: Weights) -> Result<Rig, RigError> {
        if weights.vertex_count() != mesh.vertex_count() {
            return Err(RigError::VertexCount {
                weights: weights.vertex_count(),
                vertices: mesh.vertex_count(),
            });
        }
        let joints = skeleton.joints().len();
        if let Some(joint) = weights.max_joint().filter(|&joint| joint >= joints) {
            return Err(RigError::JointOutOfRange { joint, joints });
        }
        Ok(Rig {
            mesh,
            skeleton,
            weights,
        })
    }

    /// The bind surface.
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// The skeleton.
    pub fn skeleton(&self) -> &Skeleton {
        &self.skeleton
    }

    /// The weights.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }
}

/// A character: a rig with its clips, morph targets and props.
#[derive(Clone, Debug, PartialEq)]
pub struct Asset {
    /// The name of the file or of the built-in character.
    pub name: String,
    /// The bound surface.
    pub rig: Rig,
    /// The parts of the mesh, such as primitives of a file, in order; together they cover the mesh.
    pub parts: Vec<Part>,
    /// Morph targets, added to the mesh before skinning.
    pub morphs: Vec<Morph>,
    /// The weights of all morph targets, including those of props, without a clip.
    pub rest_morph_weights: Vec<f32>,
    /// Animations.
    pub clips: Vec<Clip>,
    /// Meshes attached rigidly to nodes: hats, swords, the shell of a robot. They are not part of
    /// the bound surface.
    pub props: Vec<Prop>,
}

/// A mesh attached rigidly to a node.
#[derive(Clone, Debug, PartialEq)]
pub struct Prop {
    /// The name in the file.
    pub name: String,
    /// The node that it follows, as an index into the skeleton's nodes.
    pub node: usize,
    /// The surface in the node's frame.
    pub mesh: Mesh,
    /// Morph targets, added before it is moved.
    pub morphs: Vec<Morph>,
    /// Linear base colour, for pictures; `None` if the file has none, only a texture, or white.
    pub color: Option<glam::Vec3>,
}

impl Asset {
    /// The rest pose, with the default morph weights of the file.
    pub fn rest_pose(&self) -> Pose {
        Pose {
            morph_weights: self.rest_morph_weights.clone(),
            ..self.rig.skeleton().rest_pose()
        }
    }

    /// The pose at a time of a clip.
    pub fn pose_at(&self, clip: &Clip, time: f64) -> Pose {
        let mut pose = self.rest_pose();
        clip.sample(time, &mut pose);
        pose
    }

    /// The palette at a time of a clip.
    pub fn palette_at(&self, clip: &Clip, time: f64) -> Palette {
        let pose = self.pose_at(clip, time);
        self.rig.skeleton().palette_of(&pose.locals)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weights::WeightsBuilder;
    use glam::Vec3;

    #[test]
    fn parts_that_do_not_fit_are_named() {
        let mesh = Mesh::new(vec![Vec3::ZERO, Vec3::X], None, None, vec![]).unwrap();
        let skeleton = Skeleton::new(vec![], vec![]).unwrap();
        let weights = |rows: usize| {
            let mut builder = WeightsBuilder::new(1).unwrap();
            for _ in 0..rows {
                builder.push([(0, 1.0)], 0).unwrap();
            }
            builder.finish().0
        };
        let error = Rig::new(mesh.clone(), skeleton.clone(), weights(1)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "there are weights for 1 vertices, but the mesh has 2"
        );
        let error = Rig::new(mesh, skeleton, weights(2)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the weights name joint 0, but the skeleton has 0 joints"
        );
    }
}
