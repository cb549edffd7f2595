//! The chapter about the weights, which all methods share.

use super::elements::{aside, named, picture, ringed};
use super::table::plain_percent;
use super::writer::{PORTRAIT, Writer};
use crate::ReportError;
use crate::names::{plain_title, uncapitalised};
use crate::phrases::grouped;
use crate::pictures;
use maud::{Markup, html};
use supple::quality::WeightQuality;
use supple::weights::WeightsReport;
use supple::{Player, Pose, Rig, Skeleton};
use supple_render::{Look, Overlays, Settings};

/// The vertex where the weights are worst, and what is wrong there.
struct WorstPlace {
    vertex: usize,
    joint: usize,
    fault: String,
}

impl WorstPlace {
    /// The most persistent spurious maximum, or else where a weight is least like those around it.
    fn of(quality: &WeightQuality, rig: &Rig) -> Option<WorstPlace> {
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
    fn weights(&self, rig: &Rig) -> Vec<f32> {
        let weights = rig.weights();
        let vertices = 0..weights.vertex_count();
        let of_joint = vertices.map(|vertex| weights.weight_of(vertex, self.joint));
        of_joint.collect()
    }

    fn caption(&self, skeleton: &Skeleton) -> Markup {
        html! { "Weight of the " (joint_title(skeleton, self.joint)) ": " (self.fault) }
    }
}

impl Writer<'_, '_> {
    /// The quality of the weights, and the places where they are worst.
    pub fn weights(&self, found: &WeightsReport) -> Result<Markup, ReportError> {
        let asset = self.study.comparison.asset;
        let quality = WeightQuality::of(&asset.rig).as_found(found);
        let overlays = Overlays {
            weights: true,
            ..Overlays::default()
        };
        let look = Look::new(asset, overlays);
        let rest = asset.rest_pose();
        let mut methods = 0..self.entries.len();
        let whole = methods.find_map(|method| self.portrait(method, &rest, &look, PORTRAIT).ok());
        let mut tiles = Vec::new();
        if let Some(image) = whole {
            let image = picture(&image, "The character in the colours of its joints")?;
            tiles.push(aside(&html! { "Every joint in its own colour" }, &image));
        }
        if let Some(place) = WorstPlace::of(&quality, &asset.rig) {
            tiles.extend(self.worst_place(&place, &rest)?);
        }
        Ok(html! {
            p {
                "The weights are the shares of the joints in each vertex. All methods use the \
                 same weights, and no method makes up for bad ones."
            }
            div.tiles.pair { @for tile in &tiles { (tile) } }
            (figures(&quality, asset.rig.skeleton()))
        })
    }

    /// The weight of one joint where it goes wrong most.
    fn worst_place(&self, place: &WorstPlace, rest: &Pose) -> Result<Option<Markup>, ReportError> {
        let comparison = &self.study.comparison;
        let rig = &comparison.asset.rig;
        let settings = Settings {
            width: PORTRAIT,
            height: PORTRAIT,
            ..self.settings
        };
        let weights = place.weights(rig);
        let draw = |player: &Player<'_>| {
            pictures::close_up_of_vertex(player, &self.look, &weights, place.vertex, &settings)
        };
        let mut methods = 0..self.entries.len();
        let drawn = methods.find_map(|method| comparison.pose(method, rest, draw).ok());
        let Some((image, ring)) = drawn.flatten() else {
            return Ok(None);
        };
        let image = picture(&image, "The weight of one joint where it is worst")?;
        let image = ringed(&image, Some(&ring), "ring dark");
        Ok(Some(aside(&place.caption(rig.skeleton()), &image)))
    }
}

/// A joint in running text.
fn joint_title(skeleton: &Skeleton, joint: usize) -> Markup {
    let title = plain_title(skeleton.joint_name(joint), joint);
    named(&uncapitalised(&title))
}

/// A measure of the weights: its name, its value, and what it means.
struct Figure {
    name: &'static str,
    value: String,
    meaning: Markup,
}

/// Every measure of the weights with its meaning.
fn figures(quality: &WeightQuality, skeleton: &Skeleton) -> Markup {
    let figures = [
        Some(smoothness(quality)),
        Some(locality(quality, skeleton)),
        Some(stray_weight(quality, skeleton)),
        Some(spurious_maxima(quality)),
        asymmetry(quality),
        Some(sums(quality)),
    ];
    html! {
        dl.columns {
            @for figure in figures.iter().flatten() {
                dt { (figure.name) }
                dd { b { (figure.value) "." } " " (figure.meaning) }
            }
        }
    }
}

fn smoothness(quality: &WeightQuality) -> Figure {
    let smoothness = &quality.smoothness;
    let value = match smoothness.roughness > 0.0 {
        true => format!(
            "{}, roughness {:.1}",
            smoothness.word(),
            smoothness.roughness
        ),
        false => "the same everywhere".to_owned(),
    };
    let rigid = format!("{:.1}", smoothness.rigid_roughness);
    Figure {
        name: "Smoothness",
        value,
        meaning: html! {
            "Bending of the weights over the surface, independent of its size and the number of \
             its triangles. If every vertex followed one joint alone, it would be " (rigid) " here."
        },
    }
}

fn locality(quality: &WeightQuality, skeleton: &Skeleton) -> Figure {
    let locality = &quality.locality;
    Figure {
        name: "Locality",
        value: format!("reach {:.2}", locality.reach),
        meaning: html! {
            "Distance of the bones that hold the skin, relative to the nearest ones: 1 if the \
             nearest bone holds everything."
            @if let Some(far) = locality.farthest {
                " Largest reach: " (format!("{:.2}", far.reach)) ", of the "
                (joint_title(skeleton, far.joint)) "."
            }
            " " (format!("{:.1}", locality.influences)) " influences per vertex on average."
        },
    }
}

fn stray_weight(quality: &WeightQuality, skeleton: &Skeleton) -> Figure {
    let locality = &quality.locality;
    Figure {
        name: "Stray weight",
        value: match locality.stray > 0.0 {
            true => plain_percent(locality.stray),
            false => "none".to_owned(),
        },
        meaning: html! {
            "Weight on islands that are not connected with the rest of what the joint holds."
            @if let Some(most) = locality.most_stray {
                " Most of it: the " (joint_title(skeleton, most.joint)) "."
            }
        },
    }
}

fn spurious_maxima(quality: &WeightQuality) -> Figure {
    let maxima = &quality.monotonicity;
    let joints = match maxima.joints {
        1 => "one joint".to_owned(),
        joints => format!("{joints} joints"),
    };
    Figure {
        name: "Spurious maxima",
        value: match maxima.spurious {
            0 => "none".to_owned(),
            count => format!("{} of {joints}", grouped(count)),
        },
        meaning: html! {
            "Places where a weight rises again by 0.02 or more on the way down from its top. Each \
             pulls at the skin on its own. A joint inside of the trunk may well have one in front \
             and one behind."
        },
    }
}

fn asymmetry(quality: &WeightQuality) -> Option<Figure> {
    let asymmetry = quality.asymmetry?;
    let (mean, most) = (plain_percent(asymmetry.mean), plain_percent(asymmetry.most));
    Some(Figure {
        name: "Asymmetry",
        value: match asymmetry.is_negligible() {
            true => "none".to_owned(),
            false => format!("{mean} on average, {most} at most"),
        },
        meaning: html! {
            "Share of the weight that differs between the left and the right side: the character \
             is symmetric across " (asymmetry.plane.axis_name()) "."
            @if asymmetry.matched < 1.0 {
                " " (plain_percent(asymmetry.matched)) " of its points have a mirror image."
            }
        },
    })
}

fn sums(quality: &WeightQuality) -> Figure {
    let partition = &quality.partition;
    let most = format!("{:.4}", partition.most);
    Figure {
        name: "Sums",
        value: match partition.vertices {
            0 => "1 everywhere".to_owned(),
            1 => format!("off by {most} at one vertex"),
            count => format!("off by up to {most} at {} vertices", grouped(count)),
        },
        meaning: html! { "Sum of the weights of each vertex before normalisation." },
    }
}
