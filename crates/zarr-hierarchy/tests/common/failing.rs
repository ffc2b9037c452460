//! A power failure.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use zarr_hierarchy::zarr_array::Storage;
use zarr_hierarchy::zarr_array::traits::{
    BoxFuture, ByteRange, Bytes, Capabilities, Dir, Filled, If, Key, ListStore, Outcome, Page, Prefix, Put,
    ReadStore, Reply, Stat, StoreError, StoreErrorKind, StoreResult, Version, WriteStore,
};

/// A storage that refuses to write when nothing is left of a number of puts and deletions.
#[derive(Debug, Clone)]
pub(crate) struct Failing {
    storage: Storage,
    left: Arc<AtomicI64>,
}

impl Failing {
    pub(crate) fn over(storage: &Storage, left: i64) -> Storage {
        storage.layer(Self { storage: storage.clone(), left: Arc::new(left.into()) })
    }

    fn spend(&self) -> StoreResult<()> {
        match self.left.fetch_sub(1, Ordering::Relaxed) {
            ..=0 => Err(StoreError::new(StoreErrorKind::Io, "the power is gone")),
            _ => Ok(()),
        }
    }
}

impl ReadStore for Failing {
    fn capabilities(&self) -> Capabilities {
        self.storage.capabilities()
    }

    fn get_ranges<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        condition: If<'a>,
    ) -> BoxFuture<'a, StoreResult<Option<Reply>>> {
        self.storage.reader().get_ranges(key, ranges, condition)
    }

    fn read_into<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        condition: If<'a>,
        into: &'a mut [u8],
    ) -> BoxFuture<'a, StoreResult<Option<Filled>>> {
        self.storage.reader().read_into(key, ranges, condition, into)
    }

    fn size<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, StoreResult<Option<Stat>>> {
        self.storage.reader().size(key)
    }
}

impl ListStore for Failing {
    fn list<'a>(&'a self, prefix: &'a Prefix, after: Option<&'a Key>) -> BoxFuture<'a, StoreResult<Page>> {
        Box::pin(async move { self.storage.lister()?.list(prefix, after).await })
    }

    fn list_dir<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, StoreResult<Dir>> {
        Box::pin(async move { self.storage.lister()?.list_dir(prefix).await })
    }
}

impl WriteStore for Failing {
    fn put<'a>(
        &'a self,
        key: &'a Key,
        parts: &'a [Bytes],
        how: Put<'a>,
    ) -> BoxFuture<'a, StoreResult<Outcome>> {
        Box::pin(async move {
            self.spend()?;
            self.storage.writer()?.put(key, parts, how).await
        })
    }

    fn delete<'a>(
        &'a self,
        key: &'a Key,
        version: Option<&'a Version>,
    ) -> BoxFuture<'a, StoreResult<Outcome>> {
        Box::pin(async move {
            self.spend()?;
            self.storage.writer()?.delete(key, version).await
        })
    }

    fn delete_prefix<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, StoreResult<()>> {
        Box::pin(async move {
            self.spend()?;
            self.storage.writer()?.delete_prefix(prefix).await
        })
    }

    fn sync(&self) -> BoxFuture<'_, StoreResult<()>> {
        Box::pin(async move { self.storage.writer()?.sync().await })
    }
}
