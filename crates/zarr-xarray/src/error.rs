//! The error type for labelled data, with a kind and the variable at fault.

use std::error::Error;
use std::fmt;

use zarr_array::ArrayError;
use zarr_hierarchy::HierarchyError;
use zarr_meta::MetaError;
use zarr_meta::json::JsonError;

/// The kind of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum XarrayErrorKind {
    /// An attribute, a name or a text does not follow the conventions.
    #[error("it does not follow the conventions")]
    Invalid,
    /// The result type cannot hold a value, such as a time or an integer out of range.
    #[error("a value is out of range")]
    OutOfRange,
    /// No element of the index has this label.
    #[error("there is no such label")]
    NotFound,
    /// A known convention is not implemented.
    #[error("the convention is not supported")]
    Unsupported,
    /// A node or a chunk cannot be read. The [`hierarchy_error`](XarrayError::hierarchy_error) says why.
    #[error("a node or a chunk cannot be read")]
    Access,
}

/// An error about labelled data. Two errors are equal if they have the same kind, variable and message.
///
/// `{}` prints the variable and what is wrong, `{:#}` also the causes, on one line. [`source`](Error::source) is the cause: an
/// error of a store, a codec or a document.
#[derive(Clone)]
pub struct XarrayError(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: XarrayErrorKind,
    variable: Option<String>,
    message: String,
    access: Option<HierarchyError>,
}

/// The result of an operation on labelled data.
pub type XarrayResult<T> = Result<T, XarrayError>;

impl XarrayError {
    /// Returns an error of `kind`. The message is lower case, without a full stop.
    pub fn new(kind: XarrayErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, variable: None, message: brief(message.into()), access: None }))
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

    /// Adds the place of the error in front of the message.
    pub(crate) fn within(mut self, place: &str) -> Self {
        self.0.message = match &self.0.message[..] {
            "" => place.to_owned(),
            message => format!("{place}: {message}"),
        };
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

    /// The error of the node or the chunk that cannot be read, for [`XarrayErrorKind::Access`].
    pub fn hierarchy_error(&self) -> Option<&HierarchyError> {
        self.0.access.as_ref()
    }
}

impl fmt::Display for XarrayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { variable, message, access, .. } = &*self.0;
        if let Some(variable) = variable {
            write!(f, "variable {variable:?}: ")?;
        }
        f.write_str(message)?;
        match access {
            None => Ok(()),
            Some(e) if message.is_empty() => e.fmt(f),
            Some(e) => f.write_str(": ").and_then(|()| e.fmt(f)),
        }
    }
}

/// The kind and the whole chain, as printed by a `main` that returns the error.
impl fmt::Debug for XarrayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self:#}", self.kind())
    }
}

impl Error for XarrayError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.access.as_ref()?.source()
    }
}

impl PartialEq for XarrayError {
    fn eq(&self, other: &Self) -> bool {
        (self.kind(), format!("{self:#}")) == (other.kind(), format!("{other:#}"))
    }
}

impl Eq for XarrayError {}

impl From<HierarchyError> for XarrayError {
    fn from(source: HierarchyError) -> Self {
        let mut error = Self::new(XarrayErrorKind::Access, "");
        error.0.access = Some(source);
        error
    }
}

impl From<JsonError> for XarrayError {
    fn from(e: JsonError) -> Self {
        MetaError::from(e).into()
    }
}

impl From<MetaError> for XarrayError {
    fn from(source: MetaError) -> Self {
        HierarchyError::from(source).into()
    }
}

impl From<ArrayError> for XarrayError {
    fn from(source: ArrayError) -> Self {
        HierarchyError::from(source).into()
    }
}

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
