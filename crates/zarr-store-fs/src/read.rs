//! Reads objects: one open file serves all ranges of a read, directly into the caller's buffer.

use std::fs::File;
use std::io::IoSliceMut;
use std::ops::Deref;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::io::{Errno, pread, preadv, retry_on_intr};
use zarr_traits::{
    ByteRange, Key, StoreError, StoreErrorKind, StoreResult, Version,
    store::{ObjectMeta, Read, ReadBuffer, ReadVersion},
};

use crate::files::{Files, Opened};
use crate::path::{check, failed, is_object, size_of, stamp_of, version_of};
use crate::store::FsStore;

/// The largest object that is read without asking for its size, in bytes. Of a larger one that is not as large as expected,
/// much would be read in vain.
const PROBED: u64 = 16 << 20;

/// Longer than a tick of the clock that gives files their times.
const TICK: Duration = Duration::from_millis(20);

/// The same for file systems that keep whole seconds (ext3, some network file systems) or even seconds (FAT).
const COARSE_TICK: Duration = Duration::from_secs(3);

/// The open file of a call, which a version may share.
enum Object {
    Own(Opened),
    Shared(Arc<Opened>),
}

impl Deref for Object {
    type Target = Opened;

    fn deref(&self) -> &Opened {
        match self {
            Self::Own(opened) => opened,
            Self::Shared(opened) => opened,
        }
    }
}

impl FsStore {
    /// Opens the object of a read, with its version if wanted.
    fn object(&self, read: &Read<'_>) -> StoreResult<Option<(Object, Option<Version>)>> {
        let (key, wanted) = (read.key, read.version);
        if let ReadVersion::Pinned(version) = wanted
            && let Some(opened) = version.pin::<Opened>()
        {
            return Ok(Some((Object::Shared(opened), Some(version.clone()))));
        }
        // A program that reads whole objects rarely returns to one at once.
        let files = self.files.as_deref().filter(|_| read.ranges != [ByteRange::All]);
        let found = match files {
            Some(files) => self.kept_or_opened(key, files)?,
            None => self.open_object(key)?.map(|(opened, stat)| (Object::Own(opened), stat)),
        };
        let Some((object, stat)) = found else { return Ok(None) };
        let opened = match object {
            object if matches!(wanted, ReadVersion::Any) => return Ok(Some((object, None))),
            Object::Own(opened) => Arc::new(opened),
            Object::Shared(opened) => opened,
        };
        let version = version_of(&stat).with_pin(opened.clone());
        let version = if is_young(&stat) { version.young() } else { version };
        match wanted {
            ReadVersion::Pinned(pinned) if *pinned != version => {
                Err(StoreError::new(StoreErrorKind::Changed, "the file is no longer the version asked for"))
            }
            _ => Ok(Some((Object::Shared(opened), Some(version)))),
        }
    }

    /// Returns the open file of the object at `key` and its status. Opens the object if it is not open, or is another
    /// one by now.
    fn kept_or_opened(&self, key: &Key, files: &Files) -> StoreResult<Option<(Object, rustix::fs::Stat)>> {
        if let Some((opened, stamp)) = files.get(key.as_str()) {
            let stat = self.root.stat(key.as_str()).map_err(|e| failed(e, "cannot inspect"))?;
            if let Some(stat) = stat.filter(|stat| stamp_of(stat) == stamp) {
                return Ok(Some((Object::Shared(opened), stat)));
            }
            files.forget(key.as_str());
        }
        let Some((opened, stat)) = self.open_object(key)? else { return Ok(None) };
        let opened = Arc::new(opened);
        files.keep(key.as_str(), opened.clone(), stamp_of(&stat));
        Ok(Some((Object::Shared(opened), stat)))
    }

    /// Opens the object at `key`. Returns it with its file status.
    pub(crate) fn open_object(&self, key: &Key) -> StoreResult<Option<(Opened, rustix::fs::Stat)>> {
        let Some(file) = self.root.file(key).map_err(|e| failed(e, "cannot open"))? else {
            self.root.check_absent(key.as_str())?;
            return Ok(None);
        };
        let stat = rustix::fs::fstat(&file).map_err(|e| failed(e, "cannot inspect"))?;
        Ok(is_object(&stat)?.then(|| (Opened { file, size: size_of(&stat) }, stat)))
    }

    /// Opens the object at `key`, as the origin of a copy.
    pub(crate) fn opened(&self, key: &Key) -> StoreResult<Option<Opened>> {
        check(key.as_str())?;
        Ok(self.open_object(key)?.map(|(opened, _)| opened))
    }

    pub(crate) fn read(&self, read: Read<'_>) -> StoreResult<Option<ObjectMeta>> {
        check(read.key.as_str())?;
        let expected = read.into.expected();
        if let ([ByteRange::All], ReadVersion::Any, 1..=PROBED) = (read.ranges, read.version, expected) {
            match self.root.file(read.key).map_err(|e| failed(e, "cannot open"))? {
                None => return self.root.check_absent(read.key.as_str()).map(|()| None),
                Some(file) if is_all(&file, read.into)? => return Ok(Some(ObjectMeta::new(expected, None))),
                Some(_) => read.into.clear(),
            }
        }
        let Some((object, version)) = self.object(&read)? else {
            return Ok(None);
        };
        let size = object.size;
        let mut rest = read.into.grow(read.total(size)?)?;
        for range in read.ranges {
            let span = range.resolve(size)?;
            // The sum fits into memory, so each term does.
            let len = usize::try_from(span.end - span.start).unwrap_or(0);
            let (part, behind) = rest.split_at_mut(len);
            object.read_exact(part, span.start)?;
            rest = behind;
        }
        Ok(Some(ObjectMeta::new(size, version)))
    }

    pub(crate) fn head(&self, key: &Key) -> StoreResult<Option<ObjectMeta>> {
        check(key.as_str())?;
        match self.root.stat(key.as_str()).map_err(|e| failed(e, "cannot inspect"))? {
            Some(stat) if is_object(&stat)? => {
                Ok(Some(ObjectMeta::new(size_of(&stat), Some(version_of(&stat)))))
            }
            Some(_) => Ok(None),
            None => self.root.check_absent(key.as_str()).map(|()| None),
        }
    }
}

/// Whether a file was written so recently that its next version may have the same time: clocks of file systems tick
/// every few milliseconds or seconds, and inodes are reused at once.
fn is_young(stat: &rustix::fs::Stat) -> bool {
    let seconds = u64::try_from(stat.st_mtime).unwrap_or(0);
    let nanoseconds = u32::try_from(stat.st_mtime_nsec).unwrap_or(0);
    let written = UNIX_EPOCH + Duration::new(seconds, nanoseconds);
    // A time in the future says nothing about the age.
    SystemTime::now().duration_since(written).map_or(true, |age| age < tick(nanoseconds))
}

/// Returns a time longer than a tick of the clock, judging by a file's nanoseconds.
fn tick(nanoseconds: u32) -> Duration {
    if nanoseconds == 0 { COARSE_TICK } else { TICK }
}

impl Opened {
    fn read_exact(&self, mut into: &mut [u8], mut at: u64) -> StoreResult<()> {
        while !into.is_empty() {
            let n = read_some(|| pread(&self.file, &mut *into, at))?;
            into = &mut into[n..];
            at += n as u64;
        }
        Ok(())
    }
}

/// Reads at least one byte.
fn read_some(read: impl FnMut() -> rustix::io::Result<usize>) -> StoreResult<usize> {
    match retry_on_intr(read) {
        Ok(0) => Err(StoreError::new(StoreErrorKind::Changed, "the file became shorter while it was read")),
        Ok(n) => Ok(n),
        Err(e) => Err(failed(e, "cannot read")),
    }
}

/// Reads a file of the expected size into the buffer with one system call, without asking for the size. Returns `false`
/// if it has another size or is not a regular file; the content of the buffer is then unspecified.
fn is_all(file: &File, into: &mut ReadBuffer) -> StoreResult<bool> {
    let room = into.grow(into.expected())?;
    let expected = room.len();
    // One extra byte detects a larger file.
    let mut probe = [0];
    let read = retry_on_intr(|| preadv(file, &mut [IoSliceMut::new(room), IoSliceMut::new(&mut probe)], 0));
    match read {
        Ok(n) => Ok(n == expected),
        Err(Errno::ISDIR | Errno::SPIPE) => Ok(false),
        Err(e) => Err(failed(e, "cannot read")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_seconds_mean_a_coarse_clock() {
        assert_eq!([0, 1, 999_999_999].map(tick), [COARSE_TICK, TICK, TICK]);
    }
}
