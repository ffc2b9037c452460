//! The error type of this crate: the kind of the problem, and its place in the document.

use std::error::Error;
use std::fmt;

use zarr_traits::cause::Cause;
use zarr_traits::chain;

pub use crate::json::TextPosition;

use crate::code::Code;

/// The kind of an error: what the caller can do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum MetaErrorKind {
    /// The bytes are not a JSON text; [`MetaError::position`] says where.
    #[error("the document is not JSON")]
    Syntax,
    /// A JSON text that is not valid Zarr metadata.
    #[error("the document is invalid")]
    Invalid,
    /// A deviation that a tolerant reader accepts, reported to a [`Strict`](crate::Strict) sink.
    #[error("the metadata deviates from the format")]
    Deviation(Code),
    /// Another version of the format, or a feature of it that is not implemented.
    #[error("the format is not supported")]
    Unsupported,
    /// A data type, chunk grid, key encoding, codec or storage transformer that the registry does not know.
    #[error("an extension of the document is not registered")]
    UnknownExtension,
    /// The document is valid, but exceeds a limit that the caller has set.
    #[error("a limit on documents is exceeded")]
    LimitExceeded,
    /// The call itself is wrong, for example an illegal name or a builder without a required value.
    #[error("an argument is invalid")]
    InvalidArgument,
}

/// An error in a metadata document: its kind, node, member and message. It prints as the module
/// [`cause`](zarr_traits::cause) says.
#[derive(Clone, thiserror::Error)]
pub struct MetaError {
    inner: Box<Inner>,
    source: Option<Cause>,
}

#[derive(Clone)]
struct Inner {
    kind: MetaErrorKind,
    node: Option<String>,
    document: Option<&'static str>,
    pointer: String,
    position: Option<TextPosition>,
    message: String,
}

/// The result of a metadata operation.
pub type MetaResult<T> = Result<T, MetaError>;

impl MetaError {
    /// Returns an error of `kind`. Write `message` in lower case, without a full stop.
    pub fn new(kind: MetaErrorKind, message: impl Into<String>) -> Self {
        let (pointer, message) = (String::new(), message.into());
        let inner = Inner { kind, node: None, document: None, pointer, position: None, message };
        Self { inner: Box::new(inner), source: None }
    }

    /// Returns an error of kind [`MetaErrorKind::Invalid`].
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(MetaErrorKind::Invalid, message)
    }

    /// Returns an error of kind [`MetaErrorKind::InvalidArgument`].
    pub fn argument(message: impl Into<String>) -> Self {
        Self::new(MetaErrorKind::InvalidArgument, message)
    }

    /// Returns an error of kind [`MetaErrorKind::LimitExceeded`].
    pub fn limit(message: impl Into<String>) -> Self {
        Self::new(MetaErrorKind::LimitExceeded, message)
    }

    /// Puts the JSON pointer `pointer` in front of the present pointer.
    #[must_use]
    pub fn at(mut self, pointer: &str) -> Self {
        self.inner.pointer.insert_str(0, pointer);
        self
    }

    /// Replaces the pointer.
    pub(crate) fn moved(mut self, pointer: String) -> Self {
        self.inner.pointer = pointer;
        self
    }

    /// Sets the place in the text.
    #[must_use]
    pub fn with_position(mut self, position: TextPosition) -> Self {
        self.inner.position = Some(position);
        self
    }

    /// Sets the node of the error, unless it is set already.
    #[must_use]
    pub fn with_node(mut self, node: impl fmt::Display) -> Self {
        self.inner.node.get_or_insert_with(|| node.to_string());
        self
    }

    /// Sets the name of the document that has the error, such as `zarr.json`, unless it is set already.
    #[must_use]
    pub fn in_document(mut self, name: &'static str) -> Self {
        self.inner.document.get_or_insert(name);
        self
    }

    /// Sets the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(Cause::new(source));
        self
    }

    /// Returns the node, the document, the place in the text and the member, as far as they are known.
    fn place(&self) -> String {
        let Inner { node, document, pointer, position, .. } = &*self.inner;
        let parts = [
            node.as_ref().map(|node| format!("node {node:?}")),
            document.map(str::to_owned),
            position.map(|position| position.to_string()),
            Some(pointer).filter(|pointer| !pointer.is_empty()).map(|pointer| format!("member {pointer:?}")),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(": ")
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> MetaErrorKind {
        self.inner.kind
    }

    /// Returns the node that has the error, if it is known.
    pub fn node(&self) -> Option<&str> {
        self.inner.node.as_deref()
    }

    /// Returns the name of the document that has the error, such as `.zarray`, if it was read from a document.
    pub fn document(&self) -> Option<&'static str> {
        self.inner.document
    }

    /// Returns the member that has the error as a JSON pointer (RFC 6901); empty for the whole document.
    pub fn pointer(&self) -> &str {
        &self.inner.pointer
    }

    /// Returns the place in the text, for syntax errors.
    pub fn position(&self) -> Option<TextPosition> {
        self.inner.position
    }
}

chain!(MetaError, |e| e.place(), e.inner.message);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Value;

    #[test]
    fn a_message_reads_from_outside_in() {
        let e = MetaError::invalid("expected an integer, found -4").at("/0").at("/shape").with_node("/t2m");
        assert_eq!(format!("{e:#}"), "node \"/t2m\": member \"/shape/0\": expected an integer, found -4");
        let e = e.in_document("zarr.json").in_document("no");
        assert!(format!("{e:#}").starts_with("node \"/t2m\": zarr.json: member \"/shape/0\": "), "{e:#}");
        let e = e.with_position(Value::parse("[1,2,3,4").unwrap_err().position().unwrap()).with_source("no");
        assert!(
            format!("{e:#}").ends_with(
                "line 1, column 9 (byte 8): member \"/shape/0\": expected an integer, found -4: no"
            )
        );
    }
}
