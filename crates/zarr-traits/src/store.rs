//! The three traits of a store, with their contract as numbered rules. **For store authors.**
//!
//! Every rule has a check in the suite of `zarr-conformance`; a store that passes it is a store.
//!
//! 1. Futures complete on any executor, also under [`block_on`](crate::block_on) on a bare thread. A store that needs
//!    a reactor owns one.
//! 2. An absent key is `Ok(None)` for every form of range, also when a version was asked for. "Absent" is only what
//!    really is not there: no permission, a broken connection or a file that is no regular file is an error.
//! 3. A value of zero bytes is present.
//! 4. Answers come in the order of the ranges, one for each; ranges may overlap, repeat and come in any order.
//! 5. A [`Span`](ByteRange::Span) that is not wholly inside the object is an error of kind
//!    [`RangeNotSatisfiable`](crate::StoreErrorKind::RangeNotSatisfiable). It is never cut short.
//! 6. A [`Suffix`](ByteRange::Suffix) longer than the object gives the whole object.
//! 7. All ranges of one call are of one version of the object.
//! 8. [`If::Pinned`]: the answer is of exactly that version, or the error kind is
//!    [`Changed`](crate::StoreErrorKind::Changed).
//! 9. A store without versions reports none; the reader then relies on checksums.
//! 10. `put` is atomic: a reader sees the old value or the new one, whole, also after a crash.
//! 11. [`Outcome::Conflict`] is definite: nothing of this call was applied.
//! 12. Deleting what is not there succeeds, also when a version was given.
//! 13. A prefix `a/` covers `a/b`, and neither `a` nor `ab/c`.
//! 14. Listing never swallows an error, and what a store uses for itself (temporaries, locks) is neither listed nor
//!     readable as a key.
//! 15. Errors and logs never contain credentials.
//!
//! No method has a default: stores are wrapped all the time, and a wrapper that forgets to forward a default would be
//! silently wrong.

use std::fmt::Debug;

use bytes::Bytes;

use crate::error::StoreResult;
use crate::future::{BoxFuture, MaybeSend, MaybeSync};
use crate::key::{Key, Prefix};
use crate::partial::Hints;
use crate::range::ByteRange;
use crate::version::Version;

/// What a store can do, and where its futures may be polled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// Where this store's futures may be polled.
    pub drive: Drive,
    /// Suffix ranges are one request. Otherwise the reader asks for the size first.
    pub suffix: bool,
    /// [`Put::Create`] is honoured.
    pub put_create: bool,
    /// [`Put::IfUnchanged`] is honoured.
    pub put_if: bool,
    /// A conditional [`WriteStore::delete`] is honoured.
    pub delete_if: bool,
}

impl Capabilities {
    /// What a local store has: everything.
    pub fn inline() -> Self {
        Self { drive: Drive::Inline, suffix: true, put_create: true, put_if: true, delete_if: true }
    }

    /// What any store over a network has: ranges. Switch on what the service offers beyond.
    pub fn remote(in_flight: usize, merge_gap: u64) -> Self {
        Self {
            drive: Drive::Remote { in_flight, merge_gap },
            suffix: false,
            put_create: false,
            put_if: false,
            delete_if: false,
        }
    }
}

/// Where the futures of a store may be polled. A wrong hint is slow, never wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drive {
    /// They do their work while they are polled (a file system, memory): the engine polls them on its workers.
    Inline,
    /// They wait for a network: the engine keeps many of them in flight on the task of the caller.
    Remote {
        /// Requests that may be under way at once.
        in_flight: usize,
        /// Ranges at most this many bytes apart are cheaper read as one.
        merge_gap: u64,
    },
}

impl Drive {
    /// How parts of objects are best fetched from such a store.
    pub fn hints(self) -> Hints {
        match self {
            Self::Inline => Hints { gap: 4 << 10, span: 1 << 20, whole: 16 << 10 },
            Self::Remote { merge_gap: gap, .. } => Hints { gap, span: gap.saturating_mul(16), whole: gap },
        }
    }
}

/// Which version a read is about.
#[derive(Debug, Clone, Copy)]
pub enum If<'a> {
    /// Any; the version need not be reported.
    Any,
    /// Any; please report which, fit for a later [`If::Pinned`] or [`Put::IfUnchanged`].
    Versioned,
    /// Exactly this one.
    Pinned(&'a Version),
}

/// The answer to [`ReadStore::get_ranges`].
#[derive(Debug, Clone)]
pub struct Reply {
    /// The bytes of each range, in the order asked for.
    pub bytes: Vec<Bytes>,
    /// The size of the whole object in bytes, where the store knows it.
    pub size: Option<u64>,
    /// The version, if it was asked for and the store has versions.
    pub version: Option<Version>,
}

/// The answer to [`ReadStore::read_into`].
#[derive(Debug, Clone)]
pub struct Filled {
    /// How many bytes were written to the start of the buffer.
    pub len: usize,
    /// The size of the whole object in bytes, where the store knows it; always known when [`ByteRange::All`] was asked
    /// for, and larger than the buffer when the object did not fit.
    pub size: Option<u64>,
    /// The version, if it was asked for and the store has versions.
    pub version: Option<Version>,
}

/// The answer to [`ReadStore::size`].
#[derive(Debug, Clone)]
pub struct Stat {
    /// The size of the object in bytes.
    pub size: u64,
    /// The version, if the store has versions.
    pub version: Option<Version>,
}

/// A store that can be read.
pub trait ReadStore: Debug + MaybeSend + MaybeSync + 'static {
    /// What this store can do.
    fn capabilities(&self) -> Capabilities;

    /// The bytes of `ranges` of the object at `key`; `None` when there is no such object.
    fn get_ranges<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        condition: If<'a>,
    ) -> BoxFuture<'a, StoreResult<Option<Reply>>>;

    /// The bytes of `ranges`, one after the other, written to the start of `into`; `None` when there is no such object.
    ///
    /// The ranges are spans, which together fit into `into`, or a lone [`ByteRange::All`]: of an object larger than
    /// `into` the content of `into` is unspecified and [`Filled::size`] says how much is needed.
    /// A store that holds [`Bytes`] calls [`copy_into`].
    fn read_into<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        condition: If<'a>,
        into: &'a mut [u8],
    ) -> BoxFuture<'a, StoreResult<Option<Filled>>>;

    /// The size and version of the object; `None` when there is no such object.
    fn size<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, StoreResult<Option<Stat>>>;
}

/// One page of a listing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// Keys, in ascending order of their bytes.
    pub keys: Vec<Key>,
    /// Whether more follow after the last of them.
    pub more: bool,
}

/// What lies directly below a prefix.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dir {
    /// Objects, in ascending order.
    pub keys: Vec<Key>,
    /// Prefixes that hold at least one object, in ascending order.
    pub prefixes: Vec<Prefix>,
}

/// A store that can be listed.
pub trait ListStore: Debug + MaybeSend + MaybeSync + 'static {
    /// The keys below `prefix` that come after `after`, one page of them.
    fn list<'a>(&'a self, prefix: &'a Prefix, after: Option<&'a Key>) -> BoxFuture<'a, StoreResult<Page>>;

    /// What lies directly below `prefix`; empty when there is nothing.
    fn list_dir<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, StoreResult<Dir>>;
}

/// On what condition a value is put.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Put<'a> {
    /// In any case.
    Replace,
    /// Only if there is no object at the key.
    Create,
    /// Only if the object is still this version.
    IfUnchanged(&'a Version),
}

/// What became of a write. A conflict is a value, so that `?` cannot lose it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub enum Outcome {
    /// Applied; the new version where the store reports one.
    Done(Option<Version>),
    /// The condition did not hold; nothing was applied.
    Conflict,
}

/// A store that can be written.
pub trait WriteStore: Debug + MaybeSend + MaybeSync + 'static {
    /// Puts the concatenation of `parts` at `key`.
    fn put<'a>(
        &'a self,
        key: &'a Key,
        parts: &'a [Bytes],
        how: Put<'a>,
    ) -> BoxFuture<'a, StoreResult<Outcome>>;

    /// Deletes the object at `key`; if `version` is given, only that version of it.
    fn delete<'a>(
        &'a self,
        key: &'a Key,
        version: Option<&'a Version>,
    ) -> BoxFuture<'a, StoreResult<Outcome>>;

    /// Deletes everything below `prefix`.
    fn delete_prefix<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, StoreResult<()>>;

    /// Makes everything written so far durable.
    fn sync(&self) -> BoxFuture<'_, StoreResult<()>>;
}

/// The answer to [`ReadStore::get_ranges`] of a store that has the whole value at hand: slices of it, and the `version` that
/// it is, if the store has versions.
///
/// # Errors
/// [`StoreErrorKind::RangeNotSatisfiable`](crate::StoreErrorKind::RangeNotSatisfiable), and
/// [`StoreErrorKind::Changed`](crate::StoreErrorKind::Changed) where another version is wanted.
pub fn reply(
    value: &Bytes,
    version: Option<Version>,
    ranges: &[ByteRange],
    condition: If<'_>,
) -> StoreResult<Reply> {
    if matches!(condition, If::Pinned(wanted) if version.as_ref() != Some(wanted)) {
        let message = "the object is no longer the version asked for";
        return Err(crate::StoreError::new(crate::StoreErrorKind::Changed, message));
    }
    let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX); // inside of the value, which is in memory
    let slice = |range: &ByteRange| {
        let range = range.resolve(value.len() as u64)?;
        Ok(value.slice(place(range.start)..place(range.end)))
    };
    let bytes = ranges.iter().map(slice).collect::<StoreResult<_>>()?;
    let version = version.filter(|_| !matches!(condition, If::Any));
    Ok(Reply { bytes, size: Some(value.len() as u64), version })
}

/// The answer to [`ReadStore::read_into`] of such a store.
///
/// # Errors
/// As [`reply`] and [`copy_into`].
pub fn reply_into(
    value: &Bytes,
    version: Option<Version>,
    ranges: &[ByteRange],
    condition: If<'_>,
    into: &mut [u8],
) -> StoreResult<Filled> {
    copy_into(reply(value, version, ranges, condition)?, ranges, into)
}

/// The answer to [`ListStore::list`] of a store that has nothing better than its `keys`, in ascending order: one page.
pub fn page_of<'a>(prefix: &Prefix, after: Option<&Key>, keys: impl IntoIterator<Item = &'a Key>) -> Page {
    let wanted = |key: &&Key| prefix.strip(key).is_some() && after.is_none_or(|after| *key > after);
    Page { keys: keys.into_iter().filter(wanted).cloned().collect(), more: false }
}

/// The answer to [`ListStore::list_dir`] of a store that has nothing better than its `keys`, in ascending order.
///
/// # Errors
/// None for keys that can be.
pub fn dir_of<'a>(prefix: &Prefix, keys: impl IntoIterator<Item = &'a Key>) -> StoreResult<Dir> {
    let mut dir = Dir::default();
    for key in keys {
        match prefix.strip(key).map(|rest| rest.split_once('/')) {
            None => {}
            Some(None) => dir.keys.push(key.clone()),
            Some(Some((name, _))) => {
                let child = prefix.child(name)?;
                if dir.prefixes.last() != Some(&child) {
                    dir.prefixes.push(child);
                }
            }
        }
    }
    Ok(dir)
}

/// Copies the answer of [`ReadStore::get_ranges`] as [`ReadStore::read_into`] wants it: for stores that hold [`Bytes`].
///
/// # Errors
/// [`StoreErrorKind::InvalidArgument`](crate::StoreErrorKind::InvalidArgument) when spans do not fit into `into`.
pub fn copy_into(reply: Reply, ranges: &[ByteRange], into: &mut [u8]) -> StoreResult<Filled> {
    let Reply { bytes, size, version } = reply;
    let total: usize = bytes.iter().map(Bytes::len).sum();
    if total > into.len() {
        if ranges == [ByteRange::All] {
            return Ok(Filled { len: 0, size: Some(total as u64), version });
        }
        return Err(too_small(total, into.len()));
    }
    let mut at = 0;
    for part in &bytes {
        into[at..at + part.len()].copy_from_slice(part);
        at += part.len();
    }
    let size = if ranges == [ByteRange::All] { Some(total as u64) } else { size };
    Ok(Filled { len: total, size, version })
}

/// The error for ranges that do not fit into the buffer of [`ReadStore::read_into`].
pub fn too_small(needed: impl std::fmt::Display, got: usize) -> crate::StoreError {
    crate::StoreError::new(
        crate::StoreErrorKind::InvalidArgument,
        format!("ranges of {needed} bytes do not fit into a buffer of {got}"),
    )
}
