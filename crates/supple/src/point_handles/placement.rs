//! Placement of handles: `arap-point-handles.txt`, §3.3.
//!
//! Between segments, as in the paper: from every vertex at which two segments meet, half of the
//! diameter along the inverse normal; the middle of a cluster of such points is a handle. Posing a
//! character needs two additions. First, a handle at the end of every limb: nothing lies beyond a
//! hand or a head, so no border would ever give a handle to move it. Second, a handle in the middle
//! of long parts of constant thickness, which have no border either: an arm like a tube still gets
//! an elbow, and a bar a middle.

use super::ends::{End, Rings, ends};
use super::facets::Facets;
use super::handle::{HandleKind, PlacedHandle, apart};
use super::mirror::Mirror;
use super::room::Room;
use super::segments::FacetSegments;
use crate::bind::geodesic::InsideDistances;
use crate::bind::oriented_surface::{OrientedSurface, Piece};
use crate::disjoint_sets::DisjointSets;
use glam::DVec3;
use std::collections::BTreeMap;
use std::f64::consts::TAU;

/// Handles between segments.
pub(super) struct Between {
    pub(super) placed: Vec<PlacedHandle>,
    /// The number of limbs that start at each segment.
    limbs_of: Vec<usize>,
}

impl Between {
    /// The largest distance of skin from all handles in every segment, in thicknesses.
    pub(super) fn reach(&self) -> Vec<f64> {
        let reach = |&limbs: &usize| match limbs {
            _ if self.placed.is_empty() => COVERED_EVEN,
            0..3 => COVERED,
            _ => COVERED_TRUNK,
        };
        self.limbs_of.iter().map(reach).collect()
    }
}

/// The input of placement.
pub(super) struct Body<'a> {
    pub(super) shape: &'a OrientedSurface,
    pub(super) facets: &'a Facets,
    pub(super) room: Room<'a>,
    pub(super) segments: &'a FacetSegments,
    pub(super) inside: &'a InsideDistances<'a>,
    /// The thickness of the body at every point.
    pub(super) thickness: Vec<f64>,
    /// The depth of the middle of the body at every point: half the thickness; zero for a sheet.
    pub(super) depth: Vec<f64>,
    /// For each piece, true if it gets handles of its own.
    pub(super) holds: Vec<bool>,
    /// The symmetry of the body.
    pub(super) mirror: Option<Mirror<'a>>,
}

/// Handles nearer than this share of the thickness are merged.
const ONE_HANDLE: f64 = 0.6;

/// The mean direction to a border that surrounds a limb has at most this length: zero for a full
/// ring, one for a spot.
const ONE_SIDED: f64 = 0.6;

/// An end within this many thicknesses of a border's handle needs no handle.
const SHORT_END: f64 = 0.8;

/// The largest distance of skin from all handles, in thicknesses.
const COVERED: f64 = 1.8;

/// The same where three or more limbs start: a trunk is short, but must be held in its middle.
const COVERED_TRUNK: f64 = 1.1;

/// The same in a body of constant thickness: a bar has two ends and a middle.
const COVERED_EVEN: f64 = 1.5;

/// Parts thinner than this share of the body are covered as if they had this thickness: fingers and
/// ears are moved by their roots and ends.
const SLENDER: f64 = 0.03;

/// A plate or a cloth is covered by its width, not by its thickness: this share of the square root
/// of its area.
const PLATE: f64 = 0.3;

/// A border surrounds a limb if its mean distance from its middle is at most this many thicknesses.
/// A collar is larger and does not separate limbs.
const RING: f64 = 1.6;

/// Pieces smaller than this share of the body follow their surroundings: eyes, buttons.
const PIECE: f64 = 0.04;

/// A piece of which at least this share lies close to larger pieces or inside of them is moved by
/// their handles: clothes, belts, teeth.
const CARRIED: f64 = 0.6;

/// The distance that counts as close, at an extent of one.
const CLOSE: f64 = 0.025;

/// The number of rays across a limb to find its middle.
const RAYS_ACROSS: usize = 24;

/// The largest length of such a ray, in thicknesses: rays along a hand into a finger carry no
/// information about the middle of the hand.
const LONGEST_RAY: f64 = 1.2;

/// The number of times that handles are moved to the middle of their limb.
const ROUNDS_TO_MIDDLE: usize = 4;

/// Finds the pieces of a surface that get handles of their own.
pub(super) fn pieces_with_handles(shape: &OrientedSurface) -> Vec<bool> {
    let pieces = &shape.pieces;
    let has_skin = |piece: &Piece| piece.points.len() > 2;
    let skinned = pieces.iter().filter(|piece| has_skin(piece));
    let largest = skinned.map(Piece::extent).fold(0.0, f64::max);
    let area = |piece: &Piece| -> f64 {
        let areas = piece
            .points
            .iter()
            .map(|&point| shape.areas[point as usize]);
        areas.sum()
    };
    let is_large = |piece: &Piece| piece.extent() >= PIECE || piece.extent() >= largest;
    let mut order: Vec<(f64, usize)> = (0..pieces.len())
        .filter(|&piece| has_skin(&pieces[piece]) && is_large(&pieces[piece]))
        .map(|piece| (area(&pieces[piece]), piece))
        .collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut holds = vec![false; pieces.len()];
    for (own_area, piece) in order {
        let is_close = |point: u32| {
            let place = shape.points[point as usize].as_vec3();
            let of_larger = |triangle: u32| holds[shape.piece_of_triangle(triangle) as usize];
            shape.tree.nearest(place, CLOSE as f32, of_larger).is_some()
        };
        // The largest piece cannot lie close to a larger one, so it is not searched.
        let has_larger = holds.contains(&true);
        let points = pieces[piece].points.iter();
        let close = points.filter(|&&point| has_larger && is_close(point));
        let close: f64 = close.map(|&point| shape.areas[point as usize]).sum();
        holds[piece] = close <= CARRIED * own_area;
    }
    holds
}

impl Body<'_> {
    /// The point half a thickness inwards, at most `most`.
    fn inner(&self, point: u32, most: f64) -> DVec3 {
        let point = point as usize;
        let inward = -self.shape.normals[point].normalize_or_zero();
        self.shape.points[point] + inward * self.depth[point].min(most)
    }

    /// Places handles between segments.
    pub(super) fn between(&self) -> Between {
        let segment = |facet: u32| self.segments.of_facets[facet as usize];
        // The borders between pairs of segments, in the order of the segments.
        let mut pairs: BTreeMap<[u32; 2], Vec<usize>> = BTreeMap::new();
        for (index, border) in self.facets.borders.iter().enumerate() {
            let [a, b] = border.facets.map(segment);
            let piece = self.shape.piece_of_triangle(border.facets[0]);
            if a != b && self.holds[piece as usize] {
                pairs.entry([a.min(b), a.max(b)]).or_default().push(index);
            }
        }
        let mut placed = Vec::new();
        let mut limbs_of = vec![0; self.segments.count];
        for (pair, borders) in &pairs {
            for ring in self.rings_of(borders) {
                let middle = self.middle_of_ring(&ring);
                if self.goes_around(&ring, &middle) {
                    placed.push(middle);
                    pair.iter().for_each(|&side| limbs_of[side as usize] += 1);
                }
            }
        }
        placed.extend(self.where_pieces_touch());
        Between {
            placed: self.put_together(placed),
            limbs_of,
        }
    }

    /// Places handles where two pieces touch, like the limbs of a puppet: a joint that thickness
    /// does not show.
    fn where_pieces_touch(&self) -> Vec<PlacedHandle> {
        let shape = self.shape;
        let mut contacts: BTreeMap<[u32; 2], PlacedHandle> = BTreeMap::new();
        if self.holds.iter().filter(|holds| **holds).count() < 2 {
            return Vec::new();
        }
        for (point, &piece) in shape.piece_of.iter().enumerate() {
            if !self.holds[piece as usize] {
                continue;
            }
            let of_another = |triangle: u32| {
                let other = shape.piece_of_triangle(triangle);
                other != piece && self.holds[other as usize]
            };
            let place = shape.points[point];
            let Some(nearest) = shape
                .tree
                .nearest(place.as_vec3(), CLOSE as f32, of_another)
            else {
                continue;
            };
            let other = shape.piece_of_triangle(nearest.triangle);
            let weight = shape.areas[point];
            let contact = contacts
                .entry([piece.min(other), piece.max(other)])
                .or_insert(PlacedHandle {
                    kind: HandleKind::Between,
                    ..PlacedHandle::given(DVec3::ZERO)
                });
            contact.place += place * weight;
            contact.thickness += self.thickness[point] * weight;
            contact.weight += weight;
        }
        let mean = |contact: PlacedHandle| PlacedHandle {
            place: contact.place / contact.weight,
            thickness: contact.thickness / contact.weight,
            ..contact
        };
        let contacts = contacts
            .into_values()
            .filter(|contact| contact.weight > 0.0);
        contacts.map(mean).collect()
    }

    /// Connected edges.
    fn rings_of(&self, borders: &[usize]) -> Vec<Vec<usize>> {
        let mut numbers: BTreeMap<u32, usize> = BTreeMap::new();
        for &border in borders {
            for end in self.facets.borders[border].ends {
                let next = numbers.len();
                numbers.entry(end).or_insert(next);
            }
        }
        let mut sets = DisjointSets::new(numbers.len());
        for &border in borders {
            let [a, b] = self.facets.borders[border].ends.map(|end| numbers[&end]);
            sets.join(a, b);
        }
        let mut rings: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for &border in borders {
            let number = numbers[&self.facets.borders[border].ends[0]];
            rings.entry(sets.find(number)).or_default().push(border);
        }
        rings.into_values().collect()
    }

    fn middle_of_ring(&self, ring: &[usize]) -> PlacedHandle {
        let (mut place, mut thickness, mut weight) = (DVec3::ZERO, 0.0, 0.0);
        for &border in ring {
            let border = &self.facets.borders[border];
            for end in border.ends {
                place += self.inner(end, f64::INFINITY) * border.length;
                thickness += self.thickness[end as usize] * border.length;
                weight += border.length;
            }
        }
        PlacedHandle {
            place: place / weight,
            kind: HandleKind::Between,
            thickness: thickness / weight,
            weight,
        }
    }

    /// True if a ring of edges surrounds a position. A ring to one side of it, such as around a
    /// nose, does not separate limbs.
    fn goes_around(&self, ring: &[usize], middle: &PlacedHandle) -> bool {
        let (mut towards, mut away, mut length) = (DVec3::ZERO, 0.0, 0.0);
        for &border in ring {
            let border = &self.facets.borders[border];
            for end in border.ends {
                let way = self.shape.points[end as usize] - middle.place;
                towards += way.normalize_or_zero() * border.length;
                away += way.length() * border.length;
                length += border.length;
            }
        }
        towards.length() < ONE_SIDED * length && away < RING * middle.thickness * length
    }

    /// Merges handles that are closer than the body is thick, the closest first.
    fn put_together(&self, mut placed: Vec<PlacedHandle>) -> Vec<PlacedHandle> {
        loop {
            let mut nearest: Option<(f64, usize, usize)> = None;
            for a in 0..placed.len() {
                for b in a + 1..placed.len() {
                    let apart = apart(&placed[a], &placed[b]);
                    if apart < ONE_HANDLE && nearest.is_none_or(|(known, ..)| apart < known) {
                        nearest = Some((apart, a, b));
                    }
                }
            }
            let Some((_, a, b)) = nearest else {
                return placed;
            };
            let other = placed.remove(b);
            let one = &mut placed[a];
            let share = other.weight / (one.weight + other.weight);
            one.place = one.place.lerp(other.place, share);
            one.thickness += (other.thickness - one.thickness) * share;
            one.weight += other.weight;
        }
    }

    /// Places handles at the ends of limbs.
    pub(super) fn add_ends(&self, placed: &mut Vec<PlacedHandle>) {
        let rings = Rings::of(self.shape);
        let pieces = self.shape.pieces.iter().zip(&self.holds);
        for (piece, _) in pieces.filter(|(_, holds)| **holds) {
            for end in ends(self.shape, &rings, piece, &self.thickness) {
                let end = self.placed_end(&end);
                if placed.iter().all(|known| apart(known, &end) > SHORT_END) {
                    placed.push(end);
                }
            }
        }
    }

    fn placed_end(&self, end: &End) -> PlacedHandle {
        let (mut place, mut weight) = (DVec3::ZERO, 0.0);
        for &point in &end.points {
            let area = self.shape.areas[point as usize];
            place += self.inner(point, 0.5 * end.thickness) * area;
            weight += area;
        }
        let place = match weight > 0.0 {
            true => place / weight,
            false => self.inner(end.points[0], 0.5 * end.thickness),
        };
        PlacedHandle {
            place,
            kind: HandleKind::End,
            thickness: end.thickness,
            weight,
        }
    }

    /// Places handles along long parts, where the skin is farthest from all others, until
    /// everything is covered or `most` were tried. `reach` is the largest distance of skin in every
    /// segment; distances are relative to it.
    pub(super) fn add_along(
        &self,
        placed: &mut Vec<PlacedHandle>,
        reach: &[f64],
        most: usize,
        enough: impl Fn(usize, f64) -> bool,
    ) {
        let reach = self.reach_at_points(reach);
        let counts = |point: u32| self.holds[self.shape.piece_of[point as usize] as usize];
        let mut open: Vec<u32> = (0..self.shape.points.len() as u32)
            .filter(|&point| counts(point) && reach[point as usize] > 0.0)
            .collect();
        for _ in 0..most {
            let places: Vec<DVec3> = placed.iter().map(|handle| handle.place).collect();
            let distances = self.inside.at_points(&self.inside.away_from(&places));
            let away = |point: u32| distances[point as usize] / reach[point as usize];
            let farther = |best: u32, next: u32| match away(next) > away(best) {
                true => next,
                false => best,
            };
            let Some(farthest) = open.iter().copied().reduce(farther) else {
                return;
            };
            if enough(placed.len(), away(farthest)) {
                return;
            }
            let mut added = self.around(farthest);
            if let Some(mirror) = &self.mirror {
                added = mirror.snapped(added);
            }
            // Its surroundings are covered, even without a path inside the body, as behind eyelids.
            let place = self.shape.points[farthest as usize];
            let near = |point: u32| self.shape.points[point as usize].distance(place);
            open.retain(|&point| near(point) >= added.thickness && point != farthest);
            if added.is_taken(placed) {
                continue;
            }
            placed.push(added);
            let image = self.mirror.as_ref().and_then(|mirror| mirror.image(&added));
            let image = image.filter(|image| {
                let is_new = |known: &PlacedHandle| apart(known, image) > ONE_HANDLE;
                !enough(placed.len(), f64::INFINITY)
                    && placed.iter().all(is_new)
                    && !image.is_taken(placed)
            });
            placed.extend(image);
        }
    }

    /// Moves handles at ends and along limbs to the middle of the limb, perpendicular to the
    /// pseudo-edges through them. Where three edges meet or edges bend sharply, there is no such
    /// direction; the middle of a border is already in place.
    pub(super) fn center(&self, placed: &mut [PlacedHandle], edges: &[[usize; 2]]) {
        // Nearer to the middle, rays see more of the limb, and edges are more nearly parallel to
        // it.
        for _ in 0..ROUNDS_TO_MIDDLE {
            let mut ways = vec![Vec::new(); placed.len()];
            for &[a, b] in edges {
                let way = (placed[b].place - placed[a].place).normalize_or_zero();
                ways[a].push(way);
                ways[b].push(-way);
            }
            for (handle, ways) in placed.iter_mut().zip(ways) {
                let along = match ways[..] {
                    [way] => way,
                    [one, other] if one.dot(other) < 0.0 => (one - other).normalize_or_zero(),
                    _ => continue,
                };
                let moves = matches!(handle.kind, HandleKind::End | HandleKind::Along);
                if along == DVec3::ZERO || !moves {
                    continue;
                }
                let middle = self.middle_across(handle, along);
                if self.shape.is_inside(middle) {
                    handle.place = middle;
                }
            }
        }
    }

    /// The middle of the cross-section of a limb at a handle.
    fn middle_across(&self, handle: &PlacedHandle, along: DVec3) -> DVec3 {
        let (aside, above) = along.any_orthonormal_pair();
        let longest = LONGEST_RAY * handle.thickness;
        // Slightly off in both directions: on the plane of a symmetric body, rays would run along
        // edges of the mesh and slip through between its triangles.
        let start = handle.place + along * (0.013 * handle.thickness);
        let ray = |ray: usize| {
            let (sine, cosine) = (TAU * (ray as f64 + 0.37) / RAYS_ACROSS as f64).sin_cos();
            let direction = aside * cosine + above * sine;
            let start = start.as_vec3();
            let way_out = self
                .shape
                .tree
                .way_out(start, direction.as_vec3(), |_| true);
            let length = way_out.map_or(longest, |way_out| f64::from(way_out.distance));
            direction * length.min(longest)
        };
        let rays: Vec<DVec3> = (0..RAYS_ACROSS).map(ray).collect();
        let (mut middle, mut area) = (DVec3::ZERO, 0.0);
        for (index, &one) in rays.iter().enumerate() {
            let next = rays[(index + 1) % RAYS_ACROSS];
            let part = one.cross(next).length();
            middle += (one + next) / 3.0 * part;
            area += part;
        }
        match area > 0.0 {
            true => handle.place + middle / area,
            false => handle.place,
        }
    }

    /// The largest distance of every point from all handles, by the mean thickness of its segment:
    /// a nose may be as far away as its head.
    fn reach_at_points(&self, reach: &[f64]) -> Vec<f64> {
        let mut sums = vec![(0.0, 0.0); self.segments.count];
        let corners = self.shape.triangles.iter();
        for (facet, corners) in corners.enumerate() {
            let (sum, area) = &mut sums[self.segments.of_facets[facet] as usize];
            let thick = corners.map(|corner| self.thickness[corner as usize]);
            *sum += self.facets.areas[facet] * thick.iter().sum::<f64>() / 3.0;
            *area += self.facets.areas[facet];
        }
        let of_facet = |&segment: &u32| {
            let (sum, area) = sums[segment as usize];
            let thickness = if area > 0.0 { sum / area } else { 0.0 };
            let by_thickness = reach[segment as usize] * thickness.max(SLENDER);
            by_thickness.max(PLATE * area.sqrt())
        };
        let of_facets: Vec<f64> = self.segments.of_facets.iter().map(of_facet).collect();
        self.facets.at_points(self.shape, &of_facets)
    }

    /// A handle in the middle of the limb at a point.
    fn around(&self, point: u32) -> PlacedHandle {
        let thickness = self.thickness[point as usize];
        let middle = self.inner(point, f64::INFINITY);
        let piece = &self.shape.pieces[self.shape.piece_of[point as usize] as usize];
        let (mut place, mut weight) = (DVec3::ZERO, 0.0);
        for &other in &piece.points {
            let inner = self.inner(other, f64::INFINITY);
            if inner.distance(middle) < 0.5 * thickness {
                let area = self.shape.areas[other as usize];
                place += inner * area;
                weight += area;
            }
        }
        PlacedHandle {
            place: if weight > 0.0 { place / weight } else { middle },
            kind: HandleKind::Along,
            thickness,
            weight,
        }
    }

    /// Reduces the number of handles: repeatedly merges the two nearest, with the remaining one
    /// between them.
    pub(super) fn thin_out(&self, placed: &mut Vec<PlacedHandle>, count: usize) {
        if count == 0 {
            placed.clear();
        }
        while placed.len() > count {
            let mut nearest = (f64::INFINITY, 0, 1);
            for a in 0..placed.len() {
                for b in a + 1..placed.len() {
                    let apart = apart(&placed[a], &placed[b]);
                    if apart < nearest.0 {
                        nearest = (apart, a, b);
                    }
                }
            }
            let (_, a, b) = nearest;
            let other = placed.remove(b);
            let one = &mut placed[a];
            // An end stays an end.
            match (one.kind, other.kind) {
                (HandleKind::End, HandleKind::Between | HandleKind::Along) => {}
                (HandleKind::Between | HandleKind::Along, HandleKind::End) => *one = other,
                _ => {
                    one.place = one.place.lerp(other.place, 0.5);
                    one.thickness = 0.5 * (one.thickness + other.thickness);
                }
            }
        }
    }

    /// Moves handles that are outside, such as the middle of a curved border, to the middle of the
    /// nearest limb or onto the nearest sheet. Returns their number.
    pub(super) fn move_inside(&self, placed: &mut [PlacedHandle]) -> usize {
        let mut moved = 0;
        for handle in placed {
            if self.room.has(handle.place) {
                continue;
            }
            let Some(nearest) = self.room.nearest_skin(handle.place) else {
                continue;
            };
            let corners = self.shape.triangles[nearest.triangle as usize];
            let heaviest = (0..3).max_by(|&a, &b| nearest.shares[a].total_cmp(&nearest.shares[b]));
            let point = corners[heaviest.unwrap_or(0)];
            // As deep as needed to be inside: the normal of a corner may lead past a thin part.
            let depths = [f64::INFINITY, 0.25, 0.1, 0.03, 0.01];
            let depth = |share: f64| self.inner(point, share * self.thickness[point as usize]);
            let facet = nearest.triangle as usize;
            let below = |share: f64| {
                let depth = share.min(0.5) * self.thickness[point as usize];
                self.facets.centers[facet] - self.facets.normals[facet] * depth
            };
            let candidates = depths
                .iter()
                .flat_map(|&share| [depth(share), below(share)])
                .chain([nearest.point.as_dvec3()]);
            let mut candidates = candidates.filter(|place| self.room.has(*place));
            if let Some(place) = candidates.next() {
                handle.place = place;
                moved += 1;
            }
        }
        moved
    }
}
