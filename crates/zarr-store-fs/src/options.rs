//! Stores that write: how they are created and set up, and which operations they perform.

use std::path::Path;
use std::time::Duration;

use rustix::io::Errno;
use zarr_traits::{
    StoreResult,
    store::{Answer, Op},
};

use crate::path::failed;
use crate::store::FsStore;
use zarr_store::Durability;

impl FsStore {
    /// Opens the store in the directory `path`. Creates the directory and its parents if they do not exist.
    ///
    /// # Errors
    /// If the directory can neither be created nor opened.
    pub fn create(path: impl AsRef<Path>) -> StoreResult<Self> {
        let path = path.as_ref();
        if let Err(e) = std::fs::create_dir_all(path) {
            let errno = Errno::from_io_error(&e).unwrap_or(Errno::IO);
            let shown = zarr_store::redacted(&path.to_string_lossy());
            return Err(failed(errno, format!("cannot create the directory {shown}")));
        }
        Self::open(path)
    }

    /// Returns the same store with this durability of puts and deletes.
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.writing.durability = durability;
        self
    }

    /// Returns the same store without lock files: for a directory that no other process writes to, or a file system without
    /// locks. Saves about ten microseconds for each object.
    ///
    /// Puts stay atomic, and creation exclusive. Conditions of puts and deletes hold only among clones of one such store: a
    /// writer in another process loses updates, or its updates are lost.
    #[must_use]
    pub fn with_single_writer(mut self) -> Self {
        self.writing.single_writer = true;
        self
    }

    /// Returns the same store, for a directory that nobody reads and nobody moves until it is complete, such as a copy that grows
    /// under a hidden name: a copy of a file is made under the name of the object, with half of the system calls. Includes
    /// [`with_single_writer`](Self::with_single_writer).
    ///
    /// A copy is not atomic there: a process that dies leaves a part of an object. So whoever continues compares the objects with
    /// those that were copied. Puts stay atomic, and an object that exists is replaced as always.
    #[must_use]
    pub fn with_no_readers(self) -> Self {
        let mut store = self.with_single_writer();
        store.writing.no_readers = true;
        store
    }

    /// Returns the same store, which writes a part of an uncompressed chunk into its file: for frequent small updates of
    /// large chunks. By default a copy of the file takes its place, which takes the time of copying the whole chunk. All
    /// other puts replace their file as always.
    ///
    /// This gives up that such an update is atomic:
    ///
    /// - A reader beside it may see a part of the new elements, also in a version that it has pinned.
    /// - If the process dies or the disk is full, a part of the elements may be written. The call then returns an error of
    ///   kind [`Uncertain`](zarr_traits::StoreErrorKind::Uncertain), if it returns.
    /// - Hard links to the file, such as those of a snapshot, show the new elements as well.
    ///
    /// Writers still wait for each other, and lose no update.
    ///
    /// ```no_run
    /// let store = zarr_store_fs::FsStore::open("weather.zarr")?.with_updates_in_place();
    /// # Ok::<(), zarr_traits::StoreError>(())
    /// ```
    #[must_use]
    pub fn with_updates_in_place(mut self) -> Self {
        self.writing.in_place = true;
        self
    }

    /// Returns the same store with this limit on the wait for an object that others are writing; the default is a minute.
    /// After it a put or delete fails with an error that names the lock file.
    #[must_use]
    pub fn with_lock_timeout(mut self, longest: Duration) -> Self {
        self.writing.patience = longest;
        self
    }

    /// Performs an operation that writes.
    pub(crate) fn change(&self, op: Op<'_>) -> StoreResult<Answer> {
        match op {
            Op::Put(put) => self.put(put).map(Answer::Write),
            Op::PutRanges(put) => self.put_ranges(put).map(Answer::Write),
            Op::Delete(delete) => self.remove(delete.key, delete.version).map(Answer::Write),
            Op::DeletePrefix(prefix) => self.remove_prefix(prefix).map(|()| Answer::Done),
            Op::Sync => self.flush().map(|()| Answer::Done),
            Op::Copy(copy) => self.copy(copy).map(Answer::Copied),
            op => op.unsupported(),
        }
    }
}
