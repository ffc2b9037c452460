//! Decoding pieces of chunks, and reordering their dimensions.

use zarr_strided::{Destination, Dims, Source};
use zarr_traits::partial::{InnerPart, Piece, PieceDecode};
use zarr_traits::{CodecError, CodecErrorKind, CodecResult, Scratch};

/// Decodes the bytes of the [`span`](Piece::span) of `piece` into `dst`, which has its [`shape`](Piece::shape).
///
/// # Errors
/// If the bytes are corrupt.
pub fn run_piece(
    piece: &Piece,
    src: &[u8],
    mut dst: Destination<'_>,
    scratch: &mut Scratch,
) -> CodecResult<()> {
    match &piece.job {
        PieceDecode::Strided { strides, swap } => {
            let elements = Source::strided(src, 0, &piece.shape, strides, dst.size());
            let elements = elements.map_err(|e| CodecError::corrupt(e.to_string()))?;
            Ok(dst.put(elements, *swap)?)
        }
        PieceDecode::Chain(inner) => {
            let InnerPart { number, chain, chunk, part, order, .. } = &**inner;
            let dst = match order {
                Some(order) => dst.permute(order)?,
                None => dst,
            };
            let decoded = chain.decode_part(src, chunk, part, dst, scratch);
            decoded.map_err(|e| if number.is_empty() { e } else { e.in_inner_chunk(number) })
        }
        PieceDecode::Fill(fill) => Ok(dst.fill(fill.bytes())?),
        job => Err(CodecError::new(
            CodecErrorKind::Unsupported,
            format!("this version does not support {job:?}"),
        )),
    }
}

/// Returns the piece for a view whose dimension `order[i]` is dimension `i` of the piece. Returns `None` if `order` is
/// not a permutation or the kind of job is unknown.
pub(crate) fn reordered(mut piece: Piece, order: &Dims) -> Option<Piece> {
    let back = order.inverse()?;
    piece.at = piece.at.permuted(&back)?;
    piece.shape = piece.shape.permuted(&back)?;
    match &mut piece.job {
        PieceDecode::Strided { strides, .. } => {
            *strides = back
                .iter()
                .map(|i| strides.get(usize::try_from(*i).ok()?).copied())
                .collect::<Option<_>>()?;
        }
        PieceDecode::Chain(inner) => {
            inner.order = Some(match &inner.order {
                Some(inside) => order.permuted(inside)?,
                None => order.clone(),
            });
        }
        PieceDecode::Fill(_) => {}
        _ => return None,
    }
    Some(piece)
}
