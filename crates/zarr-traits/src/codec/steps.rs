//! Steps that many codecs share.

use zarr_strided::{Destination, Dims, Source, Swap, byte_len};

use crate::error::{CodecError, CodecErrorKind, CodecResult};

use crate::scratch::Scratch;

/// As [`with_dense`] for codecs that convert each element alone: `step` gets runs of elements that are contiguous on
/// both sides, in any order. So a destination with strides, such as a part of an array, needs no copy.
///
/// # Errors
/// As [`with_dense`].
pub fn with_runs(
    src: &Source<'_>,
    mut dst: Destination<'_>,
    scratch: &mut Scratch,
    mut step: impl FnMut(&[u8], &mut [u8], &mut Scratch) -> CodecResult<()>,
) -> CodecResult<()> {
    let mut runs = dst.reborrow().runs(src)?;
    let is_one = runs.len() <= 1;
    if is_one || runs.run_bytes() >= SHORT_RUN {
        let done = runs.try_for_each(|(made, given)| step(given, made, scratch));
        if is_one || done.is_ok() {
            return done;
        }
        // An error may name a position. It is that in the whole, not that in a run.
    }
    with_dense(src, dst, scratch, step)
}

/// Runs of fewer bytes are copied together first, because each call of a kernel costs as much as some dozen elements.
const SHORT_RUN: usize = 256;

/// Returns the error of a decoder whose output exceeds its destination.
pub fn too_large() -> CodecError {
    CodecError::new(CodecErrorKind::TooLarge, "it decodes to more bytes than declared")
}

/// Runs `step` on the elements of `src` and `dst` as contiguous slices, and copies through scratch memory if they are
/// not contiguous. With this function an array → array codec that keeps the order of elements needs no other code.
///
/// ```
/// # use zarr_traits::{codec::*, extension::*, strided::{Destination, Source}, *};
/// fn negate(src: Source<'_>, dst: Destination<'_>, scratch: &mut Scratch) -> CodecResult<()> {
///     with_dense(&src, dst, scratch, |src, dst, _| {
///         for (from, to) in src.as_chunks().0.iter().zip(dst.as_chunks_mut().0) {
///             *to = i32::from_ne_bytes(*from).wrapping_neg().to_ne_bytes();
///         }
///         Ok(())
///     })
/// }
/// # let (src, mut dst, scratch) = ([1, 2, 3, 4_i32], [0_i32; 4], &mut Scratch::new());
/// # let turned = Source::of(&src, &[2, 2])?.permute(&[1, 0])?;
/// # negate(turned, Destination::of(&mut dst, &[2, 2])?, scratch)?;
/// # assert_eq!(dst, [-1, -3, -2, -4]);
/// # negate(Source::of(&src, &[2, 2])?, Destination::of(&mut dst, &[2, 2])?.permute(&[1, 0])?, scratch)?;
/// # assert_eq!(dst, [-1, -3, -2, -4]);
/// # Ok::<(), CodecError>(())
/// ```
///
/// # Errors
/// Errors of `step`; [`CodecErrorKind::LimitExceeded`] if there is not enough memory.
pub fn with_dense(
    src: &Source<'_>,
    mut dst: Destination<'_>,
    scratch: &mut Scratch,
    step: impl FnOnce(&[u8], &mut [u8], &mut Scratch) -> CodecResult<()>,
) -> CodecResult<()> {
    let mut gathered = scratch.take_vec();
    let elements = match src.as_dense() {
        Some(dense) => dense,
        None => {
            src.append_to(&mut gathered, Swap::NONE)?;
            &gathered
        }
    };
    if let Some(target) = dst.as_dense_mut() {
        step(elements, target, scratch)?;
    } else {
        let (shape, size) = (Dims::from(dst.shape()), dst.size());
        let mut made = scratch.take(byte_len(&shape, size)?)?;
        step(elements, &mut made, scratch)?;
        dst.put(Source::dense(&made, &shape, size)?, Swap::NONE)?;
        scratch.give(made);
    }
    scratch.give_vec(gathered);
    Ok(())
}
