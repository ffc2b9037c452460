//! `numcodecs.bitround`: floats with fewer bits of mantissa, so that they compress better.
//!
//! | member | value |
//! |---|---|
//! | `keepbits` | bits of mantissa that are kept, from 0; all bits change nothing |
//!
//! Ties are rounded to even. Infinities and NaNs are unchanged; numcodecs may turn a NaN into an infinity. Decoding
//! changes nothing.
//!
//! The codec for bytes has a member `dtype`, unlike numcodecs. Without it bytes can be decoded, but not encoded.

use zarr_traits::codec::{Codec, CodecKind, Repr};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Entry};
use zarr_traits::kernel::Kernel;
use zarr_traits::{CodecError, CodecErrorKind, CodecResult, Scratch};

use crate::number::{Number, NumberType, StoredType};
use crate::typed::{self, Filter};

/// The row of this codec in a registry, for format 3.
pub const ENTRY: Entry = Entry::Codec(CodecEntry::new(
    "numcodecs.bitround",
    CodecKind::ArrayArray,
    |configuration, repr, _: &Context<'_>| {
        let numbers = typed::native(repr).ok_or_else(only_floats)?;
        typed::array_codec(filter(configuration, Some(numbers))?, repr)
    },
));

/// The row of this codec for bytes of format 2.
pub const BYTES_ENTRY: Entry = Entry::Codec(CodecEntry::new(
    "numcodecs:bitround",
    CodecKind::BytesBytes,
    |configuration, _: &Repr, _: &Context<'_>| -> CodecResult<Codec> {
        let numbers = match configuration.get("dtype") {
            None => None,
            Some(_) => Some(StoredType::member(configuration, "dtype", None)?),
        };
        Ok(typed::bytes_codec(filter(configuration, numbers)?))
    },
));

#[derive(Debug)]
struct BitRound {
    keep: u32,
    /// The type of the numbers, if known.
    numbers: Option<StoredType>,
}

fn filter(configuration: &mut Configuration<'_>, numbers: Option<StoredType>) -> CodecResult<BitRound> {
    let keep = configuration.integer("keepbits", 0..=i64::from(u32::MAX))?;
    if numbers.is_some_and(|numbers| !numbers.kind.is_float()) {
        return Err(only_floats());
    }
    Ok(BitRound { keep: u32::try_from(keep).unwrap_or(u32::MAX), numbers })
}

fn only_floats() -> CodecError {
    CodecError::configuration("the codec needs a floating point data type")
}

/// Rounds the mantissa, which is the last `mantissa` bits of a float, unless the float is infinite or NaN.
macro_rules! round {
    ($U:ty, $mantissa:expr, $infinity:expr, $keep:expr, $numbers:expr) => {
        if let Some(drop) = u32::checked_sub($mantissa, $keep).filter(|drop| *drop > 0) {
            let infinity: $U = $infinity;
            <$U>::update($numbers, |bits| {
                if bits & infinity == infinity {
                    return bits;
                }
                let to_even = (bits >> drop & 1) + ((1 << (drop - 1)) - 1);
                bits.plus(to_even) >> drop << drop
            });
        }
    };
}

impl Filter for BitRound {
    fn types(&self) -> [StoredType; 2] {
        [self.numbers.unwrap_or(StoredType::native(NumberType::UInt8)); 2]
    }
}

impl Kernel for BitRound {
    fn encode(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> CodecResult<()> {
        dst.copy_from_slice(src);
        match self.numbers.map(|numbers| numbers.kind) {
            Some(NumberType::Float16) => round!(u16, 10, 0x7c00, self.keep, dst),
            Some(NumberType::Float32) => round!(u32, 23, 0x7f80_0000, self.keep, dst),
            Some(NumberType::Float64) => round!(u64, 52, 0x7ff0_0000_0000_0000, self.keep, dst),
            _ => {
                let message = "the bytes cannot be rounded without the member \"dtype\"";
                return Err(CodecError::new(CodecErrorKind::Unsupported, message));
            }
        }
        Ok(())
    }

    fn decode(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> CodecResult<()> {
        dst.copy_from_slice(src);
        Ok(())
    }
}
