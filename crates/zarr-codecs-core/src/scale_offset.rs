//! `scale_offset`: subtracts an offset and multiplies with a scale.
//!
//! Spec: [scale_offset](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/scale_offset).
//! Rules: [scale_offset](https://github.com/zarr-rs/zarr/blob/v0.1.0/docs/specification/extensions.md#d.9d).
//!
//! | member | value |
//! |---|---|
//! | `offset` | the number to subtract, in the form of a fill value of the data type; by default none |
//! | `scale` | the factor for the difference, in the same form; by default none |
//!
//! Other members are refused. Each of the two steps uses the arithmetic of the data type; decoding does the reverse
//! steps in reverse order. A result that the type cannot represent is an error: an integer out of range, a quotient
//! that is not an integer, a finite float that becomes infinite. Opening the array fails for a scale of zero and for
//! scalars that are not finite.

use crate::scalar::component;
use zarr_traits::codec::{Codec, CodecKind, Repr};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Entry};
use zarr_traits::json::Value;
use zarr_traits::kernel::{self, Kernel};
use zarr_traits::number::{FloatFormat, Numeric, Real, Rounding};
use zarr_traits::{CodecError, CodecErrorKind, CodecResult, Scratch};

/// The registry entry of this codec.
pub const ENTRY: Entry = Entry::Codec(CodecEntry::new("scale_offset", CodecKind::ArrayArray, build));

fn build(configuration: &mut Configuration<'_>, repr: &Repr, _: &Context<'_>) -> CodecResult<Codec> {
    let (offset, scale) = (configuration.get("offset"), configuration.get("scale"));
    configuration.no_more()?;
    let data_type = || repr.data_type.clone();
    match repr.data_type.numeric() {
        Some(numeric @ Numeric::Integer { .. }) => {
            let scalar = |name, value| scalar(numeric, name, value, |bits| numeric.integer(bits));
            let kernel =
                Integers { numeric, offset: scalar("offset", offset)?, scale: scalar("scale", scale)? };
            if kernel.scale == Some(0) {
                return Err(zero());
            }
            kernel::codec(kernel, repr, data_type())
        }
        Some(numeric @ Numeric::Float(format)) => {
            let scalar = |name, value| scalar(numeric, name, value, |bits| Some(format.to_f64(bits)));
            let (offset, scale) = (scalar("offset", offset)?, scalar("scale", scale)?);
            if scale == Some(0.0) {
                return Err(zero());
            }
            for (name, scalar) in [("offset", offset), ("scale", scale)] {
                if scalar.is_some_and(|n| !n.is_finite()) {
                    return Err(wrong(name, "it must be finite"));
                }
            }
            kernel::codec(Floats { format, offset, scale }, repr, data_type())
        }
        _ => Err(CodecError::new(
            CodecErrorKind::Unsupported,
            format!("it needs integers or floats, not data type {}", repr.data_type),
        )),
    }
}

/// Reads an optional member.
fn scalar<T>(
    numeric: Numeric,
    name: &str,
    value: Option<Value>,
    make: impl FnOnce(u64) -> Option<T>,
) -> CodecResult<Option<T>> {
    let Some(value) = value else { return Ok(None) };
    let made = component(numeric, &value).and_then(make);
    let refused = || wrong(name, &format!("{value} is not a fill value of the data type"));
    made.ok_or_else(refused).map(Some)
}

fn zero() -> CodecError {
    wrong("scale", "it must not be zero, decoding divides by it")
}

fn wrong(name: &str, message: &str) -> CodecError {
    CodecError::configuration(format!("{name}: {message}")).at(&format!("/configuration/{name}"))
}

/// Applies `step` to each element. It returns `None` if the data type cannot represent the result.
fn each(numeric: Numeric, src: &[u8], dst: &mut [u8], step: impl Fn(u64) -> Option<u64>) -> CodecResult<()> {
    let size = numeric.size();
    for (i, (src, dst)) in src.chunks_exact(size).zip(dst.chunks_exact_mut(size)).enumerate() {
        let made = step(numeric.load(src)).ok_or_else(|| {
            let message = format!("the data type cannot represent the result for element {i}");
            CodecError::new(CodecErrorKind::Value, message)
        })?;
        numeric.store(made, dst);
    }
    Ok(())
}

#[derive(Debug)]
struct Integers {
    numeric: Numeric,
    offset: Option<i128>,
    scale: Option<i128>,
}

impl Kernel for Integers {
    fn encode(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> CodecResult<()> {
        let (numeric, offset, scale) = (self.numeric, self.offset.unwrap_or(0), self.scale.unwrap_or(1));
        each(numeric, src, dst, |bits| {
            let difference = numeric.from_integer(numeric.integer(bits)? - offset)?;
            numeric.from_integer(numeric.integer(difference)?.checked_mul(scale)?)
        })
    }

    fn decode(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> CodecResult<()> {
        let (numeric, offset, scale) = (self.numeric, self.offset.unwrap_or(0), self.scale.unwrap_or(1));
        each(numeric, src, dst, |bits| {
            let product = numeric.integer(bits)?;
            let quotient = (product % scale == 0).then_some(product / scale)?;
            let quotient = numeric.from_integer(quotient)?;
            numeric.from_integer(numeric.integer(quotient)? + offset)
        })
    }
}

#[derive(Debug)]
struct Floats {
    format: FloatFormat,
    offset: Option<f64>,
    scale: Option<f64>,
}

/// The loop for types of the machine. A step that is not configured is skipped: −0 plus 0 is not −0.
macro_rules! native {
    ($t:ty, $src:expr, $dst:expr, $first:expr, $second:expr) => {{
        const SIZE: usize = size_of::<$t>();
        for (i, (src, dst)) in
            $src.as_chunks::<SIZE>().0.iter().zip($dst.as_chunks_mut::<SIZE>().0).enumerate()
        {
            let element = <$t>::from_ne_bytes(*src);
            let made = $second($first(element));
            if !made.is_finite() && element.is_finite() {
                return Err(infinite(i));
            }
            *dst = made.to_ne_bytes();
        }
        Ok(())
    }};
}

fn infinite(i: usize) -> CodecError {
    let message = format!("the result for element {i} exceeds the largest number of the data type");
    CodecError::new(CodecErrorKind::Value, message)
}

/// Applies `operation` to `element` and `scalar`, if there is a scalar.
fn with<T>(element: T, scalar: Option<T>, operation: impl Fn(T, T) -> T) -> T {
    match scalar {
        Some(scalar) => operation(element, scalar),
        None => element,
    }
}

impl Floats {
    /// The loop for all other types. Each step is calculated with doubles and rounded. This is exact, because a double
    /// has more than twice their digits.
    fn narrow(
        &self,
        src: &[u8],
        dst: &mut [u8],
        first: impl Fn(f64) -> f64,
        second: impl Fn(f64) -> f64,
    ) -> CodecResult<()> {
        let round = |value: f64| self.format.round(Real::from(value), Rounding::NearestEven).ok();
        each(Numeric::Float(self.format), src, dst, |bits| {
            let between = round(first(self.format.to_f64(bits)))?;
            round(second(self.format.to_f64(between)))
        })
    }
}

impl Kernel for Floats {
    #[allow(clippy::cast_possible_truncation, reason = "the scalars have been rounded to the data type")]
    fn encode(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> CodecResult<()> {
        let (offset, scale) = (self.offset, self.scale);
        match self.format {
            FloatFormat::FLOAT64 => {
                native!(f64, src, dst, |x| with(x, offset, |x, n| x - n), |x| with(x, scale, |x, n| x * n))
            }
            FloatFormat::FLOAT32 => {
                let (offset, scale) = (offset.map(|n| n as f32), scale.map(|n| n as f32));
                native!(f32, src, dst, |x| with(x, offset, |x, n| x - n), |x| with(x, scale, |x, n| x * n))
            }
            _ => self.narrow(src, dst, |x| with(x, offset, |x, n| x - n), |x| with(x, scale, |x, n| x * n)),
        }
    }

    #[allow(clippy::cast_possible_truncation, reason = "the scalars have been rounded to the data type")]
    fn decode(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> CodecResult<()> {
        let (offset, scale) = (self.offset, self.scale);
        match self.format {
            FloatFormat::FLOAT64 => {
                native!(f64, src, dst, |x| with(x, scale, |x, n| x / n), |x| with(x, offset, |x, n| x + n))
            }
            FloatFormat::FLOAT32 => {
                let (offset, scale) = (offset.map(|n| n as f32), scale.map(|n| n as f32));
                native!(f32, src, dst, |x| with(x, scale, |x, n| x / n), |x| with(x, offset, |x, n| x + n))
            }
            _ => self.narrow(src, dst, |x| with(x, scale, |x, n| x / n), |x| with(x, offset, |x, n| x + n)),
        }
    }
}

#[cfg(test)]
#[cfg(feature = "bytes")]
mod tests {
    use zarr_traits::json::{Value, json};
    use zarr_traits::strided::{Source, bytes_of};
    use zarr_traits::{CodecErrorKind, DataType, FillValue, Scratch, number::FloatFormat};

    use crate::testing::{Few, bytes, chain, decode, encode, golden, open, open_filled, refused, to_hex};

    fn codecs(configuration: Value) -> Value {
        json!([{"name": "scale_offset", "configuration": configuration}, bytes("little")])
    }

    #[test]
    fn integers_are_scaled_and_checked() {
        // rule D.9d
        let filled = |configuration, fill: u16| {
            open_filled(&codecs(configuration), DataType::UInt16, FillValue::of(fill), 1)
        };
        let (less, _) = filled(json!({"offset": 1000}), 1000).unwrap();
        assert_eq!(encode(&less, &[2], bytes_of(&[1000_u16, 1255])), [0, 0, 255, 0]);
        assert_eq!(decode(&less, &[2], &[0, 0, 255, 0]).unwrap(), bytes_of(&[1000_u16, 1255]));
        let source = Source::dense(bytes_of(&[999_u16]), &[1], 2).unwrap();
        let e = less.encode(source, &mut Vec::new(), &mut Scratch::new()).unwrap_err();
        assert_eq!(e.kind(), CodecErrorKind::Value, "999 − 1000 is below 0");
        let e = filled(json!({"offset": 1000}), 0).unwrap_err();
        assert_eq!(e.kind(), CodecErrorKind::Value, "rule D.05: the fill value is out of range");
        let both = codecs(json!({"offset": -1, "scale": 3}));
        golden(&both, "int8", &[3], &[0xff, 0, 41], "00037e");
        let e = decode(&chain(&both, "int8", 1), &[1], &[7]).unwrap_err();
        assert_eq!(e.kind(), CodecErrorKind::Value, "7 / 3 is not an integer");
        let most = codecs(json!({"offset": i64::MIN}));
        let (most, _) = open_filled(&most, DataType::Int64, FillValue::of(i64::MIN), 1).unwrap();
        assert_eq!(to_hex(&encode(&most, &[1], bytes_of(&[-1_i64]))), "ffffffffffffff7f");
    }

    #[test]
    fn floats_use_the_arithmetic_of_their_type() {
        // rule D.9d
        let third = codecs(json!({"offset": 5, "scale": 0.1}));
        let expected = (7.3_f32 - 5.0) * 0.1;
        golden_encoding(&third, "float32", bytes_of(&[7.3_f32]), &expected.to_le_bytes());
        let expected = (7.3_f64 - 5.0) * 0.1;
        golden_encoding(&third, "float64", bytes_of(&[7.3_f64]), &expected.to_le_bytes());
        // binary16 by hand: 1/3 is 0x3555; minus 1 it is a tie, to even 0xb956; times 0.1 (0x2e66) is 0xac45
        let half = codecs(json!({"offset": 1, "scale": 0.1}));
        golden_encoding(&half, "float16", &0x3555_u16.to_ne_bytes(), &0xac45_u16.to_le_bytes());
    }

    fn golden_encoding(codecs: &Value, data_type: &str, elements: &[u8], encoded: &[u8]) {
        assert_eq!(to_hex(&encode(&chain(codecs, data_type, 1), &[1], elements)), to_hex(encoded));
    }

    #[test]
    fn without_members_nothing_changes() {
        // rule D.9d
        for codecs in [codecs(json!({})), json!(["scale_offset", bytes("little")])] {
            golden(&codecs, "float64", &[1], bytes_of(&[-0.0_f64]), "0000000000000080");
            golden(&codecs, "int64", &[1], bytes_of(&[i64::MIN]), "0000000000000080");
        }
        let nan = f32::from_bits(0x7fc0_0001);
        golden(&codecs(json!({"scale": 2})), "float32", &[1], bytes_of(&[nan]), "0100c07f");
    }

    #[test]
    fn results_that_the_type_cannot_represent_are_errors() {
        // rule D.9d
        let twice = codecs(json!({"scale": 2}));
        for (data_type, element) in
            [("float32", bytes_of(&[f32::MAX])), ("float64", bytes_of(&[f64::MAX])), ("int8", &[64])]
        {
            let chain = chain(&twice, data_type, 1);
            let source = Source::dense(element, &[1], element.len()).unwrap();
            let e = chain.encode(source, &mut Vec::new(), &mut Scratch::new()).unwrap_err();
            assert_eq!(e.kind(), CodecErrorKind::Value, "{data_type}");
        }
        golden(&twice, "float32", &[1], bytes_of(&[f32::NEG_INFINITY]), "000080ff");
        let (few, _) = open(&twice, Few::float(FloatFormat::FLOAT4_E2M1FN), 1).unwrap();
        assert_eq!(encode(&few, &[1], &[2]), [4], "1 becomes 2");
        let six = Source::dense(&[7], &[1], 1).unwrap();
        assert!(few.encode(six, &mut Vec::new(), &mut Scratch::new()).is_err(), "the format has no 12");
    }

    #[test]
    fn invalid_configurations_are_refused_when_the_array_is_opened() {
        // rule D.9d
        for (configuration, data_type, member) in [
            (json!({"scale": 0}), "int32", "scale"),
            (json!({"scale": 0.0}), "float32", "scale"),
            (json!({"offset": 1.5}), "int32", "offset"),
            (json!({"offset": 300}), "uint8", "offset"),
            (json!({"offset": "1"}), "float32", "offset"),
            (json!({"offset": "NaN"}), "float32", "offset"),
            (json!({"dtype": "<f4"}), "float32", "dtype"),
        ] {
            let pointer = format!("/0/configuration/{member}");
            assert_eq!(refused(&codecs(configuration), data_type, 1).pointer(), pointer);
        }
        for data_type in ["bool", "complex64", "r8", "string"] {
            let data_type = DataType::core(data_type).unwrap();
            assert_eq!(
                open(&codecs(json!({})), data_type, 1).unwrap_err().kind(),
                CodecErrorKind::Unsupported
            );
        }
    }
}
