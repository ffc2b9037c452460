//! The handle: how a directory becomes a store, and what can be chosen.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use zarr_traits::{
    BoxFuture, StoreResult,
    store::{Answer, Capabilities, Op, Origin, Store},
};

use crate::path::{Root, failed};
use crate::turn::Turns;

/// How long to wait for a lock: longer than an honest write on a slow disk.
const PATIENCE: Duration = Duration::from_secs(60);

/// Keys in one page of a listing, at least.
const PAGE: usize = 1000;

/// A store in a directory: the key `a/b` is the file `a/b` below it. Cheap to clone.
#[derive(Clone)]
pub struct FsStore {
    pub(crate) root: Root,
    pub(crate) durability: Durability,
    pub(crate) page: usize,
    pub(crate) patience: Duration,
    pub(crate) single_writer: bool,
    pub(crate) shared: Arc<Shared>,
}

/// What a put has done once it returns. In any case a reader sees the old value or the new one, whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Durability {
    /// The value is there, also after this process crashes. After a power cut it may be gone, unless
    /// [`Op::Sync`](zarr_traits::store::Op::Sync) was performed: the way to write many objects.
    #[default]
    Atomic,
    /// The value is on the disk, and so is its name. Some milliseconds for each object.
    Durable,
}

/// What all clones of a store share.
#[derive(Default)]
pub(crate) struct Shared {
    random: RandomState,
    counter: AtomicU64,
    pub(crate) turns: Turns,
    /// How many of the next temporaries get a name at once.
    named: AtomicU32,
}

impl FsStore {
    /// The store in the directory `path`, which exists.
    ///
    /// Other processes may write to it at the same time, as the crate's documentation says. Within one it is best to open
    /// it once and clone it: threads with clones wake each other, those with stores of their own wait as processes do.
    ///
    /// # Errors
    /// When there is no such directory, or it cannot be read.
    pub fn open(path: impl AsRef<Path>) -> StoreResult<Self> {
        let root = Root::open(path.as_ref())?;
        Ok(Self {
            root,
            durability: Durability::default(),
            page: PAGE,
            patience: PATIENCE,
            single_writer: false,
            shared: Arc::default(),
        })
    }

    /// The store in the directory `path`, which is created, with its parents, unless it exists.
    ///
    /// # Errors
    /// When the directory can neither be created nor opened.
    pub fn create(path: impl AsRef<Path>) -> StoreResult<Self> {
        let path = path.as_ref();
        if let Err(e) = std::fs::create_dir_all(path) {
            let errno = rustix::io::Errno::from_io_error(&e).unwrap_or(rustix::io::Errno::IO);
            return Err(failed(errno, format!("cannot create the directory {}", path.display())));
        }
        Self::open(path)
    }

    /// The same store, which refuses to follow a link that leads out of its directory: for data from strangers.
    /// Costs a fraction of a microsecond for each object opened.
    ///
    /// # Errors
    /// [`StoreErrorKind::Unsupported`](zarr_traits::StoreErrorKind::Unsupported) where the kernel cannot do it (it is
    /// `openat2` of Linux 5.6).
    pub fn confined(mut self) -> StoreResult<Self> {
        self.root = self.root.confined()?;
        Ok(self)
    }

    /// The same store with puts and deletes as durable as this.
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// The same store without lock files: for a directory that no other process writes to, or a file system without
    /// locks. Saves some ten microseconds for each object.
    ///
    /// Puts stay atomic, and creation exclusive. But conditions of puts and deletes hold only among the clones of one store
    /// that were all made this way: a writer in another process loses updates, or its updates are lost.
    #[must_use]
    pub fn single_writer(mut self) -> Self {
        self.single_writer = true;
        self
    }

    /// The same store, which waits this long for an object that others are writing, instead of a minute. Then the put
    /// or delete fails with an error that names the lock file.
    #[must_use]
    pub fn with_lock_timeout(mut self, longest: Duration) -> Self {
        self.patience = longest;
        self
    }

    /// The same store with at least `keys` keys in one page of a listing, as far as there are so many.
    #[must_use]
    pub fn with_page(mut self, keys: usize) -> Self {
        self.page = keys.max(1);
        self
    }

    /// The directory, as it was given.
    pub fn path(&self) -> &Path {
        self.root.path()
    }
}

impl Shared {
    /// A number that nobody else uses: random for each store, counted within. (A process that is forked off counts the
    /// same numbers; files of these names are created exclusively.)
    pub(crate) fn unique(&self) -> u64 {
        self.random.hash_one(self.counter.fetch_add(1, Ordering::Relaxed))
    }

    /// Whether the next temporary gets a name at once.
    pub(crate) fn is_to_be_named(&self) -> bool {
        self.named.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_ok()
    }

    /// Lets so many of the next temporaries get a name at once.
    pub(crate) fn name_next(&self, temporaries: u32) {
        self.named.fetch_max(temporaries, Ordering::Relaxed);
    }
}

impl Store for FsStore {
    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::inline();
        capabilities.copy = true;
        capabilities
    }

    /// Each operation does its work when it is first polled.
    fn call<'a>(&'a self, op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        Box::pin(async move {
            let target = op.target();
            self.perform(op).map_err(|e| e.with_key(target))
        })
    }
}

impl FsStore {
    fn perform(&self, op: Op<'_>) -> StoreResult<Answer> {
        match op {
            Op::Read(read) => self.read(read).map(Answer::Read),
            Op::Head(head) => self.head(head.key).map(Answer::Head),
            Op::List(list) => self.list(list).map(Answer::List),
            Op::ListDir(list) => self.list_dir(list).map(Answer::ListDir),
            Op::Put(put) => self.put(put).map(Answer::Write),
            Op::Delete(delete) => self.remove(delete.key, delete.version).map(Answer::Write),
            Op::DeletePrefix(prefix) => self.remove_prefix(prefix).map(|()| Answer::Done),
            Op::Sync => self.flush().map(|()| Answer::Done),
            Op::Origin(key) => Ok(Answer::Origin(self.opened(key)?.map(Origin::new))),
            Op::Copy(copy) => self.copy(copy).map(Answer::Copied),
            op => op.unsupported(),
        }
    }
}

impl fmt::Debug for FsStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FsStore")
            .field("path", &self.root.path())
            .field("confined", &self.root.is_confined())
            .field("durability", &self.durability)
            .field("single_writer", &self.single_writer)
            .finish_non_exhaustive()
    }
}
