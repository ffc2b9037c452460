//! Element types that consist only of their bytes, and memory for them.

use std::alloc::{Layout, alloc_zeroed};
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::slice;

use crate::StridedError;

/// A type that consists only of its bytes: integers, floats, arrays of them.
///
/// # Safety
///
/// Every bit pattern is a valid value, and there is no padding and no pointer. `bool`, `char` and references do not
/// qualify.
pub unsafe trait Plain: Copy + Send + Sync + 'static {}

macro_rules! plain {
    ($($t:ty),*) => {$(
        // SAFETY: primitive numbers have no padding and no invalid bit patterns.
        unsafe impl Plain for $t {}
    )*};
}
plain!(i8, i16, i32, i64, i128, u8, u16, u32, u64, u128, f32, f64);

// SAFETY: an array is its elements, one directly after the other.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

#[cfg(feature = "half")]
// SAFETY: a transparent `u16`.
unsafe impl Plain for half::f16 {}

#[cfg(feature = "half")]
// SAFETY: a transparent `u16`.
unsafe impl Plain for half::bf16 {}

#[cfg(feature = "num-complex")]
// SAFETY: two `T`s in a `repr(C)` struct, so there is no padding.
unsafe impl<T: Plain> Plain for num_complex::Complex<T> {}

/// Returns the bytes of `values`, in the byte order of this machine.
pub fn bytes_of<T: Plain>(values: &[T]) -> &[u8] {
    // SAFETY: same memory, same lifetime; `Plain` has no padding, so all bytes are initialised.
    unsafe { slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// Returns the mutable bytes of `values`.
pub fn bytes_of_mut<T: Plain>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: as in `bytes_of`; `Plain` allows every bit pattern that may be written.
    unsafe { slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}

/// Writes zeros to memory without values, so that it can be used as values.
///
/// ```
/// let mut values = Vec::<f32>::with_capacity(3);
/// let zeros: &mut [f32] = zarr_strided::zero(&mut values.spare_capacity_mut()[..3]);
/// assert_eq!(*zeros, [0.0, 0.0, 0.0]);
/// ```
pub fn zero<T: Plain>(memory: &mut [MaybeUninit<T>]) -> &mut [T] {
    // SAFETY: the memory is borrowed mutably; zeros are valid values of a plain type.
    unsafe {
        memory.as_mut_ptr().write_bytes(0, memory.len());
        slice::from_raw_parts_mut(memory.as_mut_ptr().cast(), memory.len())
    }
}

/// Allocations of at least this many bytes use huge pages.
const HUGE_FROM: usize = 4 << 20;

/// Returns `n` zeros. Large vectors are fresh pages of the system (huge pages on Linux), which need no clearing.
///
/// ```
/// let values: Vec<f32> = zarr_strided::zeroed(3)?;
/// assert_eq!(values, [0.0, 0.0, 0.0]);
/// # Ok::<(), zarr_strided::StridedError>(())
/// ```
///
/// # Errors
///
/// [`StridedError::TooLarge`] if the size exceeds the address space, [`StridedError::Memory`] if allocation fails.
pub fn zeroed<T: Plain>(n: usize) -> Result<Vec<T>, StridedError> {
    let Ok(layout) = Layout::array::<T>(n) else {
        return Err(StridedError::TooLarge { shape: [n as u64].into(), size: size_of::<T>() });
    };
    let memory = if layout.size() == 0 {
        NonNull::<T>::dangling()
    } else {
        // SAFETY: the layout is not of size 0.
        let memory = unsafe { alloc_zeroed(layout) };
        NonNull::new(memory.cast::<T>()).ok_or(StridedError::Memory { bytes: layout.size() })?
    };
    if layout.size() >= HUGE_FROM {
        advise_huge(memory.as_ptr().cast(), layout.size());
    }
    // SAFETY: allocated by the global allocator with the layout of `n` elements (or no bytes at all); zeros are valid
    // values, and nothing else has the pointer.
    Ok(unsafe { Vec::from_raw_parts(memory.as_ptr(), n, n) })
}

/// Requests huge pages: faults of small pages take half of the time of a large uncompressed read. Pages shared with
/// other memory at the edges are left out.
#[cfg(all(target_os = "linux", not(miri)))]
fn advise_huge(memory: *mut u8, bytes: usize) {
    use std::ffi::{c_int, c_void};

    /// A multiple of all common page sizes, so that no query is needed.
    const PAGE: usize = 64 << 10;
    const MADV_HUGEPAGE: c_int = 14;
    unsafe extern "C" {
        fn madvise(addr: *mut c_void, length: usize, advice: c_int) -> c_int;
    }

    let skip = memory.addr().wrapping_neg() % PAGE;
    let inner = bytes.saturating_sub(skip) / PAGE * PAGE;
    // SAFETY: whole pages inside memory that we own. The advice changes the backing of pages, never their content. If
    // it is refused, pages stay small.
    unsafe { madvise(memory.wrapping_add(skip).cast(), inner, MADV_HUGEPAGE) };
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn advise_huge(_memory: *mut u8, _bytes: usize) {}
