//! The read layer of consolidated metadata: known documents are answered from memory.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;
use std::sync::{Arc, RwLock};

use zarr_traits::lock::unpoisoned;
use zarr_traits::{
    BoxFuture, Bytes, Key, Prefix, Storage, StoreResult,
    store::{Answer, Capabilities, ObjectMeta, Op, ReadVersion, Store, ready},
};

/// The layer that holds the documents of a part of a store. Its clones share them.
///
/// The documents are trusted: a covered key without a document is missing, and the store is not asked. There are two
/// exceptions. A read that asks for a version gets the stored document, because its caller wants to change it. And a
/// document that was written or deleted through the layer is read from the store from then on, so that writers see
/// their own writes. Chunks and listings pass through.
///
/// Rules: [consolidated metadata](https://github.com/zarr-rs/zarr/blob/v0.1.0/docs/specification/consolidated.md).
///
/// ```
/// # use zarr_store::{Consolidated, KnownDocuments, MemoryStore};
/// # use zarr_traits::{Key, Prefix, Storage, block_on};
/// let store = Storage::from(MemoryStore::new());
/// let known = [(Key::new("a/zarr.json")?, "{}".into())];
/// let known = KnownDocuments::new(Prefix::root(), known, |key| key.name() == "zarr.json");
/// let (storage, layer) = Consolidated::over(&store, known);
/// assert!(block_on(storage.get(&Key::new("a/zarr.json")?, 100))?.is_some());
/// assert_eq!(layer.children(&Prefix::root())?, [Prefix::new("a/")?]);
/// # Ok::<(), zarr_traits::StoreError>(())
/// ```
#[derive(Clone)]
pub struct Consolidated {
    storage: Storage,
    prefix: Prefix,
    /// Whether a key below the prefix is a document.
    covers: fn(&Key) -> bool,
    documents: Arc<RwLock<Documents>>,
}

type Documents = BTreeMap<String, Known>;

/// The state of a covered document.
#[derive(Clone)]
enum Known {
    /// The document has these bytes.
    Is(Bytes),
    /// The document was put through the layer. Reads go to the store.
    Written,
    /// The document was deleted through the layer. Reads go to the store.
    Deleted,
}

/// All documents of a part of a store, for [`Consolidated::over`].
#[derive(Clone)]
pub struct KnownDocuments {
    prefix: Prefix,
    covers: fn(&Key) -> bool,
    documents: Documents,
}

impl KnownDocuments {
    /// Returns the documents that answer all keys below `prefix` that `covers` accepts.
    pub fn new(
        prefix: Prefix,
        documents: impl IntoIterator<Item = (Key, Bytes)>,
        covers: fn(&Key) -> bool,
    ) -> Self {
        let known = documents.into_iter().map(|(key, bytes)| (key.into(), Known::Is(bytes)));
        Self { prefix, covers, documents: known.collect() }
    }
}

impl fmt::Debug for KnownDocuments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KnownDocuments")
            .field("prefix", &self.prefix)
            .field("documents", &self.documents.len())
            .finish_non_exhaustive()
    }
}

impl Consolidated {
    /// Returns `storage` with the covered keys answered from `known`, and the layer itself. Locks, thread pool and limits
    /// in flight are those of `storage`.
    pub fn over(storage: &Storage, known: KnownDocuments) -> (Storage, Self) {
        let KnownDocuments { prefix, covers, documents } = known;
        let layer = Self { storage: storage.clone(), prefix, covers, documents: Arc::new(documents.into()) };
        (storage.overlay(layer.clone()), layer)
    }

    /// The storage below the layer.
    pub fn inner(&self) -> &Storage {
        &self.storage
    }

    /// Returns the prefixes directly below `prefix` that have documents below them, in ascending order.
    ///
    /// # Errors
    /// When a prefix is invalid. The store cannot cause this.
    pub fn children(&self, prefix: &Prefix) -> StoreResult<Vec<Prefix>> {
        let documents = unpoisoned(self.documents.read());
        let mut children: Vec<Prefix> = Vec::new();
        let mut start = Bound::Included(prefix.as_str().to_owned());
        let known = |from| {
            let mut range = documents.range::<String, _>((from, Bound::Unbounded));
            range.find(|(_, known)| !matches!(known, Known::Deleted))
        };
        while let Some((key, _)) = known(start.clone()) {
            let Some(below) = key.strip_prefix(prefix.as_str()) else { break };
            start = match below.split_once('/') {
                Some((name, _)) => {
                    children.push(prefix.child(name)?);
                    // '0' comes right after '/', so this is after all keys below the child.
                    Bound::Included(format!("{prefix}{name}0"))
                }
                None => Bound::Excluded(key.clone()),
            };
        }
        Ok(children)
    }

    /// Returns the known content of a key, or `None` if the store must be asked.
    fn known(&self, key: &Key) -> Option<Option<Bytes>> {
        if self.prefix.strip(key).is_none() || !(self.covers)(key) {
            return None;
        }
        let documents = unpoisoned(self.documents.read());
        match documents.get(key.as_str()) {
            Some(Known::Is(bytes)) => Some(Some(bytes.clone())),
            Some(Known::Written | Known::Deleted) => None,
            None => Some(None),
        }
    }

    /// Makes later reads of this key go to the store.
    fn ask(&self, key: &Key, known: Known) {
        if self.prefix.strip(key).is_some() && (self.covers)(key) {
            unpoisoned(self.documents.write()).insert(key.to_string(), known);
        }
    }

    /// Makes later reads of all keys below `prefix` go to the store.
    fn ask_below(&self, prefix: &Prefix) {
        let from = (Bound::Included(prefix.as_str()), Bound::Unbounded);
        for (key, document) in unpoisoned(self.documents.write()).range_mut::<str, _>(from) {
            if !key.starts_with(prefix.as_str()) {
                break;
            }
            *document = Known::Deleted;
        }
    }
}

impl fmt::Debug for Consolidated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let documents = unpoisoned(self.documents.read()).len();
        f.debug_struct("Consolidated")
            .field("storage", &self.storage)
            .field("prefix", &self.prefix)
            .field("documents", &documents)
            .finish_non_exhaustive()
    }
}

impl Store for Consolidated {
    fn capabilities(&self) -> Capabilities {
        self.storage.capabilities()
    }

    fn call<'a>(&'a self, op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        match op {
            Op::Read(read) => match self.known(read.key).filter(|_| matches!(read.version, ReadVersion::Any))
            {
                Some(Some(bytes)) => return ready(read.answer(&bytes, None)),
                Some(None) => return ready(Ok(Answer::Read(None))),
                None => return self.storage.call(Op::Read(read)),
            },
            Op::Head(head) => {
                if let Some(document) = self.known(head.key) {
                    let meta = document.map(|bytes| ObjectMeta::new(bytes.len() as u64, None));
                    return ready(Ok(Answer::Head(meta)));
                }
            }
            Op::Put(put) => self.ask(put.key, Known::Written),
            Op::PutRanges(put) => self.ask(put.key, Known::Written),
            Op::Copy(copy) => self.ask(copy.key, Known::Written),
            Op::Delete(delete) => self.ask(delete.key, Known::Deleted),
            Op::DeletePrefix(prefix) => self.ask_below(prefix),
            _ => {}
        }
        self.storage.call(op)
    }
}

#[cfg(test)]
mod tests {
    use zarr_traits::{ByteRange, StoreError, StoreErrorKind, block_on};

    use super::*;
    use crate::MemoryStore;
    use zarr_conformance::instruments::Counting;

    fn key(key: &str) -> Key {
        Key::new(key).unwrap()
    }

    /// Creates a layer that knows some documents. All other nodes below the root count as missing.
    fn subject() -> (Storage, Consolidated, Counting) {
        let (store, counting) = Counting::over(&Storage::from(MemoryStore::new()));
        block_on(store.put(&key("b/zarr.json"), "real")).unwrap();
        block_on(store.put(&key("a/c/0"), "chunk")).unwrap();
        let known =
            ["a", "a/x", "a-b", "i/j"].map(|n| (key(&format!("{n}/zarr.json")), Bytes::from("known")));
        let known = KnownDocuments::new(Prefix::root(), known, |key| key.name() == "zarr.json");
        let (storage, layer) = Consolidated::over(&store, known);
        (storage, layer, counting)
    }

    #[test]
    fn known_documents_cost_no_request_and_are_trusted() {
        let (storage, _, counting) = subject();
        let before = counting.counts();
        block_on(async {
            assert_eq!(storage.get(&key("a/zarr.json"), u64::MAX).await?.unwrap(), "known");
            assert!(storage.get(&key("b/zarr.json"), u64::MAX).await?.is_none(), "rule F43");
            assert_eq!(storage.size(&key("a/zarr.json")).await?, Some(5));
            let suffix = [ByteRange::Suffix(3)];
            let reply = storage.get_ranges(&key("a/zarr.json"), &suffix, ReadVersion::Any, 3).await?;
            assert_eq!(reply.unwrap().bytes, ["own"]);
            let refused = storage.get(&key("a/zarr.json"), 4).await.unwrap_err();
            assert!(matches!(refused.kind(), StoreErrorKind::TooLarge { .. }));
            assert_eq!((counting.counts() - before).requests(), 0);
            assert_eq!(storage.get(&key("a/c/0"), u64::MAX).await?.unwrap(), "chunk");
            Ok::<_, StoreError>(())
        })
        .unwrap();
    }

    #[test]
    fn a_read_with_a_version_gets_the_stored_document() {
        let (storage, _, _) = subject();
        let get = |name: &str| {
            block_on(storage.get_ranges(&key(name), &[ByteRange::All], ReadVersion::Report, u64::MAX))
                .unwrap()
        };
        assert!(get("a/zarr.json").is_none());
        let real = get("b/zarr.json").unwrap();
        assert!(real.version.is_some() && real.bytes == ["real"]);
    }

    #[test]
    fn writes_through_the_layer_are_seen() {
        let (storage, layer, _) = subject();
        let get = |name: &str| block_on(storage.get(&key(name), u64::MAX)).unwrap();
        block_on(storage.put(&key("n/zarr.json"), "new")).unwrap();
        assert_eq!(get("n/zarr.json").unwrap(), "new");
        block_on(storage.put(&key("a/zarr.json"), "newer")).unwrap();
        assert_eq!(get("a/zarr.json").unwrap(), "newer");
        block_on(storage.delete_prefix(&Prefix::new("a/").unwrap())).unwrap();
        assert!(get("a/zarr.json").is_none() && get("a/x/zarr.json").is_none());
        assert!(get("a-b/zarr.json").is_some());
        let names: Vec<_> =
            layer.children(&Prefix::root()).unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(names, ["a-b/", "i/", "n/"]);
        assert_eq!(layer.children(&Prefix::new("i/").unwrap()).unwrap().len(), 1);
        assert_eq!(layer.children(&Prefix::new("none/").unwrap()).unwrap(), []);
    }

    #[test]
    fn documents_outside_the_prefix_are_read_from_the_store() {
        let store = Storage::from(MemoryStore::new());
        block_on(store.put(&key("b/zarr.json"), "real")).unwrap();
        let known = KnownDocuments::new(Prefix::new("a/").unwrap(), [], |_| true);
        let (storage, _) = Consolidated::over(&store, known);
        assert!(block_on(storage.get(&key("b/zarr.json"), u64::MAX)).unwrap().is_some());
    }
}
