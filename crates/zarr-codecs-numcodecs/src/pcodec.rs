//! `numcodecs.pcodec`: numbers in the standalone format of Pcodec.
//!
//! Format: [pcodec](https://github.com/pcodec/pcodec).
//!
//! | member | value |
//! |---|---|
//! | `level` | 0 to 12; 8 when absent |
//! | `mode_spec` | `"auto"`, `"classic"` |
//! | `delta_spec` | `"auto"`, `"none"`, `"no_op"`, `"try_consecutive"`, `"try_lookback"` |
//! | `delta_encoding_order` | of `"try_consecutive"`: 0 to 7 |
//! | `paging_spec` | `"equal_pages_up_to"` |
//! | `equal_pages_up_to` | numbers in a page; 262144 when absent |
//!
//! Elements are integers of 1, 2, 4 and 8 bytes and floats of 2, 4 and 8 bytes. Older readers of the format do not know
//! elements of one byte. Only a writer uses the members.
//!
//! `numcodecs.bitround` of numcodecs hands the bits of floats on as signed integers, so a stream of integers of the same
//! size is read as the bits of floats.

use std::sync::Arc;

use pco::data_types::{Number, NumberType};
use pco::standalone::{DecompressorItem, FileDecompressor, simple_compress};
use pco::{ChunkConfig, DeltaSpec, ModeSpec, PagingSpec};
use zarr_traits::codec::{ArrayBytesCodec, Codec, CodecKind, EncodedSize, PartAccess, Repr, too_large};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Entry};
use zarr_traits::number::with_number;
use zarr_traits::strided::{Destination, Source, Swap, byte_len};
use zarr_traits::{CodecError, CodecErrorKind, CodecResult, DataType, Region, Scratch};

use crate::non_null;

/// The row of this codec in a registry.
pub const ENTRY: Entry = Entry::Codec(CodecEntry::new("numcodecs.pcodec", CodecKind::ArrayBytes, build));

#[derive(Debug)]
struct Pcodec {
    data_type: DataType,
    size: usize,
    config: ChunkConfig,
}

fn build(configuration: &mut Configuration<'_>, repr: &Repr, _: &Context<'_>) -> CodecResult<Codec> {
    let wrong = |member: &str, found: &str| {
        let message = format!("{member} is {found:?}, an unknown value");
        CodecError::configuration(message).at(&format!("/configuration/{member}"))
    };
    let level = configuration.optional_integer("level", 0..=12)?.unwrap_or(8);
    let mode = match configuration.optional_string("mode_spec")?.as_deref() {
        None | Some("auto") => ModeSpec::Auto,
        Some("classic") => ModeSpec::Classic,
        Some(other) => return Err(wrong("mode_spec", other)),
    };
    let order = match non_null(configuration, "delta_encoding_order") {
        Some(_) => Some(configuration.integer("delta_encoding_order", 0..=7)?),
        None => None,
    };
    let consecutive = |order: i64| DeltaSpec::TryConsecutive(usize::try_from(order).unwrap_or(1));
    let delta = match (configuration.optional_string("delta_spec")?.as_deref(), order) {
        (Some("try_consecutive"), order) => consecutive(order.unwrap_or(1)),
        (None | Some("auto"), None) => DeltaSpec::Auto,
        (None | Some("auto"), Some(order)) => consecutive(order),
        (Some("none" | "no_op"), _) => DeltaSpec::NoOp,
        (Some("try_lookback"), _) => DeltaSpec::TryLookback,
        (Some(other), _) => return Err(wrong("delta_spec", other)),
    };
    match configuration.optional_string("paging_spec")?.as_deref() {
        None | Some("equal_pages_up_to") => {}
        Some(other) => return Err(wrong("paging_spec", other)),
    }
    let page = configuration.optional_integer("equal_pages_up_to", 1..=1 << 24)?.unwrap_or(1 << 18);
    let config = ChunkConfig::default()
        .with_compression_level(usize::try_from(level).unwrap_or(8))
        .with_mode_spec(mode)
        .with_delta_spec(delta)
        .with_paging_spec(PagingSpec::EqualPagesUpTo(usize::try_from(page).unwrap_or(1 << 18)))
        // The metadata has decided whether pcodec is wise for 8-bit numbers.
        .with_enable_8_bit(true);
    let (size, _) = repr.fixed()?;
    let codec = Pcodec { data_type: repr.data_type.clone(), size, config };
    // Unsupported data types are refused when the array is opened.
    codec.run(&mut Check)?;
    Ok(Codec::ArrayBytes(Arc::new(codec)))
}

/// A function that is generic over the type of numbers.
trait Work {
    fn run<T: Number + Default>(&mut self, codec: &Pcodec, bytes: Bytes<T>) -> CodecResult<()>;
}

/// Converts numbers to bytes in the byte order of this machine, and back.
struct Bytes<T> {
    from: fn(&[u8]) -> T,
    put: fn(T, &mut [u8]),
}

struct Check;

struct Decode<'a> {
    src: &'a [u8],
    dst: &'a mut [u8],
}

struct Encode<'a> {
    src: &'a [u8],
    out: &'a mut Vec<u8>,
}

impl Pcodec {
    fn run(&self, work: &mut impl Work) -> CodecResult<()> {
        self.run_as(&self.data_type, work)
    }

    /// Runs `work` with the numbers of `data_type`, which have the size of those of the codec.
    fn run_as(&self, data_type: &DataType, work: &mut impl Work) -> CodecResult<()> {
        let unsupported = || {
            let message = format!("data type {data_type} is not numeric");
            CodecError::new(CodecErrorKind::Unsupported, message)
        };
        with_number!(
            data_type.number().ok_or_else(unsupported)?,
            T => {
                let from = |bytes: &[u8]| T::from_ne_bytes(bytes.try_into().unwrap_or_default());
                let put = |number: T, bytes: &mut [u8]| bytes.copy_from_slice(&number.to_ne_bytes());
                work.run(self, Bytes { from, put })
            },
            Err(unsupported())
        )
    }

    /// Returns the type as which the numbers of a stream are decoded: that of the elements, or the signed integers whose
    /// bits are those of the elements.
    fn stored_as(&self, src: &[u8]) -> DataType {
        let first = FileDecompressor::new(src)
            .and_then(|(file, chunks)| file.peek_number_type_or_termination(chunks))
            .ok()
            .flatten();
        match (&self.data_type, first) {
            (DataType::Float16, Some(NumberType::I16)) => DataType::Int16,
            (DataType::Float32, Some(NumberType::I32)) => DataType::Int32,
            (DataType::Float64, Some(NumberType::I64)) => DataType::Int64,
            (data_type, _) => data_type.clone(),
        }
    }
}

impl Work for Check {
    fn run<T: Number + Default>(&mut self, _: &Pcodec, _: Bytes<T>) -> CodecResult<()> {
        Ok(())
    }
}

impl Work for Decode<'_> {
    fn run<T: Number + Default>(&mut self, codec: &Pcodec, bytes: Bytes<T>) -> CodecResult<()> {
        let mut numbers = vec![T::default(); self.dst.len() / codec.size];
        let failed = |e| CodecError::corrupt("the numbers cannot be decoded").with_source(e);
        let (file, mut rest) = FileDecompressor::new(self.src).map_err(failed)?;
        let mut made = 0;
        loop {
            check_dictionary(rest, codec.size)?;
            match file.chunk_decompressor(rest).map_err(failed)? {
                DecompressorItem::Chunk(mut chunk) => {
                    let end = made + chunk.n();
                    let room = numbers.get_mut(made..end).ok_or_else(too_large)?;
                    chunk.read(room).map_err(failed)?;
                    (made, rest) = (end, chunk.into_src());
                }
                DecompressorItem::EndOfData([]) => break,
                DecompressorItem::EndOfData(behind) => {
                    let message = format!("unexpected {} bytes after the numbers", behind.len());
                    return Err(CodecError::corrupt(message));
                }
            }
        }
        if made != numbers.len() {
            let message = format!("decoded {made} numbers, expected {}", numbers.len());
            return Err(CodecError::corrupt(message));
        }
        let elements = self.dst.chunks_exact_mut(codec.size);
        elements.zip(numbers).for_each(|(element, number)| (bytes.put)(number, element));
        Ok(())
    }
}

/// Checks that the dictionary of a chunk of the format is not longer than the data. The library allocates up to 256 MiB
/// for it before it reads.
///
/// A chunk begins with the type of its numbers in a byte, their count in three, then four bits for the mode. In mode 4
/// the length of a dictionary follows in 25 bits.
fn check_dictionary(chunk: &[u8], size: usize) -> CodecResult<()> {
    const DICTIONARY: u32 = 4;
    let Some((&[_, _, _, _, a, b, c, d], rest)) = chunk.split_first_chunk::<8>() else { return Ok(()) };
    let word = u32::from_le_bytes([a, b, c, d]);
    let length = (word >> 4) as usize & ((1 << 25) - 1);
    if word & 0xF == DICTIONARY && rest.len() / size < length {
        let message = format!("a dictionary of {length} numbers does not fit into {} bytes", rest.len());
        return Err(CodecError::corrupt(message));
    }
    Ok(())
}

impl Work for Encode<'_> {
    fn run<T: Number + Default>(&mut self, codec: &Pcodec, bytes: Bytes<T>) -> CodecResult<()> {
        let numbers: Vec<T> = self.src.chunks_exact(codec.size).map(bytes.from).collect();
        let failed =
            |e| CodecError::new(CodecErrorKind::Value, "the numbers cannot be encoded").with_source(e);
        self.out.extend_from_slice(&simple_compress(&numbers, &codec.config).map_err(failed)?);
        Ok(())
    }
}

impl ArrayBytesCodec for Pcodec {
    fn access(&self) -> PartAccess<'_> {
        PartAccess::Whole
    }

    fn decode_into(
        &self,
        src: &[u8],
        shape: &[u64],
        part: &Region,
        mut dst: Destination<'_>,
        scratch: &mut Scratch,
    ) -> CodecResult<()> {
        let mut chunk = scratch.take(byte_len(shape, self.size)?)?;
        self.run_as(&self.stored_as(src), &mut Decode { src, dst: &mut chunk })?;
        dst.put(Source::dense(&chunk, shape, self.size)?.sub(part.start(), part.shape())?, Swap::NONE)?;
        scratch.give(chunk);
        Ok(())
    }

    fn encode(&self, src: Source<'_>, out: &mut Vec<u8>, scratch: &mut Scratch) -> CodecResult<()> {
        let mut dense = scratch.take_vec();
        src.append_to(&mut dense, Swap::NONE)?;
        self.run(&mut Encode { src: &dense, out })?;
        scratch.give_vec(dense);
        Ok(())
    }

    fn encoded_size(&self, _: &[u64]) -> EncodedSize {
        EncodedSize::Unknown
    }
}

#[cfg(test)]
mod tests {
    use zarr_traits::json::{Value, json};
    use zarr_traits::strided::bytes_of;

    use half::f16;

    use super::*;
    use crate::testing::{build, hex, repr};

    fn codec(data_type: DataType, configuration: &Value) -> CodecResult<Arc<dyn ArrayBytesCodec>> {
        match build("numcodecs.pcodec", configuration, &repr(data_type))? {
            Codec::ArrayBytes(codec) => Ok(codec),
            other => unreachable!("{other:?}"),
        }
    }

    fn decode(codec: &dyn ArrayBytesCodec, src: &[u8], len: usize, size: usize) -> CodecResult<Vec<u8>> {
        let shape = [len as u64];
        let mut out = vec![0xaa; len * size];
        let dst = Destination::dense(&mut out, &shape, size)?;
        codec.decode_into(src, &shape, &Region::whole(&shape), dst, &mut Scratch::new())?;
        Ok(out)
    }

    /// The output of numcodecs 0.16.6 for some numbers.
    const GOLDEN: &str = "70636f2103008201040103050000001000d8ffffff3b0086032291060000";

    #[test]
    fn a_dictionary_that_does_not_fit_is_refused_before_it_is_allocated() {
        let codec = codec(DataType::Int32, &json!({})).unwrap();
        let header = &hex(GOLDEN)[..10];
        let word = |length: u32| (4 | length << 4).to_le_bytes();
        for (length, fits) in [(0, true), (1, true), (2, false), ((1 << 25) - 1, false)] {
            let chunk = [header, &[3, 0, 0, 0], &word(length), &[7, 0, 0, 0]].concat();
            let error = decode(&*codec, &chunk, 1, 4).unwrap_err();
            assert_eq!(format!("{error:#}").contains("does not fit"), !fits, "{length}: {error:#}");
        }
    }

    #[test]
    fn bytes_of_numcodecs_are_decoded() {
        // rule D10.1
        let ints = bytes_of(&[1_i32, 2, 3, 4, 100, -5]).to_vec();
        let floats = bytes_of(&[1.5_f64, 2.5, -3.5, 0.25]).to_vec();
        let halves: Vec<u8> =
            [1., 2., 0.5].into_iter().flat_map(|n| f16::from_f32(n).to_ne_bytes()).collect();
        let longs = bytes_of(&[1_u64 << 63, 1, 2]).to_vec();
        let f8 = "70636f2103000201040106030000004200e0ffffffffff7ffe0700000000000000f42f00000000000000fc5f0000000000000004c000c60000";
        let u8 = "70636f210300c104010202000000220030000000000000002000000000000000002000290800";
        for (data_type, elements, encoded) in [
            (DataType::Int32, ints, GOLDEN),
            (DataType::Float64, floats, f8),
            (DataType::Float16, halves, "70636f210300c104010902000000100000c065000480000000"),
            (DataType::UInt64, longs, u8),
        ] {
            let size = data_type.size().unwrap();
            let codec = codec(data_type.clone(), &json!({})).unwrap();
            let len = elements.len() / size;
            assert_eq!(decode(&*codec, &hex(encoded), len, size).unwrap(), elements, "{data_type}");
            let mut ours = Vec::new();
            let src = Source::dense(&elements, &[len as u64], size).unwrap();
            codec.encode(src, &mut ours, &mut Scratch::new()).unwrap();
            assert_eq!(decode(&*codec, &ours, len, size).unwrap(), elements, "{data_type}");
        }
    }

    /// The chunks of zarr-python 3.4.2 with numcodecs 0.17.1 for `filters=[BitRound(keepbits=5)], serializer=PCodec()`
    /// and the numbers [1.1, 2.7, -3.3, 0, pi, -1e3, 0.25, 100.5].
    #[test]
    fn streams_behind_bitround_of_numcodecs_are_the_bits_of_floats() {
        let rounded = [1.093_75_f32, 2.6875, -3.3125, 0.0, 3.125, -992.0, 0.25, 100.0];
        let i2 = "70636f2103000302040108070000001000001582c079c07e0000603da07f20216071a09300";
        let i4 = "70636f21030003020401030700000010000000a00202010000387f0000d87f000000000000ac3f0000f47f0000240400002c7e0000748200";
        let i8 = "70636f210300030204010407000000100000000000000054000202000000000000e77f000000000000fb7f0000000000000000000000000080f53f000000000080fe7f0000000000808400000000000080c57f0000000000804e8000";
        let halves = rounded.iter().flat_map(|n| f16::from_f32(*n).to_ne_bytes()).collect();
        let rows: [(_, Vec<u8>, _); 3] = [
            (DataType::Float16, halves, i2),
            (DataType::Float32, bytes_of(&rounded).to_vec(), i4),
            (DataType::Float64, bytes_of(&rounded.map(f64::from)).to_vec(), i8),
        ];
        for (data_type, elements, encoded) in &rows {
            let size = data_type.size().unwrap();
            let codec = codec(data_type.clone(), &json!({})).unwrap();
            assert_eq!(decode(&*codec, &hex(encoded), 8, size).unwrap(), *elements, "{data_type}");
        }
        // Nothing else is read as another type.
        for data_type in [DataType::UInt32, DataType::UInt64, DataType::Float64, DataType::Int64] {
            let size = data_type.size().unwrap();
            let codec = codec(data_type, &json!({})).unwrap();
            assert!(decode(&*codec, &hex(i4), 8, size).is_err(), "{size}");
        }
    }

    #[test]
    fn damaged_bytes_and_wrong_counts_are_refused() {
        let codec = codec(DataType::Int32, &json!({})).unwrap();
        let encoded = hex(GOLDEN);
        for len in [5, 7] {
            assert!(decode(&*codec, &encoded, len, 4).is_err(), "{len} numbers");
        }
        for len in 0..encoded.len() {
            assert!(decode(&*codec, &encoded[..len], 6, 4).is_err(), "cut to {len} bytes");
        }
        assert!(decode(&*codec, &[&encoded[..], &[0]].concat(), 6, 4).is_err(), "a trailing byte"); // rule L87
        for bit in 0..encoded.len() * 8 {
            let mut damaged = encoded.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let _ = decode(&*codec, &damaged, 6, 4);
        }
    }

    #[test]
    fn unsupported_arrays_are_refused_when_opened() {
        assert!(codec(DataType::Complex64, &json!({})).is_err());
        assert!(codec(DataType::String, &json!({})).is_err());
        for bad in [
            json!({"level": 13}),
            json!({"mode_spec": "other"}),
            json!({"delta_spec": 1}),
            json!({"paging_spec": "exact"}),
            json!({"delta_encoding_order": 8}),
            json!({"equal_pages_up_to": 0}),
        ] {
            assert!(codec(DataType::Int32, &bad).is_err(), "{bad}");
        }
        let written = json!({
            "level": 8, "mode_spec": "auto", "delta_spec": "auto", "paging_spec": "equal_pages_up_to",
            "delta_encoding_order": null, "equal_pages_up_to": 262_144
        });
        assert!(codec(DataType::Int32, &written).is_ok(), "as zarr-python writes it");
    }
}
