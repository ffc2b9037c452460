//! `cast_value`: converts numbers to another data type.
//!
//! Spec: [cast_value](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/cast_value).
//! Rules: [cast_value](https://github.com/zarr-rs/zarr/blob/v0.1.0/docs/specification/extensions.md#d.9c).
//!
//! | member | value |
//! |---|---|
//! | `data_type` | the type of the encoded elements: an integer or a real float of any width |
//! | `rounding` | `"nearest-even"` (default), `"towards-zero"`, `"towards-positive"`, `"towards-negative"`, `"nearest-away"` |
//! | `out_of_range` | `"clamp"`: the end of the range, or infinity; `"wrap"`: modulo 2^N, for an integer `data_type`; by default an error |
//! | `scalar_map` | `encode` and `decode`, lists of pairs `[from, to]` that take precedence; the first matching pair is used |
//!
//! Other members are refused. A pair for NaN matches every NaN, a pair for 0 both zeros. Opening the array fails if the
//! fill value does not survive encoding and decoding.

use crate::scalar::component;
use zarr_traits::codec::{Codec, CodecKind, Repr};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Entry};
use zarr_traits::json::{Member, Value};
use zarr_traits::kernel::{self, Kernel};
use zarr_traits::number::{FloatFormat, Numeric, Real, Rounding, low_bits};
use zarr_traits::{CodecError, CodecErrorKind, CodecResult, DataType, Scratch};

/// The registry entry of this codec.
pub const ENTRY: Entry = Entry::Codec(CodecEntry::new("cast_value", CodecKind::ArrayArray, build));

fn build(configuration: &mut Configuration<'_>, repr: &Repr, context: &Context<'_>) -> CodecResult<Codec> {
    let from = real_numbers(&repr.data_type)?;
    let data_type = configuration
        .get("data_type")
        .ok_or_else(|| wrong("data_type", "it is missing"))
        .and_then(|value| configuration.data_type(&value, "/data_type", context))?;
    let to = real_numbers(&data_type).map_err(|e| e.at("/configuration/data_type"))?;
    let rounding = match configuration.optional_string("rounding")?.as_deref() {
        None | Some("nearest-even") => Rounding::NearestEven,
        Some("towards-zero") => Rounding::TowardsZero,
        Some("towards-positive") => Rounding::TowardsPositive,
        Some("towards-negative") => Rounding::TowardsNegative,
        Some("nearest-away") => Rounding::NearestAway,
        Some(other) => return Err(wrong("rounding", &format!("unknown rounding {other:?}"))),
    };
    let out_of_range = match configuration.optional_string("out_of_range")?.as_deref() {
        None => OutOfRange::Error,
        Some("clamp") => OutOfRange::Clamp,
        Some("wrap") if to.range().is_some() => OutOfRange::Wrap,
        Some("wrap") => return Err(wrong("out_of_range", "\"wrap\" needs an integer data_type")),
        Some(other) => {
            return Err(wrong("out_of_range", &format!("it is {other:?}, it must be \"clamp\" or \"wrap\"")));
        }
    };
    let [encode, decode] = scalar_map(configuration, from, to)?;
    configuration.no_more()?;
    let kernel = CastValue {
        encode: Cast { from, to, rounding, out_of_range, map: encode },
        decode: Cast { from: to, to: from, rounding, out_of_range, map: decode },
    };
    kernel.keeps(repr)?;
    kernel::codec(kernel, repr, data_type)
}

/// Returns the numeric format of a data type of real numbers.
fn real_numbers(data_type: &DataType) -> CodecResult<Numeric> {
    match data_type.numeric() {
        Some(numeric @ (Numeric::Integer { .. } | Numeric::Float(_))) => Ok(numeric),
        _ => Err(CodecError::new(
            CodecErrorKind::Unsupported,
            format!("it casts only integers and floats, not data type {data_type}"),
        )),
    }
}

/// Reads the member `scalar_map`: pairs for encoding and for decoding.
fn scalar_map(
    configuration: &mut Configuration<'_>,
    from: Numeric,
    to: Numeric,
) -> CodecResult<[Scalars; 2]> {
    let Some(value) = configuration.get("scalar_map") else { return Ok(<_>::default()) };
    let map = value.as_object().ok_or_else(|| wrong("scalar_map", "it must be an object"))?;
    let mut names = map.members().map(Member::name_lossy);
    if let Some(name) = names.find(|name| !matches!(&**name, "encode" | "decode")) {
        return Err(wrong("scalar_map", &format!("unknown member {name:?}")));
    }
    // An example of the specification has the spelling "+Infinity".
    let (infinity, mut spelt) = (Value::from("Infinity"), false);
    let mut side = |name: &str, from: Numeric, to: Numeric| {
        let place = format!("scalar_map/{name}");
        let Some(value) = map.get(name) else { return Ok(Scalars::default()) };
        let pairs = value.elements().ok_or_else(|| wrong(&place, "it must be a list of pairs"))?;
        let mut list = Vec::new();
        for (i, pair) in pairs.enumerate() {
            let place = format!("{place}/{i}");
            let pair: Vec<Value> = pair.elements().into_iter().flatten().collect();
            let [key, value] = &pair[..] else {
                return Err(wrong(&place, "it must be a pair of scalars"));
            };
            let mut read = |numeric: Numeric, scalar: &Value| {
                let is_spelt = scalar == "+Infinity";
                spelt |= is_spelt;
                let bits = component(numeric, if is_spelt { &infinity } else { scalar });
                bits.ok_or_else(|| wrong(&place, &format!("{scalar} is not a fill value of its data type")))
            };
            list.push((read(from, key)?, read(to, value)?));
        }
        Ok(Scalars::new(from, list))
    };
    let sides = [side("encode", from, to)?, side("decode", to, from)?];
    if spelt {
        configuration.note("scalar_map", "\"+Infinity\" is read as \"Infinity\"");
    }
    Ok(sides)
}

fn wrong(member: &str, message: &str) -> CodecError {
    CodecError::configuration(format!("{member}: {message}")).at(&format!("/configuration/{member}"))
}

#[derive(Debug)]
struct CastValue {
    encode: Cast,
    decode: Cast,
}

impl CastValue {
    /// Checks that the fill value survives encoding and decoding.
    fn keeps(&self, repr: &Repr) -> CodecResult<()> {
        let numeric = self.encode.from;
        let fill = numeric.load(repr.fill.bytes());
        let cast = |cast: &Cast, bits, what| {
            let refused = || CodecError::configuration(cast.refused(bits, what).to_string());
            cast.one(bits).ok_or_else(refused)
        };
        let encoded = cast(&self.encode, fill, "the fill value")?;
        let back = cast(&self.decode, encoded, "the encoded fill value")?;
        if canonical(numeric, fill) == canonical(numeric, back) {
            return Ok(());
        }
        Err(CodecError::configuration("the fill value changes when it is encoded and decoded"))
    }
}

/// Returns one value for all components that represent the same number, or NaN.
fn canonical(numeric: Numeric, bits: u64) -> u64 {
    match numeric.real(bits) {
        Real::Nan => u64::MAX,
        Real::Finite { mantissa: 0, .. } => 0,
        _ => numeric.extend(bits),
    }
}

/// The pairs of `scalar_map` for one direction.
#[derive(Debug, Default)]
struct Scalars {
    /// Canonical scalars and their results, sorted by scalar.
    pairs: Vec<(u64, u64)>,
    /// The scalars that are numbers, as sorted doubles. They are exact for types that [`widen`] converts.
    doubles: Vec<f64>,
}

impl Scalars {
    /// Builds the map from pairs in document order. For equal scalars the first pair is used.
    fn new(from: Numeric, mut pairs: Vec<(u64, u64)>) -> Self {
        let double = |bits| match from {
            Numeric::Float(format) => format.to_f64(bits),
            integers => integers.integer(bits).unwrap_or(0) as f64,
        };
        let doubles = pairs.iter().map(|(scalar, _)| double(*scalar) + 0.0); // -0 + 0 is 0
        let mut doubles: Vec<f64> = doubles.filter(|x| !x.is_nan()).collect();
        doubles.sort_unstable_by(f64::total_cmp);
        pairs.iter_mut().for_each(|(scalar, _)| *scalar = canonical(from, *scalar));
        pairs.sort_by_key(|(scalar, _)| *scalar); // keeps the order of equal scalars
        pairs.dedup_by_key(|(scalar, _)| *scalar);
        Self { pairs, doubles }
    }

    /// Returns the result for a component, or `None` if no pair matches.
    fn get(&self, from: Numeric, bits: u64) -> Option<u64> {
        let scalar = canonical(from, bits);
        let place = self.pairs.binary_search_by_key(&scalar, |(scalar, _)| *scalar).ok()?;
        Some(self.pairs[place].1)
    }

    /// Whether a pair matches a number.
    fn has(&self, x: f64) -> bool {
        self.doubles.binary_search_by(|scalar| scalar.total_cmp(&(x + 0.0))).is_ok()
    }
}

/// How to treat a number that the target cannot represent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OutOfRange {
    Error,
    Clamp,
    Wrap,
}

/// The conversion in one direction.
#[derive(Debug)]
struct Cast {
    from: Numeric,
    to: Numeric,
    rounding: Rounding,
    out_of_range: OutOfRange,
    map: Scalars,
}

/// The number of elements that are converted to doubles at once.
const BLOCK: usize = 256;

impl Cast {
    /// Converts one number as the specification describes, or returns `None` for an error.
    fn one(&self, bits: u64) -> Option<u64> {
        if let Some(mapped) = self.map.get(self.from, bits) {
            return Some(mapped);
        }
        let real = self.from.real(bits);
        match self.to {
            Numeric::Float(format) => self.to_float(format, real),
            _ => self.to_integer(real),
        }
    }

    /// Returns the error for a number; `what` names its place.
    fn refused(&self, bits: u64, what: &str) -> CodecError {
        let shown = match self.from {
            Numeric::Float(format) => format.to_f64(bits).to_string(),
            integers => integers.integer(bits).unwrap_or(0).to_string(),
        };
        let message = format!("{what} is {shown}, which the other data type cannot represent");
        CodecError::new(CodecErrorKind::Value, message)
    }

    fn to_float(&self, format: FloatFormat, real: Real) -> Option<u64> {
        match (format.round(real, self.rounding), real) {
            (Ok(bits), _) => Some(bits),
            // Infinities are not out of range, so they are not clamped.
            (Err(beyond), Real::Finite { .. }) if self.out_of_range == OutOfRange::Clamp => {
                format.clamp(beyond)
            }
            _ => None,
        }
    }

    fn to_integer(&self, real: Real) -> Option<u64> {
        let Real::Finite { negative, .. } = real else { return None };
        // A number without an integer here is far out of range and a multiple of 2^64.
        let integer = real.to_integer(self.rounding);
        if let Some(bits) = integer.and_then(|integer| self.to.from_integer(integer)) {
            return Some(bits);
        }
        let (least, most) = self.to.range()?;
        match self.out_of_range {
            OutOfRange::Error => None,
            OutOfRange::Clamp => Some(low_bits(if negative { least } else { most })),
            OutOfRange::Wrap => Some(low_bits(integer.unwrap_or(0))),
        }
    }

    fn run(&self, src: &[u8], dst: &mut [u8]) -> CodecResult<()> {
        let (size, made) = (self.from.size(), self.to.size());
        let mut doubles = [0.0; BLOCK];
        let blocks = src.chunks(BLOCK * size).zip(dst.chunks_mut(BLOCK * made));
        for (block, (src, dst)) in blocks.enumerate() {
            let doubles = &mut doubles[..src.len() / size];
            let slow = |i: usize, dst: &mut [u8]| -> CodecResult<()> {
                let bits = self.from.load(&src[i * size..][..size]);
                let refused = || self.refused(bits, &format!("element {}", block * BLOCK + i));
                self.to.store(self.one(bits).ok_or_else(refused)?, dst);
                Ok(())
            };
            if widen(self.from, src, doubles) {
                self.narrow(doubles, dst, slow)?;
            } else {
                dst.chunks_exact_mut(made).enumerate().try_for_each(|(i, dst)| slow(i, dst))?;
            }
        }
        Ok(())
    }

    /// Converts doubles, which are exact, to elements. Leaves special cases to `slow`.
    fn narrow(
        &self,
        doubles: &[f64],
        dst: &mut [u8],
        slow: impl Fn(usize, &mut [u8]) -> CodecResult<()>,
    ) -> CodecResult<()> {
        macro_rules! integers {
            ($t:ty, $round:expr) => {{
                const SIZE: usize = size_of::<$t>();
                let range = self.to.range().unwrap_or((0, 0));
                // both are powers of two, so exact
                let (least, end) = (range.0 as f64, (range.1 + 1) as f64);
                for (i, (x, dst)) in doubles.iter().zip(dst.as_chunks_mut::<SIZE>().0).enumerate() {
                    let rounded: f64 = $round(*x);
                    // false for NaN
                    if rounded >= least && rounded < end && !self.map.has(*x) {
                        #[allow(clippy::cast_possible_truncation, reason = "it is in range")]
                        let integer = rounded as $t;
                        *dst = integer.to_ne_bytes();
                    } else {
                        slow(i, dst)?;
                    }
                }
            }};
        }
        macro_rules! rounded {
            ($t:ty) => {
                match self.rounding {
                    Rounding::NearestEven => integers!($t, f64::round_ties_even),
                    Rounding::TowardsZero => integers!($t, f64::trunc),
                    Rounding::TowardsPositive => integers!($t, f64::ceil),
                    Rounding::TowardsNegative => integers!($t, f64::floor),
                    Rounding::NearestAway => integers!($t, f64::round),
                }
            };
        }
        match (self.to, self.to.size()) {
            (Numeric::Integer { signed: true, .. }, 1) => rounded!(i8),
            (Numeric::Integer { signed: true, .. }, 2) => rounded!(i16),
            (Numeric::Integer { signed: true, .. }, 4) => rounded!(i32),
            (Numeric::Integer { signed: true, .. }, _) => rounded!(i64),
            (Numeric::Integer { .. }, 1) => rounded!(u8),
            (Numeric::Integer { .. }, 2) => rounded!(u16),
            (Numeric::Integer { .. }, 4) => rounded!(u32),
            (Numeric::Integer { .. }, _) => rounded!(u64),
            (Numeric::Float(FloatFormat::FLOAT64), _) => {
                for (i, (x, dst)) in doubles.iter().zip(dst.as_chunks_mut().0).enumerate() {
                    if x.is_nan() || self.map.has(*x) {
                        slow(i, dst)?;
                    } else {
                        *dst = x.to_ne_bytes();
                    }
                }
            }
            (Numeric::Float(FloatFormat::FLOAT32), _) if self.rounding == Rounding::NearestEven => {
                for (i, (x, dst)) in doubles.iter().zip(dst.as_chunks_mut().0).enumerate() {
                    #[allow(clippy::cast_possible_truncation, reason = "rounding is intended")]
                    let single = *x as f32;
                    if single.is_finite() && !self.map.has(*x) {
                        *dst = single.to_ne_bytes();
                    } else {
                        slow(i, dst)?;
                    }
                }
            }
            (_, size) => dst.chunks_exact_mut(size).enumerate().try_for_each(|(i, dst)| slow(i, dst))?,
        }
        Ok(())
    }
}

/// Converts elements to doubles. Returns false if doubles cannot represent all elements of the type.
fn widen(from: Numeric, src: &[u8], doubles: &mut [f64]) -> bool {
    macro_rules! all {
        ($t:ty) => {{
            const SIZE: usize = size_of::<$t>();
            for (x, src) in doubles.iter_mut().zip(src.as_chunks::<SIZE>().0) {
                *x = f64::from(<$t>::from_ne_bytes(*src));
            }
        }};
    }
    match (from, from.size()) {
        (Numeric::Integer { signed: true, .. }, 1) => all!(i8),
        (Numeric::Integer { signed: true, .. }, 2) => all!(i16),
        (Numeric::Integer { signed: true, .. }, 4) => all!(i32),
        (Numeric::Integer { signed: false, .. }, 1) => all!(u8),
        (Numeric::Integer { signed: false, .. }, 2) => all!(u16),
        (Numeric::Integer { signed: false, .. }, 4) => all!(u32),
        (Numeric::Float(FloatFormat::FLOAT32), _) => all!(f32),
        (Numeric::Float(FloatFormat::FLOAT64), _) => all!(f64),
        (Numeric::Float(format), size) => {
            for (x, src) in doubles.iter_mut().zip(src.chunks_exact(size)) {
                *x = format.to_f64(from.load(src));
            }
        }
        _ => return false,
    }
    true
}

impl Kernel for CastValue {
    fn encode(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> CodecResult<()> {
        self.encode.run(src, dst)
    }

    fn decode(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> CodecResult<()> {
        self.decode.run(src, dst)
    }
}

#[cfg(test)]
#[cfg(feature = "bytes")]
mod tests {
    use zarr_engine::Chain;
    use zarr_traits::json::{Value, json};
    use zarr_traits::strided::{Plain, Source, bytes_of};
    use zarr_traits::{CodecErrorKind, CodecResult, DataType, Scratch, number::Beyond};

    use super::*;
    use crate::testing::{Few, bytes, chain, decode, noted, open, open_filled, refused, to_hex};

    fn codecs(configuration: Value) -> Value {
        json!([{"name": "cast_value", "configuration": configuration}, bytes("little")])
    }

    fn encoded<T: Plain>(chain: &Chain, elements: &[T]) -> CodecResult<String> {
        let mut out = Vec::new();
        let source = Source::dense(bytes_of(elements), &[elements.len() as u64], size_of::<T>()).unwrap();
        chain.encode(source, &mut out, &mut Scratch::new())?;
        Ok(to_hex(&out))
    }

    fn cast<T: Plain>(from: &str, configuration: Value, elements: &[T]) -> CodecResult<String> {
        encoded(&chain(&codecs(configuration), from, 1), elements)
    }

    #[test]
    fn the_examples_of_the_specification_hold() {
        // rule D.9c
        for (out_of_range, expected) in
            [(None, None), (Some("clamp"), Some("7f")), (Some("wrap"), Some("80"))]
        {
            let configuration = match out_of_range {
                Some(rule) => json!({"data_type": "int8", "out_of_range": rule}),
                None => json!({"data_type": "int8"}),
            };
            assert_eq!(cast("float64", configuration, &[128.0_f64]).ok().as_deref(), expected);
        }
        let wrap = json!({"data_type": "int16", "out_of_range": "wrap"});
        assert_eq!(cast("int32", wrap.clone(), &[32768, 32769, -32769]).unwrap(), "00800180ff7f");
        assert_eq!(cast("float64", wrap, &[1e300_f64, -65536.0, 65535.0]).unwrap(), "00000000ffff");
        let numpy = json!({
            "data_type": "uint8", "rounding": "towards-zero", "out_of_range": "wrap",
            "scalar_map": {"encode": [["NaN", 0], ["+Infinity", 0], ["-Infinity", 0]]}
        });
        assert_eq!(noted(&codecs(numpy.clone()), "float64", 1), ["/0/configuration/scalar_map"]); // rule B50
        let (numpy, _) = open(&codecs(numpy), DataType::Float64, 1).unwrap();
        let elements = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 257.9, -1.0, 255.0];
        assert_eq!(encoded(&numpy, &elements).unwrap(), "00000001ffff");
    }

    #[test]
    fn every_rounding_is_applied() {
        // rule D.9c
        for (rounding, expected) in [
            ("nearest-even", "02fe0004"),
            ("towards-zero", "02fe0003"),
            ("towards-positive", "03fe0104"),
            ("towards-negative", "02fd0003"),
            ("nearest-away", "03fd0004"),
        ] {
            let configuration = json!({"data_type": "int8", "rounding": rounding});
            assert_eq!(cast("float64", configuration, &[2.5_f64, -2.5, 0.25, 3.5]).unwrap(), expected);
        }
        // 2^53 + 1 is between two doubles, 2^24 + 1 between two singles
        let above = [(1_i64 << 53) + 1];
        for (rounding, bits) in
            [("nearest-even", 0x4340_0000_0000_0000_u64), ("towards-positive", 0x4340_0000_0000_0001)]
        {
            let configuration = json!({"data_type": "float64", "rounding": rounding});
            assert_eq!(cast("int64", configuration, &above).unwrap(), to_hex(&bits.to_le_bytes()));
        }
        for (rounding, single) in [("nearest-even", 16_777_216_f32), ("towards-positive", 16_777_218.0)] {
            let configuration = json!({"data_type": "float32", "rounding": rounding});
            assert_eq!(cast("int32", configuration, &[16_777_217]).unwrap(), to_hex(&single.to_le_bytes()));
        }
        // rounded once: through a double it would become 2^63
        let once = [(1_u64 << 63) + (1 << 39) + 1];
        let configuration = json!({"data_type": "float32"});
        assert_eq!(cast("uint64", configuration, &once).unwrap(), to_hex(&0x5f00_0001_u32.to_le_bytes()));
    }

    #[test]
    fn nan_infinities_and_zeros_are_cast() {
        // rule D.9c
        let single = json!({"data_type": "float32"});
        let special = [f64::NAN, f64::INFINITY, -0.0];
        assert_eq!(cast("float64", single.clone(), &special).unwrap(), "0000c07f0000807f00000080");
        assert!(cast("float64", single, &[1e300_f64]).is_err());
        let clamp = json!({"data_type": "float32", "out_of_range": "clamp"});
        assert_eq!(cast("float64", clamp, &[1e300_f64, -1e300]).unwrap(), "0000807f000080ff");
        let integer = json!({"data_type": "uint8", "out_of_range": "clamp"});
        for element in [f64::NAN, f64::INFINITY] {
            let e = cast("float64", integer.clone(), &[1.0, element]).unwrap_err();
            assert!(e.to_string().contains("element 1 is"), "{e}");
            assert_eq!(e.kind(), CodecErrorKind::Value);
        }
        assert_eq!(cast("float64", integer, &[-0.0_f64, 1e300, -1.0]).unwrap(), "00ff00");
    }

    #[test]
    fn the_scalar_map_takes_precedence_and_its_first_pair_is_used() {
        // rule D.9c
        let configuration = json!({"data_type": "uint8", "scalar_map": {
            "encode": [["NaN", 255], [7, 1], [7, 2]], "decode": [[255, "NaN"]]
        }});
        let chain = chain(&codecs(configuration), "float32", 1);
        let payload = f32::from_bits(0xffc0_0001);
        assert_eq!(encoded(&chain, &[f32::NAN, payload, 7.0, 8.0]).unwrap(), "ffff0108");
        let back = decode(&chain, &[2], &[255, 8]).unwrap();
        assert_eq!(back, bytes_of(&[f32::NAN, 8.0]));
        let zeros = json!({"data_type": "int8", "scalar_map": {
            "encode": [[5, 6], [-0.0, 9], [0, 8], [-3, 4]], "decode": [[9, 0]]
        }});
        for elements in [[0.0, -0.0, 5.0, -3.0, 2.0], [-0.0, 0.0, 5.0, -3.0, 2.0]] {
            assert_eq!(cast("float64", zeros.clone(), &elements).unwrap(), "0909060402");
        }
        let wide = json!({"data_type": "int64", "scalar_map": {"encode": [[u64::MAX, -1]]}});
        assert_eq!(cast("uint64", wide, &[u64::MAX]).unwrap(), "ffffffffffffffff");
    }

    #[test]
    fn numbers_of_less_than_a_byte_are_cast() {
        // rule D.9c
        let int8 = json!({"data_type": "int8", "rounding": "nearest-even"});
        let (floats, _) = open(&codecs(int8), Few::float(FloatFormat::FLOAT4_E2M1FN), 1).unwrap();
        assert_eq!(encoded(&floats, &[0x01_u8, 0x03, 0x07, 0x0f]).unwrap(), "000206fa");
        assert_eq!(decode(&floats, &[2], &[6, 0xfd]).unwrap(), [7, 0x0d]);
        assert_eq!(
            decode(&floats, &[1], &[7]).unwrap_err().kind(),
            CodecErrorKind::Value,
            "the format has no 7"
        );
        let (few, _) = open(&codecs(json!({"data_type": "uint8"})), Few::integer(4, false), 1).unwrap();
        assert_eq!(decode(&few, &[1], &[16]).unwrap_err().kind(), CodecErrorKind::Value);
        let infinity = Cast {
            from: Numeric::Float(FloatFormat::FLOAT32),
            to: Numeric::Float(FloatFormat::FLOAT4_E2M1FN),
            rounding: Rounding::NearestEven,
            out_of_range: OutOfRange::Clamp,
            map: Scalars::default(),
        };
        assert_eq!(infinity.one(100_f32.to_bits().into()), Some(7), "6 is the largest");
        assert!(infinity.one(f32::INFINITY.to_bits().into()).is_none(), "the format has no infinity");
        assert_eq!(FloatFormat::FLOAT4_E2M1FN.clamp(Beyond::Below), Some(15));
    }

    #[test]
    fn casts_in_blocks_equal_casts_of_single_numbers() {
        let types = ["int8", "uint8", "int16", "uint32", "int64", "uint64", "float16", "float32", "float64"];
        let mut noise = crate::testing::Noise(7);
        for from in types {
            for to in types {
                let (from, to) =
                    [from, to].map(|name| DataType::core(name).unwrap().numeric().unwrap()).into();
                for rounding in Rounding::ALL {
                    let map = Scalars::new(from, vec![(1, 1)]);
                    let cast = Cast { from, to, rounding, out_of_range: OutOfRange::Clamp, map };
                    let elements = match from {
                        // NaN cannot be cast to integers
                        Numeric::Float(format) => (0..300)
                            .map(|_| noise.next() >> (64 - format.bits()))
                            .filter(|bits| matches!(format.real(*bits), Real::Finite { .. }))
                            .collect::<Vec<u64>>(),
                        _ => (0..300).map(|_| noise.next()).collect(),
                    };
                    let mut src = vec![0; elements.len() * from.size()];
                    for (bits, memory) in elements.iter().zip(src.chunks_exact_mut(from.size())) {
                        from.store(*bits, memory);
                    }
                    let mut dst = vec![0; elements.len() * to.size()];
                    cast.run(&src, &mut dst).unwrap();
                    for (bits, memory) in elements.iter().zip(dst.chunks_exact(to.size())) {
                        let one = to.extend(cast.one(from.extend(*bits)).unwrap());
                        assert_eq!(to.extend(to.load(memory)), one, "{from:?} {to:?} {rounding:?} {bits:#x}");
                    }
                }
            }
        }
    }

    #[test]
    fn invalid_configurations_are_refused_when_the_array_is_opened() {
        // rule D.9c
        for (configuration, member) in [
            (json!({}), "data_type"),
            (json!({"data_type": "int8", "rounding": "up"}), "rounding"),
            (json!({"data_type": "int8", "out_of_range": "saturate"}), "out_of_range"),
            (json!({"data_type": "float32", "out_of_range": "wrap"}), "out_of_range"),
            (json!({"data_type": "int8", "scalar_map": []}), "scalar_map"),
            (json!({"data_type": "int8", "scalar_map": {"x": []}}), "scalar_map"),
            (json!({"data_type": "int8", "scalar_map": {"encode": [[1]]}}), "scalar_map/encode/0"),
            (json!({"data_type": "int8", "scalar_map": {"decode": [[1.5, 1]]}}), "scalar_map/decode/0"),
            (json!({"data_type": "int8", "more": 1}), "more"),
        ] {
            let pointer = format!("/0/configuration/{member}");
            assert_eq!(refused(&codecs(configuration), "float64", 1).pointer(), pointer);
        }
        for (from, to) in [("bool", "int8"), ("int8", "bool"), ("complex64", "float32"), ("string", "int8")] {
            let from = DataType::core(from).unwrap();
            let e = open(&codecs(json!({"data_type": to})), from, 1).unwrap_err();
            assert_eq!(e.kind(), CodecErrorKind::Unsupported);
        }
    }

    #[test]
    fn a_fill_value_that_changes_in_a_round_trip_is_refused() {
        // rule D.05
        let build = |fill: f64, configuration: Value| {
            let fill = zarr_traits::FillValue::of(fill);
            open_filled(&codecs(configuration), DataType::Float64, fill, 1)
        };
        assert!(build(-1.0, json!({"data_type": "int8"})).is_ok());
        assert!(build(-0.0, json!({"data_type": "int8"})).is_ok());
        let mapped =
            json!({"data_type": "int8", "scalar_map": {"encode": [["NaN", 0]], "decode": [[0, "NaN"]]}});
        assert!(build(f64::NAN, mapped).is_ok());
        let one_way = json!({"data_type": "int8", "scalar_map": {"encode": [["NaN", 0]]}});
        for (fill, configuration) in [
            (0.5, json!({"data_type": "int8"})),
            (300.0, json!({"data_type": "int8"})),
            (300.0, json!({"data_type": "int8", "out_of_range": "clamp"})),
            (f64::NAN, one_way),
        ] {
            assert_eq!(
                build(fill, configuration).unwrap_err().kind(),
                CodecErrorKind::Configuration,
                "{fill}"
            );
        }
    }
}
