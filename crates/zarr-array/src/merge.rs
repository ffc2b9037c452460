//! What is read as one range.

use zarr_traits::{Hints, Piece, Span};

use crate::error::ArrayResult;
use crate::fetch::outside;

/// The ranges to read for `pieces`, in ascending order.
pub(crate) fn merge(pieces: &[Piece], hints: Hints) -> ArrayResult<Vec<Span>> {
    let mut spans: Vec<Span> = pieces.iter().map(|piece| piece.span).filter(|span| span.len > 0).collect();
    if let Some(span) = spans.iter().find(|span| span.end().is_none()) {
        return Err(outside(*span));
    }
    spans.sort_unstable_by_key(|span| span.offset);
    spans.dedup_by(|next, last| {
        let end = last.offset + last.len;
        let longer = end.max(next.offset + next.len) - last.offset;
        let gap = next.offset.saturating_sub(end);
        let joins = gap == 0 || (gap <= hints.gap && longer <= hints.span);
        if joins {
            last.len = longer;
        }
        joins
    });
    Ok(spans)
}
