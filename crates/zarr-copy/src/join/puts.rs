//! Counts the objects that a worker stores, so that its records can say how many there must be. What a worker replaces is
//! kept until the new object is on the disk: a late worker may store a chunk of a copy that others have completed.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use zarr_array::Storage;
use zarr_array::traits::lock::unpoisoned;
use zarr_array::traits::store::{Answer, Capabilities, Copied, Op, Outcome, Store};
use zarr_array::traits::{BoxFuture, Key, StoreResult};

/// The keys that were put and not counted yet. Clones share them.
#[derive(Debug, Clone, Default)]
pub(super) struct Puts(Arc<Mutex<HashSet<String>>>);

/// The layer that notes the keys of successful puts.
#[derive(Debug)]
struct Noted {
    storage: Storage,
    puts: Puts,
}

impl Puts {
    /// Returns `storage`, whose successful puts are noted.
    pub(super) fn over(&self, storage: &Storage) -> Storage {
        storage.overlay(Noted { storage: storage.clone(), puts: self.clone() })
    }

    /// Returns how many of these keys were put, and forgets them.
    pub(super) fn count(&self, keys: &[Key]) -> u64 {
        let mut put = unpoisoned(self.0.lock());
        keys.iter().filter(|key| put.remove(key.as_str())).count() as u64
    }
}

impl Store for Noted {
    fn capabilities(&self) -> Capabilities {
        self.storage.capabilities()
    }

    fn call<'a>(&'a self, op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        let put = matches!(op, Op::Put(_) | Op::Copy(_)).then(|| op.target().to_owned());
        let op = match op {
            Op::Put(put) => Op::Put(put.keeping_old()),
            op => op,
        };
        Box::pin(async move {
            let answer = self.storage.call(op).await;
            if let (Some(key), Ok(Answer::Write(Outcome::Done(_)) | Answer::Copied(Copied::Done))) =
                (put, &answer)
            {
                unpoisoned(self.puts.0.lock()).insert(key);
            }
            answer
        })
    }
}
