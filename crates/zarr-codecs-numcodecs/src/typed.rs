//! Filters of typed numbers: each is one kernel that is used in two ways.
//!
//! In format 3 a filter is a codec from array to array: the data type must be that of the filter, elements are in the
//! byte order of this machine, and the byte order in the configuration is ignored.
//!
//! In format 2 a filter gets bytes and views them as the type and byte order of its configuration. There it is a codec
//! from bytes to bytes, under an internal name with a colon.

use std::fmt::Debug;
use std::sync::Arc;

use zarr_traits::kernel::{self, Kernel};
use zarr_traits::{
    CodecError, CodecResult, Scratch,
    codec::{BytesBytesCodec, Codec, EncodedSize, Repr, too_large},
};

use crate::number::{self, StoredType};
use crate::stream::reserve;

/// A kernel that knows the types of its numbers.
pub(crate) trait Filter: Kernel {
    /// Returns the types of decoded and of encoded numbers.
    fn types(&self) -> [StoredType; 2];
}

/// Returns the number type of the array, the default type of a filter.
pub(crate) fn native(repr: &Repr) -> Option<StoredType> {
    number::of(&repr.data_type).map(StoredType::native)
}

/// Returns the filter as a codec from array to array.
///
/// # Errors
/// If the data type is not that of the filter.
pub(crate) fn array_codec(filter: impl Filter, repr: &Repr) -> CodecResult<Codec> {
    let [decoded, encoded] = filter.types();
    if number::of(&repr.data_type) != Some(decoded.kind) {
        return Err(CodecError::configuration(format!(
            "expected data type {}, found {}",
            decoded.kind.name(),
            repr.data_type
        )));
    }
    kernel::codec(filter, repr, encoded.kind.into())
}

/// Returns the filter as a codec from bytes to bytes.
pub(crate) fn bytes_codec(filter: impl Filter) -> Codec {
    Codec::BytesBytes(Arc::new(BytesFilter { filter }))
}

/// One direction of a kernel.
type Step<'a> = &'a dyn Fn(&[u8], &mut [u8], &mut Scratch) -> CodecResult<()>;

#[derive(Debug)]
struct BytesFilter<F> {
    filter: F,
}

/// Returns the size of the numbers in `len` bytes of type `from` as type `to`.
fn resized(len: u64, from: StoredType, to: StoredType) -> Option<u64> {
    let size = from.kind.size() as u64;
    len.is_multiple_of(size).then(|| len / size)?.checked_mul(to.kind.size() as u64)
}

/// Like [`resized`], for slices in memory.
fn room(len: usize, from: StoredType, to: StoredType) -> CodecResult<usize> {
    let room = resized(len as u64, from, to).and_then(|n| usize::try_from(n).ok());
    room.ok_or_else(|| CodecError::corrupt(format!("{len} bytes are not whole {}", from.kind.name())))
}

/// Converts stored bytes to numbers of this machine, runs `step` on them, and writes the results as stored bytes to
/// `dst`.
fn view(
    src: &[u8],
    [from, to]: [StoredType; 2],
    dst: &mut [u8],
    scratch: &mut Scratch,
    step: Step<'_>,
) -> CodecResult<()> {
    if from.foreign {
        let mut numbers = scratch.take(src.len())?;
        numbers.copy_from_slice(src);
        from.swap(&mut numbers);
        step(&numbers, dst, scratch)?;
        scratch.give(numbers);
    } else {
        step(src, dst, scratch)?;
    }
    to.swap(dst);
    Ok(())
}

impl<F: Filter> BytesBytesCodec for BytesFilter<F> {
    fn decode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> CodecResult<usize> {
        let [decoded, encoded] = self.filter.types();
        let len = room(src.len(), encoded, decoded)?;
        let dst = dst.get_mut(..len).ok_or_else(too_large)?;
        let step: Step<'_> = &|src, dst, scratch| self.filter.decode(src, dst, scratch);
        view(src, [encoded, decoded], dst, scratch, step)?;
        Ok(len)
    }

    fn encode(&self, src: &[u8], out: &mut Vec<u8>, scratch: &mut Scratch) -> CodecResult<()> {
        let [decoded, encoded] = self.filter.types();
        let len = room(src.len(), decoded, encoded)?;
        reserve(out, len)?;
        let start = out.len();
        out.resize(start + len, 0);
        let step: Step<'_> = &|src, dst, scratch| self.filter.encode(src, dst, scratch);
        view(src, [decoded, encoded], &mut out[start..], scratch, step)
    }

    fn encoded_size(&self, size: u64) -> EncodedSize {
        let [decoded, encoded] = self.filter.types();
        resized(size, decoded, encoded).map_or(EncodedSize::Unknown, EncodedSize::Exact)
    }
}

#[cfg(test)]
mod tests {
    use zarr_traits::json::{Value, json};
    use zarr_traits::strided::{Destination, Source};
    use zarr_traits::{CodecErrorKind, DataType, FillValue};

    use super::*;
    use crate::number::NumberType;
    use crate::testing::{build, decode, decodes, encode, hex, repr, survives, to_hex};

    /// Results of numcodecs: name, configuration, decoded, encoded, and decoded again.
    const VECTORS: &str = include_str!("../testdata/typed.txt");

    fn vectors() -> impl Iterator<Item = (&'static str, Value, [Vec<u8>; 3])> {
        VECTORS.lines().filter(|line| !line.starts_with('#')).map(|line| {
            let (name, rest) = line.split_once(' ').unwrap();
            let mut fields = rest.rsplitn(4, ' ');
            let mut bytes = || hex(fields.next().unwrap().trim_start_matches('-'));
            let (again, encoded, decoded) = (bytes(), bytes(), bytes());
            (name, Value::parse(fields.next().unwrap()).unwrap(), [decoded, encoded, again])
        })
    }

    fn bytes_filter(name: &str, configuration: &Value) -> Arc<dyn BytesBytesCodec> {
        let name = match name {
            "categorize" => "numcodecs:categorize_fixed".to_owned(),
            name => format!("numcodecs:{name}"),
        };
        match build(&name, configuration, &repr(DataType::UInt8)).unwrap() {
            Codec::BytesBytes(codec) => codec,
            other => unreachable!("{other:?}"),
        }
    }

    #[test]
    fn bytes_are_filtered_bit_for_bit_as_numcodecs_does() {
        // rule H7
        for (name, configuration, [decoded, encoded, again]) in vectors() {
            let codec = bytes_filter(name, &configuration);
            let case = format!("{name} {configuration} {}", to_hex(&decoded));
            assert_eq!(to_hex(&encode(&*codec, &decoded)), to_hex(&encoded), "encoding {case}");
            let back = decode(&*codec, &encoded, again.len()).unwrap();
            assert_eq!(to_hex(&back), to_hex(&again), "decoding {case}");
            survives(&*codec, &encoded, &again, true);
        }
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn arrays_are_filtered_like_bytes() {
        // rule D10.1
        for (name, configuration, [decoded, encoded, again]) in vectors() {
            let member = ["dtype", "decode_dtype"].into_iter().find_map(|member| configuration.get(member));
            let decoded_type = match member.and_then(|member| member.as_text()).as_deref() {
                Some(text) if text.starts_with('>') || text.contains('U') => continue,
                Some(text) => StoredType::parse(text).unwrap(),
                None => StoredType::native(NumberType::Bool),
            };
            let mut implied = configuration.clone();
            if name != "delta" {
                // the default type is that of the array
                let mut members = implied.as_object().unwrap();
                for member in ["dtype", "decode_dtype"] {
                    members.remove(member);
                }
                implied = members.into();
                if configuration.get("astype") != configuration.get("dtype") && name != "astype" {
                    implied = configuration.clone();
                }
            }
            let data_type = decoded_type.kind.into();
            let codec = build(&format!("numcodecs.{name}"), &implied, &repr(data_type)).unwrap();
            let Codec::ArrayArray(codec) = codec else { unreachable!() };
            let n = (decoded.len() / decoded_type.kind.size()) as u64;
            let encoded_shape = codec.encoded_shape(&[n]).unwrap();
            let size = codec.encoded_repr().unwrap().data_type.size().unwrap();
            let mut made = vec![0; encoded.len()];
            let mut scratch = Scratch::new();
            let dst = Destination::dense(&mut made, &encoded_shape, size).unwrap();
            let src = |bytes| Source::dense(bytes, &[n], decoded_type.kind.size()).unwrap();
            codec.encode(src(&decoded), dst, &mut scratch).unwrap();
            assert_eq!(to_hex(&made), to_hex(&encoded), "{name} {configuration}");
            let mut back = vec![0; again.len()];
            let dst = Destination::dense(&mut back, &[n], decoded_type.kind.size()).unwrap();
            let src = Source::dense(&encoded, &encoded_shape, size).unwrap();
            codec.decode(src, dst, &mut scratch).unwrap();
            assert_eq!(to_hex(&back), to_hex(&again), "{name} {configuration}");
        }
    }

    #[test]
    fn bytes_of_numcodecs_are_reproduced() {
        // rule H7
        let delta = bytes_filter("delta", &json!({"dtype": "<i4", "astype": "<i2"}));
        decodes(&*delta, &hex("0a000200fdff"), &hex("0a0000000c00000009000000"));
        let scaled = json!({"offset": 1000, "scale": 10, "dtype": "<f8", "astype": "|u1"});
        let numbers: Vec<u8> = [1000_f64, 1000.5, 1001.2].into_iter().flat_map(f64::to_le_bytes).collect();
        decodes(&*bytes_filter("fixedscaleoffset", &scaled), &hex("00050c"), &numbers);
        let rounded = bytes_filter("bitround", &json!({"keepbits": 3, "dtype": "float32"}));
        let numbers: Vec<u8> = [1.2345_f32, 3.1].into_iter().flat_map(f32::to_le_bytes).collect();
        assert_eq!(to_hex(&encode(&*rounded, &numbers)), "0000a03f00004040"); // rule D.9b
        let nan = f32::from_bits(0x7fff_ffff).to_le_bytes();
        assert_eq!(encode(&*rounded, &nan), nan, "no NaN becomes infinite");
        let unknown = bytes_filter("bitround", &json!({"keepbits": 3}));
        assert_eq!(decode(&*unknown, &numbers, 8).unwrap(), numbers);
        assert!(unknown.encode(&numbers, &mut Vec::new(), &mut Scratch::new()).is_err());
        let packed = bytes_filter("packbits", &json!({}));
        decodes(&*packed, &hex("078080"), &[1, 0, 0, 0, 0, 0, 0, 0, 1]);
        for bad in ["", "01", "08ff", "ffffff"] {
            assert_eq!(decode(&*packed, &hex(bad), 99).unwrap_err().kind(), CodecErrorKind::Corrupt);
        }
    }

    #[test]
    fn set_padding_bits_of_packbits_are_errors() {
        // rule H.7
        let filter = bytes_filter("packbits", &json!({}));
        for (good, bits) in [("0000", 8), ("00ff", 8), ("01fe", 7), ("0780", 1), ("0400f0", 12)] {
            assert_eq!(decode(&*filter, &hex(good), bits).unwrap().len(), bits, "{good}");
        }
        let codec =
            build("numcodecs.packbits", &json!({}), &Repr::new(DataType::Bool, FillValue::of(0_u8), 1));
        let Codec::ArrayArray(codec) = codec.unwrap() else { unreachable!() };
        for (bad, bits) in [("01ff", 7), ("0101", 7), ("0781", 1), ("07c0", 1), ("0400f8", 12)] {
            let e = decode(&*filter, &hex(bad), bits).unwrap_err();
            assert_eq!(e.kind(), CodecErrorKind::Corrupt, "{bad}");
            assert!(format!("{e:#}").contains("padding bits"), "{bad}: {e:#}");
            let (encoded, mut values) = (hex(bad), vec![0; bits]);
            let src = Source::dense(&encoded, &[encoded.len() as u64], 1).unwrap();
            let dst = Destination::dense(&mut values, &[bits as u64], 1).unwrap();
            assert_eq!(
                format!("{:#}", codec.decode(src, dst, &mut Scratch::new()).unwrap_err()),
                format!("{e:#}")
            );
        }
    }

    #[test]
    fn a_filter_for_another_type_is_refused_when_the_array_is_opened() {
        for (name, configuration, data_type) in [
            ("delta", json!({"dtype": "<i4"}), DataType::Int16),
            ("delta", json!({"dtype": "<i4"}), DataType::UInt32),
            ("delta", json!({"dtype": "<i4", "astype": "|O"}), DataType::Int32),
            ("delta", json!({"dtype": "|i4"}), DataType::Int32),
            ("delta", json!({}), DataType::String),
            ("astype", json!({}), DataType::Int32),
            ("astype", json!({"encode_dtype": "<c8"}), DataType::Int32),
            ("astype", json!({"encode_dtype": 4}), DataType::Int32),
            ("quantize", json!({"digits": 1}), DataType::Int32),
            ("quantize", json!({"digits": 400}), DataType::Float32),
            ("fixedscaleoffset", json!({"offset": 1}), DataType::Float32),
            ("fixedscaleoffset", json!({"offset": 1, "scale": "2"}), DataType::Float32),
            ("bitround", json!({"keepbits": 1}), DataType::Int32),
            ("bitround", json!({"keepbits": -1}), DataType::Float32),
            ("packbits", json!({}), DataType::UInt8),
        ] {
            let e = build(&format!("numcodecs.{name}"), &configuration, &repr(data_type)).unwrap_err();
            assert_eq!(e.kind(), CodecErrorKind::Configuration, "{name} {configuration}: {e:#}");
        }
        let big = build("numcodecs.delta", &json!({"dtype": ">i4"}), &repr(DataType::Int32));
        assert!(big.is_ok(), "the byte order is ignored");
    }

    #[test]
    fn fill_values_are_encoded() {
        // rule D.05
        let scaled = json!({"offset": 1000, "scale": 10, "astype": "int16"}); // rule D10.5
        let fill = FillValue::of(999.9_f64);
        let repr = Repr::new(DataType::Float64, fill, 2);
        let Codec::ArrayArray(codec) = build("numcodecs.fixedscaleoffset", &scaled, &repr).unwrap() else {
            unreachable!()
        };
        let encoded = codec.encoded_repr().unwrap();
        assert_eq!(encoded, Repr::new(DataType::Int16, FillValue::of(-1_i16), 2));
    }
}
