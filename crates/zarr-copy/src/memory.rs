//! The memory of a copy, which is counted before it is taken.

use zarr_array::traits::Prefix;
use zarr_array::{Array, ArrayResult, Cpu, OpenOptions, Registry};
use zarr_engine::{Gate, Permit};
use zarr_store::Prefixed;

/// The memory that a copy may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Allowed {
    /// 512 MiB, or as much as one chunk, shard or object needs.
    Usual,
    /// As many bytes as the caller has set, and no more.
    Set(u64),
}

impl Allowed {
    pub(crate) fn bytes(self) -> u64 {
        match self {
            Self::Usual => 512 << 20,
            Self::Set(bytes) => bytes,
        }
    }

    /// Returns more memory, if the caller has set no limit.
    pub(crate) fn grown(self, bytes: u64) -> Option<u64> {
        (self == Self::Usual).then(|| bytes.checked_mul(2)).flatten()
    }
}

/// Memory for the largest source chunk and the blocks of one array.
///
/// A quarter is for encoded chunks that are read, a quarter for decoded chunks that a block covers in part (one for each
/// thread), and the rest for blocks. If a chunk needs more than a quarter, the blocks have less.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shares {
    /// The number of threads that decode and encode.
    pub(crate) threads: usize,
    /// Encoded bytes in flight.
    pub(crate) in_flight: u64,
    /// Bytes of decoded chunks that a block covers in part.
    scratch: u64,
    /// Bytes for blocks.
    pub(crate) blocks: u64,
}

impl Shares {
    /// Divides `most` bytes for chunks of `chunk` decoded bytes.
    pub(crate) fn new(most: u64, chunk: u64, threads: usize) -> Self {
        let quarter = most / 4;
        let fits = usize::try_from(quarter / chunk.max(1)).unwrap_or(usize::MAX);
        // Without threads the calling task works.
        let threads = threads.min(fits.max(1));
        let scratch = chunk.saturating_mul(threads.max(1) as u64);
        let in_flight = quarter.max(chunk);
        Self { threads, in_flight, scratch, blocks: most.saturating_sub(in_flight).saturating_sub(scratch) }
    }

    /// Returns the bytes beside the blocks, for `elements` bytes of elements.
    pub(crate) fn fixed(self, elements: u128) -> u64 {
        let in_flight = u128::from(self.in_flight).min(elements);
        self.scratch.saturating_add(u64::try_from(in_flight).unwrap_or(u64::MAX))
    }
}

/// Bytes that several blocks or objects share.
#[derive(Debug, Clone)]
pub(crate) struct Room {
    gate: Gate,
    is_strict: bool,
}

impl Room {
    pub(crate) fn new(bytes: u64) -> Self {
        Self { gate: Gate::new(usize::MAX, bytes), is_strict: true }
    }

    pub(crate) fn of(allowed: Allowed) -> Self {
        Self { is_strict: allowed != Allowed::Usual, ..Self::new(allowed.bytes()) }
    }

    /// Whether there can be room for `bytes`: without a limit of the caller they are alone.
    pub(crate) fn fits(&self, bytes: u64) -> bool {
        !self.is_strict || bytes <= self.gate.most_bytes()
    }

    /// Waits until `bytes` are free, and takes them until the permit is dropped. More than there is takes all.
    pub(crate) async fn take(&self, bytes: u64) -> Permit {
        self.gate.enter(bytes.min(self.gate.most_bytes())).await
    }
}

/// Opens an array again, with these threads and bytes in flight. What its reads and writes keep for the next ones is
/// freed with the array, and not only with its storage.
pub(crate) fn limited(array: &Array, registry: &Registry, cpu: &Cpu, in_flight: u64) -> ArrayResult<Array> {
    let storage = Prefixed::over(array.storage(), Prefix::root());
    let requests = storage.capabilities().drive.most_in_flight();
    let (place, meta) = (Prefix::of_node(array.path())?, array.metadata().clone());
    let opened = Array::from_metadata(storage, place, meta, Vec::new(), registry, &OpenOptions::new())?;
    let opened = opened.with_missing_chunks(array.missing_chunks()).with_empty_chunks(array.empty_chunks());
    Ok(opened.with_cpu(cpu.clone()).with_in_flight(requests, in_flight))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_never_exceed_the_whole() {
        for (most, chunk, cores, threads, blocks) in [
            (400, 10, 4, 4, 260),
            (400, 50, 4, 2, 200),
            (400, 150, 4, 1, 100),
            (400, 300, 4, 1, 0),
            (400, 0, 4, 4, 300),
        ] {
            let shares = Shares::new(most, chunk, cores);
            assert_eq!((shares.threads, shares.blocks), (threads, blocks), "{chunk}");
            assert!(shares.in_flight >= chunk);
        }
    }
}
