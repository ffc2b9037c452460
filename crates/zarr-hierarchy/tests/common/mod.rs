//! Small hierarchies.
#![allow(dead_code, reason = "each test uses some of it")]

pub(crate) mod hooked;

use zarr_conformance::instruments::{Counting, RequestCounts};
use zarr_hierarchy::blocking::Group;
use zarr_hierarchy::zarr_array::meta::json::Value;
use zarr_hierarchy::zarr_array::traits::{Key, block_on};
use zarr_hierarchy::zarr_array::{DataType, Storage, standard};
use zarr_hierarchy::{ArrayMeta, Child, GroupOptions};
use zarr_store::MemoryStore;

pub(crate) const GROUP: &str = r#"{"zarr_format":3,"node_type":"group","attributes":{}}"#;
pub(crate) const ARRAY: &str = r#"{"zarr_format":3,"node_type":"array","shape":[4],"data_type":"int32",
"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2]}},
"chunk_key_encoding":{"name":"default","configuration":{"separator":"/"}},
"fill_value":7,"codecs":[{"name":"bytes","configuration":{"endian":"little"}}],"attributes":{}}"#;
pub(crate) const GROUP2: &str = r#"{"zarr_format":2}"#;
pub(crate) const ARRAY2: &str = r#"{"zarr_format":2,"shape":[4],"chunks":[2],"dtype":"<i4","compressor":null,"fill_value":7,
"order":"C","filters":null}"#;

pub(crate) fn key(key: &str) -> Key {
    Key::new(key).unwrap()
}

/// Makes a store with these objects, and a counter of requests.
pub(crate) fn store(objects: &[(&str, &str)]) -> (Storage, Counting) {
    let memory = Storage::from(MemoryStore::new());
    for (name, text) in objects {
        block_on(memory.put(&key(name), text.to_string())).unwrap();
    }
    Counting::over(&memory)
}

/// A store that can neither list nor write, like a web server.
pub(crate) fn unlisted(storage: &Storage) -> Storage {
    hooked::unlisted(storage)
}

/// Returns a group document of format 3 with this consolidated metadata, an object of paths and documents.
pub(crate) fn consolidated(metadata: &str) -> String {
    format!(
        r#"{{"zarr_format":3,"node_type":"group","attributes":{{}},
        "consolidated_metadata":{{"kind":"inline","must_understand":false,"metadata":{metadata}}}}}"#
    )
}

pub(crate) fn open(storage: &Storage) -> Group {
    Group::open(storage.clone(), "/", &standard()).unwrap()
}

pub(crate) fn open_with(storage: &Storage, options: GroupOptions) -> Group {
    Group::open_with(storage.clone(), "/", &standard(), &options).unwrap()
}

pub(crate) fn text(storage: &Storage, name: &str) -> String {
    let bytes = block_on(storage.get(&key(name), u64::MAX)).unwrap().unwrap_or_else(|| panic!("no {name}"));
    String::from_utf8(bytes.to_vec()).unwrap()
}

pub(crate) fn json(storage: &Storage, name: &str) -> Value {
    Value::parse(&text(storage, name)).unwrap()
}

pub(crate) fn keys(storage: &Storage) -> Vec<String> {
    let keys = block_on(storage.list_all(&zarr_hierarchy::zarr_array::traits::Prefix::root())).unwrap();
    keys.iter().map(|object| object.key.to_string()).collect()
}

pub(crate) fn names(children: &[Child]) -> Vec<&str> {
    children.iter().map(Child::name).collect()
}

pub(crate) fn array_meta() -> ArrayMeta {
    ArrayMeta::builder([4], DataType::Int32).chunks([2]).fill(7).build().unwrap()
}

/// Returns the requests that `work` makes.
pub(crate) fn cost<R>(counting: &Counting, work: impl FnOnce() -> R) -> RequestCounts {
    let before = counting.counts();
    drop(work());
    counting.counts() - before
}
