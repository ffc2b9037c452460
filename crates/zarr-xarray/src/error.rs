//! The error type for labelled data, with a kind and the variable at fault.

use std::error::Error;
use std::fmt;

/// The kind of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum XarrayErrorKind {
    /// An attribute, a name or a text does not follow the conventions.
    Invalid,
    /// The result type cannot hold a value, such as a time or an integer out of range.
    OutOfRange,
    /// No element of the index has this label.
    NotFound,
    /// A known convention is not implemented.
    Unsupported,
}

/// An error about labelled data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct XarrayError(Box<Inner>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Inner {
    kind: XarrayErrorKind,
    variable: Option<String>,
    message: String,
}

/// The result of an operation on labelled data.
pub type XarrayResult<T> = Result<T, XarrayError>;

impl XarrayError {
    /// Returns an error of `kind`. The message is lower case, without a full stop.
    pub fn new(kind: XarrayErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, variable: None, message: brief(message.into()) }))
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(XarrayErrorKind::Invalid, message)
    }

    pub(crate) fn out_of_range(message: impl Into<String>) -> Self {
        Self::new(XarrayErrorKind::OutOfRange, message)
    }

    /// Adds the name of the variable at fault, unless the error already has a name.
    #[must_use]
    pub fn with_variable(mut self, name: &str) -> Self {
        self.0.variable.get_or_insert_with(|| name.to_owned());
        self
    }

    /// The kind of the error.
    pub fn kind(&self) -> XarrayErrorKind {
        self.0.kind
    }

    /// The variable at fault, if known.
    pub fn variable(&self) -> Option<&str> {
        self.0.variable.as_deref()
    }
}

impl fmt::Display for XarrayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(variable) = &self.0.variable {
            write!(f, "variable {variable:?}: ")?;
        }
        f.write_str(&self.0.message)
    }
}

impl Error for XarrayError {}

/// The longest message, in characters. Messages quote attributes, which may have any length.
const LONGEST: usize = 300;

/// Shortens a message to [`LONGEST`] characters.
pub(crate) fn brief(mut message: String) -> String {
    if let Some((end, _)) = message.char_indices().nth(LONGEST) {
        message.truncate(end);
        message.push('…');
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_messages_are_cut() {
        let long = "é".repeat(LONGEST);
        assert_eq!(brief(long.clone()), long);
        assert_eq!(brief(format!("{long}é")), format!("{long}…"));
    }
}
