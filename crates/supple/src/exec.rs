//! The one place that knows of threads.

use rayon::prelude::*;

/// `make(0), make(1), …` in order, each computed on whichever thread is free: for coarse items such as the
/// rows of a picture or the columns of a precompute. What comes out does not depend on how many threads there are.
pub fn map<T: Send>(count: usize, make: impl Fn(usize) -> T + Sync) -> Vec<T> {
    (0..count).into_par_iter().map(&make).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_in_order_whatever_the_number_of_threads() {
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            let squares = pool.install(|| map(1000, |item| item * item));
            assert!(
                squares
                    .iter()
                    .enumerate()
                    .all(|(item, square)| *square == item * item)
            );
        }
    }
}
