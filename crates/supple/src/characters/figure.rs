//! A human figure: an artist's mannequin of adult proportions, standing with its arms half raised.

use super::bones::Bones;
use super::cage::{Cage, hand_over, smooth_step};
use super::lower_limb::{self, LegJoints};
use super::sculpt::sculpted;
use super::tessellation::tessellate;
use super::torso::{self, TrunkJoints};
use super::upper_limb::{self, ArmJoints, ArmPlacement};
use super::{Character, CharacterError, features, figure_clips};
use crate::rig::Asset;
use glam::{DVec3, Vec3};

const COLOR: Vec3 = Vec3::new(0.60, 0.48, 0.39);

/// Radians that the arms are below the horizontal.
const ARM_DROP: f64 = 0.74;
const SHOULDER: DVec3 = DVec3::new(0.178, 1.395, -0.014);
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

pub(super) fn build(vertices: usize) -> Result<Asset, CharacterError> {
    let mut bones = Bones::default();
    let joints = add_joints(&mut bones);
    let mut half = Cage::default();
    let rims = torso::grow(&mut half, &joints.trunk);
    hold_shoulder(&mut half, &joints.left);
    hold_hip(&mut half, &joints.left);
    upper_limb::grow(
        &mut half,
        rims.arm,
        &ARM,
        &joints.left.arm,
        joints.left.clavicle,
    );
    lower_limb::grow(&mut half, rims.leg, &joints.left.leg, joints.trunk.pelvis);
    let mut cage = half.with_mirror_image(&bones.opposite());
    cage.soften(3, softness);
    let clips = figure_clips::clips(&bones, &joints)?;
    let surface = tessellate(&cage, bones.count(), vertices, |point| {
        sculpted(&features::STROKES, point)
    });
    super::assemble(Character::Figure, COLOR, surface, bones, clips)
}

fn add_joints(bones: &mut Bones) -> Joints {
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

/// Clavicle, shoulder blade and arm share the trunk around the shoulder.
fn hold_shoulder(cage: &mut Cage, joints: &SideJoints) {
    for (point, row) in cage.points.iter().zip(&mut cage.influences) {
        let height = smooth_step((point.y - 1.27) / 0.12) * smooth_step((1.50 - point.y) / 0.05);
        let outwards = smooth_step((point.x - 0.03) / 0.12);
        hand_over(row, joints.clavicle, 0.85 * height * outwards);
        let behind = smooth_step((-point.z - 0.03) / 0.06);
        hand_over(row, joints.scapula, 0.6 * height * outwards * behind);
        // More than the sphere around the shoulder: the skin of chest and back follows the arm.
        let reach = (*point - SHOULDER).length();
        let arm = smooth_step(1.25 - reach / 0.13) * smooth_step((point.x - 0.07) / 0.09);
        hand_over(row, joints.arm.upper_arm, 0.55 * arm);
    }
}

/// The thigh shares the trunk around the hip.
fn hold_hip(cage: &mut Cage, joints: &SideJoints) {
    for (point, row) in cage.points.iter().zip(&mut cage.influences) {
        let below = smooth_step((0.985 - point.y) / 0.15);
        let outwards = smooth_step(point.x / 0.10);
        hand_over(row, joints.leg.thigh, 0.8 * below * outwards);
    }
}

/// Influences are blended where limbs meet the trunk.
fn softness(point: DVec3) -> f64 {
    let near = |center: DVec3, radius: f64| {
        let mirrored = DVec3::new(point.x.abs(), point.y, point.z);
        smooth_step(2.0 - (mirrored - center).length() / radius)
    };
    0.6 * near(SHOULDER, 0.12).max(near(lower_limb::HIP, 0.13))
}
