//! Rules 12, 13 and 17: deleting and copying.

use zarr_traits::{
    StoreErrorKind, block_on,
    store::{Copied, Outcome},
};

use super::subject::{LARGE_SIZE, Subject, key, pattern};
use crate::report::{Check, ensure};

pub(super) fn delete(store: &Subject) -> Check {
    store.put("a/b", "value")?;
    // Twice; an absent key, a prefix of other keys, a key below an object.
    store.put("a/c/d", "value")?;
    for name in ["a/b", "a/b", "nothing", "nothing/at/all", "a", "a/c/d/e"] {
        let outcome = store.delete(name, None)?;
        ensure!(matches!(outcome, Outcome::Done(_)), "deleting {name:?} gave {outcome:?}");
        store.holds(name, None)?;
    }
    store.holds("a/c/d", Some(b"value"))?;
    if store.storage.capabilities().delete_if {
        store.put("a/b", "value")?;
        let version = store.version("a/b")?;
        let _ = store.delete("a/b", None)?;
        let outcome = store.delete("a/b", version.as_ref())?;
        ensure!(
            matches!(outcome, Outcome::Done(_)),
            "a conditional delete of a deleted key returned {outcome:?}"
        );
    }
    store.put("a/b", "again")?;
    store.holds("a/b", Some(b"again"))
}

/// Copies within the storage: a large value, an empty one, onto another object, onto itself.
pub(super) fn copy(store: &Subject) -> Check {
    let large = pattern(LARGE_SIZE);
    store.put("a/large", large.clone())?;
    store.put("a/empty", "")?;
    let copy = |from: &str, to: &str| block_on(store.storage.copy_from(&store.storage, &key(from), &key(to)));
    if !store.storage.capabilities().copy {
        let copied = copy("a/large", "b/large")?;
        ensure!(copied == Copied::Unable, "the store claims no copies, and a copy gave {copied:?}");
        return store.holds("b/large", None);
    }
    for (from, to, value) in [
        ("a/large", "b/large", &*large),
        ("a/empty", "b/empty", b""),
        ("a/large", "b/empty", &large),
        ("a/empty", "b/large", b""),
        ("a/large", "a/large", &large),
    ] {
        let copied = copy(from, to);
        // S3 refuses a copy onto itself.
        if from != to || copied.is_ok() {
            let copied = copied?;
            ensure!(copied == Copied::Done, "a copy of {from:?} to {to:?} gave {copied:?}");
        }
        store.holds(to, Some(value))?;
    }
    let copied = copy("nothing", "b/nothing")?;
    ensure!(copied == Copied::Absent, "a copy of an absent object gave {copied:?}");
    store.holds("b/nothing", None)?;
    let storage = store.storage.read_only();
    match block_on(storage.copy_from(&store.storage, &key("a/large"), &key("b/more"))) {
        Err(e) if e.kind() == StoreErrorKind::Unsupported => {}
        copied => ensure!(false, "a copy into a read-only storage gave {copied:?}"),
    }
    store.holds("b/more", None)
}

/// Deletes prefixes, and checks that keys beside them stay.
pub(super) fn prefix(store: &Subject) -> Check {
    let outside = ["a", "a!", "a-/x", "a.b", "a0", "ab/c", "b/a/c"];
    for name in outside {
        store.put(name, "outside")?;
    }
    store.delete_prefix("a/")?;
    for name in outside {
        store.holds(name, Some(b"outside"))?;
    }
    // A file system has no room for `a` beside `a/b`.
    let _ = store.delete("a", None)?;
    let inside = ["a/b", "a/c/d", "a/c/e/f", "a/zarr.json"];
    for name in inside {
        store.put(name, "inside")?;
    }
    if store.lists() {
        let keys = store.list("a/")?;
        ensure!(keys == inside, "below a/: listed {keys:?}, expected {inside:?}");
        let dir = store.list_dir("a/")?;
        ensure!(dir.prefixes.len() == 1 && dir.objects.len() == 2, "list_dir of a/ returned {dir:?}");
    }
    store.delete_prefix("a/c/")?;
    store.holds("a/c/d", None)?;
    store.holds("a/b", Some(b"inside"))?;
    store.delete_prefix("a/")?;
    for name in inside {
        store.holds(name, None)?;
    }
    for name in &outside[1..] {
        store.holds(name, Some(b"outside"))?;
    }
    for name in ["a/", "nothing/", "nothing/at/all/", "ab/c/"] {
        store.delete_prefix(name)?;
    }
    store.holds("ab/c", Some(b"outside"))?;
    // A former prefix may become an object.
    store.put("a", "value")?;
    store.holds("a", Some(b"value"))?;
    store.delete_prefix("")?;
    for name in outside {
        store.holds(name, None)?;
    }
    store.put("a/b", "after all was deleted")?;
    store.holds("a/b", Some(b"after all was deleted"))
}
