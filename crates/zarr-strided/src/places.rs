//! Copying between a view and elements of a buffer at any places.

use std::ptr;

use crate::StridedError;
use crate::layout::{Layout, to_usize};

/// Checks that `places` has a list for each dimension of `layout`, as long as the dimension, and that every sum of one
/// place per dimension is an element of a buffer of `bytes` bytes.
pub(crate) fn check(layout: &Layout, places: &[&[u64]], bytes: usize) -> Result<(), StridedError> {
    let shape: Vec<u64> = places.iter().map(|list| list.len() as u64).collect();
    if shape[..] != layout.shape[..] {
        return Err(StridedError::Shape { expected: (*layout.shape).into(), got: shape.into() });
    }
    if layout.is_empty() {
        return Ok(());
    }
    let last = places.iter().map(|list| list.iter().max().copied().unwrap_or(0));
    let last = last.fold(0, u64::saturating_add);
    let elements = (bytes / layout.size) as u64;
    match last < elements {
        true => Ok(()),
        false => {
            Err(StridedError::OutOfShape { at: [last].into(), shape: [1].into(), whole: [elements].into() })
        }
    }
}

/// Copies elements of `buffer` into the view: element `[i, j, …]` from place `places[0][i] + places[1][j] + …`.
///
/// # Safety
///
/// [`check`] passed for these places and the bytes of `buffer`, which may be read. From `first`, every element of
/// `layout` may be written, and is not in `buffer`.
pub(crate) unsafe fn gather(first: *mut u8, layout: &Layout, places: &[&[u64]], buffer: *const u8) {
    // SAFETY: as the caller promises; the buffer is only read.
    each(first, layout, places, buffer.cast_mut(), &|view, place, bytes| unsafe {
        ptr::copy_nonoverlapping(place.cast_const(), view, bytes);
    });
}

/// Copies the elements of the view to places of `buffer`: element `[i, j, …]` to `places[0][i] + places[1][j] + …`.
///
/// # Safety
///
/// [`check`] passed for these places and the bytes of `buffer`, which only the caller may access. From `first`, every
/// element of `layout` may be read, and is not in `buffer`.
pub(crate) unsafe fn scatter(first: *const u8, layout: &Layout, places: &[&[u64]], buffer: *mut u8) {
    // SAFETY: as the caller promises; the view is only read.
    each(first.cast_mut(), layout, places, buffer, &|view, place, bytes| unsafe {
        ptr::copy_nonoverlapping(view.cast_const(), place, bytes);
    });
}

/// Calls `copy` with the addresses and the size of each element, or of each row if its places follow each other.
fn each(
    first: *mut u8,
    layout: &Layout,
    places: &[&[u64]],
    buffer: *mut u8,
    copy: &impl Fn(*mut u8, *mut u8, usize),
) {
    if layout.is_empty() {
        return;
    }
    let size = layout.size;
    let Some((row, outer)) = places.split_last() else { return copy(first, buffer, size) };
    let step = layout.strides[outer.len()];
    let is_run = row.windows(2).all(|pair| pair[1] == pair[0].wrapping_add(1));
    let one_row = |view: *mut u8, place: *mut u8| {
        if is_run && (step == size as isize || row.len() == 1) {
            return copy(view, place.wrapping_add(to_usize(row[0]) * size), row.len() * size);
        }
        // A constant size makes each copy one instruction.
        match size {
            1 => elements(view, step, place, row, &|view, place| copy(view, place, 1), 1),
            2 => elements(view, step, place, row, &|view, place| copy(view, place, 2), 2),
            4 => elements(view, step, place, row, &|view, place| copy(view, place, 4), 4),
            8 => elements(view, step, place, row, &|view, place| copy(view, place, 8), 8),
            size => elements(view, step, place, row, &|view, place| copy(view, place, size), size),
        }
    };
    rows(first, &layout.strides[..outer.len()], outer, size, buffer, &one_row);
}

/// Calls `row` with the start of each row of the view and of its places.
fn rows(
    view: *mut u8,
    strides: &[isize],
    places: &[&[u64]],
    size: usize,
    buffer: *mut u8,
    row: &impl Fn(*mut u8, *mut u8),
) {
    let (Some((list, inner)), Some((stride, strides))) = (places.split_first(), strides.split_first()) else {
        return row(view, buffer);
    };
    let mut view = view;
    for place in *list {
        rows(view, strides, inner, size, buffer.wrapping_add(to_usize(*place) * size), row);
        view = view.wrapping_offset(*stride);
    }
}

#[inline(always)]
fn elements(
    mut view: *mut u8,
    step: isize,
    buffer: *mut u8,
    places: &[u64],
    copy: &impl Fn(*mut u8, *mut u8),
    size: usize,
) {
    for place in places {
        copy(view, buffer.wrapping_add(to_usize(*place) * size));
        view = view.wrapping_offset(step);
    }
}
