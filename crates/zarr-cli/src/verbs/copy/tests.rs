//! Copies between stores in memory with injected faults.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use clap::Parser;
use zarr_array::blocking::Array;
use zarr_array::meta::ArrayMeta;
use zarr_array::traits::{
    BoxFuture, Bytes, Key, Prefix, StoreError, StoreErrorKind, StoreResult,
    store::{Answer, Capabilities, Op, Store as StoreTrait},
};
use zarr_array::{DataType, Storage, block_on};
use zarr_conformance::instruments::{Fault, Faulty};
use zarr_copy::marker;
use zarr_hierarchy::GroupOptions;
use zarr_hierarchy::blocking::Group;
use zarr_store::MemoryStore;
use zarr_store::zip::{PackOptions, pack};
use zarr_store::{Access, PathEncoding, Scheme, Schemes};

use super::*;
use crate::args::target::registry;

/// The storages by URL.
static STORAGES: Mutex<BTreeMap<String, Storage>> = Mutex::new(BTreeMap::new());

/// The URLs that were opened.
static OPENED: Mutex<Vec<String>> = Mutex::new(Vec::new());

const SCHEMES: &[Scheme] = &[Scheme::root("test", PathEncoding::Percent, open), zarr_store::zip::SCHEME];

fn open(url: &str, _: &Access) -> StoreResult<Storage> {
    OPENED.lock().unwrap().push(url.to_owned());
    let (name, _signature) = url.split_once('?').unwrap_or((url, ""));
    let found = STORAGES.lock().unwrap().get(name).cloned();
    found.ok_or_else(|| StoreError::new(StoreErrorKind::Unavailable, "there is no such store"))
}

fn register(url: &str, storage: Storage) {
    STORAGES.lock().unwrap().insert(url.to_owned(), storage);
}

/// A store in memory with a URL, which records writes.
struct Store {
    memory: Storage,
    script: Arc<Mutex<Script>>,
}

#[derive(Default)]
struct Script {
    /// Every n-th put has this fault.
    faults: Option<(usize, Fault)>,
    /// The number of puts since the faults were set.
    puts: usize,
    /// The number of puts of each key.
    done: BTreeMap<String, usize>,
    /// Puts, deletes and syncs, in their order.
    written: Vec<String>,
}

impl Store {
    fn at(url: &str) -> Self {
        let memory = Storage::from(MemoryStore::new());
        let script = Arc::new(Mutex::new(Script::default()));
        let shared = script.clone();
        let (storage, _) = Faulty::over(&memory, move |_, call| {
            let mut script = shared.lock().unwrap();
            if call.writes() {
                script.written.push(format!("{} {}", name(call), call.target()));
            }
            if !matches!(call, Op::Put(_) | Op::Copy(_)) {
                return None;
            }
            script.puts += 1;
            let fault = script.faults.filter(|(every, _)| script.puts % every == 0).map(|(_, fault)| fault);
            if !matches!(fault, Some(Fault::ErrorBefore(_))) {
                *script.done.entry(call.target().to_owned()).or_default() += 1;
            }
            fault
        });
        register(url, storage);
        Self { memory, script }
    }

    /// Sets which puts fail from now on: every n-th one.
    fn fail(&self, faults: Option<(usize, Fault)>) {
        let mut script = self.script.lock().unwrap();
        (script.faults, script.puts) = (faults, 0);
    }

    /// Returns the keys, except the marker, that were put more than once.
    fn repeated(&self) -> Vec<String> {
        let script = self.script.lock().unwrap();
        let again = script.done.iter().filter(|(key, times)| **times > 1 && *key != marker::NAME);
        again.map(|(key, _)| key.clone()).collect()
    }

    /// Returns all keys with their values.
    fn contents(&self) -> Vec<(String, Bytes)> {
        let keys = block_on(self.memory.list_all(&Prefix::root())).unwrap();
        let value = |key: &Key| block_on(self.memory.get(key, 1 << 20)).unwrap().unwrap();
        keys.iter().map(|listed| (listed.key.to_string(), value(&listed.key))).collect()
    }
}

#[derive(Debug, Parser)]
struct Line {
    #[command(flatten)]
    args: Args,
}

fn copy(arguments: &[&str]) -> Outcome {
    run(&Line::parse_from([&["copy", "-q"], arguments].concat()).args, &stores())
}

fn stores() -> Stores {
    Stores::of(Schemes::new(&[SCHEMES]), Access::new())
}

/// Makes a group with two arrays, one with shards. Some chunks are not stored.
fn hierarchy(storage: &Storage) {
    Group::create(storage.clone(), "/", &registry()).unwrap();
    for (path, shards) in [("/g/a", None), ("/g/b", Some([4, 4]))] {
        let mut meta = ArrayMeta::builder([12, 6], DataType::UInt16).chunks([2, 2]);
        if let Some(shards) = shards {
            meta = meta.shards(shards);
        }
        let array = Array::create(storage.clone(), path, meta.build().unwrap(), &registry()).unwrap();
        array.write([0..9, 1..6], &(0..45).collect::<Vec<u16>>()[..]).unwrap();
    }
}

#[test]
fn a_resumed_copy_completes_despite_faults_and_puts_nothing_twice() {
    let source = Store::at("test://source");
    hierarchy(&source.memory);
    let before = Fault::ErrorBefore(StoreErrorKind::Unavailable);
    // The object was put, but the answer was lost.
    let after = Fault::ErrorAfter(StoreErrorKind::Uncertain);
    for (at, options) in
        [&[][..], &["--chunks", "3,1", "--codecs", "gzip"], &["--shards", "none", "--zarr-format", "2"]]
            .into_iter()
            .enumerate()
    {
        let whole = Store::at("test://whole");
        copy(&[&["test://source", "test://whole", "--verify"], options].concat()).unwrap();
        for (every, fault, failed) in [
            (2, before, Exit::Unavailable),
            (3, before, Exit::Unavailable),
            (11, before, Exit::Unavailable),
            (1, after, Exit::Uncertain),
            (4, after, Exit::Uncertain),
        ] {
            let case = format!("test://copy/{at}/{every}/{fault:?}");
            let store = Store::at(&case);
            let mut runs = 0;
            let done = loop {
                store.fail(Some((every, fault)));
                runs += 1;
                assert!(runs < 200, "{case}");
                match copy(&[&["test://source", case.as_str(), "--resume"], options].concat()) {
                    Ok(exit) => break exit,
                    Err(e) => assert_eq!(e.exit(), failed, "{case}: {}", e.message()),
                }
            };
            assert!(done == Exit::Ok && runs > 1, "{case}");
            assert!(store.contents() == whole.contents(), "{case}");
            assert_eq!(store.repeated(), [""; 0], "{case}");
        }
    }
}

/// A power cut may leave chunks without documents, but never documents without chunks.
#[test]
fn chunks_are_durable_before_documents() {
    let source = Store::at("test://durable/source");
    hierarchy(&source.memory);
    let store = Store::at("test://durable/copy");
    copy(&["test://durable/source", "test://durable/copy"]).unwrap();
    let written = store.script.lock().unwrap().written.clone();
    let kind = |line: &String| match line.split_once(' ').unwrap() {
        ("Copy", key) if key.contains("/c/") => "chunk",
        ("Put", key) if key.ends_with(marker::NAME) => "marker",
        ("Put", _) => "document",
        ("Sync", _) => "sync",
        _ => "delete",
    };
    let mut kinds: Vec<&str> = written.iter().map(kind).collect();
    kinds.dedup();
    assert_eq!(kinds, ["marker", "chunk", "sync", "document", "sync", "delete"], "{written:?}");
}

#[test]
fn a_resumed_copy_repairs_a_broken_chunk() {
    let source = Store::at("test://mended/source");
    hierarchy(&source.memory);
    let to = "test://mended/copy";
    let store = Store::at(to);
    store.fail(Some((20, Fault::ErrorBefore(StoreErrorKind::Unavailable))));
    copy(&["test://mended/source", to]).unwrap_err();
    let (broken, _) = store.contents().into_iter().find(|(key, _)| key.contains("/c/")).unwrap();
    block_on(store.memory.put(&Key::new(broken.as_str()).unwrap(), "broken")).unwrap();
    store.fail(None);
    copy(&["test://mended/source", to, "--resume", "--verify"]).unwrap();
    assert_eq!(store.repeated(), [broken]);
}

#[test]
fn a_resumed_copy_deletes_chunks_that_the_source_has_lost() {
    let source = Store::at("test://lost/source");
    hierarchy(&source.memory);
    let to = "test://lost/copy";
    let store = Store::at(to);
    store.fail(Some((20, Fault::ErrorBefore(StoreErrorKind::Unavailable))));
    copy(&["test://lost/source", to]).unwrap_err();
    store.fail(None);
    let (gone, _) = store.contents().into_iter().find(|(key, _)| key.contains("/c/")).unwrap();
    let _ = block_on(source.memory.delete_if(&Key::new(gone.as_str()).unwrap(), None)).unwrap();
    copy(&["test://lost/source", to, "--resume", "--verify"]).unwrap();
    assert!(store.contents() == source.contents());
}

#[test]
fn a_copy_of_another_node_in_an_archive_is_not_resumed() {
    let content = Storage::from(MemoryStore::new());
    for path in ["/a", "/b"] {
        let meta = ArrayMeta::builder([4], DataType::UInt8).chunks([1]).build().unwrap();
        let array = Array::create(content.clone(), path, meta, &registry()).unwrap();
        array.write(.., &[1_u8, 2, 3, 4]).unwrap();
    }
    let mut archive = Vec::new();
    let options = PackOptions::new(|key| key.name() == "zarr.json");
    block_on(pack(&content, &Prefix::root(), &mut archive, &options)).unwrap();
    let folder = Storage::from(MemoryStore::new());
    block_on(folder.put(&Key::new("x.zip").unwrap(), archive)).unwrap();
    register("test://archive/", folder);

    let store = Store::at("test://archive/copy");
    let resume = |node: &str| {
        copy(&[&format!("test://archive/x.zip?{node}"), "test://archive/copy", "--resume"]).map(drop)
    };
    store.fail(Some((4, Fault::ErrorBefore(StoreErrorKind::Unavailable))));
    resume("signature=1|zip:a").unwrap_err();
    store.fail(None);
    let e = resume("signature=2|zip:b").unwrap_err();
    assert!(e.message().contains("x.zip?…|zip:a|zarr:/") && e.message().contains("another source"));
    // The signature is not part of the identity.
    resume("signature=2|zip:a").unwrap();
}

#[test]
fn a_store_to_write_to_is_opened_once() {
    #[derive(Parser)]
    struct Create {
        #[command(flatten)]
        args: crate::verbs::create::Args,
    }
    let opened = |url: &str| OPENED.lock().unwrap().iter().filter(|opened| *opened == url).count();
    register("test://once/a", MemoryStore::new().into());
    let create = Create::parse_from(["create", "--group", "test://once/a"]);
    crate::verbs::create::run(&create.args, &stores()).unwrap();
    assert_eq!(opened("test://once/a"), 1);
    register("test://once/b", MemoryStore::new().into());
    copy(&["test://once/a", "test://once/b"]).unwrap();
    assert_eq!(opened("test://once/b"), 1);
}

fn name(op: &Op<'_>) -> &'static str {
    match op {
        Op::Put(_) => "Put",
        Op::Copy(_) => "Copy",
        Op::Sync => "Sync",
        _ => "Delete",
    }
}

/// A store like a web server: read-only and without listing.
#[derive(Debug)]
struct Unlisted(Storage);

impl StoreTrait for Unlisted {
    fn capabilities(&self) -> Capabilities {
        self.0.capabilities().read_only().without_list()
    }

    fn call<'a>(&'a self, op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        self.0.call(op)
    }
}

#[test]
fn a_store_that_cannot_list_is_copied_by_its_consolidated_metadata() {
    let memory = MemoryStore::new();
    let source = Storage::from(memory.clone());
    hierarchy(&source);
    register("test://web/full", source.clone());
    register("test://web", Unlisted(source.clone()).into());
    let made = Store::at("test://from-web");
    let e = copy(&["test://web", "test://from-web"]).unwrap_err();
    assert_eq!(e.exit(), Exit::Unsupported);
    for part in
        ["test://web", "cannot list", "it has no consolidated metadata", "`zarr consolidate`", "|zarr:path"]
    {
        assert!(e.message().contains(part), "{}", e.message());
    }
    Group::open_with(source, "/", &registry(), &GroupOptions::new()).unwrap().consolidate().unwrap();
    copy(&["test://web", "test://from-web", "--verify"]).unwrap();
    let keys: Vec<String> = made.contents().into_iter().map(|(key, _)| key).collect();
    assert!(keys.contains(&"g/a/c/0/0".to_owned()) && keys.contains(&"zarr.json".to_owned()), "{keys:?}");
    // A read-only store cannot be the destination.
    let e = copy(&["test://web/full", "test://web"]).unwrap_err();
    assert!(e.exit() == Exit::Unsupported && e.message().contains("read-only"), "{}", e.message());
}
