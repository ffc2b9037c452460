//! Counting what is asked of a store: the number of requests is a property that can be tested, on any machine.

use std::fmt;
use std::ops::Sub;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use zarr_traits::{
    BoxFuture, ByteRange, Bytes, Capabilities, Dir, Filled, If, Key, ListStore, Outcome, Page, Prefix, Put,
    ReadStore, Reply, Stat, Storage, StoreResult, Version, WriteStore,
};

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
        (storage.layer(counting.clone()), counting)
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
    /// Calls of [`ReadStore::get_ranges`].
    get_ranges,
    /// Calls of [`ReadStore::read_into`].
    read_into,
    /// Calls of [`ReadStore::size`].
    size,
    /// Calls of [`ListStore::list`]: one for each page.
    list,
    /// Calls of [`ListStore::list_dir`].
    list_dir,
    /// Calls of [`WriteStore::put`].
    put,
    /// Calls of [`WriteStore::delete`].
    delete,
    /// Calls of [`WriteStore::delete_prefix`].
    delete_prefix,
    /// Calls of [`WriteStore::sync`].
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

fn add(counter: &AtomicU64, n: usize) {
    counter.fetch_add(n as u64, Ordering::Relaxed);
}

impl ReadStore for Counting {
    fn capabilities(&self) -> Capabilities {
        self.storage.capabilities()
    }

    fn get_ranges<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        condition: If<'a>,
    ) -> BoxFuture<'a, StoreResult<Option<Reply>>> {
        Box::pin(async move {
            add(&self.counters.get_ranges, 1);
            add(&self.counters.ranges, ranges.len());
            let reply = self.storage.reader().get_ranges(key, ranges, condition).await?;
            let bytes = reply.iter().flat_map(|reply| &reply.bytes);
            add(&self.counters.bytes_read, bytes.map(Bytes::len).sum());
            Ok(reply)
        })
    }

    fn read_into<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        condition: If<'a>,
        into: &'a mut [u8],
    ) -> BoxFuture<'a, StoreResult<Option<Filled>>> {
        Box::pin(async move {
            add(&self.counters.read_into, 1);
            add(&self.counters.ranges, ranges.len());
            let filled = self.storage.reader().read_into(key, ranges, condition, into).await?;
            add(&self.counters.bytes_read, filled.as_ref().map_or(0, |filled| filled.len));
            Ok(filled)
        })
    }

    fn size<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, StoreResult<Option<Stat>>> {
        Box::pin(async move {
            add(&self.counters.size, 1);
            self.storage.reader().size(key).await
        })
    }
}

impl ListStore for Counting {
    fn list<'a>(&'a self, prefix: &'a Prefix, after: Option<&'a Key>) -> BoxFuture<'a, StoreResult<Page>> {
        Box::pin(async move {
            add(&self.counters.list, 1);
            self.storage.lister()?.list(prefix, after).await
        })
    }

    fn list_dir<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, StoreResult<Dir>> {
        Box::pin(async move {
            add(&self.counters.list_dir, 1);
            self.storage.lister()?.list_dir(prefix).await
        })
    }
}

impl WriteStore for Counting {
    fn put<'a>(
        &'a self,
        key: &'a Key,
        parts: &'a [Bytes],
        how: Put<'a>,
    ) -> BoxFuture<'a, StoreResult<Outcome>> {
        Box::pin(async move {
            add(&self.counters.put, 1);
            let outcome = self.storage.writer()?.put(key, parts, how).await?;
            if matches!(outcome, Outcome::Done(_)) {
                add(&self.counters.bytes_written, parts.iter().map(Bytes::len).sum());
            }
            Ok(outcome)
        })
    }

    fn delete<'a>(
        &'a self,
        key: &'a Key,
        version: Option<&'a Version>,
    ) -> BoxFuture<'a, StoreResult<Outcome>> {
        Box::pin(async move {
            add(&self.counters.delete, 1);
            self.storage.writer()?.delete(key, version).await
        })
    }

    fn delete_prefix<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, StoreResult<()>> {
        Box::pin(async move {
            add(&self.counters.delete_prefix, 1);
            self.storage.writer()?.delete_prefix(prefix).await
        })
    }

    fn sync(&self) -> BoxFuture<'_, StoreResult<()>> {
        Box::pin(async move {
            add(&self.counters.sync, 1);
            self.storage.writer()?.sync().await
        })
    }
}

#[cfg(test)]
mod tests {
    use zarr_traits::block_on;

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
