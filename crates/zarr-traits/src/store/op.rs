//! The operations of a store.

use bytes::Bytes;

use super::answer::{Answer, Dir, Listed, ObjectMeta, Page};
use super::buffer::ReadBuffer;
use super::origin::Origin;
use crate::error::{StoreError, StoreErrorKind, StoreResult};
use crate::key::{Key, Prefix};
use crate::range::ByteRange;
use crate::range::Span;
use crate::version::Version;

/// One operation on a store. Later versions may add operations and fields. For an operation that it does not know, a
/// store returns [`unsupported`](Self::unsupported) and a layer passes it on.
#[derive(Debug)]
#[non_exhaustive]
pub enum Op<'a> {
    /// Reads ranges of an object. Answered by [`Answer::Read`].
    Read(Read<'a>),
    /// Asks for the size and version of an object. Answered by [`Answer::Head`].
    Head(Head<'a>),
    /// Lists the keys below a prefix, one page of them. Answered by [`Answer::List`].
    List(List<'a>),
    /// Lists the objects and prefixes directly below a prefix. Answered by [`Answer::ListDir`].
    ListDir(ListDir<'a>),
    /// Stores a value. Answered by [`Answer::Write`].
    Put(Put<'a>),
    /// Replaces ranges of an object. Answered by [`Answer::Write`].
    PutRanges(PutRanges<'a>),
    /// Deletes an object. Answered by [`Answer::Write`].
    Delete(Delete<'a>),
    /// Deletes everything below a prefix. Answered by [`Answer::Done`].
    DeletePrefix(&'a Prefix),
    /// Makes everything written so far durable. Answered by [`Answer::Done`].
    Sync,
    /// Asks where the object at a key is, for a copy that the service makes. Answered by [`Answer::Origin`].
    Origin(&'a Key),
    /// Stores a copy of an object that the service makes. Answered by [`Answer::Copied`].
    Copy(CopyFrom<'a>),
}

impl<'a> Op<'a> {
    /// Returns the same operation, borrowed for a shorter time, for a layer that performs it more than once.
    pub fn reborrow(&mut self) -> Op<'_> {
        match self {
            Self::Read(read) => Op::Read(Read { into: &mut *read.into, ..*read }),
            Self::Head(head) => Op::Head(*head),
            Self::List(list) => Op::List(*list),
            Self::ListDir(list) => Op::ListDir(*list),
            Self::Put(put) => Op::Put(*put),
            Self::PutRanges(put) => Op::PutRanges(*put),
            Self::Delete(delete) => Op::Delete(*delete),
            Self::DeletePrefix(prefix) => Op::DeletePrefix(prefix),
            Self::Sync => Op::Sync,
            Self::Origin(key) => Op::Origin(key),
            Self::Copy(copy) => Op::Copy(*copy),
        }
    }

    /// Whether the operation changes what is stored.
    pub fn writes(&self) -> bool {
        match self {
            Self::Put(_) | Self::PutRanges(_) | Self::Copy(_) => true,
            Self::Delete(_) | Self::DeletePrefix(_) | Self::Sync => true,
            Self::Read(_) | Self::Head(_) | Self::List(_) | Self::ListDir(_) | Self::Origin(_) => false,
        }
    }

    /// Whether the operation is a listing.
    pub fn lists(&self) -> bool {
        matches!(self, Self::List(_) | Self::ListDir(_))
    }

    /// The key or prefix of the operation; empty if it concerns the whole store.
    pub fn target(&self) -> &'a str {
        match self {
            Self::Read(read) => read.key.as_str(),
            Self::Head(head) => head.key.as_str(),
            Self::List(list) => list.prefix.as_str(),
            Self::ListDir(list) => list.prefix.as_str(),
            Self::Put(put) => put.key.as_str(),
            Self::PutRanges(put) => put.key.as_str(),
            Self::Delete(delete) => delete.key.as_str(),
            Self::DeletePrefix(prefix) => prefix.as_str(),
            Self::Sync => "",
            Self::Origin(key) => key.as_str(),
            Self::Copy(copy) => copy.key.as_str(),
        }
    }

    /// Returns the error of a store that does not support this operation.
    ///
    /// # Errors
    /// Always, of kind [`StoreErrorKind::Unsupported`].
    pub fn unsupported(&self) -> StoreResult<Answer> {
        let message = match self {
            op if op.writes() => "this store is read-only",
            op if op.lists() => "this store cannot list",
            _ => "this store does not support the operation",
        };
        Err(StoreError::new(StoreErrorKind::Unsupported, message).with_key(self.target()))
    }
}

/// The version that a read requests.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum ReadVersion<'a> {
    /// Any version; it need not be reported.
    Any,
    /// Any version; it is reported, for a later [`Pinned`](Self::Pinned) read or [`PutMode::IfUnchanged`].
    Report,
    /// Exactly this version; it is reported.
    Pinned(&'a Version),
}

/// Reads ranges of an object.
#[derive(Debug)]
#[non_exhaustive]
pub struct Read<'a> {
    /// The key of the object.
    pub key: &'a Key,
    /// The ranges. Their bytes are appended to the buffer in this order.
    pub ranges: &'a [ByteRange],
    /// The requested version.
    pub version: ReadVersion<'a>,
    /// Receives the bytes. It is empty when the store gets it; its content is unspecified after an error.
    pub into: &'a mut ReadBuffer,
}

impl<'a> Read<'a> {
    /// Reads `ranges` of any version of the object at `key`.
    pub fn new(key: &'a Key, ranges: &'a [ByteRange], into: &'a mut ReadBuffer) -> Self {
        Self { key, ranges, version: ReadVersion::Any, into }
    }

    /// Returns the same read of another key, for a layer that changes keys.
    #[must_use]
    pub fn at<'b>(self, key: &'b Key) -> Read<'b>
    where
        'a: 'b,
    {
        Read { key, ..self }
    }

    /// Sets the requested version.
    #[must_use]
    pub fn version(self, version: ReadVersion<'a>) -> Self {
        Self { version, ..self }
    }

    /// Returns the number of bytes that the ranges have in an object of `size` bytes.
    ///
    /// # Errors
    /// [`StoreErrorKind::RangeNotSatisfiable`]; [`StoreErrorKind::TooLarge`] if the ranges exceed the limit of the buffer.
    pub fn total(&self, size: u64) -> StoreResult<u64> {
        let total = self.ranges.iter().try_fold(0_u64, |total, range| {
            let span = range.resolve(size)?;
            StoreResult::Ok(total.saturating_add(span.end - span.start))
        })?;
        if total > self.into.limit() { Err(self.into.too_large(Some(size))) } else { Ok(total) }
    }

    /// Returns the answer of a store that has the whole `value` in memory. The ranges share its memory. `version` is
    /// the version of the value, if the store has versions.
    ///
    /// # Errors
    /// All name the key. [`StoreErrorKind::RangeNotSatisfiable`]; [`StoreErrorKind::Changed`] if another version is
    /// requested; [`StoreErrorKind::TooLarge`] if the ranges exceed the limit of the buffer.
    pub fn answer(self, value: &Bytes, version: Option<Version>) -> StoreResult<Answer> {
        let key = self.key;
        self.share(value, version).map(|meta| Answer::Read(Some(meta))).map_err(|e| e.with_key(key))
    }

    fn share(self, value: &Bytes, version: Option<Version>) -> StoreResult<ObjectMeta> {
        if matches!(self.version, ReadVersion::Pinned(wanted) if version.as_ref() != Some(wanted)) {
            let message = "the object is no longer the requested version";
            return Err(StoreError::new(StoreErrorKind::Changed, message));
        }
        for range in self.ranges {
            self.into.share(range.of(value)?).map_err(|e| match e.kind() {
                StoreErrorKind::TooLarge { .. } => self.into.too_large(Some(value.len() as u64)),
                _ => e,
            })?;
        }
        let version = version.filter(|_| !matches!(self.version, ReadVersion::Any));
        Ok(ObjectMeta { size: Some(value.len() as u64), version })
    }
}

/// Asks for the size and version of an object.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Head<'a> {
    /// The key of the object.
    pub key: &'a Key,
}

impl<'a> Head<'a> {
    /// Asks for the size and version of the object at `key`.
    pub fn new(key: &'a Key) -> Self {
        Self { key }
    }
}

/// Lists the keys below a prefix, one page of them.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct List<'a> {
    /// The prefix.
    pub prefix: &'a Prefix,
    /// Only keys after this one, in the order of their bytes.
    pub after: Option<&'a Key>,
    /// Whether a link to a directory below the prefix is an error. Stores without links need not look at this.
    pub refuses_links: bool,
}

impl<'a> List<'a> {
    /// Lists the first page below `prefix`.
    pub fn new(prefix: &'a Prefix) -> Self {
        Self { prefix, after: None, refuses_links: false }
    }

    /// Makes a link to a directory below the prefix an error, for a caller that will replace or delete what it lists: what
    /// is behind a link may belong to somebody else.
    #[must_use]
    pub fn refusing_links(self) -> Self {
        Self { refuses_links: true, ..self }
    }

    /// Lists below another prefix in the same way, for a layer that changes keys.
    #[must_use]
    pub fn at(self, prefix: &'a Prefix) -> Self {
        Self { prefix, ..self }
    }

    /// Lists only keys after this one.
    #[must_use]
    pub fn after(self, after: Option<&'a Key>) -> Self {
        Self { after, ..self }
    }

    /// Returns the answer, one page, of a store that has all its `keys` in memory, in ascending order.
    pub fn answer<'k>(self, keys: impl IntoIterator<Item = &'k Key>) -> Answer {
        let wanted =
            |key: &&Key| self.prefix.strip(key).is_some() && self.after.is_none_or(|after| *key > after);
        let entries = keys.into_iter().filter(wanted).cloned().map(Listed::new).collect();
        Answer::List(Page { entries, more: false })
    }
}

/// Lists the objects and prefixes directly below a prefix.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ListDir<'a> {
    /// The prefix.
    pub prefix: &'a Prefix,
}

impl<'a> ListDir<'a> {
    /// Lists the objects and prefixes directly below `prefix`.
    pub fn new(prefix: &'a Prefix) -> Self {
        Self { prefix }
    }

    /// Returns the answer of a store that has all its `keys` in memory, in ascending order.
    ///
    /// # Errors
    /// If a prefix would be invalid, which keys of a store exclude.
    pub fn answer<'k>(self, keys: impl IntoIterator<Item = &'k Key>) -> StoreResult<Answer> {
        let mut dir = Dir::default();
        for key in keys {
            match self.prefix.strip(key).map(|rest| rest.split_once('/')) {
                None => {}
                Some(None) => dir.objects.push(Listed::new(key.clone())),
                Some(Some((name, _))) => {
                    let child = self.prefix.child(name)?;
                    if dir.prefixes.last() != Some(&child) {
                        dir.prefixes.push(child);
                    }
                }
            }
        }
        Ok(Answer::ListDir(dir))
    }
}

/// The condition for a put.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum PutMode<'a> {
    /// No condition.
    Replace,
    /// Store only if no object has the key.
    Create,
    /// Store only if the object is still this version.
    IfUnchanged(&'a Version),
}

/// Stores a value.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Put<'a> {
    /// The key of the object.
    pub key: &'a Key,
    /// The value, as consecutive parts.
    pub parts: &'a [Bytes],
    /// The condition.
    pub mode: PutMode<'a>,
    /// Whether a power cut must leave the old value or the new one: the new one is on the disk before it takes the place of
    /// the old one. For documents, and for chunks of which only a part changes: a caller cannot make the rest again. Stores
    /// that always keep what they have acknowledged need not look at this.
    pub keeps_old: bool,
}

impl<'a> Put<'a> {
    /// Stores the concatenation of `parts` at `key`.
    pub fn new(key: &'a Key, parts: &'a [Bytes], mode: PutMode<'a>) -> Self {
        Self { key, parts, mode, keeps_old: false }
    }

    /// Keeps the value that is replaced until the new one is on the disk.
    #[must_use]
    pub fn keeping_old(self) -> Self {
        Self { keeps_old: true, ..self }
    }

    /// Returns the same put at another key, for a layer that changes keys.
    #[must_use]
    pub fn at<'b>(self, key: &'b Key) -> Put<'b>
    where
        'a: 'b,
    {
        Put { key, ..self }
    }

    /// The number of bytes of the value.
    pub fn len(&self) -> u64 {
        self.parts.iter().map(|part| part.len() as u64).sum()
    }

    /// Whether the value has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the error of a store that does not support this mode.
    ///
    /// # Errors
    /// Always, of kind [`StoreErrorKind::Unsupported`].
    pub fn unsupported_mode<T>(&self) -> StoreResult<T> {
        let message = format!("this store does not support the put mode {:?}", self.mode);
        Err(StoreError::new(StoreErrorKind::Unsupported, message).with_key(self.key))
    }
}

/// Replaces ranges of an object and keeps its other bytes. Atomic as a [`Put`] with [`keeps_old`](Put::keeps_old). The outcome
/// is a [conflict](super::Outcome::Conflict) if there is no object of this size at the key.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct PutRanges<'a> {
    /// The key of the object.
    pub key: &'a Key,
    /// The size that the object has, in bytes.
    pub size: u64,
    /// The ranges. They lie inside the object; of ranges that overlap the last one counts.
    pub spans: &'a [Span],
    /// The new bytes of all ranges, one after the other.
    pub bytes: &'a Bytes,
}

impl<'a> PutRanges<'a> {
    /// Replaces `spans` of the object at `key`, which has `size` bytes, by `bytes`.
    pub fn new(key: &'a Key, size: u64, spans: &'a [Span], bytes: &'a Bytes) -> Self {
        Self { key, size, spans, bytes }
    }

    /// Returns the same change of another key, for a layer that changes keys.
    #[must_use]
    pub fn at<'b>(self, key: &'b Key) -> PutRanges<'b>
    where
        'a: 'b,
    {
        PutRanges { key, ..self }
    }

    /// Returns the new bytes of each range.
    ///
    /// # Errors
    /// [`StoreErrorKind::RangeNotSatisfiable`] if a range is not inside the object; [`StoreErrorKind::InvalidArgument`] if
    /// there are more or fewer bytes than the ranges have.
    pub fn parts(&self) -> StoreResult<Vec<(Span, &'a [u8])>> {
        let mut rest = &self.bytes[..];
        let mut part = |span: &Span| {
            ByteRange::from(*span).resolve(self.size)?;
            let len = usize::try_from(span.len).unwrap_or(usize::MAX);
            rest.split_off(..len).map(|part| (*span, part)).ok_or_else(|| self.unequal())
        };
        let parts = self.spans.iter().map(&mut part).collect::<StoreResult<_>>()?;
        if rest.is_empty() { Ok(parts) } else { Err(self.unequal()) }
    }

    fn unequal(&self) -> StoreError {
        let message = format!("{} bytes are given for ranges of another length", self.bytes.len());
        StoreError::new(StoreErrorKind::InvalidArgument, message).with_key(self.key)
    }
}

/// Deletes an object.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Delete<'a> {
    /// The key of the object.
    pub key: &'a Key,
    /// Deletes the object only if it is still this version.
    pub version: Option<&'a Version>,
}

impl<'a> Delete<'a> {
    /// Deletes any version of the object at `key`.
    pub fn new(key: &'a Key) -> Self {
        Self { key, version: None }
    }

    /// Returns the same delete of another key, for a layer that changes keys.
    #[must_use]
    pub fn at<'b>(self, key: &'b Key) -> Delete<'b>
    where
        'a: 'b,
    {
        Delete { key, ..self }
    }

    /// Deletes the object only if it is still this version.
    #[must_use]
    pub fn version(self, version: Option<&'a Version>) -> Self {
        Self { version, ..self }
    }
}

/// Stores a copy of an object that the service makes, in place of the object at the key. Its bytes do not pass through this
/// process. An object that is replaced is kept until the copy is durable, as of a [`Put`] with
/// [`keeps_old`](Put::keeps_old).
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct CopyFrom<'a> {
    /// Where the object is.
    pub origin: &'a Origin,
    /// The key of the copy.
    pub key: &'a Key,
}

impl<'a> CopyFrom<'a> {
    /// Copies the object at `origin` to `key`.
    pub fn new(origin: &'a Origin, key: &'a Key) -> Self {
        Self { origin, key }
    }

    /// Returns the same copy to another key, for a layer that changes keys.
    #[must_use]
    pub fn at<'b>(self, key: &'b Key) -> CopyFrom<'b>
    where
        'a: 'b,
    {
        CopyFrom { key, ..self }
    }
}
