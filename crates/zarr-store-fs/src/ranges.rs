//! Replaces ranges of an object: in a copy that takes its place, or in the file itself.

use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;

use rustix::fs::{Mode, OFlags, Stat, Timespec, Timestamps, UTIME_OMIT};
use rustix::io::Errno;
use zarr_store::Durability;
use zarr_traits::{
    Span, StoreResult,
    store::{Outcome, Put, PutMode, PutRanges},
};

use crate::directory::uncertain;
use crate::lock::Unlocked;
use crate::path::{check, failed, is_object, present, size_of, stamp_of, version_of};
use crate::store::FsStore;
use crate::write::copy_all;

/// The ranges, and the new bytes of each.
type Parts<'a> = [(Span, &'a [u8])];

impl FsStore {
    pub(crate) fn put_ranges(&self, put: PutRanges<'_>) -> StoreResult<Outcome> {
        check(put.key.as_str())?;
        let parts = put.parts()?;
        if self.writing.in_place
            && let Some(outcome) = self.put_in_place(put, &parts)?
        {
            return Ok(outcome);
        }
        let Some((object, stat)) = self.open_object(put.key)?.filter(|(object, _)| object.size == put.size)
        else {
            return Ok(Outcome::Conflict);
        };
        // Its inode is not reused while the file is open, so any change gives another version.
        let version = version_of(&stat);
        self.write(Put::new(put.key, &[], PutMode::IfUnchanged(&version)).keeping_old(), |file| {
            copy_all(file, &object)?;
            Ok(write_parts(file, &parts)?)
        })
    }

    /// Writes into the file of the object. Returns `None`, and changes nothing, if the file is a link or cannot be opened
    /// for writing: then a new file can still replace it.
    fn put_in_place(&self, put: PutRanges<'_>, parts: &Parts<'_>) -> StoreResult<Option<Outcome>> {
        let (key, conflict) = (put.key, Ok(Some(Outcome::Conflict)));
        let parent = present(self.root.directory(key.parent().as_str()));
        let Some(parent) = parent.map_err(|e| failed(e, "cannot open the directory"))? else {
            return conflict;
        };
        let Some(_lock) = self.lock(parent.as_fd(), key.as_str(), key.name().as_bytes(), Unlocked::Fails)?
        else {
            return conflict;
        };
        // Without `NONBLOCK` a FIFO would wait for a reader.
        let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match rustix::fs::openat(&parent, key.name(), flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return conflict,
            Err(_) => return Ok(None),
        };
        let old = rustix::fs::fstat(&file).map_err(|e| failed(e, "cannot inspect"))?;
        if !is_object(&old)? || size_of(&old) != put.size {
            return conflict;
        }
        let written = write_parts(&file, parts).and_then(|()| {
            if self.writing.durability == Durability::Durable {
                rustix::fs::fdatasync(&file)?;
            }
            Ok(renew(&file, &old)?)
        });
        written.map_err(|e| uncertain(e, "a part of the ranges may be written"))?;
        Ok(Some(Outcome::Done(None)))
    }
}

fn write_parts(file: &File, parts: &Parts<'_>) -> std::io::Result<()> {
    parts.iter().try_for_each(|(span, part)| file.write_all_at(part, span.offset))
}

/// Makes sure that the file has another time of modification than before, also within a tick of the clock: it is part of
/// the version.
fn renew(file: &File, old: &Stat) -> rustix::io::Result<()> {
    if stamp_of(&rustix::fs::fstat(file)?) != stamp_of(old) {
        return Ok(());
    }
    let (tv_sec, nanoseconds) = (old.st_mtime, u32::try_from(old.st_mtime_nsec).unwrap_or(0));
    let later = match nanoseconds {
        // Such a file system may keep only even seconds.
        0 => Timespec { tv_sec: tv_sec + 2, tv_nsec: 0 },
        999_999_999 => Timespec { tv_sec: tv_sec + 1, tv_nsec: 1 },
        _ => Timespec { tv_sec, tv_nsec: (nanoseconds + 1).into() },
    };
    let times =
        Timestamps { last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT }, last_modification: later };
    rustix::fs::futimens(file, &times)
}
