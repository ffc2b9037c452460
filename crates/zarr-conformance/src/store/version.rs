//! Rules 8 and 9: versions.

use std::thread;

use zarr_traits::{ByteRange, If, StoreErrorKind};

use super::atomic::{ROUNDS, stop_when_done};
use super::subject::{SMALL, Subject, span};
use crate::report::{Check, Excerpt, Fault, ensure};

pub(super) fn consistent(store: &Subject) -> Check {
    let all = &[ByteRange::All];
    let mut versions = Vec::new();
    for (name, _) in SMALL {
        let reply = store.ranges(name, all, If::Versioned)?.and_then(|reply| reply.version);
        let filled = store.into(name, all, If::Versioned, &mut [0; 64])?.and_then(|filled| filled.version);
        let stat = store.size(name)?.and_then(|stat| stat.version);
        ensure!(reply == filled, "{name:?}: get_ranges says {reply:?}, read_into {filled:?}");
        ensure!(stat.is_none() || stat == reply, "{name:?}: size says {stat:?}, get_ranges {reply:?}");
        versions.push(reply.is_some());
    }
    let all_alike = versions.windows(2).all(|pair| pair[0] == pair[1]);
    ensure!(all_alike, "of some objects a version is reported, of others not");
    let can = store.storage.capabilities();
    if store.storage.writer().is_ok() {
        ensure!(
            versions[0] || !(can.put_if || can.delete_if),
            "it claims conditional writes and reports no version"
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
    serves(store, name, &If::Pinned(&first), Some(b"the first value"), false)?;
    store.put(name, "another value")?;
    serves(store, name, &If::Pinned(&first), Some(b"the first value"), true)?;
    let second = store.version(name)?;
    ensure!(second.as_ref() != Some(&first), "another value has the same version");
    if let Some(second) = second {
        serves(store, name, &If::Pinned(&second), Some(b"another value"), false)?;
        let _ = store.delete(name, None)?;
        serves(store, name, &If::Pinned(&second), None, true)?;
        store.put(name, "and back again")?;
        serves(store, name, &If::Pinned(&second), Some(b"another value"), true)?;
    }
    raced(store)
}

/// That a read gives this value. Where the object has changed since, it may be refused, or be absent if it is.
fn serves(store: &Subject, name: &str, when: &If<'_>, expected: Option<&[u8]>, changed: bool) -> Check {
    let result = match store.ranges(name, &[ByteRange::All], *when) {
        Err(e) if changed && e.kind() == StoreErrorKind::Changed => return Ok(()),
        result => result?,
    };
    match (result, expected) {
        (None, None) => {}
        (None, Some(_)) => ensure!(false, "a pinned read of {name:?}, which is there, says it is absent"),
        (Some(reply), Some(expected)) => {
            ensure!(reply.bytes[0] == expected, "a pinned read gave {}", Excerpt(&reply.bytes[0]));
        }
        // What was deleted may still be read by who has pinned it.
        (Some(_), None) => {}
    }
    let mut into = [0; 64];
    match store.into(name, &[ByteRange::All], *when, &mut into) {
        Err(e) if changed && e.kind() == StoreErrorKind::Changed => {}
        filled => {
            if let (Some(filled), Some(expected)) = (filled?, expected) {
                ensure!(into[..filled.len] == *expected, "a pinned read_into gave {}", Excerpt(&into));
            }
        }
    }
    Ok(())
}

/// An end read first, then a start of the same version: how the index and the chunks of a shard are read.
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
            let end = store.ranges(name, &[span(4080, 16)], If::Versioned)?.ok_or_else(gone)?;
            let Some(version) = end.version else {
                return Ok(());
            };
            match store.ranges(name, &[span(0, 16)], If::Pinned(&version)) {
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
