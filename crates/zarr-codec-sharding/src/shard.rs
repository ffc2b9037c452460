//! The layout of a shard, which the codec, its readers and its writers share.

use std::sync::Arc;
use zarr_traits::strided::to_usize;

use zarr_engine::Chain;
use zarr_traits::strided::Dims;
use zarr_traits::{CodecError, CodecErrorKind, FillValue, Span};

/// A shard of any shape, as its configuration describes it.
#[derive(Debug)]
pub(crate) struct Shard {
    /// The shape of inner chunks; no length is 0.
    pub(crate) chunk: Dims,
    /// The fill value of missing inner chunks.
    pub(crate) fill: FillValue,
    /// The codecs of inner chunks.
    pub(crate) inner: Arc<Chain>,
    /// The codecs of the index.
    pub(crate) index: Chain,
    /// Whether the index is at the start of the object.
    pub(crate) at_start: bool,
    /// The most bytes of a decoded index.
    pub(crate) index_limit: u64,
    /// The most bytes of an object.
    pub(crate) object_limit: u64,
}

pub(crate) fn slice(src: &[u8], span: Span) -> Option<&[u8]> {
    src.get(to_usize(span.offset)..to_usize(span.offset.checked_add(span.len)?))
}

/// Returns the error for a state that earlier checks exclude.
pub(crate) fn outside() -> CodecError {
    CodecError::new(CodecErrorKind::InvalidArgument, "the part is not inside the shard")
}
