//! `numcodecs.crc32c`: CRC-32C (Castagnoli), by default after the data.
//!
//! | member | value |
//! |---|---|
//! | `location` | `"start"` or `"end"`; `"end"` when absent |

use zarr_traits::CodecResult;
use zarr_traits::codec::{Codec, CodecKind, Repr};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Entry};

use crate::checksum;

/// The row of this codec in a registry.
pub const ENTRY: Entry = Entry::Codec(CodecEntry::new("numcodecs.crc32c", CodecKind::BytesBytes, build));

fn build(configuration: &mut Configuration<'_>, _: &Repr, _: &Context<'_>) -> CodecResult<Codec> {
    let sum: fn(&[u8]) -> u32 = ::crc32c::crc32c;
    Ok(checksum::codec(sum, checksum::at_start(configuration, false)?))
}
