//! Names from outside: keys, paths, names of nodes, URLs. What is accepted stays inside of the store and has one form.

use zarr_meta::path::{self, ListedName};
use zarr_store::{redacted, scheme_of, split_adapters, split_node};
use zarr_traits::{Key, Prefix};

pub(crate) fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    keys(text);
    paths(text);
    urls(text);
}

fn keys(text: &str) {
    if let Ok(key) = Key::new(text) {
        assert_eq!(key.as_str(), text);
        assert!(inside(text), "{text:?} leaves the store");
        assert_eq!(key.parent().key(key.name()).expect("a key is its parent and its name"), key);
    }
    if let Ok(prefix) = Prefix::new(text) {
        assert!(inside(prefix.as_str()), "{text:?} leaves the store");
    }
}

fn paths(text: &str) {
    for normal in
        [path::normalize(text), path::normalize_v2(text), path::check_new_path(text)].into_iter().flatten()
    {
        assert!(
            normal.starts_with('/') && inside(normal.trim_start_matches('/')),
            "{text:?} becomes {normal:?}"
        );
        assert_eq!(path::normalize(&normal).expect("a normal form is a path"), normal);
    }
    if path::check_new_name(text).is_ok() {
        assert_eq!(path::listed(text), ListedName::Node, "a new node would not be found");
    }
}

fn urls(text: &str) {
    let (root, adapters) = split_adapters(text);
    assert_eq!([root, adapters].concat(), text);
    let (store, _, _) = split_node(text);
    assert!(text.starts_with(store));
    let shown = redacted(text);
    let parts = text.split_once("://user:SECRET@").filter(|(scheme, _)| scheme_of(text) == Some(scheme));
    if parts.is_some_and(|(scheme, rest)| ![scheme, rest].iter().any(|part| part.contains("SECRET"))) {
        assert!(!shown.contains("SECRET"), "{shown:?} shows a password");
    }
}

/// Whether no segment of a path leads out of its folder.
fn inside(path: &str) -> bool {
    !path.starts_with('/') && path.split('/').all(|segment| segment != ".." && segment != ".")
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let texts = [
        "a/b/c.0",
        "/foo/bar/",
        "..",
        "a//b",
        "a\\b",
        "zarr.json",
        "__zarr",
        "s3://user:SECRET@bucket/a.zarr|zarr3:x/y",
        "https://h/a%20b.zip|zip:c?sig=SECRET#x",
        "c:/x",
        "memory://",
        "é/\u{202e}",
        "a.zip|zip:b|zarr2:c",
    ];
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}
