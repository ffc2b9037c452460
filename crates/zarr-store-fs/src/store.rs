//! The handle of a directory store, and its options.

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

/// The default wait for a lock: longer than a write on a slow disk takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// The least number of keys in one page of a listing.
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

/// What is durable when a put returns. Readers always see the old value or the new one, whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Durability {
    /// The value survives a crash of this process. It survives a power cut only after
    /// [`Op::Sync`](zarr_traits::store::Op::Sync): the way to write many objects.
    #[default]
    Atomic,
    /// The value and its name are on the disk. This takes some milliseconds for each object.
    Durable,
}

/// The state that all clones of a store share.
#[derive(Default)]
pub(crate) struct Shared {
    random: RandomState,
    counter: AtomicU64,
    pub(crate) turns: Turns,
    /// The number of temporaries that still get a name at once.
    named: AtomicU32,
}

impl FsStore {
    /// Opens the store in the existing directory `path`.
    ///
    /// Other processes may write to it at the same time, as the documentation of the crate says. Within a process, open it
    /// once and clone it: threads with clones wake each other, but separately opened stores wait like processes.
    ///
    /// # Errors
    /// If there is no such directory, or it cannot be read.
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

    /// Opens the store in the directory `path`. Creates the directory and its parents if they do not exist.
    ///
    /// # Errors
    /// If the directory can neither be created nor opened.
    pub fn create(path: impl AsRef<Path>) -> StoreResult<Self> {
        let path = path.as_ref();
        if let Err(e) = std::fs::create_dir_all(path) {
            let errno = rustix::io::Errno::from_io_error(&e).unwrap_or(rustix::io::Errno::IO);
            return Err(failed(errno, format!("cannot create the directory {}", path.display())));
        }
        Self::open(path)
    }

    /// Returns the same store, which refuses to follow a link out of its directory: for untrusted data. Costs a fraction of
    /// a microsecond for each opened object.
    ///
    /// # Errors
    /// [`StoreErrorKind::Unsupported`](zarr_traits::StoreErrorKind::Unsupported) if the kernel lacks `openat2` (Linux 5.6).
    pub fn confined(mut self) -> StoreResult<Self> {
        self.root = self.root.confined()?;
        Ok(self)
    }

    /// Returns the same store with this durability of puts and deletes.
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Returns the same store without lock files: for a directory that no other process writes to, or a file system without
    /// locks. Saves about ten microseconds for each object.
    ///
    /// Puts stay atomic, and creation exclusive. Conditions of puts and deletes hold only among clones of one such store: a
    /// writer in another process loses updates, or its updates are lost.
    #[must_use]
    pub fn single_writer(mut self) -> Self {
        self.single_writer = true;
        self
    }

    /// Returns the same store with this limit on the wait for an object that others are writing; the default is a minute.
    /// After it a put or delete fails with an error that names the lock file.
    #[must_use]
    pub fn with_lock_timeout(mut self, longest: Duration) -> Self {
        self.patience = longest;
        self
    }

    /// Returns the same store with at least `keys` keys in one page of a listing, if there are so many.
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
    /// Returns a number that no other store uses: random for each store, then counted. (A forked process counts the same
    /// numbers; files with these names are created exclusively.)
    pub(crate) fn unique(&self) -> u64 {
        self.random.hash_one(self.counter.fetch_add(1, Ordering::Relaxed))
    }

    /// Whether the next temporary gets a name at once.
    pub(crate) fn is_to_be_named(&self) -> bool {
        self.named.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_ok()
    }

    /// Makes the next `count` temporaries get a name at once.
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
