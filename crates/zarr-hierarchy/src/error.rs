//! Errors of hierarchies: the kind and the node.

use std::error::Error;
use std::fmt;

use zarr_array::meta::MetaError;
use zarr_array::meta::json::JsonError;
use zarr_array::traits::{Prefix, Storage, StoreError};
use zarr_array::{ArrayError, ArrayErrorKind};

/// An error of an operation on a hierarchy, with its node. The kinds are those of arrays.
///
/// It is an error of an array or of a document, seen from the hierarchy, and prints as that [error](Self::array_error).
/// [`source`](Error::source) is the cause of both: an error of the store, the codec or the document. Cheap to clone: a
/// clone shares the cause.
#[derive(Clone)]
pub struct HierarchyError {
    node: Option<String>,
    location: Option<String>,
    error: ArrayError,
}

/// The result of an operation on a hierarchy.
pub type HierarchyResult<T> = Result<T, HierarchyError>;

impl HierarchyError {
    pub(crate) fn new(kind: ArrayErrorKind, message: impl Into<String>) -> Self {
        ArrayError::new(kind, message).into()
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(ArrayErrorKind::NotFound, message)
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ArrayErrorKind::InvalidArgument, message)
    }

    /// Adds the path of the node and the location of its store, unless the error has a path.
    pub(crate) fn at(mut self, storage: &Storage, path: &str) -> Self {
        if self.node().is_none() {
            self.node = Some(path.to_owned());
            self.location = storage.location().map(str::to_owned);
        }
        self
    }

    /// The kind, which says what the caller can do.
    pub fn kind(&self) -> ArrayErrorKind {
        self.error.kind()
    }

    /// The path of the failing node.
    pub fn node(&self) -> Option<&str> {
        self.node.as_deref().or_else(|| self.error.array())
    }

    /// The location of the store without credentials, such as `s3://bucket/x.zarr`, if it is known.
    pub fn location(&self) -> Option<&str> {
        self.location.as_deref().or_else(|| self.error.location())
    }

    /// The error of an array or a document that this is.
    pub fn array_error(&self) -> &ArrayError {
        &self.error
    }
}

/// Returns the prefix of the node at `path`.
pub(crate) fn prefix_of(storage: &Storage, path: &str) -> HierarchyResult<Prefix> {
    Prefix::of_node(path).map_err(|mut e| {
        // The place names the path already.
        let _ = e.take_key();
        HierarchyError::from(e).at(storage, path)
    })
}

impl From<ArrayError> for HierarchyError {
    fn from(e: ArrayError) -> Self {
        Self { node: None, location: None, error: e }
    }
}

impl From<StoreError> for HierarchyError {
    fn from(e: StoreError) -> Self {
        ArrayError::from(e).into()
    }
}

impl From<JsonError> for HierarchyError {
    fn from(e: JsonError) -> Self {
        MetaError::from(e).into()
    }
}

impl From<MetaError> for HierarchyError {
    fn from(e: MetaError) -> Self {
        ArrayError::from(e).into()
    }
}

impl fmt::Display for HierarchyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.node, &self.location) {
            (Some(node), Some(location)) => write!(f, "node {node:?} of {location}: ")?,
            (Some(node), None) => write!(f, "node {node:?}: ")?,
            (None, _) => {}
        }
        self.error.fmt(f)
    }
}

/// The kind and the whole chain, as printed by a `main` that returns the error.
impl fmt::Debug for HierarchyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self:#}", self.kind())
    }
}

impl Error for HierarchyError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}
