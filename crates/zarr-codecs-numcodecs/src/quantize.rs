//! `numcodecs.quantize`: floats with only as many bits as a number of decimal digits needs.
//!
//! | member | value |
//! |---|---|
//! | `digits` | decimal digits after the point, −300 to 300 |
//! | `dtype` | type of the numbers; in format 3 the data type of the array when absent |
//! | `astype` | type of the encoded numbers, `dtype` when absent |
//!
//! Encoding rounds to the nearest multiple of a power of two, computed in `dtype`. Decoding is a cast.

use zarr_traits::codec::{Codec, CodecKind, Repr};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Entry};
use zarr_traits::kernel::Kernel;
use zarr_traits::{CodecError, CodecResult, Scratch};

use crate::number::{Number, StoredType, Wide, cast, converted, with_number};
use crate::typed::{self, Filter};

/// The row of this codec in a registry, for format 3.
pub const ENTRY: Entry = Entry::Codec(CodecEntry::new(
    "numcodecs.quantize",
    CodecKind::ArrayArray,
    |configuration, repr, _: &Context<'_>| {
        typed::array_codec(filter(configuration, typed::native(repr))?, repr)
    },
));

/// The row of this codec for bytes of format 2.
pub const BYTES_ENTRY: Entry = Entry::Codec(CodecEntry::new(
    "numcodecs:quantize",
    CodecKind::BytesBytes,
    |configuration, _: &Repr, _: &Context<'_>| -> CodecResult<Codec> {
        Ok(typed::bytes_codec(filter(configuration, None)?))
    },
));

#[derive(Debug)]
struct Quantize {
    /// A power of two.
    scale: f64,
    decoded: StoredType,
    encoded: StoredType,
}

fn filter(configuration: &mut Configuration<'_>, default: Option<StoredType>) -> CodecResult<Quantize> {
    let digits = i32::try_from(configuration.integer("digits", -300..=300)?).unwrap_or(0);
    let decoded = StoredType::member(configuration, "dtype", default)?;
    let encoded = StoredType::member(configuration, "astype", Some(decoded))?;
    if !decoded.kind.is_float() || !encoded.kind.is_float() {
        return Err(CodecError::configuration("dtype and astype must be floating point types"));
    }
    let bits = (f64::from(digits) * std::f64::consts::LOG2_10).ceil();
    Ok(Quantize { scale: bits.exp2(), decoded, encoded })
}

impl Filter for Quantize {
    fn types(&self) -> [StoredType; 2] {
        [self.decoded, self.encoded]
    }
}

impl Kernel for Quantize {
    fn encode(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> CodecResult<()> {
        let kind = self.decoded.kind;
        let mut numbers = converted(kind, src, kind, scratch)?;
        with_number!(kind, T => {
            let scale = T::of(Wide::Float(self.scale));
            T::update(&mut numbers, |x| x.times(scale).rounded().over(scale));
        });
        cast(kind, &numbers, self.encoded.kind, dst);
        scratch.give(numbers);
        Ok(())
    }

    fn decode(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> CodecResult<()> {
        cast(self.encoded.kind, src, self.decoded.kind, dst);
        Ok(())
    }
}
