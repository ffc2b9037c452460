//! Third-party codecs and chunk key encodings, which are not in the standard set.

use std::sync::Arc;

use crate::common::numbers;
use zarr_array::blocking::Array;
use zarr_array::meta::v3::Extension;
use zarr_array::traits::codec::{
    ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec, Codec, CodecKind, Effect, EncodedSize, PartAccess,
    Repr, with_dense,
};
use zarr_array::traits::extension::{CodecEntry, Entry, KeyEncodingEntry};
use zarr_array::traits::partial::{ChunkRead, InnerPart, Known, Piece, PieceDecode};
use zarr_array::traits::store::Listed;
use zarr_array::traits::{
    ByteRange, CodecError, CodecResult, Fetching, FillValue, Key, KeyEncoding, Prefix, Region, Scratch, Span,
};
use zarr_array::{ArrayErrorKind, ArrayMeta, DataType, Registry, Storage, block_on, standard};
use zarr_conformance::instruments::Counting;
use zarr_engine::Chain;
use zarr_store::MemoryStore;
use zarr_strided::{Destination, Dims, Source};

/// Adds one to every element, and can do so for a part of a chunk.
#[derive(Debug)]
struct Plus(Repr);

/// Also adds one, but only to whole chunks, and turns `uint16` into `uint32`.
#[derive(Debug)]
struct Widen(Repr);

fn map<const FROM: usize, const TO: usize>(
    src: &Source<'_>,
    dst: Destination<'_>,
    scratch: &mut Scratch,
    one: impl Fn([u8; FROM]) -> [u8; TO],
) -> CodecResult<()> {
    with_dense(src, dst, scratch, |src, dst, _| {
        src.as_chunks().0.iter().zip(dst.as_chunks_mut().0).for_each(|(from, to)| *to = one(*from));
        Ok(())
    })
}

fn u16_of(bytes: &[u8]) -> u16 {
    u16::from_ne_bytes([bytes[0], bytes[1]])
}

impl ArrayArrayCodec for Plus {
    fn encoded_repr(&self) -> CodecResult<Repr> {
        let fill = FillValue::of(u16_of(self.0.fill.bytes()).wrapping_add(1));
        Ok(Repr::new(self.0.data_type.clone(), fill, self.0.rank))
    }
    fn encoded_shape(&self, shape: &[u64]) -> CodecResult<Dims> {
        Ok(shape.into())
    }
    fn effect(&self) -> Effect<'_> {
        Effect::Elementwise
    }
    fn decode(&self, src: Source<'_>, dst: Destination<'_>, scratch: &mut Scratch) -> CodecResult<()> {
        map(&src, dst, scratch, |a| u16::from_ne_bytes(a).wrapping_sub(1).to_ne_bytes())
    }
    fn encode(&self, src: Source<'_>, dst: Destination<'_>, scratch: &mut Scratch) -> CodecResult<()> {
        map(&src, dst, scratch, |a| u16::from_ne_bytes(a).wrapping_add(1).to_ne_bytes())
    }
}

impl ArrayArrayCodec for Widen {
    fn encoded_repr(&self) -> CodecResult<Repr> {
        let fill = FillValue::of(u32::from(u16_of(self.0.fill.bytes())) + 1);
        Ok(Repr::new(DataType::UInt32, fill, self.0.rank))
    }
    fn effect(&self) -> Effect<'_> {
        Effect::Whole
    }
    fn encoded_shape(&self, shape: &[u64]) -> CodecResult<Dims> {
        Ok(shape.into())
    }
    fn decode(&self, src: Source<'_>, dst: Destination<'_>, scratch: &mut Scratch) -> CodecResult<()> {
        map(&src, dst, scratch, |a| u16::try_from(u32::from_ne_bytes(a) - 1).unwrap().to_ne_bytes())
    }
    fn encode(&self, src: Source<'_>, dst: Destination<'_>, scratch: &mut Scratch) -> CodecResult<()> {
        map(&src, dst, scratch, |a| (u32::from(u16::from_ne_bytes(a)) + 1).to_ne_bytes())
    }
}

/// An index of the starts of rows, then the rows in reverse order. Like sharding, this codec must read the index before
/// it knows which ranges to read.
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
    fn access(&self) -> PartAccess<'_> {
        PartAccess::Ranges
    }

    fn decode_into(
        &self,
        src: &[u8],
        shape: &[u64],
        part: &Region,
        mut dst: Destination<'_>,
        scratch: &mut Scratch,
    ) -> CodecResult<()> {
        let mut read = self.partial(shape, part, Fetching::new(0, 0, 0), None)?.unwrap();
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
            zarr_engine::run_piece(&piece, bytes, dst.reborrow().sub(&piece.at, &piece.shape)?, scratch)?;
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
        _: Fetching,
        _: Option<&Known>,
    ) -> CodecResult<Option<Box<dyn ChunkRead>>> {
        Ok(Some(Box::new(RowsRead {
            chain: self.0.clone(),
            shape: shape.into(),
            part: part.clone(),
            row: shape[1] * self.1 as u64,
            wants: vec![ByteRange::Span { offset: 0, len: 8 * shape[0] }],
            index: Vec::new(),
        })))
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
            out.push(Piece::new(
                Span { offset, len: self.row },
                [i, 0].into(),
                [1, shape[1]].into(),
                PieceDecode::Chain(Box::new(
                    InnerPart::new(
                        self.chain.clone(),
                        [1, self.shape[1]].into(),
                        Region::new([0, start[1]], [1, shape[1]]).unwrap(),
                    )
                    .number([start[0] + i, 0].into()),
                )),
            ));
        }
        Ok(())
    }
}

/// A codec of unknown encoded size: it writes each byte twice. It panics on some bytes.
#[derive(Debug)]
struct Double;

impl BytesBytesCodec for Double {
    fn decode_into(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> CodecResult<usize> {
        assert!(!src.starts_with(b"panic"), "bad bytes");
        let dst = dst.get_mut(..src.len() / 2).ok_or_else(zarr_array::traits::codec::too_large)?;
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

/// Keys like `chunk-1-23.bin`.
#[derive(Debug)]
struct Dashes;

impl KeyEncoding for Dashes {
    fn encode(&self, index: &[u64], out: &mut String) {
        out.push_str("chunk");
        index.iter().for_each(|i| out.push_str(&format!("-{i}")));
        out.push_str(".bin");
    }
    fn decode(&self, key: &str, rank: usize) -> Option<Dims> {
        let numbers = key.strip_prefix("chunk")?.strip_suffix(".bin")?;
        let index: Dims = numbers.split('-').skip(1).map(|i| i.parse().ok()).collect::<Option<_>>()?;
        let mut same = String::new();
        self.encode(&index, &mut same);
        (index.len() == rank && same == key).then_some(index)
    }
}

const ENTRIES: &[Entry] = &[
    Entry::KeyEncoding(KeyEncodingEntry::new("test.dashes", |_, _| Ok(Arc::new(Dashes)))),
    Entry::Codec(CodecEntry::new("test.plus", CodecKind::ArrayArray, |_, repr, _| {
        Ok(Codec::ArrayArray(Arc::new(Plus(repr.clone()))))
    })),
    Entry::Codec(CodecEntry::new("test.widen", CodecKind::ArrayArray, |_, repr, _| {
        Ok(Codec::ArrayArray(Arc::new(Widen(repr.clone()))))
    })),
    Entry::Codec(CodecEntry::new("test.rows", CodecKind::ArrayBytes, |_, repr, context| {
        let inner = zarr_array::traits::extension::Spec::new(
            "bytes",
            zarr_array::traits::json!({"endian": "little"}),
        )?;
        let chain = Chain::build(&[inner], repr.clone(), context, &mut Vec::new())?;
        Ok(Codec::ArrayBytes(Arc::new(Rows(Arc::new(chain), repr.fixed()?.0))))
    })),
    Entry::Codec(CodecEntry::new("test.double", CodecKind::BytesBytes, |_, _, _| {
        Ok(Codec::BytesBytes(Arc::new(Double)))
    })),
];

fn registry() -> Registry {
    standard().with(ENTRIES).unwrap()
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
fn every_place_of_a_chain_takes_a_third_party_codec() {
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
fn a_codec_with_an_index_costs_two_requests_and_only_the_ranges_it_needs() {
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
    assert_eq!(array.read::<u16>([0..2]).unwrap().as_slice(), [1, 2], "the next read works");
}
#[test]
fn chunks_are_stored_and_found_under_third_party_keys() {
    // rule C36
    let storage = Storage::from(MemoryStore::new());
    let builder = |shape: &[u64]| ArrayMeta::builder(shape, DataType::UInt16).fill(3);
    let keys = || Extension::new("test.dashes");
    let meta = builder(&[7, 9]).chunks([4, 5]).chunk_key_encoding(keys()).build().unwrap();
    let mut array = Array::create(storage.clone(), "/a", meta, &registry()).unwrap();
    array.write(.., &numbers(&[7, 9])).unwrap();
    array.write([3..5, 4..6], &[500_u16; 4]).unwrap();
    let stored = |array: &Array| {
        let prefix = Prefix::of_node("/a").unwrap();
        let listed = block_on(array.storage().list_all(&prefix)).unwrap();
        let index = |object: Listed| {
            let index = array.key_encoding().decode(prefix.strip(&object.key)?, 2)?;
            Some((index.to_vec(), object.key.to_string()))
        };
        listed.into_iter().filter_map(index).collect::<Vec<_>>()
    };
    let key = |i: u64, j: u64| (vec![i, j], format!("a/chunk-{i}-{j}.bin")); // rule C33
    assert_eq!(stored(&array), [key(0, 0), key(0, 1), key(1, 0), key(1, 1)]);
    let read = Array::open(storage.clone(), "/a", &registry()).unwrap();
    assert_eq!(read.read::<u16>([4..5, 3..7]).unwrap().as_slice(), [39, 500, 500, 42]);
    assert_eq!(read.explain(..).unwrap().chunks_stored, 4);
    array.resize([4, 5]).unwrap();
    assert_eq!(stored(&array), [key(0, 0)]);
    let scalar = builder(&[]).codecs([]).chunk_key_encoding(keys()).build().unwrap();
    Array::create(storage.clone(), "/s", scalar, &registry()).unwrap().write(.., &[5_u16]).unwrap();
    let found = block_on(storage.get(&Key::new("s/chunk.bin").unwrap(), u64::MAX)).unwrap();
    assert_eq!(found.as_deref(), Some(&[5, 0][..]));
    // An unknown encoding is not read as another one.
    let e = Array::open(storage, "/a", &standard()).unwrap_err();
    assert_eq!(e.kind(), ArrayErrorKind::UnknownExtension);
    assert!(format!("{e:#}").contains("unknown chunk key encoding \"test.dashes\""), "{e:#}");
}

/// A key encoding that breaks one rule.
#[derive(Debug, Clone, Copy)]
enum Broken {
    Collides,
    IsDocument,
    LosesDimensions,
    LeadsOutside,
}

impl KeyEncoding for Broken {
    fn encode(&self, index: &[u64], out: &mut String) {
        match self {
            Self::Collides => out.push_str(&format!("c/{}", index.iter().sum::<u64>() % 2)),
            Self::IsDocument if index.iter().all(|i| *i == 0) => out.push_str("first/zarr.json"),
            Self::LeadsOutside => out.push_str(&format!("../{index:?}")),
            _ => Dashes.encode(index, out),
        }
    }

    fn decode(&self, key: &str, rank: usize) -> Option<Dims> {
        match self {
            Self::LosesDimensions => Dashes.decode(key, rank).map(|index| index[..1].into()),
            _ => Dashes.decode(key, rank),
        }
    }
}

#[test]
fn a_new_array_refuses_a_key_encoding_that_breaks_the_rules() {
    for (broken, said) in [
        (Broken::Collides, r#"chunks [0, 0] and [1, 1] have the same key "c/0""#),
        (Broken::IsDocument, r#"chunk [0, 0] has the key "first/zarr.json", the name of a document"#),
        (Broken::LosesDimensions, r#"chunk [0, 0] has the key "chunk-0-0.bin", which is decoded to [0]"#),
        (Broken::LeadsOutside, r#"chunk [0, 0]: key "../[0, 0]": a segment of the key is "." or "..""#),
    ] {
        let entry = KeyEncodingEntry::shared("test.broken", Arc::new(move |_, _| Ok(Arc::new(broken))));
        let registry = standard().with(&[Entry::KeyEncoding(entry)]).unwrap();
        let meta = |shape: [u64; 2]| {
            let encoding = Extension::new("test.broken");
            let builder = ArrayMeta::builder(shape, DataType::UInt8).chunks([2, 3]);
            builder.chunk_key_encoding(encoding).build().unwrap()
        };
        let storage = Storage::from(MemoryStore::new());
        let e = Array::create(storage.clone(), "/a", meta([4, 6]), &registry).unwrap_err();
        let said = format!(r#"array "/a": chunk key encoding "test.broken": {said}"#);
        assert_eq!((e.kind(), format!("{e:#}")), (ArrayErrorKind::InvalidArgument, said));
        assert!(Array::open(storage.clone(), "/a", &registry).is_err(), "nothing is written");
        Array::create(storage, "/a", meta([0, 6]), &registry).unwrap(); // no chunk, no key
    }
}
