//! Rules 8 and 9: versions.

use std::thread;

use zarr_traits::{
    ByteRange, StoreErrorKind, Version,
    store::{Outcome, PutMode, ReadVersion},
};

use super::atomic::{ROUNDS, stop_when_done};
use super::subject::{ENOUGH, SMALL, Subject, span};
use crate::report::{Check, Excerpt, Fault, ensure};

pub(super) fn consistent(store: &Subject) -> Check {
    let all = &[ByteRange::All];
    let mut versions = Vec::new();
    for (name, _) in SMALL {
        let reply = store.ranges(name, all, ReadVersion::Report)?.and_then(|reply| reply.version);
        let head = store.head(name)?.and_then(|meta| meta.version);
        ensure!(head.is_none() || head == reply, "{name:?}: head says {head:?}, a read {reply:?}");
        versions.push(reply.is_some());
    }
    let all_alike = versions.windows(2).all(|pair| pair[0] == pair[1]);
    ensure!(all_alike, "some objects have a version, others do not");
    let can = store.storage.capabilities();
    if can.write {
        ensure!(
            versions[0] || !(can.put_if || can.delete_if),
            "the store claims conditional writes but reports no version"
        );
    }
    Ok(())
}

pub(super) fn pinned(store: &Subject) -> Check {
    let name = "a/pinned";
    store.put(name, "the first value")?;
    let Some(first) = store.version(name)? else {
        return Ok(());
    };
    serves(store, name, &ReadVersion::Pinned(&first), Some(b"the first value"), false)?;
    store.put(name, "another value")?;
    serves(store, name, &ReadVersion::Pinned(&first), Some(b"the first value"), true)?;
    let second = store.version(name)?;
    ensure!(second.as_ref() != Some(&first), "another value has the same version");
    if let Some(second) = second {
        serves(store, name, &ReadVersion::Pinned(&second), Some(b"another value"), false)?;
        let _ = store.delete(name, None)?;
        serves(store, name, &ReadVersion::Pinned(&second), None, true)?;
        store.put(name, "and back again")?;
        serves(store, name, &ReadVersion::Pinned(&second), Some(b"another value"), true)?;
    }
    raced(store)
}

/// Puts and deletes an object several times, the last time with its first value. No version of other content comes back.
pub(super) fn unique(store: &Subject) -> Check {
    let name = "a/again";
    let mut earlier: Vec<(Version, &'static str)> = Vec::new();
    for values in [&["value 1"][..], &["value 2"], &["value 3", "value 4"], &["value 5", "value 1"]] {
        for value in values {
            store.put(name, *value)?;
            let Some(version) = store.version(name)? else {
                return Ok(());
            };
            for (old, content) in &earlier {
                if *old == version {
                    ensure!(
                        content == value,
                        "{value:?} has the version that {content:?} had before a delete"
                    );
                } else {
                    replaced(store, name, old, content, value)?;
                }
            }
            earlier.push((version, value));
        }
        let _ = store.delete(name, None)?;
    }
    Ok(())
}

/// Checks that the version `old`, of the content `was`, is refused after the object has been deleted and put again.
fn replaced(store: &Subject, name: &str, old: &Version, was: &str, now: &str) -> Check {
    serves(store, name, &ReadVersion::Pinned(old), Some(was.as_bytes()), true)?;
    if store.storage.capabilities().put_if {
        let outcome = store.put_if(name, "lost", PutMode::IfUnchanged(old))?;
        ensure!(outcome == Outcome::Conflict, "IfUnchanged with a version before a delete gave {outcome:?}");
    }
    if store.storage.capabilities().delete_if {
        let outcome = store.delete(name, Some(old))?;
        ensure!(outcome == Outcome::Conflict, "a delete of a version before a delete gave {outcome:?}");
    }
    store.holds(name, Some(now.as_bytes()))
}

/// Checks that a read returns this value. If the object has changed, the read may also be refused, or find it absent.
fn serves(
    store: &Subject,
    name: &str,
    wanted: &ReadVersion<'_>,
    expected: Option<&[u8]>,
    changed: bool,
) -> Check {
    let result = match store.ranges(name, &[ByteRange::All], *wanted) {
        Err(e) if changed && e.kind() == StoreErrorKind::Changed => return Ok(()),
        result => result?,
    };
    match (result, expected) {
        (None, None) => {}
        (None, Some(_)) => ensure!(false, "a pinned read of the existing object {name:?} says it is absent"),
        (Some(reply), Some(expected)) => {
            ensure!(reply.bytes[0] == expected, "a pinned read gave {}", Excerpt(&reply.bytes[0]));
        }
        // A pinned version may still be readable after a delete.
        (Some(_), None) => {}
    }
    match store.limited(name, &[ByteRange::All], *wanted, ENOUGH) {
        Err(e) if changed && e.kind() == StoreErrorKind::Changed => {}
        read => {
            if let (Some((bytes, _)), Some(expected)) = (read?, expected) {
                ensure!(bytes == expected, "a pinned read gave {}", Excerpt(&bytes));
            }
        }
    }
    Ok(())
}

/// Reads the end and then the start of the same version, as the index and the chunks of a shard are read.
fn raced(store: &Subject) -> Check {
    let name = "a/raced";
    store.put(name, vec![0; 4096])?;
    stop_when_done(
        || {
            for round in 0..ROUNDS {
                store.put(name, vec![round; 4096])?;
                thread::yield_now();
            }
            Ok(())
        },
        || {
            let gone = || Fault(format!("{name:?} was absent while it was replaced"));
            let end = store.ranges(name, &[span(4080, 16)], ReadVersion::Report)?.ok_or_else(gone)?;
            let Some(version) = end.version else {
                return Ok(());
            };
            match store.ranges(name, &[span(0, 16)], ReadVersion::Pinned(&version)) {
                Err(e) if e.kind() == StoreErrorKind::Changed => Ok(()),
                start => {
                    let start = start?.ok_or_else(gone)?;
                    ensure!(start.bytes == end.bytes, "a pinned read gave bytes of another version");
                    Ok(())
                }
            }
        },
    )
}
