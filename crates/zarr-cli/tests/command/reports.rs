//! Errors of all crates as a report of `anyhow` prints them: each cause once, and no credentials.

use std::error::Error;
use std::io;
use std::sync::Arc;

use zarr_array::blocking::Array;
use zarr_array::meta::v3::Extension;
use zarr_array::traits::store::Op;
use zarr_array::traits::{CodecError, Key, Storage, StoreError, StoreErrorKind, block_on};
use zarr_array::{ArrayMeta, DataType, standard};
use zarr_conformance::instruments::{Fault, Faulty};
use zarr_copy::{Copy, RunOptions, blocking};
use zarr_hierarchy::blocking::Group;
use zarr_hierarchy::{HierarchyError, Transaction};
use zarr_store::{Access, MemoryStore, OpenRootShared, PathEncoding, Scheme, Schemes};
use zarr_xarray::blocking::Dataset;

/// The URL of the store. Errors show `mem://bucket/x.zarr?…`.
const URL: &str = "mem://user:password@bucket/x.zarr?token=SECRET";

/// Returns a group with an array `/t` of two chunks.
fn whole() -> Storage {
    let memory = Storage::from(MemoryStore::new());
    let open: Arc<OpenRootShared> = Arc::new(move |_, _| {
        let memory = memory.clone();
        Box::pin(async move { Ok(memory) })
    });
    let schemes = Schemes::new(&[&[Scheme::shared("mem", PathEncoding::Plain, open)]]);
    let storage = block_on(schemes.open(URL, &Access::new())).unwrap().storage;
    Group::create(storage.clone(), "/", &standard()).unwrap();
    let meta = ArrayMeta::builder([4], DataType::Int32).chunks([2]).dimension_names(["x"]).build().unwrap();
    Array::create(storage.clone(), "/t", meta, &standard()).unwrap().write(.., &[1, 2, 3, 4]).unwrap();
    storage
}

/// Returns the same group. The second chunk of the array is damaged.
fn damaged() -> Storage {
    let storage = whole();
    put(&storage, "t/c/1", "no frame of zstd");
    storage
}

fn array(storage: Storage) -> Array {
    Array::open(storage, "/t", &standard()).unwrap()
}

fn put(storage: &Storage, key: &str, value: &'static str) {
    block_on(storage.put(&Key::new(key).unwrap(), value)).unwrap();
}

/// Returns the store with an error of the operating system for each read of a chunk.
fn failing() -> Storage {
    let fails = |call: &str| call.contains("c/");
    Faulty::over(&damaged(), move |_, op| fails(op.target()).then_some(Fault::System(5))).0
}

fn full() -> StoreError {
    StoreError::from(io::Error::from_raw_os_error(28)).with_key("t/c/0")
}

/// Errors, and their reports without empty lines.
fn errors() -> Vec<(anyhow::Error, &'static str)> {
    let unknown = damaged();
    let odd = ArrayMeta::builder([4], DataType::Int32).codecs([Extension::new("odd")]).build().unwrap();
    put(&unknown, "u/zarr.json", odd.to_text().leak());
    let broken = damaged();
    put(&broken, "t/zarr.json", "{\"zarr_format\": 3,");
    let conflict = damaged();
    let transaction = Transaction::over(&conflict);
    let mut staged = Group::open(transaction.storage(), "/", &standard()).unwrap();
    staged.set_attribute("a", &1).unwrap();
    put(&conflict, "zarr.json", "{}");
    let plan = blocking::plan(&Copy::new(whole(), "/t", &standard())).unwrap();
    let puts = |_, op: &Op<'_>| op.target().contains("c/").then_some(Fault::System(28));
    let full_disk = Faulty::over(&Storage::from(MemoryStore::new()), puts).0;
    vec![
        (
            full().into(),
            "key \"t/c/0\": input or output failed
Caused by:
    No space left on device (os error 28)",
        ),
        (
            StoreError::new(StoreErrorKind::Uncertain, "the answer was lost").with_source(full()).into(),
            "the answer was lost
Caused by:
    0: key \"t/c/0\": input or output failed
    1: No space left on device (os error 28)",
        ),
        (
            CodecError::corrupt("unexpected end of frame")
                .in_codec("zstd", "decode")
                .in_inner_chunk(&[3])
                .in_codec("sharding_indexed", "decode")
                .into(),
            "codec \"sharding_indexed\" failed to decode: in inner chunk [3]
Caused by:
    codec \"zstd\" failed to decode: unexpected end of frame",
        ),
        (
            Array::open(unknown, "/u", &standard()).unwrap_err().into(),
            "array \"/u\" of mem://bucket/x.zarr?…: the array uses an unknown extension
Caused by:
    0: zarr.json: member \"/codecs/0\": cannot be understood
    1: unknown codec \"odd\"",
        ),
        (
            array(damaged()).read::<i32>(..).unwrap_err().into(),
            "array \"/t\" of mem://bucket/x.zarr?…, chunk [1] (key \"t/c/1\"): stored bytes are damaged
Caused by:
    codec \"zstd\" failed to decode: 0x66206f6e is not the magic number of a zstd frame",
        ),
        (
            array(damaged()).read::<i32>(9).unwrap_err().into(),
            "array \"/t\" of mem://bucket/x.zarr?…: index 9 of dimension 0 is not inside its length 4",
        ),
        (
            array(failing()).read::<i32>(..).unwrap_err().into(),
            "array \"/t\" of mem://bucket/x.zarr?…, chunk [0] (key \"t/c/0\"): the store failed
Caused by:
    0: input or output failed
    1: Input/output error (os error 5)",
        ),
        (
            Group::open(broken, "/", &standard()).unwrap().array("t").unwrap_err().into(),
            "array \"/t\" of mem://bucket/x.zarr?…: the metadata is invalid
Caused by:
    zarr.json: line 1, column 19 (byte 18): expected a member name in double quotes, found the end of the document",
        ),
        (
            Group::open(damaged(), "/nowhere", &standard()).unwrap_err().into(),
            "node \"/nowhere\" of mem://bucket/x.zarr?…: there is no group",
        ),
        (
            block_on(transaction.commit()).unwrap_err().into(),
            "another writer changed \"zarr.json\"; 0 of 1 changes are written",
        ),
        (
            Dataset::open(Group::open(damaged(), "/", &standard()).unwrap())
                .and_then(|dataset| dataset.variable("t")?.read::<i32>())
                .unwrap_err()
                .into(),
            "variable \"t\": array \"/t\" of mem://bucket/x.zarr?…, chunk [1] (key \"t/c/1\"): stored bytes are damaged
Caused by:
    codec \"zstd\" failed to decode: 0x66206f6e is not the magic number of a zstd frame",
        ),
        (
            blocking::run(&plan, full_disk, "/t", RunOptions::new(), &|_| {}).unwrap_err().into(),
            "copy of array \"/t\": the store failed
Caused by:
    0: key \"t/c/0\": input or output failed
    1: No space left on device (os error 28)",
        ),
    ]
}

#[test]
fn a_report_says_each_cause_once_and_no_secrets() {
    for (e, expected) in errors() {
        let report = format!("{e:?}").replace("\n\n", "\n");
        assert_eq!(report.split("\nStack backtrace").next().unwrap(), expected);
        let parts: Vec<String> = e.chain().map(ToString::to_string).collect();
        assert_eq!(format!("{e:#}"), parts.join(": "));
        for (i, part) in parts.iter().enumerate() {
            assert!(parts[i + 1..].iter().all(|cause| !part.contains(cause)), "{e:#}");
        }
        let all = format!("{e:#}{report}");
        assert!(["user", "password", "SECRET"].iter().all(|secret| !all.contains(secret)), "{all}");
    }
}

#[test]
fn the_store_error_and_the_number_of_the_system_are_found() {
    let e = array(failing()).read::<i32>(..).unwrap_err();
    assert_eq!((e.raw_os_error(), e.location()), (Some(5), Some("mem://bucket/x.zarr?…")));
    let store = e.source().and_then(|e| e.downcast_ref::<StoreError>()).unwrap();
    assert_eq!((store.kind(), store.raw_os_error()), (StoreErrorKind::Io, Some(5)));
    // The causes are those of the error of the array, also seen from a group.
    let e = HierarchyError::from(e);
    assert!(e.source().is_some_and(|e| e.is::<StoreError>()));
    assert_eq!(e.array_error().raw_os_error(), Some(5));
}
