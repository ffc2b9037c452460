//! Bytes from a store that are not what they should be: an error that names the place, no panic, no wrong data.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod common;

use common::{chains, counted, numbers};
use zarr_array::blocking::Array;
use zarr_array::{ArrayErrorKind, OpenOptions, Storage, block_on, standard};
use zarr_store::MemoryStore;
use zarr_store_fs::FsStore;
use zarr_traits::Key;

fn put(storage: &Storage, key: &str, value: impl Into<zarr_traits::Bytes>) {
    block_on(storage.put(&Key::new(key).unwrap(), value)).unwrap();
}

#[test]
fn a_damaged_chunk_fails_whole_and_in_part_with_its_place() {
    for codecs in chains() {
        let (array, _) = counted(&[8, 8], &[4, 4], &codecs);
        array.write(.., &numbers(&[8, 8])).unwrap();
        let key = array.chunk_key(&[1, 0]).unwrap();
        let good = block_on(array.storage().get(&key)).unwrap().unwrap();
        let longer = [&good[..], b"x"].concat();
        // Of zfp what lacks bytes of a word that hold nothing is whole.
        let words = codecs.iter().any(|codec| codec.name() == "zfp");
        let shorter = if words { good.len() / 2 } else { good.len() - 1 };
        // C.t6, D.06, D.07: short, long, and not there although it is
        for bad in [&good[..shorter], &longer, b""] {
            block_on(array.storage().put(&key, bad.to_vec())).unwrap();
            for part in [[0..8, 0..8], [4..8, 0..4], [5..6, 1..3]] {
                let Err(e) = array.read::<u16>(part.clone()) else {
                    // Part of a compressed chunk may be decoded without a look at its tail, but not from nothing.
                    assert!(part == [5..6, 1..3] && !bad.is_empty(), "{codecs:?} {} bytes", bad.len());
                    continue;
                };
                assert!(
                    matches!(e.kind(), ArrayErrorKind::Corrupt | ArrayErrorKind::Checksum),
                    "{codecs:?} {} bytes: {e}",
                    bad.len()
                );
                assert_eq!((e.array(), e.chunk(), e.key()), (Some("/a"), Some(&[1, 0][..]), Some("a/c/1/0")));
                assert!(e.to_string().starts_with("array \"/a\", chunk [1, 0] (key \"a/c/1/0\"): "), "{e}");
            }
            let others = array.read::<u16>([0..4, 0..8]);
            assert!(others.is_ok(), "other chunks are not concerned");
        }
    }
}

#[test]
fn checksums_are_verified_in_parts_as_well() {
    // Z5
    let (array, _) = counted(&[8, 8], &[8, 8], &chains()[7]);
    array.write(.., &numbers(&[8, 8])).unwrap();
    let key = array.chunk_key(&[0, 0]).unwrap();
    let mut bytes = block_on(array.storage().get(&key)).unwrap().unwrap().to_vec();
    bytes[100] ^= 1;
    block_on(array.storage().put(&key, bytes)).unwrap();
    for part in [[0..8, 0..8], [0..1, 0..1]] {
        assert_eq!(array.read::<u16>(part).unwrap_err().kind(), ArrayErrorKind::Checksum);
    }
}

/// Documents whose numbers are too large for somebody (quality, threat model).
const HUGE: [(&str, &str, &str); 5] = [
    ("[9223372036854775807]", "[2]", "[0..10]"),
    ("[9223372036854775807]", "[4611686018427387904]", "chunk of 2^62"),
    ("[18446744073709551615]", "[1]", "2^64 - 1 chunks"),
    ("[4294967296, 4294967296]", "[1, 1]", "2^64 elements"),
    ("[8]", "[1099511627776]", "chunk of 2^40"),
];

#[test]
fn huge_numbers_cost_no_memory() {
    for (shape, chunk, what) in HUGE {
        let storage = Storage::from(MemoryStore::new());
        let document = format!(
            r#"{{"zarr_format":3,"node_type":"array","shape":{shape},"data_type":"uint16",
            "chunk_grid":{{"name":"regular","configuration":{{"chunk_shape":{chunk}}}}},
            "chunk_key_encoding":{{"name":"default"}},"fill_value":7,
            "codecs":[{{"name":"bytes","configuration":{{"endian":"little"}}}},{{"name":"zstd","configuration":{{"level":1,"checksum":false}}}}],
            "attributes":{{}}}}"#
        );
        put(&storage, "zarr.json", document);
        let array = Array::open(storage.clone(), "/", &standard()).unwrap();
        let rank = array.shape().len();
        let few = array.read::<u16>(vec![0..2; rank]).unwrap();
        assert!(few.as_slice().iter().all(|v| *v == 7), "{what}");
        if array.shape()[0] > 8 {
            let e = array.read::<u16>(..).unwrap_err();
            assert_eq!(e.kind(), ArrayErrorKind::LimitExceeded, "{what}: {e}");
        }
        // with an object that cannot be a chunk of that size
        let key = array.chunk_key(&vec![0; rank]).unwrap();
        block_on(storage.put(&key, vec![0_u8; 16])).unwrap();
        assert!(array.read::<u16>(vec![0..2; rank]).is_err(), "{what}");
        assert!(array.write(vec![0..1; rank], &[1_u16]).is_err() || chunk.starts_with("[1"), "{what}");
    }
}

#[test]
fn an_object_far_too_large_is_refused_before_it_is_read() {
    let (array, _) = counted(&[4, 4], &[4, 4], &chains()[4]);
    let key = array.chunk_key(&[0, 0]).unwrap();
    block_on(array.storage().put(&key, vec![0_u8; 8 << 20])).unwrap();
    let e = array.read::<u16>(..).unwrap_err();
    assert_eq!(e.kind(), ArrayErrorKind::LimitExceeded);
    assert!(e.to_string().contains("the object has 8388608 bytes"), "{e}");
}

#[test]
fn an_error_of_the_store_names_the_key_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = FsStore::open(folder.path()).unwrap();
    let meta = common::meta(&[4, 4], &[4, 4], &chains()[0]);
    let array = Array::create(store, "/", meta, &standard()).unwrap();
    std::fs::create_dir_all(folder.path().join("c/0")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", folder.path().join("c/0/0")).unwrap();
    let e = array.read::<u16>(..).unwrap_err();
    assert_eq!(e.kind(), ArrayErrorKind::Io);
    assert_eq!(e.to_string().matches("c/0/0").count(), 1, "{e}");
}

#[test]
fn documents_that_are_no_array_say_what_they_are() {
    let open = |documents: &[(&str, &str)]| {
        let storage = Storage::from(MemoryStore::new());
        documents.iter().for_each(|(key, text)| put(&storage, key, text.as_bytes().to_vec()));
        block_on(OpenOptions::new().open(storage, "/", &standard())).unwrap_err()
    };
    let group = r#"{"zarr_format":3,"node_type":"group"}"#;
    assert_eq!(
        open(&[]).to_string(),
        "array \"/\": there is no array: no zarr.json, and no document of format 2"
    );
    assert_eq!(open(&[("zarr.json", group)]).to_string(), "array \"/\": there is a group, not an array");
    assert_eq!(
        open(&[(".zgroup", r#"{"zarr_format":2}"#)]).to_string(),
        "array \"/\": there is a group, not an array"
    );
    assert_eq!(open(&[(".zarray", "{}")]).kind(), ArrayErrorKind::Metadata);
    for (text, kind) in [
        ("", ArrayErrorKind::Metadata),
        ("{", ArrayErrorKind::Metadata),
        (r#"{"zarr_format":4,"node_type":"array"}"#, ArrayErrorKind::Unsupported), // A.t7
    ] {
        let e = open(&[("zarr.json", text)]);
        assert_eq!(e.kind(), kind, "{e}");
    }
}
