//! Filling a view with one element, and testing for it.

use std::{ptr, slice};

use crate::Swap;
use crate::axes::{Axis, Loops, collapse, nest};
use crate::layout::Layout;
use crate::list::List;
use crate::rows;

/// Rows shorter than this are filled element by element.
const SHORT: usize = 64;
/// A row is filled with copies of its first bytes, about this many, which stay in the L1 cache.
const BLOCK: usize = 4 << 10;

/// Writes `element` to every position of `layout`.
///
/// # Safety
///
/// From `first`, every element of `layout` may be written, and no two overlap. `element` has their size and does not
/// overlap them.
pub(crate) unsafe fn fill(first: *mut u8, layout: &Layout, element: &[u8]) {
    if layout.is_empty() {
        return;
    }
    let mut loops = loops(layout);
    let first = first.wrapping_offset(loops.dst);
    let same = element.iter().all(|byte| *byte == element[0]);
    let row = match loops.axes.last() {
        Some(inner) if inner.dst == element.len() as isize => inner.len * element.len(),
        _ => element.len(),
    };
    if row < SHORT {
        // SAFETY: the axes visit each element once; the source does not move.
        return unsafe { rows::copy(&loops.axes, first, element.as_ptr(), element.len(), Swap::NONE) };
    }
    if row > element.len() {
        loops.axes.pop();
    }
    nest(&loops.axes, first, element.as_ptr(), &|dst, src| {
        if same {
            // SAFETY: a row is a whole number of contiguous elements.
            return unsafe { dst.write_bytes(element[0], row) };
        }
        // SAFETY: the first element of the row.
        unsafe { ptr::copy_nonoverlapping(src, dst, element.len()) };
        let mut done = element.len();
        while done < row {
            // Doubles up to one block. `done` stays a multiple of the element size until the last copy.
            let some = done.min(BLOCK.next_multiple_of(element.len())).min(row - done);
            // SAFETY: from the written part of the row to the next part, which ends inside the row.
            unsafe { ptr::copy_nonoverlapping(dst, dst.wrapping_add(done), some) };
            done += some;
        }
    });
}

/// Whether every element of `layout`, which is not empty, is equal to `element`.
///
/// # Safety
///
/// From `first`, every element of `layout` may be read, and has the size of `element`.
pub(crate) unsafe fn is_filled(first: *const u8, layout: &Layout, element: &[u8]) -> bool {
    let loops = loops(layout);
    let size = element.len();
    // A repeated element is compared only once.
    let mut axes: List<Axis> = loops.axes.iter().copied().filter(|axis| axis.dst != 0).collect();
    let begin = first.wrapping_offset(loops.dst);
    match axes.last() {
        Some(&inner) if inner.dst == size as isize => {
            axes.pop();
            let len = inner.len * size;
            // The first element is equal to `element`, and each is equal to the one before it: one comparison of the
            // row with itself, shifted.
            all(&axes, begin, &|at| {
                // SAFETY: a row is a whole number of contiguous elements.
                let row = unsafe { slice::from_raw_parts(at, len) };
                row[..size] == *element && row[size..] == row[..len - size]
            })
        }
        _ => match size {
            1 => all_of::<1>(&axes, begin, element),
            2 => all_of::<2>(&axes, begin, element),
            4 => all_of::<4>(&axes, begin, element),
            8 => all_of::<8>(&axes, begin, element),
            16 => all_of::<16>(&axes, begin, element),
            // SAFETY: the axes visit elements.
            _ => all(&axes, begin, &|at| unsafe { slice::from_raw_parts(at, size) } == element),
        },
    }
}

/// The loops over `layout` as the destination, with a source that does not move.
fn loops(layout: &Layout) -> Loops {
    let still: List<isize> = List::filled(0, layout.strides.len());
    collapse(&layout.shape, &layout.strides, &still)
}

/// Whether each element of `N` bytes, at every position of `axes`, is equal to `element`.
fn all_of<const N: usize>(axes: &[Axis], begin: *const u8, element: &[u8]) -> bool {
    let element: Option<[u8; N]> = element.first_chunk().copied();
    // SAFETY: the axes visit elements, which have `N` bytes.
    all(axes, begin, &|at| Some(unsafe { at.cast::<[u8; N]>().read() }) == element)
}

/// Whether `holds` returns true at every position of `axes`. Stops at the first false.
fn all(axes: &[Axis], at: *const u8, holds: &impl Fn(*const u8) -> bool) -> bool {
    let place = |axis: &Axis, i| at.wrapping_offset(i * axis.dst);
    match axes {
        [] => holds(at),
        [axis] => (0..axis.len as isize).all(|i| holds(place(axis, i))),
        [axis, inner @ ..] => (0..axis.len as isize).all(|i| all(inner, place(axis, i), holds)),
    }
}
