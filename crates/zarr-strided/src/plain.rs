//! Element types that are nothing but their bytes, and memory for them.

use std::alloc::{Layout, alloc_zeroed};
use std::ptr::NonNull;
use std::slice;

use crate::StridedError;

/// A type that is nothing but its bytes: integers, floats, arrays of them.
///
/// # Safety
///
/// Every pattern of bits is a valid value, there is no padding, and there are no pointers. `bool`, `char` and
/// references are none of these.
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
// SAFETY: two `T`s in a `repr(C)` struct, so nothing between or behind them.
unsafe impl<T: Plain> Plain for num_complex::Complex<T> {}

/// The bytes of `values`, in the order of this machine.
pub fn bytes_of<T: Plain>(values: &[T]) -> &[u8] {
    // SAFETY: same memory, same lifetime; `Plain` has no padding, so all bytes are initialised.
    unsafe { slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// The bytes of `values`, to be written.
pub fn bytes_of_mut<T: Plain>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: as in `bytes_of`; whatever is written, `Plain` takes every bit pattern.
    unsafe { slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}

/// From this many bytes on, memory is asked for in huge pages.
const HUGE_FROM: usize = 4 << 20;

/// `n` zeros. Large results are fresh pages of the system, huge ones on Linux, which nobody has to clear.
///
/// ```
/// let values: Vec<f32> = zarr_strided::zeroed(3)?;
/// assert_eq!(values, [0.0, 0.0, 0.0]);
/// # Ok::<(), zarr_strided::StridedError>(())
/// ```
///
/// # Errors
///
/// [`StridedError::TooLarge`] if the bytes cannot be addressed, [`StridedError::Memory`] if the system has them not.
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
    // SAFETY: of the global allocator with the layout of `n` elements (or no bytes at all), zeros are valid values,
    // and nobody else has the pointer.
    Ok(unsafe { Vec::from_raw_parts(memory.as_ptr(), n, n) })
}

/// Asks for huge pages; half of the time of a large uncompressed read goes into faults of small ones. The pages whose
/// edges the memory shares with others are left out.
#[cfg(all(target_os = "linux", not(miri)))]
fn advise_huge(memory: *mut u8, bytes: usize) {
    use std::ffi::{c_int, c_void};

    /// A multiple of every page size in use, so that it need not be asked for.
    const PAGE: usize = 64 << 10;
    const MADV_HUGEPAGE: c_int = 14;
    unsafe extern "C" {
        fn madvise(addr: *mut c_void, length: usize, advice: c_int) -> c_int;
    }

    let skip = memory.addr().wrapping_neg() % PAGE;
    let inner = bytes.saturating_sub(skip) / PAGE * PAGE;
    // SAFETY: whole pages inside of memory we own; the advice changes how they are backed, never what they hold. A
    // refusal leaves small pages.
    unsafe { madvise(memory.wrapping_add(skip).cast(), inner, MADV_HUGEPAGE) };
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn advise_huge(_memory: *mut u8, _bytes: usize) {}
