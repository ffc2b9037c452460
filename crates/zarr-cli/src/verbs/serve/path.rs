//! From the path of a URL to a key or a prefix, and back.

use std::error::Error;
use std::io;

use zarr_array::meta::is_document;
use zarr_array::traits::{Key, Prefix, StoreError};

/// The object or folder that a path names.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Place {
    Object(Key),
    Folder(Prefix),
}

/// Returns what the path of a request names below `root`. Returns `None` if the path leaves the root, is not a legal
/// key, or has a hidden name.
pub(super) fn place(root: &Prefix, path: &str) -> Option<Place> {
    let path = path.strip_prefix('/')?;
    let (segments, is_folder) = match path.strip_suffix('/') {
        Some(folder) => (folder, true),
        None => (path, path.is_empty()),
    };
    if path.is_empty() {
        return Some(Place::Folder(root.clone()));
    }
    let names: Vec<String> = segments.split('/').map(name).collect::<Option<_>>()?;
    let below = names.join("/");
    match is_folder {
        true => root.child(&below).ok().map(Place::Folder),
        false => root.key(&below).ok().map(Place::Object),
    }
}

/// Decodes a segment. A decoded slash, `..` and hidden names are refused.
fn name(segment: &str) -> Option<String> {
    let name = decoded(segment)?;
    (!name.contains(['/', '\\']) && !is_hidden(&name)).then_some(name)
}

/// Whether a path below the root has a hidden name.
pub(super) fn has_hidden(path: &str) -> bool {
    path.split('/').any(is_hidden)
}

/// Whether a name is not served: it begins with a dot and is not a metadata document.
pub(super) fn is_hidden(name: &str) -> bool {
    name.starts_with('.') && !is_document(name)
}

pub(super) fn decoded(segment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => digit(rest.next()?)? << 4 | digit(rest.next()?)?,
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

/// Returns the value of a hexadecimal digit.
fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// Encodes a name as a segment of a URL.
pub(super) fn encoded(name: &str) -> String {
    let mut segment = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => segment.push(byte.into()),
            byte => segment += &format!("%{byte:02X}"),
        }
    }
    segment
}

/// Whether the error is that of a link which leads out of the served directory.
pub(super) fn is_outside(e: &StoreError) -> bool {
    let cause = e.source().and_then(|e| e.downcast_ref::<io::Error>());
    cause.is_some_and(|e| e.kind() == io::ErrorKind::CrossesDevices)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_a_key_below_the_root_or_nothing() {
        let root = Prefix::new("a/").unwrap();
        let key = |path| match place(&root, path) {
            Some(Place::Object(key)) => Some(key.as_str().to_owned()),
            Some(Place::Folder(prefix)) => Some(prefix.as_str().to_owned()),
            None => None,
        };
        for (path, wanted) in [
            ("/", Some("a/")),
            ("/b/zarr.json", Some("a/b/zarr.json")),
            ("/b/", Some("a/b/")),
            ("/b%20c/%C3%A9", Some("a/b c/é")),
            ("/.zarray", Some("a/.zarray")),
            ("/b/.zattrs", Some("a/b/.zattrs")),
            ("/.zmetadata", Some("a/.zmetadata")),
        ] {
            assert_eq!(key(path).as_deref(), wanted, "{path}");
        }
        for path in [
            "",
            "*",
            "//",
            "/b//c",
            "/..",
            "/../x",
            "/b/../../x",
            "/%2e%2e/x",
            "/%2E%2e%2fx",
            "/b%2fc",
            "/b%5cc",
            "/.git/config",
            "/%2egit/config",
            "/.zarr-copy.json",
            "/.",
            "/b/.",
            "/%",
            "/%2",
            "/%zz",
            "/%ff",
            "/%00",
        ] {
            assert_eq!(key(path), None, "{path}");
        }
    }

    #[test]
    fn an_encoded_name_decodes_to_itself() {
        for name in ["zarr.json", "a b", "é:?#&\"<%2f", "c"] {
            assert_eq!(decoded(&encoded(name)).as_deref(), Some(name));
        }
    }
}
