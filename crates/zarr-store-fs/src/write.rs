//! Writing: a temporary file in the directory of the object takes the place of the object under its lock, once it is whole.
//!
//! A `put` of a new `a/b` without a condition makes six system calls, and [appears](crate::appear). All others open the
//! directory first. To replace `a/b` without a condition: create a file without a name, write, lock the file, link it as the
//! [lock file](crate::lock) of the object, rename it to the object. With a condition, or if somebody holds the lock: take the
//! lock, check the condition, link, release the lock; then the file of a replacement is `a/b_<16 hex>.__lock`, locked and
//! renamed. TensorStore hides files with such names, and so do we. [`temporary`](crate::temporary) decides between these ways.

use std::fs::File;
use std::io::{IoSlice, Seek, Write};
use std::os::fd::AsFd;
use std::sync::Arc;

use rustix::fs::{AtFlags, Mode, OFlags, Stat};
use rustix::io::Errno;
use zarr_store::Durability;
use zarr_traits::{
    Bytes, Key, StoreError, StoreErrorKind, StoreResult, Version,
    store::{Copied, CopyFrom, Outcome, Put, PutMode},
};

use crate::appear::Appeared;
use crate::directory::{ATTEMPTS, uncertain};
use crate::files::Opened;
use crate::lock::Unlocked;
use crate::path::{check, failed, is_object, size_of, version_of};
use crate::store::FsStore;
use crate::temporary::{Published, Supplanted, Temporary};

/// The largest number of parts that one system call writes.
const VECTOR: usize = 64;

impl FsStore {
    pub(crate) fn put(&self, put: Put<'_>) -> StoreResult<Outcome> {
        self.write(put, |file| write_all(file, put.parts))
    }

    /// Copies an open file. The kernel moves the bytes, or shares the blocks where the file system can. An object that is
    /// replaced is kept until the copy is on the disk.
    pub(crate) fn copy(&self, copy: CopyFrom<'_>) -> StoreResult<Copied> {
        let Some(source) = copy.origin.get::<Opened>() else { return Ok(Copied::Unable) };
        let is_plain = self.writing.no_readers && self.writing.durability != Durability::Durable;
        if is_plain && self.copy_to_new(copy.key, source)? {
            return Ok(Copied::Done);
        }
        let put = Put::new(copy.key, &[], PutMode::Replace).keeping_old();
        self.write(put, |file| copy_all(file, source)).map(|_| Copied::Done)
    }

    /// Copies an open file to a new file under the name of the object: nobody reads it before it is whole. Returns `false`
    /// if there is something already, or the directory was deleted.
    fn copy_to_new(&self, key: &Key, source: &Opened) -> StoreResult<bool> {
        check(key.as_str())?;
        let parent = match self.writing.shared.kept_parent(key) {
            Some(parent) => parent,
            None => self.writing.shared.keep_parent(key, self.parent(key)?),
        };
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        match rustix::fs::openat(&*parent, key.name(), flags, Mode::from_raw_mode(0o666)) {
            Ok(file) => copy_all(&file.into(), source).map(|()| true).inspect_err(|_| {
                // A part of an object that stays can be told from the source, and is copied again.
                let _ = rustix::fs::unlinkat(&*parent, key.name(), AtFlags::empty());
            }),
            Err(Errno::EXIST | Errno::NOENT) => {
                self.writing.shared.forget_parent();
                Ok(false)
            }
            Err(e) => Err(failed(e, "cannot create a file")),
        }
    }

    /// Performs a put whose value `write` writes into a new file. It is called again if the directory is deleted.
    pub(crate) fn write(
        &self,
        put: Put<'_>,
        write: impl Fn(&File) -> StoreResult<()>,
    ) -> StoreResult<Outcome> {
        check(put.key.as_str())?;
        let mut appeared = false;
        let outcome = self.attempts(put, write, &mut appeared);
        match outcome {
            Err(e) if appeared => Err(uncertain(
                std::io::Error::other(e),
                "the value was visible, but another writer may have replaced it meanwhile",
            )),
            outcome => outcome,
        }
    }

    /// Writes until the file has its name. Sets `appeared` if the value was visible before that.
    fn attempts(
        &self,
        put: Put<'_>,
        write: impl Fn(&File) -> StoreResult<()>,
        appeared: &mut bool,
    ) -> StoreResult<Outcome> {
        let Put { key, mode, .. } = put;
        // Creating is exclusive by itself, and of several replacements the last one stays.
        let unlocked = match mode {
            PutMode::Replace | PutMode::Create => Unlocked::Goes,
            _ => Unlocked::Fails,
        };
        let keeps_old = put.keeps_old && self.writing.durability != Durability::Deferred;
        let syncs = self.writing.durability == Durability::Durable || keeps_old;
        for _ in 0..ATTEMPTS {
            // A conflict that is visible now saves the write.
            if !self.allows(put)? {
                return Ok(Outcome::Conflict);
            }
            let is_named =
                self.writing.durability == Durability::Durable || self.writing.shared.is_to_be_named();
            let may_appear = matches!(mode, PutMode::Replace) && !is_named && !*appeared;
            // A file cannot be linked to a path that is confined.
            let by_path = may_appear && !self.root.is_confined() && !self.writing.shared.expects_object();
            let unnamed = if by_path { self.create_unnamed(key)? } else { None };
            if let Some(file) = &unnamed {
                write(file)?;
                match self.appear(file, self.root.fd().as_fd(), key.as_str()) {
                    Appeared::Yes => return Ok(Outcome::Done(None)),
                    Appeared::No => {}
                    Appeared::Disturbed => {
                        // Under the lock it is put again, as if it came later.
                        *appeared = true;
                        continue;
                    }
                }
            }
            let parent = self.parent(key)?;
            let lock = || self.lock(parent.as_fd(), key.as_str(), key.name().as_bytes(), unlocked);
            // While the disk writes, others would be faster again and again. So they wait.
            let early = match mode {
                PutMode::IfUnchanged(_) if syncs => {
                    let Some(early) = lock()? else { continue };
                    if !self.allows(put)? {
                        return Ok(Outcome::Conflict);
                    }
                    Some(early)
                }
                _ => None,
            };
            let (mut temporary, file) = match unnamed {
                Some(file) => (Temporary::unnamed(self, parent.as_fd(), key.name()), file),
                None => {
                    let created = Temporary::create(self, parent.as_fd(), key.name(), is_named)?;
                    let Some((temporary, file)) = created else { continue };
                    write(&file)?;
                    (temporary, file)
                }
            };
            let to_disk = || rustix::fs::fdatasync(&file).map_err(|e| failed(e, "cannot write to the disk"));
            let is_on_disk =
                self.writing.durability == Durability::Durable || (keeps_old && temporary.replaces());
            if is_on_disk {
                to_disk()?;
            }
            let supplants = matches!(mode, PutMode::Replace) && (is_on_disk || !keeps_old);
            match if supplants { temporary.supplant(&file) } else { Supplanted::No } {
                Supplanted::Yes => return Ok(Outcome::Done(None)),
                Supplanted::Gone => continue,
                Supplanted::No => {}
            }
            if may_appear && !by_path {
                match temporary.appear(&file) {
                    Appeared::Yes => return Ok(Outcome::Done(None)),
                    Appeared::No => {}
                    Appeared::Disturbed => {
                        *appeared = true;
                        continue;
                    }
                }
            }
            // Only callers of conditional puts receive the version, and may keep it.
            let written = match mode {
                PutMode::Replace => None,
                _ => Some(rustix::fs::fstat(&file).map_err(|e| failed(e, "cannot inspect"))?),
            };
            let lock = match early {
                Some(early) => early,
                None => match lock()? {
                    Some(lock) => lock,
                    None => continue,
                },
            };
            let is_new = matches!(mode, PutMode::Create);
            // Creating a file checks by itself that it does not exist.
            if !is_new && !self.allows(put)? {
                return Ok(Outcome::Conflict);
            }
            // Other writers may have put an object since, and have made it durable.
            if keeps_old && !is_new && !is_on_disk && temporary.replaces() {
                to_disk()?;
            }
            let published = temporary.publish(&file, is_new)?;
            drop(lock);
            match published {
                Published::Yes => {
                    self.settle(parent.as_fd())?;
                    return Ok(Outcome::Done(written.map(|stat| pinned(&stat, file))));
                }
                Published::Exists => return Ok(Outcome::Conflict),
                Published::Gone => {}
            }
        }
        Err(StoreError::new(StoreErrorKind::Io, "the directory was deleted repeatedly during the write"))
    }

    /// Whether the condition of a put holds now.
    fn allows(&self, put: Put<'_>) -> StoreResult<bool> {
        match put.mode {
            PutMode::Replace => Ok(true),
            PutMode::Create => Ok(self.version(put.key)?.is_none()),
            PutMode::IfUnchanged(version) => Ok(self.version(put.key)?.as_ref() == Some(version)),
            _ => put.unsupported_mode(),
        }
    }

    /// Returns the version of the object at `key`, or `None` if there is none.
    pub(crate) fn version(&self, key: &Key) -> StoreResult<Option<Version>> {
        match self.root.stat(key.as_str()).map_err(|e| failed(e, "cannot inspect"))? {
            Some(stat) if is_object(&stat)? => Ok(Some(version_of(&stat))),
            _ => Ok(None),
        }
    }

    /// Makes everything written so far durable.
    pub(crate) fn flush(&self) -> StoreResult<()> {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let flushed = rustix::fs::syncfs(self.root.fd());
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        let flushed = rustix::fs::fsync(self.root.fd()).map(|()| rustix::fs::sync());
        flushed.map_err(|e| uncertain(e, "the written objects may not be durable"))
    }
}

/// Writes all of `parts`.
fn write_all(mut file: &File, parts: &[Bytes]) -> StoreResult<()> {
    for parts in parts.chunks(VECTOR) {
        let mut slices = [IoSlice::new(&[]); VECTOR];
        for (slice, part) in slices.iter_mut().zip(parts) {
            *slice = IoSlice::new(part);
        }
        let mut rest = &mut slices[..parts.len()];
        // Skips empty parts, for which nothing would be written.
        IoSlice::advance_slices(&mut rest, 0);
        while !rest.is_empty() {
            match file.write_vectored(rest) {
                Ok(0) => {
                    return Err(StoreError::new(StoreErrorKind::Io, "no room for the whole value"));
                }
                Ok(n) => IoSlice::advance_slices(&mut rest, n),
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(StoreError::from(e)),
            }
        }
    }
    Ok(())
}

/// Writes the whole content of another file into a new one.
pub(crate) fn copy_all(mut file: &File, source: &Opened) -> StoreResult<()> {
    if copied_by_kernel(file, source) {
        return Ok(());
    }
    let mut from = &source.file;
    from.rewind()?;
    if std::io::copy(&mut from, &mut file)? == source.size {
        return Ok(());
    }
    Err(StoreError::new(StoreErrorKind::Changed, "the file changed its length while it was copied"))
}

/// Lets the kernel copy a file of a known length with one system call for each GiB. Returns `false` if it copied less.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn copied_by_kernel(file: &File, source: &Opened) -> bool {
    const MOST: u64 = 1 << 30;
    let (mut from, mut to) = (0, 0);
    while from < source.size {
        let length = usize::try_from((source.size - from).min(MOST)).unwrap_or(usize::MAX);
        let copied = rustix::fs::copy_file_range(&source.file, Some(&mut from), file, Some(&mut to), length);
        if !copied.is_ok_and(|length| length > 0) {
            return false;
        }
    }
    true
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn copied_by_kernel(_: &File, _: &Opened) -> bool {
    false
}

/// Returns the version of a written file, which keeps the file open.
fn pinned(stat: &Stat, file: File) -> Version {
    version_of(stat).with_pin(Arc::new(Opened { file, size: size_of(stat) }))
}
