//! Views of elements of any Rust type, in memory with any strides.

#[cfg(feature = "ndarray")]
mod nd;

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::slice;

use crate::layout::Layout;
use crate::{Destination, Dims, Plain, Source, StridedError};

/// A read-only view of elements of type `T`: a box with any strides in borrowed memory.
///
/// A view of [`Plain`] elements becomes a [`Source`]. With the feature `ndarray`, a view of an `ndarray` becomes a view.
///
/// ```
/// use zarr_strided::View;
///
/// let words = ["a", "b", "c", "d"];
/// let reversed = View::strided(&words, 3, &[4], &[-1])?;
/// assert_eq!(*reversed.elements(), ["d", "c", "b", "a"]);
/// # Ok::<(), zarr_strided::StridedError>(())
/// ```
pub struct View<'a, T> {
    first: *const T,
    /// Every element is in memory that is borrowed for `'a`.
    layout: Layout,
    memory: PhantomData<&'a [T]>,
}

// SAFETY: it represents a shared borrow of elements.
unsafe impl<T: Sync> Send for View<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for View<'_, T> {}

impl<T> Clone for View<'_, T> {
    fn clone(&self) -> Self {
        Self { first: self.first, layout: self.layout.clone(), memory: PhantomData }
    }
}

impl<'a, T> View<'a, T> {
    /// Returns a view of all of `values`, in one dimension.
    pub fn of(values: &'a [T]) -> Self {
        Self {
            first: values.as_ptr(),
            layout: Layout::line(values.len(), size_of::<T>()),
            memory: PhantomData,
        }
    }

    /// Returns a view of all of `values`, in C order.
    ///
    /// # Errors
    ///
    /// If the number of values does not match the shape.
    pub fn dense(values: &'a [T], shape: &[u64]) -> Result<Self, StridedError> {
        Self::of(values).reshape(shape)
    }

    /// Returns a view whose first element is `values[offset]`, with elements `strides` elements apart. Strides may be
    /// negative or 0.
    ///
    /// # Errors
    ///
    /// If an element is not inside `values`, or `strides` and `shape` differ in length.
    pub fn strided(
        values: &'a [T],
        offset: usize,
        shape: &[u64],
        strides: &[i64],
    ) -> Result<Self, StridedError> {
        let layout = Layout::of_elements(values, offset, shape, strides)?;
        Ok(Self { first: values.as_ptr().wrapping_add(offset), layout, memory: PhantomData })
    }

    /// The number of elements per dimension.
    pub fn shape(&self) -> &[u64] {
        &self.layout.shape
    }

    /// As [`Source::reshape`].
    ///
    /// # Errors
    ///
    /// If the numbers of elements differ, or the elements cannot be viewed so without a copy.
    pub fn reshape(mut self, shape: &[u64]) -> Result<Self, StridedError> {
        self.layout.reshape(shape)?;
        Ok(self)
    }

    /// Returns the elements in C order: borrowed if they lie so in memory.
    pub fn elements(&self) -> Cow<'a, [T]>
    where
        T: Clone,
    {
        let len = crate::layout::to_usize(self.layout.len());
        match self.layout.is_dense() {
            _ if len == 0 => Cow::Borrowed(&[]),
            // SAFETY: the elements are borrowed for `'a`, and follow each other in C order.
            true => Cow::Borrowed(unsafe { slice::from_raw_parts(self.first, len) }),
            false => Cow::Owned(
                self.layout
                    .offsets()
                    // SAFETY: the offsets are those of elements that are borrowed for `'a`.
                    .map(|offset| unsafe { &*self.first.wrapping_byte_offset(offset) }.clone())
                    .collect(),
            ),
        }
    }

    /// Returns a view of the same memory as elements of another type.
    ///
    /// # Safety
    ///
    /// Every `T` is a valid `U` of the same size and alignment.
    #[cfg(feature = "bytemuck")]
    pub(crate) unsafe fn cast<U>(self) -> View<'a, U> {
        View { first: self.first.cast(), layout: self.layout, memory: PhantomData }
    }
}

impl<'a, T: Plain> From<View<'a, T>> for Source<'a> {
    fn from(view: View<'a, T>) -> Self {
        // SAFETY: the elements are borrowed for `'a`.
        unsafe { Source::new(view.first.cast(), view.layout) }
    }
}

impl<T> fmt::Debug for View<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.layout.describe("View", f)
    }
}

/// A writable view of elements of type `T`: a box with any strides in memory that only this view accesses.
///
/// A view of [`Plain`] elements becomes a [`Destination`]. With the feature `ndarray`, a mutable view of an `ndarray`
/// becomes a view.
///
/// ```
/// use zarr_strided::ViewMut;
///
/// let mut words = vec![String::new(); 4];
/// let odd = ViewMut::strided(&mut words, 1, &[2], &[2])?;
/// odd.assign(vec!["a".into(), "b".into()])?;
/// assert_eq!(words, ["", "a", "", "b"]);
/// # Ok::<(), zarr_strided::StridedError>(())
/// ```
pub struct ViewMut<'a, T> {
    first: *mut T,
    /// Every element is in memory that is mutably borrowed for `'a`, and elements do not overlap.
    layout: Layout,
    memory: PhantomData<&'a mut [T]>,
}

// SAFETY: it represents a mutable borrow of elements.
unsafe impl<T: Send> Send for ViewMut<'_, T> {}
// SAFETY: a shared reference only returns the shape.
unsafe impl<T: Sync> Sync for ViewMut<'_, T> {}

impl<'a, T> ViewMut<'a, T> {
    /// Returns a view of all of `values`, in one dimension.
    pub fn of(values: &'a mut [T]) -> Self {
        let layout = Layout::line(values.len(), size_of::<T>());
        Self { first: values.as_mut_ptr(), layout, memory: PhantomData }
    }

    /// Returns a view of all of `values`, in C order.
    ///
    /// # Errors
    ///
    /// If the number of values does not match the shape.
    pub fn dense(values: &'a mut [T], shape: &[u64]) -> Result<Self, StridedError> {
        Self::of(values).reshape(shape)
    }

    /// Returns a view whose first element is `values[offset]`, with elements `strides` elements apart. Strides may be
    /// negative.
    ///
    /// # Errors
    ///
    /// If an element is not inside `values`, if `strides` and `shape` differ in length, or if elements may overlap (see
    /// [`Destination::strided`]).
    pub fn strided(
        values: &'a mut [T],
        offset: usize,
        shape: &[u64],
        strides: &[i64],
    ) -> Result<Self, StridedError> {
        let layout = Layout::of_elements(values, offset, shape, strides)?;
        if !layout.is_apart() {
            let size = size_of::<T>();
            return Err(StridedError::Overlap { shape: shape.into(), strides: strides.into(), size });
        }
        Ok(Self { first: values.as_mut_ptr().wrapping_add(offset), layout, memory: PhantomData })
    }

    /// The number of elements per dimension.
    pub fn shape(&self) -> &[u64] {
        &self.layout.shape
    }

    /// Borrows the view for a shorter time, so that it can be used again after a function that takes a view.
    pub fn reborrow(&mut self) -> ViewMut<'_, T> {
        ViewMut { first: self.first, layout: self.layout.clone(), memory: PhantomData }
    }

    /// As [`Destination::reshape`].
    ///
    /// # Errors
    ///
    /// If the numbers of elements differ, or the elements cannot be viewed so without a copy.
    pub fn reshape(mut self, shape: &[u64]) -> Result<Self, StridedError> {
        self.layout.reshape(shape)?;
        Ok(self)
    }

    /// Replaces all elements by `values`, in C order.
    ///
    /// # Errors
    ///
    /// If the number of values is not that of the elements.
    pub fn assign(self, values: Vec<T>) -> Result<(), StridedError> {
        let got = values.len() as u64;
        if got != self.layout.len() {
            let expected = Dims::from(self.shape());
            return Err(StridedError::Shape { expected: (*expected).into(), got: [got].into() });
        }
        for (offset, value) in self.layout.offsets().zip(values) {
            // SAFETY: the offsets are those of elements that only this view accesses.
            unsafe { *self.first.wrapping_byte_offset(offset) = value };
        }
        Ok(())
    }

    /// Returns a view of the same memory as elements of another type.
    ///
    /// # Safety
    ///
    /// Every `T` is a valid `U` of the same size and alignment, and the other way round.
    #[cfg(feature = "bytemuck")]
    pub(crate) unsafe fn cast<U>(self) -> ViewMut<'a, U> {
        ViewMut { first: self.first.cast(), layout: self.layout, memory: PhantomData }
    }
}

impl<'a, T: Plain> From<ViewMut<'a, T>> for Destination<'a> {
    fn from(view: ViewMut<'a, T>) -> Self {
        // SAFETY: the elements are mutably borrowed for `'a`, and do not overlap.
        unsafe { Destination::new(view.first.cast(), view.layout) }
    }
}

impl<T> fmt::Debug for ViewMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.layout.describe("ViewMut", f)
    }
}
