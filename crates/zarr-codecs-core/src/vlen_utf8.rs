//! `vlen-utf8`: strings, each preceded by its length.
//!
//! Spec: [vlen-utf8 codec](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/vlen-utf8).
//! Rules: [vlen-utf8](https://github.com/zarr-rs/zarr/blob/v0.1.0/docs/specification/codecs.md#d.8).
//!
//! The codec has no configuration. It needs the data type `string`. Bytes that are not UTF-8 are refused, both when
//! reading and when writing.

use std::sync::Arc;

use zarr_traits::codec::{Codec, CodecKind, Repr};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Entry};
use zarr_traits::{CodecError, CodecResult, DataType};

use crate::vlen::{Vlen, only};

/// The registry entry of this codec.
pub const ENTRY: Entry = Entry::Codec(CodecEntry::new("vlen-utf8", CodecKind::ArrayBytes, build));

fn build(_: &mut Configuration<'_>, repr: &Repr, _: &Context<'_>) -> CodecResult<Codec> {
    only(&DataType::String, repr)?;
    Ok(Codec::ArrayBytes(Arc::new(Vlen { check: text })))
}

fn text(content: &[u8]) -> CodecResult<()> {
    let invalid = |e| CodecError::corrupt("an element is not UTF-8").with_source(e);
    std::str::from_utf8(content).map(|_| ()).map_err(invalid)
}
