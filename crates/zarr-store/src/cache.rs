//! A cache: values that were read once are answered from memory.

mod answer;
mod shelf;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use zarr_traits::lock::unpoisoned;
use zarr_traits::{
    BoxFuture, ByteRange, Bytes, Key, Prefix, Storage, StoreError, StoreErrorKind, StoreResult, Version,
    store::{Answer, Capabilities, ObjectMeta, Op, Read, ReadBuffer, ReadVersion, Store},
};

use answer::Answered;
use shelf::{Found, Is, News, Shelf};

/// The options of a cache.
///
/// ```
/// # use std::time::Duration;
/// # use zarr_store::CacheOptions;
/// let options = CacheOptions::default().budget(1 << 30).max_age(Duration::from_secs(60));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheOptions {
    /// The most memory of the cache in bytes, with keys and bookkeeping. Default: 256 MiB.
    pub budget: u64,
    /// The largest value, or range of a value, that is kept, in bytes. Default: 16 MiB.
    pub largest: u64,
    /// The time after which an object is read again. The default, `None`, means never, which is right for data that no
    /// other writer changes.
    pub max_age: Option<Duration>,
    /// Whether the absence of an object is kept. Default: yes.
    pub absent: bool,
}

impl Default for CacheOptions {
    fn default() -> Self {
        Self { budget: 256 << 20, largest: 16 << 20, max_age: None, absent: true }
    }
}

impl CacheOptions {
    /// Sets the most memory of the cache, in bytes.
    #[must_use]
    pub fn budget(self, budget: u64) -> Self {
        Self { budget, ..self }
    }

    /// Sets the size of the largest value, or range of a value, that is kept, in bytes.
    #[must_use]
    pub fn largest(self, largest: u64) -> Self {
        Self { largest, ..self }
    }

    /// Sets the time after which an object is read again; `None` means never.
    #[must_use]
    pub fn max_age(self, max_age: impl Into<Option<Duration>>) -> Self {
        Self { max_age: max_age.into(), ..self }
    }

    /// Sets whether the absence of an object is kept.
    #[must_use]
    pub fn absent(self, absent: bool) -> Self {
        Self { absent, ..self }
    }
}

/// The layer that keeps values, ranges of larger values, and which keys are absent. The least recently used parts are
/// dropped first. Clones share the cache.
///
/// **Guarantees.** All bytes of one answer are of one version of the object. A read that is
/// [pinned](ReadVersion::Pinned) to a version is answered from memory if that version is kept; otherwise it goes to the
/// store. A write through this layer, even one that fails or is dropped, removes the key from the cache; so do a
/// conflict and an answer of the store that contradicts the cache. So a read-modify-write gets a stale value at most
/// once. Changes by other writers are seen after `max_age` at the latest.
///
/// **Limits.** Listings are not kept. Concurrent reads of the same value that is not yet kept make one request each. In
/// a store without versions, a read is answered only from bytes of one earlier answer. A version that its store calls
/// [young](Version::young) is not kept.
///
/// ```
/// # use zarr_store::{CacheOptions, Cached, MemoryStore};
/// # use zarr_conformance::instruments::Counting;
/// # use zarr_traits::{Key, Storage, block_on};
/// let (below, counting) = Counting::over(&Storage::from(MemoryStore::new()));
/// let (storage, cached) = Cached::over(&below, CacheOptions::default());
/// let key = Key::new("zarr.json")?;
/// block_on(storage.put(&key, "{}"))?;
/// for _ in 0..3 {
///     assert_eq!(block_on(storage.get(&key, 100))?.unwrap(), "{}");
/// }
/// assert_eq!(counting.counts().reads, 1);
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

/// The statistics of a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CacheCounts {
    /// The number of reads answered without the store.
    pub hits: u64,
    /// The number of reads that needed the store, at least for a part.
    pub misses: u64,
    /// The number of bytes answered from memory.
    pub served: u64,
    /// The number of bytes of memory in use now.
    pub held: u64,
    /// The number of values and ranges dropped to make room.
    pub evictions: u64,
}

impl Cached {
    /// Returns `storage` behind a cache, and the cache itself.
    pub fn over(storage: &Storage, options: CacheOptions) -> (Storage, Self) {
        let state = State { shelf: Shelf::new(options.budget), hits: 0, misses: 0, served: 0 };
        let layer = Self { storage: storage.clone(), options, state: Arc::new(Mutex::new(state)) };
        (storage.overlay(layer.clone()), layer)
    }

    /// Returns the statistics so far.
    pub fn counts(&self) -> CacheCounts {
        let State { shelf, hits, misses, served } = &*unpoisoned(self.state.lock());
        CacheCounts {
            hits: *hits,
            misses: *misses,
            served: *served,
            held: shelf.bytes(),
            evictions: shelf.evictions,
        }
    }

    /// Empties the cache, for example after another writer changed the store.
    pub fn clear(&self) {
        unpoisoned(self.state.lock()).shelf.written_below(&Prefix::root());
    }

    /// Returns the kept bytes of `ranges`.
    fn find(&self, key: &Key, ranges: &[ByteRange], wanted: ReadVersion<'_>) -> Seen {
        let until = self.options.max_age.and_then(|age| Instant::now().checked_add(age));
        let mut state = unpoisoned(self.state.lock());
        let asked = Asked { mark: state.shelf.mark(key), until };
        let found = state.shelf.find(key, ranges, wanted);
        let whole = found.missing() == Some(0);
        state.hits += u64::from(whole);
        state.misses += u64::from(!whole);
        Seen { found, asked }
    }

    fn forget(&self, key: &Key) {
        unpoisoned(self.state.lock()).shelf.forget(key);
    }

    /// Keeps an answer of the store, or forgets the key if the answer contradicts the cache.
    fn keep(&self, key: &Key, asked: Asked, answer: &Answered<'_>) {
        match answer.news(self.options.largest, asked.until) {
            Some(news) => unpoisoned(self.state.lock()).shelf.keep(key, news, asked.mark),
            None => self.forget(key),
        }
    }

    /// Keeps the answer that an object does not exist.
    fn keep_absent(&self, key: &Key, asked: Asked, wanted: ReadVersion<'_>) {
        if !self.options.absent || matches!(wanted, ReadVersion::Pinned(_)) {
            return self.forget(key);
        }
        let news = News { is: Is::Absent, parts: Vec::new(), current: true, until: asked.until };
        unpoisoned(self.state.lock()).shelf.keep(key, news, asked.mark);
    }

    /// Forgets the key if an error of the store contradicts the cache. Returns the error.
    fn refused(&self, key: &Key, error: StoreError) -> StoreError {
        use StoreErrorKind::{Changed, RangeNotSatisfiable};
        if matches!(error.kind(), Changed | RangeNotSatisfiable { .. }) {
            self.forget(key);
        }
        error
    }

    /// Reads from the store below and keeps the answer.
    async fn ask(&self, read: Read<'_>, asked: Asked) -> StoreResult<Option<ObjectMeta>> {
        let (key, ranges, wanted, into) = (read.key, read.ranges, read.version, read.into);
        let below = Read::new(key, ranges, &mut *into).version(reported(wanted));
        let Some(mut meta) = self.storage.read(below).await.map_err(|e| self.refused(key, e))? else {
            self.keep_absent(key, asked, wanted);
            return Ok(None);
        };
        let pinned = if let ReadVersion::Pinned(version) = wanted { Some(version) } else { None };
        let (version, size) = (meta.version.as_ref().or(pinned), meta.size);
        match into.parts(ranges, size) {
            Some(parts) => self.keep(key, asked, &Answered { ranges, parts, version, size, wanted }),
            None => self.forget(key),
        }
        meta.version = meta.version.filter(|_| !matches!(wanted, ReadVersion::Any));
        Ok(Some(meta))
    }

    /// Reads the missing ranges of a version from the store. Returns `None` if that version is gone.
    async fn fill(
        &self,
        read: &Read<'_>,
        asked: Asked,
        bytes: &mut [Option<Bytes>],
        version: &Version,
    ) -> StoreResult<Option<()>> {
        let missing = read.ranges.iter().zip(&*bytes).filter(|(_, bytes)| bytes.is_none());
        let missing: Vec<ByteRange> = missing.map(|(range, _)| *range).collect();
        let held: u64 = bytes.iter().flatten().map(|bytes| bytes.len() as u64).sum();
        let mut buffer = ReadBuffer::new(read.into.limit().saturating_sub(held));
        let rest = Read::new(read.key, &missing, &mut buffer).version(ReadVersion::Pinned(version));
        let meta = match self.ask(rest, asked).await {
            Err(e) if e.kind() == StoreErrorKind::Changed => None,
            meta => meta?,
        };
        let Some(parts) = meta.and_then(|meta| buffer.into_parts(&missing, meta.size)) else {
            return Ok(None);
        };
        let holes = bytes.iter_mut().filter(|bytes| bytes.is_none());
        holes.zip(parts).for_each(|(hole, bytes)| *hole = Some(bytes));
        Ok(Some(()))
    }

    /// Answers a read from the cache and the store.
    async fn read(&self, read: Read<'_>) -> StoreResult<Option<ObjectMeta>> {
        let Seen { found, asked } = self.find(read.key, read.ranges, read.version);
        let missing = found.missing();
        let (mut bytes, version, size) = match found {
            Found::Absent => return Ok(None),
            Found::Nothing => return self.ask(read, asked).await,
            Found::Present { bytes, version, size } => (bytes, version, size),
        };
        let held: u64 = bytes.iter().flatten().map(|bytes| bytes.len() as u64).sum();
        let filled = match &version {
            _ if missing == Some(0) => Some(()),
            Some(version) if missing < Some(bytes.len()) => {
                self.fill(&read, asked, &mut bytes, version).await?
            }
            _ => None,
        };
        if filled.is_none() {
            return self.ask(read, asked).await;
        }
        unpoisoned(self.state.lock()).served += held;
        for part in bytes.into_iter().flatten() {
            read.into.share(part).map_err(|e| e.with_key(read.key))?;
        }
        let version = version.filter(|_| !matches!(read.version, ReadVersion::Any));
        Ok(Some(ObjectMeta::new(size, version)))
    }

    /// Returns the size and the version, from the cache or the store.
    async fn head(&self, key: &Key) -> StoreResult<Option<ObjectMeta>> {
        // The cache finds an empty range if the size is known.
        let (empty, wanted) = ([ByteRange::Span { offset: 0, len: 0 }], ReadVersion::Report);
        let Seen { found, asked } = self.find(key, &empty, wanted);
        match found {
            Found::Absent => return Ok(None),
            Found::Present { size: size @ Some(_), version, .. } => {
                return Ok(Some(ObjectMeta::new(size, version)));
            }
            _ => {}
        }
        let meta = self.storage.head(key).await?;
        match &meta {
            None => self.keep_absent(key, asked, wanted),
            // Without a version, the size may not belong to the bytes of other reads.
            Some(ObjectMeta { size, version: version @ Some(_), .. }) => {
                let (version, size) = (version.as_ref(), *size);
                self.keep(key, asked, &Answered { ranges: &[], parts: Vec::new(), version, size, wanted });
            }
            Some(_) => {}
        }
        Ok(meta)
    }

    /// Performs a write and forgets the keys that it may have changed.
    async fn write(&self, op: Op<'_>) -> StoreResult<Answer> {
        let what = match &op {
            Op::Put(put) => Some(Target::Key(put.key)),
            Op::PutRanges(put) => Some(Target::Key(put.key)),
            Op::Delete(delete) => Some(Target::Key(delete.key)),
            Op::Copy(copy) => Some(Target::Key(copy.key)),
            Op::DeletePrefix(prefix) => Some(Target::Below(prefix)),
            _ => None,
        };
        let _writing = what.map(|what| Writing { layer: self, what });
        self.storage.call(op).await
    }
}

/// The kept bytes of a read, and the time of the read.
struct Seen {
    found: Found,
    asked: Asked,
}

/// The time of a read.
#[derive(Clone, Copy)]
struct Asked {
    /// The [mark](Shelf::mark) of the key at that time.
    mark: u64,
    /// The time until which the answer is valid, or `None` for no limit.
    until: Option<Instant>,
}

/// Asks the store for the version in any case, because the cache needs it.
fn reported(wanted: ReadVersion<'_>) -> ReadVersion<'_> {
    if matches!(wanted, ReadVersion::Any) { ReadVersion::Report } else { wanted }
}

/// Forgets a key when a write to it ends, even if its future is dropped.
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
        let shelf = &mut unpoisoned(self.layer.state.lock()).shelf;
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

impl Store for Cached {
    fn capabilities(&self) -> Capabilities {
        self.storage.capabilities()
    }

    fn call<'a>(&'a self, op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        match op {
            Op::Read(read) => Box::pin(async move { self.read(read).await.map(Answer::Read) }),
            Op::Head(head) => Box::pin(async move { self.head(head.key).await.map(Answer::Head) }),
            op if op.writes() => Box::pin(self.write(op)),
            op => self.storage.call(op),
        }
    }
}
