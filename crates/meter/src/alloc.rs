//! An allocator that counts.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

static CALLS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);
static LIVE: AtomicU64 = AtomicU64::new(0);
static PEAK: AtomicU64 = AtomicU64::new(0);
static LARGEST: AtomicU64 = AtomicU64::new(0);

/// An allocator that hands every call on to `A` and counts it.
///
/// The counters belong to the process, so at most one of these is of use in it.
///
/// ```
/// use wiremark_meter::alloc::{Counting, measure};
///
/// #[global_allocator]
/// static ALLOCATOR: Counting = Counting::system();
///
/// # fn main() {
/// let (vec, allocated) = measure(|| Vec::<u64>::with_capacity(100));
/// assert_eq!(allocated.calls, 1);
/// assert_eq!(allocated.bytes, 800);
/// # drop(vec);
/// # }
/// ```
#[derive(Debug)]
pub struct Counting<A = System>(A);

/// What was asked of the allocator while something ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allocated {
    /// Calls of `alloc`, `alloc_zeroed` and `realloc`.
    pub calls: u64,
    /// Bytes asked for; a `realloc` counts what it grows by.
    pub bytes: u64,
    /// The most bytes alive at one time beyond those alive at the start.
    pub peak_bytes: u64,
    /// The largest single request, in bytes.
    pub largest_bytes: u64,
}

impl Counting<System> {
    /// Counts what the system's allocator is asked.
    pub const fn system() -> Self {
        Self(System)
    }
}

impl<A> Counting<A> {
    /// Counts what `inner` is asked.
    pub const fn new(inner: A) -> Self {
        Self(inner)
    }
}

/// Runs `work` and tells what it asked of the allocator; all zero where [`Counting`] is not the
/// process's allocator. Other threads' calls are counted too, so none should run.
pub fn measure<T>(work: impl FnOnce() -> T) -> (T, Allocated) {
    let calls = CALLS.load(Relaxed);
    let bytes = BYTES.load(Relaxed);
    let live = LIVE.load(Relaxed);
    PEAK.store(live, Relaxed);
    LARGEST.store(0, Relaxed);
    let made = work();
    let allocated = Allocated {
        calls: CALLS.load(Relaxed) - calls,
        bytes: BYTES.load(Relaxed) - bytes,
        peak_bytes: PEAK.load(Relaxed).saturating_sub(live),
        largest_bytes: LARGEST.load(Relaxed),
    };
    (made, allocated)
}

fn grew(bytes: usize, request: usize) {
    let bytes = bytes as u64;
    CALLS.fetch_add(1, Relaxed);
    BYTES.fetch_add(bytes, Relaxed);
    let live = LIVE.fetch_add(bytes, Relaxed) + bytes;
    PEAK.fetch_max(live, Relaxed);
    LARGEST.fetch_max(request as u64, Relaxed);
}

// SAFETY: every call goes to `A` with the arguments it came with, and what `A` answers is
// returned unchanged; the counters are plain atomics and allocate nothing.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Counting<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps `alloc`'s contract, which is `A`'s.
        let pointer = unsafe { self.0.alloc(layout) };
        if !pointer.is_null() {
            grew(layout.size(), layout.size());
        }
        pointer
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as for `alloc`.
        let pointer = unsafe { self.0.alloc_zeroed(layout) };
        if !pointer.is_null() {
            grew(layout.size(), layout.size());
        }
        pointer
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: as for `alloc`; `old` came from `A`, since every pointer we return does.
        let pointer = unsafe { self.0.realloc(old, layout, new_size) };
        if !pointer.is_null() {
            if new_size >= layout.size() {
                grew(new_size - layout.size(), new_size);
            } else {
                CALLS.fetch_add(1, Relaxed);
                LIVE.fetch_sub((layout.size() - new_size) as u64, Relaxed);
            }
        }
        pointer
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as u64, Relaxed);
        // SAFETY: `pointer` came from `A`, since every pointer we return does.
        unsafe { self.0.dealloc(pointer, layout) };
    }
}
