//! The quality of weights, as text and JSON.

use crate::wording::many;
use serde_json::{Value, json};
use supple::quality::{
    Asymmetry, Locality, Monotonicity, PartitionError, Smoothness, WeightQuality,
};

/// A line for each measure; `joint` names a joint.
pub(crate) fn lines(quality: &WeightQuality, joint: impl Fn(usize) -> String) -> Vec<String> {
    let WeightQuality {
        smoothness,
        locality,
        monotonicity,
        asymmetry,
        partition,
    } = quality;
    let mut lines = vec![smoothness_line(smoothness, &joint)];
    lines.extend(locality_lines(locality, &joint));
    lines.push(monotonicity_line(monotonicity, &joint));
    lines.push(symmetry_line(asymmetry.as_ref()));
    lines.push(partition_line(partition));
    lines
}

fn smoothness_line(smoothness: &Smoothness, joint: impl Fn(usize) -> String) -> String {
    let Smoothness {
        roughness,
        rigid_roughness,
        worst,
    } = smoothness;
    if *roughness == 0.0 {
        return "smoothness: all weights are equal".to_owned();
    }
    let worst = worst.filter(|kink| kink.size.abs() >= LEAST_KINK);
    let worst = worst.map(|kink| {
        let place = if kink.size > 0.0 { "above" } else { "below" };
        let (size, vertex) = (kink.size.abs(), kink.vertex);
        let joint = joint(kink.joint);
        format!("; worst at vertex {vertex}, {joint} {size:.2} {place} its neighbours")
    });
    format!(
        "smoothness: {}, roughness {roughness:.1} (rigid {rigid_roughness:.1}){}",
        smoothness.word(),
        worst.unwrap_or_default()
    )
}

fn locality_lines(locality: &Locality, joint: impl Fn(usize) -> String) -> Vec<String> {
    let farthest = locality.farthest.map(|far| {
        let (reach, vertex) = (far.reach, far.vertex);
        format!(
            "; farthest {} {reach:.2}, at vertex {vertex}",
            joint(far.joint)
        )
    });
    let mut lines = vec![format!(
        "locality: joints on average {:.2} times as far as the nearest bone{}",
        locality.reach,
        farthest.unwrap_or_default()
    )];
    lines.extend(locality.most_stray.map(|most| {
        format!(
            "stray: {:.2} % of the weight is not connected to the rest of its joint's; \
             most of {}, at vertex {}",
            100.0 * locality.stray,
            joint(most.joint),
            most.vertex
        )
    }));
    lines
}

fn monotonicity_line(found: &Monotonicity, joint: impl Fn(usize) -> String) -> String {
    let Some(worst) = found.worst else {
        return "maxima: one for each joint".to_owned();
    };
    let maxima = match found.spurious {
        1 => "1 spurious peak".to_owned(),
        count => format!("{count} spurious peaks"),
    };
    format!(
        "maxima: {maxima} of {}; worst at vertex {}, {} by {:.2}",
        many(found.joints, "joint"),
        worst.vertex,
        joint(worst.joint),
        worst.persistence
    )
}

fn symmetry_line(asymmetry: Option<&Asymmetry>) -> String {
    let Some(asymmetry) = asymmetry else {
        return "symmetry: the character is not symmetric".to_owned();
    };
    let Asymmetry {
        mean,
        most,
        vertex,
        matched,
        plane,
    } = asymmetry;
    let partial = match *matched < 1.0 {
        true => format!(
            ", among points with a mirror image ({:.0} %)",
            100.0 * matched
        ),
        false => String::new(),
    };
    let axis = plane.axis_name();
    if asymmetry.is_negligible() {
        return format!("symmetry: equal on both sides of {axis}{partial}");
    }
    format!(
        "symmetry: differs by {:.2} % across {axis}{partial}, at most {:.1} % at vertex {vertex}",
        100.0 * mean,
        100.0 * most
    )
}

/// The smallest difference of a weight from its neighbours that is shown.
const LEAST_KINK: f64 = 0.01;

fn partition_line(partition: &PartitionError) -> String {
    match partition.vertices {
        0 => "sums: 1".to_owned(),
        count => format!(
            "sums: off by up to {:.4} before normalising, at {}",
            partition.most,
            many(count, "vertex")
        ),
    }
}

/// The measures as JSON.
pub(crate) fn to_json(quality: &WeightQuality) -> Value {
    let WeightQuality {
        smoothness,
        locality,
        monotonicity,
        asymmetry,
        partition,
    } = quality;
    json!({
        "smoothness": {
            "roughness": smoothness.roughness,
            "rigid_roughness": smoothness.rigid_roughness,
            "worst": smoothness.worst.map(|kink| json!({
                "vertex": kink.vertex, "joint": kink.joint, "size": kink.size
            })),
        },
        "locality": {
            "reach": locality.reach,
            "farthest": locality.farthest.map(|far| json!({
                "vertex": far.vertex, "joint": far.joint, "reach": far.reach
            })),
            "stray": locality.stray,
            "most_stray": locality.most_stray.map(|stray| json!({
                "vertex": stray.vertex, "joint": stray.joint, "share": stray.share
            })),
            "influences": locality.influences,
        },
        "monotonicity": {
            "spurious": monotonicity.spurious,
            "joints": monotonicity.joints,
            "worst": monotonicity.worst.map(|worst| json!({
                "vertex": worst.vertex, "joint": worst.joint, "persistence": worst.persistence
            })),
        },
        "asymmetry": asymmetry.map(|asymmetry| json!({
            "mean": asymmetry.mean,
            "most": asymmetry.most,
            "vertex": asymmetry.vertex,
            "matched": asymmetry.matched,
            "normal": asymmetry.plane.normal.to_array(),
            "offset": asymmetry.plane.offset,
        })),
        "partition_of_unity": {
            "most": partition.most,
            "vertices": partition.vertices,
            "without_weights": partition.without_weights,
        },
    })
}
