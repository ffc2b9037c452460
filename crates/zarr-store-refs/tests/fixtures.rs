//! Stores of references that other tools wrote, and the values that these tools read from them.

use zarr_array::blocking::Array;
use zarr_array::standard;
use zarr_store::{MemoryStore, Prefixed, Targets};
use zarr_store_fs::FsStore;
use zarr_store_refs::Refs;
use zarr_traits::json::Value;
use zarr_traits::{Key, Prefix, Storage, block_on};

use crate::cases::{archive, cases, check_arrays, copied, text};

/// Compares everything that a case names, and returns the number of arrays.
fn check(case: &Value, storage: &Storage) -> usize {
    let id = text(case, "id");
    if let Some(keys) = case.get("keys") {
        let mut keys: Vec<String> = keys.elements().unwrap().map(|key| key.as_text().unwrap()).collect();
        if id == "kerchunk.vz.json" {
            // VirtualiZarr stores this chunk under `crs/`, where other readers do not find it.
            keys.push("crs/0".to_owned());
            let crs = Array::open(storage.clone(), "crs", &standard()).unwrap();
            assert_eq!(crs.read_bytes(..).unwrap().1[0], 7);
        }
        keys.sort();
        let listed = block_on(storage.list_all(&Prefix::root())).unwrap();
        let listed: Vec<String> = listed.into_iter().map(|listed| listed.key.into()).collect();
        assert_eq!(listed, keys, "{id}");
    }
    check_arrays(case, storage)
}

#[test]
fn values_are_those_that_kerchunk_virtualizarr_and_fsspec_read() {
    let directory = tempfile::tempdir().unwrap();
    let unpacked = copied(&archive(), Storage::from(FsStore::create(directory.path()).unwrap()));
    let in_memory = copied(&archive(), MemoryStore::new().into());
    let reads_parquet = cfg!(all(feature = "gzip", feature = "snappy", feature = "zstd"));
    let (mut files, mut directories, mut arrays) = (0, 0, 0);
    for storage in [unpacked, archive(), in_memory] {
        let data = Prefixed::over(&storage, Prefix::new("data/").unwrap());
        let own = format!("{}/data/", directory.path().display());
        let targets = Targets::none().serve("file:///zarr-references/data/", data.clone()).unwrap();
        let targets = targets.serve(own, data).unwrap();
        for case in cases("kerchunk") {
            let url = text(&case, "url");
            let opened = if url.ends_with(".parq") {
                directories += 1;
                if !reads_parquet {
                    continue;
                }
                block_on(Refs::open_parquet(&storage, Prefix::of_node(&url).unwrap(), targets.clone()))
            } else {
                files += 1;
                block_on(Refs::open(&storage, Key::new(&*url).unwrap(), targets.clone()))
            };
            arrays += check(&case, &opened.unwrap_or_else(|e| panic!("{url}: {e:#}")));
        }
    }
    let in_parquet = if reads_parquet { 64 } else { 0 };
    assert_eq!((files, directories, arrays), (45, 30, 3 * (62 + in_parquet)));
}
