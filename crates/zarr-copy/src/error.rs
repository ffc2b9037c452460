//! Errors of copies: a kind that tells what the caller can do, and a message with the place, from outside in.

use std::error::Error;
use std::fmt::{self, Display};

use zarr_array::meta::MetaError;
use zarr_array::meta::json::JsonError;
use zarr_array::traits::StoreError;
use zarr_array::{ArrayError, ArrayErrorKind};
use zarr_hierarchy::HierarchyError;

/// The kind of an error, which tells what the caller can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CopyErrorKind {
    /// The settings of the copy do not fit each other or the source.
    #[error("the settings do not fit")]
    Settings,
    /// Something else is at the destination.
    #[error("something else is at the destination")]
    Taken,
    /// The copy differs from its source.
    #[error("the copy differs from its source")]
    Differs,
    /// A node or a store failed.
    #[error("{0}")]
    Node(ArrayErrorKind),
}

/// An error of a copy. `{}` prints the place and what is wrong, `{:#}` also the causes, on one line.
/// [`source`](Error::source) is the cause: an error of a store, a codec or a document.
///
/// A plan looks at all nodes, and a run copies all arrays that it can. [`others`](Self::others) has the errors after the
/// first one. In messages, settings are quoted as the methods of [`Copy`](crate::Copy): `` `chunks` ``.
#[derive(Clone)]
pub struct CopyError(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: CopyErrorKind,
    /// The place and what is wrong.
    own: String,
    /// The place and all causes.
    line: String,
    is_of_source: bool,
    source: Option<HierarchyError>,
    others: Vec<CopyError>,
}

/// The result of an operation of a copy.
pub type CopyResult<T> = Result<T, CopyError>;

impl CopyError {
    pub(crate) fn new(kind: CopyErrorKind, message: impl Into<String>) -> Self {
        let (own, others) = (message.into(), Vec::new());
        Self(Box::new(Inner { kind, line: own.clone(), own, is_of_source: false, source: None, others }))
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
    pub(crate) fn within(self, place: impl Display) -> Self {
        self.edited(|text| format!("{place}: {text}"))
    }

    /// Changes the message, without and with the causes.
    pub(crate) fn edited(mut self, edit: impl Fn(&str) -> String) -> Self {
        (self.0.own, self.0.line) = (edit(&self.0.own), edit(&self.0.line));
        self
    }

    /// The message with the causes.
    pub(crate) fn line(&self) -> &str {
        &self.0.line
    }

    /// The error of a node that this is, if the node could not be read or written.
    pub fn hierarchy_error(&self) -> Option<&HierarchyError> {
        self.0.source.as_ref()
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
        error.0.line = format!("{e:#}");
        error.0.source = Some(e);
        error
    }
}

impl From<JsonError> for CopyError {
    fn from(e: JsonError) -> Self {
        MetaError::from(e).into()
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
        f.write_str(if f.alternate() { &self.0.line } else { &self.0.own })
    }
}

/// The kind and the whole chain, as printed by a `main` that returns the error.
impl fmt::Debug for CopyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self:#}", self.0.kind)
    }
}

impl Error for CopyError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_ref()?.source()
    }
}
