//! Stores of references that other tools wrote, and the values that these tools read from them.

use std::path::Path;

use sha2::{Digest as _, Sha256};
use zarr_array::blocking::Array;
use zarr_array::standard;
use zarr_store::{Prefixed, Targets, zip::ZipStore};
use zarr_store_fs::FsStore;
use zarr_store_refs::Refs;
use zarr_traits::json::{DEPTH, Document, Value};
use zarr_traits::{Key, Prefix, Storage, block_on};

/// The folder of the repository with the stores, which `conformance/references/README.md` describes.
fn folder() -> Storage {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/references");
    Storage::from(FsStore::open(path).unwrap())
}

fn archive() -> Storage {
    block_on(ZipStore::open(&folder(), Key::new("references.zip").unwrap(), Prefix::root())).unwrap()
}

/// Writes the stores into a directory.
fn unpacked(to: &Path) -> Storage {
    let (archive, storage) = (archive(), Storage::from(FsStore::create(to).unwrap()));
    for listed in block_on(archive.list_all(&Prefix::root())).unwrap() {
        let bytes = block_on(archive.get(&listed.key, 1 << 30)).unwrap().unwrap();
        block_on(storage.put(&listed.key, bytes)).unwrap();
    }
    storage
}

fn cases(kind: &str) -> Vec<Value> {
    let text = block_on(folder().get(&Key::new("expected.json").unwrap(), 1 << 30)).unwrap().unwrap();
    // Attributes have bare NaN.
    let all = Document::parse(&text, DEPTH, &mut Vec::new()).unwrap().root;
    all.elements().unwrap().filter(|case| case.get("kind").unwrap() == kind).collect()
}

fn text(value: &Value, name: &str) -> String {
    value.get(name).unwrap().as_text().unwrap()
}

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
    let Some(arrays) = case.get("nodes").and_then(|nodes| nodes.get("arrays")) else { return 0 };
    let registry = standard().overriding(zarr_codecs_numcodecs::CODECS);
    let mut count = 0;
    for member in arrays.members().unwrap() {
        let (path, expected) = (member.name().unwrap().into_owned(), member.value());
        let place = format!("{id}: {path}");
        let array =
            Array::open(storage.clone(), &path, &registry).unwrap_or_else(|e| panic!("{place}: {e:#}"));
        let shape: Vec<u64> =
            expected.get("shape").unwrap().elements().unwrap().flat_map(|n| n.as_u64()).collect();
        assert_eq!(array.shape(), shape, "{place}");
        assert!(
            Value::from(array.metadata().attributes()).is_same(&expected.get("attributes").unwrap()),
            "{place}: {:?}",
            array.metadata().attributes()
        );
        match expected.get("strings") {
            Some(strings) => {
                let strings: Vec<_> = strings.elements().unwrap().map(|s| s.as_text().unwrap()).collect();
                assert_eq!(array.read::<String>(..).unwrap().into_vec(), strings, "{place}");
            }
            None => {
                let (_, bytes) = array.read_bytes(..).unwrap_or_else(|e| panic!("{place}: {e:#}"));
                let digest: String = Sha256::digest(&bytes).iter().map(|b| format!("{b:02x}")).collect();
                assert_eq!(digest, text(&expected, "sha256"), "{place}");
            }
        }
        count += 1;
    }
    count
}

#[test]
fn values_are_those_that_kerchunk_virtualizarr_and_fsspec_read() {
    let directory = tempfile::tempdir().unwrap();
    let unpacked = unpacked(directory.path());
    let (mut files, mut arrays) = (0, 0);
    for storage in [unpacked, archive()] {
        let data = Prefixed::over(&storage, Prefix::new("data/").unwrap());
        let own = format!("{}/data/", directory.path().display());
        let targets = Targets::none().serve("file:///zarr-references/data/", data.clone()).unwrap();
        let targets = targets.serve(own, data).unwrap();
        for case in cases("kerchunk") {
            let url = text(&case, "url");
            if !url.ends_with(".json") {
                continue;
            }
            let opened = block_on(Refs::open(&storage, Key::new(&*url).unwrap(), targets.clone()));
            let opened = opened.unwrap_or_else(|e| panic!("{url}: {e:#}"));
            arrays += check(&case, &opened);
            files += 1;
        }
    }
    assert_eq!((files, arrays), (30, 124));
}
