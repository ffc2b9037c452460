//! A store in memory: the reference implementation, and the fastest store.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;
use std::sync::{Arc, RwLock};

use zarr_traits::lock::unpoisoned;
use zarr_traits::{
    BoxFuture, Bytes, Key, Prefix, StoreResult, Version,
    store::{
        Answer, Capabilities, Copied, CopyFrom, Delete, Dir, List, ListDir, Listed, ObjectMeta, Op, Origin,
        Outcome, Page, Put, PutMode, PutRanges, Read, Store, ready,
    },
};

/// The number of keys in one page of a listing.
const PAGE: usize = 1000;

/// A store in memory. Clones share their content.
///
/// A read returns slices of the stored value without a copy. A put copies its parts into new memory, so that the caller
/// can reuse its buffer.
#[derive(Clone)]
pub struct MemoryStore {
    content: Arc<RwLock<Content>>,
    page: usize,
}

#[derive(Default)]
struct Content {
    /// The objects by key. Keys are text, so that a range can start at a prefix.
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
    /// Returns an empty store.
    pub fn new() -> Self {
        Self { content: Arc::default(), page: PAGE }
    }

    /// Sets the number of keys in one page of a listing. For tests of listings.
    #[must_use]
    pub fn with_page(mut self, keys: usize) -> Self {
        self.page = keys.max(1);
        self
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore")
            .field("objects", &unpoisoned(self.content.read()).objects.len())
            .finish_non_exhaustive()
    }
}

impl Object {
    fn is(&self, version: &Version) -> bool {
        version.token() == self.version.to_le_bytes()
    }

    fn version(&self) -> Version {
        Version::new(&self.version.to_le_bytes()[..])
    }

    fn meta(&self) -> ObjectMeta {
        ObjectMeta::new(self.bytes.len() as u64, Some(self.version()))
    }
}

impl Content {
    /// Returns the objects below `prefix` from `start` on.
    fn below<'a, 'p>(
        &'a self,
        prefix: &'p str,
        start: Bound<&str>,
    ) -> impl Iterator<Item = (&'a str, &'a Object)> + use<'a, 'p> {
        let objects = self.objects.range::<str, _>((start, Bound::Unbounded));
        objects
            .map(|(key, object)| (key.as_str(), object))
            .take_while(move |(key, _)| key.starts_with(prefix))
    }

    /// Stores a value, and returns its version.
    fn insert(&mut self, key: &Key, bytes: Bytes) -> Version {
        self.clock += 1;
        let object = Object { bytes, version: self.clock };
        let version = object.version();
        self.objects.insert(key.as_str().to_owned(), object);
        version
    }

    fn delete_prefix(&mut self, prefix: &Prefix) {
        if prefix.is_root() {
            return self.objects.clear();
        }
        let mut below = self.objects.split_off(prefix.as_str());
        // "a0" is the first text after all that start with "a/".
        let end = format!("{}0", prefix.as_str().trim_end_matches('/'));
        let mut behind = below.split_off(&end);
        self.objects.append(&mut behind);
    }
}

impl Store for MemoryStore {
    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::inline();
        capabilities.copy = true;
        capabilities.put_ranges = true;
        capabilities
    }

    fn call<'a>(&'a self, op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        ready(match op {
            Op::Read(read) => self.get(read),
            Op::Head(head) => Ok(Answer::Head(
                unpoisoned(self.content.read()).objects.get(head.key.as_str()).map(Object::meta),
            )),
            Op::List(list) => self.list(list).map(Answer::List),
            Op::ListDir(list) => self.list_dir(list).map(Answer::ListDir),
            Op::Put(put) => self.put(put).map(Answer::Write),
            Op::PutRanges(put) => self.put_ranges(put).map(Answer::Write),
            Op::Delete(delete) => Ok(Answer::Write(self.delete(delete))),
            Op::DeletePrefix(prefix) => {
                unpoisoned(self.content.write()).delete_prefix(prefix);
                Ok(Answer::Done)
            }
            Op::Sync => Ok(Answer::Done),
            Op::Origin(key) => Ok(Answer::Origin(self.value(key).map(Origin::new))),
            Op::Copy(copy) => Ok(Answer::Copied(self.copy(copy))),
            op => op.unsupported(),
        })
    }
}

impl MemoryStore {
    fn get(&self, read: Read<'_>) -> StoreResult<Answer> {
        let object = unpoisoned(self.content.read()).objects.get(read.key.as_str()).cloned();
        object.map_or(Ok(Answer::Read(None)), |object| read.answer(&object.bytes, Some(object.version())))
    }

    fn list(&self, List { prefix, after, .. }: List<'_>) -> StoreResult<Page> {
        let start = match after {
            Some(after) if after.as_str() >= prefix.as_str() => Bound::Excluded(after.as_str()),
            _ => Bound::Included(prefix.as_str()),
        };
        let content = unpoisoned(self.content.read());
        let mut below = content.below(prefix.as_str(), start);
        let entries = below.by_ref().take(self.page).map(listed).collect::<StoreResult<_>>()?;
        Ok(Page::new(entries, below.next().is_some()))
    }

    fn list_dir(&self, ListDir { prefix, .. }: ListDir<'_>) -> StoreResult<Dir> {
        let content = unpoisoned(self.content.read());
        let mut dir = Dir::default();
        let mut start = prefix.as_str().to_owned();
        // One step per child: after a prefix `a/`, the next key outside it is at least `a0`.
        while let Some((key, object)) = content.below(prefix.as_str(), Bound::Included(&start)).next() {
            match key[prefix.as_str().len()..].split_once('/') {
                None => {
                    dir.objects.push(listed((key, object))?);
                    start = format!("{key}\0");
                }
                Some((name, _)) => {
                    dir.prefixes.push(prefix.child(name)?);
                    start = format!("{prefix}{name}0");
                }
            }
        }
        Ok(dir)
    }

    fn put(&self, put: Put<'_>) -> StoreResult<Outcome> {
        let bytes = Bytes::from(put.parts.concat());
        let mut content = unpoisoned(self.content.write());
        let now = content.objects.get(put.key.as_str());
        let holds = match put.mode {
            PutMode::Replace => true,
            PutMode::Create => now.is_none(),
            PutMode::IfUnchanged(version) => now.is_some_and(|object| object.is(version)),
            _ => return put.unsupported_mode(),
        };
        if !holds {
            return Ok(Outcome::Conflict);
        }
        Ok(Outcome::Done(Some(content.insert(put.key, bytes))))
    }

    /// Replaces ranges without a copy of the object, unless a reader still has its memory.
    fn put_ranges(&self, put: PutRanges<'_>) -> StoreResult<Outcome> {
        let parts = put.parts()?;
        let mut content = unpoisoned(self.content.write());
        let Some(object) = content.objects.get_mut(put.key.as_str()) else { return Ok(Outcome::Conflict) };
        if object.bytes.len() as u64 != put.size {
            return Ok(Outcome::Conflict);
        }
        // Takes the memory over if nobody else has it.
        let mut bytes = Vec::from(std::mem::take(&mut object.bytes));
        for (span, part) in parts {
            // Fits: the span is inside a value in memory.
            let start = usize::try_from(span.offset).unwrap_or(usize::MAX);
            bytes[start..start + part.len()].copy_from_slice(part);
        }
        Ok(Outcome::Done(Some(content.insert(put.key, bytes.into()))))
    }

    fn value(&self, key: &Key) -> Option<Bytes> {
        unpoisoned(self.content.read()).objects.get(key.as_str()).map(|object| object.bytes.clone())
    }

    /// The copy shares the memory of the object.
    fn copy(&self, copy: CopyFrom<'_>) -> Copied {
        let Some(bytes) = copy.origin.get::<Bytes>() else { return Copied::Unable };
        unpoisoned(self.content.write()).insert(copy.key, bytes.clone());
        Copied::Done
    }

    fn delete(&self, Delete { key, version, .. }: Delete<'_>) -> Outcome {
        let mut content = unpoisoned(self.content.write());
        if let (Some(version), Some(object)) = (version, content.objects.get(key.as_str()))
            && !object.is(version)
        {
            return Outcome::Conflict;
        }
        content.objects.remove(key.as_str());
        Outcome::Done(None)
    }
}

fn listed((key, object): (&str, &Object)) -> StoreResult<Listed> {
    Ok(Listed::new(Key::new(key)?).with_size(object.bytes.len() as u64).with_version(object.version()))
}

#[cfg(test)]
mod tests {
    use zarr_traits::{ByteRange, Storage, block_on, store::ReadVersion};

    use super::*;

    #[test]
    fn a_read_shares_the_memory_and_a_put_does_not() {
        let store = MemoryStore::new();
        let key = Key::new("k").unwrap();
        let mine = Bytes::from(vec![1; 100]);
        let storage = Storage::from(store);
        block_on(storage.put(&key, mine.clone())).unwrap();
        assert!(mine.is_unique(), "the caller gets its buffer back");
        let spans = [ByteRange::All, ByteRange::Span { offset: 10, len: 5 }];
        let reply = block_on(storage.get_ranges(&key, &spans, ReadVersion::Any, 200)).unwrap().unwrap();
        assert_eq!(reply.bytes[0][10..].as_ptr(), reply.bytes[1].as_ptr());
    }
}
