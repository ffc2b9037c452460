//! Counting what is asked of a store: the number of requests is a property that can be tested, on any machine.

use std::fmt;
use std::ops::Sub;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use zarr_traits::{BoxFuture, Capabilities, Storage, StoreResult};

use crate::call::{Answer, Call, Operation, lists_around, once, reads_around, writes_around};

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
/// block_on(storage.get(&key))?;
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
    /// Calls of [`ReadStore::get_ranges`](zarr_traits::ReadStore::get_ranges).
    get_ranges,
    /// Calls of [`ReadStore::read_into`](zarr_traits::ReadStore::read_into).
    read_into,
    /// Calls of [`ReadStore::size`](zarr_traits::ReadStore::size).
    size,
    /// Calls of [`ListStore::list`](zarr_traits::ListStore::list): one for each page.
    list,
    /// Calls of [`ListStore::list_dir`](zarr_traits::ListStore::list_dir).
    list_dir,
    /// Calls of [`WriteStore::put`](zarr_traits::WriteStore::put).
    put,
    /// Calls of [`WriteStore::delete`](zarr_traits::WriteStore::delete).
    delete,
    /// Calls of [`WriteStore::delete_prefix`](zarr_traits::WriteStore::delete_prefix).
    delete_prefix,
    /// Calls of [`WriteStore::sync`](zarr_traits::WriteStore::sync).
    sync,
    /// Ranges asked for, in both ways of reading.
    ranges,
    /// Bytes that came, in both ways of reading.
    bytes_read,
    /// Bytes of the puts that were applied.
    bytes_written,
}

impl Counts {
    /// Calls that read objects, in both ways.
    pub fn reads(&self) -> u64 {
        self.get_ranges + self.read_into
    }

    /// Calls of any kind.
    pub fn requests(&self) -> u64 {
        let listing = self.list + self.list_dir;
        let writing = self.put + self.delete + self.delete_prefix + self.sync;
        self.reads() + self.size + listing + writing
    }
}

impl fmt::Debug for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.snapshot().fmt(f)
    }
}

impl Counters {
    /// The counter of calls of this method.
    fn of(&self, operation: Operation) -> &AtomicU64 {
        match operation {
            Operation::GetRanges => &self.get_ranges,
            Operation::ReadInto => &self.read_into,
            Operation::Size => &self.size,
            Operation::List => &self.list,
            Operation::ListDir => &self.list_dir,
            Operation::Put => &self.put,
            Operation::Delete => &self.delete,
            Operation::DeletePrefix => &self.delete_prefix,
            Operation::Sync => &self.sync,
        }
    }
}

fn add(counter: &AtomicU64, n: u64) {
    counter.fetch_add(n, Ordering::Relaxed);
}

impl Counting {
    fn can(&self) -> Capabilities {
        self.storage.capabilities()
    }

    async fn around<T: Answer>(
        &self,
        call: Call<'_>,
        future: BoxFuture<'_, StoreResult<T>>,
    ) -> StoreResult<T> {
        let counters = &*self.counters;
        add(counters.of(call.operation), 1);
        add(&counters.ranges, call.ranges.len() as u64);
        let answer = future.await?;
        add(&counters.bytes_read, answer.received());
        if answer.status() == "ok" {
            add(&counters.bytes_written, call.sent);
        }
        Ok(answer)
    }
}

reads_around!(Counting, once);
lists_around!(Counting, once);
writes_around!(Counting, once);

#[cfg(test)]
mod tests {
    use zarr_traits::{ByteRange, If, Key, Outcome, Prefix, Put, block_on};

    use super::*;
    use crate::MemoryStore;

    #[test]
    fn every_kind_of_request_has_its_counter() {
        let (storage, counting) = Counting::over(&Storage::from(MemoryStore::new()));
        let (key, root) = (Key::new("k").unwrap(), Prefix::root());
        let (reader, lister, writer) =
            (storage.reader(), storage.lister().unwrap(), storage.writer().unwrap());
        let spans = [ByteRange::Span { offset: 0, len: 2 }; 3];
        block_on(async {
            let parts = ["val".into(), "ue".into()];
            assert_ne!(writer.put(&key, &parts, Put::Create).await?, Outcome::Conflict);
            assert_eq!(writer.put(&key, &parts, Put::Create).await?, Outcome::Conflict);
            reader.get_ranges(&key, &spans, If::Any).await?;
            reader.read_into(&key, &[ByteRange::All], If::Any, &mut [0; 9]).await?;
            reader.size(&key).await?;
            lister.list(&root, None).await?;
            lister.list_dir(&root).await?;
            assert_eq!(writer.delete(&key, None).await?, Outcome::Done(None));
            writer.delete_prefix(&root).await?;
            writer.sync().await
        })
        .unwrap();
        let one_each = Counts {
            get_ranges: 1,
            read_into: 1,
            size: 1,
            list: 1,
            list_dir: 1,
            put: 2,
            delete: 1,
            delete_prefix: 1,
            sync: 1,
            ranges: 4,
            bytes_read: 6 + 5,
            bytes_written: 5,
        };
        assert_eq!(counting.counts(), one_each);
        assert_eq!((one_each.reads(), one_each.requests()), (2, 10));
        assert_eq!(counting.counts() - one_each, Counts::default());
    }
}
