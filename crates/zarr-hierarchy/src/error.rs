//! Errors of hierarchies: the kind and the node.

use std::error::Error;
use std::fmt;

use zarr_array::meta::MetaError;
use zarr_array::traits::StoreError;
use zarr_array::{ArrayError, ArrayErrorKind};

/// An error of an operation on a hierarchy, with its node. The kinds are those of arrays.
///
/// Displays as one line, from outside in. [`source`](Error::source) is the inner error, an [`ArrayError`], whose own
/// source is an error of the store, the codec or the document. Cheap to clone: a clone shares the source.
#[derive(Clone)]
pub struct HierarchyError(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ArrayErrorKind,
    node: Option<String>,
    message: String,
    source: Option<ArrayError>,
}

/// The result of an operation on a hierarchy.
pub type HierarchyResult<T> = Result<T, HierarchyError>;

impl HierarchyError {
    pub(crate) fn new(kind: ArrayErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, node: None, message: message.into(), source: None }))
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(ArrayErrorKind::NotFound, message)
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ArrayErrorKind::InvalidArgument, message)
    }

    /// Adds the path of the node, unless the error has one.
    pub(crate) fn at(mut self, path: &str) -> Self {
        let named = self.0.source.as_ref().is_some_and(|source| source.array().is_some());
        if !named {
            self.0.node.get_or_insert_with(|| path.to_owned());
        }
        self
    }

    /// The kind, which says what the caller can do.
    pub fn kind(&self) -> ArrayErrorKind {
        self.0.kind
    }

    /// The path of the failing node.
    pub fn node(&self) -> Option<&str> {
        self.0.node.as_deref().or_else(|| self.0.source.as_ref()?.array())
    }
}

impl From<ArrayError> for HierarchyError {
    fn from(e: ArrayError) -> Self {
        Self(Box::new(Inner { kind: e.kind(), node: None, message: String::new(), source: Some(e) }))
    }
}

impl From<StoreError> for HierarchyError {
    fn from(e: StoreError) -> Self {
        ArrayError::from(e).into()
    }
}

impl From<MetaError> for HierarchyError {
    fn from(e: MetaError) -> Self {
        ArrayError::from(e).into()
    }
}

impl fmt::Display for HierarchyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { node, message, source, .. } = &*self.0;
        if let Some(node) = node {
            write!(f, "node {node:?}: ")?;
        }
        f.write_str(message)?;
        match source {
            None => Ok(()),
            Some(e) if message.is_empty() => write!(f, "{e}"),
            Some(e) => write!(f, ": {e}"),
        }
    }
}

/// Displays the kind and the message, for a `main` that returns the error.
impl fmt::Debug for HierarchyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.0.kind)
    }
}

impl Error for HierarchyError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_ref().map(|e| e as _)
    }
}
