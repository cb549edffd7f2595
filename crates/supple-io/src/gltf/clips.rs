//! The animations of a file as clips.

use super::Notes;
use super::accessor::Numbers;
use super::elements::{in_range, section};
use super::fault::Fault;
use super::file::File;
use super::surface::MorphWeights;
use super::tree::Tree;
use crate::text::shortened;
use gltf_json::accessor::Type;
use gltf_json::animation;
use gltf_json::validation::Checked;
use serde_json::Value;
use supple::clip::{Channel, Clip, Curve, Interpolation, Track};

/// Reads every animation; channels that drive something unknown are counted and skipped.
pub(super) fn clips(
    file: &File,
    tree: &Tree,
    morph_weights: &MorphWeights,
    notes: &mut Notes,
) -> Result<Vec<Clip>, Fault> {
    let animations: Vec<Value> = section(file.json, "animations")?;
    let mut clips = Vec::with_capacity(animations.len());
    for (animation_index, animation) in animations.iter().enumerate() {
        let place = format!("animations[{animation_index}]");
        let name = animation.get("name").and_then(Value::as_str);
        let name = name.map_or_else(|| format!("clip {animation_index}"), str::to_owned);
        let within = |fault: Fault| Fault::new(format!("{place}.{}", fault.place), fault.problem);
        let samplers: Vec<animation::Sampler> = section(animation, "samplers").map_err(within)?;
        let raw: Vec<Value> = section(animation, "channels").map_err(within)?;
        let mut tracks = Vec::new();
        for (index, channel) in raw.iter().enumerate() {
            let place = format!("{place}.channels[{index}]");
            // A target without a node belongs to an extension.
            if channel.pointer("/target/node").is_none_or(Value::is_null) {
                notes.ignored_channels += 1;
                continue;
            }
            let channel: animation::Channel = serde_json::from_value(channel.clone())
                .map_err(|error| Fault::new(&place, shortened(&error.to_string())))?;
            let sampler = channel.sampler.value();
            in_range(sampler, samplers.len(), "sampler", &place)?;
            let node = channel.target.node.value();
            in_range(node, file.nodes.len(), "node", &format!("{place}.target"))?;
            let driven = match channel.target.path {
                Checked::Valid(path) => {
                    driven(path, tree.order_of[node], morph_weights.of_node.get(&node))
                }
                Checked::Invalid => None,
            };
            let Some(driven) = driven else {
                notes.ignored_channels += 1;
                continue;
            };
            tracks.push(Track {
                channel: driven,
                curve: curve(
                    file,
                    &samplers[sampler],
                    &driven,
                    &format!("animations[{animation_index}].samplers[{sampler}]"),
                )?,
            });
        }
        clips.push(Clip { name, tracks });
    }
    Ok(clips)
}

fn driven(
    path: animation::Property,
    node: usize,
    morph_weights: Option<&std::ops::Range<usize>>,
) -> Option<Channel> {
    Some(match path {
        animation::Property::Translation => Channel::Translation { node },
        animation::Property::Rotation => Channel::Rotation { node },
        animation::Property::Scale => Channel::Scale { node },
        animation::Property::MorphTargetWeights => {
            let weights = morph_weights.filter(|weights| !weights.is_empty())?;
            Channel::MorphWeights {
                first: weights.start,
                count: weights.len(),
            }
        }
    })
}

fn curve(
    file: &File,
    sampler: &animation::Sampler,
    channel: &Channel,
    place: &str,
) -> Result<Curve, Fault> {
    let interpolation = match sampler.interpolation {
        Checked::Valid(animation::Interpolation::Step) => Interpolation::Step,
        Checked::Valid(animation::Interpolation::Linear) => Interpolation::Linear,
        Checked::Valid(animation::Interpolation::CubicSpline) => Interpolation::CubicHermite,
        Checked::Invalid => {
            return Err(Fault::new(place, "an unknown interpolation"));
        }
    };
    let element = match channel {
        Channel::Translation { .. } | Channel::Scale { .. } => Type::Vec3,
        Channel::Rotation { .. } => Type::Vec4,
        Channel::MorphWeights { .. } => Type::Scalar,
    };
    let times = file
        .accessors
        .scalars(sampler.input.value(), &format!("{place}.input"))?;
    let output = sampler.output.value();
    let values = file.accessors.floats(
        output,
        element,
        Numbers::AsDeclared,
        &format!("{place}.output"),
    )?;
    Curve::new(times, values, channel.width(), interpolation)
        .map_err(|error| Fault::new(place, error.to_string()))
}
