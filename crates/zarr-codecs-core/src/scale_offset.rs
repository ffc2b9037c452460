//! `scale_offset`: numbers less an offset, times a factor.
//!
//! Spec: [scale_offset](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/scale_offset). Checklist D.9d.
//!
//! | member | value |
//! |---|---|
//! | `offset` | what is subtracted, in the form of a fill value of the data type; nothing unless given |
//! | `scale` | what the difference is multiplied with; nothing unless given |
//!
//! Other members are refused. Each of the two steps is done in the arithmetic of the data type, and in reverse order to
//! decode. What the type cannot hold is an error: an integer out of range, a quotient of integers that is none, a finite
//! float that would become infinite. A scale of zero, of which nothing could be decoded, and scalars that are not finite are
//! refused when the array is opened.

use zarr_traits::kernel::{self, Kernel};
use zarr_traits::serde_json::Value;
use zarr_traits::{
    CodecError, CodecErrorKind, CodecResult, Entry, Scratch,
    codec::{Codec, CodecEntry, CodecKind, Configuration, Context, Repr},
    number::{FloatFormat, Numeric, Real, Rounding},
};

/// The row of this codec in a registry.
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
            format!("it works on integers and floats, and what reaches it is {}", repr.data_type),
        )),
    }
}

/// A member, if it is there.
fn scalar<T>(
    numeric: Numeric,
    name: &str,
    value: Option<&Value>,
    make: impl FnOnce(u64) -> Option<T>,
) -> CodecResult<Option<T>> {
    let Some(value) = value else { return Ok(None) };
    let made = numeric.from_json(value).and_then(make);
    let refused = || wrong(name, &format!("{value} is no fill value of the data type"));
    made.ok_or_else(refused).map(Some)
}

fn zero() -> CodecError {
    wrong("scale", "nothing can be divided by zero")
}

fn wrong(name: &str, message: &str) -> CodecError {
    CodecError::configuration(format!("{name}: {message}")).at(&format!("/configuration/{name}"))
}

/// Makes one element of each with `step`; `None` of it means that there is none in the data type.
fn each(numeric: Numeric, src: &[u8], dst: &mut [u8], step: impl Fn(u64) -> Option<u64>) -> CodecResult<()> {
    let size = numeric.size();
    for (i, (src, dst)) in src.chunks_exact(size).zip(dst.chunks_exact_mut(size)).enumerate() {
        let made = step(numeric.load(src)).ok_or_else(|| {
            let message = format!("element {i} becomes what the data type cannot hold");
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

/// The loop for the types that the machine calculates with. A step that is not asked for is left out: −0 plus 0 is not −0.
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
    let message = format!("element {i} becomes larger than any number of the data type");
    CodecError::new(CodecErrorKind::Value, message)
}

/// `element` with `scalar` if there is one.
fn with<T>(element: T, scalar: Option<T>, operation: impl Fn(T, T) -> T) -> T {
    match scalar {
        Some(scalar) => operation(element, scalar),
        None => element,
    }
}

impl Floats {
    /// The loop for all other types: each step is done with doubles and rounded, which is exact because a double has more
    /// than twice their digits.
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
    use zarr_traits::serde_json::{Value, json};
    use zarr_traits::strided::bytes_of;
    use zarr_traits::{CodecErrorKind, DataType, FillValue, Scratch, Source, number::FloatFormat};

    use crate::testing::{Few, bytes, chain, decode, encode, golden, open, open_filled, refused, to_hex};

    fn codecs(configuration: Value) -> Value {
        json!([{"name": "scale_offset", "configuration": configuration}, bytes("little")])
    }

    #[test]
    fn d9d_integers() {
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
        assert_eq!(e.kind(), CodecErrorKind::Value, "D.05: so is the fill value, refused at once");
        let both = codecs(json!({"offset": -1, "scale": 3}));
        golden(&both, "int8", &[3], &[0xff, 0, 41], "00037e");
        let e = decode(&chain(&both, "int8", 1), &[1], &[7]).unwrap_err();
        assert_eq!(e.kind(), CodecErrorKind::Value, "7 / 3 is no integer");
        let most = codecs(json!({"offset": i64::MIN}));
        let (most, _) = open_filled(&most, DataType::Int64, FillValue::of(i64::MIN), 1).unwrap();
        assert_eq!(to_hex(&encode(&most, &[1], bytes_of(&[-1_i64]))), "ffffffffffffff7f");
    }

    #[test]
    fn d9d_floats_in_their_own_arithmetic() {
        let third = codecs(json!({"offset": 5, "scale": 0.1}));
        let expected = (7.3_f32 - 5.0) * 0.1;
        golden_encoding(&third, "float32", bytes_of(&[7.3_f32]), &expected.to_le_bytes());
        let expected = (7.3_f64 - 5.0) * 0.1;
        golden_encoding(&third, "float64", bytes_of(&[7.3_f64]), &expected.to_le_bytes());
        // binary16 by hand: 1/3 is 0x3555; less 1 is a middle, to even 0xb956; times 0.1 (0x2e66) is 0xac45
        let half = codecs(json!({"offset": 1, "scale": 0.1}));
        golden_encoding(&half, "float16", &0x3555_u16.to_ne_bytes(), &0xac45_u16.to_le_bytes());
    }

    fn golden_encoding(codecs: &Value, data_type: &str, elements: &[u8], encoded: &[u8]) {
        assert_eq!(to_hex(&encode(&chain(codecs, data_type, 1), &[1], elements)), to_hex(encoded));
    }

    #[test]
    fn d9d_without_members_nothing_changes() {
        for codecs in [codecs(json!({})), json!(["scale_offset", bytes("little")])] {
            golden(&codecs, "float64", &[1], bytes_of(&[-0.0_f64]), "0000000000000080");
            golden(&codecs, "int64", &[1], bytes_of(&[i64::MIN]), "0000000000000080");
        }
        let nan = f32::from_bits(0x7fc0_0001);
        golden(&codecs(json!({"scale": 2})), "float32", &[1], bytes_of(&[nan]), "0100c07f");
    }

    #[test]
    fn d9d_what_the_type_cannot_hold_is_an_error() {
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
        assert!(few.encode(six, &mut Vec::new(), &mut Scratch::new()).is_err(), "there is no 12");
    }

    #[test]
    fn d9d_refused_when_the_array_is_opened() {
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
