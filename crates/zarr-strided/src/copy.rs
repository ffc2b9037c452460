//! Copying between two layouts: the loops and the choice of the kernel.

use crate::axes::collapse;
use crate::layout::Layout;
use crate::{Swap, rows, transpose};

/// Copies every element of `src` to the same position of `dst` and reverses units of `swap`.
///
/// # Safety
///
/// - The shapes and sizes are equal, and sizes are a multiple of the unit.
/// - From `dst`, every element of its layout may be written; from `src`, every element of its layout may be read. If
///   there are no elements, both pointers may be arbitrary.
/// - No two elements of `dst` overlap, and none of them overlaps an element of `src`.
pub(crate) unsafe fn copy(
    dst: *mut u8,
    dst_layout: &Layout,
    src: *const u8,
    src_layout: &Layout,
    swap: Swap,
) {
    if dst_layout.is_empty() {
        return;
    }
    let size = dst_layout.size;
    let mut loops = collapse(&dst_layout.shape, &dst_layout.strides, &src_layout.strides);
    let dst = dst.wrapping_offset(loops.dst);
    let src = src.wrapping_offset(loops.src);
    // A dimension that is contiguous on both sides is moved as one item.
    let mut item = size;
    if let Some(&inner) = loops.axes.last()
        && inner.dst == size as isize
        && inner.src == size as isize
    {
        item *= inner.len;
        loops.axes.pop();
    }
    // SAFETY: the axes visit each element of the two layouts once, in items of whole elements.
    unsafe {
        match transpose::across(&loops.axes, item) {
            Some(across) => transpose::copy(&loops.axes, across, dst, src, item, swap),
            None => rows::copy(&loops.axes, dst, src, item, swap),
        }
    }
}
