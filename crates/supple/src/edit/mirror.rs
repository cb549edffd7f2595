//! Mirroring weights between left and right.
//!
//! [`Symmetry`] finds the partners of joints and vertices. A point takes the weights of the surface
//! at its mirror image: those of its partner, or else of the nearest point of a triangle. Points on
//! the plane take the mean of their own and the mirrored weights.
//!
//! A piece of the surface that crosses the plane is its own mirror image. A piece beside the plane
//! maps to another piece beside it, if there is one at the mirrored position: so an eyelid does not
//! take the weights of the eye that it touches.

use super::row::{Row, blend, merged};
use super::{Change, EditError, Editor, OnSurface, check_number};
use crate::exec;
use crate::symmetry::{MirrorPlane, Symmetry};
use crate::weights::Weights;
use glam::DVec3;
use std::collections::HashSet;
use std::fmt;

/// The axis across which weights are mirrored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Axis {
    /// Left and right, for most characters.
    #[default]
    X,
    /// Up and down.
    Y,
    /// Front and back.
    Z,
}

impl Axis {
    fn name(self) -> &'static str {
        match self {
            Axis::X => "x",
            Axis::Y => "y",
            Axis::Z => "z",
        }
    }

    fn direction(self) -> DVec3 {
        match self {
            Axis::X => DVec3::X,
            Axis::Y => DVec3::Y,
            Axis::Z => DVec3::Z,
        }
    }
}

impl fmt::Display for Axis {
    /// Writes `x`, `y` or `z`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The side whose weights are mirrored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum MirrorSource {
    /// The side of larger coordinates.
    #[default]
    Positive,
    /// The side of smaller coordinates.
    Negative,
    /// For each joint, the heavier of both sides.
    Heavier,
}

/// Options of mirroring.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Mirror {
    /// The axis.
    pub axis: Axis,
    /// The source.
    pub source: MirrorSource,
    /// The position of the mirror plane on the axis; without it, the plane that [`Symmetry::along`]
    /// finds.
    pub plane: Option<f64>,
}

/// The largest distance of a piece from the mirrored position of another, relative to the extent.
const SAME_PIECE: f64 = 5e-3;

impl Editor {
    pub(super) fn mirror(
        &self,
        weights: &Weights,
        points: &[u32],
        mirror: &Mirror,
    ) -> Result<Change, EditError> {
        let Some(symmetry) = self.symmetry(mirror)? else {
            return self.change(weights, []);
        };
        let extent = f64::from(self.mesh.extent());
        let looks = Looks {
            source: mirror.source,
            spans: self.pieces_over(&symmetry),
            same_piece: SAME_PIECE * extent,
            symmetry: &symmetry,
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
                let other = symmetry.joint_partner(usize::from(joint));
                let other = other.ok_or_else(|| EditError::NoCounterpart {
                    joint: self.skeleton.joint_label(usize::from(joint)),
                    axis: mirror.axis.name(),
                    plane: symmetry.plane().offset,
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

    /// The partners across the mirror plane; none without a surface.
    fn symmetry(&self, mirror: &Mirror) -> Result<Option<Symmetry>, EditError> {
        let (mesh, skeleton) = (&self.mesh, &self.skeleton);
        let normal = mirror.axis.direction();
        let Some(offset) = mirror.plane else {
            return Ok(Symmetry::along(mesh, skeleton, normal));
        };
        check_number(
            "the plane of a mirror",
            offset,
            f64::MIN..=f64::MAX,
            "finite",
        )?;
        let plane = MirrorPlane { normal, offset };
        Ok(Some(Symmetry::across(mesh, skeleton, plane)))
    }

    /// The pieces with points on both sides of the mirror plane.
    fn pieces_over(&self, symmetry: &Symmetry) -> HashSet<u32> {
        let on_side = |sign: f64| -> HashSet<u32> {
            let points = self.pieces.iter().enumerate();
            let there = points.filter(|&(point, _)| {
                let place = self.fans.place(point);
                sign * symmetry.plane().side(place) > 0.0 && !symmetry.is_on_plane(place)
            });
            there.map(|(_, &piece)| piece).collect()
        };
        on_side(1.0).intersection(&on_side(-1.0)).copied().collect()
    }

    /// The mirror image of a point; none if the point stays unchanged.
    fn image_of(&self, weights: &Weights, point: usize, looks: &Looks) -> Option<Image> {
        let place = self.fans.place(point);
        let side = looks.symmetry.plane().side(place);
        let own = || self.row(weights, point);
        if looks.symmetry.is_on_plane(place) {
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
        let partner = looks
            .symmetry
            .vertex_partner(self.vertices.row(point)[0] as usize);
        let partner = partner.map(|vertex| self.weld.point_of(vertex));
        let partner =
            partner.filter(|&other| looks.are_alike(self.pieces[point], self.pieces[other]));
        let seen = match partner {
            Some(partner) => self.row(weights, partner),
            None => {
                let there = self.nearest_image(point, looks)?;
                there.row(|corner| self.row(weights, self.weld.point_of(corner as usize)))
            }
        };
        Some(Image { seen, own })
    }

    /// The surface nearest to the mirror image of a point, first on a piece of the same kind.
    fn nearest_image(&self, point: usize, looks: &Looks) -> Option<OnSurface> {
        let plane = looks.symmetry.plane();
        let place = self.fans.place(point);
        let side = plane.side(place);
        let image = plane.mirrored(place).as_vec3();
        let point_of = |corner: u32| self.weld.point_of(corner as usize);
        let is_behind = |corner: u32| {
            let place = self.fans.place(point_of(corner));
            plane.side(place) * side <= 0.0 || looks.symmetry.is_on_plane(place)
        };
        let behind = |corners: [u32; 3]| corners.into_iter().any(is_behind);
        let piece = self.pieces[point];
        let of_kind = |corners: [u32; 3]| {
            behind(corners) && looks.are_alike(piece, self.pieces[point_of(corners[0])])
        };
        let near = self.surface.nearest(image, of_kind);
        let near =
            near.filter(|there| looks.spans.contains(&piece) || there.distance <= looks.same_piece);
        near.or_else(|| self.surface.nearest(image, behind))
    }
}

/// The search for mirror images.
struct Looks<'a> {
    symmetry: &'a Symmetry,
    source: MirrorSource,
    /// The pieces that cross the plane.
    spans: HashSet<u32>,
    same_piece: f64,
}

impl Looks<'_> {
    /// True if a piece may be the mirror image of another: a piece that crosses the plane is its
    /// own image, a piece beside it maps to another piece beside it.
    fn are_alike(&self, piece: u32, other: u32) -> bool {
        let spans = |piece: u32| self.spans.contains(&piece);
        piece == other || (!spans(piece) && !spans(other))
    }
}

/// A mirror image, with the joints of the other side.
struct Image {
    seen: Row,
    /// The point's own row and its combination with the image, if it is kept.
    own: Option<(Row, Joining)>,
}

enum Joining {
    Mean,
    Heavier,
}

/// The larger share of each joint; not normalised.
fn heavier(own: Row, mirrored: Row) -> Row {
    let mut row: Row = own.into_iter().chain(mirrored).collect();
    row.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
    row.dedup_by_key(|entry| entry.0);
    row
}
