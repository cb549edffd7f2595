//! Gradient normals against those of the deformed surface itself, on a tube fine enough for its
//! triangles to tell them.

use crate::common::{Bake, Prepared, deform_skin, palette};
use crate::surfaces::{baked, rigid_tube, variant};
use glam::{DAffine3, DVec3};
use supple::deform::{DeltaMush, LocalFrames, MushVariant};
use supple::mush::MushOptions;
use supple::{Method, Normals};

const ALONG: usize = 96;
const AROUND: usize = 48;

/// The upper joint shifted, bent, and twisted.
fn poses() -> [(&'static str, DAffine3); 3] {
    [
        (
            "shift",
            DAffine3::from_translation(DVec3::new(0.2, 0.0, 0.1)),
        ),
        ("bend", DAffine3::from_rotation_z(0.4)),
        ("twist", DAffine3::from_rotation_y(1.2)),
    ]
}

#[test]
fn gradient_normals_are_those_of_the_deformed_surface() {
    let rig = rigid_tube(ALONG, AROUND, 0.3);
    let mush = baked(&rig, &MushOptions::default());
    let variants = MushVariant::ALL.map(|kind| variant(&mush, kind));
    let smoothed = [LocalFrames::Tangent, LocalFrames::BestFit].map(|frames| {
        Prepared::from(Method::DeltaMush(DeltaMush {
            smoothing: MushOptions::default(),
            frames,
        }))
    });
    for method in variants.iter().chain(&smoothed) {
        for (name, motion) in poses() {
            let lower = DAffine3::from_axis_angle(DVec3::new(0.6, 0.0, 0.8), 0.3);
            let palette = palette(&[lower, lower * motion]);
            let normals =
                |kind: Normals| deform_skin(&method.bake(&rig, kind).unwrap(), &palette).normals;
            let (gradient, recomputed) = (normals(Normals::Gradient), normals(Normals::Recomputed));
            // Away from the ends, where triangles are on one side only.
            let inner = 3 * AROUND..(ALONG - 2) * AROUND;
            let angles = inner.clone().map(|vertex| {
                gradient[vertex]
                    .angle_between(recomputed[vertex])
                    .to_degrees()
            });
            let worst = angles.fold(0.0, f32::max);
            assert!(
                worst < largest_angle(&method.method),
                "{method}, {name}: {worst}°"
            );
        }
    }
}

/// In degrees. Tangent frames twist where the neighbour that they look at does, which no derivative
/// of theirs tells.
fn largest_angle(method: &Method) -> f32 {
    if method.to_string() == "delta-mush" {
        4.0
    } else {
        1.5
    }
}

/// If a translation shears the surface and rotates no frame, only gradients see it: the test above
/// can fail.
#[test]
fn transported_normals_miss_a_shift() {
    let rig = rigid_tube(ALONG, AROUND, 0.3);
    let mush = baked(&rig, &MushOptions::default());
    let palette = palette(&[DAffine3::IDENTITY, poses()[0].1]);
    for kind in [MushVariant::V2, MushVariant::V4, MushVariant::V5] {
        let normals = |normals: Normals| {
            let skin = variant(&mush, kind).bake(&rig, normals).unwrap();
            deform_skin(&skin, &palette).normals
        };
        let (transported, recomputed) =
            (normals(Normals::Transported), normals(Normals::Recomputed));
        let angles = transported
            .iter()
            .zip(&recomputed)
            .map(|(a, b)| a.angle_between(*b).to_degrees());
        assert!(angles.fold(0.0, f32::max) > 10.0, "{kind:?}");
    }
}
