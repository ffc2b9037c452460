//! Partial reads and writes through codecs that only reorder dimensions, or convert single elements.

use bytes::Bytes;
use zarr_strided::{Dims, Source};

use super::Chain;
use crate::piece::reordered;
use zarr_traits::codec::Effect;
use zarr_traits::partial::{ChunkRead, Known, Piece};
use zarr_traits::update::{ChunkUpdate, JoinedObject, NewInner};
use zarr_traits::{ByteRange, CodecError, CodecErrorKind, CodecResult, Region, Scratch};

impl Chain {
    /// Returns the order of dimensions that the array → bytes codec sees: its dimension `i` is dimension `order[i]` of
    /// the chunk. Returns `None` if a codec before it neither reorders dimensions nor converts single elements.
    pub(super) fn order(&self, rank: usize) -> Option<Dims> {
        let same: Dims = (0..rank as u64).collect();
        self.array_array.iter().try_fold(same, |order, named| match named.codec.effect() {
            Effect::Reorder(by) => order.permuted(by),
            Effect::Elementwise => Some(order),
            _ => None,
        })
    }
}

/// Whether `order` changes nothing.
pub(super) fn is_same(order: &[u64]) -> bool {
    order.iter().zip(0..).all(|(dim, i)| *dim == i)
}

fn no_order() -> CodecError {
    CodecError::new(
        CodecErrorKind::InvalidArgument,
        "the dimensions of a piece differ from those of its chunk",
    )
}

/// A reader whose pieces have the dimension order of the chunk.
#[derive(Debug)]
pub(super) struct ReorderedRead {
    pub(super) read: Box<dyn ChunkRead>,
    pub(super) order: Dims,
}

impl ChunkRead for ReorderedRead {
    fn wants(&self) -> &[ByteRange] {
        self.read.wants()
    }

    fn feed(&mut self, bytes: &[&[u8]], size: Option<u64>) -> CodecResult<()> {
        self.read.feed(bytes, size)
    }

    fn known(&self) -> Option<Known> {
        self.read.known()
    }

    fn object_size(&self) -> Option<u64> {
        self.read.object_size()
    }

    fn pieces(&self, out: &mut Vec<Piece>) -> CodecResult<()> {
        let mut inner = Vec::new();
        self.read.pieces(&mut inner)?;
        for piece in inner {
            out.push(reordered(piece, &self.order).ok_or_else(no_order)?);
        }
        Ok(())
    }
}

/// A writer whose elements have the dimension order of the chunk.
#[derive(Debug)]
pub(super) struct ReorderedUpdate {
    pub(super) update: Box<dyn ChunkUpdate>,
    pub(super) order: Dims,
}

impl ChunkUpdate for ReorderedUpdate {
    fn feed(&mut self, object: Bytes) -> CodecResult<()> {
        self.update.feed(object)
    }

    fn count(&self) -> usize {
        self.update.count()
    }

    fn elements(&self, number: usize) -> CodecResult<Region> {
        let back = self.order.inverse().ok_or_else(no_order)?;
        self.update.elements(number)?.permute(&back).ok_or_else(no_order)
    }

    fn encode(
        &self,
        number: usize,
        src: &Source<'_>,
        out: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> CodecResult<bool> {
        self.update.encode(number, &src.permute(&self.order)?, out, scratch)
    }

    fn join(
        &self,
        buffers: &[Bytes],
        inner: &[NewInner],
        scratch: &mut Scratch,
    ) -> CodecResult<JoinedObject> {
        self.update.join(buffers, inner, scratch)
    }
}
