//! Mirroring weights between left and right.
//!
//! Joints are paired by their names (`.L` and `.R`, `Left` and `Right`, in any case and at any place of the name), else by their places in the bind pose; a joint on the plane is its own counterpart. A
//! point takes the weights of the surface at its mirror image: those of a vertex where there is one, else of the nearest point of a triangle. Points on the plane
//! take the mean of their weights and the mirrored ones.
//!
//! A piece of the surface that reaches over the plane is its own mirror image, and a piece beside it is that of another one beside it, if there is one in the mirrored place: so a lid does not take
//! the weights of an eye that it touches.

use super::row::{Row, blend, merged};
use super::{Change, EditError, Editor};
use crate::exec;
use crate::skeleton::{BindBone, Skeleton};
use crate::weights::Weights;
use glam::DVec3;
use std::collections::{HashMap, HashSet};

/// Across which direction it is mirrored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Axis {
    /// Left and right, as characters mostly stand.
    #[default]
    X,
    /// Up and down.
    Y,
    /// Front and back.
    Z,
}

impl Axis {
    /// x, y or z.
    pub fn name(self) -> &'static str {
        match self {
            Axis::X => "x",
            Axis::Y => "y",
            Axis::Z => "z",
        }
    }

    fn index(self) -> usize {
        match self {
            Axis::X => 0,
            Axis::Y => 1,
            Axis::Z => 2,
        }
    }
}

/// Whose weights count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MirrorSource {
    /// Those on the side of larger coordinates.
    #[default]
    Positive,
    /// Those on the side of smaller coordinates.
    Negative,
    /// Of each joint, the heavier of the two sides.
    Heavier,
}

/// How weights are mirrored.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mirror {
    /// Across which direction.
    pub axis: Axis,
    /// From where.
    pub source: MirrorSource,
    /// Where the mirror stands on the axis; without it, in the middle of the joints that are paired by name, else of the surface.
    pub plane: Option<f64>,
}

/// Points are each other's mirror image, or on the plane, if they are so to this share of the extent: files round.
const SAME_POINT: f64 = 2e-5;

/// A piece is in the mirrored place of another if it is so near, as a share of the extent.
const SAME_PIECE: f64 = 5e-3;

/// The same for joints, which people place by hand.
const SAME_JOINT: f64 = 5e-3;

impl Editor {
    pub(super) fn mirror(
        &self,
        weights: &Weights,
        points: &[u32],
        mirror: &Mirror,
    ) -> Result<Change, EditError> {
        let axis = mirror.axis.index();
        let Some(bounds) = self.mesh.bounds() else {
            return self.change(weights, []);
        };
        let extent = f64::from(bounds.extent());
        let bones = self.skeleton.bind_bones();
        let by_name = pairs_by_name(&self.skeleton);
        let plane = match mirror.plane {
            Some(plane) if !plane.is_finite() => {
                return Err(EditError::Number {
                    what: "plane of a mirror",
                    expected: "finite",
                    found: plane,
                });
            }
            Some(plane) => plane,
            None => middle_of_pairs(&by_name, &bones, axis)
                .unwrap_or_else(|| f64::from(bounds.center()[axis])),
        };
        let glass = Glass { axis, plane };
        let counterparts = glass.pair(by_name, &bones, SAME_JOINT * extent);
        let looks = Looks {
            glass,
            source: mirror.source,
            spans: self.pieces_over(glass, SAME_POINT * extent),
            same_point: SAME_POINT * extent,
            same_piece: SAME_PIECE * extent,
        };
        let images = exec::map_chunks(points.len(), |chunk| {
            let images = points[chunk].iter();
            let images = images.map(|&point| {
                let image = self.image_of(weights, point as usize, &looks)?;
                Some((point, image))
            });
            images.collect::<Vec<_>>()
        });
        let mut rows = Vec::with_capacity(points.len());
        for (point, image) in images.into_iter().flatten().flatten() {
            let mut mirrored = Row::with_capacity(image.seen.len());
            for (joint, share) in image.seen {
                let other = counterparts[usize::from(joint)];
                let other = other.ok_or_else(|| EditError::NoCounterpart {
                    joint: self.skeleton.joint_name(usize::from(joint)).to_owned(),
                    axis: mirror.axis.name(),
                    plane,
                })?;
                mirrored.push((other as u16, share));
            }
            let mirrored = merged(mirrored);
            let row = match image.own {
                None => mirrored,
                Some((own, Joining::Mean)) => blend([(&own, 0.5), (&mirrored, 0.5)]),
                Some((own, Joining::Heavier)) => heavier(own, mirrored),
            };
            rows.push((point, row));
        }
        self.change(weights, rows)
    }

    /// The pieces that have points on both sides of the mirror.
    fn pieces_over(&self, glass: Glass, tolerance: f64) -> HashSet<u32> {
        let on_side = |sign: f64| -> HashSet<u32> {
            let points = self.pieces.iter().enumerate();
            let there =
                points.filter(|&(point, _)| sign * glass.side(self.fans.place(point)) > tolerance);
            there.map(|(_, &piece)| piece).collect()
        };
        on_side(1.0).intersection(&on_side(-1.0)).copied().collect()
    }

    /// What a point sees in the mirror; nothing if it is to stay as it is.
    fn image_of(&self, weights: &Weights, point: usize, looks: &Looks) -> Option<Image> {
        let glass = looks.glass;
        let place = self.fans.place(point);
        let side = glass.side(place);
        let own = || self.row(weights, point);
        if side.abs() <= looks.same_point {
            return Some(Image {
                seen: own(),
                own: Some((own(), Joining::Mean)),
            });
        }
        let own = match looks.source {
            MirrorSource::Positive if side > 0.0 => return None,
            MirrorSource::Negative if side < 0.0 => return None,
            MirrorSource::Heavier => Some((own(), Joining::Heavier)),
            _ => None,
        };
        let mirrored = glass.mirrored(place);
        let point_of = |corner: u32| self.weld.point_of(corner as usize);
        let corner_place = |corner: u32| self.fans.place(point_of(corner));
        let beyond = |corners: [u32; 3]| {
            let side_of = |corner: u32| -side.signum() * glass.side(corner_place(corner));
            corners
                .into_iter()
                .any(|corner| side_of(corner) >= -looks.same_point)
        };
        let piece = self.pieces[point];
        let spans = looks.spans.contains(&piece);
        let of_kind = |corners: [u32; 3]| {
            let other = self.pieces[point_of(corners[0])];
            beyond(corners) && (other == piece || !spans && !looks.spans.contains(&other))
        };
        let at = mirrored.as_vec3();
        let counterpart = self.surface.nearest(at, of_kind);
        let counterpart = counterpart.filter(|there| spans || there.distance <= looks.same_piece);
        let there = counterpart.or_else(|| self.surface.nearest(at, beyond))?;
        let away = |corner: u32| corner_place(corner).distance(mirrored);
        let nearest = there.corners.into_iter();
        let nearest = nearest.min_by(|&a, &b| away(a).total_cmp(&away(b)))?;
        let row_of = |corner: u32| self.row(weights, point_of(corner));
        let seen = if away(nearest) <= looks.same_point {
            row_of(nearest)
        } else {
            there.row(row_of)
        };
        Some(Image { seen, own })
    }
}

/// How points look into the mirror.
struct Looks {
    glass: Glass,
    source: MirrorSource,
    /// The pieces that reach over the plane.
    spans: HashSet<u32>,
    same_point: f64,
    same_piece: f64,
}

/// What is seen in the mirror, its joints still those of the other side.
struct Image {
    seen: Row,
    /// What it joins with, and how.
    own: Option<(Row, Joining)>,
}

enum Joining {
    Mean,
    Heavier,
}

/// Of each joint the larger share; not normalised.
fn heavier(own: Row, mirrored: Row) -> Row {
    let mut row: Row = own.into_iter().chain(mirrored).collect();
    row.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
    row.dedup_by_key(|entry| entry.0);
    row
}

/// Where a mirror stands.
#[derive(Clone, Copy)]
struct Glass {
    axis: usize,
    plane: f64,
}

impl Glass {
    /// How far in front of the mirror a place is, or behind it.
    fn side(self, place: DVec3) -> f64 {
        place[self.axis] - self.plane
    }

    fn mirrored(self, mut place: DVec3) -> DVec3 {
        place[self.axis] = 2.0 * self.plane - place[self.axis];
        place
    }

    /// The counterpart of every joint: by name, itself on the plane, else the one in its mirrored place, if each is the other's nearest.
    fn pair(
        self,
        by_name: Vec<Option<usize>>,
        bones: &[BindBone],
        tolerance: f64,
    ) -> Vec<Option<usize>> {
        let mut pairs = by_name;
        let on_plane = |bone: &BindBone| self.side(bone.head).abs() <= tolerance;
        for (joint, bone) in bones.iter().enumerate() {
            if pairs[joint].is_none() && on_plane(bone) {
                pairs[joint] = Some(joint);
            }
        }
        let alone: Vec<usize> = (0..bones.len())
            .filter(|&joint| pairs[joint].is_none())
            .collect();
        let nearest = |joint: usize| {
            let [head, tail] = [bones[joint].head, bones[joint].tail].map(|at| self.mirrored(at));
            // Joints that share a place are told apart by where their bones end.
            let away = |other: usize| {
                let bone = &bones[other];
                bone.head.distance(head) + bone.tail.distance(tail)
            };
            let others = alone.iter().copied().filter(|&other| other != joint);
            let near = others.filter(|&other| bones[other].head.distance(head) <= tolerance);
            near.min_by(|&a, &b| away(a).total_cmp(&away(b)))
        };
        let found: Vec<Option<usize>> = alone.iter().map(|&joint| nearest(joint)).collect();
        let nearest_of: HashMap<usize, Option<usize>> =
            alone.iter().copied().zip(found.iter().copied()).collect();
        for (&joint, &other) in alone.iter().zip(&found) {
            pairs[joint] = other.filter(|other| nearest_of.get(other) == Some(&Some(joint)));
        }
        pairs
    }
}

/// The middle one of the middles of pairs, on an axis.
fn middle_of_pairs(pairs: &[Option<usize>], bones: &[BindBone], axis: usize) -> Option<f64> {
    let middles = pairs.iter().enumerate().filter_map(|(joint, other)| {
        let other = (*other)?;
        Some(0.5 * (bones[joint].head[axis] + bones[other].head[axis]))
    });
    let mut middles: Vec<f64> = middles.collect();
    let middle = middles.len() / 2;
    (!middles.is_empty()).then(|| *middles.select_nth_unstable_by(middle, f64::total_cmp).1)
}

/// The joint of the other side for every joint whose name says on which side it is.
fn pairs_by_name(skeleton: &Skeleton) -> Vec<Option<usize>> {
    let names: Vec<&str> = (0..skeleton.joints().len())
        .map(|joint| skeleton.joint_name(joint))
        .collect();
    let mut named: HashMap<String, Vec<usize>> = HashMap::new();
    for (joint, name) in names.iter().enumerate() {
        named.entry(name.to_lowercase()).or_default().push(joint);
    }
    let counterpart = |(joint, name): (usize, &&str)| {
        // A node may be bound in several ways: the first is paired with the first.
        let own = named.get(&name.to_lowercase())?;
        let place = own.iter().position(|&other| other == joint)?;
        let mut others = names_of_other_side(name).into_iter();
        others.find_map(|other| named.get(&other)?.get(place).copied())
    };
    names.iter().enumerate().map(counterpart).collect()
}

/// Names that the counterpart may have, in lower case: every mark of a side turned to the other side, then each one alone.
///
/// Any name may be tried, since only one that exists counts: "bright" finds no "bleft".
fn names_of_other_side(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let lower: Vec<char> = name.chars().flat_map(char::to_lowercase).collect();
    if letters.len() != lower.len() {
        return Vec::new();
    }
    // Where a mark begins, how long it is, and what it becomes.
    let mut marks: Vec<(usize, usize, &str)> = Vec::new();
    let mut at = 0;
    while at < lower.len() {
        let words = [
            ("left", "right"),
            ("right", "left"),
            ("lft", "rgt"),
            ("rgt", "lft"),
        ];
        let word = words
            .into_iter()
            .find(|(word, _)| starts_with(&lower[at..], word));
        let single = match lower[at] {
            'l' if stands_alone(&letters, at) => Some(("l", "r")),
            'r' if stands_alone(&letters, at) => Some(("r", "l")),
            _ => None,
        };
        match word.or(single) {
            Some((mark, other)) => {
                marks.push((at, mark.len(), other));
                at += mark.len();
            }
            None => at += 1,
        }
    }
    let turned = |marks: &[(usize, usize, &str)]| {
        let mut turned = String::new();
        let mut next = 0;
        for &(at, length, other) in marks {
            turned.extend(&lower[next..at]);
            turned += other;
            next = at + length;
        }
        turned.extend(&lower[next..]);
        turned
    };
    match marks.len() {
        0 => Vec::new(),
        1 => vec![turned(&marks)],
        _ => std::iter::once(turned(&marks))
            .chain(marks.iter().map(|&mark| turned(&[mark])))
            .collect(),
    }
}

fn starts_with(letters: &[char], word: &str) -> bool {
    letters.len() >= word.len() && word.chars().zip(letters).all(|(a, &b)| a == b)
}

/// A letter that is a word: nothing but signs and digits around it, or a change of case (`LArm`, `armL`).
fn stands_alone(letters: &[char], at: usize) -> bool {
    let letter = letters[at];
    let before = at.checked_sub(1).map(|before| letters[before]);
    let after = letters.get(at + 1);
    let free_before = before.is_none_or(|before| {
        !before.is_alphabetic() || (before.is_lowercase() && letter.is_uppercase())
    });
    let free_after = after.is_none_or(|after| !after.is_alphabetic() || after.is_uppercase());
    free_before && free_after
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_find_their_counterparts() {
        for (name, other) in [
            ("hand.L", "hand.r"),
            ("Arm_r", "arm_l"),
            ("mixamorig:LeftForeArm", "mixamorig:rightforearm"),
            ("l_thumb_01", "r_thumb_01"),
            ("thumb_L_01", "thumb_r_01"),
            ("shoulderR", "shoulderl"),
            ("RCalf", "lcalf"),
            ("Bip01 L Hand", "bip01 r hand"),
            ("eye.left.001", "eye.right.001"),
            ("lft_knee", "rgt_knee"),
            ("leg-R", "leg-l"),
        ] {
            assert_eq!(names_of_other_side(name)[0], other, "{name}");
        }
        for middle in ["spine", "Pelvis", "collar", "rib", "ball"] {
            assert_eq!(names_of_other_side(middle), [""; 0], "{middle}");
        }
        assert_eq!(
            names_of_other_side("arm_L_right"),
            ["arm_r_left", "arm_r_right", "arm_l_left"]
        );
    }

    #[test]
    fn places_pair_what_names_do_not() {
        let bone = |x: f64, y: f64| BindBone {
            head: DVec3::new(x, y, 0.0),
            tail: DVec3::new(x, y + 1.0, 0.0),
        };
        let bones = [
            bone(0.5, 0.0),
            bone(1.5, 0.0),
            bone(-0.5, 0.0),
            bone(3.0, 0.0),
            bone(2.0, 5.0),
        ];
        let glass = Glass {
            axis: 0,
            plane: 0.5,
        };
        let by_name = vec![None, None, None, Some(4), Some(3)];
        assert_eq!(
            glass.pair(by_name, &bones, 1e-3),
            [Some(0), Some(2), Some(1), Some(4), Some(3)]
        );
        let alone = glass.pair(vec![None; 5], &bones, 1e-3);
        assert_eq!(alone, [Some(0), Some(2), Some(1), None, None]);
    }
}
