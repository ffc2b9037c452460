//! Invalid bytes from a store: an error that names the place, no panic, no wrong data.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::common::{self, Odd, chains, counted, numbers};
use zarr_array::blocking::Array;
use zarr_array::{ArrayErrorKind, Limits, OpenOptions, Storage, block_on, standard};
use zarr_conformance::instruments::Counting;
use zarr_store::MemoryStore;
use zarr_store_fs::FsStore;
use zarr_traits::{
    BoxFuture, Key, StoreResult,
    store::{Answer, Capabilities, Op, Store},
};

fn put(storage: &Storage, key: &str, value: impl Into<zarr_traits::Bytes>) {
    block_on(storage.put(&Key::new(key).unwrap(), value)).unwrap();
}

#[test]
fn a_damaged_chunk_fails_whole_and_in_part_with_its_place() {
    for codecs in chains() {
        let (array, _) = counted(&[8, 8], &[4, 4], &codecs);
        array.write(.., &numbers(&[8, 8])).unwrap();
        let key = array.chunk_key(&[1, 0]).unwrap();
        let good = block_on(array.storage().get(&key, u64::MAX)).unwrap().unwrap();
        let longer = [&good[..], b"x"].concat();
        // zfp does not need the last bytes of a word if they hold no bits.
        let words = codecs.iter().any(|codec| codec.name() == "zfp");
        let shorter = if words { good.len() / 2 } else { good.len() - 1 };
        // rules C.t6, D.06 and D.07: too short, too long, and empty
        for bad in [&good[..shorter], &longer, b""] {
            block_on(array.storage().put(&key, bad.to_vec())).unwrap();
            for part in [[0..8, 0..8], [4..8, 0..4], [5..6, 1..3]] {
                let Err(e) = array.read::<u16>(part.clone()) else {
                    // Decoding part of a compressed chunk need not look at its end, but needs some bytes.
                    assert!(part == [5..6, 1..3] && !bad.is_empty(), "{codecs:?} {} bytes", bad.len());
                    continue;
                };
                assert!(
                    matches!(e.kind(), ArrayErrorKind::Corrupt | ArrayErrorKind::Checksum),
                    "{codecs:?} {} bytes: {e:#}",
                    bad.len()
                );
                assert_eq!((e.array(), e.chunk(), e.key()), (Some("/a"), Some(&[1, 0][..]), Some("a/c/1/0")));
                assert!(
                    format!("{e:#}").starts_with("array \"/a\", chunk [1, 0] (key \"a/c/1/0\"): "),
                    "{e:#}"
                );
            }
            let others = array.read::<u16>([0..4, 0..8]);
            assert!(others.is_ok(), "other chunks can be read");
        }
    }
}

#[test]
fn partial_reads_verify_checksums() {
    let (array, _) = counted(&[8, 8], &[8, 8], &chains()[7]);
    array.write(.., &numbers(&[8, 8])).unwrap();
    let key = array.chunk_key(&[0, 0]).unwrap();
    let mut bytes = block_on(array.storage().get(&key, u64::MAX)).unwrap().unwrap().to_vec();
    bytes[100] ^= 1;
    block_on(array.storage().put(&key, bytes)).unwrap();
    for part in [[0..8, 0..8], [0..1, 0..1]] {
        assert_eq!(array.read::<u16>(part).unwrap_err().kind(), ArrayErrorKind::Checksum);
    }
}

/// Shapes and chunk shapes with huge numbers.
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
            assert_eq!(e.kind(), ArrayErrorKind::LimitExceeded, "{what}: {e:#}");
        }
        // with an object that is too small for its chunk
        let key = array.chunk_key(&vec![0; rank]).unwrap();
        block_on(storage.put(&key, vec![0_u8; 16])).unwrap();
        assert!(array.read::<u16>(vec![0..2; rank]).is_err(), "{what}");
        assert!(array.write(vec![0..1; rank], &[1_u16]).is_err() || chunk.starts_with("[1"), "{what}");
    }
}

/// A layer in which objects whose keys end in `end` have endless content. It counts the bytes that buffers accept.
#[derive(Debug)]
struct Endless {
    storage: Storage,
    end: &'static str,
    accepted: Arc<AtomicU64>,
}

impl Endless {
    fn over(storage: &Storage, end: &'static str) -> (Storage, Arc<AtomicU64>) {
        let accepted = Arc::new(AtomicU64::new(0));
        let endless = Self { storage: storage.clone(), end, accepted: accepted.clone() };
        (Storage::from(endless), accepted)
    }
}

impl Store for Endless {
    fn capabilities(&self) -> Capabilities {
        self.storage.capabilities()
    }

    fn call<'a>(&'a self, op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        match op {
            Op::Read(read) if read.key.as_str().ends_with(self.end) => Box::pin(async move {
                loop {
                    read.into.append(b"[")?;
                    self.accepted.fetch_add(1, Ordering::Relaxed);
                }
            }),
            op => self.storage.call(op),
        }
    }
}

#[test]
fn a_document_beyond_the_limit_is_refused_and_no_more_than_the_limit_is_in_memory() {
    let memory = Storage::from(MemoryStore::new());
    let mut limits = Limits::default();
    limits.metadata_bytes = 1000;
    let open = |storage: Storage| {
        let options = OpenOptions::new().limits(limits.clone());
        let e = Array::open_with(storage, "/", &standard(), &options).unwrap_err();
        assert_eq!(e.kind(), ArrayErrorKind::LimitExceeded, "{e:#}");
        format!("{e:#}")
    };
    for name in ["zarr.json", ".zarray", ".zattrs"] {
        let (endless, accepted) = Endless::over(&memory, name);
        let e = open(endless);
        assert!(
            e.contains("the store returns more than 1000 bytes, the limit") && !e.contains("[["),
            "{e:#}"
        );
        assert_eq!(accepted.load(Ordering::Relaxed), 1000, "{name}");
    }
    put(&memory, "zarr.json", vec![b'['; 1001]);
    let (counted, counting) = Counting::over(&memory);
    let e = open(counted);
    assert!(e.contains("the object has 1001 bytes, at most 1000 are accepted"), "{e:#}");
    assert_eq!((counting.counts().reads, counting.counts().bytes_read), (1, 0));
}

/// Opens the stored array at `/a` as local and as remote array, with counted requests.
fn local_and_remote(stored: &Array, limits: &Limits) -> [(Array, Counting); 2] {
    let slow = Odd::slow(stored.storage(), Duration::ZERO, 4);
    [stored.storage().clone(), slow].map(|storage| {
        let (storage, counting) = Counting::over(&storage);
        let array = Array::open(storage, "/a", &standard()).unwrap();
        (array.with_limits(limits.clone()), counting)
    })
}

#[test]
fn a_chunk_beyond_the_limit_is_refused_before_a_byte_of_it_is_read() {
    for codecs in chains() {
        let (stored, _) = counted(&[4, 8], &[4, 4], &codecs);
        stored.write([0..4, 0..4], &numbers(&[4, 4])).unwrap();
        let mut limits = Limits::default();
        for (chunk_bytes, is_accepted) in [(32, true), (31, false)] {
            limits.chunk_bytes = chunk_bytes;
            for (array, counting) in local_and_remote(&stored, &limits) {
                let before = counting.counts();
                let whole = array.read::<u16>([0..4, 0..4]);
                let part = array.write([0..2, 0..3], &[1_u16; 6]);
                assert_eq!((whole.is_ok(), part.is_ok()), (is_accepted, is_accepted), "{codecs:?}");
                if is_accepted {
                    continue;
                }
                let used = counting.counts() - before;
                assert_eq!((used.reads, used.puts), (0, 0), "{codecs:?}");
                for e in [whole.unwrap_err(), part.unwrap_err()] {
                    assert_eq!((e.kind(), e.key()), (ArrayErrorKind::LimitExceeded, Some("a/c/0/0")));
                    assert!(
                        format!("{e:#}").ends_with("a chunk of 32 bytes exceeds the limit of 31"),
                        "{e:#}"
                    );
                }
                let absent = array.read::<u16>([0..4, 4..8]).unwrap();
                assert_eq!(absent.as_slice(), [7; 16], "a missing chunk takes no memory: {codecs:?}");
            }
        }
    }
}

#[test]
fn an_object_larger_than_its_chunk_can_be_is_refused_with_both_sizes() {
    const LIMIT: ArrayErrorKind = ArrayErrorKind::LimitExceeded;
    const CORRUPT: ArrayErrorKind = ArrayErrorKind::Corrupt;
    // Chains with a known encoded size, and one with only a bound.
    for (codecs, size, kind, message, endless) in [
        (0, 33, CORRUPT, "the object has 33 bytes, expected 32", "more than 32 bytes, expected 32"),
        (7, 99, CORRUPT, "the object has 99 bytes, expected 36", "more than 36 bytes, expected 36"),
        (
            4,
            8 << 20,
            LIMIT,
            "the object has 8388608 bytes, but a chunk of this array may have at most 1048576",
            "more than 1048576 bytes, but a chunk of this array may have at most 1048576",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let directory = Storage::from(FsStore::open(folder.path()).unwrap());
        for storage in [directory, Storage::from(MemoryStore::new())] {
            let meta = common::meta(&[4, 4], &[4, 4], &chains()[codecs]);
            let stored = Array::create(storage, "/a", meta, &standard()).unwrap();
            block_on(stored.storage().put(&stored.chunk_key(&[0, 0]).unwrap(), vec![0; size])).unwrap();
            for (array, counting) in local_and_remote(&stored, &Limits::default()) {
                let before = counting.counts();
                let e = array.read::<u16>(..).unwrap_err();
                assert_eq!((e.kind(), e.key()), (kind, Some("a/c/0/0")), "{e:#}");
                assert!(format!("{e:#}").ends_with(message), "{e:#}");
                let used = counting.counts() - before;
                assert_eq!((used.requests(), used.reads, used.bytes_read), (1, 1, 0), "{e:#}");
            }
            // A store that does not know the size of the object before it reads.
            let array = Array::open(Endless::over(stored.storage(), "/0/0").0, "/a", &standard()).unwrap();
            let e = array.read::<u16>(..).unwrap_err();
            assert_eq!(e.kind(), kind);
            assert!(format!("{e:#}").ends_with(endless), "{e:#}");
        }
    }
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
    assert_eq!(format!("{e:#}").matches("c/0/0").count(), 1, "{e:#}");
}

#[test]
fn opening_something_that_is_not_an_array_says_what_it_is() {
    let open = |documents: &[(&str, &str)]| {
        let storage = Storage::from(MemoryStore::new());
        documents.iter().for_each(|(key, text)| put(&storage, key, text.as_bytes().to_vec()));
        Array::open(storage, "/", &standard()).unwrap_err()
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
        (r#"{"zarr_format":4,"node_type":"array"}"#, ArrayErrorKind::Unsupported), // rule A.t7
    ] {
        let e = open(&[("zarr.json", text)]);
        assert_eq!(e.kind(), kind, "{e:#}");
    }
}
