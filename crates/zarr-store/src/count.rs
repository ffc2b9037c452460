//! Counts the operations on a store: a test can assert the number of requests on any machine.

use std::fmt;
use std::ops::Sub;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use zarr_traits::{Answer, BoxFuture, Capabilities, Op, Outcome, Storage, Store, StoreResult};

/// The layer that counts. Its clones share their counters.
///
/// ```
/// # use zarr_store::{Counting, MemoryStore};
/// # use zarr_traits::{Key, Storage, block_on};
/// let (storage, counting) = Counting::over(&Storage::from(MemoryStore::new()));
/// let key = Key::new("k")?;
/// block_on(storage.put(&key, "value"))?;
///
/// let before = counting.counts();
/// block_on(storage.get(&key, 100))?;
/// let used = counting.counts() - before;
/// assert_eq!((used.requests(), used.bytes_read), (1, 5));
/// # Ok::<(), zarr_traits::StoreError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Counting {
    storage: Storage,
    counters: Arc<Counters>,
}

impl Counting {
    /// `storage` with its requests counted, and the counters.
    pub fn over(storage: &Storage) -> (Storage, Self) {
        let counting = Self { storage: storage.clone(), counters: Arc::default() };
        (storage.overlay(counting.clone()), counting)
    }

    /// What was counted so far.
    pub fn counts(&self) -> Counts {
        self.counters.snapshot()
    }
}

macro_rules! counts {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// What was asked of a store: a snapshot, of which two can be compared and subtracted.
        ///
        /// A request counts when it is made, bytes when the answer has come.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        #[non_exhaustive]
        pub struct Counts {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl Sub for Counts {
            type Output = Self;

            /// What was asked since `before`; what was counted less often than before is 0.
            fn sub(self, before: Self) -> Self {
                Self { $($name: self.$name.saturating_sub(before.$name),)* }
            }
        }

        /// Each number is exact; that two of them were read at once is not promised.
        #[derive(Default)]
        struct Counters {
            $($name: AtomicU64,)*
        }

        impl Counters {
            fn snapshot(&self) -> Counts {
                Counts { $($name: self.$name.load(Ordering::Relaxed),)* }
            }
        }
    };
}

counts! {
    /// [`Op::Read`] operations.
    reads,
    /// [`Op::Head`] operations.
    heads,
    /// [`Op::List`] operations: one per page.
    lists,
    /// [`Op::ListDir`] operations.
    list_dirs,
    /// [`Op::Put`] operations.
    puts,
    /// [`Op::Delete`] operations.
    deletes,
    /// [`Op::DeletePrefix`] operations.
    delete_prefixes,
    /// [`Op::Sync`] operations.
    syncs,
    /// Operations of other kinds.
    others,
    /// Ranges of the reads.
    ranges,
    /// Bytes that reads returned.
    bytes_read,
    /// Bytes of the puts that were applied.
    bytes_written,
}

impl Counts {
    /// Operations of any kind.
    pub fn requests(&self) -> u64 {
        let reading = self.reads + self.heads + self.lists + self.list_dirs;
        reading + self.puts + self.deletes + self.delete_prefixes + self.syncs + self.others
    }
}

impl fmt::Debug for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.snapshot().fmt(f)
    }
}

impl Counters {
    /// The counter of this kind of operation.
    fn of(&self, op: &Op<'_>) -> &AtomicU64 {
        match op {
            Op::Read(_) => &self.reads,
            Op::Head(_) => &self.heads,
            Op::List(_) => &self.lists,
            Op::ListDir(_) => &self.list_dirs,
            Op::Put(_) => &self.puts,
            Op::Delete(_) => &self.deletes,
            Op::DeletePrefix(_) => &self.delete_prefixes,
            Op::Sync => &self.syncs,
            _ => &self.others,
        }
    }
}

fn add(counter: &AtomicU64, n: u64) {
    counter.fetch_add(n, Ordering::Relaxed);
}

impl Store for Counting {
    fn capabilities(&self) -> Capabilities {
        self.storage.capabilities()
    }

    fn call<'a>(&'a self, mut op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        Box::pin(async move {
            let counters = &*self.counters;
            add(counters.of(&op), 1);
            if let Op::Read(read) = &op {
                add(&counters.ranges, read.ranges.len() as u64);
            }
            let answer = self.storage.call(op.reborrow()).await?;
            match (&op, &answer) {
                (Op::Read(read), Answer::Read(Some(_))) => add(&counters.bytes_read, read.into.len() as u64),
                (Op::Put(put), Answer::Write(Outcome::Done(_))) => add(&counters.bytes_written, put.len()),
                _ => {}
            }
            Ok(answer)
        })
    }
}

#[cfg(test)]
mod tests {
    use zarr_traits::{ByteRange, Key, Prefix, PutMode, ReadVersion, block_on};

    use super::*;
    use crate::MemoryStore;

    #[test]
    fn every_kind_of_operation_has_its_counter() {
        let (storage, counting) = Counting::over(&Storage::from(MemoryStore::new()));
        let (key, root) = (Key::new("k").unwrap(), Prefix::root());
        let spans = [ByteRange::Span { offset: 0, len: 2 }; 3];
        block_on(async {
            let parts = ["val".into(), "ue".into()];
            assert_ne!(storage.put_if(&key, &parts, PutMode::Create).await?, Outcome::Conflict);
            assert_eq!(storage.put_if(&key, &parts, PutMode::Create).await?, Outcome::Conflict);
            storage.get_ranges(&key, &spans, ReadVersion::Any, 6).await?;
            storage.get(&key, 5).await?;
            storage.head(&key).await?;
            storage.list(&root, None).await?;
            storage.list_dir(&root).await?;
            assert_eq!(storage.delete_if(&key, None).await?, Outcome::Done(None));
            storage.delete_prefix(&root).await?;
            storage.sync().await
        })
        .unwrap();
        let one_each = Counts {
            reads: 2,
            heads: 1,
            lists: 1,
            list_dirs: 1,
            puts: 2,
            deletes: 1,
            delete_prefixes: 1,
            syncs: 1,
            others: 0,
            ranges: 4,
            bytes_read: 6 + 5,
            bytes_written: 5,
        };
        assert_eq!(counting.counts(), one_each);
        assert_eq!(one_each.requests(), 10);
        assert_eq!(counting.counts() - one_each, Counts::default());
    }
}
