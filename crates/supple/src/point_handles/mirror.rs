//! Symmetric handles on both sides of a symmetric body.

use super::handle::PlacedHandle;
use super::room::Room;
use crate::symmetry::MirrorPlane;

/// A handle nearer to the plane than this share of the thickness lies on the plane.
const ON_PLANE: f64 = 0.3;

/// Two handles are a pair if one is nearer to the mirror image of the other than this share of the
/// thickness.
const PAIR: f64 = 1.0;

/// The two sides of a body.
pub(super) struct Mirror<'a> {
    pub(super) plane: MirrorPlane,
    /// A symmetric body may have a pocket on one side only.
    pub(super) room: Room<'a>,
}

impl Mirror<'_> {
    /// The handle on the other side; none on the plane, or if the other side has no body there.
    pub(super) fn image(&self, handle: &PlacedHandle) -> Option<PlacedHandle> {
        let image = PlacedHandle {
            place: self.plane.mirrored(handle.place),
            ..*handle
        };
        (!self.is_on_plane(handle) && self.room.has(image.place)).then_some(image)
    }

    /// The handle, moved onto the plane if it is near.
    pub(super) fn snapped(&self, handle: PlacedHandle) -> PlacedHandle {
        let flat = PlacedHandle {
            place: handle.place - self.plane.normal * self.plane.side(handle.place),
            ..handle
        };
        match self.is_on_plane(&handle) && self.room.has(flat.place) {
            true => flat,
            false => handle,
        }
    }

    fn is_on_plane(&self, handle: &PlacedHandle) -> bool {
        self.plane.side(handle.place).abs() < ON_PLANE * handle.thickness
    }

    /// Moves handles near the plane onto it, and nearly symmetric pairs to exactly symmetric
    /// positions. Returns the image of each handle, itself on the plane.
    pub(super) fn pair(&self, placed: &mut [PlacedHandle]) -> Vec<Option<usize>> {
        let mut partners = vec![None; placed.len()];
        for (index, handle) in placed.iter_mut().enumerate() {
            if self.is_on_plane(handle) {
                *handle = self.snapped(*handle);
                partners[index] = Some(index);
            }
        }
        let mut pairs = Vec::new();
        for (a, one) in placed.iter().enumerate() {
            let image = self.plane.mirrored(one.place);
            for (b, other) in placed.iter().enumerate().skip(a + 1) {
                let apart = image.distance(other.place);
                if apart < PAIR * one.thickness.min(other.thickness) {
                    pairs.push((apart, a, b));
                }
            }
        }
        pairs.sort_by(|one, other| one.0.total_cmp(&other.0));
        for (_, a, b) in pairs {
            if partners[a].is_some() || partners[b].is_some() {
                continue;
            }
            let between = placed[a]
                .place
                .lerp(self.plane.mirrored(placed[b].place), 0.5);
            let both = [between, self.plane.mirrored(between)];
            let both = [a, b].map(|side| PlacedHandle {
                place: both[usize::from(side == b)],
                thickness: 0.5 * (placed[a].thickness + placed[b].thickness),
                ..placed[side]
            });
            if both.iter().all(|side| self.room.has(side.place)) {
                [placed[a], placed[b]] = both;
            }
            partners[a] = Some(b);
            partners[b] = Some(a);
        }
        partners
    }

    /// Pairs handles, and adds the missing images.
    pub(super) fn complete(&self, placed: &mut Vec<PlacedHandle>) {
        let partners = self.pair(placed);
        let alone = partners.iter().zip(placed.clone());
        let alone = alone.filter(|(partner, _)| partner.is_none());
        placed.extend(alone.filter_map(|(_, handle)| self.image(&handle)));
    }
}
