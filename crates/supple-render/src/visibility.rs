//! The side from which some triangles can be seen best.

use crate::camera::{Camera, View};
use glam::Vec3;
use std::collections::HashSet;
use supple::exec;

/// Cells along one side of the small pictures by which views are compared.
const CELLS: usize = 56;

/// The weight of a surface seen from its back, relative to its front: from inside a body there is
/// little to see.
const FROM_BEHIND: f64 = 0.1;

/// The least volume of a closed surface over its area^(3/2). A ball has 0.094; a sheet has none.
const LEAST_VOLUME: f64 = 1e-3;

/// Triangles are cut off nearer to the eye than this share of the framed radius.
const NEAREST: f64 = 1e-3;

/// Searches for the view that shows most of some triangles, counting what hides them.
#[derive(Clone, Copy, Debug)]
pub struct ViewSearch<'a> {
    /// Everything that can be seen: first one surface, then what may hide it.
    pub triangles: &'a [[Vec3; 3]],
    /// The number of triangles of the surface, which determine inside and outside; the others
    /// follow. At most all of them.
    pub surface: usize,
    /// Indices of the triangles to be seen; those of no triangle are ignored.
    pub wanted: &'a [usize],
    /// The points that the picture frames.
    pub framed: &'a [Vec3],
    /// Width over height of the picture.
    pub aspect: f64,
}

impl ViewSearch<'_> {
    /// The best of 36 views around the framed points: the visible area of the wanted triangles,
    /// times `preference`, and slightly more for the front and for eye level.
    pub fn best(&self, preference: impl Fn(View) -> f64 + Sync) -> View {
        let views: Vec<View> = [10.0, -12.0, 38.0]
            .iter()
            .flat_map(|&pitch| {
                (0..12).map(move |turn| View {
                    yaw_degrees: 32.0 + 30.0 * f64::from(turn),
                    pitch_degrees: pitch,
                })
            })
            .collect();
        let mut is_wanted = vec![false; self.triangles.len()];
        for &triangle in self.wanted {
            if let Some(is_wanted) = is_wanted.get_mut(triangle) {
                *is_wanted = true;
            }
        }
        let front = front(&self.triangles[..self.surface.min(self.triangles.len())]);
        let (triangles, is_wanted) = without_copies(self.triangles, &is_wanted);
        let scores = exec::map(views.len(), |index| {
            let view = views[index];
            let camera = Camera::framing(self.framed.iter().copied(), view, self.aspect);
            let cells = visible_cells(&triangles, &is_wanted, front, &camera, self.aspect);
            cells * preference(view) * familiarity(view)
        });
        let mut best = (views[0], 0.0);
        for (view, score) in views.into_iter().zip(scores) {
            if score > best.1 {
                best = (view, score);
            }
        }
        best.0
    }
}

/// The triangles without those whose corners are at the places of one before: nothing is seen of
/// them, and thousands of large ones would take minutes.
fn without_copies(triangles: &[[Vec3; 3]], is_wanted: &[bool]) -> (Vec<[Vec3; 3]>, Vec<bool>) {
    let mut known = HashSet::with_capacity(triangles.len());
    let mut is_new = |corners: &[Vec3; 3]| {
        let bits = corners.map(|corner| corner.to_array().map(f32::to_bits));
        known.insert(bits)
    };
    let both = triangles.iter().copied().zip(is_wanted.iter().copied());
    both.filter(|(corners, _)| is_new(corners)).unzip()
}

/// Prefers the front and eye level a little.
fn familiarity(view: View) -> f64 {
    let front = view.yaw_degrees.to_radians().cos();
    1.0 + 0.15 * front - 0.004 * (view.pitch_degrees - 10.0).abs()
}

/// The orientation of triangles seen from outside: 1 counter-clockwise, -1 clockwise, 0 for a
/// surface without an inside.
fn front(triangles: &[[Vec3; 3]]) -> f64 {
    let Some([middle, ..]) = triangles
        .first()
        .map(|corners| corners.map(|c| c.as_dvec3()))
    else {
        return 0.0;
    };
    let (mut volume, mut area) = (0.0, 0.0);
    for corners in triangles {
        let [a, b, c] = corners.map(|corner| corner.as_dvec3() - middle);
        volume += a.dot(b.cross(c)) / 6.0;
        area += 0.5 * (b - a).cross(c - a).length();
    }
    match volume.abs() > LEAST_VOLUME * area.powf(1.5) {
        true => volume.signum(),
        false => 0.0,
    }
}

/// A corner as seen: where it is in a small picture, and one over its distance, which is linear
/// over the picture.
type Corner = [f64; 3];

/// A cell of a small picture: one over its distance, and its weight.
type Cell = (f64, f64);

/// The number of cells of a small picture that show wanted triangles rather than others, or
/// nothing.
fn visible_cells(
    triangles: &[[Vec3; 3]],
    is_wanted: &[bool],
    front: f64,
    camera: &Camera,
    aspect: f64,
) -> f64 {
    let mut nearest: Vec<Cell> = vec![(0.0, 0.0); CELLS * CELLS];
    let least = NEAREST * camera.radius;
    for (corners, &wanted) in triangles.iter().zip(is_wanted) {
        let distances = corners.map(|corner| camera.distance(corner));
        if !distances.iter().any(|&distance| distance > least) {
            continue;
        }
        // What reaches behind the eye is cut off just before it.
        let mut visible: Vec<Corner> = Vec::with_capacity(4);
        for (index, &corner) in corners.iter().enumerate() {
            let next = (index + 1) % 3;
            if distances[index] > least {
                visible.extend(projected(camera, aspect, corner));
            }
            if (distances[index] > least) != (distances[next] > least) {
                let share = (least - distances[index]) / (distances[next] - distances[index]);
                let cut = corner.as_dvec3().lerp(corners[next].as_dvec3(), share);
                visible.extend(projected(camera, aspect, cut.as_vec3()));
            }
        }
        for index in 2..visible.len() {
            let corners = [visible[0], visible[index - 1], visible[index]];
            splat(corners, wanted, front, &mut nearest);
        }
    }
    nearest.iter().map(|cell| cell.1).sum()
}

fn projected(camera: &Camera, aspect: f64, point: Vec3) -> Option<Corner> {
    let (x, y) = camera.project(point, aspect)?;
    let cells = CELLS as f64;
    Some([x * cells, y * cells, 1.0 / camera.distance(point)])
}

/// Marks the cells whose middle a triangle covers, where it is the nearest.
fn splat([a, b, c]: [Corner; 3], wanted: bool, front: f64, nearest: &mut [Cell]) {
    let area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    if !area.is_finite() || area.abs() < 1e-12 {
        return;
    }
    // Pictures count downwards, which turns the clock around.
    let counts = match (wanted, area * front > 0.0) {
        (false, _) => 0.0,
        (true, true) => FROM_BEHIND,
        (true, false) => 1.0,
    };
    let range = |axis: usize| {
        let (low, high) = (
            a[axis].min(b[axis]).min(c[axis]),
            a[axis].max(b[axis]).max(c[axis]),
        );
        let first = (low - 0.5).ceil().clamp(0.0, CELLS as f64) as usize;
        let end = ((high - 0.5).floor() + 1.0).clamp(0.0, CELLS as f64) as usize;
        first..end
    };
    for row in range(1) {
        for column in range(0) {
            let (x, y) = (column as f64 + 0.5, row as f64 + 0.5);
            let share =
                |p: Corner, q: Corner| ((p[0] - x) * (q[1] - y) - (p[1] - y) * (q[0] - x)) / area;
            let (of_a, of_b, of_c) = (share(b, c), share(c, a), share(a, b));
            if of_a < 0.0 || of_b < 0.0 || of_c < 0.0 {
                continue;
            }
            let nearness = of_a * a[2] + of_b * b[2] + of_c * c[2];
            let cell = &mut nearest[row * CELLS + column];
            if nearness > cell.0 {
                *cell = (nearness, counts);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_triangle_that_reaches_behind_the_eye_hides_what_is_in_front_of_it() {
        let square = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
        let [a, b, c, d] = square.map(|[x, y]| Vec3::new(x, y, 0.0));
        let view = View {
            yaw_degrees: 0.0,
            pitch_degrees: 0.0,
        };
        let camera = Camera::framing([a, b, c, d], view, 1.0);
        let eye = camera.eye.as_vec3();
        assert!(eye.z > 1.0, "the camera is at {eye}");
        let target = [[a, b, c], [a, c, d]];
        let plain = visible_cells(&target, &[true; 2], 1.0, &camera, 1.0);
        assert!(plain > 0.5 * (CELLS * CELLS) as f64, "{plain}");
        let inside = visible_cells(&target, &[true; 2], -1.0, &camera, 1.0);
        assert!(inside < 0.2 * plain, "a body seen from inside: {inside}");
        let far = 40.0 * eye.z;
        let wall = [
            Vec3::new(-far, -far, 0.5 * eye.z),
            Vec3::new(far, -far, 0.5 * eye.z),
            Vec3::new(0.0, 3.0 * far, 2.0 * eye.z),
        ];
        let hidden = visible_cells(
            &[target[0], target[1], wall],
            &[true, true, false],
            1.0,
            &camera,
            1.0,
        );
        assert_eq!(hidden, 0.0);
    }

    #[test]
    fn only_the_first_of_several_copies_counts() {
        let [a, b] = [
            [Vec3::ZERO, Vec3::X, Vec3::Y],
            [Vec3::ZERO, Vec3::Y, Vec3::X],
        ];
        let (triangles, is_wanted) = without_copies(&[a, b, a, b], &[false, true, true, true]);
        assert_eq!(triangles, [a, b], "two sides are two");
        assert_eq!(is_wanted, [false, true]);
    }
}
