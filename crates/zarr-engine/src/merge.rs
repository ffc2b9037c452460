//! Merging of ranges that are close together.

use std::ops::Range;

use zarr_traits::{Fetching, Span};

/// Returns the ranges to read for `spans`, disjoint and in ascending order. Spans are merged if they overlap, touch or
/// are at most [`gap`](Fetching::gap) bytes apart. Empty spans are left out.
///
/// ```
/// use zarr_engine::{merge, within};
/// use zarr_traits::{Fetching, Span};
///
/// let fetching = Fetching::new(10, 100, 0);
/// let span = |offset, len| Span { offset, len };
/// let read = merge(fetching, [span(40, 10), span(0, 5), span(10, 20), span(99, 9)]).unwrap();
/// assert_eq!(read, [span(0, 50), span(99, 9)]);
/// assert_eq!(within(span(40, 10), &read), Some((0, 40..50)));
/// ```
///
/// # Errors
/// The first span whose end exceeds `u64`.
pub fn merge(fetching: Fetching, spans: impl IntoIterator<Item = Span>) -> Result<Vec<Span>, Span> {
    let spans = spans.into_iter();
    let mut all = Vec::with_capacity(spans.size_hint().0);
    all.extend(spans.filter(|span| span.len > 0));
    let mut spans: Vec<Span> = all;
    if let Some(span) = spans.iter().find(|span| span.end().is_none()) {
        return Err(*span);
    }
    spans.sort_unstable_by_key(|span| span.offset);
    spans.dedup_by(|next, last| {
        let end = last.offset + last.len;
        let longer = end.max(next.offset + next.len) - last.offset;
        let gap = next.offset.saturating_sub(end);
        let joins = gap == 0 || (gap <= fetching.gap && longer <= fetching.span);
        if joins {
            last.len = longer;
        }
        joins
    });
    Ok(spans)
}

/// Returns the index of the range that contains all of `span`, and the place of `span` in it. `ranges` are disjoint and
/// in ascending order.
pub fn within(span: Span, ranges: &[Span]) -> Option<(usize, Range<usize>)> {
    let number = ranges.partition_point(|range| range.offset <= span.offset).checked_sub(1)?;
    let range = ranges[number];
    if span.end()? > range.end()? {
        return None;
    }
    let start = usize::try_from(span.offset - range.offset).ok()?;
    Some((number, start..start.checked_add(usize::try_from(span.len).ok()?)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(spans: &[(u64, u64)]) -> Vec<Span> {
        spans.iter().map(|&(offset, len)| Span { offset, len }).collect()
    }

    #[test]
    fn spans_close_together_are_one_range() {
        let fetching = Fetching::new(4, 20, 0);
        type Spans = &'static [(u64, u64)];
        let table: [(Spans, Spans); 8] = [
            (&[], &[]),
            (&[(3, 0)], &[]),
            (&[(0, 5), (9, 5)], &[(0, 14)]),
            (&[(0, 5), (10, 5)], &[(0, 5), (10, 5)]),
            (&[(9, 5), (0, 5), (0, 5), (2, 1)], &[(0, 14)]),
            (&[(0, 10), (12, 8), (22, 1)], &[(0, 20), (22, 1)]), // closing gaps never exceeds 20 bytes
            (&[(0, 30), (30, 30), (50, 20)], &[(0, 70)]),        // touching spans are always merged
            (&[(0, 50), (10, 5), (52, 5)], &[(0, 50), (52, 5)]),
        ];
        for (wanted, read) in table {
            assert_eq!(merge(fetching, spans(wanted)), Ok(spans(read)), "{wanted:?}");
        }
        let beyond = Span { offset: u64::MAX, len: 2 };
        assert_eq!(merge(fetching, [beyond]), Err(beyond));
    }

    #[test]
    fn a_span_is_found_in_the_range_that_contains_it() {
        let read = spans(&[(10, 10), (40, 5)]);
        let at = |offset, len| within(Span { offset, len }, &read);
        assert_eq!(at(10, 10), Some((0, 0..10)));
        assert_eq!(at(44, 1), Some((1, 4..5)));
        for (offset, len) in [(9, 2), (15, 6), (30, 1), (44, 2), (u64::MAX, 2)] {
            assert_eq!(at(offset, len), None, "{len} bytes at {offset}");
        }
    }
}
