//! Centers of rotation as the paper's Fig. 7 shows them: red dots inside of the body, among green
//! joints and yellow bones.

use crate::Marks;
use crate::bones::skeleton_bones;
use glam::Vec3;
use std::collections::HashSet;
use std::sync::Arc;
use supple::centers::Centers;
use supple::{Asset, Player};

const RED: Vec3 = Vec3::new(0.8, 0.01, 0.012);
const GREEN: Vec3 = Vec3::new(0.05, 0.52, 0.06);
const YELLOW: Vec3 = Vec3::new(0.9, 0.55, 0.01);

/// Half the thickness of a bone, as a share of the picture's shorter side.
const BONE: f32 = 0.0018;

/// The radius of a center and of a joint where there are few of them, and how many are a few; more
/// are smaller.
const CENTER: f32 = 0.0042;
const FEW_CENTERS: usize = 400;
const JOINT: f32 = 0.0068;
const FEW_JOINTS: usize = 28;

/// The size of a cell at rest, as a share of the character's size: one center per cell is drawn,
/// the same in every frame.
const ONE_DOT: f32 = 1.0 / 400.0;

/// The centers of a character, and how large their dots are in every frame.
#[derive(Clone, Debug)]
pub(crate) struct MarkedCenters {
    pub(crate) centers: Arc<Centers>,
    /// For each center, true if it has a dot.
    dotted: Vec<bool>,
    radius: f32,
}

impl MarkedCenters {
    /// `None` if the character has no surface, or the centers are not its own.
    pub(crate) fn of(asset: &Asset, centers: Arc<Centers>) -> Option<MarkedCenters> {
        let mesh = asset.rig.mesh();
        let cell = ONE_DOT * mesh.bounds()?.extent();
        if centers.points().len() != mesh.vertex_count() {
            return None;
        }
        let mut taken = HashSet::new();
        let known = centers.points().iter().flatten();
        let dotted = known.map(|center| taken.insert((*center / cell).floor().as_ivec3()));
        Some(MarkedCenters {
            dotted: dotted.collect(),
            centers,
            radius: CENTER * crowded(taken.len(), FEW_CENTERS),
        })
    }

    /// The centers in the pose that `player` is in.
    pub(crate) fn dots(&self, player: &Player<'_>) -> Marks {
        let weights = player.asset().rig.weights();
        // Centers that do not fit were refused by `MarkedCenters::new`.
        let places = self.centers.carried(weights, player.palette());
        let places = places.unwrap_or_default();
        let dotted = places.into_iter().zip(&self.dotted);
        let dotted = dotted.filter_map(|(place, dotted)| dotted.then_some(place));
        Marks::dots(dotted, self.radius, RED)
    }
}

/// The joints and bones in the pose that `player` is in, thin enough to leave room for what is
/// around them: bones, then joints.
pub(crate) fn stick_figure(player: &Player<'_>) -> [Marks; 2] {
    let skeleton = player.asset().rig.skeleton();
    let bones = skeleton_bones(skeleton, player.world_from_node());
    let lines = bones.iter().filter(|bone| bone.from != bone.to);
    let joints = bones.iter().flat_map(|bone| [bone.from, bone.to]);
    let radius = JOINT * crowded(skeleton.joints().len(), FEW_JOINTS);
    [
        Marks {
            strokes: lines.map(|bone| [bone.from, bone.to]).collect(),
            radius: BONE,
            color: YELLOW,
        },
        Marks::dots(joints, radius, GREEN),
    ]
}

/// The factor by which dots shrink when there are more than a few.
fn crowded(count: usize, few: usize) -> f32 {
    (few as f32 / count.max(few) as f32).sqrt()
}
