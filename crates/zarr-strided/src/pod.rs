//! Types of `bytemuck` as [`Plain`] types.

use bytemuck::allocation::TransparentWrapperAlloc;
use bytemuck::{Pod, TransparentWrapper};

use crate::{Plain, View, ViewMut};

/// Makes a [`Pod`] type a [`Plain`] type, so that code with a derived `Pod` needs no `unsafe`. The memory is the same.
///
/// ```
/// # use zarr_strided::{PlainPod, bytes_of};
/// let values = [[1_u8, 2], [3, 4]];
/// assert_eq!(bytes_of(PlainPod::slice(&values)), [1, 2, 3, 4]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct PlainPod<T>(pub T);

// SAFETY: `Pod` guarantees what `Plain` requires: every bit pattern is a value, there is no padding and there are no
// pointers. The wrapper is transparent.
unsafe impl<T: Pod + Send + Sync> Plain for PlainPod<T> {}

// SAFETY: `repr(transparent)`, with the wrapped value as the only field.
unsafe impl<T> TransparentWrapper<T> for PlainPod<T> {}

impl<T: Pod> PlainPod<T> {
    /// Returns the same memory as plain values.
    pub fn slice(values: &[T]) -> &[Self] {
        Self::wrap_slice(values)
    }

    /// Returns the same view as one of plain values.
    pub fn view(view: View<'_, T>) -> View<'_, Self> {
        // SAFETY: the wrapper is transparent.
        unsafe { view.cast() }
    }

    /// Returns the same mutable view as one of plain values.
    pub fn view_mut(view: ViewMut<'_, T>) -> ViewMut<'_, Self> {
        // SAFETY: the wrapper is transparent, and every plain value is a `Pod` value.
        unsafe { view.cast() }
    }

    /// Returns the same vector as plain values.
    pub fn vec(values: Vec<T>) -> Vec<Self> {
        Self::wrap_vec(values)
    }

    /// Returns the same vector as the wrapped values.
    pub fn into_vec(values: Vec<Self>) -> Vec<T> {
        Self::peel_vec(values)
    }
}
