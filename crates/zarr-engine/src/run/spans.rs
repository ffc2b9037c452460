//! The parts of a batch that have not started. Each thread has a span of consecutive parts: neighbours in the result
//! often share pages of memory, on which two threads would wait for each other.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use zarr_traits::lock::unpoisoned;

/// The parts that one thread does next.
pub(super) type Span = Mutex<Range<u64>>;

/// All parts that have not started.
pub(super) struct Spans {
    /// Spans without a thread.
    free: Vec<Range<u64>>,
    taken: Vec<Arc<Span>>,
}

impl Spans {
    pub(super) fn new(parts: u64) -> Self {
        Self { free: vec![0..parts], taken: Vec::new() }
    }

    /// The number of parts.
    pub(super) fn len(&self) -> u64 {
        let taken = self.taken.iter().map(|span| left(span));
        self.free.iter().map(count).chain(taken).sum()
    }

    /// Returns a span for a thread, without parts.
    pub(super) fn enter(&mut self) -> Arc<Span> {
        let span = Arc::new(Mutex::new(0..0));
        self.taken.push(span.clone());
        span
    }

    /// Leaves the parts of a span to other threads.
    pub(super) fn leave(&mut self, span: &Arc<Span>) {
        self.taken.retain(|other| !Arc::ptr_eq(other, span));
        let rest = std::mem::take(&mut *unpoisoned(span.lock()));
        if !rest.is_empty() {
            self.free.push(rest);
        }
    }

    /// Gives parts to a span without parts, and returns the first of them: a free span, or the back half of the longest
    /// one of another thread.
    pub(super) fn refill(&mut self, span: &Span) -> Option<u64> {
        let mut more = self.free.pop().or_else(|| self.split())?;
        let first = more.next();
        *unpoisoned(span.lock()) = more;
        first
    }

    fn split(&self) -> Option<Range<u64>> {
        let longest = self.taken.iter().max_by_key(|span| left(span))?;
        let mut longest = unpoisoned(longest.lock());
        let middle = longest.start + count(&longest) / 2;
        let back = middle..longest.end;
        longest.end = middle;
        Some(back)
    }

    /// Removes all parts.
    pub(super) fn clear(&mut self) {
        self.free.clear();
        self.taken.iter().for_each(|span| *unpoisoned(span.lock()) = 0..0);
    }
}

fn left(span: &Span) -> u64 {
    let range = unpoisoned(span.lock());
    count(&range)
}

fn count(range: &Range<u64>) -> u64 {
    range.end - range.start
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes the next part of a span.
    fn next(spans: &mut Spans, span: &Span) -> Option<u64> {
        let own = unpoisoned(span.lock()).next();
        own.or_else(|| spans.refill(span))
    }

    #[test]
    fn two_threads_do_halves() {
        let mut spans = Spans::new(8);
        let (a, b) = (spans.enter(), spans.enter());
        let order: Vec<_> = (0..5).map(|_| [next(&mut spans, &a), next(&mut spans, &b)]).collect();
        let pairs = [[0, 4], [1, 5], [2, 6], [3, 7]].map(|pair| pair.map(Some));
        assert_eq!(order, [&pairs[..], &[[None, None]]].concat());
    }

    #[test]
    fn a_thread_that_is_done_takes_half_of_the_rest_and_what_others_left() {
        let mut spans = Spans::new(10);
        let a = spans.enter();
        assert_eq!(next(&mut spans, &a), Some(0));
        let b = spans.enter();
        assert_eq!([next(&mut spans, &b), next(&mut spans, &b)], [Some(5), Some(6)]);
        spans.leave(&b);
        assert_eq!((spans.len(), next(&mut spans, &a)), (7, Some(1)));
        let rest: Vec<_> = std::iter::from_fn(|| next(&mut spans, &a)).collect();
        assert_eq!(rest, [2, 3, 4, 7, 8, 9]);
        assert_eq!((spans.len(), next(&mut spans, &b)), (0, None));
    }

    #[test]
    fn nothing_is_left_after_a_clear() {
        let mut spans = Spans::new(10);
        let [a, b] = [spans.enter(), spans.enter()];
        assert_eq!([next(&mut spans, &a), next(&mut spans, &b)], [Some(0), Some(5)]);
        spans.leave(&b);
        spans.clear();
        assert_eq!((spans.len(), next(&mut spans, &a)), (0, None));
    }
}
