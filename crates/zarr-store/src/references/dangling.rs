//! References to objects that are not there, or not as they were.

use std::error::Error;
use std::{fmt, io, iter};

use crate::targets::cut;
use zarr_traits::{StoreError, StoreErrorKind};

/// An object that a reference names, and that cannot be read as the reference says. It is among the sources of the error of
/// the read.
///
/// ```
/// use zarr_store::references::Dangling;
/// # fn report(e: &zarr_traits::StoreError) {
/// if let Some(dangling) = Dangling::of(e) {
///     println!("{}: {}", dangling.location(), dangling.why());
/// }
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Dangling {
    location: String,
    why: Why,
    error: StoreError,
}

/// Why an object that a reference names cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Why {
    /// The object does not exist.
    #[error("missing")]
    Missing,
    /// The object is another one than when the reference was made.
    #[error("changed")]
    Changed,
    /// The object ends before the last byte of the reference.
    #[error("too short")]
    TooShort,
    /// References may not name the place, or its store refuses to read it.
    #[error("not allowed")]
    NotAllowed,
}

impl Dangling {
    /// Returns the first one among an error and its sources.
    pub fn of<'a>(e: &'a (dyn Error + 'static)) -> Option<&'a Self> {
        iter::successors(Some(e), |e| (*e).source()).find_map(|e| e.downcast_ref())
    }

    /// Where the object is, for messages: without secrets, and cut if it is long.
    pub fn location(&self) -> &str {
        &self.location
    }

    /// Why it cannot be read.
    pub fn why(&self) -> Why {
        self.why
    }

    /// Wraps an error of a target if the reference dangles. `is_exact` says that the reference has the size of what it
    /// names.
    pub(super) fn wrapped(error: StoreError, location: &str, is_exact: bool) -> Box<dyn Error + Send + Sync> {
        let io = || error.source().and_then(|e| e.downcast_ref::<io::Error>()).map(io::Error::kind);
        let why = match error.kind() {
            StoreErrorKind::Io if io() == Some(io::ErrorKind::NotFound) => Why::Missing,
            StoreErrorKind::Changed => Why::Changed,
            StoreErrorKind::RangeNotSatisfiable { .. } if is_exact => Why::TooShort,
            StoreErrorKind::PermissionDenied => Why::NotAllowed,
            _ => return error.into(),
        };
        Box::new(Self { location: cut(location), why, error })
    }
}

/// Prints what the error of the object says.
impl fmt::Display for Dangling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.error)
    }
}

impl Error for Dangling {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}
