//! A storage that something happens to.

use std::fmt;
use std::future::{poll_fn, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::task::Poll;

use zarr_hierarchy::zarr_array::Storage;
use zarr_hierarchy::zarr_array::traits::{
    BoxFuture, ByteRange, Bytes, Capabilities, Dir, Filled, If, Key, ListStore, Outcome, Page, Prefix, Put,
    ReadStore, Reply, Stat, StoreError, StoreErrorKind, StoreResult, Version, WriteStore,
};

/// What is asked of a storage; to list is to read.
#[derive(PartialEq)]
enum Call {
    Read,
    Write,
}

type Hook = dyn Fn(Call) -> BoxFuture<'static, StoreResult<()>> + Send + Sync;

/// Asks a hook before it does what it is asked for.
struct Hooked {
    storage: Storage,
    capabilities: Capabilities,
    before: Box<Hook>,
}

impl Hooked {
    fn over<F: Future<Output = StoreResult<()>> + Send + 'static>(
        storage: &Storage,
        capabilities: Capabilities,
        before: impl Fn(Call) -> F + Send + Sync + 'static,
    ) -> Storage {
        let before = Box::new(move |call| -> BoxFuture<'static, _> { Box::pin(before(call)) });
        storage.layer(Self { storage: storage.clone(), capabilities, before })
    }
}

/// A storage that refuses to write when nothing is left of a number of puts and deletions.
pub(crate) fn failing(storage: &Storage, left: i64) -> Storage {
    let left = AtomicI64::new(left);
    let before = move |call| {
        let is_gone = call == Call::Write && left.fetch_sub(1, Ordering::Relaxed) <= 0;
        ready(if is_gone { Err(StoreError::new(StoreErrorKind::Io, "the power is gone")) } else { Ok(()) })
    };
    Hooked::over(storage, storage.capabilities(), before)
}

/// A storage that cannot put on condition that there is nothing.
pub(crate) fn unconditional(storage: &Storage) -> Storage {
    let mut capabilities = storage.capabilities();
    (capabilities.put_create, capabilities.put_if) = (false, false);
    Hooked::over(storage, capabilities, |_| ready(Ok(())))
}

/// A storage behind a network, worth 8 requests at once, and the number of those that have waited for it at once.
pub(crate) fn slow(storage: &Storage) -> (Storage, Arc<AtomicUsize>) {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let waited = most.clone();
    let before = move |_| {
        let (now, most) = (now.clone(), waited.clone());
        async move {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            let mut polls = 0;
            poll_fn(|context| {
                polls += 1;
                context.waker().wake_by_ref();
                if polls > 10 { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
            now.fetch_sub(1, Ordering::SeqCst);
            Ok(())
        }
    };
    (Hooked::over(storage, Capabilities::remote(8, 0), before), most)
}

impl fmt::Debug for Hooked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.storage.fmt(f)
    }
}

impl ReadStore for Hooked {
    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn get_ranges<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        condition: If<'a>,
    ) -> BoxFuture<'a, StoreResult<Option<Reply>>> {
        Box::pin(async move {
            (self.before)(Call::Read).await?;
            self.storage.reader().get_ranges(key, ranges, condition).await
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
            (self.before)(Call::Read).await?;
            self.storage.reader().read_into(key, ranges, condition, into).await
        })
    }

    fn size<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, StoreResult<Option<Stat>>> {
        self.storage.reader().size(key)
    }
}

impl ListStore for Hooked {
    fn list<'a>(&'a self, prefix: &'a Prefix, after: Option<&'a Key>) -> BoxFuture<'a, StoreResult<Page>> {
        Box::pin(async move {
            (self.before)(Call::Read).await?;
            self.storage.lister()?.list(prefix, after).await
        })
    }

    fn list_dir<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, StoreResult<Dir>> {
        Box::pin(async move {
            (self.before)(Call::Read).await?;
            self.storage.lister()?.list_dir(prefix).await
        })
    }
}

impl WriteStore for Hooked {
    fn put<'a>(
        &'a self,
        key: &'a Key,
        parts: &'a [Bytes],
        how: Put<'a>,
    ) -> BoxFuture<'a, StoreResult<Outcome>> {
        Box::pin(async move {
            (self.before)(Call::Write).await?;
            self.storage.writer()?.put(key, parts, how).await
        })
    }

    fn delete<'a>(
        &'a self,
        key: &'a Key,
        version: Option<&'a Version>,
    ) -> BoxFuture<'a, StoreResult<Outcome>> {
        Box::pin(async move {
            (self.before)(Call::Write).await?;
            self.storage.writer()?.delete(key, version).await
        })
    }

    fn delete_prefix<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, StoreResult<()>> {
        Box::pin(async move {
            (self.before)(Call::Write).await?;
            self.storage.writer()?.delete_prefix(prefix).await
        })
    }

    fn sync(&self) -> BoxFuture<'_, StoreResult<()>> {
        Box::pin(async move { self.storage.writer()?.sync().await })
    }
}
