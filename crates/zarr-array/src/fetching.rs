//! How parts of objects are fetched: what is read as one range, and what whole.

use zarr_traits::{Drive, Hints, Piece, Span};

use crate::error::ArrayResult;
use crate::fetch::outside;

/// How parts of objects are fetched. The defaults depend on the kind of store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fetching {
    /// Ranges of one object at most this many bytes apart are read as one: 4 KiB in a store on this machine, what the
    /// store asks for otherwise.
    pub gap: u64,
    /// Bytes that a range may have on account of gaps in it; 1 MiB on this machine, 16 times the gap otherwise. Ranges
    /// that touch each other are one in any case.
    pub span: u64,
    /// An object of at most this many bytes is read whole rather than in two steps (a small shard), and one of any size
    /// where most of it is wanted; 16 KiB on this machine, as much as the gap otherwise. 0: never.
    pub whole: u64,
}

impl Fetching {
    pub(crate) fn of(drive: Drive) -> Self {
        let gap = drive.merge_gap();
        let span = match drive {
            Drive::Inline => 1 << 20,
            Drive::Remote { .. } => gap.saturating_mul(16),
        };
        Self { gap, span, whole: drive.whole() }
    }

    pub(crate) fn hints(self) -> Hints {
        Hints { gap: self.gap, span: self.span, whole: self.whole }
    }

    /// The ranges to read for `pieces`, in ascending order.
    pub(crate) fn merge(self, pieces: &[Piece]) -> ArrayResult<Vec<Span>> {
        let mut spans: Vec<Span> =
            pieces.iter().map(|piece| piece.span).filter(|span| span.len > 0).collect();
        if let Some(span) = spans.iter().find(|span| span.end().is_none()) {
            return Err(outside(*span));
        }
        spans.sort_unstable_by_key(|span| span.offset);
        spans.dedup_by(|next, last| {
            let end = last.offset + last.len;
            let longer = end.max(next.offset + next.len) - last.offset;
            let gap = next.offset.saturating_sub(end);
            let joins = gap == 0 || (gap <= self.gap && longer <= self.span);
            if joins {
                last.len = longer;
            }
            joins
        });
        Ok(spans)
    }
}
