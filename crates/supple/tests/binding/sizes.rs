//! Millimetres, kilometres, or far from the origin: the same weights.

use super::scene::{Difference, FIGURE, assert_near, bound, difference, methods};
use glam::{DVec3, Vec3};
use supple::bind::{Bone, Handle};

#[test]
fn neither_the_unit_nor_the_place_changes_the_weights() {
    for (scale, lifted) in [
        (1e-3, 0.0),
        (1e3, 0.0),
        (1.0, 100.0),
        (1e-3, 100.0),
        (1e3, 100.0),
    ] {
        let shift = DVec3::Y * lifted * scale;
        let place = |place: DVec3| place * scale + shift;
        let body = FIGURE
            .body
            .mapped(|vertex: Vec3| place(vertex.as_dvec3()).as_vec3());
        let moved = |bone: &Bone| Bone {
            head: place(bone.head),
            tail: place(bone.tail),
            ..*bone
        };
        let handles = FIGURE.handles.iter().map(|handle| Handle {
            joint: handle.joint,
            bones: handle.bones.iter().map(moved).collect(),
            topmost: handle.topmost,
        });
        let handles: Vec<Handle> = handles.collect();
        // A hundred heights away a vertex is rounded to 4 micrometres of 1.7 metres: what decides
        // between two things may decide otherwise.
        let allowed = match lifted {
            0.0 => Difference {
                mean: 1e-5,
                most: 1e-2,
            },
            _ => Difference {
                mean: 2e-3,
                most: 1.0,
            },
        };
        for (method, before) in methods().iter().zip(&FIGURE.bound) {
            let found = bound(&body.mesh(), &handles, method);
            let vertices = 0..body.positions.len();
            let changed = difference(&found.weights, &before.weights, vertices);
            let what = format!("times {scale}, lifted by {lifted}, {}", method.name());
            assert_near(changed, allowed, &what);
        }
    }
}
