//! Storage transformers: two third-party ones that change keys, and arrays that use them.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use crate::common::{Odd, chains, keys, numbers, sharded};
use zarr_array::blocking::Array;
use zarr_array::meta::v3::Extension;
use zarr_array::node::{self, Writing};
use zarr_array::traits::extension::{Entry, TransformerEntry};
use zarr_array::traits::store::{Answer, Capabilities, Head, Op, Store};
use zarr_array::traits::{BoxFuture, Key, Prefix, StorageTransformer, StoreResult};
use zarr_array::{
    ArrayErrorKind, ArrayMeta, DataType, NdVec, PartialWrites, Registry, Storage, block_on, standard,
};
use zarr_store::MemoryStore;

/// Puts chunks into eight folders by the last character of their keys, for example to use eight disks.
#[derive(Debug)]
struct Folders;

/// Appends this text to every key.
#[derive(Debug)]
struct Suffix(String);

/// A rule for the keys of one array, relative to its node.
trait Rename: Debug + Send + Sync + 'static {
    fn below(&self, key: &str) -> String;
    /// Returns the key that became `below`, or `None` if it is not a key of the array.
    fn above(&self, below: &str) -> Option<String>;
}

impl Rename for Folders {
    fn below(&self, key: &str) -> String {
        format!("f{}/{key}", key.bytes().last().unwrap_or_default() % 8)
    }
    fn above(&self, below: &str) -> Option<String> {
        let key = below.split_once('/')?.1;
        (self.below(key) == below).then(|| key.to_owned())
    }
}

impl Rename for Suffix {
    fn below(&self, key: &str) -> String {
        format!("{key}{}", self.0)
    }
    fn above(&self, below: &str) -> Option<String> {
        below.strip_suffix(&self.0).map(str::to_owned)
    }
}

/// The transformer of a rule.
#[derive(Debug)]
struct Renaming(Arc<dyn Rename>);

impl StorageTransformer for Renaming {
    fn wrap(&self, storage: &Storage, node: &Prefix) -> Storage {
        Storage::from(Renamed { rule: self.0.clone(), storage: storage.clone(), node: node.clone() })
    }
}

/// A store that passes every operation on with another key, and sorts listings.
#[derive(Debug, Clone)]
struct Renamed {
    rule: Arc<dyn Rename>,
    storage: Storage,
    node: Prefix,
}

impl Renamed {
    fn below(&self, key: &Key) -> StoreResult<Key> {
        self.node.key(&self.rule.below(self.node.strip(key).unwrap_or(key.as_str())))
    }

    /// Returns all keys of the array below a prefix, in order.
    async fn keys(&self, prefix: &Prefix) -> StoreResult<Vec<Key>> {
        let mut keys = Vec::new();
        for below in self.storage.list_all(&self.node).await? {
            if let Some(name) = self.node.strip(&below.key).and_then(|name| self.rule.above(name)) {
                keys.push(self.node.key(&name)?);
            }
        }
        keys.retain(|key| prefix.strip(key).is_some());
        keys.sort();
        Ok(keys)
    }
}

impl Store for Renamed {
    fn capabilities(&self) -> Capabilities {
        let mut capabilities = self.storage.capabilities();
        (capabilities.copy, capabilities.put_ranges) = (false, false);
        capabilities
    }

    fn call<'a>(&'a self, op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        Box::pin(async move {
            match op {
                Op::Read(read) => {
                    let key = self.below(read.key)?;
                    self.storage.call(Op::Read(read.at(&key))).await
                }
                Op::Head(head) => self.storage.call(Op::Head(Head::new(&self.below(head.key)?))).await,
                Op::Put(put) => self.storage.call(Op::Put(put.at(&self.below(put.key)?))).await,
                Op::Delete(delete) => {
                    self.storage.call(Op::Delete(delete.at(&self.below(delete.key)?))).await
                }
                Op::List(list) => Ok(list.answer(&self.keys(list.prefix).await?)),
                Op::ListDir(list) => list.answer(&self.keys(list.prefix).await?),
                Op::DeletePrefix(prefix) => {
                    for key in self.keys(prefix).await? {
                        self.storage.delete(&self.below(&key)?).await?;
                    }
                    Ok(Answer::Done)
                }
                Op::Sync => self.storage.call(Op::Sync).await,
                op => op.unsupported(),
            }
        })
    }
}

const TRANSFORMERS: &[Entry] = &[
    Entry::Transformer(TransformerEntry::new("test.folders", |_, _| {
        Ok(Arc::new(Renaming(Arc::new(Folders))))
    })),
    Entry::Transformer(TransformerEntry::new("test.suffix", |configuration, _| {
        let suffix = configuration.optional_string("suffix")?.unwrap_or_else(|| ".chunk".to_owned());
        Ok(Arc::new(Renaming(Arc::new(Suffix(suffix)))))
    })),
];

fn registry() -> Registry {
    standard().with(TRANSFORMERS).unwrap()
}

fn suffix(suffix: &str) -> Extension {
    Extension::new("test.suffix").with("suffix", suffix)
}

fn folders() -> Extension {
    Extension::new("test.folders")
}

fn meta(shape: &[u64], chunks: &[u64], codecs: &[Extension], transformers: &[Extension]) -> ArrayMeta {
    ArrayMeta::builder(shape, DataType::UInt16)
        .chunks(chunks)
        .codecs(codecs.to_vec())
        .storage_transformers(transformers.to_vec())
        .fill(7)
        .build()
        .unwrap()
}

#[test]
fn k7_a_request_passes_transformers_in_the_order_of_the_document() {
    let storage = Storage::from(MemoryStore::new());
    for (transformers, key) in [
        (vec![suffix(".a"), suffix(".b")], "x/c/0.a.b"),
        (vec![suffix(".b"), suffix(".a")], "x/c/0.b.a"),
        (vec![suffix(".7"), folders()], "x/f7/c/0.7"),
        (vec![folders(), suffix(".7")], "x/f0/c/0.7"),
    ] {
        let meta = meta(&[2], &[2], &chains()[0], &transformers);
        let array = Array::replace(storage.clone(), "/x", meta, &registry()).unwrap();
        array.write(.., &[1_u16, 2]).unwrap();
        assert_eq!(keys(&storage), [key, "x/zarr.json", "zarr.json"]);
        let array = Array::open(storage.clone(), "/x", &registry()).unwrap();
        assert_eq!(array.read::<u16>(..).unwrap().as_slice(), [1, 2]);
        assert_eq!(array.chunk_key(&[0]).unwrap().as_str(), "x/c/0", "the array does not see the new keys");
        // replacing and erasing delete the objects below the node, whatever their keys
        let x = Prefix::of_node("/x").unwrap();
        assert!(block_on(node::erase(&storage, &x, &Writing::default())).unwrap());
        assert_eq!(keys(&storage), ["zarr.json"]);
    }
}

#[test]
fn a_transformed_storage_is_a_conforming_store() {
    let folders = Renaming(Arc::new(Folders));
    zarr_conformance::store::check(|| folders.wrap(&Storage::from(MemoryStore::new()), &Prefix::root()))
        .unwrap();
}

/// Uses all operations on chunks. Returns the elements that were read on the way, and the keys of the chunks at the
/// end.
fn life(storage: &Storage, codecs: &[Extension], transformers: &[Extension]) -> (Vec<Vec<u16>>, Vec<String>) {
    let meta = meta(&[9, 8], &[4, 4], codecs, transformers);
    let mut array = Array::create(storage.clone(), "/x", meta, &registry()).unwrap();
    let mut seen = Vec::new();
    let see = |array: &Array, seen: &mut Vec<Vec<u16>>| seen.push(array.read::<u16>(..).unwrap().into_vec());
    array.write([0..9, 0..8], &numbers(&[9, 8])).unwrap();
    array.write([3..6, 2..5], &[500_u16; 9]).unwrap();
    see(&array, &mut seen);
    let cost = array.explain([0..5, 0..4]).unwrap();
    seen.push(vec![u16::try_from(cost.chunks_stored).unwrap(), u16::try_from(cost.bytes).unwrap()]);
    array.write([4..8, 4..8], &[7_u16; 16]).unwrap();
    array.resize([6, 5]).unwrap();
    array.resize([9, 8]).unwrap();
    see(&array, &mut seen);
    array.append(0, NdVec::new([2, 8], vec![9_u16; 16]).unwrap()).unwrap();
    let again = Array::open(storage.clone(), "/x", &registry()).unwrap();
    see(&again, &mut seen);
    let prefix = Prefix::of_node("/x").unwrap();
    let listed = block_on(again.storage().list_all(&prefix)).unwrap();
    let keys = listed.iter().map(|object| object.key.as_str());
    let chunks = keys.filter(|key| again.key_encoding().decode(&key[2..], 2).is_some());
    (seen, chunks.map(str::to_owned).collect())
}

#[test]
fn every_access_to_a_chunk_goes_through_the_transformers() {
    for codecs in [chains().swap_remove(0), chains().swap_remove(4), sharded(&[2, 2], "end")] {
        let wanted = life(&Storage::from(MemoryStore::new()), &codecs, &[]);
        assert_eq!(wanted.1.len(), 5, "{:?}", wanted.1);
        for slow in [false, true] {
            let memory = Storage::from(MemoryStore::new());
            let storage = if slow { Odd::slow(&memory, Duration::ZERO, 4) } else { memory.clone() };
            assert_eq!(life(&storage, &codecs, &[suffix(".a"), folders()]), wanted);
            let (chunks, documents): (Vec<_>, Vec<_>) =
                keys(&memory).into_iter().partition(|key| key.ends_with(".a"));
            assert_eq!((chunks.len(), documents.len()), (5, 2), "no object has the key of the array");
            assert!(chunks.iter().all(|key| key.starts_with("x/f")));
        }
    }
}

#[test]
fn handles_on_one_array_share_locks_behind_transformers() {
    let storage = Storage::from(MemoryStore::new());
    let mut odd = Odd::new(&storage);
    (odd.capabilities.put_if, odd.in_flight, odd.delay) = (false, Some(4), Duration::from_micros(200));
    let slow = odd.storage();
    let made = meta(&[64], &[64], &chains()[0], &[folders()]);
    Array::create(storage.clone(), "/", made, &registry()).unwrap();
    std::thread::scope(|threads| {
        for start in [0, 1] {
            let handle = Array::open(slow.clone(), "/", &registry()).unwrap();
            let handle = handle.with_partial_writes(PartialWrites::Unchecked);
            threads.spawn(move || (0..32).for_each(|i| handle.write(start + 2 * i, &[5_u16]).unwrap()));
        }
    });
    let array = Array::open(storage, "/", &registry()).unwrap();
    assert_eq!(array.read::<u16>(..).unwrap().into_vec(), [5; 64]);
}

#[test]
fn k3_an_unknown_transformer_prevents_reads_unless_it_may_be_ignored() {
    let storage = Storage::from(MemoryStore::new());
    let array =
        Array::create(storage.clone(), "/", meta(&[2], &[2], &chains()[0], &[folders()]), &registry())
            .unwrap();
    array.write(.., &[1_u16, 2]).unwrap();
    let e = Array::open(storage.clone(), "/", &standard()).unwrap_err();
    assert_eq!(e.kind(), ArrayErrorKind::UnknownExtension);
    assert!(format!("{e:#}").contains("unknown storage transformer \"test.folders\""), "{e:#}");
    let text = array.metadata().to_text();
    let waived =
        text.replace("\"name\": \"test.folders\"", "\"name\": \"test.folders\", \"must_understand\": false");
    assert_ne!(text, waived);
    block_on(storage.put(&Key::new("zarr.json").unwrap(), waived)).unwrap();
    let without = Array::open(storage.clone(), "/", &standard()).unwrap();
    assert_eq!(without.read::<u16>(..).unwrap().as_slice(), [7, 7]);
    let with = Array::open(storage, "/", &registry()).unwrap();
    assert_eq!(with.read::<u16>(..).unwrap().as_slice(), [1, 2]);
}
