//! The temporary: a file in the directory of the object, which takes its place once it is whole.
//!
//! For a new object it has no name while it is written (`O_TMPFILE`), and is then linked to that of the object. This is
//! cheaper than a name of its own and a rename, and if its writer dies the file is gone. But a link replaces nothing: to
//! replace an object, a file with a name is cheaper. To look which it will be costs half of what is saved, so it is
//! guessed: a file without a name that meets an object gets one after all, and so do the next few from the start, before
//! that is tried again.
//!
//! All have a name
//!
//! - where the file system or the kernel refuses: NFS; any system but Linux; before Linux 6.10 for users other than root.
//!   (They may link an open file through `/proc`, which costs nearly what is saved.) A refusal is remembered, so that it
//!   costs once for each store.
//! - if puts are to be durable: what it is worth to synchronize a file without a name differs between file systems.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

#[cfg(any(target_os = "linux", target_os = "android"))]
use rustix::fs::RenameFlags;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::{Errno, Result};
use zarr_traits::StoreResult;

use crate::delete::remove_empty;
use crate::lock::try_lock;
use crate::path::{LOCK, failed};
use crate::store::{Durability, FsStore};
use crate::write::ATTEMPTS;

/// The part of an object's name that its temporary keeps: with the rest it stays a legal name everywhere.
const STEM: usize = 100;

/// After an object that was there, so many temporaries get a name at once.
const FEW: u32 = 15;

/// After a refusal all do: there are not as many puts.
const ALL: u32 = u32::MAX;

/// A file that nobody sees yet. If it has a name, that is deleted when this is dropped before it was published.
pub(crate) struct Temporary<'a> {
    store: &'a FsStore,
    dir: BorrowedFd<'a>,
    object: &'a str,
    /// Empty if it has none, and once it was published.
    name: String,
}

pub(crate) enum Published {
    Yes,
    /// There is an object, and it was to be created.
    Exists,
    /// The temporary was deleted, perhaps with its directory, or cannot be linked. Another one has to be written.
    Gone,
}

impl<'a> Temporary<'a> {
    /// A new file in `dir`, which is to be `object` there; `None` when the directory has been deleted.
    pub(crate) fn create(
        store: &'a FsStore,
        dir: BorrowedFd<'a>,
        object: &'a str,
    ) -> StoreResult<Option<(Self, File)>> {
        let mut temporary = Self { store, dir, object, name: String::new() };
        if store.durability == Durability::Atomic && !store.shared.is_to_be_named() {
            match open_unnamed(dir) {
                Ok(file) => return Ok(Some((temporary, file.into()))),
                Err(e) if is_refusal(e) => store.shared.name_next(ALL),
                // With a name it fails as well, and it is said why.
                Err(_) => {}
            }
        }
        // Readable, because the version that the put reports pins it.
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC;
        let open = |name: &str| rustix::fs::openat(dir, name, flags, Mode::from_raw_mode(0o666));
        let file = match temporary.with_name(open) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Ok(None),
            Err(e) => return Err(failed(e, "cannot create a file")),
        };
        temporary.claim(&file);
        Ok(Some((temporary, file.into())))
    }

    /// Makes the file that was created the object.
    pub(crate) fn publish(&mut self, file: &File, create: bool) -> StoreResult<Published> {
        for _ in 0..ATTEMPTS {
            match self.place(file, create) {
                Ok(()) => {
                    self.name.clear();
                    return Ok(Published::Yes);
                }
                Err(Errno::NOENT) => return Ok(Published::Gone),
                Err(Errno::EXIST | Errno::ISDIR | Errno::NOTEMPTY) => {}
                Err(e) => return Err(failed(e, "cannot put the file in its place")),
            }
            // Something is there. A directory without files is nothing to a store, and gives way.
            let Ok(stat) = rustix::fs::statat(self.dir, self.object, AtFlags::SYMLINK_NOFOLLOW) else {
                continue;
            };
            if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
                return Ok(Published::Exists);
            }
            if !remove_empty(self.dir, self.object) {
                return Err(failed(
                    Errno::ISDIR,
                    "this key is a part of other keys, and their directory is in its place",
                ));
            }
        }
        Err(failed(Errno::EXIST, "cannot put the file in its place"))
    }

    /// Tries to give the file the name of the object.
    fn place(&mut self, file: &File, create: bool) -> Result<()> {
        if self.name.is_empty() {
            match self.link(file) {
                Err(Errno::EXIST) if !create => {}
                done => return done,
            }
            self.store.shared.name_next(FEW);
            self.claim(file);
            let dir = self.dir;
            self.with_name(|name| link_unnamed(file, dir, name))?;
        }
        match create {
            true => self.rename_to_new(),
            false => rustix::fs::renameat(self.dir, &self.name, self.dir, self.object),
        }
    }

    /// Links the file to the name of the object. Where that is refused, the next one will have a name.
    fn link(&self, file: &File) -> Result<()> {
        let linked = link_unnamed(file, self.dir, self.object);
        match linked {
            Err(Errno::NOENT) if is_deleted(self.dir) => linked,
            // `ENOENT` is what Linux says to one who may not link an open file.
            Err(e) if e == Errno::NOENT || e == Errno::PERM || is_refusal(e) => {
                self.store.shared.name_next(ALL);
                Err(Errno::NOENT)
            }
            _ => linked,
        }
    }

    /// Renames unless there is something at the name of the object: exclusive also where there are no locks.
    fn rename_to_new(&self) -> Result<()> {
        let (dir, name, object) = (self.dir, &self.name, self.object);
        #[cfg(any(target_os = "linux", target_os = "android"))]
        match rustix::fs::renameat_with(dir, name, dir, object, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS) => {}
            done => return done,
        }
        rustix::fs::linkat(dir, name, dir, object, AtFlags::empty())?;
        // The object is there under both names. If this one cannot go, it is a hidden leftover.
        let _ = rustix::fs::unlinkat(dir, name, AtFlags::empty());
        Ok(())
    }

    /// Says that the writer of a file with a name lives. Where it cannot be said, it may be taken for a leftover and be
    /// deleted, and is written again.
    fn claim(&self, file: impl AsFd) {
        if !self.store.single_writer {
            let _ = try_lock(file);
        }
    }

    /// Makes a file under a name that nothing has.
    fn with_name<T>(&mut self, make: impl Fn(&str) -> Result<T>) -> Result<T> {
        let object = self.object;
        let end = (0..=STEM.min(object.len())).rev().find(|at| object.is_char_boundary(*at)).unwrap_or(0);
        loop {
            let name = format!("{}_{:016x}{LOCK}", &object[..end], self.store.shared.unique());
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
            // What remains is hidden from listings; there is nobody to tell.
            let _ = rustix::fs::unlinkat(self.dir, &self.name, AtFlags::empty());
        }
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn open_unnamed(dir: BorrowedFd<'_>) -> Result<OwnedFd> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    rustix::fs::openat(dir, c".", flags, Mode::from_raw_mode(0o666))
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn link_unnamed(file: &File, dir: BorrowedFd<'_>, name: &str) -> Result<()> {
    rustix::fs::linkat(file, c"", dir, name, AtFlags::EMPTY_PATH)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn open_unnamed(_: BorrowedFd<'_>) -> Result<OwnedFd> {
    Err(Errno::NOTSUP)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn link_unnamed(_: &File, _: BorrowedFd<'_>, _: &str) -> Result<()> {
    Err(Errno::NOTSUP)
}

/// Whether files without a name, or links to them, are refused for good. (Not `EPERM`: so does ext4 in a deleted directory.)
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
    fn a_store_that_names_all_keeps_the_contract() {
        let dir = TempDir::new().unwrap();
        zarr_conformance::store::check(|| {
            let store = FsStore::open(tempdir_in(dir.path()).unwrap().keep()).unwrap();
            store.shared.name_next(ALL);
            Storage::from(store)
        })
        .unwrap();
    }

    #[test]
    fn an_object_that_was_there_names_the_next_few() {
        let dir = TempDir::new().unwrap();
        let store = FsStore::open(dir.path()).unwrap();
        let _ = put(&store, "a").unwrap();
        if store.shared.is_to_be_named() {
            return; // Files without a name are refused here.
        }
        for _ in 0..=FEW + 1 {
            let _ = put(&store, "a").unwrap();
        }
        assert_eq!((0..2 * FEW).filter(|_| store.shared.is_to_be_named()).count(), FEW as usize);
        assert_eq!(read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_refusal_is_remembered_and_a_deleted_directory_is_none() {
        let dir = TempDir::new().unwrap();
        let store = FsStore::open(dir.path()).unwrap();
        let root = store.root.directory("").unwrap();
        create_dir(dir.path().join("deleted")).unwrap();
        let deleted = store.root.directory("deleted").unwrap();
        remove_dir(dir.path().join("deleted")).unwrap();

        // A link to it is always refused, as before Linux 6.10 it is to all but root.
        let flags = OFlags::TMPFILE | OFlags::EXCL | OFlags::RDWR;
        let Ok(file) = rustix::fs::openat(&root, ".", flags, Mode::RWXU).map(File::from) else {
            return; // Files without a name are refused here.
        };
        for (dir, is_refused) in [(&deleted, false), (&root, true)] {
            let _ = Temporary::create(&store, dir.as_fd(), "a").unwrap();
            let mut temporary =
                Temporary { store: &store, dir: dir.as_fd(), object: "a", name: String::new() };
            assert!(matches!(temporary.publish(&file, false).unwrap(), Published::Gone));
            assert!((0..2 * FEW).all(|_| store.shared.is_to_be_named() == is_refused));
        }
        let _ = put(&store, "a").unwrap();
        assert_eq!(read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn the_permissions_are_the_same_with_a_name_and_without() {
        let dir = TempDir::new().unwrap();
        let store = FsStore::open(dir.path()).unwrap();
        let _ = put(&store, "unnamed").unwrap();
        store.shared.name_next(ALL);
        let _ = put(&store, "named").unwrap();
        let [unnamed, named] = ["unnamed", "named"].map(|name| metadata(dir.path().join(name)).unwrap());
        assert_eq!((unnamed.mode(), unnamed.gid()), (named.mode(), named.gid()));
    }
}
