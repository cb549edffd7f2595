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
