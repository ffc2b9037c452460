//! Rule 18: replacing ranges of an object.

use std::thread;

use zarr_traits::{
    ByteRange, Bytes, Span, StoreErrorKind, StoreResult, block_on,
    store::{Outcome, PutMode, ReadVersion},
};

use super::subject::{LARGE_SIZE, Subject, fails, key, pattern};
use crate::report::{Check, Fault, ensure};

/// Ranges that are replaced together: their offsets and lengths.
const CASES: &[&[(usize, usize)]] = &[
    &[(0, 1)],
    &[(LARGE_SIZE - 3, 3)],
    &[(5000, 4096), (10, 3), (70_000, 1)],
    &[(100, 50), (120, 50)],
    &[(4096, 0), (8192, 4096), (LARGE_SIZE, 0)],
    &[],
    &[(0, LARGE_SIZE)],
];

pub(super) fn put(store: &Subject) -> Check {
    let name = "a/ranges";
    let mut value = pattern(LARGE_SIZE);
    store.put(name, value.clone())?;
    if !store.storage.capabilities().put_ranges {
        let outcome = put_ranges(store, name, LARGE_SIZE, &[(0, 1)], b"x")?;
        ensure!(outcome == Outcome::Conflict, "the store claims no ranges, and a change gave {outcome:?}");
        return store.holds(name, Some(&value));
    }
    for (number, spans) in (1_u8..).zip(CASES) {
        let before = store.version(name)?;
        let new: Vec<u8> = (0..=u8::MAX).map(|byte| byte ^ number).cycle().take(sum(spans)).collect();
        let outcome = put_ranges(store, name, LARGE_SIZE, spans, &new)?;
        ensure!(matches!(outcome, Outcome::Done(_)), "replacing {spans:?} gave {outcome:?}");
        let mut rest = &new[..];
        for (start, len) in *spans {
            let (part, behind) = rest.split_at(*len);
            value[*start..start + len].copy_from_slice(part);
            rest = behind;
        }
        store.holds(name, Some(&value))?;
        ensure!(
            before.is_none() || new.is_empty() || store.version(name)? != before,
            "replacing {spans:?} kept the version"
        );
    }
    refused(store, &value)?;
    let storage = store.storage.read_only();
    let (key, spans) = (key(name), [Span { offset: 0, len: 1 }]);
    let result = block_on(storage.put_ranges(&key, LARGE_SIZE as u64, &spans, &"x".into()));
    fails(result, StoreErrorKind::Unsupported, "ranges in a read-only storage")?;
    store.holds(name, Some(&value))?;
    no_lost_update(store)
}

fn sum(spans: &[(usize, usize)]) -> usize {
    spans.iter().map(|(_, len)| len).sum()
}

fn put_ranges(
    store: &Subject,
    name: &str,
    size: usize,
    spans: &[(usize, usize)],
    bytes: &[u8],
) -> StoreResult<Outcome> {
    let span = |(offset, len): &(usize, usize)| Span { offset: *offset as u64, len: *len as u64 };
    let spans: Vec<Span> = spans.iter().map(span).collect();
    block_on(store.storage.put_ranges(&key(name), size as u64, &spans, &Bytes::copy_from_slice(bytes)))
}

/// Changes that are refused, and change nothing.
fn refused(store: &Subject, value: &[u8]) -> Check {
    let name = "a/ranges";
    for (name, size) in
        [(name, LARGE_SIZE - 1), (name, LARGE_SIZE + 1), ("a/nothing", 1), ("a", 1), ("a/ranges/x", 1)]
    {
        let outcome = put_ranges(store, name, size, &[(0, 1)], b"x")?;
        ensure!(outcome == Outcome::Conflict, "a range of {name:?}, not of {size} bytes, gave {outcome:?}");
    }
    store.holds("a/nothing", None)?;
    let size = LARGE_SIZE as u64;
    for spans in [&[(0, 1), (LARGE_SIZE, 1)][..], &[(usize::MAX, 2)]] {
        let result = put_ranges(store, name, LARGE_SIZE, spans, b"xy");
        fails(result, StoreErrorKind::RangeNotSatisfiable { size }, "a range outside the object")?;
    }
    for bytes in ["", "x", "xyz"] {
        let result = put_ranges(store, name, LARGE_SIZE, &[(0, 1), (2, 1)], bytes.as_bytes());
        fails(result, StoreErrorKind::InvalidArgument, "bytes of another length than the ranges")?;
    }
    store.holds(name, Some(value))
}

/// Four writers replace ranges while another one replaces the object, if it can do so safely.
fn no_lost_update(store: &Subject) -> Check {
    const ROUNDS: u8 = 40;
    let name = "a/shared";
    store.put(name, vec![0; 5 * usize::from(ROUNDS)])?;
    let size = 5 * usize::from(ROUNDS);
    let place = |writer: u8, round: u8| usize::from(round) * 5 + usize::from(writer);
    let of_ranges = |writer: u8| -> Check {
        for round in 0..ROUNDS {
            while put_ranges(store, name, size, &[(place(writer, round), 1)], &[writer + 1])?
                == Outcome::Conflict
            {}
        }
        Ok(())
    };
    let of_objects = || -> Check {
        for round in 0..ROUNDS {
            loop {
                let read = store.ranges(name, &[ByteRange::All], ReadVersion::Report)?;
                let (mut bytes, version) = read
                    .and_then(|reply| Some((reply.bytes.concat(), reply.version?)))
                    .ok_or_else(|| Fault("no value with a version was read".to_owned()))?;
                bytes[place(4, round)] = 5;
                let (key, parts) = (key(name), [bytes.into()]);
                let put = store.storage.put_if(&key, &parts, PutMode::IfUnchanged(&version));
                if block_on(put)? != Outcome::Conflict {
                    break;
                }
            }
        }
        Ok(())
    };
    let with_objects = store.storage.capabilities().put_if;
    thread::scope(|scope| {
        let mut writers: Vec<_> = (0..4).map(|writer| scope.spawn(move || of_ranges(writer))).collect();
        if with_objects {
            writers.push(scope.spawn(of_objects));
        }
        writers.into_iter().try_for_each(|t| t.join().map_err(|_| Fault("a writer panicked".to_owned()))?)
    })?;
    let value = store.value(name)?.unwrap_or_default();
    let writers = if with_objects { 5 } else { 4 };
    let lost = (0..ROUNDS).flat_map(|round| (0..writers).map(move |writer| (writer, round)));
    let lost =
        lost.filter(|(writer, round)| value.get(place(*writer, *round)) != Some(&(writer + 1))).count();
    ensure!(lost == 0, "{lost} of {} updates were lost", writers * ROUNDS);
    Ok(())
}
