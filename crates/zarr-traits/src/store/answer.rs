//! The answers of a store.

use super::origin::Origin;
use crate::error::{StoreError, StoreErrorKind, StoreResult};
use crate::future::BoxFuture;
use crate::key::{Key, Prefix};
use crate::version::Version;

/// The answer to an [`Op`](super::Op), one variant per kind of answer.
#[derive(Debug)]
#[non_exhaustive]
pub enum Answer {
    /// To [`Op::Read`](super::Op::Read): the bytes are in the buffer. `None` if no object has the key.
    Read(Option<ObjectMeta>),
    /// To [`Op::Head`](super::Op::Head). `None` if no object has the key.
    Head(Option<ObjectMeta>),
    /// To [`Op::List`](super::Op::List).
    List(Page),
    /// To [`Op::ListDir`](super::Op::ListDir).
    ListDir(Dir),
    /// To [`Op::Put`](super::Op::Put), [`Op::PutRanges`](super::Op::PutRanges) and [`Op::Delete`](super::Op::Delete).
    Write(Outcome),
    /// To [`Op::Origin`](super::Op::Origin). `None`: there is no object at the key.
    Origin(Option<Origin>),
    /// To [`Op::Copy`](super::Op::Copy).
    Copied(Copied),
    /// To [`Op::DeletePrefix`](super::Op::DeletePrefix) and [`Op::Sync`](super::Op::Sync).
    Done,
}

/// Returns a future that is ready with `value`, for stores that need not wait.
pub fn ready<'a, T: Send + 'a>(value: T) -> BoxFuture<'a, T> {
    Box::pin(std::future::ready(value))
}

macro_rules! unwrapping {
    ($($name:ident: $variant:ident => $type:ty),*) => {
        impl Answer {
            $(
                #[doc = concat!("The value of [`", stringify!($variant), "`](Self::", stringify!($variant), ").")]
                ///
                /// # Errors
                /// [`StoreErrorKind::Io`] if this is the answer to another operation, which breaks the contract of
                /// stores.
                pub fn $name(self) -> StoreResult<$type> {
                    match self {
                        Self::$variant(value) => Ok(value),
                        other => Err(other.unexpected()),
                    }
                }
            )*
        }
    };
}

unwrapping! {
    into_read: Read => Option<ObjectMeta>,
    into_head: Head => Option<ObjectMeta>,
    into_page: List => Page,
    into_dir: ListDir => Dir,
    into_outcome: Write => Outcome,
    into_origin: Origin => Option<Origin>,
    into_copied: Copied => Copied
}

impl Answer {
    /// Checks that the answer is [`Done`](Self::Done).
    ///
    /// # Errors
    /// [`StoreErrorKind::Io`] if this is the answer to another operation, which breaks the contract of stores.
    pub fn into_done(self) -> StoreResult<()> {
        match self {
            Self::Done => Ok(()),
            other => Err(other.unexpected()),
        }
    }

    fn unexpected(&self) -> StoreError {
        let message = format!("the store returned the answer to another operation: {self:?}");
        StoreError::new(StoreErrorKind::Io, message)
    }
}

/// The size and version of an object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ObjectMeta {
    /// The size of the whole object in bytes. The answer to [`Op::Head`](super::Op::Head) always has it; other answers
    /// have it if the store knows it.
    pub size: Option<u64>,
    /// The version, if it was requested and the store has versions.
    pub version: Option<Version>,
}

impl ObjectMeta {
    /// Builds the metadata of an object.
    pub fn new(size: impl Into<Option<u64>>, version: Option<Version>) -> Self {
        Self { size: size.into(), version }
    }
}

/// An object in a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listed {
    /// The key.
    pub key: Key,
    /// The size and version, if the store lists them.
    pub meta: ObjectMeta,
}

impl Listed {
    /// Builds an entry for which only the key is known.
    pub fn new(key: Key) -> Self {
        Self { key, meta: ObjectMeta::default() }
    }

    /// Returns the entry with another key, for a layer that changes keys.
    #[must_use]
    pub fn at(self, key: Key) -> Self {
        Self { key, ..self }
    }

    /// Adds the size in bytes.
    #[must_use]
    pub fn with_size(mut self, size: u64) -> Self {
        self.meta.size = Some(size);
        self
    }

    /// Adds the version.
    #[must_use]
    pub fn with_version(mut self, version: Version) -> Self {
        self.meta.version = Some(version);
        self
    }
}

/// One page of a listing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Page {
    /// Objects, in ascending order of the bytes of their keys.
    pub entries: Vec<Listed>,
    /// Whether more objects follow after the last one.
    pub more: bool,
}

impl Page {
    /// Builds a page.
    pub fn new(entries: Vec<Listed>, more: bool) -> Self {
        Self { entries, more }
    }

    /// The keys of the page, in ascending order.
    pub fn into_keys(self) -> impl Iterator<Item = Key> {
        self.entries.into_iter().map(|entry| entry.key)
    }
}

/// The objects and prefixes directly below a prefix.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dir {
    /// Objects, in ascending order of their keys.
    pub objects: Vec<Listed>,
    /// Prefixes that hold at least one object, in ascending order.
    pub prefixes: Vec<Prefix>,
}

impl Dir {
    /// Builds a directory.
    pub fn new(objects: Vec<Listed>, prefixes: Vec<Prefix>) -> Self {
        Self { objects, prefixes }
    }
}

/// The outcome of a write. A conflict is a value, not an error, so `?` cannot discard it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub enum Outcome {
    /// The write was applied. Holds the new version, if the store reports one.
    Done(Option<Version>),
    /// The condition did not hold. Nothing was changed.
    Conflict,
}

/// The answer of a store that was asked to copy an object by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub enum Copied {
    /// The copy is there.
    Done,
    /// There is no object to copy.
    Absent,
    /// The service cannot copy from there. Nothing was changed: read the object and put it.
    Unable,
}
