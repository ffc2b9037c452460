//! `numcodecs.crc32`: the CRC-32 of zlib, by default before the data.
//!
//! | member | value |
//! |---|---|
//! | `location` | `"start"` or `"end"`; `"start"` when absent |

use zarr_traits::CodecResult;
use zarr_traits::codec::{Codec, CodecKind, Repr};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Entry};

use crate::checksum;

/// The row of this codec in a registry.
pub const ENTRY: Entry = Entry::Codec(CodecEntry::new("numcodecs.crc32", CodecKind::BytesBytes, build));

fn build(configuration: &mut Configuration<'_>, _: &Repr, _: &Context<'_>) -> CodecResult<Codec> {
    let sum: fn(&[u8]) -> u32 = crc32fast::hash;
    Ok(checksum::codec(sum, checksum::at_start(configuration, true)?))
}
