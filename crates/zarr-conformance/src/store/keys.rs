//! E.t3, E.t8 and E.t9: which keys can be used, and a storage that cannot be written.

use zarr_traits::{Put, StoreErrorKind, block_on};

use super::subject::{Check, Subject, ensure, fails, key};

pub(super) fn case(store: &Subject) -> Check {
    store.put("foo", "A")?;
    // A store on a medium that ignores case must notice, and refuse.
    let second = block_on(store.writer()?.put(&key("FOO"), &["B".into()], Put::Replace));
    if second.is_ok() {
        store.holds("FOO", Some(b"B"))?;
    }
    store.holds("foo", Some(b"A"))
}

pub(super) fn any(store: &Subject) -> Check {
    let long = "x".repeat(255);
    let wide = "é".repeat(127);
    let names = [
        "a b", "a%b", "a%20b", "#", "?", "+", "~", "[", "]", "*", "'", "é", "🦀", "a.b", "...", "..a", "-",
        &long, &wide,
    ];
    for name in names {
        // As a whole key, as a directory, and as a name in one.
        for name in [format!("k/{name}"), format!("d/{name}/zarr.json"), name.to_owned()] {
            let value = format!("the value of {name}");
            store.put(&name, value.clone())?;
            store.holds(&name, Some(value.as_bytes()))?;
            if let Some(lister) = store.lister() {
                ensure!(store.list(lister, "")?.contains(&name), "{name:?} was put, and is not listed");
            }
        }
    }
    for name in names {
        let value = format!("the value of {name}");
        store.holds(name, Some(value.as_bytes()))?;
        let _ = store.delete(name, None)?;
        store.holds(name, None)?;
    }
    Ok(())
}

pub(super) fn read_only(store: &Subject) -> Check {
    let read_only = Subject::new(store.storage.read_only());
    let unsupported = StoreErrorKind::Unsupported;
    fails(read_only.put_if("digits", "v", Put::Replace), unsupported, "a put")?;
    fails(read_only.delete("digits", None), unsupported, "a delete")?;
    fails(read_only.delete_prefix(""), unsupported, "a delete of everything")?;
    read_only.holds("digits", Some(b"0123456789"))?;
    store.holds("digits", Some(b"0123456789"))
}
