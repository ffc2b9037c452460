//! Rules 1 to 6 and 16: reads.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::thread;

use zarr_traits::{
    ByteRange, StoreErrorKind, block_on,
    store::{Op, Read, ReadBuffer, ReadVersion},
};

use super::subject::{ENOUGH, LARGE, LARGE_SIZE, Subject, fails, key, pattern, span};
use crate::report::{Check, Excerpt, Fault, ensure};

pub(super) fn any_executor(store: &Subject) -> Check {
    let (digits, all) = (key("digits"), [ByteRange::All]);
    // Dropped at its first await, as by a timeout.
    {
        let mut buffer = ReadBuffer::new(ENOUGH);
        let mut dropped = store.storage.call(Op::Read(Read::new(&digits, &all, &mut buffer)));
        let _ = dropped.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    }
    // Begun on one thread and ended on another, as by a work-stealing executor.
    let mut buffer = ReadBuffer::new(ENOUGH);
    let mut moved = store.storage.call(Op::Read(Read::new(&digits, &all, &mut buffer)));
    let answer = match moved.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => {
            drop(moved);
            answer?
        }
        Poll::Pending => thread::scope(|scope| scope.spawn(move || block_on(moved)).join())
            .map_err(|_| Fault("a read that was moved to another thread panicked".to_owned()))??,
    };
    let read = answer.into_read()?.map(|_| buffer.into_bytes());
    ensure!(read.is_some_and(|bytes| bytes == b"0123456789"[..]), "a read returned another value");
    // Two at once on one thread, as by a join.
    let large = key(LARGE);
    let (mut first, mut second) =
        (pin!(store.storage.get(&digits, ENOUGH)), pin!(store.storage.get(&large, ENOUGH)));
    let (mut one, mut two) = (None, None);
    block_on(poll_fn(|context| {
        for (value, future) in [(&mut one, first.as_mut()), (&mut two, second.as_mut())] {
            if value.is_none()
                && let Poll::Ready(ready) = future.poll(context)
            {
                *value = Some(ready);
            }
        }
        if one.is_some() && two.is_some() { Poll::Ready(()) } else { Poll::Pending }
    }));
    let sizes = [one, two].map(|value| value.and_then(Result::ok).flatten().map(|value| value.len()));
    ensure!(sizes == [Some(10), Some(LARGE_SIZE)], "two simultaneous reads returned {sizes:?} bytes");
    Ok(())
}

pub(super) fn absent(store: &Subject) -> Check {
    // An absent key; a prefix of other keys; a key below an object.
    for name in ["nothing", "a", "l/a", "a/nothing", "nothing/at/all", "digits/1"] {
        for range in [ByteRange::All, span(0, 1), span(9, 9), ByteRange::Suffix(1)] {
            if !answers(store, range) {
                continue;
            }
            for version in [ReadVersion::Any, ReadVersion::Report] {
                let reply = store.ranges(name, &[range], version)?;
                ensure!(
                    reply.is_none(),
                    "a read of the absent key {name:?} returned {reply:?} for {range:?}"
                );
            }
        }
        let reply = store.ranges(name, &[], ReadVersion::Any)?;
        ensure!(reply.is_none(), "a read of the absent key {name:?} returned {reply:?} for no ranges");
        let head = store.head(name)?;
        ensure!(head.is_none(), "head of the absent key {name:?} returned {head:?}");
    }
    let reply = store.ranges("digits", &[], ReadVersion::Any)?;
    ensure!(
        reply.is_some_and(|r| r.bytes.is_empty()),
        "a read of no ranges of an existing object must return an empty answer"
    );
    Ok(())
}

pub(super) fn empty(store: &Subject) -> Check {
    reads(store, "empty", &[ByteRange::All], &[b""])?;
    reads(store, "empty", &[span(0, 0)], &[b""])?;
    reads(store, "empty", &[ByteRange::Suffix(5)], &[b""])?;
    if store.lists() {
        ensure!(store.list("")?.iter().any(|key| key == "empty"), "an empty object is not listed");
    }
    Ok(())
}

pub(super) fn order(store: &Subject) -> Check {
    // An empty range at the start and at the end.
    reads(store, "digits", &[span(0, 0), span(10, 0), span(3, 0)], &[b"", b"", b""])?;
    reads(store, "digits", &[ByteRange::All], &[b"0123456789"])?;
    let spans = [span(7, 3), span(0, 2), span(1, 4), span(1, 4), span(0, 10), span(9, 1)];
    reads(store, "digits", &spans, &[b"789", b"01", b"1234", b"1234", b"0123456789", b"9"])?;
    let mixed = [ByteRange::Suffix(2), ByteRange::All, span(0, 1), ByteRange::Suffix(0)];
    reads(store, "digits", &mixed, &[b"89", b"0123456789", b"0", b""])?;

    let large = pattern(LARGE_SIZE);
    reads(store, LARGE, &[ByteRange::All], &[&large])?;
    let starts = (0..50usize).map(|i| i * 7919 % (LARGE_SIZE - 3000));
    let pieces: Vec<&[u8]> = starts.clone().map(|at| &large[at..at + 1 + at % 3000]).collect();
    let spans: Vec<_> = starts.map(|at| span(at as u64, 1 + at as u64 % 3000)).collect();
    reads(store, LARGE, &spans, &pieces)
}

pub(super) fn outside(store: &Subject) -> Check {
    let beyond = [(9, 2), (10, 1), (11, 0), (0, 11), (1 << 40, 1), (u64::MAX, 2), (u64::MAX - 1, 1)];
    let digits = beyond.iter().map(|&(offset, len)| ("digits", 10, span(offset, len)));
    let empty = [("empty", 0, span(0, 1)), ("empty", 0, span(1, 0))];
    for (name, size, bad) in digits.chain(empty) {
        let kind = StoreErrorKind::RangeNotSatisfiable { size };
        let what = format!("{bad:?} of an object of {size} bytes");
        for ranges in [&[bad][..], &[span(0, 0), bad], &[bad, span(0, 0)]] {
            for version in [ReadVersion::Any, ReadVersion::Report] {
                fails(store.ranges(name, ranges, version), kind, &what)?;
            }
        }
    }
    Ok(())
}

/// Rule 16: no bytes beyond the limit of the buffer.
pub(super) fn limit(store: &Subject) -> Check {
    let spans = [span(0, 6), span(4, 6)];
    let suffix = [ByteRange::Suffix(7)];
    let reads = [("digits", &[ByteRange::All][..], 10), ("digits", &spans, 12), ("digits", &suffix, 7)];
    for (name, ranges, bytes) in reads.into_iter().chain([(LARGE, &[ByteRange::All][..], LARGE_SIZE as u64)])
    {
        if !ranges.iter().all(|range| answers(store, *range)) {
            continue;
        }
        for version in [ReadVersion::Any, ReadVersion::Report] {
            for enough in [bytes, bytes + 1, ENOUGH] {
                let read = store.limited(name, ranges, version, enough)?;
                let got = read.map(|(read, _)| read.len() as u64);
                ensure!(
                    got == Some(bytes),
                    "{ranges:?} of {name:?} with a limit of {enough} returned {got:?} bytes"
                );
            }
            for less in [bytes - 1, bytes / 2, 0] {
                let kind = match store.limited(name, ranges, version, less) {
                    Err(e) => Some(e.kind()),
                    Ok(_) => None,
                };
                ensure!(
                    matches!(kind, Some(StoreErrorKind::TooLarge { .. })),
                    "{ranges:?} of {name:?} with a limit of {less}: expected the error TooLarge, found {kind:?}"
                );
            }
        }
    }
    Ok(())
}

pub(super) fn suffix(store: &Subject) -> Check {
    for (n, expected) in
        [(11, &b"0123456789"[..]), (u64::MAX, b"0123456789"), (10, b"0123456789"), (3, b"789"), (0, b"")]
    {
        reads(store, "digits", &[ByteRange::Suffix(n)], &[expected])?;
    }
    Ok(())
}

/// Whether the store can answer this range. Some stores declare that they cannot read suffixes.
fn answers(store: &Subject, range: ByteRange) -> bool {
    store.storage.capabilities().suffix || !matches!(range, ByteRange::Suffix(_))
}

/// Checks that ranges of an object have the bytes `expected`, with and without a wanted version.
fn reads(store: &Subject, name: &str, ranges: &[ByteRange], expected: &[&[u8]]) -> Check {
    if !ranges.iter().all(|range| answers(store, *range)) {
        return Ok(());
    }
    let size = store.head(name)?.and_then(|meta| meta.size);
    let size = size.ok_or_else(|| Fault(format!("head: {name:?} is absent, or has no size")))?;
    let version = store.ranges(name, ranges, ReadVersion::Report)?.and_then(|reply| reply.version);
    let pinned = version.as_ref().map(ReadVersion::Pinned);
    for version in [ReadVersion::Any, ReadVersion::Report].into_iter().chain(pinned) {
        let Some(reply) = store.ranges(name, ranges, version)? else {
            return Err(Fault(format!("a read: {name:?} is absent")));
        };
        for ((got, expected), range) in reply.bytes.iter().zip(expected).zip(ranges) {
            ensure!(
                got == expected,
                "{range:?} of {name:?} returned {}, expected {}",
                Excerpt(got),
                Excerpt(expected)
            );
        }
        let told = reply.size;
        ensure!(
            told.is_none_or(|told| told == size),
            "a read: the size of {name:?} is {told:?}, expected {size}"
        );
        if ranges == [ByteRange::All] {
            ensure!(size == expected[0].len() as u64, "head: {name:?} has {size} bytes");
        }
        // The whole object into recycled memory.
        let expected = expected.concat();
        let Some((bytes, _)) = store.limited(name, ranges, version, expected.len() as u64)? else {
            return Err(Fault(format!("a read: {name:?} is absent")));
        };
        ensure!(bytes == expected, "{ranges:?} of {name:?} gave {}", Excerpt(&bytes));
    }
    Ok(())
}
