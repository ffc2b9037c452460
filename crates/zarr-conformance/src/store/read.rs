//! Rules 1 to 6: what a read answers.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::thread;

use zarr_traits::{ByteRange, If, StoreErrorKind, block_on};

use super::subject::{LARGE, LARGE_SIZE, Subject, fails, key, pattern, span};
use crate::report::{Check, Excerpt, Fault, ensure};

pub(super) fn any_executor(store: &Subject) -> Check {
    let (digits, all) = (key("digits"), [ByteRange::All]);
    // Dropped at its first await, as a timeout does.
    {
        let mut dropped = store.reader().get_ranges(&digits, &all, If::Any);
        let _ = dropped.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    }
    // Begun on one thread and ended on another, as a work-stealing executor does.
    let mut moved = store.reader().get_ranges(&digits, &all, If::Any);
    let reply = match moved.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(reply) => reply?,
        Poll::Pending => thread::scope(|scope| scope.spawn(move || block_on(moved)).join())
            .map_err(|_| Fault("a read that was moved to another thread panicked".to_owned()))??,
    };
    ensure!(reply.is_some_and(|reply| reply.bytes[0] == b"0123456789"[..]), "a read gave something else");
    // Two at once on one thread, as a join does.
    let large = key(LARGE);
    let (mut first, mut second) = (pin!(store.storage.get(&digits)), pin!(store.storage.get(&large)));
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
    ensure!(sizes == [Some(10), Some(LARGE_SIZE)], "two reads at once gave values of {sizes:?} bytes");
    Ok(())
}

pub(super) fn absent(store: &Subject) -> Check {
    // Nothing there; a part of other keys; below an object.
    for name in ["nothing", "a", "l/a", "a/nothing", "nothing/at/all", "digits/1"] {
        for range in [ByteRange::All, span(0, 1), span(9, 9), ByteRange::Suffix(1)] {
            if !answers(store, range) {
                continue;
            }
            for when in [If::Any, If::Versioned] {
                let reply = store.ranges(name, &[range], when)?;
                ensure!(reply.is_none(), "get_ranges of the absent {name:?} gave {reply:?} for {range:?}");
            }
        }
        let reply = store.ranges(name, &[], If::Any)?;
        ensure!(reply.is_none(), "get_ranges of the absent {name:?} gave {reply:?} for no ranges");
        for range in [ByteRange::All, span(0, 1)] {
            for when in [If::Any, If::Versioned] {
                let filled = store.into(name, &[range], when, &mut [0; 4])?;
                ensure!(filled.is_none(), "read_into of the absent {name:?} gave {filled:?} for {range:?}");
            }
        }
        let stat = store.size(name)?;
        ensure!(stat.is_none(), "size of the absent {name:?} gave {stat:?}");
    }
    let reply = store.ranges("digits", &[], If::Any)?;
    ensure!(
        reply.is_some_and(|r| r.bytes.is_empty()),
        "no ranges of an object that is there: no empty answer"
    );
    Ok(())
}

pub(super) fn empty(store: &Subject) -> Check {
    reads(store, "empty", &[ByteRange::All], &[b""])?;
    reads(store, "empty", &[span(0, 0)], &[b""])?;
    reads(store, "empty", &[ByteRange::Suffix(5)], &[b""])?;
    if let Some(lister) = store.lister() {
        ensure!(store.list(lister, "")?.iter().any(|key| key == "empty"), "an empty object is not listed");
    }
    Ok(())
}

pub(super) fn order(store: &Subject) -> Check {
    // E.t6: nothing at the start, nothing at the end.
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
            for when in [If::Any, If::Versioned] {
                fails(store.ranges(name, ranges, when), kind, &format!("get_ranges, {what}"))?;
                fails(store.into(name, ranges, when, &mut [0; 16]), kind, &format!("read_into, {what}"))?;
            }
        }
    }
    let small = store.into("digits", &[span(0, 3), span(5, 3)], If::Any, &mut [0; 5]);
    fails(small, StoreErrorKind::InvalidArgument, "read_into of 6 bytes into a buffer of 5")
}

pub(super) fn suffix(store: &Subject) -> Check {
    for (n, expected) in
        [(11, &b"0123456789"[..]), (u64::MAX, b"0123456789"), (10, b"0123456789"), (3, b"789"), (0, b"")]
    {
        reads(store, "digits", &[ByteRange::Suffix(n)], &[expected])?;
    }
    Ok(())
}

/// A store that cannot read suffixes says so, and is not asked.
fn answers(store: &Subject, range: ByteRange) -> bool {
    store.storage.capabilities().suffix || !matches!(range, ByteRange::Suffix(_))
}

/// That ranges of an object read as `expected`: in both ways of reading, under every condition.
fn reads(store: &Subject, name: &str, ranges: &[ByteRange], expected: &[&[u8]]) -> Check {
    if !ranges.iter().all(|range| answers(store, *range)) {
        return Ok(());
    }
    let stat = store.size(name)?.ok_or_else(|| Fault(format!("size: {name:?} is absent")))?;
    let version = store.ranges(name, ranges, If::Versioned)?.and_then(|reply| reply.version);
    let pinned = version.as_ref().map(If::Pinned);
    for when in [If::Any, If::Versioned].into_iter().chain(pinned) {
        let Some(reply) = store.ranges(name, ranges, when)? else {
            return Err(Fault(format!("get_ranges: {name:?} is absent")));
        };
        ensure!(
            reply.bytes.len() == ranges.len(),
            "{} answers to {} ranges",
            reply.bytes.len(),
            ranges.len()
        );
        for ((got, expected), range) in reply.bytes.iter().zip(expected).zip(ranges) {
            ensure!(
                got == expected,
                "get_ranges: {range:?} of {name:?} gave {} instead of {}",
                Excerpt(got),
                Excerpt(expected)
            );
        }
        ensure!(
            reply.size.is_none_or(|size| size == stat.size),
            "get_ranges: the size of {name:?} is {:?} instead of {}",
            reply.size,
            stat.size
        );
        if ranges == [ByteRange::All] {
            ensure!(stat.size == expected[0].len() as u64, "size: {name:?} has {} bytes", stat.size);
            whole(store, name, when, expected[0])?;
        } else if ranges.iter().all(|range| matches!(range, ByteRange::Span { .. })) {
            let expected = expected.concat();
            let mut into = vec![0xA5; expected.len() + 3];
            let filled = store.into(name, ranges, when, &mut into)?;
            let Some(filled) = filled else {
                return Err(Fault(format!("read_into: {name:?} is absent")));
            };
            ensure!(
                filled.len == expected.len(),
                "read_into: {} bytes instead of {}",
                filled.len,
                expected.len()
            );
            ensure!(
                into[..filled.len] == expected,
                "read_into: {ranges:?} of {name:?} gave {}",
                Excerpt(&into)
            );
            ensure!(
                filled.size.is_none_or(|size| size == stat.size),
                "read_into: the size of {name:?} is {:?}",
                filled.size
            );
        }
    }
    Ok(())
}

/// `read_into` of a whole object, with buffers of many sizes.
fn whole(store: &Subject, name: &str, when: If<'_>, expected: &[u8]) -> Check {
    let size = expected.len();
    for room in [size, size + 1, size + 5000, size.saturating_sub(1), size / 2, 0] {
        let mut into = vec![0xA5; room];
        let filled = store.into(name, &[ByteRange::All], when, &mut into)?;
        let Some(filled) = filled else {
            return Err(Fault(format!("read_into: {name:?} is absent")));
        };
        ensure!(
            filled.size == Some(size as u64),
            "read_into: of {name:?}, all {size} bytes into a buffer of {room}, the size is {:?}",
            filled.size
        );
        if room >= size {
            ensure!(filled.len == size, "read_into: {} bytes instead of {size}", filled.len);
            ensure!(into[..size] == *expected, "read_into: all of {name:?} gave {}", Excerpt(&into));
        }
    }
    Ok(())
}
