//! A grid of points for searches by position.

use glam::DVec3;
use std::collections::HashMap;

/// The width of a cell in tolerances: most balls of that radius then lie within one cell.
const CELL_WIDTH: f64 = 8.0;

/// The largest number of points per cell that a search visits, so that no arrangement of points is
/// slow.
const MOST_PER_CELL: usize = 256;

/// Points by the cells of a regular grid, to find those within a tolerance.
pub(super) struct Grid {
    pub(super) tolerance: f64,
    cells: HashMap<[i64; 3], Vec<u32>>,
}

impl Grid {
    pub(super) fn of(points: &[DVec3], tolerance: f64) -> Grid {
        let mut grid = Grid {
            tolerance,
            cells: HashMap::new(),
        };
        for (index, &point) in points.iter().enumerate() {
            let cell = grid.cell(point);
            grid.cells.entry(cell).or_default().push(index as u32);
        }
        grid
    }

    fn cell(&self, point: DVec3) -> [i64; 3] {
        let width = if self.tolerance > 0.0 {
            CELL_WIDTH * self.tolerance
        } else {
            1.0
        };
        // Saturates far from the origin.
        point.to_array().map(|x| (x / width).floor() as i64)
    }

    /// The points within the tolerance of a position, and their distances.
    pub(super) fn around<'a>(
        &'a self,
        points: &'a [DVec3],
        place: DVec3,
    ) -> impl Iterator<Item = (f64, u32)> + 'a {
        let reach = DVec3::splat(self.tolerance);
        let (low, high) = (self.cell(place - reach), self.cell(place + reach));
        let cells = (low[0]..=high[0]).flat_map(move |x| {
            (low[1]..=high[1]).flat_map(move |y| (low[2]..=high[2]).map(move |z| [x, y, z]))
        });
        let members = cells.filter_map(|cell| self.cells.get(&cell));
        members
            .flat_map(|members| members.iter().take(MOST_PER_CELL))
            .map(move |&index| (points[index as usize].distance(place), index))
            .filter(|(distance, _)| *distance <= self.tolerance)
    }
}
