//! `numcodecs.fletcher32`: the Fletcher-32 of HDF5, after the data. It has no configuration.
//!
//! The sums are of big-endian numbers of two bytes, modulo 65535. A last odd byte is the upper half of a number. The
//! sum of no bytes is 0.

use zarr_traits::CodecResult;
use zarr_traits::codec::{Codec, CodecKind, Repr};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Entry};

use crate::checksum;

/// The row of this codec in a registry.
pub const ENTRY: Entry = Entry::Codec(CodecEntry::new("numcodecs.fletcher32", CodecKind::BytesBytes, build));

/// How many numbers can be added before sums of 32 bits overflow.
const BLOCK: usize = 360;

fn build(_: &mut Configuration<'_>, _: &Repr, _: &Context<'_>) -> CodecResult<Codec> {
    let sum: fn(&[u8]) -> u32 = fletcher32;
    Ok(checksum::codec(sum, false))
}

fn fletcher32(data: &[u8]) -> u32 {
    let (mut first, mut second) = (0_u32, 0_u32);
    // folding keeps 65535, where a remainder would give 0 and so another checksum
    let fold = |sum: u32| (sum & 0xffff) + (sum >> 16);
    for block in data.chunks(2 * BLOCK) {
        for pair in block.chunks(2) {
            let low = pair.get(1).copied().unwrap_or(0);
            first += u32::from(u16::from_be_bytes([pair[0], low]));
            second += first;
        }
        (first, second) = (fold(first), fold(second));
    }
    fold(second) << 16 | fold(first)
}
