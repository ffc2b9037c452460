//! Types of `bytemuck` as plain types.

use bytemuck::allocation::TransparentWrapperAlloc;
use bytemuck::{Pod, TransparentWrapper};

use crate::Plain;

/// A [`Pod`] as a [`Plain`] type, so that who derives `Pod` writes no `unsafe`. It has the same memory.
///
/// ```
/// # use zarr_strided::{PlainPod, bytes_of};
/// let values = [[1_u8, 2], [3, 4]];
/// assert_eq!(bytes_of(PlainPod::slice(&values)), [1, 2, 3, 4]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct PlainPod<T>(pub T);

// SAFETY: `Pod` promises what `Plain` asks for: every pattern of bits is a value, no padding, no pointers. The wrapper is
// transparent.
unsafe impl<T: Pod + Send + Sync> Plain for PlainPod<T> {}

// SAFETY: `repr(transparent)`, with the wrapped value as the only field.
unsafe impl<T> TransparentWrapper<T> for PlainPod<T> {}

impl<T: Pod> PlainPod<T> {
    /// The same memory as plain values.
    pub fn slice(values: &[T]) -> &[Self] {
        Self::wrap_slice(values)
    }

    /// The same memory as plain values, to be written.
    pub fn slice_mut(values: &mut [T]) -> &mut [Self] {
        Self::wrap_slice_mut(values)
    }

    /// The same vector with plain values.
    pub fn vec(values: Vec<T>) -> Vec<Self> {
        Self::wrap_vec(values)
    }

    /// The same vector with the wrapped values.
    pub fn into_vec(values: Vec<Self>) -> Vec<T> {
        Self::peel_vec(values)
    }
}
