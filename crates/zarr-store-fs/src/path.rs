//! From keys to files: the root of all paths, hidden names, and the errors of paths.
//!
//! The rules are in [file system stores](https://github.com/zarr-rs/zarr/blob/v0.1.0/docs/specification/stores.md#e.4).

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::{Errno, Result};
use zarr_store::redacted;
use zarr_traits::{Key, StoreError, StoreErrorKind, StoreResult, Version};

/// The endings of files of running or dead writers: ours and TensorStore's (`.__lock`), and zarr-python's (`.partial`).
/// Such files are not listed, and no key may have such a name.
const HIDDEN: [&str; 2] = [LOCK, ".partial"];

/// The ending of lock files and temporary files.
pub(crate) const LOCK: &str = ".__lock";

/// The root directory of all keys, kept open.
#[derive(Debug, Clone)]
pub(crate) struct Root {
    dir: Arc<OwnedFd>,
    path: Arc<Path>,
    confined: bool,
}

impl Root {
    pub(crate) fn open(path: &Path) -> StoreResult<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match rustix::fs::open(path, flags, Mode::empty()) {
            Ok(dir) => Ok(Self { dir: Arc::new(dir), path: path.into(), confined: false }),
            Err(e) => {
                // It may be a mistyped URL with credentials.
                let shown = redacted(&path.to_string_lossy());
                Err(failed(e, format!("cannot open the directory {shown}")))
            }
        }
    }

    /// Confines the root, so that links cannot leave it. Fails if the kernel cannot check that.
    pub(crate) fn confined(self) -> StoreResult<Self> {
        let root = Self { confined: true, ..self };
        match root.open_at(".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC) {
            Ok(_) => Ok(root),
            Err(e) => Err(StoreError::new(
                StoreErrorKind::Unsupported,
                "this system cannot confine a path to a directory",
            )
            .with_source(std::io::Error::from(e))),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn is_confined(&self) -> bool {
        self.confined
    }

    pub(crate) fn fd(&self) -> &OwnedFd {
        &self.dir
    }

    /// Opens the file at `key` for reading, of any type. A FIFO or a terminal does not block.
    pub(crate) fn file(&self, key: &Key) -> Result<Option<File>> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        Ok(present(self.open_at(key.as_str(), flags))?.map(File::from))
    }

    /// Opens the directory of a prefix, which is empty or ends with `/`.
    pub(crate) fn directory(&self, prefix: &str) -> Result<OwnedFd> {
        let path = if prefix.is_empty() { "." } else { prefix };
        self.open_at(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC)
    }

    /// Returns the status of the file at `path`, behind all links.
    pub(crate) fn stat(&self, path: &str) -> Result<Option<Stat>> {
        let path = if path.is_empty() { "." } else { path };
        if !self.confined {
            return present(rustix::fs::statat(&*self.dir, path, AtFlags::empty()));
        }
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        present(self.open_at(path, flags))?.map(rustix::fs::fstat).transpose()
    }

    /// Whether `path` is a link.
    pub(crate) fn is_link(&self, path: &str) -> Result<bool> {
        let stat = present(rustix::fs::statat(&*self.dir, path, AtFlags::SYMLINK_NOFOLLOW))?;
        Ok(stat.is_some_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink))
    }

    /// Fails if nothing was found at `path` because a link leads nowhere: such an object is not absent, it cannot be seen.
    /// Costs two system calls if the directory of `path` is there; otherwise one, and one for each directory from the root
    /// down to the first that is absent.
    pub(crate) fn check_absent(&self, path: &str) -> StoreResult<()> {
        let error = |e| failed(e, "cannot inspect");
        let path = path.trim_end_matches('/');
        let above = path.rfind('/').unwrap_or(0);
        let seen = if above > 0 && self.stat(&path[..above]).map_err(error)?.is_some() { above } else { 0 };
        let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
        for path in ends.filter(|end| *end > seen).map(|end| &path[..end]) {
            let found =
                present(rustix::fs::statat(&*self.dir, path, AtFlags::SYMLINK_NOFOLLOW)).map_err(error)?;
            let Some(found) = found else { break };
            let is_link = FileType::from_raw_mode(found.st_mode) == FileType::Symlink;
            if is_link && self.stat(path).map_err(error)?.is_none() {
                return Err(StoreError::new(StoreErrorKind::Io, format!("the link {path:?} leads nowhere")));
            }
        }
        Ok(())
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn open_at(&self, path: &str, flags: OFlags) -> Result<OwnedFd> {
        use rustix::fs::ResolveFlags;
        if !self.confined {
            return rustix::fs::openat(&*self.dir, path, flags, Mode::empty());
        }
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        // The kernel returns `EAGAIN` if a directory moved while it resolved a `..` of a link.
        let mut attempts = 0;
        loop {
            match rustix::fs::openat2(&*self.dir, path, flags, Mode::empty(), resolve) {
                Err(Errno::AGAIN | Errno::INTR) if attempts < 64 => attempts += 1,
                done => return done,
            }
        }
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn open_at(&self, path: &str, flags: OFlags) -> Result<OwnedFd> {
        if self.confined {
            return Err(Errno::NOSYS);
        }
        rustix::fs::openat(&*self.dir, path, flags, Mode::empty())
    }
}

/// Refuses keys and prefixes with a hidden segment.
pub(crate) fn check(path: &str) -> StoreResult<()> {
    if !path.contains('.') || !path.split('/').any(is_hidden) {
        return Ok(());
    }
    let message = "names that end in \".__lock\" or \".partial\" are reserved for files of writers";
    Err(StoreError::new(StoreErrorKind::InvalidArgument, message).with_key(path))
}

/// Whether a file of this name belongs to a running or dead writer.
pub(crate) fn is_hidden(name: &str) -> bool {
    HIDDEN.iter().any(|ending| name.ends_with(ending))
}

/// Returns `None` if the file does not exist, or if a file stands for a directory of its path.
pub(crate) fn present<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(e) => Err(e),
    }
}

/// Whether this can be the file of an object.
///
/// # Errors
/// If the file is neither a regular file nor a directory.
pub(crate) fn is_object(stat: &Stat) -> StoreResult<bool> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(true),
        FileType::Directory => Ok(false),
        other => {
            let message = format!("expected a regular file at this key, found a {other:?}");
            Err(StoreError::new(StoreErrorKind::Io, message))
        }
    }
}

pub(crate) fn size_of(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}

/// Device, inode, time of modification in seconds and nanoseconds, and size: what differs between versions of a file.
pub(crate) type Stamp = [u64; 5];

pub(crate) fn stamp_of(stat: &Stat) -> Stamp {
    #[allow(clippy::unnecessary_cast, reason = "the types of the fields differ between systems")]
    let [dev, ino, sec, nsec] =
        [stat.st_dev as u64, stat.st_ino as u64, stat.st_mtime as u64, stat.st_mtime_nsec as u64];
    [dev, ino, sec, nsec, size_of(stat)]
}

/// Returns a token that differs between versions of a file.
pub(crate) fn version_of(stat: &Stat) -> Version {
    let version = Version::new(stamp_of(stat).map(u64::to_le_bytes).as_flattened());
    // A time before 1970 is none that a reference has noted.
    let seconds = u64::try_from(stat.st_mtime).ok().map(Duration::from_secs);
    match seconds.and_then(|seconds| SystemTime::UNIX_EPOCH.checked_add(seconds)) {
        Some(modified) => version.with_modified(modified),
        None => version,
    }
}

/// Makes the error for a failed system call.
pub(crate) fn failed(e: Errno, doing: impl Into<String>) -> StoreError {
    let (kind, doing) = match e {
        Errno::XDEV => (StoreErrorKind::PermissionDenied, "a link leads out of the root".to_owned()),
        Errno::NXIO => {
            (StoreErrorKind::Io, "expected a regular file at this key, found a socket or a device".to_owned())
        }
        _ => (StoreError::from(std::io::Error::from(e)).kind(), doing.into()),
    };
    StoreError::new(kind, doing).with_source(std::io::Error::from(e))
}
