//! The approximate sizes of a read, from which its memory and its threads are chosen.

use zarr_engine::run::{SMALL, Sizes};
use zarr_traits::partial::Piece;

use crate::io::core::Core;
use crate::plan::joint::Joint;

/// Returns the sizes of a read whose results have some bytes.
pub(super) fn sizes(core: &Core, joint: &Joint, bytes: u64) -> Sizes {
    let (cells, tiles, plain) = (joint.cells(), joint.tiles(), core.chain.is_plain());
    let chunk = joint.largest_chunk().saturating_mul(core.size as u64);
    let inner = joint.inner().map(|inner| (core.bytes_of(&inner.shape), inner.together.max(1)));
    let unit = inner.map_or(chunk, |(bytes, _)| bytes);
    let decoded = if plain { bytes } else { unit.saturating_mul(tiles) };
    let expected = match inner {
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
    let is_small = tiles <= 1 || decoded < SMALL || is_alone;
    Sizes::new(cells, bytes).is_small(is_small).shares(inner.is_some()).expected(expected)
}
