//! Moves a hand to a target by inverse kinematics and deforms the figure.
//!
//! `cargo run --example reach`

#![allow(clippy::print_stdout)]

use std::error::Error;
use supple::characters::{self, Character};
use supple::glam::DVec3;
use supple::inverse_kinematics::{Goal, ReachOptions, reach};
use supple::{Method, Normals, Player};

fn main() -> Result<(), Box<dyn Error>> {
    let asset = characters::build(Character::Figure, 5_000)?;
    let skeleton = asset.rig.skeleton();
    let find = |name| skeleton.nodes().iter().position(|node| node.name == name);
    let hand = find("hand.L").ok_or("no node 'hand.L'")?;

    // The limb is found from the skeleton; joints turn, nothing stretches.
    let mut pose = asset.rest_pose();
    let goal = Goal {
        pole: Some(DVec3::new(0.4, 1.0, -0.5)),
        ..Goal::new(hand, DVec3::new(0.3, 1.3, 0.4))
    };
    let reached = reach(skeleton, &mut pose, &[goal], &ReachOptions::default())?;
    println!("the hand is {:.1e} m from its target", reached[0].distance);

    // A player owns all buffers: it poses, deforms and moves props in one call.
    let mut player = Player::new(&asset, &Method::SwingTwist, Normals::Transported)?;
    player.pose(&pose)?;
    let heights = player.positions().iter().map(|position| position.y);
    let highest = heights.fold(0.0, f32::max);
    println!("the posed figure is {highest:.2} m tall");
    Ok(())
}
