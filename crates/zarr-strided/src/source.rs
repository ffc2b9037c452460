//! The read-only view.

use std::fmt;

use crate::layout::Layout;
use crate::{Destination, Plain, StridedError, Swap, bytes_of, copy, fill};

/// Elements to be read: a box of any strides over borrowed bytes.
///
/// Strides may be negative or 0, so that a flipped or repeated array is a view too. A clone is a copy of some numbers.
///
/// ```
/// use zarr_strided::{Source, Swap};
///
/// let values: Vec<u16> = (0..12).collect();
/// let view = Source::of(&values, &[3, 4])?.sub(&[1, 0], &[2, 2])?.permute(&[1, 0])?;
/// assert_eq!(view.shape(), [2, 2]);
///
/// let mut out = Vec::new();
/// view.append_to(&mut out, Swap::NONE)?;
/// assert_eq!(out, zarr_strided::bytes_of(&[4u16, 8, 5, 9]));
/// # Ok::<(), zarr_strided::StridedError>(())
/// ```
#[derive(Clone)]
pub struct Source<'a> {
    bytes: &'a [u8],
    /// Where the first element begins; anything if there are no elements.
    offset: usize,
    layout: Layout,
}

impl<'a> Source<'a> {
    /// All of `bytes`: elements of `size` bytes in C order.
    ///
    /// # Errors
    ///
    /// If `bytes` is not exactly as long as the shape asks for.
    pub fn dense(bytes: &'a [u8], shape: &[u64], size: usize) -> Result<Self, StridedError> {
        let layout = Layout::dense(shape, size)?;
        layout.check_len(bytes.len())?;
        Ok(Source { bytes, offset: 0, layout })
    }

    /// The element at byte `offset` and those `strides` bytes from each other. Strides may be negative or 0.
    ///
    /// # Errors
    ///
    /// If an element is not inside of `bytes`, or `strides` is not as long as `shape`.
    pub fn strided(
        bytes: &'a [u8],
        offset: usize,
        shape: &[u64],
        strides: &[i64],
        size: usize,
    ) -> Result<Self, StridedError> {
        let layout = Layout::strided(bytes.len(), offset, shape, strides, size)?;
        Ok(Source { bytes, offset, layout })
    }

    /// All of `values`, in C order.
    ///
    /// # Errors
    ///
    /// If `values` are not exactly as many as the shape asks for.
    pub fn of<T: Plain>(values: &'a [T], shape: &[u64]) -> Result<Self, StridedError> {
        Source::dense(bytes_of(values), shape, size_of::<T>())
    }

    /// Elements per dimension.
    pub fn shape(&self) -> &[u64] {
        &self.layout.shape
    }

    /// Bytes of an element.
    pub fn size(&self) -> usize {
        self.layout.size
    }

    /// Elements.
    pub fn len(&self) -> u64 {
        self.layout.len()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The box of `shape` that begins at `at`.
    ///
    /// # Errors
    ///
    /// If the box is not inside of this view.
    pub fn sub(&self, at: &[u64], shape: &[u64]) -> Result<Self, StridedError> {
        let mut sub = self.clone();
        sub.offset = sub.offset.wrapping_add_signed(sub.layout.narrow(at, shape)?);
        Ok(sub)
    }

    /// Every `steps[i]`-th element of dimension `i`, beginning with the first.
    ///
    /// # Errors
    ///
    /// If a step is 0, or there is not one for each dimension.
    pub fn step(&self, steps: &[u64]) -> Result<Self, StridedError> {
        let mut stepped = self.clone();
        stepped.layout.step(steps)?;
        Ok(stepped)
    }

    /// Dimension `i` of the result is dimension `order[i]` of this view.
    ///
    /// # Errors
    ///
    /// If `order` does not name each dimension once.
    pub fn permute(&self, order: &[u64]) -> Result<Self, StridedError> {
        let mut permuted = self.clone();
        permuted.layout.permute(order)?;
        Ok(permuted)
    }

    /// Drops the dimensions that `keep` marks false; each must be of length 1.
    ///
    /// # Errors
    ///
    /// If a dropped dimension is longer or empty, or `keep` is not as long as the shape.
    pub fn squeeze(&self, keep: &[bool]) -> Result<Self, StridedError> {
        let mut squeezed = self.clone();
        squeezed.layout.squeeze(keep)?;
        Ok(squeezed)
    }

    /// The bytes, if they lie in C order without gaps.
    pub fn as_dense(&self) -> Option<&'a [u8]> {
        match self.layout.byte_len() {
            0 => Some(&[]),
            len => self.layout.is_dense().then(|| &self.bytes[self.offset..][..len]),
        }
    }

    /// Appends the elements in C order.
    ///
    /// # Errors
    ///
    /// If there is no memory for them, or elements are not whole units of `swap`.
    pub fn append_to(&self, out: &mut Vec<u8>, swap: Swap) -> Result<(), StridedError> {
        self.layout.check_swap(swap)?;
        let len = self.layout.byte_len();
        out.try_reserve(len).map_err(|_| StridedError::Memory { bytes: len })?;
        if let (Some(dense), true) = (self.as_dense(), swap.is_none()) {
            out.extend_from_slice(dense);
            return Ok(());
        }
        let dense = Layout::dense(self.shape(), self.size())?;
        let room = out.spare_capacity_mut();
        // SAFETY: the room is at least `len` bytes, as many as the dense layout spans; the vector is not ours to read.
        unsafe { copy::copy(room.as_mut_ptr().cast(), &dense, self.first(), &self.layout, swap) };
        // SAFETY: the copy has just written each of the `len` bytes.
        unsafe { out.set_len(out.len() + len) };
        Ok(())
    }

    /// Writes the elements in C order.
    ///
    /// # Errors
    ///
    /// If `out` is not exactly as long, or elements are not whole units of `swap`.
    pub fn write_to(&self, out: &mut [u8], swap: Swap) -> Result<(), StridedError> {
        Destination::dense(out, self.shape(), self.size())?.put(self.clone(), swap)
    }

    /// Whether every element has the bits of `element`. Stops at the first that has not.
    ///
    /// An `element` of another size is in no view; an empty view is filled with any element of its size.
    pub fn is_filled_with(&self, element: &[u8]) -> bool {
        element.len() == self.size()
            && (self.layout.is_empty() || fill::is_filled(self.bytes, self.offset, &self.layout, element))
    }

    /// The layout was checked against bytes of this length, beginning with the first of them.
    pub(crate) fn from_parts(bytes: &'a [u8], layout: Layout) -> Self {
        Source { bytes, offset: 0, layout }
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The first element; dangling if there are none.
    pub(crate) fn first(&self) -> *const u8 {
        self.bytes.as_ptr().wrapping_add(self.offset)
    }
}

impl fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source")
            .field("shape", &self.layout.shape)
            .field("strides", &&self.layout.strides[..])
            .field("size", &self.layout.size)
            .finish()
    }
}
