//! Counts the operations on a store, so that a test can assert the number of requests on any machine.

use std::fmt;
use std::ops::Sub;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use zarr_traits::{
    BoxFuture, Storage, StoreResult,
    store::{Answer, Capabilities, Op, Outcome, Store},
};

/// A layer that counts operations. Its clones share their counters.
///
/// ```
/// # mod plain { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/plain/mod.rs")); }
/// # use plain::Plain;
/// # use zarr_conformance::instruments::{Counting};
/// # use zarr_traits::{Key, Storage, block_on};
/// let (storage, counting) = Counting::over(&Storage::from(Plain::default()));
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
    under_way: Arc<UnderWay>,
}

/// The operations that have begun and not ended.
#[derive(Debug, Default)]
struct UnderWay {
    now: AtomicU64,
    most: AtomicU64,
}

impl UnderWay {
    fn begin(&self) -> impl Drop + '_ {
        struct End<'a>(&'a AtomicU64);
        impl Drop for End<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::Relaxed);
            }
        }
        let now = self.now.fetch_add(1, Ordering::Relaxed) + 1;
        self.most.fetch_max(now, Ordering::Relaxed);
        End(&self.now)
    }
}

impl Counting {
    /// Returns `storage` with a counting layer, and the counters.
    pub fn over(storage: &Storage) -> (Storage, Self) {
        let counting = Self { storage: storage.clone(), counters: Arc::default(), under_way: Arc::default() };
        (storage.overlay(counting.clone()), counting)
    }

    /// Returns the current counts.
    pub fn counts(&self) -> RequestCounts {
        self.counters.snapshot()
    }

    /// Returns the largest number of operations that were under way at the same time.
    pub fn most_at_once(&self) -> u64 {
        self.under_way.most.load(Ordering::Relaxed)
    }
}

macro_rules! counts {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// A snapshot of the counters. Two snapshots can be compared and subtracted.
        ///
        /// A request counts when it is made, bytes when the answer has come.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        #[non_exhaustive]
        pub struct RequestCounts {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl Sub for RequestCounts {
            type Output = Self;

            /// Returns the counts since `before`. Differences below 0 become 0.
            fn sub(self, before: Self) -> Self {
                Self { $($name: self.$name.saturating_sub(before.$name),)* }
            }
        }

        /// The counters. Each is exact, but they are not read at the same instant.
        #[derive(Default)]
        struct Counters {
            $($name: AtomicU64,)*
        }

        impl Counters {
            fn snapshot(&self) -> RequestCounts {
                RequestCounts { $($name: self.$name.load(Ordering::Relaxed),)* }
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
    /// [`Op::PutRanges`] operations.
    put_ranges,
    /// [`Op::Delete`] operations.
    deletes,
    /// [`Op::DeletePrefix`] operations.
    delete_prefixes,
    /// [`Op::Sync`] operations.
    syncs,
    /// [`Op::Copy`] operations. The [`Op::Origin`] before each counts as nothing: it moves no bytes.
    copies,
    /// Operations of other kinds.
    others,
    /// Ranges in reads.
    ranges,
    /// Bytes that reads returned.
    bytes_read,
    /// Bytes of applied puts, and of replaced ranges.
    bytes_written,
}

impl RequestCounts {
    /// Operations of any kind.
    pub fn requests(&self) -> u64 {
        let reading = self.reads + self.heads + self.lists + self.list_dirs;
        let putting = self.puts + self.put_ranges + self.copies;
        reading + putting + self.deletes + self.delete_prefixes + self.syncs + self.others
    }
}

impl fmt::Debug for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.snapshot().fmt(f)
    }
}

impl Counters {
    /// Returns the counter of this kind of operation.
    fn of(&self, op: &Op<'_>) -> &AtomicU64 {
        match op {
            Op::Read(_) => &self.reads,
            Op::Head(_) => &self.heads,
            Op::List(_) => &self.lists,
            Op::ListDir(_) => &self.list_dirs,
            Op::Put(_) => &self.puts,
            Op::PutRanges(_) => &self.put_ranges,
            Op::Delete(_) => &self.deletes,
            Op::DeletePrefix(_) => &self.delete_prefixes,
            Op::Sync => &self.syncs,
            Op::Copy(_) => &self.copies,
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
            let _under_way = self.under_way.begin();
            add(counters.of(&op), u64::from(!matches!(op, Op::Origin(_))));
            if let Op::Read(read) = &op {
                add(&counters.ranges, read.ranges.len() as u64);
            }
            let answer = self.storage.call(op.reborrow()).await?;
            match (&op, &answer) {
                (Op::Read(read), Answer::Read(Some(_))) => add(&counters.bytes_read, read.into.len() as u64),
                (Op::Put(put), Answer::Write(Outcome::Done(_))) => add(&counters.bytes_written, put.len()),
                (Op::PutRanges(put), Answer::Write(Outcome::Done(_))) => {
                    add(&counters.bytes_written, put.bytes.len() as u64);
                }
                _ => {}
            }
            Ok(answer)
        })
    }
}
