//! Converts errors of `object_store` into store errors, by what the caller can do about them.

use std::error::Error as _;

use object_store::Error;
use zarr_store::http::HttpFailure;
use zarr_store::redacted;
use zarr_traits::{StoreError, StoreErrorKind};

/// Whether the object is absent. A missing bucket or a lack of permission never counts as absent.
pub(crate) fn is_absent(e: &Error) -> bool {
    matches!(e, Error::NotFound { .. })
}

/// Converts the error of a read, a listing, or another operation that changes nothing when it fails.
pub(crate) fn read_error(e: &Error) -> StoreError {
    report(e, false)
}

/// Converts the error of a write, which may have been applied.
pub(crate) fn write_error(e: &Error) -> StoreError {
    report(e, true)
}

fn report(e: &Error, write: bool) -> StoreError {
    if let Some(failure) = HttpFailure::within(e) {
        return failure.report(write);
    }
    let kind = match e {
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => StoreErrorKind::PermissionDenied,
        Error::Precondition { .. } | Error::NotModified { .. } | Error::AlreadyExists { .. } => {
            StoreErrorKind::Changed
        }
        Error::NotSupported { .. } | Error::NotImplemented { .. } => StoreErrorKind::Unsupported,
        Error::InvalidPath { .. } => StoreErrorKind::InvalidArgument,
        // Other implementations do not say whether a failed write was applied.
        Error::Generic { .. } if write => StoreErrorKind::Uncertain,
        _ => StoreErrorKind::Io,
    };
    StoreError::new(kind, words(e))
}

/// Returns the messages of an error and its causes, without secrets in URLs and without repetitions.
fn words(e: &Error) -> String {
    let mut text = e.to_string();
    let mut cause = e.source();
    while let Some(e) = cause {
        let said = e.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = e.source();
    }
    without_secrets(&text)
}

/// Returns a text in which every URL is shown as [`redacted`] does.
pub(crate) fn without_secrets(text: &str) -> String {
    let ends = |c: char| c.is_whitespace() || "\"'<>()".contains(c);
    let shown = |word: &str| if word.contains("://") { redacted(word) } else { word.to_owned() };
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let word = &rest[..rest.find(ends).unwrap_or(rest.len())];
        out += &shown(word);
        rest = &rest[word.len()..];
        let gap = rest.find(|c| !ends(c)).unwrap_or(rest.len());
        out += &rest[..gap];
        rest = &rest[gap..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_hold_no_secrets() {
        let generic = |text: &str| Error::Generic { store: "S", source: text.to_owned().into() };
        let e = read_error(&generic("GET https://u:p@h/a?sig=SECRET (\"https://h/b?token=SECRET\") failed"));
        let text = format!("{e:#}");
        assert!(!text.contains("SECRET") && !text.contains("u:p"), "{text}");
        assert!(text.contains("https://h/a?… (\"https://h/b?…\") failed"), "{text}");
        assert_eq!(
            (e.kind(), write_error(&generic("x")).kind()),
            (StoreErrorKind::Io, StoreErrorKind::Uncertain)
        );
    }

    #[test]
    fn only_not_found_is_absent() {
        let (path, source) = (|| "a".to_owned(), || "x".into());
        assert!(is_absent(&Error::NotFound { path: path(), source: source() }));
        for e in [
            Error::PermissionDenied { path: path(), source: source() },
            Error::Unauthenticated { path: path(), source: source() },
            Error::Generic { store: "S", source: source() },
            Error::NotSupported { source: source() },
        ] {
            assert!(!is_absent(&e), "{e:#}");
        }
    }
}
