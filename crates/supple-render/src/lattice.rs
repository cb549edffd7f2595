//! Light between points: computed on a lattice of pixels, and interpolated where that is as good.
//!
//! Most of a picture shows smooth surfaces in light that changes steadily. Cells of the lattice
//! that hold an edge, a crease or a detail of their own are divided, and so are those whose light
//! bends. What is left, most of it along outlines and the borders of shadows, is computed point by
//! point. A cell lies within one band of rows, so that bands stay independent of each other.

use crate::receiver::{Arriving, Receiver};
use glam::Vec3;

/// The widths of cells in pixels, the coarsest first; each divides the one before.
const STEPS: [usize; 3] = [8, 4, NARROWEST];
const NARROWEST: usize = 2;

/// Within a smooth cell, normals differ by less than this from those interpolated from the corners.
const SAME_NORMAL: f32 = 0.04;

/// Within a smooth cell, points are closer than this to those interpolated from the corners, as a
/// share of the distance of neighbouring pixels.
const SAME_PLACE: f32 = 0.5;

/// The light in the middle of a cell differs by less than this from that interpolated from the
/// corners.
const STEADY: f32 = 0.006;

/// The light at the corners of a cell differs by less than this, for each pixel of its width.
const STEEPEST: f32 = 0.02;

/// No point, or several of them.
const NONE: u32 = u32::MAX;

/// Points of a band of rows, and the cells that show one smooth piece of surface each.
pub(crate) struct Lattice<'a> {
    points: &'a [(usize, Receiver)],
    width: usize,
    rows: usize,
    /// True if all points lie on one plane.
    is_plane: bool,
    /// The only point of each pixel.
    at: Vec<u32>,
    /// For each of the steps, the smooth cells with their corners.
    smooth: Vec<Vec<(Cell, [usize; 4])>>,
}

/// A rectangle between the centers of pixels.
#[derive(Clone, Copy)]
struct Cell {
    left: usize,
    right: usize,
    top: usize,
    bottom: usize,
}

impl<'a> Lattice<'a> {
    /// Sorts out points in rows of `width` pixels, ordered by their pixels, with which they come.
    pub fn on_surfaces(points: &'a [(usize, Receiver)], width: usize) -> Lattice<'a> {
        Lattice::new(points, width, false)
    }

    /// Sorts out points like [`Lattice::on_surfaces`] where all lie on one plane.
    pub fn on_plane(points: &'a [(usize, Receiver)], width: usize) -> Lattice<'a> {
        Lattice::new(points, width, true)
    }

    fn new(points: &'a [(usize, Receiver)], width: usize, is_plane: bool) -> Lattice<'a> {
        let rows = points.last().map_or(0, |&(pixel, _)| pixel / width + 1);
        let mut at = vec![NONE; rows * width];
        let mut previous = None;
        for (index, &(pixel, _)) in points.iter().enumerate() {
            at[pixel] = if previous == Some(pixel) {
                NONE
            } else {
                index as u32
            };
            previous = Some(pixel);
        }
        let mut lattice = Lattice {
            points,
            width,
            rows,
            is_plane,
            at,
            smooth: Vec::new(),
        };
        lattice.find_smooth_cells();
        lattice
    }

    /// The light of all points: of those on the lattice by `gather`, and of those between which it
    /// cannot be interpolated by `gather_rest`.
    pub fn light(
        &self,
        gather: impl Fn(&[Receiver]) -> Vec<Arriving>,
        gather_rest: impl Fn(&[(usize, Receiver)]) -> Vec<Arriving>,
    ) -> Vec<Arriving> {
        let mut light = vec![None; self.points.len()];
        for (step, cells) in STEPS.into_iter().zip(&self.smooth) {
            self.refine(cells, step, &mut light, &gather);
        }
        let rest: Vec<usize> = (0..light.len())
            .filter(|&point| light[point].is_none())
            .collect();
        let points: Vec<_> = rest.iter().map(|&point| self.points[point]).collect();
        for (point, arriving) in rest.into_iter().zip(gather_rest(&points)) {
            light[point] = Some(arriving);
        }
        light.into_iter().map(Option::unwrap_or_default).collect()
    }

    /// Interpolates light over cells of a width, where it changes steadily and is not yet known.
    fn refine(
        &self,
        cells: &[(Cell, [usize; 4])],
        step: usize,
        light: &mut [Option<Arriving>],
        gather: &impl Fn(&[Receiver]) -> Vec<Arriving>,
    ) {
        let is_unknown = |point: &usize| light[*point].is_none();
        let open: Vec<_> = cells
            .iter()
            .filter(|(cell, _)| {
                cell.pixels()
                    .any(|at| self.point(at).as_ref().is_some_and(is_unknown))
            })
            .collect();
        let mut wanted: Vec<usize> = Vec::new();
        for &&(cell, corners) in &open {
            wanted.extend(corners.iter().filter(|point| is_unknown(point)));
            // The middle of the narrowest cells is nearly all that there is to interpolate.
            let middle = self.point(cell.middle()).filter(|_| step > NARROWEST);
            wanted.extend(middle.filter(is_unknown));
        }
        wanted.sort_unstable();
        wanted.dedup();
        let receivers: Vec<_> = wanted.iter().map(|&point| self.points[point].1).collect();
        for (point, arriving) in wanted.into_iter().zip(gather(&receivers)) {
            light[point] = Some(arriving);
        }
        for &&(cell, corners) in &open {
            self.interpolate(cell, corners, STEEPEST * step as f32, light);
        }
    }

    /// Interpolates light over a cell, if it changes steadily and by no more than `most`.
    fn interpolate(
        &self,
        cell: Cell,
        corners: [usize; 4],
        most: f32,
        light: &mut [Option<Arriving>],
    ) {
        let [Some(a), Some(b), Some(c), Some(d)] = corners.map(|corner| light[corner]) else {
            return;
        };
        let diffuse = [a.diffuse, b.diffuse, c.diffuse, d.diffuse];
        let low = diffuse.into_iter().fold(Vec3::INFINITY, Vec3::min);
        let high = diffuse.into_iter().fold(Vec3::NEG_INFINITY, Vec3::max);
        let middle = cell.middle();
        let bend = match self.point(middle).and_then(|point| light[point]) {
            Some(arriving) => arriving.diffuse - between(diffuse, cell.shares(middle)),
            None => Vec3::ZERO,
        };
        if (high - low).max_element() > most || bend.abs().max_element() > STEADY {
            return;
        }
        let unblocked = [a.unblocked, b.unblocked, c.unblocked, d.unblocked];
        let key = [a.key, b.key, c.key, d.key].map(Vec3::splat);
        for at in cell.pixels() {
            let unknown = self.point(at).filter(|&point| light[point].is_none());
            if let Some(point) = unknown {
                let shares = cell.shares(at);
                light[point] = Some(Arriving {
                    diffuse: between(diffuse, shares),
                    unblocked: between(unblocked, shares),
                    key: between(key, shares).x,
                });
            }
        }
    }

    /// Finds the cells of all widths that show one smooth piece of surface.
    fn find_smooth_cells(&mut self) {
        // A part of what is smooth is smooth.
        let mut known = Vec::new();
        for step in STEPS {
            let columns = self.width.div_ceil(step);
            let mut is_smooth = vec![false; columns * self.rows.div_ceil(step)];
            let mut cells = Vec::new();
            for (top, bottom) in spans(self.rows, step) {
                for (left, right) in spans(self.width, step) {
                    let cell = Cell {
                        left,
                        right,
                        top,
                        bottom,
                    };
                    let Some(corners) = self.corners(cell) else {
                        continue;
                    };
                    let in_smooth = known.last().is_some_and(|(step, columns, smooth)| {
                        let smooth: &Vec<bool> = smooth;
                        smooth[top / step * columns + left / step]
                    });
                    if in_smooth || self.is_smooth(cell, corners) {
                        is_smooth[top / step * columns + left / step] = true;
                        cells.push((cell, corners));
                    }
                }
            }
            known.push((step, columns, is_smooth));
            self.smooth.push(cells);
        }
    }

    /// True if all pixels of a cell show one smooth piece of surface.
    fn is_smooth(&self, cell: Cell, corners: [usize; 4]) -> bool {
        if self.is_plane {
            return cell.pixels().all(|at| self.point(at).is_some());
        }
        let corners = corners.map(|corner| self.points[corner].1);
        let positions = corners.map(|corner| corner.position);
        let normals = corners.map(|corner| corner.normal);
        let [a, b, c, _] = positions;
        let longest = a.distance_squared(b).max(a.distance_squared(c));
        let side = (cell.right - cell.left).max(cell.bottom - cell.top) as f32;
        let near = longest * (SAME_PLACE / side) * (SAME_PLACE / side);
        cell.pixels().all(|at| {
            self.point(at).is_some_and(|point| {
                let Receiver {
                    position, normal, ..
                } = self.points[point].1;
                let shares = cell.shares(at);
                position.distance_squared(between(positions, shares)) <= near
                    && normal.distance_squared(between(normals, shares)) < SAME_NORMAL * SAME_NORMAL
            })
        })
    }

    /// The only point of the pixel in a column and a row.
    fn point(&self, (column, row): (usize, usize)) -> Option<usize> {
        let point = self.at[row * self.width + column];
        (point != NONE).then_some(point as usize)
    }

    /// The points at the corners: upper left, upper right, lower left, lower right.
    fn corners(&self, cell: Cell) -> Option<[usize; 4]> {
        Some([
            self.point((cell.left, cell.top))?,
            self.point((cell.right, cell.top))?,
            self.point((cell.left, cell.bottom))?,
            self.point((cell.right, cell.bottom))?,
        ])
    }
}

impl Cell {
    /// The columns and rows of its pixels, with those of its border.
    fn pixels(self) -> impl Iterator<Item = (usize, usize)> {
        let rows = self.top..=self.bottom;
        rows.flat_map(move |row| (self.left..=self.right).map(move |column| (column, row)))
    }

    /// The column and row of the pixel in its middle.
    fn middle(self) -> (usize, usize) {
        ((self.left + self.right) / 2, (self.top + self.bottom) / 2)
    }

    /// The position of a pixel as shares of the width and height.
    fn shares(self, (column, row): (usize, usize)) -> (f32, f32) {
        (
            (column - self.left) as f32 / (self.right - self.left).max(1) as f32,
            (row - self.top) as f32 / (self.bottom - self.top).max(1) as f32,
        )
    }
}

/// Ranges between every `step`-th number below `count`, and to the last one.
fn spans(count: usize, step: usize) -> impl Iterator<Item = (usize, usize)> + Clone {
    let last = count.saturating_sub(1);
    let starts = (0..last).step_by(step);
    starts.map(move |start| (start, (start + step).min(last)))
}

/// A value between those of the corners.
fn between([a, b, c, d]: [Vec3; 4], (x, y): (f32, f32)) -> Vec3 {
    let (top, bottom) = (a + (b - a) * x, c + (d - c) * x);
    top + (bottom - top) * y
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::light::SURFACE_LIFT;

    const WIDTH: usize = 61;
    const ROWS: usize = 8;

    fn receiver(column: usize, row: usize, normal: Vec3) -> Receiver {
        Receiver {
            position: Vec3::new(column as f32, row as f32, 0.0),
            normal,
            lift: SURFACE_LIFT,
        }
    }

    /// One point for every pixel.
    fn points(normal: impl Fn(usize) -> Vec3) -> Vec<(usize, Receiver)> {
        let point = |pixel: usize| {
            let (column, row) = (pixel % WIDTH, pixel / WIDTH);
            (pixel, receiver(column, row, normal(column)))
        };
        (0..WIDTH * ROWS).map(point).collect()
    }

    /// The light of points and the largest error, if it depends on the receiver in a known way;
    /// with the number of points for which it was computed.
    fn largest_error(
        points: &[(usize, Receiver)],
        light: impl Fn(&Receiver) -> f32,
    ) -> (f32, usize) {
        let computed = std::cell::Cell::new(0);
        let arriving = |receiver: &Receiver| {
            computed.set(computed.get() + 1);
            Arriving {
                diffuse: Vec3::splat(light(receiver)),
                ..Arriving::default()
            }
        };
        let found = Lattice::on_surfaces(points, WIDTH).light(
            |receivers| receivers.iter().map(arriving).collect(),
            |points| {
                points
                    .iter()
                    .map(|(_, receiver)| arriving(receiver))
                    .collect()
            },
        );
        assert_eq!(found.len(), points.len());
        let errors = found.iter().zip(points);
        let errors = errors.map(|(found, (_, own))| (found.diffuse.x - light(own)).abs());
        (errors.fold(0.0, f32::max), computed.get())
    }

    #[test]
    fn steady_light_is_computed_at_few_points() {
        let points = points(|_| Vec3::Z);
        let steady = |own: &Receiver| 0.3 + own.position.x * 0.004 - own.position.y * 0.002;
        let (error, computed) = largest_error(&points, steady);
        assert!(error < 1e-6, "{error}");
        assert!(computed < points.len() / 12, "{computed}");
    }

    #[test]
    fn the_border_of_a_shadow_stays_sharp() {
        let points = points(|_| Vec3::Z);
        for lean in [-2.0, -0.3, 0.0, 0.7, 3.0] {
            let shadow =
                |own: &Receiver| f32::from(u8::from(own.position.x + lean * own.position.y > 30.2));
            let (error, computed) = largest_error(&points, shadow);
            assert_eq!(error, 0.0, "leaning by {lean}");
            assert!(computed < points.len() / 2, "{computed}");
        }
    }

    #[test]
    fn light_is_not_interpolated_across_creases_and_steps() {
        let crease = points(|column| if column < 29 { Vec3::Z } else { Vec3::X });
        let lit = |own: &Receiver| own.normal.x;
        assert_eq!(largest_error(&crease, lit).0, 0.0);
        // Light that changes too little to be seen from the corners alone.
        let mut step = points(|_| Vec3::Z);
        for (pixel, receiver) in &mut step {
            receiver.position.z = if *pixel % WIDTH == 34 { 1.5 } else { 0.0 };
        }
        let higher = |own: &Receiver| 0.005 * own.position.z;
        assert_eq!(largest_error(&step, higher).0, 0.0);
    }

    #[test]
    fn several_points_of_a_pixel_have_their_own_light() {
        let mut points = points(|_| Vec3::Z);
        for (column, row) in [(0, 0), (17, 3), (WIDTH - 1, ROWS - 1)] {
            let behind = (row * WIDTH + column, receiver(column, row, Vec3::NEG_Z));
            let place = points.partition_point(|&(pixel, _)| pixel <= behind.0);
            points.splice(place..place, [behind, behind]);
        }
        let (error, _) = largest_error(&points, |own| own.normal.z);
        assert_eq!(error, 0.0);
        assert_eq!(largest_error(&[], |_| 1.0), (0.0, 0));
    }
}
