//! Loops over items that are contiguous on both sides: constant sizes for short items, `memcpy` for long ones.

use std::{ptr, slice};

use crate::Swap;
use crate::axes::{Axis, nest};
use crate::swap::{reversed, swap_copy};

/// Copies `N` bytes and reverses each unit of `U`.
///
/// # Safety
///
/// `src` may be read and `dst` written for `N` bytes. `U` divides `N`.
#[inline(always)]
pub(crate) unsafe fn go<const N: usize, const U: usize>(dst: *mut u8, src: *const u8) {
    // SAFETY: the caller's promise; byte arrays need no alignment.
    unsafe { dst.cast::<[u8; N]>().write(turned::<N, U>(src.cast::<[u8; N]>().read())) }
}

/// Returns `item` with each unit of `U` bytes reversed.
#[inline(always)]
pub(crate) fn turned<const N: usize, const U: usize>(mut item: [u8; N]) -> [u8; N] {
    if U == 2 && N == 8 {
        // Four units at once; the compiler would handle them separately.
        if let Some(word) = item.first_chunk_mut::<8>() {
            let units = u64::from_ne_bytes(*word);
            let even = 0x00FF_00FF_00FF_00FF;
            *word = ((units & even) << 8 | (units >> 8) & even).to_ne_bytes();
        }
    } else if U > 1 {
        for unit in item.as_chunks_mut::<U>().0 {
            *unit = reversed(*unit);
        }
    }
    item
}

/// Copies items of `item` bytes over all `axes`.
///
/// # Safety
///
/// Each item that the axes reach from `src` may be read, and each from `dst` written. No written item overlaps another
/// written item or an item of `src`. The unit of `swap` divides `item`.
pub(crate) unsafe fn copy(axes: &[Axis], dst: *mut u8, src: *const u8, item: usize, swap: Swap) {
    macro_rules! constant {
        ($($n:literal, $u:literal;)*) => {
            match (item, swap.unit()) {
                // SAFETY: the caller's promise, for each item.
                $(($n, $u) => nest(axes, dst, src, &|dst, src| unsafe { go::<$n, $u>(dst, src) }),)*
                // SAFETY: the same.
                (_, 1) => nest(axes, dst, src, &|dst, src| unsafe { ptr::copy_nonoverlapping(src, dst, item) }),
                _ => nest(axes, dst, src, &|dst, src| {
                    // SAFETY: the same; the two slices live for this one copy.
                    let (to, from) = unsafe {
                        (slice::from_raw_parts_mut(dst, item), slice::from_raw_parts(src, item))
                    };
                    swap_copy(to, from, swap);
                }),
            }
        };
    }
    constant! {
        1, 1; 2, 1; 3, 1; 4, 1; 6, 1; 8, 1; 12, 1; 16, 1; 24, 1; 32, 1; 64, 1; 128, 1;
        2, 2; 4, 2; 8, 2; 16, 2; 32, 2; 64, 2;
        4, 4; 8, 4; 16, 4; 32, 4; 64, 4;
        8, 8; 16, 8; 32, 8; 64, 8;
        16, 16; 32, 16;
    }
}
