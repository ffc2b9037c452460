//! Codecs from elsewhere: what the engine does with those that are not in the standard set.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod common;

use std::sync::Arc;

use common::numbers;
use zarr_array::blocking::Array;
use zarr_array::meta::v3::Extension;
use zarr_array::traits::{
    ArrayArrayCodec, ArrayBytesCodec, ByteRange, BytesBytesCodec, Chain, ChunkRead, Codec, CodecEntry,
    CodecError, CodecKind, CodecResult, Destination, Dims, EncodedSize, Entry, FillValue, Hints, InnerPart,
    Job, Known, Piece, Region, Repr, Scratch, Source, Span, Swap,
};
use zarr_array::{ArrayErrorKind, ArrayMeta, DataType, Registry, Storage, block_on, standard};
use zarr_store::{Counting, MemoryStore};

/// Adds one to every element, and can do so for a part of a chunk.
#[derive(Debug)]
struct Plus(Repr);

/// Adds one as well, but only to whole chunks, and makes `uint32` of `uint16`.
#[derive(Debug)]
struct Widen(Repr);

fn map(
    src: Source<'_>,
    mut dst: Destination<'_>,
    scratch: &mut Scratch,
    one: impl Fn(&[u8], &mut [u8]),
) -> CodecResult<()> {
    let (from, to) = (src.size(), dst.size());
    let mut all = Vec::new();
    src.append_to(&mut all, Swap::NONE)?;
    let mut made = scratch.take(all.len() / from * to)?;
    all.chunks_exact(from).zip(made.chunks_exact_mut(to)).for_each(|(a, b)| one(a, b));
    dst.put(Source::dense(&made, src.shape(), to)?, Swap::NONE)?;
    scratch.give(made);
    Ok(())
}

fn u16_of(bytes: &[u8]) -> u16 {
    u16::from_ne_bytes([bytes[0], bytes[1]])
}

impl ArrayArrayCodec for Plus {
    fn encoded_repr(&self) -> CodecResult<Repr> {
        let fill = FillValue::of(u16_of(self.0.fill.bytes()).wrapping_add(1));
        Ok(Repr { fill, ..self.0.clone() })
    }
    fn encoded_shape(&self, shape: &[u64]) -> CodecResult<Dims> {
        Ok(shape.into())
    }
    fn map_part(&self, _: &[u64], part: &Region) -> Option<Region> {
        Some(part.clone())
    }
    fn decode(&self, src: Source<'_>, dst: Destination<'_>, scratch: &mut Scratch) -> CodecResult<()> {
        map(src, dst, scratch, |a, b| b.copy_from_slice(&u16_of(a).wrapping_sub(1).to_ne_bytes()))
    }
    fn encode(&self, src: Source<'_>, dst: Destination<'_>, scratch: &mut Scratch) -> CodecResult<()> {
        map(src, dst, scratch, |a, b| b.copy_from_slice(&u16_of(a).wrapping_add(1).to_ne_bytes()))
    }
}

impl ArrayArrayCodec for Widen {
    fn encoded_repr(&self) -> CodecResult<Repr> {
        let fill = FillValue::of(u32::from(u16_of(self.0.fill.bytes())) + 1);
        Ok(Repr { data_type: DataType::UInt32, fill, rank: self.0.rank })
    }
    fn encoded_shape(&self, shape: &[u64]) -> CodecResult<Dims> {
        Ok(shape.into())
    }
    fn decode(&self, src: Source<'_>, dst: Destination<'_>, scratch: &mut Scratch) -> CodecResult<()> {
        map(src, dst, scratch, |a, b| {
            let wide = u32::from_ne_bytes([a[0], a[1], a[2], a[3]]) - 1;
            b.copy_from_slice(&u16::try_from(wide).unwrap().to_ne_bytes());
        })
    }
    fn encode(&self, src: Source<'_>, dst: Destination<'_>, scratch: &mut Scratch) -> CodecResult<()> {
        map(src, dst, scratch, |a, b| b.copy_from_slice(&(u32::from(u16_of(a)) + 1).to_ne_bytes()))
    }
}

/// Rows in reverse order behind an index of where each of them begins: a codec that must read before it knows what to
/// read, as sharding does.
#[derive(Debug)]
struct Rows(Arc<Chain>, usize);

#[derive(Debug)]
struct RowsRead {
    chain: Arc<Chain>,
    shape: Dims,
    part: Region,
    row: u64,
    wants: Vec<ByteRange>,
    index: Vec<u64>,
}

fn index_of(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks_exact(8).map(|b| u64::from_le_bytes(b.try_into().unwrap())).collect()
}

impl ArrayBytesCodec for Rows {
    fn decode_into(
        &self,
        src: &[u8],
        shape: &[u64],
        part: &Region,
        mut dst: Destination<'_>,
        scratch: &mut Scratch,
    ) -> CodecResult<()> {
        let mut read = self.partial(shape, part, Hints { gap: 0, span: 0, whole: 0 }, None).unwrap();
        let index = src
            .get(..8 * usize::try_from(shape[0]).unwrap())
            .ok_or_else(|| CodecError::corrupt("no index"))?;
        read.feed(&[index], None)?;
        let mut pieces = Vec::new();
        read.pieces(&mut pieces)?;
        for piece in pieces {
            let at = usize::try_from(piece.span.offset).unwrap();
            let bytes = src.get(at..at + usize::try_from(piece.span.len).unwrap());
            let bytes = bytes.ok_or_else(|| CodecError::corrupt("a row lies outside"))?;
            piece.run(bytes, dst.reborrow().sub(&piece.at, &piece.shape)?, scratch)?;
        }
        Ok(())
    }

    fn encode(&self, src: Source<'_>, out: &mut Vec<u8>, scratch: &mut Scratch) -> CodecResult<()> {
        let (rows, columns, start) = (src.shape()[0], src.shape()[1], out.len());
        let row = columns * self.1 as u64;
        for i in 0..rows {
            out.extend((rows * 8 + (rows - 1 - i) * row).to_le_bytes());
        }
        for i in (0..rows).rev() {
            self.0.encode(src.sub(&[i, 0], &[1, columns])?, out, scratch)?;
        }
        assert_eq!((out.len() - start) as u64, rows * (8 + row));
        Ok(())
    }

    fn encoded_size(&self, shape: &[u64]) -> EncodedSize {
        EncodedSize::Exact(shape[0] * (8 + shape[1] * self.1 as u64))
    }

    fn partial(
        &self,
        shape: &[u64],
        part: &Region,
        _: Hints,
        _: Option<&Known>,
    ) -> Option<Box<dyn ChunkRead>> {
        Some(Box::new(RowsRead {
            chain: self.0.clone(),
            shape: shape.into(),
            part: part.clone(),
            row: shape[1] * self.1 as u64,
            wants: vec![ByteRange::Span { offset: 0, len: 8 * shape[0] }],
            index: Vec::new(),
        }))
    }
}

impl ChunkRead for RowsRead {
    fn wants(&self) -> &[ByteRange] {
        &self.wants
    }
    fn feed(&mut self, bytes: &[&[u8]], _: Option<u64>) -> CodecResult<()> {
        self.index = index_of(bytes[0]);
        self.wants.clear();
        Ok(())
    }
    fn pieces(&self, out: &mut Vec<Piece>) -> CodecResult<()> {
        let (start, shape) = (self.part.start(), self.part.shape());
        for i in 0..shape[0] {
            let offset = self.index[usize::try_from(start[0] + i).unwrap()];
            out.push(Piece {
                span: Span { offset, len: self.row },
                at: [i, 0].into(),
                shape: [1, shape[1]].into(),
                job: Job::Chain(Box::new(InnerPart {
                    number: [start[0] + i, 0].into(),
                    order: None,
                    chain: self.chain.clone(),
                    chunk: [1, self.shape[1]].into(),
                    part: Region::new([0, start[1]], [1, shape[1]]).unwrap(),
                })),
            });
        }
        Ok(())
    }
}

/// A compressor of unknown size: each byte twice, or a panic.
#[derive(Debug)]
struct Double;

impl BytesBytesCodec for Double {
    fn decode_into(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> CodecResult<usize> {
        assert!(!src.starts_with(b"panic"), "bad bytes");
        let dst = dst.get_mut(..src.len() / 2).ok_or_else(zarr_array::traits::too_large)?;
        dst.iter_mut().zip(src.chunks_exact(2)).for_each(|(d, s)| *d = s[0]);
        Ok(dst.len())
    }
    fn encode(&self, src: &[u8], out: &mut Vec<u8>, _: &mut Scratch) -> CodecResult<()> {
        out.extend(src.iter().flat_map(|b| [*b, *b]));
        Ok(())
    }
    fn encoded_size(&self, _: u64) -> EncodedSize {
        EncodedSize::Unknown
    }
}

const CODECS: &[Entry] = &[
    Entry::Codec(CodecEntry {
        name: "test.plus",
        aliases: &[],
        kind: CodecKind::ArrayArray,
        build: |_, repr, _| Ok(Codec::ArrayArray(Arc::new(Plus(repr.clone())))),
    }),
    Entry::Codec(CodecEntry {
        name: "test.widen",
        aliases: &[],
        kind: CodecKind::ArrayArray,
        build: |_, repr, _| Ok(Codec::ArrayArray(Arc::new(Widen(repr.clone())))),
    }),
    Entry::Codec(CodecEntry {
        name: "test.rows",
        aliases: &[],
        kind: CodecKind::ArrayBytes,
        build: |_, repr, context| {
            let inner = zarr_array::traits::Spec::new("bytes", serde_json::json!({"endian": "little"}));
            let chain = Chain::build(&[inner], repr.clone(), context, &mut Vec::new())?;
            Ok(Codec::ArrayBytes(Arc::new(Rows(Arc::new(chain), repr.fixed()?.0))))
        },
    }),
    Entry::Codec(CodecEntry {
        name: "test.double",
        aliases: &[],
        kind: CodecKind::BytesBytes,
        build: |_, _, _| Ok(Codec::BytesBytes(Arc::new(Double))),
    }),
];

fn registry() -> Registry {
    standard().with(CODECS).unwrap()
}

fn array(codecs: &[&str], shape: &[u64], chunks: &[u64]) -> (Array, Counting) {
    let codecs = codecs.iter().map(|name| match *name {
        "bytes" => Extension::new("bytes").with("endian", "little"),
        "zstd" => Extension::new("zstd").with("level", 1).with("checksum", true),
        "transpose" => {
            let order: zarr_array::meta::json::Value = [1_u64, 0].into_iter().collect();
            Extension::new("transpose").with("order", order)
        }
        name => Extension::new(name),
    });
    let (storage, counting) = Counting::over(&Storage::from(MemoryStore::new()));
    let meta =
        ArrayMeta::builder(shape, DataType::UInt16).chunks(chunks).codecs(codecs).fill(3).build().unwrap();
    (Array::create(storage, "/", meta, &registry()).unwrap(), counting)
}

#[test]
fn every_place_of_a_chain_takes_a_codec_from_elsewhere() {
    for codecs in [
        &["test.plus", "bytes"][..],
        &["test.widen", "bytes"],
        &["test.plus", "transpose", "test.widen", "bytes", "zstd"],
        &["transpose", "test.rows"],
        &["test.widen", "test.rows", "test.double", "zstd"],
        &["bytes", "test.double", "test.double", "zstd"],
    ] {
        let (array, _) = array(codecs, &[7, 9], &[4, 5]);
        array.write([0..5, 0..9], &numbers(&[5, 9])).unwrap();
        array.write([2..3, 3..6], &[500_u16, 501, 502]).unwrap();
        let mut expected = numbers(&[5, 9]);
        expected[21..24].copy_from_slice(&[500, 501, 502]);
        expected.extend([3; 18]);
        assert_eq!(array.read::<u16>(..).unwrap().into_vec(), expected, "{codecs:?}");
        for (rows, columns) in [(1..6, 2..8), (2..3, 0..9), (6..7, 8..9)] {
            let part = array.read::<u16>([rows.clone(), columns.clone()]).unwrap();
            let places = rows.flat_map(|r| columns.clone().map(move |c| r * 9 + c));
            let same: Vec<u16> = places.map(|p| expected[usize::try_from(p).unwrap()]).collect();
            assert_eq!(part.into_vec(), same, "{codecs:?}");
        }
    }
}

#[test]
fn a_codec_that_must_look_first_costs_two_requests_and_only_the_ranges_it_wants() {
    let (array, counting) = array(&["test.rows"], &[64, 100], &[64, 100]);
    array.write(.., &numbers(&[64, 100])).unwrap();
    let before = counting.counts();
    assert_eq!(array.read::<u16>((9, 7..9)).unwrap().as_slice(), [907, 908]);
    let used = counting.counts() - before;
    assert_eq!((used.requests(), used.bytes_read), (2, 64 * 8 + 200));
}

#[test]
fn a_codec_that_panics_is_an_error_of_that_read() {
    let (array, _) = array(&["bytes", "test.double"], &[4], &[2]);
    array.write(.., &[1_u16, 2, 5, 4]).unwrap();
    block_on(array.storage().put(&array.chunk_key(&[1]).unwrap(), "panic___")).unwrap();
    let e = array.read::<u16>(..).unwrap_err();
    assert_eq!((e.kind(), e.array()), (ArrayErrorKind::Panic, Some("/")));
    assert_eq!(array.read::<u16>([0..2]).unwrap().as_slice(), [1, 2], "the next read goes on");
}

#[test]
fn an_unknown_codec_that_may_be_skipped_makes_the_array_read_only() {
    // K5, A.t54
    let (array, _) = array(&["bytes"], &[4], &[2]);
    array.write(.., &[1_u16, 2, 5, 4]).unwrap();
    let text = array.metadata().to_text();
    let skippable =
        text.replacen("\"codecs\": [", "\"codecs\": [{\"name\": \"x.hint\", \"must_understand\": false},", 1);
    assert_ne!(text, skippable);
    let key = zarr_array::traits::Key::new("zarr.json").unwrap();
    block_on(array.storage().put(&key, skippable)).unwrap();
    let array = Array::open(array.storage().clone(), "/", &registry()).unwrap();
    assert_eq!(array.read::<u16>(..).unwrap().as_slice(), [1, 2, 5, 4]);
    let fill = u16::from_ne_bytes(array.fill().bytes().try_into().unwrap());
    for (part, values) in [(0..2, vec![1_u16, 1]), (0..1, vec![1]), (0..2, vec![fill; 2]), (0..1, vec![fill])]
    {
        let e = array.write([part.clone()], &values).unwrap_err();
        assert_eq!(e.kind(), ArrayErrorKind::Unsupported, "{part:?} {values:?}");
    }
    assert_eq!(array.read::<u16>(..).unwrap().as_slice(), [1, 2, 5, 4], "nothing was written");
    assert_eq!(array.codecs().skipped(), ["x.hint"]);
}
