//! The measures of one method in one frame.

use super::Comparison;
use crate::regions::TitledRegion;
use crate::thickness::Thickness;
use glam::Vec3;
use std::f64::consts::FRAC_1_SQRT_2;
use supple::{Palette, Player};

/// The measures of one method in one frame.
#[derive(Clone, Debug)]
pub(crate) struct FrameMeasures {
    /// Against the file's rest pose.
    pub volume_change: Option<f64>,
    /// The growth in length of the most stretched hundredth of the surface: 0.5 is half as long
    /// again.
    pub stretched: f64,
    /// The loss in length of the most compressed hundredth.
    pub compressed: f64,
    /// Change of lengths: the root mean square over directions, the mean over the surface.
    pub distortion: f64,
    pub regions: Vec<RegionMeasures>,
}

/// The measures of one method in one frame around one joint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegionMeasures {
    pub distortion: f64,
    /// The thickness around the joint; `None` where it cannot be measured.
    pub thickness: Option<Thickness>,
}

/// Measures that take longer, of some frames only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlowMeasures {
    pub area_change: f64,
    pub edge_change: f64,
    pub rigid_energy: f64,
    pub normal_degrees: f64,
}

impl Comparison<'_> {
    /// The number of doublings of the area around each vertex, for colours.
    pub fn vertex_stretch(&self, player: &Player<'_>) -> Vec<f32> {
        self.gauge
            .vertex_stretch(&self.unscaled(player.positions()))
    }

    /// The thickness around a joint where the skin has these positions.
    pub fn thickness(
        &self,
        positions: &[Vec3],
        palette: &Palette,
        region: usize,
    ) -> Option<Thickness> {
        let positions = self.unscaled(positions);
        let palette = self.unscaled_palette(palette);
        let measures = self.frame_measures(&positions, &palette, false);
        measures.regions[region].thickness
    }

    /// Measures a frame; of a brief look, without volume and thickness, which take longer.
    pub(super) fn frame_measures(
        &self,
        positions: &[Vec3],
        palette: &Palette,
        brief: bool,
    ) -> FrameMeasures {
        let stretch = self.gauge.stretch(positions);
        let summary = self.gauge.stretch_summary(&stretch);
        let radii = match brief {
            true => Vec::new(),
            false => self.gauge.radii(positions, palette),
        };
        let joints = self.asset.rig.skeleton().joints();
        let region = |TitledRegion { skin, .. }: &TitledRegion| {
            let radius = radii.binary_search_by_key(&skin.joint, |radius| radius.joint);
            let radius = radius.ok().map(|index| &radii[index]);
            // Thickness is measured where a joint meets its parent.
            let radius = radius.filter(|_| joints[skin.joint].parent == Some(skin.other));
            RegionMeasures {
                distortion: length_change(self.gauge.region_distortion(skin, &stretch)),
                thickness: radius.map(|radius| Thickness {
                    thinnest: radius.collapse,
                    thickest: radius.mean_bulge(),
                }),
            }
        };
        let volume = || self.gauge.volume_change(positions);
        let volume_change = (!brief).then(volume).flatten();
        FrameMeasures {
            volume_change: volume_change.map(|change| (1.0 + change) / self.rest_volume - 1.0),
            stretched: summary.largest_p99 - 1.0,
            compressed: 1.0 - summary.least_p1,
            distortion: length_change(summary.mean_distortion),
            regions: self.regions.iter().map(region).collect(),
        }
    }

    pub(super) fn slow_measures(
        &self,
        positions: &[Vec3],
        normals: &[Vec3],
        palette: &Palette,
    ) -> SlowMeasures {
        let normals = self.gauge.normal_error(positions, normals, palette);
        SlowMeasures {
            area_change: self.gauge.area_change(positions),
            edge_change: self.gauge.edges(positions).rms,
            rigid_energy: self.gauge.rigid_energy(positions),
            normal_degrees: normals.mean_degrees,
        }
    }
}

/// The root mean square over the two directions of a triangle: skin that grows by a tenth both ways
/// has changed its lengths by a tenth.
fn length_change(distortion: f64) -> f64 {
    distortion * FRAC_1_SQRT_2
}
