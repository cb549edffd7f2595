//! How good the weights are, in words for the page.

use crate::html::named;
use crate::names::{plain_title, uncapitalised};
use crate::phrases::grouped;
use crate::table::plain_percent;
use std::fmt::Write;
use supple::quality::WeightQuality;
use supple::{Rig, Skeleton};

/// Where the weights are worst, and what is wrong there.
pub(crate) struct WorstPlace {
    pub vertex: usize,
    joint: usize,
    fault: String,
}

impl WorstPlace {
    /// The most persistent spurious maximum, or else where a weight is least like those around it.
    pub fn of(quality: &WeightQuality, rig: &Rig) -> Option<WorstPlace> {
        if rig.weights().max_influences() < 2 {
            return None; // nothing goes wrong in particular
        }
        let maximum = quality.monotonicity.worst.map(|worst| WorstPlace {
            vertex: worst.vertex,
            joint: worst.joint,
            fault: format!("a second top, {:.2} high", worst.persistence),
        });
        let kink = || {
            let kink = quality.smoothness.worst?;
            let place = if kink.size > 0.0 { "above" } else { "below" };
            Some(WorstPlace {
                vertex: kink.vertex,
                joint: kink.joint,
                fault: format!("{:.2} {place} its neighbours", kink.size.abs()),
            })
        };
        maximum.or_else(kink)
    }

    /// The weights of its joint.
    pub fn weights(&self, rig: &Rig) -> Vec<f32> {
        let weights = rig.weights();
        let vertices = 0..weights.vertex_count();
        let of_joint = vertices.map(|vertex| weights.weight_of(vertex, self.joint));
        of_joint.collect()
    }

    pub fn caption(&self, skeleton: &Skeleton) -> String {
        let title = joint_title(skeleton, self.joint);
        format!("Weight of the {title}: {}", self.fault)
    }
}

/// A joint in running text.
fn joint_title(skeleton: &Skeleton, joint: usize) -> String {
    let title = plain_title(skeleton.joint_name(joint), joint);
    named(&uncapitalised(&title))
}

/// Every figure with what it means.
pub(crate) fn figures(quality: &WeightQuality, skeleton: &Skeleton) -> String {
    let title = |joint: usize| joint_title(skeleton, joint);
    let smoothness = &quality.smoothness;
    let smooth = (
        "Smoothness",
        match smoothness.roughness > 0.0 {
            true => format!(
                "{}, roughness {:.1}",
                smoothness.word(),
                smoothness.roughness
            ),
            false => "the same everywhere".to_owned(),
        },
        format!(
            "How much weights bend over the surface, whatever its size and the number of its triangles. If every vertex followed one joint alone, it would be {:.1} here.",
            smoothness.rigid_roughness
        ),
    );
    let locality = &quality.locality;
    let farthest = locality.farthest.map(|far| {
        format!(
            " Farthest reaches the {}: {:.2}.",
            title(far.joint),
            far.reach
        )
    });
    let local = (
        "Locality",
        format!("reach {:.2}", locality.reach),
        format!(
            "How far the bones are that hold the skin, against the nearest ones: 1 if the nearest bone holds everything.{} {:.1} joints hold each place on average.",
            farthest.unwrap_or_default(),
            locality.influences
        ),
    );
    let most = locality
        .most_stray
        .map(|most| format!(" Most of it: the {}.", title(most.joint)));
    let stray = (
        "Stray weight",
        match locality.stray > 0.0 {
            true => plain_percent(locality.stray),
            false => "none".to_owned(),
        },
        format!(
            "Weight on islands that are not connected with the rest of what the joint holds.{}",
            most.unwrap_or_default()
        ),
    );
    let maxima = &quality.monotonicity;
    let monotone = (
        "Spurious maxima",
        match maxima.spurious {
            0 => "none".to_owned(),
            count => format!("{} of {}", grouped(count), match maxima.joints {
                1 => "one joint".to_owned(),
                joints => format!("{joints} joints"),
            }),
        },
        "Places where a weight rises again by 0.02 or more on the way down from its top. Each pulls at the skin on its own. A joint inside of the trunk may well have one in front and one behind.".to_owned(),
    );
    let symmetric = quality.asymmetry.map(|asymmetry| {
        let across = asymmetry.plane.axis_name();
        let partial = match asymmetry.matched < 1.0 {
            true => format!(" {} of its points have a mirror image.", plain_percent(asymmetry.matched)),
            false => String::new(),
        };
        let found = match asymmetry.is_negligible() {
            true => "none".to_owned(),
            false => format!("{} on average, {} at most", plain_percent(asymmetry.mean), plain_percent(asymmetry.most)),
        };
        (
            "Asymmetry",
            found,
            format!("The character is symmetric across {across}: so much of the weight is held by other joints than on the other side.{partial}"),
        )
    });
    let partition = &quality.partition;
    let sums = (
        "Sums",
        match partition.vertices {
            0 => "1 everywhere".to_owned(),
            1 => format!("off by {:.4} at one vertex", partition.most),
            count => format!(
                "off by up to {:.4} at {} vertices",
                partition.most,
                grouped(count)
            ),
        },
        "What the weights of a vertex came to before they were normalised.".to_owned(),
    );
    let mut html = "<dl class=\"columns\">".to_owned();
    for (name, value, meaning) in [smooth, local, stray, monotone]
        .into_iter()
        .chain(symmetric)
        .chain([sums])
    {
        // Writing to a string cannot fail.
        let _ = write!(html, "<dt>{name}</dt><dd><b>{value}.</b> {meaning}</dd>");
    }
    html + "</dl>"
}
