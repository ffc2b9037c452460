//! `numcodecs.astype`: numbers of another type.
//!
//! | member | value |
//! |---|---|
//! | `encode_dtype` | type of the encoded numbers |
//! | `decode_dtype` | type of the decoded numbers; in format 3 the data type of the array when absent |
//!
//! Casts are those of C: integers wrap around, floats are rounded, fractions are truncated.

use zarr_traits::codec::{Codec, CodecKind, Repr};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Entry};
use zarr_traits::kernel::Kernel;
use zarr_traits::{CodecResult, Scratch};

use crate::number::{StoredType, cast};
use crate::typed::{self, Filter};

/// The row of this codec in a registry, for format 3.
pub const ENTRY: Entry = Entry::Codec(CodecEntry::new(
    "numcodecs.astype",
    CodecKind::ArrayArray,
    |configuration, repr, _: &Context<'_>| {
        typed::array_codec(filter(configuration, typed::native(repr))?, repr)
    },
));

/// The row of this codec for bytes of format 2.
pub const BYTES_ENTRY: Entry = Entry::Codec(CodecEntry::new(
    "numcodecs:astype",
    CodecKind::BytesBytes,
    |configuration, _: &Repr, _: &Context<'_>| -> CodecResult<Codec> {
        Ok(typed::bytes_codec(filter(configuration, None)?))
    },
));

#[derive(Debug)]
struct AsType {
    decoded: StoredType,
    encoded: StoredType,
}

fn filter(configuration: &mut Configuration<'_>, default: Option<StoredType>) -> CodecResult<AsType> {
    let encoded = StoredType::member(configuration, "encode_dtype", None)?;
    let decoded = StoredType::member(configuration, "decode_dtype", default)?;
    Ok(AsType { decoded, encoded })
}

impl Filter for AsType {
    fn types(&self) -> [StoredType; 2] {
        [self.decoded, self.encoded]
    }
}

impl Kernel for AsType {
    fn encode(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> CodecResult<()> {
        cast(self.decoded.kind, src, self.encoded.kind, dst);
        Ok(())
    }

    fn decode(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> CodecResult<()> {
        cast(self.encoded.kind, src, self.decoded.kind, dst);
        Ok(())
    }
}
