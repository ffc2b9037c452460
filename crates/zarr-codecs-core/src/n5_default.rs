//! `n5_default`: blocks of N5 in "default" mode.
//!
//! Spec: [n5_default codec](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/n5_default).
//! Rules: [n5_default](https://github.com/zarr-rs/zarr/blob/v0.1.0/docs/specification/extensions.md#d.9g).
//!
//! | member | value |
//! |---|---|
//! | `codecs` | `transpose` that reverses all dimensions, `bytes` in big endian, and at most one bytes → bytes codec |
//!
//! A block is a header and the elements encoded with these codecs. The header is big endian: the mode (two bytes, 0),
//! the number of dimensions (two bytes) and the length of each dimension (four bytes), in the order of the array.
//!
//! A block may be smaller than the chunk, as some writers clip blocks at the border of an array; missing elements are
//! the fill value. A block may also be larger, up to four times the chunk or 1 MiB, whichever is more; elements outside
//! the chunk are ignored. Written blocks always have the shape of the chunk.
//!
//! The keys of N5 blocks are those of the `v2` chunk key encoding with the separator `/`. A codec does not know the key
//! encoding of its array. With another encoding it works, but readers of N5 cannot find the blocks.

use std::sync::Arc;

use zarr_engine::Chain;
use zarr_traits::codec::{ArrayBytesCodec, Codec, CodecKind, EncodedSize, PartAccess, Repr};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Entry, Spec};
use zarr_traits::json::{Object, Value};
use zarr_traits::number::NumberType;
use zarr_traits::strided::{Destination, Dims, Source, byte_len};
use zarr_traits::{CodecError, CodecErrorKind, CodecResult, FillValue, Region, Scratch};

/// The registry entry of this codec.
pub const ENTRY: Entry = Entry::Codec(CodecEntry::new("n5_default", CodecKind::ArrayBytes, build));

/// The bytes of the mode and of the number of dimensions.
const FIXED: usize = 4;

#[derive(Debug)]
struct N5Default {
    chain: Chain,
    rank: u16,
    fill: FillValue,
    /// The most bytes of a decoded block.
    most: u64,
}

fn build(configuration: &mut Configuration<'_>, repr: &Repr, context: &Context<'_>) -> CodecResult<Codec> {
    let is_known =
        |number: NumberType| number.is_integer() || matches!(number.size(), 4 | 8) && number.is_float();
    if !repr.data_type.number().is_some_and(is_known) {
        let message = format!("N5 has no data type {}", repr.data_type);
        return Err(CodecError::new(CodecErrorKind::Unsupported, message));
    }
    let rank = u16::try_from(repr.rank).map_err(|_| {
        let message = format!("{} dimensions exceed the limit of N5", repr.rank);
        CodecError::new(CodecErrorKind::Unsupported, message)
    })?;
    if let Some(list) = configuration.get("codecs").and_then(|codecs| codecs.elements()) {
        check_codecs(&list.collect::<Vec<_>>(), repr)?;
    }
    let chain = Chain::of_member(configuration, "codecs", repr.clone(), context)?;
    let most = context.limits.chunk_bytes;
    Ok(Codec::ArrayBytes(Arc::new(N5Default { chain, rank, fill: repr.fill.clone(), most })))
}

/// Checks that a list of codecs is one that N5 supports.
fn check_codecs(list: &[Value], repr: &Repr) -> CodecResult<()> {
    let wrong = |i: usize, message: &str| {
        Err(CodecError::configuration(message).at(&format!("/configuration/codecs/{i}")))
    };
    let named = |i: usize, name: &str| {
        let spec = Spec::try_from(list.get(i)?).ok()?;
        (spec.name == name).then_some(spec.configuration)
    };
    let reversed: Dims = (0..repr.rank as u64).rev().collect();
    let order = |members: Object| Configuration::new(&members).lengths("order").ok();
    if named(0, "transpose").and_then(order) != Some(reversed) {
        return wrong(0, "the first codec must be \"transpose\" and reverse all dimensions");
    }
    let (_, unit) = repr.fixed()?;
    let is_big = |members: Object| unit <= 1 || members.get("endian").is_some_and(|e| e == "big");
    if !named(1, "bytes").is_some_and(is_big) {
        return wrong(1, "the second codec must be \"bytes\" with \"endian\" \"big\"");
    }
    if list.len() > 3 {
        return wrong(3, "no codec may follow the compressor");
    }
    Ok(())
}

impl N5Default {
    /// The bytes of a header.
    fn header(&self) -> usize {
        FIXED + 4 * usize::from(self.rank)
    }

    /// Returns the shape in the header of a block, and the rest of the block.
    fn split<'a>(&self, src: &'a [u8]) -> CodecResult<(Dims, &'a [u8])> {
        let Some((header, data)) = src.split_at_checked(self.header()) else {
            let message = format!("{} bytes are too few for a header of {}", src.len(), self.header());
            return Err(CodecError::corrupt(message));
        };
        let mut numbers = header.as_chunks().0.iter().map(|number| u16::from_be_bytes(*number));
        match numbers.next() {
            Some(0) => {}
            mode => {
                let message = format!("the block has mode {}, only mode 0 is supported", mode.unwrap_or(0));
                return Err(CodecError::new(CodecErrorKind::Unsupported, message));
            }
        }
        match numbers.next() {
            Some(rank) if rank == self.rank => {}
            rank => {
                let (rank, expected) = (rank.unwrap_or(0), self.rank);
                let message = format!("the block has {rank} dimensions, expected {expected}");
                return Err(CodecError::corrupt(message));
            }
        }
        let lengths = header[FIXED..].as_chunks().0.iter().map(|len| u64::from(u32::from_be_bytes(*len)));
        Ok((lengths.collect(), data))
    }
}

impl ArrayBytesCodec for N5Default {
    fn access(&self) -> PartAccess<'_> {
        PartAccess::Whole
    }

    fn check_shape(&self, shape: &[u64]) -> CodecResult<()> {
        lengths(shape)?;
        self.chain.check_shape(shape).map_err(|e| e.at("/configuration/codecs"))
    }

    fn decode_into(
        &self,
        src: &[u8],
        shape: &[u64],
        part: &Region,
        mut dst: Destination<'_>,
        scratch: &mut Scratch,
    ) -> CodecResult<()> {
        let (block, data) = self.split(src)?;
        // A few bytes can declare a large block. Decode no more than is plausible for the chunk.
        let some_times = byte_len(shape, dst.size())?.saturating_mul(4).max(1 << 20) as u64;
        if byte_len(&block, dst.size())? as u64 > some_times.min(self.most) {
            let message = format!("the block of shape {block:?} is too large for a chunk of shape {shape:?}");
            return Err(CodecError::new(CodecErrorKind::LimitExceeded, message));
        }
        // If the part begins outside the block, this region is empty. The codecs still check the data.
        let start: Dims = part.start().iter().zip(&block).map(|(start, len)| *start.min(len)).collect();
        let ends = part.start().iter().zip(part.shape()).map(|(start, len)| start + len);
        let there: Dims =
            ends.zip(&block).zip(&start).map(|((end, len), start)| end.min(*len) - start).collect();
        if there[..] != *part.shape() {
            dst.fill(self.fill.bytes())?;
        }
        let inner = dst.sub(&Dims::filled(0, there.len()), &there)?;
        let part = Region::new(start, there)
            .ok_or_else(|| CodecError::corrupt("the part is not inside the block"))?;
        self.chain.decode_into(data, &block, &part, inner, scratch)
    }

    fn encode(&self, src: Source<'_>, out: &mut Vec<u8>, scratch: &mut Scratch) -> CodecResult<()> {
        let lengths = lengths(src.shape())?;
        crate::reserve(out, self.header())?;
        out.extend_from_slice(&[0, 0]);
        out.extend_from_slice(&self.rank.to_be_bytes());
        lengths.iter().for_each(|len| out.extend_from_slice(&len.to_be_bytes()));
        self.chain.encode(src, out, scratch)
    }

    fn encoded_size(&self, shape: &[u64]) -> EncodedSize {
        let header = self.header() as u64;
        // Other writers clip blocks at the border of the array.
        match self.chain.encoded_size(shape).bound() {
            Some(size) => EncodedSize::AtMost(size.saturating_add(header)),
            None => EncodedSize::Unknown,
        }
    }
}

/// Returns the lengths as numbers of a header.
fn lengths(shape: &[u64]) -> CodecResult<Vec<u32>> {
    let lengths: Result<_, _> = shape.iter().map(|len| u32::try_from(*len)).collect();
    lengths.map_err(|_| {
        let message = format!("N5 has no blocks of shape {shape:?}");
        CodecError::new(CodecErrorKind::Unsupported, message)
    })
}

#[cfg(test)]
#[cfg(all(feature = "bytes", feature = "gzip", feature = "transpose"))]
mod tests {
    use zarr_traits::extension::Spec;
    use zarr_traits::json;
    use zarr_traits::strided::{Swap, bytes_of};
    use zarr_traits::{Limits, Registry};

    use zarr_traits::DataType;

    use super::*;
    use crate::CODECS;
    use crate::testing::{chain, decode, encode, golden, hex, open, refused};

    /// Returns the codecs for `rank` dimensions, with or without a compressor.
    fn codecs(rank: u64, gzip: bool) -> Value {
        let order: Vec<u64> = (0..rank).rev().collect();
        let mut codecs = vec![
            json!({"name": "transpose", "configuration": {"order": order}}),
            json!({"name": "bytes", "configuration": {"endian": "big"}}),
        ];
        if gzip {
            codecs.push(json!({"name": "gzip", "configuration": {"level": 1}}));
        }
        with(codecs.into())
    }

    fn with(codecs: Value) -> Value {
        json!([{"name": "n5_default", "configuration": {"codecs": codecs}}])
    }

    #[test]
    fn blocks_of_other_writers_are_read() {
        // rule D.9g
        let lines = include_str!("../testdata/n5.txt").lines().filter(|line| !line.starts_with('#'));
        let mut checked = 0;
        for line in lines {
            let cells: Vec<&str> = line.split(' ').collect();
            let [writer, compression, key, object] = cells[..] else { unreachable!("{line}") };
            let chain = chain(&codecs(3, compression == "gzip"), "int16", 3);
            let at: Vec<i16> = key.split('/').map(|n| n.parse().unwrap()).collect();
            let (x, y, z) = (at[0] * 2, at[1] * 3, at[2]);
            let element = |x: i16, y: i16| if x < 5 && y < 4 { x + 10 * y + 100 * z } else { 0 };
            // In the order of the chunk: the last dimension, which has length 1, is the fastest.
            let expected: Vec<i16> =
                (x..x + 2).flat_map(|x| (y..y + 3).map(move |y| element(x, y))).collect();
            let decoded = decode(&chain, &[2, 3, 1], &hex(object)).unwrap();
            assert_eq!(decoded, bytes_of(&expected), "{writer} {compression} {key}");
            if compression == "raw" && object.len() == 56 {
                assert_eq!(encode(&chain, &[2, 3, 1], &decoded), hex(object), "{writer} {key}");
            }
            checked += 1;
        }
        assert_eq!(checked, 31);
    }

    #[test]
    fn missing_elements_are_fill_values_and_elements_outside_are_ignored() {
        // rule D.9g
        let registry = Registry::core().with(CODECS).unwrap();
        let limits = Limits::default();
        let context = Context::new(&registry, &limits);
        let repr = Repr::new(DataType::UInt8, FillValue::of(9_u8), 2);
        let spec = Spec::try_from(&codecs(2, false).element(0).unwrap()).unwrap();
        let chain = Chain::build(&[spec], repr, &context, &mut Vec::new()).unwrap();
        let block = |shape: [u8; 2]| {
            let mut block = vec![0, 0, 0, 2, 0, 0, 0, shape[0], 0, 0, 0, shape[1]];
            block.extend((0..shape[1]).flat_map(|c| (0..shape[0]).map(move |r| r * 10 + c)));
            block
        };
        let (fill, shape) = (9, [2, 3]);
        for (stored, expected) in [
            ([2, 3], [0, 1, 2, 10, 11, 12]),
            ([1, 2], [0, 1, fill, fill, fill, fill]),
            ([2, 1], [0, fill, fill, 10, fill, fill]),
            ([0, 3], [fill; 6]),
            ([5, 4], [0, 1, 2, 10, 11, 12]),
            ([1, 7], [0, 1, 2, fill, fill, fill]),
        ] {
            let stored = block(stored);
            assert_eq!(decode(&chain, &shape, &stored).unwrap(), expected);
            let whole = Source::of(&expected, &shape).unwrap();
            for (start, len) in [([0, 1], [2, 2]), ([1, 0], [1, 1]), ([0, 2], [1, 1]), ([1, 1], [0, 2])] {
                let part = Region::new(start, len).unwrap();
                let mut wanted = Vec::new();
                whole.sub(&start, &len).unwrap().append_to(&mut wanted, Swap::NONE).unwrap();
                let got = crate::testing::decode_part(&chain, &shape, &part, &stored, &mut Scratch::new());
                assert_eq!(got.unwrap(), wanted, "{part:?}");
            }
        }
    }

    #[test]
    fn invalid_blocks_are_refused() {
        // rule D.9g
        let chain = chain(&codecs(2, false), "uint8", 2);
        let good = hex("00000002000000010000000105");
        assert_eq!(decode(&chain, &[1, 1], &good).unwrap(), [5]);
        assert_eq!(chain.encoded_size(&[1, 1]), EncodedSize::AtMost(13));
        for len in 0..good.len() {
            assert_eq!(decode(&chain, &[1, 1], &good[..len]).unwrap_err().kind(), CodecErrorKind::Corrupt);
        }
        for (block, kind) in [
            ("00010002000000010000000105", CodecErrorKind::Unsupported), // varlength
            ("00020002000000010000000105", CodecErrorKind::Unsupported), // object
            ("00000001000000010000000105", CodecErrorKind::Corrupt),     // one dimension
            ("0000000200000001000000010506", CodecErrorKind::Corrupt),   // trailing bytes
            ("0000000200000002000000010506ff", CodecErrorKind::Corrupt),
            ("00000002ffffffffffffffff05", CodecErrorKind::LimitExceeded), // exceeds memory
            ("00000002000080000000800105", CodecErrorKind::LimitExceeded), // exceeds the limits
            ("00000002000080000000800005", CodecErrorKind::LimitExceeded), // 1 GiB for a chunk of one element
            ("00000002000000000000000105", CodecErrorKind::Corrupt),       // an element in an empty block
            ("00000002000000000000000005", CodecErrorKind::Corrupt),
            ("00000002000004000000040005", CodecErrorKind::Corrupt), // 1 MiB without data
        ] {
            let e = decode(&chain, &[1, 1], &hex(block)).unwrap_err();
            assert_eq!(e.kind(), kind, "{block}: {e}");
        }
        assert!(chain.check_shape(&[1 << 32, 1]).is_err());
    }

    #[test]
    fn only_the_codecs_of_n5_are_accepted() {
        // rule D.9g
        let transpose = |order: Value| json!({"name": "transpose", "configuration": {"order": order}});
        let reverse = || transpose(json!([1, 0]));
        let bytes = |endian: &str| json!({"name": "bytes", "configuration": {"endian": endian}});
        let gzip = || json!({"name": "gzip", "configuration": {"level": 1}});
        for (codecs, pointer) in [
            (json!([reverse(), bytes("little")]), "/codecs/1"),
            (json!([reverse(), "bytes"]), "/codecs/1"),
            (json!([reverse()]), "/codecs/1"),
            (json!([bytes("big")]), "/codecs/0"),
            (json!([transpose(json!([0, 1])), bytes("big")]), "/codecs/0"),
            (json!([transpose(json!("F")), bytes("big")]), "/codecs/0"),
            (json!([reverse(), reverse(), bytes("big")]), "/codecs/1"),
            (json!([reverse(), bytes("big"), gzip(), gzip()]), "/codecs/3"),
            (json!([reverse(), bytes("big"), reverse()]), "/codecs/2"),
            (json!([]), "/codecs/0"),
            (json!(null), "/codecs"),
        ] {
            let e = refused(&with(codecs), "int16", 2);
            assert_eq!(e.pointer(), format!("/0/configuration{pointer}"), "{e}");
        }
        // one byte has no byte order
        for second in [json!("bytes"), bytes("little"), bytes("big")] {
            golden(
                &with(json!([reverse(), second])),
                "int8",
                &[2, 3],
                &[1, 2, 3, 4, 5, 6],
                "000000020000000200000003010402050306",
            );
        }
        golden(&codecs(0, false), "float64", &[], bytes_of(&[1.0_f64]), "000000003ff0000000000000");
        for data_type in [DataType::Bool, DataType::Float16, DataType::Complex64, DataType::String] {
            let e = open(&codecs(1, false), data_type, 1).unwrap_err();
            assert_eq!(e.kind(), CodecErrorKind::Unsupported, "{e}");
        }
    }
}
