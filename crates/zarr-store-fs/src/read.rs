//! Reading: one open file serves all ranges of a call, and bytes land where the caller wants them.

use std::fs::File;
use std::io::IoSliceMut;
use std::ops::Deref;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::buffer::spare_capacity;
use rustix::io::{Errno, pread, preadv, retry_on_intr};
use zarr_traits::store::too_small;
use zarr_traits::{
    BoxFuture, ByteRange, Bytes, Capabilities, Filled, If, Key, ReadStore, Reply, Stat, StoreError,
    StoreErrorKind, StoreResult, Version,
};

use crate::path::{check, failed, is_object, size_of, version_of};
use crate::store::FsStore;

/// More than a tick of the clock that files get their times from.
const TICK: Duration = Duration::from_millis(20);

/// A regular file, open; the pin of a [`Version`].
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) file: File,
    pub(crate) size: u64,
}

/// An opened file of a call, which a version may share.
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
    /// The object at `key`, open, with its version if that was asked for.
    fn object(&self, key: &Key, condition: If<'_>) -> StoreResult<Option<(Object, Option<Version>)>> {
        if let If::Pinned(version) = condition
            && let Some(opened) = version.pin::<Opened>()
        {
            return Ok(Some((Object::Shared(opened), Some(version.clone()))));
        }
        let Some(file) = self.root.file(key).map_err(|e| failed(e, "cannot open"))? else {
            return Ok(None);
        };
        let stat = rustix::fs::fstat(&file).map_err(|e| failed(e, "cannot inspect"))?;
        if !is_object(&stat)? {
            return Ok(None);
        }
        let opened = Opened { file, size: size_of(&stat) };
        if let If::Any = condition {
            return Ok(Some((Object::Own(opened), None)));
        }
        let opened = Arc::new(opened);
        let version = version_of(&stat).with_pin(opened.clone());
        let version = if is_young(&stat) { version.young() } else { version };
        match condition {
            If::Pinned(wanted) if *wanted != version => {
                Err(StoreError::new(StoreErrorKind::Changed, "the file is no longer the version asked for"))
            }
            _ => Ok(Some((Object::Shared(opened), Some(version)))),
        }
    }

    fn get(&self, key: &Key, ranges: &[ByteRange], condition: If<'_>) -> StoreResult<Option<Reply>> {
        check(key.as_str())?;
        let Some((object, version)) = self.object(key, condition)? else {
            return Ok(None);
        };
        let mut bytes = Vec::with_capacity(ranges.len());
        for range in ranges {
            let range = range.resolve(object.size)?;
            bytes.push(object.bytes(range.start, range.end - range.start)?);
        }
        Ok(Some(Reply { bytes, size: Some(object.size), version }))
    }

    fn fill(
        &self,
        key: &Key,
        ranges: &[ByteRange],
        condition: If<'_>,
        into: &mut [u8],
    ) -> StoreResult<Option<Filled>> {
        check(key.as_str())?;
        if let ([ByteRange::All], If::Any) = (ranges, condition) {
            return match self.root.file(key).map_err(|e| failed(e, "cannot open"))? {
                Some(file) => whole(&file, into),
                None => Ok(None),
            };
        }
        let Some((object, version)) = self.object(key, condition)? else {
            return Ok(None);
        };
        let size = Some(object.size);
        let mut len = 0;
        for range in ranges {
            let span = range.resolve(object.size)?;
            let rest = &mut into[len..];
            let wanted = span.end - span.start;
            match usize::try_from(wanted).ok().and_then(|n| rest.get_mut(..n)) {
                Some(part) => object.read_exact(part, span.start)?,
                None if ranges == [ByteRange::All] => return Ok(Some(Filled { len: 0, size, version })),
                None => return Err(too_small(u128::from(wanted) + len as u128, into.len())),
            }
            // It fitted into `rest`, so it is a usize.
            len += usize::try_from(wanted).unwrap_or(0);
        }
        Ok(Some(Filled { len, size, version }))
    }
}

/// Whether a file was written so lately that the next one may have the same time: clocks of file systems tick every few
/// milliseconds, and inodes are used again at once.
fn is_young(stat: &rustix::fs::Stat) -> bool {
    let seconds = u64::try_from(stat.st_mtime).unwrap_or(0);
    let written = UNIX_EPOCH + Duration::new(seconds, u32::try_from(stat.st_mtime_nsec).unwrap_or(0));
    // One from the future may be of any age.
    SystemTime::now().duration_since(written).map_or(true, |age| age < TICK)
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

    /// `len` bytes in memory of their own, which are not zeroed first.
    fn bytes(&self, mut at: u64, len: u64) -> StoreResult<Bytes> {
        let mut bytes = Vec::new();
        let reserved =
            usize::try_from(len).ok().and_then(|len| bytes.try_reserve_exact(len).ok().map(|()| len));
        let Some(len) = reserved else {
            let e = StoreError::new(StoreErrorKind::LimitExceeded, format!("no memory for {len} bytes"));
            return Err(e);
        };
        while bytes.len() < len {
            at += read_some(|| pread(&self.file, spare_capacity(&mut bytes), at))? as u64;
        }
        bytes.truncate(len);
        Ok(bytes.into())
    }
}

/// At least one byte of a file that has as many.
fn read_some(read: impl FnMut() -> rustix::io::Result<usize>) -> StoreResult<usize> {
    match retry_on_intr(read) {
        Ok(0) => Err(StoreError::new(StoreErrorKind::Changed, "the file became shorter while it was read")),
        Ok(n) => Ok(n),
        Err(e) => Err(failed(e, "cannot read")),
    }
}

/// All of a file whose size nobody has asked for: in the usual case, a buffer of the right size, by one system call.
fn whole(file: &File, into: &mut [u8]) -> StoreResult<Option<Filled>> {
    // One byte more than fits: it tells an object that fits from a larger one.
    let mut probe = [0];
    let mut len =
        match retry_on_intr(|| preadv(file, &mut [IoSliceMut::new(into), IoSliceMut::new(&mut probe)], 0)) {
            Ok(n) => n,
            Err(Errno::ISDIR) => return Ok(None),
            Err(Errno::SPIPE) => {
                let message = "there is no regular file at this key but a pipe or a terminal";
                return Err(StoreError::new(StoreErrorKind::Io, message));
            }
            Err(e) => return Err(failed(e, "cannot read")),
        };
    let filled = |len, size| Ok(Some(Filled { len, size: Some(size), version: None }));
    if len == into.len() && len > 0 {
        return filled(len, len as u64);
    }
    // Either it ended early, or it is larger. That may also be a device, or a read that an error cut short.
    let stat = rustix::fs::fstat(file).map_err(|e| failed(e, "cannot inspect"))?;
    if !is_object(&stat)? {
        return Ok(None);
    }
    if len > into.len() {
        return filled(into.len(), size_of(&stat).max(len as u64));
    }
    if len as u64 == size_of(&stat) {
        return filled(len, len as u64);
    }
    while len < into.len() {
        match retry_on_intr(|| pread(file, &mut into[len..], len as u64)) {
            Ok(0) => return filled(len, len as u64),
            Ok(n) => len += n,
            Err(e) => return Err(failed(e, "cannot read")),
        }
    }
    filled(len, size_of(&stat).max(len as u64))
}

impl ReadStore for FsStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities::inline()
    }

    fn get_ranges<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        condition: If<'a>,
    ) -> BoxFuture<'a, StoreResult<Option<Reply>>> {
        Box::pin(async move { self.get(key, ranges, condition).map_err(|e| e.with_key(key)) })
    }

    fn read_into<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        condition: If<'a>,
        into: &'a mut [u8],
    ) -> BoxFuture<'a, StoreResult<Option<Filled>>> {
        Box::pin(async move { self.fill(key, ranges, condition, into).map_err(|e| e.with_key(key)) })
    }

    fn size<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, StoreResult<Option<Stat>>> {
        Box::pin(async move { self.stat(key).map_err(|e| e.with_key(key)) })
    }
}

impl FsStore {
    fn stat(&self, key: &Key) -> StoreResult<Option<Stat>> {
        check(key.as_str())?;
        match self.root.stat(key.as_str()).map_err(|e| failed(e, "cannot inspect"))? {
            Some(stat) if is_object(&stat)? => {
                Ok(Some(Stat { size: size_of(&stat), version: Some(version_of(&stat)) }))
            }
            _ => Ok(None),
        }
    }
}
