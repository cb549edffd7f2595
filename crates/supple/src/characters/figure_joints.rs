//! The skeleton of the figure, in its rest pose.

use super::arm_placement::ArmPlacement;
use super::bones::Bones;
use super::lower_limb::{self, LegJoints};
use super::torso::TrunkJoints;
use super::upper_limb::{self, ArmJoints};
use glam::DVec3;

/// Radians that the arms are below the horizontal.
const ARM_DROP: f64 = 0.74;
pub(super) const SHOULDER: DVec3 = DVec3::new(0.178, 1.395, -0.014);
pub(super) const ARM: ArmPlacement = ArmPlacement {
    shoulder: SHOULDER,
    drop: ARM_DROP,
};

/// All joints of the figure, by index.
pub(super) struct Joints {
    pub(super) trunk: TrunkJoints,
    pub(super) left: SideJoints,
    pub(super) right: SideJoints,
}

/// The joints of one side.
pub(super) struct SideJoints {
    pub(super) clavicle: usize,
    pub(super) scapula: usize,
    pub(super) arm: ArmJoints,
    pub(super) leg: LegJoints,
}

/// Adds all joints of the figure.
pub(super) fn add_joints(bones: &mut Bones) -> Joints {
    let root = bones.add("root", None, DVec3::ZERO);
    let mut above = root;
    let mut add = |name: &str, height: f64, depth: f64| {
        above = bones.add(name, Some(above), DVec3::new(0.0, height, depth));
        above
    };
    let pelvis = add("pelvis", 0.945, -0.010);
    let spine = [
        add("spine1", 1.005, -0.015),
        add("spine2", 1.065, -0.012),
        add("spine3", 1.130, -0.012),
        add("spine4", 1.195, -0.020),
    ];
    let chest = add("chest", 1.260, -0.030);
    let neck = [add("neck1", 1.478, -0.030), add("neck2", 1.522, -0.018)];
    let head = add("head", 1.566, -0.008);
    let jaw = add("jaw", 1.592, 0.020);
    let trunk = TrunkJoints {
        pelvis,
        spine,
        chest,
        neck,
        head,
        jaw,
    };
    let left = add_side(bones, &trunk, ".L", |point| point);
    let right = add_side(bones, &trunk, ".R", |point| {
        DVec3::new(-point.x, point.y, point.z)
    });
    Joints { trunk, left, right }
}

fn add_side(
    bones: &mut Bones,
    trunk: &TrunkJoints,
    side: &str,
    place: impl Fn(DVec3) -> DVec3 + Copy,
) -> SideJoints {
    let at = |x, y, z| place(DVec3::new(x, y, z));
    let chest = Some(trunk.chest);
    let clavicle = bones.add(format!("clavicle{side}"), chest, at(0.025, 1.425, 0.030));
    let scapula = bones.add(
        format!("scapula{side}"),
        Some(clavicle),
        at(0.120, 1.405, -0.085),
    );
    SideJoints {
        clavicle,
        scapula,
        arm: upper_limb::add_joints(bones, clavicle, &ARM, side, place),
        leg: lower_limb::add_joints(bones, trunk.pelvis, side, place),
    }
}
