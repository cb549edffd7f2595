//! Bones that are not where they should be, too few of them, or none; and options that make no
//! sense.

use super::scene::{
    Body, Difference, FIGURE, assert_near, bound, chain, difference, held, methods, methods_with,
};
use glam::DVec3;
use supple::bind::{
    BindError, BindGroup, BindMethod, Bone, BoundedBiharmonicOptions, EnvelopeOptions,
    GeodesicOptions, Handle, HeatOptions, bind, bind_groups,
};
use supple::skeleton::{Node, Skeleton};
use supple::transform::{Local, Trs};
use supple::weights::WeightsError;

fn tube() -> Body {
    Body::tube(1.0, 0.1, 20, 12, true)
}

#[test]
fn a_bone_outside_is_named_and_takes_nothing_from_the_others() {
    let outside = FIGURE.rig.skeleton().joints().len();
    let mut handles = FIGURE.handles.clone();
    let places = [1.0, 1.1, 1.2].map(|ahead| DVec3::new(0.0, 1.2, ahead));
    handles.extend(chain(outside, &places));
    for (method, before) in FIGURE.each_method() {
        let found = bound(FIGURE.rig.mesh(), &handles, &method);
        let name = method.name();
        for joint in [outside, outside + 1] {
            assert!(found.report.outside.contains(&joint), "{name}");
            assert!(found.report.unreached.contains(&joint), "{name}");
        }
        let vertices = 0..FIGURE.body.positions.len();
        let changed = difference(&found.weights, &before.weights, vertices);
        let allowed = Difference {
            mean: 0.002,
            most: 0.05,
        };
        assert_near(changed, allowed, &format!("bone outside, {name}"));
    }
}

/// Rays towards such a bone are beyond the range of single precision.
#[test]
fn a_bone_at_the_end_of_all_numbers_leaves_the_body_to_the_others() {
    let far = DVec3::new(0.0, 1e300, 0.0);
    let handle = |joint, head, tail| Handle {
        joint,
        bones: vec![Bone {
            head,
            tail,
            open_ended: false,
            last_of_chain: false,
        }],
        topmost: joint == 0,
    };
    let near = handle(0, DVec3::ZERO, DVec3::Y);
    for (head, tail) in [(far, 2.0 * far), (-far, far), (DVec3::Y, far)] {
        let handles = [near.clone(), handle(1, head, tail)];
        for method in methods_with(500) {
            bound(&tube().mesh(), &handles, &method);
        }
    }
    for method in methods_with(500) {
        let handles = [near.clone(), handle(1, far, far)];
        let found = bound(&tube().mesh(), &handles, &method);
        for vertex in 0..tube().positions.len() {
            assert_eq!(held(&found.weights, vertex, 0), 1.0, "{}", method.name());
        }
    }
}

#[test]
fn all_joints_in_one_place_share_the_body() {
    let handles = Handle::of_joints(&upright(&[0.5, 0.0, 0.0]), &[0, 1, 2]);
    for method in methods_with(500) {
        bound(&tube().mesh(), &handles, &method);
    }
}

#[test]
fn one_joint_holds_everything() {
    for place in [0.5, 3.0] {
        let handles = [Handle::point(0, DVec3::Y * place)];
        for method in methods_with(500) {
            let found = bound(&tube().mesh(), &handles, &method);
            assert_eq!(found.weights.max_influences(), 1, "{}", method.name());
            assert!(found.report.unreached.is_empty(), "{}", method.name());
        }
    }
}

/// A chain upwards of nodes at these heights above each other.
fn upright(steps: &[f64]) -> Skeleton {
    let node = |(joint, step): (usize, &f64)| Node {
        name: format!("joint{joint}"),
        parent: joint.checked_sub(1),
        rest: Local::Trs(Trs::from_translation(DVec3::Y * *step)),
    };
    let joints: Vec<usize> = (0..steps.len()).collect();
    Skeleton::bound_at_rest(steps.iter().enumerate().map(node).collect(), &joints).unwrap()
}

/// A joint at the place of its parent, as twist joints and sockets are.
#[test]
fn a_bone_without_length_does_no_harm() {
    let skeleton = upright(&[0.05, 0.3, 0.0, 0.3]);
    let mesh = tube().mesh();
    let groups = [BindGroup::whole(&mesh, &skeleton)];
    for method in methods_with(500) {
        let found = bind_groups(&mesh, &skeleton, &groups, &method, &|_| {}).unwrap();
        super::scene::assert_complete(&found.weights, mesh.vertex_count(), method.name());
        let (bottom, top) = (0, mesh.vertex_count() - 1);
        assert!(held(&found.weights, bottom, 0) > 0.9, "{}", method.name());
        assert!(held(&found.weights, top, 3) > 0.9, "{}", method.name());
    }
}

#[test]
fn handles_are_bones_to_every_child_and_last_joints_go_on() {
    let nodes = [
        (None, 0.0, 0.0),
        (Some(0), 0.0, 1.0),
        (Some(1), -1.0, 1.0),
        (Some(1), 1.0, 1.0),
    ];
    let node = |&(parent, x, y): &(Option<usize>, f64, f64)| Node {
        name: String::new(),
        parent,
        rest: Local::Trs(Trs::from_translation(DVec3::new(x, y, 0.0))),
    };
    let fork = Skeleton::bound_at_rest(nodes.iter().map(node).collect(), &[0, 1, 2, 3]).unwrap();
    let all = Handle::of_joints(&fork, &[0, 1, 2, 3]);
    let tails =
        |handle: &Handle| -> Vec<DVec3> { handle.bones.iter().map(|bone| bone.tail).collect() };
    let [left, right] = [-1.0, 1.0].map(|x| DVec3::new(x, 2.0, 0.0));
    assert_eq!(tails(&all[0]), [DVec3::Y]);
    assert_eq!(tails(&all[1]), [left, right]);
    assert_eq!(tails(&all[2]), [DVec3::new(-2.0, 3.0, 0.0)]);
    assert!(all[2].bones[0].open_ended && !all[1].bones[0].open_ended);
    // Without the joint in between, bones lead past it.
    let past = Handle::of_joints(&fork, &[0, 3]);
    assert_eq!(past.len(), 2);
    assert_eq!(tails(&past[0]), [right]);
    // A joint by itself is a point.
    let alone = Handle::of_joints(&fork, &[2]);
    assert_eq!(alone[0].bones, Handle::point(2, left).bones);
}

#[test]
fn what_cannot_be_bound_is_refused_with_the_joint_at_fault() {
    let mesh = tube().mesh();
    let nowhere = Handle::point(1, DVec3::new(0.0, f64::NAN, 0.0));
    let sound = Handle::point(0, DVec3::Y * 0.5);
    let empty = Handle {
        joint: 1,
        bones: Vec::<Bone>::new(),
        topmost: false,
    };
    for method in methods() {
        let refused = |handles: &[Handle], joints: usize| {
            bind(&mesh, handles, joints, &method, &|_| {}).unwrap_err()
        };
        assert_eq!(refused(&[], 2), BindError::NoHandles);
        assert_eq!(refused(&[], 0), BindError::NoHandles);
        let both = [sound.clone(), nowhere.clone()];
        assert_eq!(refused(&both, 2), BindError::NotFinite(1));
        let both = [sound.clone(), empty.clone()];
        assert_eq!(refused(&both, 2), BindError::EmptyHandle(1));
        let unknown = refused(&[Handle::point(5, DVec3::ZERO)], 2);
        let expected = |error: &BindError| {
            matches!(
                error,
                BindError::Weights(WeightsError::JointOutOfRange {
                    joint: 5,
                    joints: 2,
                    ..
                })
            )
        };
        assert!(expected(&unknown), "{unknown}");
        let twice = [sound.clone(), Handle::point(1, DVec3::Y * 0.5)];
        assert_eq!(refused(&twice, 2), BindError::SamePlace(0, 1));
        let twice = [sound.clone(), Handle::point(0, DVec3::Y * -0.5)];
        assert_eq!(refused(&twice, 2), BindError::JointTwice(0));
    }
}

#[test]
fn options_out_of_range_are_refused() {
    let envelope = |falloff, radius| {
        BindMethod::Envelope(EnvelopeOptions {
            falloff,
            radii: vec![(0, radius)],
        })
    };
    let geodesic = |voxels, falloff| BindMethod::Geodesic(GeodesicOptions { voxels, falloff });
    let bounded = |voxels, tolerance| {
        BindMethod::BoundedBiharmonic(BoundedBiharmonicOptions { voxels, tolerance })
    };
    let mut wrong = vec![
        geodesic(Some(99), 1.0),
        geodesic(Some(2_000_001), 1.0),
        bounded(Some(0), 1e-3),
        bounded(Some(usize::MAX), 1e-3),
    ];
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        wrong.extend([envelope(bad, 1.0), envelope(1.0, bad)]);
        wrong.push(BindMethod::Heat(HeatOptions { strength: bad }));
        wrong.extend([geodesic(None, bad), bounded(None, bad)]);
    }
    let handles = [Handle::point(0, DVec3::Y * 0.5)];
    for method in wrong {
        let refused = bind(&tube().mesh(), &handles, 1, &method, &|_| {}).unwrap_err();
        assert!(
            matches!(refused, BindError::Option(_)),
            "{method:?}: {refused}"
        );
    }
}

/// Two bodies of skins that share no joint are bound apart, even where they stand within each
/// other.
#[test]
fn groups_do_not_see_each_other() {
    let skeleton = upright(&[0.0, 0.5, 0.5]);
    let mut body = tube();
    let first = 0..body.positions.len();
    let second = body.add(&tube().mapped(|place| place * 1.1));
    let mesh = body.mesh();
    let group = |vertices: &std::ops::Range<usize>, joints: &[usize]| BindGroup {
        vertices: vec![vertices.clone()],
        joints: joints.to_vec(),
    };
    let groups = [group(&second, &[2]), group(&first, &[0, 1])];
    for method in methods_with(500) {
        let found = bind_groups(&mesh, &skeleton, &groups, &method, &|_| {}).unwrap();
        super::scene::assert_complete(&found.weights, mesh.vertex_count(), method.name());
        assert!(
            second
                .clone()
                .all(|vertex| held(&found.weights, vertex, 2) > 0.999)
        );
        assert!(
            first
                .clone()
                .all(|vertex| held(&found.weights, vertex, 2) == 0.0)
        );
        let missing = bind_groups(&mesh, &skeleton, &groups[1..], &method, &|_| {}).unwrap_err();
        assert_eq!(missing, BindError::InNoGroup(second.start));
    }
}

/// Two bones side by side with given radii: within a radius all is held, and nothing beyond the
/// falloff.
#[test]
fn envelopes_hold_within_their_radius_and_fade_beyond_it() {
    let mesh = Body::sheet(2.0, 0.1, 200, 1).mesh();
    let handles = [0.0, 2.0].map(|x| DVec3::X * x);
    let handles = [Handle::point(0, handles[0]), Handle::point(1, handles[1])];
    let method = BindMethod::Envelope(EnvelopeOptions {
        falloff: 0.5,
        radii: vec![(0, 0.8), (1, 1.0)],
    });
    let found = bound(&mesh, &handles, &method);
    for (vertex, place) in mesh.positions().iter().enumerate() {
        let share = |joint: usize, radius: f64| {
            let distance = place.as_dvec3().distance(DVec3::X * 2.0 * joint as f64);
            let beyond = ((distance / radius - 1.0) / 0.5).clamp(0.0, 1.0);
            1.0 - beyond * beyond * (3.0 - 2.0 * beyond)
        };
        let (one, other) = (share(0, 0.8), share(1, 1.0));
        let expected = one / (one + other);
        let off = (held(&found.weights, vertex, 0) - expected).abs();
        // Shares below a ten-thousandth are dropped.
        assert!(off < 2e-4, "{place}: off by {off}");
    }
}
