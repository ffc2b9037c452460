//! Legal keys, and read-only storages.

use zarr_traits::{StoreErrorKind, block_on, store::PutMode};

use super::subject::{Subject, fails, key};
use crate::report::{Check, ensure};

pub(super) fn case(store: &Subject) -> Check {
    store.put("foo", "A")?;
    // A store on a medium that ignores case must notice this and refuse.
    let second = block_on(store.storage.put_if(&key("FOO"), &["B".into()], PutMode::Replace));
    if second.is_ok() {
        store.holds("FOO", Some(b"B"))?;
    }
    store.holds("foo", Some(b"A"))
}

/// Returns names that are special in some store, URL, shell or file system.
fn odd_names() -> Vec<String> {
    let odd = "a b|a%b|a%20b|a%2Fb|#|?|+|~|[|]|{|}|(|)|*|'|\"|`|&|=|;|,|:|@|$|!|^|<|>|é|🦀|a.b|...|..a|-";
    let long = ["x".repeat(255), "é".repeat(127), "|".to_owned()];
    odd.split('|').map(str::to_owned).chain(long).collect()
}

/// Returns an odd name as a whole key, as a directory, and as a name in a directory.
fn odd_keys(name: &str) -> [String; 3] {
    [format!("k/{name}"), format!("d/{name}/zarr.json"), name.to_owned()]
}

/// Returns objects with every odd name, and their values.
pub(super) fn odd_objects() -> Vec<(String, String)> {
    let keys = odd_names().into_iter().flat_map(|name| odd_keys(&name));
    keys.map(|key| (key.clone(), format!("the value of {key}"))).collect()
}

pub(super) fn any(store: &Subject) -> Check {
    for (name, value) in odd_objects() {
        store.put(&name, value)?;
    }
    found(store)?;
    for name in odd_names() {
        let _ = store.delete(&name, None)?;
        store.holds(&name, None)?;
    }
    Ok(())
}

/// Checks a storage that holds the [`odd_objects`].
pub(super) fn found(store: &Subject) -> Check {
    for (name, value) in odd_objects() {
        store.holds(&name, Some(value.as_bytes()))?;
    }
    if store.lists() {
        let listed = store.list("")?;
        let missing = odd_objects().into_iter().find(|(name, _)| !listed.contains(name));
        ensure!(missing.is_none(), "{missing:?} exists but is not listed");
    }
    Ok(())
}

pub(super) fn read_only(store: &Subject) -> Check {
    let read_only = Subject::new(store.storage.read_only());
    let unsupported = StoreErrorKind::Unsupported;
    fails(read_only.put_if("digits", "v", PutMode::Replace), unsupported, "a put")?;
    fails(read_only.delete("digits", None), unsupported, "a delete")?;
    fails(read_only.delete_prefix(""), unsupported, "a delete of everything")?;
    read_only.holds("digits", Some(b"0123456789"))?;
    store.holds("digits", Some(b"0123456789"))
}
