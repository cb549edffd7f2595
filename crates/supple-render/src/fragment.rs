//! Fragments: what one pixel shows of one smooth piece of surface.
//!
//! Light is computed per fragment rather than per sample: most pixels need one, silhouettes and
//! creases two or three, however many triangles they hold.

use crate::light::SURFACE_LIFT;
use crate::raster::{NEAR, NOTHING, Projected, Samples};
use crate::receiver::Receiver;
use crate::scene::Wireframe;
use crate::stage::{Lens, Stage};
use glam::{Vec2, Vec3};

/// Pieces of a pixel whose normals differ by more (as a cosine) are lit apart.
const SAME_NORMAL: f32 = 0.9;

/// Pieces of a pixel farther apart than this many pixels are lit apart.
const SAME_PLACE: f32 = 4.0;

/// Half the width of a wire, in pixels.
pub(crate) const WIRE_HALF_WIDTH: f32 = 0.45;

/// A piece of surface in a pixel.
#[derive(Clone, Copy)]
pub(crate) struct Fragment {
    /// Index of the pixel within the band.
    pub pixel: usize,
    /// The share of the pixel that it fills.
    pub coverage: f32,
    /// On the smooth surface that the triangles stand for, with the normal on the viewer's side.
    pub receiver: Receiver,
    /// The direction towards the viewer, of unit length.
    pub toward_eye: Vec3,
    pub color: Vec3,
    /// The share of wire in it.
    pub ink: f32,
}

/// Cuts a band of samples into fragments, ordered by pixel.
pub(crate) fn cut(
    samples: &Samples,
    stage: &Stage,
    projected: &Projected,
    lens: &Lens,
    wireframe: Wireframe,
) -> Vec<Fragment> {
    let axis = samples.per_axis;
    let share = 1.0 / (axis * axis) as f32;
    let places: Vec<Vec2> = (0..axis * axis)
        .map(|i| samples.place_in_pixel(i % axis, i / axis).into())
        .collect();
    let all_places: Vec2 = places.iter().sum();
    let mut fragments: Vec<Fragment> = Vec::new();
    let mut pieces: Vec<(u32, f32, Vec2)> = Vec::with_capacity(axis * axis);
    for row in 0..samples.rows {
        for column in samples.drawn_pixels() {
            pieces.clear();
            // Most pixels are filled by a single triangle, or by none.
            match samples.only_triangle(column, row) {
                Some(NOTHING) => continue,
                Some(triangle) => pieces.push((triangle, (axis * axis) as f32, all_places)),
                None => gather_pieces(samples, (column, row), &places, &mut pieces),
            }
            let first = fragments.len();
            for &(triangle, count, places) in &pieces {
                let corner = Vec2::new(column as f32, (samples.first_row + row) as f32);
                let at = corner + places / count;
                let piece = Fragment {
                    pixel: row * lens.width + column,
                    coverage: count * share,
                    ..fragment_at(stage, projected, lens, triangle, at, wireframe)
                };
                let pixel_size = (piece.receiver.position - lens.eye).length() / lens.height as f32;
                let reach = SAME_PLACE * pixel_size;
                let alike = fragments[first..].iter_mut().find(|other| {
                    other.receiver.normal.dot(piece.receiver.normal) > SAME_NORMAL
                        && other
                            .receiver
                            .position
                            .distance_squared(piece.receiver.position)
                            < reach * reach
                });
                match alike {
                    Some(other) => other.join(&piece),
                    None => fragments.push(piece),
                }
            }
        }
    }
    fragments
}

/// Counts the samples of each triangle in a pixel, and adds up their places.
fn gather_pieces(
    samples: &Samples,
    (column, row): (usize, usize),
    places: &[Vec2],
    pieces: &mut Vec<(u32, f32, Vec2)>,
) {
    for (&triangle, &place) in samples.of_pixel(column, row).zip(places) {
        if triangle == NOTHING {
            continue;
        }
        match pieces.iter_mut().find(|piece| piece.0 == triangle) {
            Some(piece) => {
                piece.1 += 1.0;
                piece.2 += place;
            }
            None => pieces.push((triangle, 1.0, place)),
        }
    }
}

impl Fragment {
    fn join(&mut self, other: &Fragment) {
        let coverage = self.coverage + other.coverage;
        let share = other.coverage / coverage;
        self.coverage = coverage;
        let Receiver {
            position, normal, ..
        } = &mut self.receiver;
        *position = position.lerp(other.receiver.position, share);
        *normal = normal
            .lerp(other.receiver.normal, share)
            .normalize_or(*normal);
        self.color = self.color.lerp(other.color, share);
        self.ink += (other.ink - self.ink) * share;
    }
}

/// The fragment of a triangle at a point of the picture.
fn fragment_at(
    stage: &Stage,
    projected: &Projected,
    lens: &Lens,
    triangle: u32,
    at: Vec2,
    wireframe: Wireframe,
) -> Fragment {
    let corners = stage.triangles[triangle as usize].map(|corner| corner as usize);
    // Moving the point to the origin keeps small triangles far from it precise.
    let pixels = corners.map(|corner| {
        let pixel = projected.pixels[corner];
        (pixel.truncate() - at * pixel.z).extend(pixel.z)
    });
    let shares = perspective_shares(pixels);
    let blend = |values: &[Vec3]| -> Vec3 { (0..3).map(|i| values[corners[i]] * shares[i]).sum() };

    let [a, b, c] = corners.map(|corner| stage.positions[corner]);
    let position = blend(&stage.positions);
    let toward_eye = (lens.eye - position).normalize_or(Vec3::Z);
    let facet = (b - a).cross(c - a).normalize_or(toward_eye);
    let facet = if facet.dot(toward_eye) < 0.0 {
        -facet
    } else {
        facet
    };
    let smooth = blend(&stage.normals).normalize_or(facet);
    // Normals may point inwards (mirrored models) or belong to the other side of a sheet.
    let flip = if smooth.dot(facet) < 0.0 { -1.0 } else { 1.0 };

    // A flat triangle lies below the smooth surface that its normals describe, and would be
    // shadowed by itself where that surface is still in the light: lift the point onto the
    // planes of the corners.
    let lifted = (0..3).map(|i| {
        let normal = stage.normals[corners[i]] * flip;
        let below = (position - stage.positions[corners[i]])
            .dot(normal)
            .min(0.0);
        (position - normal * below) * shares[i]
    });
    Fragment {
        pixel: 0,
        coverage: 0.0,
        receiver: Receiver {
            position: lifted.sum(),
            normal: smooth * flip,
            lift: SURFACE_LIFT,
        },
        toward_eye,
        color: blend(&stage.colors),
        ink: match wireframe {
            Wireframe::Hidden => 0.0,
            Wireframe::Shown => ink_at(pixels),
        },
    }
}

/// The share of each corner at the origin of homogeneous pixels, correct in perspective.
fn perspective_shares(pixels: [Vec3; 3]) -> [f32; 3] {
    let [a, b, c] = pixels.map(Vec3::truncate);
    let shares = [b.perp_dot(c), c.perp_dot(a), a.perp_dot(b)];
    let sum: f32 = shares.iter().sum();
    if sum == 0.0 {
        return [1.0 / 3.0; 3];
    }
    // The point may lie a little outside of a sliver.
    let shares = shares.map(|share| (share / sum).clamp(0.0, 1.0));
    let sum: f32 = shares.iter().sum();
    if sum > 0.0 {
        shares.map(|share| share / sum)
    } else {
        [1.0 / 3.0; 3]
    }
}

/// The darkness of a triangle's wires at the origin.
fn ink_at(pixels: [Vec3; 3]) -> f32 {
    if pixels.iter().any(|pixel| pixel.z < NEAR) {
        return 0.0;
    }
    let points = pixels.map(|pixel| pixel.truncate() / pixel.z);
    let mut nearest = f32::INFINITY;
    let mut longest = 0.0f32;
    for i in 0..3 {
        let (a, b) = (points[i], points[(i + 1) % 3]);
        let length = a.distance(b);
        if length > 0.0 {
            nearest = nearest.min(a.perp_dot(b).abs() / length);
            longest = longest.max(length);
        }
    }
    if longest == 0.0 {
        return 0.0;
    }
    let doubled_area = (points[1] - points[0])
        .perp_dot(points[2] - points[0])
        .abs();
    // Where triangles are only a few pixels high, full lines would turn the surface black.
    let crowding = ((doubled_area / longest - 0.5) / 5.0).clamp(0.1, 1.0);
    (WIRE_HALF_WIDTH + 0.5 - nearest).clamp(0.0, 1.0) * crowding
}
