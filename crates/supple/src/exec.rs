//! Threads: the only module that names the thread pool.

use rayon::prelude::*;
use std::ops::Range;
use std::sync::mpsc::{self, Sender};
use std::{io, thread};

/// Computes `make(0), make(1), …` in parallel and returns them in order.
///
/// It is meant for coarse items, such as the rows of a picture or the columns of a precompute. The
/// result does not depend on the number of threads.
#[doc(hidden)] // for the other crates, which share the pool
pub fn map<T: Send>(count: usize, make: impl Fn(usize) -> T + Sync) -> Vec<T> {
    (0..count).into_par_iter().map(&make).collect()
}

/// Runs two closures, in parallel if a second thread is free.
pub(crate) fn both<A: Send, B: Send>(
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    rayon::join(one, other)
}

/// Changes every item in place, in parallel.
pub(crate) fn for_each_mut<T: Send>(items: &mut [T], change: impl Fn(usize, &mut T) + Sync) {
    let items = items.par_iter_mut().enumerate();
    items.for_each(|(index, item)| change(index, item));
}

/// Items per piece of work, for items that are too small to be one.
const CHUNK: usize = 512;

/// Computes `make` for chunks of items in parallel and returns the results in order.
///
/// It is meant for small items, such as vertices.
#[doc(hidden)] // for the other crates, which share the pool
pub fn map_chunks<T: Send>(count: usize, make: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    map(count.div_ceil(CHUNK), |chunk| {
        make(chunk * CHUNK..((chunk + 1) * CHUNK).min(count))
    })
}

/// Computes `make` for runs of items in parallel and returns the results in order.
///
/// It is meant for items that need large scratch buffers, which a run shares: there are a few runs
/// per thread, however many items.
pub(crate) fn map_runs<T: Send>(count: usize, make: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    /// So that threads end at about the same time.
    const RUNS_PER_THREAD: usize = 16;
    let length = count.div_ceil(RUNS_PER_THREAD * threads()).max(1);
    map(count.div_ceil(length), |run| {
        make(run * length..((run + 1) * length).min(count))
    })
}

/// Changes items in place, in parallel by chunks: `change` gets the index of the first item and the
/// chunk.
pub(crate) fn for_each_chunk_mut<T: Send>(
    items: &mut [T],
    change: impl Fn(usize, &mut [T]) + Sync,
) {
    // A single chunk wakes no thread, so small surfaces have no overhead.
    if items.len() <= CHUNK {
        return change(0, items);
    }
    let runs = items.par_chunks_mut(CHUNK).enumerate();
    runs.for_each(|(chunk, run)| change(chunk * CHUNK, run));
}

/// Starts the worker threads, for programs that may run where threads are scarce.
///
/// There are as many as cores, or as `RAYON_NUM_THREADS` says, or as the system allows. If it
/// allows none, everything runs on the calling thread. Without this call, threads start with the
/// first work, which panics if the system refuses them.
///
/// # Errors
///
/// Fails if the threads are already running.
pub fn start_threads() -> io::Result<()> {
    let cores = || thread::available_parallelism().map_or(1, |cores| cores.get());
    let wanted = std::env::var("RAYON_NUM_THREADS").ok();
    let wanted = wanted.and_then(|wanted| wanted.parse().ok());
    let wanted = wanted.filter(|&wanted| wanted > 0).unwrap_or_else(cores);
    // The pool can be set up only once, so the threads are there before it knows how many it has.
    let workers: Vec<Sender<rayon::ThreadBuilder>> =
        (0..wanted).map_while(|_| waiting_worker().ok()).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(workers.len().max(1));
    let built = match workers.is_empty() {
        true => pool.use_current_thread().build_global(),
        false => pool
            .spawn_handler(|worker| {
                let sent = workers[worker.index()].send(worker);
                sent.map_err(|_| io::Error::other("a thread has ended"))
            })
            .build_global(),
    };
    built.map_err(io::Error::other)
}

/// A thread that waits for its part in a pool.
fn waiting_worker() -> io::Result<Sender<rayon::ThreadBuilder>> {
    let (sender, receiver) = mpsc::channel::<rayon::ThreadBuilder>();
    let run = move || {
        if let Ok(worker) = receiver.recv() {
            worker.run();
        }
    };
    thread::Builder::new().spawn(run)?;
    Ok(sender)
}

/// Returns the number of worker threads.
pub fn threads() -> usize {
    rayon::current_num_threads()
}

/// Runs a closure in a pool of its own with `threads` threads, such as for timing.
///
/// Falls back to the current thread pool if the system refuses so many.
pub fn on_threads<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    match pool {
        Ok(pool) => pool.install(run),
        Err(_) => run(),
    }
}

/// Processes numbered pieces of something divisible, in parallel by runs of at most `grain` pieces.
///
/// `cut` gets a part, the number of its first piece, and the number of the piece before which to
/// cut. Called from a thread of the pool this allocates nothing; from outside, the pool's queue
/// allocates a block now and then.
#[doc(hidden)] // for the other crates, which share the pool
pub fn for_each_run<T: Send>(
    pieces: Range<usize>,
    grain: usize,
    whole: T,
    cut: &(impl Fn(T, usize, usize) -> (T, T) + Sync),
    work: &(impl Fn(Range<usize>, T) + Sync),
) {
    if pieces.len() <= grain.max(1) || rayon::current_num_threads() == 1 {
        return work(pieces, whole);
    }
    let middle = pieces.start + pieces.len() / 2;
    let (front, back) = cut(whole, pieces.start, middle);
    rayon::join(
        || for_each_run(pieces.start..middle, grain, front, cut, work),
        || for_each_run(middle..pieces.end, grain, back, cut, work),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_everything_once_and_in_order() {
        for count in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 5 * CHUNK + 7] {
            let items: Vec<usize> = map_chunks(count, |chunk| chunk.collect::<Vec<_>>()).concat();
            assert!(items.iter().copied().eq(0..count));
        }
    }

    #[test]
    fn runs_cover_everything_once_and_are_few() {
        for count in [0, 1, 7, 1000, 100_000] {
            let runs = map_runs(count, |run| run.collect::<Vec<_>>());
            assert!(runs.len() <= 16 * threads());
            assert!(runs.into_iter().flatten().eq(0..count));
        }
    }

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
