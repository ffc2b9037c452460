//! The error type of this crate, and the deviations from JSON that a document may have.

use std::error::Error;
use std::fmt;

/// The kind of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum JsonErrorKind {
    /// The bytes are not a JSON text; [`JsonError::position`] says where.
    Syntax,
    /// A deviation that [`Document::parse`](crate::Document::parse) tolerates, in a text that must have none.
    Deviation(DeviationKind),
    /// A JSON value of another kind than expected, or a string that is not text.
    Invalid,
    /// The text is nested deeper than the caller allows.
    LimitExceeded,
    /// A Rust value that JSON cannot represent, or a JSON value that does not fit the requested Rust type.
    InvalidArgument,
}

/// The kind of a [`JsonDeviation`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeviationKind {
    /// The text starts with a byte order mark, which is skipped.
    ByteOrderMark,
    /// A bare `NaN`, `Infinity` or `-Infinity`.
    NonFinite,
    /// A `\u` escape of one half of a surrogate pair.
    LoneSurrogate,
    /// A name that occurs more than once in an object. The last member counts.
    DuplicateMember,
}

/// A deviation from RFC 8259 that was tolerated.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct JsonDeviation {
    /// The kind of the deviation.
    pub kind: DeviationKind,
    /// The value concerned, as a JSON pointer (RFC 6901); empty for the whole document.
    pub pointer: String,
    /// What was found and how it was read: lower case, one line, no full stop.
    pub message: String,
}

/// The most deviations that are recorded for a text, so that a hostile one does not make very many.
pub const MOST_DEVIATIONS: usize = 100;

/// A place in a text. Lines and columns count from 1, bytes from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextPosition {
    /// The line number, from 1.
    pub line: usize,
    /// The number of the character in its line, from 1.
    pub column: usize,
    /// The offset in the text in bytes, from 0.
    pub byte: usize,
}

impl fmt::Display for TextPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, byte } = self;
        write!(f, "line {line}, column {column} (byte {byte})")
    }
}

/// An error in a JSON text or value: its kind, place and message.
#[derive(Clone)]
pub struct JsonError(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: JsonErrorKind,
    pointer: String,
    position: Option<TextPosition>,
    message: String,
}

/// The result of an operation on JSON.
pub type JsonResult<T> = Result<T, JsonError>;

impl JsonError {
    /// Returns an error of `kind`. Write `message` in lower case, without a full stop.
    pub fn new(kind: JsonErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, pointer: String::new(), position: None, message: message.into() }))
    }

    pub(crate) fn argument(message: impl Into<String>) -> Self {
        Self::new(JsonErrorKind::InvalidArgument, message)
    }

    /// Puts the JSON pointer `pointer` in front of the present pointer.
    #[must_use]
    pub fn at(mut self, pointer: &str) -> Self {
        self.0.pointer.insert_str(0, pointer);
        self
    }

    pub(crate) fn with_position(mut self, position: TextPosition) -> Self {
        self.0.position = Some(position);
        self
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> JsonErrorKind {
        self.0.kind
    }

    /// Returns the value that has the error as a JSON pointer (RFC 6901); empty for the whole document.
    pub fn pointer(&self) -> &str {
        &self.0.pointer
    }

    /// Returns the place in the text, for syntax errors.
    pub fn position(&self) -> Option<TextPosition> {
        self.0.position
    }

    /// Returns the message without the place.
    pub fn message(&self) -> &str {
        &self.0.message
    }
}

impl From<JsonDeviation> for JsonError {
    fn from(deviation: JsonDeviation) -> Self {
        Self::new(JsonErrorKind::Deviation(deviation.kind), deviation.message).at(&deviation.pointer)
    }
}

/// Prints the place in the text, the member and the message.
impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { pointer, position, message, .. } = &*self.0;
        if let Some(position) = position {
            write!(f, "{position}: ")?;
        }
        if !pointer.is_empty() {
            write!(f, "member {pointer:?}: ")?;
        }
        f.write_str(message)
    }
}

/// The kind and the message, as printed by a `main` that returns the error.
impl fmt::Debug for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.0.kind)
    }
}

impl Error for JsonError {}

impl serde_core::de::Error for JsonError {
    fn custom<M: fmt::Display>(message: M) -> Self {
        Self::argument(message.to_string())
    }
}

impl serde_core::ser::Error for JsonError {
    fn custom<M: fmt::Display>(message: M) -> Self {
        Self::argument(message.to_string())
    }
}
