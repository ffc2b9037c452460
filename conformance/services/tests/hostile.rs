//! The malformed stores of the suite in a directory, in an archive, on a web server and in S3: each is refused with an
//! error that names a key, in time, and takes at most 16 MiB beside the chunk that it declares.
//!
//! A program of its own, because it counts the memory of the process.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod common;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use common::{opened, s3};
use peak_alloc::PeakAlloc;
use serde_json::Value;
use zarr_array::blocking::Array;
use zarr_array::standard;
use zarr_conformance::server::Server;
use zarr_store::zip::{PackOptions, ZipStore, pack};
use zarr_store::{Access, MemoryStore};
use zarr_store_fs::FsStore;
use zarr_traits::{Bytes, Key, Prefix, Registry, Storage, block_on};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// The memory that a malformed store may take beside the chunk that it declares.
const BOUND: u64 = 16 << 20;
/// The default limit of a decoded chunk. A larger one is refused before any of it is in memory.
const LARGEST: u64 = 1 << 30;
/// No element of these stores is larger, in bytes.
const ELEMENT: u64 = 16;

/// The stores that must be refused, from the manifest of the suite, but those whose fault is one of the file system, and
/// a group that is no fault.
fn refused(suite: &Path) -> Vec<Value> {
    let manifest: Value = serde_json::from_slice(&fs::read(suite.join("manifest.json")).unwrap()).unwrap();
    let mut cases = manifest["cases"].as_array().unwrap().clone();
    cases.retain(|case| case["kind"] == "neg" && case["expect"] == "error" && case["verb"] == "cat");
    cases.retain(|case| case["category"] != "neg-fs" && case["id"] != "neg.node.cat-group-v3");
    cases
}

/// The regular files below a folder, with their keys.
fn files(folder: &Path, below: &str, found: &mut Vec<(String, Bytes)>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = format!("{below}{}", entry.file_name().to_string_lossy());
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => files(&entry.path(), &format!("{name}/"), found),
            kind if kind.is_file() => found.push((name, fs::read(entry.path()).unwrap().into())),
            _ => {}
        }
    }
}

fn registry() -> Registry {
    standard().overriding(zarr_codecs_numcodecs::CODECS)
}

/// The objects of a store in an archive, in memory.
fn zipped(objects: &[(String, Bytes)]) -> Storage {
    let memory = Storage::from(MemoryStore::new());
    for (key, value) in objects {
        block_on(memory.put(&Key::new(key.as_str()).unwrap(), value.clone())).unwrap();
    }
    let mut archive = Vec::new();
    block_on(pack(&memory, &Prefix::root(), &mut archive, &PackOptions::new(|_| false))).unwrap();
    let holder = Storage::from(MemoryStore::new());
    let key = Key::new("a.zip").unwrap();
    block_on(holder.put(&key, archive)).unwrap();
    block_on(ZipStore::open(&holder, key, Prefix::root())).unwrap()
}

/// The bytes that the first chunk of an array declares, if it is within the limit.
fn declared(array: &Array) -> u64 {
    let first = array.chunk_shape(&vec![0; array.shape().len()]).unwrap_or_default();
    let bytes = first.iter().try_fold(ELEMENT, |product, length| product.checked_mul(*length));
    bytes.filter(|bytes| *bytes <= LARGEST).unwrap_or(0)
}

/// Reads all of an array. Returns the message of the error and what the array declares.
fn read(storage: &Storage, path: &str) -> (Option<String>, u64) {
    match Array::open(storage.clone(), path, &registry()) {
        Err(e) => (Some(format!("{e:#}")), 0),
        Ok(array) => (array.read_any(..).err().map(|e| format!("{e:#}")), declared(&array)),
    }
}

/// Returns what is wrong with how a store is refused, or the memory that it took.
fn refusal(storage: &Storage, path: &str, keys: &[&str]) -> Result<u64, String> {
    let (before, begun) = (ALLOCATOR.current_usage(), Instant::now());
    ALLOCATOR.reset_peak_usage();
    let (message, declared) = read(storage, path);
    let extra = (ALLOCATOR.peak_usage() - before) as u64;
    if begun.elapsed() > Duration::from_secs(20) {
        return Err(format!("took {:?}", begun.elapsed()));
    }
    if extra > BOUND + declared {
        return Err(format!("took {extra} bytes, {declared} are declared"));
    }
    let message = message.ok_or("was read")?;
    let names_key = keys.iter().any(|key| message.contains(key));
    if names_key { Ok(extra) } else { Err(format!("names no key: {message}")) }
}

#[test]
fn malformed_stores_are_refused_alike_wherever_they_are() {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (web, bucket) = (Server::http(), Server::s3());
    let (mut faults, mut most) = (Vec::new(), 0);
    let cases = refused(&suite);
    assert!(cases.len() > 150, "{}", cases.len());
    for (number, case) in cases.iter().enumerate() {
        let folder = suite.join(case["store"].as_str().unwrap());
        let path = format!("/{}", case["array"].as_str().unwrap());
        let mut objects = Vec::new();
        files(&folder, "", &mut objects);
        for (key, value) in &objects {
            web.insert(&format!("/{number}/{key}"), value.clone());
            bucket.insert(&format!("/bucket/{number}/{key}"), value.clone());
        }
        let mut keys: Vec<&str> = objects.iter().map(|(key, _)| key.as_str()).collect();
        keys.extend(["zarr.json", ".zarray", "meta"]);
        let places = [
            ("a directory", Storage::from(FsStore::open(&folder).unwrap())),
            ("an archive", zipped(&objects)),
            ("a web server", opened(&web.url(&format!("/{number}")), &Access::new())),
            ("S3", opened(&format!("s3://bucket/{number}"), &s3(&bucket.url("")))),
        ];
        for (place, storage) in places {
            match refusal(&storage, &path, &keys) {
                Ok(extra) => most = most.max(extra),
                Err(fault) => faults.push(format!("{} in {place}: {fault}", case["id"])),
            }
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    println!("{} stores in 4 places, at most {most} bytes for one", cases.len());
}
