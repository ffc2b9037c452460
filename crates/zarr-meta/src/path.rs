//! Names and paths of nodes: strict for new nodes, lenient for nodes that exist.
//!
//! The rules are in [names and paths](https://github.com/zarr-rs/zarr/blob/v0.1.0/docs/specification/hierarchy.md#f.1).

use crate::diagnostic::{Code, Diagnostic};
use crate::error::{MetaError, MetaResult};

/// The name of the document of a node of format 3, below the node's path.
pub const DOCUMENT: &str = "zarr.json";

/// Returns why a node of this name must not be created, or `None` if it may be.
fn problem(name: &str) -> Option<&'static str> {
    match name {
        "" => Some("a node name must not be empty"),
        DOCUMENT => Some("a node name must not be \"zarr.json\""),
        _ if name.contains('/') => Some("a node name must not contain '/'"),
        _ if name.bytes().all(|b| b == b'.') => Some("a node name must not consist of periods only"),
        _ if name.starts_with("__") => Some("names that start with \"__\" are reserved"),
        _ if name.contains('\0') => Some("a node name must not contain U+0000"),
        _ => None,
    }
}

/// Checks the name of a new node: it must not be empty, contain `/` or U+0000, consist of periods only, start with
/// `__`, or be `zarr.json`. Names are case-sensitive and never normalised.
///
/// # Errors
/// [`InvalidArgument`](crate::MetaErrorKind::InvalidArgument) with the broken rule.
pub fn check_new_name(name: &str) -> MetaResult<()> {
    problem(name).map_or(Ok(()), |why| Err(MetaError::argument(format!("{why}, found {name:?}"))))
}

/// Checks the path of a new node, and returns it in its normal form.
///
/// # Errors
/// Those of [`normalize`] and [`check_new_name`].
pub fn check_new_path(path: &str) -> MetaResult<String> {
    let normal = normalize(path)?;
    normal.split('/').filter(|s| !s.is_empty()).try_for_each(check_new_name)?;
    Ok(normal)
}

/// How a reader treats a name that a store lists below a group.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListedName {
    /// An ordinary name: a node, if it has a document.
    Node,
    /// A name that must not be created. If it has a document it is a node nevertheless, and the diagnostic is to be
    /// reported.
    Odd(Diagnostic),
    /// Never a node: a document, or a name that is reserved for the core specification.
    Never,
}

/// Returns how to treat a name that a store lists below a group.
pub fn listed(name: &str) -> ListedName {
    if name == DOCUMENT || name.starts_with("__zarr") || name.contains('/') {
        return ListedName::Never;
    }
    let odd = |code, message: &str| {
        ListedName::Odd(Diagnostic::new(code, "", format!("{message}, found {name:?}")))
    };
    match problem(name) {
        None => ListedName::Node,
        Some(_) if name.bytes().all(|b| b == b'.') => ListedName::Never,
        Some(why) if name.starts_with("__") => odd(Code::ReservedName, why),
        Some(why) => odd(Code::OddName, why),
    }
}

/// Returns the normal form of a path: `/` for the root, else `/foo/bar`. A slash at either end is optional. Backslashes
/// are ordinary characters.
///
/// # Errors
/// If a segment is empty, `.` or `..`.
pub fn normalize(path: &str) -> MetaResult<String> {
    let inner = path.strip_prefix('/').unwrap_or(path);
    let inner = inner.strip_suffix('/').unwrap_or(inner);
    if inner.is_empty() {
        return if path.len() <= 1 { Ok("/".to_owned()) } else { Err(bad(path, "an empty segment")) };
    }
    for segment in inner.split('/') {
        match segment {
            "" => return Err(bad(path, "an empty segment")),
            "." | ".." => return Err(bad(path, &format!("the segment {segment:?}"))),
            _ => {}
        }
    }
    Ok(format!("/{inner}"))
}

/// Returns the normal form of a path in a hierarchy of format 2, where a backslash is a slash, and repeated slashes
/// count as one.
///
/// # Errors
/// If a segment is `.` or `..`.
pub fn normalize_v2(path: &str) -> MetaResult<String> {
    let slashed = path.replace('\\', "/");
    let segments: Vec<&str> = slashed.split('/').filter(|s| !s.is_empty()).collect();
    normalize(&segments.join("/"))
}

fn bad(path: &str, what: &str) -> MetaError {
    MetaError::argument(format!("expected a path like \"/foo/bar\", found {what} in {path:?}"))
}

/// Returns the key of the document of the node at a path in normal form: `zarr.json`, `foo/bar/zarr.json`.
pub fn document_key(path: &str) -> String {
    match path.trim_matches('/') {
        "" => DOCUMENT.to_owned(),
        inner => format!("{inner}/{DOCUMENT}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_valid_names_are_accepted_for_new_nodes() {
        for good in [
            "a",
            "A",
            "é",
            "a b",
            "a.b",
            "_x",
            ".hidden",
            "..a",
            ".a.",
            "_a",
            "a__",
            "zarr.json.bak",
            "Zarr.json",
            "c",
            "0",
        ] {
            assert!(check_new_name(good).is_ok(), "rule F1: {good:?}");
        }
        for bad in ["", "a/b", ".", "..", "...", "__x", "__zarr", "zarr.json", "a\0"] {
            assert!(check_new_name(bad).is_err(), "rule F1: {bad:?}");
        }
        let e = check_new_name("__x").unwrap_err();
        assert_eq!(format!("{e:#}"), "names that start with \"__\" are reserved, found \"__x\"");
    }

    #[test]
    fn listed_names_are_read_leniently() {
        assert_eq!(listed("a"), ListedName::Node);
        assert_eq!(listed("zarr.json"), ListedName::Never);
        assert_eq!(listed("__zarr_thing"), ListedName::Never); // rule F2a
        for odd in ["__xarray_dataarray_variable__", "__values__"] {
            assert!(
                matches!(listed(odd), ListedName::Odd(d) if d.code == Code::ReservedName),
                "rule F2a: {odd}"
            );
        }
        assert!(matches!(listed("a\0b"), ListedName::Odd(d) if d.code == Code::OddName));
    }

    #[test]
    fn paths_have_one_normal_form() {
        for (path, normal) in [
            ("", "/"),
            ("/", "/"),
            ("foo/bar", "/foo/bar"),
            ("/foo/bar", "/foo/bar"),
            ("foo/bar/", "/foo/bar"),
            ("/foo\\bar", "/foo\\bar"),
            ("/__x", "/__x"),
            ("/foo/...", "/foo/..."),
        ] {
            assert_eq!(normalize(path).unwrap(), normal, "rule F4: {path:?}");
        }
        for bad in ["//", "foo//bar", "/foo//", "foo/./bar", "..", "/../x", "."] {
            assert!(normalize(bad).is_err(), "rule F4: {bad:?}");
        }
        for (path, normal) in [("", "/"), ("\\", "/"), ("//foo\\bar///baz//", "/foo/bar/baz")] {
            assert_eq!(normalize_v2(path).unwrap(), normal, "rule F5: {path:?}");
        }
        for bad in ["..", "foo\\..\\bar", "/./x"] {
            assert!(normalize_v2(bad).is_err(), "rule F5: {bad:?}");
        }
        assert!(check_new_path("/foo/__bar").is_err());
        assert_eq!(check_new_path("foo/bar/").unwrap(), "/foo/bar");
        assert_eq!(document_key("/"), "zarr.json");
        assert_eq!(document_key("/foo/bar"), "foo/bar/zarr.json");
    }
}
