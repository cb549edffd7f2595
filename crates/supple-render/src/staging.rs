//! A played asset as a scene: its colours, its overlays, its ground.

use crate::{Bone, Paint, Scene, Surface, Wireframe, skeleton_bones, weight_colors};
use glam::Vec3;
use supple::{Asset, Player};

/// What is drawn over a surface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overlays {
    /// The bones, seen through the surface.
    pub skeleton: bool,
    /// Each vertex in the colours of its joints.
    pub weights: bool,
    /// The edges of the triangles.
    pub wireframe: bool,
}

/// How an asset looks in every frame: found once.
#[derive(Clone, Debug)]
pub struct Look {
    overlays: Overlays,
    colors: Colors,
}

#[derive(Clone, Debug)]
enum Colors {
    One(Vec3),
    PerVertex(Vec<Vec3>),
}

impl Look {
    /// Colours of the parts, or of the weights if these are asked for.
    pub fn new(asset: &Asset, overlays: Overlays) -> Look {
        let first = asset.parts.first().map(|part| part.color);
        let colors = if overlays.weights {
            Colors::PerVertex(weight_colors(asset.rig.weights()))
        } else if let Some(color) =
            first.filter(|&first| asset.parts.iter().all(|part| part.color == first))
        {
            Colors::One(color)
        } else {
            let parts = asset.parts.iter();
            Colors::PerVertex(
                parts
                    .flat_map(|part| part.vertices.clone().map(|_| part.color))
                    .collect(),
            )
        };
        Look { overlays, colors }
    }

    /// The scene of the frame that `player` is in, on a ground at a height (or floating, without).
    pub fn scene<'a>(&'a self, player: &'a Player<'_>, ground: Option<f32>) -> Scene<'a> {
        let character = Surface {
            positions: player.positions(),
            normals: player.normals(),
            triangles: player.asset().rig.mesh().triangles(),
            paint: match &self.colors {
                Colors::One(color) => Paint::Uniform(*color),
                Colors::PerVertex(colors) => Paint::PerVertex(colors),
            },
        };
        let props = player.props().iter().map(|posed| Surface {
            positions: &posed.positions,
            normals: &posed.normals,
            triangles: posed.prop.mesh.triangles(),
            paint: Paint::Uniform(posed.prop.color),
        });
        let skeleton = player.asset().rig.skeleton();
        let bones: Vec<Bone> = match self.overlays.skeleton {
            true => skeleton_bones(skeleton, player.world_from_node()),
            false => Vec::new(),
        };
        Scene {
            surfaces: std::iter::once(character).chain(props).collect(),
            bones,
            wireframe: match self.overlays.wireframe {
                true => Wireframe::Shown,
                false => Wireframe::Hidden,
            },
            ground,
        }
    }
}

/// Every point that a picture of the current frame should show.
pub fn visible_points<'a>(player: &'a Player<'_>) -> impl Iterator<Item = Vec3> + 'a {
    let props = player.props().iter().flat_map(|posed| &posed.positions);
    player.positions().iter().chain(props).copied()
}
