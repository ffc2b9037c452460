//! Views of the crate `ndarray` as views.

use std::marker::PhantomData;

use ndarray::{ArrayView, ArrayViewMut, Dimension};

use super::{View, ViewMut};
use crate::layout::Layout;

impl<'a, T, D: Dimension> From<ArrayView<'a, T, D>> for View<'a, T> {
    /// Takes a view of any layout in memory.
    fn from(view: ArrayView<'a, T, D>) -> Self {
        let layout = Layout::of_ndarray(view.shape(), view.strides(), size_of::<T>());
        // The pointer is that of the first element, and the elements are borrowed for `'a`.
        Self { first: view.as_ptr(), layout, memory: PhantomData }
    }
}

impl<'a, T, D: Dimension> From<ArrayViewMut<'a, T, D>> for ViewMut<'a, T> {
    /// Takes a mutable view of any layout in memory.
    fn from(mut view: ArrayViewMut<'a, T, D>) -> Self {
        let layout = Layout::of_ndarray(view.shape(), view.strides(), size_of::<T>());
        // The pointer is that of the first element. The elements are mutably borrowed for `'a`, and those of a mutable
        // view never overlap.
        Self { first: view.as_mut_ptr(), layout, memory: PhantomData }
    }
}
