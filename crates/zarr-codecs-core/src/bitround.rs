//! `bitround`: rounds numbers to fewer significant bits, so that they compress better.
//!
//! Spec: [bitround](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/bitround).
//! Rules: [bitround](https://github.com/zarr-rs/zarr/blob/v0.1.0/docs/specification/extensions.md#d.9b).
//!
//! | member | value |
//! |---|---|
//! | `keepbits` | at least 1: the bits to keep, in the fraction of a float or from the highest set bit of an integer |
//!
//! A tie is rounded to the number whose last kept bit is 0. Infinities and NaNs do not change. A float may be rounded
//! up to infinity, as in numcodecs; an integer that would exceed its type is rounded down. For negative integers the
//! magnitude is rounded, so −1 stays −1; the specification does not define this. The parts of complex numbers are
//! rounded separately, and times like integers. Decoding changes nothing.

use zarr_traits::codec::{CodecKind, Repr};
use zarr_traits::extension::{CodecEntry, Context, Entry};
use zarr_traits::kernel::{self, Kernel};
use zarr_traits::number::{FloatFormat, Numeric};
use zarr_traits::{CodecError, CodecErrorKind, CodecResult, Scratch};

/// The registry entry of this codec.
pub const ENTRY: Entry = Entry::Codec(CodecEntry::new(
    "bitround",
    CodecKind::ArrayArray,
    |configuration, repr, _: &Context<'_>| {
        let keep = configuration.integer("keepbits", 1..=i64::from(u32::MAX))?;
        let numeric = numeric(repr)?;
        kernel::codec(
            BitRound { keep: u32::try_from(keep).unwrap_or(u32::MAX), numeric },
            repr,
            repr.data_type.clone(),
        )
    },
));

/// Returns the numeric format to round: integers, times, and floats that have infinities.
fn numeric(repr: &Repr) -> CodecResult<Numeric> {
    let name = repr.data_type.name();
    let time = matches!(&*name, "numpy.datetime64" | "numpy.timedelta64");
    let numeric = match repr.data_type.numeric() {
        None if time => Some(Numeric::Integer { bits: 64, signed: true }),
        other => other,
    };
    match numeric {
        Some(integer @ Numeric::Integer { .. }) => Ok(integer),
        Some(float @ (Numeric::Float(format) | Numeric::Complex(format))) if format.infinity().is_some() => {
            Ok(float)
        }
        _ => Err(CodecError::new(
            CodecErrorKind::Unsupported,
            format!("it needs integers or floats, not data type {name}"),
        )),
    }
}

#[derive(Debug)]
struct BitRound {
    keep: u32,
    numeric: Numeric,
}

impl BitRound {
    fn round(&self, bits: u64) -> u64 {
        match self.numeric {
            Numeric::Float(format) | Numeric::Complex(format) => self.float(format, bits),
            Numeric::Integer { signed: true, .. } => {
                let integer = self.numeric.extend(bits).cast_signed();
                let magnitude = i128::from(self.integer(integer.unsigned_abs()));
                let rounded = if integer < 0 { -magnitude } else { magnitude };
                i64::try_from(rounded).unwrap_or(integer).cast_unsigned()
            }
            _ => self.integer(bits),
        }
    }

    /// Rounds a float. A carry out of the fraction correctly increments the exponent.
    fn float(&self, format: FloatFormat, bits: u64) -> u64 {
        let is_special = format.infinity().is_some_and(|infinity| bits & infinity == infinity);
        match format.fraction_bits().checked_sub(self.keep) {
            Some(drop) if !is_special => halves_to_even(bits, drop),
            _ => bits,
        }
    }

    /// Rounds the magnitude of an integer within the range of the type.
    fn integer(&self, magnitude: u64) -> u64 {
        let Some(drop) = (64 - magnitude.leading_zeros()).checked_sub(self.keep) else { return magnitude };
        let most = self.numeric.range().map_or(0, |(_, most)| most);
        let rounded = magnitude.checked_add(to_even(magnitude, drop)).map(|sum| sum >> drop << drop);
        rounded.filter(|n| i128::from(*n) <= most).unwrap_or(magnitude >> drop << drop)
    }
}

/// Returns the number to add before the last `drop` bits are cleared.
fn to_even(bits: u64, drop: u32) -> u64 {
    if drop == 0 { 0 } else { (bits >> drop & 1) + ((1 << (drop - 1)) - 1) }
}

fn halves_to_even(bits: u64, drop: u32) -> u64 {
    (bits + to_even(bits, drop)) >> drop << drop
}

impl Kernel for BitRound {
    fn encode(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> CodecResult<()> {
        let size = self.numeric.size();
        for (src, dst) in src.chunks_exact(size).zip(dst.chunks_exact_mut(size)) {
            self.numeric.store(self.round(self.numeric.load(src)), dst);
        }
        Ok(())
    }

    fn decode(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> CodecResult<()> {
        dst.copy_from_slice(src);
        Ok(())
    }
}

#[cfg(test)]
#[cfg(feature = "bytes")]
mod tests {
    use zarr_traits::json::{Value, json};
    use zarr_traits::strided::{Plain, bytes_of};

    use crate::testing::{bytes, chain, encode, open, refused};

    fn codecs(keepbits: i64) -> Value {
        json!([{"name": "bitround", "configuration": {"keepbits": keepbits}}, bytes("little")])
    }

    fn rounded<T: Plain>(keepbits: i64, data_type: &str, elements: &[T]) -> Vec<u8> {
        let chain = chain(&codecs(keepbits), data_type, 1);
        encode(&chain, &[elements.len() as u64], bytes_of(elements))
    }

    fn little<T: Copy, const N: usize>(elements: &[T], bytes: impl Fn(T) -> [u8; N]) -> Vec<u8> {
        elements.iter().flat_map(|n| bytes(*n)).collect()
    }

    #[test]
    fn the_samples_of_the_specification_are_rounded() {
        // rule D.9b
        let floats = [0.0, 0.1, 1.2, 12.3, 123.4, 1234.5, f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
        let expected =
            [0.0, 0.1015625, 1.25, 12.0, 120.0, 1280.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
        assert_eq!(rounded(3, "float32", &floats), little(&expected, f32::to_le_bytes));
        let integers = [0_u8, 1, 10, 11, 100, 123, 200, 208, 209, 255];
        assert_eq!(rounded(3, "uint8", &integers), [0_u8, 1, 10, 12, 96, 128, 192, 192, 224, 224]);
        assert_eq!(
            rounded(3, "float32", &[1.2345_f32, 3.1]),
            little(&[0x3fa0_0000, 0x4040_0000], u32::to_le_bytes)
        );
    }

    #[test]
    fn the_limits_of_types_and_negative_numbers_are_rounded() {
        // rule D.9b
        let integers = [i8::MIN, -1, -11, -100, 127, 100];
        let expected = [-128_i8, -1, -12, -96, 112, 96].map(i8::cast_unsigned);
        assert_eq!(rounded(3, "int8", &integers), expected);
        assert_eq!(rounded(1, "uint64", &[u64::MAX]), (1_u64 << 63).to_le_bytes());
        assert_eq!(
            rounded(1, "int64", &[i64::MIN, i64::MAX]),
            little(&[i64::MIN, 1 << 62], i64::to_le_bytes)
        );
        let nan = f64::from_bits(0x7fff_ffff_ffff_ffff);
        assert_eq!(
            rounded(1, "float64", &[nan]),
            nan.to_bits().to_le_bytes(),
            "a NaN does not become infinite"
        );
        assert_eq!(rounded(1, "float64", &[f64::MAX]), f64::INFINITY.to_bits().to_le_bytes());
    }

    #[test]
    fn keeping_all_bits_changes_nothing() {
        // rule D.9b
        let floats = [1.2345_f32, -3.1];
        for keepbits in [23, 24, 99] {
            assert_eq!(rounded(keepbits, "float32", &floats), little(&floats, f32::to_le_bytes));
        }
        assert_eq!(rounded(8, "uint8", &[255_u8, 77]), [255, 77]);
        let complex = encode(&chain(&codecs(3), "complex64", 0), &[], bytes_of(&[1.2_f32, 12.3]));
        assert_eq!(complex, little(&[1.25_f32, 12.0], f32::to_le_bytes), "the parts are rounded separately");
    }

    #[test]
    fn invalid_configurations_are_refused_when_the_array_is_opened() {
        // rule D.9b
        for keepbits in [0, -1] {
            assert_eq!(refused(&codecs(keepbits), "float32", 1).pointer(), "/0/configuration/keepbits");
        }
        for data_type in ["bool", "r16", "string"] {
            let data_type = zarr_traits::DataType::core(data_type).unwrap();
            let e = open(&codecs(3), data_type, 1).unwrap_err();
            assert_eq!(e.kind(), zarr_traits::CodecErrorKind::Unsupported, "{e}");
        }
    }
}
