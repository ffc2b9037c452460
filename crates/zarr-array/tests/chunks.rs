//! Chunks as values: their regions, which are stored, and their encoded bytes.

use proptest::prelude::*;
use zarr_array::blocking::Array;
use zarr_array::meta::json::Value;
use zarr_array::meta::v3::Extension;
use zarr_array::{ArrayErrorKind, ArrayMeta, Chunk, DataType, NdVec, Storage, standard};
use zarr_store::MemoryStore;

use crate::common::{chains, counted, message, meta, refused};

fn array(shape: &[u64], chunks: &[u64], codecs: &[Extension]) -> Array {
    Array::create(MemoryStore::new(), "/a", meta(shape, chunks, codecs), &standard()).unwrap()
}

fn sharded(shape: &[u64], shards: &[u64], inner: &[u64]) -> Array {
    let meta = ArrayMeta::builder(shape, DataType::UInt16).chunks(inner).shards(shards).fill(7);
    let codecs = [Extension::new("zstd").with("level", 1).with("checksum", true)];
    Array::create(MemoryStore::new(), "/a", meta.codecs(codecs).build().unwrap(), &standard()).unwrap()
}

fn indexes(chunks: impl Iterator<Item = Chunk>) -> Vec<Vec<u64>> {
    chunks.map(|chunk| chunk.index().to_vec()).collect()
}

#[test]
fn chunks_of_a_selection_are_in_c_order_and_clipped_at_the_edge() {
    let array = array(&[5, 7], &[2, 3], &[]);
    let chunks = array.chunks((1..4, 2..7)).unwrap();
    assert_eq!(chunks.len(), 6);
    let last = chunks.clone().next_back().unwrap();
    assert_eq!((last.index(), last.region().start(), last.shape()), (&[1, 2][..], &[2, 6][..], &[2, 1][..]));
    assert_eq!(indexes(chunks.clone().step_by(2)), [[0, 0], [0, 2], [1, 1]]);
    assert_eq!(indexes(chunks.clone().rev()), indexes(chunks).into_iter().rev().collect::<Vec<_>>());
    assert_eq!(array.chunks(0..0).unwrap().count(), 0);
    assert_eq!(array.chunk(&[2, 2]).unwrap().shape(), [1, 1]);
    assert_eq!(array.read::<u16>(&array.chunk(&[2, 0]).unwrap()).unwrap().shape(), [1, 3]);
    for outside in [&[3, 0][..], &[0], &[0, 0, 0], &[u64::MAX, 0]] {
        assert!(message(array.chunk(outside)).ends_with("is outside the array of shape [5, 7]"));
    }
    assert!(array.chunks(0..6).is_err());
}

#[test]
fn a_scalar_has_one_chunk_and_an_empty_array_has_none() {
    let scalar = array(&[], &[], &[]);
    assert_eq!(indexes(scalar.chunks(..).unwrap()), [Vec::<u64>::new()]);
    assert_eq!(scalar.chunk(&[]).unwrap().len(), 1);
    assert_eq!(array(&[0, 4], &[2, 2], &[]).chunks(..).unwrap().len(), 0);
}

#[test]
fn the_smallest_chunks_are_inner_chunks_or_chunks() {
    let sharded = sharded(&[5, 6], &[4, 4], &[2, 2]);
    assert_eq!(sharded.chunks(..).unwrap().len(), 4);
    let inner = sharded.smallest_chunks((4, ..)).unwrap();
    assert_eq!(indexes(inner.clone()), [[2, 0], [2, 1], [2, 2]]);
    assert_eq!(inner.last().unwrap().shape(), [1, 2]);
    let plain = array(&[5, 6], &[4, 4], &[]);
    assert_eq!(indexes(plain.smallest_chunks(..).unwrap()), indexes(plain.chunks(..).unwrap()));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    #[test]
    fn chunks_cover_the_array_once(
        dims in prop::collection::vec((0_u64..9, 1_u64..5, 1_u64..4), 0..4),
        sharding in any::<bool>(),
    ) {
        let shape: Vec<u64> = dims.iter().map(|d| d.0).collect();
        let inner: Vec<u64> = dims.iter().map(|d| d.1).collect();
        let shards: Vec<u64> = dims.iter().map(|d| d.1 * d.2).collect();
        let array = if sharding { sharded(&shape, &shards, &inner) } else { array(&shape, &inner, &[]) };
        for chunks in [array.chunks(..).unwrap(), array.smallest_chunks(..).unwrap()] {
            array.write(.., &vec![0_u16; usize::try_from(shape.iter().product::<u64>()).unwrap()]).unwrap();
            let mut elements = 0;
            for chunk in chunks {
                let values: NdVec<u16> = array.read(&chunk).unwrap();
                prop_assert!(values.as_slice().iter().all(|value| *value == 0));
                array.write(&chunk, &NdVec::new(chunk.shape(), vec![1_u16; chunk.len()]).unwrap()).unwrap();
                elements += chunk.len() as u64;
            }
            prop_assert_eq!(elements, shape.iter().product::<u64>());
        }
    }
}

#[test]
fn stored_chunks_come_from_one_listing() {
    let (array, counting) = counted(&[40, 3], &[2, 3], &[]);
    array.write(0..40, &[1_u16; 120]).unwrap();
    array.erase_chunk(&[3, 0]).unwrap();
    let before = counting.counts();
    let stored = array.stored_chunks().unwrap();
    assert_eq!(indexes(stored.iter().map(|stored| stored.chunk.clone()))[2..4], [[2, 0], [4, 0]]);
    assert!(stored.iter().all(|stored| stored.size == Some(12)));
    assert_eq!(stored[18].key.as_str(), "a/c/19/0");
    assert_eq!(array.count_stored_chunks().unwrap(), 19);
    let info = array.storage_info().unwrap();
    assert_eq!((info.chunks, info.stored_chunks), (20, 19));
    assert_eq!((info.bytes, info.stored_bytes), (240, Some(19 * 12)));
    assert_eq!((counting.counts() - before).requests(), 3);
    assert_eq!(array.stored_chunk_size(&[0, 0]).unwrap(), Some(12));
    assert_eq!(array.stored_chunk_size(&[3, 0]).unwrap(), None);
    assert_eq!(array.read::<u16>((6, ..)).unwrap().as_slice(), [7; 3]);
}

#[test]
fn objects_outside_of_the_array_are_not_its_chunks() {
    let storage = Storage::from(MemoryStore::new());
    let array = Array::create(storage.clone(), "/a", meta(&[4], &[2], &[]), &standard()).unwrap();
    array.write(.., &[1_u16; 4]).unwrap();
    for key in ["a/c/2", "a/c/01", "a/c/0/0", "a/note", "a/b/c/0", "ab/c/0"] {
        zarr_array::block_on(storage.put(&key.parse().unwrap(), "x")).unwrap();
    }
    assert_eq!(array.count_stored_chunks().unwrap(), 2);
    assert!(array.erase_chunk(&[2]).is_err());
    assert_eq!(zarr_array::block_on(storage.size(&"a/c/2".parse().unwrap())).unwrap(), Some(1));
}

#[test]
fn encoded_chunks_go_in_as_they_came_out() {
    for codecs in chains() {
        let (from, to) = (array(&[8, 8], &[4, 4], &codecs), array(&[8, 8], &[4, 4], &codecs));
        let values: Vec<u16> = (0..64).collect();
        from.write(.., &values).unwrap();
        from.erase_chunk(&[1, 0]).unwrap();
        for chunk in from.chunks(..).unwrap() {
            if let Some(object) = from.read_encoded_chunk(chunk.index()).unwrap() {
                to.write_encoded_chunk(chunk.index(), object).unwrap();
            }
        }
        assert_eq!(to.count_stored_chunks().unwrap(), 3);
        assert_eq!(to.read::<u16>(..).unwrap(), from.read::<u16>(..).unwrap(), "{codecs:?}");
    }
}

#[test]
fn an_object_that_cannot_be_decoded_is_not_stored() {
    let zstd = [
        Extension::new("bytes").with("endian", "little"),
        Extension::new("zstd").with("level", 1).with("checksum", true),
    ];
    for (array, good) in [
        (array(&[4], &[4], &[]), vec![0; 8]),
        (array(&[4], &[4], &zstd), Vec::new()),
        (sharded(&[4], &[4], &[2]), Vec::new()),
    ] {
        array.write(.., &[1_u16, 2, 3, 4]).unwrap();
        let object = array.read_encoded_chunk(&[0]).unwrap().unwrap();
        let mut damaged = object.to_vec();
        let last = damaged.len() - 1;
        damaged[last] ^= 0x10;
        let mut wrong = vec![[&object[..], &[0]].concat(), object[1..].to_vec(), Vec::new()];
        if good.is_empty() {
            wrong.push(damaged); // uncompressed elements have no checksum
        }
        for wrong in wrong {
            assert!(array.write_encoded_chunk(&[0], wrong).is_err());
            assert_eq!(array.read::<u16>(..).unwrap().as_slice(), [1, 2, 3, 4]);
        }
    }
}

#[test]
fn a_check_names_each_broken_inner_chunk() {
    let array = sharded(&[7], &[4], &[2]);
    array.write(.., &[1_u16, 2, 3, 4, 0, 0, 7]).unwrap();
    let objects = [0, 1].map(|i| array.read_encoded_chunk(&[i]).unwrap().unwrap());
    let found = [0, 1].map(|i| array.check_encoded_chunk(&[i as u64], &objects[i]).unwrap());
    assert_eq!(found.each_ref().map(|check| (check.inner_chunks, check.broken.len())), [(2, 0), (1, 0)]);
    let spans = array.inner_chunks(&[0]).unwrap().unwrap();
    let mut damaged = objects[0].to_vec();
    for inner in spans {
        damaged[usize::try_from(inner.span.unwrap().offset).unwrap()] ^= 0xff;
    }
    let check = array.check_encoded_chunk(&[0], &damaged.into()).unwrap();
    assert_eq!(check.inner_chunks, 2);
    assert_eq!(check.broken.iter().map(|(at, _)| at[0]).collect::<Vec<_>>(), [0, 2]);
    assert!(check.broken.iter().all(|(_, e)| e.chunk() == Some(&[0])));
    // An invalid index is an error of the shard.
    let mut damaged = objects[0].to_vec();
    *damaged.last_mut().unwrap() ^= 1;
    assert!(array.check_encoded_chunk(&[0], &damaged.into()).is_err());
    assert!(array.check_encoded_chunk(&[2], &objects[0]).is_err());
}

#[test]
fn encoded_inner_chunks_go_in_as_they_came_out() {
    let array = sharded(&[5, 6], &[4, 4], &[2, 2]);
    let values: Vec<u16> = (0..30).collect();
    array.write(.., &values).unwrap();
    let inner = array.read_encoded_inner_chunk(&[0, 1]).unwrap().unwrap();
    array.write_encoded_inner_chunk(&[1, 2], inner.clone()).unwrap();
    assert_eq!(array.read::<u16>((2..4, 4..6)).unwrap().as_slice(), [2, 3, 8, 9]);
    assert_eq!(array.read::<u16>((2..4, 2..4)).unwrap().as_slice(), [14, 15, 20, 21]);
    array.write_encoded_inner_chunk(&[2, 0], inner).unwrap(); // beyond the edge of the array
    assert_eq!(array.read::<u16>((4, ..)).unwrap().as_slice(), [2, 3, 26, 27, 28, 29]);

    array.erase_chunk(&[0, 0]).unwrap();
    assert_eq!(array.read_encoded_inner_chunk(&[1, 1]).unwrap(), None);
    let stored = array.read_encoded_inner_chunk(&[2, 2]).unwrap().unwrap();
    array.write_encoded_inner_chunk(&[1, 1], stored).unwrap();
    assert_eq!(array.read::<u16>((0..4, 0..4)).unwrap().as_slice()[8..], [7, 7, 28, 29, 7, 7, 7, 7]);
    assert_eq!(array.read_encoded_inner_chunk(&[0, 1]).unwrap(), None);

    let before = array.read_encoded_chunk(&[0, 0]).unwrap();
    for wrong in [&b""[..], b"garbage"] {
        let (kind, _) = refused(array.write_encoded_inner_chunk(&[1, 1], wrong));
        assert_eq!(kind, ArrayErrorKind::Corrupt);
    }
    assert_eq!(array.read_encoded_chunk(&[0, 0]).unwrap(), before);
    assert!(message(array.read_encoded_inner_chunk(&[3, 0])).contains("is outside the array"));
}

#[test]
fn a_writer_of_encoded_inner_chunks_loses_no_update() {
    let array = sharded(&[64], &[64], &[2]);
    array.write(.., &(0..64).collect::<Vec<u16>>()).unwrap();
    let objects: Vec<_> = (0..32).map(|i| array.read_encoded_inner_chunk(&[i]).unwrap().unwrap()).collect();
    array.erase_chunk(&[0]).unwrap();
    std::thread::scope(|scope| {
        for (i, object) in (0..).zip(&objects) {
            let array = &array;
            scope.spawn(move || array.write_encoded_inner_chunk(&[31 - i], object.clone()).unwrap());
        }
    });
    let expected: Vec<u16> = (0..32).rev().flat_map(|i| [2 * i, 2 * i + 1]).collect();
    assert_eq!(array.read::<u16>(..).unwrap().as_slice(), expected);
}

#[test]
fn an_array_without_shards_has_no_encoded_inner_chunks() {
    let array = array(&[4], &[2], &[]);
    let e = "chunks of this array have no inner chunks";
    assert_eq!(message(array.read_encoded_inner_chunk(&[0])), e);
    assert_eq!(message(array.write_encoded_inner_chunk(&[0], Vec::new())), e);
}

#[test]
fn uncompressed_inner_chunks_in_other_orders_go_out_and_in() {
    let order: Value = [1_u64, 0].into_iter().collect();
    let sharding = Extension::new("sharding_indexed")
        .with("chunk_shape", [2_u64, 3].into_iter().collect::<Value>())
        .with("codecs", Value::parse(r#"[{"name": "transpose", "configuration": {"order": [1, 0]}}, {"name": "bytes", "configuration": {"endian": "big"}}]"#).unwrap())
        .with("index_codecs", Value::parse(r#"[{"name": "bytes", "configuration": {"endian": "little"}}, "crc32c"]"#).unwrap());
    for codecs in [vec![sharding.clone()], vec![Extension::new("transpose").with("order", order), sharding]] {
        let array = array(&[6, 6], &[6, 6], &codecs);
        array.write(.., &(0..36).collect::<Vec<u16>>()).unwrap();
        let before = array.read::<u16>(..).unwrap();
        let all: Vec<_> = array.smallest_chunks(..).unwrap().collect();
        for chunk in &all {
            let object = array.read_encoded_inner_chunk(chunk.index()).unwrap().unwrap();
            assert_eq!(object.len(), 12);
            array.write(chunk, &vec![0_u16; chunk.len()]).unwrap();
            array.write_encoded_inner_chunk(chunk.index(), object).unwrap();
        }
        assert_eq!(array.read::<u16>(..).unwrap(), before);
    }
}
