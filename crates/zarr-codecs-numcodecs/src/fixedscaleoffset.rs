//! `numcodecs.fixedscaleoffset`: `(x - offset) * scale`, rounded to whole numbers.
//!
//! | member | value |
//! |---|---|
//! | `offset`, `scale` | numbers; integers and floats calculate differently |
//! | `dtype` | type of the numbers; in format 3 the data type of the array when absent |
//! | `astype` | type of the encoded numbers, `dtype` when absent |
//!
//! Types may also be names such as `float32`. Encoding computes as numpy does: floats in their own type, integers in
//! their own type if `offset` and `scale` are integers that fit into it, else in `float64`. Ties are rounded to even.
//! Decoding is `y / scale + offset` in the type of encoded floats, or in `float64` for encoded integers.

use zarr_traits::codec::{Codec, CodecKind, Repr};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Entry};
use zarr_traits::json::Value;
use zarr_traits::kernel::Kernel;
use zarr_traits::{CodecError, CodecResult, Scratch};

use crate::number::{Number, NumberType, StoredType, Wide, cast, converted, with_number};
use crate::typed::{self, Filter};

/// The row of this codec in a registry, for format 3.
pub const ENTRY: Entry = Entry::Codec(CodecEntry::new(
    "numcodecs.fixedscaleoffset",
    CodecKind::ArrayArray,
    |configuration, repr, _: &Context<'_>| {
        typed::array_codec(filter(configuration, typed::native(repr))?, repr)
    },
));

/// The row of this codec for bytes of format 2.
pub const BYTES_ENTRY: Entry = Entry::Codec(CodecEntry::new(
    "numcodecs:fixedscaleoffset",
    CodecKind::BytesBytes,
    |configuration, _: &Repr, _: &Context<'_>| -> CodecResult<Codec> {
        Ok(typed::bytes_codec(filter(configuration, None)?))
    },
));

#[derive(Debug)]
struct FixedScaleOffset {
    offset: Wide,
    scale: Wide,
    decoded: StoredType,
    encoded: StoredType,
}

fn filter(
    configuration: &mut Configuration<'_>,
    default: Option<StoredType>,
) -> CodecResult<FixedScaleOffset> {
    let offset = number(configuration, "offset")?;
    let scale = number(configuration, "scale")?;
    let decoded = StoredType::member(configuration, "dtype", default)?;
    let encoded = StoredType::member(configuration, "astype", Some(decoded))?;
    Ok(FixedScaleOffset { offset, scale, decoded, encoded })
}

fn number(configuration: &mut Configuration<'_>, name: &'static str) -> CodecResult<Wide> {
    let value = configuration.get(name);
    let integer = value.as_ref().and_then(Value::as_i64).map(Wide::Signed);
    integer.or_else(|| value?.as_f64().map(Wide::Float)).ok_or_else(|| {
        let message = format!("{name} must be a number");
        CodecError::configuration(message).at(&format!("/configuration/{name}"))
    })
}

/// Returns the type in which numpy calculates with numbers of `kind` and a Python number.
fn arithmetic(kind: NumberType, number: Wide) -> NumberType {
    let fits = || {
        with_number!(kind, T => match (T::of(number).wide(), number) {
            (Wide::Unsigned(n), Wide::Signed(m)) => u64::try_from(m) == Ok(n),
            (n, m) => n == m,
        })
    };
    match number {
        _ if kind.is_float() => kind,
        Wide::Float(_) => NumberType::Float64,
        _ if kind != NumberType::Bool && fits() => kind,
        _ => NumberType::Int64,
    }
}

impl Filter for FixedScaleOffset {
    fn types(&self) -> [StoredType; 2] {
        [self.decoded, self.encoded]
    }
}

impl Kernel for FixedScaleOffset {
    fn encode(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> CodecResult<()> {
        let first = arithmetic(self.decoded.kind, self.offset);
        let second = arithmetic(first, self.scale);
        let mut shifted = converted(self.decoded.kind, src, first, scratch)?;
        with_number!(first, T => T::update(&mut shifted, |x| x.minus(T::of(self.offset))));
        let mut scaled = converted(first, &shifted, second, scratch)?;
        with_number!(second, T => T::update(&mut scaled, |x| x.times(T::of(self.scale)).rounded()));
        cast(second, &scaled, self.encoded.kind, dst);
        scratch.give(shifted);
        scratch.give(scaled);
        Ok(())
    }

    fn decode(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> CodecResult<()> {
        let encoded = self.encoded.kind;
        let kind = if encoded.is_float() { encoded } else { NumberType::Float64 };
        let mut numbers = converted(encoded, src, kind, scratch)?;
        with_number!(kind, T => {
            T::update(&mut numbers, |y| y.over(T::of(self.scale)).plus(T::of(self.offset)));
        });
        cast(kind, &numbers, self.decoded.kind, dst);
        scratch.give(numbers);
        Ok(())
    }
}
