//! Every method from its formula, in double precision and as plainly as it can be written: slow,
//! and sharing no code with the library.
//!
//! Each ends in one affine map of space per vertex, with the weights held still: its value at the
//! vertex is the deformed position, and the inverse transpose of its linear part carries the
//! normal.

pub mod algebra;
#[cfg(feature = "arap")]
pub mod arap;
pub mod centers_of_rotation;
pub mod curve;
pub mod differential;
pub mod direct;
pub mod dual_quaternion;
pub mod log_matrix;
pub mod spherical;
pub mod spline;
pub mod stretch_twist;
pub mod swing_twist;

use algebra::{polar_rotation, weighted_sum};
use centers_of_rotation::RestSurface;
use glam::{DAffine3, DMat3, DQuat, DVec3};
use std::rc::Rc;
use supple::{Palette, Rig};

/// A joint and its weight, heaviest first.
pub type Influences<'a> = &'a [(usize, f64)];

/// A method: where it takes the space around a point that is held by some joints.
pub type Formula = fn(&Posed, DVec3, Influences<'_>) -> Frame;

/// The result of a formula for one vertex.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    pub map: DAffine3,
    /// The distance from a place where the formula jumps or has no value: 1 is safe, 0 is there.
    /// Errors grow with its inverse.
    pub margin: f64,
}

impl Frame {
    pub fn safe(map: DAffine3) -> Frame {
        Frame { map, margin: 1.0 }
    }
}

/// A rig in a pose.
#[derive(Debug)]
pub struct Posed {
    /// The surface, for formulas that need all of it.
    pub surface: Rc<RestSurface>,
    pub parents: Vec<Option<usize>>,
    /// The rest position of each joint, `x_j`.
    pub heads: Vec<DVec3>,
    /// The end of each joint's bone.
    pub tails: Vec<DVec3>,
    /// `T_j`, as rounded in the palette.
    pub transforms: Vec<DAffine3>,
    /// `R_j` of `A_j = R_j S_j`.
    pub rotations: Vec<DMat3>,
    /// `S_j`.
    pub stretches: Vec<DMat3>,
}

impl Posed {
    pub fn new(rig: &Rig, palette: &Palette) -> Posed {
        Posed::shrunk(rig, palette, 1.0)
    }

    /// In a world that is smaller by a factor.
    pub fn shrunk(rig: &Rig, palette: &Palette, factor: f64) -> Posed {
        let surface = RestSurface::new(rig.mesh(), rig.weights());
        Posed::on(Rc::new(surface), rig, palette, factor)
    }

    /// The same rig in another pose.
    pub fn again(&self, rig: &Rig, palette: &Palette) -> Posed {
        Posed::on(self.surface.clone(), rig, palette, 1.0)
    }

    fn on(surface: Rc<RestSurface>, rig: &Rig, palette: &Palette, factor: f64) -> Posed {
        let skeleton = rig.skeleton();
        let bones = skeleton.bind_bones();
        let palette = palette.posed_from_bind.iter();
        let shrink = DAffine3::from_scale(DVec3::splat(1.0 / factor));
        let transforms: Vec<DAffine3> = palette
            .map(|transform| shrink * DAffine3::from(*transform))
            .collect();
        let rotations: Vec<DMat3> = transforms
            .iter()
            .map(|transform| polar_rotation(transform.matrix3))
            .collect();
        let stretches = transforms
            .iter()
            .zip(&rotations)
            .map(|(transform, rotation)| rotation.transpose() * transform.matrix3)
            .collect();
        Posed {
            surface,
            parents: skeleton.joints().iter().map(|joint| joint.parent).collect(),
            heads: bones.iter().map(|bone| bone.head).collect(),
            tails: bones.iter().map(|bone| bone.tail).collect(),
            transforms,
            rotations,
            stretches,
        }
    }

    /// `M_j`: the rigid motion of a joint, turning by `R_j` and taking the joint where `T_j` takes
    /// it.
    pub fn motion(&self, joint: usize) -> DAffine3 {
        let head = self.heads[joint];
        let rotation = self.rotations[joint];
        DAffine3 {
            matrix3: rotation,
            translation: self.transforms[joint].transform_point3(head) - rotation * head,
        }
    }

    /// `M_from⁻¹ M_to`.
    pub fn motion_between(&self, from: usize, to: usize) -> DAffine3 {
        self.motion(from).inverse() * self.motion(to)
    }

    /// Phase one: `Σ w_j S'_j` with `S'_j(x) = x_j + S_j (x − x_j)`.
    pub fn phase_one(&self, influences: Influences<'_>) -> DAffine3 {
        weighted_sum(influences.iter().map(|&(joint, weight)| {
            let (head, stretch) = (self.heads[joint], self.stretches[joint]);
            let about_head = DAffine3 {
                matrix3: stretch,
                translation: head - stretch * head,
            };
            (weight, about_head)
        }))
    }

    /// The direction of a joint's bone, if it has a length.
    pub fn axis(&self, joint: usize) -> Option<DVec3> {
        (self.tails[joint] - self.heads[joint]).try_normalize()
    }

    pub fn children(&self, joint: usize) -> Vec<usize> {
        (0..self.parents.len())
            .filter(|&child| self.parents[child] == Some(joint))
            .collect()
    }

    /// From the root down to the joint itself.
    pub fn path(&self, joint: usize) -> Vec<usize> {
        let mut path = vec![joint];
        while let Some(parent) = self.parents[path[0]] {
            path.insert(0, parent);
        }
        path
    }

    pub fn is_above(&self, ancestor: usize, joint: usize) -> bool {
        ancestor != joint && self.path(joint).contains(&ancestor)
    }
}

/// The common scale of all joints in use: of their factors (the cube roots of their determinants)
/// the one nearest to 1, or 1 if it lies between them. It is removed before any method.
pub fn common_scale(palette: &Palette, in_use: impl Fn(usize) -> bool) -> f64 {
    let joints = palette.posed_from_bind.iter().enumerate();
    let factors = joints
        .filter(|(joint, _)| in_use(*joint))
        .map(|(_, transform)| {
            DAffine3::from(*transform)
                .matrix3
                .determinant()
                .abs()
                .cbrt()
        });
    let (least, most) = factors.fold((f64::INFINITY, 0.0f64), |(least, most), factor| {
        (least.min(factor), most.max(factor))
    });
    if least > 1.0 {
        least
    } else if most < 1.0 {
        most
    } else {
        1.0
    }
}

/// A rotation as (angle in (−π, π], swing), with `rotation = swing · Rot(axis, angle)` and a swing
/// about an axis perpendicular to `axis`; and how far from the half-turn swings at which the angle
/// has no value, and the half-turn twists at which it jumps.
pub fn swing_after_twist(rotation: DMat3, axis: DVec3) -> (f64, DMat3, f64) {
    let q = DQuat::from_mat3(&rotation).normalize();
    let along = q.xyz().dot(axis);
    let mut angle = 2.0 * along.atan2(q.w);
    if angle > std::f64::consts::PI {
        angle -= std::f64::consts::TAU;
    } else if angle <= -std::f64::consts::PI {
        angle += std::f64::consts::TAU;
    }
    let swing = rotation * DMat3::from_axis_angle(axis, -angle);
    let margin = q.w.hypot(along).min(std::f64::consts::PI - angle.abs());
    (angle, swing, margin.clamp(0.0, 1.0))
}
