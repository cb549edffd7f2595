//! Control mesh of a subdivision surface: a cage of quads.
//!
//! Characters are modelled as people model them by hand: rings of points, joined by bands of quads,
//! closed by caps. A band may leave out quads, and a limb then starts at the rim of that hole, so
//! that arms, legs, fingers and thumbs grow out of one closed surface. [`super::subdivision`] makes
//! it smooth.

use crate::merging::merge_by_key;
use glam::DVec3;
use std::f64::consts::TAU;
use std::ops::Range;

/// The joints that hold a point, and how much each does.
pub(super) type Influences = Vec<(usize, f64)>;

/// For bands and strips that leave out no quad.
pub(super) const NO_HOLE: Range<usize> = 0..0;

/// Points, the joints that hold them, and the quads between them, counter-clockwise seen from
/// outside.
#[derive(Default)]
pub(super) struct Cage {
    pub(super) points: Vec<DVec3>,
    pub(super) influences: Vec<Influences>,
    pub(super) quads: Vec<[usize; 4]>,
    /// The mirror image of every point; empty for a cage that is not symmetric.
    pub(super) mirror: Vec<usize>,
}

impl Cage {
    pub(super) fn add(&mut self, point: DVec3, influences: Influences) -> usize {
        self.points.push(point);
        self.influences.push(influences);
        self.points.len() - 1
    }

    /// Adds points that one blend of joints holds.
    pub(super) fn add_ring(
        &mut self,
        points: impl IntoIterator<Item = DVec3>,
        influences: &Influences,
    ) -> Vec<usize> {
        let add = |point| self.add(point, influences.clone());
        points.into_iter().map(add).collect()
    }

    /// Quads between two open rows of equal length, but for the columns that `hole` names.
    ///
    /// With the surface seen from outside, `from` runs to the right and `to` is above it.
    pub(super) fn strip(&mut self, from: &[usize], to: &[usize], hole: Range<usize>) {
        let columns = from.len().min(to.len()).saturating_sub(1);
        for i in (0..columns).filter(|i| !hole.contains(i)) {
            self.quads.push([from[i], from[i + 1], to[i + 1], to[i]]);
        }
    }

    /// Quads between two closed rings of equal length, but for the columns that `hole` names.
    pub(super) fn band(&mut self, from: &[usize], to: &[usize], hole: Range<usize>) {
        let close =
            |ring: &[usize]| -> Vec<usize> { ring.iter().chain(ring.first()).copied().collect() };
        self.strip(&close(from), &close(to), hole);
    }

    /// Closes a ring of 12 points by a grid of 4 × 2 quads, whose middle row stands out by `bulge`.
    ///
    /// Points 0 to 4 of the ring are one long side, 6 to 10 the other.
    pub(super) fn cap(&mut self, ring: &[usize], bulge: DVec3, influences: &Influences) {
        let near = &ring[..5];
        let far: Vec<usize> = ring[6..11].iter().rev().copied().collect();
        let middle = self.middle_of_cap(ring, bulge, influences);
        self.strip(near, &middle, NO_HOLE);
        self.strip(&middle, &far, NO_HOLE);
    }

    /// The middle row of the grid that closes a ring, its ends on the ring included.
    pub(super) fn middle_of_cap(
        &mut self,
        ring: &[usize],
        bulge: DVec3,
        influences: &Influences,
    ) -> Vec<usize> {
        let inner = [1, 2, 3].map(|i| {
            let point = (self.points[ring[i]] + self.points[ring[10 - i]]) * 0.5;
            self.add(point + bulge, influences.clone())
        });
        vec![ring[11], inner[0], inner[1], inner[2], ring[5]]
    }

    /// A closed rod along an axis: rings by their place on it, radius and roundness, from one end
    /// to the other. `side × up` points against the axis.
    pub(super) fn rod(
        axis: DVec3,
        side: DVec3,
        up: DVec3,
        rings: impl Iterator<Item = (f64, f64, f64)>,
    ) -> Cage {
        let mut cage = Cage::default();
        let rings: Vec<Vec<usize>> = rings
            .map(|(place, radius, roundness)| {
                let section = Section {
                    center: axis * place,
                    side,
                    up,
                    radii: [radius; 4],
                    roundness,
                };
                cage.add_ring(
                    section.ring(5.0 / 12.0, -1.0 / 12.0, 12),
                    &Influences::new(),
                )
            })
            .collect();
        for pair in rings.windows(2) {
            cage.band(&pair[0], &pair[1], NO_HOLE);
        }
        if let [first, .., last] = &rings[..] {
            cage.cap(last, DVec3::ZERO, &Influences::new());
            // Seen from the other end, the ring runs the other way.
            let turned: Vec<usize> = (0..12).map(|i| first[(16 - i) % 12]).collect();
            cage.cap(&turned, DVec3::ZERO, &Influences::new());
        }
        cage
    }

    /// Joins this half, which has its rim in the plane x = 0, with its mirror image.
    ///
    /// `opposite` is the joint on the other side for every joint; points of the rim are held evenly
    /// from both sides.
    pub(super) fn with_mirror_image(mut self, opposite: &[usize]) -> Cage {
        const ON_PLANE: f64 = 1e-6;
        let half = self.points.len();
        self.mirror = (0..half).collect();
        for i in 0..half {
            let image: Influences = self.influences[i]
                .iter()
                .map(|&(joint, weight)| (opposite[joint], weight))
                .collect();
            let point = self.points[i];
            if point.x.abs() < ON_PLANE {
                self.points[i].x = 0.0;
                self.influences[i].extend(image);
                for (_, weight) in &mut self.influences[i] {
                    *weight *= 0.5;
                }
            } else {
                self.mirror[i] = self.add(DVec3::new(-point.x, point.y, point.z), image);
                self.mirror.push(i);
            }
        }
        let mirrored = |quad: &[usize; 4]| {
            let [a, b, c, d] = quad.map(|corner| self.mirror[corner]);
            [b, a, d, c]
        };
        let images: Vec<_> = self.quads.iter().map(mirrored).collect();
        self.quads.extend(images);
        self
    }

    /// Blends the influences of every point with its neighbours', `rounds` times; `softness` says
    /// how far, from 0 to 1.
    pub(super) fn soften(&mut self, rounds: usize, softness: impl Fn(DVec3) -> f64) {
        let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); self.points.len()];
        for quad in &self.quads {
            for corner in 0..4 {
                // Each edge is met once in each direction, so each neighbour once.
                neighbours[quad[corner]].push(quad[(corner + 1) % 4]);
            }
        }
        let softness: Vec<f64> = self.points.iter().map(|&p| softness(p)).collect();
        for _ in 0..rounds {
            let before = self.influences.clone();
            for (point, row) in self.influences.iter_mut().enumerate() {
                let share = softness[point] / neighbours[point].len().max(1) as f64;
                if share <= 0.0 {
                    continue;
                }
                row.iter_mut()
                    .for_each(|(_, w)| *w *= 1.0 - softness[point]);
                for &neighbour in &neighbours[point] {
                    row.extend(before[neighbour].iter().map(|&(j, w)| (j, w * share)));
                }
                merge_by_key(row, |entry| entry.0, |first, later| first.1 += later.1);
            }
        }
    }
}

/// A cross-section of a limb: an oval with four radii in the plane of two axes.
#[derive(Clone, Copy)]
pub(super) struct Section {
    pub(super) center: DVec3,
    pub(super) side: DVec3,
    pub(super) up: DVec3,
    /// Towards `side`, away from it, towards `up`, away from it.
    pub(super) radii: [f64; 4],
    /// The exponent of the superellipse: 1 is an ellipse, less is boxier.
    pub(super) roundness: f64,
}

impl Section {
    /// The point at an angle in turns, from `side` towards `up`.
    pub(super) fn at(&self, turns: f64) -> DVec3 {
        let (sine, cosine) = (turns * TAU).sin_cos();
        let axis = |x: f64, [positive, negative]: [f64; 2]| {
            let radius = if x > 0.0 { positive } else { negative };
            x.signum() * x.abs().powf(self.roundness) * radius
        };
        let [right, left, up, down] = self.radii;
        self.center + self.side * axis(cosine, [right, left]) + self.up * axis(sine, [up, down])
    }

    /// `count` points around, the first at an angle of `start` turns, each `step` turns further.
    pub(super) fn ring(&self, start: f64, step: f64, count: usize) -> Vec<DVec3> {
        (0..count)
            .map(|i| self.at(start + step * i as f64))
            .collect()
    }
}

/// The blend along a chain of joints at a distance along it.
///
/// `chain` is (joint, distance at which it takes over, half of the length over which it does), in
/// rising order; the first joint's distance does not matter.
pub(super) fn along_chain(chain: &[(usize, f64, f64)], distance: f64) -> Influences {
    let taken_over = |link: usize| match chain.get(link) {
        Some(&(_, at, half)) => smooth_step((distance - at + half) / (2.0 * half)),
        None => 0.0,
    };
    let mut rest = 1.0;
    let mut influences = Influences::new();
    for (link, &(joint, ..)) in chain.iter().enumerate() {
        let beyond = rest * taken_over(link + 1);
        if rest - beyond > 0.0 {
            influences.push((joint, rest - beyond));
        }
        rest = beyond;
    }
    influences
}

/// Moves a share of all influences over to one joint.
pub(super) fn transfer_share(influences: &mut Influences, joint: usize, share: f64) {
    influences.iter_mut().for_each(|(_, w)| *w *= 1.0 - share);
    influences.push((joint, share));
}

/// 0 below 0, 1 above 1, and level at both ends.
pub(super) fn smooth_step(x: f64) -> f64 {
    let x = x.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}
