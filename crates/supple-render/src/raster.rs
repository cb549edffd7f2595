//! Rasterisation: the triangle that each sample of the picture sees.
//!
//! Several samples per pixel, staggered so that no two share a row or a column: a nearly upright
//! edge then sweeps over all of them one by one. Coverage is decided in integers, so neighbouring
//! triangles leave no gap and no overlap.

use crate::stage::{Lens, Stage};
use glam::Vec3;
use std::ops::Range;
use supple::exec;

/// Rows of pixels that are drawn together.
pub(crate) const BAND_ROWS: usize = 8;

/// No triangle.
pub(crate) const NOTHING: u32 = u32::MAX;

/// Nothing nearer than this, in stage units, is drawn.
pub(crate) const NEAR: f32 = 0.01;

/// Triangles that are sorted into bands together.
const CHUNK: usize = 1 << 15;

/// Steps of the integer grid per sample.
const GRID: i64 = 256;

/// Coordinates beyond this are pulled in, so that products of two fit.
const FARTHEST: f32 = (1 << 28) as f32;

/// Triangles as the lens sees them, sorted into bands of rows.
pub(crate) struct Projected {
    /// Homogeneous pixel coordinates of every vertex.
    pub pixels: Vec<Vec3>,
    /// For every chunk of triangles and every band, the triangles that may touch it, in order.
    touching: Vec<Vec<Vec<u32>>>,
}

impl Projected {
    pub fn new(stage: &Stage, lens: &Lens) -> Projected {
        let pixels: Vec<_> = stage
            .positions
            .iter()
            .map(|&position| lens.pixel_from_stage(position))
            .collect();
        let bands = lens.height.div_ceil(BAND_ROWS);
        let touching = exec::map(stage.triangles.len().div_ceil(CHUNK), |chunk| {
            let mut touching = vec![Vec::new(); bands];
            let triangles = stage.triangles.iter().enumerate();
            for (index, corners) in triangles.skip(chunk * CHUNK).take(CHUNK) {
                let corners = corners.map(|corner| pixels[corner as usize]);
                if let Some(rows) = rows_of(corners, lens) {
                    for list in &mut touching[rows.0 / BAND_ROWS..=rows.1 / BAND_ROWS] {
                        list.push(index as u32);
                    }
                }
            }
            touching
        });
        Projected { pixels, touching }
    }
}

/// The first and last row of pixels that a triangle may touch; `None` outside the picture.
fn rows_of(corners: [Vec3; 3], lens: &Lens) -> Option<(usize, usize)> {
    let (width, height) = (lens.width as f32, lens.height as f32);
    if corners.iter().all(|c| c.z < NEAR) {
        return None;
    }
    // Where a corner is behind the camera its pixel means nothing: all rows may be touched.
    if corners.iter().any(|c| c.z < NEAR) {
        return Some((0, lens.height - 1));
    }
    let [a, b, c] = corners.map(|corner| corner.truncate() / corner.z);
    let (low, high) = (a.min(b).min(c), a.max(b).max(c));
    let outside = high.x < 0.0 || high.y < 0.0 || low.x > width || low.y > height;
    (!outside).then(|| {
        (
            (low.y - 0.1).clamp(0.0, height - 1.0) as usize,
            (high.y + 0.1).clamp(0.0, height - 1.0) as usize,
        )
    })
}

/// The samples of one band of rows.
pub(crate) struct Samples {
    /// Samples along one side of a pixel.
    pub per_axis: usize,
    /// Samples in a row.
    pub columns: usize,
    /// The first pixel row of the band.
    pub first_row: usize,
    /// Pixel rows in the band.
    pub rows: usize,
    /// The nearest triangle at each sample.
    pub triangles: Vec<u32>,
    /// One over the distance, at each sample.
    nearness: Vec<f32>,
    /// The offsets of the samples of a row (by row) or of a column (by column), in grid steps.
    stagger: Vec<i64>,
    /// Columns of samples that triangles may have been drawn to.
    drawn: Range<usize>,
}

impl Samples {
    /// Draws one band.
    pub fn of_band(
        stage: &Stage,
        projected: &Projected,
        lens: &Lens,
        band: usize,
        per_axis: usize,
    ) -> Samples {
        let first_row = band * BAND_ROWS;
        let rows = BAND_ROWS.min(lens.height - first_row);
        let columns = lens.width * per_axis;
        let count = columns * rows * per_axis;
        let axis = per_axis as i64;
        let mut samples = Samples {
            per_axis,
            columns,
            first_row,
            rows,
            triangles: vec![NOTHING; count],
            nearness: vec![0.0; count],
            stagger: (0..axis)
                .map(|i| (2 * i + 1) * GRID / (2 * axis) - GRID / 2)
                .collect(),
            drawn: columns..0,
        };
        for chunk in &projected.touching {
            for &index in &chunk[band] {
                let corners = stage.triangles[index as usize];
                samples.draw(
                    corners.map(|corner| projected.pixels[corner as usize]),
                    index,
                );
            }
        }
        samples
    }

    /// The columns of pixels that triangles may have been drawn to.
    pub fn drawn_pixels(&self) -> Range<usize> {
        self.drawn.start / self.per_axis..self.drawn.end.div_ceil(self.per_axis)
    }

    /// The nearest triangle at each sample of a pixel, row by row.
    pub fn of_pixel(&self, column: usize, row: usize) -> impl Iterator<Item = &u32> {
        let axis = self.per_axis;
        let first = row * axis * self.columns + column * axis;
        (0..axis).flat_map(move |line| {
            let start = first + line * self.columns;
            &self.triangles[start..start + axis]
        })
    }

    /// The triangle that all samples of a pixel see, which may be [`NOTHING`].
    pub fn only_triangle(&self, column: usize, row: usize) -> Option<u32> {
        let first = row * self.per_axis * self.columns + column * self.per_axis;
        let triangle = self.triangles[first];
        self.of_pixel(column, row)
            .all(|&other| other == triangle)
            .then_some(triangle)
    }

    /// The place of a sample within its pixel, from 0 to 1.
    pub fn place_in_pixel(&self, column: usize, row: usize) -> (f32, f32) {
        let along = |cell: usize, stagger: i64| {
            (cell as f32 + 0.5 + stagger as f32 / GRID as f32) / self.per_axis as f32
        };
        (
            along(column, self.stagger[row]),
            along(row, self.stagger[column]),
        )
    }

    /// Draws what lies in front of the near plane.
    fn draw(&mut self, corners: [Vec3; 3], index: u32) {
        let behind = corners.iter().filter(|c| c.z < NEAR).count();
        if behind == 0 {
            return self.fill(corners, index);
        }
        let mut kept = Vec::with_capacity(4);
        for (i, &from) in corners.iter().enumerate() {
            let to = corners[(i + 1) % 3];
            if from.z >= NEAR {
                kept.push(from);
            }
            if (from.z >= NEAR) != (to.z >= NEAR) {
                let cut = from.lerp(to, (NEAR - from.z) / (to.z - from.z));
                kept.push(cut.with_z(NEAR));
            }
        }
        for i in 2..kept.len() {
            self.fill([kept[0], kept[i - 1], kept[i]], index);
        }
    }

    /// Fills a triangle that lies wholly in front of the camera.
    fn fill(&mut self, corners: [Vec3; 3], index: u32) {
        let axis = self.per_axis;
        let to_grid = axis as f32 * GRID as f32;
        let mut points = corners.map(|corner| {
            let at = |value: f32| {
                (value / corner.z * to_grid)
                    .round()
                    .clamp(-FARTHEST, FARTHEST) as i64
            };
            (at(corner.x), at(corner.y), 1.0 / f64::from(corner.z))
        });
        let doubled_area = (points[1].0 - points[0].0) * (points[2].1 - points[0].1)
            - (points[1].1 - points[0].1) * (points[2].0 - points[0].0);
        if doubled_area == 0 {
            return;
        }
        if doubled_area < 0 {
            points.swap(1, 2);
        }
        let [a, b, c] = points;

        let top = (self.first_row * axis) as i64;
        let bottom = top + (self.rows * axis) as i64 - 1;
        let low_x = (a.0.min(b.0).min(c.0) / GRID).max(0);
        let high_x = (a.0.max(b.0).max(c.0) / GRID).min(self.columns as i64 - 1);
        let low_y = (a.1.min(b.1).min(c.1) / GRID).max(top);
        let high_y = (a.1.max(b.1).max(c.1) / GRID).min(bottom);
        if low_x > high_x || low_y > high_y {
            return;
        }
        self.drawn.start = self.drawn.start.min(low_x as usize);
        self.drawn.end = self.drawn.end.max(high_x as usize + 1);

        let edges = [Edge::new(b, c), Edge::new(c, a), Edge::new(a, b)];
        // One over the distance is linear over the picture.
        let scale = 1.0 / doubled_area.abs() as f64;
        let slope = |toward: fn(&Edge) -> i64| {
            let sum: f64 = edges
                .iter()
                .zip([a, b, c])
                .map(|(edge, point)| toward(edge) as f64 * point.2)
                .sum();
            (sum * scale) as f32
        };
        let (slope_x, slope_y) = (slope(|edge| -edge.y), slope(|edge| edge.x));
        let nearness_range = (a.2.min(b.2).min(c.2) as f32, a.2.max(b.2).max(c.2) as f32);

        for row in low_y..=high_y {
            let shift = self.stagger[row as usize % axis];
            let y = row * GRID + GRID / 2;
            let x_of = |column: i64| column * GRID + GRID / 2 + shift;
            let (first, last) = edges.iter().fold((low_x, high_x), |(first, last), edge| {
                edge.narrow(edge.at(x_of(low_x), y), low_x, (first, last))
            });
            if first > last {
                continue;
            }
            let mut values = edges.map(|edge| edge.at(x_of(first), y));
            let row_start = (row - top) as usize * self.columns;
            for column in first..=last {
                let lift = self.stagger[column as usize % axis];
                let inside = (0..3).all(|i| values[i] + lift * edges[i].x >= 0);
                if inside {
                    let from_a = ((x_of(column) - a.0) as f32, (y + lift - a.1) as f32);
                    let nearness = a.2 as f32 + slope_x * from_a.0 + slope_y * from_a.1;
                    // Slivers have steep slopes: never let one reach beyond its own corners.
                    let nearness = nearness.clamp(nearness_range.0, nearness_range.1);
                    let sample = row_start + column as usize;
                    if nearness > self.nearness[sample] {
                        self.nearness[sample] = nearness;
                        self.triangles[sample] = index;
                    }
                }
                for (value, edge) in values.iter_mut().zip(&edges) {
                    *value -= edge.y * GRID;
                }
            }
        }
    }
}

/// A directed edge on the integer grid; the inside lies where [`Edge::at`] is not negative.
#[derive(Clone, Copy)]
struct Edge {
    x: i64,
    y: i64,
    offset: i64,
}

impl Edge {
    fn new(from: (i64, i64, f64), to: (i64, i64, f64)) -> Edge {
        let (x, y) = (to.0 - from.0, to.1 - from.1);
        // Samples exactly on an edge belong to one of its two triangles: to the one for which it
        // points down.
        let owns = y > 0 || (y == 0 && x > 0);
        Edge {
            x,
            y,
            offset: y * from.0 - x * from.1 - i64::from(!owns),
        }
    }

    fn at(&self, x: i64, y: i64) -> i64 {
        self.x * y - self.y * x + self.offset
    }

    /// Leaves of a range of columns those that can lie inside, given the value at column `low`; up
    /// to how far samples are staggered. Long thin triangles then cost what they cover.
    fn narrow(&self, at_low: i64, low: i64, (first, last): (i64, i64)) -> (i64, i64) {
        let most = at_low + self.x.abs() * (GRID / 2);
        let step = self.y * GRID;
        match step.signum() {
            1 => (first, last.min(low + most.div_euclid(step))),
            -1 => (first.max(low - most.div_euclid(-step)), last),
            _ if most < 0 => (first, first - 1),
            _ => (first, last),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty(per_axis: usize, size: usize) -> Samples {
        let axis = per_axis as i64;
        Samples {
            per_axis,
            columns: size * per_axis,
            first_row: 0,
            rows: size,
            triangles: vec![NOTHING; size * size * per_axis * per_axis],
            nearness: vec![0.0; size * size * per_axis * per_axis],
            stagger: (0..axis)
                .map(|i| (2 * i + 1) * GRID / (2 * axis) - GRID / 2)
                .collect(),
            drawn: size * per_axis..0,
        }
    }

    #[test]
    fn narrowed_columns_have_every_sample_inside_and_few_others() {
        let point = |at: i64, spread: i64| {
            let x = (at * 7919 + 13) % spread - spread / 4;
            let y = (at * 104_729 + 5) % spread - spread / 4;
            (x * GRID + at % GRID, y * GRID + at * 3 % GRID, 1.0)
        };
        for at in 0..200i64 {
            let (a, b) = (point(3 * at, 300), point(3 * at + 1, 300));
            let c = match at % 2 {
                0 => point(3 * at + 2, 300),
                _ => (b.0 + at % 7, b.1 + 1 + at % 5, 1.0),
            };
            let area = (b.0 - a.0) * (c.1 - a.1) - (b.1 - a.1) * (c.0 - a.0);
            let (b, c) = if area < 0 { (c, b) } else { (b, c) };
            let edges = [Edge::new(b, c), Edge::new(c, a), Edge::new(a, b)];
            let mut looked_at = 0;
            for row in 0..200i64 {
                let y = row * GRID + GRID / 2;
                let x_of = |column: i64| column * GRID + GRID / 2;
                let (first, last) = edges.iter().fold((0, 199), |range, edge| {
                    edge.narrow(edge.at(x_of(0), y), 0, range)
                });
                looked_at += (last - first + 1).max(0);
                for column in (0..200).filter(|column| !(first..=last).contains(column)) {
                    let may_be_inside = |lift: i64| {
                        let x = x_of(column);
                        edges.iter().all(|edge| edge.at(x, y) + lift * edge.x >= 0)
                    };
                    let lifts = [-GRID / 2, 0, GRID / 2 - 1];
                    assert!(!lifts.into_iter().any(may_be_inside), "{column}, {row}");
                }
            }
            let area = area.abs() / (2 * GRID * GRID);
            assert!(looked_at <= area + 6 * 400, "{looked_at} for {area}");
        }
    }

    #[test]
    fn a_fan_covers_every_sample_once() {
        // Triangles around an inner point to the corners of the picture, in both windings.
        let at = |x: f32, y: f32| Vec3::new(x, y, 1.0);
        let rim = [at(0.0, 0.0), at(8.0, 0.0), at(8.0, 8.0), at(0.0, 8.0)];
        for middle in [at(4.0, 4.0), at(1.3, 6.7), at(3.125, 2.875)] {
            let mut covered = vec![0; 8 * 8 * 16];
            for i in 0..4 {
                let mut samples = empty(4, 8);
                let mut corners = [middle, rim[i], rim[(i + 1) % 4]];
                if i % 2 == 0 {
                    corners.swap(0, 2);
                }
                samples.draw(corners, 0);
                for (count, &triangle) in covered.iter_mut().zip(&samples.triangles) {
                    *count += u32::from(triangle == 0);
                }
            }
            assert!(covered.iter().all(|&count| count == 1));
        }
    }

    #[test]
    fn the_nearer_triangle_wins_in_either_order() {
        let at_distance =
            |z: f32| [Vec3::ZERO, Vec3::X * 20.0, Vec3::Y * 20.0].map(|p| (p * z).with_z(z));
        for order in [[(0, 1.0), (1, 2.0)], [(1, 2.0), (0, 1.0)]] {
            let mut samples = empty(2, 8);
            for (index, distance) in order {
                samples.draw(at_distance(distance), index);
            }
            assert!(samples.triangles.iter().all(|&triangle| triangle == 0));
        }
    }

    #[test]
    fn a_triangle_through_the_camera_is_cut_at_the_near_plane() {
        let mut samples = empty(2, 8);
        let corners = [
            Vec3::new(-40.0, 4.0, 1.0),
            Vec3::new(40.0, 4.0, 1.0),
            Vec3::new(0.0, 4000.0, -1.0),
        ];
        samples.draw(corners, 0);
        let seen = samples.triangles.iter().filter(|&&t| t == 0).count();
        assert!(seen > 0 && seen < samples.triangles.len());
    }

    #[test]
    fn triangles_without_area_draw_nothing() {
        let p = Vec3::new(3.0, 3.0, 1.0);
        let on_a_line = [p, p * 2.0, Vec3::new(5.0, 5.0, 1.0)];
        for triangle in [[p, p, p], on_a_line] {
            let mut samples = empty(4, 8);
            let untouched = samples.triangles.clone();
            samples.draw(triangle, 0);
            assert_eq!(samples.triangles, untouched);
        }
        // Far beyond the picture: whatever it covers, nothing overflows.
        let far = [Vec3::new(1e30, 0.0, 1.0), Vec3::new(-1e30, 0.0, 1.0), p];
        empty(4, 8).draw(far, 0);
    }
}
