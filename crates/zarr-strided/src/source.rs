//! The read-only view.

use std::fmt;
use std::marker::PhantomData;
use std::slice;

use crate::layout::Layout;
use crate::{Plain, StridedError, Swap, bytes_of, copy, fill, places};

/// A read-only view of elements: a box with any strides in borrowed bytes.
///
/// Strides may be negative or 0, so a flipped or repeated array is a view, too. A clone copies only a few numbers.
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
    /// Arbitrary if there are no elements.
    first: *const u8,
    /// Every element is in memory that is borrowed for `'a`.
    layout: Layout,
    memory: PhantomData<&'a [u8]>,
}

// SAFETY: it represents a shared borrow of bytes.
unsafe impl Send for Source<'_> {}
// SAFETY: as above.
unsafe impl Sync for Source<'_> {}

impl<'a> Source<'a> {
    /// Returns a view of all of `bytes`: elements of `size` bytes in C order.
    ///
    /// # Errors
    ///
    /// If the length of `bytes` does not match the shape.
    pub fn dense(bytes: &'a [u8], shape: &[u64], size: usize) -> Result<Self, StridedError> {
        let layout = Layout::dense(shape, size)?;
        layout.check_len(bytes.len())?;
        // SAFETY: the layout has the length of the borrowed bytes.
        Ok(unsafe { Source::new(bytes.as_ptr(), layout) })
    }

    /// Returns a view whose first element is at byte `offset`, with elements `strides` bytes apart. Strides may be
    /// negative or 0.
    ///
    /// # Errors
    ///
    /// If an element is not inside `bytes`, or `strides` and `shape` differ in length.
    pub fn strided(
        bytes: &'a [u8],
        offset: usize,
        shape: &[u64],
        strides: &[i64],
        size: usize,
    ) -> Result<Self, StridedError> {
        let layout = Layout::strided(bytes.len(), offset, shape, strides, size)?;
        // SAFETY: the layout was checked: it is inside the borrowed bytes.
        Ok(unsafe { Source::new(bytes.as_ptr().wrapping_add(offset), layout) })
    }

    /// Returns a view of all of `values`, in C order.
    ///
    /// # Errors
    ///
    /// If the number of values does not match the shape.
    pub fn of<T: Plain>(values: &'a [T], shape: &[u64]) -> Result<Self, StridedError> {
        Source::dense(bytes_of(values), shape, size_of::<T>())
    }

    /// The number of elements per dimension.
    pub fn shape(&self) -> &[u64] {
        &self.layout.shape
    }

    /// The bytes of an element.
    pub fn size(&self) -> usize {
        self.layout.size
    }

    /// The number of elements.
    pub fn len(&self) -> u64 {
        self.layout.len()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the box of `shape` that begins at `at`.
    ///
    /// # Errors
    ///
    /// If the box is not inside this view.
    pub fn sub(&self, at: &[u64], shape: &[u64]) -> Result<Self, StridedError> {
        let mut sub = self.clone();
        sub.first = sub.first.wrapping_offset(sub.layout.narrow(at, shape)?);
        Ok(sub)
    }

    /// Returns every `steps[i]`-th element of dimension `i`, beginning with the first.
    ///
    /// # Errors
    ///
    /// If a step is 0, or the number of steps is not the rank.
    pub fn step(&self, steps: &[u64]) -> Result<Self, StridedError> {
        let mut stepped = self.clone();
        stepped.layout.step(steps)?;
        Ok(stepped)
    }

    /// Reorders dimensions: dimension `i` of the result is dimension `order[i]` of this view.
    ///
    /// # Errors
    ///
    /// If `order` does not contain each dimension once.
    pub fn permute(&self, order: &[u64]) -> Result<Self, StridedError> {
        let mut permuted = self.clone();
        permuted.layout.permute(order)?;
        Ok(permuted)
    }

    /// Drops the dimensions whose item in `keep` is false. Each must have length 1.
    ///
    /// # Errors
    ///
    /// If a dropped dimension has another length, or the length of `keep` is not the rank.
    pub fn squeeze(&self, keep: &[bool]) -> Result<Self, StridedError> {
        let mut squeezed = self.clone();
        squeezed.layout.squeeze(keep)?;
        Ok(squeezed)
    }

    /// Returns the elements in C order as a view of another shape, without a copy: any shape with as many elements if
    /// they have no gaps, otherwise only one that adds or drops dimensions of length 1.
    ///
    /// # Errors
    ///
    /// If the numbers of elements differ, or the elements cannot be viewed so.
    pub fn reshape(&self, shape: &[u64]) -> Result<Self, StridedError> {
        let mut reshaped = self.clone();
        reshaped.layout.reshape(shape)?;
        Ok(reshaped)
    }

    /// Returns the bytes if they are in C order without gaps.
    pub fn as_dense(&self) -> Option<&'a [u8]> {
        match self.layout.byte_len() {
            0 => Some(&[]),
            // SAFETY: the elements are exactly these bytes, which are borrowed for `'a`.
            len => self.layout.is_dense().then(|| unsafe { slice::from_raw_parts(self.first, len) }),
        }
    }

    /// Appends the elements to `out`, in C order.
    ///
    /// # Errors
    ///
    /// If there is not enough memory, or the element size is not a multiple of the unit of `swap`.
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
        // SAFETY: the room has at least `len` bytes, as many as the dense layout spans; it does not overlap the
        // borrowed source.
        unsafe { copy::copy(room.as_mut_ptr().cast(), &dense, self.first, &self.layout, swap) };
        // SAFETY: the copy has written all `len` bytes.
        unsafe { out.set_len(out.len() + len) };
        Ok(())
    }

    /// Copies the elements to any places of `bytes`: element `[i, j, …]` to `places[0][i] + places[1][j] + …`, counted
    /// in elements from the start of `bytes`. Where places are equal, the last element in C order stays.
    ///
    /// ```
    /// use zarr_strided::Source;
    ///
    /// let mut table = [0_u8; 8]; // two rows of four
    /// Source::of(&[1_u8, 2, 3, 4], &[2, 2])?.scatter(&mut table, &[&[4, 0], &[3, 1]])?;
    /// assert_eq!(table, [0, 4, 0, 3, 0, 2, 0, 1]);
    /// # Ok::<(), zarr_strided::StridedError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If there is not one list per dimension with its length, or a place is outside of `bytes`.
    pub fn scatter(&self, bytes: &mut [u8], places: &[&[u64]]) -> Result<(), StridedError> {
        places::check(&self.layout, places, bytes.len())?;
        // SAFETY: the places were checked. Our elements are inside borrowed memory, so they are not in `bytes`, which
        // is borrowed mutably.
        unsafe { places::scatter(self.first, &self.layout, places, bytes.as_mut_ptr()) };
        Ok(())
    }

    /// Whether every element has the bits of `element`. Stops at the first difference.
    ///
    /// Returns false if `element` has another size. Otherwise returns true for an empty view.
    pub fn is_filled_with(&self, element: &[u8]) -> bool {
        element.len() == self.size()
            // SAFETY: every element of the layout is in borrowed memory and has the size of `element`.
            && (self.layout.is_empty() || unsafe { fill::is_filled(self.first, &self.layout, element) })
    }

    /// Builds a view from a pointer to its first element.
    ///
    /// # Safety
    ///
    /// Every element of the layout is in memory that may be read and is not written during `'a`.
    pub(crate) unsafe fn new(first: *const u8, layout: Layout) -> Self {
        Source { first, layout, memory: PhantomData }
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns a pointer to the first element; arbitrary if there are no elements.
    pub(crate) fn first(&self) -> *const u8 {
        self.first
    }
}

impl fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.layout.describe("Source", f)
    }
}
