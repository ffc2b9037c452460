//! `numcodecs.delta`: the first number, then the difference of each number to the one before it.
//!
//! | member | value |
//! |---|---|
//! | `dtype` | type of the numbers; in format 3 the data type of the array when absent |
//! | `astype` | type of the differences, `dtype` when absent |
//!
//! Differences are computed in `dtype`, where integers wrap around, and then cast. Sums are computed in the type that
//! numpy promotes both types to, and then cast. For booleans a difference is "not equal" and a sum is "or", so they do
//! not round-trip, as in numcodecs.

use zarr_traits::codec::{Codec, CodecKind, Repr};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Entry};
use zarr_traits::kernel::Kernel;
use zarr_traits::{CodecResult, Scratch};

use crate::number::{Number, StoredType, cast, converted, promote, with_number};
use crate::typed::{self, Filter};

/// The row of this codec in a registry, for format 3.
pub const ENTRY: Entry = Entry::Codec(CodecEntry::new(
    "numcodecs.delta",
    CodecKind::ArrayArray,
    |configuration, repr, _: &Context<'_>| {
        typed::array_codec(filter(configuration, typed::native(repr))?, repr)
    },
));

/// The row of this codec for bytes of format 2.
pub const BYTES_ENTRY: Entry = Entry::Codec(CodecEntry::new(
    "numcodecs:delta",
    CodecKind::BytesBytes,
    |configuration, _: &Repr, _: &Context<'_>| -> CodecResult<Codec> {
        Ok(typed::bytes_codec(filter(configuration, None)?))
    },
));

#[derive(Debug)]
struct Delta {
    decoded: StoredType,
    encoded: StoredType,
}

fn filter(configuration: &mut Configuration<'_>, default: Option<StoredType>) -> CodecResult<Delta> {
    let decoded = StoredType::member(configuration, "dtype", default)?;
    let encoded = StoredType::member(configuration, "astype", Some(decoded))?;
    Ok(Delta { decoded, encoded })
}

impl Filter for Delta {
    fn types(&self) -> [StoredType; 2] {
        [self.decoded, self.encoded]
    }
}

impl Kernel for Delta {
    fn is_elementwise(&self) -> bool {
        false
    }

    fn encode(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> CodecResult<()> {
        let kind = self.decoded.kind;
        let mut numbers = converted(kind, src, kind, scratch)?;
        with_number!(kind, T => {
            let mut before = None;
            T::update(&mut numbers, |number| {
                let last = before.replace(number);
                last.map_or(number, |last| number.minus(last))
            });
        });
        cast(kind, &numbers, self.encoded.kind, dst);
        scratch.give(numbers);
        Ok(())
    }

    fn decode(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> CodecResult<()> {
        let kind = promote(self.decoded.kind, self.encoded.kind);
        let mut numbers = converted(self.encoded.kind, src, kind, scratch)?;
        with_number!(kind, T => {
            let mut sum = None;
            T::update(&mut numbers, |number| *sum.insert(sum.map_or(number, |sum: T| sum.plus(number))));
        });
        cast(kind, &numbers, self.decoded.kind, dst);
        scratch.give(numbers);
        Ok(())
    }
}
