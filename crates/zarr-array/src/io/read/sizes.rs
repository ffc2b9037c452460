//! The approximate sizes of a read, from which its memory and its threads are chosen.

use zarr_engine::run::{SMALL, UNCOUNTED};
use zarr_traits::partial::Piece;

use crate::io::core::Core;
use crate::plan::joint::Joint;

/// The approximate sizes of a read, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    /// What is fetched of a chunk at once.
    pub(crate) fetched: u64,
    /// Whether handing cells to other threads would cost more than it gains.
    pub(crate) is_quick: bool,
}

impl Sizes {
    /// Returns the sizes of a read of `result` bytes.
    pub(crate) fn of(core: &Core, joint: &Joint, result: u64) -> Self {
        let (cells, tiles, plain) = (joint.cells(), joint.tiles(), core.chain.is_plain());
        let chunk = joint.largest_chunk().saturating_mul(core.size as u64);
        let inner = joint.inner().map(|inner| (core.bytes_of(&inner.shape), inner.together.max(1)));
        let unit = inner.map_or(chunk, |(bytes, _)| bytes);
        let decoded = if plain { result } else { unit.saturating_mul(tiles) };
        let fetched = match inner {
            // Only the selected part of a shard is read, in blocks.
            Some((unit, together)) => {
                let most = together.min(tiles.div_ceil(cells.max(1)));
                unit.saturating_add(Piece::BYTES).saturating_mul(most)
            }
            // Only the selected part of an uncompressed chunk is read.
            None if plain => chunk.min(decoded / cells.max(1)),
            None => chunk,
        };
        // A chunk without inner chunks is decoded by one thread.
        let is_alone = cells <= 1 && inner.is_none() || cells <= 2 && plain;
        Self { fetched, is_quick: tiles <= 1 || decoded < SMALL || is_alone }
    }

    /// Whether the read is quick, and so small that its memory need not be counted.
    pub(crate) fn are_small(&self) -> bool {
        self.is_quick && self.fetched <= UNCOUNTED
    }
}
