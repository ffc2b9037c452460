//! Errors of arrays: a kind that tells what the caller can do, and the place of the error, from outside in.

use std::error::Error;

use zarr_engine::run::Stop;
use zarr_meta::json::JsonError;
use zarr_meta::{MetaError, MetaErrorKind};
use zarr_strided::{Dims, StridedError};
use zarr_traits::cause::{Cause, raw_os_error};
use zarr_traits::{CodecError, CodecErrorKind, Key, Storage, StoreError, StoreErrorKind, chain};

/// The kind of an error, which tells what the caller can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArrayErrorKind {
    /// No array exists at this path; or a chunk is missing and the handle uses
    /// [`MissingChunks::Error`](crate::MissingChunks::Error).
    #[error("it does not exist")]
    NotFound,
    /// A node exists at this path.
    #[error("a node exists already")]
    Exists,
    /// The store or a codec cannot do this.
    #[error("this is not supported")]
    Unsupported,
    /// The call itself is wrong: a selection outside the array, a wrong element type or number of values, or a value
    /// that the data type or the element type cannot represent.
    #[error("the call is wrong")]
    InvalidArgument,
    /// The metadata document is invalid.
    #[error("the metadata is invalid")]
    Metadata,
    /// Stored bytes do not agree with the metadata.
    #[error("stored bytes are damaged")]
    Corrupt,
    /// Stored bytes do not match their checksum.
    #[error("stored bytes do not match their checksum")]
    Checksum,
    /// The array uses an extension that the registry does not know.
    #[error("the array uses an unknown extension")]
    UnknownExtension,
    /// A limit is exceeded: a size in [`Limits`](crate::Limits), or memory.
    #[error("a limit is exceeded")]
    LimitExceeded,
    /// Another writer changed the same object again and again, or changed the array since it was opened. Open the array
    /// again and repeat the call.
    #[error("another writer changed it")]
    Conflict,
    /// A write may or may not have been applied. Read the stored data before you write again.
    #[error("the write may or may not have been applied")]
    Uncertain,
    /// The store refuses the call: no permission, wrong credentials, a read-only medium.
    #[error("the store refuses this")]
    PermissionDenied,
    /// The store is busy or down, or the connection broke. Nothing was applied; the same call may succeed later.
    #[error("the store is unavailable")]
    Unavailable,
    /// The call was cancelled by [`Progress::cancel`](crate::Progress::cancel).
    #[error("the call was cancelled")]
    Cancelled,
    /// Any other failure of input or output, such as a full disk: [`ArrayError::raw_os_error`] tells which.
    #[error("the store failed")]
    Io,
    /// A codec panicked: a defect of that codec.
    #[error("a codec panicked")]
    Panic,
}

/// An error of an array operation, with the array, the chunk and the key where it happened.
///
/// `{}` prints the place and what is wrong. [`source`](Error::source) returns the cause: a [`StoreError`], a
/// [`CodecError`] or a [`MetaError`]. `{:#}` prints the place and all causes on one line. Cheap to clone: a clone shares
/// the source.
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
#[derive(Clone, thiserror::Error)]
pub struct ArrayError {
    inner: Box<Inner>,
    source: Option<Cause>,
}

#[derive(Clone)]
struct Inner {
    kind: ArrayErrorKind,
    array: Option<String>,
    location: Option<String>,
    chunk: Option<(Dims, String)>,
    message: String,
}

/// The result of an array operation.
pub type ArrayResult<T> = Result<T, ArrayError>;

impl ArrayError {
    /// Returns an error with a message. **For implementors** of [`Element`](crate::Element).
    pub fn new(kind: ArrayErrorKind, message: impl Into<String>) -> Self {
        let inner = Inner { kind, array: None, location: None, chunk: None, message: message.into() };
        Self { inner: Box::new(inner), source: None }
    }

    fn caused_by(kind: ArrayErrorKind, source: impl Error + Send + Sync + 'static) -> Self {
        Self { source: Some(Cause::new(source)), ..Self::new(kind, "") }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ArrayErrorKind::InvalidArgument, message)
    }

    /// Adds the name of the document to an error of metadata.
    pub(crate) fn in_document(mut self, name: &'static str) -> Self {
        if let Some(meta) = self.cause::<MetaError>() {
            self.source = Some(Cause::new(meta.in_document(name)));
        }
        self
    }

    /// Adds the path of the array and the location of its store, unless the error has a path.
    pub(crate) fn in_array(mut self, path: &str, storage: &Storage) -> Self {
        if self.inner.array.is_none() {
            self.inner.array = Some(path.to_owned());
            self.inner.location = storage.location().map(str::to_owned);
        }
        self
    }

    /// Puts `what` before the message.
    pub(crate) fn while_doing(mut self, what: String) -> Self {
        self.inner.message =
            if self.inner.message.is_empty() { what } else { format!("{what}: {}", self.inner.message) };
        self
    }

    pub(crate) fn in_chunk(mut self, index: &Dims, key: &Key) -> Self {
        if let Some(mut store) = self.cause::<StoreError>() {
            // The message must name the key only once.
            let _ = store.take_key();
            self.source = Some(Cause::new(store));
        }
        self.inner.chunk.get_or_insert_with(|| (index.clone(), key.to_string()));
        self
    }

    /// Returns the cause, if it is an `E`.
    fn cause<E: Error + Clone + 'static>(&self) -> Option<E> {
        self.source.as_deref()?.downcast_ref().cloned()
    }

    /// Returns the array, the store and the chunk, as far as they are known.
    fn place(&self) -> String {
        let Inner { array, location, chunk, .. } = &*self.inner;
        let array = array.as_ref().map(|array| match location {
            Some(location) => format!("array {array:?} of {location}"),
            None => format!("array {array:?}"),
        });
        let chunk = chunk.as_ref().map(|(index, key)| format!("chunk {:?} (key {key:?})", &index[..]));
        array.into_iter().chain(chunk).collect::<Vec<_>>().join(", ")
    }

    /// The kind of the error.
    pub fn kind(&self) -> ArrayErrorKind {
        self.inner.kind
    }

    /// The path of the array, if it is known.
    pub fn array(&self) -> Option<&str> {
        self.inner.array.as_deref()
    }

    /// The location of the store without credentials, such as `s3://bucket/x.zarr`, if it is known.
    pub fn location(&self) -> Option<&str> {
        self.inner.location.as_deref()
    }

    /// The number of the error of the operating system that caused this one, such as `ENOSPC` for a full disk, if any.
    pub fn raw_os_error(&self) -> Option<i32> {
        raw_os_error(self)
    }

    /// The grid index of the chunk, if the error is about one.
    pub fn chunk(&self) -> Option<&[u64]> {
        self.inner.chunk.as_ref().map(|(index, _)| &index[..])
    }

    /// The key of the chunk, if the error is about one.
    pub fn key(&self) -> Option<&str> {
        self.inner.chunk.as_ref().map(|(_, key)| key.as_str())
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

impl From<JsonError> for ArrayError {
    fn from(e: JsonError) -> Self {
        MetaError::from(e).into()
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

chain!(ArrayError, |e| e.place(), e.inner.message);

/// The error that part of a chunk cannot be written safely.
pub(crate) fn unsafe_update() -> ArrayError {
    let message = "the store has no conditional puts, so another writer's update could be lost; use \
                   `PartialWrites::Unchecked` if this is the only writer";
    ArrayError::new(ArrayErrorKind::Unsupported, message)
}

#[cfg(test)]
mod tests {
    use zarr_traits::store::{Answer, Capabilities, Op, Store, ready};
    use zarr_traits::{BoxFuture, StoreResult};

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
        let storage = Storage::from(Named);
        let e = ArrayError::from(store).in_chunk(&Dims::from([0]), &key).in_array("/a", &storage);
        let place = "array \"/a\" of s3://bucket/x.zarr, chunk [0] (key \"a/c/0\")";
        assert_eq!(format!("{e}"), format!("{place}: the store is unavailable"));
        let line = format!("{place}: no answer: broken pipe");
        let mut clones = [e.clone(), e].into_iter();
        assert!(
            clones.all(|e| format!("{e:#}") == line && store_kind(&e) == Some(StoreErrorKind::Unavailable))
        );
    }

    /// A store with a location and nothing else.
    #[derive(Debug)]
    struct Named;

    impl Store for Named {
        fn capabilities(&self) -> Capabilities {
            Capabilities::inline()
        }

        fn location(&self) -> Option<String> {
            Some("s3://bucket/x.zarr".to_owned())
        }

        fn call<'a>(&'a self, op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
            ready(op.unsupported())
        }
    }

    /// Returns the kind of the store error among the sources.
    fn store_kind(e: &dyn Error) -> Option<StoreErrorKind> {
        let source = e.source()?;
        source.downcast_ref::<StoreError>().map(StoreError::kind).or_else(|| store_kind(source))
    }
}
