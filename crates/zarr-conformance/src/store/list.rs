//! Rule 14, and other checks of listings.

use std::thread;

use zarr_traits::block_on;

use super::atomic::{ROUNDS, stop_when_done};
use super::subject::{LARGE, SMALL, Subject, key, prefix};
use crate::report::{Check, ensure};

pub(super) fn below(store: &Subject) -> Check {
    if !store.lists() {
        return Ok(());
    }
    let mut all: Vec<_> = SMALL.iter().map(|(key, _)| *key).chain([LARGE]).collect();
    all.sort_unstable();
    let lists: [(&str, &[&str]); 7] = [
        ("", &all),
        ("a/", &["a/b", "a/c/d"]),
        ("a/c/", &["a/c/d"]),
        ("ab/", &["ab/c"]),
        ("nothing/", &[]),
        ("digits/", &[]),
        ("l/a/", &["l/a/b", "l/a/c", "l/a/d/e", "l/a/f/g"]),
    ];
    for (below, expected) in lists {
        let keys = store.list(below)?;
        ensure!(keys == expected, "below {below:?}: listed {keys:?}, expected {expected:?}");
        // From any start, also if it is not a key.
        for after in ["a", "a/b", "a/bb", "l/a/c", "l/a/d/zzz", "zzz"] {
            let page = block_on(store.storage.list(&prefix(below), Some(&key(after))))?;
            let rest: Vec<_> = expected.iter().filter(|key| **key > after).collect();
            let keys: Vec<_> = page.entries.iter().map(|listed| listed.key.as_str()).collect();
            let agrees = rest.iter().zip(&keys).all(|(a, b)| *a == b) && keys.len() <= rest.len();
            let ends = page.more == (keys.len() < rest.len());
            ensure!(agrees && ends, "below {below:?} after {after:?}: listed {page:?}, expected {rest:?}");
        }
    }
    Ok(())
}

pub(super) fn directory(store: &Subject) -> Check {
    if !store.lists() {
        return Ok(());
    }
    let dirs: [(&str, &[&str], &[&str]); 6] = [
        ("l/a/", &["l/a/b", "l/a/c"], &["l/a/d/", "l/a/f/"]),
        ("b/", &[], &[]),
        ("l/", &[], &["l/a/"]),
        ("", &["digits", "empty", "large", "zarr.json"], &["a/", "ab/", "e/", "l/"]),
        ("a/b/", &[], &[]),
        ("e/f/", &["e/f/g"], &[]),
    ];
    for (below, keys, prefixes) in dirs {
        let dir = store.list_dir(below)?;
        let agrees = dir.objects.iter().map(|listed| listed.key.as_str()).eq(keys.iter().copied())
            && dir.prefixes.iter().map(|prefix| prefix.as_str()).eq(prefixes.iter().copied());
        ensure!(agrees, "list_dir of {below:?} returned {dir:?}, expected {keys:?} and {prefixes:?}");
    }
    Ok(())
}

pub(super) fn complete(store: &Subject) -> Check {
    if !store.lists() {
        return Ok(());
    }
    let keys = store.list("")?;
    ensure!(keys.is_empty(), "a new store lists {keys:?}");
    // Names that sort differently with a trailing slash, and more names than fit in a small page.
    let mut expected: Vec<String> =
        ["a b", "a!/x", "a-", "a.b", "a/b/c", "a/b-", "a/b.c/d", "a0", "a~", "A", "é/🦀"]
            .map(String::from)
            .into_iter()
            .chain((0..40).map(|i| format!("c/{i}/{}", i % 3)))
            .collect();
    for name in &expected {
        store.put(name, "v")?;
    }
    expected.sort_unstable();
    let keys = store.list("")?;
    ensure!(keys == expected, "listed {keys:?}, expected {expected:?}");
    // A prefix without objects is not listed.
    let _ = store.delete("a/b/c", None)?;
    let dir = store.list_dir("a/")?;
    ensure!(dir.prefixes == [prefix("a/b.c/")], "after a/b/c was deleted, list_dir of a/ returned {dir:?}");
    while_written(store)
}

/// A listing during puts shows only keys that are put.
fn while_written(store: &Subject) -> Check {
    if !store.lists() {
        return Ok(());
    }
    store.put("w/stays", "v")?;
    stop_when_done(
        || {
            for round in 0..ROUNDS {
                store.put(&format!("w/{}", round % 4), vec![round; 30_000])?;
                thread::yield_now();
            }
            Ok(())
        },
        || {
            let keys = store.list("w/")?;
            let dir = store.list_dir("w/")?;
            let seen =
                keys.iter().map(String::as_str).chain(dir.objects.iter().map(|listed| listed.key.as_str()));
            for name in seen {
                ensure!(
                    ["w/stays", "w/0", "w/1", "w/2", "w/3"].contains(&name),
                    "{name:?} is listed but was never put"
                );
            }
            let stays = keys.iter().any(|key| key == "w/stays")
                && dir.objects.iter().any(|listed| listed.key == key("w/stays"));
            ensure!(stays, "an object was not listed while others were put");
            Ok(())
        },
    )
}
