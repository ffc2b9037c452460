//! The error type of this crate: the kind of the problem, and its place in the document.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::code::Code;

/// The kind of an error: what the caller can do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MetaErrorKind {
    /// The bytes are not a JSON text; [`MetaError::position`] says where.
    Syntax,
    /// A JSON text that is not valid Zarr metadata.
    Invalid,
    /// A deviation that a tolerant reader accepts, reported to a [`Strict`](crate::Strict) sink.
    Deviation(Code),
    /// Another version of the format, or a feature of it that is not implemented.
    Unsupported,
    /// A data type, chunk grid, key encoding, codec or storage transformer that the registry does not know.
    UnknownExtension,
    /// The document is valid, but exceeds a limit that the caller has set.
    LimitExceeded,
    /// The call itself is wrong, for example an illegal name or a builder without a required value.
    InvalidArgument,
}

/// A place in the text of a document. Lines and columns count from 1, bytes from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextPosition {
    /// The line number, from 1.
    pub line: usize,
    /// The number of the character in its line, from 1.
    pub column: usize,
    /// The offset in the document in bytes, from 0.
    pub byte: usize,
}

/// An error in a metadata document: its kind, node, member and message.
#[derive(Clone)]
pub struct MetaError(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: MetaErrorKind,
    node: Option<String>,
    document: Option<&'static str>,
    pointer: String,
    position: Option<TextPosition>,
    message: String,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

/// The result of a metadata operation.
pub type MetaResult<T> = Result<T, MetaError>;

impl MetaError {
    /// Returns an error of `kind`. Write `message` in lower case, without a full stop.
    pub fn new(kind: MetaErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            node: None,
            document: None,
            pointer: String::new(),
            position: None,
            message: message.into(),
            source: None,
        }))
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
        self.0.pointer.insert_str(0, pointer);
        self
    }

    /// Replaces the pointer.
    pub(crate) fn moved(mut self, pointer: String) -> Self {
        self.0.pointer = pointer;
        self
    }

    /// Sets the place in the text.
    #[must_use]
    pub fn with_position(mut self, position: TextPosition) -> Self {
        self.0.position = Some(position);
        self
    }

    /// Sets the node of the error, unless it is set already.
    #[must_use]
    pub fn with_node(mut self, node: impl fmt::Display) -> Self {
        self.0.node.get_or_insert_with(|| node.to_string());
        self
    }

    /// Sets the name of the document that has the error, such as `zarr.json`, unless it is set already.
    #[must_use]
    pub fn in_document(mut self, name: &'static str) -> Self {
        self.0.document.get_or_insert(name);
        self
    }

    /// Sets the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.0.source = Some(Arc::from(source.into()));
        self
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> MetaErrorKind {
        self.0.kind
    }

    /// Returns the node that has the error, if it is known.
    pub fn node(&self) -> Option<&str> {
        self.0.node.as_deref()
    }

    /// Returns the name of the document that has the error, such as `.zarray`, if it was read from a document.
    pub fn document(&self) -> Option<&'static str> {
        self.0.document
    }

    /// Returns the member that has the error as a JSON pointer (RFC 6901); empty for the whole document.
    pub fn pointer(&self) -> &str {
        &self.0.pointer
    }

    /// Returns the place in the text, for syntax errors.
    pub fn position(&self) -> Option<TextPosition> {
        self.0.position
    }
}

impl fmt::Display for MetaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { node, document, pointer, position, message, source, .. } = &*self.0;
        if let Some(node) = node {
            write!(f, "node {node:?}: ")?;
        }
        if let Some(document) = document {
            write!(f, "{document}: ")?;
        }
        if let Some(TextPosition { line, column, byte }) = position {
            write!(f, "line {line}, column {column} (byte {byte}): ")?;
        }
        if !pointer.is_empty() {
            write!(f, "member {pointer:?}: ")?;
        }
        f.write_str(message)?;
        source.as_ref().map_or(Ok(()), |e| write!(f, ": {e}"))
    }
}

impl fmt::Debug for MetaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MetaError({:?}: {self})", self.0.kind)
    }
}

impl Error for MetaError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_deref().map(|e| e as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_reads_from_outside_in() {
        let e = MetaError::invalid("expected an integer, found -4").at("/0").at("/shape").with_node("/t2m");
        assert_eq!(e.to_string(), "node \"/t2m\": member \"/shape/0\": expected an integer, found -4");
        let e = e.in_document("zarr.json").in_document("no");
        assert!(e.to_string().starts_with("node \"/t2m\": zarr.json: member \"/shape/0\": "), "{e}");
        let e = e.with_position(TextPosition { line: 1, column: 9, byte: 8 }).with_source("no");
        assert!(
            e.to_string().ends_with(
                "line 1, column 9 (byte 8): member \"/shape/0\": expected an integer, found -4: no"
            )
        );
    }
}
