//! The cases of this folder, for the tests of the crates that read them.

use std::path::Path;

use sha2::{Digest as _, Sha256};
use zarr_array::blocking::Array;
use zarr_array::standard;
use zarr_store::zip::ZipStore;
use zarr_store_fs::FsStore;
use zarr_traits::json::{DEPTH, Document, Value};
use zarr_traits::{Key, Prefix, Storage, block_on};

fn folder() -> Storage {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/references");
    Storage::from(FsStore::open(path).unwrap())
}

/// Returns the stores and the files that they refer to.
pub(crate) fn archive() -> Storage {
    block_on(ZipStore::open(&folder(), Key::new("references.zip").unwrap(), Prefix::root())).unwrap()
}

/// Copies everything.
pub(crate) fn copied(from: &Storage, to: Storage) -> Storage {
    for listed in block_on(from.list_all(&Prefix::root())).unwrap() {
        let bytes = block_on(from.get(&listed.key, 1 << 30)).unwrap().unwrap();
        block_on(to.put(&listed.key, bytes)).unwrap();
    }
    to
}

/// Returns a document of this folder.
pub(crate) fn document(name: &str) -> Value {
    let text = block_on(folder().get(&Key::new(name).unwrap(), 1 << 30)).unwrap().unwrap();
    // Attributes have bare NaN.
    Document::parse(&text, DEPTH, &mut Vec::new()).unwrap().root
}

/// Returns the cases of one kind.
pub(crate) fn cases(kind: &str) -> Vec<Value> {
    let all = document("expected.json");
    all.elements().unwrap().filter(|case| case.get("kind").unwrap() == kind).collect()
}

/// Returns a text of a case.
pub(crate) fn text(value: &Value, name: &str) -> String {
    value.get(name).unwrap().as_text().unwrap()
}

/// Compares all arrays that a case names, and returns their number.
pub(crate) fn check_arrays(case: &Value, storage: &Storage) -> usize {
    let id = text(case, "id");
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
