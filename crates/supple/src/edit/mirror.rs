//! Mirroring weights between left and right.
//!
//! Which joints and which vertices are each other's mirror image, [`Symmetry`] tells. A point takes
//! the weights of the surface at its mirror image: those of its partner where it has one, else of
//! the nearest point of a triangle. Points on the plane take the mean of their weights and the
//! mirrored ones.
//!
//! A piece of the surface that reaches over the plane is its own mirror image, and a piece beside
//! it is that of another one beside it, if there is one in the mirrored place: so a lid does not
//! take the weights of an eye that it touches.

use super::row::{Row, blend, merged};
use super::{Change, EditError, Editor, OnSurface, check_number};
use crate::exec;
use crate::symmetry::{MirrorPlane, Symmetry};
use crate::weights::Weights;
use glam::DVec3;
use std::collections::HashSet;

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

    fn direction(self) -> DVec3 {
        match self {
            Axis::X => DVec3::X,
            Axis::Y => DVec3::Y,
            Axis::Z => DVec3::Z,
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
    /// Where the mirror stands on the axis; without it, where [`Symmetry::along`] finds it.
    pub plane: Option<f64>,
}

/// A piece is in the mirrored place of another if it is so near, as a share of the extent.
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
        let bounds = self.mesh.bounds();
        let extent = bounds.map_or(0.0, |bounds| f64::from(bounds.extent()));
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

    /// Who is whose mirror image; nothing where there is no surface.
    fn symmetry(&self, mirror: &Mirror) -> Result<Option<Symmetry>, EditError> {
        let (mesh, skeleton) = (&self.mesh, &self.skeleton);
        let normal = mirror.axis.direction();
        let Some(offset) = mirror.plane else {
            return Ok(Symmetry::along(mesh, skeleton, normal));
        };
        check_number("plane of a mirror", offset, f64::MIN..=f64::MAX, "finite")?;
        let plane = MirrorPlane { normal, offset };
        Ok(Some(Symmetry::across(mesh, skeleton, plane)))
    }

    /// The pieces that have points on both sides of the mirror.
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

    /// What a point sees in the mirror; nothing if it is to stay as it is.
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

    /// Where the surface behind the mirror is nearest to the mirror image of a point: first on a
    /// piece of the same kind.
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

/// How points look into the mirror.
struct Looks<'a> {
    symmetry: &'a Symmetry,
    source: MirrorSource,
    /// The pieces that reach over the plane.
    spans: HashSet<u32>,
    same_piece: f64,
}

impl Looks<'_> {
    /// Whether a piece may be the mirror image of another: one that reaches over the plane is its
    /// own, one beside it that of another beside it.
    fn are_alike(&self, piece: u32, other: u32) -> bool {
        let spans = |piece: u32| self.spans.contains(&piece);
        piece == other || (!spans(piece) && !spans(other))
    }
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
