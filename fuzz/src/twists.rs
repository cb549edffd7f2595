//! The target over twist joints.

use crate::input::Input;
use crate::methods::check_row;
use crate::rigs;
use supple::twist::{TwistOf, TwistOptions, split};
use supple_io::gltf::{self, Document};

/// A bone of any character split, in memory and in a file.
pub fn twists(data: &[u8]) {
    let mut input = Input::new(data);
    let range = input.range();
    let Some(asset) = rigs::asset(&mut input, range) else {
        return;
    };
    let joints = asset.rig.skeleton().joints().len();
    let options = TwistOptions {
        toward: input.rarely(4).then(|| input.below(joints + 1)),
        twist_of: match input.below(3) {
            0 => Some(TwistOf::Child),
            1 => Some(TwistOf::Joint),
            _ => None,
        },
        name: input.rarely(4).then(|| "root".to_owned()),
    };
    let Ok(twisted) = split(&asset, input.below(joints + 1), &options) else {
        return;
    };
    let rig = &twisted.asset.rig;
    for vertex in 0..rig.mesh().vertex_count() {
        check_row(rig.weights(), vertex);
    }
    let mut pose = rigs::pose(&mut input, rig.skeleton(), range);
    twisted.added.follow(rig.skeleton(), &mut pose);
    if let Ok(mut document) = Document::from_asset(&asset)
        && document.add_twist_joint(&twisted).is_ok()
        && let Ok(written) = document.to_glb()
    {
        let again = gltf::from_slice(&written, &asset.name).expect("what was written");
        if !rigs::binds_a_node_twice(rig.skeleton()) {
            assert_eq!(again.asset.rig.weights(), rig.weights());
        }
    }
}
