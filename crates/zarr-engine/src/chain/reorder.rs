//! Partial reads and writes through codecs that only reorder dimensions, or convert single elements.

use std::sync::Arc;

use bytes::Bytes;
use zarr_strided::{Dims, Source};

use super::Chain;
use super::elementwise::Elementwise;
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

/// A reader or writer of what the array → bytes codec encodes, as one of the elements of the chunk.
#[derive(Debug)]
pub(super) struct Mapped<T: ?Sized> {
    pub(super) inner: Box<T>,
    /// The order of dimensions that the codec sees, if it is not that of the chunk.
    pub(super) order: Option<Dims>,
    pub(super) codecs: Option<Arc<Elementwise>>,
}

impl<T: ?Sized> Mapped<T> {
    /// Whether elements stay as they are.
    pub(super) fn is_same(&self) -> bool {
        self.order.is_none() && self.codecs.is_none()
    }
}

impl ChunkRead for Mapped<dyn ChunkRead> {
    fn wants(&self) -> &[ByteRange] {
        self.inner.wants()
    }

    fn feed(&mut self, bytes: &[&[u8]], size: Option<u64>) -> CodecResult<()> {
        self.inner.feed(bytes, size)
    }

    fn known(&self) -> Option<Known> {
        self.inner.known()
    }

    fn object_size(&self) -> Option<u64> {
        self.inner.object_size()
    }

    fn pieces(&self, out: &mut Vec<Piece>) -> CodecResult<()> {
        let (mut inner, mut fill) = (Vec::new(), None);
        self.inner.pieces(&mut inner)?;
        for mut piece in inner {
            if let Some(order) = &self.order {
                piece = reordered(piece, order).ok_or_else(no_order)?;
            }
            if let Some(codecs) = &self.codecs {
                piece = codecs.piece(piece, &mut fill)?;
            }
            out.push(piece);
        }
        Ok(())
    }
}

impl ChunkUpdate for Mapped<dyn ChunkUpdate> {
    fn feed(&mut self, object: Bytes) -> CodecResult<()> {
        self.inner.feed(object)
    }

    fn count(&self) -> usize {
        self.inner.count()
    }

    fn elements(&self, number: usize) -> CodecResult<Region> {
        let elements = self.inner.elements(number)?;
        let Some(order) = &self.order else { return Ok(elements) };
        order.inverse().and_then(|back| elements.permute(&back)).ok_or_else(no_order)
    }

    fn encode(
        &self,
        number: usize,
        src: &Source<'_>,
        out: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> CodecResult<bool> {
        let mut write = |src: &Source<'_>, scratch: &mut Scratch| match &self.order {
            Some(order) => self.inner.encode(number, &src.permute(order)?, out, scratch),
            None => self.inner.encode(number, src, out, scratch),
        };
        match &self.codecs {
            Some(codecs) => codecs.encode_from(0, src, scratch, &mut write),
            None => write(src, scratch),
        }
    }

    fn join(
        &self,
        buffers: &[Bytes],
        inner: &[NewInner],
        scratch: &mut Scratch,
    ) -> CodecResult<JoinedObject> {
        self.inner.join(buffers, inner, scratch)
    }
}
