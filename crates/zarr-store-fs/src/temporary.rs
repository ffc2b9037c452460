//! The temporary file: a file in the directory of the object, which replaces the object once it is complete.
//!
//! The file has no name while it is written (`O_TMPFILE`), and is then linked to a name. This is cheaper than a temporary
//! name and a rename, and the file vanishes if its writer dies. But a link cannot replace an object. The file then becomes the
//! lock file of the object, and is renamed; if it cannot, because somebody holds the lock or the put has a condition, it gets
//! another name, and so do the next few files from the start.
//!
//! All files have a name
//!
//! - if the file system or the kernel refuses unnamed files: NFS; systems other than Linux; Linux before 6.10 for users
//!   other than root. (They could link an open file through `/proc`, which costs nearly the whole gain.) A refusal is
//!   remembered, so it costs once per store.
//! - if puts are durable: file systems differ in what synchronizing an unnamed file means.
//!
//! A file that replaces another one gets its permissions and owner before it has a name.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};

#[cfg(any(target_os = "linux", target_os = "android"))]
use rustix::fs::RenameFlags;
use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, RawMode, Stat, Uid};
use rustix::io::{Errno, Result};
use zarr_traits::StoreResult;

use crate::appear::{Appeared, link_unnamed, open_unnamed};
use crate::delete::remove_empty;
use crate::directory::ATTEMPTS;
use crate::lock::try_lock;
use crate::path::{LOCK, failed};
use crate::store::FsStore;

/// The largest part of an object's name, in bytes, that its temporary file keeps. The whole name must stay legal.
const STEM: usize = 100;

/// The number of files that get a name at once after an existing object was met.
const FEW: u32 = 15;

/// After a refusal all files get a name: there are fewer puts than this.
const ALL: u32 = u32::MAX;

/// A file that no reader sees yet. If it has a name and is not published, it is deleted on drop.
pub(crate) struct Temporary<'a> {
    store: &'a FsStore,
    dir: BorrowedFd<'a>,
    object: &'a str,
    /// Empty if the file has no name or is published.
    name: String,
}

pub(crate) enum Published {
    Yes,
    /// The object exists, and was to be created.
    Exists,
    /// The temporary file was deleted, perhaps with its directory, or cannot be linked. A new one must be written.
    Gone,
}

/// The outcome of replacing an object by a file that is its lock file meanwhile.
pub(crate) enum Supplanted {
    Yes,
    /// It was not tried, or the lock is not free.
    No,
    /// The file cannot be linked any more. A new one must be written.
    Gone,
}

impl<'a> Temporary<'a> {
    /// Of a file without a name, which will become `object` in `dir`.
    pub(crate) fn unnamed(store: &'a FsStore, dir: BorrowedFd<'a>, object: &'a str) -> Self {
        Self { store, dir, object, name: String::new() }
    }

    /// Creates a file in `dir` that will become `object`, with a name or where possible without. Returns `None` if the directory
    /// was deleted.
    pub(crate) fn create(
        store: &'a FsStore,
        dir: BorrowedFd<'a>,
        object: &'a str,
        is_named: bool,
    ) -> StoreResult<Option<(Self, File)>> {
        let mut temporary = Self::unnamed(store, dir, object);
        if !is_named {
            match open_unnamed(dir, "") {
                Ok(file) => return Ok(Some((temporary, file.into()))),
                Err(e) if is_refusal(e) => store.writing.shared.name_next(ALL),
                // Creating a named file fails as well, and reports the error.
                Err(_) => {}
            }
        }
        let old = replaced(dir, object);
        // Readable, because the version of the put pins it.
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(if old.is_some() { 0o600 } else { 0o666 });
        let file = match temporary.with_name(|name: &str| rustix::fs::openat(dir, name, flags, mode)) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Ok(None),
            Err(e) => return Err(failed(e, "cannot create a file")),
        };
        if let Some(old) = old {
            keep(&file, &old).map_err(|e| failed(e, "cannot set the permissions of a file"))?;
        }
        temporary.claim(&file);
        Ok(Some((temporary, file.into())))
    }

    /// Makes the file the object without the lock of the object, if there is no object yet.
    pub(crate) fn appear(&self, file: &File) -> Appeared {
        if self.name.is_empty() { self.store.appear(file, self.dir, self.object) } else { Appeared::No }
    }

    /// Replaces the object by a file without a name, under the lock of the object: the file itself becomes the lock file, and
    /// then the object. It is locked before it has a name, and the link fails if there is a lock file, so it is the lock of one
    /// writer. This costs two changes of the directory, where a lock file beside a temporary file costs four.
    ///
    /// A writer that waited for the lock finds that the file has lost its name, and takes the lock anew. If we die before the
    /// rename, a lock file with data is left, as TensorStore leaves it.
    pub(crate) fn supplant(&self, file: &File) -> Supplanted {
        let Self { store, dir, object, name } = self;
        if !name.is_empty() || store.writing.single_writer {
            return Supplanted::No;
        }
        let Some(old) = replaced(*dir, object) else { return Supplanted::No };
        if keep(file, &old).is_err() || try_lock(file) != Ok(true) {
            return Supplanted::No;
        }
        let lock = [object, LOCK].concat();
        if link_unnamed(file, *dir, &lock).is_err() {
            return Supplanted::No;
        }
        if rustix::fs::renameat(dir, &lock, dir, *object).is_ok() {
            store.writing.shared.expect_objects(FEW);
            return Supplanted::Yes;
        }
        // A directory may have taken the place of the object. We hold the lock.
        let _ = rustix::fs::unlinkat(dir, &lock, AtFlags::empty());
        Supplanted::Gone
    }

    /// Whether the file will replace another one.
    pub(crate) fn replaces(&self) -> bool {
        replaced(self.dir, self.object).is_some()
    }

    /// Makes the file the object.
    pub(crate) fn publish(&mut self, file: &File, create: bool) -> StoreResult<Published> {
        for _ in 0..ATTEMPTS {
            match self.place(file, create) {
                Ok(()) => {
                    self.name.clear();
                    return Ok(Published::Yes);
                }
                Err(Errno::NOENT) => return Ok(Published::Gone),
                Err(Errno::EXIST | Errno::ISDIR | Errno::NOTEMPTY) => {}
                Err(e) => return Err(failed(e, "cannot move the file to its name")),
            }
            // Something exists at the name. A directory without files gives way.
            let Ok(stat) = rustix::fs::statat(self.dir, self.object, AtFlags::SYMLINK_NOFOLLOW) else {
                continue;
            };
            if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
                return Ok(Published::Exists);
            }
            if !remove_empty(self.dir, self.object) {
                return Err(failed(
                    Errno::ISDIR,
                    "other keys begin with this key and a slash, so a directory has its name",
                ));
            }
        }
        Err(failed(Errno::EXIST, "cannot move the file to its name"))
    }

    /// Tries to give the file the name of the object.
    fn place(&mut self, file: &File, create: bool) -> Result<()> {
        if self.name.is_empty() {
            match self.link(file) {
                Err(Errno::EXIST) if !create => {}
                done => return done,
            }
            self.store.writing.shared.name_next(FEW);
            self.claim(file);
            let dir = self.dir;
            if let Some(old) = replaced(dir, self.object) {
                keep(file, &old)?;
            }
            self.with_name(|name| link_unnamed(file, dir, name))?;
        }
        match create {
            true => self.rename_to_new(),
            false => rustix::fs::renameat(self.dir, &self.name, self.dir, self.object),
        }
    }

    /// Links the file to the name of the object. If that is refused, later files get a name.
    fn link(&self, file: &File) -> Result<()> {
        let linked = link_unnamed(file, self.dir, self.object);
        match linked {
            Err(Errno::NOENT) if is_deleted(self.dir) => linked,
            // Linux returns `ENOENT` to a user who may not link an open file.
            Err(e) if e == Errno::NOENT || e == Errno::PERM || is_refusal(e) => {
                self.store.writing.shared.name_next(ALL);
                Err(Errno::NOENT)
            }
            _ => linked,
        }
    }

    /// Renames unless the name of the object is taken: exclusive even without locks.
    fn rename_to_new(&self) -> Result<()> {
        let (dir, name, object) = (self.dir, &self.name, self.object);
        #[cfg(any(target_os = "linux", target_os = "android"))]
        match rustix::fs::renameat_with(dir, name, dir, object, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS) => {}
            done => return done,
        }
        rustix::fs::linkat(dir, name, dir, object, AtFlags::empty())?;
        // The object has both names now. If this one cannot be removed, it stays as a hidden leftover.
        let _ = rustix::fs::unlinkat(dir, name, AtFlags::empty());
        Ok(())
    }

    /// Locks a named file as a sign that its writer runs. If it cannot be locked, it may be deleted as a leftover and
    /// is then written again.
    fn claim(&self, file: impl AsFd) {
        if !self.store.writing.single_writer {
            let _ = try_lock(file);
        }
    }

    /// Makes a file under an unused name.
    fn with_name<T>(&mut self, make: impl Fn(&str) -> Result<T>) -> Result<T> {
        let object = self.object;
        let end = (0..=STEM.min(object.len())).rev().find(|at| object.is_char_boundary(*at)).unwrap_or(0);
        loop {
            let name = format!("{}_{:016x}{LOCK}", &object[..end], self.store.writing.shared.unique());
            match make(&name) {
                Ok(made) => {
                    self.name = name;
                    return Ok(made);
                }
                Err(Errno::EXIST) => {}
                Err(e) => return Err(e),
            }
        }
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.name.is_empty() {
            // A failure leaves a hidden file; a drop cannot report it.
            let _ = rustix::fs::unlinkat(self.dir, &self.name, AtFlags::empty());
        }
    }
}

/// The bits of a mode that give permissions. The others (set-user-ID) are never carried over to new content.
const PERMISSIONS: RawMode = 0o777;

/// The bits of a mode that do not say what kind of file it is.
const MODE: RawMode = 0o7777;

/// Returns the status of the file that `object` replaces.
fn replaced(dir: BorrowedFd<'_>, object: &str) -> Option<Stat> {
    let stat = rustix::fs::statat(dir, object, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    (FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile).then_some(stat)
}

/// Gives a file the permissions and, if this process may do so, the owner and group of another file. A group that
/// cannot be given gets no more permissions than all others.
fn keep(file: impl AsFd, old: &Stat) -> Result<()> {
    let new = rustix::fs::fstat(&file)?;
    let group = (new.st_gid != old.st_gid).then(|| Gid::from_raw(old.st_gid));
    let has_group = group.is_none_or(|group| rustix::fs::fchown(&file, None, Some(group)).is_ok());
    if new.st_uid != old.st_uid {
        // Only a privileged process may give a file away. For others the new file is theirs.
        let _ = rustix::fs::fchown(&file, Some(Uid::from_raw(old.st_uid)), None);
    }
    let mode = old.st_mode & PERMISSIONS;
    let others = mode & 0o007;
    let mode = if has_group { mode } else { mode & (0o707 | others << 3) };
    if (new.st_mode & MODE, new.st_uid, new.st_gid) == (mode, old.st_uid, old.st_gid) {
        return Ok(());
    }
    rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))
}

/// Whether unnamed files, or links to them, are refused for good. (`EPERM` is no refusal: ext4 returns it in a deleted
/// directory.)
fn is_refusal(e: Errno) -> bool {
    [Errno::INVAL, Errno::ISDIR, Errno::NOSYS, Errno::NOTSUP, Errno::OPNOTSUPP, Errno::XDEV].contains(&e)
}

fn is_deleted(dir: BorrowedFd<'_>) -> bool {
    rustix::fs::fstat(dir).is_ok_and(|stat| stat.st_nlink == 0)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs::{create_dir, metadata, read_dir, remove_dir};
    use std::os::unix::fs::MetadataExt;

    use tempfile::{TempDir, tempdir_in};
    use zarr_traits::{
        Key, Storage,
        store::{Outcome, Put, PutMode},
    };

    use super::*;

    fn put(store: &FsStore, key: &str) -> StoreResult<Outcome> {
        store.put(Put::new(&Key::new(key)?, &["value".into()], PutMode::Replace))
    }

    #[test]
    fn a_store_with_only_named_files_keeps_the_contract() {
        let dir = TempDir::new().unwrap();
        zarr_conformance::store::check(|| {
            let store = FsStore::open(tempdir_in(dir.path()).unwrap().keep()).unwrap();
            store.writing.shared.name_next(ALL);
            Storage::from(store)
        })
        .unwrap();
    }

    #[test]
    fn an_existing_object_with_a_lock_file_makes_the_next_few_files_named() {
        let dir = TempDir::new().unwrap();
        let store = FsStore::open(dir.path()).unwrap();
        let _ = put(&store, "a").unwrap();
        if store.writing.shared.is_to_be_named() {
            return; // Unnamed files are refused here.
        }
        for _ in 0..=FEW + 1 {
            std::fs::write(dir.path().join("a.__lock"), "of a dead writer").unwrap();
            let _ = put(&store, "a").unwrap();
        }
        assert_eq!((0..2 * FEW).filter(|_| store.writing.shared.is_to_be_named()).count(), FEW as usize);
        assert_eq!(read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn an_object_is_replaced_by_a_file_that_is_its_lock_meanwhile() {
        let dir = TempDir::new().unwrap();
        let store = FsStore::open(dir.path()).unwrap();
        let root = store.root.directory("").unwrap();
        let [object, lock] = ["a", "a.__lock"].map(|name| dir.path().join(name));
        let make = || Temporary::create(&store, root.as_fd(), "a", false).unwrap().unwrap();
        let (temporary, file) = make();
        if !temporary.name.is_empty() {
            return; // Unnamed files are refused here.
        }
        assert!(matches!(temporary.supplant(&file), Supplanted::No), "there is no object");
        std::fs::write(&object, "old").unwrap();
        std::fs::write(&lock, "").unwrap();
        assert!(matches!(temporary.supplant(&file), Supplanted::No), "there is a lock file");
        let waits = File::options().write(true).open(&lock).unwrap();
        std::fs::remove_file(&lock).unwrap();
        assert!(matches!(temporary.supplant(&file), Supplanted::Yes));
        assert_eq!((metadata(&object).unwrap().len(), lock.exists()), (0, false));
        assert!(
            try_lock(&waits).unwrap()
                && !try_lock(File::options().write(true).open(&object).unwrap()).unwrap()
        );
        drop(file);
        assert!(try_lock(File::options().write(true).open(&object).unwrap()).unwrap());

        std::fs::remove_file(&object).unwrap();
        let alone = store.clone().with_single_writer();
        let (temporary, file) = Temporary::create(&alone, root.as_fd(), "a", false).unwrap().unwrap();
        std::fs::write(&object, "old").unwrap();
        assert!(matches!(temporary.supplant(&file), Supplanted::No), "its threads have turns");
        assert_eq!(read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_refusal_is_remembered_but_a_deleted_directory_is_not_a_refusal() {
        let dir = TempDir::new().unwrap();
        let store = FsStore::open(dir.path()).unwrap();
        let root = store.root.directory("").unwrap();
        create_dir(dir.path().join("deleted")).unwrap();
        let deleted = store.root.directory("deleted").unwrap();
        remove_dir(dir.path().join("deleted")).unwrap();

        // Linking to it is always refused, as Linux before 6.10 does for all users but root.
        let flags = OFlags::TMPFILE | OFlags::EXCL | OFlags::RDWR;
        let Ok(file) = rustix::fs::openat(&root, ".", flags, Mode::RWXU).map(File::from) else {
            return; // Unnamed files are refused here.
        };
        for (dir, is_refused) in [(&deleted, false), (&root, true)] {
            let _ = Temporary::create(&store, dir.as_fd(), "a", false).unwrap();
            let mut temporary =
                Temporary { store: &store, dir: dir.as_fd(), object: "a", name: String::new() };
            assert!(matches!(temporary.publish(&file, false).unwrap(), Published::Gone));
            assert!((0..2 * FEW).all(|_| store.writing.shared.is_to_be_named() == is_refused));
        }
        let _ = put(&store, "a").unwrap();
        assert_eq!(read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn the_permissions_are_the_same_with_a_name_and_without() {
        let dir = TempDir::new().unwrap();
        let store = FsStore::open(dir.path()).unwrap();
        let _ = put(&store, "unnamed").unwrap();
        store.writing.shared.name_next(ALL);
        let _ = put(&store, "named").unwrap();
        let [unnamed, named] = ["unnamed", "named"].map(|name| metadata(dir.path().join(name)).unwrap());
        assert_eq!((unnamed.mode(), unnamed.gid()), (named.mode(), named.gid()));
    }
}
