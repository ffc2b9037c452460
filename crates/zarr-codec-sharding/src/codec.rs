//! The codec: encodes and decodes whole shards.

use std::sync::Arc;

use zarr_traits::strided::{Destination, Source};
use zarr_traits::{
    CodecResult, Fetching, Region, Scratch,
    codec::{ArrayBytesCodec, EncodedSize, PartAccess},
    partial::{ChunkRead, Known},
    update::{ChunkUpdate, InnerChunks, InnerOrder, SelectedPart},
};

use crate::inner::{Overlap, Touched};
use crate::read::ShardRead;
use crate::shard::{Shard, outside, slice};
use crate::update::{ShardUpdate, append};

#[derive(Debug)]
pub(crate) struct Sharding(pub(crate) Arc<Shard>);

impl ArrayBytesCodec for Sharding {
    fn check_shape(&self, shape: &[u64]) -> CodecResult<()> {
        let layout = self.0.layout(shape)?;
        self.0.index.check_shape(&layout.index)
    }

    fn decode_into(
        &self,
        src: &[u8],
        shape: &[u64],
        part: &Region,
        mut dst: Destination<'_>,
        scratch: &mut Scratch,
    ) -> CodecResult<()> {
        let shard = &*self.0;
        let layout = shard.layout(shape)?;
        let index = shard.index_of(src, &layout)?;
        let touched = Touched::by(part, &shard.chunk);
        let entries = shard.entries(index, &layout, touched.clone(), scratch)?;
        let room = shard.room(&layout, Some(src.len() as u64));
        for position in touched.positions(InnerOrder::C) {
            let number = touched.chunk(&position);
            let overlap = Overlap::of(part, &number, &shard.chunk).ok_or_else(outside)?;
            let mut dst = dst.reborrow().sub(&overlap.at, overlap.within.shape())?;
            match room.span(&number, entries.of(&number))? {
                None => dst.fill(shard.fill.bytes())?,
                Some(span) => {
                    let bytes = slice(src, span).ok_or_else(outside)?;
                    let decoded = shard.inner.decode_into(bytes, &shard.chunk, &overlap.within, dst, scratch);
                    decoded.map_err(|e| e.in_inner_chunk(&number))?;
                }
            }
        }
        Ok(())
    }

    /// Used if other codecs surround the shard. Otherwise an engine encodes inner chunks through
    /// [`update`](Self::update).
    fn encode(&self, src: Source<'_>, out: &mut Vec<u8>, scratch: &mut Scratch) -> CodecResult<()> {
        let all = SelectedPart::all(Region::whole(src.shape()));
        let layout = self.0.layout(src.shape())?;
        let update =
            ShardUpdate::new(self.0.clone(), layout, &all, InnerChunks::default()).ok_or_else(outside)?;
        append(&update, true, &src, out, scratch).map(drop)
    }

    /// Never exact: inner chunks that contain only the fill value are left out.
    fn encoded_size(&self, shape: &[u64]) -> EncodedSize {
        let bound = self.0.layout(shape).ok().and_then(|layout| self.0.object_bound(&layout));
        bound.map_or(EncodedSize::Unknown, EncodedSize::AtMost)
    }

    fn access(&self) -> PartAccess<'_> {
        PartAccess::Inner(&self.0.chunk)
    }

    fn partial(
        &self,
        shape: &[u64],
        part: &Region,
        fetching: Fetching,
        known: Option<&Known>,
    ) -> CodecResult<Option<Box<dyn ChunkRead>>> {
        if !part.is_inside(shape) {
            return Err(outside());
        }
        let layout = self.0.layout(shape)?;
        Ok(Some(Box::new(ShardRead::new(self.0.clone(), layout, part.clone(), fetching, known))))
    }

    fn update(&self, shape: &[u64], picks: &SelectedPart, how: InnerChunks) -> Option<Box<dyn ChunkUpdate>> {
        let layout = self.0.layout(shape).ok().filter(|_| picks.part.is_inside(shape))?;
        Some(Box::new(ShardUpdate::new(self.0.clone(), layout, picks, how)?))
    }
}
