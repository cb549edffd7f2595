//! A human figure: an artist's mannequin of adult proportions, standing with its arms half raised.

use super::bones::Bones;
use super::cage::{Cage, smooth_step, transfer_share};
use super::features::Features;
use super::figure_joints::{ARM, SHOULDER, SideJoints, add_joints};
use super::tessellation::tessellate;
use super::{Character, CharacterError, ear, figure_clips, lower_limb, torso, upper_limb};
use crate::rig::Asset;
use glam::{DVec3, Vec3};

const COLOR: Vec3 = Vec3::new(0.60, 0.48, 0.39);

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
    ear::grow(&mut half, rims.ear, joints.trunk.head);
    lower_limb::grow(&mut half, rims.leg, &joints.left.leg, joints.trunk.pelvis);
    let mut cage = half.with_mirror_image(&bones.opposite());
    cage.soften(3, softness);
    let clips = figure_clips::clips(&bones, &joints)?;
    let surface = tessellate(&cage, bones.count(), vertices, &Features);
    super::assemble(Character::Figure, COLOR, surface, bones, clips)
}

/// Clavicle, shoulder blade and arm share the trunk around the shoulder.
fn hold_shoulder(cage: &mut Cage, joints: &SideJoints) {
    for (point, row) in cage.points.iter().zip(&mut cage.influences) {
        let height = smooth_step((point.y - 1.27) / 0.12) * smooth_step((1.50 - point.y) / 0.05);
        let outwards = smooth_step((point.x - 0.03) / 0.12);
        transfer_share(row, joints.clavicle, 0.85 * height * outwards);
        let behind = smooth_step((-point.z - 0.03) / 0.06);
        transfer_share(row, joints.scapula, 0.6 * height * outwards * behind);
        // More than the sphere around the shoulder: the skin of chest and back follows the arm.
        let reach = (*point - SHOULDER).length();
        let arm = smooth_step(1.25 - reach / 0.13) * smooth_step((point.x - 0.07) / 0.09);
        transfer_share(row, joints.arm.upper_arm, 0.55 * arm);
    }
}

/// The thigh shares the trunk around the hip.
fn hold_hip(cage: &mut Cage, joints: &SideJoints) {
    for (point, row) in cage.points.iter().zip(&mut cage.influences) {
        let below = smooth_step((0.985 - point.y) / 0.15);
        let outwards = smooth_step(point.x / 0.10);
        transfer_share(row, joints.leg.thigh, 0.8 * below * outwards);
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
