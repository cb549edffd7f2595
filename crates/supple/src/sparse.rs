//! Linear systems over a surface: symmetric, positive definite, few entries per row, many
//! right-hand sides.
//!
//! The one place that knows of the solver behind it. It runs on the caller's thread alone, so that
//! the factor is the same to the bit everywhere; columns are handed out to threads in batches of a
//! fixed size, for the same reason.

use crate::exec;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::solvers::LltError;
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymbolicCholeskyRaw,
    factorize_symbolic_cholesky,
};
use faer::sparse::{FaerError, SparseColMatRef, SymbolicSparseColMat};
use faer::{Conj, Mat, Par, Side};
use glam::DVec3;
use std::sync::Arc;
use thiserror::Error;

/// Columns that are solved together: one pass over the factor serves all of them.
const BATCH: usize = 8;

/// Why a system could not be factored.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum SparseError {
    /// The matrix has a direction that it does not hold, or numbers that are not finite.
    #[error("the system has no unique solution")]
    NotPositiveDefinite,
    /// The factor is too large for this machine.
    #[error("the system is too large for the memory of this machine")]
    OutOfMemory,
}

/// The non-zero pattern of a matrix and the elimination order of its unknowns: the symbolic part of
/// a factorisation, which needs no values.
#[derive(Debug)]
pub(crate) struct Pattern {
    lower: SymbolicSparseColMat<u32>,
    /// The index of each off-diagonal entry among the stored values.
    slots: Vec<u32>,
    symbolic: Arc<SymbolicCholesky<u32>>,
}

impl Pattern {
    /// The pattern of a symmetric matrix of `count` unknowns with a full diagonal and off-diagonal
    /// entries at these rows and columns, each of which stands for its mirror image as well.
    ///
    /// For [`Cholesky::solve_places`] in every frame. The factor is kept entry by entry however
    /// large it is: in dense blocks, a surface of 100,000 points is factored in three fifths of the
    /// time, but takes twice as long to solve for three columns.
    pub(crate) fn of(count: usize, entries: &[[u32; 2]]) -> Result<Pattern, SparseError> {
        Pattern::stored(count, entries, SupernodalThreshold::FORCE_SIMPLICIAL)
    }

    fn stored(
        count: usize,
        entries: &[[u32; 2]],
        in_blocks: SupernodalThreshold,
    ) -> Result<Pattern, SparseError> {
        // The solver reads the lower half, column by column.
        let below = |&[a, b]: &[u32; 2]| (a.min(b), a.max(b));
        if entries
            .iter()
            .map(below)
            .any(|(_, row)| row as usize >= count)
        {
            // An unknown that has no equation.
            return Err(SparseError::NotPositiveDefinite);
        }
        let mut starts: Vec<u32> = (0..=count as u32).collect();
        for column in entries.iter().map(|entry| below(entry).0 as usize) {
            starts[column + 1] += 1;
        }
        let mut added = 0;
        for (column, start) in starts.iter_mut().enumerate() {
            added += *start - column as u32;
            *start = column as u32 + added;
        }
        // The rows of each column with the entries that they come from; the diagonal comes from
        // none.
        let mut placed = vec![(0u32, u32::MAX); count + entries.len()];
        let mut next = starts.clone();
        let mut place = |column: u32, row: u32, entry: u32| {
            let slot = &mut next[column as usize];
            placed[*slot as usize] = (row, entry);
            *slot += 1;
        };
        (0..count as u32).for_each(|at| place(at, at, u32::MAX));
        for (entry, (column, row)) in entries.iter().map(below).enumerate() {
            place(column, row, entry as u32);
        }
        let mut rows = Vec::with_capacity(placed.len());
        let mut slots = vec![0; entries.len()];
        let mut columns = vec![0u32; count + 1];
        for column in 0..count {
            let range = starts[column] as usize..starts[column + 1] as usize;
            placed[range.clone()].sort_unstable_by_key(|&(row, _)| row);
            let first = rows.len();
            for &(row, entry) in &placed[range] {
                if rows.len() == first || rows.last() != Some(&row) {
                    rows.push(row);
                }
                if let Some(slot) = slots.get_mut(entry as usize) {
                    *slot = rows.len() as u32 - 1;
                }
            }
            columns[column + 1] = rows.len() as u32;
        }
        let lower = SymbolicSparseColMat::new_checked(count, count, columns, None, rows);
        let symbolic = factorize_symbolic_cholesky(
            lower.as_ref(),
            Side::Lower,
            Default::default(),
            CholeskySymbolicParams {
                supernodal_flop_ratio_threshold: in_blocks,
                ..Default::default()
            },
        )?;
        Ok(Pattern {
            lower,
            slots,
            symbolic: Arc::new(symbolic),
        })
    }

    /// Factors the matrix with this diagonal and these values of the entries, in the order in which
    /// they were given. Entries in the same place add up.
    pub(crate) fn factor(
        &self,
        diagonal: &[f64],
        entries: &[f64],
    ) -> Result<Cholesky, SparseError> {
        if !diagonal
            .iter()
            .chain(entries)
            .all(|value| value.is_finite())
        {
            return Err(SparseError::NotPositiveDefinite);
        }
        let mut matrix = vec![0.0; self.lower.row_idx().len()];
        for (&start, &value) in self.lower.col_ptr().iter().zip(diagonal) {
            matrix[start as usize] = value;
        }
        for (&slot, &value) in self.slots.iter().zip(entries) {
            matrix[slot as usize] += value;
        }
        let symbolic = &self.symbolic;
        let scratch = symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default());
        let mut scratch = MemBuffer::try_new(scratch).map_err(|_| SparseError::OutOfMemory)?;
        let mut values = Vec::new();
        values
            .try_reserve_exact(symbolic.len_val())
            .map_err(|_| SparseError::OutOfMemory)?;
        values.resize(symbolic.len_val(), 0.0);
        symbolic.factorize_numeric_llt(
            &mut values,
            SparseColMatRef::new(self.lower.as_ref(), &matrix),
            Side::Lower,
            Default::default(),
            Par::Seq,
            MemStack::new(&mut scratch),
            Default::default(),
        )?;
        Ok(Cholesky {
            symbolic: self.symbolic.clone(),
            values,
        })
    }
}

/// `A = L·Lᵀ`, ready to solve.
#[derive(Debug)]
pub(crate) struct Cholesky {
    symbolic: Arc<SymbolicCholesky<u32>>,
    values: Vec<f64>,
}

impl Cholesky {
    /// Factors the matrix with this diagonal and these entries `(row, column, value)` beside it,
    /// each of which stands for its mirror image as well. Entries in the same place add up.
    pub(crate) fn of(
        diagonal: &[f64],
        entries: &[(u32, u32, f64)],
    ) -> Result<Cholesky, SparseError> {
        let places: Vec<[u32; 2]> = entries.iter().map(|&(a, b, _)| [a, b]).collect();
        let values: Vec<f64> = entries.iter().map(|entry| entry.2).collect();
        let pattern = Pattern::stored(diagonal.len(), &places, SupernodalThreshold::AUTO)?;
        pattern.factor(diagonal, &values)
    }

    /// The solution for each right-hand side, all as long as the diagonal.
    pub(crate) fn solve(&self, columns: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
        let batches: Vec<&[Vec<f64>]> = columns.chunks(BATCH).collect();
        exec::map(batches.len(), |at| self.solve_batch(batches[at])).concat()
    }

    /// Solves for three columns at once, the coordinates of places: each entry of the factor is
    /// read once each way for all of them. Allocates nothing once the scratch has grown, if the
    /// factor is of a [`Pattern`].
    pub(crate) fn solve_places(&self, places: &mut [DVec3], scratch: &mut Vec<[f64; 4]>) {
        let SymbolicCholeskyRaw::Simplicial(factor) = self.symbolic.raw() else {
            let column = |axis: usize| places.iter().map(|place| place[axis]).collect();
            let solved = self.solve_batch(&[column(0), column(1), column(2)]);
            for (at, place) in places.iter_mut().enumerate() {
                *place = DVec3::new(solved[0][at], solved[1][at], solved[2][at]);
            }
            return;
        };
        let order = self.symbolic.perm();
        let order = order.as_ref().map(|order| order.arrays().0);
        let unknown = |at: usize| order.map_or(at, |order| order[at] as usize);
        scratch.clear();
        scratch.extend((0..places.len()).map(|at| places[unknown(at)].extend(0.0).to_array()));
        let (starts, rows) = (factor.col_ptr(), factor.row_idx());
        let column = |at: usize| {
            let range = starts[at] as usize..starts[at + 1] as usize;
            let (values, rows) = (&self.values[range.clone()], &rows[range]);
            // The diagonal comes first.
            (values[0], values[1..].iter().zip(&rows[1..]))
        };
        for at in 0..places.len() {
            let (diagonal, below) = column(at);
            let own = scratch[at].map(|value| value / diagonal);
            scratch[at] = own;
            for (&value, &row) in below {
                let row = &mut scratch[row as usize];
                for lane in 0..4 {
                    row[lane] -= value * own[lane];
                }
            }
        }
        for at in (0..places.len()).rev() {
            let (diagonal, below) = column(at);
            let mut own = scratch[at];
            for (&value, &row) in below {
                let row = &scratch[row as usize];
                for lane in 0..4 {
                    own[lane] -= value * row[lane];
                }
            }
            scratch[at] = own.map(|value| value / diagonal);
        }
        for (at, &[x, y, z, _]) in scratch.iter().enumerate() {
            places[unknown(at)] = DVec3::new(x, y, z);
        }
    }

    fn solve_batch(&self, columns: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let rows = self.symbolic.nrows();
        let mut matrix = Mat::from_fn(rows, columns.len(), |row, column| columns[column][row]);
        let scratch = self
            .symbolic
            .solve_in_place_scratch::<f64>(columns.len(), Par::Seq);
        LltRef::new(&self.symbolic, &self.values).solve_in_place_with_conj(
            Conj::No,
            matrix.as_mut(),
            Par::Seq,
            MemStack::new(&mut MemBuffer::new(scratch)),
        );
        let solution = |column: usize| (0..rows).map(|row| matrix[(row, column)]).collect();
        (0..columns.len()).map(solution).collect()
    }
}

impl From<LltError> for SparseError {
    fn from(_: LltError) -> SparseError {
        SparseError::NotPositiveDefinite
    }
}

impl From<FaerError> for SparseError {
    fn from(_: FaerError) -> SparseError {
        SparseError::OutOfMemory
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gaussian elimination with pivots, on a full matrix.
    fn solve_densely(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
        let count = right.len();
        for step in 0..count {
            let pivot = (step..count)
                .max_by(|&a, &b| matrix[a][step].abs().total_cmp(&matrix[b][step].abs()))
                .unwrap();
            matrix.swap(step, pivot);
            right.swap(step, pivot);
            let (done, below) = matrix.split_at_mut(step + 1);
            let (pivot, of_pivot) = (&done[step], right[step]);
            for (row, right) in below.iter_mut().zip(&mut right[step + 1..]) {
                let factor = row[step] / pivot[step];
                for (value, of_pivot) in row.iter_mut().zip(pivot) {
                    *value -= factor * of_pivot;
                }
                *right -= factor * of_pivot;
            }
        }
        for row in (0..count).rev() {
            let known: f64 = (row + 1..count).map(|at| matrix[row][at] * right[at]).sum();
            right[row] = (right[row] - known) / matrix[row][row];
        }
        right
    }

    #[test]
    fn solutions_are_those_of_elimination_for_any_number_of_columns() {
        // A grid of 9 × 7 points, each pulled to its neighbours and a little to zero; one edge is
        // given twice.
        let (width, height) = (9, 7);
        let count = width * height;
        let mut edges: Vec<(u32, u32, f64)> = Vec::new();
        for at in 0..count {
            let weight = 1.0 + (at % 5) as f64;
            if at % width + 1 < width {
                edges.push((at as u32 + 1, at as u32, -weight));
            }
            if at + width < count {
                edges.push((at as u32, (at + width) as u32, -0.5 * weight));
            }
        }
        edges.push(edges[3]);
        let mut diagonal: Vec<f64> = (0..count).map(|at| 0.01 + 0.1 * (at % 3) as f64).collect();
        let mut full = vec![vec![0.0; count]; count];
        for &(a, b, value) in &edges {
            let (a, b) = (a as usize, b as usize);
            diagonal[a] -= value;
            diagonal[b] -= value;
            full[a][b] += value;
            full[b][a] += value;
        }
        for at in 0..count {
            full[at][at] = diagonal[at];
        }
        let factored = Cholesky::of(&diagonal, &edges).unwrap();
        let column = |number: usize| -> Vec<f64> {
            (0..count)
                .map(|at| ((at * 7 + number * 13) % 11) as f64 - 5.0)
                .collect()
        };
        for columns in [0, 1, BATCH, 2 * BATCH + 3] {
            let solved = factored.solve((0..columns).map(column).collect());
            assert_eq!(solved.len(), columns);
            for (number, solution) in solved.iter().enumerate() {
                let expected = solve_densely(full.clone(), column(number));
                for (found, expected) in solution.iter().zip(expected) {
                    assert!((found - expected).abs() < 1e-9, "{found} for {expected}");
                }
            }
        }
    }

    /// A block of points, each pulled to those beside it: so much fills in that the solver would
    /// keep its factor in blocks.
    #[test]
    fn places_are_solved_like_columns_whichever_way_the_factor_is_kept() {
        let side = 16u32;
        let count = side.pow(3) as usize;
        let mut entries = Vec::new();
        let mut diagonal = vec![0.05; count];
        for at in 0..side.pow(3) {
            for (step, coordinate) in [
                (1, at % side),
                (side, at / side % side),
                (side * side, at / (side * side)),
            ] {
                if coordinate + 1 < side {
                    let pull = 1.0 + f64::from(at % 5);
                    entries.push((at, at + step, -pull));
                    diagonal[at as usize] += pull;
                    diagonal[(at + step) as usize] += pull;
                }
            }
        }
        let in_blocks = Cholesky::of(&diagonal, &entries).unwrap();
        assert!(matches!(
            in_blocks.symbolic.raw(),
            SymbolicCholeskyRaw::Supernodal(_)
        ));
        let pattern: Vec<[u32; 2]> = entries.iter().map(|&(a, b, _)| [a, b]).collect();
        let values: Vec<f64> = entries.iter().map(|entry| entry.2).collect();
        let one_by_one = Pattern::of(count, &pattern).unwrap();
        let one_by_one = one_by_one.factor(&diagonal, &values).unwrap();
        assert!(matches!(
            one_by_one.symbolic.raw(),
            SymbolicCholeskyRaw::Simplicial(_)
        ));
        let number = |at: usize, axis: usize| ((at * 7 + axis * 13) % 11) as f64 - 5.0;
        let columns = (0..3).map(|axis| (0..count).map(|at| number(at, axis)).collect());
        let expected = in_blocks.solve(columns.collect());
        for factor in [in_blocks, one_by_one] {
            let places = (0..count).map(|at| DVec3::from_array([0, 1, 2].map(|x| number(at, x))));
            let mut places: Vec<DVec3> = places.collect();
            factor.solve_places(&mut places, &mut Vec::new());
            for (at, place) in places.iter().enumerate() {
                let [x, y, z] = [0, 1, 2].map(|axis| expected[axis][at]);
                assert!(place.distance(DVec3::new(x, y, z)) < 1e-9);
            }
        }
    }

    #[test]
    fn what_cannot_be_solved_is_refused() {
        let refused = |diagonal: &[f64], entries: &[(u32, u32, f64)]| {
            Cholesky::of(diagonal, entries).err() == Some(SparseError::NotPositiveDefinite)
        };
        assert!(refused(&[1.0, 1.0], &[(0, 1, -2.0)]));
        assert!(refused(&[1.0, 0.0], &[]));
        assert!(refused(&[1.0, f64::NAN], &[]));
        assert!(refused(&[1.0], &[(0, 1, -0.5)]));
        let nothing = Cholesky::of(&[], &[]).unwrap();
        assert!(nothing.solve(vec![Vec::new(); 2]).concat().is_empty());
    }
}
