//! The decoder.

use super::{NEAR, RUN};

/// The bytes that are copied at once if there is room; most matches are shorter.
const WIDE: usize = 16;

/// Decodes `src` into the start of `dst` and returns the number of decoded bytes, or `None` if `src` is damaged or needs
/// more room.
pub(crate) fn decode(src: &[u8], dst: &mut [u8]) -> Option<usize> {
    let (first, mut rest) = src.split_first()?;
    let mut control = first & 31;
    let mut made = 0;
    loop {
        if usize::from(control) < RUN {
            rest = literals(usize::from(control) + 1, rest, dst, &mut made)?;
        } else {
            rest = matched(control, rest, dst, &mut made)?;
        }
        let Some((next, behind)) = rest.split_first() else { return Some(made) };
        (control, rest) = (*next, behind);
    }
}

/// Copies a run of `len` literals, and returns the bytes after them.
#[inline(always)]
fn literals<'a>(len: usize, src: &'a [u8], dst: &mut [u8], made: &mut usize) -> Option<&'a [u8]> {
    let to = dst.get_mut(*made..)?;
    if let (Some(from), Some(to)) = (src.first_chunk::<RUN>(), to.first_chunk_mut::<RUN>()) {
        *to = *from;
    } else {
        to.get_mut(..len)?.copy_from_slice(src.get(..len)?);
    }
    *made += len;
    src.get(len..)
}

/// Copies the match of an item that begins with `control`, and returns the bytes after the item.
#[inline(always)]
fn matched<'a>(control: u8, mut src: &'a [u8], dst: &mut [u8], made: &mut usize) -> Option<&'a [u8]> {
    let mut next = || {
        let (byte, rest) = src.split_first()?;
        src = rest;
        Some(usize::from(*byte))
    };
    let mut len = usize::from(control >> 5) + 2;
    if len == 9 {
        loop {
            let more = next()?;
            len += more;
            if more != 255 {
                break;
            }
        }
    }
    let mut distance = (usize::from(control & 31) << 8) + next()?;
    if distance == NEAR {
        distance += (next()? << 8) + next()?;
    }
    let start = made.checked_sub(distance + 1)?;
    let end = made.checked_add(len)?;
    if end > dst.len() {
        return None;
    }
    repeat(dst, start, *made, end);
    *made = end;
    Some(src)
}

/// Fills `dst[at..end]` with the bytes from `start` on, which is before `at`; bytes that were just written count.
#[inline(always)]
fn repeat(dst: &mut [u8], start: usize, at: usize, end: usize) {
    let distance = at - start;
    if distance >= WIDE && dst.len() - end >= WIDE {
        let (mut from, mut to) = (start, at);
        while to < end {
            let bytes: [u8; WIDE] = dst[from..from + WIDE].try_into().unwrap_or_default();
            dst[to..to + WIDE].copy_from_slice(&bytes);
            from += WIDE;
            to += WIDE;
        }
    } else if distance == 1 {
        let byte = dst[start];
        dst[at..end].fill(byte);
    } else {
        // Each round doubles the bytes that repeat.
        let mut to = at;
        while to < end {
            let len = (to - start).min(end - to);
            dst.copy_within(start..start + len, to);
            to += len;
        }
    }
}
