//! `vlen-utf8`: strings, one after the other, each behind its length.
//!
//! Spec: [vlen-utf8 codec](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/vlen-utf8). Checklist D.8.
//!
//! It has no configuration and takes the data type `string`. What is not UTF-8 is refused, on the way in
//! and out.

use std::sync::Arc;

use zarr_traits::{
    CodecError, CodecResult, DataType, Entry,
    codec::{Codec, CodecEntry, CodecKind, Configuration, Context, Repr},
};

use crate::vlen::{Vlen, only};

/// The row of this codec in a registry.
pub const ENTRY: Entry = Entry::Codec(CodecEntry::new("vlen-utf8", CodecKind::ArrayBytes, build));

fn build(_: &mut Configuration<'_>, repr: &Repr, _: &Context<'_>) -> CodecResult<Codec> {
    only(&DataType::String, repr)?;
    Ok(Codec::ArrayBytes(Arc::new(Vlen { check: text })))
}

fn text(content: &[u8]) -> CodecResult<()> {
    let invalid = |e| CodecError::corrupt("an element is not UTF-8").with_source(e);
    std::str::from_utf8(content).map(|_| ()).map_err(invalid)
}
