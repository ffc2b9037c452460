//! Errors of stores and codecs. Each has a kind, chosen by what the caller can do, a place and a cause.

use std::error::Error;
use std::fmt;
use std::io;

use zarr_json::JsonError;
use zarr_strided::StridedError;

use crate::cause::{Cause, raw_os_error};
use crate::chain;
use crate::point::ExtensionPoint;

/// The kind of a store error, by what the caller can do. An absent key is `Ok(None)`, never an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// The store does not support this operation.
    #[error("the store does not support this")]
    Unsupported,
    /// The call is wrong: an illegal key, a buffer of the wrong size.
    #[error("the request is invalid")]
    InvalidArgument,
    /// The object is no longer the requested version; read again.
    #[error("the object was changed")]
    Changed,
    /// A range is not completely inside the object.
    #[error("a range is outside of the object of {size} bytes")]
    RangeNotSatisfiable {
        /// The size of the object in bytes.
        size: u64,
    },
    /// A write may or may not have been applied, or is visible but may not be durable.
    #[error("the outcome of the write is unknown")]
    Uncertain,
    /// The store refuses the operation: no permission, a read-only medium.
    #[error("permission is denied")]
    PermissionDenied,
    /// The answer has more bytes than the caller accepts.
    #[error("the answer has more bytes than accepted")]
    TooLarge {
        /// The size of the object in bytes, if the store knows it.
        size: Option<u64>,
    },
    /// A limit of this process or of the store is exceeded: a size or memory.
    #[error("a limit of the store is exceeded")]
    LimitExceeded,
    /// Stored bytes are damaged: an archive is not one, or a member does not match its checksum.
    #[error("the store is damaged")]
    Corrupt,
    /// The service is busy or down, or the connection broke. Nothing was applied. The same call may succeed later.
    #[error("the service is unavailable")]
    Unavailable,
    /// Any other input or output error, such as a full disk: [`StoreError::raw_os_error`] tells which.
    #[error("input or output failed")]
    Io,
}

/// An error of a store, with the key that it is about. It is cheap to clone: clones share the cause.
///
/// It prints as the module [`cause`](crate::cause) says.
#[derive(Clone, thiserror::Error)]
pub struct StoreError {
    kind: StoreErrorKind,
    key: Option<String>,
    message: String,
    source: Option<Cause>,
}

/// The result of a store operation.
pub type StoreResult<T> = Result<T, StoreError>;

impl StoreError {
    /// Builds an error. `message` is lower case, without a full stop, and never contains credentials.
    pub fn new(kind: StoreErrorKind, message: impl Into<String>) -> Self {
        Self { kind, key: None, message: message.into(), source: None }
    }

    /// Builds the error for an object that must exist and does not: of kind [`Io`](StoreErrorKind::Io), caused by
    /// [`io::ErrorKind::NotFound`].
    pub fn absent(message: impl Into<String>) -> Self {
        Self::new(StoreErrorKind::Io, message).with_source(io::Error::from(io::ErrorKind::NotFound))
    }

    /// Adds the key or prefix at fault, unless a lower layer has added one. The root prefix is left out, as it has no
    /// name.
    #[must_use]
    pub fn with_key(mut self, key: impl fmt::Display) -> Self {
        self.key = self.key.or_else(|| Some(key.to_string()).filter(|key| !key.is_empty()));
        self
    }

    /// Takes the key out of the error, for a message that already names it.
    pub fn take_key(&mut self) -> Option<String> {
        self.key.take()
    }

    /// Adds the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(Cause::new(source));
        self
    }

    /// The kind: what the caller can do about the error.
    pub fn kind(&self) -> StoreErrorKind {
        self.kind
    }

    /// The key or prefix at fault, if any.
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// The number of the error of the operating system that caused this one, such as `ENOSPC` for a full disk, if any.
    pub fn raw_os_error(&self) -> Option<i32> {
        raw_os_error(self)
    }
}

/// Only memory is a limit of the process. A full disk, a quota and the largest size of a file are of kind
/// [`Io`](StoreErrorKind::Io), with the [number of the system](StoreError::raw_os_error).
impl From<io::Error> for StoreError {
    fn from(e: io::Error) -> Self {
        use io::ErrorKind as E;
        let kind = match e.kind() {
            E::PermissionDenied | E::ReadOnlyFilesystem => StoreErrorKind::PermissionDenied,
            E::OutOfMemory => StoreErrorKind::LimitExceeded,
            E::InvalidFilename | E::InvalidInput => StoreErrorKind::InvalidArgument,
            E::Unsupported => StoreErrorKind::Unsupported,
            _ => StoreErrorKind::Io,
        };
        Self::new(kind, "input or output failed").with_source(e)
    }
}

chain!(StoreError, |e| e.key.as_ref().map_or(String::new(), |key| format!("key {key:?}")), e.message);

/// The kind of a codec error, by what the caller can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CodecErrorKind {
    /// The stored bytes are not an encoded form of this codec.
    #[error("the encoded bytes are damaged")]
    Corrupt,
    /// The stored bytes do not match their checksum.
    #[error("the encoded bytes do not match their checksum")]
    Checksum,
    /// The decoded bytes do not fit into the destination: an encoded chunk is larger than declared.
    #[error("the decoded bytes do not fit into the destination")]
    TooLarge,
    /// A configuration member is missing or has a value that the codec does not allow.
    #[error("the configuration is invalid")]
    Configuration,
    /// The codec cannot work on this data type, shape or place in the chain.
    #[error("the codec does not support this")]
    Unsupported,
    /// No extension of this name (codec, data type, grid …) is registered.
    #[error("an extension is not registered")]
    UnknownExtension,
    /// The call is wrong: shapes or sizes do not match.
    #[error("an argument of the codec is invalid")]
    InvalidArgument,
    /// A limit is exceeded.
    #[error("a limit of the codec is exceeded")]
    LimitExceeded,
    /// An element cannot be encoded: it is out of range or not representable.
    #[error("an element cannot be encoded")]
    Value,
}

/// An error of a codec; the chain adds the codec's name. It is cheap to clone: clones share the cause.
///
/// It prints as the module [`cause`](crate::cause) says.
#[derive(Clone, thiserror::Error)]
pub struct CodecError {
    kind: CodecErrorKind,
    codec: Option<String>,
    pointer: String,
    message: String,
    unknown: Option<Box<(ExtensionPoint, String)>>,
    source: Option<Cause>,
}

/// The result of a codec operation.
pub type CodecResult<T> = Result<T, CodecError>;

impl CodecError {
    /// Builds an error. `message` is lower case, without a full stop.
    pub fn new(kind: CodecErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { kind, codec: None, pointer: String::new(), message, unknown: None, source: None }
    }

    /// Builds the error for an unregistered name, of kind [`CodecErrorKind::UnknownExtension`].
    pub fn unknown(point: ExtensionPoint, name: impl Into<String>) -> Self {
        let name = name.into();
        let error = Self::new(CodecErrorKind::UnknownExtension, format!("unknown {point} {name:?}"));
        Self { unknown: Some(Box::new((point, name))), ..error }
    }

    /// Builds the error for a failed allocation of `len` bytes, of kind [`CodecErrorKind::LimitExceeded`].
    pub fn no_memory(len: usize) -> Self {
        Self::new(CodecErrorKind::LimitExceeded, format!("no memory for {len} bytes"))
    }

    /// Builds an error of kind [`CodecErrorKind::Corrupt`].
    pub fn corrupt(message: impl Into<String>) -> Self {
        Self::new(CodecErrorKind::Corrupt, message)
    }

    /// Builds an error of kind [`CodecErrorKind::Configuration`].
    pub fn configuration(message: impl Into<String>) -> Self {
        Self::new(CodecErrorKind::Configuration, message)
    }

    /// Adds the codec at fault and its action, unless an inner chain has added one.
    #[must_use]
    pub fn in_codec(mut self, codec: &str, action: &str) -> Self {
        self.codec.get_or_insert_with(|| format!("codec {codec:?} failed to {action}"));
        self
    }

    /// Wraps the error of an inner chain and names its place in the chunk.
    #[must_use]
    pub fn inside(self, place: impl Into<String>) -> Self {
        Self::new(self.kind, place).with_source(self)
    }

    /// Wraps the error of an inner chunk and names its index.
    #[must_use]
    pub fn in_inner_chunk(self, number: &[u64]) -> Self {
        self.inside(format!("in inner chunk {number:?}"))
    }

    /// Prepends `prefix` to the JSON pointer to the member at fault. Outer parts of the document are added last.
    #[must_use]
    pub fn at(mut self, prefix: &str) -> Self {
        self.pointer.insert_str(0, prefix);
        self
    }

    /// Adds the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(Cause::new(source));
        self
    }

    /// Appends advice for the user to the message: lower case, without a full stop.
    #[must_use]
    pub fn with_hint(mut self, hint: &str) -> Self {
        self.message = format!("{}: {hint}", self.message);
        self
    }

    /// Returns the name that is [unknown](Self::unknown) and its extension point.
    pub fn unknown_name(&self) -> Option<(ExtensionPoint, &str)> {
        self.unknown.as_deref().map(|(point, name)| (*point, name.as_str()))
    }

    /// The JSON pointer to the member at fault, for an error in a configuration; otherwise empty.
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// The kind: what the caller can do about the error.
    pub fn kind(&self) -> CodecErrorKind {
        self.kind
    }
}

impl From<StridedError> for CodecError {
    fn from(e: StridedError) -> Self {
        let kind = match e {
            StridedError::TooLarge { .. } | StridedError::Memory { .. } => CodecErrorKind::LimitExceeded,
            _ => CodecErrorKind::InvalidArgument,
        };
        Self::new(kind, e.to_string())
    }
}

/// A JSON value of a configuration that is not what the extension needs.
impl From<JsonError> for CodecError {
    fn from(e: JsonError) -> Self {
        Self::configuration(e.message()).at(e.pointer())
    }
}

chain!(CodecError, |e| e.codec.as_deref().unwrap_or_default(), e.message);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_beyond_the_address_space_exceeds_a_limit() {
        let kind = |e: StridedError| CodecError::from(e).kind();
        let too_large = zarr_strided::byte_len(&[u64::MAX, 2], 8).unwrap_err();
        assert_eq!(kind(too_large), CodecErrorKind::LimitExceeded);
        let short = zarr_strided::Source::dense(&[0], &[2], 1).unwrap_err();
        assert_eq!(kind(short), CodecErrorKind::InvalidArgument);
    }

    #[test]
    fn only_memory_is_a_limit_among_errors_of_the_system() {
        use io::ErrorKind as E;
        for (kind, found) in [
            (E::StorageFull, StoreErrorKind::Io),
            (E::QuotaExceeded, StoreErrorKind::Io),
            (E::FileTooLarge, StoreErrorKind::Io),
            (E::OutOfMemory, StoreErrorKind::LimitExceeded),
            (E::PermissionDenied, StoreErrorKind::PermissionDenied),
            (E::ReadOnlyFilesystem, StoreErrorKind::PermissionDenied),
        ] {
            assert_eq!(StoreError::from(io::Error::from(kind)).kind(), found, "{kind}");
        }
    }

    #[test]
    fn the_number_of_the_system_is_found_behind_any_layers() {
        let number = || io::Error::from_raw_os_error(28);
        let wrapped = || io::Error::new(io::ErrorKind::Unsupported, number());
        let store = || StoreError::from(number()).with_key("k");
        let uncertain = StoreError::new(StoreErrorKind::Uncertain, "no");
        for e in [
            store(),
            StoreError::from(wrapped()),
            uncertain.clone().with_source(store()),
            uncertain.clone().with_source(io::Error::other(store())),
            uncertain.clone().with_source(CodecError::corrupt("no").with_source(wrapped())),
        ] {
            assert_eq!(e.raw_os_error(), Some(28), "{e}");
        }
        assert_eq!(uncertain.with_source(io::Error::other("no")).raw_os_error(), None);
    }

    #[test]
    fn a_message_reads_from_outside_in() {
        let e = StoreError::from(io::Error::from(io::ErrorKind::PermissionDenied)).with_key("a/b");
        assert_eq!(e.kind(), StoreErrorKind::PermissionDenied);
        assert_eq!(format!("{e}"), "key \"a/b\": input or output failed");
        assert_eq!(format!("{e:#}"), "key \"a/b\": input or output failed: permission denied");
        assert_eq!(format!("{e:?}"), format!("PermissionDenied: {e:#}"));
        let e = CodecError::corrupt("unexpected end of frame")
            .in_codec("zstd", "decode")
            .in_codec("outer", "decode");
        assert_eq!(e.to_string(), "codec \"zstd\" failed to decode: unexpected end of frame");
    }
}
