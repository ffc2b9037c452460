//! The handle of a directory store.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use zarr_traits::{
    BoxFuture, StoreResult,
    store::{Answer, Capabilities, Op, Origin, Store},
};

use crate::files::Files;
use crate::path::Root;
#[cfg(feature = "write")]
use crate::writing::Writing;

/// The least number of keys in one page of a listing.
const PAGE: usize = 1000;

/// A store in a directory: the key `a/b` is the file `a/b` below it. Cheap to clone.
#[derive(Clone)]
#[doc(alias("FilesystemStore", "LocalStore"))]
pub struct FsStore {
    pub(crate) root: Root,
    pub(crate) page: usize,
    /// The files that stay open, if any.
    pub(crate) files: Option<Arc<Files>>,
    #[cfg(feature = "write")]
    pub(crate) writing: Writing,
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
        Ok(Self {
            root: Root::open(path.as_ref())?,
            page: PAGE,
            files: None,
            #[cfg(feature = "write")]
            writing: Writing::default(),
        })
    }

    /// Returns the same store, which refuses to follow a link out of its directory: for untrusted data. Costs a fraction of
    /// a microsecond for each opened object.
    ///
    /// # Errors
    /// [`StoreErrorKind::Unsupported`](zarr_traits::StoreErrorKind::Unsupported) if the kernel lacks `openat2` (Linux 5.6).
    pub fn with_confinement(mut self) -> StoreResult<Self> {
        self.root = self.root.confined()?;
        Ok(self)
    }

    /// Returns the same store with at least `keys` keys in one page of a listing, if there are so many.
    #[must_use]
    pub fn with_page(mut self, keys: usize) -> Self {
        self.page = keys.max(1);
        self
    }

    /// Returns the same store, which keeps up to `files` files open after a part of them was read: for many small reads of
    /// the same uncompressed chunks or shards. Such a read makes two system calls instead of four, unless the store is
    /// confined.
    ///
    /// Each read checks that the file at the path is still the same, so nothing changes but the time. An open file that
    /// another program replaces or deletes takes space on the disk until the next read of its key, or until the store is
    /// dropped. Stay below the limit of open files of the process, often 1,024.
    ///
    /// ```no_run
    /// let store = zarr_store_fs::FsStore::open("weather.zarr")?.with_open_files(64);
    /// # Ok::<(), zarr_traits::StoreError>(())
    /// ```
    #[must_use]
    pub fn with_open_files(mut self, files: usize) -> Self {
        self.files = (files > 0).then(|| Arc::new(Files::new(files)));
        self
    }

    /// The directory, as it was given.
    pub fn path(&self) -> &Path {
        self.root.path()
    }
}

impl Store for FsStore {
    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::inline();
        capabilities.copy = true;
        capabilities.put_ranges = true;
        if cfg!(feature = "write") { capabilities } else { capabilities.read_only() }
    }

    fn location(&self) -> Option<String> {
        Some(self.path().display().to_string())
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
            Op::Origin(key) => Ok(Answer::Origin(self.opened(key)?.map(Origin::new))),
            #[cfg(feature = "write")]
            op => {
                let target = op.target();
                let done = self.change(op);
                self.files.iter().for_each(|files| files.forget(target));
                done
            }
            #[cfg(not(feature = "write"))]
            op => op.unsupported(),
        }
    }
}

impl fmt::Debug for FsStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut f = f.debug_struct("FsStore");
        f.field("path", &self.root.path()).field("confined", &self.root.is_confined());
        #[cfg(feature = "write")]
        f.field("durability", &self.writing.durability).field("single_writer", &self.writing.single_writer);
        f.finish_non_exhaustive()
    }
}
