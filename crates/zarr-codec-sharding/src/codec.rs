//! The codec: shards to elements and back.

use std::sync::Arc;

use zarr_traits::strided::zeroed;
use zarr_traits::{
    ArrayBytesCodec, Chain, ChunkRead, CodecError, CodecErrorKind, CodecResult, Destination, Dims,
    EncodedSize, FillValue, Hints, Region, Scratch, Source, Span,
};

use crate::index::{Layout, MISSING, in_chunk, inside};
use crate::inner::{Overlap, Touched};
use crate::read::ShardRead;

/// What the codec and its readers share.
#[derive(Debug)]
pub(crate) struct Shard {
    /// The shape of inner chunks; no length is 0.
    pub(crate) chunk: Dims,
    /// What missing inner chunks are full of.
    pub(crate) fill: FillValue,
    /// The codecs of inner chunks.
    pub(crate) inner: Arc<Chain>,
    /// The codecs of the index.
    pub(crate) index: Chain,
    /// Whether the index is at the start of the object.
    pub(crate) at_start: bool,
    /// Bytes that an index may have, decoded.
    pub(crate) index_limit: u64,
}

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
        let entries = shard.entries(index, &layout, &touched, scratch)?;
        let room = shard.room(&layout, Some(src.len() as u64));
        for (position, entry) in touched.positions().zip(entries.chunks_exact(2)) {
            let number = touched.chunk(&position);
            let overlap = Overlap::of(part, &number, &shard.chunk).ok_or_else(outside)?;
            let mut dst = dst.reborrow().sub(&overlap.at, overlap.within.shape())?;
            match room.span(&number, [entry[0], entry[1]])? {
                None => dst.fill(shard.fill.bytes())?,
                Some(span) => {
                    let bytes = slice(src, span).ok_or_else(outside)?;
                    let decoded = shard.inner.decode_into(bytes, &shard.chunk, &overlap.within, dst, scratch);
                    decoded.map_err(|e| in_chunk(&number, e))?;
                }
            }
        }
        Ok(())
    }

    fn encode(&self, src: Source<'_>, out: &mut Vec<u8>, scratch: &mut Scratch) -> CodecResult<()> {
        let shard = &*self.0;
        let layout = shard.layout(src.shape())?;
        let mut entries = zeroed::<u64>(layout.index.product().and_then(to_usize).ok_or_else(outside)?)?;
        let start = out.len();
        if shard.at_start {
            let len = to_usize(layout.index_len).ok_or_else(outside)?;
            out.try_reserve(len).map_err(|_| no_memory(len))?;
            out.resize(start + len, 0);
        }
        let all = Touched { first: Dims::filled(0, layout.chunks.len()), count: layout.chunks.clone() };
        for (number, entry) in all.positions().zip(entries.chunks_exact_mut(2)) {
            let at: Dims = number.iter().zip(&shard.chunk).map(|(number, len)| number * len).collect();
            let chunk = src.sub(&at, &shard.chunk)?;
            if chunk.is_filled_with(shard.fill.bytes()) {
                entry.fill(MISSING);
                continue;
            }
            let before = out.len();
            shard.inner.encode(chunk, out, scratch).map_err(|e| in_chunk(&number, e))?;
            entry[0] = (before - start) as u64; // from the first byte of the shard, wherever the index is (D7.5)
            entry[1] = (out.len() - before) as u64;
        }
        let entries = Source::of(&entries, &layout.index)?;
        let mut index = scratch.take_vec();
        shard
            .index
            .encode(entries, &mut index, scratch)
            .map_err(|e| inside("in the index of the shard", e))?;
        if index.len() as u64 != layout.index_len {
            let message =
                format!("index_codecs made {} bytes and had promised {}", index.len(), layout.index_len);
            return Err(CodecError::new(CodecErrorKind::Unsupported, message));
        }
        if shard.at_start {
            out[start..start + index.len()].copy_from_slice(&index);
        } else {
            out.try_reserve(index.len()).map_err(|_| no_memory(index.len()))?;
            out.extend_from_slice(&index);
        }
        scratch.give_vec(index);
        Ok(())
    }

    /// Never exact: inner chunks that hold nothing but the fill value are left out.
    fn encoded_size(&self, shape: &[u64]) -> EncodedSize {
        let Ok(layout) = self.0.layout(shape) else { return EncodedSize::Unknown };
        let chunks =
            self.0.inner.encoded_size(&self.0.chunk).bound().and_then(|one| one.checked_mul(layout.len()));
        match chunks.and_then(|chunks| chunks.checked_add(layout.index_len)) {
            Some(most) => EncodedSize::AtMost(most),
            None => EncodedSize::Unknown,
        }
    }

    fn partial(&self, shape: &[u64], part: &Region, _: Hints) -> Option<Box<dyn ChunkRead>> {
        if part.is_whole(shape) || !part.is_inside(shape) {
            return None;
        }
        let layout = self.0.layout(shape).ok()?;
        Some(Box::new(ShardRead::new(self.0.clone(), layout, part.clone())))
    }
}

impl Shard {
    /// The bytes of the index in those of a whole shard.
    fn index_of<'a>(&self, src: &'a [u8], layout: &Layout) -> CodecResult<&'a [u8]> {
        let split = to_usize(layout.index_len).and_then(|len| {
            if self.at_start { src.get(..len) } else { src.get(src.len().checked_sub(len)?..) }
        });
        split.ok_or_else(|| self.too_short(src.len(), layout))
    }
}

fn slice(src: &[u8], span: Span) -> Option<&[u8]> {
    let start = to_usize(span.offset)?;
    src.get(start..start.checked_add(to_usize(span.len)?)?)
}

fn to_usize(n: u64) -> Option<usize> {
    usize::try_from(n).ok()
}

fn no_memory(len: usize) -> CodecError {
    CodecError::new(CodecErrorKind::LimitExceeded, format!("no memory for {len} bytes"))
}

/// What the checks before rule out.
fn outside() -> CodecError {
    CodecError::new(CodecErrorKind::InvalidArgument, "the part is not inside of the shard")
}
