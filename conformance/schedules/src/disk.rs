//! A storage whose power may be cut: what was not synchronised may be lost.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use zarr_store::MemoryStore;
use zarr_traits::{
    BoxFuture, Bytes, Key, Prefix, Storage, StoreResult, block_on,
    store::{Answer, Capabilities, Op, Store},
};

use crate::explore::any;

/// A storage in memory, and the changes since it was last made durable.
#[derive(Clone, Debug)]
pub(crate) struct Disk {
    memory: Storage,
    changes: Arc<Mutex<BTreeMap<Key, Vec<Change>>>>,
    /// What was on the disk, and was replaced by something that is not.
    lost: Arc<Mutex<BTreeSet<Key>>>,
}

/// A change of an object.
#[derive(Debug)]
struct Change {
    before: Option<Bytes>,
    /// Whether a cut may also leave an empty object. A document, and a copy, is on the disk before it replaces another object.
    may_be_empty: bool,
}

/// All objects of a storage.
pub(crate) type Objects = BTreeMap<String, Bytes>;

/// Returns all objects of a storage without steps.
pub(crate) fn objects(storage: &Storage) -> Objects {
    let listed = block_on(storage.list_all(&Prefix::root())).unwrap();
    listed.into_iter().map(|object| (object.key.to_string(), get(storage, &object.key).unwrap())).collect()
}

fn get(storage: &Storage, key: &Key) -> Option<Bytes> {
    block_on(storage.get(key, 1 << 20)).unwrap()
}

/// Stores an object, or deletes it.
fn set(storage: &Storage, key: &Key, value: Option<Bytes>) {
    match value {
        Some(value) => block_on(storage.put(key, value)).unwrap(),
        None => block_on(storage.delete(key)).unwrap(),
    }
}

impl Disk {
    /// Returns a disk with durable objects.
    pub(crate) fn with(objects: &Objects) -> Self {
        let memory = Storage::from(MemoryStore::new());
        for (key, value) in objects {
            set(&memory, &Key::new(key).unwrap(), Some(value.clone()));
        }
        Self { memory, changes: Arc::default(), lost: Arc::default() }
    }

    /// Returns the storage that notes its changes.
    pub(crate) fn storage(&self) -> Storage {
        self.clone().into()
    }

    /// Returns the objects that were on the disk, and that a power cut could have left empty at some time. What only helps to copy
    /// does not count.
    pub(crate) fn lost(&self) -> BTreeSet<Key> {
        let mut lost = self.lost.lock().unwrap().clone();
        lost.retain(|key| !key.as_str().contains(".zarr-copy"));
        lost
    }

    /// Cuts the power: of each object, each change since the last sync may be the last one that is kept.
    pub(crate) fn cut(&self) {
        for (key, mut changes) in std::mem::take(&mut *self.changes.lock().unwrap()) {
            let kept = any(changes.len() as u64 + 1) as usize;
            let may_be_empty = kept > 0 && changes[kept - 1].may_be_empty && any(3) == 0;
            if may_be_empty {
                set(&self.memory, &key, Some(Bytes::new()));
            } else if kept < changes.len() {
                set(&self.memory, &key, changes.swap_remove(kept).before);
            }
        }
    }

    fn note(&self, key: &Key, may_be_empty: impl FnOnce(bool) -> bool) {
        let before = get(&self.memory, key);
        let change = Change { may_be_empty: may_be_empty(before.is_some()), before };
        let mut changes = self.changes.lock().unwrap();
        if change.may_be_empty && change.before.is_some() && !changes.contains_key(key) {
            self.lost.lock().unwrap().insert(key.clone());
        }
        changes.entry(key.clone()).or_default().push(change);
    }
}

impl Store for Disk {
    fn capabilities(&self) -> Capabilities {
        self.memory.capabilities()
    }

    fn call<'a>(&'a self, op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        match &op {
            Op::Put(put) => self.note(put.key, |replaces| !(put.keeps_old && replaces)),
            Op::PutRanges(put) => self.note(put.key, |_| true),
            Op::Copy(copy) => self.note(copy.key, |replaces| !replaces),
            Op::Delete(delete) => self.note(delete.key, |_| false),
            Op::DeletePrefix(prefix) => {
                let below = block_on(self.memory.list_all(prefix)).unwrap();
                below.iter().for_each(|object| self.note(&object.key, |_| false));
            }
            Op::Sync => self.changes.lock().unwrap().clear(),
            _ => {}
        }
        self.memory.call(op)
    }
}
