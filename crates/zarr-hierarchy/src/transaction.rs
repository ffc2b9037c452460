//! Changes of many objects that are kept in memory and written together.

mod commit;
mod staged;

use std::sync::{Arc, Mutex};

use zarr_array::Storage;
use zarr_array::traits::lock::unpoisoned;

pub use commit::CommitError;
use staged::{Change, Staged};

/// Changes of arrays, groups and attributes that other readers see only after [`commit`](Self::commit).
///
/// [`storage`](Self::storage) is a storage like any other: create, write, resize and erase nodes in it. Its reads see
/// its own changes. The changes are kept in memory until the commit; without one, nothing is ever written.
///
/// **What a commit promises.** A change that depends on what it read (part of a chunk, attributes, a new node) is
/// written only if the object below is still the same. All of these conditions are checked first: if another writer
/// changed one of the objects, nothing is written. Then chunks are written, then documents, from the deepest up,
/// consolidated metadata last. New nodes can thus be seen when they are complete, and readers of consolidated metadata
/// see all of them at once. Objects are deleted after everything else is durable.
///
/// **What no store can promise.** There is no write of several objects at once, neither in a directory nor in a bucket. While
/// a commit runs, a reader can see new chunks of an array that existed before beside old ones. If the process dies, or
/// a condition fails after the check, the first part of the changes is written and the rest is not. Then
/// [`CommitError`] says how many. Call `commit` again to go on after an error that passes.
///
/// ```
/// use zarr_hierarchy::zarr_array::{DataType, Storage, block_on, standard};
/// use zarr_hierarchy::{ArrayMeta, Transaction, blocking::Group};
///
/// # fn example(storage: Storage) -> Result<(), Box<dyn std::error::Error>> {
/// # Group::create(storage.clone(), "/", &standard())?;
/// let transaction = Transaction::over(&storage);
/// let run = Group::create(transaction.storage(), "/run7", &standard())?;
/// for name in ["t2m", "wind"] {
///     let meta = ArrayMeta::builder([10, 20], DataType::Float32).build()?;
///     run.create_array(name, meta)?.write(.., &[1.0_f32; 200])?;
/// }
/// assert!(Group::open(storage.clone(), "/run7", &standard()).is_err());
/// block_on(transaction.commit())?;
/// assert_eq!(Group::open(storage, "/run7", &standard())?.children()?.len(), 2);
/// # Ok(())
/// # }
/// # example(zarr_store::MemoryStore::new().into()).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct Transaction {
    below: Storage,
    changes: Arc<Mutex<Staged>>,
}

impl Transaction {
    /// Begins a transaction on `storage`. Clones are the same transaction.
    pub fn over(storage: &Storage) -> Self {
        Self { below: storage.clone(), changes: Arc::default() }
    }

    /// Returns the storage of the transaction. Its changes are kept in memory; a sync does nothing.
    pub fn storage(&self) -> Storage {
        Storage::from(self.clone())
    }

    /// The number of changed and deleted objects.
    pub fn len(&self) -> usize {
        unpoisoned(self.changes.lock()).changes.len()
    }

    /// Whether there are no changes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The sum of the sizes of the changed objects, in bytes, all of them in memory.
    pub fn bytes(&self) -> u64 {
        let size = |change: &Change| change.value.as_ref().map_or(0, |value| value.len() as u64);
        unpoisoned(self.changes.lock()).changes.values().map(size).sum()
    }

    /// Discards all changes.
    pub fn roll_back(&self) {
        unpoisoned(self.changes.lock()).changes.clear();
    }
}
