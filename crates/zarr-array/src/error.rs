//! Errors of arrays: a kind that tells what the caller can do, and the place of the error, from outside in.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use zarr_engine::run::Stop;
use zarr_meta::{MetaError, MetaErrorKind};
use zarr_strided::{Dims, StridedError};
use zarr_traits::{CodecError, CodecErrorKind, Key, StoreError, StoreErrorKind};

/// The kind of an error, which tells what the caller can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArrayErrorKind {
    /// No array exists at this path; or a chunk is missing and the handle uses
    /// [`MissingChunks::Error`](crate::MissingChunks::Error).
    NotFound,
    /// A node exists at this path.
    Exists,
    /// The store or a codec cannot do this.
    Unsupported,
    /// The call itself is wrong: a selection outside the array, a wrong element type or number of values, or a value
    /// that the data type or the element type cannot represent.
    InvalidArgument,
    /// The metadata document is invalid.
    Metadata,
    /// Stored bytes do not agree with the metadata.
    Corrupt,
    /// Stored bytes do not match their checksum.
    Checksum,
    /// The array uses an extension that the registry does not know.
    UnknownExtension,
    /// A limit is exceeded: a size in [`Limits`](crate::Limits), or memory.
    LimitExceeded,
    /// Another writer changed the same object again and again, or changed the array since it was opened. Open the array
    /// again and repeat the call.
    Conflict,
    /// A write may or may not have been applied. Read the stored data before you write again.
    Uncertain,
    /// The store refuses the call: no permission, wrong credentials, a read-only medium.
    PermissionDenied,
    /// The store is busy or down, or the connection broke. Nothing was applied; the same call may succeed later.
    Unavailable,
    /// The call was cancelled by [`Progress::cancel`](crate::Progress::cancel).
    Cancelled,
    /// Any other failure of input or output, such as a full disk. The [`StoreError`] among the sources has the
    /// [number of the system](StoreError::raw_os_error).
    Io,
    /// A codec panicked: a defect of that codec.
    Panic,
}

/// An error of an array operation, with the array, the chunk and the key where it happened.
///
/// It prints as one line, from outside in. [`source`](Error::source) returns the cause: a [`StoreError`], a
/// [`CodecError`] or a [`MetaError`]. Cheap to clone: a clone shares the source.
///
/// ```
/// # use zarr_array::{ArrayError, ArrayErrorKind as Kind};
/// fn advice(e: &ArrayError) -> &'static str {
///     match e.kind() {
///         Kind::Unavailable | Kind::Conflict => "try again",
///         Kind::PermissionDenied => "log in",
///         Kind::NotFound => "check the path",
///         Kind::Corrupt | Kind::Checksum => "restore the object from a backup",
///         Kind::Uncertain => "read the stored data",
///         Kind::LimitExceeded => "raise the limit",
///         _ => "report it",
///     }
/// }
/// ```
#[derive(Clone)]
pub struct ArrayError(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ArrayErrorKind,
    array: Option<String>,
    chunk: Option<(Dims, String)>,
    message: String,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

/// The result of an array operation.
pub type ArrayResult<T> = Result<T, ArrayError>;

impl ArrayError {
    /// Returns an error with a message. **For implementors** of [`Element`](crate::Element).
    pub fn new(kind: ArrayErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, array: None, chunk: None, message: message.into(), source: None }))
    }

    fn caused_by(kind: ArrayErrorKind, source: impl Error + Send + Sync + 'static) -> Self {
        let mut error = Self::new(kind, "");
        error.0.source = Some(Arc::new(source));
        error
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ArrayErrorKind::InvalidArgument, message)
    }

    /// Adds the name of the document to an error of metadata.
    pub(crate) fn in_document(mut self, name: &'static str) -> Self {
        if let Some(meta) = self.0.source.as_deref().and_then(|e| e.downcast_ref::<MetaError>()) {
            self.0.source = Some(Arc::new(meta.clone().in_document(name)));
        }
        self
    }

    pub(crate) fn in_array(mut self, path: &str) -> Self {
        self.0.array.get_or_insert_with(|| path.to_owned());
        self
    }

    /// Puts `what` before the message.
    pub(crate) fn while_doing(mut self, what: String) -> Self {
        self.0.message = if self.0.message.is_empty() { what } else { format!("{what}: {}", self.0.message) };
        self
    }

    pub(crate) fn in_chunk(mut self, index: &Dims, key: &Key) -> Self {
        let store = self.0.source.as_deref().and_then(|e| e.downcast_ref::<StoreError>());
        if let Some(mut store) = store.cloned() {
            // The message must name the key only once.
            let _ = store.take_key();
            self.0.source = Some(Arc::new(store));
        }
        self.0.chunk.get_or_insert_with(|| (index.clone(), key.to_string()));
        self
    }

    /// The kind of the error.
    pub fn kind(&self) -> ArrayErrorKind {
        self.0.kind
    }

    /// The path of the array, if it is known.
    pub fn array(&self) -> Option<&str> {
        self.0.array.as_deref()
    }

    /// The grid index of the chunk, if the error is about one.
    pub fn chunk(&self) -> Option<&[u64]> {
        self.0.chunk.as_ref().map(|(index, _)| &index[..])
    }

    /// The key of the chunk, if the error is about one.
    pub fn key(&self) -> Option<&str> {
        self.0.chunk.as_ref().map(|(_, key)| key.as_str())
    }
}

impl From<StoreError> for ArrayError {
    fn from(e: StoreError) -> Self {
        let kind = match e.kind() {
            StoreErrorKind::Unsupported => ArrayErrorKind::Unsupported,
            StoreErrorKind::InvalidArgument => ArrayErrorKind::InvalidArgument,
            StoreErrorKind::Changed => ArrayErrorKind::Conflict,
            StoreErrorKind::RangeNotSatisfiable { .. } | StoreErrorKind::Corrupt => ArrayErrorKind::Corrupt,
            StoreErrorKind::Uncertain => ArrayErrorKind::Uncertain,
            StoreErrorKind::LimitExceeded | StoreErrorKind::TooLarge { .. } => ArrayErrorKind::LimitExceeded,
            StoreErrorKind::PermissionDenied => ArrayErrorKind::PermissionDenied,
            StoreErrorKind::Unavailable => ArrayErrorKind::Unavailable,
            _ => ArrayErrorKind::Io,
        };
        Self::caused_by(kind, e)
    }
}

impl From<CodecError> for ArrayError {
    fn from(e: CodecError) -> Self {
        let kind = match e.kind() {
            CodecErrorKind::Checksum => ArrayErrorKind::Checksum,
            CodecErrorKind::Configuration => ArrayErrorKind::Metadata,
            CodecErrorKind::Unsupported => ArrayErrorKind::Unsupported,
            CodecErrorKind::UnknownExtension => ArrayErrorKind::UnknownExtension,
            CodecErrorKind::InvalidArgument | CodecErrorKind::Value => ArrayErrorKind::InvalidArgument,
            CodecErrorKind::LimitExceeded => ArrayErrorKind::LimitExceeded,
            _ => ArrayErrorKind::Corrupt,
        };
        Self::caused_by(kind, e)
    }
}

impl From<StridedError> for ArrayError {
    fn from(e: StridedError) -> Self {
        let kind = match e {
            StridedError::Memory { .. } | StridedError::TooLarge { .. } => ArrayErrorKind::LimitExceeded,
            _ => ArrayErrorKind::InvalidArgument,
        };
        Self::caused_by(kind, e)
    }
}

impl From<Stop> for ArrayError {
    fn from(stop: Stop) -> Self {
        let kind = match stop {
            Stop::Cancelled => ArrayErrorKind::Cancelled,
            Stop::Lost { .. } => ArrayErrorKind::Conflict,
            _ => ArrayErrorKind::Panic,
        };
        Self::new(kind, stop.to_string())
    }
}

impl From<MetaError> for ArrayError {
    fn from(e: MetaError) -> Self {
        let kind = match e.kind() {
            MetaErrorKind::UnknownExtension => ArrayErrorKind::UnknownExtension,
            MetaErrorKind::Unsupported => ArrayErrorKind::Unsupported,
            MetaErrorKind::LimitExceeded => ArrayErrorKind::LimitExceeded,
            MetaErrorKind::InvalidArgument => ArrayErrorKind::InvalidArgument,
            _ => ArrayErrorKind::Metadata,
        };
        Self::caused_by(kind, e)
    }
}

impl fmt::Display for ArrayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(array) = &self.0.array {
            write!(f, "array {array:?}")?;
        }
        if let Some((index, key)) = &self.0.chunk {
            write!(f, ", chunk {:?} (key {key:?})", &index[..])?;
        }
        if self.0.array.is_some() || self.0.chunk.is_some() {
            f.write_str(": ")?;
        }
        f.write_str(&self.0.message)?;
        match &self.0.source {
            None => Ok(()),
            Some(e) if self.0.message.is_empty() => write!(f, "{e}"),
            Some(e) => write!(f, ": {e}"),
        }
    }
}

/// Prints the kind and the message: a `main` that returns the error prints this.
impl fmt::Debug for ArrayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.0.kind)
    }
}

impl Error for ArrayError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_deref().map(|e| e as _)
    }
}

/// The error that part of a chunk cannot be written safely.
pub(crate) fn unsafe_update() -> ArrayError {
    let message = "the store has no conditional puts, so another writer's update could be lost; use \
                   `PartialWrites::Unchecked` if this is the only writer";
    ArrayError::new(ArrayErrorKind::Unsupported, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_a_store_error_says_what_the_caller_can_do() {
        for (store, array) in [
            (StoreErrorKind::Unavailable, ArrayErrorKind::Unavailable),
            (StoreErrorKind::PermissionDenied, ArrayErrorKind::PermissionDenied),
            (StoreErrorKind::Unsupported, ArrayErrorKind::Unsupported),
            (StoreErrorKind::InvalidArgument, ArrayErrorKind::InvalidArgument),
            (StoreErrorKind::Changed, ArrayErrorKind::Conflict),
            (StoreErrorKind::Uncertain, ArrayErrorKind::Uncertain),
            (StoreErrorKind::LimitExceeded, ArrayErrorKind::LimitExceeded),
            (StoreErrorKind::RangeNotSatisfiable { size: 3 }, ArrayErrorKind::Corrupt),
            (StoreErrorKind::Corrupt, ArrayErrorKind::Corrupt),
            (StoreErrorKind::Io, ArrayErrorKind::Io),
        ] {
            assert_eq!(ArrayError::from(StoreError::new(store, "no")).kind(), array, "{store:?}");
        }
    }

    #[test]
    fn a_message_is_one_line_and_its_clone_has_the_same_source() {
        let cause = std::io::Error::other("broken pipe");
        let store =
            StoreError::new(StoreErrorKind::Unavailable, "no answer").with_key("a/c/0").with_source(cause);
        let key = Key::new("a/c/0").unwrap_or_else(|e| unreachable!("{e}"));
        let e = ArrayError::from(store).in_chunk(&Dims::from([0]), &key).in_array("/a");
        let line = "array \"/a\", chunk [0] (key \"a/c/0\"): no answer: broken pipe";
        let mut clones = [e.clone(), e].into_iter();
        assert!(clones.all(|e| e.to_string() == line && store_kind(&e) == Some(StoreErrorKind::Unavailable)));
    }

    /// Returns the kind of the store error among the sources.
    fn store_kind(e: &dyn Error) -> Option<StoreErrorKind> {
        let source = e.source()?;
        source.downcast_ref::<StoreError>().map(StoreError::kind).or_else(|| store_kind(source))
    }
}
