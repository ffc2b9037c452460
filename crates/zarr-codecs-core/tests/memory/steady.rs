//! In the steady state no large memory is allocated: contexts and buffers are reused. (Memory that a C library
//! allocates itself is not counted: c-blosc allocates and frees some blocks per call.)
#![cfg(all(
    feature = "blosc",
    feature = "bytes",
    feature = "conditional",
    feature = "crc32c",
    feature = "gzip",
    feature = "zstd"
))]
#![allow(unsafe_code, reason = "an allocator that counts")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use zarr_traits::json;
use zarr_traits::strided::{Destination, Source};
use zarr_traits::{Region, Scratch};

use crate::testing::{Noise, after_bytes, chain};

struct Counting;

static LARGE: AtomicUsize = AtomicUsize::new(0);

fn count(bytes: usize) {
    LARGE.fetch_add(usize::from(bytes >= 4096), Relaxed);
}

// SAFETY: every call is passed on unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as the caller promised.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        // SAFETY: as the caller promised.
        unsafe { System.realloc(memory, layout, size) }
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(memory, layout) };
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn later_chunks_allocate_nothing_large() {
    let _alone = crate::alone();
    let blosc = json!({"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 2, "blocksize": 0});
    let both =
        after_bytes("zstd", json!({"level": 1})).elements().unwrap().chain([json!("crc32c")]).collect();
    let chains = [
        after_bytes("zstd", json!({"level": 1})),
        after_bytes("gzip", json!({"level": 1})),
        after_bytes("gzip", json!({"level": 0})),
        after_bytes("blosc", blosc),
        after_bytes("crc32c", json!(null)),
        after_bytes(
            "conditional",
            json!({"codecs": [{"name": "zstd", "configuration": {"level": 1}}, "crc32c"]}),
        ),
        both,
        json!([crate::testing::bytes("big"), {"name": "zstd", "configuration": {"level": 3, "checksum": true}}]),
        json!([crate::testing::bytes("little")]),
    ];
    let shape = [256, 256];
    let elements = Noise(1).waves(256 * 256 * 2);
    let part = Region::new([100, 7], [90, 150]).unwrap();
    for codecs in chains {
        let chain = chain(&codecs, "uint16", 2);
        let (mut scratch, mut encoded) = (Scratch::new(), Vec::new());
        let mut whole = vec![0; elements.len()];
        let mut box_of_it = vec![0; 90 * 150 * 2];
        let mut run = |rounds: usize| {
            let before = LARGE.load(Relaxed);
            for _ in 0..rounds {
                encoded.clear();
                chain
                    .encode(Source::dense(&elements, &shape, 2).unwrap(), &mut encoded, &mut scratch)
                    .unwrap();
                let target = Destination::dense(&mut whole, &shape, 2).unwrap();
                chain.decode_into(&encoded, &shape, &Region::whole(&shape), target, &mut scratch).unwrap();
                let target = Destination::dense(&mut box_of_it, part.shape(), 2).unwrap();
                chain.decode_into(&encoded, &shape, &part, target, &mut scratch).unwrap();
            }
            LARGE.load(Relaxed) - before
        };
        run(2);
        assert_eq!(run(40), 0, "{codecs}");
        assert_eq!(whole, elements);
    }
}
