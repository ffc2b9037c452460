//! The causes of errors, and the text of errors that have causes. **For crates with error types of this form.**
//!
//! `{}` prints the own part of an error: the place, then the message, or the words of the kind if there is no message.
//! [`source`](Error::source) returns the cause. `{:#}` prints the own part and all causes on one line. So a report that
//! prints the `{}` of each cause, such as those of anyhow and eyre, says nothing twice.

use std::error::Error;
use std::fmt;
use std::io;
use std::iter;
use std::ops::Deref;
use std::sync::Arc;

/// The error that caused another one. Clones share it.
///
/// An `Arc<dyn Error>` is an `Error` itself, so a [`source`](Error::source) that is one cannot be downcast to the type of
/// the cause. A `Cause` is not an `Error`, only what it refers to is.
///
/// ```
/// use std::error::Error;
/// use std::io;
/// use zarr_traits::cause::Cause;
///
/// #[derive(Debug, thiserror::Error)]
/// #[error("the index cannot be read")]
/// struct IndexError {
///     source: Option<Cause>,
/// }
///
/// let error = IndexError { source: Some(Cause::new(io::Error::from_raw_os_error(28))) };
/// assert!(error.source().is_some_and(|e| e.is::<io::Error>()));
/// ```
#[derive(Clone)]
pub struct Cause(Arc<dyn Error + Send + Sync>);

impl Cause {
    /// Returns the cause that is this error or text.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(Arc::from(error.into()))
    }
}

impl Deref for Cause {
    type Target = dyn Error + Send + Sync;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl fmt::Debug for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

/// Writes an error as the [module](self) says: for `{}` its place and its message, and for `{:#}` also its causes.
///
/// Without a message the words of the kind stand in its place. `{:#}` omits them if there is a cause, which says more.
///
/// # Errors
/// Those of the formatter.
pub fn write(
    f: &mut fmt::Formatter<'_>,
    place: &str,
    message: &str,
    kind: &dyn fmt::Display,
    source: Option<&(dyn Error + 'static)>,
) -> fmt::Result {
    let source = source.filter(|_| f.alternate());
    let own = match (message, source) {
        ("", None) => kind.to_string(),
        _ => message.to_owned(),
    };
    let causes = iter::successors(source, |e| (*e).source()).map(ToString::to_string);
    let parts = [place.to_owned(), own].into_iter().chain(causes);
    let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
    f.write_str(&parts.join(": "))
}

/// Returns the error number of the operating system, such as that of `ENOSPC` for a full disk, from an error or the first of
/// its causes that has one. Returns `None` if they have none.
pub fn raw_os_error(e: &(dyn Error + 'static)) -> Option<i32> {
    let mut cause = Some(e);
    while let Some(e) = cause {
        let io = e.downcast_ref::<io::Error>();
        if let Some(number) = io.and_then(io::Error::raw_os_error) {
            return Some(number);
        }
        // An `io::Error` has the source of the error that it wraps, not that error.
        cause = match io.and_then(io::Error::get_ref) {
            Some(wrapped) => Some(wrapped),
            None => e.source(),
        };
    }
    None
}

/// Implements `Display` with [`write`](crate::cause::write), and `Debug` as the kind and the whole chain: a `main` that
/// returns the error prints this. The type has a method `kind`.
///
/// ```
/// use zarr_traits::cause::Cause;
///
/// #[derive(Debug, Clone, Copy, thiserror::Error)]
/// enum IndexErrorKind {
///     #[error("the index is damaged")]
///     Damaged,
/// }
///
/// #[derive(thiserror::Error)]
/// struct IndexError {
///     kind: IndexErrorKind,
///     shard: u64,
///     message: &'static str,
///     source: Option<Cause>,
/// }
///
/// impl IndexError {
///     fn kind(&self) -> IndexErrorKind {
///         self.kind
///     }
/// }
///
/// zarr_traits::chain!(IndexError, |e| format!("shard {}", e.shard), e.message);
///
/// let source = Some(Cause::new("unexpected end"));
/// let error = IndexError { kind: IndexErrorKind::Damaged, shard: 3, message: "", source };
/// assert_eq!(format!("{error}"), "shard 3: the index is damaged");
/// assert_eq!(format!("{error:#}"), "shard 3: unexpected end");
/// assert_eq!(format!("{error:?}"), "Damaged: shard 3: unexpected end");
/// ```
#[macro_export]
macro_rules! chain {
    ($error:ty, |$e:ident| $place:expr, $message:expr) => {
        impl ::std::fmt::Display for $error {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                let $e = self;
                let source = ::std::error::Error::source(self);
                $crate::cause::write(f, &$place, &$message, &self.kind(), source)
            }
        }

        /// The kind and the whole chain, as printed by a `main` that returns the error.
        impl ::std::fmt::Debug for $error {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                write!(f, "{:?}: {self:#}", self.kind())
            }
        }
    };
}
