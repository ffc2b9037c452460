//! The writable view.

use std::fmt;
use std::marker::PhantomData;
use std::slice;

use crate::cuts::{Cuts, Tiles};
use crate::layout::Layout;
use crate::{Plain, Source, StridedError, Swap, bytes_of_mut, copy, fill};

/// Elements to be written: a box of any strides over memory that is this view's alone.
///
/// It is neither `Copy` nor `Clone`, because two threads may hold parts of one memory: parts are made by
/// [`sub`](Destination::sub), which takes the view, or by [`split`](Destination::split), which makes disjoint ones.
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
    /// Every element lies in memory borrowed for `'a` by nobody else, and apart from every other element.
    layout: Layout,
    memory: PhantomData<&'a mut [u8]>,
}

// SAFETY: it is a mutable borrow of bytes.
unsafe impl Send for Destination<'_> {}
// SAFETY: shared, it only tells its shape.
unsafe impl Sync for Destination<'_> {}

impl<'a> Destination<'a> {
    /// All of `bytes`: elements of `size` bytes in C order.
    ///
    /// # Errors
    ///
    /// If `bytes` is not exactly as long as the shape asks for.
    pub fn dense(bytes: &'a mut [u8], shape: &[u64], size: usize) -> Result<Self, StridedError> {
        let layout = Layout::dense(shape, size)?;
        layout.check_len(bytes.len())?;
        // SAFETY: the layout is as long as the borrowed bytes, one element after the other.
        Ok(unsafe { Destination::new(bytes.as_mut_ptr(), layout) })
    }

    /// The element at byte `offset` and those `strides` bytes from each other. Strides may be negative.
    ///
    /// # Errors
    ///
    /// If an element is not inside of `bytes`, `strides` is not as long as `shape`, or elements may overlap: each stride
    /// must step over all that the shorter ones span.
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
        // SAFETY: the layout was checked to stay inside of the borrowed bytes, and its elements to lie apart.
        Ok(unsafe { Destination::new(bytes.as_mut_ptr().wrapping_add(offset), layout) })
    }

    /// All of `values`, in C order.
    ///
    /// # Errors
    ///
    /// If `values` are not exactly as many as the shape asks for.
    pub fn of<T: Plain>(values: &'a mut [T], shape: &[u64]) -> Result<Self, StridedError> {
        Destination::dense(bytes_of_mut(values), shape, size_of::<T>())
    }

    /// A view from its first element.
    ///
    /// # Safety
    ///
    /// The layout's elements lie in memory that may be written for `'a` by nobody else, and apart.
    pub(crate) unsafe fn new(first: *mut u8, layout: Layout) -> Self {
        Destination { first, layout, memory: PhantomData }
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

    /// The same view for a shorter time: what takes a view takes this, and the view is still there afterwards.
    pub fn reborrow(&mut self) -> Destination<'_> {
        // SAFETY: these are our elements, and we are borrowed as long as the new view lives.
        unsafe { Destination::new(self.first, self.layout.clone()) }
    }

    /// The box of `shape` that begins at `at`.
    ///
    /// # Errors
    ///
    /// If the box is not inside of this view.
    pub fn sub(mut self, at: &[u64], shape: &[u64]) -> Result<Destination<'a>, StridedError> {
        self.first = self.first.wrapping_offset(self.layout.narrow(at, shape)?);
        Ok(self)
    }

    /// Every `steps[i]`-th element of dimension `i`, beginning with the first.
    ///
    /// # Errors
    ///
    /// If a step is 0, or there is not one for each dimension.
    pub fn step(mut self, steps: &[u64]) -> Result<Destination<'a>, StridedError> {
        self.layout.step(steps)?;
        Ok(self)
    }

    /// Dimension `i` of the result is dimension `order[i]` of this view.
    ///
    /// # Errors
    ///
    /// If `order` does not name each dimension once.
    pub fn permute(mut self, order: &[u64]) -> Result<Destination<'a>, StridedError> {
        self.layout.permute(order)?;
        Ok(self)
    }

    /// Drops the dimensions that `keep` marks false; each must be of length 1.
    ///
    /// # Errors
    ///
    /// If a dropped dimension is longer or empty, or `keep` is not as long as the shape.
    pub fn squeeze(mut self, keep: &[bool]) -> Result<Destination<'a>, StridedError> {
        self.layout.squeeze(keep)?;
        Ok(self)
    }

    /// The bytes, if they lie in C order without gaps.
    pub fn as_dense_mut(&mut self) -> Option<&mut [u8]> {
        match self.layout.byte_len() {
            0 => Some(&mut []),
            // SAFETY: the elements are these bytes, all of them, and this view alone may write them.
            len => self.layout.is_dense().then(|| unsafe { slice::from_raw_parts_mut(self.first, len) }),
        }
    }

    /// Copies all elements of `src`, which has the same shape and element size.
    ///
    /// # Errors
    ///
    /// If shapes or sizes differ, or elements are not whole units of `swap`.
    pub fn put(&mut self, src: Source<'_>, swap: Swap) -> Result<(), StridedError> {
        if self.shape() != src.shape() {
            return Err(StridedError::Shape { expected: self.shape().into(), got: src.shape().into() });
        }
        if self.size() != src.size() {
            return Err(StridedError::Size { expected: self.size(), got: src.size() });
        }
        self.layout.check_swap(swap)?;
        // SAFETY: both layouts are inside of their memory, which is borrowed: ours mutably, so they are disjoint. Our
        // elements lie apart.
        unsafe { copy::copy(self.first, &self.layout, src.first(), src.layout(), swap) };
        Ok(())
    }

    /// Writes `element` to every place.
    ///
    /// # Errors
    ///
    /// If `element` is not as long as those of the view.
    pub fn fill(&mut self, element: &[u8]) -> Result<(), StridedError> {
        if element.len() != self.size() {
            return Err(StridedError::Size { expected: self.size(), got: element.len() });
        }
        // SAFETY: the layout is inside of memory we alone may write, its elements lie apart, and `element` is one of
        // its size.
        unsafe { fill::fill(self.first, &self.layout, element) };
        Ok(())
    }

    /// Cuts the view into a grid of cells that threads may fill at the same time.
    ///
    /// # Errors
    ///
    /// If the pieces of `cuts` do not add up to the shape, or there are too many cells to count.
    pub fn split(self, cuts: Cuts) -> Result<Tiles<'a>, StridedError> {
        Tiles::new(self, cuts)
    }

    pub(crate) fn into_parts(self) -> (*mut u8, Layout) {
        (self.first, self.layout)
    }
}

impl fmt::Debug for Destination<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Destination")
            .field("shape", &self.layout.shape)
            .field("strides", &&self.layout.strides[..])
            .field("size", &self.layout.size)
            .finish()
    }
}
