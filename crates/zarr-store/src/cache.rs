//! Values that were read once are answered from memory.

mod answer;
mod shelf;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use zarr_traits::store::copy_into;
use zarr_traits::{
    BoxFuture, ByteRange, Bytes, Capabilities, Filled, If, Key, Outcome, Prefix, Put, ReadStore, Reply, Stat,
    Storage, StoreError, StoreErrorKind, StoreResult, Version, WriteStore,
};

use crate::call::{Call, Operation, lists_around, pass};
use answer::{Answered, cut};
use shelf::{Found, Is, News, Shelf};

/// What a cache keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheOptions {
    /// Bytes of memory that all of it may take, keys and bookkeeping included; 256 MiB.
    pub budget: u64,
    /// The largest value, or range of a value, that is kept, in bytes; 16 MiB.
    pub largest: u64,
    /// How long the store is believed: an object that was read longer ago is read again. `None`, which is the default: for
    /// ever, which is right for data that nobody else changes.
    pub max_age: Option<Duration>,
    /// Whether it is remembered that there is no object at a key; yes.
    pub absent: bool,
}

impl Default for CacheOptions {
    fn default() -> Self {
        Self { budget: 256 << 20, largest: 16 << 20, max_age: None, absent: true }
    }
}

/// The layer that keeps what was read: whole values, ranges of larger ones, and which keys are absent. What was used longest
/// ago goes first. Its clones share what they keep.
///
/// **What may be relied on.** All bytes of one answer are of one version of the object. A read that is
/// [pinned](If::Pinned) to a version is answered from memory if that is the version kept, else it goes to the store. A write
/// through this layer, also one that fails or is dropped, makes it forget the key; so does a conflict, and an answer of
/// the store that contradicts what is kept. So a read-modify-write meets a value that others have replaced at most once.
/// What others write is seen no later than `max_age` after it.
///
/// **What is not done.** Listings are not kept. Readers who ask for the same thing at the same time, before it is there,
/// make a request each. Of a store without versions, only what one answer held serves the next ones. A version that its store
/// calls [young](Version::young) is not kept at all.
///
/// ```
/// # use zarr_store::{CacheOptions, Cached, Counting, MemoryStore};
/// # use zarr_traits::{Key, Storage, block_on};
/// let (below, counting) = Counting::over(&Storage::from(MemoryStore::new()));
/// let (storage, cached) = Cached::over(&below, CacheOptions::default());
/// let key = Key::new("zarr.json")?;
/// block_on(storage.put(&key, "{}"))?;
/// for _ in 0..3 {
///     assert_eq!(block_on(storage.get(&key))?.unwrap(), "{}");
/// }
/// assert_eq!(counting.counts().reads(), 1);
/// assert_eq!((cached.counts().hits, cached.counts().misses), (2, 1));
/// # Ok::<(), zarr_traits::StoreError>(())
/// ```
#[derive(Clone)]
pub struct Cached {
    storage: Storage,
    options: CacheOptions,
    state: Arc<Mutex<State>>,
}

struct State {
    shelf: Shelf,
    hits: u64,
    misses: u64,
    served: u64,
}

/// What a cache has done so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CacheCounts {
    /// Reads that were answered without the store.
    pub hits: u64,
    /// Reads that the store was asked for, if only for a part.
    pub misses: u64,
    /// Bytes of values that came from memory.
    pub served: u64,
    /// Bytes of memory that are taken now.
    pub held: u64,
    /// Values and ranges that had to go to make room.
    pub evictions: u64,
}

impl Cached {
    /// `storage` behind a cache, and the cache itself.
    pub fn over(storage: &Storage, options: CacheOptions) -> (Storage, Self) {
        let state = State { shelf: Shelf::new(options.budget), hits: 0, misses: 0, served: 0 };
        let layer = Self { storage: storage.clone(), options, state: Arc::new(Mutex::new(state)) };
        (storage.overlay(layer.clone()), layer)
    }

    /// What was done so far.
    pub fn counts(&self) -> CacheCounts {
        let State { shelf, hits, misses, served } = &*self.state();
        CacheCounts {
            hits: *hits,
            misses: *misses,
            served: *served,
            held: shelf.bytes(),
            evictions: shelf.evictions,
        }
    }

    /// Forgets everything: for who knows that others have written.
    pub fn clear(&self) {
        self.state().shelf.written_below(&Prefix::root());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is kept of `ranges`.
    fn find(&self, key: &Key, ranges: &[ByteRange], condition: If<'_>) -> Seen {
        let until = self.options.max_age.and_then(|age| Instant::now().checked_add(age));
        let mut state = self.state();
        let asked = Asked { mark: state.shelf.mark(key), until };
        let found = state.shelf.find(key, ranges, condition);
        let whole = found.missing() == Some(0);
        state.hits += u64::from(whole);
        state.misses += u64::from(!whole);
        Seen { found, asked }
    }

    fn forget(&self, key: &Key) {
        self.state().shelf.forget(key);
    }

    /// Keeps what the store has answered to a read, or forgets what that contradicts.
    fn keep(&self, key: &Key, asked: Asked, answer: &Answered<'_>) {
        match answer.news(self.options.largest, asked.until) {
            Some(news) => self.state().shelf.keep(key, news, asked.mark),
            None => self.forget(key),
        }
    }

    /// The store has said that there is no such object.
    fn keep_absent(&self, key: &Key, asked: Asked, condition: If<'_>) {
        if !self.options.absent || matches!(condition, If::Pinned(_)) {
            return self.forget(key);
        }
        let news = News { is: Is::Absent, parts: Vec::new(), current: true, until: asked.until };
        self.state().shelf.keep(key, news, asked.mark);
    }

    /// What the store has refused contradicts what is kept.
    fn refused(&self, key: &Key, error: StoreError) -> StoreError {
        use StoreErrorKind::{Changed, RangeNotSatisfiable};
        if matches!(error.kind(), Changed | RangeNotSatisfiable { .. }) {
            self.forget(key);
        }
        error
    }

    /// Asks the store, and keeps the answer.
    async fn ask(
        &self,
        key: &Key,
        ranges: &[ByteRange],
        condition: If<'_>,
        asked: Asked,
    ) -> StoreResult<Option<Reply>> {
        let reply = self.storage.reader().get_ranges(key, ranges, versioned(condition)).await;
        let Some(reply) = reply.map_err(|e| self.refused(key, e))? else {
            self.keep_absent(key, asked, condition);
            return Ok(None);
        };
        let parts = reply.bytes.iter().map(|bytes| &bytes[..]).collect();
        let pinned = if let If::Pinned(version) = condition { Some(version) } else { None };
        let (version, size) = (reply.version.as_ref().or(pinned), reply.size);
        self.keep(key, asked, &Answered { ranges, parts, version, size, condition });
        Ok(Some(reply))
    }

    /// Fills up what was found of some version with the rest of it; `None`: that version is no more.
    async fn fill(
        &self,
        key: &Key,
        ranges: &[ByteRange],
        asked: Asked,
        bytes: &mut [Option<Bytes>],
        version: &Version,
    ) -> StoreResult<Option<()>> {
        let missing = ranges.iter().zip(&*bytes).filter(|(_, bytes)| bytes.is_none());
        let missing: Vec<ByteRange> = missing.map(|(range, _)| *range).collect();
        let reply = match self.ask(key, &missing, If::Pinned(version), asked).await {
            Err(e) if e.kind() == StoreErrorKind::Changed => None,
            reply => reply?,
        };
        let Some(reply) = reply.filter(|reply| reply.bytes.len() == missing.len()) else { return Ok(None) };
        let holes = bytes.iter_mut().filter(|bytes| bytes.is_none());
        holes.zip(reply.bytes).for_each(|(hole, bytes)| *hole = Some(bytes));
        Ok(Some(()))
    }

    /// The answer, from what is kept and from the store.
    async fn read(
        &self,
        key: &Key,
        ranges: &[ByteRange],
        condition: If<'_>,
        Seen { found, asked }: Seen,
    ) -> StoreResult<Option<Reply>> {
        let missing = found.missing();
        let reply = match found {
            Found::Absent => return Ok(None),
            Found::Present { mut bytes, version, size } => {
                let held: u64 = bytes.iter().flatten().map(|bytes| bytes.len() as u64).sum();
                let filled = match &version {
                    _ if missing == Some(0) => Some(()),
                    Some(version) if missing < Some(bytes.len()) => {
                        self.fill(key, ranges, asked, &mut bytes, version).await?
                    }
                    _ => None,
                };
                if filled.is_some() {
                    self.state().served += held;
                }
                filled.map(|()| Reply { bytes: bytes.into_iter().flatten().collect(), size, version })
            }
            Found::Nothing => None,
        };
        let reply = match reply {
            Some(reply) => Some(reply),
            None => self.ask(key, ranges, condition, asked).await?,
        };
        Ok(reply.map(|reply| Reply { version: wanted(reply.version, condition), ..reply }))
    }
}

/// What was found in a cache, and when.
struct Seen {
    found: Found,
    asked: Asked,
}

/// When something was asked for.
#[derive(Clone, Copy)]
struct Asked {
    /// The [mark](Shelf::mark) of the key then.
    mark: u64,
    /// Until when the answer holds; `None`: for ever.
    until: Option<Instant>,
}

impl Seen {
    /// Whether any bytes are there, or nothing has to be.
    fn helps(&self) -> bool {
        match (&self.found, self.found.missing()) {
            (Found::Present { bytes, .. }, Some(missing)) => missing == 0 || missing < bytes.len(),
            (_, missing) => missing.is_some(),
        }
    }
}

/// What is kept has a version.
fn versioned(condition: If<'_>) -> If<'_> {
    if matches!(condition, If::Any) { If::Versioned } else { condition }
}

fn wanted(version: Option<Version>, condition: If<'_>) -> Option<Version> {
    version.filter(|_| !matches!(condition, If::Any))
}

/// Forgets a key when a write to it has ended, however it has: also when its future was dropped.
struct Writing<'a> {
    layer: &'a Cached,
    what: Target<'a>,
}

enum Target<'a> {
    Key(&'a Key),
    Below(&'a Prefix),
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        let shelf = &mut self.layer.state().shelf;
        match self.what {
            Target::Key(key) => shelf.written(key),
            Target::Below(prefix) => shelf.written_below(prefix),
        }
    }
}

impl fmt::Debug for Cached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cached")
            .field("storage", &self.storage)
            .field("options", &self.options)
            .field("counts", &self.counts())
            .finish()
    }
}

impl ReadStore for Cached {
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
            let seen = self.find(key, ranges, condition);
            self.read(key, ranges, condition, seen).await
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
            let seen = self.find(key, ranges, condition);
            if seen.helps() {
                let reply = self.read(key, ranges, condition, seen).await?;
                let filled = reply.map(|reply| copy_into(reply, ranges, into)).transpose();
                return filled.map_err(|e| e.with_key(key));
            }
            let filled = self.storage.reader().read_into(key, ranges, versioned(condition), into).await;
            let Some(filled) = filled.map_err(|e| self.refused(key, e))? else {
                self.keep_absent(key, seen.asked, condition);
                return Ok(None);
            };
            match cut(into, filled.len, ranges, filled.size) {
                Some(parts) => {
                    let (version, size) = (filled.version.as_ref(), filled.size);
                    self.keep(key, seen.asked, &Answered { ranges, parts, version, size, condition });
                }
                None => self.forget(key),
            }
            Ok(Some(Filled { version: wanted(filled.version, condition), ..filled }))
        })
    }

    fn size<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, StoreResult<Option<Stat>>> {
        Box::pin(async move {
            // Found when the size is known.
            let nothing = [ByteRange::Span { offset: 0, len: 0 }];
            let Seen { found, asked } = self.find(key, &nothing, If::Versioned);
            match found {
                Found::Absent => return Ok(None),
                Found::Present { size: Some(size), version, .. } => {
                    return Ok(Some(Stat { size, version }));
                }
                _ => {}
            }
            let stat = self.storage.reader().size(key).await?;
            match &stat {
                None => self.keep_absent(key, asked, If::Versioned),
                // Without a version it says nothing about what was read, and what was read nothing about it.
                Some(stat) if stat.version.is_some() => {
                    let (version, size) = (stat.version.as_ref(), Some(stat.size));
                    let answer =
                        Answered { ranges: &[], parts: Vec::new(), version, size, condition: If::Versioned };
                    self.keep(key, asked, &answer);
                }
                Some(_) => {}
            }
            Ok(stat)
        })
    }
}

lists_around!(Cached, pass);

impl WriteStore for Cached {
    fn put<'a>(
        &'a self,
        key: &'a Key,
        parts: &'a [Bytes],
        how: Put<'a>,
    ) -> BoxFuture<'a, StoreResult<Outcome>> {
        Box::pin(async move {
            let _writing = Writing { layer: self, what: Target::Key(key) };
            self.storage.writer()?.put(key, parts, how).await
        })
    }

    fn delete<'a>(
        &'a self,
        key: &'a Key,
        version: Option<&'a Version>,
    ) -> BoxFuture<'a, StoreResult<Outcome>> {
        Box::pin(async move {
            let _writing = Writing { layer: self, what: Target::Key(key) };
            self.storage.writer()?.delete(key, version).await
        })
    }

    fn delete_prefix<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, StoreResult<()>> {
        Box::pin(async move {
            let _writing = Writing { layer: self, what: Target::Below(prefix) };
            self.storage.writer()?.delete_prefix(prefix).await
        })
    }

    fn sync(&self) -> BoxFuture<'_, StoreResult<()>> {
        Box::pin(async move { self.storage.writer()?.sync().await })
    }
}
