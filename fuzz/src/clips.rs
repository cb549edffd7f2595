//! The target over clips.

use crate::input::{Input, Range};
use crate::rigs;
use supple::clip::{Channel, Clip, Interpolation};
use supple::transform::{Local, Trs};
use supple::{Pose, Skeleton};
use supple_io::gltf::{self, Document};

/// Curves of any keys at any times, in memory and in a file.
pub fn clips(data: &[u8]) {
    let mut input = Input::new(data);
    let range = input.range();
    let nodes = 1 + input.below(3);
    let clip = rigs::clip(&mut input, nodes, range);
    let rest = Pose {
        locals: vec![Local::Trs(Trs::IDENTITY); nodes],
        morph_weights: vec![0.0; input.below(4)],
    };
    assert!(clip.start().is_finite() && clip.duration().is_finite());
    let mut times: Vec<f64> = (0..4).map(|_| input.any_double()).collect();
    for track in &clip.tracks {
        let keys = track.curve.times().windows(2);
        times.extend(keys.map(|keys| f64::from(keys[0]) * 0.75 + f64::from(keys[1]) * 0.25));
        times.extend(track.curve.times().iter().map(|&key| f64::from(key)));
    }
    let mut as_written = clip.clone();
    for track in &mut as_written.tracks {
        track.curve = track.curve.to_hermite();
    }
    for &time in &times {
        let pose = sampled(&clip, time, &rest);
        for local in &pose.locals {
            assert!(local.is_finite(), "at {time}: {local:?}");
            let length = local.to_trs().rotation.length();
            assert!(
                (length - 1.0).abs() < 1e-9,
                "at {time}: a rotation of {length}"
            );
        }
        if range == Range::Moderate {
            assert!(pose.morph_weights.iter().all(|weight| weight.is_finite()));
            let written = sampled(&as_written, time, &rest);
            check_alike(&clip, &pose, &written);
        }
    }
    let _ = Clip::of_pose("pose", &sampled(&clip, times[0], &rest), &rest);
    through_a_file(&mut input, range, clip);
}

fn sampled(clip: &Clip, time: f64, rest: &Pose) -> Pose {
    let mut pose = rest.clone();
    clip.sample(time, &mut pose);
    pose
}

/// Catmull-Rom curves with their tangents written out, rounded to floats, are the same curves.
/// Slopes between keys that are close in time are steep, and rotations near zero tell nothing.
fn check_alike(clip: &Clip, pose: &Pose, written: &Pose) {
    let smooth = |clip: &Clip| {
        clip.tracks.iter().all(|track| {
            let turns = matches!(track.channel, Channel::Rotation { .. });
            let keys = track.curve.times().windows(2);
            let mut spans = keys.map(|keys| keys[1] - keys[0]);
            let plain = track.curve.interpolation() != Interpolation::CatmullRom;
            plain || (!turns && spans.all(|span| span > 0.01))
        })
    };
    if !smooth(clip) {
        return;
    }
    for (a, b) in pose.locals.iter().zip(&written.locals) {
        let (a, b) = (a.to_trs(), b.to_trs());
        assert!((a.translation - b.translation).abs().max_element() < 1e-2);
        assert!((a.scale - b.scale).abs().max_element() < 1e-2);
    }
}

/// A file holds the same curves, or is not written.
fn through_a_file(input: &mut Input, range: Range, clip: Clip) {
    let Some(mut asset) = rigs::asset(input, Range::Moderate) else {
        return;
    };
    let skeleton: &Skeleton = asset.rig.skeleton();
    let nodes = skeleton.nodes().len();
    let mut clip = clip;
    clip.tracks.retain(|track| match track.channel {
        Channel::Translation { node } | Channel::Rotation { node } | Channel::Scale { node } => {
            node < nodes
        }
        Channel::MorphWeights { .. } => false,
    });
    if clip.tracks.is_empty() {
        return;
    }
    asset.clips = vec![clip];
    let Ok(document) = Document::from_asset(&asset) else {
        return;
    };
    let Ok(written) = document.to_glb() else {
        return;
    };
    let again = gltf::from_slice(&written, &asset.name).expect("what was written");
    let (found, clip) = (&again.asset.clips[0], &asset.clips[0]);
    assert_eq!(found.tracks.len(), clip.tracks.len());
    for (found, track) in found.tracks.iter().zip(&clip.tracks) {
        assert_eq!(found.curve, track.curve.to_hermite(), "{range:?}");
    }
}
