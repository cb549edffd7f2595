//! The one place that knows of threads: fixed chunks, so that results never depend on how many there are.

use rayon::prelude::*;

/// Vertices per chunk: large enough that handing it to a thread costs nothing, small enough to share evenly.
const CHUNK: usize = 4096;

/// Below this many vertices one thread is faster than waking others.
const PARALLEL_FROM: usize = 4 * CHUNK;

/// Calls `work` with the start and the chunk of every chunk of three slices of equal length.
///
/// Slices that are not wanted may be empty instead.
pub(crate) fn for_each_chunk<A: Send, B: Send, C: Send>(
    a: &mut [A],
    b: &mut [B],
    c: &mut [C],
    work: impl Fn(usize, &mut [A], &mut [B], &mut [C]) + Sync,
) {
    let length = a.len();
    debug_assert!(
        [b.len(), c.len()]
            .iter()
            .all(|&other| other == 0 || other == length)
    );
    if length <= PARALLEL_FROM {
        return work(0, a, b, c);
    }
    halve(0, a, b, c, &work);
}

/// Splits at a multiple of the chunk size until one chunk is left.
fn halve<A: Send, B: Send, C: Send>(
    start: usize,
    a: &mut [A],
    b: &mut [B],
    c: &mut [C],
    work: &(impl Fn(usize, &mut [A], &mut [B], &mut [C]) + Sync),
) {
    if a.len() <= CHUNK {
        return work(start, a, b, c);
    }
    let middle = a.len().div_ceil(2).next_multiple_of(CHUNK);
    let (a_low, a_high) = a.split_at_mut(middle.min(a.len()));
    let (b_low, b_high) = b.split_at_mut(middle.min(b.len()));
    let (c_low, c_high) = c.split_at_mut(middle.min(c.len()));
    rayon::join(
        || halve(start, a_low, b_low, c_low, work),
        || halve(start + middle, a_high, b_high, c_high, work),
    );
}

/// `make(0), make(1), …` in order, each computed on whichever thread is free: for coarse items such as the
/// rows of a picture or the columns of a precompute.
pub fn map<T: Send>(count: usize, make: impl Fn(usize) -> T + Sync) -> Vec<T> {
    (0..count).into_par_iter().map(&make).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_is_visited_once_whatever_the_length() {
        for length in [0, 1, CHUNK, PARALLEL_FROM, PARALLEL_FROM + 1, 100_003] {
            let mut a = vec![0usize; length];
            let mut b = vec![0usize; length];
            let mut none: [u8; 0] = [];
            for_each_chunk(&mut a, &mut b, &mut none, |start, a, b, none| {
                assert!(none.is_empty());
                for (offset, (a, b)) in a.iter_mut().zip(b).enumerate() {
                    *a += start + offset + 1;
                    *b += 1;
                }
            });
            assert!(
                a.iter()
                    .enumerate()
                    .all(|(index, &value)| value == index + 1)
            );
            assert!(b.iter().all(|&visits| visits == 1));
        }
    }
}
