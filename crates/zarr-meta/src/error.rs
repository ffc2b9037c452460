//! The error of metadata: what the caller can do about it, and the place in the document.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::diagnostic::{Code, Diagnostic};

/// What is wrong with a document, by what the caller can do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MetaErrorKind {
    /// The bytes are not a JSON text; [`MetaError::position`] says where.
    Syntax,
    /// A JSON text that is not valid Zarr metadata.
    Invalid,
    /// A deviation that a tolerant reader accepts, met by a [`Strict`](crate::Strict) one.
    Deviation(Code),
    /// Another version of the format, or something of it that is not implemented.
    Unsupported,
    /// A data type, chunk grid, key encoding, codec or storage transformer that the registry does not know.
    UnknownExtension,
    /// The document is sound, but exceeds a limit of the caller.
    LimitExceeded,
    /// The call itself is wrong: an illegal name, a builder that lacks a value.
    InvalidArgument,
}

/// A place in the text of a document. Lines and columns count from 1, bytes from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// The byte in the document, from 0.
    pub byte: usize,
}

/// An error in a metadata document, with the node and the member it is about.
#[derive(Clone)]
pub struct MetaError(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: MetaErrorKind,
    node: Option<String>,
    pointer: String,
    position: Option<Position>,
    message: String,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

/// The result of a metadata operation.
pub type MetaResult<T> = Result<T, MetaError>;

impl MetaError {
    /// An error of `kind`; `message` is lower case, without a full stop.
    pub fn new(kind: MetaErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            node: None,
            pointer: String::new(),
            position: None,
            message: message.into(),
            source: None,
        }))
    }

    /// Shorthand for [`MetaErrorKind::Invalid`].
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(MetaErrorKind::Invalid, message)
    }

    /// Shorthand for [`MetaErrorKind::InvalidArgument`].
    pub fn argument(message: impl Into<String>) -> Self {
        Self::new(MetaErrorKind::InvalidArgument, message)
    }

    /// Shorthand for [`MetaErrorKind::LimitExceeded`].
    pub fn limit(message: impl Into<String>) -> Self {
        Self::new(MetaErrorKind::LimitExceeded, message)
    }

    /// Puts `pointer`, a JSON pointer, in front of the pointer that is already there.
    #[must_use]
    pub fn at(mut self, pointer: &str) -> Self {
        self.0.pointer.insert_str(0, pointer);
        self
    }

    /// Says another place, in place of the pointer that is there.
    pub(crate) fn moved(mut self, pointer: String) -> Self {
        self.0.pointer = pointer;
        self
    }

    /// Adds the place in the text.
    #[must_use]
    pub fn with_position(mut self, position: Position) -> Self {
        self.0.position = Some(position);
        self
    }

    /// Names the node at fault, unless a layer below has named one.
    #[must_use]
    pub fn with_node(mut self, node: impl fmt::Display) -> Self {
        self.0.node.get_or_insert_with(|| node.to_string());
        self
    }

    /// Adds the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.0.source = Some(Arc::from(source.into()));
        self
    }

    /// What the caller can do about it.
    pub fn kind(&self) -> MetaErrorKind {
        self.0.kind
    }

    /// The node at fault, where it is known.
    pub fn node(&self) -> Option<&str> {
        self.0.node.as_deref()
    }

    /// The member at fault as a JSON pointer (RFC 6901); empty for the whole document.
    pub fn pointer(&self) -> &str {
        &self.0.pointer
    }

    /// The place in the text, for errors of syntax.
    pub fn position(&self) -> Option<Position> {
        self.0.position
    }
}

impl From<Diagnostic> for MetaError {
    fn from(d: Diagnostic) -> Self {
        Self::new(MetaErrorKind::Deviation(d.code), format!("{} ({})", d.message, d.code)).at(&d.pointer)
    }
}

impl fmt::Display for MetaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { node, pointer, position, message, source, .. } = &*self.0;
        if let Some(node) = node {
            write!(f, "node {node:?}: ")?;
        }
        if let Some(Position { line, column, byte }) = position {
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
        let e = e.with_position(Position { line: 1, column: 9, byte: 8 }).with_source("no");
        assert!(
            e.to_string().ends_with(
                "line 1, column 9 (byte 8): member \"/shape/0\": expected an integer, found -4: no"
            )
        );
    }
}
