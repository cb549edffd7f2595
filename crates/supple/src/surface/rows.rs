//! Compressed rows: many short lists in one allocation.

use std::ops::Range;

/// Compressed rows: one list of values for each of `0..len()`, stored one after the other.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rows<T> {
    /// The start of each row, and the end of the last.
    starts: Vec<u32>,
    values: Vec<T>,
}

impl<T> Default for Rows<T> {
    fn default() -> Rows<T> {
        Rows {
            starts: vec![0],
            values: Vec::new(),
        }
    }
}

impl<T: Copy + Default> Rows<T> {
    /// Sorts `(row, value)` entries into rows. The values of a row keep the order of the entries.
    ///
    /// # Panics
    ///
    /// If an entry's row is not below `count`.
    pub(crate) fn of(count: usize, entries: impl Iterator<Item = (usize, T)> + Clone) -> Rows<T> {
        let mut starts = vec![0u32; count + 1];
        for (row, _) in entries.clone() {
            starts[row + 1] += 1;
        }
        for row in 0..count {
            starts[row + 1] += starts[row];
        }
        let mut next = starts.clone();
        let mut values = vec![T::default(); starts[count] as usize];
        for (row, value) in entries {
            values[next[row] as usize] = value;
            next[row] += 1;
        }
        Rows { starts, values }
    }

    /// Lists for each point its neighbours: `a` and `b` of each `(a, b, value)`, with the value.
    pub(crate) fn of_neighbours(
        count: usize,
        edges: impl Iterator<Item = (u32, u32, T)> + Clone,
    ) -> Rows<(u32, T)> {
        let both = |(a, b, value)| [(a as usize, (b, value)), (b as usize, (a, value))];
        Rows::of(count, edges.flat_map(both))
    }
}

impl Rows<u32> {
    /// Lists for each point the triangles around it, in rising order; a triangle with several
    /// corners there comes as often.
    pub(crate) fn of_triangles(
        count: usize,
        triangles: impl Iterator<Item = [u32; 3]> + Clone,
    ) -> Rows<u32> {
        let numbered = (0..).zip(triangles);
        let corners =
            numbered.flat_map(|(triangle, corners)| corners.map(|at| (at as usize, triangle)));
        Rows::of(count, corners)
    }
}

impl<T> Rows<T> {
    /// No rows, with room for some.
    pub(crate) fn with_capacity(rows: usize, values: usize) -> Rows<T> {
        let mut starts = Vec::with_capacity(rows + 1);
        starts.push(0);
        Rows {
            starts,
            values: Vec::with_capacity(values),
        }
    }

    /// Appends a row.
    pub(crate) fn push_row(&mut self, row: impl IntoIterator<Item = T>) {
        self.values.extend(row);
        self.starts.push(self.values.len() as u32);
    }

    /// Appends some rows of another list.
    pub(crate) fn append_rows(&mut self, from: &Rows<T>, rows: Range<usize>)
    where
        T: Copy,
    {
        let values = from.range_of(rows.clone());
        let shift = (self.values.len() as u32).wrapping_sub(values.start as u32);
        let ends = &from.starts[rows.start + 1..=rows.end];
        self.starts
            .extend(ends.iter().map(|end| end.wrapping_add(shift)));
        self.values.extend_from_slice(&from.values[values]);
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The indices of a row's values among all values, for arrays parallel to them.
    #[inline]
    pub(crate) fn range(&self, row: usize) -> Range<usize> {
        self.starts[row] as usize..self.starts[row + 1] as usize
    }

    /// The indices of the values of several rows.
    pub(crate) fn range_of(&self, rows: Range<usize>) -> Range<usize> {
        self.starts[rows.start] as usize..self.starts[rows.end] as usize
    }

    /// The row of the value with this index among all values.
    pub(crate) fn row_of(&self, value: usize) -> usize {
        self.starts
            .partition_point(|&start| start as usize <= value)
            - 1
    }

    /// The values of a row.
    #[inline]
    pub(crate) fn row(&self, row: usize) -> &[T] {
        &self.values[self.range(row)]
    }

    /// All rows in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[T]> + Clone {
        (0..self.len()).map(|row| self.row(row))
    }

    /// The values of all rows, one after the other.
    pub(crate) fn values(&self) -> &[T] {
        &self.values
    }

    /// The values of all rows, to be changed in place.
    pub(crate) fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }
}

impl<A, B> Rows<(A, B)> {
    /// Rows of the first parts, and the second parts as an array parallel to their values.
    pub(crate) fn unzip(self) -> (Rows<A>, Vec<B>) {
        let (values, others) = self.values.into_iter().unzip();
        let starts = self.starts;
        (Rows { starts, values }, others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_sorted_into_rows_and_keep_their_order() {
        let entries = [(2, 'a'), (0, 'b'), (2, 'c'), (2, 'd')];
        let rows = Rows::of(4, entries.into_iter());
        let expected: [&[char]; 4] = [&['b'], &[], &['a', 'c', 'd'], &[]];
        assert!(rows.iter().eq(expected));
        assert_eq!(rows.range(2), 1..4);
        assert_eq!(Rows::<char>::default().len(), 0);
    }

    #[test]
    fn rows_are_appended_one_by_one_and_from_others() {
        let mut rows = Rows::with_capacity(3, 4);
        rows.push_row([1, 2]);
        rows.push_row([]);
        rows.push_row([3]);
        let mut picked = Rows::default();
        picked.push_row([7]);
        picked.append_rows(&rows, 1..3);
        picked.append_rows(&rows, 0..1);
        let expected: [&[i32]; 4] = [&[7], &[], &[3], &[1, 2]];
        assert!(picked.iter().eq(expected));
        assert_eq!([0, 1, 2, 3].map(|value| picked.row_of(value)), [0, 2, 3, 3]);
    }

    #[test]
    fn an_edge_makes_neighbours_of_both_ends() {
        let edges = [(0, 1, 0.5), (0, 2, 2.0)].into_iter();
        let (neighbours, weights) = Rows::of_neighbours(3, edges).unzip();
        assert_eq!(
            neighbours.iter().collect::<Vec<_>>(),
            [&[1, 2][..], &[0], &[0]]
        );
        assert_eq!(weights, [0.5, 2.0, 0.5, 2.0]);
    }
}
