//! Whatever triangles and bones there are: nothing panics, every vertex is held, and threads change
//! no bit.

use super::scene::{Body, assert_complete, methods_with};
use crate::random::config;
use glam::Vec3;
use proptest::prelude::*;
use supple::bind::{Bone, Handle, bind};

fn place(size: f32) -> impl Strategy<Value = Vec3> {
    prop::array::uniform3(-size..size).prop_map(Vec3::from_array)
}

/// Triangles between points that have nothing to do with each other.
fn soup() -> impl Strategy<Value = Body> {
    let points = prop::collection::vec(place(1.0), 1..40);
    let triangles = prop::collection::vec(any::<[prop::sample::Index; 3]>(), 0..60);
    (points, triangles).prop_map(|(positions, triangles)| {
        let count = positions.len();
        let triangles = triangles.iter();
        let triangles = triangles.map(|corners| corners.map(|corner| corner.index(count) as u32));
        Body {
            triangles: triangles.collect(),
            positions,
        }
    })
}

/// A few balls, dented and stretched, through and in each other.
fn blobs() -> impl Strategy<Value = Body> {
    let blob = (
        place(0.5),
        0.0625f32..0.625,
        place(0.4),
        3usize..8,
        3usize..10,
    );
    prop::collection::vec(blob, 1..4).prop_map(|blobs| {
        let mut body = Body::default();
        for (center, radius, dent, rings, around) in blobs {
            let ball = Body::ball(Vec3::ZERO, radius, rings, around);
            body.add(&ball.mapped(|place| center + place + dent * (7.0 * place.dot(dent)).sin()));
        }
        body
    })
}

fn handles() -> impl Strategy<Value = Vec<Handle>> {
    let bone = (place(1.0), place(1.0), 0..3, any::<bool>());
    let bone = bone.prop_map(|(head, tail, point, open_ended)| Bone {
        head: head.as_dvec3(),
        tail: if point == 0 { head } else { tail }.as_dvec3(),
        open_ended,
        last_of_chain: open_ended,
    });
    prop::collection::vec(prop::collection::vec(bone, 1..3), 1..12).prop_map(|joints| {
        let joints = joints.into_iter().enumerate();
        joints
            .map(|(joint, bones)| Handle {
                joint,
                bones,
                topmost: joint == 0,
            })
            .collect()
    })
}

proptest! {
    #![proptest_config(config(40))]

    #[test]
    fn anything_is_bound_completely_and_the_same_on_any_number_of_threads(
        body in prop_oneof![soup(), blobs()], handles in handles()
    ) {
        let mesh = body.mesh();
        for method in methods_with(200) {
            let bind = || bind(&mesh, &handles, handles.len(), &method, &|_| {}).unwrap();
            let found = bind();
            assert_complete(&found.weights, mesh.vertex_count(), method.name());
            for threads in [1, 2] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let again = pool.install(bind);
                prop_assert!(again == found, "{} on {} threads", method.name(), threads);
            }
        }
    }
}
