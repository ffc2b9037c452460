//! The error of labelled data: what the caller can do about it, and the variable it is about.

use std::error::Error;
use std::fmt;

/// What is wrong, by what the caller can do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum XarrayErrorKind {
    /// An attribute, a name or a text that has no meaning in the conventions.
    Invalid,
    /// A value that the result type cannot hold: a time outside the range, a number beyond an integer type.
    OutOfRange,
    /// No element of the index has this label.
    NotFound,
    /// A meaning that is known, but not implemented.
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
    /// An error of `kind`. The message is lower case, without a full stop.
    pub fn new(kind: XarrayErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, variable: None, message: brief(message.into()) }))
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(XarrayErrorKind::Invalid, message)
    }

    pub(crate) fn out_of_range(message: impl Into<String>) -> Self {
        Self::new(XarrayErrorKind::OutOfRange, message)
    }

    /// Names the variable at fault, unless one is named already.
    #[must_use]
    pub fn with_variable(mut self, name: &str) -> Self {
        self.0.variable.get_or_insert_with(|| name.to_owned());
        self
    }

    /// What the caller can do about it.
    pub fn kind(&self) -> XarrayErrorKind {
        self.0.kind
    }

    /// The variable at fault, where it is known.
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

/// The longest message, in characters. Attributes that are quoted may be of any length.
const LONGEST: usize = 300;

/// A message that is not longer than [`LONGEST`].
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
