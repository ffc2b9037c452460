//! Pieces of chunks: run, and seen in another order of dimensions.

use zarr_strided::{Destination, Source};
use zarr_traits::partial::{InnerPart, Job, Piece};
use zarr_traits::{CodecError, CodecErrorKind, CodecResult, Scratch, inverse, permute};

/// Turns the bytes of the [`span`](Piece::span) of `piece` into elements in `dst`, which has its [`shape`](Piece::shape).
///
/// # Errors
/// When the bytes are corrupt.
pub fn run_piece(
    piece: &Piece,
    src: &[u8],
    mut dst: Destination<'_>,
    scratch: &mut Scratch,
) -> CodecResult<()> {
    match &piece.job {
        Job::Strided { strides, swap } => {
            let elements = Source::strided(src, 0, &piece.shape, strides, dst.size());
            let elements = elements.map_err(|e| CodecError::corrupt(e.to_string()))?;
            Ok(dst.put(elements, *swap)?)
        }
        Job::Chain(inner) => {
            let InnerPart { number, chain, chunk, part, order } = &**inner;
            let dst = match order {
                Some(order) => dst.permute(order)?,
                None => dst,
            };
            chain.decode_part(src, chunk, part, dst, scratch).map_err(|e| e.in_inner_chunk(number))
        }
        Job::Fill(fill) => Ok(dst.fill(fill.bytes())?),
        job => Err(CodecError::new(CodecErrorKind::Unsupported, format!("this version cannot run {job:?}"))),
    }
}

/// The piece as a view has it whose dimension `order[i]` is dimension `i` of the piece; `None` when `order` is no permutation, or
/// the job is of an unknown kind.
pub(crate) fn reordered(mut piece: Piece, order: &[u64]) -> Option<Piece> {
    let back = inverse(order)?;
    piece.at = permute(&piece.at, &back)?;
    piece.shape = permute(&piece.shape, &back)?;
    match &mut piece.job {
        Job::Strided { strides, .. } => {
            *strides = back
                .iter()
                .map(|i| strides.get(usize::try_from(*i).ok()?).copied())
                .collect::<Option<_>>()?;
        }
        Job::Chain(inner) => {
            inner.order = Some(match &inner.order {
                Some(inside) => permute(order, inside)?,
                None => order.into(),
            });
        }
        Job::Fill(_) => {}
        _ => return None,
    }
    Some(piece)
}
