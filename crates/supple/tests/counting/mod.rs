//! An allocator that counts.

#![allow(
    unsafe_code,
    reason = "a global allocator that counts can only be written with unsafe"
)]
#![allow(dead_code, reason = "no test uses all of it")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

static ON_ALL_THREADS: AtomicUsize = AtomicUsize::new(0);
static IN_USE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static IN_ALL: AtomicUsize = AtomicUsize::new(0);

fn take(bytes: usize) {
    IN_ALL.fetch_add(bytes, Ordering::Relaxed);
    let now = IN_USE.fetch_add(bytes, Ordering::Relaxed) + bytes;
    PEAK.fetch_max(now, Ordering::Relaxed);
}

fn give_back(bytes: usize) {
    IN_USE.fetch_sub(bytes, Ordering::Relaxed);
}

fn count() {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
    ON_ALL_THREADS.fetch_add(1, Ordering::Relaxed);
}

// SAFETY: every call is handed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        take(layout.size());
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        take(layout.size());
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        take(size);
        give_back(layout.size());
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        give_back(layout.size());
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The number of allocations on the caller's thread.
pub fn allocations_of(work: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

/// The number of allocations on all threads.
pub fn allocations_on_all_threads(work: impl FnOnce()) -> usize {
    let before = ON_ALL_THREADS.load(Ordering::Relaxed);
    work();
    ON_ALL_THREADS.load(Ordering::Relaxed) - before
}

/// The bytes that something takes, on all threads: nothing else must run meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// The most bytes in use at any time, beyond what was before.
    pub peak: usize,
    /// The bytes of all allocations together: a measure of work that depends on nothing else.
    pub in_all: usize,
}

/// Counts the bytes that something takes.
pub fn memory_of(work: impl FnOnce()) -> Memory {
    let before = IN_USE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let taken = IN_ALL.load(Ordering::Relaxed);
    work();
    Memory {
        peak: PEAK.load(Ordering::Relaxed) - before,
        in_all: IN_ALL.load(Ordering::Relaxed) - taken,
    }
}

/// Four times the input may take this many times the memory …
pub const MOST_GROWTH: f64 = 6.0;

/// … or, where triangles become thinner at the same time, this many times: a tree cuts thin ones
/// into up to sixteen pieces, each of a vector that doubles. The square would be sixteen times.
pub const MOST_GROWTH_OF_PIECES: f64 = 10.0;

/// Four times the input may allocate this many times the bytes in all: lists that double are
/// allocated again and again, solvers fill in, and smoothing takes twice the steps where four times
/// as many triangles meet in a vertex. The square would be sixteen times.
const MOST_ALLOCATED: f64 = 12.0;

/// Four times the input may take this many times the processor time …
const MOST_SLOWDOWN: f64 = 10.0;

/// … and these seconds more: clocks tick every four milliseconds, and machines are shared. Loops
/// that are quadratic and allocate nothing are all that only this sees.
const SOME_TIME: f64 = 0.1;

/// The processor time of the calling thread so far, in seconds; none outside of Linux.
fn time_of_thread() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split(' ').next()?.parse().ok()?;
    Some(nanoseconds * 1e-9)
}

/// The memory and the time of something for an input.
fn cost<T>(input: &T, run: impl Fn(&T)) -> (Memory, Option<f64>) {
    let begin = time_of_thread();
    let memory = memory_of(|| run(input));
    let time = time_of_thread().zip(begin).map(|(end, begin)| end - begin);
    (memory, time)
}

/// Runs something for an input and for one four times as large.
#[track_caller]
pub fn grows_with_its_input<T>(
    what: &str,
    size: usize,
    make: impl Fn(usize) -> T,
    run: impl Fn(&T),
) {
    grows_at_most(MOST_GROWTH, what, size, make, run);
}

/// The same where memory may grow faster.
#[track_caller]
pub fn grows_at_most<T>(
    most_growth: f64,
    what: &str,
    size: usize,
    make: impl Fn(usize) -> T,
    run: impl Fn(&T),
) {
    let [small, large] = [size, 4 * size].map(make);
    let (one, one_time) = cost(&small, &run);
    let (four, four_time) = cost(&large, &run);
    let grows = |one: usize, four: usize| four as f64 / one.max(1) as f64;
    let peaks = grows(one.peak, four.peak) < most_growth;
    assert!(peaks, "{what}: {one:?}, then {four:?}");
    let works = grows(one.in_all, four.in_all) < MOST_ALLOCATED.max(most_growth);
    assert!(works, "{what}: {one:?}, then {four:?}");
    if let Some((one, four)) = one_time.zip(four_time) {
        let allowed = MOST_SLOWDOWN * one + SOME_TIME;
        assert!(four < allowed, "{what}: {one} seconds, then {four}");
    }
}
