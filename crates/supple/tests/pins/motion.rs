//! Clips, kinematics, players, and poses from targets.

use crate::subject::{Subject, maps, palette};
use glam::{DAffine3, DQuat, DVec3};
use supple::clip::{Channel, Curve, Interpolation, Track};
use supple::inverse_kinematics::{Chain, Goal, Limit, ReachOptions, TwoBone, move_to, reach};
use supple::transform::Polar;
use supple::{Affine, Clip, Local, Method, Normals, Player, Pose};
use supple_pins::{Bits, Numbers, Pins};

pub fn pin(pins: &mut Pins, subject: &Subject) {
    pin_clips(pins, subject);
    pin_player(pins, subject);
    pin_reaching(pins, subject);
    let mut world = Vec::new();
    for (at, pose) in subject.poses.iter().enumerate() {
        subject
            .skeleton()
            .forward_kinematics(pose, &mut world)
            .unwrap();
        pins.pin(subject.name(format!("pose/kinematics/{at}")), &world);
        let palette = palette(subject.skeleton(), pose);
        pins.pin(subject.name(format!("pose/palette/{at}")), &maps(&palette));
        let polar: Vec<_> = palette.posed_from_bind.iter().map(polar).collect();
        pins.pin(subject.name(format!("pose/polar/{at}")), &polar);
    }
}

fn polar(map: &Affine) -> impl Bits + use<> {
    let Polar { rotation, stretch } = Polar::of(DAffine3::from(*map).matrix3);
    (rotation, stretch)
}

fn locals(pose: &Pose) -> impl Bits + use<> {
    let trs = |local: &Local| {
        let trs = local.to_trs();
        (trs.translation, trs.rotation, trs.scale)
    };
    let locals: Vec<_> = pose.locals.iter().map(trs).collect();
    (locals, pose.morph_weights.clone())
}

fn pin_clips(pins: &mut Pins, subject: &Subject) {
    for clip in &subject.asset.clips {
        let times = (0..=10).map(|step| clip.duration() * f64::from(step) / 9.5);
        let poses: Vec<_> = times
            .map(|time| locals(&subject.asset.pose_at(clip, time)))
            .collect();
        let name = clip.name.replace(' ', "-");
        pins.pin(subject.name(format!("clip/{name}")), &poses);
    }
    // A turn, a shift and a stretch, by every interpolation.
    let keys = [
        [0.0, 0.0, 0.0, 1.0],
        [0.6, 0.0, 0.0, 0.8],
        [0.0, -0.96, 0.0, 0.28],
    ];
    for interpolation in [
        Interpolation::Step,
        Interpolation::Linear,
        Interpolation::CubicHermite,
        Interpolation::CatmullRom,
    ] {
        let track = |channel: Channel| {
            let width = channel.width();
            let spread = |key: &[f32; 4]| match interpolation {
                // In-tangent, value, out-tangent.
                Interpolation::CubicHermite => [[0.5; 4], *key, [-0.25; 4]]
                    .iter()
                    .flat_map(|part| part[..width].to_vec())
                    .collect(),
                _ => key[..width].to_vec(),
            };
            let values: Vec<f32> = keys.iter().flat_map(spread).collect();
            let curve = Curve::new(vec![0.0, 0.4, 1.0], values, width, interpolation);
            let curve = curve.unwrap();
            Track { channel, curve }
        };
        let clip = Clip {
            name: "keys".to_owned(),
            tracks: vec![
                track(Channel::Rotation { node: 0 }),
                track(Channel::Translation { node: 1 }),
                track(Channel::Scale { node: 1 }),
            ],
        };
        let times = (0..=20).map(|step| 0.055 * f64::from(step));
        let poses: Vec<_> = times
            .map(|time| locals(&subject.asset.pose_at(&clip, time)))
            .collect();
        let name = format!("clip/{interpolation:?}").to_lowercase();
        pins.pin(subject.name(&name), &poses);
        let hermite: Vec<_> = clip
            .tracks
            .iter()
            .map(|track| track.curve.to_hermite().values().to_vec())
            .collect();
        pins.pin(subject.name(format!("{name}/hermite")), &hermite);
    }
    let still = Clip::of_pose("still", &subject.poses[0], &subject.asset.rest_pose()).unwrap();
    pins.pin(subject.name("clip/still"), &Numbers(&still));
}

/// Morphs, props and triangles, in all poses.
fn pin_player(pins: &mut Pins, subject: &Subject) {
    let mut player = Player::new(&subject.asset, &Method::Linear, Normals::Transported).unwrap();
    let mut frames = Vec::new();
    for pose in &subject.poses {
        let mut pose = pose.clone();
        pose.morph_weights = vec![0.6];
        player.pose(&pose).unwrap();
        let props: Vec<_> = player
            .props()
            .map(|prop| (prop.positions.to_vec(), prop.normals.to_vec()))
            .collect();
        let surface = (
            player.positions().to_vec(),
            player.normals().to_vec(),
            player.tangents().map(<[_]>::to_vec),
        );
        frames.push((surface, props, player.triangles().to_vec()));
    }
    pins.pin(subject.name("pose/player"), &frames);
}

/// Poses from targets: closed forms, chains, limits, orientations.
fn pin_reaching(pins: &mut Pins, subject: &Subject) {
    let skeleton = subject.skeleton();
    let start = &subject.poses[0];
    let mut world = Vec::new();
    skeleton.forward_kinematics(start, &mut world).unwrap();
    let is_leaf = |node: &usize| {
        let nodes = skeleton.nodes().iter();
        nodes.filter(|other| other.parent == Some(*node)).count() == 0
    };
    let leaf = (0..skeleton.nodes().len()).rev().find(is_leaf).unwrap();
    let parent = skeleton.nodes()[leaf].parent.unwrap();
    let target = world[leaf].translation + DVec3::new(-0.07, 0.11, 0.05);
    let near = Goal::new(leaf, target);
    let far = Goal {
        position: target + DVec3::new(5.0, 1.0, -2.0),
        ..near
    };
    let whole_chain = Goal {
        chain: Chain::Joints(9),
        ..near
    };
    let turned = Goal {
        orientation: Some(DQuat::from_xyzw(0.5, 0.5, -0.5, 0.5)),
        pole: Some(target + DVec3::Z),
        ..whole_chain
    };
    let goals = [
        ("near", near),
        ("far", far),
        ("chain", whole_chain),
        ("turned", turned),
    ];
    let mut limited = ReachOptions::default();
    let cone = Limit::Cone {
        axis: DVec3::X,
        swing: 0.4,
        twist: [-0.3, 0.2],
    };
    limited.limits.insert(parent, cone);
    limited.stiffness.insert(parent, 0.5);
    for (name, goal) in goals {
        for (kind, options) in [("free", &ReachOptions::default()), ("limited", &limited)] {
            let mut pose = start.clone();
            let reached = reach(skeleton, &mut pose, &[goal], options);
            let reached = reached.map(|reached| reached[0].clone()).ok();
            let reached = reached.map(|reached| {
                let steps = reached.iterations;
                (reached.distance, reached.angle, steps, reached.chain)
            });
            let name = subject.name(format!("reach/{name}/{kind}"));
            pins.pin(name, &(reached, locals(&pose)));
        }
    }
    let mut pose = start.clone();
    move_to(skeleton, &mut pose, leaf, target).unwrap();
    pins.pin(subject.name("reach/move-to"), &locals(&pose));
    let bones = TwoBone {
        root: DVec3::ZERO,
        middle: DVec3::new(0.3, 0.01, 0.0),
        end: DVec3::new(0.5, -0.1, 0.02),
    };
    let bend = bones.reach(DVec3::new(0.2, 0.3, -0.1), Some(DVec3::Z), DVec3::Y);
    let bend = bend.map(|bend| (bend.upper, bend.lower, bend.end));
    pins.pin(subject.name("reach/two-bone"), &bend);
}
