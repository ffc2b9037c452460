//! The kernel for two layouts whose shortest strides lie along different dimensions.

use crate::Swap;
use crate::axes::{Axis, nest};
use crate::lane::{Lane, transpose};
use crate::list::List;
use crate::rows::{self, go, turned};

/// A loop shorter than this (the channels of an image) is tiled only if there is no other.
const SHORT: usize = 8;

/// The axis that is fastest in the source, if that is not the last one (fastest in the destination) and it pays to
/// walk both in tiles.
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

/// Copies items of at most 16 bytes over all of `axes`: the last one and the one called `across` in tiles.
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
                    // SAFETY: the caller's word, for this plane of items.
                    unsafe { plane::<$n, $u, $t>(&across, &along, dst, src) };
                }),)*
                _ => {
                    let mut all = outer.clone();
                    all.push(across);
                    all.push(along);
                    // SAFETY: the caller's word.
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

/// One plane, in tiles of `T` by `T` items of `N` bytes with units of `U`. A tile is gathered line by line of the
/// source and scattered line by line of the destination, so that each cache line of both is touched once.
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
                    // SAFETY: `T` items of the source that lie side by side.
                    *line = unsafe { src.wrapping_offset(j * along.src).cast::<[[u8; N]; T]>().read() };
                }
                turn::<N, U, T>(&tile, |i, line| {
                    let dst = dst.wrapping_offset(i as isize * across.dst);
                    // SAFETY: `T` items of the destination that lie side by side.
                    unsafe { dst.cast::<[[u8; N]; T]>().write(line) };
                });
            } else {
                let axes = [Axis { len: rows, ..*across }, Axis { len: columns, ..*along }];
                // SAFETY: the caller's word, for each item of the tile.
                nest(&axes, dst, src, &|dst, src| unsafe { go::<N, U>(dst, src) });
            }
        }
    }
}

/// Gives the columns of a tile to `put`, each with its number.
#[inline(always)]
fn turn<const N: usize, const U: usize, const T: usize>(
    tile: &[[[u8; N]; T]; T],
    put: impl Fn(usize, [[u8; N]; T]),
) {
    let turned = |item| turned::<N, U>(item);
    match N {
        1 | 2 | 4 => {
            // Squares of 16 bytes a side, turned in registers.
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
