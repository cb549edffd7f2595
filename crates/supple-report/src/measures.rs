//! What is measured of one method in one frame.

use crate::thickness::Thickness;

/// One method in one frame.
#[derive(Clone, Debug)]
pub(crate) struct FrameMeasures {
    /// Against the file's rest pose.
    pub volume_change: Option<f64>,
    /// How much the most stretched hundredth of the surface has grown in length: 0.5 is half as
    /// long again.
    pub stretched: f64,
    /// How much the most compressed hundredth has lost in length.
    pub compressed: f64,
    /// Change of lengths: the root mean square over directions, the mean over the surface.
    pub distortion: f64,
    pub regions: Vec<RegionMeasures>,
}

/// One method in one frame around one joint.
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
