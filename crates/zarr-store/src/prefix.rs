//! A storage below a prefix of another one.

use zarr_traits::{
    BoxFuture, ByteRange, Bytes, Capabilities, Dir, Filled, If, Key, ListStore, Outcome, Page, Prefix, Put,
    ReadStore, Reply, Stat, Storage, StoreError, StoreErrorKind, StoreResult, Version, WriteStore,
};

/// The layer that makes what lies below a prefix a storage of its own. Nothing outside it can be reached, because a
/// [`Key`] has no way to say so.
///
/// ```
/// # use zarr_store::{MemoryStore, Prefixed};
/// # use zarr_traits::{Key, Prefix, Storage, block_on};
/// let whole = Storage::from(MemoryStore::new());
/// block_on(whole.put(&Key::new("europe/t2m/zarr.json")?, "{}"))?;
/// let europe = Prefixed::over(&whole, Prefix::new("europe/")?);
/// assert!(block_on(europe.get(&Key::new("t2m/zarr.json")?))?.is_some());
/// # Ok::<(), zarr_traits::StoreError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Prefixed {
    storage: Storage,
    prefix: Prefix,
}

impl Prefixed {
    /// What lies below `prefix` in `storage`.
    pub fn over(storage: &Storage, prefix: Prefix) -> Storage {
        storage.layer(Self { storage: storage.clone(), prefix })
    }

    fn inside(&self, key: &Key) -> StoreResult<Key> {
        self.prefix.key(key.as_str())
    }

    fn inside_prefix(&self, prefix: &Prefix) -> StoreResult<Prefix> {
        Prefix::new(format!("{}{prefix}", self.prefix))
    }

    /// The part of an inner key or prefix that is seen from outside.
    fn outside<'a>(&self, inner: &'a str) -> StoreResult<&'a str> {
        inner.strip_prefix(self.prefix.as_str()).ok_or_else(|| {
            let message = format!("the store listed this outside of {:?}", self.prefix);
            StoreError::new(StoreErrorKind::Io, message).with_key(inner)
        })
    }

    fn outside_keys(&self, keys: &[Key]) -> StoreResult<Vec<Key>> {
        keys.iter().map(|key| Key::new(self.outside(key.as_str())?)).collect()
    }
}

impl ReadStore for Prefixed {
    fn capabilities(&self) -> Capabilities {
        self.storage.capabilities()
    }

    fn get_ranges<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        condition: If<'a>,
    ) -> BoxFuture<'a, StoreResult<Option<Reply>>> {
        Box::pin(async move { self.storage.reader().get_ranges(&self.inside(key)?, ranges, condition).await })
    }

    fn read_into<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        condition: If<'a>,
        into: &'a mut [u8],
    ) -> BoxFuture<'a, StoreResult<Option<Filled>>> {
        Box::pin(
            async move { self.storage.reader().read_into(&self.inside(key)?, ranges, condition, into).await },
        )
    }

    fn size<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, StoreResult<Option<Stat>>> {
        Box::pin(async move { self.storage.reader().size(&self.inside(key)?).await })
    }
}

impl ListStore for Prefixed {
    fn list<'a>(&'a self, prefix: &'a Prefix, after: Option<&'a Key>) -> BoxFuture<'a, StoreResult<Page>> {
        Box::pin(async move {
            let after = after.map(|key| self.inside(key)).transpose()?;
            let page = self.storage.lister()?.list(&self.inside_prefix(prefix)?, after.as_ref()).await?;
            Ok(Page { keys: self.outside_keys(&page.keys)?, more: page.more })
        })
    }

    fn list_dir<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, StoreResult<Dir>> {
        Box::pin(async move {
            let dir = self.storage.lister()?.list_dir(&self.inside_prefix(prefix)?).await?;
            let prefixes = dir.prefixes.iter().map(|p| Prefix::new(self.outside(p.as_str())?));
            Ok(Dir { prefixes: prefixes.collect::<StoreResult<_>>()?, keys: self.outside_keys(&dir.keys)? })
        })
    }
}

impl WriteStore for Prefixed {
    fn put<'a>(
        &'a self,
        key: &'a Key,
        parts: &'a [Bytes],
        how: Put<'a>,
    ) -> BoxFuture<'a, StoreResult<Outcome>> {
        Box::pin(async move { self.storage.writer()?.put(&self.inside(key)?, parts, how).await })
    }

    fn delete<'a>(
        &'a self,
        key: &'a Key,
        version: Option<&'a Version>,
    ) -> BoxFuture<'a, StoreResult<Outcome>> {
        Box::pin(async move { self.storage.writer()?.delete(&self.inside(key)?, version).await })
    }

    fn delete_prefix<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, StoreResult<()>> {
        Box::pin(async move { self.storage.writer()?.delete_prefix(&self.inside_prefix(prefix)?).await })
    }

    fn sync(&self) -> BoxFuture<'_, StoreResult<()>> {
        Box::pin(async move { self.storage.writer()?.sync().await })
    }
}
