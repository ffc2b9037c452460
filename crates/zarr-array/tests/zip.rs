//! Arrays in ZIP archives.

use crate::common::{meta, numbers, sharded};
use zarr_array::blocking::Array;
use zarr_array::{Storage, block_on, standard};
use zarr_conformance::instruments::Counting;
use zarr_store::MemoryStore;
use zarr_store::zip::{PackOptions, ZipStore, pack};
use zarr_traits::{Bytes, Key, Prefix};

/// An archive of zarr-python; see `make.py` in its folder.
const ZARR_PYTHON: &[u8] = include_bytes!("../testdata/zip/zarr_python.zip");

/// Opens an archive. Returns its store, and a counter of the requests to the store below.
fn opened(bytes: impl Into<Bytes>) -> (Storage, Counting) {
    let archive = Key::new("x.zip").unwrap();
    let (storage, counting) = Counting::over(&Storage::from(MemoryStore::new()));
    block_on(storage.put(&archive, bytes)).unwrap();
    (block_on(ZipStore::open(&storage, archive, Prefix::root())).unwrap(), counting)
}

#[test]
fn e44_an_array_in_an_archive_of_zarr_python_is_read_by_a_request_per_chunk() {
    let (storage, counting) = opened(ZARR_PYTHON);
    let array = Array::open(storage, "/a", &standard()).unwrap();
    assert_eq!(array.metadata().attributes().len(), 1, "the last of two documents counts");
    let before = counting.counts();
    assert_eq!(array.read::<i32>(..).unwrap().as_slice(), (0..24).collect::<Vec<_>>());
    assert_eq!((counting.counts() - before).requests(), 4);
}

#[test]
fn a_part_of_a_shard_in_an_archive_costs_two_requests() {
    let memory = Storage::from(MemoryStore::new());
    let meta = meta(&[256, 256], &[256, 256], &sharded(&[16, 16], "end"));
    let array = Array::create(memory.clone(), "/", meta, &standard()).unwrap();
    array.write(.., &numbers(&[256, 256])).unwrap();
    // The index and an inner chunk. A stored shard is read in part, a deflated one is read whole each time.
    for (deflate, most) in [(None, 8 << 10), (Some(6), 1 << 20)] {
        let mut options = PackOptions::new(zarr_array::node::is_document);
        options.deflate = deflate;
        let mut archive = Vec::new();
        block_on(pack(&memory, &Prefix::root(), &mut archive, &options)).unwrap();
        let (storage, counting) = opened(archive);
        let packed = Array::open(storage, "/", &standard()).unwrap();
        let before = counting.counts();
        let part = packed.read::<u16>([20..30, 20..30]).unwrap();
        let used = counting.counts() - before;
        assert_eq!(part.as_slice(), array.read::<u16>([20..30, 20..30]).unwrap().as_slice());
        assert_eq!(used.requests(), 2, "{deflate:?}");
        assert!(used.bytes_read < most, "{deflate:?}: {} bytes", used.bytes_read);
    }
}
