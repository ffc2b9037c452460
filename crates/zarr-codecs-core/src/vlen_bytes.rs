//! `vlen-bytes`: byte strings, each preceded by its length.
//!
//! Spec: [vlen-bytes codec](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/vlen-bytes).
//! Rules: [vlen-bytes](https://github.com/zarr-rs/zarr/blob/v0.1.0/docs/specification/codecs.md#d.8).
//!
//! The codec has no configuration. It needs the data type `bytes`.

use std::sync::Arc;

use zarr_traits::codec::{Codec, CodecKind, Repr};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Entry};
use zarr_traits::{CodecResult, DataType};

use crate::vlen::{Vlen, only};

/// The registry entry of this codec.
pub const ENTRY: Entry = Entry::Codec(CodecEntry::new("vlen-bytes", CodecKind::ArrayBytes, build));

fn build(_: &mut Configuration<'_>, repr: &Repr, _: &Context<'_>) -> CodecResult<Codec> {
    only(&DataType::Bytes, repr)?;
    Ok(Codec::ArrayBytes(Arc::new(Vlen { check: |_| Ok(()) })))
}
