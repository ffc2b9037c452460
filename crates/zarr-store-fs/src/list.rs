//! Lists directories in the order of keys, page by page.
//!
//! Objects are regular files and links to them. Not listed are names that no key can have (not UTF-8, or with a
//! backslash), files of writers, and links to a directory that contains them:
//! its files are listed by their own paths, and the link would make endless keys. Below a link to a directory of the
//! store, further such links are not listed either: directories that link to each other would be listed once for each
//! order of the links.
//!
//! An entry that cannot be read does not count as absent. FIFOs, sockets, devices, and links that lead nowhere or
//! cannot be followed are listed, so that reading them returns the error. Among the entries of one directory, a link
//! that leads nowhere is a prefix, because it may stand for a node. A directory that cannot be read is an error.

use std::ffi::CStr;

use rustix::fs::{Dir as Names, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use zarr_traits::{
    Key, Prefix, StoreError, StoreErrorKind, StoreResult,
    store::{Dir, List, ListDir, Listed, Page},
};

use crate::path::{check, failed, is_hidden, present};
use crate::store::FsStore;

/// The flags for opening a parent directory.
const ABOVE: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// A page while it is filled.
struct Walk<'a> {
    after: Option<&'a str>,
    links: Links,
    entries: Vec<Listed>,
    more: bool,
    /// The smallest number of keys in a page.
    page: usize,
    /// The number of entries that were read again although an earlier page listed them.
    again: usize,
}

impl Walk<'_> {
    /// Whether the page is full. It holds at least as many keys as entries were read again, so that all pages together
    /// cost little more than one walk, even in a directory of a million files.
    fn is_full(&self) -> bool {
        self.entries.len() >= self.page.max(self.again)
    }
}

/// How a listing treats links to directories.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Links {
    Follow,
    Refuse,
}

/// An entry of a directory.
enum Entry {
    /// The name of a regular file.
    Object(String),
    /// The name of a directory, with its slash.
    Directory(String),
    /// The name of a link that leads nowhere. It may have led to a file or to a directory.
    Broken(String),
}

/// The target of a link.
enum Target {
    Is(FileType),
    Nothing,
    /// A directory that contains the link, or that is listed by its own path.
    Again,
}

impl FsStore {
    /// Adds the keys below `prefix`, in order. In byte order `a.b` comes before `a/b`, so directories are sorted with
    /// their slash.
    fn walk(&self, prefix: &str, walk: &mut Walk<'_>) -> StoreResult<()> {
        for name in self.sorted(prefix, "", walk.links)? {
            let path = format!("{prefix}{name}");
            let is_directory = path.ends_with('/');
            // A key after `a/` comes after all keys below `a/`, unless it is one of them.
            if walk.after.is_some_and(|after| *path <= *after && !(is_directory && after.starts_with(&path)))
            {
                walk.again += 1;
            } else if is_directory {
                self.walk(&path, walk)?;
            } else if walk.is_full() {
                walk.more = true;
            } else {
                walk.entries.push(Listed::new(Key::new(path)?));
            }
            if walk.more {
                break;
            }
        }
        Ok(())
    }

    /// Whether there is an object below `prefix`, or a file that cannot be one. Stops at the first one.
    fn holds_object(&self, prefix: &str) -> StoreResult<bool> {
        let mut below = Vec::new();
        let mut found = false;
        let looked = self.entries(prefix, Links::Follow, |entry| {
            match entry {
                Entry::Directory(name) => below.push(name),
                // Reading an irregular file or a broken link returns an error: the directory must not look empty.
                Entry::Object(_) | Entry::Broken(_) => found = true,
            }
            !found
        });
        match looked {
            Ok(()) if found => return Ok(true),
            // The content is unknown; reading the directory returns the error.
            Err(e) if matches!(e.kind(), StoreErrorKind::PermissionDenied | StoreErrorKind::Io) => {
                return Ok(true);
            }
            looked => looked?,
        }
        for name in below {
            if self.holds_object(&format!("{prefix}{name}"))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the names in the directory of `prefix`, in the order of keys. Names of broken links end with `broken`.
    fn sorted(&self, prefix: &str, broken: &str, links: Links) -> StoreResult<Vec<String>> {
        let mut names = Vec::new();
        self.entries(prefix, links, |entry| {
            match entry {
                Entry::Object(name) | Entry::Directory(name) => names.push(name),
                Entry::Broken(name) => names.push(name + broken),
            }
            true
        })?;
        names.sort_unstable();
        Ok(names)
    }

    /// Calls `each` with the entries of the directory of `prefix`, unsorted, while it returns `true`.
    fn entries(&self, prefix: &str, links: Links, mut each: impl FnMut(Entry) -> bool) -> StoreResult<()> {
        let error = |e| failed(e, "cannot list the directory").with_key(prefix);
        let Some(dir) = present(self.root.directory(prefix)).map_err(error)? else {
            return self.root.check_absent(prefix).map_err(|e| e.with_key(prefix));
        };
        for entry in Names::new(dir).map_err(error)? {
            let entry = match entry {
                Ok(entry) => entry,
                // The directory was deleted meanwhile.
                Err(Errno::NOENT) => break,
                Err(e) => return Err(error(e)),
            };
            let Ok(name) = entry.file_name().to_str() else {
                continue;
            };
            if is_dot(entry.file_name()) || name.contains('\\') || is_hidden(name) {
                continue;
            }
            let target = match entry.file_type() {
                FileType::Symlink | FileType::Unknown => self.target(prefix, name)?,
                kind => Target::Is(kind),
            };
            if links == Links::Refuse
                && entry.file_type() != FileType::Directory
                && matches!(target, Target::Is(FileType::Directory) | Target::Again)
                && self.root.is_link(&format!("{prefix}{name}")).map_err(error)?
            {
                let message = "a link to a directory: what is behind it may belong to somebody else";
                let e = StoreError::new(StoreErrorKind::PermissionDenied, message);
                return Err(e.with_key(format!("{prefix}{name}")));
            }
            let entry = match target {
                Target::Is(FileType::Directory) => Entry::Directory(format!("{name}/")),
                Target::Is(_) => Entry::Object(name.to_owned()),
                Target::Nothing => Entry::Broken(name.to_owned()),
                Target::Again => continue,
            };
            if !each(entry) {
                break;
            }
        }
        Ok(())
    }

    /// Returns what a link leads to, or what an entry of unknown type is.
    fn target(&self, prefix: &str, name: &str) -> StoreResult<Target> {
        let path = format!("{prefix}{name}");
        let stat = match self.root.stat(&path) {
            Ok(Some(stat)) => stat,
            Ok(None) => {
                let is_link =
                    self.root.is_link(&path).map_err(|e| failed(e, "cannot inspect").with_key(&path))?;
                // Otherwise it was deleted meanwhile.
                return Ok(if is_link { Target::Nothing } else { Target::Again });
            }
            // Reading it returns the error.
            Err(_) => return Ok(Target::Is(FileType::RegularFile)),
        };
        let kind = FileType::from_raw_mode(stat.st_mode);
        if kind == FileType::Directory {
            let again = self.passes_link(prefix)? && self.leads_inside(&path)?;
            if again || self.is_inside(&stat, prefix)? {
                return Ok(Target::Again);
            }
        }
        Ok(Target::Is(kind))
    }

    /// Whether a directory of `prefix` is a link.
    fn passes_link(&self, prefix: &str) -> StoreResult<bool> {
        let links = prefix.match_indices('/').map(|(end, _)| self.root.is_link(&prefix[..end]));
        let passed = links.collect::<Result<Vec<_>, _>>();
        let passed = passed.map_err(|e| failed(e, "cannot inspect").with_key(prefix))?;
        Ok(passed.contains(&true))
    }

    /// Whether the directory at `path`, behind all links, is the root or below it.
    fn leads_inside(&self, path: &str) -> StoreResult<bool> {
        let error = |e| failed(e, "cannot inspect").with_key(path);
        let root = rustix::fs::fstat(self.root.fd()).map_err(error)?;
        let mut dir = self.root.directory(&format!("{path}/")).map_err(error)?;
        let mut here = rustix::fs::fstat(&dir).map_err(error)?;
        loop {
            if is_same(&here, &root) {
                return Ok(true);
            }
            dir = rustix::fs::openat(&dir, "..", ABOVE, Mode::empty()).map_err(error)?;
            let above = rustix::fs::fstat(&dir).map_err(error)?;
            // The parent of the file system's root is the root itself.
            if is_same(&above, &here) {
                return Ok(false);
            }
            here = above;
        }
    }

    /// Whether the directory of `prefix` is `dir` or below it.
    fn is_inside(&self, dir: &Stat, prefix: &str) -> StoreResult<bool> {
        let ends = std::iter::once(0).chain(prefix.match_indices('/').map(|(at, _)| at + 1));
        for end in ends {
            let above =
                self.root.stat(&prefix[..end]).map_err(|e| failed(e, "cannot inspect").with_key(prefix))?;
            if above.is_some_and(|above| is_same(&above, dir)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Whether both belong to one directory.
fn is_same(a: &Stat, b: &Stat) -> bool {
    (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino)
}

impl FsStore {
    pub(crate) fn list(&self, List { prefix, after, refuses_links, .. }: List<'_>) -> StoreResult<Page> {
        check(prefix.as_str())?;
        let after = after.map(Key::as_str);
        let links = if refuses_links { Links::Refuse } else { Links::Follow };
        let mut walk = Walk { after, links, entries: Vec::new(), more: false, page: self.page, again: 0 };
        self.walk(prefix.as_str(), &mut walk)?;
        Ok(Page::new(walk.entries, walk.more))
    }

    pub(crate) fn list_dir(&self, ListDir { prefix, .. }: ListDir<'_>) -> StoreResult<Dir> {
        check(prefix.as_str())?;
        let mut dir = Dir::default();
        for name in self.sorted(prefix.as_str(), "/", Links::Follow)? {
            let path = format!("{prefix}{name}");
            if !name.ends_with('/') {
                dir.objects.push(Listed::new(Key::new(path)?));
            } else if self.holds_object(&path)? {
                dir.prefixes.push(Prefix::new(path)?);
            }
        }
        Ok(dir)
    }
}

/// The names `.` and `..`, which every directory lists.
pub(crate) fn is_dot(name: &CStr) -> bool {
    matches!(name.to_bytes(), b"." | b"..")
}
