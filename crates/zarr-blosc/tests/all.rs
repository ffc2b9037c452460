//! All tests of this crate as one program, which is built and linked once.
#![allow(clippy::unwrap_used, reason = "these are tests")]

#[allow(unsafe_code, reason = "calls C-Blosc")]
mod c_blosc;
mod frames;
mod golden;
mod hostile;

/// Returns a memory with the C libraries, if this build contains them, and then one without.
fn memories() -> Vec<zarr_blosc::BloscMemory> {
    let mut memories = vec![zarr_blosc::BloscMemory::new()];
    if cfg!(all(feature = "lz4", feature = "zstd")) {
        memories.push(zarr_blosc::BloscMemory::in_rust());
    }
    memories
}
