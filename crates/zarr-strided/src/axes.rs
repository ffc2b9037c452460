//! The loops of a copy or fill: sorted, merged and run.

use crate::layout::to_usize;
use crate::list::List;

/// One loop: the number of iterations, and the byte strides of both sides.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Axis {
    pub(crate) len: usize,
    pub(crate) dst: isize,
    pub(crate) src: isize,
}

/// The loops over a shape without empty dimensions, and the byte offsets at which they begin.
pub(crate) struct Loops {
    /// The loops in descending order of destination stride. Destination strides are not negative.
    pub(crate) axes: List<Axis>,
    pub(crate) dst: isize,
    pub(crate) src: isize,
}

/// Sorts the dimensions by destination stride, and merges two that are contiguous on both sides.
pub(crate) fn collapse(shape: &[u64], dst: &[isize], src: &[isize]) -> Loops {
    let mut loops = Loops { axes: List::new(), dst: 0, src: 0 };
    let mut sorted: List<Axis> = List::new();
    for ((&n, &dst), &src) in shape.iter().zip(dst).zip(src) {
        if n == 1 {
            continue;
        }
        let mut axis = Axis { len: to_usize(n), dst, src };
        if axis.dst < 0 {
            let last = axis.len as isize - 1;
            loops.dst += last * axis.dst;
            loops.src += last * axis.src;
            (axis.dst, axis.src) = (-axis.dst, -axis.src);
        }
        sorted.push(axis);
        let mut place = sorted.len() - 1;
        while place > 0 && sorted[place - 1].dst < axis.dst {
            sorted.swap(place - 1, place);
            place -= 1;
        }
    }
    for &axis in sorted.iter() {
        let n = axis.len as isize;
        match loops.axes.last_mut() {
            Some(outer) if outer.dst == axis.dst.wrapping_mul(n) && outer.src == axis.src.wrapping_mul(n) => {
                *outer = Axis { len: outer.len * axis.len, ..axis };
            }
            _ => loops.axes.push(axis),
        }
    }
    loops
}

/// Calls `visit` at every position of `axes`, the last axis fastest. The last three loops are plain nested loops.
#[inline]
pub(crate) fn nest(axes: &[Axis], dst: *mut u8, src: *const u8, visit: &impl Fn(*mut u8, *const u8)) {
    match axes {
        [] => visit(dst, src),
        [a] => line(a, dst, src, visit),
        [a, b] => line(a, dst, src, &|dst, src| line(b, dst, src, visit)),
        [a, b, c] => {
            line(a, dst, src, &|dst, src| line(b, dst, src, &|dst, src| line(c, dst, src, visit)));
        }
        [a, inner @ ..] => {
            for i in 0..a.len as isize {
                nest(inner, dst.wrapping_offset(i * a.dst), src.wrapping_offset(i * a.src), visit);
            }
        }
    }
}

#[inline(always)]
fn line(axis: &Axis, dst: *mut u8, src: *const u8, visit: &impl Fn(*mut u8, *const u8)) {
    for i in 0..axis.len as isize {
        visit(dst.wrapping_offset(i * axis.dst), src.wrapping_offset(i * axis.src));
    }
}
