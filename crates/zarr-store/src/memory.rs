//! A store in memory: the reference of what a store does, and the quickest one (checklist E46).

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use zarr_traits::store::{copy_into, reply};
use zarr_traits::{
    BoxFuture, ByteRange, Bytes, Capabilities, Dir, Filled, If, Key, ListStore, Outcome, Page, Prefix, Put,
    ReadStore, Reply, Stat, StoreError, StoreErrorKind, StoreResult, Version, WriteStore,
};

/// Keys in one page of a listing.
const PAGE: usize = 1000;

/// A store in memory. Clones share their content.
///
/// A read hands out slices of what is stored and copies nothing; a put joins its parts into memory of its own, so that
/// what the caller passes may be part of a larger buffer that it wants back.
#[derive(Clone)]
pub struct MemoryStore {
    content: Arc<RwLock<Content>>,
    page: usize,
}

#[derive(Default)]
struct Content {
    /// By key: as text, so that a range can start at a prefix.
    objects: BTreeMap<String, Object>,
    /// The number of the last version.
    clock: u64,
}

#[derive(Clone)]
struct Object {
    bytes: Bytes,
    version: u64,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self { content: Arc::default(), page: PAGE }
    }

    /// The same store with `keys` keys in one page of a listing: for tests of what lists.
    #[must_use]
    pub fn with_page(mut self, keys: usize) -> Self {
        self.page = keys.max(1);
        self
    }

    fn read(&self) -> RwLockReadGuard<'_, Content> {
        self.content.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing under the lock can panic half-way, so a poisoned one is whole.
    fn write(&self) -> RwLockWriteGuard<'_, Content> {
        self.content.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn reply(&self, key: &Key, ranges: &[ByteRange], condition: If<'_>) -> StoreResult<Option<Reply>> {
        let Some(object) = self.read().objects.get(key.as_str()).cloned() else {
            return Ok(None);
        };
        let reply = reply(&object.bytes, Some(object.version()), ranges, condition);
        reply.map(Some).map_err(|e| e.with_key(key))
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").field("objects", &self.read().objects.len()).finish_non_exhaustive()
    }
}

impl Object {
    fn is(&self, version: &Version) -> bool {
        version.token() == self.version.to_le_bytes()
    }

    fn version(&self) -> Version {
        Version::new(&self.version.to_le_bytes()[..])
    }
}

impl Content {
    /// The keys below `prefix` from `start` on.
    fn below<'a, 'p>(
        &'a self,
        prefix: &'p str,
        start: Bound<&str>,
    ) -> impl Iterator<Item = &'a str> + use<'a, 'p> {
        let objects = self.objects.range::<str, _>((start, Bound::Unbounded));
        objects.map(|(key, _)| key.as_str()).take_while(move |key| key.starts_with(prefix))
    }
}

impl ReadStore for MemoryStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities::inline()
    }

    fn get_ranges<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        condition: If<'a>,
    ) -> BoxFuture<'a, StoreResult<Option<Reply>>> {
        Box::pin(async move { self.reply(key, ranges, condition) })
    }

    fn read_into<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        condition: If<'a>,
        into: &'a mut [u8],
    ) -> BoxFuture<'a, StoreResult<Option<Filled>>> {
        Box::pin(async move {
            let reply = self.reply(key, ranges, condition)?;
            reply.map(|reply| copy_into(reply, ranges, into)).transpose().map_err(|e| e.with_key(key))
        })
    }

    fn size<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, StoreResult<Option<Stat>>> {
        Box::pin(async move {
            let content = self.read();
            let object = content.objects.get(key.as_str());
            Ok(object.map(|o| Stat { size: o.bytes.len() as u64, version: Some(o.version()) }))
        })
    }
}

impl ListStore for MemoryStore {
    fn list<'a>(&'a self, prefix: &'a Prefix, after: Option<&'a Key>) -> BoxFuture<'a, StoreResult<Page>> {
        Box::pin(async move {
            let start = match after {
                Some(after) if after.as_str() >= prefix.as_str() => Bound::Excluded(after.as_str()),
                _ => Bound::Included(prefix.as_str()),
            };
            let content = self.read();
            let mut below = content.below(prefix.as_str(), start);
            let keys = below.by_ref().take(self.page).map(Key::new).collect::<StoreResult<_>>()?;
            Ok(Page { keys, more: below.next().is_some() })
        })
    }

    fn list_dir<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, StoreResult<Dir>> {
        Box::pin(async move {
            let content = self.read();
            let mut dir = Dir::default();
            let mut start = prefix.as_str().to_owned();
            // One step per child: behind a prefix `a/` the next that is not below it is at least `a0`.
            while let Some(key) = content.below(prefix.as_str(), Bound::Included(&start)).next() {
                match key[prefix.as_str().len()..].split_once('/') {
                    None => {
                        dir.keys.push(Key::new(key)?);
                        start = format!("{key}\0");
                    }
                    Some((name, _)) => {
                        dir.prefixes.push(prefix.child(name)?);
                        start = format!("{prefix}{name}0");
                    }
                }
            }
            Ok(dir)
        })
    }
}

impl WriteStore for MemoryStore {
    fn put<'a>(
        &'a self,
        key: &'a Key,
        parts: &'a [Bytes],
        how: Put<'a>,
    ) -> BoxFuture<'a, StoreResult<Outcome>> {
        Box::pin(async move {
            let bytes = Bytes::from(parts.concat());
            let mut content = self.write();
            let now = content.objects.get(key.as_str());
            let holds = match how {
                Put::Replace => true,
                Put::Create => now.is_none(),
                Put::IfUnchanged(version) => now.is_some_and(|object| object.is(version)),
                _ => {
                    let e = StoreError::new(StoreErrorKind::Unsupported, "this way to put is not known here");
                    return Err(e.with_key(key));
                }
            };
            if !holds {
                return Ok(Outcome::Conflict);
            }
            content.clock += 1;
            let object = Object { bytes, version: content.clock };
            let version = object.version();
            content.objects.insert(key.as_str().to_owned(), object);
            Ok(Outcome::Done(Some(version)))
        })
    }

    fn delete<'a>(
        &'a self,
        key: &'a Key,
        version: Option<&'a Version>,
    ) -> BoxFuture<'a, StoreResult<Outcome>> {
        Box::pin(async move {
            let mut content = self.write();
            if let (Some(version), Some(object)) = (version, content.objects.get(key.as_str()))
                && !object.is(version)
            {
                return Ok(Outcome::Conflict);
            }
            content.objects.remove(key.as_str());
            Ok(Outcome::Done(None))
        })
    }

    fn delete_prefix<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, StoreResult<()>> {
        Box::pin(async move {
            let mut content = self.write();
            if prefix.is_root() {
                content.objects.clear();
                return Ok(());
            }
            let mut below = content.objects.split_off(prefix.as_str());
            // "a0" is the first text behind everything that starts with "a/".
            let end = format!("{}0", prefix.as_str().trim_end_matches('/'));
            let mut behind = below.split_off(&end);
            content.objects.append(&mut behind);
            Ok(())
        })
    }

    fn sync(&self) -> BoxFuture<'_, StoreResult<()>> {
        zarr_traits::ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use zarr_traits::{Storage, block_on};

    use super::*;

    #[test]
    fn a_read_shares_the_memory_and_a_put_does_not() {
        let store = MemoryStore::new();
        let key = Key::new("k").unwrap();
        let mine = Bytes::from(vec![1; 100]);
        block_on(Storage::from(store.clone()).put(&key, mine.clone())).unwrap();
        assert!(mine.is_unique(), "the caller gets its buffer back");
        let spans = [ByteRange::All, ByteRange::Span { offset: 10, len: 5 }];
        let reply = block_on(store.get_ranges(&key, &spans, If::Any)).unwrap().unwrap();
        assert_eq!(reply.bytes[0][10..].as_ptr(), reply.bytes[1].as_ptr());
    }
}
