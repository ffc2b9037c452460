//! The writable view.

use std::fmt;
use std::marker::PhantomData;
use std::slice;

use crate::layout::Layout;
use crate::{Plain, Source, StridedError, Swap, bytes_of_mut, copy, fill, places};

/// A writable view of elements: a box with any strides in memory that only this view accesses.
///
/// It is neither `Copy` nor `Clone`, because threads may hold different parts of one memory. To get a part use
/// [`sub`](Destination::sub), which consumes the view, or [`split`](Destination::split), which returns disjoint parts.
///
/// ```
/// use zarr_strided::{Destination, Source, Swap};
///
/// let mut image = [0u8; 12];
/// let mut rows = Destination::of(&mut image, &[3, 4])?;
/// let box_2x2 = rows.reborrow().sub(&[1, 1], &[2, 2])?;
/// box_2x2.permute(&[1, 0])?.put(Source::of(&[1u8, 2, 3, 4], &[2, 2])?, Swap::NONE)?;
/// assert_eq!(image, [0, 0, 0, 0, 0, 1, 3, 0, 0, 2, 4, 0]);
/// # Ok::<(), zarr_strided::StridedError>(())
/// ```
pub struct Destination<'a> {
    first: *mut u8,
    /// Every element is in memory that is mutably borrowed for `'a`, and elements do not overlap.
    layout: Layout,
    memory: PhantomData<&'a mut [u8]>,
}

// SAFETY: it represents a mutable borrow of bytes.
unsafe impl Send for Destination<'_> {}
// SAFETY: a shared reference only returns the shape.
unsafe impl Sync for Destination<'_> {}

impl<'a> Destination<'a> {
    /// Returns a view of all of `bytes`: elements of `size` bytes in C order.
    ///
    /// # Errors
    ///
    /// If the length of `bytes` does not match the shape.
    pub fn dense(bytes: &'a mut [u8], shape: &[u64], size: usize) -> Result<Self, StridedError> {
        let layout = Layout::dense(shape, size)?;
        layout.check_len(bytes.len())?;
        // SAFETY: the layout has the length of the borrowed bytes, one element after the other.
        Ok(unsafe { Destination::new(bytes.as_mut_ptr(), layout) })
    }

    /// Returns a view whose first element is at byte `offset`, with elements `strides` bytes apart. Strides may be
    /// negative.
    ///
    /// # Errors
    ///
    /// If an element is not inside `bytes`, if `strides` and `shape` differ in length, or if elements may overlap: each
    /// stride must be at least the span of all dimensions with shorter strides.
    pub fn strided(
        bytes: &'a mut [u8],
        offset: usize,
        shape: &[u64],
        strides: &[i64],
        size: usize,
    ) -> Result<Self, StridedError> {
        let layout = Layout::strided(bytes.len(), offset, shape, strides, size)?;
        if !layout.is_apart() {
            return Err(StridedError::Overlap { shape: shape.into(), strides: strides.into(), size });
        }
        // SAFETY: the layout was checked: it is inside the borrowed bytes and its elements do not overlap.
        Ok(unsafe { Destination::new(bytes.as_mut_ptr().wrapping_add(offset), layout) })
    }

    /// Returns a view of all of `values`, in C order.
    ///
    /// # Errors
    ///
    /// If the number of values does not match the shape.
    pub fn of<T: Plain>(values: &'a mut [T], shape: &[u64]) -> Result<Self, StridedError> {
        Destination::dense(bytes_of_mut(values), shape, size_of::<T>())
    }

    /// Builds a view from a pointer to its first element.
    ///
    /// # Safety
    ///
    /// The elements of the layout do not overlap, and only this view may write their memory during `'a`.
    pub(crate) unsafe fn new(first: *mut u8, layout: Layout) -> Self {
        Destination { first, layout, memory: PhantomData }
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

    /// Borrows the view for a shorter time, so that it can be used again after a function that takes a view.
    pub fn reborrow(&mut self) -> Destination<'_> {
        // SAFETY: these are our elements, and the view is borrowed while the new view exists.
        unsafe { Destination::new(self.first, self.layout.clone()) }
    }

    /// Returns the box of `shape` that begins at `at`.
    ///
    /// # Errors
    ///
    /// If the box is not inside this view.
    pub fn sub(mut self, at: &[u64], shape: &[u64]) -> Result<Destination<'a>, StridedError> {
        self.first = self.first.wrapping_offset(self.layout.narrow(at, shape)?);
        Ok(self)
    }

    /// Returns every `steps[i]`-th element of dimension `i`, beginning with the first.
    ///
    /// # Errors
    ///
    /// If a step is 0, or the number of steps is not the rank.
    pub fn step(mut self, steps: &[u64]) -> Result<Destination<'a>, StridedError> {
        self.layout.step(steps)?;
        Ok(self)
    }

    /// Reorders dimensions: dimension `i` of the result is dimension `order[i]` of this view.
    ///
    /// # Errors
    ///
    /// If `order` does not contain each dimension once.
    pub fn permute(mut self, order: &[u64]) -> Result<Destination<'a>, StridedError> {
        self.layout.permute(order)?;
        Ok(self)
    }

    /// Drops the dimensions whose item in `keep` is false. Each must have length 1.
    ///
    /// # Errors
    ///
    /// If a dropped dimension has another length, or the length of `keep` is not the rank.
    pub fn squeeze(mut self, keep: &[bool]) -> Result<Destination<'a>, StridedError> {
        self.layout.squeeze(keep)?;
        Ok(self)
    }

    /// Returns the elements in C order as a view of another shape, without a copy: any shape with as many elements if
    /// they have no gaps, otherwise only one that adds or drops dimensions of length 1.
    ///
    /// # Errors
    ///
    /// If the numbers of elements differ, or the elements cannot be viewed so.
    pub fn reshape(mut self, shape: &[u64]) -> Result<Destination<'a>, StridedError> {
        self.layout.reshape(shape)?;
        Ok(self)
    }

    /// Returns the bytes if they are in C order without gaps.
    pub fn as_dense_mut(&mut self) -> Option<&mut [u8]> {
        match self.layout.byte_len() {
            0 => Some(&mut []),
            // SAFETY: the elements are exactly these bytes, and only this view may write them.
            len => self.layout.is_dense().then(|| unsafe { slice::from_raw_parts_mut(self.first, len) }),
        }
    }

    /// Copies all elements of `src`, which has the same shape and element size.
    ///
    /// # Errors
    ///
    /// If shapes or sizes differ, or the element size is not a multiple of the unit of `swap`.
    pub fn put(&mut self, src: Source<'_>, swap: Swap) -> Result<(), StridedError> {
        if self.shape() != src.shape() {
            return Err(StridedError::Shape { expected: self.shape().into(), got: src.shape().into() });
        }
        if self.size() != src.size() {
            return Err(StridedError::Size { expected: self.size(), got: src.size() });
        }
        self.layout.check_swap(swap)?;
        // SAFETY: both layouts are inside their borrowed memory. Ours is borrowed mutably, so the two are disjoint. Our
        // elements do not overlap.
        unsafe { copy::copy(self.first, &self.layout, src.first(), src.layout(), swap) };
        Ok(())
    }

    /// Writes `element` to every position.
    ///
    /// # Errors
    ///
    /// If `element` does not have the element size of the view.
    pub fn fill(&mut self, element: &[u8]) -> Result<(), StridedError> {
        if element.len() != self.size() {
            return Err(StridedError::Size { expected: self.size(), got: element.len() });
        }
        // SAFETY: the layout is inside memory that only we may write, its elements do not overlap, and `element` has
        // their size.
        unsafe { fill::fill(self.first, &self.layout, element) };
        Ok(())
    }

    /// Fills the view with elements of `bytes` at any places: element `[i, j, …]` is the one at
    /// `places[0][i] + places[1][j] + …`, counted in elements from the start of `bytes`. A place may occur several
    /// times.
    ///
    /// ```
    /// use zarr_strided::Destination;
    ///
    /// let table = [0_u8, 1, 2, 3, 10, 11, 12, 13]; // two rows of four
    /// let mut picked = [0_u8; 6];
    /// let mut view = Destination::of(&mut picked, &[2, 3])?;
    /// view.gather(&table, &[&[4, 0], &[3, 0, 0]])?; // rows 1 and 0, columns 3, 0 and 0
    /// assert_eq!(picked, [13, 10, 10, 3, 0, 0]);
    /// # Ok::<(), zarr_strided::StridedError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If there is not one list per dimension with its length, or a place is outside of `bytes`.
    pub fn gather(&mut self, bytes: &[u8], places: &[&[u64]]) -> Result<(), StridedError> {
        places::check(&self.layout, places, bytes.len())?;
        // SAFETY: the places were checked. Our elements are inside memory that is borrowed mutably, so they are not in
        // `bytes`.
        unsafe { places::gather(self.first, &self.layout, places, bytes.as_ptr()) };
        Ok(())
    }

    pub(crate) fn into_parts(self) -> (*mut u8, Layout) {
        (self.first, self.layout)
    }
}

impl Source<'_> {
    /// Writes the elements to `out`, in C order.
    ///
    /// # Errors
    ///
    /// If `out` has another length, or the element size is not a multiple of the unit of `swap`.
    pub fn write_to(&self, out: &mut [u8], swap: Swap) -> Result<(), StridedError> {
        Destination::dense(out, self.shape(), self.size())?.put(self.clone(), swap)
    }
}

impl fmt::Debug for Destination<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.layout.describe("Destination", f)
    }
}
