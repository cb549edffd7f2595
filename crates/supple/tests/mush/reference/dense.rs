//! Square matrices as rows of numbers.

#[derive(Clone, Debug)]
pub struct Dense(pub Vec<Vec<f64>>);

impl Dense {
    pub fn from_fn(size: usize, entry: impl Fn(usize, usize) -> f64) -> Dense {
        let row = |i: usize| (0..size).map(|j| entry(i, j)).collect();
        Dense((0..size).map(row).collect())
    }

    pub fn identity(size: usize) -> Dense {
        Dense::from_fn(size, |i, j| if i == j { 1.0 } else { 0.0 })
    }

    pub fn size(&self) -> usize {
        self.0.len()
    }

    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.0[i][j]
    }

    pub fn times(&self, other: &Dense) -> Dense {
        let size = self.size();
        let mut product = vec![vec![0.0; size]; size];
        for (row, left) in product.iter_mut().zip(&self.0) {
            for (factor, right) in left.iter().zip(&other.0) {
                for (sum, entry) in row.iter_mut().zip(right) {
                    *sum += factor * entry;
                }
            }
        }
        Dense(product)
    }

    pub fn power(&self, exponent: u32) -> Dense {
        let mut power = Dense::identity(self.size());
        for bit in (0..32).rev() {
            power = power.times(&power);
            if exponent >> bit & 1 == 1 {
                power = power.times(self);
            }
        }
        power
    }

    /// Gauss and Jordan's elimination, with the largest pivot of each column.
    pub fn inverse(&self) -> Dense {
        let size = self.size();
        let (mut left, mut right) = (self.0.clone(), Dense::identity(size).0);
        for column in 0..size {
            let largest = |&a: &usize, &b: &usize| {
                let size = |row: usize| left[row][column].abs();
                size(a).total_cmp(&size(b))
            };
            let pivot = (column..size).max_by(largest).unwrap();
            left.swap(column, pivot);
            right.swap(column, pivot);
            let factor = 1.0 / left[column][column];
            for entry in left[column].iter_mut().chain(&mut right[column]) {
                *entry *= factor;
            }
            for row in (0..size).filter(|&row| row != column) {
                let factor = left[row][column];
                if factor != 0.0 {
                    for matrix in [&mut left, &mut right] {
                        let (from, to) = two_rows(matrix, column, row);
                        for (to, from) in to.iter_mut().zip(from) {
                            *to -= factor * *from;
                        }
                    }
                }
            }
        }
        Dense(right)
    }
}

fn two_rows(matrix: &mut [Vec<f64>], from: usize, to: usize) -> (&[f64], &mut [f64]) {
    if from < to {
        let (low, high) = matrix.split_at_mut(to);
        (&low[from], &mut high[0])
    } else {
        let (low, high) = matrix.split_at_mut(from);
        (&high[0], &mut low[to])
    }
}

#[test]
fn an_inverse_times_its_matrix_is_the_identity() {
    let matrix = Dense::from_fn(7, |i, j| {
        ((i * 3 + j * 5) % 7) as f64 - if i == j { 9.0 } else { 0.0 }
    });
    let product = matrix.inverse().times(&matrix);
    for i in 0..7 {
        for j in 0..7 {
            let expected = if i == j { 1.0 } else { 0.0 };
            assert!((product.at(i, j) - expected).abs() < 1e-13);
        }
    }
    assert!(
        (matrix.power(3).at(2, 4) - matrix.times(&matrix).times(&matrix).at(2, 4)).abs() < 1e-9
    );
}
