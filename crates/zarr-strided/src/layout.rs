//! The layout of a view: the positions of its elements relative to the first, shared by both kinds of views.

use std::fmt;

use crate::dims::{Dims, product};
use crate::list::List;
use crate::{StridedError, Swap};

/// Shape, strides in bytes and element size.
///
/// A new view checks once that every element is inside its memory; layouts derived from it stay inside. An empty view
/// (no elements, or elements of no bytes) accesses no memory, so its offsets may be arbitrary. That is why offsets wrap
/// and are not checked again.
#[derive(Clone)]
pub(crate) struct Layout {
    pub(crate) shape: Dims,
    pub(crate) strides: List<isize>,
    pub(crate) size: usize,
}

/// Returns a length, count or offset in memory: `n`, or `usize::MAX` if this machine cannot address it.
#[inline(always)]
pub fn to_usize(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

impl Layout {
    /// Returns the layout of C order without gaps.
    pub(crate) fn dense(shape: &[u64], size: usize) -> Result<Layout, StridedError> {
        byte_len(shape, size)?;
        let mut strides = List::filled(0, shape.len());
        let mut stride = size as isize;
        for (dim, &n) in shape.iter().enumerate().rev() {
            strides[dim] = stride;
            stride = stride.wrapping_mul(to_usize(n) as isize);
        }
        Ok(Layout { shape: shape.into(), strides, size })
    }

    /// Returns the layout of `n` elements in one dimension, which exist in memory.
    pub(crate) fn line(n: usize, size: usize) -> Layout {
        Layout { shape: [n as u64].into(), strides: List::filled(size as isize, 1), size }
    }

    /// Returns the layout with strides in elements, whose first element is `values[offset]`.
    pub(crate) fn of_elements<T>(
        values: &[T],
        offset: usize,
        shape: &[u64],
        strides: &[i64],
    ) -> Result<Layout, StridedError> {
        let size = size_of::<T>();
        // A stride that does not fit is far outside of any memory.
        let bytes: Vec<i64> = strides.iter().map(|stride| stride.saturating_mul(size as i64)).collect();
        let layout = Layout::strided(size_of_val(values), offset.saturating_mul(size), shape, &bytes, size)?;
        if size == 0 && layout.len() > values.len() as u64 {
            // Elements without bytes are inside of any memory, but there must be as many.
            let (shape, strides) = (shape.into(), strides.into());
            return Err(StridedError::OutOfBuffer { shape, strides, offset, got: 0 });
        }
        Ok(layout)
    }

    /// Returns the layout of an array of the crate `ndarray`, whose strides are in elements.
    #[cfg(feature = "ndarray")]
    pub(crate) fn of_ndarray(shape: &[usize], strides: &[isize], size: usize) -> Layout {
        Layout {
            shape: shape.iter().map(|&n| n as u64).collect(),
            // Wraps only if the stride is never used.
            strides: strides.iter().map(|stride| stride.wrapping_mul(size as isize)).collect(),
            size,
        }
    }

    /// Returns the layout with strides in bytes, whose first element is at byte `offset` of a buffer of `buffer` bytes.
    pub(crate) fn strided(
        buffer: usize,
        offset: usize,
        shape: &[u64],
        strides: &[i64],
        size: usize,
    ) -> Result<Layout, StridedError> {
        same_rank("strides", shape.len(), strides.len())?;
        byte_len(shape, size)?;
        let outside = || StridedError::OutOfBuffer {
            shape: shape.into(),
            strides: strides.into(),
            offset,
            got: buffer,
        };
        let empty = size == 0 || shape.contains(&0);
        // The bytes from the start of the first element to the starts of the outermost elements, on both sides.
        let (mut below, mut above) = (0isize, 0isize);
        let mut list = List::filled(0, shape.len());
        for (dim, (&n, &stride)) in shape.iter().zip(strides).enumerate() {
            if n < 2 || empty {
                // Never used, so it need not be representable.
                continue;
            }
            let stride = isize::try_from(stride).map_err(|_| outside())?;
            let reach =
                isize::try_from(n - 1).ok().and_then(|n| stride.checked_mul(n)).ok_or_else(outside)?;
            let side = if reach < 0 { &mut below } else { &mut above };
            *side = side.checked_add(reach).ok_or_else(outside)?;
            list[dim] = stride;
        }
        let begins = offset.checked_sub(below.unsigned_abs());
        let ends = offset.checked_add(above.unsigned_abs()).and_then(|last| last.checked_add(size));
        if !empty && (begins.is_none() || ends.is_none_or(|end| end > buffer)) {
            return Err(outside());
        }
        Ok(Layout { shape: shape.into(), strides: list, size })
    }

    /// The number of elements. It fits by construction.
    pub(crate) fn len(&self) -> u64 {
        product(&self.shape).unwrap_or(u64::MAX)
    }

    /// The bytes of all elements. They fit by construction.
    pub(crate) fn byte_len(&self) -> usize {
        to_usize(self.len()) * self.size
    }

    /// Whether there are no bytes to move.
    pub(crate) fn is_empty(&self) -> bool {
        self.size == 0 || self.shape.contains(&0)
    }

    /// Whether the bytes are in C order without gaps.
    pub(crate) fn is_dense(&self) -> bool {
        let mut expected = self.size as isize;
        for (&n, &stride) in self.shape.iter().zip(self.strides.iter()).rev() {
            if n > 1 {
                if stride != expected {
                    return self.is_empty();
                }
                expected = expected.wrapping_mul(to_usize(n) as isize);
            }
        }
        true
    }

    /// Whether the elements certainly do not overlap: each stride is at least the span of all dimensions with shorter
    /// strides.
    ///
    /// Returns false for unusual layouts that interleave without overlap, like two combs.
    pub(crate) fn is_apart(&self) -> bool {
        if self.is_empty() {
            return true;
        }
        let mut axes: List<(usize, usize)> = self
            .shape
            .iter()
            .zip(self.strides.iter())
            .filter(|&(&n, _)| n > 1)
            .map(|(&n, stride)| (stride.unsigned_abs(), to_usize(n)))
            .collect();
        axes.sort_unstable();
        let mut span = self.size;
        for &(stride, n) in axes.iter() {
            if stride < span {
                return false;
            }
            span += stride * (n - 1);
        }
        true
    }

    /// Restricts the layout to the box of `shape` at `at`. Returns the offset of its first element.
    pub(crate) fn narrow(&mut self, at: &[u64], shape: &[u64]) -> Result<isize, StridedError> {
        same_rank("position of a box", self.shape.len(), at.len())?;
        same_rank("shape of a box", self.shape.len(), shape.len())?;
        let mut fits = true;
        for ((&at, &n), &whole) in at.iter().zip(shape).zip(&self.shape) {
            fits &= at.checked_add(n).is_some_and(|end| end <= whole);
        }
        if !fits {
            return Err(StridedError::OutOfShape {
                at: at.into(),
                shape: shape.into(),
                whole: (*self.shape).into(),
            });
        }
        self.shape.copy_from_slice(shape);
        Ok(self.offset(at))
    }

    /// Returns the byte offset from the first element to the element at `at`.
    pub(crate) fn offset(&self, at: &[u64]) -> isize {
        at.iter()
            .zip(self.strides.iter())
            .fold(0, |sum: isize, (&at, stride)| sum.wrapping_add(stride.wrapping_mul(to_usize(at) as isize)))
    }

    /// Returns the byte offsets of all elements from the first, in C order.
    pub(crate) fn offsets(&self) -> impl Iterator<Item = isize> + '_ {
        (0..self.len()).map(|number| {
            let mut rest = number;
            let dims = self.shape.iter().zip(self.strides.iter()).rev();
            dims.fold(0, |sum: isize, (&n, stride)| {
                let at = rest % n;
                rest /= n;
                sum.wrapping_add(stride.wrapping_mul(to_usize(at) as isize))
            })
        })
    }

    /// Writes the shape, the strides and the element size of a view for debugging.
    pub(crate) fn describe(&self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(name)
            .field("shape", &self.shape)
            .field("strides", &&self.strides[..])
            .field("size", &self.size)
            .finish()
    }

    pub(crate) fn step(&mut self, steps: &[u64]) -> Result<(), StridedError> {
        same_rank("list of steps", self.shape.len(), steps.len())?;
        if let Some(dim) = steps.iter().position(|&step| step == 0) {
            return Err(StridedError::Step { dim });
        }
        for (dim, &step) in steps.iter().enumerate() {
            self.shape[dim] = self.shape[dim].div_ceil(step);
            // Wraps only if the step leaves no second element.
            self.strides[dim] = self.strides[dim].wrapping_mul(to_usize(step) as isize);
        }
        Ok(())
    }

    pub(crate) fn permute(&mut self, order: &[u64]) -> Result<(), StridedError> {
        let rank = self.shape.len();
        same_rank("order of dimensions", rank, order.len())?;
        let mut named: List<bool> = List::filled(false, rank);
        for &dim in order {
            match usize::try_from(dim).ok().and_then(|dim| named.get_mut(dim)) {
                Some(seen) if !*seen => *seen = true,
                _ => return Err(StridedError::Order { order: order.into(), rank }),
            }
        }
        let strides = order.iter().map(|&dim| self.strides[to_usize(dim)]).collect();
        self.shape = order.iter().map(|&dim| self.shape[to_usize(dim)]).collect();
        self.strides = strides;
        Ok(())
    }

    pub(crate) fn squeeze(&mut self, keep: &[bool]) -> Result<(), StridedError> {
        same_rank("list of dimensions to keep", self.shape.len(), keep.len())?;
        let (mut shape, mut strides) = (Dims::new(), List::new());
        for (dim, (&n, &keep)) in self.shape.iter().zip(keep).enumerate() {
            if keep {
                shape.push(n);
                strides.push(self.strides[dim]);
            } else if n != 1 {
                return Err(StridedError::Squeeze { dim, got: n });
            }
        }
        (self.shape, self.strides) = (shape, strides);
        Ok(())
    }

    /// Gives the elements another shape, in C order: any shape if they are dense, otherwise one that differs only in
    /// dimensions of length 1.
    pub(crate) fn reshape(&mut self, shape: &[u64]) -> Result<(), StridedError> {
        if *shape == *self.shape {
            return Ok(());
        }
        let refused = || StridedError::Shape { expected: shape.into(), got: (*self.shape).into() };
        if product(shape) != Some(self.len()) {
            return Err(refused());
        }
        if self.is_empty() || self.is_dense() {
            *self = Layout::dense(shape, self.size)?;
            return Ok(());
        }
        let long = |shape: &[u64]| shape.iter().copied().filter(|&n| n != 1).collect::<Dims>();
        if long(shape) != long(&self.shape) {
            return Err(refused());
        }
        let axes = self.shape.iter().zip(self.strides.iter());
        let mut strides = axes.filter(|&(&n, _)| n != 1).map(|(_, &stride)| stride);
        let strides = shape.iter().map(|&n| if n == 1 { Some(0) } else { strides.next() });
        self.strides = strides.map(Option::unwrap_or_default).collect();
        self.shape = shape.into();
        Ok(())
    }

    /// Checks that the element size is a multiple of the unit of `swap`.
    pub(crate) fn check_swap(&self, swap: Swap) -> Result<(), StridedError> {
        match self.size.is_multiple_of(swap.unit()) {
            true => Ok(()),
            false => Err(StridedError::Unit { size: self.size, unit: swap.unit() }),
        }
    }

    /// Checks that a buffer of `got` bytes has exactly the length of all elements.
    pub(crate) fn check_len(&self, got: usize) -> Result<(), StridedError> {
        match self.byte_len() {
            expected if expected == got => Ok(()),
            expected => {
                Err(StridedError::Length { shape: (*self.shape).into(), size: self.size, expected, got })
            }
        }
    }
}

fn same_rank(what: &'static str, expected: usize, got: usize) -> Result<(), StridedError> {
    if expected == got { Ok(()) } else { Err(StridedError::Rank { what, expected, got }) }
}

/// Returns the bytes of all elements of an array of `shape` with elements of `size` bytes.
///
/// The bytes and the number of elements are at most `isize::MAX`, as in every allocation.
///
/// # Errors
/// [`StridedError::TooLarge`] if one of them is larger.
pub fn byte_len(shape: &[u64], size: usize) -> Result<usize, StridedError> {
    product(shape)
        .and_then(|len| usize::try_from(len).ok())
        .filter(|&len| isize::try_from(len).is_ok())
        .and_then(|len| len.checked_mul(size))
        .filter(|&bytes| isize::try_from(bytes).is_ok())
        .ok_or_else(|| StridedError::TooLarge { shape: shape.into(), size })
}
