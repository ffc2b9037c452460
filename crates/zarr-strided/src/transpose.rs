//! The kernel for two layouts whose shortest strides are in different dimensions.

use crate::Swap;
use crate::axes::{Axis, nest};
use crate::lane::{Lane, transpose};
use crate::list::List;
use crate::rows::{self, go, turned};

/// A loop shorter than this (the channels of an image) is tiled only if there is no longer one.
const SHORT: usize = 8;

/// Returns the fastest axis of the source, if it is not the last axis (the fastest of the destination) and tiles are
/// worthwhile.
pub(crate) fn across(axes: &[Axis], item: usize) -> Option<usize> {
    let inner = axes.last().filter(|inner| inner.src != 0)?;
    if item > 16 {
        return None;
    }
    let (across, axis) = axes
        .iter()
        .enumerate()
        .filter(|(_, axis)| axis.src != 0)
        .min_by_key(|(_, axis)| (axis.len < SHORT, axis.src.unsigned_abs()))?;
    (axis.src.unsigned_abs() < inner.src.unsigned_abs()).then_some(across)
}

/// Copies items of at most 16 bytes over all `axes`, with tiles over the last axis and axis number `across`.
///
/// # Safety
///
/// As for [`rows::copy`](crate::rows::copy).
pub(crate) unsafe fn copy(
    axes: &[Axis],
    across: usize,
    dst: *mut u8,
    src: *const u8,
    item: usize,
    swap: Swap,
) {
    let mut outer: List<Axis> = axes.into();
    let along = outer.pop().unwrap_or_default();
    let across = std::mem::take(&mut outer[across]);
    let outer: List<Axis> = outer.iter().copied().filter(|axis| axis.len != 0).collect();
    macro_rules! typed {
        ($($n:literal, $u:literal, $t:literal;)*) => {
            match (item, swap.unit()) {
                $(($n, $u) => nest(&outer, dst, src, &|dst, src| {
                    // SAFETY: the caller's promise, for this plane of items.
                    unsafe { plane::<$n, $u, $t>(&across, &along, dst, src) };
                }),)*
                _ => {
                    let mut all = outer.clone();
                    all.push(across);
                    all.push(along);
                    // SAFETY: the caller's promise.
                    unsafe { rows::copy(&all, dst, src, item, swap) };
                }
            }
        };
    }
    typed! {
        1, 1, 64; 2, 1, 32; 3, 1, 16; 4, 1, 16; 6, 1, 16; 8, 1, 8; 12, 1, 8; 16, 1, 4;
        2, 2, 32; 4, 2, 16; 6, 2, 16; 8, 2, 8;
        4, 4, 16; 8, 4, 8; 12, 4, 8;
        8, 8, 8; 16, 8, 4;
        16, 16, 4;
    }
}

/// Copies one plane in tiles of `T` by `T` items of `N` bytes with units of `U`. A tile is read line by line from the
/// source and written line by line to the destination, so each cache line of both is used once.
///
/// # Safety
///
/// As for [`rows::copy`], with these two axes.
unsafe fn plane<const N: usize, const U: usize, const T: usize>(
    across: &Axis,
    along: &Axis,
    dst: *mut u8,
    src: *const u8,
) {
    let mut tile = [[[0u8; N]; T]; T];
    let contiguous = across.src == N as isize && along.dst == N as isize;
    for i in (0..across.len).step_by(T) {
        for j in (0..along.len).step_by(T) {
            let dst = dst.wrapping_offset(i as isize * across.dst + j as isize * along.dst);
            let src = src.wrapping_offset(i as isize * across.src + j as isize * along.src);
            let (rows, columns) = (T.min(across.len - i), T.min(along.len - j));
            if contiguous && rows == T && columns == T {
                for (j, line) in (0..).zip(&mut tile) {
                    // SAFETY: `T` contiguous items of the source.
                    *line = unsafe { src.wrapping_offset(j * along.src).cast::<[[u8; N]; T]>().read() };
                }
                turn::<N, U, T>(&tile, |i, line| {
                    let dst = dst.wrapping_offset(i as isize * across.dst);
                    // SAFETY: `T` contiguous items of the destination.
                    unsafe { dst.cast::<[[u8; N]; T]>().write(line) };
                });
            } else {
                let axes = [Axis { len: rows, ..*across }, Axis { len: columns, ..*along }];
                // SAFETY: the caller's promise, for each item of the tile.
                nest(&axes, dst, src, &|dst, src| unsafe { go::<N, U>(dst, src) });
            }
        }
    }
}

/// Passes each column of a tile to `put`, with its index.
#[inline(always)]
fn turn<const N: usize, const U: usize, const T: usize>(
    tile: &[[[u8; N]; T]; T],
    put: impl Fn(usize, [[u8; N]; T]),
) {
    let turned = |item| turned::<N, U>(item);
    match N {
        1 | 2 | 4 => {
            // Squares with 16 bytes per side, transposed in registers.
            let side = 16 / N;
            for i in (0..T).step_by(side) {
                let mut lines = [[[0u8; N]; T]; 16];
                for j in (0..T).step_by(side) {
                    let mut square: [Lane; 16] = Default::default();
                    for (lane, line) in square.iter_mut().zip(&tile[j..j + side]) {
                        lane.copy_from_slice(line[i..i + side].as_flattened());
                    }
                    transpose::<N>(&mut square[..side]);
                    for (lane, line) in square.iter().zip(&mut lines[..side]) {
                        line[j..j + side].as_flattened_mut().copy_from_slice(lane);
                    }
                }
                for (k, line) in lines.into_iter().take(side).enumerate() {
                    put(i + k, line.map(turned));
                }
            }
        }
        _ => {
            for i in 0..T {
                put(i, tile.each_ref().map(|line| turned(line[i])));
            }
        }
    }
}
