//! An allocator with a bound. It ends the process when one run takes more memory than a hostile input may cause.
#![allow(unsafe_code, reason = "an allocator that counts")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The memory that one run may take beside what is there before: 16 MiB, and the largest chunk of a target.
pub const BOUND: usize = (16 << 20) + (1 << 20);

static LIVE: AtomicUsize = AtomicUsize::new(0);
static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);

struct Bounded;

impl Bounded {
    fn take(bytes: usize) {
        let live = LIVE.fetch_add(bytes, Relaxed).saturating_add(bytes);
        if live > LIMIT.load(Relaxed) {
            // Without the limit, so that the message can be formatted.
            let limit = LIMIT.swap(usize::MAX, Relaxed);
            eprintln!("an allocation of {bytes} bytes makes {live} of at most {limit}");
            std::process::abort();
        }
    }
}

// SAFETY: every call goes unchanged to the allocator of the system.
unsafe impl GlobalAlloc for Bounded {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::take(layout.size());
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::take(layout.size());
        // SAFETY: as the caller promised.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Bounded = Bounded;

/// Lifts the bound when a panic is reported, whose backtrace takes more.
pub fn lift_for_panics() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        LIMIT.store(usize::MAX, Relaxed);
        report(info);
    }));
}

/// The memory that `pco` takes beside that: it allocates a window of up to 2^25 numbers as soon as a chunk asks for it.
pub const WINDOW: usize = 256 << 20;

/// Runs `work` with so many bytes of memory.
pub fn bounded(bytes: usize, work: impl FnOnce()) {
    LIMIT.store(LIVE.load(Relaxed).saturating_add(bytes), Relaxed);
    work();
    LIMIT.store(usize::MAX, Relaxed);
}
