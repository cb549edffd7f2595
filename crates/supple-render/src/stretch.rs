//! Colours of stretch against the rest pose.

use crate::color::stretch_color;
use glam::Vec3;
use supple::metrics::{Gauge, rest_scale};
use supple::{Asset, Player};

/// The colours of a skin by how its area changes against rest, see [`stretch_color`].
#[derive(Clone, Debug)]
pub struct StretchColors {
    gauge: Gauge,
    bind_from_rest: f32,
}

impl StretchColors {
    /// The colour of props, which don't stretch.
    pub const PROPS: Vec3 = Vec3::new(0.50, 0.52, 0.55);

    /// Measures the surface of an asset at rest.
    pub fn new(asset: &Asset) -> StretchColors {
        StretchColors {
            gauge: Gauge::new(&asset.rig),
            bind_from_rest: (1.0 / rest_scale(asset.rig.skeleton())) as f32,
        }
    }

    /// A colour for every vertex of the frame that `player` is in.
    pub fn of(&self, player: &Player<'_>) -> Vec<Vec3> {
        let positions = player.positions().iter();
        let unscaled: Vec<Vec3> = positions.map(|&p| p * self.bind_from_rest).collect();
        let stretch = self.gauge.vertex_stretch(&unscaled);
        stretch.into_iter().map(stretch_color).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DAffine3, DVec3};
    use supple::skeleton::Node;
    use supple::transform::{Local, Trs};
    use supple::weights::WeightsBuilder;
    use supple::{Mesh, Method, Normals, Rig, Skeleton};

    fn scaled(scale: DVec3) -> Local {
        Local::Trs(Trs {
            scale,
            ..Trs::IDENTITY
        })
    }

    /// A triangle on a joint that shows it four times as large as it was bound.
    fn asset() -> Asset {
        let corners = vec![Vec3::ZERO, Vec3::X, Vec3::Y];
        let mesh = Mesh::new(corners, None, None, vec![[0, 1, 2]]).unwrap();
        let root = Node {
            name: String::new(),
            parent: None,
            rest: scaled(DVec3::splat(4.0)),
        };
        let skeleton = Skeleton::new(vec![root], vec![(0, DAffine3::IDENTITY)]).unwrap();
        let mut weights = WeightsBuilder::new(1).unwrap();
        for _ in 0..3 {
            weights.push([(0, 1.0)], 0).unwrap();
        }
        Asset {
            name: String::new(),
            rig: Rig::new(mesh, skeleton, weights.finish().0).unwrap(),
            parts: Vec::new(),
            morphs: Vec::new(),
            rest_morph_weights: Vec::new(),
            clips: Vec::new(),
            props: Vec::new(),
        }
    }

    #[test]
    fn colors_show_the_change_of_area_against_rest_in_any_unit() {
        let asset = asset();
        let colors = StretchColors::new(&asset);
        let mut player = Player::new(&asset, &Method::Linear, Normals::Transported).unwrap();
        let mut pose = asset.rest_pose();
        for (scale, doublings) in [([4.0, 4.0], 0.0), ([8.0, 4.0], 1.0), ([4.0, 2.0], -1.0)] {
            pose.locals[0] = scaled(DVec3::new(scale[0], scale[1], 4.0));
            player.pose(&pose).unwrap();
            for color in colors.of(&player) {
                assert!(color.distance(stretch_color(doublings)) < 1e-4, "{scale:?}");
            }
        }
        let [red, blue] = [1.0, -1.0].map(stretch_color);
        assert!(red.x > 5.0 * red.z && blue.z > 5.0 * blue.x);
    }
}
