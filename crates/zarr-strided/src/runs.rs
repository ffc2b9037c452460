//! Two views of one shape, walked side by side in runs of elements that are contiguous in both.

use std::iter::FusedIterator;
use std::marker::PhantomData;
use std::slice;

use crate::axes::{Axis, collapse};
use crate::layout::to_usize;
use crate::list::List;
use crate::{Destination, Source, StridedError};

/// The runs of a destination and a source, see [`Destination::runs`]. Each has the same number of elements.
pub struct Runs<'a> {
    dst: *mut u8,
    src: *const u8,
    /// The loops around the runs, and the position of the next run in each.
    axes: List<Axis>,
    at: List<usize>,
    /// The bytes of a run.
    dst_len: usize,
    src_len: usize,
    /// The number of runs that are left. Each is inside memory that is borrowed for `'a`, and no two runs of the
    /// destination overlap.
    left: usize,
    memory: PhantomData<(&'a mut [u8], &'a [u8])>,
}

// SAFETY: it represents a mutable borrow of bytes and a shared one.
unsafe impl Send for Runs<'_> {}
// SAFETY: a shared reference only returns numbers.
unsafe impl Sync for Runs<'_> {}

impl<'a> Destination<'a> {
    /// Returns the elements of this view together with those of `src`, which has the same shape: as runs that are
    /// contiguous in both views. Elements may have different sizes. The order of runs is not specified.
    ///
    /// ```
    /// use zarr_strided::{Destination, Source};
    ///
    /// let mut image = [0_u16; 12];
    /// let right = Destination::of(&mut image, &[3, 4])?.sub(&[0, 2], &[3, 2])?;
    /// for (wide, narrow) in right.runs(&Source::of(&[1_u8, 2, 3, 4, 5, 6], &[3, 2])?)? {
    ///     for (wide, narrow) in wide.as_chunks_mut().0.iter_mut().zip(narrow) {
    ///         *wide = u16::from(*narrow).to_ne_bytes();
    ///     }
    /// }
    /// assert_eq!(image, [0, 0, 1, 2, 0, 0, 3, 4, 0, 0, 5, 6]);
    /// # Ok::<(), zarr_strided::StridedError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the shapes differ.
    pub fn runs(self, src: &Source<'a>) -> Result<Runs<'a>, StridedError> {
        if self.shape() != src.shape() {
            return Err(StridedError::Shape { expected: self.shape().into(), got: src.shape().into() });
        }
        let count = to_usize(self.len());
        let (first, layout) = self.into_parts();
        let (dst_size, src_size) = (layout.size, src.size());
        if layout.is_empty() || src.layout().is_empty() {
            return Ok(Runs::none());
        }
        let mut loops = collapse(&layout.shape, &layout.strides, &src.layout().strides);
        let mut run = 1;
        if let Some(&inner) = loops.axes.last()
            && inner.dst == dst_size as isize
            && inner.src == src_size as isize
        {
            run = inner.len;
            loops.axes.pop();
        }
        Ok(Runs {
            dst: first.wrapping_offset(loops.dst),
            src: src.first().wrapping_offset(loops.src),
            at: List::filled(0, loops.axes.len()),
            axes: loops.axes,
            dst_len: run * dst_size,
            src_len: run * src_size,
            left: count / run,
            memory: PhantomData,
        })
    }
}

impl Runs<'_> {
    fn none() -> Self {
        Self {
            dst: std::ptr::dangling_mut(),
            src: std::ptr::dangling(),
            axes: List::new(),
            at: List::new(),
            dst_len: 0,
            src_len: 0,
            left: 0,
            memory: PhantomData,
        }
    }

    /// The bytes of each run of the destination.
    pub fn run_bytes(&self) -> usize {
        self.dst_len
    }

    /// Moves to the next run.
    fn advance(&mut self) {
        for (axis, at) in self.axes.iter().zip(self.at.iter_mut()).rev() {
            *at += 1;
            if *at < axis.len {
                self.dst = self.dst.wrapping_offset(axis.dst);
                self.src = self.src.wrapping_offset(axis.src);
                return;
            }
            let back = 1 - axis.len as isize;
            self.dst = self.dst.wrapping_offset(back * axis.dst);
            self.src = self.src.wrapping_offset(back * axis.src);
            *at = 0;
        }
    }
}

impl<'a> Iterator for Runs<'a> {
    type Item = (&'a mut [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        // SAFETY: the loops reach each run of the two layouts once. Both layouts are inside their borrowed memory, the
        // runs of the destination do not overlap, and its memory is only accessed through this iterator.
        let run = unsafe {
            (slice::from_raw_parts_mut(self.dst, self.dst_len), slice::from_raw_parts(self.src, self.src_len))
        };
        self.advance();
        Some(run)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Runs<'_> {}
impl FusedIterator for Runs<'_> {}

impl std::fmt::Debug for Runs<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runs").field("left", &self.left).field("run_bytes", &self.dst_len).finish()
    }
}
