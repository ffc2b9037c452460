//! Errors of copies: a kind that tells what the caller can do, and a message with the place, from outside in.

use std::error::Error;
use std::fmt::{self, Display};

use zarr_array::meta::MetaError;
use zarr_array::traits::StoreError;
use zarr_array::{ArrayError, ArrayErrorKind};
use zarr_hierarchy::HierarchyError;

/// The kind of an error, which tells what the caller can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CopyErrorKind {
    /// The settings of the copy do not fit each other or the source.
    Settings,
    /// Something else is at the destination.
    Taken,
    /// The copy differs from its source.
    Differs,
    /// A node or a store failed.
    Node(ArrayErrorKind),
}

/// An error of a copy. It prints as one line, from outside in.
///
/// A plan looks at all nodes, and a run copies all arrays that it can. [`others`](Self::others) has the errors after the
/// first one. In messages, settings are quoted as the methods of [`Copy`](crate::Copy): `` `chunks` ``.
#[derive(Clone)]
pub struct CopyError(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: CopyErrorKind,
    message: String,
    is_of_source: bool,
    source: Option<HierarchyError>,
    others: Vec<CopyError>,
}

/// The result of an operation of a copy.
pub type CopyResult<T> = Result<T, CopyError>;

impl CopyError {
    pub(crate) fn new(kind: CopyErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self(Box::new(Inner { kind, message, is_of_source: false, source: None, others: Vec::new() }))
    }

    pub(crate) fn settings(message: impl Into<String>) -> Self {
        Self::new(CopyErrorKind::Settings, message)
    }

    pub(crate) fn unsupported(message: impl Into<String>) -> Self {
        Self::node(ArrayErrorKind::Unsupported, message)
    }

    pub(crate) fn node(kind: ArrayErrorKind, message: impl Into<String>) -> Self {
        Self::new(CopyErrorKind::Node(kind), message)
    }

    /// The kind of the error.
    pub fn kind(&self) -> CopyErrorKind {
        self.0.kind
    }

    /// Whether the error is one of the source: its metadata, its chunks or its store.
    pub fn is_of_source(&self) -> bool {
        self.0.is_of_source
    }

    /// The errors of further nodes.
    pub fn others(&self) -> &[CopyError] {
        &self.0.others
    }

    pub(crate) fn with_kind(mut self, kind: CopyErrorKind) -> Self {
        self.0.kind = kind;
        self
    }

    pub(crate) fn of_source(mut self) -> Self {
        self.0.is_of_source = true;
        self
    }

    /// Puts a place in front of the message.
    pub(crate) fn within(mut self, place: impl Display) -> Self {
        self.0.message = format!("{place}: {}", self.0.message);
        self
    }

    pub(crate) fn with_message(mut self, message: String) -> Self {
        self.0.message = message;
        self
    }

    pub(crate) fn message(&self) -> &str {
        &self.0.message
    }

    /// Joins the errors of several nodes. Returns `None` if there are no errors.
    pub(crate) fn joined(errors: impl IntoIterator<Item = Self>) -> Option<Self> {
        let mut errors = errors.into_iter();
        let mut first = errors.next()?;
        first.0.others.extend(errors);
        Some(first)
    }

    /// Whether stored bytes do not match their metadata.
    pub(crate) fn is_corrupt(&self) -> bool {
        use ArrayErrorKind::{Checksum, Corrupt, Panic};
        matches!(self.0.kind, CopyErrorKind::Node(Corrupt | Checksum | Panic))
    }

    /// Whether a chunk is missing where all chunks are stored.
    pub(crate) fn is_missing(&self) -> bool {
        self.0.kind == CopyErrorKind::Node(ArrayErrorKind::NotFound)
    }
}

impl From<ArrayError> for CopyError {
    fn from(e: ArrayError) -> Self {
        HierarchyError::from(e).into()
    }
}

impl From<HierarchyError> for CopyError {
    fn from(e: HierarchyError) -> Self {
        let mut error = Self::node(e.kind(), e.to_string());
        error.0.source = Some(e);
        error
    }
}

impl From<MetaError> for CopyError {
    fn from(e: MetaError) -> Self {
        ArrayError::from(e).into()
    }
}

impl From<StoreError> for CopyError {
    fn from(e: StoreError) -> Self {
        ArrayError::from(e).into()
    }
}

impl fmt::Display for CopyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

/// Displays the kind and the message, for a `main` that returns the error.
impl fmt::Debug for CopyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.0.kind)
    }
}

impl Error for CopyError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_ref().map(|e| e as _)
    }
}
